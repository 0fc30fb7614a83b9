//! What people are asked about a step.

use seriatim_core::failure::Failure;
use seriatim_core::question::Choice;
use seriatim_core::question::Question;

fn question(header: String, what: String, why: &str, options: Vec<Choice>) -> Question {
    Question {
        header,
        question: what,
        why: why.to_owned(),
        tried: vec![],
        details: String::new(),
        options,
        free_text: true,
        about: vec![],
    }
}

fn cancel() -> Choice {
    Choice::new(
        "cancel",
        "Stop here",
        "The step is left as it is; what is recorded stays, and it can be tried again.",
    )
}

/// Changes that the user has not committed lie where the step works.
pub(super) fn overlap(step: &str, files: &[String]) -> Question {
    let mut asked = question(
        format!("Step {step}: your changes"),
        format!(
            "You have changes that are not committed in files that step {step} works on: {}. May they become part of \
             its commits?",
            files.join(", ")
        ),
        "Your changes and those of the step cannot be told apart once both are in one file.",
        vec![
            Choice::new(
                "approve",
                "Yes, take them in",
                "They go into the step's commits together with its own.",
            ),
            Choice::new(
                "cancel",
                "No, leave them",
                "Nothing is begun. Commit or stash them, then start again.",
            ),
        ],
    );
    asked.details = files.join("\n");
    asked
}

/// RED that stays green (interfaces, Roadmap).
pub(super) fn stays_green(step: &str, phase: &str, why: &str, output: &str) -> Question {
    let mut asked = question(
        format!("Step {step}: {phase} stays green"),
        format!("{why} How should it go on?"),
        "A test that passes before the work is done proves nothing about the work.",
        vec![
            Choice::new("fix", "Fix the test", "The phase is tried again; what you write is passed on."),
            Choice::new(
                "skip",
                "Skip it, approved",
                "The phase is recorded as APPROVED_SKIP with your words as the reason.",
            )
            .with_text(),
            cancel(),
        ],
    );
    asked.details = output.to_owned();
    asked
}

/// An agent did not finish in time: asked about and never tried again alone (K-44).
pub(super) fn too_slow(step: &str, phase: &str, failure: &Failure) -> Question {
    let mut asked = question(
        format!("Step {step}: {phase} took too long"),
        format!("The agent did not finish: {}. How should it go on?", failure.message.trim_end_matches('.')),
        "What it did so far is still there.",
        vec![
            Choice::new("retry", "Try again", "The phase is tried again; what you write is passed on."),
            Choice::new(
                "skip",
                "Skip it, approved",
                "The phase is recorded as APPROVED_SKIP with your words.",
            )
            .with_text(),
            cancel(),
        ],
    );
    asked.details = failure.reason();
    asked
}

/// Somebody should look before the step is brought home (DW-86).
pub(super) fn review(step: &str, from: &str, reason: &str, diff: &str) -> Question {
    let mut asked = question(
        format!("Step {step}: review by @{}", from.trim_start_matches('@')),
        format!("{} Is step {step} good as it is?", sentence(reason)),
        "The agent asked for a look before the work is brought home.",
        vec![
            Choice::new("approve", "It is good", "The step is committed and done."),
            Choice::new(
                "rework",
                "It has to be done over",
                "Say what; work goes on from GREEN with your words.",
            )
            .with_text(),
            cancel(),
        ],
    );
    asked.details = diff.to_owned();
    asked
}

/// Two steps changed the same place.
pub(super) fn conflict(step: &str, files: &[String], tree: &str, branch: &str) -> Question {
    let mut asked = question(
        format!("Step {step}: conflict"),
        format!(
            "Step {step} and work that came home before it changed the same places: {}. How should it go on?",
            files.join(", ")
        ),
        "Nothing was merged; both sides are as they were.",
        vec![
            Choice::new(
                "retry",
                "I have resolved it",
                "Merge the main branch in the step's working tree and commit; then its checks run again.",
            ),
            Choice::new("rework", "Do the step again", "It is carried out anew on top of what is there now."),
            Choice::new("cancel", "Leave it", "The step is FAILED and keeps its branch; the others go on."),
        ],
    );
    asked.details = format!("The step's working tree is {tree}, its branch {branch}.");
    asked
}

/// The workspace cannot take the work over.
pub(super) fn in_the_way(step: &str, failure: &Failure) -> Question {
    let mut asked = question(
        format!("Step {step}: something is in the way"),
        format!("The work of step {step} cannot be brought into your working tree. How should it go on?"),
        "Nothing of yours was touched.",
        vec![
            Choice::new("retry", "Try again", "Commit or stash what is in the way first."),
            Choice::new("cancel", "Leave it", "The step is FAILED and keeps its branch; the others go on."),
        ],
    );
    asked.details.clone_from(&failure.message);
    asked
}

/// The push at the end (K-100).
pub(super) fn push(project: &str, branch: &str) -> Question {
    question(
        format!("Push {project}"),
        format!("Shall the commits on {branch} be pushed now?"),
        "What is pushed cannot be taken back without others seeing it.",
        vec![
            Choice::new("approve", "Push", "The branch is sent to its remote."),
            Choice::new("cancel", "Not now", "Nothing is sent; you can push by hand."),
        ],
    )
}

pub(super) fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() || text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}
