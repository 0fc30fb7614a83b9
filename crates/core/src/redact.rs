//! Secrets are taken out of a text before it is stored, logged or shown.
//!
//! Three sources say what a secret is: shapes of tokens that everybody knows, patterns from the configuration,
//! and literal values (those of environment variables whose names say so). What is found is replaced by
//! `[redacted:...]`, which holds nothing that JSON would have to escape: valid JSON stays valid JSON.

mod json;
mod literals;
mod shapes;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use std::sync::LazyLock;

use regex::bytes::Regex;

use literals::Literals;

/// A pattern that matches its own replacement's surroundings could go on for ever; each pass needs a new match.
const PASSES_MAX: usize = 8;

/// A pattern of the configuration that is not a regular expression.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the redaction pattern `{pattern}` is not a valid regular expression: {source}")]
pub struct BadPattern {
    pub pattern: String,
    pub source: regex::Error,
}

/// Takes secrets out of texts. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Redactor {
    rules: Arc<Rules>,
}

#[derive(Debug)]
struct Rules {
    shapes: shapes::Shapes,
    secrets: Literals,
    patterns: Vec<Regex>,
}

/// A part of a text that has to go, and the name it leaves behind.
struct Hit<'a> {
    range: Range<usize>,
    label: &'a str,
}

/// Where a token of a known shape is, and which one it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownShape {
    /// `github-token`, `private-key` ...
    pub kind: String,
    /// The bytes of the text that it takes up.
    pub range: Range<usize>,
}

/// The tokens in `text` whose shapes everybody knows.
pub fn known_shapes(text: &str) -> Vec<KnownShape> {
    static SHAPES: LazyLock<shapes::Shapes> = LazyLock::new(shapes::Shapes::new);
    let hits = SHAPES.hits(text.as_bytes()).into_iter();
    hits.map(|hit| KnownShape { kind: hit.label.to_owned(), range: hit.range }).collect()
}

/// Whether the name of an environment variable says that its value is a secret.
pub fn names_a_secret(variable: &str) -> bool {
    let begins = |rest: &[u8], word: &str| {
        rest.get(..word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word.as_bytes()))
    };
    // Every process looks at all of its variables, so each place is looked at once.
    let says = |rest: &[u8]| match rest.first() {
        Some(b'S' | b's') => begins(rest, "SECRET"),
        Some(b'T' | b't') => begins(rest, "TOKEN"),
        Some(b'P' | b'p') => begins(rest, "PASSWORD") || begins(rest, "PASSWD"),
        _ => false,
    };
    let ends = |segment: &str, word: &str| {
        let end = segment.len().checked_sub(word.len()).and_then(|at| segment.as_bytes().get(at..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(word.as_bytes()))
    };
    let name = variable.as_bytes();
    (0..name.len()).any(|at| name.get(at..).is_some_and(says))
        || variable.split('_').any(|segment| ends(segment, "KEY") || ends(segment, "KEYS"))
}

impl Redactor {
    /// Knows the common shapes, the given `patterns`, and the given literal `secrets` of eight characters or more.
    pub fn new(patterns: &[String], secrets: &[String]) -> Result<Redactor, BadPattern> {
        let rules = Rules {
            shapes: shapes::Shapes::new(),
            secrets: Literals::new(secrets),
            patterns: patterns.iter().map(|pattern| expression(pattern)).collect::<Result<_, _>>()?,
        };
        Ok(Redactor { rules: Arc::new(rules) })
    }

    /// `text` without its secrets.
    pub fn clean<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.rules.clean_text(text.as_bytes()) {
            None => Cow::Borrowed(text),
            // Only a pattern that switched Unicode off can cut a character in two.
            Some(bytes) => Cow::Owned(
                String::from_utf8(bytes)
                    .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
            ),
        }
    }

    /// `bytes` without their secrets. In valid JSON only the contents of strings and numbers change.
    pub fn clean_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let rules = &*self.rules;
        if !rules.may_hide_something(bytes) {
            return Cow::Borrowed(bytes);
        }
        // Shapes look at keys and values together (`"aws_secret_access_key": "..."`), hence before strings are
        // taken apart. None of them reaches beyond a string.
        let shaped = rules.rewrite(bytes, &|text| rules.shapes.hits(text));
        let seen = shaped.as_deref().unwrap_or(bytes);
        let cleaned = if json::is_json(seen) {
            json::clean_strings(
                seen,
                |text| rules.clean_text(text.as_bytes()),
                |number| rules.is_secret(number),
            )
        } else {
            rules.clean_text(seen)
        };
        match cleaned.or(shaped) {
            Some(changed) => Cow::Owned(changed),
            None => Cow::Borrowed(bytes),
        }
    }
}

