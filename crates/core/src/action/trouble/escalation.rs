//! What a person is asked when the engine is at its end (OC-34, OC-40, OC-43, OC-51, OC-74 to OC-79, K-48, K-49).

use super::Cause;
use super::Nature;
use super::Scene;
use super::Trouble;
use crate::choices;
use crate::choices::Choices;
use crate::question::Choice;
use crate::question::Question;
use crate::time::parse_span;
use crate::time::span_in_words;

choices! {
    /// What a person does about a failure of a role.
    pub enum AfterFailure {
        Retry = "retry",
        /// The role has more time.
        Extend = "extend",
        DifferentAgent = "different_agent",
        /// The person corrects the files; they are validated again.
        Fix = "fix",
        /// The action goes on without an optional role.
        Skip = "skip",
        /// Invalid output is taken as it is.
        Override = "override",
        Cancel = "cancel",
        Rollback = "rollback",
    }
}

choices! {
    /// What becomes of the work of a cancelled action (K-47).
    pub enum AfterCancel {
        Keep = "keep",
        Rollback = "rollback",
        /// The person does not cancel after all.
        Back = "back",
    }
}

const DIFFERENT: &str = "Retry with different agent";

/// Whether an option is among these.
pub(super) fn offers(options: &[Choice], choice: AfterFailure) -> bool {
    options.iter().any(|option| option.id == choice.id())
}

/// The options: the dialect's own for this failure first, then what is always there.
pub fn options(trouble: &Trouble) -> Vec<Choice> {
    let mut options = match trouble.cause() {
        Cause::Timeout => timeout(trouble),
        Cause::Invalid | Cause::Silent => invalid(trouble),
        Cause::MissingArtifact => vec![retry("Retry agent")],
        Cause::RateLimit { .. }
        | Cause::Network
        | Cause::Unavailable
        | Cause::Crash
        | Cause::Interrupted
        | Cause::Scope
        | Cause::NoProgram
        | Cause::Unauthorised
        | Cause::Contract
        | Cause::Denied
        | Cause::Cancelled
        | Cause::Storage => {
            let first = trouble.nature() == Nature::Permanent || trouble.scene == Scene::Parallel;
            vec![retry(if first { "Retry" } else { "Retry again" }), manual_fix()]
        }
    };
    let missing = |options: &[Choice], choice: AfterFailure| !offers(options, choice);
    if missing(&options, AfterFailure::Retry) {
        options.push(retry("Retry"));
    }
    if trouble.optional && missing(&options, AfterFailure::Skip) {
        let label =
            if matches!(trouble.scene, Scene::Sequence | Scene::First) { "Skip step" } else { "Skip" };
        options.push(skip(label));
    }
    if let Some(agent) =
        trouble.different_agent.as_ref().filter(|_| missing(&options, AfterFailure::DifferentAgent))
    {
        options.push(different(agent));
    }
    if missing(&options, AfterFailure::Cancel) {
        let whole = matches!(trouble.cause(), Cause::Timeout | Cause::MissingArtifact);
        options.push(cancel(if whole || trouble.scene == Scene::Parallel {
            "Cancel"
        } else {
            "Cancel action"
        }));
    }
    if trouble.can_roll_back {
        options.push(rollback());
    }
    options
}

fn timeout(trouble: &Trouble) -> Vec<Choice> {
    let longer = format!(
        "The role starts again and may take {}, or as long as you write, such as 45m.",
        span_in_words(extended_ms(trouble.timeout_ms, None))
    );
    let mut options = vec![retry("Retry"), Choice::new(AfterFailure::Extend.id(), "Extend timeout", &longer)];
    options.extend(trouble.optional.then(|| skip("Skip")));
    options.push(cancel("Cancel"));
    options
}

fn invalid(trouble: &Trouble) -> Vec<Choice> {
    let mut options = vec![manual_fix()];
    options.push(match trouble.different_agent.as_deref() {
        Some(agent) => different(agent),
        None => {
            let words = "Another agent does the work from the start; write its name as seriatim.toml has it.";
            Choice::new(AfterFailure::DifferentAgent.id(), DIFFERENT, words).with_text()
        }
    });
    options.push(
        Choice::new(
            AfterFailure::Override.id(),
            "Skip validation",
            "The output is taken as it is, although it is invalid (not recommended); your reason is on record and is shown \
             at the next gate.",
        )
        .with_text(),
    );
    options
}

