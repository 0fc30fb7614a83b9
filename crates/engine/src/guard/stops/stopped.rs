//! How an agent came to its end.

use seriatim_core::roadmap::machine::End;
use seriatim_core::roadmap::verdict::Objection;

/// How an agent came to its end, and what is known about that beside its step.
pub(super) enum Stopped {
    /// It wants to stop and can be sent back. Sub-agents of its session that no hook saw are held against it.
    Wants { unseen: Vec<Objection> },
    /// It is over, whatever is said now.
    Over,
    /// It was ended by an error.
    Crashed { why: String },
}

impl Stopped {
    pub(super) fn wants() -> Stopped {
        Stopped::Wants { unseen: vec![] }
    }

    pub(super) fn crashed(error: Option<&str>, usual: &str) -> Stopped {
        Stopped::Crashed { why: error.unwrap_or(usual).to_owned() }
    }

    pub(super) fn end(&self) -> End {
        match self {
            Stopped::Wants { .. } => End::Wants,
            Stopped::Over => End::Over,
            Stopped::Crashed { .. } => End::Crashed,
        }
    }
}
