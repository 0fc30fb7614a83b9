//! What happened on a path, as far as it decides whether its end may be good.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde_json::Value;
use seriatim_core::question::Question;
use seriatim_flows::Request;

use crate::hands;
use crate::hands::Deed;
use crate::hands::How;

/// Choices that take what there is; all others send it back, or end it.
const TAKES: [&str; 8] = ["approve", "skip", "override", "accept", "met", "done", "trust", "continue"];

/// A question said that all checks are green.
pub(crate) const SAYS_GREEN: &str = "a question says green";

/// How many facts a state knows.
const FACTS: usize = 3;

#[derive(Default, Hash)]
pub(crate) struct Ledger {
    /// What went wrong and was neither done again with success nor decided by a person who was told its name.
    pub(crate) open: BTreeMap<String, String>,
    /// What people decided although it had gone wrong.
    pub(crate) accepted: BTreeSet<String>,
    /// The gates, with whether they were green and what the result was when they ran.
    pub(crate) gates: BTreeMap<String, (bool, u64)>,
    /// The roles and steps that reported, with what they did and what the result was afterwards.
    pub(crate) roles: BTreeMap<String, (Deed, u64)>,
    /// The last answer at each question, and what the result was.
    pub(crate) answers: BTreeMap<String, (String, u64)>,
    /// Anything else that a world wants to know at the end.
    pub(crate) marks: BTreeSet<String>,
    /// Outcomes that come again until a person was asked.
    lasting: BTreeMap<String, How>,
    /// Calls since a person was asked.
    calls: BTreeMap<String, u32>,
    facts: Vec<String>,
}

impl Ledger {
    /// The outcome of a request that comes again.
    pub(crate) fn lasting(&self, request: &Request) -> Option<How> {
        self.lasting.get(&hands::pending(request)).copied()
    }

    pub(crate) fn begin(&mut self, request: &Request, how: How) {
        match request {
            Request::Ask(_) | Request::Wait { .. } => {
                self.lasting.clear();
                self.calls.clear();
            }
            Request::Agent(_) | Request::Exec(_) => {
                *self.calls.entry(hands::pending(request)).or_default() += 1;
            }
            _ => {}
        }
        if hands::lasts(request, how) {
            self.lasting.insert(hands::pending(request), how);
        }
    }

    pub(crate) fn witness(&mut self, fact: &Value) {
        self.facts.push(fact["fact"].as_str().unwrap_or_default().to_owned());
        let over = self.facts.len().saturating_sub(FACTS);
        self.facts.drain(..over);
    }

    /// A role or a step reported, or did not. `name` is how questions name it.
    pub(crate) fn reported(&mut self, name: &str, deed: Deed, result: u64) {
        self.roles.insert(name.to_owned(), (deed, result));
        let what = if deed.is_nothing() { "gave no usable report" } else { deed.word() };
        self.note(name, matches!(deed, Deed::Honest | Deed::Strays), what);
    }

    /// A gate ran.
    pub(crate) fn ran(&mut self, name: &str, green: bool, how: How, result: u64) {
        let green = green && how == How::Fine;
        self.gates.insert(name.to_owned(), (green, result));
        let what = match how {
            How::Fine | How::Red => "red",
            How::NoTests => "ran no test",
            How::NoProgram => "could not be started",
            _ => "did not come to its end",
        };
        self.note(&format!("gate {name}"), green, what);
    }

    fn note(&mut self, name: &str, fine: bool, what: &str) {
        self.accepted.remove(name);
        match fine {
            true => self.open.remove(name),
            false => self.open.insert(name.to_owned(), what.to_owned()),
        };
    }

    /// A person answered: what the question names is decided where the choice takes it.
    pub(crate) fn answered(&mut self, question: &Question, choice: &str, result: u64) {
        if question.question.contains("checks are green") {
            self.marks.insert(SAYS_GREEN.to_owned());
        }
        self.answers.insert(hands::without_numbers(&question.header), (choice.to_owned(), result));
        // An approval of the whole tells who did what, and not what went wrong.
        if !TAKES.contains(&choice) || question.header.starts_with("Gate ") {
            return;
        }
        let text =
            format!("{}\n{}\n{}\n{}", question.header, question.question, question.why, question.details);
        let text = plain(&text);
        let named: Vec<String> = self.open.keys().filter(|name| names(&text, name)).cloned().collect();
        for name in named {
            self.open.remove(&name);
            self.accepted.insert(name);
        }
    }

    /// The last answer at a question whose header has these words.
    pub(crate) fn answer(&self, header: &str) -> Option<&(String, u64)> {
        self.answers.iter().find(|(known, _)| known.contains(header)).map(|(_, answer)| answer)
    }
}

/// Whether a text names something, word for word.
fn names(text: &str, name: &str) -> bool {
    let name = name.strip_prefix("gate ").unwrap_or(name);
    // A cycle calls this gate by another word.
    let alias = if name == "lint" { "linter formatter" } else { name };
    text.contains(&plain(name)) || text.contains(&plain(alias))
}

/// A text as words with blanks around them.
fn plain(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.fold(" ".to_owned(), |all, word| format!("{all}{} ", word.to_lowercase()))
}
