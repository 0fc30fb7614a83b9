//! The law: what things are and which rules hold.
//!
//! Architecture invariant: nothing in this crate reads or writes anything outside its arguments. There is
//! no clock, no randomness, no environment, no file and no async here; `clippy.toml` and a test over
//! `cargo tree` hold that wall.

pub mod action;
pub mod chain;
pub mod check;
pub mod choices;
pub mod closest;
pub mod config;
pub mod cycle;
pub mod diff;
pub mod doc;
pub mod documents;
pub mod evidence;
pub mod failure;
pub mod finding;
pub mod forbidden;
pub mod gate;
pub mod guard;
pub mod hash;
pub mod kind;
pub mod leaks;
pub mod ledger;
pub mod machine;
pub mod merge;
pub mod plain;
pub mod process;
pub mod projection;
pub mod prompt;
pub mod question;
pub mod reading;
pub mod redact;
pub mod report;
pub mod roadmap;
pub mod seal;
pub mod sentence;
pub mod tests_on_disk;
pub mod time;
pub mod unified;
pub mod verdict;
pub mod view;
pub mod world;
