//! The system calls that change something, one by one. In tests each is a point at which the process can die, or at
//! which somebody else can be faster.

use std::ffi::OsStr;
use std::fs;
use std::fs::File;
use std::fs::Permissions;
use std::io;
use std::io::Write as _;
use std::os::fd::AsFd;
use std::os::fd::AsRawFd;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::path::PathBuf;

use rustix::fs::AtFlags;
use rustix::fs::CWD;
use rustix::fs::Mode;
use rustix::fs::OFlags;
use rustix::fs::RenameFlags;
use rustix::fs::linkat;
use rustix::fs::mkdirat;
use rustix::fs::openat;
use rustix::fs::renameat_with;
use rustix::fs::statat;
use rustix::fs::symlinkat;
use rustix::fs::unlinkat;
use rustix::io::Errno;
use rustix::io::Result;

/// An entry of an open folder.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot<'s> {
    pub(super) folder: &'s OwnedFd,
    pub(super) name: &'s OsStr,
}

impl Spot<'_> {
    /// Returns the entry by way of the descriptor of its folder, for calls that take paths.
    pub(super) fn path(&self) -> PathBuf {
        descriptor_path(self.folder).join(self.name)
    }

    /// Returns whether something is there.
    pub(super) fn exists(&self) -> bool {
        statat(self.folder, self.name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }
}

/// Returns the path that leads to an open descriptor, and to nothing else.
pub(super) fn descriptor_path(opened: impl AsFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", opened.as_fd().as_raw_fd()))
}

pub(super) fn exchange(one: Spot<'_>, other: Spot<'_>) -> Result<()> {
    point();
    if !can_exchange() {
        return Err(Errno::INVAL);
    }
    renameat_with(one.folder, one.name, other.folder, other.name, RenameFlags::EXCHANGE)
}

pub(super) fn rename(from: Spot<'_>, to: Spot<'_>) -> Result<()> {
    point();
    renameat_with(from.folder, from.name, to.folder, to.name, RenameFlags::empty())
}

/// Renames to a name that must be free. Where the file system cannot do that in one step, a second name is made first.
pub(super) fn rename_new(from: Spot<'_>, to: Spot<'_>) -> Result<()> {
    point();
    let renamed = if can_exchange() {
        renameat_with(from.folder, from.name, to.folder, to.name, RenameFlags::NOREPLACE)
    } else {
        Err(Errno::INVAL)
    };
    match renamed {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            link(from, to)?;
            unlink(from)
        }
        renamed => renamed,
    }
}

/// Renames to a path outside of the real folder, which must be free.
pub(super) fn move_out(from: Spot<'_>, to: &Path) -> Result<()> {
    point();
    renameat_with(from.folder, from.name, CWD, to, RenameFlags::NOREPLACE)
}

pub(super) fn rename_path(from: &Path, to: &Path) -> io::Result<()> {
    point();
    fs::rename(from, to)
}

pub(super) fn link(from: Spot<'_>, to: Spot<'_>) -> Result<()> {
    point();
    linkat(from.folder, from.name, to.folder, to.name, AtFlags::empty())
}

pub(super) fn unlink(spot: Spot<'_>) -> Result<()> {
    point();
    unlinkat(spot.folder, spot.name, AtFlags::empty())
}

pub(super) fn remove_folder(spot: Spot<'_>) -> Result<()> {
    point();
    unlinkat(spot.folder, spot.name, AtFlags::REMOVEDIR)
}

pub(super) fn make_folder(spot: Spot<'_>) -> Result<()> {
    point();
    mkdirat(spot.folder, spot.name, Mode::RWXU)
}

pub(super) fn make_link(target: &OsStr, spot: Spot<'_>) -> Result<()> {
    point();
    symlinkat(target, spot.folder, spot.name)
}

/// Makes a file that must be new, readable to its owner alone.
pub(super) fn make_file(spot: Spot<'_>) -> Result<File> {
    point();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(spot.folder, spot.name, flags, Mode::RUSR | Mode::WUSR).map(File::from)
}

pub(super) fn write(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    point();
    file.write_all(bytes)
}

/// Sets the mode of an open file or folder, also of one that was opened as a path only.
pub(super) fn set_mode(opened: impl AsFd, mode: u32) -> io::Result<()> {
    point();
    fs::set_permissions(descriptor_path(opened), Permissions::from_mode(mode))
}

/// Replaces a file of ours by its new content, durably.
pub(super) fn replace_durably(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let beside = folder.join(format!("{name}.new"));
    point();
    let mut file = File::create(&beside)?;
    write(&mut file, bytes)?;
    file.sync_all()?;
    rename_path(&beside, &folder.join(name))?;
    File::open(folder)?.sync_all()
}

/// Removes a file of ours, durably.
pub(super) fn forget_durably(folder: &Path, name: &str) -> io::Result<()> {
    point();
    match fs::remove_file(folder.join(name)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    File::open(folder)?.sync_all()
}

#[cfg(not(test))]
fn point() {}

#[cfg(not(test))]
fn can_exchange() -> bool {
    true
}

#[cfg(test)]
use self::hook::can_exchange;
#[cfg(test)]
use self::hook::point;

/// What tests put between two system calls of their own thread.
#[cfg(test)]
pub(super) mod hook {
    use std::cell::Cell;
    use std::cell::RefCell;

    type Hook = Box<dyn FnMut()>;

    thread_local! {
        static HOOK: RefCell<Option<Hook>> = const { RefCell::new(None) };
        static EXCHANGE: Cell<bool> = const { Cell::new(true) };
    }

    /// Calls the hook. One that is set inside of itself is not called.
    pub(in crate::hands::layers) fn point() {
        let hook = HOOK.with_borrow_mut(Option::take);
        if let Some(mut hook) = hook {
            hook();
            HOOK.set(Some(hook));
        }
    }

    pub(in crate::hands::layers) fn set(hook: Option<Hook>) {
        HOOK.set(hook);
    }

    pub(in crate::hands::layers) fn can_exchange() -> bool {
        EXCHANGE.get()
    }

    pub(in crate::hands::layers) fn allow_exchange(allowed: bool) {
        EXCHANGE.set(allowed);
    }
}
