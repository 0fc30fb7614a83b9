//! Steps that are put to work and closed, and those whose agent went where it may not.

use super::Actor;
use super::FailureMode;
use super::Recovered;
use super::Trigger;
use super::move_step;
use crate::roadmap::audit::Event;
use crate::roadmap::phases::COMMIT;
use crate::roadmap::phases::Schema;
use crate::roadmap::state::PhaseStatus;
use crate::roadmap::state::StepState;
use crate::roadmap::state::StepStatus;
use crate::time::Utc;

/// Why no work can be begun for a step where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    Done,
    /// It failed, and a person decided that it is not tried again.
    NotToBeRetried,
    InReview,
    UnknownStatus,
}

impl Closed {
    /// What to do instead.
    pub fn instead(self) -> &'static str {
        match self {
            Closed::Done => "it is finished, and what is still to be done needs a step of its own",
            Closed::NotToBeRetried => "it is marked as not to be tried again; a person has to decide",
            Closed::InReview => "wait for the review, or ask for rework",
            Closed::UnknownStatus => "correct the status in the state file first",
        }
    }
}

/// Returns the edges by which a step is put to work from where it stands; none where it is at work already.
pub fn way_to_work(state: &StepState, by: Actor) -> Result<&'static [(StepStatus, Trigger)], Closed> {
    match &state.status {
        StepStatus::InProgress => Ok(&[]),
        // The engine commits a step that was found good in its review.
        StepStatus::InReview if by == Actor::Engine => Ok(&[]),
        StepStatus::Todo | StepStatus::Retry | StepStatus::Rework => {
            Ok(&[(StepStatus::InProgress, Trigger::AgentStarts)])
        }
        StepStatus::Partial => Ok(&[(StepStatus::InProgress, Trigger::Resume)]),
        StepStatus::Failed if state.can_retry == Some(false) => Err(Closed::NotToBeRetried),
        StepStatus::Failed => {
            Ok(&[(StepStatus::Retry, Trigger::RetryWithFix), (StepStatus::InProgress, Trigger::AgentStarts)])
        }
        StepStatus::InReview => Err(Closed::InReview),
        StepStatus::Done => Err(Closed::Done),
        StepStatus::Unknown(_) => Err(Closed::UnknownStatus),
    }
}

/// Puts a step to work, by whatever way leads there from where it stands (DS-28).
pub fn put_to_work(state: &mut StepState, by: Actor, now: Utc) -> Result<Vec<Event>, Closed> {
    let way = way_to_work(state, by)?;
    let mut moved = state.clone();
    let mut events = vec![];
    for (to, trigger) in way {
        // The ways to work are edges of the machine; a test walks them all.
        let event = move_step(&mut moved, to.clone(), *trigger, by, now);
        events.push(event.map_err(|_| Closed::UnknownStatus)?);
    }
    if !way.is_empty() {
        moved.started_at.get_or_insert(now.seconds());
        moved.failure_reason = None;
        moved.partial_completion = false;
        moved.recovery_suggestions = vec![];
    }
    *state = moved;
    Ok(events)
}

/// An agent has begun with a step: it is in progress from now on. `None` where it is so already or cannot be.
pub fn begin(state: &StepState, now: Utc) -> Option<Recovered> {
    let mut state = state.clone();
    let events = put_to_work(&mut state, Actor::Command, now).ok()?;
    (!events.is_empty()).then_some(Recovered { state, events, findings: vec![] })
}

/// Closes a step whose last phase is over and all of whose phases are valid.
pub fn close(state: &mut StepState, by: Actor, now: Utc) -> Option<Event> {
    let trigger = match state.status {
        StepStatus::InProgress => Trigger::AllPhasesComplete,
        StepStatus::InReview if by == Actor::Engine => Trigger::Approve,
        _ => return None,
    };
    let event = move_step(state, StepStatus::Done, trigger, by, now).ok()?;
    state.completed_at = Some(now.seconds());
    Some(event)
}

/// Returns the phases before the commit that are still to be carried out, in their order. What was carried out or
/// skipped before is not done again (DW-39, DW-92).
pub fn to_do(state: &StepState, schema: &Schema) -> Vec<String> {
    let is_over = |name: &&str| {
        let record = state.phase(name);
        record.is_some_and(|record| matches!(record.status, PhaseStatus::Skipped | PhaseStatus::Done))
    };
    let names = schema.names().filter(|name| *name != COMMIT);
    names.filter(|name| !is_over(name)).map(str::to_owned).collect()
}

/// Returns the phases before the commit that are not over for good.
pub fn unfinished(state: &StepState) -> Vec<String> {
    let open = state.phases.iter().filter(|phase| phase.name != COMMIT && !phase.is_closed());
    open.map(|phase| phase.name.clone()).collect()
}

/// An agent changed files outside of what its step allows: the step fails, and nothing is undone (DS-66).
pub fn runaway(state: &StepState, now: Utc) -> Recovered {
    let mut state = state.clone();
    let event = move_step(&mut state, StepStatus::Failed, Trigger::UnrecoverableError, Actor::Engine, now);
    state.failure_reason = Some("Agent changed files outside of the step".to_owned());
    state.can_retry = Some(true);
    state.recovery_suggestions = FailureMode::Runaway.suggestions().map(str::to_owned).into();
    Recovered { state, events: event.into_iter().collect(), findings: vec![] }
}
