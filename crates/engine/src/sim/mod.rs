//! A world in which everything outside comes from one seed: time, processes, files, and when the engine dies.
//!
//! The production loop runs in it unchanged. Whoever simulates gives [`crate::drive::Driver`] these ports instead
//! of the real ones, lets [`Fate`] end the engine at any call of a port, and starts it again over what is left.
//! The same seed leads to the same world, to the byte.
//!
//! Architecture invariant: nothing here reads the clock, starts a process, touches the disk or waits.

mod clock;
mod fate;
mod files;
mod objects;
mod processes;
mod reciter;
mod repository;
mod rng;
mod schedule;
mod tree;

pub use clock::SimClock;
pub use fate::Crash;
pub use fate::Fate;
pub use fate::survive;
pub use files::SimFiles;
pub use files::Trouble;
pub use objects::SimCommit;
pub use processes::Begun;
pub use processes::Play;
pub use processes::SimProcesses;
pub use processes::matter;
pub use repository::CommitPicture;
pub use repository::REFUSED;
pub use repository::SimRepositories;
pub use rng::Rng;
pub use schedule::SimSchedule;

use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

/// A crash unwinds through the ports on purpose, so a poisoned lock has no meaning of its own here.
fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
