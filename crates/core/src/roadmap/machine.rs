//! The one machine of a step: what a step and a phase may become, what a stop and a commit need, and which phases a
//! step has.
//!
//! The guard of live sessions and the roadmap dialect both ask here, so that they cannot disagree. [`STEP`] is the
//! superset of all dialects (K-14); [`STEP_V1`] is the machine of step files, in which a retry is one edge (K-15);
//! [`STEP_ENGINE`] and [`PHASE_ENGINE`] are the ways that only the engine may take. A project's own definition file is
//! read by [`definition`] and must be a part of what is known here.
//!
//! Architecture invariant: no other module writes the status of a step or of a phase that is on record.

mod commit;
mod file;
mod moves;
mod phases;
mod recovery;
mod stop;
#[cfg(test)]
mod tests;
mod work;

pub use commit::Beside;
pub use commit::commit;
pub use commit::commit_now;
pub use commit::counts_outside;
pub use commit::governed;
pub use commit::is_untouched;
pub use commit::is_whole;
pub use commit::level;
pub use file::DEFINITION;
pub use file::Definition;
pub use file::State;
pub use file::Transition;
pub use file::definition;
pub use moves::Actor;
pub use moves::Trigger;
pub use moves::move_phase;
pub use moves::move_step;
pub use moves::phase_leads;
pub use moves::step_leads;
pub use phases::Listed;
pub(super) use phases::among;
pub use phases::phases_of;
pub use recovery::FailureMode;
pub use recovery::Recovered;
pub use recovery::STALE_MINUTES;
pub use recovery::Stale;
pub use recovery::crash;
pub use recovery::intervene;
pub use recovery::partial;
pub use recovery::silent;
pub use recovery::stale;
pub use stop::AfterStop;
pub use stop::Decided;
pub use stop::End;
pub use stop::HoldChoice;
pub use stop::SENT_BACK_MAX;
pub use stop::after_stop;
pub use stop::decided;
pub use stop::stop;
pub use work::Closed;
pub use work::begin;
pub use work::close;
pub use work::put_to_work;
pub use work::runaway;
pub use work::to_do;
pub use work::unfinished;
pub use work::way_to_work;

use crate::machine::Edge;
use crate::machine::Machine;

const fn edge(from: &'static str, to: &'static str, trigger: &'static str) -> Edge {
    Edge { from, to, trigger, needs: &[] }
}

/// The guard of the way to DONE: a field that only the rules of the phases can give.
pub const ALL_PHASES_VALID: &str = "all_phases_valid";

/// The guard of the ways by which a step that says DONE without being so is recovered from.
pub const SOME_PHASE_INVALID: &str = "some_phase_invalid";

/// The machine of a step, with the states of every dialect. DONE is final.
pub const STEP: Machine = Machine {
    name: "step",
    states: &["TODO", "IN_PROGRESS", "IN_REVIEW", "PARTIAL", "FAILED", "RETRY", "REWORK", "DONE"],
    edges: &[
        edge("TODO", "IN_PROGRESS", "agent_starts"),
        Edge { from: "IN_PROGRESS", to: "DONE", trigger: "all_phases_complete", needs: &[ALL_PHASES_VALID] },
        edge("IN_PROGRESS", "FAILED", "unrecoverable_error"),
        edge("IN_PROGRESS", "PARTIAL", "timeout_or_interrupt"),
        edge("IN_PROGRESS", "IN_REVIEW", "review"),
        Edge { from: "IN_REVIEW", to: "DONE", trigger: "approve", needs: &[ALL_PHASES_VALID] },
        edge("IN_REVIEW", "REWORK", "rework"),
        edge("REWORK", "IN_PROGRESS", "agent_starts"),
        edge("FAILED", "RETRY", "retry_with_fix"),
        edge("RETRY", "IN_PROGRESS", "agent_starts"),
        edge("PARTIAL", "IN_PROGRESS", "resume"),
    ],
};

/// The machine of step files (DS-28).
pub const STEP_V1: Machine = Machine {
    name: "step",
    states: &["TODO", "IN_PROGRESS", "DONE", "FAILED", "PARTIAL"],
    edges: &[
        edge("TODO", "IN_PROGRESS", "agent_starts"),
        Edge { from: "IN_PROGRESS", to: "DONE", trigger: "all_phases_complete", needs: &[ALL_PHASES_VALID] },
        edge("IN_PROGRESS", "FAILED", "unrecoverable_error"),
        edge("IN_PROGRESS", "PARTIAL", "timeout_or_interrupt"),
        edge("FAILED", "IN_PROGRESS", "retry_with_fix"),
        edge("PARTIAL", "IN_PROGRESS", "resume"),
    ],
};

