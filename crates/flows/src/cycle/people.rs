//! What people are asked in a cycle: what, why, and what each answer leads to.

use seriatim_core::choices::Choices;
use seriatim_core::cycle::block::Role;
use seriatim_core::cycle::choices::ApprovalChoice;
use seriatim_core::cycle::choices::BlockedChoice;
use seriatim_core::cycle::choices::ClarifyChoice;
use seriatim_core::cycle::choices::ContextChoice;
use seriatim_core::cycle::choices::GoalChoice;
use seriatim_core::cycle::choices::MovedChoice;
use seriatim_core::cycle::choices::OccupiedChoice;
use seriatim_core::cycle::choices::OwnChangesChoice;
use seriatim_core::cycle::choices::PauseChoice;
use seriatim_core::cycle::choices::PlanlessChoice;
use seriatim_core::cycle::choices::RiskChoice;
use seriatim_core::cycle::choices::UncheckedChoice;
use seriatim_core::cycle::choices::UndeliveredChoice;
use seriatim_core::cycle::plan::PlanStep;
use seriatim_core::failure::Failure;
use seriatim_core::question::Choice;
use seriatim_core::question::Question;

use super::act::Done;
use super::judge::Judged;
use super::words;
use crate::request::CommitBase;

fn question(header: &str, what: String, why: &str, options: Vec<Choice>) -> Question {
    Question {
        header: header.to_owned(),
        question: what,
        why: why.to_owned(),
        tried: vec![],
        details: String::new(),
        options,
        free_text: true,
        about: vec![],
    }
}

/// The options of a question: each one of its type, so that none is forgotten and none is made up.
fn offer<C: Choices>(words: impl Fn(C) -> Choice) -> Vec<Choice> {
    let option = |choice: &C| Choice { id: choice.id().to_owned(), ..words(*choice) };
    C::ALL.iter().map(option).collect()
}

/// The words of an option; its id is that of its type.
fn labelled(label: &str, description: &str) -> Choice {
    Choice::new("", label, description)
}

fn stop() -> Choice {
    labelled("Stop the cycle", "The document is kept in the archive; the files stay as they are.")
}

pub(super) fn occupied() -> Question {
    question(
        "A cycle is open",
        "The document of the cycle still holds an earlier one. Shall that be put into the archive as incomplete?".into(),
        "A new goal needs a clear document, and nothing that was written is thrown away.",
        offer(|choice| match choice {
            OccupiedChoice::Approve => labelled("Yes, put it away", "It goes to the archive and a new cycle begins."),
            OccupiedChoice::Cancel => labelled("No, leave it", "Nothing is begun."),
        }),
    )
}

/// The goal form (CY-25, CY-27, K-98).
pub(super) fn goal(vague: Option<(&str, &[String])>, archived: usize) -> Question {
    let what = match vague {
        None => "What is the goal of this cycle?".to_owned(),
        Some((text, missing)) => {
            format!("\"{text}\" is not specific enough yet. What is missing: {}", missing.join(" "))
        }
    };
    let mut asked = question(
        "Goal",
        what,
        "Everything that follows is measured against it.",
        offer(|choice| match choice {
            GoalChoice::ProvideInput => labelled("I'll write it", "Your words become the goal.").with_text(),
            GoalChoice::Cancel => labelled("Not now", "The cycle is not begun."),
        }),
    );
    let mut lines = vec![
        "Helpful lines in the text:",
        "Done when: how one can tell that it is reached",
        "Current state: what there is now",
        "Context docs: which documents matter, like CODEBASE, DATABASE",
    ];
    let earlier =
        format!("Archives reviewed: yes, when you looked at the {archived} earlier ones in the archive");
    if archived > 0 {
        lines.push(&earlier);
    }
    asked.details = lines.join("\n");
    asked
}

