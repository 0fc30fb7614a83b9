//! Calling the agent of a role: a fresh one each time, with everything in its brief.

use serde_json::json;
use seriatim_core::action::Duty;
use seriatim_core::action::RoleGuide;
use seriatim_core::action::brief;
use seriatim_core::action::brief::Material;
use seriatim_core::action::severity;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::ledger::LedgerEntry;
use seriatim_core::question::Choice;
use seriatim_core::reading::Reading;
use seriatim_core::report::Brief;
use seriatim_core::report::Limits;
use seriatim_core::report::Report;

use super::course::Course;
use super::documents::understand_guide;
use crate::Cx;
use crate::request::Assignment;
use crate::request::Done;
use crate::request::PersonChoice;
use crate::reviewer;

/// What changes from one call of a role to the next.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    pub(super) attempt: u32,
    pub(super) feedback: Vec<String>,
    /// The agent, where a person named another one.
    pub(super) agent: Option<String>,
    pub(super) timeout_ms: u64,
    /// What requests call the folder in which it works; empty means the workspace.
    pub(super) cwd: String,
    /// Where people find that folder.
    pub(super) path: String,
}

impl Course {
    /// The guide of a role, read when it is needed (OC-07, OC-111). One that is not there is a broken contract.
    pub(super) async fn guide(&self, cx: &Cx, duty: &Duty) -> Result<RoleGuide, Failure> {
        let text = cx.reading(&duty.guide).await.map(|text| text.text);
        let why = match understand_guide(&duty.guide, text) {
            Reading::Read(guide) => return Ok(guide),
            Reading::Absent => format!("the guide of the role {} is not there: {}", duty.role, duty.guide),
            Reading::Broken(broken) => {
                format!("the guide of the role {} cannot be used: {}", duty.role, broken.headline())
            }
        };
        Err(Failure::new(Class::Contract, why))
    }

    /// What a role is told.
    pub(super) fn prompt(&self, duty: &Duty, guide: &RoleGuide, turn: &Turn) -> String {
        brief::prompt(&Material {
            action: &self.action,
            duty,
            guide: &guide.body,
            contract: &self.contract,
            inputs: &self.inputs,
            feedback: &turn.feedback,
            open: &self.findings.brief(),
        })
    }

    /// Whether a person does this.
    pub(super) fn is_by_person(&self, duty: &Duty, turn: &Turn) -> bool {
        self.start.is_by_person(turn.agent.as_deref().unwrap_or(&duty.role))
    }

    fn parameters(&self, duty: &Duty) -> serde_json::Value {
        let open: Vec<serde_json::Value> = self.findings.open().map(LedgerEntry::document).collect();
        let mut parameters = json!({"action": self.action.name, "purpose": duty.purpose});
        if !open.is_empty() {
            parameters["open_findings"] = json!(open);
        }
        parameters
    }

    /// What a person can say about the work of a role.
    fn options(&self, duty: &Duty, turn: &Turn) -> Vec<PersonChoice> {
        if !self.is_by_person(duty, turn) {
            return vec![];
        }
        if !duty.review {
            let done =
                Choice::new("done", "It is done", "The files are checked, and then the action goes on.");
            return vec![PersonChoice::told_by_id(done)];
        }
        reviewer::offers()
    }

    pub(super) async fn call(&self, cx: &Cx, duty: &Duty, prompt: String, turn: &Turn) -> Done<Report> {
        let agents = match &turn.agent {
            Some(agent) => vec![agent.clone()],
            None => vec![duty.role.clone()],
        };
        let inputs: serde_json::Map<String, serde_json::Value> =
            self.inputs.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        let assignment = Assignment {
            agents,
            title: format!("{}: {}", self.action.name, duty.title()),
            brief: Brief {
                step: duty.role.clone(),
                role: duty.role.clone(),
                attempt: turn.attempt,
                prompt,
                inputs: inputs.into(),
                parameters: self.parameters(duty),
                outputs_expected: duty.writes.clone(),
                limits: Limits { timeout_ms: Some(turn.timeout_ms), ..Limits::default() },
                scope: json!({"read": duty.reads, "write": duty.writes}),
                feedback: turn.feedback.clone(),
                ..Brief::default()
            },
            by_person: self.options(duty, turn),
            required: if duty.review && !self.is_by_person(duty, turn) {
                vec![severity::FINDINGS.to_owned()]
            } else {
                vec![]
            },
            cwd: turn.cwd.clone(),
            own_time: true,
            by_hand: self.start.manual,
            view: duty.role.clone(),
            ..Assignment::default()
        };
        cx.agent(assignment).await
    }
}
