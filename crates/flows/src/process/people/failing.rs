//! What people are asked when something failed.

use seriatim_core::failure::Failure;
use seriatim_core::process::definition::Step;
use seriatim_core::question::Choice;
use seriatim_core::question::Question;

use super::about;
use super::question;
use super::sentence;
use super::stop;
use super::trimmed;
use crate::attempts::FailedAttempt;

/// A serious failure (PX-75). Where the definition allows several, stopping is the default (K-65).
pub(in crate::process) fn serious(
    step: &Step,
    condition: &str,
    raised: bool,
    fix: Option<&Step>,
) -> Question {
    let fixes = fix.map(|f| format!(" '{}' is run first.", f.name.value)).unwrap_or_default();
    let go_on = Choice::new(
        "approve",
        "Fix it and try again",
        &format!("The work goes back and tries again.{fixes}"),
    );
    let options = if raised { vec![stop(), go_on] } else { vec![go_on, stop()] };
    let what =
        format!("A serious issue occurred: {} Shall it be mended and tried again?", sentence(condition));
    let why = format!("'{}' cannot be passed as it is.", step.name.value);
    question(&step.name.value, what, why, options)
}

/// The correction step is about to run (PX-77).
pub(in crate::process) fn confirm_fix(step: &Step, condition: &str, fix: &Step) -> Question {
    let what = format!(
        "This failed again. I'll run the correction step. OK? What failed: {} The correction: {}",
        sentence(condition),
        sentence(&about(fix))
    );
    let options = vec![
        Choice::new("fix", "Yes, run it", "The correction is run, then the work goes back and tries again."),
        Choice::new("retry", "Try again without it", "The work goes back and tries again as it is."),
        stop(),
    ];
    let why = format!("'{}' has failed more than once.", step.name.value);
    question(&step.name.value, what, why, options)
}

/// The definition leaves the way to a person (PX-79, K-68).
pub(in crate::process) fn choose_fix(
    step: &Step,
    condition: &str,
    fix: &Step,
    serious: bool,
    raised: bool,
) -> Question {
    let lead = if serious { "A serious issue occurred: " } else { "This did not pass: " };
    let what = format!("{lead}{} Which way shall it take?", sentence(condition));
    let mut options = vec![
        Choice::new("fix", "Run the correction", &sentence(&about(fix))),
        Choice::new("retry", "Try again without it", "The work goes back and tries again as it is."),
        stop(),
    ];
    if serious && raised {
        options.rotate_right(1);
    }
    let why = format!("'{}' did not pass, and there is a correction for it.", step.name.value);
    question(&step.name.value, what, why, options)
}

/// A failure that will come again with the same input (PX-72).
pub(in crate::process) fn persistent(step: &Step, condition: &str) -> Question {
    let what = "This validation will fail again with the same input. Would you like to provide a different \
                artifact or skip?"
        .to_owned();
    let options = vec![
        Choice::new(
            "provide_input",
            "Provide different input",
            "Say what to use; the count of tries starts anew.",
        )
        .with_text(),
        Choice::new("skip", "Skip this validation", "The work goes on without it, and the record says so."),
        Choice::new("cancel", "Cancel", "The work ends here; what there is so far is kept."),
    ];
    let why = format!("Nothing has changed since the last time: {}", sentence(condition));
    question(&step.name.value, what, why, options)
}

/// Work has to go back to another process that is not known here.
pub(in crate::process) fn hand_over(step: &Step, condition: &str) -> Question {
    let what = format!(
        "This has to go back to other work, which I cannot start from here: {} Has it been dealt with?",
        sentence(condition)
    );
    let options = vec![
        Choice::new("retry", "Yes, try again", "The step is done again."),
        Choice::new("skip", "Skip step", "The work goes on without this step, and the record says so."),
        stop(),
    ];
    question(&step.name.value, what, "What comes next depends on it.".to_owned(), options)
}

/// An error that nothing in the definition deals with (PX-135).
pub(in crate::process) fn unexpected(step: &Step, failure: &Failure, failed: &[FailedAttempt]) -> Question {
    let mut details: Vec<String> = failure.kept.iter().map(|k| sentence(k)).collect();
    details.extend(Some(failure.reason()).filter(|reason| !reason.is_empty()));
    let what = format!("An unexpected error occurred: {}. How should I proceed?", trimmed(&failure.message));
    let options = vec![
        Choice::new("retry", "Retry", "The step is tried again; what you write is passed on."),
        Choice::new("skip", "Skip step", "The work goes on without it, and the record says so."),
        Choice::new("cancel", "Abort process", "The work ends here; what there is so far is kept."),
    ];
    let why = format!("The step '{}' is not done, and the steps after it build on it.", step.name.value);
    let mut asked = question(&step.name.value, what, why, options);
    asked.tried =
        failed.iter().map(|f| format!("Attempt {}: {}", f.attempt, sentence(&f.failure.message))).collect();
    asked.details = details.join("\n");
    asked
}
