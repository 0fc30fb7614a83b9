//! The `execution-status.yaml` of a project: what is current, what is complete, and the checkpoints of steps.

use serde_json::Value as Json;
use serde_json::json;

use super::below;
use super::edit::AtPath;
use super::edit::Draft;
use super::first_text;
use super::path;
use super::record;
use super::record::Form;
use super::set_if_new;
use super::step_file::texts;
use super::text_or_null;
use crate::doc::Node;
use crate::doc::edit::EditError;
use crate::finding::Finding;
use crate::finding::Place;
use crate::roadmap::phases::Schema;
use crate::roadmap::state::PhaseStatus;
use crate::roadmap::state::StepState;
use crate::roadmap::state::StepStatus;
use crate::roadmap::state::instant;
use crate::roadmap::verdict;
use crate::time::Utc;

const CHECKPOINT: &str = "step_checkpoint";

/// Where the fields stand: under `execution_status`, or at the top where somebody hoisted them all.
pub(super) fn base(root: &Node) -> Vec<String> {
    let nested = root.get("execution_status").is_some_and(|node| node.as_map().is_some());
    if nested { path(&["execution_status"]) } else { vec![] }
}

fn base_node(root: &Node) -> &Node {
    root.get("execution_status").filter(|node| node.as_map().is_some()).unwrap_or(root)
}

pub(super) fn project_id(root: &Node) -> String {
    let places: [&[&str]; 4] =
        [&["project_id"], &["metadata", "project_id"], &["feature_id"], &["metadata", "feature_id"]];
    first_text(base_node(root), &places).or_else(|| first_text(root, &places)).unwrap_or_default()
}

/// A checkpoint: the step it is about, and where it stands.
pub(super) struct Checkpoint<'n> {
    id: String,
    node: &'n Node,
    path: Vec<String>,
}

/// The checkpoints, siblings such as `step_checkpoint_03_01` included, under the base and at the top.
pub(super) fn checkpoints(root: &Node) -> Vec<Checkpoint<'_>> {
    let base = base(root);
    let mut holders = vec![(base_node(root), base.clone())];
    if !base.is_empty() {
        holders.push((root, vec![]));
    }
    let mut found: Vec<Checkpoint<'_>> = vec![];
    for (holder, at) in holders {
        for (key, node) in holder.as_map().unwrap_or_default() {
            let Some(suffix) = key.text.strip_prefix(CHECKPOINT) else { continue };
            let said = node.get("step_id").and_then(Node::scalar_text);
            let named = suffix.strip_prefix('_').map(|id| id.replace('_', "-"));
            let Some(id) = said.or(named).filter(|_| node.as_map().is_some()) else { continue };
            if !found.iter().any(|known| known.id == id) {
                found.push(Checkpoint { id, node, path: below(&at, &key.text) });
            }
        }
    }
    found
}

/// The step that the file is about at the moment.
pub(super) fn current(root: &Node) -> Option<String> {
    let base = base_node(root);
    let places: [&[&str]; 2] = [&["current", "step_id"], &["current_step"]];
    first_text(base, &places).or_else(|| first_text(root, &places)).filter(|id| !id.is_empty())
}

/// The list of complete steps.
fn completed(root: &Node) -> &[Node] {
    let list = base_node(root).get("completed_steps").or_else(|| root.get("completed_steps"));
    list.and_then(Node::as_seq).unwrap_or_default()
}

/// Where the checkpoint of a step stands.
pub(super) fn checkpoint_path(root: &Node, id: &str) -> Option<Vec<String>> {
    checkpoints(root).into_iter().find(|checkpoint| checkpoint.id == id).map(|checkpoint| checkpoint.path)
}

/// Where the entry of a complete step stands, if it has room for fields.
pub(super) fn completed_path(root: &Node, id: &str) -> Option<Vec<String>> {
    let at = completed(root)
        .iter()
        .position(|entry| entry_id(entry).as_deref() == Some(id) && entry.as_map().is_some())?;
    let under_base = base_node(root).get("completed_steps").is_some();
    let list = below(&if under_base { base(root) } else { vec![] }, "completed_steps");
    Some(below(&list, &at.to_string()))
}

/// The entry of a complete step; the bare id counts as one.
pub(super) fn completed_entry<'n>(root: &'n Node, id: &str) -> Option<&'n Node> {
    completed(root).iter().find(|entry| entry_id(entry).as_deref() == Some(id))
}

fn entry_id(entry: &Node) -> Option<String> {
    entry
        .scalar_text()
        .or_else(|| entry.get("step_id").or_else(|| entry.get("id")).and_then(Node::scalar_text))
}

