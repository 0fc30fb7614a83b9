//! A step in a file of its own, in the variants that occur.

use serde_json::Value as Json;
use serde_json::json;

use super::below;
use super::edit::Draft;
use super::first_text;
use super::path;
use super::record;
use super::record::Form;
use super::record::Located;
use super::set_if_new;
use super::text_or_null;
use crate::doc::Node;
use crate::doc::edit::EditError;
use crate::finding::Finding;
use crate::finding::Place;
use crate::roadmap::phases::Schema;
use crate::roadmap::state::PhaseRecord;
use crate::roadmap::state::PhaseStatus;
use crate::roadmap::state::StepState;
use crate::roadmap::state::StepStatus;
use crate::roadmap::verdict;
use crate::time::Utc;

const SPECIFICATION: &str = "task_specification";

/// The places where the log of phases stands in one variant or another, the usual one first.
const LOGS: [&[&str]; 5] = [
    &["tdd_cycle", "phase_execution_log"],
    &["tdd_cycle", "tdd_phase_tracking", "phase_execution_log"],
    &["tdd_cycle", "phases"],
    &["tdd_cycle", "tdd_phase_tracking", "phases"],
    &["phase_execution_log"],
];

/// Work that changes no files, as step types and agents call it.
const READERS: [&str; 4] = ["research", "review", "analysis", "investigation"];

/// Keys that name the files which a step may change.
pub(super) const PATTERNS: [&str; 6] = [
    "allowed_file_patterns",
    "deliverables",
    "files_to_modify",
    "files_to_create",
    "test_files",
    "test_file",
];

pub(super) fn task_id(root: &Node) -> String {
    let places: [&[&str]; 5] = [
        &["task_id"],
        &["step_id"],
        &[SPECIFICATION, "task_id"],
        &[SPECIFICATION, "step_id"],
        &[SPECIFICATION, "id"],
    ];
    first_text(root, &places).unwrap_or_default()
}

pub(super) fn project_id(root: &Node) -> String {
    first_text(root, &[&["project_id"], &[SPECIFICATION, "project_id"]]).unwrap_or_default()
}

/// The log of phases and its path, where there is one.
fn log(root: &Node) -> Option<(&'static [&'static str], &Node)> {
    let filled = |node: &&Node| node.as_seq().is_some_and(|s| !s.is_empty()) || node.as_map().is_some();
    let found = LOGS.iter().find_map(|place| root.at(place).filter(filled).map(|node| (*place, node)));
    found.or_else(|| LOGS.iter().find_map(|place| root.at(place).map(|node| (*place, node))))
}

/// The generation of a file: that of its phases; for a file without any, that of its version, else the first.
fn schema<'s>(root: &Node, own: &'s [Schema]) -> &'s Schema {
    let names = log(root).map(|(_, node)| record::names(node)).unwrap_or_default();
    let of_version = || {
        let version = first_text(root, &[&["schema_version"]]).unwrap_or_else(|| "1.0".to_owned());
        Schema::of_version(&version).or_else(|| Schema::of_version("1.0")).unwrap_or_else(Schema::usual)
    };
    Schema::detect_among(own, names.iter().map(String::as_str)).unwrap_or_else(of_version)
}

fn phases(root: &Node) -> Vec<Located> {
    log(root).map(|(place, node)| record::records(node, &path(place))).unwrap_or_default()
}

/// Where there is no log, the names of the finished phases may stand by themselves: a claim without an outcome.
fn claimed(root: &Node, own: &[Schema]) -> Vec<PhaseRecord> {
    let tracking = root.at(&["tdd_cycle", "tdd_phase_tracking"]);
    let list = |key: &str| -> Vec<String> {
        let node = tracking.and_then(|tracking| tracking.get(key));
        node.and_then(Node::as_seq).unwrap_or_default().iter().filter_map(Node::scalar_text).collect()
    };
    let completed = list("phases_completed");
    let names = completed.iter().map(String::as_str);
    let schema = Schema::detect_among(own, names).unwrap_or_else(|| schema(root, own));
    let mut records: Vec<PhaseRecord> =
        schema.phases.iter().map(|phase| PhaseRecord::new(&phase.name, phase.index)).collect();
    for record in records.iter_mut().filter(|record| completed.contains(&record.name)) {
        record.status = PhaseStatus::Done;
    }
    records
}

