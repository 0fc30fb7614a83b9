//! What people are asked about a step.

use seriatim_core::choices;
use seriatim_core::choices::Choices;
use seriatim_core::failure::Failure;
use seriatim_core::question::Answer;
use seriatim_core::question::Choice;
use seriatim_core::question::Question;
use seriatim_core::roadmap::facts::DecisionOutcome;
use seriatim_core::roadmap::facts::Matter;
use seriatim_core::roadmap::facts::RoadmapDecision;
use seriatim_core::roadmap::facts::RoadmapFact;

use crate::Cx;
use crate::request::CommitBase;

choices! {
    /// What happens with changes of the user in files of the step.
    pub(super) enum OverlapChoice {
        Approve = "approve",
        Cancel = "cancel",
    }
}

choices! {
    /// What follows from RED that stays green.
    pub(super) enum GreenAtRedChoice {
        Fix = "fix",
        Skip = "skip",
        Cancel = "cancel",
    }
}

choices! {
    /// What follows from an agent that did not finish in time.
    pub(super) enum SlowAgentChoice {
        Retry = "retry",
        Skip = "skip",
        Cancel = "cancel",
    }
}

choices! {
    /// What a reviewer thinks of a step.
    pub(super) enum ReviewChoice {
        Approve = "approve",
        Rework = "rework",
        Cancel = "cancel",
    }
}

choices! {
    /// What follows from findings that stay open.
    pub(super) enum FindingsChoice {
        Fix = "fix",
        Accept = "accept",
        Cancel = "cancel",
    }
}

choices! {
    /// What follows from a conflict with merged changes.
    pub(super) enum ConflictChoice {
        Retry = "retry",
        Rework = "rework",
        Cancel = "cancel",
    }
}

choices! {
    /// What follows from files that keep the step from being merged.
    pub(super) enum ObstacleChoice {
        Retry = "retry",
        Cancel = "cancel",
    }
}

choices! {
    /// How it goes on when the repository is no longer where the step left it.
    pub(super) enum MovedChoice {
        Approve = "approve",
        Retry = "retry",
        Cancel = "cancel",
    }
}

choices! {
    /// Whether the branch is pushed.
    pub(super) enum PushChoice {
        Approve = "approve",
        Cancel = "cancel",
    }
}

/// An option as the record of decisions carries it.
macro_rules! recorded_as {
    ($choice:ident { $($variant:ident),+ }) => {
        impl From<$choice> for DecisionOutcome {
            fn from(choice: $choice) -> DecisionOutcome {
                match choice {
                    $($choice::$variant => DecisionOutcome::$variant),+
                }
            }
        }
    };
}

recorded_as!(OverlapChoice { Approve, Cancel });
recorded_as!(GreenAtRedChoice { Fix, Skip, Cancel });
recorded_as!(SlowAgentChoice { Retry, Skip, Cancel });
recorded_as!(FindingsChoice { Fix, Accept, Cancel });
recorded_as!(ReviewChoice { Approve, Rework, Cancel });
recorded_as!(ConflictChoice { Retry, Rework, Cancel });
recorded_as!(ObstacleChoice { Retry, Cancel });
recorded_as!(MovedChoice { Approve, Retry, Cancel });
recorded_as!(PushChoice { Approve, Cancel });

/// Asks a person and records the decision. `id` is the step, or the matter itself where it is about no step.
pub(super) async fn decide<C>(cx: &Cx, matter: Matter, id: &str, question: Question) -> (C, Answer)
where
    C: Choices + Into<DecisionOutcome>,
{
    let (choice, answer) = cx.choose::<C>(question).await;
    cx.record(&RoadmapFact::Decision(RoadmapDecision {
        subject: matter.subject(id),
        outcome: choice.into(),
        rationale: answer.text.clone().unwrap_or_default(),
        actor: answer.by.clone(),
        id: id.to_owned(),
        matter: Some(matter),
    }));
    (choice, answer)
}

fn option(choice: impl Choices, label: &str, description: &str) -> Choice {
    Choice::new(choice.id(), label, description)
}

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

fn stop(choice: impl Choices) -> Choice {
    option(
        choice,
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
            option(
                OverlapChoice::Approve,
                "Yes, take them in",
                "They go into the step's commits together with its own.",
            ),
            option(
                OverlapChoice::Cancel,
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
            option(
                GreenAtRedChoice::Fix,
                "Fix the test",
                "The phase is tried again; what you write is passed on.",
            ),
            option(
                GreenAtRedChoice::Skip,
                "Skip it, approved",
                "The phase is recorded as APPROVED_SKIP with your words as the reason.",
            )
            .with_text(),
            stop(GreenAtRedChoice::Cancel),
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
            option(
                SlowAgentChoice::Retry,
                "Try again",
                "The phase is tried again; what you write is passed on.",
            ),
            option(
                SlowAgentChoice::Skip,
                "Skip it, approved",
                "The phase is recorded as APPROVED_SKIP with your words.",
            )
            .with_text(),
            stop(SlowAgentChoice::Cancel),
        ],
    );
    asked.details = failure.reason();
    asked
}

