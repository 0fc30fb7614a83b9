//! The verdict before a commit (DS-30, K-04, K-06, K-08, K-18).

use serde_json::Value as Json;

use super::not_passed;
use super::record_fault;
use crate::roadmap::audit;
use crate::roadmap::audit::Entry;
use crate::roadmap::audit::Event;
use crate::roadmap::audit::Happening;
use crate::roadmap::phases::COMMIT;
use crate::roadmap::phases::Schema;
use crate::roadmap::skip;
use crate::roadmap::skip::CHECKPOINT_PENDING;
use crate::roadmap::skip::Reason;
use crate::roadmap::state::PhaseRecord;
use crate::roadmap::state::PhaseStatus;
use crate::roadmap::state::StepState;
use crate::time::Utc;

/// What kind of commit it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// In the middle of a step: later phases may be marked as pending.
    Checkpoint,
    /// The end of a step: nothing may be left.
    Final,
}

impl Level {
    pub fn word(self) -> &'static str {
        match self {
            Level::Checkpoint => "checkpoint",
            Level::Final => "final",
        }
    }
}

/// Whether a step lets a commit pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitVerdict {
    pub step_file: String,
    pub task_id: String,
    pub level: Level,
    pub errors: Vec<String>,
}

impl CommitVerdict {
    pub fn passed(&self) -> bool {
        self.errors.is_empty()
    }

    /// The line of the trail (DS-59, DS-60).
    pub fn event(&self, now: Utc) -> Event {
        let happening =
            if self.passed() { Happening::CommitValidationPassed } else { Happening::CommitValidationFailed };
        let errors = if self.passed() { Json::Null } else { Json::from(self.errors.clone()) };
        Event::new(now, happening, &self.step_file)
            .with("step_id", self.task_id.as_str())
            .with("level", self.level.word())
            .with("errors", errors)
    }
}

/// Judges the phases alone. The phase of the commit itself may be open.
pub fn commit(state: &StepState, schema: &Schema, level: Level) -> CommitVerdict {
    let before = state.phases.iter().filter(|record| record.name != COMMIT);
    let mut errors: Vec<String> = before.filter_map(|record| fault(record, schema, level)).collect();
    let own = state.phases.iter().filter(|record| record.name == COMMIT);
    errors.extend(own.filter_map(|record| record_fault(record, schema)).map(|(_, message)| message));
    for name in schema.names().filter(|name| *name != COMMIT && state.phase(name).is_none()) {
        errors.push(format!("Phase {name} not executed"));
    }
    CommitVerdict { step_file: state.step_file.clone(), task_id: state.task_id.clone(), level, errors }
}

/// Judges the phases together with the audit trail: the errors of the last stop validation of this step count, those
/// of earlier ones and of other steps do not (K-18). An error about a phase is settled once work on that phase is on
/// record after the stop; then the phase as it stands speaks for itself. So does the phase of the commit.
pub fn judged_commit(state: &StepState, schema: &Schema, level: Level, trail: &[Entry]) -> CommitVerdict {
    let mut verdict = commit(state, schema, level);
    let Some((stop, later)) = audit::last_stop(trail, &state.step_file, &state.task_id) else {
        return verdict;
    };
    if stop.data.get("status").and_then(Json::as_str) != Some("error") {
        return verdict;
    }
    let worked_on = |phase: &str| {
        phase == COMMIT
            || later.iter().any(|entry| entry.data.get("phase").and_then(Json::as_str) == Some(phase))
    };
    let listed = stop.data.get("errors").and_then(Json::as_array);
    for error in listed.into_iter().flatten().filter_map(Json::as_str) {
        let settled = state.phases.iter().any(|record| names(error, &record.name) && worked_on(&record.name));
        if !settled && !verdict.errors.iter().any(|known| known == error) {
            verdict.errors.push(error.to_owned());
        }
    }
    verdict
}

/// Whether a sentence is about a phase: its name stands there as a word of its own.
fn names(sentence: &str, phase: &str) -> bool {
    sentence.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == phase)
}

/// What keeps one phase from being committed.
fn fault(record: &PhaseRecord, schema: &Schema, level: Level) -> Option<String> {
    let name = &record.name;
    match &record.status {
        PhaseStatus::NotExecuted => Some(format!("Phase {name} not executed")),
        PhaseStatus::InProgress => Some(format!("Phase {name} left in progress")),
        PhaseStatus::Pending if level == Level::Final => {
            Some(format!("Phase {name} still {CHECKPOINT_PENDING}"))
        }
        PhaseStatus::Failed => Some(format!("Phase {name} FAILED")),
        // A commit is refused in other words than those with which an agent is warned when it stops (DW-82, DS-43).
        PhaseStatus::Skipped if skip::reason(record.blocked_by.as_deref()) == Reason::Missing => {
            Some(format!("Phase {name} SKIPPED without reason"))
        }
        PhaseStatus::Skipped if skip::reason(record.blocked_by.as_deref()) == Reason::Deferred => {
            Some(format!("Phase {name}: DEFERRED phases block commit"))
        }
        _ => record_fault(record, schema).map(|(_, message)| message).or_else(|| {
            not_passed(record).map(|outcome| format!("Phase {name} has outcome {outcome}, not PASS"))
        }),
    }
}
