//! The events of an action, as its run records them: one variant each, and one sentence for people.

mod tell;
#[cfg(test)]
mod tests;

use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;

use super::approval::Iteration;
use super::evidence::Change;
use super::evidence::Mode;
use super::gate::GateKind;
use super::severity::Concern;
use super::snapshot::RolledBack;
use crate::gate::GateEnd;
use crate::hash::Hash;
use crate::ledger::LedgerEntry;
use crate::sentence::Sentence;
use crate::sentence::SharedFact;
use crate::sentence::told;
use crate::time::Utc;
use crate::verdict::PersonWord;
use crate::verdict::Verdict;

/// An event of an action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub enum ActionFact {
    /// The inputs are complete, the snapshot is taken, and the first stage follows.
    ActionBegan {
        action: String,
        /// The name of the evidence folder: `build-20260207-103000`.
        run: String,
        /// The snapshot to go back to.
        snapshot: Option<String>,
        mode: Mode,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        operator: String,
        /// The lifecycle stage that was declared.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stage: Option<String>,
    },
    /// The files that the action may write were copied.
    SnapshotTaken { snapshot: String, scope: Vec<String> },
    /// The evidence was written, at the start and at the end of an action.
    EvidenceWritten { folder: String, files: Vec<String> },
    /// A stage is entered.
    StageBegan { stage: u32, roles: Vec<String>, gates: Vec<String> },
    /// An agent, or a person in manual mode, is called for a role.
    RoleCalled {
        role: String,
        stage: u32,
        attempt: u32,
        /// The agent that a person named in place of the role's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        timeout_ms: u64,
        /// What the call before taught, or what was sent back.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        feedback: Vec<String>,
    },
    /// The work of a role is validated and taken over.
    RoleDone {
        role: String,
        stage: u32,
        calls: u32,
        files: Vec<FileWritten>,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        summary: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        findings: Vec<Concern>,
    },
    /// The action goes on without what a role would have made.
    RoleSkipped { role: String, stage: u32, reason: Skipped },
    /// A role does not go on.
    RoleStopped { role: String, stage: u32, reason: RoleStop },
    /// A role is called again after a pause.
    Waiting {
        role: String,
        /// The documented line (OC-61).
        text: String,
        ms: u64,
    },
    /// The roles of a parallel stage ended, or one of them is tried again (OC-47).
    ParallelResults {
        /// In the documented form.
        text: String,
        roles: Vec<RoleResult>,
    },
    /// A command of a gate was run.
    GateRan {
        gate: String,
        command: String,
        /// Absent where a signal ended it, or it could not be started.
        exit: Option<i32>,
        /// The end of its output.
        output: String,
        output_hash: Option<Hash>,
        /// The lifecycle stage for which it was run (OC-123).
        stage: Option<String>,
        within: Vec<String>,
        /// What the whole output came to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        verdict: Option<Verdict>,
    },
    /// The tests that ran before the first role began: fewer are not enough.
    BaseTests {
        /// Absent where the number is not known.
        ran: Option<u64>,
        words: String,
    },
    /// The measured values are not what a quality gate demands.
    GateFailed { gate: String, text: String },
    /// A person decided at an approval gate (OC-55).
    GateRound { round: Iteration },
    /// A gate is left.
    GateEnded { gate: String, kind: GateKind, stage: u32, result: GateResult },
    /// An approval does not count.
    ApprovalVoid { why: Voided },
    /// The course of the action changed.
    FlowChanged {
        #[serde(rename = "type")]
        change: CourseChange,
        reason: String,
    },
    /// Critical findings send work back (OC-58).
    Blocked { text: String, findings: Vec<Concern>, roles: Vec<String> },
    /// The findings as they are after a review or a decision.
    Findings { findings: Vec<LedgerEntry> },
    /// What no check of this action looks at.
    NotChecked { matters: Vec<String> },
    /// A person let something count that is unknown or bad.
    Waived { matter: String, how: PersonWord, by: String, words: String },
    /// Findings that stop nothing are kept (OC-60).
    TrackedFindings { findings: Vec<String> },
    /// The gates that the lifecycle stage requires were run.
    LifecycleGates { stage: String, text: String, gates: Vec<LifecycleResult> },
    /// A person answered a question, or the engine came to a result.
    Decision {
        id: String,
        /// What was decided upon: a gate, a failure, a missing input.
        subject: String,
        /// The id of the chosen option, or `passed` and `blocked` where the engine decided.
        outcome: String,
        actor: String,
        rationale: String,
        #[serde(with = "moment")]
        at: Utc,
    },
    /// The files are as they were before the action (OC-67).
    RolledBack { event: RolledBack },
    /// The engine could not do something that the action needs.
    Error { at: ErrorAt, text: String },
    /// The files were left like this, so that a later change is noticed.
    ArtifactsSealed { files: u32 },
}

