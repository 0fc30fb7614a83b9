//! The events of an action, as its run records them: one variant each, and one sentence for people.

#[cfg(test)]
mod tests;

use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;

use super::approval::Iteration;
use super::evidence::Change;
use super::evidence::Mode;
use super::gate::GateKind;
use super::lifecycle_log::GateEnd;
use super::roles;
use super::severity::Concern;
use super::snapshot::RolledBack;
use crate::choices::Choices;
use crate::hash::Hash;
use crate::sentence::Mood;
use crate::sentence::Sentence;
use crate::sentence::SharedFact;
use crate::sentence::Telling;
use crate::sentence::told;
use crate::time::Utc;
use crate::time::span_in_words;

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
}

impl LifecycleResult {
    pub fn passed(&self) -> bool {
        self.end == GateEnd::Exit(0)
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

fn titles(names: &[String]) -> String {
    names.iter().map(|role| roles::title(role)).collect::<Vec<_>>().join(", ")
}

impl Telling for ActionFact {
    fn sentence(&self) -> Sentence {
        match self {
            ActionFact::ActionBegan { action, mode, operator, stage, .. } => {
                began(action, *mode, operator, stage.as_deref())
            }
            ActionFact::SnapshotTaken { snapshot, scope } => {
                Sentence::new(format!("Snapshot {snapshot} taken.")).detail(scope.join(", "))
            }
            ActionFact::EvidenceWritten { folder, files } => {
                Sentence::new(format!("Evidence written to {folder} ({}).", counted(files.len(), "file")))
            }
            ActionFact::StageBegan { stage, roles, .. } => stage_began(*stage, roles),
            ActionFact::RoleCalled { role, attempt, agent, timeout_ms, feedback, .. } => {
                called(role, *attempt, agent.as_deref(), *timeout_ms, feedback)
            }
            ActionFact::RoleDone { role, files, summary, findings, .. } => {
                finished(role, files, summary, findings.len())
            }
            ActionFact::RoleSkipped { role, reason, .. } => reason.sentence(role),
            ActionFact::RoleStopped { role, reason, .. } => reason.sentence(role),
            ActionFact::Waiting { role, text, ms } => {
                Sentence::new(format!("{} is retried in {}.", roles::title(role), span_in_words(*ms)))
                    .detail(text.as_str())
            }
            ActionFact::ParallelResults { roles, .. } => parallel(roles),
            ActionFact::GateRan { gate, command, exit, output, .. } => ran(gate, command, *exit, output),
            ActionFact::GateFailed { gate, text } => {
                Sentence::bad(format!("Gate {gate} failed: the measured values are not what it demands."))
                    .detail(text.lines().collect::<Vec<_>>().join("; "))
            }
            ActionFact::GateRound { round } => rounded(round),
            ActionFact::GateEnded { gate, result, .. } => result.sentence(gate),
            ActionFact::ApprovalVoid { why } => why.sentence(),
            ActionFact::FlowChanged { change: CourseChange::Void, reason } => {
                Sentence::attention(format!("All stages begin again: {reason}."))
            }
            ActionFact::Blocked { findings, roles, .. } => blocked(findings, roles),
            ActionFact::TrackedFindings { findings } => {
                Sentence::new(format!("{} tracked.", counted(findings.len(), "finding")))
                    .detail(findings.join("; "))
            }
            ActionFact::LifecycleGates { stage, gates, .. } => lifecycle(stage, gates),
            ActionFact::Decision { subject, outcome, actor, rationale, .. } => {
                Sentence::new(format!("{actor} decided on {subject}: {outcome}.")).detail(rationale.as_str())
            }
            ActionFact::RolledBack { event } => {
                Sentence::attention(format!("{} rolled back to snapshot {}.", event.by, event.snapshot))
                    .detail(format!("{} Undo: seriatim snapshot restore {}", event.words, event.undo))
            }
            ActionFact::Error { at, text } => at.sentence(text),
            ActionFact::ArtifactsSealed { files } => {
                let files = counted(usize::try_from(*files).unwrap_or(usize::MAX), "file");
                Sentence::new(format!("Checksums of {files} recorded."))
            }
        }
    }
}

fn began(action: &str, mode: Mode, operator: &str, stage: Option<&str>) -> Sentence {
    let by = if operator.is_empty() { String::new() } else { format!(" for {operator}") };
    let how = match mode {
        Mode::Automated => "",
        Mode::Manual => " in manual mode",
    };
    let declared = stage.map(|stage| format!("lifecycle stage {stage}")).unwrap_or_default();
    Sentence::new(format!("The action {action} began{by}{how}.")).detail(declared)
}

fn stage_began(stage: u32, roles: &[String]) -> Sentence {
    if roles.is_empty() {
        return Sentence::new(format!("Stage {stage} began, with gates only."));
    }
    Sentence::new(format!("Stage {stage} began: {}.", titles(roles)))
}

fn called(role: &str, attempt: u32, agent: Option<&str>, timeout_ms: u64, feedback: &[String]) -> Sentence {
    let agent = agent.map(|agent| format!(" ({agent})")).unwrap_or_default();
    let may = format!("may take {}", span_in_words(timeout_ms));
    let first = feedback.first().and_then(|words| words.lines().next()).unwrap_or_default();
    let detail = if first.is_empty() { may } else { format!("{may}; feedback: {first}") };
    Sentence::new(format!("{} called{agent}, attempt {attempt}.", roles::title(role))).detail(detail)
}

fn finished(role: &str, files: &[FileWritten], summary: &str, findings: usize) -> Sentence {
    let found = match findings {
        0 => String::new(),
        count => format!(", {}", counted(count, "finding")),
    };
    let summary = summary.lines().next().unwrap_or_default().trim();
    let paths = files.iter().map(|file| file.path.as_str());
    let detail: Vec<&str> = [summary].into_iter().chain(paths).filter(|text| !text.is_empty()).collect();
    let written = counted(files.len(), "file");
    Sentence::good(format!("{} finished: {written} written{found}.", roles::title(role)))
        .detail(detail.join("; "))
}

fn ran(gate: &str, command: &str, exit: Option<i32>, output: &str) -> Sentence {
    let last = output.lines().next_back().unwrap_or_default();
    let (mood, end) = match exit {
        Some(0) => (Mood::Good, "exit code 0".to_owned()),
        Some(code) => (Mood::Bad, format!("exit code {code}")),
        None => (Mood::Bad, "no exit code".to_owned()),
    };
    let detail = if last.is_empty() { command.to_owned() } else { format!("{command}: {last}") };
    Sentence { text: format!("Gate {gate} ran: {end}."), detail, mood, ..Sentence::default() }
}

fn rounded(round: &Iteration) -> Sentence {
    let (count, gate, by) = (round.iteration, &round.gate, &round.by);
    Sentence::new(format!("Round {count} at gate {gate}: {} by {by}.", round.decision.id()))
        .detail(round.reason.as_str())
}

fn blocked(findings: &[Concern], roles: &[String]) -> Sentence {
    let listed: Vec<String> = findings.iter().map(ToString::to_string).collect();
    Sentence::bad(format!("{} sent back to {}.", counted(findings.len(), "critical finding"), titles(roles)))
        .detail(listed.join("; "))
}

impl Skipped {
    fn sentence(self, role: &str) -> Sentence {
        let role = roles::title(role);
        match self {
            Skipped::NotNeeded => Sentence::new(format!("{role} is not needed.")),
            Skipped::Failed => Sentence::attention(format!("{role} was skipped.")),
        }
    }
}

impl RoleStop {
    fn sentence(self, role: &str) -> Sentence {
        let why = match self {
            RoleStop::Cancelled => "a person asked to cancel the action",
            RoleStop::RolledBack => "a person asked for a rollback",
            RoleStop::Broken => "the engine cannot go on",
        };
        Sentence::attention(format!("{} stopped: {why}.", roles::title(role)))
    }
}

impl GateResult {
    fn sentence(self, gate: &str) -> Sentence {
        match self {
            GateResult::Passed => Sentence::good(format!("Gate {gate} passed.")),
            GateResult::Approved => Sentence::good(format!("Gate {gate} approved.")),
            GateResult::Overridden => Sentence::attention(format!("Gate {gate} failed and was overridden.")),
            GateResult::Clarified => Sentence::good(format!("Gate {gate}: no question is open.")),
            GateResult::Reviewed => Sentence::good(format!("Gate {gate}: the roles reviewed their work.")),
        }
    }
}

impl Voided {
    fn sentence(self) -> Sentence {
        Sentence::attention(match self {
            Voided::FilesChanged => "The approval is void: files changed after they were shown.",
            Voided::StageChanged => "The approval is void: another lifecycle stage is declared by now.",
        })
    }
}

impl ErrorAt {
    fn sentence(self, text: &str) -> Sentence {
        let what = match self {
            ErrorAt::Evidence => "The evidence could not be written",
            ErrorAt::ErrorLog => "The error log could not be written",
            ErrorAt::Rollback => "The rollback failed",
            ErrorAt::Records => "A state file could not be written",
            ErrorAt::Role => "The action cannot go on",
        };
        Sentence::bad(format!("{what}: {}.", text.trim_end_matches('.')))
    }
}

fn parallel(results: &[RoleResult]) -> Sentence {
    let word = |end: RoleEnd| match end {
        RoleEnd::Done => "finished",
        RoleEnd::Skipped => "skipped",
        RoleEnd::Stopped => "stopped",
        RoleEnd::Retrying => "failed and is retried",
    };
    let listed: Vec<String> =
        results.iter().map(|one| format!("{} {}", roles::title(&one.role), word(one.result))).collect();
    let sentence = Sentence::new(format!("Parallel roles: {}.", listed.join(", ")));
    let good = results.iter().all(|one| one.result == RoleEnd::Done);
    Sentence { mood: if good { Mood::Good } else { Mood::Attention }, ..sentence }
}

fn lifecycle(stage: &str, gates: &[LifecycleResult]) -> Sentence {
    let failed: Vec<&str> =
        gates.iter().filter(|gate| !gate.passed()).map(|gate| gate.gate.as_str()).collect();
    if failed.is_empty() {
        let passed = counted(gates.len(), "gate");
        return Sentence::good(format!("Lifecycle stage {stage}: {passed} passed."));
    }
    Sentence::bad(format!(
        "Lifecycle stage {stage}: {} of {} failed.",
        failed.len(),
        counted(gates.len(), "gate")
    ))
    .detail(failed.join(", "))
}
