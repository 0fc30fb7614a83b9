//! One event: a string with bars between its fields, or a mapping with short keys.

use serde_json::Value as Json;
use serde_json::json;

use crate::doc::Node;
use crate::doc::Value;
use crate::finding::Finding;
use crate::finding::Place;
use crate::roadmap::source::first;
use crate::roadmap::source::first_text;
use crate::roadmap::state::Outcome;
use crate::roadmap::state::PhaseRecord;
use crate::roadmap::state::PhaseStatus;
use crate::roadmap::state::instant;
use crate::time::Utc;

/// What stands in the place of a phase where the files of a step are listed.
pub const FILES_MODIFIED: &str = "FILES_MODIFIED";

/// The fewest fields of a string.
const FIELDS_MIN: usize = 5;

/// How an event is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `01-01|GREEN|EXECUTED|PASS|2026-02-05T22:03:00Z`
    Bars,
    /// `{sid, p, s, d, t}`
    Mapping,
}

/// What happened to a phase of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub step: String,
    pub phase: String,
    /// As it is written: `EXECUTED`, `SKIPPED`, or one of the words that agents made up.
    pub status: String,
    /// The outcome, the reason of a skip, or prose.
    pub data: String,
    /// As it is written.
    pub at: String,
    pub turns: Option<u64>,
    pub tokens: Option<u64>,
    pub shape: Shape,
    pub place: Place,
}

impl Event {
    /// The event of a phase as it stands.
    pub fn of_phase(step: &str, phase: &PhaseRecord, now: Utc) -> Event {
        let details = phase.outcome_details.as_deref().or(phase.notes.as_deref());
        let outcome = phase.outcome.as_ref().map_or("", Outcome::word);
        let (status, data) = match &phase.status {
            PhaseStatus::InProgress => ("STARTED", phase.notes.clone().unwrap_or_default()),
            PhaseStatus::Skipped | PhaseStatus::Pending => {
                ("SKIPPED", phase.blocked_by.clone().unwrap_or_default())
            }
            PhaseStatus::Failed => ("EXECUTED", with_details("FAIL", details)),
            PhaseStatus::Done => ("EXECUTED", with_details(outcome, details)),
            other => (other.word(), String::new()),
        };
        let at = match phase.status {
            PhaseStatus::InProgress => phase.started_at.clone(),
            _ => phase.ended_at.clone(),
        };
        Event {
            step: step.to_owned(),
            phase: phase.name.clone(),
            status: status.to_owned(),
            data,
            at: at.unwrap_or_else(|| now.seconds()),
            turns: phase.turn_count,
            tokens: None,
            shape: Shape::Mapping,
            place: Place::TOP,
        }
    }

    /// The files of a step, one event for each.
    pub fn of_file(step: &str, sort: &str, path: &str, now: Utc) -> Event {
        Event {
            step: step.to_owned(),
            phase: FILES_MODIFIED.to_owned(),
            status: sort.to_owned(),
            data: path.to_owned(),
            at: now.seconds(),
            turns: None,
            tokens: None,
            shape: Shape::Mapping,
            place: Place::TOP,
        }
    }

    /// The value in a file. A string has one line, whatever the data are.
    pub fn to_json(&self, shape: Shape) -> Json {
        if shape == Shape::Bars {
            let data = self.data.split_whitespace().collect::<Vec<_>>().join(" ");
            let mut text =
                [&self.step, &self.phase, &self.status, &data, &self.at].map(String::as_str).join("|");
            if self.turns.is_some() || self.tokens.is_some() {
                let number = |count: Option<u64>| count.map(|count| count.to_string()).unwrap_or_default();
                text = format!("{text}|{}|{}", number(self.turns), number(self.tokens));
            }
            return Json::from(text);
        }
        let mut event =
            json!({"sid": self.step, "p": self.phase, "s": self.status, "d": self.data, "t": self.at});
        if let Some(event) = event.as_object_mut() {
            event.extend(self.turns.map(|turns| ("tu".to_owned(), Json::from(turns))));
            event.extend(self.tokens.map(|tokens| ("tk".to_owned(), Json::from(tokens))));
        }
        event
    }

