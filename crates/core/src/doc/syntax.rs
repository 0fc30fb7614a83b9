//! Broken syntax in plain words: what is wrong, where it began, and how to mend it.

use granit_parser::ErrorKind;
use granit_parser::ScanError;

use super::Limits;
use super::build::Frame;
use super::text::RULE;
use super::text::Source;
use super::text::place_of;
use super::text::to_u32;
use crate::finding::Finding;
use crate::finding::Place;

pub(super) fn too_deep(place: Place, limit: usize) -> Finding {
    Finding::error(RULE, place, format!("lists and mappings are nested deeper than {limit} levels"))
        .help("flatten the structure; a stray `[` or `{` can be the cause")
}

/// The one finding for a syntax error.
pub(super) fn finding(
    source: &Source<'_>,
    error: &ScanError,
    open: &[Frame],
    last_end: usize,
    limits: &Limits,
) -> Finding {
    let at = error.marker();
    let byte = to_u32(at.byte_offset().unwrap_or(source.text.len()) + source.skipped);
    let place = Place { line: to_u32(at.line()), column: to_u32(at.col() + 1), start: byte, end: byte };
    if let Some(tab) = tab(source, error.kind(), at.line()) {
        return Finding::error(RULE, tab, "a tab is used for indentation").help("use spaces");
    }
    if let Some(finding) = unclosed(source, error.kind(), place, open, last_end) {
        return finding;
    }
    if *error.kind() == ErrorKind::RecursionLimitExceeded {
        return too_deep(place, limits.depth);
    }
    let (message, help) = words(error.kind());
    Finding::error(RULE, place, message).help(help)
}

/// The tab that an error is about: the first one in the indentation of the line, or of the next two.
fn tab(source: &Source<'_>, kind: &ErrorKind, line: usize) -> Option<Place> {
    use ErrorKind as K;
    let about_tabs = matches!(
        kind,
        K::TabNotAllowed
            | K::TabInBlockIndentation
            | K::TabInIndentation
            | K::TabInPlainScalar
            | K::TabAtBlockScalarStart
            | K::InvalidBlockEntryWhitespace
            | K::InvalidMappingValueWhitespace
    );
    if !about_tabs {
        return None;
    }
    let mut start = 0;
    for (index, text) in source.text.split_inclusive('\n').enumerate() {
        let number = index + 1;
        let indent = text.len() - text.trim_start_matches([' ', '\t', '-', '?', ':']).len();
        if let Some(at) = text[..indent].find('\t').filter(|_| (line..line + 3).contains(&number)) {
            let place = place_of(source.text, source.skipped, start + at);
            return Some(Place { end: place.end + 1, ..place });
        }
        start += text.len();
    }
    None
}

/// Errors that come of a bracket or a quote left open point at the place where it was opened.
fn unclosed(
    source: &Source<'_>,
    kind: &ErrorKind,
    place: Place,
    open: &[Frame],
    last_end: usize,
) -> Option<Finding> {
    use ErrorKind as K;
    let lost = format!("it seems to reach as far as line {}, column {}", place.line, place.column);
    match kind {
        K::UnclosedQuotedScalar | K::InvalidQuotedScalarIndent | K::DocumentIndicatorInQuotedScalar => {
            let at = next_token(source.text, last_end)?;
            let quote = source.text[at..].chars().next().filter(|c| matches!(c, '"' | '\''))?;
            let start = place_of(source.text, source.skipped, at);
            let start = Place { end: start.end + 1, ..start };
            let help = format!("add the closing {quote}; {lost}");
            Some(
                Finding::error(RULE, start, format!("the quote {quote} opened here is not closed"))
                    .help(help),
            )
        }
        K::UnclosedFlowCollection { .. }
        | K::UnexpectedEofFlowSequence
        | K::UnexpectedEofFlowMapping
        | K::UnexpectedEofImplicitFlowMapping
        | K::InvalidColonPlacement
        | K::ExpectedFlowSequenceSeparator
        | K::ExpectedFlowMappingSeparator
        | K::BlockEntryInFlowCollection
        | K::InvalidFlowScalarIndent
        | K::InvalidIndentation
        | K::MappingValueNotAllowed => {
            let inner = open.iter().rev().find(|frame| frame.flow)?;
            let at_end = matches!(kind, K::UnclosedFlowCollection { .. }) || inner.place.line < place.line;
            let at = (inner.place.start as usize).saturating_sub(source.skipped);
            let bracket = source.text[at..].chars().next().filter(|c| at_end && matches!(c, '[' | '{'))?;
            let closing = if bracket == '[' { ']' } else { '}' };
            let help = format!("add the closing `{closing}`; {lost}");
            Some(
                Finding::error(RULE, inner.place, format!("the `{bracket}` opened here is not closed"))
                    .help(help),
            )
        }
        _ => None,
    }
}

