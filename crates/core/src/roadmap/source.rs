//! The texts of a roadmap's documents as trees: YAML, and JSON by its own rules.

use serde_json::Value as Json;

use crate::doc;
use crate::doc::Float;
use crate::doc::Key;
use crate::doc::Limits;
use crate::doc::Node;
use crate::doc::Value;
use crate::finding::Finding;
use crate::finding::Place;

/// How a text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    Json,
    Yaml,
}

/// A text that could be read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Source {
    pub(super) syntax: Syntax,
    pub(super) root: Node,
    /// False where the tree knows no places: JSON with escapes that YAML does not have.
    pub(super) placed: bool,
    /// About the syntax alone; with an error in it (a key twice) the tree is still there.
    pub(super) findings: Vec<Finding>,
}

/// Reads a text. What is broken is said in findings, and then there is no tree.
pub(super) fn read(path: &str, text: &str) -> Result<Source, Vec<Finding>> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let named_json = path.to_ascii_lowercase().ends_with(".json");
    if named_json || text.trim_start().starts_with('{') {
        match serde_json::from_str::<Json>(text) {
            Ok(value) => return Ok(of_json(text, &value)),
            Err(error) if named_json => return Err(vec![invalid_json(text, &error)]),
            Err(_) => {}
        }
    }
    match doc::parse(text.as_bytes(), &Limits::default()) {
        (Some(root), findings) => Ok(Source { syntax: Syntax::Yaml, root, placed: true, findings }),
        (None, findings) => Err(findings),
    }
}

/// JSON is nearly a part of YAML, so that its places can be had from there; where it is not, the content counts.
fn of_json(text: &str, value: &Json) -> Source {
    let (root, findings) = doc::parse(text.as_bytes(), &Limits::default());
    match root {
        Some(root) => Source { syntax: Syntax::Json, root, placed: true, findings },
        None => Source { syntax: Syntax::Json, root: node(value), placed: false, findings: vec![] },
    }
}

/// A value without places.
fn node(value: &Json) -> Node {
    let value = match value {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Value::Int(whole),
            None => {
                Value::Float(Float { value: number.as_f64().unwrap_or(f64::NAN), text: number.to_string() })
            }
        },
        Json::String(text) => Value::Str(text.clone()),
        Json::Array(items) => Value::Seq(items.iter().map(node).collect()),
        Json::Object(map) => {
            let key = |text: &String| Key { text: text.clone(), place: Place::TOP };
            Value::Map(map.iter().map(|(name, value)| (key(name), node(value))).collect())
        }
    };
    Node { value, place: Place::TOP }
}

fn invalid_json(text: &str, error: &serde_json::Error) -> Finding {
    let line = error.line().max(1);
    let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let byte = number(start + error.column().saturating_sub(1));
    let place = Place { line: number(line), column: number(error.column().max(1)), start: byte, end: byte };
    Finding::error("json", place, format!("this is not JSON: {error}"))
}

/// The first of several keys that has a value.
pub(super) fn first<'n>(node: &'n Node, keys: &[&str]) -> Option<&'n Node> {
    keys.iter().find_map(|key| node.get(key).filter(|node| !node.is_null()))
}

/// The text under the first of several keys.
pub(super) fn first_text(node: &Node, keys: &[&str]) -> Option<String> {
    first(node, keys).and_then(Node::scalar_text).map(|text| text.trim().to_owned()).filter(|t| !t.is_empty())
}

/// The texts of a list, or a single text.
pub(super) fn texts(node: Option<&Node>) -> Vec<String> {
    let Some(node) = node.filter(|node| !node.is_null()) else { return vec![] };
    node.as_seq().unwrap_or(std::slice::from_ref(node)).iter().filter_map(Node::scalar_text).collect()
}

/// A value as lines of text.
pub(super) fn in_words(value: &Json) -> String {
    let bullet = |text: String| format!("- {}", text.trim().replace('\n', "\n  "));
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.trim_end().to_owned(),
        Json::Array(items) => items.iter().map(|item| bullet(in_words(item))).collect::<Vec<_>>().join("\n"),
        Json::Object(map) => {
            let line = |(key, value): (&String, &Json)| {
                let nested = matches!(value, Json::Array(items) if !items.is_empty())
                    || matches!(value, Json::Object(map) if !map.is_empty());
                let gap = if nested { "\n" } else { " " };
                bullet(format!("{key}:{gap}{}", in_words(value)))
            };
            map.iter().map(line).collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    }
}
