//! The protocol between engine and agent: the brief that goes in, the report that comes out.
//!
//! An agent's report is read by [`read`], which answers with sentences that the agent can act on. The serde
//! form of [`Report`] is the journal's: the same fields, with those that nobody knows gathered in `unknown`.

mod fields;
mod once;
mod reader;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;

use crate::failure::Class;

pub use reader::Demand;
pub use reader::OwedVerdict;
pub use reader::read;

/// Limits of one attempt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
}

/// The complete, self-contained instruction for one attempt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Brief {
    pub run: String,
    pub step: String,
    pub role: String,
    pub attempt: u32,
    pub prompt: String,
    pub inputs: Value,
    pub parameters: Value,
    pub outputs_expected: Vec<String>,
    pub criteria: Vec<String>,
    pub triggers: Vec<String>,
    pub schema: Value,
    pub limits: Limits,
    pub scope: Value,
    pub feedback: Vec<String>,
}

/// How the agent says it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Done,
    Partial,
    Failed,
}

/// An agent's judgement of one criterion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    pub criterion: String,
    pub met: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DecisionNote {
    #[serde(default)]
    pub subject: String,
    #[serde(default)]
    pub outcome: String,
    #[serde(default)]
    pub rationale: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ObservationNote {
    #[serde(default, rename = "type")]
    pub kind: String,
    #[serde(default)]
    pub subject: String,
    #[serde(default)]
    pub value: Value,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProposedOption {
    #[serde(default)]
    pub label: String,
    #[serde(default)]
    pub description: String,
}

/// A question that the agent would like a person to answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProposedQuestion {
    #[serde(default)]
    pub header: String,
    #[serde(default)]
    pub question: String,
    #[serde(default)]
    pub options: Vec<ProposedOption>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    #[serde(default)]
    pub input_tokens: u64,
    #[serde(default)]
    pub output_tokens: u64,
    #[serde(default)]
    pub cost_usd: f64,
    #[serde(default)]
    pub turns: u32,
}

/// The agent's own word about a failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReportedError {
    #[serde(default)]
    pub class: String,
    #[serde(default)]
    pub message: String,
}

impl ReportedError {
    /// The class that the agent's word stands for; another word than the two of the protocol stands for none.
    pub fn failure_class(&self) -> Option<Class> {
        match self.class.trim() {
            "transient" => Some(Class::Transport),
            "permanent" => Some(Class::Contract),
            _ => None,
        }
    }
}

/// What an agent reports: a claim, and stored as one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub status: Status,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub outputs: serde_json::Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub triggers: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<Judged>,
    /// The word of a step that judges; empty where the agent gives none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub verdict: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<DecisionNote>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observations: Vec<ObservationNote>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<ProposedQuestion>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ReportedError>,
    /// The person who did the work in an agent's place. Set by the engine alone: no report can claim it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// Fields that the protocol does not know: kept, never an error.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unknown: BTreeMap<String, Value>,
}
