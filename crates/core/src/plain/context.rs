//! Whether a number that is also the id of a step means the step.
//!
//! The rule, in order. A number that the text calls a step is one. A number that the text calls something else
//! is not: after "version", "release", "section" and the like, after the name of a program ("libfoo 5.1.2",
//! "log4j 5.1.2"), after a sign that goes with versions ("libfoo@5.1.2", ">=5.1.2"), or before "of libfoo" and
//! "release". In a list or a range the word before its first number speaks for all ("versions 5.1.1 to 5.1.3").
//! Anything else in prose means the step, since the id is known in this run. In material it does not.

use std::ops::Range;

use super::Strictness;
use super::Words;
use super::scan::in_word;
use super::scan::record;

/// A list of numbers longer than this is not followed to its start.
const WORDS_BACK_MAX: usize = 32;

const STEP_WORDS: [&str; 12] = [
    "step", "steps", "substep", "substeps", "stage", "stages", "phase", "phases", "task", "tasks", "id",
    "ids",
];
const OTHER_WORDS: [&str; 42] = [
    "version",
    "versions",
    "v",
    "ver",
    "vers",
    "release",
    "releases",
    "released",
    "tag",
    "tags",
    "tagged",
    "revision",
    "rev",
    "build",
    "builds",
    "upgrade",
    "upgrades",
    "upgraded",
    "upgrading",
    "downgrade",
    "downgraded",
    "bump",
    "bumped",
    "bumps",
    "pin",
    "pinned",
    "section",
    "sections",
    "chapter",
    "chapters",
    "figure",
    "figures",
    "table",
    "clause",
    "clauses",
    "paragraph",
    "paragraphs",
    "appendix",
    "rfc",
    "library",
    "package",
    "crate",
];
const CONNECTORS: [&str; 9] = ["and", "or", "to", "from", "through", "until", "than", "is", "at"];
const ABBREVIATIONS: [&str; 5] = ["v", "ver", "vers", "rev", "sec"];
const NEXT_WORDS: [&str; 3] = ["version", "release", "tag"];

impl Words {
    pub(super) fn names_a_step(&self, text: &str, range: &Range<usize>, strictness: Strictness) -> bool {
        let (before, after) = (&text[..range.start], &text[range.end..]);
        let lead = lead(before).map(str::to_lowercase);
        let lead = lead.as_deref();
        if lead.is_some_and(|lead| STEP_WORDS.contains(&lead)) {
            return true;
        }
        if strictness == Strictness::Material {
            return false;
        }
        let called_other = lead.is_some_and(|lead| OTHER_WORDS.contains(&lead) || self.names_a_program(lead));
        let signed = before.ends_with(['@', '^', '~', '=', '<', '>', '§']);
        !called_other && !signed && !self.belongs_to_program(after)
    }

    /// "5.1.2 of libfoo", "5.1.2 release".
    fn belongs_to_program(&self, after: &str) -> bool {
        let mut words = after.split(|c: char| !in_word(c)).filter(|word| !word.is_empty());
        let first = words.next().map(str::to_lowercase);
        match first.as_deref() {
            Some("of" | "from") => words
                .next()
                .is_some_and(|word| self.names_a_program(&word.trim_end_matches('.').to_lowercase())),
            Some(word) => after.starts_with(' ') && NEXT_WORDS.contains(&word.trim_end_matches('.')),
            None => false,
        }
    }

    /// `libfoo`, `log4j`, `node.js`: what no ordinary word looks like, and no id of ours.
    fn names_a_program(&self, word: &str) -> bool {
        let letters = word.contains(char::is_alphabetic);
        let starts_with_lib = word.strip_prefix("lib").is_some_and(|name| !name.is_empty());
        let mixed = letters && word.contains(|c: char| c.is_ascii_digit());
        let dotted =
            word.split('.').count() > 1 && word.split('.').all(|part| part.contains(char::is_alphabetic));
        let ours = self.known_ids.iter().any(|id| id.eq_ignore_ascii_case(word))
            || record(&word.to_uppercase()).is_some()
            || word.starts_with("step");
        (starts_with_lib || mixed || dotted) && !ours
    }
}

/// The word of the same sentence that the number belongs to. The numbers and connecting words of a list are
/// passed over.
fn lead(before: &str) -> Option<&str> {
    let mut rest = before;
    for _ in 0..WORDS_BACK_MAX {
        rest = rest.trim_end_matches(|c: char| c != '\n' && !in_word(c) && !matches!(c, '!' | '?' | ';'));
        let start = rest
            .char_indices()
            .rev()
            .find(|(_, c)| !in_word(*c))
            .map_or(0, |(index, c)| index + c.len_utf8());
        let word = &rest[start..];
        if word.is_empty() {
            return None;
        }
        let bare = word.trim_matches(['.', '-', '/', '_']);
        let lower = bare.to_lowercase();
        if word.ends_with('.') && !ABBREVIATIONS.contains(&lower.as_str()) {
            return None;
        }
        if !bare.is_empty() && !is_number(bare) && !CONNECTORS.contains(&lower.as_str()) {
            return Some(bare);
        }
        rest = &rest[..start];
    }
    None
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
        && word
            .trim_end_matches(char::is_lowercase)
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | '/'))
}
