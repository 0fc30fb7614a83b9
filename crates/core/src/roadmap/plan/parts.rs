//! The fields of one step that come in more than one form.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::Files;
use super::field;
use super::reader;
use super::rules;
use crate::doc::At;
use crate::doc::Fields;
use crate::doc::Node;
use crate::doc::Sink;
use crate::doc::Value;
use crate::finding::Finding;
use crate::roadmap::source;
use crate::roadmap::state::PhaseStatus;

pub(super) fn whole(number: &At<f64>, sink: &Sink) -> Option<u32> {
    let line = format!("{:.0}", number.value).parse::<u32>().ok().filter(|_| number.value.fract() == 0.0);
    if line.is_none() {
        let message = format!("`scenario_line` must be a whole number, but this is {}", number.value);
        sink.push(Finding::error("type", number.place, message));
    }
    line
}

/// The criteria: a list of texts. One text is the form of older files.
pub(super) fn criteria(fields: &mut Fields<'_>) -> Vec<String> {
    let Some((name, node)) = field::first(fields, &field::CRITERIA) else { return vec![] };
    let Some(items) = node.as_seq() else {
        let Some(text) = node.scalar_text() else {
            fields.wrong_type(name, "a list of texts", node);
            return vec![];
        };
        fields.sink().push(rules::legacy_criteria(name, node.place));
        let parts = text.split(['\n', ';']).map(|part| part.trim().trim_start_matches("- ").trim());
        return parts.filter(|part| !part.is_empty()).map(str::to_owned).collect();
    };
    let mut found = vec![];
    for item in items {
        let inner = source::first(item, &["criterion", "description", "text"]).unwrap_or(item);
        match inner.scalar_text() {
            Some(text) => found.push(text.trim().to_owned()),
            // `- Given: x` without quotes is a mapping to YAML, but a sentence to its author.
            None => match sentence(item) {
                Some(text) => found.push(text),
                None => fields.wrong_type(name, "a list of texts", item),
            },
        }
    }
    found.retain(|criterion| !criterion.is_empty());
    found
}

fn sentence(item: &Node) -> Option<String> {
    match item.as_map()? {
        [(key, value)] => Some(format!("{}: {}", key.text, value.scalar_text()?)),
        _ => None,
    }
}

pub(super) fn files(fields: &mut Fields<'_>) -> Files {
    Files {
        deliverables: field::list(fields, "deliverables"),
        to_modify: field::list(fields, "files_to_modify"),
        to_create: field::list(fields, "files_to_create"),
        tests: field::list(fields, "test_files"),
        patterns: field::list(fields, "allowed_file_patterns"),
    }
}

/// Some roadmaps name the files among the notes.
pub(super) fn files_in_notes(notes: &Node, files: &mut Files) {
    let list = |key: &str| notes.get(key).map(|node| source::texts(Some(node)));
    files.to_modify = files.to_modify.take().or_else(|| list("files_to_modify"));
    files.to_create = files.to_create.take().or_else(|| list("files_to_create"));
    files.tests = files.tests.take().or_else(|| list("test_files"));
}

/// A mapping (DW-03); a list is kept with a warning.
pub(super) fn quality_gates(fields: &mut Fields<'_>) -> Option<Json> {
    let node = fields.node("quality_gates")?;
    match &node.value {
        Value::Map(_) => {}
        Value::Seq(_) => {
            let message = "`quality_gates` is a list; it should be a mapping from gate to value";
            fields.sink().push(Finding::warning("type", node.place, message));
        }
        _ => {
            fields.wrong_type("quality_gates", "a mapping", node);
            return None;
        }
    }
    Some(node.to_json())
}

/// The phases that the roadmap itself says are skipped: by name, by name and reason, or as records.
pub(super) fn skipped(fields: &mut Fields<'_>) -> BTreeMap<String, String> {
    const BARE: &str = "NOT_APPLICABLE";
    let mut found = BTreeMap::new();
    for name in ["skip_phases", "skipped_phases"] {
        for (key, node) in fields.node(name).into_iter().flat_map(reader::entries) {
            match key {
                Some(phase) => {
                    found.insert(phase.value, node.scalar_text().unwrap_or_else(|| BARE.to_owned()))
                }
                None => node.scalar_text().and_then(|phase| found.insert(phase, BARE.to_owned())),
            };
        }
    }
    for record in fields.node("tdd_phases").and_then(Node::as_seq).unwrap_or_default() {
        let status = source::first_text(record, &["status"]);
        let reason = source::first_text(record, &["blocked_by", "skip_reason"]);
        let skipped = PhaseStatus::read(status.as_deref(), None, None) == PhaseStatus::Skipped;
        if let Some(phase) = source::first_text(record, &["phase_name", "name", "phase"]).filter(|_| skipped)
        {
            found.insert(phase, reason.unwrap_or_else(|| BARE.to_owned()));
        }
    }
    found
}

/// What a step says beyond the fields that are known.
pub(super) fn further(node: &Node) -> serde_json::Map<String, Json> {
    let lists: [&field::Names; 10] = [
        &field::STEP_ID,
        &field::NAME,
        &field::CRITERIA,
        &field::AGENT,
        &field::KIND,
        &field::NEEDS,
        &field::SCENARIO,
        &field::HOURS,
        &field::NOTES,
        &reader::STEP,
    ];
    let single = [
        "description",
        "test_file",
        "scenario_line",
        "deliverables",
        "files_to_modify",
        "files_to_create",
        "test_files",
        "allowed_file_patterns",
        "quality_gates",
        "skip_phases",
        "skipped_phases",
        "tdd_phases",
        "reviews",
    ];
    let known = |key: &str| single.contains(&key) || lists.iter().any(|list| list.contains(&key));
    let entries = node.as_map().unwrap_or_default().iter();
    let entries = entries.filter(|(key, node)| !known(&key.text) && !node.is_null());
    entries.map(|(key, node)| (key.text.clone(), node.to_json())).collect()
}
