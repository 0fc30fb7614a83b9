//! Adding a value at the end of an object or a list, and taking some out, with the layout of the file kept.

use std::ops::Range;

use serde::Serialize;
use serde_json::Value as Json;
use serde_json::ser::PrettyFormatter;
use serde_json::ser::Serializer;

use super::tree::Node;
use super::tree::Tree;
use super::tree::trivia_end;

/// A replacement of some bytes. Several never overlap.
pub(super) type Change = (Range<usize>, String);

pub(super) fn apply(text: &str, mut changes: Vec<Change>) -> String {
    changes.sort_by_key(|(range, _)| range.start);
    let mut edited = String::with_capacity(text.len() + 256);
    let mut from = 0;
    for (range, new) in changes {
        edited.push_str(text.get(from..range.start.max(from)).unwrap_or_default());
        edited.push_str(&new);
        from = range.end.max(from);
    }
    edited.push_str(text.get(from..).unwrap_or_default());
    edited
}

/// How the file is laid out.
#[derive(Debug)]
pub(super) struct Style {
    newline: &'static str,
    /// One step of indentation.
    unit: String,
}

impl Style {
    pub(super) fn of(tree: &Tree<'_>) -> Style {
        let newline = if tree.text.contains("\r\n") { "\r\n" } else { "\n" };
        let first = tree.root.children().first().map(|child| child.start);
        let unit = first.and_then(|at| line_blanks(tree.text, at)).filter(|blanks| !blanks.is_empty());
        Style { newline, unit: unit.unwrap_or("  ").to_owned() }
    }

    /// A value over several lines, of which the first stands behind something.
    fn lines(&self, value: &Json, indent: &str) -> String {
        let mut bytes = vec![];
        let mut writer =
            Serializer::with_formatter(&mut bytes, PrettyFormatter::with_indent(self.unit.as_bytes()));
        // Writing plain data to memory cannot fail.
        let _written = value.serialize(&mut writer);
        String::from_utf8_lossy(&bytes).replace('\n', &format!("{}{indent}", self.newline))
    }
}

/// The blanks in front of a byte, where nothing else stands before it on its line.
fn line_blanks(text: &str, at: usize) -> Option<&str> {
    let before = text.get(..at)?;
    let line = before.get(before.rfind('\n')? + 1..)?;
    line.chars().all(|c| c == ' ' || c == '\t').then_some(line)
}

/// The blanks that the line of a byte begins with.
fn indentation(text: &str, at: usize) -> &str {
    let line = text.get(..at).unwrap_or_default();
    let line = line.get(line.rfind('\n').map_or(0, |newline| newline + 1)..).unwrap_or_default();
    line.get(..line.len() - line.trim_start_matches([' ', '\t']).len()).unwrap_or_default()
}

/// Adds a value at the end of an object (with its key) or of a list.
pub(super) fn append(
    tree: &Tree<'_>,
    style: &Style,
    into: &Node,
    key: Option<&str>,
    value: &Json,
) -> Vec<Change> {
    let text = tree.text;
    let key = key.map(|key| format!("{}: ", Json::from(key))).unwrap_or_default();
    let children = into.children();
    let (Some(first), Some(last)) = (children.first(), children.last()) else {
        let outer = indentation(text, into.span.start);
        let indent = format!("{outer}{}", style.unit);
        let new = format!("{key}{}", style.lines(value, &indent));
        let inside = into.span.start + 1..into.span.end - 1;
        let newline = style.newline;
        let blank = text.get(inside.clone()).is_some_and(|inside| inside.trim().is_empty());
        // Comments inside stay where they are, before what is new.
        let place = if blank { inside } else { inside.end..inside.end };
        return vec![(place, format!("{newline}{indent}{new}{newline}{outer}"))];
    };
    let on_lines = text.get(into.span.start..first.start).is_some_and(|before| before.contains('\n'));
    if !on_lines {
        return vec![(last.end..last.end, format!(", {key}{value}"))];
    }
    let indent = indentation(text, last.start).to_owned();
    let new = format!("{}{indent}{key}{}", style.newline, style.lines(value, &indent));
    let behind = after_comment(text, last.end);
    if behind == last.end {
        return vec![(last.end..last.end, format!(",{new}"))];
    }
    vec![(last.end..last.end, ",".to_owned()), (behind..behind, new)]
}

/// The end of the last comment that stands behind a value on the same line; the value's end where there is none.
fn after_comment(text: &str, value_end: usize) -> usize {
    let mut end = value_end;
    loop {
        let rest = text.get(end..).unwrap_or_default();
        let line = rest.get(..rest.find('\n').unwrap_or(rest.len())).unwrap_or_default();
        let comment = line.trim_start_matches([' ', '\t']);
        let at = end + line.len() - comment.len();
        if comment.starts_with("//") {
            return at + comment.trim_end().len();
        }
        // A comment that goes on below is not about the value alone.
        let Some(inner) = comment.strip_prefix("/*").and_then(|inner| inner.find("*/")) else { return end };
        end = at + inner + 4;
    }
}

/// How much goes with a value that is taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blanks {
    /// The blanks in front of it.
    Cut,
    /// Nothing: a comment in front may need its line break.
    Keep,
}

/// Takes the children out that are not kept, each with its comma.
pub(super) fn remove(tree: &Tree<'_>, from: &Node, kept: &[bool], blanks: Blanks) -> Vec<Change> {
    let text = tree.text;
    let children = from.children();
    let mut changes: Vec<Change> = vec![];
    let cut = |range: Range<usize>| (range, String::new());
    if !kept.contains(&true) && !kept.is_empty() {
        let inside = from.span.start + 1..from.span.end - 1;
        let around = children.first().zip(children.last()).map(|(first, last)| {
            let before = text.get(inside.start..first.start).unwrap_or_default();
            let behind = text.get(last.end..inside.end).unwrap_or_default();
            before.trim().is_empty() && behind.trim().is_empty()
        });
        if around == Some(true) && children.len() == 1 {
            return vec![cut(inside)];
        }
    }
    let mut kept_before = false;
    for (at, child) in children.iter().enumerate() {
        if kept.get(at).copied().unwrap_or(true) {
            kept_before = true;
            continue;
        }
        let blanks = |end: usize| match blanks {
            Blanks::Keep => end,
            Blanks::Cut => {
                text.get(..end).unwrap_or_default().trim_end_matches([' ', '\t', '\n', '\r']).len()
            }
        };
        let previous = at.checked_sub(1).and_then(|previous| children.get(previous));
        if let Some(previous) = previous.filter(|_| kept_before) {
            let comma = comma_behind(text, previous.end);
            changes.extend(comma.map(|comma| cut(comma..comma + 1)));
            changes.push(cut(blanks(child.start).max(comma.map_or(0, |comma| comma + 1))..child.end));
            continue;
        }
        match children.get(at + 1) {
            Some(next) => {
                let between = text.get(child.end..next.start).unwrap_or_default();
                if between.trim() == "," {
                    changes.push(cut(child.start..next.start));
                } else {
                    let comma = comma_behind(text, child.end);
                    changes.push(cut(blanks(child.start)..child.end));
                    changes.extend(comma.map(|comma| cut(comma..comma + 1)));
                }
            }
            None => changes.push(cut(blanks(child.start)..child.end)),
        }
    }
    changes
}

/// The comma behind a value, beyond blanks and comments.
fn comma_behind(text: &str, value_end: usize) -> Option<usize> {
    let at = trivia_end(text, value_end)?;
    text.get(at..)?.starts_with(',').then_some(at)
}
