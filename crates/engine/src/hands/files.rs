//! The port of files: reading, atomic writing and looking, with errors that name the path and the matter.

use std::fs::File;
use std::io;
use std::io::ErrorKind;
use std::path::Path;
use std::path::PathBuf;

use rustix::io::Errno;
use serde::Deserialize;
use serde::Serialize;
use seriatim_core::hash::Hash;

/// The beginning of the name of every file that exists only while another one is being written.
pub const TEMPORARY_PREFIX: &str = ".seriatim-tmp-";

/// The beginning of the name of a file that a merge of layers put beside the file that it replaces. After a crash it can
/// be all that is left of somebody's file, so only the merge itself removes it.
pub const MERGE_PREFIX: &str = ".seriatim-tmp-merge-";

/// Reads and writes files. Paths are taken as they are; whether they may be touched is decided by
/// [`crate::hands::paths::Workspace`]. No call follows a symbolic link in the last component except `read`,
/// `hash`, `copy` (its source) and `append`.
pub trait Files: Send + Sync {
    /// The whole file, if it is not larger than `limit_bytes`.
    fn read(&self, path: &Path, limit_bytes: u64) -> Result<FileBytes, FileError>;

    /// Reads at most `limit_bytes` of a file, from `offset` on; nothing behind its end. Follows links and makes no
    /// digest.
    fn read_from(&self, path: &Path, offset: u64, limit_bytes: u64) -> Result<Vec<u8>, FileError>;

    /// The digest of a file of any size.
    fn hash(&self, path: &Path) -> Result<Hash, FileError>;

    /// Replaces the file as a whole: a reader sees the old content or the new one, and so does whoever comes
    /// after a crash. Missing directories are made. Permission bits of an existing file are kept unless a mode
    /// is given. Nothing is changed when an error is returned.
    fn write(&self, path: &Path, bytes: &[u8], how: Write) -> Result<Hash, FileError>;

    /// Copies a file of any size, as atomically as `write`, and returns the digest of what was copied.
    fn copy(&self, from: &Path, to: &Path, how: Write) -> Result<Hash, FileError>;

    /// Gives a file the time of change of another one. Files without times have nothing to give.
    fn copy_time(&self, _from: &Path, _to: &Path) -> Result<(), FileError> {
        Ok(())
    }

    /// Adds to the end of a file, which is made if it does not exist.
    fn append(&self, path: &Path, bytes: &[u8], durable: bool) -> Result<(), FileError>;

    /// Removes a file, a symbolic link or an empty directory. What does not exist counts as removed.
    fn remove(&self, path: &Path) -> Result<(), FileError>;

    /// What is at the path, without following a link; `None` when nothing is.
    fn look(&self, path: &Path) -> Result<Option<Entry>, FileError>;

    /// Returns when a file was last changed, with its size and node; `None` when nothing is at the path.
    fn stamp(&self, path: &Path, links: Links) -> Result<Option<Stamp>, FileError>;

    /// Returns the path of what exists at `path`, absolute and without links.
    fn resolve(&self, path: &Path) -> Result<PathBuf, FileError>;

    /// What is in the directory, sorted by name. Names that are not UTF-8 come as [`crate::hands::paths::encode_name`] writes them.
    fn list(&self, directory: &Path) -> Result<Vec<(String, Entry)>, FileError>;

    /// Makes a directory and those above it. One that exists is no error.
    fn make_directory(&self, path: &Path) -> Result<(), FileError>;

    /// Puts a symbolic link in place of what is there, if that is not a directory.
    fn link(&self, path: &Path, target: &Path) -> Result<(), FileError>;

    /// Sets the permission bits of a file or directory, never those of a link's target.
    fn set_mode(&self, path: &Path, mode: u32) -> Result<(), FileError>;

    /// Waits until the disk holds everything that was written so far to the file system of this directory: one
    /// call for many files.
    fn sync(&self, directory: &Path) -> Result<(), FileError>;

