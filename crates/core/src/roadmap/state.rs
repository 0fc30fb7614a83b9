//! A step as it stands, whatever file it came from.
//!
//! Two kinds of files carry it (K-12); this is what both mean. Statuses of all generations read as one (K-03).

#[cfg(test)]
mod tests;

use serde::Deserialize;
use serde::Serialize;
use serde_json::Value as Json;

use super::machine;
use super::phases::Schema;
use super::skip;
use super::skip::Reason;
use crate::finding::Place;
use crate::time::Utc;

/// Where a step stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepStatus {
    Todo,
    InProgress,
    InReview,
    Partial,
    Failed,
    Retry,
    Rework,
    Done,
    /// A word that nobody knows; never taken for a good one.
    Unknown(String),
}

/// Words in other cases and with other separators are the same word.
fn folded(word: &str) -> String {
    word.trim().to_ascii_uppercase().replace(['-', ' '], "_")
}

impl StepStatus {
    /// Reads a status. `COMPLETED` and its likes are DONE (K-34), and nothing at all is TODO.
    pub fn read(word: Option<&str>) -> StepStatus {
        let Some(word) = word else { return StepStatus::Todo };
        match folded(word).as_str() {
            "" | "TODO" | "NOT_STARTED" | "PENDING" | "PLANNED" | "NOT_EXECUTED" => StepStatus::Todo,
            "IN_PROGRESS" | "STARTED" | "RUNNING" | "ACTIVE" => StepStatus::InProgress,
            "IN_REVIEW" | "REVIEW" => StepStatus::InReview,
            "PARTIAL" | "PARTIAL_COMPLETION" | "PARTIALLY_COMPLETED" => StepStatus::Partial,
            "FAILED" | "FAIL" => StepStatus::Failed,
            "RETRY" => StepStatus::Retry,
            "REWORK" => StepStatus::Rework,
            "DONE" | "COMPLETED" | "COMPLETE" | "EXECUTED" => StepStatus::Done,
            _ => StepStatus::Unknown(word.to_owned()),
        }
    }

    /// The word of the machine.
    pub fn word(&self) -> &str {
        match self {
            StepStatus::Todo => "TODO",
            StepStatus::InProgress => "IN_PROGRESS",
            StepStatus::InReview => "IN_REVIEW",
            StepStatus::Partial => "PARTIAL",
            StepStatus::Failed => "FAILED",
            StepStatus::Retry => "RETRY",
            StepStatus::Rework => "REWORK",
            StepStatus::Done => "DONE",
            StepStatus::Unknown(word) => word,
        }
    }
}

/// Where a phase stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PhaseStatus {
    #[default]
    NotExecuted,
    /// Skipped in the file only until a checkpoint is over (K-06).
    Pending,
    InProgress,
    Done,
    Skipped,
    /// Also a finished phase whose outcome is FAIL (K-04).
    Failed,
    /// A word that nobody knows; never taken for a good one (E-83).
    Unknown(String),
}

impl PhaseStatus {
    /// Reads a status together with what it depends on; no status is NOT_EXECUTED (DS-39).
    pub fn read(word: Option<&str>, outcome: Option<&Outcome>, blocked_by: Option<&str>) -> PhaseStatus {
        let Some(word) = word else { return PhaseStatus::NotExecuted };
        match folded(word).as_str() {
            "" | "NOT_EXECUTED" | "NOT_STARTED" | "PENDING" | "TODO" => PhaseStatus::NotExecuted,
            "IN_PROGRESS" | "STARTED" | "RUNNING" => PhaseStatus::InProgress,
            "EXECUTED" | "COMPLETED" | "COMPLETE" | "DONE" => match outcome {
                Some(Outcome::Fail) => PhaseStatus::Failed,
                _ => PhaseStatus::Done,
            },
            "SKIPPED" | "SKIP" => match skip::reason(blocked_by) {
                Reason::Pending => PhaseStatus::Pending,
                _ => PhaseStatus::Skipped,
            },
            "FAILED" | "FAIL" => PhaseStatus::Failed,
            _ => PhaseStatus::Unknown(word.to_owned()),
        }
    }

