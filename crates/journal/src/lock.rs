//! The writers' lock: all writers of a store take turns by blocking on one file.
//!
//! SQLite's own waiting sleeps and starves: with ten writers its slowest waited twenty times longer.

use std::fs::File;
use std::fs::OpenOptions;
use std::path::PathBuf;

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::error::At;
use crate::error::Error;

pub(crate) struct WriterLock {
    file: File,
    path: PathBuf,
}

impl WriterLock {
    pub(crate) fn open(path: PathBuf) -> Result<WriterLock, Error> {
        let file =
            OpenOptions::new().create(true).truncate(false).read(true).write(true).open(&path).at(&path)?;
        Ok(WriterLock { file, path })
    }

    /// Waits for its turn; the turn ends when the result is dropped.
    pub(crate) fn turn(&self) -> Result<Turn<'_>, Error> {
        flock(&self.file, FlockOperation::LockExclusive).at(&self.path)?;
        Ok(Turn { file: &self.file })
    }
}

/// The right to write, until dropped.
pub(crate) struct Turn<'a> {
    file: &'a File,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // The lock also ends with the file; there is nobody to tell about a failure here.
        let _ = flock(self.file, FlockOperation::Unlock);
        // The kernel wakes those who wait but does not hand the lock over: a process that writes all the
        // time would take it again before they run.
        std::thread::yield_now();
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
