//! Literal values that are secrets, looked for by hand: an expression for them would take longer to make than a
//! short-lived process lives.

use std::ops::Range;

use super::json;

/// Shorter values are words of everyday texts more often than secrets.
const SECRET_LEN_MIN: usize = 8;

#[derive(Debug)]
pub(super) struct Literals {
    /// Each value, also in its JSON-escaped form. The longest come first, so that none leaves its tail behind.
    forms: Vec<String>,
    /// The bytes with which they begin.
    first: [bool; 256],
}

impl Literals {
    pub(super) fn new(secrets: &[String]) -> Literals {
        let long = |secret: &&str| secret.chars().count() >= SECRET_LEN_MIN;
        let mut forms: Vec<String> = secrets
            .iter()
            .map(|secret| secret.trim())
            .filter(long)
            .flat_map(|secret| [secret.to_owned(), json::escaped(secret)])
            .collect();
        forms.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
        forms.dedup();
        let mut first = [false; 256];
        for byte in forms.iter().filter_map(|form| form.bytes().next()) {
            first[usize::from(byte)] = true;
        }
        Literals { forms, first }
    }

    /// Where they are in a text, from its start to its end; none overlaps another.
    pub(super) fn find_in<'t>(&'t self, text: &'t [u8]) -> impl Iterator<Item = Range<usize>> + 't {
        let mut at = if self.forms.is_empty() { text.len() } else { 0 };
        std::iter::from_fn(move || {
            while let Some(skipped) = text[at..].iter().position(|byte| self.first[usize::from(*byte)]) {
                let start = at + skipped;
                let found = self.forms.iter().find(|form| text[start..].starts_with(form.as_bytes()));
                at = start + found.map_or(1, String::len);
                if found.is_some() {
                    return Some(start..at);
                }
            }
            at = text.len();
            None
        })
    }
}
