//! What can go wrong with a store, one variant per situation.

use std::io;
use std::path::Path;
use std::path::PathBuf;

use rusqlite::ErrorCode;

use crate::flaw::Flaw;
use crate::holder::HolderInfo;
use crate::run::Status;

/// Why the store could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("no space left for the journal `{path}`")]
    NoSpace { path: PathBuf },
    #[error("the journal `{path}` cannot be written: it is read-only")]
    ReadOnly { path: PathBuf },
    #[error("the journal `{path}` is busy: another program has locked it")]
    Busy { path: PathBuf },
    #[error("the journal `{path}` is damaged: {source}")]
    Damaged { path: PathBuf, source: rusqlite::Error },
    #[error("`{path}` is not a database")]
    NotADatabase { path: PathBuf },
    #[error("`{path}` is a database of another program")]
    Foreign { path: PathBuf },
    #[error(
        "the journal `{path}` was written by a newer version (schema {found}, this one knows {supported})"
    )]
    Newer { path: PathBuf, found: u32, supported: u32 },
    #[error(
        "the journal `{path}` needs to be brought forward from schema {found} first, by a command that writes"
    )]
    Older { path: PathBuf, found: u32 },
    #[error("cannot use `{path}`: {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error("the journal `{path}` refused: {source}")]
    Sqlite { path: PathBuf, source: rusqlite::Error },
    #[error("the journal of run `{run}` is broken at entry {seq}: {flaw}")]
    Broken { run: String, seq: u64, flaw: Flaw },
    #[error("`{path}` is a symbolic link: the record is not kept behind one")]
    Link { path: PathBuf },
    #[error("`{path}` belongs to another user (uid {owner})")]
    OtherOwner { path: PathBuf, owner: u32 },
    #[error("`{path}` is open to other users (mode {mode:o})")]
    Exposed { path: PathBuf, mode: u32 },
    #[error("the store `{path}` was removed or replaced while it was in use")]
    Lost { path: PathBuf },
    #[error("there is no run `{given}`")]
    NoSuchRun { given: String },
    #[error("`{given}` could be any of several runs: {}", candidates.join(", "))]
    AmbiguousRun { given: String, candidates: Vec<String> },
    #[error("there is already a run named `{name}`")]
    NameTaken { name: String },
    #[error("run `{run}` on `{subject}` is not finished: it is {status}")]
    SubjectBusy { run: String, subject: String, status: Status, holder: Option<Box<HolderInfo>> },
    #[error("there is no open question or assignment `{given}`")]
    NoSuchCall { given: String, closest: Option<String> },
    #[error("the lease of run `{run}` has passed to another process")]
    Fenced { run: String, holder: Option<Box<HolderInfo>> },
    #[error("run `{run}` has no entry {seq}")]
    NoSuchEntry { run: String, seq: u64 },
}

impl Error {
    /// Whether the connection may have been left in doubt, so that it has to be opened anew.
    pub(crate) fn is_of_the_disk(&self) -> bool {
        matches!(
            self,
            Error::NoSpace { .. }
                | Error::ReadOnly { .. }
                | Error::Busy { .. }
                | Error::Damaged { .. }
                | Error::NotADatabase { .. }
                | Error::Io { .. }
                | Error::Sqlite { .. }
        )
    }
}

/// Gives a low-level failure its place and its class.
pub(crate) trait At<T> {
    fn at(self, path: &Path) -> Result<T, Error>;
}

impl<T> At<T> for Result<T, rusqlite::Error> {
    fn at(self, path: &Path) -> Result<T, Error> {
        self.map_err(|source| classify(source, path))
    }
}

impl<T> At<T> for Result<T, io::Error> {
    fn at(self, path: &Path) -> Result<T, Error> {
        self.map_err(|source| {
            let path = path.to_owned();
            match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Error::NoSpace { path },
                io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                    Error::ReadOnly { path }
                }
                _ => Error::Io { path, source },
            }
        })
    }
}

impl<T> At<T> for Result<T, rustix::io::Errno> {
    fn at(self, path: &Path) -> Result<T, Error> {
        self.map_err(io::Error::from).at(path)
    }
}

fn is_shared_memory_too_small(source: &rusqlite::Error) -> bool {
    let extended = source.sqlite_error().map(|error| error.extended_code);
    extended == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE)
}

fn classify(source: rusqlite::Error, path: &Path) -> Error {
    let path = path.to_owned();
    match source.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Error::NoSpace { path },
        // The memory that processes share is a file too, and SQLite has no word of its own for its lack of room.
        Some(ErrorCode::SystemIoFailure) if is_shared_memory_too_small(&source) => Error::NoSpace { path },
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Error::ReadOnly { path },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Busy { path },
        Some(ErrorCode::NotADatabase) => Error::NotADatabase { path },
        Some(ErrorCode::DatabaseCorrupt) => Error::Damaged { path, source },
        // A value of the wrong type cannot get into strict tables by our own statements.
        None if !matches!(source, rusqlite::Error::QueryReturnedNoRows) => Error::Damaged { path, source },
        _ => Error::Sqlite { path, source },
    }
}
