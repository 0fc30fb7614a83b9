//! Documents: YAML (and so JSON) as a tree in which every key and every value knows its place.
//!
//! Reading never stops at the first matter of meaning: duplicate keys, ignored tags and the like are
//! collected. Only broken syntax ends it, as one finding in plain words.

mod build;
pub mod edit;
mod fields;
mod front;
mod scalar;
mod syntax;
mod text;
mod write;

pub use fields::At;
pub use fields::Fields;
pub use fields::Sink;
pub use fields::Vocabulary;
pub use front::front_matter;
pub use front::unclosed_front_matter;
pub use text::Source;
pub use text::decode;
pub use write::write;

use crate::finding::Finding;
use crate::finding::Place;
use crate::finding::Severity;
use crate::hash::Hash;

/// What a document may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest file that is read at all.
    pub bytes: usize,
    /// How deep collections may be nested.
    pub depth: usize,
    /// How many nodes all aliases together may expand to.
    pub expanded_nodes: usize,
    /// How many bytes of text all aliases together may expand to.
    pub expanded_bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { bytes: 16 << 20, depth: 100, expanded_nodes: 100_000, expanded_bytes: 16 << 20 }
    }
}

/// A value and where it stands. A value that came through an alias has the place of the alias; what is
/// inside it keeps the place where it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub value: Value,
    pub place: Place,
}

/// The YAML 1.2 core schema: `no` is a string, `0o17` is a number.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    /// Also integers that do not fit 64 bits with a sign.
    Float(Float),
    Str(String),
    Seq(Vec<Node>),
    /// In document order; keys are unique.
    Map(Vec<(Key, Node)>),
}

/// A floating-point number with the digits as they were written, for those who need them exactly.
#[derive(Clone, Debug, PartialEq)]
pub struct Float {
    pub value: f64,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub text: String,
    pub place: Place,
}

/// A file that could be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    pub root: Node,
    /// Warnings; a document with errors is not handed out by [`read`].
    pub findings: Vec<Finding>,
}

/// Reads a document, or says everything that keeps it from being one.
pub fn read(bytes: &[u8], limits: &Limits) -> Result<Document, Vec<Finding>> {
    match parse(bytes, limits) {
        (Some(root), findings) if !crate::finding::has_errors(&findings) => Ok(Document { root, findings }),
        (_, findings) => Err(findings),
    }
}

/// Reads as much as can be read: the tree is there unless the syntax is broken, and the findings may hold
/// errors (a duplicate key keeps its first value).
pub fn parse(bytes: &[u8], limits: &Limits) -> (Option<Node>, Vec<Finding>) {
    match decode(bytes, limits) {
        Ok(source) => build::parse(&source, limits),
        Err(finding) => (None, vec![finding]),
    }
}

impl Node {
    /// The value of a key, where this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Value::Map(entries) => entries.iter().find(|(k, _)| k.text == key).map(|(_, node)| node),
            _ => None,
        }
    }

    /// The value at a path of keys.
    pub fn at(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    pub fn is_null(&self) -> bool {
        self.value == Value::Null
    }

    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self.value {
            Value::Bool(value) => Some(value),
            _ => None,
        }
    }

    pub fn as_int(&self) -> Option<i64> {
        match self.value {
            Value::Int(value) => Some(value),
            _ => None,
        }
    }

    pub fn as_seq(&self) -> Option<&[Node]> {
        match &self.value {
            Value::Seq(items) => Some(items),
            _ => None,
        }
    }

    pub fn as_map(&self) -> Option<&[(Key, Node)]> {
        match &self.value {
            Value::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// A scalar as text: `1.10` written without quotes is still `1.10`. Null and collections have none.
    pub fn scalar_text(&self) -> Option<String> {
        match &self.value {
            Value::Str(text) => Some(text.clone()),
            Value::Bool(value) => Some(value.to_string()),
            Value::Int(value) => Some(value.to_string()),
            Value::Float(float) => Some(float.text.clone()),
            Value::Null | Value::Seq(_) | Value::Map(_) => None,
        }
    }

    /// What it is, in words, for messages that say what was found.
    pub fn in_words(&self) -> String {
        match &self.value {
            Value::Null => "nothing".to_owned(),
            Value::Bool(value) => format!("`{value}`"),
            Value::Int(value) => format!("the number {value}"),
            Value::Float(float) => format!("the number {}", float.text),
            Value::Str(text) if text.chars().count() <= 40 && !text.contains('\n') => {
                format!("the text `{text}`")
            }
            Value::Str(_) => "a text".to_owned(),
            Value::Seq(_) => "a list".to_owned(),
            Value::Map(_) => "a mapping".to_owned(),
        }
    }

    /// The same content as JSON. Infinities and NaN, which JSON lacks, become their text.
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match &self.value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Int(value) => Json::from(*value),
            Value::Float(float) => float.to_json(),
            Value::Str(text) => Json::String(text.clone()),
            Value::Seq(items) => Json::Array(items.iter().map(Node::to_json).collect()),
            Value::Map(entries) => {
                Json::Object(entries.iter().map(|(key, node)| (key.text.clone(), node.to_json())).collect())
            }
        }
    }

    /// The digest of the content: comments, white space, quoting and line breaks of the file do not matter,
    /// the order of keys does.
    pub fn digest(&self) -> Hash {
        Hash::of(self.to_json().to_string().as_bytes())
    }
}

impl Float {
    fn to_json(&self) -> serde_json::Value {
        if let Ok(whole) = self.text.trim_start_matches('+').parse::<u64>() {
            return serde_json::Value::from(whole);
        }
        serde_json::Number::from_f64(self.value)
            .map_or_else(|| serde_json::Value::String(self.text.clone()), serde_json::Value::Number)
    }
}

/// Sorts findings as they are shown: by place, and at one place errors first.
pub fn sort(findings: &mut [Finding]) {
    let rank = |severity: Severity| match severity {
        Severity::Error => 0,
        Severity::Warning => 1,
        Severity::Note => 2,
    };
    findings.sort_by_key(|f| (f.place.line, f.place.column, rank(f.severity)));
}
