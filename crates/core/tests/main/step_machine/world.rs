//! One step under the guard, with everything that can happen to it. All decisions are those of the machine.

use std::fmt;

use seriatim_core::guard::scope::Violation;
use seriatim_core::guard::scope::Why;
use seriatim_core::roadmap::change;
use seriatim_core::roadmap::change::Act;
use seriatim_core::roadmap::change::Change;
use seriatim_core::roadmap::machine;
use seriatim_core::roadmap::machine::Actor;
use seriatim_core::roadmap::machine::AfterStop;
use seriatim_core::roadmap::machine::Beside;
use seriatim_core::roadmap::machine::End;
use seriatim_core::roadmap::machine::HoldChoice;
use seriatim_core::roadmap::machine::SENT_BACK_MAX;
use seriatim_core::roadmap::phases::Schema;
use seriatim_core::roadmap::state::Outcome;
use seriatim_core::roadmap::state::PhaseRecord;
use seriatim_core::roadmap::state::PhaseStatus;
use seriatim_core::roadmap::state::StepState;
use seriatim_core::roadmap::state::StepStatus;
use seriatim_core::roadmap::verdict::Evidence;
use seriatim_core::roadmap::verdict::LastStop;
use seriatim_core::roadmap::verdict::Objection;
use seriatim_core::roadmap::verdict::Shown;
use seriatim_core::time::Utc;

pub(super) const NOW: Utc = Utc(1_769_083_200_000);

/// RED, GREEN and COMMIT: the shortest list that has everything.
pub(super) fn schema() -> &'static Schema {
    Schema::of_version("5").unwrap_or_else(Schema::usual)
}

/// What can happen to a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A sub-agent is called for the step.
    Call,
    /// The agent reports on the phase whose turn it is.
    Report(Act, Option<bool>),
    /// The agent says that it stops before the end.
    Partial,
    /// The agent edits the state file by hand.
    Edit(Edit),
    /// The agent changes a file that it may not change, or puts it back.
    Outside(bool),
    /// The agent wants to stop; the gate is run where the step says DONE.
    Stop(Option<Shown>),
    /// The call came back without a stop.
    Over(Option<Shown>),
    Crash(Option<Shown>),
    /// A commit is tried.
    Commit,
    /// A person answers the question about a step that is held.
    Answer(HoldChoice),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    /// Every phase is passed, and the step is DONE, in one save.
    Everything,
    /// The phase that is in progress is passed.
    Passed,
    /// The step is DONE, and its phases are as they were.
    OnlyDone,
}

impl Event {
    /// The command of a person, where it is one's decision.
    pub(super) fn command(self) -> Option<&'static str> {
        match self {
            Event::Answer(_) => Some("seriatim answer"),
            _ => None,
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gate = |gate: &Option<Shown>| gate.map_or(String::new(), |gate| format!(" (gate {gate:?})"));
        match self {
            Event::Call => f.write_str("a sub-agent is called"),
            Event::Report(act, passed) => {
                let how = passed.map_or("", |passed| if passed { " PASS" } else { " FAIL" });
                write!(f, "the agent reports {act:?}{how}")
            }
            Event::Partial => f.write_str("the agent reports that it stops in the middle"),
            Event::Edit(edit) => write!(f, "the agent edits the state file by hand: {edit:?}"),
            Event::Outside(true) => f.write_str("the agent changes a file outside of its patterns"),
            Event::Outside(false) => f.write_str("the agent puts that file back"),
            Event::Stop(shown) => write!(f, "the agent wants to stop{}", gate(shown)),
            Event::Over(shown) => write!(f, "the call comes back{}", gate(shown)),
            Event::Crash(shown) => write!(f, "the agent crashes{}", gate(shown)),
            Event::Commit => f.write_str("the work is committed"),
            Event::Answer(choice) => write!(f, "a person answers {choice:?}"),
        }
    }
}