fn patterns(root: &Node) -> Option<Vec<String>> {
    let holders = [root.get(SPECIFICATION), Some(root)];
    let mut declared = None;
    for node in holders.into_iter().flatten() {
        for key in PATTERNS {
            let Some(value) = node.get(key).filter(|value| !value.is_null()) else { continue };
            let items = value.as_seq().unwrap_or(std::slice::from_ref(value));
            let all: &mut Vec<String> = declared.get_or_insert_with(Vec::new);
            for text in items.iter().filter_map(Node::scalar_text) {
                if !all.contains(&text) {
                    all.push(text);
                }
            }
        }
    }
    declared
}

pub(super) fn texts(node: Option<&Node>) -> Vec<String> {
    let Some(node) = node.filter(|node| !node.is_null()) else { return vec![] };
    node.as_seq().unwrap_or(std::slice::from_ref(node)).iter().filter_map(Node::scalar_text).collect()
}

/// Where the word for the step's status stands: under `state`, as `state`, or at the top.
fn status_path(root: &Node) -> Vec<String> {
    let bare = root.get("state").is_some_and(|state| state.as_str().is_some());
    let top = root.get("status").is_some_and(|status| status.as_map().is_none());
    match () {
        () if bare => path(&["state"]),
        () if root.at(&["state", "status"]).is_some() => path(&["state", "status"]),
        () if top => path(&["status"]),
        () if root.at(&[SPECIFICATION, "status"]).is_some() => path(&[SPECIFICATION, "status"]),
        () => path(&["state", "status"]),
    }
}

fn status_word(root: &Node) -> Option<String> {
    let keys = status_path(root);
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    root.at(&keys).and_then(Node::scalar_text)
}

pub(super) fn state(root: &Node, own: &[Schema]) -> StepState {
    let located = phases(root);
    let in_state = |key: &str| first_text(root, &[&["state", key]]);
    let result = root.get("execution_result");
    let either = |key: &str| root.at(&["state", key]).or_else(|| result.and_then(|result| result.get(key)));
    let records =
        if located.is_empty() { claimed(root, own) } else { located.into_iter().map(|l| l.record).collect() };
    let partial = either("partial_completion").and_then(Node::as_bool).unwrap_or(false);
    let task_type =
        first_text(root, &[&["step_type"], &[SPECIFICATION, "step_type"], &[SPECIFICATION, "task_type"]]);
    let status = match StepStatus::read(status_word(root).as_deref()) {
        StepStatus::Failed if partial => StepStatus::Partial,
        other => other,
    };
    let mut recovery = texts(root.at(&["state", "recovery_suggestions"]));
    recovery.extend(texts(result.and_then(|result| result.get("recovery_suggestions"))));
    recovery.dedup();
    StepState {
        step_file: String::new(),
        task_id: task_id(root),
        project_id: project_id(root),
        writes: !task_type.as_deref().is_some_and(|kind| READERS.contains(&kind.to_lowercase().as_str())),
        task_type,
        status,
        phases: records,
        allowed_patterns: patterns(root),
        assigned_to: in_state("assigned_to"),
        started_at: in_state("started_at"),
        completed_at: in_state("completed_at"),
        failure_reason: either("failure_reason").and_then(Node::scalar_text),
        can_retry: either("can_retry").and_then(Node::as_bool),
        partial_completion: partial,
        recovery_suggestions: recovery,
    }
}

pub(super) fn findings(root: &Node, own: &[Schema]) -> Vec<Finding> {
    let mut findings = vec![];
    let missing = |field: &str| {
        Finding::error("step-file", Place::TOP, format!("Step file missing field: {field}"))
            .help(format!("add `{field}` at the top of the file"))
    };
    for (field, there) in [
        ("task_id", !task_id(root).is_empty()),
        ("project_id", !project_id(root).is_empty()),
        ("tdd_cycle", root.get("tdd_cycle").is_some()),
    ] {
        if !there {
            findings.push(missing(field));
        }
    }
    let schema = schema(root, own);
    if root.get("tdd_cycle").is_some() {
        findings.extend(count(root, schema));
    }
    if let Some((_, log)) = log(root) {
        findings.extend(record::findings(log, schema));
    }
    findings.extend(pattern_findings(root));
    findings.extend(verdict::step_findings(&state(root, own), schema));
    findings
}

