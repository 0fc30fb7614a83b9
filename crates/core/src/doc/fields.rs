//! The typed layer over the tree: ask for fields, and everything that is wrong with them is collected.

use std::cell::RefCell;
use std::fmt;
use std::ops::Deref;

use super::Key;
use super::Node;
use super::Value;
use crate::closest::closest;
use crate::finding::Finding;
use crate::finding::Place;
use crate::finding::Severity;

/// A value and where it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At<T> {
    pub value: T,
    pub place: Place,
}

impl<T> At<T> {
    pub fn new(value: T, place: Place) -> At<T> {
        At { value, place }
    }
}

impl<T> Deref for At<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: fmt::Display> fmt::Display for At<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

/// Collects findings while several readers are at work on one document.
#[derive(Debug, Default)]
pub struct Sink(RefCell<Vec<Finding>>);

impl Sink {
    pub fn push(&self, finding: Finding) {
        self.0.borrow_mut().push(finding);
    }

    pub fn into_findings(self) -> Vec<Finding> {
        self.0.into_inner()
    }
}

/// A closed set of words that a field may hold.
pub trait Vocabulary: Copy + 'static {
    /// What one of them is called: "a pattern".
    const WHAT: &'static str;
    /// The words as they are written, the preferred spelling of each first.
    const WORDS: &'static [(&'static str, Self)];
}

/// The fields of one mapping. Those that nobody asks for are unknown, and `finish` says so.
#[derive(Debug)]
pub struct Fields<'n> {
    what: &'static str,
    place: Place,
    entries: &'n [(Key, Node)],
    asked: Vec<&'static str>,
    sink: &'n Sink,
}

impl<'n> Fields<'n> {
    /// The fields of `node`, which is `what` ("a step"); anything but a mapping is a finding.
    pub fn of(node: &'n Node, what: &'static str, sink: &'n Sink) -> Option<Fields<'n>> {
        if let Value::Map(entries) = &node.value {
            return Some(Fields { what, place: node.place, entries, asked: vec![], sink });
        }
        let message = format!("{what} must be a mapping, but this is {}", node.in_words());
        sink.push(
            Finding::error("type", node.place, message).help("write it as lines of the form `key: value`"),
        );
        None
    }

    pub fn place(&self) -> Place {
        self.place
    }

    pub fn sink(&self) -> &'n Sink {
        self.sink
    }

    /// The key and value of a field, also where the value is null.
    pub fn entry(&mut self, name: &'static str) -> Option<(&'n Key, &'n Node)> {
        self.asked.push(name);
        self.entries.iter().find(|(key, _)| key.text == name).map(|(key, node)| (key, node))
    }

