//! JSON as a tree with places, and edits on its bytes that leave everything else alone.
//!
//! JSON is nearly a part of YAML, but not wholly: escapes of surrogate pairs, as other languages write them, are not.
//! So the syntax is judged by a JSON reader, and the places are found by a walk over the text it has accepted.

use serde_json::Value as Json;

use crate::doc::Float;
use crate::doc::Key;
use crate::doc::Node;
use crate::doc::Value;
use crate::finding::Finding;
use crate::finding::Place;

/// The tree of a JSON text, with findings about keys that are there twice; or the reader's complaint.
pub(super) fn tree(text: &str) -> Result<(Node, Vec<Finding>), serde_json::Error> {
    serde_json::from_str::<Json>(text)?;
    let mut walk = Walk { text, at: 0, line: 1, line_start: 0, findings: vec![] };
    let root = walk.node();
    Ok((root, walk.findings))
}

/// A walk over a text that is known to be JSON; where it were not, the walk would end early, never panic.
struct Walk<'t> {
    text: &'t str,
    at: usize,
    line: u32,
    line_start: usize,
    findings: Vec<Finding>,
}

impl Walk<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn blanks(&mut self) {
        while let Some(byte) = self.text.as_bytes().get(self.at) {
            match byte {
                b'\n' => {
                    self.line += 1;
                    self.line_start = self.at + 1;
                }
                b' ' | b'\t' | b'\r' => {}
                _ => break,
            }
            self.at += 1;
        }
    }

    /// Steps over a character, where it is there.
    fn eat(&mut self, c: char) -> bool {
        self.blanks();
        let there = self.rest().starts_with(c);
        self.at += usize::from(there);
        there
    }

    fn here(&self) -> Place {
        let column = self.text.get(self.line_start..self.at).map_or(0, |line| line.chars().count());
        let byte = to_u32(self.at);
        Place { line: self.line, column: to_u32(column + 1), start: byte, end: byte }
    }

    fn node(&mut self) -> Node {
        self.blanks();
        let place = self.here();
        let value = match self.rest().chars().next() {
            Some('{') => self.map(),
            Some('[') => self.seq(),
            Some('"') => Value::Str(self.string()),
            _ => self.word(),
        };
        Node { value, place: Place { end: to_u32(self.at), ..place } }
    }

    fn map(&mut self) -> Value {
        let mut entries: Vec<(Key, Node)> = vec![];
        self.eat('{');
        while !self.eat('}') && self.at < self.text.len() {
            self.blanks();
            let place = self.here();
            let text = self.string();
            let key = Key { text, place: Place { end: to_u32(self.at), ..place } };
            self.eat(':');
            let node = self.node();
            self.eat(',');
            if let Some(known) = entries.iter_mut().find(|(known, _)| known.text == key.text) {
                let message = format!("the key `{}` is there twice; the second one counts", key.text);
                self.findings
                    .push(Finding::error("duplicate-key", key.place, message).help("remove one of them"));
                *known = (key, node);
            } else {
                entries.push((key, node));
            }
        }
        Value::Map(entries)
    }

    fn seq(&mut self) -> Value {
        let mut items = vec![];
        self.eat('[');
        while !self.eat(']') && self.at < self.text.len() {
            items.push(self.node());
            self.eat(',');
        }
        Value::Seq(items)
    }

    fn string(&mut self) -> String {
        let rest = self.rest();
        // Most strings hold no escape, and are what stands between the quotes.
        let plain = rest.strip_prefix('"').and_then(|inner| inner.split_once('"')).map(|(plain, _)| plain);
        if let Some(plain) = plain.filter(|plain| !plain.contains('\\')) {
            let text = plain.to_owned();
            self.at += text.len() + 2;
            return text;
        }
        let mut escaped = false;
        let end = rest.char_indices().skip(1).find(|(_, c)| {
            let ends = *c == '"' && !escaped;
            escaped = *c == '\\' && !escaped;
            ends
        });
        let length = end.map_or(rest.len(), |(at, _)| at + 1);
        let text =
            rest.get(..length).and_then(|quoted| serde_json::from_str(quoted).ok()).unwrap_or_default();
        self.at += length;
        text
    }

    fn word(&mut self) -> Value {
        let rest = self.rest();
        let length = rest.find([',', ']', '}', ' ', '\t', '\r', '\n']).unwrap_or(rest.len());
        let word = rest.get(..length).unwrap_or_default().to_owned();
        // At least one step, so that the walk always comes to an end.
        self.at += length.max(1);
        match word.as_str() {
            "null" | "" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            digits => match digits.parse::<i64>() {
                Ok(value) => Value::Int(value),
                Err(_) => Value::Float(Float { value: digits.parse().unwrap_or(f64::NAN), text: word }),
            },
        }
    }
}

fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The text with the value at a path replaced; a key that is not there is added at the end of its mapping. `None`
/// where the way to it leads through something that has no keys.
pub(super) fn set(text: &str, root: &Node, path: &[&str], value: &Json) -> Option<String> {
    let mut node = root;
    for (depth, key) in path.iter().enumerate() {
        let rest = path.get(depth + 1..).unwrap_or_default();
        let child = match &node.value {
            Value::Map(entries) => entries.iter().find(|(k, _)| k.text == *key).map(|(_, child)| child),
            Value::Seq(items) => Some(items.get(key.parse::<usize>().ok()?)?),
            Value::Null => return Some(replaced(text, node, &wrap(path.get(depth..)?, value))),
            _ => return None,
        };
        match child {
            Some(child) => node = child,
            None => return Some(inserted(text, node, Some(key), &wrap(rest, value))),
        }
    }
    Some(replaced(text, node, value))
}

/// The text with an entry added at the end of the list at a path.
pub(super) fn append(text: &str, list: &Node, value: &Json) -> String {
    inserted(text, list, None, value)
}

fn wrap(path: &[&str], value: &Json) -> Json {
    path.iter()
        .rev()
        .fold(value.clone(), |inner, key| Json::Object(std::iter::once(((*key).to_owned(), inner)).collect()))
}

fn splice(text: &str, start: usize, end: usize, new: &str) -> String {
    [text.get(..start).unwrap_or_default(), new, text.get(end..).unwrap_or_default()].concat()
}

fn replaced(text: &str, old: &Node, value: &Json) -> String {
    let (start, end) = (old.place.start as usize, old.place.end as usize);
    // What stood on one line stays on one line, as long as there was something on it.
    let spread = match &old.value {
        Value::Map(entries) if !entries.is_empty() => {
            text.get(start..end).is_some_and(|old| old.contains('\n'))
        }
        Value::Seq(items) if !items.is_empty() => text.get(start..end).is_some_and(|old| old.contains('\n')),
        _ => true,
    };
    splice(text, start, end, &written(text, value, &indentation(text, start), spread))
}

/// Adds an entry at the end of a mapping or list.
fn inserted(text: &str, collection: &Node, key: Option<&str>, value: &Json) -> String {
    let (start, end) = (collection.place.start as usize, collection.place.end as usize);
    let outer = indentation(text, start);
    let name = key.map(|key| format!("{}: ", Json::from(key))).unwrap_or_default();
    let last = match &collection.value {
        Value::Map(entries) => entries.last().map(|(key, node)| (key.place.start, node.place.end)),
        Value::Seq(items) => items.last().map(|node| (node.place.start, node.place.end)),
        _ => None,
    };
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    if let Some((first, after)) = last {
        let (first, after) = (first as usize, after as usize);
        let own_line =
            text.get(..first).is_some_and(|before| before.trim_end_matches([' ', '\t']).ends_with('\n'));
        if own_line {
            let indent = indentation(text, first);
            let entry = format!(",{newline}{indent}{name}{}", written(text, value, &indent, true));
            return splice(text, after, after, &entry);
        }
        return splice(text, after, after, &format!(", {name}{}", written(text, value, &outer, false)));
    }
    let (open, close) = if key.is_some() { ('{', '}') } else { ('[', ']') };
    if !text.trim_end().contains('\n') {
        return splice(text, start, end, &format!("{open}{name}{}{close}", written(text, value, "", false)));
    }
    let inner = format!("{outer}{}", unit(text));
    let entry = written(text, value, &inner, true);
    splice(text, start, end, &format!("{open}{newline}{inner}{name}{entry}{newline}{outer}{close}"))
}

/// The blanks at the head of a byte's line.
fn indentation(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rfind('\n').and_then(|at| text.get(at + 1..)).unwrap_or(text);
    line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect()
}

/// One step of indentation in this file.
fn unit(text: &str) -> String {
    let first = text.lines().skip(1).find(|line| line.starts_with([' ', '\t']));
    let blanks: String = first.unwrap_or("  ").chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
    if blanks.is_empty() { "  ".to_owned() } else { blanks }
}

/// A value in the style of its file, beginning where something indented by `indent` begins.
fn written(text: &str, value: &Json, indent: &str, spread: bool) -> String {
    let empty = match value {
        Json::Array(items) => items.is_empty(),
        Json::Object(map) => map.is_empty(),
        _ => true,
    };
    if empty || !spread || !text.trim_end().contains('\n') {
        return value.to_string();
    }
    let mut out = String::new();
    lines(value, indent, &unit(text), &mut out);
    if text.contains("\r\n") { out.replace('\n', "\r\n") } else { out }
}

fn lines(value: &Json, indent: &str, unit: &str, out: &mut String) {
    let inner = format!("{indent}{unit}");
    let open = |out: &mut String, first: bool| out.push_str(if first { "\n" } else { ",\n" });
    match value {
        Json::Object(map) if !map.is_empty() => {
            out.push('{');
            for (index, (key, value)) in map.iter().enumerate() {
                open(out, index == 0);
                out.push_str(&format!("{inner}{}: ", Json::from(key.as_str())));
                lines(value, &inner, unit, out);
            }
            out.push_str(&format!("\n{indent}}}"));
        }
        Json::Array(items) if !items.is_empty() => {
            out.push('[');
            for (index, value) in items.iter().enumerate() {
                open(out, index == 0);
                out.push_str(&inner);
                lines(value, &inner, unit, out);
            }
            out.push_str(&format!("\n{indent}]"));
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}
