//! What came of one call of the orchestrator: how it ended, and what it asks.

use std::time::Duration;

use serde_json::Value;
use seriatim_core::time::span_in_words;

/// The exit code of work that is done and good.
const GOOD: i32 = 0;
/// The exit code of work that waits for a person.
const WAITING: i32 = 3;

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    Code(i32),
    Signal(i32),
    TimedOut(Duration),
    NotStarted(String),
    /// It was not called at all: there was nothing to say.
    NotCalled(&'static str),
}

/// An option of a question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) id: String,
    pub(super) label: String,
    pub(super) description: String,
}

/// A question to a person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) id: String,
    pub(super) header: String,
    pub(super) options: Vec<Choice>,
}

impl Question {
    pub(super) fn offers(&self, id: &str) -> bool {
        self.options.iter().any(|option| option.id == id)
    }

    fn read(value: &Value) -> Question {
        let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
        let options = value["options"].as_array().map(Vec::as_slice).unwrap_or_default();
        Question {
            id: text(value, "id"),
            header: text(value, "header"),
            options: options
                .iter()
                .map(|option| Choice {
                    id: text(option, "id"),
                    label: text(option, "label"),
                    description: text(option, "description"),
                })
                .collect(),
        }
    }
}

/// One call and its answer.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    /// The words that it was called with.
    words: String,
    end: End,
    /// The run that it speaks of.
    pub(super) run: String,
    pub(super) questions: Vec<Question>,
    /// Everything that people would read, on one line.
    pub(super) shown: String,
    /// Whether it printed one JSON object.
    is_json: bool,
    /// The last line of what it said beside that.
    complaint: String,
}

impl Reply {
    pub(super) fn read(words: &[&str], end: End, out: &str, err: &str) -> Reply {
        let document: Option<Value> = serde_json::from_str(out).ok().filter(Value::is_object);
        let is_json = document.is_some();
        let document = document.unwrap_or_default();
        let questions = document["questions"].as_array().map(Vec::as_slice).unwrap_or_default();
        let complaint = err.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        Reply {
            words: words.join(" "),
            end,
            run: document["run"].as_str().unwrap_or_default().to_owned(),
            questions: questions.iter().map(Question::read).collect(),
            shown: shown(&document),
            is_json,
            complaint: complaint.trim().to_owned(),
        }
    }

    /// In place of a reply to a call that could not be made.
    pub(super) fn none(why: &'static str) -> Reply {
        Reply::read(&[], End::NotCalled(why), "", "")
    }

    /// It came to its end with an exit code, and said in JSON how things stand. An answer is taken or refused by its
    /// exit code alone.
    pub(super) fn is_usable(&self) -> bool {
        matches!(self.end, End::Code(_)) && (self.is_json || self.words.starts_with("answer "))
    }

    /// Whether nothing that could be run is behind the command.
    pub(super) fn is_no_program(&self) -> bool {
        let in_a_shell = matches!(self.end, End::Code(126 | 127)) && !self.is_json;
        in_a_shell || matches!(self.end, End::NotStarted(_))
    }

    pub(super) fn ended_by_itself(&self) -> bool {
        matches!(self.end, End::Code(_) | End::Signal(_))
    }

    pub(super) fn is_good(&self) -> bool {
        self.end == End::Code(GOOD)
    }

    /// It rests until a person has decided something.
    pub(super) fn waits(&self) -> bool {
        self.end == End::Code(WAITING) && !self.questions.is_empty()
    }

    /// It neither went well nor hid that it did not.
    pub(super) fn tells_of_failure(&self) -> bool {
        match self.end {
            End::Code(WAITING) => !self.questions.is_empty(),
            End::Code(code) => code != GOOD,
            _ => false,
        }
    }

    /// The question that is put first.
    pub(super) fn question(&self) -> Option<&Question> {
        self.questions.first()
    }

    /// How the call ended, in words.
    pub(super) fn in_words(&self) -> String {
        let end = match &self.end {
            End::Code(code) => format!("exit code {code}"),
            End::Signal(signal) => format!("ended by signal {signal}"),
            End::TimedOut(after) => {
                let ms = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
                return format!("`{}` did not end within {}", self.words, span_in_words(ms));
            }
            End::NotStarted(why) => return format!("`{}` could not be started: {why}", self.words),
            End::NotCalled(why) => return (*why).to_owned(),
        };
        let said = match (self.is_json, self.questions.as_slice()) {
            (false, _) if self.complaint.is_empty() => "no JSON document on stdout".to_owned(),
            (false, _) => format!("no JSON document on stdout, \"{}\" on stderr", self.complaint),
            (true, []) => "no question".to_owned(),
            (true, [one]) => format!("the question \"{}\"", one.header),
            (true, several) => format!("{} questions", several.len()),
        };
        format!("`{}`: {end}, {said}", self.words)
    }
}

/// Everything in a document that people would read, without the lines that are drawn around it.
fn shown(document: &Value) -> String {
    let mut texts = vec![];
    gather(document, &mut texts);
    plain(&texts.join(" "))
}

fn gather(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| gather(value, texts)),
        Value::Object(fields) => fields.values().for_each(|value| gather(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Words with one blank between them, and nothing of the boxes that may be drawn around them.
pub(super) fn plain(text: &str) -> String {
    let drawn = |c: char| ('\u{2500}'..='\u{257f}').contains(&c);
    let words: String = text.chars().map(|c| if drawn(c) { ' ' } else { c }).collect();
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}