/// The agent wants a review before the step is committed (DW-86).
pub(super) fn review(step: &str, from: &str, reason: &str, diff: &str) -> Question {
    let mut asked = question(
        format!("Step {step}: review by @{}", from.trim_start_matches('@')),
        format!("{} Is step {step} good as it is?", sentence(reason)),
        "The agent asked for a review before the work is committed.",
        vec![
            option(ReviewChoice::Approve, "It is good", "The step is committed and done."),
            option(
                ReviewChoice::Rework,
                "It has to be done over",
                "Say what; work goes on from GREEN with your words.",
            )
            .with_text(),
            stop(ReviewChoice::Cancel),
        ],
    );
    asked.details = diff.to_owned();
    asked
}

/// Findings of a review that were not closed. No answer lets a critical one stand.
pub(super) fn findings(step: &str, lines: &[String], critical: bool) -> Question {
    let accept = option(
        FindingsChoice::Accept,
        "Accept them",
        "The findings named here stay as they are; your reason is recorded and shown with the result.",
    )
    .with_text();
    let fix =
        option(FindingsChoice::Fix, "Fix them", "The phase is tried again; what you write is passed on.");
    let options = match critical {
        true => vec![fix, stop(FindingsChoice::Cancel)],
        false => vec![fix, accept, stop(FindingsChoice::Cancel)],
    };
    let mut asked = question(
        format!("Step {step}: open findings"),
        format!("The review of step {step} found problems that are still open. How should it go on?"),
        "A finding stays open until the reviewer closes it by name, or a person accepts it.",
        options,
    );
    asked.details = lines.join("\n");
    asked
}

/// Two steps changed the same place.
pub(super) fn conflict(step: &str, files: &[String], tree: &str, branch: &str) -> Question {
    let mut asked = question(
        format!("Step {step}: conflict"),
        format!(
            "Step {step} and merged changes touch the same places: {}. How should it go on?",
            files.join(", ")
        ),
        "Nothing was merged; both sides are as they were.",
        vec![
            option(
                ConflictChoice::Retry,
                "I have resolved it",
                "Merge the main branch in the step's working tree and commit; then its checks run again.",
            ),
            option(
                ConflictChoice::Rework,
                "Do the step again",
                "It is carried out anew on top of what is there now.",
            ),
            option(
                ConflictChoice::Cancel,
                "Leave it",
                "The step is FAILED and keeps its branch; the others go on.",
            ),
        ],
    );
    asked.details = format!("The step's working tree is {tree}, its branch {branch}.");
    asked
}

/// The workspace cannot take the work over.
pub(super) fn in_the_way(step: &str, failure: &Failure) -> Question {
    let mut asked = question(
        format!("Step {step}: something is in the way"),
        format!("The work of step {step} cannot be merged into your working tree. How should it go on?"),
        "Nothing of yours was touched.",
        vec![
            option(ObstacleChoice::Retry, "Try again", "Commit or stash what is in the way first."),
            option(
                ObstacleChoice::Cancel,
                "Leave it",
                "The step is FAILED and keeps its branch; the others go on.",
            ),
        ],
    );
    asked.details.clone_from(&failure.message);
    asked
}

/// The repository is no longer where the step left it.
pub(super) fn moved(step: &str, expected: &CommitBase, found: &CommitBase) -> Question {
    let mut asked = question(
        format!("Step {step}: the branch moved"),
        format!(
            "The work of step {step} stands on {}. Now {} is checked out. Where shall its commits be made?",
            expected.in_words(),
            found.in_words()
        ),
        "Nothing is committed on top of something that the checks have not seen.",
        vec![
            option(
                MovedChoice::Approve,
                "On what is checked out now",
                "The step goes on from there, and its checks run on it before the last commit.",
            ),
            option(MovedChoice::Retry, "Where it was", "Check that out first; then it is looked at again."),
            stop(MovedChoice::Cancel),
        ],
    );
    asked.details = format!("Go back with:  {}", expected.way_back());
    asked
}

/// The push at the end (K-100).
pub(super) fn push(project: &str, branch: &str) -> Question {
    question(
        format!("Push {project}"),
        format!("Shall the commits on {branch} be pushed now?"),
        "What is pushed cannot be taken back without others seeing it.",
        vec![
            option(PushChoice::Approve, "Push", "The branch is sent to its remote."),
            option(PushChoice::Cancel, "Not now", "Nothing is sent; you can push by hand."),
        ],
    )
}

pub(super) fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() || text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}
