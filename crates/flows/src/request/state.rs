//! What flows ask of the state files of a roadmap.

use serde::Deserialize;
use serde::Serialize;
use serde_json::Map;
use serde_json::Value;
use seriatim_core::roadmap::audit::Event;
use seriatim_core::roadmap::result::FilesModified;
use seriatim_core::roadmap::state::StepState;
use seriatim_core::time::Utc;

/// What is asked of the state files. Many runs and people may write them at the same time; each call is one
/// transaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum StateCall {
    /// What an earlier run left in memory about a step.
    Recall { path: String, step: String },
    /// Writes a step as it shall stand. Doing it twice is doing it once.
    Save(Box<Save>),
}

/// A step as it shall stand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Save {
    pub path: String,
    /// What the flow believes to be there; another content is replaced all the same, and told.
    pub before: StepState,
    pub after: StepState,
    /// What happened, for the audit trail.
    pub events: Vec<Event>,
    /// Fields that go on record beside the phases.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub record: Map<String, Value>,
    /// Entries for the history of the step's states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<FilesModified>,
    /// What a later run has to know and the file has no place for.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub memory: Value,
    pub at: Utc,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Saved {
    /// Somebody else had changed this step in the file since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub foreign: bool,
    /// The audit file that was written to.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub trail: String,
}
