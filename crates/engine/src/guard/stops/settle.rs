//! What follows from the verdict over a stop: the agent is let go, sent back, or recovered from.

use seriatim_core::guard::reply::Reply;
use seriatim_core::roadmap::audit::Happening;
use seriatim_core::roadmap::machine;
use seriatim_core::roadmap::machine::AfterStop;
use seriatim_core::roadmap::machine::End;
use seriatim_core::roadmap::machine::Recovered;
use seriatim_core::roadmap::state::StepStatus;
use seriatim_core::roadmap::verdict::LastStop;
use seriatim_core::roadmap::verdict::StopVerdict;
use seriatim_core::roadmap::verdict::sentences;

use crate::guard::GuardError;
use crate::guard::advice;
use crate::guard::book::Desk;
use crate::guard::state::Loaded;
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
    step.last_stop = Some(LastStop::of(&verdict, desk.now));
    let state = loaded.map(|loaded| &loaded.state);
    match machine::after_stop(state, &verdict, end, step.sent_back, step.gated, desk.now) {
        AfterStop::LetGo { closes } => {
            step.sent_back = 0;
            step.ended = true;
            if closes {
                desk.close(&step)?;
            } else {
                desk.keep(&step)?;
            }
            Ok(Reply::Pass)
        }
        AfterStop::SendBack => {
            step.sent_back += 1;
            desk.keep(&step)?;
            Ok(Reply::Block { reason: send_back(&step, &verdict) })
        }
        AfterStop::Recover { recovered, holds } => {
            step.ended = true;
            if let (Some(loaded), Some(mut recovered)) = (loaded, recovered) {
                name_changed(&mut recovered, changed);
                desk.recover(&mut step, loaded, &recovered)?;
            }
            if holds {
                desk.hold(&mut step, &verdict)?;
            }
            desk.keep(&step)?;
            let is_done = state.is_some_and(|state| state.status == StepStatus::Done);
            Ok(match end {
                End::Wants => Reply::Pass,
                End::Over | End::Crashed => Reply::Block { reason: afterwards(&step, &verdict, is_done) },
            })
        }
    }
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
        text.push_str(&format!("\n- {}", error.sentence()));
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
        text.push_str(&format!("\n- {}", error.sentence()));
    }
    text.push_str(match is_done {
        true => "\nIts record is whole; what is named here has to be put right before it can be committed.",
        false => {
            "\nThe step can be tried again: call the sub-agent with a complete prompt for the same step."
        }
    });
    // How phases are recorded is the business of the agent that is called again.
    let beside = verdict.errors.iter().filter(|error| !advice::is_of_record(error));
    for advice in advice::on(&step.task_id, beside) {
        text.push_str(&format!("\n{advice}"));
    }
    text
}

/// What whoever called an agent is told when it had to be let go.
pub(super) fn let_go(step: &OpenStep) -> String {
    format!(
        "The work on {} is not complete, whatever its agent says. A person is asked about it (`seriatim inbox`):\n- {}",
        step.in_words(),
        sentences(&step.holds).join("\n- ")
    )
}
