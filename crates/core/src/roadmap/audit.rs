//! The audit trail: one JSON object per line, in a file per day (DS-50).
//!
//! Times are UTC, and so is the day of a file's name (K-84). The trail is read with patience: a line that cannot be
//! read is an integrity finding, and the others still count (K-18).

#[cfg(test)]
mod tests;

use std::fmt;

use serde::Deserialize;
use serde::Serialize;
use serde_json::Map;
use serde_json::Value as Json;

use super::state::instant;
use crate::closest::closest;
use crate::doc;
use crate::finding::Finding;
use crate::finding::Place;
use crate::time::Utc;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Happening {
    TaskInvocationStarted,
    TaskInvocationValidated,
    TaskInvocationRejected,
    PhaseStarted,
    PhaseCompleted,
    PhaseSkipped,
    PhaseFailed,
    SubagentStopValidation,
    CommitValidationPassed,
    CommitValidationFailed,
    WatchdogIntervention,
    SilentCompletionDetected,
    /// A file outside of what the step may change.
    ScopeViolation,
    /// A step went from one state to another.
    StateTransition,
    /// A closed phase was opened again (K-05).
    PhaseReopened,
    /// The state file was edited by another hand, and the edit was taken over.
    StateImported,
    /// The trail or the state file is not as it was left.
    IntegrityIncident,
}

impl Happening {
    pub const ALL: [Happening; 17] = [
        Happening::TaskInvocationStarted,
        Happening::TaskInvocationValidated,
        Happening::TaskInvocationRejected,
        Happening::PhaseStarted,
        Happening::PhaseCompleted,
        Happening::PhaseSkipped,
        Happening::PhaseFailed,
        Happening::SubagentStopValidation,
        Happening::CommitValidationPassed,
        Happening::CommitValidationFailed,
        Happening::WatchdogIntervention,
        Happening::SilentCompletionDetected,
        Happening::ScopeViolation,
        Happening::StateTransition,
        Happening::PhaseReopened,
        Happening::StateImported,
        Happening::IntegrityIncident,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Happening::TaskInvocationStarted => "TASK_INVOCATION_STARTED",
            Happening::TaskInvocationValidated => "TASK_INVOCATION_VALIDATED",
            Happening::TaskInvocationRejected => "TASK_INVOCATION_REJECTED",
            Happening::PhaseStarted => "PHASE_STARTED",
            Happening::PhaseCompleted => "PHASE_COMPLETED",
            Happening::PhaseSkipped => "PHASE_SKIPPED",
            Happening::PhaseFailed => "PHASE_FAILED",
            Happening::SubagentStopValidation => "SUBAGENT_STOP_VALIDATION",
            Happening::CommitValidationPassed => "COMMIT_VALIDATION_PASSED",
            Happening::CommitValidationFailed => "COMMIT_VALIDATION_FAILED",
            Happening::WatchdogIntervention => "WATCHDOG_INTERVENTION",
            Happening::SilentCompletionDetected => "SILENT_COMPLETION_DETECTED",
            Happening::ScopeViolation => "SCOPE_VIOLATION",
            Happening::StateTransition => "STATE_TRANSITION",
            Happening::PhaseReopened => "PHASE_REOPENED",
            Happening::StateImported => "STATE_IMPORTED",
            Happening::IntegrityIncident => "INTEGRITY_INCIDENT",
        }
    }

    pub fn of_word(word: &str) -> Option<Happening> {
        Happening::ALL.into_iter().find(|known| known.word() == word)
    }
}

impl fmt::Display for Happening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// One event, before it is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub at: Utc,
    pub happening: Happening,
    pub step_file: String,
    /// Further keys; the first three are taken.
    pub data: Map<String, Json>,
}

const TIMESTAMP: &str = "timestamp";
const EVENT: &str = "event";
const STEP_FILE: &str = "step_file";

impl Event {
    pub fn new(at: Utc, happening: Happening, step_file: &str) -> Event {
        Event { at, happening, step_file: step_file.to_owned(), data: Map::new() }
    }

    /// Adds a key. One of the first three, and a null, are not taken.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Json>) -> Event {
        let value = value.into();
        if !value.is_null() && ![TIMESTAMP, EVENT, STEP_FILE].contains(&key) {
            self.data.insert(key.to_owned(), value);
        }
        self
    }

    /// The line of the trail, without its line break.
    pub fn line(&self) -> String {
        let mut entry = Map::new();
        entry.insert(TIMESTAMP.to_owned(), Json::from(self.at.to_string()));
        entry.insert(EVENT.to_owned(), Json::from(self.happening.word()));
        entry.insert(STEP_FILE.to_owned(), Json::from(self.step_file.as_str()));
        entry.extend(self.data.clone());
        Json::Object(entry).to_string()
    }

    /// The file that this event belongs to.
    pub fn file_name(&self) -> String {
        file_name(self.at)
    }
}

/// The file of a day: `audit-2026-01-22.log`.
pub fn file_name(at: Utc) -> String {
    format!("audit-{}.log", at.day())
}

/// The trail of a day beside a state file.
pub fn trail_of(step_file: &str, at: Utc) -> String {
    let name = file_name(at);
    step_file.rsplit_once('/').map_or(name.clone(), |(folder, _)| format!("{folder}/{name}"))
}

