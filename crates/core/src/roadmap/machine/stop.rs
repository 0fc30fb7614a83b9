//! What a stop needs, and what follows from the verdict over it (DS-39 to DS-48, DS-64 to DS-67).

use super::FailureMode;
use super::Recovered;
use super::crash;
use super::partial;
use super::runaway;
use super::silent;
use crate::choices;
use crate::finding::Severity;
use crate::roadmap::phases::Schema;
use crate::roadmap::state::PhaseRecord;
use crate::roadmap::state::PhaseStatus;
use crate::roadmap::state::StepState;
use crate::roadmap::state::StepStatus;
use crate::roadmap::verdict::LastStop;
use crate::roadmap::verdict::Objection;
use crate::roadmap::verdict::PhaseFault;
use crate::roadmap::verdict::StopVerdict;
use crate::roadmap::verdict::TaskFault;
use crate::roadmap::verdict::is_open;
use crate::roadmap::verdict::not_passed;
use crate::roadmap::verdict::record_fault;
use crate::roadmap::verdict::unexecuted;
use crate::time::Utc;

/// Judges a step whose agent has stopped.
///
/// Work that is left is an error, unless the step says itself that it is not finished: PARTIAL with suggestions
/// (K-17, K-96), or FAILED with its reason. A phase in progress needs notes besides, and is never excused by FAILED.
pub fn stop(state: &StepState, schema: &Schema, now: Utc) -> StopVerdict {
    let mut errors = vec![];
    let mut warnings = vec![];
    let given_up = state.status == StepStatus::Failed && state.failure_reason.is_some();
    let excused = state.is_resumable() || given_up;
    for record in &state.phases {
        let name = &record.name;
        if let Some((severity, fault)) = record_fault(record, schema) {
            let objection = Objection::phase(name, fault);
            match severity {
                Severity::Error => errors.push(objection),
                Severity::Warning | Severity::Note => warnings.push(objection.sentence()),
            }
            continue;
        }
        match record.status {
            PhaseStatus::InProgress if state.is_resumable() && record.notes.is_some() => {
                warnings.push(format!("Phase {name} left IN_PROGRESS (can be resumed)"));
            }
            PhaseStatus::InProgress => errors.push(Objection::phase(name, PhaseFault::Abandoned)),
            _ if is_open(record) && !excused => errors.push(unexecuted(record, state)),
            _ => {}
        }
    }
    if excused && state.phases.iter().any(is_open) {
        let open: Vec<&str> = state.phases.iter().filter(|r| is_open(r)).map(|r| r.name.as_str()).collect();
        warnings.push(format!("Task is {}; still to do: {}", state.status.word(), open.join(", ")));
    }
    errors.extend(task_fault(state).map(|fault| Objection::Task { fault }));
    if state.status == StepStatus::InProgress {
        warnings.push("Task still IN_PROGRESS after agent stop".to_owned());
    }
    if errors.is_empty() && state.status == StepStatus::Done {
        warnings.extend(state.phases.iter().filter_map(failed_but_done));
    }
    StopVerdict::new(&state.step_file, errors, warnings, now)
}

/// What is wrong with the task's own status.
fn task_fault(state: &StepState) -> Option<TaskFault> {
    match &state.status {
        StepStatus::Unknown(word) => Some(TaskFault::UnknownStatus { word: word.clone() }),
        StepStatus::Partial if state.recovery_suggestions.is_empty() => Some(TaskFault::WithoutSuggestions),
        _ => None,
    }
}

fn failed_but_done(record: &PhaseRecord) -> Option<String> {
    not_passed(record).map(|outcome| format!("Phase {} ended with {outcome} - blocks commit", record.name))
}

/// How often in a row an agent is sent back. The client would let it go after eight, without a word.
pub const SENT_BACK_MAX: u32 = 5;

/// How an agent came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It wants to stop and can be sent back.
    Wants,
    /// It is over, whatever is said now.
    Over,
    /// It was ended by an error.
    Crashed,
}

/// What follows from the verdict over a stop.
#[derive(Clone, Debug, PartialEq)]
pub enum AfterStop {
    /// The agent may go. The step is closed where a commit of it has passed the gate already.
    LetGo { closes: bool },
    /// The agent goes on working.
    SendBack,
    /// The agent is over and the step is not: what it becomes, and whether a person has to decide before it goes on.
    Recover { recovered: Option<Box<Recovered>>, holds: bool },
}

/// Returns what follows from the verdict over a stop. `state` is absent where the state file cannot be read;
/// `sent_back` is how often in a row the agent was sent back before; `gated` says that a commit of the step has passed
/// the gate while its agent was at work.
pub fn after_stop(
    state: Option<&StepState>,
    verdict: &StopVerdict,
    end: End,
    sent_back: u32,
    gated: bool,
    now: Utc,
) -> AfterStop {
    if !verdict.is_error() {
        let is_done = state.is_some_and(|state| state.status == StepStatus::Done);
        return AfterStop::LetGo { closes: gated && is_done };
    }
    if end == End::Wants && sent_back < SENT_BACK_MAX {
        return AfterStop::SendBack;
    }
    let recovered = state.and_then(|state| recover(state, verdict, end, now)).map(Box::new);
    AfterStop::Recover { recovered, holds: end == End::Wants }
}

/// Which of the four ways of going wrong it was, and what it makes of the step. One that is done stays so: its record
/// is whole, and what is wrong lies beside it.
fn recover(state: &StepState, verdict: &StopVerdict, end: End, now: Utc) -> Option<Recovered> {
    if state.status == StepStatus::Done && state.all_phases_valid() {
        return None;
    }
    if end == End::Crashed {
        return Some(crash(state, now));
    }
    if let Some(silent) = silent(state, now) {
        return Some(silent);
    }
    if verdict.errors.iter().any(|error| matches!(error, Objection::Scope(_))) {
        return Some(runaway(state, now));
    }
    let mut suggestions: Vec<String> = FailureMode::Stuck.suggestions().map(str::to_owned).into();
    let left = state.phases.iter().filter(|phase| !phase.is_closed());
    suggestions.extend(left.map(|phase| format!("Continue with phase {}", phase.name)));
    Some(partial(state, &suggestions, now))
}

choices! {
    /// What a person decides about a step that is held.
    pub enum HoldChoice {
        /// Another agent may be called for it.
        Retry = "retry",
        /// It is accepted as it is.
        Override = "override",
        /// It is not tried again.
        Cancel = "cancel",
    }
}

/// What follows from a person's decision about a step that is held.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    /// What the last stop found and still counts.
    pub last_stop: Option<LastStop>,
    /// The step is marked as not to be tried again and holds no commit any more.
    pub closes: bool,
}

/// Returns what follows from a person's decision about a step that is held.
pub fn decided(choice: HoldChoice, last_stop: Option<LastStop>) -> Decided {
    let still = || {
        let mut stop = last_stop.clone()?;
        stop.objections.retain(Objection::outlives_retry);
        (!stop.objections.is_empty()).then_some(stop)
    };
    match choice {
        HoldChoice::Retry => Decided { last_stop: still(), closes: false },
        // A person has seen what the last stop found and takes it as it is.
        HoldChoice::Override => Decided { last_stop: None, closes: false },
        HoldChoice::Cancel => Decided { last_stop: still(), closes: true },
    }
}
