//! What the facts of a roadmap run are made of.

use serde::Deserialize;
use serde::Serialize;

use crate::evidence::Red;
use crate::evidence::TestVerdict;
use crate::evidence::Why;
use crate::hash::Hash;
use crate::report::Judged;
use crate::report::Report;
use crate::report::Status;
use crate::report::Usage;
use crate::roadmap::proof::Rule;
use crate::roadmap::proof::Seen;
use crate::roadmap::queue::Queued;

/// A step in the queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueuedStep {
    pub step_id: String,
    pub execution_queue: QueuePlace,
}

/// Where a step is in the queue, and when it is likely to begin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueuePlace {
    pub queued_at: String,
    /// From 1 on.
    pub position: usize,
    pub estimated_start: Option<String>,
}

impl From<&Queued> for QueuedStep {
    fn from(queued: &Queued) -> QueuedStep {
        QueuedStep {
            step_id: queued.step.clone(),
            execution_queue: QueuePlace {
                queued_at: queued.queued_at.seconds(),
                position: queued.position,
                estimated_start: queued.estimated_start.map(crate::time::Utc::seconds),
            },
        }
    }
}

/// A phase that is skipped before the step begins, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PresetSkip {
    pub phase: String,
    pub reason: String,
}

/// The working tree of a step that is carried out beside others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OwnTree {
    pub tree: String,
    pub branch: String,
}

/// How a phase ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum PhaseOutcome {
    Pass,
    Fail,
    Skipped,
}

impl PhaseOutcome {
    /// Returns the word of the record.
    pub fn word(self) -> &'static str {
        match self {
            PhaseOutcome::Pass => "PASS",
            PhaseOutcome::Fail => "FAIL",
            PhaseOutcome::Skipped => "SKIPPED",
        }
    }
}

/// What the agent said about a phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    pub status: Status,
    #[serde(default)]
    pub summary: String,
    #[serde(default)]
    pub criteria: Vec<Judged>,
    #[serde(default)]
    pub artifacts: Vec<String>,
    #[serde(default)]
    pub usage: Option<Usage>,
}

impl From<&Report> for Claim {
    fn from(report: &Report) -> Claim {
        Claim {
            status: report.status,
            summary: report.summary.clone(),
            criteria: report.criteria.clone(),
            artifacts: report.artifacts.clone(),
            usage: report.usage.clone(),
        }
    }
}

/// What a gate showed. Its words are those that runs of earlier versions recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GateVerdict {
    Green,
    Nothing,
    #[serde(rename = "Red(Assertion)")]
    RedOnAssertion,
    #[serde(rename = "Red(Missing)")]
    RedOnMissingLogic,
    #[serde(rename = "Broken { why: Compile }")]
    BrokenCompile,
    #[serde(rename = "Broken { why: Collection }")]
    BrokenCollection,
    #[serde(rename = "Broken { why: Import }")]
    BrokenImport,
    #[serde(rename = "Broken { why: Setup }")]
    BrokenSetup,
    #[serde(rename = "Broken { why: Crash }")]
    BrokenCrash,
    #[serde(rename = "Broken { why: Timeout }")]
    BrokenTimeout,
    #[serde(rename = "Broken { why: Error }")]
    BrokenError,
    #[serde(rename = "Broken { why: Unknown }")]
    BrokenUnknown,
}

impl From<TestVerdict> for GateVerdict {
    fn from(verdict: TestVerdict) -> GateVerdict {
        match verdict {
            TestVerdict::Green => GateVerdict::Green,
            TestVerdict::Nothing => GateVerdict::Nothing,
            TestVerdict::Red(Red::Assertion) => GateVerdict::RedOnAssertion,
            TestVerdict::Red(Red::Missing) => GateVerdict::RedOnMissingLogic,
            TestVerdict::Broken { why } => match why {
                Why::Compile => GateVerdict::BrokenCompile,
                Why::Collection => GateVerdict::BrokenCollection,
                Why::Import => GateVerdict::BrokenImport,
                Why::Setup => GateVerdict::BrokenSetup,
                Why::Crash => GateVerdict::BrokenCrash,
                Why::Timeout => GateVerdict::BrokenTimeout,
                Why::Error => GateVerdict::BrokenError,
                Why::Unknown => GateVerdict::BrokenUnknown,
            },
        }
    }
}

/// One run of a gate, with the end of its output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateEvidence {
    pub gate: String,
    pub command: String,
    /// `None` where a signal or its deadline ended the command, or where it could not be run.
    pub exit: Option<i32>,
    pub verdict: GateVerdict,
    /// One line for people.
    pub words: String,
    /// The end of the output.
    pub output: String,
    /// The whole output, where it was kept.
    #[serde(default)]
    pub output_hash: Option<Hash>,
    /// The command around it, such as that of a container.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<String>,
}

