//! What the engine does to a step as a whole: it fails, it is looked at, it is done over.

use serde_json::Value as Json;

use super::Act;
use super::By;
use super::Change;
use super::Changed;
use super::Refusal;
use super::Work;
use crate::roadmap::audit::Happening;
use crate::roadmap::machine;
use crate::roadmap::machine::Actor;
use crate::roadmap::machine::Trigger;
use crate::roadmap::phases::Schema;
use crate::roadmap::skip;
use crate::roadmap::skip::CHECKPOINT_PENDING;
use crate::roadmap::skip::Reason;
use crate::roadmap::state::Outcome;
use crate::roadmap::state::PhaseRecord;
use crate::roadmap::state::PhaseStatus;
use crate::roadmap::state::StepState;
use crate::roadmap::state::StepStatus;
use crate::time::Utc;

fn work<'s>(state: &StepState, schema: &'s Schema, now: Utc) -> Work<'s> {
    Work { state: state.clone(), schema, now, by: By::Engine, events: vec![] }
}

/// A step is given up for now: it is FAILED, and what is left of it is said (DW-85). Phases that were closed stay so.
pub fn fail(
    state: &StepState,
    schema: &Schema,
    reason: &str,
    suggestions: &[String],
    can_retry: bool,
    now: Utc,
) -> Result<Changed, Refusal> {
    let mut work = work(state, schema, now);
    if work.state.status == StepStatus::InReview {
        work.step_step(StepStatus::Rework, Trigger::Rework)?;
    }
    if work.state.status != StepStatus::InProgress {
        work.set_to_work()?;
    }
    // Nothing is left in progress: what was under way ends with the step.
    for record in work.state.phases.iter_mut().filter(|phase| phase.status == PhaseStatus::InProgress) {
        let given = [("outcome", Json::from(Outcome::Fail.word()))];
        machine::move_phase(record, PhaseStatus::Failed, Trigger::Fail, Actor::Engine, &given)?;
        record.outcome = Some(Outcome::Fail);
        record.ended_at = Some(now.seconds());
        record.outcome_details = Some(reason.to_owned());
    }
    work.step_step(StepStatus::Failed, Trigger::UnrecoverableError)?;
    work.state.failure_reason = Some(reason.to_owned());
    work.state.can_retry = Some(can_retry);
    work.state.partial_completion = false;
    work.state.recovery_suggestions = suggestions.to_vec();
    Ok((work.state, work.events))
}

/// Somebody is asked to look at the step before it is brought home (DW-86).
pub fn seek_review(state: &StepState, schema: &Schema, now: Utc) -> Result<Changed, Refusal> {
    let mut work = work(state, schema, now);
    work.step_step(StepStatus::InReview, Trigger::Review)?;
    Ok((work.state, work.events))
}

/// A step that was looked at is done over from a phase on; what was on record goes into the history.
pub fn rework(
    state: &StepState,
    schema: &Schema,
    phase: &str,
    note: &str,
    now: Utc,
) -> Result<Changed, Refusal> {
    let mut work = work(state, schema, now);
    work.step_step(StepStatus::Rework, Trigger::Rework)?;
    work.step_step(StepStatus::InProgress, Trigger::AgentStarts)?;
    // The phase of the commit is under way while somebody looks; it begins again in its turn.
    for record in work.state.phases.iter_mut().filter(|phase| phase.status == PhaseStatus::InProgress) {
        machine::move_phase(record, PhaseStatus::NotExecuted, Trigger::CrashReset, Actor::Engine, &[])?;
        record.clear();
    }
    let at = work.find(phase)?;
    let change = Change { note: Some(note.to_owned()), by: By::Engine, ..Change::new(Act::Reopen, phase) };
    work.reopen(at, &change)?;
    Ok((work.state, work.events))
}

/// A checkpoint is taken back (DW-74): the phases from `first` on are pending again, what was on record about them goes
/// into their history. DONE is left here and nowhere else, since a person asks for exactly
/// that (DW-48); that is why it is an edge of the engine's, which edits by hand are not measured by. Doing it twice adds
/// nothing.
pub fn roll_back(
    state: &StepState,
    schema: &Schema,
    first: &str,
    note: &str,
    now: Utc,
) -> Result<Changed, Refusal> {
    let mut work = work(state, schema, now);
    let at = work.find(first)?;
    let mut opened = vec![];
    for phase in work.state.phases.iter_mut().skip(at) {
        let untouched = match phase.status {
            PhaseStatus::NotExecuted | PhaseStatus::Pending => true,
            // What does not apply to the step, or was let go by a person, is so still.
            PhaseStatus::Skipped => skip::reason(phase.blocked_by.as_deref()) == Reason::Valid,
            _ => false,
        };
        if !untouched {
            let earlier = phase.as_history(schema);
            machine::move_phase(phase, PhaseStatus::Pending, Trigger::Rollback, Actor::Engine, &[])?;
            phase.clear();
            phase.history.push(earlier);
            opened.push(phase.name.clone());
        } else if phase.status == PhaseStatus::NotExecuted {
            machine::move_phase(phase, PhaseStatus::Pending, Trigger::Rollback, Actor::Engine, &[])?;
        } else {
            continue;
        }
        phase.blocked_by = Some(format!("{CHECKPOINT_PENDING}: {note}"));
    }
    for name in opened {
        let event = work.event(Happening::PhaseReopened).with("phase", name).with("notes", note);
        work.events.push(event);
    }
    if work.state.status != StepStatus::InProgress && work.state.phases.iter().any(is_open) {
        work.step_step(StepStatus::InProgress, Trigger::Rollback)?;
    }
    work.state.completed_at = None;
    work.state.failure_reason = None;
    work.state.can_retry = None;
    work.state.partial_completion = false;
    work.state.recovery_suggestions = vec![];
    Ok((work.state, work.events))
}

fn is_open(phase: &PhaseRecord) -> bool {
    !phase.is_closed()
}
