//! Plain words: no text that a person reads carries ids of ours, names of schema fields or the like.
//!
//! [`Words::faults`] finds them, [`Words::mend`] puts plain words in their place, and [`complete`] says what a
//! question lacks. Three things are looked for:
//!
//! - **Ids that can be nothing else**: `PROC-5.1`, `PINST-20260118-143052`, `EXEC-`, `DEC-`, `OBS-`, `ASSESS-`,
//!   and the files that are named after them.
//! - **Ids of this run**, such as the step id `5.1.2`. Only known ids count, and a number that the text itself
//!   calls something else is left alone: "version 5.1.2 of libfoo" and "section 5.1.2" stay (E-21).
//! - **Names of schema fields** in their code form: `completion_criteria`, `instance.context.inputs`.

mod context;
mod fields;
mod scan;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::ops::Range;

use crate::question::Question;

/// Replacing an id can change what the words around it mean; a text settles in one or two passes.
const PASSES_MAX: usize = 8;

/// What a person should not have to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Step,
    Process,
    /// An instance, an execution, or a run of ours.
    Run,
    Decision,
    Observation,
    Assessment,
    /// A file that is named after an id.
    File,
    Field,
}

impl Kind {
    /// What stands in for an id that has no name.
    fn phrase(self) -> &'static str {
        match self {
            Kind::Step => "this step",
            Kind::Process => "this process",
            Kind::Run => "this run",
            Kind::Decision => "a recorded decision",
            Kind::Observation => "a recorded observation",
            Kind::Assessment => "a recorded assessment",
            Kind::File => "a file of this run",
            Kind::Field => "a detail",
        }
    }

    /// Words before an id that the phrase already says: "step 5.1.2" becomes "this step".
    fn said_before(self) -> &'static [&'static str] {
        match self {
            Kind::Step => &["step", "steps"],
            Kind::Process => &["process", "processes"],
            Kind::Run => &["run", "instance", "execution"],
            Kind::Decision => &["decision"],
            Kind::Observation => &["observation"],
            Kind::Assessment => &["assessment"],
            Kind::File => &["file"],
            Kind::Field => &[],
        }
    }
}

/// One such thing in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The id, or the field's name.
    pub found: String,
    pub kind: Kind,
    /// The bytes of the text that it covers.
    pub range: Range<usize>,
}

/// How strictly a text is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strictness {
    /// Words for people.
    Prose,
    /// Material that is shown as it is, such as a diff: field names are its own business, and a number counts
    /// as a step only where it is called one.
    Material,
}

/// The words of one run that must not reach a person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    known_ids: BTreeSet<String>,
}

impl Words {
    /// Knows the ids of a run: those of its steps, its instance, the run itself. What could as well be an
    /// ordinary word or number (`build`, `3`) is not looked for.
    pub fn new(known_ids: impl IntoIterator<Item = String>) -> Words {
        Words { known_ids: known_ids.into_iter().filter(|id| scan::distinctive(id)).collect() }
    }

    /// Everything in `text` that a person should not have to read, in order.
    pub fn faults(&self, text: &str) -> Vec<Fault> {
        self.find(text, Strictness::Prose)
    }

    /// `text` with plain words in the place of its faults: an id becomes the name that `names` has for it, or
    /// "this step" and the like. A text without faults comes back as it is.
    pub fn mend(&self, text: &str, names: &BTreeMap<String, String>) -> String {
        self.mend_as(text, names, Strictness::Prose)
    }

    /// Everything in `question` that a person should not have to read.
    pub fn question_faults(&self, question: &Question) -> Vec<Fault> {
        let prose = [&question.header, &question.question, &question.why].into_iter().chain(&question.tried);
        let options = question.options.iter().flat_map(|option| [&option.label, &option.description]);
        prose
            .chain(options)
            .flat_map(|text| self.faults(text))
            .chain(self.find(&question.details, Strictness::Material))
            .collect()
    }

    /// `question` in plain words. The ids of its options stay, since scripts use them; in the details, which
    /// may be a diff, only what is certainly an id is replaced.
    #[must_use]
    pub fn question(&self, mut question: Question, names: &BTreeMap<String, String>) -> Question {
        let prose = [&mut question.header, &mut question.question, &mut question.why]
            .into_iter()
            .chain(&mut question.tried);
        let options =
            question.options.iter_mut().flat_map(|option| [&mut option.label, &mut option.description]);
        for text in prose.chain(options) {
            *text = self.mend(text, names);
        }
        question.details = self.mend_as(&question.details, names, Strictness::Material);
        question
    }