/// The machine of a phase (DS-29). `reopen` is the explicit way out of an end (K-05); `crash_reset` is the engine's
/// alone (K-90).
pub const PHASE: Machine = Machine {
    name: "phase",
    states: &["NOT_EXECUTED", "IN_PROGRESS", "EXECUTED", "SKIPPED", "FAILED"],
    edges: &[
        edge("NOT_EXECUTED", "IN_PROGRESS", "start"),
        Edge { from: "IN_PROGRESS", to: "EXECUTED", trigger: "done", needs: &["outcome"] },
        Edge { from: "IN_PROGRESS", to: "SKIPPED", trigger: "skip", needs: &["blocked_by"] },
        edge("IN_PROGRESS", "FAILED", "fail"),
        edge("IN_PROGRESS", "NOT_EXECUTED", "crash_reset"),
        edge("FAILED", "IN_PROGRESS", "start"),
        edge("EXECUTED", "NOT_EXECUTED", "reopen"),
        edge("SKIPPED", "NOT_EXECUTED", "reopen"),
    ],
};

/// The ways of a step that only the engine takes: recovery from wherever a step stands when its agent is gone, and a
/// checkpoint that a person takes back (DW-74). A step that is DONE with all its phases is never recovered from.
pub const STEP_ENGINE: Machine = Machine {
    name: "step",
    states: &["TODO", "IN_PROGRESS", "IN_REVIEW", "PARTIAL", "FAILED", "RETRY", "REWORK", "DONE", UNKNOWN],
    edges: &[
        edge("TODO", "FAILED", "unrecoverable_error"),
        edge("IN_REVIEW", "FAILED", "unrecoverable_error"),
        edge("PARTIAL", "FAILED", "unrecoverable_error"),
        edge("RETRY", "FAILED", "unrecoverable_error"),
        edge("REWORK", "FAILED", "unrecoverable_error"),
        edge(UNKNOWN, "FAILED", "unrecoverable_error"),
        Edge { from: "DONE", to: "FAILED", trigger: "unrecoverable_error", needs: &[SOME_PHASE_INVALID] },
        edge("TODO", "PARTIAL", "timeout_or_interrupt"),
        edge("IN_REVIEW", "PARTIAL", "timeout_or_interrupt"),
        edge("FAILED", "PARTIAL", "timeout_or_interrupt"),
        edge("RETRY", "PARTIAL", "timeout_or_interrupt"),
        edge("REWORK", "PARTIAL", "timeout_or_interrupt"),
        edge(UNKNOWN, "PARTIAL", "timeout_or_interrupt"),
        Edge { from: "DONE", to: "PARTIAL", trigger: "timeout_or_interrupt", needs: &[SOME_PHASE_INVALID] },
        edge("TODO", "IN_PROGRESS", "rollback"),
        edge("IN_REVIEW", "IN_PROGRESS", "rollback"),
        edge("PARTIAL", "IN_PROGRESS", "rollback"),
        edge("FAILED", "IN_PROGRESS", "rollback"),
        edge("RETRY", "IN_PROGRESS", "rollback"),
        edge("REWORK", "IN_PROGRESS", "rollback"),
        edge("DONE", "IN_PROGRESS", "rollback"),
        edge(UNKNOWN, "IN_PROGRESS", "rollback"),
    ],
};

/// The ways of a phase that only the engine takes: skips that a roadmap pre-set (K-07), phases that are still to come at
/// a checkpoint (K-06), and those of a checkpoint that a person takes back (DW-74).
pub const PHASE_ENGINE: Machine = Machine {
    name: "phase",
    states: &["NOT_EXECUTED", PENDING, "IN_PROGRESS", "EXECUTED", "SKIPPED", "FAILED", UNKNOWN],
    edges: &[
        Edge { from: "NOT_EXECUTED", to: "SKIPPED", trigger: "preset", needs: &["blocked_by"] },
        edge("NOT_EXECUTED", PENDING, "checkpoint"),
        edge(PENDING, PENDING, "checkpoint"),
        edge("NOT_EXECUTED", PENDING, "rollback"),
        edge("IN_PROGRESS", PENDING, "rollback"),
        edge("EXECUTED", PENDING, "rollback"),
        edge("SKIPPED", PENDING, "rollback"),
        edge("FAILED", PENDING, "rollback"),
        edge(UNKNOWN, PENDING, "rollback"),
    ],
};

/// A status whose word is not known.
const UNKNOWN: &str = "UNKNOWN";
/// A phase that is still to come after a checkpoint.
const PENDING: &str = "CHECKPOINT_PENDING";
