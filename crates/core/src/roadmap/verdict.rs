//! Verdicts over a step: at the stop of an agent, at a commit, and on files as they lie there.
//!
//! The sentences are contracts: people and programs look for them to the letter.

mod commit;
mod gates;
mod recovery;
mod stop;
#[cfg(test)]
mod tests;
mod work;

pub use commit::CommitVerdict;
pub use commit::Level;
pub use commit::commit;
pub use commit::judged_commit;
pub use gates::AT_STOP;
pub use gates::Evidence;
pub use gates::Ran;
pub use gates::Shown;
pub use recovery::FailureMode;
pub use recovery::Recovered;
pub use recovery::STALE_MINUTES;
pub use recovery::Stale;
pub use recovery::crash;
pub use recovery::intervene;
pub use recovery::partial;
pub use recovery::silent;
pub use recovery::stale;
pub use stop::NO_STEP_FILE;
pub use stop::Standing;
pub use stop::StopVerdict;
pub use stop::skipped;
pub use stop::stop;
pub use work::begin;
pub use work::runaway;

use super::phases::Schema;
use super::skip;
use super::skip::Reason;
use super::state::Outcome;
use super::state::PhaseRecord;
use super::state::PhaseStatus;
use super::state::StepState;
use super::state::StepStatus;
use crate::finding::Finding;
use crate::finding::Place;
use crate::finding::Severity;

/// What is wrong with the record of a phase that says it is over, or says something nobody knows.
fn record_fault(record: &PhaseRecord, schema: &Schema) -> Option<(Severity, String)> {
    let name = &record.name;
    let fault = match &record.status {
        PhaseStatus::Done if record.outcome.is_none() => {
            (Severity::Error, format!("Phase {name} {} without outcome", schema.done))
        }
        PhaseStatus::Skipped => match skip::reason(record.blocked_by.as_deref()) {
            Reason::Valid | Reason::Pending => return None,
            Reason::Missing => (Severity::Error, format!("Phase {name} SKIPPED without blocked_by")),
            Reason::Deferred => (Severity::Warning, format!("Phase {name} has DEFERRED - blocks commit")),
            Reason::Bare => {
                (Severity::Error, format!("Phase {name} SKIPPED with a prefix but without a reason"))
            }
            Reason::Unknown => {
                (Severity::Error, format!("Phase {name} SKIPPED with an unknown prefix in blocked_by"))
            }
        },
        PhaseStatus::Unknown(word) => {
            (Severity::Error, format!("Phase {name} has the unknown status `{word}`"))
        }
        _ => return None,
    };
    Some(fault)
}

/// How a fault of a record is mended.
fn remedy(record: &PhaseRecord, schema: &Schema) -> Option<String> {
    match &record.status {
        PhaseStatus::Done => Some("say how it ended: `outcome` PASS or FAIL".to_owned()),
        PhaseStatus::Skipped => {
            Some(format!("write `blocked_by` as one of {} and a reason after it", skip::in_words()))
        }
        PhaseStatus::Unknown(_) => {
            Some(format!("write NOT_EXECUTED, IN_PROGRESS, {}, SKIPPED or FAILED", schema.done))
        }
        _ => None,
    }
}

/// The findings of a file's check about one record.
pub(super) fn record_findings(record: &PhaseRecord, schema: &Schema) -> Option<Finding> {
    let (severity, message) = record_fault(record, schema)?;
    let finding = Finding::error("phase", record.place.unwrap_or(Place::TOP), message);
    let finding = Finding { severity, ..finding };
    Some(match remedy(record, schema) {
        Some(help) => finding.help(help),
        None => finding,
    })
}

/// The findings of a file's check about the step as a whole.
pub(super) fn step_findings(state: &StepState, schema: &Schema) -> Vec<Finding> {
    let mut findings = vec![];
    if let StepStatus::Unknown(word) = &state.status {
        let message = format!("`{word}` is not a status of a step");
        findings.push(Finding::error("unknown-value", Place::TOP, message));
    }
    if state.status == StepStatus::Done {
        for record in state.phases.iter().filter(|record| is_open(record)) {
            let message = unexecuted(record, state);
            findings.push(Finding::error("phase", record.place.unwrap_or(Place::TOP), message));
        }
    }
    let running: Vec<&str> = state
        .phases
        .iter()
        .filter(|record| record.status == PhaseStatus::InProgress)
        .map(|record| record.name.as_str())
        .collect();
    if running.len() > 1 {
        let message = format!("several phases are IN_PROGRESS at once: {}", running.join(", "));
        findings.push(Finding::warning("phase", Place::TOP, message).help("phases follow one another"));
    }
    let known = |record: &&PhaseRecord| schema.phase(&record.name).is_some();
    let late = state
        .phases
        .iter()
        .filter(known)
        .skip_while(|record| !is_open(record))
        .find(|record| matches!(record.status, PhaseStatus::Done | PhaseStatus::InProgress));
    if let (Some(late), Some(open)) = (late, state.phases.iter().find(|record| is_open(record))) {
        let message = format!("phase {} was begun before {}, which comes first", late.name, open.name);
        findings.push(Finding::warning("order", late.place.unwrap_or(Place::TOP), message));
    }
    findings
}

/// Still to be carried out.
fn is_open(record: &PhaseRecord) -> bool {
    matches!(record.status, PhaseStatus::NotExecuted | PhaseStatus::Pending)
}

fn unexecuted(record: &PhaseRecord, state: &StepState) -> String {
    let name = &record.name;
    match state.status {
        StepStatus::Done => format!("Task marked DONE but phase {name} NOT_EXECUTED"),
        _ => format!("Phase {name} NOT_EXECUTED and task is {}", state.status.word()),
    }
}

/// Whether a phase failed, or ended in a way that is not a pass.
fn not_passed(record: &PhaseRecord) -> Option<&str> {
    match (&record.status, &record.outcome) {
        (PhaseStatus::Failed, _) => Some("FAIL"),
        (PhaseStatus::Done, Some(outcome @ (Outcome::Fail | Outcome::Other(_)))) => Some(outcome.word()),
        _ => None,
    }
}