pub(super) fn steps(root: &Node) -> Vec<String> {
    let mut ids: Vec<String> = completed(root).iter().filter_map(entry_id).collect();
    ids.extend(checkpoints(root).into_iter().map(|checkpoint| checkpoint.id));
    ids.extend(current(root));
    let mut unique: Vec<String> = vec![];
    for id in ids {
        if !unique.contains(&id) {
            unique.push(id);
        }
    }
    unique
}

/// Where the status of a step and the reasons for it stand: in `current` while that is about the step, else in its
/// checkpoint.
fn holder(root: &Node, id: &str) -> Option<Vec<String>> {
    let current_path = below(&base(root), "current");
    let node = base_node(root).get("current");
    let about = node.and_then(|node| node.get("step_id")).and_then(Node::scalar_text);
    if about.as_deref() == Some(id) {
        return Some(current_path);
    }
    checkpoints(root).into_iter().find(|checkpoint| checkpoint.id == id).map(|checkpoint| checkpoint.path)
}

pub(super) fn state(root: &Node, id: &str) -> StepState {
    let checkpoint = checkpoints(root).into_iter().find(|checkpoint| checkpoint.id == id);
    let records = checkpoint.as_ref().and_then(|checkpoint| checkpoint.node.get("phases"));
    let phases = records.map(|list| record::records(list, &[])).unwrap_or_default();
    let held = holder(root, id).and_then(|path| {
        let keys: Vec<&str> = path.iter().map(String::as_str).collect();
        root.at_path(&keys)
    });
    let field = |key: &str| {
        let at = |node: Option<&'_ Node>| {
            node.and_then(|node| node.get(key)).filter(|node| !node.is_null()).cloned()
        };
        at(held).or_else(|| at(checkpoint.as_ref().map(|checkpoint| checkpoint.node)))
    };
    let text = |key: &str| field(key).and_then(|node| node.scalar_text());
    let entry = completed_entry(root, id);
    let mut state =
        StepState { phases: vec![], ..StepState::fresh("", &project_id(root), id, Schema::usual()) };
    state.phases = phases.into_iter().map(|located| located.record).collect();
    let first_start = state.phases.iter().filter_map(|phase| phase.started_at.clone()).next();
    state.started_at = first_start.or_else(|| text("started_at"));
    state.completed_at = entry.and_then(|entry| entry.get("completed_at")).and_then(Node::scalar_text);
    state.failure_reason = text("failure_reason");
    state.can_retry = field("can_retry").and_then(|node| node.as_bool());
    state.partial_completion = field("partial_completion").and_then(|node| node.as_bool()).unwrap_or(false);
    state.recovery_suggestions = texts(field("recovery_suggestions").as_ref());
    state.assigned_to = text("assigned_to");
    state.status = standing(text("status").as_deref(), entry.is_some(), &state);
    state
}

/// The status of a step. The file has no field of its own for it: it is said outright where that is needed, else it
/// follows from the list of complete steps and from the phases.
fn standing(said: Option<&str>, complete: bool, state: &StepState) -> StepStatus {
    let said = said.map(|word| StepStatus::read(Some(word)));
    let begun = state.started_at.is_some()
        || state
            .phases
            .iter()
            .any(|phase| !matches!(phase.status, PhaseStatus::NotExecuted | PhaseStatus::Pending));
    match said {
        Some(StepStatus::Failed) if state.partial_completion => StepStatus::Partial,
        Some(StepStatus::InProgress | StepStatus::Todo) | None if complete => StepStatus::Done,
        Some(said) => said,
        None if state.failure_reason.is_some() && state.partial_completion => StepStatus::Partial,
        None if state.failure_reason.is_some() => StepStatus::Failed,
        None if begun => StepStatus::InProgress,
        None => StepStatus::Todo,
    }
}

pub(super) fn findings(root: &Node, own: &[Schema]) -> Vec<Finding> {
    let mut findings = drift(root);
    if project_id(root).is_empty() {
        let message = "the execution status needs the field `project_id`";
        findings.push(
            Finding::error("missing-field", base_node(root).place, message).help("add `project_id:` here"),
        );
    }
    for checkpoint in checkpoints(root) {
        let state = state(root, &checkpoint.id);
        let schema = state.schema_among(own);
        match checkpoint.node.get("phases") {
            Some(list) => {
                findings.extend(record::findings(list, schema));
                findings.extend(lacking(&checkpoint, &state, schema));
            }
            None => {
                let message = format!("the checkpoint of step {} has no `phases`", checkpoint.id);
                findings.push(Finding::error("missing-field", checkpoint.node.place, message));
            }
        }
        findings.extend(verdict::step_findings(&state, schema));
    }
    findings
}

