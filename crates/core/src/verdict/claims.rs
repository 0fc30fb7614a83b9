//! What a report says for and against itself. A word in a report is a claim; claims that contradict each other prove
//! nothing, and whoever made them has to say which one holds.

#[cfg(test)]
mod tests;
mod words;

use std::fmt;

use serde_json::Map;
use serde_json::Value;

use crate::action::severity::Severity;
use crate::process::result::Grade;
use crate::process::result::grade_of;
use crate::report::Report;

/// One thing that a report says about the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Where it stands: `outputs.review.pass`.
    pub place: String,
    /// What stands there, shortened.
    pub says: String,
    pub good: bool,
    /// It is a word about the whole, and no list, number or part that tells what is wrong.
    pub sums_up: bool,
}

/// Everything that a report claims for and against a good end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims(Vec<Claim>);

/// Two claims of one report that cannot both hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    pub good: Claim,
    pub bad: Claim,
}

impl Claims {
    /// Reads the outputs of a report. Objects are looked into for what speaks against it; lists of single results are
    /// not, since a part may fail where the whole passes. Open findings count from the severity `grave` on.
    pub fn of_outputs(outputs: &Map<String, Value>, grave: Severity) -> Claims {
        let mut claims = Claims::default();
        claims.look(outputs, "outputs", Depth::Whole, grave);
        claims
    }

    /// Reads all of a report: its word, its error, its outputs, and what stands beside the fields of the protocol.
    pub fn of_report(report: &Report, grave: Severity) -> Claims {
        let mut claims = Claims::default();
        claims.word("verdict", &report.verdict);
        let error = report.error.as_ref().map(|error| format!("{} {}", error.class, error.message));
        if let Some(error) = error.filter(|error| !words::says_none(error)) {
            claims.0.push(Claim {
                place: "error".to_owned(),
                says: short(error.trim()),
                good: false,
                sums_up: false,
            });
        }
        let beside: Map<String, Value> = report.unknown.clone().into_iter().collect();
        claims.look(&beside, "", Depth::Whole, grave);
        claims.look(&report.outputs, "outputs", Depth::Whole, grave);
        claims
    }

    /// Adds what a dialect knows to be good or bad by its own rules.
    #[must_use]
    pub fn with(mut self, place: &str, says: &str, good: bool) -> Claims {
        self.0.push(Claim { place: place.to_owned(), says: short(says), good, sums_up: true });
        self
    }

    /// Returns what speaks against a good end.
    pub fn against(&self) -> impl Iterator<Item = &Claim> {
        self.0.iter().filter(|claim| !claim.good)
    }

    /// Returns the first words about the whole that are bad.
    pub fn refusal(&self) -> Option<&Claim> {
        self.against().find(|claim| claim.sums_up)
    }

    /// Returns how the report contradicts itself; nothing where it agrees with itself.
    pub fn contradiction(&self) -> Option<Contradiction> {
        let good = self.0.iter().find(|claim| claim.good)?;
        let bad = self.against().next()?;
        Some(Contradiction { good: good.clone(), bad: bad.clone() })
    }

    fn word(&mut self, place: &str, word: &str) {
        // The words of processes are some more than those that reports use everywhere.
        let said = grade_of(&word.to_uppercase()).map(|grade| grade == Grade::Good);
        if let Some(good) = said.or_else(|| words::grade("verdict", &Value::String(word.to_owned()))) {
            self.0.push(Claim { place: place.to_owned(), says: short(word), good, sums_up: true });
        }
    }

    fn look(&mut self, outputs: &Map<String, Value>, path: &str, depth: Depth, grave: Severity) {
        for (key, value) in outputs {
            let name = words::plain(key);
            let place = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            let says = match words::grade(&name, value) {
                // What is good about a part says nothing about the whole.
                Some(true) if depth == Depth::Part => None,
                Some(good) => Some((good, depth == Depth::Whole, short(&text(value)))),
                None => words::wrong(&name, value)
                    .then(|| short(&text(value)))
                    .or_else(|| words::grave_finding(&name, value, grave))
                    .map(|says| (false, false, says)),
            };
            if let Some((good, sums_up, says)) = says {
                self.0.push(Claim { place: place.clone(), says, good, sums_up });
            }
            if let Value::Object(inner) = value {
                self.look(inner, &place, Depth::Part, grave);
            }
        }
    }
}

/// How far inside of the outputs something stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Whole,
    Part,
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` says {}", self.place, self.says)
    }
}

impl fmt::Display for Contradiction {
    /// Words that the author of the report can act on.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the report contradicts itself: {}, and {}; say which one holds, and report nothing against it",
            self.good, self.bad
        )
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn short(text: &str) -> String {
    match text.chars().count() > 80 {
        true => format!("{}...", text.chars().take(77).collect::<String>()),
        false => text.to_owned(),
    }
}
