//! Forbidden commands, found however they are written (CY-41, CY-47, E-38).
//!
//! A pattern is a regular expression over a command in plain writing: one blank between words, no quotes, flags
//! together and in front. Each text is therefore looked at as it is, as SQL without comments, and as the shell
//! would take it apart. What only comes into being when it runs is for the sandbox to stop.

mod shell;
#[cfg(test)]
mod tests;

use regex::Regex;
use regex::RegexBuilder;

/// A long transcript is not quoted as a whole.
const EXCERPT_CHARS_MAX: usize = 200;

/// A forbidden command that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The pattern as it was given.
    pub pattern: String,
    /// The command, or as much of it as fits.
    pub text: String,
}

/// The forbidden commands in `texts`: one hit for each pattern and text. A pattern that is no regular expression
/// finds nothing; whoever reads it from a document says so there.
pub fn find(texts: &[String], patterns: &[String]) -> Vec<Hit> {
    let patterns: Vec<(&String, Regex)> =
        patterns.iter().filter_map(|pattern| Some((pattern, compiled(pattern)?))).collect();
    let mut hits = vec![];
    for text in texts {
        let mut found: Vec<Option<String>> = vec![None; patterns.len()];
        each_form(text, &mut |form| {
            for ((_, regex), found) in patterns.iter().zip(&mut found) {
                if found.is_none() && regex.is_match(form) {
                    let shown = if text.trim().contains('\n') { form } else { text };
                    *found = Some(excerpt(shown));
                }
            }
        });
        let named = patterns.iter().zip(found);
        hits.extend(
            named.filter_map(|((pattern, _), text)| Some(Hit { pattern: (*pattern).clone(), text: text? })),
        );
    }
    hits
}

/// Whether a pattern can be used; otherwise why not.
pub fn check_pattern(pattern: &str) -> Result<(), regex::Error> {
    builder(pattern).build().map(|_| ())
}

fn compiled(pattern: &str) -> Option<Regex> {
    builder(pattern).build().ok()
}

/// Case means nothing in SQL, and a command in capitals is no command that anybody needs.
fn builder(pattern: &str) -> RegexBuilder {
    let mut builder = RegexBuilder::new(pattern);
    builder.case_insensitive(true);
    builder
}

/// Shows everything that a text could be taken for, one after the other: for a long transcript that is too much to
/// hold at once.
fn each_form(text: &str, see: &mut dyn FnMut(&str)) {
    for line in text.lines() {
        see(&plain(line));
    }
    see(&plain(text));
    see(&sql(text));
    shell::each_command(text, see);
}

/// One blank wherever there is white space.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// SQL without comments, brackets and the blanks around `=`.
fn sql(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(hint) = rest.strip_prefix("/*!") {
            // Some databases run what is in such a comment.
            rest = hint.trim_start_matches(|c: char| c.is_ascii_digit());
            bare.push(' ');
        } else if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/").map_or("", |(_, behind)| behind);
            bare.push(' ');
        } else if let Some(behind) = rest.strip_prefix("*/") {
            rest = behind;
            bare.push(' ');
        } else if rest.starts_with("--") {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
        } else {
            bare.push(if matches!(c, '(' | ')' | ';') { ' ' } else { c });
            rest = &rest[c.len_utf8()..];
        }
    }
    plain(&bare).replace(" =", "=").replace("= ", "=")
}

fn excerpt(text: &str) -> String {
    let text = text.trim();
    if text.chars().count() <= EXCERPT_CHARS_MAX {
        return text.to_owned();
    }
    text.chars().take(EXCERPT_CHARS_MAX).chain("...".chars()).collect()
}