/// Phases of the file's generation that a checkpoint does not list.
fn lacking(checkpoint: &Checkpoint<'_>, state: &StepState, schema: &Schema) -> Option<Finding> {
    let absent: Vec<&str> = schema.names().filter(|name| state.phase(name).is_none()).collect();
    if absent.is_empty() {
        return None;
    }
    let (found, expected) = (state.phases.len(), schema.phases.len());
    let message = format!("Step file has {found} phases, expected {expected}");
    let help = format!("step {} lacks {}", checkpoint.id, absent.join(", "));
    Some(Finding::error("step-file", checkpoint.node.place, message).help(help))
}

/// What is understood, but stands elsewhere or under another name than usual.
fn drift(root: &Node) -> Vec<Finding> {
    let mut findings = vec![];
    let mut odd = |place: Place, message: String| findings.push(Finding::warning("drift", place, message));
    let base = base_node(root);
    let nested = !std::ptr::eq(base, root);
    let own = [
        "project_id",
        "created_at",
        "updated_at",
        "schema_version",
        "completed_steps",
        CHECKPOINT,
        "current",
    ];
    for (key, _) in root.as_map().unwrap_or_default() {
        if nested && own.contains(&key.text.as_str()) {
            odd(key.place, format!("`{}` belongs under `execution_status`", key.text));
        }
    }
    if !nested {
        odd(Place::TOP, "the fields belong under `execution_status`".to_owned());
    }
    for (key, node) in base.as_map().unwrap_or_default() {
        match key.text.as_str() {
            "current_step" => odd(key.place, "`current_step` is read as `current.step_id`".to_owned()),
            "created" => odd(key.place, "`created` is read as `created_at`".to_owned()),
            name if name.starts_with("step_checkpoint_") && node.as_map().is_some() => {
                odd(key.place, format!("`{name}` is read as one more checkpoint"));
            }
            _ => {}
        }
    }
    for entry in completed(root) {
        if let Some((key, _)) =
            entry.as_map().and_then(|map| map.iter().find(|(key, _)| key.text == "commit_hash"))
        {
            odd(key.place, "`commit_hash` is read as `commit_sha`".to_owned());
        }
    }
    findings
}

pub(super) fn write(
    draft: &mut Draft,
    before: Option<&StepState>,
    after: &StepState,
    own: &[Schema],
    now: Utc,
) -> Result<(), EditError> {
    let Some(root) = draft.tree() else { return Ok(()) };
    let base = base(&root);
    write_checkpoint(draft, &root, after, own)?;
    write_current(draft, &root, before, after)?;
    write_standing(draft, before, after)?;
    let finished =
        before.is_none_or(|before| before.status != after.status) && after.status == StepStatus::Done;
    if finished && completed_entry(&root, &after.task_id).is_none() {
        draft.append(&below(&base, "completed_steps"), &completed_record(after, now))?;
    }
    if after.status != StepStatus::Done && before.is_some_and(|before| before.status == StepStatus::Done) {
        strike_completed(draft, &root, &after.task_id)?;
    }
    let updated = below(&base, "updated_at");
    if base_node(&root).get("updated_at").is_some() {
        draft.set(&updated, &Json::from(now.seconds()))?;
    }
    Ok(())
}

/// The checkpoint of a step is amended; a new one takes the free place, or one beside that of another step, which is
/// never overwritten.
fn write_checkpoint(
    draft: &mut Draft,
    root: &Node,
    after: &StepState,
    own: &[Schema],
) -> Result<(), EditError> {
    if after.phases.is_empty() {
        return Ok(());
    }
    let form = Form { completed_at: true };
    let known = checkpoints(root).into_iter().find(|checkpoint| checkpoint.id == after.task_id);
    if let Some(known) = known {
        return record::write(
            draft,
            &below(&known.path, "phases"),
            &after.phases,
            after.schema_among(own),
            &form,
        );
    }
    let base = base(root);
    let free = base_node(root).get(CHECKPOINT).is_none_or(Node::is_null);
    let beside = || format!("{CHECKPOINT}_{}", after.task_id.replace('-', "_"));
    let place = below(&base, &if free { CHECKPOINT.to_owned() } else { beside() });
    draft.set(&place, &json!({"step_id": after.task_id}))?;
    record::write(draft, &below(&place, "phases"), &after.phases, after.schema_among(own), &form)
}