fn phase_key(phase: &PhaseRecord) -> [u8; 4] {
    let status = match phase.status {
        PhaseStatus::NotExecuted => 0,
        PhaseStatus::Pending => 1,
        PhaseStatus::InProgress => 2,
        PhaseStatus::Done => 3,
        PhaseStatus::Skipped => 4,
        PhaseStatus::Failed => 5,
        PhaseStatus::Unknown(_) => 6,
    };
    let passed = phase.outcome == Some(Outcome::Pass);
    let closed = phase.is_closed();
    [status, u8::from(passed), u8::from(closed), u8::from(phase.notes.is_some())]
}

/// The count of an agent that was not sent back. It begins near its end, so that there is less to explore.
const NOT_SENT_BACK: u32 = SENT_BACK_MAX - 1;

/// A step as the guard sees it.
#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) state: StepState,
    pub(super) working: bool,
    pub(super) begun: bool,
    pub(super) sent_back: u32,
    pub(super) last_stop: Option<LastStop>,
    pub(super) holds: Vec<Objection>,
    pub(super) outside: bool,
    pub(super) gated: bool,
    /// What the gate showed when it was last run for the step as it is.
    pub(super) gate: Option<Shown>,
    /// A person has accepted the step as it is.
    pub(super) accepted: bool,
    /// A person has asked for another try after the gate was run.
    pub(super) retried: bool,
    pub(super) committed: bool,
    pub(super) closed: bool,
}

impl World {
    pub(super) fn new() -> World {
        World {
            state: StepState::fresh("steps/01.json", "p", "01", schema()),
            working: false,
            begun: false,
            sent_back: NOT_SENT_BACK,
            last_stop: None,
            holds: vec![],
            outside: false,
            gated: false,
            gate: None,
            accepted: false,
            retried: false,
            committed: false,
            closed: false,
        }
    }

    /// What tells two worlds apart; the history and the times of a step do not.
    pub(super) fn key(&self) -> Vec<u8> {
        let s = &self.state;
        let mut key: Vec<u8> = s.phases.iter().flat_map(phase_key).collect();
        let stop = |what: fn(&Objection) -> bool| {
            self.last_stop.as_ref().is_some_and(|stop| stop.objections.iter().any(what))
        };
        let gate = match self.gate {
            None => 0,
            Some(Shown::Green) => 1,
            Some(Shown::Red) => 2,
            Some(Shown::Broken) => 3,
            Some(Shown::NotRun) => 4,
        };
        key.extend(s.status.word().bytes().take(4));
        key.extend([gate, u8::try_from(self.sent_back).unwrap_or(u8::MAX)]);
        key.extend([s.can_retry.is_some(), s.can_retry == Some(true)].map(u8::from));
        key.extend(
            [
                s.failure_reason.is_some(),
                s.partial_completion,
                s.recovery_suggestions.is_empty(),
                self.last_stop.is_some(),
                self.last_stop.as_ref().is_some_and(LastStop::passed),
                stop(Objection::lasts),
                stop(|one| matches!(one, Objection::Scope(_))),
                self.working,
                self.begun,
                self.holds.is_empty(),
                self.outside,
                self.gated,
                self.accepted,
                self.retried,
                self.committed,
                self.closed,
            ]
            .map(u8::from),
        );
        key
    }

    /// The step as a person would describe it.
    pub(super) fn words(&self) -> String {
        let phases: Vec<String> =
            self.state.phases.iter().map(|phase| format!("{} {}", phase.name, phase.status.word())).collect();
        let mut words = format!("{}: {}", self.state.status.word(), phases.join(", "));
        let marks = [
            (self.working, "agent at work"),
            (!self.holds.is_empty(), "held"),
            (self.outside, "file outside"),
            (self.committed, "committed"),
            (self.closed, "closed"),
        ];
        for (_, mark) in marks.iter().filter(|(is, _)| *is) {
            words.push_str("; ");
            words.push_str(mark);
        }
        words
    }

