//! Edits that leave everything else alone: comments, unknown fields, quoting, line endings.
//!
//! An edit is made on the bytes, at the places that the tree knows, and then proved: the result is read again
//! and must hold the one new value and otherwise what it held before. What cannot be proved is refused.

use std::ops::Range;

use serde_json::Value as Json;

use super::Limits;
use super::Node;
use super::Value;
use super::read;
use super::write;
use crate::finding::Finding;

/// Why an edit was not made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EditError {
    #[error("the file cannot be read: {}", .findings.first().map(|f| f.message.as_str()).unwrap_or_default())]
    Unreadable { findings: Vec<Finding> },
    #[error("`{path}` cannot be set, since what is above it is {found}")]
    NotAMapping { path: String, found: String },
    #[error("`{path}` cannot be set, since the list there has {entries} entries")]
    NoSuchEntry { path: String, entries: usize },
    #[error("`{path}` cannot be changed without changing more than that; edit the file by hand")]
    Entangled { path: String },
}

/// Sets the value at a path of keys (numbers for entries of lists). A key that does not exist is added at the
/// end of its mapping, together with what is missing on the way to it.
pub fn set(text: &str, path: &[&str], value: &Json) -> Result<String, EditError> {
    let document =
        read(text.as_bytes(), &Limits::default()).map_err(|findings| EditError::Unreadable { findings })?;
    let mut expected = document.root.to_json();
    put(&mut expected, path, value)?;
    let file = File { text, newline: if text.contains("\r\n") { "\r\n" } else { "\n" } };
    for changes in candidates(&file, &document.root, path, value) {
        let edited = apply(text, changes);
        let holds = |edited: &str| {
            read(edited.as_bytes(), &Limits::default()).is_ok_and(|d| d.root.to_json() == expected)
        };
        if holds(&edited) {
            return Ok(edited);
        }
    }
    Err(EditError::Entangled { path: path.join(".") })
}

/// The same change on plain data: what the edited file has to hold.
fn put(target: &mut Json, path: &[&str], value: &Json) -> Result<(), EditError> {
    let Some((key, rest)) = path.split_first() else {
        *target = value.clone();
        return Ok(());
    };
    match target {
        Json::Null => *target = wrap(path, value),
        Json::Object(map) => match map.get_mut(*key) {
            Some(inner) => return put(inner, rest, value),
            None => {
                map.insert((*key).to_owned(), wrap(rest, value));
            }
        },
        Json::Array(items) => {
            let entries = items.len();
            let inner = key.parse::<usize>().ok().and_then(|index| items.get_mut(index));
            let inner = inner.ok_or_else(|| EditError::NoSuchEntry { path: path.join("."), entries })?;
            return put(inner, rest, value);
        }
        other => {
            return Err(EditError::NotAMapping { path: path.join("."), found: format!("`{other}`") });
        }
    }
    Ok(())
}

/// The mappings that are missing on the way to a value.
fn wrap(path: &[&str], value: &Json) -> Json {
    path.iter()
        .rev()
        .fold(value.clone(), |inner, key| Json::Object(std::iter::once(((*key).to_owned(), inner)).collect()))
}

/// A replacement of some bytes. Several never overlap.
type Change = (Range<usize>, String);

fn apply(text: &str, mut changes: Vec<Change>) -> String {
    changes.sort_by_key(|(range, _)| range.start);
    let mut edited = String::with_capacity(text.len() + 64);
    let mut from = 0;
    for (range, new) in changes {
        edited.push_str(&text[from..range.start.max(from)]);
        edited.push_str(&new);
        from = range.end.max(from);
    }
    edited.push_str(&text[from..]);
    edited
}

struct File<'t> {
    text: &'t str,
    newline: &'static str,
}

impl File<'_> {
    /// Where the line of a byte begins.
    fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |i| i + 1)
    }

    /// Where the line of a byte ends, before its line break.
    fn line_end(&self, at: usize) -> usize {
        let end = self.text[at..].find('\n').map_or(self.text.len(), |i| at + i);
        if self.text[..end].ends_with('\r') && end > at { end - 1 } else { end }
    }

    /// The byte after the line break of a line; the end of the text where there is none.
    fn next_line(&self, at: usize) -> usize {
        self.text[at..].find('\n').map_or(self.text.len(), |i| at + i + 1)
    }

    /// Lines for this file: its line ending, its indentation.
    fn lines(&self, lines: &str) -> String {
        if self.newline == "\n" { lines.to_owned() } else { lines.replace('\n', self.newline) }
    }

    fn is_flow(&self, node: &Node) -> bool {
        matches!(node.value, Value::Seq(_) | Value::Map(_))
            && self.text[range(node).start..].starts_with(['[', '{'])
    }

    /// A collection on lines of its own, or at least without brackets.
    fn is_block(&self, node: &Node) -> bool {
        matches!(node.value, Value::Seq(_) | Value::Map(_)) && !self.is_flow(node) && !self.is_alias(node)
    }

    fn is_alias(&self, node: &Node) -> bool {
        self.text[range(node).start..].starts_with('*')
    }

    /// The byte after the colon of a key.
    fn after_colon(&self, key_end: usize) -> Option<usize> {
        let rest = &self.text[key_end..];
        let at = rest.find(|c: char| !c.is_whitespace())?;
        rest[at..].starts_with(':').then_some(key_end + at + 1)
    }
}

fn range(node: &Node) -> Range<usize> {
    node.place.start as usize..node.place.end as usize
}

