//! The fields of a roadmap under all the names that they have, and values of the types that they must have.

use crate::doc::At;
use crate::doc::Fields;
use crate::doc::Node;
use crate::doc::Value;
use crate::finding::Finding;
use crate::roadmap::source;

/// The name of one and the same field in one roadmap or another, the usual one first.
pub(super) type Names = [&'static str];

pub(super) const PROJECT: [&str; 4] = ["project_id", "feature_id", "project", "feature"];
pub(super) const CREATED: [&str; 2] = ["created_at", "created"];
pub(super) const GROUP_ID: [&str; 4] = ["phase_id", "id", "number", "phase"];
pub(super) const NAME: [&str; 2] = ["name", "title"];
pub(super) const NEEDS: [&str; 4] = ["dependencies", "depends_on", "deps", "requires"];
pub(super) const STEP_ID: [&str; 3] = ["step_id", "id", "number"];
pub(super) const CRITERIA: [&str; 2] = ["acceptance_criteria", "criteria"];
pub(super) const AGENT: [&str; 2] = ["suggested_agent", "agent"];
pub(super) const SCENARIO: [&str; 3] = ["acceptance_test_scenario", "scenario", "scenario_name"];
pub(super) const KIND: [&str; 3] = ["step_type", "task_type", "type"];
pub(super) const NOTES: [&str; 2] = ["implementation_notes", "notes"];
pub(super) const HOURS: [&str; 2] = ["estimated_hours", "estimated_time"];

/// Words that say there is nothing.
const NOTHING: [&str; 4] = ["", "-", "none", "n/a"];

/// The first of several names that has a value. All of them are known from then on.
pub(super) fn first<'n>(fields: &mut Fields<'n>, names: &Names) -> Option<(&'static str, &'n Node)> {
    let mut found = None;
    for name in names {
        let node = fields.node(name);
        found = found.or(node.map(|node| (*name, node)));
    }
    found
}

/// A text (DW-03). Numbers count as the text they were written with.
pub(super) fn text(fields: &mut Fields<'_>, names: &Names) -> Option<At<String>> {
    let (name, node) = first(fields, names)?;
    match node.scalar_text() {
        Some(text) => Some(At::new(text.trim().to_owned(), node.place)).filter(|text| !text.is_empty()),
        None => {
            fields.wrong_type(name, "a text", node);
            None
        }
    }
}

/// A text; what somebody wrote as a list or mapping is kept in words, with a warning.
pub(super) fn prose(fields: &mut Fields<'_>, names: &Names) -> Option<String> {
    let (name, node) = first(fields, names)?;
    if let Some(text) = node.scalar_text() {
        return Some(text.trim_end().to_owned()).filter(|text| !text.is_empty());
    }
    let message = format!("`{name}` is {}; it is read as a text", node.in_words());
    fields.sink().push(Finding::warning("type", node.place, message));
    Some(source::in_words(&node.to_json()))
}

/// An id. An unquoted `01` is a number to YAML, but here it is two digits.
pub(super) fn id(node: &Node) -> Option<At<String>> {
    let text = match node.value {
        Value::Int(number) => format!("{number:02}"),
        _ => node.scalar_text()?.trim().to_owned(),
    };
    Some(At::new(text, node.place)).filter(|id| !id.is_empty())
}

/// The ids of a list; one text with commas and a list of mappings are understood.
pub(super) fn ids(fields: &mut Fields<'_>, names: &Names) -> (Vec<At<String>>, bool) {
    let Some((name, node)) = first(fields, names) else {
        let there = names.iter().any(|name| fields.entry(name).is_some());
        return (vec![], there);
    };
    let Some(items) = node.as_seq() else {
        let Some(text) = id(node) else {
            fields.wrong_type(name, "a list of ids", node);
            return (vec![], true);
        };
        if !is_nothing(&text) {
            let message = format!("`{name}` is {}; it is read as a list", node.in_words());
            fields.sink().push(Finding::warning("type", node.place, message).help("write `[...]` around it"));
        }
        let parts = text.split(',').map(str::trim).filter(|part| !is_nothing(part));
        return (parts.map(|part| At::new(part.to_owned(), node.place)).collect(), true);
    };
    let mut found = vec![];
    for item in items {
        let inner = STEP_ID.iter().find_map(|key| item.get(key)).unwrap_or(item);
        match id(inner) {
            Some(text) if is_nothing(&text) => {}
            Some(text) => found.push(text),
            None => fields.wrong_type(name, "a list of ids", item),
        }
    }
    (found, true)
}

fn is_nothing(text: &str) -> bool {
    NOTHING.contains(&text.to_lowercase().as_str())
}

/// A list of texts (DW-03), and whether it was there. One text is understood with a warning.
pub(super) fn list(fields: &mut Fields<'_>, name: &'static str) -> Option<Vec<String>> {
    let node = fields.node(name)?;
    let Some(items) = node.as_seq() else {
        return match node.scalar_text() {
            Some(text) => {
                let message = format!("`{name}` is one text; it is read as a list");
                fields.sink().push(Finding::warning("type", node.place, message).help("write it as a list"));
                Some(vec![text.trim().to_owned()])
            }
            None => {
                fields.wrong_type(name, "a list of texts", node);
                None
            }
        };
    };
    let mut found = vec![];
    for item in items {
        // A file with a word about it: `{path: src/x.py, reason: ...}`.
        let path = ["path", "file", "name"].iter().find_map(|key| item.get(key)).unwrap_or(item);
        match path.scalar_text() {
            Some(text) => found.push(text.trim().to_owned()),
            None => fields.wrong_type(name, "a list of texts", item),
        }
    }
    Some(found)
}

/// A number (DW-03). A text that begins with one (`2h`, `3-4 hours`) is understood with a warning.
pub(super) fn number(fields: &mut Fields<'_>, names: &Names) -> Option<At<f64>> {
    let (name, node) = first(fields, names)?;
    let value = match &node.value {
        Value::Int(_) | Value::Float(_) => node.scalar_text().and_then(|text| text.parse::<f64>().ok()),
        Value::Str(text) => {
            let text = text.trim_start();
            let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
            let value = text.get(..end).and_then(|digits| digits.trim_end_matches('.').parse::<f64>().ok());
            if let Some(value) = value {
                let message = format!("{} is read as `{value}`", node.in_words());
                fields.sink().push(Finding::warning("type", node.place, message).help("write a number"));
            }
            value
        }
        _ => None,
    };
    let value = value.filter(|value| value.is_finite() && *value >= 0.0);
    if value.is_none() {
        fields.wrong_type(name, "a number", node);
    }
    value.map(|value| At::new(value, node.place))
}