impl GateEvidence {
    /// Returns the evidence of a run that was read.
    pub fn of(seen: &Seen, exit: Option<i32>, output_hash: Option<Hash>, within: &[String]) -> GateEvidence {
        GateEvidence {
            gate: seen.gate.clone(),
            command: seen.command.clone(),
            exit,
            verdict: seen.verdict.into(),
            words: seen.words.clone(),
            output: seen.tail.clone(),
            output_hash,
            within: within.to_vec(),
        }
    }
}

/// Why a phase was refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    pub rule: Rule,
    pub message: String,
}

/// The end of one attempt at a phase: the claim, the evidence and the objections, each apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseEnd {
    pub step: String,
    pub phase: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<usize>,
    pub outcome: PhaseOutcome,
    #[serde(default)]
    pub claim: Option<Claim>,
    #[serde(default)]
    pub evidence: Vec<GateEvidence>,
    #[serde(default)]
    pub objections: Vec<Refusal>,
    #[serde(default)]
    pub notes: Vec<String>,
    /// What it closed on, or why it is skipped.
    #[serde(default)]
    pub words: String,
}

/// Why a phase that was over, or was begun, has to be carried out again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReopenCause {
    /// An earlier run ended while the phase was in progress.
    Interrupted,
    /// The work of an earlier run is on a branch that was not merged.
    BranchNotMerged,
    /// The work conflicted with merged changes.
    Conflict,
    /// The tests are not those that were red.
    RedIsVoid,
    /// A reviewer wants it done again.
    Rework,
}

/// What a person decided about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Matter {
    /// Uncommitted changes of the user in files of the step.
    Overlap,
    /// RED that stays green.
    GreenAtRed,
    /// An agent that did not finish in time.
    SlowAgent,
    /// The review that the agent asked for.
    Review,
    /// A conflict with merged changes.
    Conflict,
    /// Files in the workspace that keep the step from being merged.
    Obstacle,
    /// A repository that is no longer where the step left it.
    Moved,
    /// The push at the end.
    Push,
    /// Phases for which no gate is configured.
    NoGates,
    /// Findings of a review that are still open.
    Findings,
}

impl Matter {
    /// Returns the matter in words, for a step where it is about one.
    pub fn subject(self, step: &str) -> String {
        match self {
            Matter::Overlap => format!("uncommitted changes in files of step {step}"),
            Matter::GreenAtRed => format!("green test at RED of step {step}"),
            Matter::SlowAgent => format!("deadline of step {step}"),
            Matter::Review => format!("review of step {step}"),
            Matter::Conflict => format!("conflict of step {step}"),
            Matter::Obstacle => format!("merge of step {step}"),
            Matter::Moved => format!("base of step {step}"),
            Matter::Push => "push".to_owned(),
            Matter::NoGates => format!("phases of {step} without a gate"),
            Matter::Findings => format!("open findings of step {step}"),
        }
    }
}

/// What a person decided. The words are the ids of the options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionOutcome {
    Approve,
    Fix,
    Retry,
    Rework,
    Skip,
    Cancel,
    /// Nobody checked it, and it counts all the same.
    AcceptUnchecked,
    /// A finding may stand.
    Accept,
}

impl DecisionOutcome {
    /// Returns the word of the option.
    pub fn word(self) -> &'static str {
        match self {
            DecisionOutcome::Approve => "approve",
            DecisionOutcome::Fix => "fix",
            DecisionOutcome::Retry => "retry",
            DecisionOutcome::Rework => "rework",
            DecisionOutcome::Skip => "skip",
            DecisionOutcome::Cancel => "cancel",
            DecisionOutcome::AcceptUnchecked => "accept_unchecked",
            DecisionOutcome::Accept => "accept",
        }
    }
}

/// A decision of a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoadmapDecision {
    /// The matter in words.
    pub subject: String,
    pub outcome: DecisionOutcome,
    /// The person's own words; may be empty.
    #[serde(default)]
    pub rationale: String,
    /// Who decided.
    pub actor: String,
    /// The step, or `push`.
    pub id: String,
    /// Runs of earlier versions do not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matter: Option<Matter>,
}

/// A commit that was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepCommit {
    pub subject: String,
    pub commit: String,
    pub files: Vec<String>,
}

/// What came of the push.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PushResult {
    Pushed,
    /// A person said no.
    Declined,
    /// The repository has no remote.
    NoRemote,
    Failed,
}

/// The state in which a run leaves a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum StepResult {
    Done,
    /// It was done before the run began.
    AlreadyDone,
    Failed,
    /// It could not be begun.
    Blocked,
    /// A person stopped it.
    Cancelled,
}

impl StepResult {
    /// Returns the word that outcomes carry: a step that was stopped can be retried like one that failed.
    pub fn word(self) -> &'static str {
        match self {
            StepResult::Done | StepResult::AlreadyDone => "DONE",
            StepResult::Failed | StepResult::Cancelled => "FAILED",
            StepResult::Blocked => "BLOCKED",
        }
    }
}

/// What an error was about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorArea {
    /// The state file could not be written, or another process changed it.
    StateFile,
    /// A working tree could not be removed.
    WorkingTree,
    Push,
}