pub(super) fn clarify(questions: &[String]) -> Question {
    let list: Vec<String> = questions.iter().enumerate().map(|(i, q)| format!("{}. {q}", i + 1)).collect();
    question(
        "Before the plan",
        format!("The Planner would like to know:\n{}", list.join("\n")),
        "A plan on a guess costs more than an answer.",
        offer(|choice| match choice {
            ClarifyChoice::ProvideInput => {
                labelled("I'll answer", "Your words go into the next plan.").with_text()
            }
            ClarifyChoice::Approve => labelled("Use your judgement", "The plan is made with what is known."),
            ClarifyChoice::Stop => stop(),
        }),
    )
}

pub(super) fn context(role: Role, need: &str) -> Question {
    question(
        "Context is missing",
        format!("The {} says what it lacks: {} Can you give it?", role.word(), sentence(need)),
        "It is better to ask than to guess.",
        offer(|choice| match choice {
            ContextChoice::ProvideInput => {
                labelled("Here it is", "Your words go to that role alone.").with_text()
            }
            ContextChoice::Approve => labelled("There is none", "It has to go on without."),
            ContextChoice::Stop => stop(),
        }),
    )
}

pub(super) fn risky(step: &PlanStep, commands: &[String]) -> Question {
    let mut what = format!("The next step is \"{}\".", step.title);
    if !commands.is_empty() {
        what.push_str(&format!(
            " It uses commands that are forbidden without your word: {}.",
            commands.join("; ")
        ));
    }
    let mut asked = question(
        "A risky step",
        format!("{what} Its risk is {}. May it be carried out?", step.risk.word()),
        "Once it is done it may not be possible to undo it.",
        offer(|choice| match choice {
            RiskChoice::Approve => labelled("Yes, do it", "The step is carried out as planned."),
            RiskChoice::Changes => {
                labelled("Plan it differently", "Say how; the Planner plans again.").with_text()
            }
            RiskChoice::Stop => stop(),
        }),
    );
    asked.details = words::step_text(step);
    asked
}

pub(super) fn blocked(why: &str) -> Question {
    question(
        "The work was held",
        format!("{} How should it go on?", sentence(why)),
        "This needs a person's word.",
        offer(|choice| match choice {
            BlockedChoice::Approve => labelled("Allow it", "The next plan may use it."),
            BlockedChoice::Changes => {
                labelled("Find another way", "Say which; the Planner plans again.").with_text()
            }
            BlockedChoice::Stop => stop(),
        }),
    )
}

/// The approval (CY-07): everything that was found is beside the question.
pub(super) fn approval(step: &PlanStep, work: &Done, judged: &Judged, matters: &[String]) -> Question {
    let mut asked = question(
        "Approval",
        format!("\"{}\" is done. {} What shall happen with it?", step.title, judged.footing()),
        "Nothing is committed, merged or pushed without your word, and your word is for exactly this change.",
        offer(|choice| match choice {
            ApprovalChoice::Commit => {
                labelled("Commit", "The change is committed, and pushed where there is a remote.")
            }
            ApprovalChoice::Merge => {
                labelled("Merge", "The change is committed on a branch of its own and merged.")
            }
            ApprovalChoice::Squash => {
                labelled("Squash", "The change becomes one commit on the branch the cycle was started from.")
            }
            ApprovalChoice::Changes => {
                labelled("Request changes", "Say which; the Planner plans again.").with_text()
            }
            ApprovalChoice::Stop => stop(),
        }),
    );
    let mut lines: Vec<String> =
        judged.evidence.iter().map(|e| format!("{}: {}", e.gate, first_line(&e.words))).collect();
    lines.extend(matters.iter().cloned());
    lines.extend(work.remarks.iter().map(|r| format!("Note: {r}")));
    lines.push(String::new());
    lines.push(work.diff.clone());
    asked.details = lines.join("\n");
    asked
}

/// Changes that the user has not committed lie where the work is.
pub(super) fn own_changes(files: &[String]) -> Question {
    let mut asked = question(
        "Your changes",
        format!(
            "You have changes that are not committed in files that this step works on: {}. May they become part of its \
             commit?",
            files.join(", ")
        ),
        "Your changes and those of the step cannot be told apart once both are in one file.",
        offer(|choice| match choice {
            OwnChangesChoice::Approve => {
                labelled("Yes, take them in", "They go into the commit together with the work.")
            }
            OwnChangesChoice::Changes => labelled(
                "Plan without these files",
                "The Planner plans again, and your changes stay as they are; what you write is passed on.",
            ),
            OwnChangesChoice::Stop => stop(),
        }),
    );
    asked.details = files.join("\n");
    asked
}