    /// Waits until nobody else holds the lock at the path, and holds it until the guard is dropped or the process
    /// ends. It keeps out processes as well as threads.
    fn lock(&self, path: &Path) -> Result<Lock, FileError>;

    /// Removes temporary files in the directory whose writers are dead, for good, and names them.
    fn clear_temporary(&self, directory: &Path) -> Result<Vec<PathBuf>, FileError>;
}

/// Reads a file as text, whatever its size; what is no UTF-8 in it is replaced.
pub fn read_text(files: &dyn Files, path: &Path) -> Result<String, FileError> {
    let bytes = files.read_from(path, 0, u64::MAX)?;
    // Nearly always nothing has to be replaced, and then nothing is copied.
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Returns whether anything is at a path. A path that cannot be looked at counts as absent.
pub fn exists(files: &dyn Files, path: &Path) -> bool {
    files.look(path).is_ok_and(|found| found.is_some())
}

/// Held while it lives. A simulation of one process has nothing to hold.
#[derive(Debug, Default)]
pub struct Lock {
    _file: Option<File>,
}

impl Lock {
    pub(super) fn holding(file: File) -> Lock {
        Lock { _file: Some(file) }
    }
}

/// The content of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileBytes {
    pub bytes: Vec<u8>,
    pub hash: Hash,
}

impl FileBytes {
    pub fn new(bytes: Vec<u8>) -> FileBytes {
        FileBytes { hash: Hash::of(&bytes), bytes }
    }

    /// The content as text.
    pub fn into_text(self, path: &Path) -> Result<String, FileError> {
        String::from_utf8(self.bytes).map_err(|error| FileError::NotUtf8 {
            path: path.to_owned(),
            offset: error.utf8_error().valid_up_to() as u64,
        })
    }
}

/// How to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Write {
    pub expect: Expect,
    /// On the disk before the call returns: for deliverables and state files that others rely on. What can be
    /// rebuilt does not need it.
    pub durable: bool,
    pub mode: Option<u32>,
}

impl Write {
    /// For what can be made again: whatever is there is replaced, and no disk is waited for.
    pub const REBUILDABLE: Write = Write { expect: Expect::Any, durable: false, mode: None };
    /// For what must not be lost.
    pub const DURABLE: Write = Write { expect: Expect::Any, durable: true, mode: None };

    #[must_use]
    pub fn expecting(self, expect: Expect) -> Write {
        Write { expect, ..self }
    }

    #[must_use]
    pub fn mode(self, mode: u32) -> Write {
        Write { mode: Some(mode), ..self }
    }
}

/// What the writer believes to be there now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expect {
    Any,
    Absent,
    Hash(Hash),
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub kind: Kind,
    /// Permission bits, with set-user-id, set-group-id and sticky.
    pub mode: u32,
    pub size_bytes: u64,
}

/// Whether a link at the end of a path is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    Follow,
    Keep,
}

/// The state of a file by its node: two different contents hardly ever have the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    pub size_bytes: u64,
    pub inode: u64,
    /// When the content was last changed, in nanoseconds since 1970.
    pub modified_ns: i64,
    /// When the node was last changed. Unlike the other time it cannot be set back.
    pub changed_ns: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    File,
    Directory,
    /// The target as the link holds it, in the form of [`crate::hands::paths::encode_name`].
    Symlink(String),
    /// A socket, a pipe or a device.
    Special,
}