    /// Whether it is about a phase, and not about files.
    pub fn is_phase(&self) -> bool {
        self.phase != FILES_MODIFIED
    }
}

fn with_details(outcome: &str, details: Option<&str>) -> String {
    match details {
        Some(details) => format!("{outcome}: {details}"),
        None => outcome.to_owned(),
    }
}

/// The events of a log, and what is wrong with those that cannot be read.
pub(super) fn events(root: &Node) -> (Vec<Event>, Vec<Finding>) {
    let Some(node) = root.get("events") else {
        let finding =
            Finding::error("missing-field", root.place, "an execution log needs the field `events`");
        return (vec![], vec![finding.help("add `events: []` here")]);
    };
    let Some(items) = node.as_seq() else {
        let message = format!("`events` must be a list, but this is {}", node.in_words());
        let findings =
            if node.is_null() { vec![] } else { vec![Finding::error("type", node.place, message)] };
        return (vec![], findings);
    };
    let mut found = vec![];
    let mut findings = vec![];
    for item in items {
        let event = match &item.value {
            Value::Str(text) => bars(text, item.place),
            Value::Map(_) => mapping(item),
            _ => Err(Finding::error("event", item.place, format!("{} is not an event", item.in_words()))),
        };
        match event {
            Ok(event) => found.push(event),
            Err(finding) => findings.push(finding),
        }
    }
    (found, findings)
}

/// Reads a string. Bars may occur in the data, so that the time is looked for from the end.
fn bars(text: &str, place: Place) -> Result<Event, Finding> {
    let raw: Vec<&str> = text.split('|').collect();
    let fields: Vec<&str> = raw.iter().map(|field| field.trim()).collect();
    let count = fields.len();
    if count < FIELDS_MIN {
        let message = format!("an event has at least {FIELDS_MIN} fields, but this has {count}");
        return Err(Finding::error("event", place, message).help("step|phase|status|data|timestamp"));
    }
    let is_count = |field: &&str| field.is_empty() || field.parse::<u64>().is_ok();
    let behind = |from_end: usize| {
        let at = count.checked_sub(from_end + 1).filter(|at| *at >= FIELDS_MIN - 1)?;
        let time = fields.get(at).filter(|field| instant(field).is_some())?;
        fields.iter().skip(at + 1).all(is_count).then_some((at, *time))
    };
    let last = fields.last().copied().unwrap_or_default();
    let (at, time) = (0..3).find_map(behind).unwrap_or((count - 1, last));
    let number = |index: usize| fields.get(at + index).and_then(|field| field.parse().ok());
    let field = |index: usize| fields.get(index).copied().unwrap_or_default().to_owned();
    Ok(Event {
        step: field(0),
        phase: field(1),
        status: field(2),
        data: raw.get(3..at).unwrap_or_default().join("|").trim().to_owned(),
        at: time.to_owned(),
        turns: number(1),
        tokens: number(2),
        shape: Shape::Bars,
        place,
    })
}

/// Reads a mapping; long names are understood, too.
fn mapping(node: &Node) -> Result<Event, Finding> {
    let words = |keys: &[&str]| first_text(node, keys);
    let required = |keys: &[&str]| {
        words(keys).ok_or_else(|| {
            let name = keys.first().copied().unwrap_or_default();
            Finding::error("event", node.place, format!("an event needs the field `{name}`"))
                .help("an event is {sid, p, s, d, t}")
        })
    };
    let data = first(node, &["d", "data", "outcome"]);
    let number = |keys: &[&str]| first(node, keys).and_then(Node::as_int).and_then(|n| u64::try_from(n).ok());
    Ok(Event {
        step: required(&["sid", "step_id", "step"])?,
        phase: required(&["p", "phase", "phase_name"])?,
        status: required(&["s", "status"])?,
        data: data
            .map(|data| data.scalar_text().unwrap_or_else(|| data.to_json().to_string()))
            .unwrap_or_default(),
        at: required(&["t", "timestamp"])?,
        turns: number(&["tu", "turns", "turn_count"]),
        tokens: number(&["tk", "tokens"]),
        shape: Shape::Mapping,
        place: node.place,
    })
}
