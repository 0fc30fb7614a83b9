//! From bytes to text: what must hold before there is any syntax to speak of.

use super::Limits;
use crate::finding::Finding;
use crate::finding::Place;

pub(super) const RULE: &str = "yaml";

/// A decoded text and how many bytes of the file stand before it (those of a byte order mark).
#[derive(Debug, PartialEq, Eq)]
pub struct Source<'a> {
    pub text: &'a str,
    pub skipped: usize,
}

/// Checks size, encoding and characters.
pub fn decode<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Source<'a>, Finding> {
    if bytes.len() > limits.bytes {
        let message =
            format!("the file has {} bytes, which is more than the limit of {}", bytes.len(), limits.bytes);
        return Err(Finding::error("size", Place::TOP, message).help("split it into several files"));
    }
    if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) {
        return Err(Finding::error("encoding", Place::TOP, "the file is encoded as UTF-16, not as UTF-8")
            .help("save it as UTF-8"));
    }
    let (skipped, rest) = match bytes.strip_prefix(&[0xEF, 0xBB, 0xBF]) {
        Some(rest) => (3, rest),
        None => (0, bytes),
    };
    let text = std::str::from_utf8(rest).map_err(|error| not_utf8(rest, skipped, error.valid_up_to()))?;
    match text.char_indices().find(|(_, c)| !is_printable(*c)) {
        Some((at, bad)) => Err(control(text, skipped, at, bad)),
        None => Ok(Source { text, skipped }),
    }
}

/// The characters that YAML 1.2 admits in a file.
fn is_printable(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{7E}' | '\u{85}' | '\u{A0}'..='\u{FFFD}' | '\u{10000}'..)
}

fn not_utf8(rest: &[u8], skipped: usize, at: usize) -> Finding {
    let before = String::from_utf8_lossy(&rest[..at]);
    // The extent stays empty: in a picture the bad byte is replaced by a character of another length.
    let place = place_of(&before, skipped, before.len());
    let message = format!(
        "the file is not valid UTF-8: byte {} (0x{:02X}) is at line {}, column {}",
        skipped + at,
        rest[at],
        place.line,
        place.column
    );
    Finding::error("encoding", place, message).help("save the file as UTF-8")
}

fn control(text: &str, skipped: usize, at: usize, bad: char) -> Finding {
    let place = Place { end: to_u32(skipped + at + bad.len_utf8()), ..place_of(text, skipped, at) };
    let what = if bad == '\0' {
        "a NUL character".to_owned()
    } else {
        format!("the control character U+{:04X}", bad as u32)
    };
    Finding::error(RULE, place, format!("{what} is not allowed in a text file"))
        .help("remove it, or write it as an escape such as \"\\x07\" inside double quotes")
}

/// The place of byte `at` of `text`, with an empty extent.
pub(super) fn place_of(text: &str, skipped: usize, at: usize) -> Place {
    let before = &text[..at];
    let line_start = before.rfind(['\n', '\r']).map_or(0, |i| i + 1);
    let column = before[line_start..].chars().count() + 1;
    let byte = to_u32(skipped + at);
    Place { line: to_u32(line_breaks(before) + 1), column: to_u32(column), start: byte, end: byte }
}

/// How many line breaks a text holds; `\r\n` is one, and so is a lone `\r`.
pub(super) fn line_breaks(text: &str) -> usize {
    let feeds = text.matches('\n').count();
    let returns = text.matches('\r').count();
    feeds + returns - text.matches("\r\n").count()
}

/// Files are limited to sizes far below 4 GiB, so nothing is ever cut here.
pub(super) fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