    /// Every event that can happen here, with what it leads to.
    pub(super) fn next(&self) -> Vec<(Event, World)> {
        if self.closed {
            return vec![];
        }
        let mut events = vec![Event::Call, Event::Commit];
        events.extend([HoldChoice::Retry, HoldChoice::Override, HoldChoice::Cancel].map(Event::Answer));
        let shown: Vec<Option<Shown>> = match self.state.status {
            StepStatus::Done => [Shown::Green, Shown::Red, Shown::Broken, Shown::NotRun].map(Some).to_vec(),
            _ => vec![None],
        };
        events.extend(shown.iter().map(|gate| Event::Stop(*gate)));
        if self.working {
            for act in [Act::Start, Act::Skip, Act::Reopen] {
                events.push(Event::Report(act, None));
            }
            events.extend([true, false].map(|passed| Event::Report(Act::Done, Some(passed))));
            events.extend([Event::Partial, Event::Outside(true), Event::Outside(false)]);
            events.extend([Edit::Everything, Edit::Passed, Edit::OnlyDone].map(Event::Edit));
            events.extend(shown.iter().flat_map(|gate| [Event::Over(*gate), Event::Crash(*gate)]));
        }
        events.into_iter().filter_map(|event| Some((event, self.after(event)?))).collect()
    }

    /// What an event leads to; `None` where it cannot happen or is refused and changes nothing.
    pub(super) fn after(&self, event: Event) -> Option<World> {
        let mut world = self.clone();
        match event {
            Event::Call => world.call()?,
            Event::Report(act, passed) => world.report(act, passed)?,
            Event::Partial => {
                let suggestions = ["go on".to_owned()];
                let at_work = world.state.status == StepStatus::InProgress;
                world.state = at_work.then(|| machine::partial(&world.state, &suggestions, NOW).state)?;
                world.sent_back = NOT_SENT_BACK;
            }
            Event::Edit(edit) => world.edit(edit)?,
            Event::Outside(outside) if outside != world.outside => world.outside = outside,
            Event::Outside(_) => return None,
            Event::Stop(gate) => {
                // The main conversation is asked again for a step whose last stop was not good.
                let again = world.begun && world.last_stop.as_ref().is_some_and(|last| !last.passed());
                if !world.working && (!again || !world.holds.is_empty()) {
                    return None;
                }
                world.stop(End::Wants, gate);
            }
            Event::Over(gate) => world.stop(End::Over, gate),
            Event::Crash(gate) => world.stop(End::Crashed, gate),
            Event::Commit => world.commit()?,
            Event::Answer(choice) => world.answer(choice)?,
        }
        world.state.phases.iter_mut().for_each(|phase| phase.history.clear());
        Some(world)
    }

    /// The door: a step that is held or over is not begun.
    fn call(&mut self) -> Option<()> {
        if self.working
            || !self.holds.is_empty()
            || machine::way_to_work(&self.state, Actor::Command).is_err()
        {
            return None;
        }
        if let Some(begun) = machine::begin(&self.state, NOW) {
            self.state = begun.state;
        }
        *self = World {
            working: true,
            begun: true,
            sent_back: NOT_SENT_BACK,
            last_stop: None,
            accepted: false,
            ..self.clone()
        };
        Some(())
    }

    fn report(&mut self, act: Act, passed: Option<bool>) -> Option<()> {
        let is_turn = |status: &PhaseStatus| !matches!(status, PhaseStatus::Done | PhaseStatus::Skipped);
        let phase = match act {
            Act::Reopen => self.state.phases.iter().find(|phase| phase.is_closed()),
            _ => self.state.phases.iter().find(|phase| is_turn(&phase.status)),
        };
        let change = Change {
            outcome: passed.map(|passed| if passed { Outcome::Pass } else { Outcome::Fail }),
            note: (act == Act::Reopen).then(|| "noted".to_owned()),
            reason: Some("NOT_APPLICABLE: nothing to do".to_owned()),
            ..Change::new(act, &phase?.name)
        };
        self.state = change::change(&self.state, schema(), &change, NOW).ok()?.0;
        self.sent_back = NOT_SENT_BACK;
        Some(())
    }