/// A file that a role wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileWritten {
    pub path: String,
    pub change: Change,
}

/// Why a role did not work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Skipped {
    /// Its condition does not hold.
    NotNeeded,
    /// It failed, and a person skipped it.
    Failed,
}

/// Why a role does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoleStop {
    Cancelled,
    RolledBack,
    /// The engine cannot go on with it.
    Broken,
}

/// How one role of a parallel stage ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleResult {
    pub role: String,
    pub result: RoleEnd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoleEnd {
    Done,
    Skipped,
    Stopped,
    Retrying,
}

/// What came of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateResult {
    /// Its command or its measures are good.
    Passed,
    /// A person approved.
    Approved,
    /// A person let it pass though it failed.
    Overridden,
    /// Nothing is open any more.
    Clarified,
    /// The roles went through their own work.
    Reviewed,
}

/// Why an approval does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Voided {
    /// Files changed after they were shown.
    FilesChanged,
    /// Another lifecycle stage is declared by now.
    StageChanged,
}

/// How a course changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum CourseChange {
    /// What was done does not count; all stages begin again.
    Void,
}

/// One gate of the lifecycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LifecycleResult {
    pub gate: String,
    pub end: GateEnd,
    /// Absent in runs of earlier versions, where the exit code decided alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

impl LifecycleResult {
    pub fn passed(&self) -> bool {
        self.verdict.as_ref().map_or(self.end == GateEnd::Exit(0), Verdict::is_good)
    }

    /// Returns why it did not pass.
    pub fn why(&self) -> String {
        match &self.end {
            GateEnd::Exit(0) => self.verdict.as_ref().map(Verdict::reasons).unwrap_or_default().join("; "),
            GateEnd::Exit(code) => format!("exit code {code}"),
            GateEnd::Signal => "ended by a signal".to_owned(),
            GateEnd::Deadline(why) | GateEnd::NotRun(why) => why.clone(),
        }
    }
}

/// Where the engine met an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorAt {
    Evidence,
    ErrorLog,
    Rollback,
    /// The restore log, the sealed checksums, the approved lifecycle.
    Records,
    Role,
}

/// A moment as text: `2026-02-07T10:45:23.000Z`.
mod moment {
    use serde::Deserialize as _;
    use serde::Deserializer;
    use serde::Serializer;
    use serde::de::Error as _;

    use crate::time::Utc;

    pub(super) fn serialize<S: Serializer>(at: &Utc, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(at)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Utc, D::Error> {
        let text = String::deserialize(deserializer)?;
        Utc::parse(&text).ok_or_else(|| D::Error::custom(format!("`{text}` is not a moment")))
    }
}

/// Returns the sentence of any fact that an action records, those that all dialects share included.
pub fn sentence(fact: &Value) -> Option<Sentence> {
    told::<ActionFact>(fact).or_else(|| told::<SharedFact>(fact))
}

/// `1 file`, `2 files`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
