//! Cleaning JSON without breaking it: strings are taken apart, cleaned, and put together again.

use std::ops::Range;

use serde::de::IgnoredAny;

/// Whether `bytes` are one JSON document.
pub(super) fn is_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(bytes).is_ok()
}

/// Whether there are escapes that could hide a letter or a slash of a secret.
pub(super) fn has_disguise(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        match rest.get(at + 1) {
            Some(b'u' | b'/') => return true,
            Some(_) => rest = &rest[at + 2..],
            None => return false,
        }
    }
    false
}

/// How `text` stands inside a JSON string.
pub(super) fn escaped(text: &str) -> String {
    // Serialising a string into memory cannot fail.
    let quoted = serde_json::to_string(text).unwrap_or_default();
    quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default().to_owned()
}

/// Cleans every string of a JSON document by `clean`, and replaces numbers that are secrets. Nothing when all
/// is clean. Everything else keeps its bytes.
pub(super) fn clean_strings(
    document: &[u8],
    clean: impl Fn(&str) -> Option<Vec<u8>>,
    is_secret: impl Fn(&[u8]) -> bool,
) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(document.len() + 32);
    let mut changed = false;
    let mut at = 0;
    while at < document.len() {
        let start = at;
        match document[at] {
            b'"' => {
                at = string_end(document, at);
                let raw = &document[start..at];
                match cleaned_string(raw, &clean) {
                    Some(string) => {
                        out.extend_from_slice(&string);
                        changed = true;
                    }
                    None => out.extend_from_slice(raw),
                }
            }
            b'-' | b'0'..=b'9' => {
                while document.get(at).is_some_and(|byte| is_part_of_a_number(*byte)) {
                    at += 1;
                }
                let number = &document[start..at];
                if is_secret(number) {
                    out.extend_from_slice(b"\"[redacted:secret]\"");
                    changed = true;
                } else {
                    out.extend_from_slice(number);
                }
            }
            other => {
                out.push(other);
                at += 1;
            }
        }
    }
    changed.then_some(out)
}

fn is_part_of_a_number(byte: u8) -> bool {
    matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')
}

/// Where the string that starts at `start` ends, its closing quote included.
fn string_end(document: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = document.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    document.len()
}

fn cleaned_string(raw: &[u8], clean: impl Fn(&str) -> Option<Vec<u8>>) -> Option<Vec<u8>> {
    let text: String = serde_json::from_slice(raw).ok()?;
    let cleaned = clean(&text)?;
    serde_json::to_vec(&String::from_utf8_lossy(&cleaned)).ok()
}

/// `range` grown so that it cuts no escape sequence in two: a text may itself hold JSON.
pub(super) fn whole_escapes(text: &[u8], range: Range<usize>) -> Range<usize> {
    let start = escape_around(text, range.start).map_or(range.start, |escape| escape.start);
    let end = escape_around(text, range.end).map_or(range.end, |escape| escape.end);
    start..end
}

/// The escape sequence that has `at` strictly inside it.
fn escape_around(text: &[u8], at: usize) -> Option<Range<usize>> {
    // The longest escape is `\uXXXX`: its backslash is at most five bytes before.
    for start in (at.saturating_sub(5)..at).rev() {
        if text[start] != b'\\' {
            continue;
        }
        let backslashes = text[..=start].iter().rev().take_while(|byte| **byte == b'\\').count();
        if backslashes % 2 == 0 {
            // This backslash is itself escaped by the one before it.
            return None;
        }
        let len = match text.get(start + 1) {
            Some(b'u') => 2 + text[start + 2..].iter().take(4).take_while(|b| b.is_ascii_hexdigit()).count(),
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
            _ => return None,
        };
        return (at < start + len).then_some(start..start + len);
    }
    None
}
