//! Findings of reviewers, kept until they are closed by name.
//!
//! A finding is closed by a reviewer that names it as closed after the thing changed, or by a person who names it and
//! gives a reason. A later report that omits it, a reviewer that crashes, an invalid report, a manual fix, a skip: none
//! of these closes anything.

#[cfg(test)]
mod tests;

use std::fmt;

use serde::Deserialize;
use serde::Serialize;
use serde_json::Map;
use serde_json::Value;

use crate::action::severity::Concern;
use crate::action::severity::Severity;
use crate::hash::Hash;

/// The output by which a report closes findings: `[{"id": "F1", "reason": "..."}]`.
pub const CLOSED: &str = "closed";

/// All findings of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FindingLedger {
    entries: Vec<LedgerEntry>,
}

/// One finding, from the moment at which it was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerEntry {
    /// `F1`, in the order in which they were found.
    pub id: String,
    pub concern: Concern,
    /// The thing as it was when the finding was last reported: its file, or all of the work where it names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen_at: Option<Hash>,
    pub state: FindingState,
}

/// Where a finding stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingState {
    #[default]
    Open,
    /// A reviewer says that it is fixed, and the thing changed.
    Closed { by: String, reason: String },
    /// A person lets it stand, with a reason.
    Accepted { by: String, reason: String },
}

/// A finding that a report calls closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Closing {
    pub id: String,
    pub reason: String,
}

/// Why a finding is not closed by what a report says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotClosed {
    #[error("there is no finding {0}; open findings: {1}")]
    NoSuchFinding(String, String),
    #[error("{0} needs a reason that says how it was fixed")]
    NoReason(String),
    #[error("{0} cannot be closed: nothing that it is about has changed since it was found")]
    Unchanged(String),
}

/// Why a person cannot let a finding stand.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAccepted {
    #[error("there is no open finding {0}")]
    NoSuchFinding(String),
    #[error("{0} is critical, and a critical finding cannot be accepted")]
    Critical(String),
    #[error("{0} needs a reason")]
    NoReason(String),
}

impl FindingLedger {
    /// Takes findings of a report in. One that is known already stays one entry: it takes the graver severity, and is
    /// open again where it was closed. A finding that a person accepted stays accepted unless it became graver. Returns
    /// the ids in the order of the report.
    pub fn note(&mut self, found: Vec<Concern>, at: impl Fn(&Concern) -> Option<Hash>) -> Vec<String> {
        let mut ids = vec![];
        for concern in found {
            let seen_at = at(&concern);
            let known = self.entries.iter_mut().find(|entry| is_same(&entry.concern, &concern));
            let Some(entry) = known else {
                let id = format!("F{}", self.entries.len() + 1);
                ids.push(id.clone());
                self.entries.push(LedgerEntry { id, concern, seen_at, state: FindingState::Open });
                continue;
            };
            let graver = concern.severity > entry.concern.severity;
            let severity = concern.severity.max(entry.concern.severity);
            let stays = matches!(entry.state, FindingState::Accepted { .. }) && !graver;
            if !stays {
                entry.state = FindingState::Open;
            }
            entry.concern = Concern { severity, ..concern };
            entry.seen_at = seen_at;
            ids.push(entry.id.clone());
        }
        ids
    }

    /// Closes findings that a reviewer names as closed. `now` is the thing as it is now.
    pub fn close(
        &mut self,
        by: &str,
        closings: &[Closing],
        now: impl Fn(&Concern) -> Option<Hash>,
    ) -> Vec<NotClosed> {
        let mut refused = vec![];
        for closing in closings {
            let open = self.open_ids();
            let entry =
                self.entries.iter_mut().find(|entry| is_id(&entry.id, &closing.id) && entry.is_open());
            let Some(entry) = entry else {
                refused.push(NotClosed::NoSuchFinding(closing.id.clone(), open));
                continue;
            };
            if is_blank(&closing.reason) {
                refused.push(NotClosed::NoReason(entry.id.clone()));
                continue;
            }
            // Where nothing is known about the thing, nothing shows that it changed.
            let changed = now(&entry.concern).zip(entry.seen_at).is_some_and(|(now, then)| now != then);
            if !changed {
                refused.push(NotClosed::Unchanged(entry.id.clone()));
                continue;
            }
            let reason = closing.reason.trim().to_owned();
            entry.state = FindingState::Closed { by: by.to_owned(), reason };
        }
        refused
    }

    /// Closes findings on the word of a person who is the reviewer: they answer for what they looked at, so that nothing
    /// has to have changed.
    pub fn close_by_person(&mut self, by: &str, closings: &[Closing]) -> Vec<NotClosed> {
        let mut refused = vec![];
        for closing in closings {
            let open = self.open_ids();
            let entry =
                self.entries.iter_mut().find(|entry| is_id(&entry.id, &closing.id) && entry.is_open());
            match entry {
                None => refused.push(NotClosed::NoSuchFinding(closing.id.clone(), open)),
                Some(entry) if is_blank(&closing.reason) => {
                    refused.push(NotClosed::NoReason(entry.id.clone()));
                }
                Some(entry) => {
                    let reason = closing.reason.trim().to_owned();
                    entry.state = FindingState::Closed { by: by.to_owned(), reason };
                }
            }
        }
        refused
    }

