//! What is done when an agent crashed, got stuck, ran away or said nothing (DS-25, DS-64 to DS-67, DS-81).

use serde_json::json;

use super::Actor;
use super::Trigger;
use super::move_phase;
use super::move_step;
use crate::finding::Finding;
use crate::finding::Place;
use crate::roadmap::audit::Event;
use crate::roadmap::audit::Happening;
use crate::roadmap::state::PhaseStatus;
use crate::roadmap::state::StepState;
use crate::roadmap::state::StepStatus;
use crate::roadmap::state::instant;
use crate::roadmap::verdict::is_open;
use crate::time::Utc;

/// The four ways in which an agent's work goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureMode {
    Crash,
    Stuck,
    Runaway,
    Silent,
}

impl FailureMode {
    pub const ALL: [FailureMode; 4] =
        [FailureMode::Crash, FailureMode::Stuck, FailureMode::Runaway, FailureMode::Silent];

    /// What can be done about it, in words for people and agents (DS-81).
    pub fn suggestions(self) -> [&'static str; 3] {
        match self {
            FailureMode::Crash => [
                "Read the end of the agent's transcript to see what it was doing",
                "Look at what it left in the working tree, and keep or undo it",
                "Start the interrupted phase again; its earlier try is in the history",
            ],
            FailureMode::Stuck => [
                "Read the notes of the phase that was in progress",
                "Split what is left into smaller pieces, or raise the limit",
                "Resume the step; finished phases are not done again",
            ],
            FailureMode::Runaway => [
                "Look at the files outside of the step's patterns, and undo what does not belong to it",
                "Add the file to the step's patterns if the change is right",
                "Start the phase again with the boundaries said more clearly",
            ],
            FailureMode::Silent => [
                "Check agent transcript for errors",
                "Verify prompt contained all required instructions",
                "Retry with more explicit phase update requirements",
            ],
        }
    }
}

/// A step after recovery, and what has to go on record.
#[derive(Clone, Debug, PartialEq)]
pub struct Recovered {
    pub state: StepState,
    pub events: Vec<Event>,
    pub findings: Vec<Finding>,
}

fn event(state: &StepState, happening: Happening, now: Utc) -> Event {
    Event::new(now, happening, &state.step_file).with("step_id", state.task_id.as_str())
}

/// Moves a step to where a recovery leaves it; nothing goes on record where it is there already.
fn moved(state: &mut StepState, to: StepStatus, trigger: Trigger, now: Utc) -> Option<Event> {
    move_step(state, to, trigger, Actor::Engine, now).ok()
}

/// An agent died: what was in progress goes into the history as CRASHED and can be started again (DS-64, K-90).
pub fn crash(state: &StepState, now: Utc) -> Recovered {
    let mut state = state.clone();
    let mut events = vec![];
    let mut findings = vec![];
    let running: Vec<String> = state
        .phases
        .iter()
        .filter(|phase| phase.status == PhaseStatus::InProgress)
        .map(|phase| phase.name.clone())
        .collect();
    for phase in state.phases.iter_mut().filter(|phase| phase.status == PhaseStatus::InProgress) {
        let mut entry = json!({
            "status": "CRASHED",
            "ended_at": now.seconds(),
            "notes": "Agent crashed during execution",
        });
        if let (Some(entry), Some(started)) = (entry.as_object_mut(), &phase.started_at) {
            entry.insert("started_at".to_owned(), json!(started));
        }
        if let (Some(entry), Some(notes)) = (entry.as_object_mut(), &phase.notes) {
            entry.insert("agent_notes".to_owned(), json!(notes));
        }
        if move_phase(phase, PhaseStatus::NotExecuted, Trigger::CrashReset, Actor::Engine, &[]).is_ok() {
            phase.clear();
            phase.history.push(entry);
        }
    }
    for name in &running {
        events.push(
            event(&state, Happening::PhaseFailed, now).with("phase", name.as_str()).with("status", "CRASHED"),
        );
    }
    if running.len() > 1 {
        let message = format!("several phases were IN_PROGRESS at once: {}", running.join(", "));
        findings
            .push(Finding::warning("phase", Place::TOP, message).help("all of them went into the history"));
    }
    events.extend(moved(&mut state, StepStatus::Failed, Trigger::UnrecoverableError, now));
    state.failure_reason = Some("Agent crashed".to_owned());
    state.recovery_suggestions = FailureMode::Crash.suggestions().map(str::to_owned).into();
    state.can_retry = Some(true);
    state.partial_completion = false;
    Recovered { state, events, findings }
}

