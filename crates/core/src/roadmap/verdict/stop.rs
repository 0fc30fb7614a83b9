//! The verdict when an agent stops (DS-39 to DS-48).

use serde::Serialize;
use serde_json::Value as Json;
use serde_json::json;

use super::gates::Evidence;
use super::is_open;
use super::record_fault;
use super::unexecuted;
use crate::finding::Finding;
use crate::finding::Severity;
use crate::roadmap::audit::Event;
use crate::roadmap::audit::Happening;
use crate::roadmap::phases::Schema;
use crate::roadmap::state::PhaseRecord;
use crate::roadmap::state::PhaseStatus;
use crate::roadmap::state::StepState;
use crate::roadmap::state::StepStatus;
use crate::time::Utc;

/// The sum of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    Error,
    Warning,
    Success,
}

/// What is said when an agent stops (DS-46).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StopVerdict {
    pub status: Standing,
    pub step_file: String,
    pub errors: Vec<String>,
    pub warnings: Vec<String>,
    /// What the gates of the project showed, where some are configured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    pub timestamp: String,
}

/// Why a stop is not judged: the work is under no step (DS-37).
pub const NO_STEP_FILE: &str = "no_step_file";

/// The result of a stop that is not judged.
pub fn skipped(reason: &str) -> Json {
    json!({"status": "skipped", "reason": reason})
}

impl StopVerdict {
    fn new(step_file: &str, errors: Vec<String>, warnings: Vec<String>, now: Utc) -> StopVerdict {
        let status = match (errors.is_empty(), warnings.is_empty()) {
            (false, _) => Standing::Error,
            (true, false) => Standing::Warning,
            (true, true) => Standing::Success,
        };
        StopVerdict {
            status,
            step_file: step_file.to_owned(),
            errors,
            warnings,
            evidence: vec![],
            timestamp: now.to_string(),
        }
    }

    /// The verdict where the state file is not there, or cannot be read (DS-38).
    pub fn of_findings(step_file: &str, findings: &[Finding], now: Utc) -> StopVerdict {
        let of = |severity| {
            findings
                .iter()
                .filter(move |f| f.severity == severity)
                .map(|f| f.message.clone())
                .collect::<Vec<_>>()
        };
        StopVerdict::new(step_file, of(Severity::Error), of(Severity::Warning), now)
    }

    pub fn is_error(&self) -> bool {
        self.status == Standing::Error
    }

    /// The line of the trail (DS-47).
    pub fn event(&self, task_id: &str, now: Utc) -> Event {
        let event = Event::new(now, Happening::SubagentStopValidation, &self.step_file)
            .with("step_id", task_id)
            .with("status", json!(self.status))
            .with("errors", self.errors.clone())
            .with("warnings", self.warnings.clone());
        if self.evidence.is_empty() { event } else { event.with("evidence", json!(self.evidence)) }
    }
}

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
        if let Some((severity, message)) = record_fault(record, schema) {
            let list = if severity == Severity::Error { &mut errors } else { &mut warnings };
            list.push(message);
            continue;
        }
        match record.status {
            PhaseStatus::InProgress if state.is_resumable() && record.notes.is_some() => {
                warnings.push(format!("Phase {name} left IN_PROGRESS (can be resumed)"));
            }
            PhaseStatus::InProgress => errors.push(format!("Phase {name} left IN_PROGRESS (abandoned)")),
            _ if is_open(record) && !excused => errors.push(unexecuted(record, state)),
            _ => {}
        }
    }
    if excused && state.phases.iter().any(is_open) {
        let open: Vec<&str> = state.phases.iter().filter(|r| is_open(r)).map(|r| r.name.as_str()).collect();
        warnings.push(format!("Task is {}; still to do: {}", state.status.word(), open.join(", ")));
    }
    errors.extend(task_fault(state));
    if state.status == StepStatus::InProgress {
        warnings.push("Task still IN_PROGRESS after agent stop".to_owned());
    }
    if errors.is_empty() && state.status == StepStatus::Done {
        warnings.extend(state.phases.iter().filter_map(failed_but_done));
    }
    StopVerdict::new(&state.step_file, errors, warnings, now)
}

/// What is wrong with the task's own status.
fn task_fault(state: &StepState) -> Option<String> {
    match &state.status {
        StepStatus::Unknown(word) => Some(format!("Task has the unknown status `{word}`")),
        StepStatus::Partial if state.recovery_suggestions.is_empty() => {
            Some("Task is PARTIAL without recovery_suggestions".to_owned())
        }
        _ => None,
    }
}

fn failed_but_done(record: &PhaseRecord) -> Option<String> {
    super::not_passed(record)
        .map(|outcome| format!("Phase {} ended with {outcome} - blocks commit", record.name))
}
