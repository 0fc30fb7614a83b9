//! What a roadmap run records as it goes, from the first step to the push, and each of it as one sentence.

mod closing;
mod parts;
#[cfg(test)]
mod tests;

use serde::Deserialize;
use serde::Serialize;

pub use self::closing::Closing;
pub use self::closing::ClosingMutation;
pub use self::closing::ClosingRefactoring;
pub use self::closing::ClosingReview;
pub use self::closing::MutationStatus;
pub use self::closing::RefactoringStatus;
pub use self::closing::ReviewStatus;
pub use self::parts::Claim;
pub use self::parts::DecisionOutcome;
pub use self::parts::ErrorArea;
pub use self::parts::GateEvidence;
pub use self::parts::GateVerdict;
pub use self::parts::Matter;
pub use self::parts::OwnTree;
pub use self::parts::PhaseEnd;
pub use self::parts::PhaseOutcome;
pub use self::parts::PresetSkip;
pub use self::parts::PushResult;
pub use self::parts::QueuePlace;
pub use self::parts::QueuedStep;
pub use self::parts::Refusal;
pub use self::parts::ReopenCause;
pub use self::parts::RoadmapDecision;
pub use self::parts::StepCommit;
pub use self::parts::StepResult;
use crate::sentence::Sentence;
use crate::sentence::Telling;

