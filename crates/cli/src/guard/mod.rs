//! Putting the guard into a project and taking it out again, and finding out whether it works.
//!
//! Everything is planned first, with all files read and all mistakes found; only then is anything written. What was
//! written is put back when something fails, so that a project is guarded wholly or not at all.

mod change;
mod clients;
pub(crate) mod doctor;
mod git_hooks;
pub(crate) mod install;
mod plan;
mod program;
pub(crate) mod status;
mod switches;
#[cfg(test)]
mod tests;
pub(crate) mod uninstall;

pub(crate) use clients::parse as parse_client;
pub(crate) use plan::Plan;
