//! Removing and measuring folders of layers, whatever modes an agent has left in them.

use std::ffi::OsStr;
use std::ffi::OsString;
use std::os::fd::AsFd;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::path::PathBuf;

use rustix::fs::AtFlags;
use rustix::fs::CWD;
use rustix::fs::Dir;
use rustix::fs::FileType;
use rustix::fs::Mode;
use rustix::fs::OFlags;
use rustix::fs::RenameFlags;
use rustix::fs::ResolveFlags;
use rustix::fs::fstat;
use rustix::fs::openat;
use rustix::fs::openat2;
use rustix::fs::renameat_with;
use rustix::fs::statat;
use rustix::fs::unlinkat;
use rustix::io::Errno;

use super::LayerError;
use super::access::Access;
use super::look::metadata;
use super::look::names_of;
use super::writes;

/// As many folders as are open at once. A deeper one is moved up first: an agent can nest folders deeper than there
/// are descriptors, and deeper than a path can name.
const DEPTH_MAX: usize = 64;
const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Removes a folder of layers with everything in it. No link is followed, and nothing on another file system is
/// touched: a view that is still mounted is an error. A folder that does not exist counts as removed.
pub fn remove_layers(dir: &Path) -> Result<(), LayerError> {
    let of = |errno| LayerError::errno(dir, errno);
    let opened = openat(CWD, dir, FOLDER | OFlags::PATH, Mode::empty());
    let top = match opened.and_then(usable) {
        Ok(top) => top,
        Err(Errno::NOENT) => return Ok(()),
        // With these flags a link is no folder.
        Err(Errno::LOOP | Errno::NOTDIR) if dir.is_symlink() => {
            return Err(LayerError::Link { path: dir.to_owned() });
        }
        Err(errno) => return Err(of(errno)),
    };
    let device = fstat(&top).map_err(of)?.st_dev;
    let mut removal = Removal { top: &top, device, moved: 0 };
    // Folders that were too deep are now entries of the top, so it may take several rounds.
    loop {
        let moved = removal.moved;
        removal.empty(&top, dir, 0)?;
        if removal.moved == moved {
            break;
        }
    }
    match unlinkat(CWD, dir, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(of(errno)),
    }
}

struct Removal<'r> {
    top: &'r OwnedFd,
    device: u64,
    moved: u64,
}

impl Removal<'_> {
    fn empty(&mut self, folder: &OwnedFd, shown: &Path, depth: usize) -> Result<(), LayerError> {
        for name in names_in(folder).map_err(|errno| LayerError::errno(shown, errno))? {
            let shown = shown.join(&name);
            let of = |errno| LayerError::errno(&shown, errno);
            let found = match statat(folder, &name, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => continue,
                found => found.map_err(of)?,
            };
            if found.st_dev != self.device {
                return Err(LayerError::OtherFileSystem { path: shown });
            }
            if FileType::from_raw_mode(found.st_mode) != FileType::Directory {
                unlinkat(folder, &name, AtFlags::empty()).map_err(of)?;
                continue;
            }
            let inner = match open_folder(folder, &name) {
                Err(Errno::XDEV) => return Err(LayerError::OtherFileSystem { path: shown }),
                inner => inner.map_err(of)?,
            };
            if depth < DEPTH_MAX {
                self.empty(&inner, &shown, depth + 1)?;
                unlinkat(folder, &name, AtFlags::REMOVEDIR).map_err(of)?;
            } else {
                self.move_up(folder, &name).map_err(of)?;
            }
        }
        Ok(())
    }

    fn move_up(&mut self, folder: &OwnedFd, name: &OsStr) -> rustix::io::Result<()> {
        loop {
            self.moved += 1;
            let free = OsString::from(format!("deep-{}", self.moved));
            match renameat_with(folder, name, self.top, &free, RenameFlags::NOREPLACE) {
                Err(Errno::EXIST) => {}
                renamed => return renamed,
            }
        }
    }
}

/// Opens a folder, never through a link or into a mount (also one of the same file system), and makes it usable to its
/// owner.
fn open_folder(parent: impl AsFd, name: &OsStr) -> rustix::io::Result<OwnedFd> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    let by_path = openat2(parent, name, FOLDER | OFlags::PATH, Mode::empty(), resolve)?;
    usable(by_path)
}

fn usable(by_path: OwnedFd) -> rustix::io::Result<OwnedFd> {
    let mode = fstat(&by_path)?.st_mode & 0o7777;
    if mode & 0o700 != 0o700 {
        writes::set_mode(&by_path, mode | 0o700)
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    }
    openat(&by_path, ".", FOLDER | OFlags::RDONLY, Mode::empty())
}

fn names_in(folder: &OwnedFd) -> rustix::io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(OsStr::from_bytes(name).to_owned());
        }
    }
    Ok(names)
}

/// Returns how many entries that are no folders lie below a folder of layers, and how many bytes the files have.
pub fn size(dir: &Path) -> Result<(u64, u64), LayerError> {
    let access = Access::default();
    let (mut files, mut bytes) = (0, 0);
    let mut folders: Vec<PathBuf> = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        let Some(found) = metadata(&folder)? else { continue };
        if found.is_dir() {
            access.open_folder(&folder, &found)?;
            let names = names_of(std::slice::from_ref(&folder))?;
            folders.extend(names.into_iter().map(|name| folder.join(name)));
        } else {
            files += 1;
            bytes += if found.is_file() { found.len() } else { 0 };
        }
    }
    Ok((files, bytes))
}