/// A fact of a roadmap run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub enum RoadmapFact {
    /// The open steps in the order in which they begin (DW-97).
    Queue { execution_queue: Vec<QueuedStep> },
    /// The context of a step was taken out of the roadmap (DW-05, DW-52).
    Context {
        step: String,
        roadmap_tokens: usize,
        context_tokens: usize,
        saved_percent: usize,
        words: String,
        #[serde(default)]
        unresolved_critiques: Vec<String>,
    },
    /// A step began, or goes on where an earlier run left it.
    StepBegan {
        step: String,
        name: String,
        agent: String,
        /// Whether an earlier run has worked on it.
        resumed: bool,
        /// Phases that are skipped from the start (DW-68).
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        skipped: Vec<PresetSkip>,
        /// The working tree of its own, where it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        place: Option<OwnTree>,
    },
    /// The user allowed that uncommitted changes become part of the step's commits.
    OverlapApproved { step: String, files: Vec<String>, by: String },
    /// The coverage before anything was changed (K-51).
    CoverageBase {
        step: String,
        /// `None` where it could not be measured.
        value: Option<String>,
        #[serde(default)]
        evidence: Vec<GateEvidence>,
    },
    /// An attempt at a phase began (DW-40).
    PhaseBegan { step: String, phase: String, attempt: usize },
    /// A gate was run for a phase; the end of the phase carries its output.
    GateRan {
        step: String,
        phase: String,
        gate: String,
        exit: Option<i32>,
        verdict: GateVerdict,
        words: String,
    },
    /// An attempt at a phase ended: passed, refused or skipped.
    PhaseEnded(Box<PhaseEnd>),
    /// A phase has to be carried out again.
    PhaseReopened {
        step: String,
        phase: String,
        cause: ReopenCause,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        words: String,
    },
    /// The agent asked for a review before the step is committed (DW-86).
    ReviewAsked { step: String, from: String, reason: String },
    /// A person decided.
    Decision(RoadmapDecision),
    /// A commit of a step was made (DW-72).
    Committed { step: String, commit: StepCommit },
    /// A step and merged changes changed the same places.
    Conflict { step: String, files: Vec<String> },
    /// The branch of a step that was carried out beside others was merged.
    Merged { step: String, branch: String },
    /// A step is over for this run.
    StepClosed {
        step: String,
        status: StepResult,
        /// Why it did not get to its end; empty where it did.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
    /// The closing pass is over (DW-67).
    Finalized { closing: Closing },
    /// The push at the end was made, or not (K-100).
    Push {
        result: PushResult,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        branch: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
    /// Something went wrong that the run could go on with.
    Error {
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        about: Option<ErrorArea>,
    },
}

impl RoadmapFact {
    /// Returns the step that the fact is about.
    pub fn step(&self) -> Option<&str> {
        match self {
            RoadmapFact::Context { step, .. }
            | RoadmapFact::StepBegan { step, .. }
            | RoadmapFact::OverlapApproved { step, .. }
            | RoadmapFact::CoverageBase { step, .. }
            | RoadmapFact::PhaseBegan { step, .. }
            | RoadmapFact::GateRan { step, .. }
            | RoadmapFact::PhaseReopened { step, .. }
            | RoadmapFact::ReviewAsked { step, .. }
            | RoadmapFact::Committed { step, .. }
            | RoadmapFact::Conflict { step, .. }
            | RoadmapFact::Merged { step, .. }
            | RoadmapFact::StepClosed { step, .. } => Some(step),
            RoadmapFact::PhaseEnded(end) => Some(&end.step),
            RoadmapFact::Queue { .. }
            | RoadmapFact::Decision(_)
            | RoadmapFact::Finalized { .. }
            | RoadmapFact::Push { .. }
            | RoadmapFact::Error { .. } => None,
        }
    }
}

/// Returns a reason without the point at its end, so that a sentence can go on.
fn clause(text: &str) -> &str {
    text.trim().trim_end_matches('.')
}

impl Telling for RoadmapFact {
    fn sentence(&self) -> Sentence {
        match self {
            RoadmapFact::Queue { execution_queue } => queue_sentence(execution_queue),
            RoadmapFact::Context { step, words, unresolved_critiques, .. } => {
                let text = format!("The context of step {step} was extracted from the roadmap.");
                match unresolved_critiques.as_slice() {
                    [] => Sentence::new(text).detail(words),
                    open => Sentence::attention(text)
                        .detail(format!("{words}; unresolved critiques: {}", open.join("; "))),
                }
            }
            RoadmapFact::StepBegan { step, name, agent, resumed, skipped, place } => {
                let verb = if *resumed { "goes on" } else { "began" };
                Sentence::new(format!("Step {step} ({name}) {verb} with @{agent}."))
                    .detail(beginning(skipped, place.as_ref()))
            }
            RoadmapFact::OverlapApproved { step, files, by } => Sentence::new(format!(
                "{by} allowed step {step} to commit the user's changes in {}.",
                files.join(", ")
            )),
            RoadmapFact::CoverageBase { step, value, .. } => Sentence::new(match value {
                Some(value) => format!("Coverage before step {step}: {value}."),
                None => format!("Coverage before step {step} was not measured."),
            }),
            RoadmapFact::PhaseBegan { step, phase, attempt } => Sentence::new(match attempt {
                0 | 1 => format!("Step {step}, {phase}: began."),
                again => format!("Step {step}, {phase}: began again, attempt {again}."),
            }),
            RoadmapFact::GateRan { step, phase, gate, words, .. } => {
                Sentence::new(format!("Step {step}, {phase}: the gate {gate} ran: {}.", clause(words)))
            }
            RoadmapFact::PhaseEnded(end) => phase_sentence(end),
            RoadmapFact::PhaseReopened { step, phase, cause, words } => Sentence::attention(format!(
                "Step {step}, {phase}: has to be done again, {}.",
                because(*cause)
            ))
            .detail(words),
            RoadmapFact::ReviewAsked { step, from, reason } => Sentence::attention(format!(
                "The agent of step {step} asked @{} for a review.",
                from.trim_start_matches('@')
            ))
            .detail(reason),
            RoadmapFact::Decision(decision) => Sentence::new(format!(
                "{} decided on the {}: {}.",
                decision.actor,
                decision.subject,
                decision.outcome.word()
            ))
            .detail(&decision.rationale),
            RoadmapFact::Committed { step, commit } => commit_sentence(step, commit),
            RoadmapFact::Conflict { step, files } => {
                Sentence::bad(format!("Step {step} conflicts with merged changes in {}.", files.join(", ")))
            }
            RoadmapFact::Merged { step, branch } => {
                Sentence::good(format!("Step {step} was merged from the branch {branch}."))
            }
            RoadmapFact::StepClosed { step, status, reason } => {
                closed_sentence(step, *status, clause(reason))
            }
            RoadmapFact::Finalized { closing } => {
                let words =
                    if closing.words.is_empty() { "nothing to report" } else { closing.words.as_str() };
                Sentence::new(format!("The closing pass ended: {}.", clause(words)))
            }
            RoadmapFact::Push { result, branch, reason } => push_sentence(*result, branch, clause(reason)),
            RoadmapFact::Error { text, .. } => Sentence::bad(format!("Error: {}.", clause(text))),
        }
    }
}

/// Returns what is worth knowing about the beginning of a step.
fn beginning(skipped: &[PresetSkip], place: Option<&OwnTree>) -> String {
    let mut parts: Vec<String> =
        skipped.iter().map(|skip| format!("{} is skipped: {}", skip.phase, skip.reason)).collect();
    parts.extend(place.map(|own| format!("in {} on the branch {}", own.tree, own.branch)));
    parts.join("; ")
}

fn queue_sentence(queue: &[QueuedStep]) -> Sentence {
    let ids: Vec<&str> = queue.iter().map(|queued| queued.step_id.as_str()).collect();
    Sentence::new(match ids.as_slice() {
        [] => "No step is in the queue.".to_owned(),
        [one] => format!("1 step is in the queue: {one}."),
        several => format!("{} steps are in the queue: {}.", several.len(), several.join(", ")),
    })
}

fn phase_sentence(end: &PhaseEnd) -> Sentence {
    let PhaseEnd { step, phase, words, .. } = end;
    // What the gates showed is told when they run.
    let detail = if end.evidence.is_empty() { words.as_str() } else { "" };
    match end.outcome {
        PhaseOutcome::Pass => Sentence::good(format!("Step {step}, {phase}: passed.")).detail(detail),
        PhaseOutcome::Skipped => Sentence::attention(format!("Step {step}, {phase}: skipped.")).detail(words),
        PhaseOutcome::Fail => {
            let why: Vec<&str> = end.objections.iter().map(|objection| objection.message.as_str()).collect();
            Sentence::bad(format!("Step {step}, {phase}: refused. {}", why.join(" ")))
        }
    }
}

fn because(cause: ReopenCause) -> &'static str {
    match cause {
        ReopenCause::Interrupted => "since an earlier run was interrupted in it",
        ReopenCause::BranchNotMerged => "since the branch of an earlier run was not merged",
        ReopenCause::Conflict => "since the step conflicts with merged changes",
        ReopenCause::RedIsVoid => "since the tests are not those that were red",
        ReopenCause::Rework => "since a reviewer asked for rework",
    }
}

