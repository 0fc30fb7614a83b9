//! Exit codes: a promise to scripts, in one place.

use std::process::ExitCode;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done, and the outcome is good.
    Good = 0,
    /// Done, and the outcome is not good.
    NotGood = 1,
    /// Usage, configuration, a missing or unreadable file; nothing was changed.
    Usage = 2,
    /// Waiting for a person, or suspended.
    Waiting = 3,
    /// Another living process holds the run.
    Held = 4,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}
