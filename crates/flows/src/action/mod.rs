//! The action dialect: roles in stages, gates behind them, and nothing that slips past either.

mod call;
mod course;
mod dialect;
mod documents;
mod duty;
pub(crate) mod entrance;
mod evidence;
mod failing;
mod findings;
mod floor;
mod gates;
mod lifecycle;
mod matters;
mod measure;
mod open;
mod review;
mod rollback;
mod scope;
pub(crate) mod settings;
mod stage;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;
use serde_json::json;
use seriatim_core::ledger::LedgerEntry;
use seriatim_core::projection::NoFiles;
use seriatim_core::projection::Projector;

pub use dialect::DIALECT;
pub use seriatim_core::gate::Gate;

use crate::Cx;
use crate::registry::End;
use crate::registry::Ended;
use crate::request::SceneCall;
use course::Course;
use course::Leave;

/// What an action is started with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// The name of an action, or words that mean one.
    pub intent: String,
    /// A person does the steps; gates and evidence are the same (OC-01).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub manual: bool,
    /// Who started it.
    pub operator: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub gates: BTreeMap<String, Gate>,
    /// For each configured agent the one that is meant by "a different agent".
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fallbacks: BTreeMap<String, String>,
    /// For each configured agent whether it is a person; empty where none is.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub people: BTreeMap<String, bool>,
    /// Times that the configuration gives to agents, which win over the usual ones.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub timeouts: BTreeMap<String, u64>,
    /// By the ending of a file, the command that checks its syntax; `{file}` stands for it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub syntax: BTreeMap<String, Vec<String>>,
    /// Inputs that were given with the command.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, String>,
    /// Words by which the solution is known: they do not belong into the framework.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub solution: Vec<String>,
    /// The files of actions by name when the run began, links included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub documents: Vec<String>,
    /// Shapes of personal data that are not taken out of logs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pii_off: Vec<String>,
}

/// Where the contracts of actions lie.
pub const ACTIONS: &str = "agents/actions";
/// The wiring of roles and actions.
pub const MAP: &str = "agents/agent-map.yaml";
/// The stages of the product and their gates.
pub const LIFECYCLE: &str = "lifecycle-stage.yaml";

pub(crate) async fn action(cx: Cx, input: Value) -> Ended {
    let start: Start = match serde_json::from_value(input) {
        Ok(start) => start,
        Err(e) => {
            return ended(End::Failed, false, &format!("The action cannot be started: {e}"), Value::Null);
        }
    };
    let mut course = match Course::open(&cx, start).await {
        Ok(course) => course,
        Err(end) => return end,
    };
    let result = course.stages(&cx).await;
    course.close(&cx, result).await
}

/// A person cancelled from outside: what was done stays, and the evidence says how far it came.
pub(crate) async fn cancelled(_cx: Cx, _input: Value) -> Ended {
    Ended::cancelled(
        "The action was cancelled. Its files stay as they are; `seriatim snapshot list` shows what can be gone back to.",
    )
}

/// The evidence is written by requests, gate by gate; nothing is projected.
pub(crate) fn projector(_input: &Value) -> Box<dyn Projector> {
    Box::new(NoFiles)
}

fn ended(status: End, good: bool, message: &str, outcome: Value) -> Ended {
    Ended { status, good, outcome, message: message.to_owned(), findings: vec![] }
}

impl Course {
    /// The end of an action, whatever it came to.
    async fn close(&mut self, cx: &Cx, result: Result<(), Leave>) -> Ended {
        let (status, good, word, message) = match result {
            Ok(()) => match self.result() {
                verdict if verdict.is_good() => (End::Completed, true, "COMPLETED", self.good_message()),
                verdict => {
                    let message = format!(
                        "The action {} is not good: {verdict}. Start it again with:  seriatim run action {}",
                        self.action.name, self.action.name
                    );
                    (End::Failed, false, "FAILED", message)
                }
            },
            Err(Leave::Cancelled { by }) => {
                let message =
                    format!("{by} cancelled the action {}; its files stay as they are.", self.action.name);
                (End::Cancelled, false, "CANCELLED", message)
            }
            Err(Leave::RolledBack { by, words, undo }) => {
                let message = format!(
                    "{by} rolled the action {} back: {words} Undo with:  seriatim snapshot restore {undo}",
                    self.action.name
                );
                (End::Cancelled, false, "ROLLED_BACK", message)
            }
            Err(Leave::Broken { why }) => (End::Failed, false, "FAILED", why),
        };
        self.proof.summary.clone_from(&message);
        self.proof.ended = Some(cx.now().await);
        self.write_evidence_and_tell(cx).await;
        let _: Result<(), _> = cx.scene(SceneCall::Forget).await;
        if good {
            self.seal(cx).await;
        }
        let outcome = json!({
            "action": self.action.name, "result": word, "snapshot": self.snapshot, "evidence": self.evidence_folder(),
            "roles": self.proof.roles.iter().map(|(role, _)| role).collect::<Vec<_>>(),
            "artifacts": self.written.keys().collect::<Vec<_>>(),
            "findings": self.findings.entries().iter().map(LedgerEntry::document).collect::<Vec<_>>(),
            "overrides": self.waived, "not_checked": self.not_checked(),
            "verdict": self.result(),
            "decisions": self.decisions,
            "compliance": self.compliance(good),
        });
        ended(status, good, &message, outcome)
    }

    /// The self-check of the contract, each point true or false (OC-110 to OC-115).
    fn compliance(&self, good: bool) -> Value {
        let gates = self.action.stages.iter().flat_map(|stage| &stage.gates);
        let decided = |name: &str| self.proof.decisions.iter().any(|decision| decision.gate == name);
        let may_write = |path: &String| self.action.duties().any(|duty| duty.may_write(path));
        json!({
            "intent_mapped": self.action.doc.ends_with(&format!("/{}.md", self.action.name)),
            "role_guides_loaded": self.proof.roles.iter().all(|(_, guide)| self.guides.contains_key(guide)),
            "missing_inputs_requested": self.proof.inputs.len() >= self.action.prerequisites.len(),
            "outputs_at_specified_locations": self.written.keys().all(may_write),
            "gate_decisions_recorded": !good || gates.into_iter().all(|gate| decided(&gate.name)),
            "failures_name_artifacts_and_next_steps": self.unexplained == 0,
        })
    }
}
