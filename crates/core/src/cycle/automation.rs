//! `SETUP_AUTOMATION.yaml`: limits, forbidden commands, risk gates and the Judge's battery, as projects write them.

mod reader;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;

use super::Limits;
use super::Risk;
use super::Role;
use super::archive;
use super::archive::Suffix;
use super::document;
use crate::doc;
use crate::doc::Node;
use crate::doc::Sink;
use crate::finding::Finding;

/// What the Judge has to run (CY-59 to CY-62).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    ExistingTests,
    Linter,
    SecurityScan,
}

impl Check {
    pub const ALL: [Check; 3] = [Check::ExistingTests, Check::Linter, Check::SecurityScan];

    /// The word as files carry it.
    pub fn word(self) -> &'static str {
        match self {
            Check::ExistingTests => "existing_tests",
            Check::Linter => "linter",
            Check::SecurityScan => "security_scan",
        }
    }
}

/// What holds for steps of one risk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RiskGate {
    /// What counts as being of this risk: `refactor`, `deployment` ...
    pub operations: Vec<String>,
    /// A person approves the step before the Actor starts.
    pub approval_before: bool,
    pub audit_trail: bool,
}

/// What stands between a step and the commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gates {
    /// Checks that the project demands: one of them that is not configured is unknown.
    pub required_checks: Vec<Check>,
    pub risks: BTreeMap<Risk, RiskGate>,
    pub test_timeout_ms: Option<u64>,
    /// Warnings of the linter are failures.
    pub linter_warnings_fail: bool,
    /// Warnings of the security scan are failures.
    pub security_warnings_fail: bool,
    /// Minutes for one attempt of each role, where they are limited.
    pub planner_minutes: Option<u32>,
    pub actor_minutes: Option<u32>,
    pub judge_minutes: Option<u32>,
    /// When a person is reminded of a question; silence is never an answer.
    pub question_reminder_ms: Option<u64>,
    pub approval_reminder_ms: Option<u64>,
}

impl Default for Gates {
    fn default() -> Gates {
        let high = RiskGate { approval_before: true, audit_trail: true, ..RiskGate::default() };
        let risks =
            [(Risk::Low, RiskGate::default()), (Risk::Medium, RiskGate::default()), (Risk::High, high)];
        Gates {
            required_checks: vec![],
            risks: BTreeMap::from(risks),
            test_timeout_ms: None,
            linter_warnings_fail: false,
            security_warnings_fail: true,
            planner_minutes: None,
            actor_minutes: None,
            judge_minutes: None,
            question_reminder_ms: None,
            approval_reminder_ms: None,
        }
    }
}

impl Gates {
    /// Whether a person approves a step of this risk before it is carried out. For high risk this cannot be
    /// switched off (CY-84).
    pub fn approval_before(&self, risk: Risk) -> bool {
        risk == Risk::High || self.risks.get(&risk).is_some_and(|gate| gate.approval_before)
    }

    /// How many minutes one attempt of a role may take, where that is limited.
    pub fn minutes(&self, role: Role) -> Option<u32> {
        match role {
            Role::Human => None,
            Role::Planner => self.planner_minutes,
            Role::Actor => self.actor_minutes,
            Role::Judge => self.judge_minutes,
        }
    }
}

/// Where the documents are and what their names end in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names {
    pub context: String,
    pub archive: String,
    pub success_suffix: String,
    pub incomplete_suffix: String,
    pub failed_suffix: String,
}

impl Default for Names {
    fn default() -> Names {
        Names {
            context: document::CURRENT.to_owned(),
            archive: archive::FOLDER.to_owned(),
            success_suffix: Suffix::None.text().to_owned(),
            incomplete_suffix: Suffix::Incomplete.text().to_owned(),
            failed_suffix: Suffix::Failed.text().to_owned(),
        }
    }
}

impl Names {
    /// The path of a snapshot.
    pub fn archived(&self, day: &str, number: u32, suffix: Suffix) -> String {
        let suffix = match suffix {
            Suffix::None => &self.success_suffix,
            Suffix::Incomplete => &self.incomplete_suffix,
            Suffix::Failed => &self.failed_suffix,
        };
        format!("{}/{}", self.archive, archive::file_name(day, number, suffix))
    }
}

/// The whole file. The default is that of a project without one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Automation {
    pub limits: Limits,
    pub gates: Gates,
    pub names: Names,
}

impl Automation {
    /// Reads a file. What is missing is as usual; what is wrong is said, and stands as usual too.
    pub fn parse(bytes: &[u8]) -> (Automation, Vec<Finding>) {
        let (root, mut findings) = doc::parse(bytes, &doc::Limits::default());
        let sink = Sink::default();
        let automation = root.map(|root| Automation::of(&root, &sink)).unwrap_or_default();
        findings.extend(sink.into_findings());
        doc::sort(&mut findings);
        (automation, findings)
    }

    /// Reads a tree.
    pub fn of(root: &Node, sink: &Sink) -> Automation {
        reader::read(root, sink)
    }
}
