//! Kinds of documents as values: how each is recognised and checked. Every dialect brings those that it reads.

use crate::check;
use crate::check::Surroundings;
use crate::doc;
use crate::doc::At;
use crate::doc::Limits;
use crate::doc::Node;
use crate::finding::Finding;
use crate::kind;
use crate::kind::Kind;
use crate::kind::Syntax;

/// A kind of document.
pub struct DocumentKind {
    /// The name that commands and reports use.
    pub name: &'static str,
    pub recognises: fn(&Look<'_>) -> bool,
    /// Whether the engine takes its orders or the state of work from such a file. It is stricter than recognising one: what
    /// an agent changes there is not merged unless its work names the file.
    pub steers: fn(&Look<'_>) -> bool,
    /// Returns everything that is wrong with a document, sorted by place.
    pub check: fn(name: &str, bytes: &[u8], around: &Surroundings) -> Vec<Finding>,
    /// Returns the paths of documents that it has to be checked together with.
    pub beside: fn(bytes: &[u8]) -> Vec<String>,
    /// Returns the conditions in it, which the engine compiles.
    pub conditions: fn(bytes: &[u8]) -> Conditions,
}

/// A file as it is looked at to find out what it is.
#[derive(Clone, Copy)]
pub struct Look<'a> {
    pub name: &'a str,
    pub text: &'a str,
    /// There when the text is YAML or JSON that could be read.
    pub tree: Option<&'a Node>,
}

/// Looks at a file by its name and content.
pub fn look_at<T>(name: &str, bytes: &[u8], look: impl FnOnce(&Look<'_>) -> T) -> T {
    let text = String::from_utf8_lossy(bytes);
    let tree = (Syntax::of_name(name) == Syntax::Yaml).then(|| doc::parse(bytes, &Limits::default()).0);
    look(&Look { name, text: &text, tree: tree.flatten().as_ref() })
}

/// Conditions of a document, and what they can speak of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions {
    pub variables: &'static [&'static str],
    pub texts: Vec<At<String>>,
}

/// A document without company.
pub fn nothing_beside(_bytes: &[u8]) -> Vec<String> {
    vec![]
}

/// A document without conditions.
pub fn no_conditions(_bytes: &[u8]) -> Conditions {
    Conditions::default()
}

/// Returns whether a file is of a kind that is built in.
pub fn is_kind(look: &Look<'_>, kind: Kind) -> bool {
    kind::detect(look.name, look.text, look.tree) == Some(kind)
}

/// Returns whether a file steers runs as a kind that is built in.
pub fn steers_as(look: &Look<'_>, kind: Kind) -> bool {
    kind::steers(kind, look.name, look.text, look.tree)
}

/// Makes the value of a kind that is built in.
#[macro_export]
macro_rules! document_kind {
    ($kind:expr) => {
        $crate::documents::DocumentKind {
            name: $kind.name(),
            recognises: |look| $crate::documents::is_kind(look, $kind),
            steers: |look| $crate::documents::steers_as(look, $kind),
            check: |name, bytes, around| $crate::check::file_in(name, bytes, Some($kind), around).findings,
            beside: $crate::documents::nothing_beside,
            conditions: $crate::documents::no_conditions,
        }
    };
}

/// The configuration belongs to no dialect.
pub static CONFIGURATION: DocumentKind = document_kind!(Kind::Config);

/// Returns what can be said about a file of which nobody knows what it is.
pub fn check_unknown(name: &str, bytes: &[u8]) -> Vec<Finding> {
    check::file(name, bytes, None).findings
}
