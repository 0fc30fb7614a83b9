//! From the events of a step to the step as it stands.

use serde_json::Value as Json;

use super::event::Event;
use crate::roadmap::phases::COMMIT;
use crate::roadmap::phases::Schema;
use crate::roadmap::result::FilesModified;
use crate::roadmap::state::Outcome;
use crate::roadmap::state::PhaseRecord;
use crate::roadmap::state::PhaseStatus;
use crate::roadmap::state::StepState;
use crate::roadmap::state::StepStatus;
use crate::roadmap::state::TestResults;

/// What the data of an event say about how a phase ended.
pub(super) struct Said {
    pub(super) outcome: Option<Outcome>,
    details: Option<String>,
    tests: Option<TestResults>,
}

/// Reads the data of a phase that was carried out: a word, a word with more behind it, JSON, or prose.
pub(super) fn said(data: &str) -> Said {
    let data = data.trim();
    if let Ok(Json::Object(blob)) = serde_json::from_str::<Json>(data) {
        let word = ["outcome", "result", "status"].iter().find_map(|key| blob.get(*key)?.as_str());
        let tests = blob.get("test_results").or_else(|| blob.get("tests")).and_then(Json::as_object);
        let count = |key: &str| tests.unwrap_or(&blob).get(key).and_then(Json::as_u64);
        let tests = match (count("total"), count("passed"), count("failed")) {
            (Some(total), Some(passed), Some(failed)) => Some(TestResults { total, passed, failed }),
            _ => None,
        };
        return Said { outcome: word.and_then(Outcome::read), details: Some(data.to_owned()), tests };
    }
    let end = data.find(|c: char| !(c.is_ascii_uppercase() || c == '_')).unwrap_or(data.len());
    let (word, rest) = data.split_at(end);
    let rest = rest.trim_start_matches([':', ' ', '-', '_']).trim();
    let details = Some(rest.to_owned()).filter(|rest| !rest.is_empty());
    let plain = word.trim_end_matches('_');
    let known = matches!(plain, "PASS" | "PASSED" | "FAIL" | "FAILED");
    let alone = plain.len() > 2 && (rest.is_empty() || data.get(end..end + 1) == Some(":"));
    if known || alone {
        return Said { outcome: Outcome::read(plain), details, tests: None };
    }
    Said { outcome: None, details: Some(data.to_owned()).filter(|data| !data.is_empty()), tests: None }
}

/// Whether a test that fails is what a phase is for.
pub(super) fn is_red(phase: &str) -> bool {
    phase == "RED" || phase.starts_with("RED_")
}

/// Puts events on record, in their order.
pub(super) fn fold<'e>(
    mut state: StepState,
    events: impl Iterator<Item = &'e Event>,
    schema: &Schema,
) -> StepState {
    let events: Vec<&Event> = events.filter(|event| event.is_phase()).collect();
    for (at, event) in events.iter().enumerate() {
        if state.phase(&event.phase).is_none() {
            state.phases.push(PhaseRecord::new(&event.phase, state.phases.len()));
        }
        let went_on = events.iter().skip(at + 1).any(|later| later.phase != event.phase);
        put(&mut state.phases, event, went_on, schema);
        state.started_at.get_or_insert_with(|| event.at.clone());
    }
    state.status = standing(&state);
    if state.status == StepStatus::Done {
        state.completed_at = state.phases.iter().filter_map(|phase| phase.ended_at.clone()).max();
    }
    state
}

/// Puts one event on record. A phase that was over and comes again takes those after it along: what was built on it
/// no longer stands, and is kept as history.
fn put(phases: &mut [PhaseRecord], event: &Event, went_on: bool, schema: &Schema) {
    let Some(at) = phases.iter().position(|phase| phase.name == event.phase) else { return };
    let is_over = |phase: &PhaseRecord| {
        !matches!(phase.status, PhaseStatus::NotExecuted | PhaseStatus::InProgress | PhaseStatus::Pending)
    };
    if phases.get(at).is_some_and(is_over) {
        for phase in phases.iter_mut().skip(at).filter(|phase| is_over(phase)) {
            let earlier = phase.as_history(schema);
            phase.reset();
            phase.history.push(earlier);
        }
    }
    let Some(phase) = phases.get_mut(at) else { return };
    let word = Some(event.status.as_str());
    phase.turn_count = event.turns.or(phase.turn_count);
    if PhaseStatus::read(word, None, None) == PhaseStatus::InProgress {
        phase.status = PhaseStatus::InProgress;
        phase.started_at = Some(event.at.clone());
        phase.notes = Some(event.data.clone()).filter(|data| !data.is_empty());
        return;
    }
    phase.ended_at = Some(event.at.clone());
    let data = Some(event.data.as_str()).filter(|data| !data.trim().is_empty());
    match PhaseStatus::read(word, None, data) {
        PhaseStatus::Done | PhaseStatus::Failed => {
            let Said { mut outcome, details, tests } = said(&event.data);
            phase.notes = details.filter(|details| Some(details.as_str()) != data || outcome.is_none());
            phase.test_results = tests;
            // Logs say FAIL of a red test that was red as it should be; work went on, so it was (K-04).
            if is_red(&event.phase) && went_on && outcome == Some(Outcome::Fail) {
                outcome = Some(Outcome::Pass);
                phase.outcome_details = Some(event.data.trim().to_owned());
            }
            phase.status = PhaseStatus::read(word, outcome.as_ref(), None);
            phase.outcome = outcome;
        }
        other => {
            phase.blocked_by = data.map(str::to_owned);
            phase.status = other;
        }
    }
}

/// Where a step stands: it is done when its commit is, failed when its last phase is.
fn standing(state: &StepState) -> StepStatus {
    let committed = state.phase(COMMIT).is_some_and(|phase| phase.status == PhaseStatus::Done);
    let last = state.phases.iter().rev().find(|phase| phase.status != PhaseStatus::NotExecuted);
    match last {
        None => StepStatus::Todo,
        _ if committed || state.all_phases_valid() => StepStatus::Done,
        Some(last) if last.status == PhaseStatus::Failed => StepStatus::Failed,
        Some(_) => StepStatus::InProgress,
    }
}

/// The files that events list: one path, several with commas, or JSON.
pub(super) fn files<'e>(events: impl Iterator<Item = &'e Event>) -> FilesModified {
    let mut found = FilesModified::default();
    for event in events.filter(|event| !event.is_phase()) {
        let listed: Vec<String> = serde_json::from_str(&event.data).unwrap_or_else(|_| {
            let parts = event.data.split(',').map(str::trim).filter(|part| !part.is_empty());
            parts.map(str::to_owned).collect()
        });
        let list = match event.status.to_lowercase().as_str() {
            "implementation" => &mut found.implementation,
            "tests" | "test" => &mut found.tests,
            _ => continue,
        };
        for path in listed {
            if !list.contains(&path) {
                list.push(path);
            }
        }
    }
    found
}
