//! The roadmap dialect: the steps of a project through their phases, with evidence that the engine gathers itself.

mod base;
mod begin;
mod call;
mod close;
mod dialect;
pub(crate) mod entrance;
mod finalize;
mod findings;
mod gates;
mod home;
mod people;
mod phase;
pub mod place;
mod project;
mod prove;
mod save;
pub(crate) mod settings;
mod several;
mod tests_kept;
mod unchecked;
mod work;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;
use serde_json::json;
use seriatim_core::finding::Finding;
use seriatim_core::gate::Gate;
use seriatim_core::projection::NoFiles;
use seriatim_core::projection::Projector;
use seriatim_core::roadmap::phases::Schema;

pub use dialect::DIALECT;

use crate::Cx;
use crate::registry::End;
use crate::registry::Ended;
use project::Project;
pub(crate) use save::apply;
use work::StepEnd;

/// How agents are called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Call {
    /// One call for each phase.
    #[default]
    Phase,
    /// One call for the whole step; the agent reports each phase itself.
    Step,
}

/// What the work is started with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Start {
    pub project: String,
    /// The path of the roadmap.
    pub roadmap: String,
    /// The path of the state file; `{step}` in it stands for the step where each has a file of its own.
    pub state: String,
    /// The one step that is meant; all open ones where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
    /// The agent that was named, which counts more than the one that the step suggests (DW-23).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Agents of the configuration beside the usual ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// How many steps may be carried out side by side.
    pub parallel: u32,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub gates: BTreeMap<String, Gate>,
    pub call: Call,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub push: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_point: Option<String>,
    /// The tool that checks the tests by changing the code, with `{files}` for its scope.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mutation: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub attach: bool,
    /// The project's own list of phases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phases: Option<PinnedFile>,
    /// Whether a closing pass follows the last step.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub finalize: bool,
}

/// A file of the configuration, with its text when the work began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedFile {
    pub path: String,
    pub text: String,
}

impl Start {
    /// Parses the lists of phases that the project brings itself.
    pub(crate) fn own_schemas(&self) -> Result<Vec<Schema>, Vec<Finding>> {
        self.phases.iter().map(|pinned| Schema::parse(&pinned.text)).collect()
    }

    /// Where the state of a step is.
    pub(crate) fn state_of(&self, step: &str) -> String {
        self.state.replace("{step}", step)
    }
}

/// The agent of steps that name none.
pub const USUAL_AGENT: &str = "software-crafter";

pub(crate) async fn roadmap(cx: Cx, input: Value) -> Ended {
    let start: Start = match serde_json::from_value(input) {
        Ok(start) => start,
        Err(e) => {
            return ended(End::Failed, false, &format!("The work cannot be started: {e}"), Value::Null);
        }
    };
    let mut project = match Project::open(&cx, start).await {
        Ok(project) => project,
        Err(end) => return end,
    };
    if let Err(stop) = project.ask_about_gates(&cx).await {
        return ended(End::Cancelled, false, &format!("Nothing was begun: {}.", stop.reason()), Value::Null);
    }
    match project.start.only.clone() {
        Some(step) => one(&cx, &project, &step).await,
        None => several::all(&cx, &project).await,
    }
}

/// Carries out one step.
async fn one(cx: &Cx, project: &Project, id: &str) -> Ended {
    let end = several::in_place(cx, project, id).await;
    let end = match end {
        StepEnd::Done(done) => {
            let pushed = home::push(cx, project).await;
            StepEnd::Done(done.with("pushed", json!(pushed)))
        }
        other => other,
    };
    let (status, good) = end.standing();
    ended(status, good, &end.message(), end.outcome())
}

/// A person stopped the work: what is on record says so by itself, since every phase is saved when it begins.
pub(crate) async fn cancelled(cx: Cx, input: Value) -> Ended {
    let Ok(start) = serde_json::from_value::<Start>(input) else {
        return Ended::cancelled("The work was cancelled.");
    };
    let message = match Project::open(&cx, start).await {
        Ok(project) => several::leave(&cx, &project).await,
        Err(_) => "The work was cancelled.".to_owned(),
    };
    Ended::cancelled(&message)
}

/// The state files are written by requests, since each must be durable before the next phase; nothing is projected.
pub(crate) fn projector(_input: &Value) -> Box<dyn Projector> {
    Box::new(NoFiles)
}

fn ended(status: End, good: bool, message: &str, outcome: Value) -> Ended {
    Ended { status, good, outcome, message: message.to_owned(), findings: vec![] }
}
