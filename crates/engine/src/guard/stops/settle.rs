//! What follows from the verdict over a stop: the agent is let go, sent back, or recovered from.

use seriatim_core::guard::reply::Reply;
use seriatim_core::roadmap::audit::Happening;
use seriatim_core::roadmap::state::StepState;
use seriatim_core::roadmap::state::StepStatus;
use seriatim_core::roadmap::verdict;
use seriatim_core::roadmap::verdict::FailureMode;
use seriatim_core::roadmap::verdict::Recovered;
use seriatim_core::roadmap::verdict::StopVerdict;
use seriatim_core::time::Utc;

use super::End;
use super::SENT_BACK_MAX;
use crate::guard::GuardError;
use crate::guard::advice;
use crate::guard::book::Desk;
use crate::guard::commit::is_scope;
use crate::guard::state::Loaded;
use crate::guard::step::LastStop;
use crate::guard::step::OpenStep;

/// How many changed files are named in an event.
const NAMED_MAX: usize = 200;

/// What follows from a verdict: it is on record, and the agent is let go, sent back or recovered from.
pub(super) fn settle(
    desk: &mut Desk<'_, '_>,
    mut step: OpenStep,
    loaded: Option<&Loaded>,
    verdict: StopVerdict,
    end: End,
    changed: &[String],
) -> Result<Reply, GuardError> {
    let event = verdict.event(&step.task_id, desk.now);
    desk.happened(&event)?;
    step.last_stop =
        Some(LastStop { at: desk.now, status: verdict.word().to_owned(), errors: verdict.errors.clone() });
    if !verdict.is_error() {
        step.sent_back = 0;
        step.ended = true;
        let is_done = loaded.is_some_and(|loaded| loaded.state.status == StepStatus::Done);
        if step.gated && is_done {
            desk.close(&step)?;
        } else {
            desk.keep(&step)?;
        }
        return Ok(Reply::Pass);
    }
    if end == End::Wants && step.sent_back < SENT_BACK_MAX {
        step.sent_back += 1;
        desk.keep(&step)?;
        return Ok(Reply::Block { reason: send_back(&step, &verdict) });
    }
    step.ended = true;
    if let Some(loaded) = loaded
        && let Some(mut recovered) = recover(&loaded.state, &verdict, end, desk.now)
    {
        name_changed(&mut recovered, changed);
        desk.recover(&mut step, loaded, &recovered)?;
    }
    if end == End::Wants {
        let why = format!("{}{}{}", step.in_words(), advice::HELD, verdict.errors.join("; "));
        desk.hold(&mut step, why, &verdict)?;
    }
    desk.keep(&step)?;
    let is_done = loaded.is_some_and(|loaded| loaded.state.status == StepStatus::Done);
    Ok(match end {
        End::Wants => Reply::Pass,
        End::Over | End::Crashed => Reply::Block { reason: afterwards(&step, &verdict, is_done) },
    })
}

/// Which of the four ways of going wrong it was, and what it makes of the step. One that is done stays so: its record
/// is whole, and what is wrong lies beside it.
fn recover(state: &StepState, verdict: &StopVerdict, end: End, now: Utc) -> Option<Recovered> {
    if state.status == StepStatus::Done && state.all_phases_valid() {
        return None;
    }
    if end == End::Crashed {
        return Some(verdict::crash(state, now));
    }
    if let Some(silent) = verdict::silent(state, now) {
        return Some(silent);
    }
    if verdict.errors.iter().any(|error| is_scope(error)) {
        return Some(verdict::runaway(state, now));
    }
    let mut suggestions: Vec<String> = FailureMode::Stuck.suggestions().map(str::to_owned).into();
    let left = state.phases.iter().filter(|phase| !phase.is_closed());
    suggestions.extend(left.map(|phase| format!("Continue with phase {}", phase.name)));
    Some(verdict::partial(state, &suggestions, now))
}

/// Work that nobody recorded is not lost: the files are named where the silence is (E-80).
fn name_changed(recovered: &mut Recovered, changed: &[String]) {
    for event in &mut recovered.events {
        if event.happening == Happening::SilentCompletionDetected && !changed.is_empty() {
            let files: Vec<&str> = changed.iter().take(NAMED_MAX).map(String::as_str).collect();
            *event = event.clone().with("changed_files", files);
        }
    }
}

/// What an agent is told that wants to stop too early.
fn send_back(step: &OpenStep, verdict: &StopVerdict) -> String {
    let mut text = format!("You cannot stop yet: {} is not whole.", step.in_words());
    for error in &verdict.errors {
        text.push_str(&format!("\n- {error}"));
    }
    for advice in advice::on(&step.task_id, &verdict.errors) {
        text.push_str(&format!("\n{advice}"));
    }
    text
}

/// What whoever called the agent is told when it is over.
fn afterwards(step: &OpenStep, verdict: &StopVerdict, is_done: bool) -> String {
    let mut text = format!("The work on {} is not complete:", step.in_words());
    for error in &verdict.errors {
        text.push_str(&format!("\n- {error}"));
    }
    text.push_str(match is_done {
        true => "\nIts record is whole; what is named here has to be put right before it can be committed.",
        false => {
            "\nThe step can be tried again: call the sub-agent with a complete prompt for the same step."
        }
    });
    // How phases are recorded is the business of the agent that is called again.
    let beside: Vec<String> =
        verdict.errors.iter().filter(|error| !advice::is_of_record(error)).cloned().collect();
    for advice in advice::on(&step.task_id, &beside) {
        text.push_str(&format!("\n{advice}"));
    }
    text
}

/// What whoever called an agent is told when it had to be let go.
pub(super) fn let_go(step: &OpenStep) -> String {
    format!(
        "The work on {} is not complete, whatever its agent says. A person is asked about it (`seriatim inbox`):\n- {}",
        step.in_words(),
        step.holds.join("\n- ")
    )
}
