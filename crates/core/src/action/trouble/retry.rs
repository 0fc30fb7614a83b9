//! What the engine does by itself. Budgets never multiply: a role has three calls in all between two decisions of a
//! person, whatever the reasons (K-41, K-105, E-61).

use super::Cause;
use crate::failure::backoff_ms;

/// Calls in all: the first, and two more.
pub const CALLS_MAX: u32 = 3;
/// Of those, calls with what was wrong as feedback.
pub const CORRECTIONS_MAX: u32 = 2;
/// Attempts that the engine's own end cut off are nobody's fault; they are bounded all the same.
pub const INTERRUPTIONS_MAX: u32 = 25;
/// Where the other side wants a longer pause than this, a person decides.
pub const WAIT_MS_MAX: u64 = 3_600_000;

/// What was used up since a person last decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Calls that ended, the last one included.
    pub calls: u32,
    /// Of those, calls that were corrections.
    pub corrections: u32,
    pub interruptions: u32,
}

/// What happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The same again, after a pause that the journal's clock measures.
    Wait { ms: u64 },
    /// Again at once, with what was wrong as feedback.
    Correct,
    /// Again at once: the attempt never had its chance.
    Again,
    /// A person decides.
    Ask,
    /// Nothing more: it was cancelled.
    Stop,
}

/// The rule for a failure.
pub fn next(cause: Cause, spent: Spent) -> Next {
    let calls_left = spent.calls < CALLS_MAX;
    match cause {
        Cause::Cancelled => Next::Stop,
        Cause::Interrupted if spent.interruptions <= INTERRUPTIONS_MAX => Next::Again,
        Cause::Interrupted => Next::Ask,
        Cause::RateLimit { .. } | Cause::Network | Cause::Unavailable | Cause::Crash if calls_left => {
            match pause_ms(cause, spent.calls) {
                ms if ms <= WAIT_MS_MAX => Next::Wait { ms },
                _ => Next::Ask,
            }
        }
        Cause::Invalid | Cause::Silent | Cause::Scope
            if calls_left && spent.corrections < CORRECTIONS_MAX =>
        {
            Next::Correct
        }
        Cause::RateLimit { .. }
        | Cause::Network
        | Cause::Unavailable
        | Cause::Crash
        | Cause::Invalid
        | Cause::Silent
        | Cause::Scope
        | Cause::MissingArtifact
        | Cause::Timeout
        | Cause::NoProgram
        | Cause::Unauthorised
        | Cause::Contract
        | Cause::Denied
        | Cause::Storage => Next::Ask,
    }
}

/// 1 s after the first call, 2 s after the second; longer where the other side says so.
fn pause_ms(cause: Cause, calls: u32) -> u64 {
    let own = backoff_ms(calls.saturating_add(1));
    match cause {
        Cause::RateLimit { retry_after_ms: Some(asked) } => own.max(asked),
        _ => own,
    }
}

/// The documented line of the log (OC-61).
pub fn wait_line(message: &str, ms: u64) -> String {
    format!("Transient error: {}. Retrying in {}s...", message.trim_end_matches('.'), ms.div_ceil(1000))
}
