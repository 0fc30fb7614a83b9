//! What `seriatim phase start|done|skip|fail` does to a step.
//!
//! A change is refused whole or made whole. Phases follow one another; each is in progress before it is over
//! (DS-91); and what was on record goes into the history before it is replaced.

mod ending;
mod import;
mod refusal;
#[cfg(test)]
mod tests;

use serde_json::Value as Json;

pub use self::ending::fail;
pub use self::ending::rework;
pub use self::ending::roll_back;
pub use self::ending::seek_review;
pub use self::import::Imported;
pub use self::import::import;
pub use self::refusal::Refusal;
use super::audit::Event;
use super::audit::Happening;
use super::machine;
use super::machine::Actor;
use super::machine::Closed;
use super::machine::Trigger;
use super::phases::Schema;
use super::skip;
use super::skip::Reason;
use super::state::Outcome;
use super::state::PhaseRecord;
use super::state::PhaseStatus;
use super::state::StepState;
use super::state::StepStatus;
use super::state::TestResults;
use super::state::instant;
use crate::closest::closest;
use crate::time::Utc;

/// What is done to a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Start,
    Done,
    Skip,
    Fail,
    /// Opens a phase that was over, and those after it (K-05).
    Reopen,
}

/// Who asks for a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// An agent or a person.
    #[default]
    Hand,
    /// The engine, which may also pre-set skips and mark phases as pending at a checkpoint (K-06, K-07).
    Engine,
}

impl By {
    fn actor(self) -> Actor {
        match self {
            By::Hand => Actor::Command,
            By::Engine => Actor::Engine,
        }
    }
}

/// A change of one phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub phase: String,
    pub act: Act,
    pub by: By,
    pub outcome: Option<Outcome>,
    /// What came of it, apart from the note.
    pub details: Option<String>,
    pub note: Option<String>,
    pub tests: Option<TestResults>,
    pub artifacts: Vec<String>,
    /// Why it is skipped.
    pub reason: Option<String>,
}

impl Change {
    pub fn new(act: Act, phase: &str) -> Change {
        Change {
            phase: phase.to_owned(),
            act,
            by: By::Hand,
            outcome: None,
            details: None,
            note: None,
            tests: None,
            artifacts: vec![],
            reason: None,
        }
    }
}

/// A step after a change, and what goes on record.
pub type Changed = (StepState, Vec<Event>);

/// Makes one change.
pub fn change(state: &StepState, schema: &Schema, change: &Change, now: Utc) -> Result<Changed, Refusal> {
    let mut work = Work { state: state.clone(), schema, now, by: change.by, events: vec![] };
    let at = work.find(&change.phase)?;
    plausible(change)?;
    // DONE is final; a refusal that spoke of the phase would name a way out that there is not (K-05).
    if state.status == StepStatus::Done {
        work.set_to_work()?;
    }
    match change.act {
        Act::Start => work.start(at)?,
        Act::Done => work.end(at, change)?,
        Act::Fail => work.end(at, change)?,
        Act::Skip => work.skip(at, change)?,
        Act::Reopen => work.reopen(at, change)?,
    }
    work.close_step();
    Ok((work.state, work.events))
}

fn plausible(change: &Change) -> Result<(), Refusal> {
    match change.tests {
        Some(TestResults { total, passed, failed }) if passed.saturating_add(failed) > total => {
            Err(Refusal::OddTests { total, passed, failed })
        }
        _ => Ok(()),
    }
}

fn said(text: Option<&String>) -> Option<String> {
    text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

struct Work<'s> {
    state: StepState,
    schema: &'s Schema,
    now: Utc,
    by: By,
    events: Vec<Event>,
}