fn retry(label: &str) -> Choice {
    Choice::new(
        AfterFailure::Retry.id(),
        label,
        "The role starts again with the same inputs; what others finished stays as it is.",
    )
}

fn manual_fix() -> Choice {
    Choice::new(
        AfterFailure::Fix.id(),
        "Manual Fix",
        "You mend the files yourself and answer when they are ready; they are checked again, and then the action goes on.",
    )
}

fn different(agent: &str) -> Choice {
    let words = format!("The agent `{agent}` does the work instead, from the start.");
    Choice::new(AfterFailure::DifferentAgent.id(), DIFFERENT, &words)
}

fn skip(label: &str) -> Choice {
    Choice::new(
        AfterFailure::Skip.id(),
        label,
        "The action goes on without what this role would have made; that is on record.",
    )
}

fn cancel(label: &str) -> Choice {
    Choice::new(
        AfterFailure::Cancel.id(),
        label,
        "The whole action ends here; you are asked whether its work is kept.",
    )
}

fn rollback() -> Choice {
    Choice::new(
        AfterFailure::Rollback.id(),
        "Rollback",
        "You are shown what would change; once you confirm, all files are as they were before the action.",
    )
}

/// The question. It waits for ever, and nothing goes on meanwhile.
pub fn question(trouble: &Trouble) -> Question {
    let cause = trouble.cause();
    let header = match cause {
        Cause::Timeout => "Timeout",
        Cause::Invalid | Cause::Silent => "Invalid output",
        Cause::MissingArtifact => "Missing artifacts",
        _ => "Failure",
    };
    Question {
        header: format!("{header}: {}", trouble.title),
        question: format!(
            "{} failed in stage {} of the action \"{}\". How shall it go on?",
            trouble.title, trouble.stage, trouble.action
        ),
        why: trouble.failure.message.clone(),
        tried: trouble.tried.clone(),
        details: with_reason(trouble),
        options: options(trouble),
        free_text: true,
        about: vec![],
    }
}

/// The report in its box, and why the agent failed.
fn with_reason(trouble: &Trouble) -> String {
    let reason = trouble.failure.reason();
    if reason.is_empty() { trouble.boxed() } else { format!("{}\n{reason}", trouble.boxed()) }
}

/// How long a role may take once its time is extended: what the person wrote, else twice as long as before. A bare number
/// counts minutes.
pub fn extended_ms(timeout_ms: u64, words: Option<&str>) -> u64 {
    let written = words.map(str::trim).filter(|words| !words.is_empty());
    let asked = written.and_then(|words| parse_span(words).or_else(|| parse_span(&format!("{words}m"))));
    asked.filter(|ms| *ms > 0).unwrap_or_else(|| timeout_ms.saturating_mul(2))
}

/// Asks what becomes of the work when an action is cancelled (K-47). It is kept unless a person says otherwise.
/// `back` says what changing one's mind leads to.
pub fn cancel_question(action: &str, changes: &str, can_roll_back: bool, back: &str) -> Question {
    let mut options = vec![Choice::new(
        AfterCancel::Keep.id(),
        "Keep",
        "The action ends, and all files stay as they are now, unfinished ones included.",
    )];
    if can_roll_back {
        options.push(Choice::new(
            AfterCancel::Rollback.id(),
            "Rollback",
            "The action ends, and all files are as they were before it; the present state is kept as a snapshot.",
        ));
    }
    options.push(Choice::new(AfterCancel::Back.id(), "Do not cancel", back));
    Question {
        header: "Cancel".to_owned(),
        question: format!("The action \"{action}\" is cancelled. What becomes of its work so far?"),
        why: "Some of it may be of use, and some of it may be unfinished.".to_owned(),
        tried: vec![],
        details: changes.to_owned(),
        options,
        free_text: true,
        about: vec![],
    }
}
