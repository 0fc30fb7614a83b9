//! The facts of a cycle: everything that its run records about itself, from the goal to the end.
//!
//! Fields that runs of 0.1.0 did not record have defaults, so that such a run can still be shown.

mod telling;
#[cfg(test)]
mod tests;

use serde::Deserialize;
use serde::Serialize;

use super::Alert;
use super::Risk;
use super::Role;
use super::choices::ApprovalChoice;
use super::choices::BlockedChoice;
use super::choices::ClarifyChoice;
use super::choices::ContextChoice;
use super::choices::GoalChoice;
use super::choices::MovedChoice;
use super::choices::OccupiedChoice;
use super::choices::OwnChangesChoice;
use super::choices::PauseChoice;
use super::choices::PlanlessChoice;
use super::choices::RiskChoice;
use super::choices::UncheckedChoice;
use super::choices::UndeliveredChoice;
use crate::evidence::Counts;
use crate::hash::Hash;
use crate::ledger::LedgerEntry;
use crate::projection::Fact;
use crate::verdict::Verdict;

/// One fact of a cycle. `cycle` is the number of the cycle in the archive; one run can hold several cycles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub enum CycleFact {
    /// The automation file has problems; the values concerned have their defaults.
    AutomationFindings { findings: Vec<String> },
    /// The document was opened.
    CycleBegan { cycle: u32, project: String },
    /// Checks that this project has not configured: nothing of the cycle rests on them.
    NotChecked { cycle: u32, checks: Vec<String> },
    /// How many tests run before the work: later runs must not execute fewer.
    FloorTaken {
        cycle: u32,
        /// Absent where the tests of the base cannot be counted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tests: Option<Counts>,
        words: String,
    },
    /// A goal was taken that can be worked on.
    GoalTaken {
        cycle: u32,
        goal: String,
        /// How to tell that it is reached, as the person put it.
        criteria: Vec<String>,
        /// Documents that the roles are given.
        documents: Vec<String>,
    },
    /// Documents of the goal that no role is given, each with the reason.
    DocumentsRefused { cycle: u32, why: Vec<String> },
    /// The Planner asks before it plans.
    PlannerAsked { cycle: u32, questions: Vec<String> },
    /// A person answered what a role lacked; its next brief holds the answer.
    ContextPack { role: Role, need: String },
    /// A plan could not be used and went back to the Planner, or to a person after the last correction.
    PlanRejected { cycle: u32, why: Vec<String> },
    /// A plan that can be used.
    PlanMade {
        cycle: u32,
        title: String,
        risk: Risk,
        /// Files that the step changes.
        files: Vec<String>,
        /// Files that the step creates.
        creates: Vec<String>,
        /// Lines that the Planner expects to change.
        lines: u32,
        success_criteria: Vec<String>,
    },
    /// A person decided about a step of high risk or with forbidden commands.
    RiskDecided {
        #[serde(default)]
        cycle: u32,
        choice: RiskChoice,
        by: String,
        step: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        words: String,
    },
    /// The Actor did the step. Files and lines are as the engine measured them.
    WorkDone {
        cycle: u32,
        /// What the Actor says about it: a claim.
        summary: String,
        /// Everything that the cycle has changed so far.
        files: Vec<String>,
        /// Lines of this step.
        lines: u64,
    },
    /// The Actor's work does not count.
    WorkFailed { cycle: u32, blocker: BlockerClass, why: String },
    /// Work beyond the limits was taken out of the files.
    WorkPutBack {
        /// The snapshot that keeps it; none where the files could not be restored.
        kept_as: Option<String>,
        lines: u64,
    },
    /// One check of the battery.
    CheckRan {
        cycle: u32,
        check: String,
        result: CheckResult,
        words: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hash: Option<Hash>,
    },
    /// The Judge gave no answer that can be used, and is told why.
    OpinionRejected { cycle: u32, why: Vec<String> },
    /// All findings of the cycle so far, as they stand.
    FindingsNoted { cycle: u32, findings: Vec<LedgerEntry> },
    /// A person decided about matters of which nobody knows whether they are good.
    UncheckedDecided {
        cycle: u32,
        choice: UncheckedChoice,
        matters: Vec<String>,
        by: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        words: String,
    },
    /// The verdict: the battery joined with the Judge's opinion.
    Judged {
        cycle: u32,
        pass: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        verdict: Option<Verdict>,
        evidence: Vec<CheckSeen>,
        #[serde(default)]
        opinion: Opinion,
        /// Why it is not sufficient.
        #[serde(default)]
        reasons: Vec<String>,
    },
    /// A person decided about work that passed.
    Approval {
        cycle: u32,
        choice: ApprovalChoice,
        by: String,
        /// The tree that was shown.
        tree: String,
        latency_ms: u64,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        words: String,
    },
    /// Files changed after they were shown, so the approval does not hold.
    ApprovalVoid { cycle: u32, shown: String, changed: Vec<String> },
    /// Approved work was committed.
    Delivered {
        cycle: u32,
        how: DeliveredHow,
        commit: String,
        /// The branch that has the commit, where one is checked out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
        pushed: bool,
        files: Vec<String>,
    },
    /// A person's answer to one of the other questions.
    Decided {
        cycle: u32,
        #[serde(flatten)]
        decision: Decision,
        by: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        words: String,
    },
    /// The loop paused after too many tries in a row.
    Paused { cycle: u32, archive: String },
    /// Something that a person should hear of.
    Alert { alert: Alert, why: String, cycle: u32 },
    /// The document was changed by another process than the engine and written anew.
    DocumentTampered { cycle: u32, what: String },
    /// An effect beside the work failed.
    Error {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effect: Option<FailedEffect>,
        text: String,
    },
    /// A copy of the document was put into the archive.
    Archived { cycle: u32, path: String },
    /// The cycle is over.
    CycleEnded { cycle: u32, end: CycleEnd },
}

