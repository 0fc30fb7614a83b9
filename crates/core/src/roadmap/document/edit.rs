//! Edits of a state file, each proved: the new text is read again and must hold the change and nothing else.

use serde_json::Value as Json;

use super::Syntax;
use super::json;
use crate::doc;
use crate::doc::Limits;
use crate::doc::Node;
use crate::doc::edit;
use crate::doc::edit::EditError;

/// A text under way from what it was to what it shall be.
pub(super) struct Draft {
    pub(super) syntax: Syntax,
    pub(super) text: String,
}

impl Draft {
    pub(super) fn tree(&self) -> Option<Node> {
        match self.syntax {
            Syntax::Json => json::tree(&self.text).ok().map(|(root, _)| root),
            Syntax::Yaml => {
                doc::read(self.text.as_bytes(), &Limits::default()).ok().map(|document| document.root)
            }
        }
    }

    /// Sets the value at a path.
    pub(super) fn set(&mut self, path: &[String], value: &Json) -> Result<(), EditError> {
        let keys: Vec<&str> = path.iter().map(String::as_str).collect();
        self.text = match self.syntax {
            Syntax::Yaml => edit::set(&self.text, &keys, value)?,
            Syntax::Json => {
                let entangled = || EditError::Entangled { path: path.join(".") };
                let root = self.tree().ok_or_else(entangled)?;
                let edited = json::set(&self.text, &root, &keys, value).ok_or_else(entangled)?;
                let mut expected = root.to_json();
                put(&mut expected, &keys, value);
                proved(edited, self.syntax, &expected).ok_or_else(entangled)?
            }
        };
        Ok(())
    }

    /// Adds an entry at the end of a list, which may not be there yet.
    pub(super) fn append(&mut self, path: &[String], value: &Json) -> Result<(), EditError> {
        let keys: Vec<&str> = path.iter().map(String::as_str).collect();
        let root = self.tree().ok_or_else(|| EditError::Entangled { path: path.join(".") })?;
        let list = root.at_path(&keys);
        let entries = list.and_then(Node::as_seq).unwrap_or_default();
        let whole: Vec<Json> =
            entries.iter().map(Node::to_json).chain(std::iter::once(value.clone())).collect();
        if let Some(list) = list
            && !entries.is_empty()
        {
            let mut expected = root.to_json();
            put(&mut expected, &keys, &Json::from(whole.clone()));
            let edited = match self.syntax {
                Syntax::Json => Some(json::append(&self.text, list, value)),
                Syntax::Yaml => below(&self.text, list, value),
            };
            if let Some(text) = edited.and_then(|text| proved(text, self.syntax, &expected)) {
                self.text = text;
                return Ok(());
            }
        }
        self.set(path, &Json::from(whole))
    }

    /// Takes an entry out of a list.
    pub(super) fn remove(&mut self, path: &[String], at: usize) -> Result<(), EditError> {
        let keys: Vec<&str> = path.iter().map(String::as_str).collect();
        let root = self.tree().ok_or_else(|| EditError::Entangled { path: path.join(".") })?;
        let entries = root.at_path(&keys).and_then(Node::as_seq).unwrap_or_default();
        let kept = entries.iter().enumerate().filter(|(index, _)| *index != at);
        let rest = Json::from(kept.map(|(_, entry)| entry.to_json()).collect::<Vec<_>>());
        if self.syntax == Syntax::Yaml
            && entries.len() > 1
            && let Some(entry) = entries.get(at)
        {
            let mut expected = root.to_json();
            put(&mut expected, &keys, &rest);
            let edited = without(&self.text, entry, entries.get(at + 1));
            if let Some(text) = edited.and_then(|text| proved(text, self.syntax, &expected)) {
                self.text = text;
                return Ok(());
            }
        }
        self.set(path, &rest)
    }
}

/// Walks down keys and list positions.
pub(super) trait AtPath {
    fn at_path(&self, path: &[&str]) -> Option<&Node>;
}

impl AtPath for Node {
    fn at_path(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| match node.as_seq() {
            Some(items) => items.get(key.parse::<usize>().ok()?),
            None => node.get(key),
        })
    }
}

/// One more entry on lines of its own below a YAML list.
fn below(text: &str, list: &Node, value: &Json) -> Option<String> {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let indent = " ".repeat((list.place.column as usize).saturating_sub(1));
    let end = list.place.end as usize;
    let after = text.get(end..)?.find('\n').map_or(text.len(), |at| end + at + 1);
    let mut entry = String::new();
    for (index, line) in doc::write(value).lines().enumerate() {
        let head = if index == 0 { "- " } else { "  " };
        let blank = index > 0 && line.is_empty();
        entry.push_str(&if blank { String::new() } else { format!("{indent}{head}{line}") });
        entry.push_str(newline);
    }
    let before = text.get(..after)?;
    let lead = if before.ends_with('\n') { "" } else { newline };
    Some([before, lead, &entry, text.get(after..)?].concat())
}

/// The text without the lines of an entry of a block list.
fn without(text: &str, entry: &Node, next: Option<&Node>) -> Option<String> {
    let line_of = |node: &Node| {
        let before = text.get(..node.place.start as usize)?;
        Some(before.rfind('\n').map_or(0, |at| at + 1))
    };
    let end = entry.place.end as usize;
    let after = match next {
        Some(next) => line_of(next)?,
        None => text.get(end..)?.find('\n').map_or(text.len(), |at| end + at + 1),
    };
    Some([text.get(..line_of(entry)?)?, text.get(after..)?].concat())
}

/// The edited text, if it holds what it shall hold.
fn proved(text: String, syntax: Syntax, expected: &Json) -> Option<String> {
    let draft = Draft { syntax, text };
    let holds = draft.tree().is_some_and(|root| root.to_json() == *expected);
    holds.then_some(draft.text)
}

/// The same change on plain data.
fn put(target: &mut Json, path: &[&str], value: &Json) {
    let Some((key, rest)) = path.split_first() else {
        *target = value.clone();
        return;
    };
    if target.is_null() {
        *target = Json::Object(serde_json::Map::new());
    }
    match target {
        Json::Object(map) => put(map.entry((*key).to_owned()).or_insert(Json::Null), rest, value),
        Json::Array(items) => {
            if let Some(item) = key.parse::<usize>().ok().and_then(|index| items.get_mut(index)) {
                put(item, rest, value);
            }
        }
        _ => {}
    }
}