fn commit_sentence(step: &str, commit: &StepCommit) -> Sentence {
    let StepCommit { subject, commit, files } = commit;
    let id = commit.get(..10).unwrap_or(commit);
    let word = if files.len() == 1 { "file" } else { "files" };
    Sentence::good(format!("Step {step} was committed as {subject}."))
        .detail(format!("{id}, {} {word}", files.len()))
}

fn closed_sentence(step: &str, status: StepResult, reason: &str) -> Sentence {
    let because = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    match status {
        StepResult::Done => Sentence::good(format!("Step {step} is done.")),
        StepResult::AlreadyDone => Sentence::new(format!("Step {step} was done before.")),
        StepResult::Failed => Sentence::bad(format!("Step {step} failed{because}.")),
        StepResult::Blocked => Sentence::attention(format!("Step {step} could not begin{because}.")),
        StepResult::Cancelled => Sentence::attention(format!("Step {step} was stopped{because}.")),
    }
}

fn push_sentence(result: PushResult, branch: &str, reason: &str) -> Sentence {
    match result {
        PushResult::Pushed => Sentence::good(format!("The branch {branch} was pushed.")),
        PushResult::Declined => Sentence::new(format!("The branch {branch} was not pushed: {reason}.")),
        PushResult::NoRemote => {
            Sentence::attention("Nothing was pushed: the repository has no remote.".to_owned())
        }
        PushResult::Failed => Sentence::bad(format!("The branch {branch} was not pushed: {reason}.")),
    }
}
