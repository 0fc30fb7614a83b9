//! The writers' lock: all writers of a store take turns by blocking on one file.
//!
//! SQLite's own waiting sleeps and starves: with ten writers its slowest waited twenty times longer.

use std::fs::File;
use std::path::Path;
use std::path::PathBuf;

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::error::At;
use crate::error::Error;
use crate::private;
use crate::relocate::Node;

/// The file that is locked while writing.
const WRITING: &str = "journal.lock";

pub(crate) struct WriterLock {
    /// Held while writing.
    writing: LockFile,
    /// Held while waiting for the one above. The kernel does not hand a lock over to those who wait for it, and a
    /// process that writes all the time would take it again and again; this one makes it stand in line.
    next: LockFile,
}

struct LockFile {
    file: File,
    path: PathBuf,
}

impl LockFile {
    fn open(path: PathBuf) -> Result<LockFile, Error> {
        let file = private::open_file(&path)?;
        Ok(LockFile { file, path })
    }

    fn lock(&self) -> Result<Locked<'_>, Error> {
        flock(&self.file, FlockOperation::LockExclusive).at(&self.path)?;
        Ok(Locked { file: &self.file })
    }
}

impl WriterLock {
    pub(crate) fn open(dir: &Path) -> Result<WriterLock, Error> {
        let writing = LockFile::open(dir.join(WRITING))?;
        let next = LockFile::open(dir.join("journal.next"))?;
        Ok(WriterLock { writing, next })
    }

    /// Whether this still is the lock of the store in `dir`, which may have been moved.
    pub(crate) fn is_in(&self, dir: &Path) -> bool {
        Node::at(&dir.join(WRITING)) == Node::of(&self.writing.file)
    }

    /// Waits for its turn, which ends when the result is dropped.
    pub(crate) fn turn(&self) -> Result<Locked<'_>, Error> {
        let _next = self.next.lock()?;
        self.writing.lock()
    }
}

/// A lock that is held, until dropped.
pub(crate) struct Locked<'a> {
    file: &'a File,
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        // The lock also ends with the file; there is nobody to tell about a failure here.
        let _ = flock(self.file, FlockOperation::Unlock);
    }
}

/// `flock` that is not disturbed by signals.
pub(crate) fn flock(file: &File, operation: FlockOperation) -> Result<(), Errno> {
    loop {
        match rustix::fs::flock(file, operation) {
            Err(Errno::INTR) => {}
            done => return done,
        }
    }
}
