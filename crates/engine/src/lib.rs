//! The hands: drives flows and performs what they ask for.
//!
//! Everything outside is a port with two implementations, a real one and one that is simulated from one seed. The
//! drive loop is the same in both.

pub mod agents;
mod check_output;
pub mod condition;
pub mod copies;
pub mod drive;
mod exec;
pub mod guard;
pub mod hands;
pub use hands::home;
mod ids;
pub mod inside;
pub mod job;
pub mod labelled;
pub mod listen;
pub mod perform;
pub mod ports;
pub mod reading;
mod records;
pub mod repository;
pub mod rollback;
mod scene;
pub mod schedule;
pub mod sim;
pub mod views;

/// The first argument by which a program that uses this engine becomes the supervisor of an agent.
pub const SUPERVISE: &str = hands::supervise::ARGUMENT;

/// What such a program then does.
pub fn supervise() -> u8 {
    u8::try_from(hands::supervise::main()).unwrap_or(1)
}
