//! The real folder by descriptors: nothing is reached through a link, nothing above it at all.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::path::PathBuf;

use rustix::fs::Mode;
use rustix::fs::OFlags;
use rustix::fs::ResolveFlags;
use rustix::fs::open;
use rustix::fs::openat;
use rustix::fs::openat2;
use rustix::fs::syncfs;
use rustix::io::Errno;

use super::super::LayerError;
use super::super::node::Node;
use super::super::node::read_node;
use super::super::writes::Spot;

/// As many folders as are synchronised one by one; beyond it the file system is asked once for all.
const FOLDERS_SYNCED_MAX: usize = 64;
/// How often a folder is opened again while others rename on the way to it.
const OPENINGS_MAX: usize = 100;

/// The real folder.
pub(super) struct Root {
    opened: OwnedFd,
    path: PathBuf,
}

/// A name in an open folder.
pub(super) struct Entry {
    folder: OwnedFd,
    name: OsString,
    /// For messages.
    shown: PathBuf,
}

impl Root {
    pub(super) fn open(path: &Path) -> Result<Root, LayerError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = open(path, flags, Mode::empty()).map_err(|errno| LayerError::errno(path, errno))?;
        Ok(Root { opened, path: path.to_owned() })
    }

    pub(super) fn shown(&self, path: &Path) -> PathBuf {
        self.path.join(path)
    }

    /// Opens a folder as a path. `None` if there is none, or only behind a link.
    pub(super) fn folder(&self, path: &Path) -> Result<Option<OwnedFd>, LayerError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        for _ in 0..OPENINGS_MAX {
            match openat2(&self.opened, path, flags, Mode::empty(), resolve) {
                Ok(opened) => return Ok(Some(opened)),
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
                // Somebody renamed something on the way while the kernel walked it.
                Err(Errno::AGAIN) => {}
                Err(errno) => return Err(LayerError::errno(&self.shown(path), errno)),
            }
        }
        Err(LayerError::errno(&self.shown(path), Errno::AGAIN))
    }

    /// Returns the entry at a path, whether or not there is something. `None` if its folder is missing.
    pub(super) fn entry(&self, path: &Path) -> Result<Option<Entry>, LayerError> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(None) };
        let folder = self.folder(parent)?;
        Ok(folder.map(|folder| Entry { folder, name: name.to_owned(), shown: self.shown(path) }))
    }

    /// Returns what is at a path now.
    pub(super) fn node(&self, path: &Path) -> Result<Option<Node>, LayerError> {
        match self.entry(path)? {
            Some(entry) => entry.node(),
            None => Ok(None),
        }
    }

    /// Waits until the disk holds the names in the folders. Folders that are no longer there are skipped.
    pub(super) fn sync(&self, folders: &BTreeSet<PathBuf>) -> Result<(), LayerError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut all = folders.len() > FOLDERS_SYNCED_MAX;
        for path in folders.iter().take(FOLDERS_SYNCED_MAX) {
            let folder = match self.folder(path) {
                Ok(Some(folder)) => folder,
                Ok(None) => continue,
                // A folder that its owner cannot reach or read can only be synchronised with everything else.
                Err(_) => {
                    all = true;
                    continue;
                }
            };
            match openat(&folder, ".", flags, Mode::empty()) {
                Ok(readable) => {
                    File::from(readable).sync_all().map_err(|error| LayerError::of(path, &error))?;
                }
                Err(_) => all = true,
            }
        }
        if all {
            let opened = openat(&self.opened, ".", flags, Mode::empty());
            opened.and_then(syncfs).map_err(|errno| LayerError::errno(&self.path, errno))?;
        }
        Ok(())
    }
}

impl Entry {
    pub(super) fn spot(&self) -> Spot<'_> {
        Spot { folder: &self.folder, name: &self.name }
    }

    pub(super) fn shown(&self) -> &Path {
        &self.shown
    }

    /// Returns the second name that is used where two files cannot be exchanged in one step.
    pub(super) fn old_name(&self) -> OsString {
        let mut name = self.name.clone();
        name.push("-old");
        name
    }

    pub(super) fn node(&self) -> Result<Option<Node>, LayerError> {
        read_node(&self.folder, &self.name, &self.shown)
    }

    /// Returns the error of a system call on this entry.
    pub(super) fn error(&self, errno: Errno) -> LayerError {
        LayerError::errno(&self.shown, errno)
    }
}