/// One line of a trail, of whatever generation.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub place: Place,
    pub event: String,
    pub happening: Option<Happening>,
    pub at: Option<Utc>,
    /// `step_file`, or `step_path` in the oldest trails.
    pub step_file: Option<String>,
    /// In the trails that name the step instead of its file.
    pub step_id: Option<String>,
    /// The whole line.
    pub data: Map<String, Json>,
}

/// A trail as it could be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trail {
    pub entries: Vec<Entry>,
    pub findings: Vec<Finding>,
    /// The bytes up to the end of the last whole line: where a half-written one is cut off (E-78).
    pub whole: usize,
}

/// The rule of findings about lines that are not as they were written.
pub const INTEGRITY: &str = "audit-integrity";

/// Reads the text of a trail.
pub fn read(text: &str) -> Trail {
    let mut trail = Trail::default();
    let mut start = 0;
    for (index, raw) in text.split_inclusive('\n').enumerate() {
        let line = raw.trim_end_matches(['\n', '\r']);
        let place = Place {
            line: to_u32(index + 1),
            column: 1,
            start: to_u32(start),
            end: to_u32(start + line.len()),
        };
        start += raw.len();
        let ended = raw.ends_with('\n');
        if line.trim().is_empty() {
            trail.whole = if ended { start } else { trail.whole };
            continue;
        }
        match serde_json::from_str::<Json>(line) {
            Ok(Json::Object(data)) => {
                trail.findings.extend(doubts(&data, place));
                trail.entries.push(entry(data, place));
            }
            Ok(_) => trail.findings.push(unreadable(place, "it is not a JSON object")),
            Err(_) if !ended => {
                let message = "the last line of the audit trail was not written to its end";
                trail.findings.push(
                    Finding::error(INTEGRITY, place, message)
                        .help("cut it off; the lines before it are whole"),
                );
                continue;
            }
            Err(error) => trail.findings.push(unreadable(place, &error.to_string())),
        }
        trail.whole = start;
    }
    trail
}

fn unreadable(place: Place, why: &str) -> Finding {
    let message = format!("line {} of the audit trail cannot be read: {why}", place.line);
    Finding::error(INTEGRITY, place, message)
        .help("compare it with `seriatim verify`; the trail is never edited by hand")
}

fn entry(data: Map<String, Json>, place: Place) -> Entry {
    let text = |key: &str| data.get(key).and_then(Json::as_str);
    let event = text(EVENT).unwrap_or_default().to_owned();
    Entry {
        place,
        happening: Happening::of_word(&event),
        event,
        at: text(TIMESTAMP).and_then(instant),
        step_file: text(STEP_FILE).or_else(|| text("step_path")).map(str::to_owned),
        step_id: text("step_id").map(str::to_owned),
        data,
    }
}

/// What is odd about a line that could be read.
fn doubts(data: &Map<String, Json>, place: Place) -> Vec<Finding> {
    let mut findings = vec![];
    match data.get(EVENT).and_then(Json::as_str) {
        None => {
            findings.push(Finding::error("missing-field", place, "an audit line needs the field `event`"));
        }
        Some(word) if Happening::of_word(word).is_none() => {
            let finding =
                Finding::note("unknown-event", place, format!("`{word}` is not an event that is known here"));
            findings.push(match closest(word, Happening::ALL.map(Happening::word)) {
                Some(meant) => finding.help(format!("did you mean `{meant}`?")),
                None => finding,
            });
        }
        Some(_) => {}
    }
    match data.get(TIMESTAMP).and_then(Json::as_str) {
        None => {
            findings.push(Finding::error(
                "missing-field",
                place,
                "an audit line needs the field `timestamp`",
            ));
        }
        Some(text) if instant(text).is_none() => {
            let message = format!("`{text}` is not a point in time");
            findings.push(Finding::error("type", place, message).help("write it as 2026-01-22T14:30:00Z"));
        }
        Some(_) => {}
    }
    findings
}

/// What the check of a trail has to say.
pub fn check(text: &str) -> Vec<Finding> {
    let mut findings = read(text).findings;
    doc::sort(&mut findings);
    findings
}

fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The lines of a step, from whichever file: those that name its state file and, where they name a step, this one.
/// They are taken in the order given, the oldest day first.
pub fn of_step<'e>(entries: &'e [Entry], step_file: &str, task_id: &str) -> Vec<&'e Entry> {
    let wanted = plain(step_file);
    let is_ours = |entry: &&Entry| {
        let same_file = entry.step_file.as_deref().is_some_and(|path| plain(path) == wanted);
        same_file && entry.step_id.as_deref().is_none_or(|id| id == task_id)
    };
    entries.iter().filter(is_ours).collect()
}

/// The last stop validation of a step, and what came after it. Only that one counts, so that repaired errors and those
/// of other steps hold nobody up (K-18, E-75, E-76).
pub fn last_stop<'e>(
    entries: &'e [Entry],
    step_file: &str,
    task_id: &str,
) -> Option<(&'e Entry, Vec<&'e Entry>)> {
    let mut ours = of_step(entries, step_file, task_id);
    let last = ours.iter().rposition(|entry| entry.happening == Some(Happening::SubagentStopValidation))?;
    let later = ours.split_off(last + 1);
    ours.pop().map(|stop| (stop, later))
}

/// A path as two hands may write it.
fn plain(path: &str) -> String {
    let path = path.replace('\\', "/");
    path.trim_start_matches("./").to_owned()
}