/// The ways to make the change, the most pleasing first.
fn candidates(file: &File<'_>, root: &Node, path: &[&str], value: &Json) -> Vec<Vec<Change>> {
    let mut node = root;
    let mut entry = None;
    // Whether something above the node is written in brackets, so that it has to be, too.
    let mut bracketed = false;
    for (depth, key) in path.iter().enumerate() {
        let flow = bracketed || file.is_flow(node);
        let next = match &node.value {
            Value::Map(entries) => {
                // What a merge key brought in stands elsewhere; here it is as good as absent.
                let own = |at: u32| node.place.start <= at && at < node.place.end.max(node.place.start + 1);
                entries.iter().find(|(k, _)| k.text == *key && own(k.place.start)).map(|(k, n)| (Some(k), n))
            }
            Value::Seq(items) => key.parse::<usize>().ok().and_then(|i| items.get(i)).map(|n| (None, n)),
            Value::Null => return replace(file, entry, node, bracketed, &wrap(&path[depth..], value)),
            _ => return vec![],
        };
        let Some((key_of, child)) = next else {
            return insert(file, node, flow, key, &wrap(&path[depth + 1..], value));
        };
        entry = key_of.map(|key| (key.place.end as usize, key.place.column as usize - 1));
        bracketed = flow;
        node = child;
    }
    replace(file, entry, node, bracketed, value)
}

/// Replaces a value. `entry` is where its key ends, and the key's column, when it has a key.
fn replace(
    file: &File<'_>,
    entry: Option<(usize, usize)>,
    old: &Node,
    flow: bool,
    value: &Json,
) -> Vec<Vec<Change>> {
    let old_range = range(old);
    let brief = if flow { write::flow(value) } else { write::inline(value) };
    let Some((key_end, column)) = entry else {
        let mut ways = vec![];
        if !flow && write::is_block(value) {
            let mut lines = String::new();
            write::node(value, old.place.column as usize - 1, &mut lines);
            ways.push(vec![(old_range.clone(), file.lines(lines.trim_end_matches('\n')))]);
        }
        ways.push(vec![(old_range, brief)]);
        return ways;
    };
    let Some(colon) = file.after_colon(key_end) else { return vec![vec![(old_range, brief)]] };
    let in_place = |text: String| -> Vec<Change> {
        if old_range.is_empty() {
            vec![(colon..colon, format!(" {text}"))]
        } else if file.is_block(old) {
            let lines = file.line_start(old_range.start)..file.next_line(old_range.end);
            vec![(colon..colon, format!(" {text}")), (lines, String::new())]
        } else {
            vec![(old_range.clone(), text)]
        }
    };
    let mut ways = vec![];
    if !flow {
        if let Some(block) = write::literal(value, column + 2) {
            ways.push(in_place(file.lines(block.trim_end_matches('\n'))));
        }
        if write::is_block(value) {
            ways.push(on_lines(file, colon, old, column + 2, value));
        }
    }
    ways.push(in_place(brief));
    ways.push(in_place(write::flow(value)));
    ways
}

/// Puts a collection on lines below its key.
fn on_lines(file: &File<'_>, colon: usize, old: &Node, indent: usize, value: &Json) -> Vec<Change> {
    let mut lines = " ".repeat(indent);
    write::node(value, indent, &mut lines);
    let lines = file.lines(&lines);
    let old_range = range(old);
    if file.is_block(old) {
        return vec![(file.line_start(old_range.start)..file.next_line(old_range.end), lines)];
    }
    let last = if old_range.is_empty() { colon } else { old_range.end };
    let end = file.line_end(last);
    let below = format!("{}{}", file.newline, lines.trim_end_matches(['\r', '\n']));
    if old_range.is_empty() {
        return vec![(end..end, below)];
    }
    let blanks = file.text[colon..old_range.start].trim_end().len();
    vec![(colon + blanks..old_range.end, String::new()), (end..end, below)]
}

/// Adds a key at the end of a mapping.
fn insert(file: &File<'_>, map: &Node, flow: bool, key: &str, value: &Json) -> Vec<Vec<Change>> {
    let map_range = range(map);
    if flow {
        let close = map_range.end.saturating_sub(1);
        let pair = format!("{}: {}", write::flow(&Json::from(key)), write::flow(value));
        let Some((_, last)) = map.as_map().and_then(<[_]>::last) else {
            return vec![vec![(map_range.start + 1..map_range.start + 1, pair)]];
        };
        let after = range(last).end;
        let content_end = map_range.start + file.text[map_range.start..close].trim_end().len();
        return vec![
            vec![(after..after, format!(", {pair}"))],
            vec![(content_end..content_end, format!(", {pair}"))],
        ];
    }
    let indent = map.place.column as usize - 1;
    let mut lines = " ".repeat(indent);
    write::entry(key, value, indent, &mut lines);
    let mut brief = " ".repeat(indent);
    brief.push_str(&format!("{}: {}\n", write::inline(&Json::from(key)), write::flow(value)));
    let below = file.next_line(map_range.end);
    let mut after_blanks = below;
    while after_blanks < file.text.len()
        && file.text[after_blanks..file.line_end(after_blanks)].trim().is_empty()
    {
        after_blanks = file.next_line(after_blanks);
    }
    let at = |position: usize, lines: &str| -> Vec<Change> {
        let broken = position == 0 || file.text[..position].ends_with('\n');
        let lines = file.lines(lines);
        let lines = if broken { lines } else { format!("{}{}", file.newline, lines.trim_end()) };
        vec![(position..position, lines)]
    };
    vec![at(below, &lines), at(below, &brief), at(after_blanks, &lines), at(after_blanks, &brief)]
}
