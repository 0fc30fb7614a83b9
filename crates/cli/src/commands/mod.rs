//! One file per command: its arguments, whose comments are its help, and the function that carries it out.

pub(crate) mod answer;
pub(crate) mod bench;
pub(crate) mod cancel;
pub(crate) mod check;
pub(crate) mod commit_gate;
pub(crate) mod completions;
pub(crate) mod cycle;
pub(crate) mod decide;
pub(crate) mod doctor;
pub(crate) mod guard;
pub(crate) mod hook;
pub(crate) mod inbox;
pub(crate) mod init;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod metrics;
pub(crate) mod observe;
pub(crate) mod phase;
pub(crate) mod process;
pub(crate) mod prompt_text;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod show;
pub(crate) mod status;
mod summary;
pub(crate) mod verify;
pub(crate) mod watchdog;