/// An agent stopped and nothing was done, though the step was at work: it becomes FAILED (DS-67). `None` where
/// something was done.
pub fn silent(state: &StepState, now: Utc) -> Option<Recovered> {
    // Phases that were pre-set as skipped were never started, so they are nobody's work.
    let untouched = |phase: &crate::roadmap::state::PhaseRecord| match phase.status {
        PhaseStatus::NotExecuted | PhaseStatus::Pending => true,
        PhaseStatus::Skipped => phase.started_at.is_none(),
        _ => false,
    };
    let any_open = state.phases.iter().any(is_open);
    if state.status != StepStatus::InProgress || !any_open || !state.phases.iter().all(untouched) {
        return None;
    }
    let mut state = state.clone();
    let moved = moved(&mut state, StepStatus::Failed, Trigger::UnrecoverableError, now);
    state.failure_reason = Some("Agent completed without updating step file".to_owned());
    state.can_retry = Some(true);
    state.recovery_suggestions = FailureMode::Silent.suggestions().map(str::to_owned).into();
    let seen =
        event(&state, Happening::SilentCompletionDetected, now).with("recovery_action", "marked_as_failed");
    let events = std::iter::once(seen).chain(moved).collect();
    Some(Recovered { state, events, findings: vec![] })
}

/// An agent reached its limit: what it did is kept, and what is left is listed (DS-65, K-16). Without suggestions of
/// its own, the open phases are named.
pub fn partial(state: &StepState, suggestions: &[String], now: Utc) -> Recovered {
    let mut state = state.clone();
    let events = moved(&mut state, StepStatus::Partial, Trigger::TimeoutOrInterrupt, now);
    state.partial_completion = true;
    state.can_retry = Some(true);
    state.recovery_suggestions = suggestions.to_vec();
    if suggestions.is_empty() {
        let left = state.phases.iter().filter(|phase| !phase.is_closed());
        state.recovery_suggestions =
            left.map(|phase| format!("Continue with phase {}", phase.name)).collect();
    }
    for phase in state.phases.iter_mut().filter(|phase| phase.status == PhaseStatus::InProgress) {
        phase.notes.get_or_insert_with(|| "Stopped at its limit before this phase was over".to_owned());
    }
    Recovered { state, events: events.into_iter().collect(), findings: vec![] }
}

/// How long a phase may be in progress before somebody looks (DS-25).
pub const STALE_MINUTES: u64 = 30;

/// A phase that has been in progress for too long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stale {
    pub step_file: String,
    pub task_id: String,
    pub phase: String,
    /// `None` where the file does not say when it began; then nothing shows that it is alive.
    pub minutes: Option<u64>,
}

/// Finds the work that is in progress for longer than the threshold.
pub fn stale(states: &[StepState], now: Utc, minutes: u64) -> Vec<Stale> {
    let mut found = vec![];
    for state in states {
        for phase in state.phases.iter().filter(|phase| phase.status == PhaseStatus::InProgress) {
            let begun = phase.started_at.as_deref().or(state.started_at.as_deref()).and_then(instant);
            let age_ms = begun.map(|begun| now.since_ms(begun));
            if age_ms.is_none_or(|age_ms| age_ms > minutes.saturating_mul(60_000)) {
                found.push(Stale {
                    step_file: state.step_file.clone(),
                    task_id: state.task_id.clone(),
                    phase: phase.name.clone(),
                    minutes: age_ms.map(|age_ms| age_ms / 60_000),
                });
            }
        }
        found.extend(between_phases(state, now, minutes));
    }
    found
}

/// A step in progress of which no phase is: its agent died between two, when nothing was recorded for too long.
fn between_phases(state: &StepState, now: Utc, minutes: u64) -> Option<Stale> {
    let at_work = state.phases.iter().any(|phase| phase.status == PhaseStatus::InProgress);
    if state.status != StepStatus::InProgress || at_work {
        return None;
    }
    let next = state.phases.iter().find(|phase| is_open(phase))?;
    let times = state.phases.iter().flat_map(|phase| [&phase.started_at, &phase.ended_at]);
    let last = times.chain([&state.started_at]).flatten().filter_map(|text| instant(text)).max()?;
    let age_ms = now.since_ms(last);
    (age_ms > minutes.saturating_mul(60_000)).then(|| Stale {
        step_file: state.step_file.clone(),
        task_id: state.task_id.clone(),
        phase: next.name.clone(),
        minutes: Some(age_ms / 60_000),
    })
}

/// What the watchdog does with stale work: the same as after a crash, and it says that it was there (DS-61).
pub fn intervene(state: &StepState, stale: &Stale, now: Utc) -> Recovered {
    let mut recovered = crash(state, now);
    let said = event(state, Happening::WatchdogIntervention, now)
        .with("phase", stale.phase.as_str())
        .with("minutes", json!(stale.minutes))
        .with("recovery_action", "marked_as_failed");
    recovered.events.insert(0, said);
    recovered
}