    /// The value of a field; null is the same as absent.
    pub fn node(&mut self, name: &'static str) -> Option<&'n Node> {
        self.entry(name).map(|(_, node)| node).filter(|node| !node.is_null())
    }

    /// The value of a field that has to be there.
    pub fn required(&mut self, name: &'static str) -> Option<&'n Node> {
        let node = self.node(name);
        if node.is_none() {
            self.missing(name);
        }
        node
    }

    /// Reports a field as missing, at the place of the mapping that lacks it.
    pub fn missing(&self, name: &str) {
        let message = format!("{} needs the field `{name}`", self.what);
        let place =
            self.entries.iter().find(|(key, _)| key.text == name).map_or(self.place, |(key, _)| key.place);
        self.sink.push(Finding::error("missing-field", place, message).help(format!("add `{name}:` here")));
    }

    /// A scalar as text; numbers count as the text they were written with.
    pub fn text(&mut self, name: &'static str) -> Option<At<String>> {
        let node = self.node(name)?;
        let text = node.scalar_text();
        if text.is_none() {
            self.wrong_type(name, "a text", node);
        }
        text.map(|text| At::new(text, node.place))
    }

    /// A text that has to be there and not be blank. What cannot be read is reported and stands as empty.
    pub fn required_text(&mut self, name: &'static str) -> At<String> {
        if self.required(name).is_none() {
            return At::new(String::new(), self.place);
        }
        let text = self.text(name).unwrap_or_else(|| At::new(String::new(), self.place));
        if text.trim().is_empty() && text.place != self.place {
            let message = format!("the field `{name}` of {} is empty", self.what);
            self.sink.push(Finding::error("missing-field", text.place, message));
        }
        text
    }

    /// A truth value. Words and quotes that other readers take for one are understood with a warning.
    pub fn flag(&mut self, name: &'static str) -> Option<At<bool>> {
        let node = self.node(name)?;
        let drifted = node.as_str().and_then(|text| match text.to_lowercase().as_str() {
            "true" | "yes" | "on" => Some(true),
            "false" | "no" | "off" => Some(false),
            _ => None,
        });
        let flag = node.as_bool().or_else(|| self.read_as(node, drifted));
        if flag.is_none() {
            self.wrong_type(name, "`true` or `false`", node);
        }
        flag.map(|flag| At::new(flag, node.place))
    }

    /// A whole number that is not negative. One in quotes is understood with a warning.
    pub fn count(&mut self, name: &'static str) -> Option<At<u32>> {
        let node = self.node(name)?;
        let drifted = node.as_str().and_then(|text| text.trim().parse::<u32>().ok());
        let count = node.as_int().and_then(|n| u32::try_from(n).ok()).or_else(|| self.read_as(node, drifted));
        if count.is_none() {
            self.wrong_type(name, "a whole number from 0 on", node);
        }
        count.map(|count| At::new(count, node.place))
    }

    /// Says what a drifted value was taken for.
    fn read_as<T: fmt::Display>(&self, node: &Node, meant: Option<T>) -> Option<T> {
        let meant = meant?;
        let message = format!("{} is read as `{meant}`", node.in_words());
        self.sink.push(
            Finding::warning("type", node.place, message).help(format!("write {meant} without quotes")),
        );
        Some(meant)
    }

    /// One word of a closed set. Another case or separator is understood with a warning; an unknown word is
    /// a finding of the given severity.
    pub fn word<V: Vocabulary>(&mut self, name: &'static str, severity: Severity) -> Option<At<V>> {
        let given = self.text(name)?;
        if let Some((_, value)) = V::WORDS.iter().find(|(word, _)| *word == *given) {
            return Some(At::new(*value, given.place));
        }
        let plain = |s: &str| s.trim().to_lowercase().replace([' ', '_'], "-");
        if let Some((word, value)) = V::WORDS.iter().find(|(word, _)| plain(word) == plain(&given)) {
            let message = format!("`{given}` is read as `{word}`");
            self.sink.push(
                Finding::warning("unknown-value", given.place, message).help(format!("write `{word}`")),
            );
            return Some(At::new(*value, given.place));
        }
        let mut words: Vec<&str> = V::WORDS.iter().map(|(word, _)| *word).collect();
        words.dedup();
        let help = match closest(&given, words.iter().copied()) {
            Some(word) => format!("did you mean `{word}`?"),
            None => {
                format!("known are {}", words.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", "))
            }
        };
        let message = format!("`{given}` is not {}", V::WHAT);
        let finding = Finding { severity, ..Finding::error("unknown-value", given.place, message) };
        self.sink.push(finding.help(help));
        None
    }

    /// A word that has to be there. What cannot be read is an error and stands as `fallback`.
    pub fn required_word<V: Vocabulary>(&mut self, name: &'static str, fallback: V) -> At<V> {
        let place = match self.required(name) {
            Some(node) => node.place,
            None => return At::new(fallback, self.place),
        };
        self.word(name, Severity::Error).unwrap_or_else(|| At::new(fallback, place))
    }

    /// The entries of a list; absent is empty.
    pub fn list(&mut self, name: &'static str) -> &'n [Node] {
        let Some(node) = self.node(name) else { return &[] };
        node.as_seq().unwrap_or_else(|| {
            self.wrong_type(name, "a list", node);
            &[]
        })
    }

    /// Texts that are written as one text or as a list of texts.
    pub fn lines(&mut self, name: &'static str) -> Vec<At<String>> {
        let Some(node) = self.node(name) else { return vec![] };
        let items = node.as_seq().unwrap_or(std::slice::from_ref(node));
        let mut lines = vec![];
        for item in items {
            match item.scalar_text() {
                Some(text) => lines.push(At::new(text, item.place)),
                None => self.wrong_type(name, "a text or a list of texts", item),
            }
        }
        lines
    }

    /// The fields of a mapping inside this one.
    pub fn map(&mut self, name: &'static str, what: &'static str) -> Option<Fields<'n>> {
        let node = self.node(name)?;
        Fields::of(node, what, self.sink)
    }

    /// Whatever is there, as JSON.
    pub fn json(&mut self, name: &'static str) -> Option<serde_json::Value> {
        self.node(name).map(Node::to_json)
    }

    /// Declares fields as known that are not needed here.
    pub fn ignore(&mut self, names: &[&'static str]) {
        self.asked.extend(names);
    }

    pub fn wrong_type(&self, name: &str, expected: &str, found: &Node) {
        let message =
            format!("`{name}` of {} must be {expected}, but this is {}", self.what, found.in_words());
        self.sink.push(Finding::error("type", found.place, message));
    }

    /// Warns about fields that nobody asked for, with the closest of those that were and are not there.
    pub fn finish(self) {
        let present = |name: &&&str| self.entries.iter().any(|(key, _)| key.text == **name);
        let absent: Vec<&str> = self.asked.iter().filter(|name| !present(name)).copied().collect();
        for (key, _) in self.entries.iter().filter(|(key, _)| !self.asked.contains(&key.text.as_str())) {
            let message = format!("unknown field `{}` in {}", key.text, self.what);
            let finding = Finding::warning("unknown-field", key.place, message);
            self.sink.push(match closest(&key.text, absent.iter().copied()) {
                Some(name) => finding.help(format!("did you mean `{name}`?")),
                None => finding,
            });
        }
    }
}
