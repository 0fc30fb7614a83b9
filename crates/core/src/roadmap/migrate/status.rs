//! Status files that drifted from the form that they should have.

use serde_json::Map;
use serde_json::Value as Json;
use serde_json::json;

use super::KEPT;
use super::Target;
use super::VERSION;
use super::old;
use super::records;
use crate::roadmap::document::Document;
use crate::roadmap::phases::Schema;
use crate::roadmap::state::PhaseStatus;

pub(super) const CHECKPOINT: &str = "step_checkpoint";
const BASE: &str = "execution_status";

/// Whether a file has the form already.
pub(super) fn has_the_form(root: &Json) -> bool {
    let Some(base) = root.get(BASE).and_then(Json::as_object) else { return false };
    let alone = root.as_object().is_some_and(|map| map.len() == 1);
    let version = base.get("schema_version").and_then(Json::as_str) == Some(VERSION);
    let odd = ["current_step", "created", "updated", "metadata", "feature_id"];
    let project = base.get("project_id").is_some_and(Json::is_string);
    let current = base.get("current").is_none_or(|node| node.is_object() || node.is_null());
    let completed = base.get("completed_steps").is_none_or(|node| {
        let entry = |entry: &Json| entry.get("step_id").is_some() && entry.get("commit_hash").is_none();
        node.is_null() || node.as_array().is_some_and(|list| list.iter().all(entry))
    });
    let checkpoints = base.iter().filter(|(key, _)| key.starts_with(CHECKPOINT));
    alone
        && version
        && project
        && current
        && completed
        && !odd.iter().any(|key| base.contains_key(*key))
        && checkpoints.into_iter().all(|(_, node)| is_checkpoint(node))
}

fn is_checkpoint(node: &Json) -> bool {
    if node.is_null() {
        return true;
    }
    let Some(phases) = node.get("phases").and_then(Json::as_array) else { return false };
    let mut names: Vec<&str> = phases.iter().filter_map(|entry| entry.get("phase_name")?.as_str()).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    node.get("step_id").is_some() && names.len() == count && phases.iter().all(is_record)
}

/// Whether a record has the names of the new form, and a status that is left as it is.
fn is_record(entry: &Json) -> bool {
    let old_names = ["ended_at", "skip_reason", "timestamp"];
    let word = entry.get("status").and_then(Json::as_str);
    let kept = |word: &str| {
        let read = PhaseStatus::read(Some(word), None, None);
        records::WORDS.contains(&word) || matches!(read, PhaseStatus::Unknown(_))
    };
    entry.get("phase_name").is_some()
        && word.is_some_and(kept)
        && !old_names.iter().any(|key| entry.get(*key).is_some())
}

/// Moves the fields of a status file to their places.
pub(super) fn of_status(target: &mut Target, document: &Document, mut root: Json) {
    let path = document.path().to_owned();
    let mut base = match old::take(&mut root, &[BASE]) {
        Some(Json::Object(base)) => base,
        Some(other) => Map::from_iter([(BASE.to_owned(), other)]),
        None => Map::new(),
    };
    let mut top = match root {
        Json::Object(top) => top,
        _ => Map::new(),
    };
    for holder in [&mut base, &mut top] {
        head(target, &path, holder);
        current(target, &path, holder);
        target.completed.extend(old::take_list(holder, "completed_steps").into_iter().filter_map(completed));
        checkpoints(target, &path, document, holder);
        target.kept.extend(old::take_list(holder, KEPT));
    }
    let mut left = top;
    if let Some(base) = old::pruned(Json::Object(base)) {
        left.insert(BASE.to_owned(), base);
    }
    target.keep(&path, Json::Object(left));
}

/// The head of the file. What is there twice stays behind.
fn head(target: &mut Target, path: &str, holder: &mut Map<String, Json>) {
    if holder.get("schema_version").and_then(Json::as_str) == Some(VERSION) {
        holder.shift_remove("schema_version");
    }
    let same = holder.get("project_id").and_then(Json::as_str) == Some(target.project_id.as_str());
    if same {
        holder.shift_remove("project_id");
        target.carry(path, "project_id", "execution_status.project_id");
    }
    if target.created_at.is_none() {
        target.created_at = old::take_first(holder, &["created_at", "created"]);
    }
    if target.updated_at.is_none() {
        target.updated_at = old::take_first(holder, &["updated_at", "updated"]);
    }
}