impl Rules {
    /// The question that every stored body is asked; almost all are let through here.
    fn may_hide_something(&self, bytes: &[u8]) -> bool {
        // A pattern may be anchored to the start of a string, which only the long way finds.
        !self.patterns.is_empty()
            || self.shapes.may_match(bytes)
            || self.secrets.find_in(bytes).next().is_some()
            || json::has_disguise(bytes)
    }

    fn is_secret(&self, number: &[u8]) -> bool {
        self.secrets.find_in(number).next().is_some()
            || self.patterns.iter().any(|pattern| pattern.find(number).is_some_and(|found| !found.is_empty()))
    }

    /// The cleaned text, or nothing when it is clean already.
    fn clean_text(&self, text: &[u8]) -> Option<Vec<u8>> {
        self.rewrite(text, &|text| {
            let secret = |range| Hit { range: json::whole_escapes(text, range), label: "secret" };
            let mut hits: Vec<Hit<'_>> = self.secrets.find_in(text).map(secret).collect();
            hits.extend(self.shapes.hits(text));
            for pattern in &self.patterns {
                hits.extend(
                    pattern
                        .find_iter(text)
                        .filter(|found| !found.is_empty())
                        .map(|found| Hit { range: found.range(), label: "pattern" }),
                );
            }
            hits
        })
    }

    /// Replaces what `find` finds until it finds nothing more, so that cleaning twice is cleaning once.
    fn rewrite<'r>(&self, text: &[u8], find: &dyn Fn(&[u8]) -> Vec<Hit<'r>>) -> Option<Vec<u8>> {
        let mut current: Option<Vec<u8>> = None;
        for _ in 0..PASSES_MAX {
            let seen = current.as_deref().unwrap_or(text);
            let hits = find(seen);
            if hits.is_empty() {
                break;
            }
            match replace(seen, hits, &marks(seen)) {
                Some(next) => current = Some(next),
                None => break,
            }
        }
        current
    }
}

fn expression(pattern: &str) -> Result<Regex, BadPattern> {
    Regex::new(pattern).map_err(|source| BadPattern { pattern: pattern.to_owned(), source })
}

/// Our own replacements in `text`, which are never touched again.
fn marks(text: &[u8]) -> Vec<Range<usize>> {
    const OPENING: &[u8] = b"[redacted:";
    let mut marks = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].windows(OPENING.len()).position(|window| window == OPENING) {
        let label = at + start + OPENING.len();
        let len = text[label..].iter().take_while(|byte| byte.is_ascii_lowercase() || **byte == b'-').count();
        at = label + len;
        if len > 0 && text.get(at) == Some(&b']') {
            at += 1;
            marks.push(label - OPENING.len()..at);
        }
    }
    marks
}

/// `text` with `hits` replaced outside of `marks`; nothing when no hit lies outside of them.
fn replace(text: &[u8], mut hits: Vec<Hit<'_>>, marks: &[Range<usize>]) -> Option<Vec<u8>> {
    hits.sort_by(|a, b| a.range.start.cmp(&b.range.start).then(b.range.end.cmp(&a.range.end)));
    let mut out = Vec::with_capacity(text.len() + 32);
    let mut done = 0;
    let mut changed = false;
    let mut marks = marks.iter().peekable();
    for hit in hits {
        let mut start = hit.range.start.max(done);
        // What remains of the hit between the replacements that are already there.
        while start < hit.range.end {
            while marks.next_if(|mark| mark.end <= start).is_some() {}
            let next_mark = marks.peek().filter(|mark| mark.start < hit.range.end);
            if let Some(mark) = next_mark.filter(|mark| mark.start <= start) {
                start = mark.end;
                continue;
            }
            let end = next_mark.map_or(hit.range.end, |mark| mark.start);
            out.extend_from_slice(&text[done..start]);
            out.extend_from_slice(b"[redacted:");
            out.extend_from_slice(hit.label.as_bytes());
            out.push(b']');
            changed = true;
            done = end;
            start = end;
        }
    }
    out.extend_from_slice(&text[done..]);
    changed.then_some(out)
}

#[cfg(test)]
mod tests;
