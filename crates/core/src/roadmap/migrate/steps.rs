//! Steps from files of other kinds: step files, trackers, execution logs.

use serde_json::Map;
use serde_json::Value as Json;
use serde_json::json;

use super::KEPT;
use super::Target;
use super::old;
use super::records;
use crate::roadmap::document::Document;
use crate::roadmap::log::Log;
use crate::roadmap::result::FilesModified;
use crate::roadmap::result::rounded;
use crate::roadmap::state::PhaseRecord;
use crate::roadmap::state::PhaseStatus;
use crate::roadmap::state::StepState;
use crate::roadmap::state::StepStatus;

/// The places where the log of phases stands in a step file.
const LOGS: [&[&str]; 5] = [
    &["tdd_cycle", "phase_execution_log"],
    &["tdd_cycle", "tdd_phase_tracking", "phase_execution_log"],
    &["tdd_cycle", "phases"],
    &["tdd_cycle", "tdd_phase_tracking", "phases"],
    &["phase_execution_log"],
];

/// A step on its way into the new file.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) state: StepState,
    pub(super) checkpoint: Map<String, Json>,
    pub(super) completed: Option<Json>,
    /// Where its phases were.
    pub(super) from: String,
}

impl Part {
    fn new(state: StepState, phases: Vec<Json>, from: &str, files: &FilesModified) -> Part {
        let mut checkpoint = Map::new();
        checkpoint.insert("step_id".to_owned(), Json::from(state.task_id.as_str()));
        checkpoint.extend(standing(&state));
        checkpoint.insert("phases".to_owned(), Json::from(phases));
        let completed = (state.status == StepStatus::Done).then(|| completed(&state, files));
        Part { state, checkpoint, completed, from: from.to_owned() }
    }

    fn keep(&mut self, file: &str, left: Json) {
        if let Some(fields) = old::pruned(left) {
            self.checkpoint.insert(KEPT.to_owned(), json!({"file": file, "fields": fields}));
        }
    }
}

/// What the new file says about a step beside its phases, in as far as it does not follow from them.
fn standing(state: &StepState) -> Map<String, Json> {
    let text = |text: &Option<String>| text.as_deref().map_or(Json::Null, Json::from);
    let touched = |phase: &PhaseRecord| {
        !matches!(phase.status, PhaseStatus::NotExecuted | PhaseStatus::Pending) || phase.started_at.is_some()
    };
    let begun = state.started_at.is_some() || state.phases.iter().any(touched);
    let partial = state.status == StepStatus::Partial;
    let follows = match state.status {
        StepStatus::Done => true,
        StepStatus::InProgress => begun,
        StepStatus::Todo => !begun,
        _ => false,
    };
    // PARTIAL has no word of its own in the new file (K-16).
    let word = if partial { StepStatus::Failed.word() } else { state.status.word() };
    let can_retry = if partial { Some(true) } else { state.can_retry };
    let flag = |flag: bool| if flag { Json::from(true) } else { Json::Null };
    let fields = [
        ("status", if follows { Json::Null } else { Json::from(word) }),
        ("assigned_to", text(&state.assigned_to)),
        ("started_at", text(&state.started_at)),
        ("failure_reason", text(&state.failure_reason)),
        ("can_retry", can_retry.map_or(Json::Null, Json::from)),
        ("partial_completion", flag(partial || state.partial_completion)),
        ("recovery_suggestions", json!(state.recovery_suggestions)),
    ];
    let says = |value: &Json| !value.is_null() && !value.as_array().is_some_and(Vec::is_empty);
    fields.into_iter().filter(|(_, value)| says(value)).map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The entry of a step that is done.
fn completed(state: &StepState, files: &FilesModified) -> Json {
    let carried_out = state.phases.iter().filter(|phase| phase.status == PhaseStatus::Done).count();
    let timed: Vec<f64> = state.phases.iter().filter_map(|phase| phase.duration_minutes).collect();
    json!({
        "step_id": state.task_id,
        "completed_at": state.completed_at,
        "phases_executed": carried_out,
        "commit_sha": null,
        "duration_minutes": if timed.is_empty() { Json::Null } else { rounded(timed.iter().sum()) },
        "files_modified": {"implementation": files.implementation, "tests": files.tests},
    })
}

/// Takes the records out of a step file, or makes them from what it claims.
pub(super) fn of_step_file(target: &mut Target, document: &Document, mut root: Json) {
    let Ok(state) = document.step(None) else {
        target.keep(document.path(), root);
        return;
    };
    let schema = state.schema();
    let filled = |place: &&&[&str]| {
        let node = place.iter().try_fold(&root, |node, key| node.get(*key));
        node.is_some_and(|node| node.as_array().is_some_and(|list| !list.is_empty()) || node.is_object())
    };
    let place = LOGS.iter().find(filled);
    let list = place.and_then(|place| old::take(&mut root, place));
    let phases = match list {
        Some(list) => records::records(list, schema),
        None => state.phases.iter().map(|phase| records::of_phase(phase, schema)).collect(),
    };
    let from = place.map_or_else(|| "tdd_cycle".to_owned(), |place| place.join("."));
    let mut part = Part::new(state, phases, &from, &FilesModified::default());
    part.keep(document.path(), root);
    target.parts.push(part);
}

/// Takes the steps out of a tracker, wherever they stand in it.
pub(super) fn of_tracker(target: &mut Target, document: &Document, mut root: Json) {
    let path = document.path().to_owned();
    let base = if root.get("execution_status").is_some_and(Json::is_object) {
        vec!["execution_status"]
    } else {
        vec![]
    };
    let holder = base.iter().try_fold(&mut root, |node, key| node.get_mut(*key));
    let Some(holder) = holder else { return };
    let mut lists: Vec<&mut Json> = vec![];
    if let Json::Object(map) = holder {
        for (key, node) in map.iter_mut() {
            match (key.as_str(), node) {
                ("steps", node) => lists.push(node),
                ("phases", Json::Array(groups)) => {
                    lists.extend(groups.iter_mut().filter_map(|group| group.get_mut("steps")));
                }
                _ => {}
            }
        }
    }
    let mut parts = vec![];
    for list in lists.into_iter().filter_map(Json::as_array_mut) {
        for step in list.iter_mut() {
            let text = |key: &str| step.get(key).and_then(Json::as_str).map(str::to_owned);
            let Some(id) = text("step_id").or_else(|| text("id")) else { continue };
            let Ok(state) = document.step(Some(&id)) else { continue };
            if !step.get("tdd_phases").is_some_and(|list| list.is_array() || list.is_object()) {
                continue;
            }
            let Some(list) = old::take(step, &["tdd_phases"]) else { continue };
            let phases = records::records(list, state.schema());
            let from = format!("steps.{id}.tdd_phases");
            let mut part = Part::new(state, phases, &from, &FilesModified::default());
            part.keep(&path, step.take());
            parts.push(part);
        }
    }
    target.parts.extend(parts);
    target.keep(&path, root);
}

/// Folds the events of a log into steps; the events themselves are kept.
pub(super) fn of_log(target: &mut Target, log: &Log, root: Json) {
    for state in log.states() {
        let schema = log.schema(&state.task_id);
        let phases = state.phases.iter().map(|phase| records::of_phase(phase, schema)).collect();
        let files = log.files_modified(&state.task_id);
        let from = format!("events of {}", state.task_id);
        target.parts.push(Part::new(state, phases, &from, &files));
    }
    if target.created_at.is_none() {
        target.created_at = root.get("created_at").filter(|value| value.is_string()).cloned();
    }
    target.keep(log.path(), root);
}
