//! Events are added at the end of a log in the form that its last event has, and nothing else is touched.

use serde::Serialize as _;
use serde_json::Value as Json;

use super::Log;
use super::event::Event;
use super::event::Shape;
use super::is_json;
use crate::doc;
use crate::doc::Limits;
use crate::doc::Node;
use crate::doc::edit;
use crate::doc::edit::EditError;

/// Why nothing was added.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AppendError {
    /// The log is written in a way in which nothing can be added without touching the rest.
    #[error("{path}: no event can be added without changing the rest of the file")]
    Entangled { path: String },
    #[error(transparent)]
    Edit(#[from] EditError),
}

pub(super) fn append(log: &Log, events: &[Event]) -> Result<String, AppendError> {
    let mut text = log.text.clone();
    for event in events {
        text = one(log, &text, event)?;
    }
    Ok(text)
}

/// The form of the last event; an empty log of the second schema has strings, every other one mappings.
fn shape(log: &Log) -> Shape {
    let version = super::source::first_text(&log.source.root, &["schema_version"]);
    match log.events.last() {
        Some(last) => last.shape,
        None if version.is_some_and(|version| version.starts_with('2')) => Shape::Bars,
        None => Shape::Mapping,
    }
}

fn one(log: &Log, text: &str, event: &Event) -> Result<String, AppendError> {
    let entangled = || AppendError::Entangled { path: log.path.clone() };
    let value = event.to_json(shape(log));
    let old = content(log, text).ok_or_else(entangled)?;
    let expected = with(&old, &value).ok_or_else(entangled)?;
    let holds = |text: &String| content(log, text).as_ref() == Some(&expected);
    if !log.source.placed {
        return pretty(&expected, "  ").map(|text| text + "\n").filter(holds).ok_or_else(entangled);
    }
    let (root, _) = doc::parse(text.as_bytes(), &Limits::default());
    let root = root.ok_or_else(entangled)?;
    let last = root.get("events").and_then(Node::as_seq).and_then(<[Node]>::last);
    let Some(last) = last else {
        let all = expected.get("events").ok_or_else(entangled)?;
        return Ok(edit::set(text, &["events"], all)?);
    };
    let start = last.place.start as usize;
    let block = !is_json(log) && !is_in_brackets(text, root.get("events"));
    let edited = if block { below(text, last, &value) } else { beside(text, last, &value) };
    edited.filter(holds).ok_or_else(|| AppendError::Entangled { path: format!("{}:{start}", log.path) })
}

/// What a text holds, by the rules of its syntax.
fn content(log: &Log, text: &str) -> Option<Json> {
    if is_json(log) {
        return serde_json::from_str(text).ok();
    }
    doc::parse(text.as_bytes(), &Limits::default()).0.map(|root| root.to_json())
}

fn with(old: &Json, value: &Json) -> Option<Json> {
    let mut new = old.clone();
    let events = new.as_object_mut()?.entry("events").or_insert(Json::Null);
    match events {
        Json::Array(events) => events.push(value.clone()),
        Json::Null => *events = Json::from(vec![value.clone()]),
        _ => return None,
    }
    Some(new)
}

fn is_in_brackets(text: &str, list: Option<&Node>) -> bool {
    list.and_then(|list| text.get(list.place.start as usize..)).is_some_and(|text| text.starts_with('['))
}

/// The blanks at the head of the line of a byte, and whether nothing else stands before it but a dash.
fn head(text: &str, at: usize) -> (&str, bool) {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rfind('\n').map_or(before, |from| before.get(from + 1..).unwrap_or_default());
    let blanks = line.len() - line.trim_start().len();
    (line.get(..blanks).unwrap_or_default(), line.trim().is_empty())
}

/// One more entry on lines of its own below the last one of a block list, quoted and bracketed as that one is.
fn below(text: &str, last: &Node, value: &Json) -> Option<String> {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let (start, end) = (last.place.start as usize, last.place.end as usize);
    let (indent, _) = head(text, start);
    let raw = text.get(start..end)?;
    let brief = raw.starts_with(['"', '{']);
    let written = if brief { flow(value) } else { doc::write(value) };
    let mut entry = String::new();
    for (index, line) in written.lines().enumerate() {
        let dash = if index == 0 { "- " } else { "  " };
        entry.push_str(&format!("{indent}{dash}{line}{newline}"));
    }
    let after = text.get(end..)?.find('\n').map_or(text.len(), |at| end + at + 1);
    let before = text.get(..after)?;
    let lead = if before.ends_with('\n') { "" } else { newline };
    Some([before, lead, &entry, text.get(after..)?].concat())
}

/// One more entry behind the last one of a list in brackets, spread over lines as that one is.
fn beside(text: &str, last: &Node, value: &Json) -> Option<String> {
    let (start, end) = (last.place.start as usize, last.place.end as usize);
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let (indent, own_line) = head(text, start);
    let raw = text.get(start..end)?;
    let entry = match raw.split_once('\n') {
        Some((_, inner)) => {
            let deeper: String = inner.chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
            let unit = deeper.strip_prefix(indent).unwrap_or("  ").to_owned();
            pretty(value, &unit)?.replace('\n', &format!("{newline}{indent}"))
        }
        None => flow(value),
    };
    let gap = if own_line { format!("{newline}{indent}") } else { " ".to_owned() };
    Some([text.get(..end)?, ",", &gap, &entry, text.get(end..)?].concat())
}

/// A value on one line, with the blanks that people put there.
fn flow(value: &Json) -> String {
    match value {
        Json::Object(map) => {
            let pairs = map.iter().map(|(key, value)| format!("{}: {value}", Json::from(key.as_str())));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// A value over several lines.
fn pretty(value: &Json, unit: &str) -> Option<String> {
    let formatter = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut bytes = vec![];
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    value.serialize(&mut serializer).ok()?;
    String::from_utf8(bytes).ok()
}
