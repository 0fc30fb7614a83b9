//! Credentials that a change brings in (CY-61, CY-64). What is found is told by its place and kind and never by
//! itself.

#[cfg(test)]
mod tests;
mod value;

use std::fmt;

use regex::Regex;

use crate::diff;
use crate::diff::DiffLine;
use crate::diff::Side;
use crate::redact::known_shapes;

/// A comment on the line says that a person looked at it.
pub const ALLOW: &str = "seriatim:allow-secret";

/// A credential that was brought in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leak {
    pub file: String,
    /// In the new file.
    pub line: u32,
    /// The shape of the token (`github-token`), or the name that a secret was assigned to.
    pub kind: Kind,
}

/// What a leak was recognised by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A token of a known shape.
    Token(String),
    /// A value that looks random, under a name that says it is a secret.
    Assigned(String),
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Token(shape) => f.write_str(shape),
            Kind::Assigned(name) => write!(f, "value of `{name}`"),
        }
    }
}

impl fmt::Display for Leak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} holds what looks like a secret ({})", self.file, self.line, self.kind)
    }
}

/// The credentials in the added lines of a unified diff. `allow` holds regular expressions for lines that are fine;
/// one that is not valid allows nothing.
pub fn find(diff: &str, allow: &[String]) -> Vec<Leak> {
    let allowed: Vec<Regex> = allow.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect();
    let fine = |line: &DiffLine<'_>| {
        line.text.contains(ALLOW) || allowed.iter().any(|pattern| pattern.is_match(line.text))
    };
    added(diff).iter().filter(|line| !fine(line)).flat_map(leaks_of).collect()
}

/// Credentials that pass because of a comment on their line, for a person to see: the comment came with the change.
pub fn waived(diff: &str) -> Vec<Leak> {
    added(diff).iter().filter(|line| line.text.contains(ALLOW)).flat_map(leaks_of).collect()
}

fn added(diff: &str) -> Vec<DiffLine<'_>> {
    diff::lines(diff).into_iter().filter(|line| line.side == Side::Added).collect()
}

fn leaks_of(line: &DiffLine<'_>) -> Vec<Leak> {
    let leak = |kind| Leak { file: line.file.to_owned(), line: line.line, kind };
    let mut leaks: Vec<Leak> = known_shapes(line.text)
        .into_iter()
        .filter(|shape| !value::is_placeholder(&line.text[shape.range.clone()]))
        .map(|shape| leak(Kind::Token(shape.kind)))
        .collect();
    if leaks.is_empty() {
        leaks.extend(value::secret_names(line.text).into_iter().map(|name| leak(Kind::Assigned(name))));
    }
    leaks
}
