//! The verdict when an agent stops (DS-39 to DS-48).

use serde::Deserialize;
use serde::Serialize;
use serde::Serializer;
use serde_json::Value as Json;
use serde_json::json;

use super::Objection;
use super::gates::Evidence;
use super::gates::NOTHING_CHECKED;
use super::gates::Shown;
use super::sentences;
use crate::finding::Finding;
use crate::finding::Severity;
use crate::roadmap::audit::Event;
use crate::roadmap::audit::Happening;
use crate::time::Utc;

/// The sum of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    Error,
    Warning,
    Success,
}

impl Standing {
    /// The word that stands in the trail.
    pub fn word(self) -> &'static str {
        match self {
            Standing::Error => "error",
            Standing::Warning => "warning",
            Standing::Success => "success",
        }
    }
}

/// What is said when an agent stops (DS-46).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StopVerdict {
    pub status: Standing,
    pub step_file: String,
    /// Written as sentences; the typed form is `objections` of the event.
    #[serde(serialize_with = "as_sentences")]
    pub errors: Vec<Objection>,
    pub warnings: Vec<String>,
    /// What the gates of the project showed, where some are configured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// The step is said to be done, and the project has no gate that could tell.
    #[serde(skip)]
    pub nothing_checked: bool,
    pub timestamp: String,
}

/// Why a stop is not judged: the work is under no step (DS-37).
pub const NO_STEP_FILE: &str = "no_step_file";

/// The result of a stop that is not judged.
pub fn skipped(reason: &str) -> Json {
    json!({"status": "skipped", "reason": reason})
}

impl StopVerdict {
    pub(in crate::roadmap) fn new(
        step_file: &str,
        errors: Vec<Objection>,
        warnings: Vec<String>,
        now: Utc,
    ) -> StopVerdict {
        let status = match (errors.is_empty(), warnings.is_empty()) {
            (false, _) => Standing::Error,
            (true, false) => Standing::Warning,
            (true, true) => Standing::Success,
        };
        StopVerdict {
            status,
            step_file: step_file.to_owned(),
            errors,
            warnings,
            evidence: vec![],
            nothing_checked: false,
            timestamp: now.to_string(),
        }
    }

    /// The verdict where the state file is not there, or cannot be read (DS-38).
    pub fn of_findings(step_file: &str, findings: &[Finding], now: Utc) -> StopVerdict {
        let (mut errors, mut warnings) = (vec![], vec![]);
        for finding in findings {
            match finding.severity {
                Severity::Error => errors.push(Objection::state_file(finding)),
                Severity::Warning => warnings.push(finding.message.clone()),
                Severity::Note => {}
            }
        }
        StopVerdict::new(step_file, errors, warnings, now)
    }

    pub fn is_error(&self) -> bool {
        self.status == Standing::Error
    }

    /// Adds what was found beside the record, each once.
    pub fn add_errors(&mut self, errors: impl IntoIterator<Item = Objection>) {
        super::add_objections(&mut self.errors, errors);
        if !self.errors.is_empty() {
            self.status = Standing::Error;
        }
    }

    pub fn add_warnings(&mut self, warnings: impl IntoIterator<Item = String>) {
        self.warnings.extend(warnings);
        if !self.warnings.is_empty() && self.status == Standing::Success {
            self.status = Standing::Warning;
        }
    }

    /// Adds what the gates showed: red and broken ones are errors, those that were not run are warnings.
    pub fn add_evidence(&mut self, evidence: Vec<Evidence>) {
        self.add_errors(evidence.iter().filter_map(Evidence::objection));
        let not_run = evidence.iter().filter(|one| one.result == Shown::NotRun);
        self.add_warnings(not_run.map(Evidence::sentence));
        self.evidence = evidence;
    }

    /// The line of the trail (DS-47): texts for other programs, and the typed form beside them.
    pub fn event(&self, task_id: &str, now: Utc) -> Event {
        let event = Event::new(now, Happening::SubagentStopValidation, &self.step_file)
            .with("step_id", task_id)
            .with("status", json!(self.status))
            .with("errors", sentences(&self.errors))
            .with("warnings", self.warnings.clone());
        let event = if self.errors.is_empty() { event } else { event.with("objections", json!(self.errors)) };
        let event = if self.nothing_checked { event.with("gates", NOTHING_CHECKED) } else { event };
        if self.evidence.is_empty() { event } else { event.with("evidence", json!(self.evidence)) }
    }
}

fn as_sentences<S: Serializer>(errors: &[Objection], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(errors.iter().map(Objection::sentence))
}
