//! The verdict before a commit (DS-30, K-04, K-06, K-08, K-18).

use serde_json::Value as Json;
use serde_json::json;

use super::Objection;
use super::sentences;
use crate::roadmap::audit::Event;
use crate::roadmap::audit::Happening;
use crate::time::Utc;

/// What kind of commit it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// In the middle of a step: later phases may be marked as pending.
    Checkpoint,
    /// The end of a step: nothing may be left.
    Final,
}

impl Level {
    pub fn word(self) -> &'static str {
        match self {
            Level::Checkpoint => "checkpoint",
            Level::Final => "final",
        }
    }
}

/// Whether a step lets a commit pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitVerdict {
    pub step_file: String,
    pub task_id: String,
    pub level: Level,
    pub errors: Vec<Objection>,
}

impl CommitVerdict {
    pub fn passed(&self) -> bool {
        self.errors.is_empty()
    }

    /// Adds what was found beside the record, each once.
    pub fn add(&mut self, errors: impl IntoIterator<Item = Objection>) {
        super::add_objections(&mut self.errors, errors);
    }

    pub fn sentences(&self) -> Vec<String> {
        sentences(&self.errors)
    }

    /// The line of the trail (DS-59, DS-60): texts for other programs, and the typed form beside them.
    pub fn event(&self, now: Utc) -> Event {
        let happening =
            if self.passed() { Happening::CommitValidationPassed } else { Happening::CommitValidationFailed };
        let unless_passed = |value: Json| if self.passed() { Json::Null } else { value };
        Event::new(now, happening, &self.step_file)
            .with("step_id", self.task_id.as_str())
            .with("level", self.level.word())
            .with("errors", unless_passed(json!(self.sentences())))
            .with("objections", unless_passed(json!(self.errors)))
    }
}
