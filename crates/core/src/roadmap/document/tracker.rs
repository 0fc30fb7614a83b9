//! The odd form of a state file: a list of steps, each with its phases.

use serde_json::Value as Json;

use super::below;
use super::edit::AtPath;
use super::edit::Draft;
use super::record;
use super::record::Form;
use super::set_if_new;
use super::status;
use super::text_or_null;
use crate::doc::Node;
use crate::doc::edit::EditError;
use crate::finding::Finding;
use crate::finding::Place;
use crate::roadmap::phases::Schema;
use crate::roadmap::state::StepState;
use crate::roadmap::state::StepStatus;
use crate::roadmap::verdict;

const PHASES: &str = "tdd_phases";

/// The steps with phases of their own, and their paths.
pub(super) fn steps(root: &Node) -> Vec<(String, Vec<String>)> {
    let base = status::base(root);
    let keys: Vec<&str> = base.iter().map(String::as_str).collect();
    let Some(node) = root.at_path(&keys) else { return vec![] };
    let mut lists = vec![(below(&base, "steps"), node.get("steps"))];
    for (index, phase) in node.get("phases").and_then(Node::as_seq).unwrap_or_default().iter().enumerate() {
        let path = below(&below(&below(&base, "phases"), &index.to_string()), "steps");
        lists.push((path, phase.get("steps")));
    }
    let mut found = vec![];
    for (path, list) in lists {
        for (index, step) in list.and_then(Node::as_seq).unwrap_or_default().iter().enumerate() {
            let id = ["step_id", "id"].iter().find_map(|key| step.get(key)).and_then(Node::scalar_text);
            if let Some(id) = id.filter(|_| step.get(PHASES).is_some()) {
                found.push((id, below(&path, &index.to_string())));
            }
        }
    }
    found
}

fn find<'n>(root: &'n Node, id: &str) -> Option<(&'n Node, Vec<String>)> {
    let (_, path) = steps(root).into_iter().find(|(known, _)| known == id)?;
    let keys: Vec<&str> = path.iter().map(String::as_str).collect();
    root.at_path(&keys).map(|node| (node, path))
}

pub(super) fn state(root: &Node, id: &str) -> StepState {
    let project = status::project_id(root);
    let mut state = StepState { phases: vec![], ..StepState::fresh("", &project, id, Schema::usual()) };
    let Some((step, _)) = find(root, id) else { return state };
    let text = |key: &str| step.get(key).and_then(Node::scalar_text);
    state.status = StepStatus::read(text("status").as_deref());
    state.started_at = text("started_at");
    state.completed_at = text("completed_at");
    state.failure_reason = text("failure_reason");
    if let Some(phases) = step.get(PHASES) {
        state.phases = record::records(phases, &[]).into_iter().map(|located| located.record).collect();
    }
    state
}

pub(super) fn findings(root: &Node, own: &[Schema]) -> Vec<Finding> {
    let message = "this status file is a list of steps; it is read, but `step_checkpoint` is the usual form";
    let mut findings = vec![Finding::warning("drift", Place::TOP, message)];
    for (id, _) in steps(root) {
        let state = state(root, &id);
        let schema = state.schema_among(own);
        if let Some(phases) = find(root, &id).and_then(|(step, _)| step.get(PHASES)) {
            findings.extend(record::findings(phases, schema));
        }
        findings.extend(verdict::step_findings(&state, schema));
    }
    findings
}

pub(super) fn write(
    draft: &mut Draft,
    before: Option<&StepState>,
    after: &StepState,
    own: &[Schema],
) -> Result<(), EditError> {
    let Some(root) = draft.tree() else { return Ok(()) };
    let Some((step, path)) = find(&root, &after.task_id) else {
        return Err(EditError::Entangled { path: format!("steps.{}", after.task_id) });
    };
    record::write(
        draft,
        &below(&path, PHASES),
        &after.phases,
        after.schema_among(own),
        &Form { completed_at: true },
    )?;
    if before.is_none_or(|before| before.status != after.status) {
        let old = step.get("status").and_then(Node::scalar_text).unwrap_or_default();
        let lower = old.chars().any(|c| c.is_ascii_lowercase());
        let word =
            if lower { after.status.word().to_ascii_lowercase() } else { after.status.word().to_owned() };
        draft.set(&below(&path, "status"), &Json::from(word))?;
    }
    for (key, value) in [
        ("started_at", text_or_null(after.started_at.as_ref())),
        ("completed_at", text_or_null(after.completed_at.as_ref())),
        ("failure_reason", text_or_null(after.failure_reason.as_ref())),
    ] {
        set_if_new(draft, &below(&path, key), &value)?;
    }
    Ok(())
}