    /// The word of the machine.
    pub fn word(&self) -> &str {
        match self {
            PhaseStatus::NotExecuted | PhaseStatus::Pending => "NOT_EXECUTED",
            PhaseStatus::InProgress => "IN_PROGRESS",
            PhaseStatus::Done => "EXECUTED",
            PhaseStatus::Skipped => "SKIPPED",
            PhaseStatus::Failed => "FAILED",
            PhaseStatus::Unknown(word) => word,
        }
    }

    /// The word of a generation.
    pub fn word_in<'s>(&'s self, schema: &'s Schema) -> &'s str {
        match self {
            PhaseStatus::Done => &schema.done,
            PhaseStatus::Failed => &schema.failed,
            PhaseStatus::Pending => "SKIPPED",
            other => other.word(),
        }
    }
}

/// How a phase ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    Pass,
    Fail,
    /// Some other word; it is never a pass.
    Other(String),
}

impl Outcome {
    /// Reads an outcome; blank is none.
    pub fn read(word: &str) -> Option<Outcome> {
        match folded(word).as_str() {
            "" => None,
            "PASS" | "PASSED" => Some(Outcome::Pass),
            "FAIL" | "FAILED" => Some(Outcome::Fail),
            _ => Some(Outcome::Other(word.trim().to_owned())),
        }
    }

    pub fn word(&self) -> &str {
        match self {
            Outcome::Pass => "PASS",
            Outcome::Fail => "FAIL",
            Outcome::Other(word) => word,
        }
    }
}

/// What a test run counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestResults {
    pub total: u64,
    pub passed: u64,
    pub failed: u64,
}

/// What is on record about a phase (DS-98).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PhaseRecord {
    pub name: String,
    pub index: usize,
    pub status: PhaseStatus,
    /// Times stand as the file has them; [`instant`] reads them.
    pub started_at: Option<String>,
    pub ended_at: Option<String>,
    pub duration_minutes: Option<f64>,
    pub turn_count: Option<u64>,
    pub outcome: Option<Outcome>,
    pub outcome_details: Option<String>,
    pub artifacts_created: Vec<String>,
    pub test_results: Option<TestResults>,
    pub notes: Option<String>,
    pub blocked_by: Option<String>,
    /// Earlier tries, the oldest first, as they stood; never overwritten.
    pub history: Vec<Json>,
    /// Where it stands in its file.
    #[serde(skip)]
    pub place: Option<Place>,
}

impl PhaseRecord {
    pub fn new(name: &str, index: usize) -> PhaseRecord {
        PhaseRecord { name: name.to_owned(), index, ..PhaseRecord::default() }
    }

    /// Over, and nothing has to be done about it: carried out and not failed, or skipped for a valid reason.
    pub fn is_closed(&self) -> bool {
        match self.status {
            PhaseStatus::Done => matches!(self.outcome, Some(Outcome::Pass | Outcome::Other(_))),
            PhaseStatus::Skipped => skip::reason(self.blocked_by.as_deref()) == Reason::Valid,
            _ => false,
        }
    }

    /// The try as it goes into the history: what is set of it, under the names of the record.
    pub fn as_history(&self, schema: &Schema) -> Json {
        let mut entry = serde_json::Map::new();
        entry.insert("status".to_owned(), Json::from(self.status.word_in(schema)));
        for (field, value) in self.fields() {
            let empty = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
            if field != "history" && !empty {
                entry.insert(field.to_owned(), value);
            }
        }
        Json::Object(entry)
    }

    /// Makes it new again: nothing is on record but its history.
    pub fn reset(&mut self) {
        self.status = PhaseStatus::NotExecuted;
        self.clear();
    }

    /// Clears what is on record about the try; its status and its history stay.
    pub fn clear(&mut self) {
        *self = PhaseRecord {
            status: std::mem::take(&mut self.status),
            history: std::mem::take(&mut self.history),
            place: self.place,
            ..PhaseRecord::new(&self.name, self.index)
        };
    }

