//! Why a change of a phase is not made, in words that say what to do instead.

use crate::machine::Refused;
use crate::roadmap::skip;

/// Why a change is not made, and what to do instead. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("step {step} has no phase `{phase}`; {}", match .meant { Some(meant) => format!("did you mean `{meant}`?"), None => format!("it has {}", .known.join(", ")) })]
    UnknownPhase { step: String, phase: String, meant: Option<String>, known: Vec<String> },
    #[error("phase {phase} cannot start before {before} is over; finish or skip {before} first")]
    OutOfOrder { phase: String, before: String },
    #[error(
        "phase {running} is still in progress; end it with `seriatim phase done`, `skip` or `fail` before {phase} starts"
    )]
    StillRunning { phase: String, running: String },
    #[error("phase {phase} is not in progress; start it first with `seriatim phase start`")]
    NotStarted { phase: String },
    #[error(
        "phase {phase} is over already ({status}); nothing was changed, and only `reopen` would open it again"
    )]
    AlreadyOver { phase: String, status: String },
    #[error("phase {phase} is in progress already; end it with `seriatim phase done`, `skip` or `fail`")]
    AlreadyStarted { phase: String },
    #[error("phase {phase} needs an outcome; say `--outcome PASS` or `--outcome FAIL`")]
    NoOutcome { phase: String },
    #[error("`{outcome}` is not an outcome of phase {phase}; say PASS or FAIL, and the rest as a note")]
    OddOutcome { phase: String, outcome: String },
    #[error("phase {phase} needs a note that says why it failed")]
    NoNote { phase: String },
    #[error(
        "phase {phase} cannot be skipped without a reason; write one of {} and say why after it",
        skip::in_words()
    )]
    NoReason { phase: String },
    #[error(
        "phase {phase} cannot be skipped with `{reason}`; write one of {} and say why after it",
        skip::in_words()
    )]
    BadReason { phase: String, reason: String },
    #[error(
        "phase {phase} cannot be deferred, since a deferred phase blocks the commit; carry it out, or skip it with one of {}",
        skip::in_words()
    )]
    Deferred { phase: String },
    #[error(
        "only the engine marks a phase as CHECKPOINT_PENDING; carry {phase} out, or skip it with one of {}",
        skip::in_words()
    )]
    PendingByHand { phase: String },
    #[error("{total} tests cannot be {passed} passed and {failed} failed; correct the counts")]
    OddTests { total: u64, passed: u64, failed: u64 },
    #[error("step {step} is {status}, where no phase can be changed; {instead}")]
    StepClosed { step: String, status: String, instead: &'static str },
    #[error(
        "phase {phase} ends with all tests green, and {failed} failed; mend them, or end it with `--outcome FAIL`"
    )]
    RedTests { phase: String, failed: u64 },
    #[error(transparent)]
    Machine(#[from] Refused),
}