impl Work<'_> {
    /// The place of a phase in the step's list.
    fn find(&self, name: &str) -> Result<usize, Refusal> {
        let names: Vec<&str> = self.state.phases.iter().map(|phase| phase.name.as_str()).collect();
        names.iter().position(|known| *known == name).ok_or_else(|| Refusal::UnknownPhase {
            step: self.state.task_id.clone(),
            phase: name.to_owned(),
            meant: closest(name, names.iter().copied()).map(str::to_owned),
            known: names.iter().map(|name| (*name).to_owned()).collect(),
        })
    }

    fn event(&self, happening: Happening) -> Event {
        Event::new(self.now, happening, &self.state.step_file).with("step_id", self.state.task_id.as_str())
    }

    /// Takes the phase machine's edge, with the fields that the edge demands.
    fn step_phase(
        &mut self,
        at: usize,
        to: PhaseStatus,
        trigger: Trigger,
        fields: &[(&str, Json)],
    ) -> Result<(), Refusal> {
        let Some(phase) = self.state.phases.get_mut(at) else { return Ok(()) };
        Ok(machine::move_phase(phase, to, trigger, self.by.actor(), fields)?)
    }

    /// Takes an edge of the step's machine.
    fn step_step(&mut self, to: StepStatus, trigger: Trigger) -> Result<(), Refusal> {
        let event = machine::move_step(&mut self.state, to, trigger, self.by.actor(), self.now)?;
        self.events.push(event);
        Ok(())
    }

    /// Puts the step to work, by whatever way leads there from where it stands.
    fn set_to_work(&mut self) -> Result<(), Refusal> {
        let events = machine::put_to_work(&mut self.state, self.by.actor(), self.now);
        self.events.extend(events.map_err(|closed: Closed| Refusal::StepClosed {
            step: self.state.task_id.clone(),
            status: self.state.status.word().to_owned(),
            instead: closed.instead(),
        })?);
        Ok(())
    }

    /// Phases follow one another: those before are over, and no other one is at work.
    fn in_turn(&self, at: usize) -> Result<(), Refusal> {
        let Some(phase) = self.state.phases.get(at) else { return Ok(()) };
        let is_running =
            |other: &&PhaseRecord| other.status == PhaseStatus::InProgress && other.name != phase.name;
        if let Some(running) = self.state.phases.iter().find(is_running) {
            return Err(Refusal::StillRunning { phase: phase.name.clone(), running: running.name.clone() });
        }
        match self.state.phases.iter().take(at).find(|before| !before.is_closed()) {
            Some(before) => {
                Err(Refusal::OutOfOrder { phase: phase.name.clone(), before: before.name.clone() })
            }
            None => Ok(()),
        }
    }

    fn start(&mut self, at: usize) -> Result<(), Refusal> {
        let Some(phase) = self.state.phases.get(at) else { return Ok(()) };
        let (name, status) = (phase.name.clone(), phase.status.clone());
        match status {
            PhaseStatus::InProgress => return Err(Refusal::AlreadyStarted { phase: name }),
            PhaseStatus::Done | PhaseStatus::Skipped => {
                let status = status.word_in(self.schema).to_owned();
                return Err(Refusal::AlreadyOver { phase: name, status });
            }
            _ => {}
        }
        self.in_turn(at)?;
        self.set_to_work()?;
        self.step_phase(at, PhaseStatus::InProgress, Trigger::Start, &[])?;
        let (now, schema) = (self.now.seconds(), self.schema);
        let attempt = self.state.phases.get_mut(at).map_or(1, |phase| {
            if status == PhaseStatus::Failed {
                let earlier = PhaseRecord { status: PhaseStatus::Failed, ..phase.clone() };
                phase.history.push(earlier.as_history(schema));
            }
            phase.clear();
            phase.started_at = Some(now);
            phase.history.len() + 1
        });
        self.events.push(self.event(Happening::PhaseStarted).with("phase", name).with("attempt", attempt));
        Ok(())
    }

    /// Ends a phase that was carried out, well or badly (DS-29, DS-42, DS-98).
    fn end(&mut self, at: usize, change: &Change) -> Result<(), Refusal> {
        let name = change.phase.clone();
        self.is_running(at)?;
        let note = said(change.note.as_ref());
        let outcome = match (change.act, &change.outcome) {
            (Act::Fail, _) if note.is_none() => return Err(Refusal::NoNote { phase: name }),
            (Act::Fail, _) | (_, Some(Outcome::Fail)) => Outcome::Fail,
            (_, Some(Outcome::Pass)) => Outcome::Pass,
            (_, Some(Outcome::Other(word))) => {
                return Err(Refusal::OddOutcome { phase: name, outcome: word.clone() });
            }
            (_, None) => return Err(Refusal::NoOutcome { phase: name }),
        };
        self.all_green(at, &outcome, change)?;
        self.set_to_work()?;
        let (to, trigger, happening) = match outcome {
            Outcome::Fail => (PhaseStatus::Failed, Trigger::Fail, Happening::PhaseFailed),
            _ => (PhaseStatus::Done, Trigger::Done, Happening::PhaseCompleted),
        };
        self.step_phase(at, to, trigger, &[("outcome", Json::from(outcome.word()))])?;
        let ended = self.now;
        if let Some(phase) = self.state.phases.get_mut(at) {
            close(phase, ended);
            phase.outcome = Some(outcome.clone());
            phase.outcome_details = said(change.details.as_ref());
            phase.notes = note.clone();
            phase.test_results = change.tests;
            phase.artifacts_created.clone_from(&change.artifacts);
        }
        let tests = change.tests.map_or(Json::Null, TestResults::to_json);
        let event = self
            .event(happening)
            .with("phase", name)
            .with("outcome", outcome.word())
            .with("test_results", tests)
            .with("notes", note.map_or(Json::Null, Json::from));
        self.events.push(event);
        Ok(())
    }

    /// A phase that G6 closes leaves no red test behind (DS-97).
    fn all_green(&self, at: usize, outcome: &Outcome, change: &Change) -> Result<(), Refusal> {
        let Some(phase) = self.state.phases.get(at) else { return Ok(()) };
        let gate = self.schema.phase(&phase.name).and_then(|known| known.gate.as_deref());
        match change.tests {
            Some(tests) if tests.failed > 0 && *outcome == Outcome::Pass && gate == Some("G6") => {
                Err(Refusal::RedTests { phase: phase.name.clone(), failed: tests.failed })
            }
            _ => Ok(()),
        }
    }

    fn is_running(&self, at: usize) -> Result<(), Refusal> {
        let Some(phase) = self.state.phases.get(at) else { return Ok(()) };
        match &phase.status {
            PhaseStatus::InProgress => Ok(()),
            PhaseStatus::Done | PhaseStatus::Skipped => Err(Refusal::AlreadyOver {
                phase: phase.name.clone(),
                status: phase.status.word_in(self.schema).to_owned(),
            }),
            _ => Err(Refusal::NotStarted { phase: phase.name.clone() }),
        }
    }

    /// Skips a phase. One that was not started goes through IN_PROGRESS in the same breath, as the machine demands.
    fn skip(&mut self, at: usize, change: &Change) -> Result<(), Refusal> {
        let reason = self.skip_reason(change)?;
        if skip::reason(Some(&reason)) == Reason::Pending {
            return self.suspend(at, &reason);
        }
        let Some(phase) = self.state.phases.get(at) else { return Ok(()) };
        let preset = change.by == By::Engine && phase.status == PhaseStatus::NotExecuted;
        if preset {
            return self.preset(at, reason);
        }
        if phase.status != PhaseStatus::InProgress {
            self.start(at)?;
            // One event says it all: it was skipped.
            self.events.retain(|event| event.happening != Happening::PhaseStarted);
        }
        self.set_to_work()?;
        self.step_phase(
            at,
            PhaseStatus::Skipped,
            Trigger::Skip,
            &[("blocked_by", Json::from(reason.as_str()))],
        )?;
        let ended = self.now;
        if let Some(phase) = self.state.phases.get_mut(at) {
            close(phase, ended);
            phase.blocked_by = Some(reason.clone());
            phase.notes = said(change.note.as_ref());
        }
        let event = self.event(Happening::PhaseSkipped).with("phase", change.phase.as_str());
        self.events.push(event.with("blocked_by", reason));
        Ok(())
    }

    fn skip_reason(&self, change: &Change) -> Result<String, Refusal> {
        let phase = change.phase.clone();
        let text = said(change.reason.as_ref()).unwrap_or_default();
        let by_engine = change.by == By::Engine;
        match skip::reason(Some(&text)) {
            Reason::Valid => Ok(text),
            Reason::Bare if by_engine => {
                Ok(skip::preset(&text, self.state.task_type.as_deref().unwrap_or("this step")))
            }
            Reason::Pending if by_engine => Ok(text),
            Reason::Pending => Err(Refusal::PendingByHand { phase }),
            Reason::Missing => Err(Refusal::NoReason { phase }),
            Reason::Deferred => Err(Refusal::Deferred { phase }),
            Reason::Bare | Reason::Unknown => Err(Refusal::BadReason { phase, reason: text }),
        }
    }

    /// A phase that the roadmap says does not apply: nobody works on it, so it may be marked before its turn (K-07).
    fn preset(&mut self, at: usize, reason: String) -> Result<(), Refusal> {
        let event = self.event(Happening::PhaseSkipped);
        let given = [("blocked_by", Json::from(reason.as_str()))];
        self.step_phase(at, PhaseStatus::Skipped, Trigger::Preset, &given)?;
        let Some(phase) = self.state.phases.get_mut(at) else { return Ok(()) };
        phase.blocked_by = Some(reason.clone());
        self.events
            .push(event.with("phase", phase.name.as_str()).with("blocked_by", reason).with("preset", true));
        Ok(())
    }

    /// At a checkpoint a phase that is still to come is written as skipped for now (K-06).
    fn suspend(&mut self, at: usize, reason: &str) -> Result<(), Refusal> {
        let Some(phase) = self.state.phases.get(at) else { return Ok(()) };
        let over = Refusal::AlreadyOver {
            phase: phase.name.clone(),
            status: phase.status.word_in(self.schema).to_owned(),
        };
        self.step_phase(at, PhaseStatus::Pending, Trigger::Checkpoint, &[]).map_err(|_| over)?;
        if let Some(phase) = self.state.phases.get_mut(at) {
            phase.blocked_by = Some(reason.to_owned());
        }
        Ok(())
    }

    /// Opens a phase again, and those after it: what was built on it no longer stands.
    fn reopen(&mut self, at: usize, change: &Change) -> Result<(), Refusal> {
        let Some(phase) = self.state.phases.get(at) else { return Ok(()) };
        if !matches!(phase.status, PhaseStatus::Done | PhaseStatus::Skipped) {
            return Err(Refusal::NotStarted { phase: phase.name.clone() });
        }
        let Some(note) = said(change.note.as_ref()) else {
            return Err(Refusal::NoNote { phase: phase.name.clone() });
        };
        if let Some(running) = self.state.phases.iter().find(|other| other.status == PhaseStatus::InProgress)
        {
            return Err(Refusal::StillRunning { phase: phase.name.clone(), running: running.name.clone() });
        }
        self.set_to_work()?;
        let mut reopened = vec![];
        for index in at..self.state.phases.len() {
            let over = |phase: &PhaseRecord| matches!(phase.status, PhaseStatus::Done | PhaseStatus::Skipped);
            if !self.state.phases.get(index).is_some_and(over) {
                continue;
            }
            let schema = self.schema;
            let earlier = self.state.phases.get(index).map(|phase| phase.as_history(schema));
            self.step_phase(index, PhaseStatus::NotExecuted, Trigger::Reopen, &[])?;
            if let Some(phase) = self.state.phases.get_mut(index) {
                phase.clear();
                phase.history.extend(earlier);
                reopened.push(phase.name.clone());
            }
        }
        for name in reopened {
            let event = self.event(Happening::PhaseReopened).with("phase", name).with("notes", note.as_str());
            self.events.push(event);
        }
        Ok(())
    }

    /// When the last phase is over and all are valid, so is the step.
    fn close_step(&mut self) {
        self.events.extend(machine::close(&mut self.state, self.by.actor(), self.now));
    }
}

/// Writes down when a phase ended and how long it took; a clock that was set back gives zero.
fn close(phase: &mut PhaseRecord, ended: Utc) {
    phase.ended_at = Some(ended.seconds());
    let begun = phase.started_at.as_deref().and_then(instant);
    phase.duration_minutes = begun.map(|begun| {
        let tenths = ended.since_ms(begun) / 6_000;
        f64::from(u32::try_from(tenths).unwrap_or(u32::MAX)) / 10.0
    });
}