/// Why a step failed, by where it goes from there (K-59).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockerClass {
    /// The Planner can plan around it.
    Adjustable,
    /// A person's word is needed.
    Approval,
    /// Nothing can be done about it.
    Unrecoverable,
}

impl BlockerClass {
    /// Reads the word of an Actor's report.
    pub fn of(word: &str) -> Option<BlockerClass> {
        match word {
            "adjustable" => Some(BlockerClass::Adjustable),
            "approval" => Some(BlockerClass::Approval),
            "unrecoverable" => Some(BlockerClass::Unrecoverable),
            _ => None,
        }
    }
}

/// The result of one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckResult {
    // Runs of earlier versions recorded other words.
    #[serde(alias = "green")]
    Good,
    #[serde(alias = "red")]
    Bad,
    /// It says nothing about the work: killed, cut off, no test ran.
    Unknown,
    /// The project has no such check.
    #[serde(alias = "none")]
    NotRun,
}

impl CheckResult {
    pub fn of(verdict: &Verdict) -> CheckResult {
        match verdict {
            Verdict::Good(_) => CheckResult::Good,
            Verdict::Bad(_) => CheckResult::Bad,
            Verdict::Unknown(_) => CheckResult::Unknown,
            Verdict::NotApplicable(_) => CheckResult::NotRun,
        }
    }

    /// The word as documents carry it.
    pub fn word(self) -> &'static str {
        match self {
            CheckResult::Good => "good",
            CheckResult::Bad => "bad",
            CheckResult::Unknown => "unknown",
            CheckResult::NotRun => "not run",
        }
    }
}

/// A check as the verdict counts it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckSeen {
    pub check: String,
    /// Not recorded by earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<CheckResult>,
    /// Of its output.
    pub hash: Option<Hash>,
}

/// What the Judge said, or a person in its place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opinion {
    Pass,
    Insufficient(String),
    /// The Judge did not answer, with the reason (K-114).
    Missing(String),
    /// A person said PASS: as the Judge, or where the Judge did not answer.
    Person {
        by: String,
        words: String,
    },
    /// Not recorded.
    #[default]
    Unknown,
}

/// How work was committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveredHow {
    Commit,
    Merge,
    Squash,
}

/// An effect that failed without ending the cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailedEffect {
    Alert,
    Archive,
    Delivery,
}

/// How a cycle ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CycleEnd {
    /// Passed, approved and committed.
    Completed,
    /// Stopped by a person, or replaced by another goal.
    Incomplete,
    /// Ended by a blocker.
    Failed,
}

/// A question of the cycle and what was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "matter", content = "choice", rename_all = "snake_case")]
pub enum Decision {
    Occupied(OccupiedChoice),
    Goal(GoalChoice),
    Clarify(ClarifyChoice),
    Context(ContextChoice),
    Blocked(BlockedChoice),
    Undelivered(UndeliveredChoice),
    OwnChanges(OwnChangesChoice),
    Moved(MovedChoice),
    Pause(PauseChoice),
    Planless(PlanlessChoice),
}

/// Returns the facts of a cycle among those of a run, in their order.
pub fn read_facts(facts: &[Fact]) -> Vec<CycleFact> {
    facts.iter().filter_map(|fact| serde_json::from_value(fact.data.clone()).ok()).collect()
}