    fn mend_as(&self, text: &str, names: &BTreeMap<String, String>, strictness: Strictness) -> String {
        let mut text = text.to_owned();
        for _ in 0..PASSES_MAX {
            let faults = self.find(&text, strictness);
            if faults.is_empty() {
                break;
            }
            text = self.replace(&text, &faults, names);
        }
        text
    }

    fn replace(&self, text: &str, faults: &[Fault], names: &BTreeMap<String, String>) -> String {
        let mut mended = String::with_capacity(text.len());
        let mut cursor = 0;
        for fault in faults {
            let range = unquoted(text, cursor, &fault.range);
            if let Some(name) = self.name(fault, names) {
                mended.push_str(&text[cursor..range.start]);
                mended.push_str(&name);
            } else {
                let phrase = match fault.kind {
                    Kind::Field => fields::in_words(&fault.found),
                    kind => kind.phrase().to_owned(),
                };
                let start = range.start - said_before(&text[cursor..range.start], fault.kind);
                mended.push_str(&text[cursor..start]);
                let swallowed_capital = text[start..range.start].starts_with(char::is_uppercase);
                let capital = swallowed_capital || opens_sentence(&mended);
                mended.push_str(&if capital { capitalised(&phrase) } else { phrase });
            }
            cursor = range.end;
        }
        mended.push_str(&text[cursor..]);
        mended
    }

    /// The plain name of an id, in quotes. A name is somebody's text as well, so it is mended itself.
    fn name(&self, fault: &Fault, names: &BTreeMap<String, String>) -> Option<String> {
        let name = names.get(&fault.found).filter(|_| !matches!(fault.kind, Kind::Field | Kind::File))?;
        let name = self.mend(name.trim(), &BTreeMap::new()).replace('"', "'");
        (!name.is_empty()).then(|| format!("\"{name}\""))
    }
}

/// A part that a question lacks (PX-148).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    #[error("the question does not say what needs attention")]
    What,
    #[error("the question does not say why it matters")]
    Why,
    #[error("the question offers {count} of the at least two options that make a choice")]
    Options { count: usize },
    #[error("option {position} has no label")]
    Label { position: usize },
    #[error("the option `{label}` does not say what happens when it is chosen")]
    Consequence { label: String },
}

/// Everything that `question` lacks; a question that lacks anything must not be asked.
pub fn complete(question: &Question) -> Vec<Missing> {
    let blank = |text: &str| text.trim().is_empty();
    let mut missing = vec![];
    if blank(&question.question) {
        missing.push(Missing::What);
    }
    if blank(&question.why) {
        missing.push(Missing::Why);
    }
    if question.options.len() < 2 {
        missing.push(Missing::Options { count: question.options.len() });
    }
    for (index, option) in question.options.iter().enumerate() {
        if blank(&option.label) {
            missing.push(Missing::Label { position: index + 1 });
        }
        if blank(&option.description) {
            missing.push(Missing::Consequence { label: option.label.clone() });
        }
    }
    missing
}

/// `range` with the quotes or backticks that enclose exactly it, but nothing before `from`.
fn unquoted(text: &str, from: usize, range: &Range<usize>) -> Range<usize> {
    for (open, close) in [("\"", "\""), ("'", "'"), ("`", "`"), ("“", "”"), ("‘", "’")] {
        if text[from..range.start].ends_with(open) && text[range.end..].starts_with(close) {
            return range.start - open.len()..range.end + close.len();
        }
    }
    range.clone()
}

/// How many bytes at the end of `before` say what the phrase for `kind` says anyway: a noun with its article.
fn said_before(before: &str, kind: Kind) -> usize {
    if kind == Kind::Field {
        return 0;
    }
    let Some(noun) = last_word(before, kind.said_before()) else {
        return last_word(before, &["the", "a", "an"]).unwrap_or(0);
    };
    let article = last_word(&before[..before.len() - noun], &["the", "a", "an", "this"]);
    noun + article.unwrap_or(0)
}

/// The length of the last word of `before` with the blank after it, if it is one of `words`.
fn last_word(before: &str, words: &[&str]) -> Option<usize> {
    let trimmed = before.strip_suffix(' ')?;
    let start = trimmed
        .char_indices()
        .rev()
        .find(|(_, c)| !scan::in_word(*c))
        .map_or(0, |(index, c)| index + c.len_utf8());
    let word = trimmed[start..].to_lowercase();
    words.contains(&word.as_str()).then(|| before.len() - start)
}

fn opens_sentence(before: &str) -> bool {
    let trimmed = before.trim_end();
    trimmed.is_empty() || (trimmed.len() < before.len() && trimmed.ends_with(['.', '!', '?']))
}

fn capitalised(phrase: &str) -> String {
    let mut chars = phrase.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