    /// Everything but name and status, as a file would hold it, in the order in which a record is written.
    pub fn fields(&self) -> [(&'static str, Json); 11] {
        let text = |text: &Option<String>| text.as_deref().map_or(Json::Null, Json::from);
        [
            ("started_at", text(&self.started_at)),
            ("ended_at", text(&self.ended_at)),
            ("duration_minutes", self.duration_minutes.map_or(Json::Null, number)),
            ("turn_count", self.turn_count.map_or(Json::Null, Json::from)),
            ("outcome", self.outcome.as_ref().map_or(Json::Null, |outcome| Json::from(outcome.word()))),
            ("outcome_details", text(&self.outcome_details)),
            ("artifacts_created", Json::from(self.artifacts_created.clone())),
            ("test_results", self.test_results.map_or(Json::Null, |results| results.to_json())),
            ("notes", text(&self.notes)),
            ("blocked_by", text(&self.blocked_by)),
            ("history", Json::from(self.history.clone())),
        ]
    }
}

impl TestResults {
    pub fn to_json(self) -> Json {
        serde_json::json!({"total": self.total, "passed": self.passed, "failed": self.failed})
    }
}

/// Whole numbers are written without a point.
fn number(value: f64) -> Json {
    let whole = value.is_finite() && value.fract() == 0.0 && (0.0..1e9).contains(&value);
    let text = format!("{value:.0}");
    match text.parse::<u64>() {
        Ok(value) if whole => Json::from(value),
        _ => Json::from(value),
    }
}

/// A step as it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepState {
    /// The file it came from, as events name it.
    pub step_file: String,
    pub task_id: String,
    pub project_id: String,
    /// What kind of work it is, where the file says so: `research`, `infrastructure` and the like.
    pub task_type: Option<String>,
    pub status: StepStatus,
    pub phases: Vec<PhaseRecord>,
    /// `None` where no patterns are declared at all (K-33).
    pub allowed_patterns: Option<Vec<String>>,
    /// Whether the task is one that changes files.
    pub writes: bool,
    pub assigned_to: Option<String>,
    pub started_at: Option<String>,
    pub completed_at: Option<String>,
    pub failure_reason: Option<String>,
    pub can_retry: Option<bool>,
    pub partial_completion: bool,
    pub recovery_suggestions: Vec<String>,
}

impl StepState {
    /// A step that nobody has begun.
    pub fn fresh(step_file: &str, project_id: &str, task_id: &str, schema: &Schema) -> StepState {
        StepState {
            step_file: step_file.to_owned(),
            task_id: task_id.to_owned(),
            project_id: project_id.to_owned(),
            task_type: None,
            status: StepStatus::Todo,
            phases: schema.phases.iter().map(|phase| PhaseRecord::new(&phase.name, phase.index)).collect(),
            allowed_patterns: None,
            writes: true,
            assigned_to: None,
            started_at: None,
            completed_at: None,
            failure_reason: None,
            can_retry: None,
            partial_completion: false,
            recovery_suggestions: vec![],
        }
    }

    pub fn phase(&self, name: &str) -> Option<&PhaseRecord> {
        self.phases.iter().find(|phase| phase.name == name)
    }

    /// The built-in schema whose phases this step has, else the usual one.
    pub fn schema(&self) -> &'static Schema {
        self.schema_among(&[])
    }

    /// The schema whose phases this step has: one of the project's own, else a built-in one, else the usual one.
    pub fn schema_among<'s>(&self, own: &'s [Schema]) -> &'s Schema {
        let names: Vec<&str> = self.phases.iter().map(|phase| phase.name.as_str()).collect();
        machine::among(&names, own, None)
    }

    /// Stopped in the middle, with what is left to do said: it can be resumed (K-16, K-17).
    pub fn is_resumable(&self) -> bool {
        let partial = self.status == StepStatus::Partial
            || (self.status == StepStatus::Failed && self.partial_completion);
        partial && !self.recovery_suggestions.is_empty()
    }

    /// Every phase is over, and nothing has to be done about any of them.
    pub fn all_phases_valid(&self) -> bool {
        !self.phases.is_empty() && self.phases.iter().all(PhaseRecord::is_closed)
    }
}

/// The point in time that a file's text means. Times without a zone are UTC (K-84); a blank may stand for the `T`.
pub fn instant(text: &str) -> Option<Utc> {
    let text = text.trim().replacen(' ', "T", 1);
    Utc::parse(&text)
        .or_else(|| Utc::parse(&format!("{text}Z")))
        .or_else(|| Utc::parse(&format!("{text}T00:00:00Z")))
}
