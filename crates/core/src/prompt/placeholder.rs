//! Placeholders: `{name}` and `{name.part}`; `{{name}}` is a text with braces.

use std::collections::BTreeSet;

use super::library::Library;
use super::render::COMPUTED;

/// A part of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    Text(&'t str),
    Placeholder(&'t str),
    /// The name inside doubled braces, which stays a name in single ones.
    Escaped(&'t str),
}

/// Cuts a text into its pieces, from left to right.
pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found = vec![];
    let mut rest = text;
    let mut from = 0;
    while let Some(open) = rest.get(from..).and_then(|ahead| ahead.find('{')).map(|at| from + at) {
        let Some((piece, length)) = rest.get(open..).and_then(braced) else {
            from = open + 1;
            continue;
        };
        if open > 0 {
            found.extend(rest.get(..open).map(Piece::Text));
        }
        found.push(piece);
        rest = rest.get(open + length..).unwrap_or_default();
        from = 0;
    }
    if !rest.is_empty() {
        found.push(Piece::Text(rest));
    }
    found
}

/// The placeholder at the start of a text, and how long it is.
fn braced(text: &str) -> Option<(Piece<'_>, usize)> {
    let closed = |inner: &'_ str, sign: &str| {
        let name = name(inner)?.len();
        inner.get(name..)?.starts_with(sign).then_some(name)
    };
    if let Some(inner) = text.strip_prefix("{{")
        && let Some(length) = closed(inner, "}}")
    {
        return Some((Piece::Escaped(inner.get(..length)?), length + 4));
    }
    let inner = text.strip_prefix('{')?;
    let length = closed(inner, "}")?;
    Some((Piece::Placeholder(inner.get(..length)?), length + 2))
}

/// The name at the start of a text: words of letters, digits and underscores, with points between them.
fn name(text: &str) -> Option<&str> {
    let length =
        text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.')).unwrap_or(text.len());
    let name = text.get(..length)?;
    let is_word = |word: &str| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    name.split('.').all(is_word).then_some(name)
}

/// The names of the placeholders in a text.
pub(super) fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    pieces(text).into_iter().filter_map(|piece| match piece {
        Piece::Placeholder(name) => Some(name),
        Piece::Text(_) | Piece::Escaped(_) => None,
    })
}

impl Library {
    /// Every placeholder that a template of this library has; one of them in a prompt was never filled.
    pub fn placeholders(&self) -> BTreeSet<String> {
        let mut known: BTreeSet<String> = COMPUTED.iter().map(|name| (*name).to_owned()).collect();
        for template in self.templates() {
            let texts = template.parts.iter().map(|part| &part.text).chain([&template.head]);
            known.extend(texts.flat_map(|text| placeholders(text)).map(str::to_owned));
        }
        known
    }
}
