//! What a process run records as it goes: the execution log and all records follow from these facts alone.

use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;

use super::Capability;
use super::DecisionType;
use super::ExecutionStatus;
use super::FlowEvent;
use super::ObservationType;
use super::Pattern;
use super::Severity;
use super::StepStatus;
use crate::time::Utc;
use crate::verdict::Verdict;

/// A fact of a process run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub enum Fact {
    Began(Began),
    StepEnded(StepRecord),
    Decision(Decision),
    Observation(Observation),
    FlowChanged(FlowChange),
    /// The fix step of the last RETURN was run (K-89).
    FixStepUsed,
    /// What a dry run would have done.
    TestLogged {
        text: String,
    },
    TestSummary {
        steps: u32,
        escalations: u32,
    },
    Error {
        text: String,
    },
    Standing {
        status: ExecutionStatus,
    },
    /// A matter that the result rests on.
    Weighed(Weighed),
    Finished(Finished),
}

/// What is known about one matter that the result rests on: a step, a criterion, a decision (K-110).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Weighed {
    pub matter: String,
    pub verdict: Verdict,
}

/// The execution log was created (PX-40).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Began {
    pub execution_id: String,
    pub instance_id: String,
    pub at: Utc,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub test_mode: bool,
}

/// One step, done or not (PX-42).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepRecord {
    pub step_id: String,
    pub step_name: String,
    pub capability: Capability,
    pub pattern: Pattern,
    pub started: Utc,
    pub completed: Utc,
    pub status: StepStatus,
    pub outcome_summary: String,
    pub decisions: Vec<String>,
    pub observations: Vec<String>,
    pub iteration: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalation: Option<Escalation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<StepError>,
}

/// A question that a step led to, and its answer (PX-66).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Escalation {
    pub trigger: String,
    pub action: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    pub target: String,
    pub context: String,
    pub human_response: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepError {
    pub message: String,
    pub recoverable: bool,
}

/// A decision as its file carries it (PX-97).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    pub id: String,
    pub at: Utc,
    #[serde(rename = "type")]
    pub kind: DecisionType,
    pub actor: String,
    pub subject: String,
    pub outcome: String,
    pub rationale: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub context: String,
    /// A document that it belongs to; `ref` in the file.
    #[serde(default, rename = "ref", skip_serializing_if = "String::is_empty")]
    pub reference: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

/// An observation as its file carries it (PX-96).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    pub id: String,
    pub at: Utc,
    #[serde(rename = "type")]
    pub kind: ObservationType,
    pub observer: String,
    pub subject: String,
    pub value: Value,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub context: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

/// The flow left its straight line (PX-93).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowChange {
    pub at: Utc,
    #[serde(rename = "type")]
    pub kind: FlowEvent,
    pub from_step: Option<String>,
    pub to_step: Option<String>,
    pub reason: String,
    pub severity: Option<Severity>,
    pub iteration: u32,
    pub fix_step_used: bool,
}

/// The run is over (PX-43).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    pub at: Utc,
    pub status: ExecutionStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}
