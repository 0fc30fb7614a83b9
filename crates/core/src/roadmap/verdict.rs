//! Verdicts over a step: at the stop of an agent, at a commit, and on files as they lie there.
//!
//! The sentences are contracts: people and programs look for them to the letter.

mod commit;
mod gates;
mod last_stop;
mod objection;
mod stop;
#[cfg(test)]
mod tests;

pub use commit::CommitVerdict;
pub use commit::Level;
pub use gates::AT_STOP;
pub use gates::Evidence;
pub use gates::NOTHING_CHECKED;
pub use gates::Shown;
pub use gates::demand;
pub use last_stop::LastStop;
pub use objection::Edit;
pub use objection::Objection;
pub use objection::PhaseFault;
pub use objection::TaskFault;
pub use objection::Unlawful;
pub use objection::add as add_objections;
pub use objection::read_all as read_objections;
pub use objection::sentences;
pub use stop::NO_STEP_FILE;
pub use stop::Standing;
pub use stop::StopVerdict;
pub use stop::skipped;

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

/// What is wrong with the record of a phase that says it is over, or has a status that is not known.
pub(super) fn record_fault(record: &PhaseRecord, schema: &Schema) -> Option<(Severity, PhaseFault)> {
    let fault = match &record.status {
        PhaseStatus::Done if record.outcome.is_none() => {
            (Severity::Error, PhaseFault::WithoutOutcome { status: schema.done.clone() })
        }
        PhaseStatus::Skipped => match skip::reason(record.blocked_by.as_deref()) {
            Reason::Valid | Reason::Pending => return None,
            Reason::Missing => (Severity::Error, PhaseFault::SkippedWithoutReason),
            Reason::Deferred => (Severity::Warning, PhaseFault::Deferred),
            Reason::Bare => (Severity::Error, PhaseFault::BareReason),
            Reason::Unknown => (Severity::Error, PhaseFault::UnknownReason),
        },
        PhaseStatus::Unknown(word) => (Severity::Error, PhaseFault::UnknownStatus { word: word.clone() }),
        PhaseStatus::Done
        | PhaseStatus::NotExecuted
        | PhaseStatus::Pending
        | PhaseStatus::InProgress
        | PhaseStatus::Failed => return None,
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
    record_unlawful(record, schema).map(|unlawful| unlawful.finding())
}

/// The same, as a rule that an edit broke.
pub(super) fn record_unlawful(record: &PhaseRecord, schema: &Schema) -> Option<Unlawful> {
    let (severity, fault) = record_fault(record, schema)?;
    let edit = Edit::Record { phase: record.name.clone(), fault };
    Some(Unlawful { severity, help: remedy(record, schema), ..Unlawful::new(edit, record.place) })
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
            let message = unexecuted(record, state).sentence();
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
pub(super) fn is_open(record: &PhaseRecord) -> bool {
    matches!(record.status, PhaseStatus::NotExecuted | PhaseStatus::Pending)
}

/// The objection to a phase that is open when the agent of its step stops.
pub(super) fn unexecuted(record: &PhaseRecord, state: &StepState) -> Objection {
    let task = state.status.word().to_owned();
    Objection::phase(&record.name, PhaseFault::Unexecuted { task })
}

/// Whether a phase failed, or ended in a way that is not a pass.
pub(super) fn not_passed(record: &PhaseRecord) -> Option<&str> {
    match (&record.status, &record.outcome) {
        (PhaseStatus::Failed, _) => Some("FAIL"),
        (PhaseStatus::Done, Some(outcome @ (Outcome::Fail | Outcome::Other(_)))) => Some(outcome.word()),
        _ => None,
    }
}