/// Patterns of another shape than a list of texts would bound nothing, or not what was meant.
fn pattern_findings(root: &Node) -> Vec<Finding> {
    let [key, ..] = PATTERNS;
    let holders = [root.get(SPECIFICATION), Some(root)];
    let declared = holders.into_iter().flatten().filter_map(|holder| holder.get(key));
    let wrong = declared.filter(|value| !value.is_null()).flat_map(|value| match value.as_seq() {
        Some(items) => items.iter().filter(|item| item.as_str().is_none()).collect(),
        None => vec![value],
    });
    wrong
        .map(|node| {
            let message = format!("`{key}` must be a list of texts, but here is {}", node.in_words());
            Finding::error("type", node.place, message).help("write it like [\"src/**\", \"tests/greet.rs\"]")
        })
        .collect()
}

/// The count of phases is that of the file's generation (DS-20, K-95), and each of them is there.
fn count(root: &Node, schema: &Schema) -> Vec<Finding> {
    let found = log(root);
    let place =
        found.map(|(_, node)| node).or_else(|| root.get("tdd_cycle")).map_or(Place::TOP, |node| node.place);
    let entries = found.map(|(place, node)| record::all(node, &path(place))).unwrap_or_default();
    let expected = schema.phases.len();
    if entries.len() != expected {
        let message = format!("Step file has {} phases, expected {expected}", entries.len());
        let help = format!("schema {} has {}", schema.version, schema.names().collect::<Vec<_>>().join(", "));
        return vec![Finding::error("step-file", place, message).help(help)];
    }
    let absent = schema.names().filter(|name| !entries.iter().any(|entry| entry.record.name == **name));
    absent.map(|name| Finding::error("step-file", place, format!("Step file has no phase {name}"))).collect()
}

pub(super) fn write(
    draft: &mut Draft,
    before: Option<&StepState>,
    after: &StepState,
    own: &[Schema],
    now: Utc,
) -> Result<(), EditError> {
    let Some(root) = draft.tree() else { return Ok(()) };
    let list = log(&root).map_or_else(|| path(LOGS[0]), |(place, _)| path(place));
    record::write(draft, &list, &after.phases, schema(&root, own), &Form { completed_at: false })?;
    if before.is_none_or(|before| before.status != after.status) {
        let lower = status_word(&root).is_some_and(|word| word.chars().any(|c| c.is_ascii_lowercase()));
        let word =
            if lower { after.status.word().to_ascii_lowercase() } else { after.status.word().to_owned() };
        draft.set(&status_path(&root), &Json::from(word))?;
    }
    // A file whose `state` is a bare word has no room for the rest there.
    let bare = root.get("state").is_some_and(|state| state.as_map().is_none() && !state.is_null());
    let state = path(&[if bare { "execution_result" } else { "state" }]);
    for (key, value) in [
        ("assigned_to", text_or_null(after.assigned_to.as_ref())),
        ("started_at", text_or_null(after.started_at.as_ref())),
        ("completed_at", text_or_null(after.completed_at.as_ref())),
    ] {
        set_if_new(draft, &below(&state, key), &value)?;
    }
    let result = path(&["execution_result"]);
    let kept_in = |key: &str, usual: &[String]| {
        let in_result = root.at(&["execution_result", key]).is_some();
        if in_result { path(&["execution_result", key]) } else { below(usual, key) }
    };
    set_if_new(draft, &kept_in("failure_reason", &state), &text_or_null(after.failure_reason.as_ref()))?;
    set_if_new(draft, &kept_in("can_retry", &state), &after.can_retry.map_or(Json::Null, Json::from))?;
    let suggestions = if after.partial_completion { &result } else { &state };
    if before.is_none_or(|before| before.recovery_suggestions != after.recovery_suggestions) {
        let there = root.at(&["state", "recovery_suggestions"]).is_some();
        let place = if there {
            path(&["state", "recovery_suggestions"])
        } else {
            kept_in("recovery_suggestions", suggestions)
        };
        set_if_new(draft, &place, &json!(after.recovery_suggestions))?;
        if there && root.at(&["execution_result", "recovery_suggestions"]).is_some() {
            set_if_new(draft, &path(&["execution_result", "recovery_suggestions"]), &json!([]))?;
        }
    }
    if before.is_none_or(|before| before.partial_completion != after.partial_completion) {
        draft.set(&kept_in("partial_completion", &result), &Json::from(after.partial_completion))?;
    }
    if root.at(&["state", "updated"]).is_some() {
        draft.set(&path(&["state", "updated"]), &Json::from(now.seconds()))?;
    }
    Ok(())
}