fn current(target: &mut Target, path: &str, holder: &mut Map<String, Json>) {
    let is_map = holder.get("current").is_some_and(Json::is_object);
    if is_map
        && target.current.is_empty()
        && let Some(Json::Object(current)) = holder.shift_remove("current")
    {
        target.current = current;
    }
    let has_step = target.current.get("step_id").is_some_and(|id| !id.is_null());
    let bare = holder.get("current_step").is_some_and(Json::is_string);
    if bare
        && !has_step
        && let Some(id) = holder.shift_remove("current_step")
    {
        target.carry(path, "current_step", "execution_status.current.step_id");
        target.current.insert("step_id".to_owned(), id);
    }
}

/// The entry of a step that is done. The bare id counts as one; what says nothing is none.
fn completed(entry: Json) -> Option<Json> {
    old::pruned(entry.clone())?;
    let Json::Object(mut old) = entry else {
        return Some(json!({"step_id": entry}));
    };
    let mut new = Map::new();
    for (field, names) in [
        ("step_id", &["step_id", "id"][..]),
        ("completed_at", &["completed_at"]),
        ("phases_executed", &["phases_executed"]),
        ("commit_sha", &["commit_sha", "commit_hash"]),
        ("duration_minutes", &["duration_minutes"]),
        ("files_modified", &["files_modified"]),
    ] {
        if let Some(value) = old::take_first(&mut old, names) {
            new.insert(field.to_owned(), value);
        }
    }
    if let Some(mut left) = old::pruned(Json::Object(old)) {
        // What an earlier migration kept is not wrapped again.
        let kept = left.as_object_mut().filter(|map| map.len() == 1).and_then(|map| map.shift_remove(KEPT));
        new.insert(KEPT.to_owned(), kept.unwrap_or(left));
    }
    Some(Json::Object(new))
}

fn checkpoints(target: &mut Target, path: &str, document: &Document, holder: &mut Map<String, Json>) {
    let keys: Vec<String> = holder.keys().filter(|key| key.starts_with(CHECKPOINT)).cloned().collect();
    for key in keys {
        let Some(node) = holder.get(&key) else { continue };
        if node.is_null() {
            holder.shift_remove(&key);
            continue;
        }
        let said = node.get("step_id").and_then(Json::as_str).map(str::to_owned);
        let named = key.strip_prefix(CHECKPOINT).and_then(|rest| rest.strip_prefix('_'));
        let id = said.or_else(|| named.map(|rest| rest.replace('_', "-")));
        let known =
            |id: &str| target.checkpoints.iter().any(|(_, node)| node.get("step_id") == Some(&json!(id)));
        let Some(id) = id.filter(|id| node.is_object() && !known(id)) else { continue };
        let Some(Json::Object(old)) = holder.shift_remove(&key) else { continue };
        let schema = document.step(Some(&id)).map_or_else(|_| Schema::usual(), |state| state.schema());
        let taken = target.checkpoints.iter().any(|(known, _)| *known == key);
        let place = if taken { target.free_key(&id) } else { key.clone() };
        target.carry(path, &key, &format!("execution_status.{place}"));
        target.checkpoints.push((place, checkpoint(id, old, schema)));
    }
}

/// A checkpoint: its id first, its phases in the new form, and the rest of it as it was.
fn checkpoint(id: String, mut old: Map<String, Json>, schema: &Schema) -> Json {
    let is_list = old.get("phases").is_some_and(|phases| phases.is_array() || phases.is_object());
    let phases = old.shift_remove("phases").unwrap_or(Json::Null);
    if !is_list && !phases.is_null() {
        old.insert(KEPT.to_owned(), json!({"phases": phases, KEPT: old.get(KEPT)}));
    }
    let phases = if is_list { phases } else { json!([]) };
    let mut new = Map::new();
    new.insert("step_id".to_owned(), old.shift_remove("step_id").unwrap_or_else(|| Json::from(id)));
    new.extend(old);
    new.insert("phases".to_owned(), Json::from(records::records(phases, schema)));
    Json::Object(new)
}
