//! The real hands of the engine: processes, files, git, snapshots and the clock.
//!
//! Each of the outer four (processes, files, the repository, the clock) is a port: a small trait of blocking calls
//! with plain owned data in and out. Snapshots stand on [`files::Files`], so that simulated files have them as well.
//! Layers of views ([`layers`]) are folders of this machine alone: whiteouts, links and descriptors have no simulation.
//!
//! Architecture invariant: nothing here knows about flows or the journal, and only views know runs, by their names.

mod alive;
pub mod clock;
pub mod disk;
pub mod environment;
pub mod files;
pub mod git;
pub mod home;
pub mod inside;
pub mod layers;
mod named;
mod output;
pub mod paths;
pub mod pattern;
pub mod process;
pub mod repository;
pub mod runner;
pub mod snapshot;
mod start;
pub mod supervise;
pub mod terminal;
pub mod views;
mod wait;
pub mod walls;
mod wire;
pub mod world;
