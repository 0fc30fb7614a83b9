//! The real hands of the engine: processes, files, git, snapshots and the clock.
//!
//! Each of the outer three (processes, files, the clock) is a port: a small trait of blocking calls with plain
//! owned data in and out. Git stands on [`process::Processes`] and snapshots stand on [`files::Files`], so
//! whoever simulates the ports simulates those two as well.
//!
//! Architecture invariant: nothing here knows about runs, flows or the journal.

mod alive;
pub mod clock;
pub mod disk;
pub mod environment;
pub mod files;
pub mod git;
mod output;
pub mod paths;
pub mod pattern;
pub mod process;
pub mod runner;
pub mod snapshot;
pub mod supervise;
mod wait;
mod wire;
