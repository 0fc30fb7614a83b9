//! Steps that are put to work, and those whose agent went where it may not.

use super::Evidence;
use super::FailureMode;
use super::Recovered;
use super::Shown;
use super::StopVerdict;
use super::stop::Standing;
use crate::machine::Refused;
use crate::roadmap::audit::Event;
use crate::roadmap::audit::Happening;
use crate::roadmap::machines::STEP;
use crate::roadmap::state::StepState;
use crate::roadmap::state::StepStatus;
use crate::time::Utc;

impl StopVerdict {
    /// Adds what was found beside the record, each once.
    pub fn add_errors(&mut self, errors: Vec<String>) {
        for error in errors {
            if !self.errors.contains(&error) {
                self.errors.push(error);
            }
        }
        if !self.errors.is_empty() {
            self.status = Standing::Error;
        }
    }

    pub fn add_warnings(&mut self, warnings: Vec<String>) {
        self.warnings.extend(warnings);
        if !self.warnings.is_empty() && self.status == Standing::Success {
            self.status = Standing::Warning;
        }
    }

    /// Adds what the gates showed: red and broken ones are errors, those that were not run are said.
    pub fn add_evidence(&mut self, evidence: Vec<Evidence>) {
        let told = |wanted: &[Shown]| {
            let told = evidence.iter().filter(|one| wanted.contains(&one.result));
            told.map(Evidence::sentence).collect::<Vec<_>>()
        };
        let (errors, warnings) = (told(&[Shown::Red, Shown::Broken]), told(&[Shown::NotRun]));
        self.add_errors(errors);
        self.add_warnings(warnings);
        self.evidence = evidence;
    }

    /// The word that stands in the trail.
    pub fn word(&self) -> &'static str {
        match self.status {
            Standing::Error => "error",
            Standing::Warning => "warning",
            Standing::Success => "success",
        }
    }
}

/// An agent has begun with a step: it is in progress from now on (DS-28). `None` where the machine knows no way.
pub fn begin(state: &StepState, now: Utc) -> Option<Recovered> {
    let way: &[(StepStatus, &str)] = match &state.status {
        StepStatus::Todo | StepStatus::Retry | StepStatus::Rework => {
            &[(StepStatus::InProgress, "agent_starts")]
        }
        StepStatus::Partial => &[(StepStatus::InProgress, "resume")],
        StepStatus::Failed => {
            &[(StepStatus::Retry, "retry_with_fix"), (StepStatus::InProgress, "agent_starts")]
        }
        _ => return None,
    };
    let mut state = state.clone();
    let mut events = vec![];
    for (to, trigger) in way {
        events.push(moved(&mut state, to, trigger, now).ok()?);
    }
    state.started_at.get_or_insert(now.seconds());
    state.failure_reason = None;
    state.partial_completion = false;
    state.recovery_suggestions = vec![];
    Some(Recovered { state, events, findings: vec![] })
}

/// An agent changed files outside of what its step allows: the step fails, and nothing is undone (DS-66).
pub fn runaway(state: &StepState, now: Utc) -> Recovered {
    let mut state = state.clone();
    let mut events = vec![];
    if state.status != StepStatus::Failed {
        let from = std::mem::replace(&mut state.status, StepStatus::Failed);
        events.push(transition(&state, &from, "unrecoverable_error", now));
    }
    state.failure_reason = Some("Agent changed files outside of the step".to_owned());
    state.can_retry = Some(true);
    state.recovery_suggestions = FailureMode::Runaway.suggestions().map(str::to_owned).into();
    Recovered { state, events, findings: vec![] }
}

fn moved(state: &mut StepState, to: &StepStatus, trigger: &str, now: Utc) -> Result<Event, Refused> {
    STEP.apply(state.status.word(), to.word(), trigger, &std::collections::BTreeMap::new())?;
    let from = std::mem::replace(&mut state.status, to.clone());
    Ok(transition(state, &from, trigger, now))
}

fn transition(state: &StepState, from: &StepStatus, trigger: &str, now: Utc) -> Event {
    Event::new(now, Happening::StateTransition, &state.step_file)
        .with("step_id", state.task_id.as_str())
        .with("from", from.word())
        .with("to", state.status.word())
        .with("trigger", trigger)
}
