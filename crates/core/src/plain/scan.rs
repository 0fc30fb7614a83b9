//! Finding what does not belong into a text for people.

use std::ops::Range;

use super::Fault;
use super::Kind;
use super::Strictness;
use super::Words;
use super::fields;

/// What the ids of records begin with.
const RECORDS: [(&str, Kind); 6] = [
    ("PROC-", Kind::Process),
    ("PINST-", Kind::Run),
    ("EXEC-", Kind::Run),
    ("DEC-", Kind::Decision),
    ("OBS-", Kind::Observation),
    ("ASSESS-", Kind::Assessment),
];
const FILE_ENDINGS: [&str; 4] = [".yaml", ".yml", ".json", ".log"];
/// Ids of steps are short (`5.1.2a`, `01-02`); what is longer names a run.
const STEP_ID_CHARS_MAX: usize = 9;

/// The characters that ids, field names and paths are made of.
pub(super) fn in_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/')
}

/// Whether an id can be told from an ordinary word or number.
pub(super) fn distinctive(id: &str) -> bool {
    id.chars().all(|c| in_word(c) && c != '/')
        && id.starts_with(char::is_alphanumeric)
        && id.ends_with(char::is_alphanumeric)
        && id.contains(|c: char| c.is_ascii_digit())
        && (id.contains(['.', '-', '_']) || id.chars().count() >= 6)
}

/// The id of a record at the start of `word`: its kind and length. Its parts are numbers or words in capitals:
/// `PROC-5.1-based` ends before the last hyphen, and `OBS-Studio` is a program.
pub(super) fn record(word: &str) -> Option<(Kind, usize)> {
    let (prefix, kind) = RECORDS.iter().find(|(prefix, _)| word.starts_with(prefix))?;
    let (mut end, mut start) = (prefix.len(), prefix.len());
    for part in word[prefix.len()..].split(['.', '-']) {
        let numbered = part.contains(|c: char| c.is_ascii_digit());
        let in_capitals = !part.is_empty() && part.chars().all(|c| c.is_ascii_uppercase());
        if !numbered && !in_capitals {
            break;
        }
        end = start + part.len();
        start = end + 1;
    }
    (end > prefix.len()).then_some((*kind, end))
}

impl Words {
    pub(super) fn find(&self, text: &str, strictness: Strictness) -> Vec<Fault> {
        let mut faults = vec![];
        let mut rest = 0;
        while let Some(start) = text[rest..].find(in_word).map(|offset| rest + offset) {
            let end = text[start..].find(|c| !in_word(c)).map_or(text.len(), |offset| start + offset);
            self.word(text, start..end, strictness, &mut faults);
            rest = end;
        }
        faults
    }

    /// One unbroken run of word characters.
    fn word(&self, text: &str, run: Range<usize>, strictness: Strictness, faults: &mut Vec<Fault>) {
        if let Some((kind, start)) = pattern(text, &run) {
            let mark = text[run.end..].chars().next().map_or(0, char::len_utf8);
            let range = start..run.end + mark;
            faults.push(Fault { found: text[range.clone()].to_owned(), kind, range });
            return;
        }
        let range = trimmed(text, &run);
        let word = &text[range.clone()];
        if word.contains('/') {
            self.path(text, run.start..range.end, strictness, faults);
        } else if let Some(fault) = records(text, &range) {
            faults.push(fault);
        } else if let Some(ids) = self.known(word) {
            // The ids of a range are all steps or none: one decision for the whole word.
            let is_step = self.names_a_step(text, &range, strictness);
            for (found, part) in ids {
                let kind = if found.chars().count() > STEP_ID_CHARS_MAX { Kind::Run } else { Kind::Step };
                let spelled_out = part.len() > found.len();
                if kind == Kind::Run || spelled_out || is_step {
                    let range = range.start + part.start..range.start + part.end;
                    faults.push(Fault { found, kind, range });
                }
            }
        } else if strictness == Strictness::Prose && fields::is_field(word) {
            faults.push(Fault { found: word.to_owned(), kind: Kind::Field, range });
        }
    }

