//! Attempts at one piece of work: the class of a failure decides what follows, and there is one cap for all reasons.

use serde::Deserialize;
use serde::Serialize;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::failure::Policy;
use seriatim_core::failure::backoff_ms;
use seriatim_core::report::Report;

use crate::Cx;
use crate::request::Assignment;

/// How often the engine tries before a person decides. Budgets never multiply: this is the sum over all reasons.
#[derive(Clone, Copy, Debug)]
pub struct Cap {
    /// Calls in all.
    pub calls: u32,
    /// Of those, calls with feedback after an unusable report.
    pub corrections: u32,
    /// Attempts that the engine's own end cut off do not count as calls, but they are bounded too.
    pub interruptions: u32,
}

impl Default for Cap {
    fn default() -> Cap {
        Cap { calls: 3, corrections: 2, interruptions: 25 }
    }
}

/// One attempt that did not succeed: journalled as a fact, never overwritten.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailedAttempt {
    pub fact: FailedAttemptTag,
    pub step: String,
    pub attempt: u32,
    pub failure: Failure,
}

/// The name of the fact in the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FailedAttemptTag {
    #[serde(rename = "attempt_failed")]
    AttemptFailed,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Attempted {
    pub result: Result<Report, Failure>,
    /// The number of the last attempt.
    pub attempt: u32,
    /// Those that failed, in order.
    pub failed: Vec<FailedAttempt>,
}

/// Calls the agent until it succeeds or its failure is for a person to decide. `before` is the number of attempts
/// made earlier at the same work; `feedback` what they taught.
pub async fn attempts(
    cx: &Cx,
    cap: Cap,
    before: u32,
    mut feedback: Vec<String>,
    assign: impl Fn(u32, &[String]) -> Assignment,
) -> Attempted {
    let (mut attempt, mut calls, mut corrections, mut interruptions) = (before, 0, 0, 0);
    let mut failed: Vec<FailedAttempt> = Vec::new();
    loop {
        attempt += 1;
        let assignment = assign(attempt, &feedback);
        let step = assignment.brief.step.clone();
        let failure = match cx.agent(assignment).await {
            Ok(report) => return Attempted { result: Ok(report), attempt, failed },
            Err(failure) => failure,
        };
        let fact =
            FailedAttempt { fact: FailedAttemptTag::AttemptFailed, step, attempt, failure: failure.clone() };
        cx.record(&fact);
        failed.push(fact);
        let again = match failure.policy() {
            Policy::Again => {
                interruptions += 1;
                interruptions <= cap.interruptions
            }
            Policy::Backoff => {
                calls += 1;
                calls < cap.calls
            }
            Policy::Correct => {
                calls += 1;
                corrections += 1;
                calls < cap.calls && corrections <= cap.corrections
            }
            Policy::Ask | Policy::Stop => false,
        };
        if !again {
            return Attempted { result: Err(failure), attempt, failed };
        }
        match failure.policy() {
            Policy::Backoff => {
                cx.sleep(backoff_ms(calls + 1)).await;
            }
            Policy::Correct => feedback = correction(&failure),
            Policy::Again | Policy::Ask | Policy::Stop => {}
        }
    }
}

fn correction(failure: &Failure) -> Vec<String> {
    if !failure.feedback.is_empty() {
        return failure.feedback.clone();
    }
    match failure.class {
        Class::Silent => vec![
            "The last attempt ended without a report. Write one JSON object to the file that SERIATIM_REPORT names."
                .to_owned(),
        ],
        _ => vec![failure.message.clone()],
    }
}