    fn edit(&mut self, edit: Edit) -> Option<()> {
        let mut edited = self.state.clone();
        let pass = |edited: &mut StepState, all: bool| {
            for phase in edited.phases.iter_mut().filter(|p| all || p.status == PhaseStatus::InProgress) {
                phase.status = PhaseStatus::Done;
                phase.outcome = Some(Outcome::Pass);
            }
        };
        match edit {
            Edit::Everything => pass(&mut edited, true),
            Edit::Passed => pass(&mut edited, false),
            Edit::OnlyDone => {}
        }
        if edit != Edit::Passed {
            edited.status = StepStatus::Done;
        }
        if edited == self.state {
            return None;
        }
        let imported = change::import(&self.state, &edited, schema(), NOW);
        if imported.is_lawful() {
            self.sent_back = if imported.events.is_empty() { self.sent_back } else { NOT_SENT_BACK };
            self.state = edited;
            return Some(());
        }
        // The file is put back, and what was wrong is held against the next stop, as a file outside is.
        assert!(!imported.objections().is_empty());
        None
    }

    fn scope(&self) -> Vec<Objection> {
        let violation = Violation { path: "other.rs".to_owned(), why: Why::Unlisted };
        self.outside.then_some(Objection::Scope(violation)).into_iter().collect()
    }

    fn stop(&mut self, end: End, gate: Option<Shown>) {
        let mut verdict = machine::stop(&self.state, schema(), NOW);
        verdict.add_errors(self.scope());
        if let Some(result) = gate {
            verdict.add_evidence(vec![Evidence { result, ..Evidence::broken("tests", "as it is") }]);
            (self.gate, self.retried) = (gate, false);
        }
        self.last_stop = Some(LastStop::of(&verdict, NOW));
        match machine::after_stop(Some(&self.state), &verdict, end, self.sent_back, self.gated, NOW) {
            AfterStop::LetGo { closes } => {
                (self.sent_back, self.working, self.closed) = (NOT_SENT_BACK, false, closes);
            }
            AfterStop::SendBack => self.sent_back += 1,
            AfterStop::Recover { recovered, holds } => {
                self.working = false;
                if let Some(recovered) = recovered {
                    self.state = recovered.state;
                }
                if holds {
                    self.holds = vec![Objection::Held { step: "step 01".to_owned(), errors: verdict.errors }];
                }
            }
        }
    }

    /// The gate of commits; a step that is whole is closed by it.
    fn commit(&mut self) -> Option<()> {
        let ended = !self.working;
        let outside = self.scope();
        let counts = |one: &Objection| machine::counts_outside(ended, self.last_stop.as_ref(), one);
        let beside = Beside {
            refused: vec![],
            last_stop: self.last_stop.as_ref(),
            unseen: vec![],
            holds: &self.holds,
            outside: outside.into_iter().filter(counts).collect(),
            gates: &[],
        };
        let known = (&self.state, schema());
        let passed = machine::governed(known, known, &beside).passed();
        if !passed || !machine::is_whole(&self.state) || (self.committed && !ended) {
            return None;
        }
        (self.committed, self.gated, self.closed) = (true, !ended, ended);
        Some(())
    }

    fn answer(&mut self, choice: HoldChoice) -> Option<()> {
        if self.holds.is_empty() {
            return None;
        }
        self.holds.clear();
        self.sent_back = NOT_SENT_BACK;
        let decided = machine::decided(choice, self.last_stop.take());
        (self.last_stop, self.closed) = (decided.last_stop, decided.closes);
        (self.accepted, self.retried) = (choice == HoldChoice::Override, choice == HoldChoice::Retry);
        if decided.closes {
            self.state.can_retry = Some(false);
        }
        Some(())
    }
}
