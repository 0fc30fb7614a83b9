//! Where a step and a phase may go from where they stand.
//!
//! [`STEP`] is the superset of all dialects (K-14); [`STEP_V1`] is the machine of step files, in which a retry is one
//! edge (K-15). A project's own definition file is read by [`definition`] and must be a part of what is known here.

mod file;
#[cfg(test)]
mod tests;

pub use file::DEFINITION;
pub use file::Definition;
pub use file::State;
pub use file::Transition;
pub use file::definition;

use crate::machine::Edge;
use crate::machine::Machine;

const fn edge(from: &'static str, to: &'static str, trigger: &'static str) -> Edge {
    Edge { from, to, trigger, needs: &[] }
}

/// The guard of the way to DONE: a field that only the rules of the phases can give.
pub const ALL_PHASES_VALID: &str = "all_phases_valid";

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