    /// Lets a finding stand on a person's word. `critical_too` where the dialect allows that for critical ones.
    pub fn accept(
        &mut self,
        id: &str,
        by: &str,
        reason: &str,
        critical_too: bool,
    ) -> Result<(), NotAccepted> {
        let entry = self.entries.iter_mut().find(|entry| is_id(&entry.id, id) && entry.is_open());
        let Some(entry) = entry else { return Err(NotAccepted::NoSuchFinding(id.to_owned())) };
        if entry.concern.severity == Severity::Critical && !critical_too {
            return Err(NotAccepted::Critical(entry.id.clone()));
        }
        if is_blank(reason) {
            return Err(NotAccepted::NoReason(entry.id.clone()));
        }
        entry.state = FindingState::Accepted { by: by.to_owned(), reason: reason.trim().to_owned() };
        Ok(())
    }

    pub fn entries(&self) -> &[LedgerEntry] {
        &self.entries
    }

    pub fn open(&self) -> impl Iterator<Item = &LedgerEntry> {
        self.entries.iter().filter(|entry| entry.is_open())
    }

    /// Returns the open entry of a finding that is reported again.
    pub fn find_open(&self, concern: &Concern) -> Option<&LedgerEntry> {
        self.open().find(|entry| is_same(&entry.concern, concern))
    }

    /// Returns the open findings from a severity on.
    pub fn open_from(&self, severity: Severity) -> Vec<&LedgerEntry> {
        self.open().filter(|entry| entry.concern.severity >= severity).collect()
    }

    /// Returns the open findings as a brief lists them, with how they are closed.
    pub fn brief(&self) -> Vec<String> {
        self.open().map(LedgerEntry::line).collect()
    }

    fn open_ids(&self) -> String {
        let ids: Vec<&str> = self.open().map(|entry| entry.id.as_str()).collect();
        if ids.is_empty() { "none".to_owned() } else { ids.join(", ") }
    }
}

impl LedgerEntry {
    pub fn is_open(&self) -> bool {
        self.state == FindingState::Open
    }

    /// Returns `F1 CRITICAL: SQL injection in src/Customer.cs:45 (reviewer)`.
    pub fn line(&self) -> String {
        let Concern { severity, by, .. } = &self.concern;
        format!("{} {severity}: {} ({by})", self.id, self.concern)
    }

    /// Returns the line with what became of the finding.
    pub fn told(&self) -> String {
        format!("{}: {}", self.line(), self.state)
    }

    /// Returns the finding as outcomes and `show --json` carry it: its fields, its id and its state.
    pub fn document(&self) -> Value {
        let mut fields = serde_json::to_value(&self.concern).unwrap_or_default();
        if let Some(fields) = fields.as_object_mut() {
            fields.insert("id".to_owned(), Value::String(self.id.clone()));
            fields.insert("state".to_owned(), serde_json::to_value(&self.state).unwrap_or_default());
        }
        fields
    }
}

impl fmt::Display for FindingState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FindingState::Open => f.write_str("open"),
            FindingState::Closed { by, reason } => write!(f, "closed by {by}: {reason}"),
            FindingState::Accepted { by, reason } => write!(f, "accepted by {by}: {reason}"),
        }
    }
}

/// Reads what a report calls closed, or says what its author has to correct.
pub fn read_closings(outputs: &Map<String, Value>) -> Result<Vec<Closing>, Vec<String>> {
    let Some(given) = outputs.get(CLOSED).filter(|value| !value.is_null()) else { return Ok(vec![]) };
    let Some(list) = given.as_array() else {
        return Err(vec![format!("`outputs.{CLOSED}` must be a list of {{\"id\", \"reason\"}}")]);
    };
    let (mut closings, mut problems) = (vec![], vec![]);
    for (index, entry) in list.iter().enumerate() {
        match serde_json::from_value::<Closing>(entry.clone()) {
            Ok(closing) => closings.push(closing),
            Err(_) => problems.push(format!("`outputs.{CLOSED}[{index}]` needs `id` and `reason` as texts")),
        }
    }
    if problems.is_empty() { Ok(closings) } else { Err(problems) }
}

/// Two reports of one finding: the same words about the same file. Lines move when a file is edited, so that they are no
/// part of the identity.
fn is_same(one: &Concern, other: &Concern) -> bool {
    plain(&one.title) == plain(&other.title) && one.file == other.file
}

fn plain(title: &str) -> String {
    let words: Vec<String> = title
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.join(" ")
}

fn is_id(id: &str, given: &str) -> bool {
    id.eq_ignore_ascii_case(given.trim())
}

/// Whether words say nothing: blanks and invisible characters are no reason.
pub fn is_blank(words: &str) -> bool {
    !words.chars().any(char::is_alphanumeric)
}