/// The repository is no longer where the work began.
pub(super) fn moved(expected: &CommitBase, found: &CommitBase) -> Question {
    let mut asked = question(
        "The branch moved",
        format!(
            "The work began on {}. Now {} is checked out. Where shall the commit be made?",
            expected.in_words(),
            found.in_words()
        ),
        "Nothing is committed on top of something that the checks have not seen.",
        offer(|choice| match choice {
            MovedChoice::Approve => labelled(
                "On what is checked out now",
                "The checks run again on it, and you are asked for approval again.",
            ),
            MovedChoice::Retry => {
                labelled("Where it began", "Check that out first; then it is looked at again.")
            }
            MovedChoice::Stop => stop(),
        }),
    );
    asked.details = format!("Go back with:  {}", expected.way_back());
    asked
}

/// Matters of which nobody knows whether they are good (K-114): each is named, and the answer covers these.
pub(super) fn unchecked(step: &PlanStep, matters: &[String], judged: &Judged) -> Question {
    let list: Vec<String> = matters.iter().map(|matter| format!("- {}", first_line(matter))).collect();
    let mut asked = question(
        "Not checked",
        format!("\"{}\" is done, but it is not known whether it is good:\n{}", step.title, list.join("\n")),
        "Nothing counts as good by itself. Accepted matters stay on record under your name.",
        offer(|choice| match choice {
            UncheckedChoice::Accept => {
                labelled("Accept unchecked", "These matters count as good on your word; say why.").with_text()
            }
            UncheckedChoice::Retry => {
                labelled("Check again", "The checks are run and the Judge is asked again.")
            }
            UncheckedChoice::Changes => {
                labelled("Back to the Planner", "Say what should change; the Planner plans again.")
                    .with_text()
            }
            UncheckedChoice::Stop => stop(),
        }),
    );
    let lines = judged.evidence.iter().map(|e| format!("{}: {}", e.gate, first_line(&e.words)));
    asked.details =
        matters.iter().cloned().chain([String::new()]).chain(lines).collect::<Vec<_>>().join("\n");
    asked
}

pub(super) fn not_delivered(failure: &Failure) -> Question {
    let mut asked = question(
        "Not committed",
        "The change could not be brought home. How should it go on?".into(),
        "The approval still holds for this very change.",
        offer(|choice| match choice {
            UndeliveredChoice::Retry => labelled("Try again", "The same change is tried again."),
            UndeliveredChoice::Changes => {
                labelled("Back to the Planner", "What went wrong goes into the next plan.")
            }
            UndeliveredChoice::Stop => stop(),
        }),
    );
    asked.details = failure.message.clone();
    asked
}

pub(super) fn paused(tries: u32, blockers: &[String]) -> Question {
    let mut asked = question(
        "Paused",
        format!("It was tried {tries} times in a row without success. How should it go on?"),
        "More of the same would not help; a person sees what the roles do not.",
        offer(|choice| match choice {
            PauseChoice::Guide => {
                labelled("Restart with instructions", "The Planner goes on with your words.").with_text()
            }
            PauseChoice::NewGoal => {
                labelled("Define a new goal", "This cycle is kept as incomplete and another begins.")
                    .with_text()
            }
            PauseChoice::Stop => stop(),
        }),
    );
    asked.tried = blockers.iter().map(|b| first_line(b)).collect();
    asked
}

pub(super) fn trouble(what: &str, why: &str) -> Question {
    question(
        "No usable plan",
        format!("{what} could not be used even after corrections: {} How should it go on?", sentence(why)),
        "Without a plan nothing can be done.",
        offer(|choice| match choice {
            PlanlessChoice::Retry => {
                labelled("Try again", "The Planner tries again; what you write is passed on.")
            }
            PlanlessChoice::Stop => stop(),
        }),
    )
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

pub(super) fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() || text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}