/// The byte where the next scalar begins after `from`: past white space, indicators, comments, anchors and tags.
pub(super) fn next_token(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        let spaced = at == 0 || bytes[at - 1].is_ascii_whitespace();
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' | b':' | b'?' | b',' => at += 1,
            b'-' if text[at..].starts_with("---") => at += 3,
            b'-' | b'[' | b'{' => at += 1,
            b'#' if spaced => at += text[at..].find('\n').unwrap_or(text.len() - at),
            b'&' | b'!' => at += text[at..].find(char::is_whitespace).unwrap_or(text.len() - at),
            _ => return Some(at),
        }
    }
    None
}

/// What the remaining kinds of errors mean to the person who wrote the file.
fn words(kind: &ErrorKind) -> (String, &'static str) {
    match kind {
        ErrorKind::UnexpectedCharacter { character } => {
            (format!("a value cannot begin with `{character}`"), "put quotes around the value")
        }
        ErrorKind::MismatchedFlowCollectionEnd { open, close } => {
            (format!("`{close}` does not close `{open}`"), "close each bracket with its own kind")
        }
        _ => match of_structure(kind).or_else(|| of_scalars(kind)) {
            Some((message, help)) => (message.to_owned(), help),
            None => (
                format!("this is not valid YAML: {}", lower_words(kind)),
                "check the line and the ones above it",
            ),
        },
    }
}

/// Errors in how lists and mappings are laid out.
fn of_structure(kind: &ErrorKind) -> Option<(&'static str, &'static str)> {
    use ErrorKind as K;
    Some(match kind {
        K::MisplacedFlowCollectionEnd => (
            "a closing bracket stands here without an opening one",
            "remove it, or put quotes around the text",
        ),
        K::UnknownAnchor => (
            "this alias refers to an anchor that does not exist",
            "write `&name` at the value it should repeat, further up",
        ),
        K::MappingValueNotAllowed | K::InvalidColonPlacement | K::MappingKeyNotAllowed => (
            "a key with `:` is not allowed here",
            "indent the line like its neighbours, or put quotes around a text that contains `: `",
        ),
        K::ExpectedBlockMappingKey | K::SimpleKeyExpected | K::InvalidSimpleKey => (
            "a line of the form `key: value` is expected here",
            "check the indentation, and that the line above is complete",
        ),
        K::ExpectedBlockSequenceEntry => (
            "another entry of the list is expected here",
            "begin it with `- `, or indent the line as the mapping it belongs to",
        ),
        K::BlockSequenceEntryNotAllowed | K::BlockEntryInFlowCollection => {
            ("an entry of a list is not allowed here", "put the list on lines of its own, below its key")
        }
        K::InvalidIndentation | K::InvalidFlowScalarIndent | K::InvalidBlockScalarIndent => {
            ("the indentation does not fit the lines above", "indent the line like its neighbours")
        }
        K::ExpectedFlowSequenceSeparator | K::ExpectedFlowMappingSeparator => {
            ("a comma or a closing bracket is expected here", "separate the entries with commas")
        }
        K::ExpectedDocumentStart | K::InvalidDocumentEnd => {
            ("the document has ended, but something follows", "check the indentation of this line")
        }
        _ => return None,
    })
}

/// Errors in texts, quotes and comments.
fn of_scalars(kind: &ErrorKind) -> Option<(&'static str, &'static str)> {
    use ErrorKind as K;
    Some(match kind {
        K::InvalidTrailingSingleQuotedScalar => (
            "text follows the closing quote",
            "write an apostrophe inside single quotes twice, as in 'it''s'",
        ),
        K::InvalidTrailingDoubleQuotedScalar => {
            ("text follows the closing quote", "write a quote inside double quotes as \\\"")
        }
        K::UnknownQuotedScalarEscape => (
            "an escape inside these double quotes is unknown",
            "write a backslash as \\\\, or use single quotes",
        ),
        K::UnclosedQuotedScalar => ("a quote is not closed", "add the closing quote"),
        K::CommentInterceptedScalar => {
            ("a comment interrupts a text of several lines", "move the comment, or quote the text")
        }
        K::CommentNotSeparated => {
            ("a comment must have a space before its `#`", "add the space, or quote the text")
        }
        K::InvalidBlockScalarHeader => (
            "only an indentation number, `+` or `-` may follow `|` or `>`",
            "begin the text on the next line",
        ),
        K::BomInsideDocument => ("a byte order mark stands inside the text", "remove it"),
        K::TabNotAllowed
        | K::TabInBlockIndentation
        | K::TabInIndentation
        | K::TabInPlainScalar
        | K::TabAtBlockScalarStart => ("a tab is not allowed here", "use spaces"),
        _ => return None,
    })
}

/// The name of a rare kind of error as words: `InvalidTagEscape` is "invalid tag escape".
fn lower_words(kind: &ErrorKind) -> String {
    let name = format!("{kind:?}");
    let mut words = String::new();
    for c in name.chars().take_while(char::is_ascii_alphanumeric) {
        if c.is_ascii_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.push(c.to_ascii_lowercase());
    }
    words
}