/// `current` follows the phase in progress, unless it is about another step that is still at work.
fn write_current(
    draft: &mut Draft,
    root: &Node,
    before: Option<&StepState>,
    after: &StepState,
) -> Result<(), EditError> {
    let base = base(root);
    let Some(phase) = after.phases.iter().find(|phase| phase.status == PhaseStatus::InProgress) else {
        return Ok(());
    };
    let was = before.and_then(|before| before.phase(&phase.name)).map(|phase| &phase.status);
    let other = current(root).filter(|id| *id != after.task_id).map(|id| state(root, &id).status);
    if was == Some(&PhaseStatus::InProgress) || other == Some(StepStatus::InProgress) {
        return Ok(());
    }
    if base_node(root).get("current_step").is_some() {
        return draft.set(&below(&base, "current_step"), &Json::from(after.task_id.as_str()));
    }
    let place = below(&base, "current");
    if base_node(root).get("current").is_some_and(|node| node.as_map().is_none() && !node.is_null()) {
        return Ok(());
    }
    let about_another = current(root).is_some_and(|id| id != after.task_id);
    for (key, value) in [
        ("step_id", Json::from(after.task_id.as_str())),
        ("phase_index", Json::from(phase.index)),
        ("phase_name", Json::from(phase.name.as_str())),
        ("started_at", text_or_null(phase.started_at.as_ref())),
    ] {
        draft.set(&below(&place, key), &value)?;
    }
    // What was said about the step before is not said about this one.
    let said = ["status", "failure_reason", "can_retry", "partial_completion", "recovery_suggestions"];
    for key in said.into_iter().filter(|_| about_another) {
        if base_node(root).at(&["current", key]).is_some_and(|node| !node.is_null()) {
            draft.set(&below(&place, key), &Json::Null)?;
        }
    }
    Ok(())
}

/// A status that does not follow from the phases is said outright. PARTIAL has no word of its own here: it is FAILED
/// with `partial_completion` and `can_retry` (K-16).
fn write_standing(draft: &mut Draft, before: Option<&StepState>, after: &StepState) -> Result<(), EditError> {
    let Some(root) = draft.tree() else { return Ok(()) };
    let Some(place) = holder(&root, &after.task_id) else { return Ok(()) };
    let partial = after.status == StepStatus::Partial;
    let can_retry = if partial { Some(true) } else { after.can_retry };
    for (key, value) in [
        ("failure_reason", text_or_null(after.failure_reason.as_ref())),
        ("can_retry", can_retry.map_or(Json::Null, Json::from)),
        ("recovery_suggestions", json!(after.recovery_suggestions)),
        ("assigned_to", text_or_null(after.assigned_to.as_ref())),
    ] {
        set_if_new(draft, &below(&place, key), &value)?;
    }
    if before.is_some_and(|before| before.partial_completion != after.partial_completion) || partial {
        set_if_new(
            draft,
            &below(&place, "partial_completion"),
            &Json::from(after.partial_completion || partial),
        )?;
    }
    let word = if partial { "FAILED" } else { after.status.word() };
    let follows = matches!(after.status, StepStatus::Todo | StepStatus::InProgress | StepStatus::Done);
    let keys: Vec<String> = below(&place, "status");
    let there: Vec<&str> = keys.iter().map(String::as_str).collect();
    let said = root.at_path(&there).is_some_and(|node| !node.is_null());
    let changed = before.is_none_or(|before| before.status != after.status);
    if changed && (said || !follows) {
        draft.set(&keys, &Json::from(word))?;
    }
    Ok(())
}

/// A step that is to be done again is complete no longer; what its entry said is said anew when it is.
fn strike_completed(draft: &mut Draft, root: &Node, id: &str) -> Result<(), EditError> {
    let under_base = base_node(root).get("completed_steps").is_some();
    let list = below(&if under_base { base(root) } else { vec![] }, "completed_steps");
    // From the end, so that the positions before stay what they are.
    for (at, entry) in completed(root).iter().enumerate().rev() {
        if entry_id(entry).as_deref() == Some(id) {
            draft.remove(&list, at)?;
        }
    }
    Ok(())
}

/// The entry of a step among the complete ones.
fn completed_record(after: &StepState, now: Utc) -> Json {
    let carried_out = after.phases.iter().filter(|phase| phase.status == PhaseStatus::Done).count();
    let begun = after.phases.iter().filter_map(|phase| phase.started_at.as_deref()).find_map(instant);
    let minutes = begun.map(|begun| now.since_ms(begun) / 60_000);
    json!({
        "step_id": after.task_id,
        "completed_at": after.completed_at.clone().unwrap_or_else(|| now.seconds()),
        "phases_executed": carried_out,
        "commit_sha": null,
        "duration_minutes": minutes,
        "files_modified": {"implementation": [], "tests": []},
    })
}