/// Why a file could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum FileError {
    #[error("{} does not exist", path.display())]
    NotFound { path: PathBuf },
    #[error("{} is a link to {}, which does not exist", path.display(), target.display())]
    DeadLink { path: PathBuf, target: PathBuf },
    #[error("{} is not text: the byte at position {offset} is not UTF-8", path.display())]
    NotUtf8 { path: PathBuf, offset: u64 },
    #[error("{} has {size_bytes} bytes, and at most {limit_bytes} are read", path.display())]
    TooLarge { path: PathBuf, size_bytes: u64, limit_bytes: u64 },
    #[error("{} was changed by somebody else{}", path.display(), describe_change(*expected, *found))]
    Changed { path: PathBuf, expected: Option<Hash>, found: Option<Hash> },
    #[error("there is no space left to write {}", path.display())]
    NoSpace { path: PathBuf },
    #[error("{} is on a file system that is mounted read-only", path.display())]
    ReadOnly { path: PathBuf },
    #[error("permission to access {} is denied", path.display())]
    Permission { path: PathBuf },
    #[error("{} is outside the workspace {}", path.display(), root.display())]
    Outside { path: PathBuf, root: PathBuf },
    #[error("{path:?} cannot be the name of a file")]
    BadName { path: PathBuf },
    #[error("{} is a directory", path.display())]
    IsDirectory { path: PathBuf },
    #[error("{} is neither a file nor a directory but a pipe, a socket or a device", path.display())]
    Special { path: PathBuf },
    #[error("a part of {} is not a directory", path.display())]
    NotDirectory { path: PathBuf },
    #[error("the directory {} is not empty", path.display())]
    NotEmpty { path: PathBuf },
    #[error("{}: {reason}", path.display())]
    Io { path: PathBuf, reason: String },
}

fn describe_change(expected: Option<Hash>, found: Option<Hash>) -> String {
    match (expected, found) {
        (None, _) => ": it was not expected to exist".to_owned(),
        (Some(_), None) => ": it no longer exists".to_owned(),
        (Some(expected), Some(found)) => {
            format!(": expected {} and found {}", expected.short(), found.short())
        }
    }
}

impl FileError {
    pub(super) fn of(path: &Path, error: &io::Error) -> FileError {
        let path = path.to_owned();
        if error.raw_os_error() == Some(Errno::DQUOT.raw_os_error()) {
            return FileError::NoSpace { path };
        }
        match error.kind() {
            ErrorKind::NotFound => FileError::NotFound { path },
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => FileError::NoSpace { path },
            ErrorKind::ReadOnlyFilesystem => FileError::ReadOnly { path },
            ErrorKind::PermissionDenied => FileError::Permission { path },
            ErrorKind::IsADirectory => FileError::IsDirectory { path },
            ErrorKind::NotADirectory => FileError::NotDirectory { path },
            ErrorKind::DirectoryNotEmpty => FileError::NotEmpty { path },
            ErrorKind::InvalidFilename | ErrorKind::InvalidInput => FileError::BadName { path },
            _ => FileError::Io { path, reason: error.to_string() },
        }
    }

    /// Returns whether nothing is at the path.
    pub fn is_absence(&self) -> bool {
        matches!(self, FileError::NotFound { .. } | FileError::NotDirectory { .. })
    }

    /// The path that the error is about.
    pub fn path(&self) -> &Path {
        match self {
            FileError::NotFound { path }
            | FileError::DeadLink { path, .. }
            | FileError::NotUtf8 { path, .. }
            | FileError::TooLarge { path, .. }
            | FileError::Changed { path, .. }
            | FileError::NoSpace { path }
            | FileError::ReadOnly { path }
            | FileError::Permission { path }
            | FileError::Outside { path, .. }
            | FileError::BadName { path }
            | FileError::IsDirectory { path }
            | FileError::Special { path }
            | FileError::NotDirectory { path }
            | FileError::NotEmpty { path }
            | FileError::Io { path, .. } => path,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e_87_errors_of_the_system_have_names() {
        let path = PathBuf::from("/w/a");
        let named = |errno: Errno| FileError::of(&path, &errno.into());
        let no_space = FileError::NoSpace { path: path.clone() };
        assert_eq!((named(Errno::NOSPC), named(Errno::DQUOT)), (no_space.clone(), no_space));
        assert_eq!(named(Errno::ROFS), FileError::ReadOnly { path: path.clone() });
        assert_eq!(named(Errno::ACCESS), FileError::Permission { path: path.clone() });
        assert_eq!(named(Errno::PERM), FileError::Permission { path: path.clone() });
        assert_eq!(named(Errno::NAMETOOLONG), FileError::BadName { path: path.clone() });
        assert!(matches!(named(Errno::IO), FileError::Io { .. }));
    }
}