    /// A path, or several ids with strokes between them. A path is the person's own unless it is named after an
    /// id; a part of it that looks like a version is no reference to a step.
    fn path(&self, text: &str, range: Range<usize>, strictness: Strictness, faults: &mut Vec<Fault>) {
        let word = &text[range.clone()];
        let is_record = |part: &str| record(part).is_some_and(|(_, length)| length == part.len());
        if word.split('/').all(|part| is_record(part) || self.known_ids.contains(part)) {
            let mut start = range.start;
            for part in word.split('/') {
                self.word(text, start..start + part.len(), strictness, faults);
                start += part.len() + 1;
            }
            return;
        }
        let long_id = |part: &str| part.chars().count() > STEP_ID_CHARS_MAX && self.known_ids.contains(part);
        if word.split('/').any(|part| records(part, &(0..part.len())).is_some() || long_id(part)) {
            faults.push(Fault { found: word.to_owned(), kind: Kind::File, range });
        }
    }

    /// The known ids that `word` consists of: one, a range (`5.1.2-5.1.4`), or one with its noun
    /// (`step_5.1.2`).
    fn known(&self, word: &str) -> Option<Vec<(String, Range<usize>)>> {
        if self.known_ids.contains(word) {
            return Some(vec![(word.to_owned(), 0..word.len())]);
        }
        if word.get(..4).is_some_and(|noun| noun.eq_ignore_ascii_case("step")) {
            let id = word[4..].trim_start_matches(['-', '_']);
            return self.known_ids.contains(id).then(|| vec![(id.to_owned(), 0..word.len())]);
        }
        let (first, last) = ["..", "-"].iter().find_map(|between| {
            word.match_indices(between).find_map(|(at, _)| {
                let (first, last) = (&word[..at], &word[at + between.len()..]);
                (self.known_ids.contains(first) && self.known_ids.contains(last)).then_some((first, last))
            })
        })?;
        let last_start = word.len() - last.len();
        Some(vec![(first.to_owned(), 0..first.len()), (last.to_owned(), last_start..word.len())])
    }
}

/// A record's prefix before a star or an ellipsis: `PINST-*`, `EXEC-…`.
fn pattern(text: &str, run: &Range<usize>) -> Option<(Kind, usize)> {
    let word = &text[run.clone()];
    let (prefix, kind) = RECORDS.iter().find(|(prefix, _)| word.ends_with(prefix))?;
    let start = run.end - prefix.len();
    let apart = !text[..start].ends_with(char::is_alphanumeric);
    (apart && text[run.end..].starts_with(['*', '…'])).then_some((*kind, start))
}

/// The first id of a record within `range`, with the ellipsis or the file ending that follows it.
fn records(text: &str, range: &Range<usize>) -> Option<Fault> {
    let word = &text[range.clone()];
    let starts = word.char_indices().map(|(index, _)| index);
    let mut boundaries = starts.filter(|index| !word[..*index].ends_with(char::is_alphanumeric));
    let (start, (kind, length)) = boundaries.find_map(|index| Some((index, record(&word[index..])?)))?;
    let end = start + length;
    let found = word[start..end].to_owned();
    if let Some(ending) = FILE_ENDINGS.iter().find(|ending| word[end..] == ***ending) {
        let range = range.start + start..range.start + end + ending.len();
        return Some(Fault { found, kind: Kind::File, range });
    }
    let mut after = range.start + end;
    if after == range.end && text[after..].starts_with('…') {
        after += '…'.len_utf8();
    }
    Some(Fault { found, kind, range: range.start + start..after })
}

/// `run` without the punctuation at its ends.
fn trimmed(text: &str, run: &Range<usize>) -> Range<usize> {
    let punctuation = ['.', '-', '/', '_'];
    let word = text[run.clone()].trim_end_matches(punctuation);
    let bare = word.trim_start_matches(punctuation);
    run.start + word.len() - bare.len()..run.start + word.len()
}
