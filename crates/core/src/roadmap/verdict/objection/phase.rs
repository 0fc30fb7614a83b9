//! What can be wrong with the record of a phase, and with the status of its task.

use serde::Deserialize;
use serde::Serialize;

use crate::roadmap::skip::CHECKPOINT_PENDING;
use crate::roadmap::state::StepStatus;

/// What is wrong with the record of a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum PhaseFault {
    /// It is over, in the word of its generation, and does not say how it ended.
    WithoutOutcome {
        status: String,
    },
    /// It was skipped, and nothing says why.
    SkippedWithoutReason,
    /// It was skipped for later.
    Deferred,
    /// It was skipped with a valid prefix and nothing after it.
    BareReason,
    /// It was skipped with a prefix that is not on the list.
    UnknownReason,
    UnknownStatus {
        word: String,
    },
    /// It is open although the agent of the task stops; `task` is the word of the task's status.
    Unexecuted {
        task: String,
    },
    /// It is in progress although the agent of the task stops.
    Abandoned,
    /// It is open at a commit.
    NotExecuted,
    /// It is in progress at a commit.
    LeftInProgress,
    /// It is still to come at the commit that ends the step.
    StillPending,
    Failed,
    /// It ended with another outcome than PASS.
    NotPassed {
        outcome: String,
    },
    /// It was skipped, and at the commit nothing says why.
    CommittedWithoutReason,
    /// It was skipped for later, and a commit cannot wait for it.
    DeferredAtCommit,
}

impl PhaseFault {
    pub(super) fn sentence(&self, phase: &str) -> String {
        match self {
            PhaseFault::WithoutOutcome { status } => format!("Phase {phase} {status} without outcome"),
            PhaseFault::SkippedWithoutReason => format!("Phase {phase} SKIPPED without blocked_by"),
            PhaseFault::Deferred => format!("Phase {phase} has DEFERRED - blocks commit"),
            PhaseFault::BareReason => format!("Phase {phase} SKIPPED with a prefix but without a reason"),
            PhaseFault::UnknownReason => {
                format!("Phase {phase} SKIPPED with an unknown prefix in blocked_by")
            }
            PhaseFault::UnknownStatus { word } => format!("Phase {phase} has the unknown status `{word}`"),
            PhaseFault::Unexecuted { task } if task == StepStatus::Done.word() => {
                format!("Task marked DONE but phase {phase} NOT_EXECUTED")
            }
            PhaseFault::Unexecuted { task } => format!("Phase {phase} NOT_EXECUTED and task is {task}"),
            PhaseFault::Abandoned => format!("Phase {phase} left IN_PROGRESS (abandoned)"),
            PhaseFault::NotExecuted => format!("Phase {phase} not executed"),
            PhaseFault::LeftInProgress => format!("Phase {phase} left in progress"),
            PhaseFault::StillPending => format!("Phase {phase} still {CHECKPOINT_PENDING}"),
            PhaseFault::Failed => format!("Phase {phase} FAILED"),
            PhaseFault::NotPassed { outcome } => format!("Phase {phase} has outcome {outcome}, not PASS"),
            PhaseFault::CommittedWithoutReason => format!("Phase {phase} SKIPPED without reason"),
            PhaseFault::DeferredAtCommit => format!("Phase {phase}: DEFERRED phases block commit"),
        }
    }
}

/// What is wrong with the status of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum TaskFault {
    UnknownStatus {
        word: String,
    },
    /// It stopped in the middle and does not say what is left.
    WithoutSuggestions,
}

impl TaskFault {
    pub(super) fn sentence(&self) -> String {
        match self {
            TaskFault::UnknownStatus { word } => format!("Task has the unknown status `{word}`"),
            TaskFault::WithoutSuggestions => "Task is PARTIAL without recovery_suggestions".to_owned(),
        }
    }
}
