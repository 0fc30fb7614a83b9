//! Taking an edge: the only place in which the status of a step or a phase is replaced.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::ALL_PHASES_VALID;
use super::PENDING;
use super::PHASE;
use super::PHASE_ENGINE;
use super::SOME_PHASE_INVALID;
use super::STEP;
use super::STEP_ENGINE;
use super::STEP_V1;
use super::UNKNOWN;
use crate::machine::Edge;
use crate::machine::Machine;
use crate::machine::Refused;
use crate::roadmap::audit::Event;
use crate::roadmap::audit::Happening;
use crate::roadmap::state::PhaseRecord;
use crate::roadmap::state::PhaseStatus;
use crate::roadmap::state::StepState;
use crate::roadmap::state::StepStatus;
use crate::time::Utc;

/// By what hand a status is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// An edit of the state file by hand.
    Edit,
    /// A command of an agent or a person.
    Command,
    Engine,
}

impl Actor {
    pub const ALL: [Actor; 3] = [Actor::Edit, Actor::Command, Actor::Engine];
}

/// What makes a step or a phase take an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    AgentStarts,
    AllPhasesComplete,
    UnrecoverableError,
    TimeoutOrInterrupt,
    Review,
    Approve,
    Rework,
    RetryWithFix,
    Resume,
    Rollback,
    Start,
    Done,
    Skip,
    Fail,
    /// The engine's alone (K-90).
    CrashReset,
    /// The explicit way out of an end (K-05).
    Reopen,
    Preset,
    Checkpoint,
}

impl Trigger {
    pub const ALL: [Trigger; 18] = [
        Trigger::AgentStarts,
        Trigger::AllPhasesComplete,
        Trigger::UnrecoverableError,
        Trigger::TimeoutOrInterrupt,
        Trigger::Review,
        Trigger::Approve,
        Trigger::Rework,
        Trigger::RetryWithFix,
        Trigger::Resume,
        Trigger::Rollback,
        Trigger::Start,
        Trigger::Done,
        Trigger::Skip,
        Trigger::Fail,
        Trigger::CrashReset,
        Trigger::Reopen,
        Trigger::Preset,
        Trigger::Checkpoint,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Trigger::AgentStarts => "agent_starts",
            Trigger::AllPhasesComplete => "all_phases_complete",
            Trigger::UnrecoverableError => "unrecoverable_error",
            Trigger::TimeoutOrInterrupt => "timeout_or_interrupt",
            Trigger::Review => "review",
            Trigger::Approve => "approve",
            Trigger::Rework => "rework",
            Trigger::RetryWithFix => "retry_with_fix",
            Trigger::Resume => "resume",
            Trigger::Rollback => "rollback",
            Trigger::Start => "start",
            Trigger::Done => "done",
            Trigger::Skip => "skip",
            Trigger::Fail => "fail",
            Trigger::CrashReset => "crash_reset",
            Trigger::Reopen => "reopen",
            Trigger::Preset => "preset",
            Trigger::Checkpoint => "checkpoint",
        }
    }
}

/// The edges of a phase that each hand may not take although the machine has them: an edit does not open what is over.
fn is_barred(actor: Actor, edge: &Edge) -> bool {
    match actor {
        Actor::Edit => edge.trigger == Trigger::CrashReset.word() || edge.trigger == Trigger::Reopen.word(),
        Actor::Command => edge.trigger == Trigger::CrashReset.word(),
        Actor::Engine => false,
    }
}

/// The machines of a step that a hand may use. A retry of a step file is one edge only where a file is edited.
fn of_step(actor: Actor) -> &'static [Machine] {
    match actor {
        Actor::Edit => &[STEP, STEP_V1],
        Actor::Command => &[STEP],
        Actor::Engine => &[STEP, STEP_ENGINE],
    }
}

fn of_phase(actor: Actor) -> &'static [Machine] {
    match actor {
        Actor::Edit | Actor::Command => &[PHASE],
        Actor::Engine => &[PHASE, PHASE_ENGINE],
    }
}

fn leads(machines: &[Machine], actor: Actor, from: &str, to: &str) -> bool {
    let mut edges = machines.iter().flat_map(|machine| machine.edges);
    edges.any(|edge| edge.from == from && edge.to == to && !is_barred(actor, edge))
}

/// Returns whether some edge of a step leads from one status to another.
pub fn step_leads(actor: Actor, from: &str, to: &str) -> bool {
    leads(of_step(actor), actor, from, to)
}

/// Returns whether some edge of a phase leads from one status to another.
pub fn phase_leads(actor: Actor, from: &str, to: &str) -> bool {
    leads(of_phase(actor), actor, from, to)
}

/// Takes an edge of a step and returns what goes on record. A refusal changes nothing.
pub fn move_step(
    state: &mut StepState,
    to: StepStatus,
    trigger: Trigger,
    by: Actor,
    now: Utc,
) -> Result<Event, Refused> {
    let given = if state.all_phases_valid() { ALL_PHASES_VALID } else { SOME_PHASE_INVALID };
    let given = BTreeMap::from([(given.to_owned(), Json::from(true))]);
    let taken = taken(of_step(by), |machine| {
        let from = match &state.status {
            StepStatus::Unknown(_) if machine.states.contains(&UNKNOWN) => UNKNOWN,
            status => status.word(),
        };
        machine.apply(from, to.word(), trigger.word(), &given)
    });
    taken?;
    let from = std::mem::replace(&mut state.status, to);
    Ok(Event::new(now, Happening::StateTransition, &state.step_file)
        .with("step_id", state.task_id.as_str())
        .with("from", from.word())
        .with("to", state.status.word())
        .with("trigger", trigger.word()))
}

/// Takes an edge of a phase, with the fields that the edge demands. A refusal changes nothing.
pub fn move_phase(
    record: &mut PhaseRecord,
    to: PhaseStatus,
    trigger: Trigger,
    by: Actor,
    given: &[(&str, Json)],
) -> Result<(), Refused> {
    let given: BTreeMap<String, Json> =
        given.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    let taken = taken(of_phase(by), |machine| {
        let word = |status: &PhaseStatus| match status {
            PhaseStatus::Pending if machine.states.contains(&PENDING) => PENDING.to_owned(),
            PhaseStatus::Unknown(_) if machine.states.contains(&UNKNOWN) => UNKNOWN.to_owned(),
            status => status.word().to_owned(),
        };
        // In the machine of all hands what is pending is open, but nobody makes it so.
        let to = if to == PhaseStatus::Pending { PENDING.to_owned() } else { word(&to) };
        machine.apply(&word(&record.status), &to, trigger.word(), &given)
    });
    let edge = taken?;
    if is_barred(by, edge) {
        return Err(Refused::NoEdge {
            machine: PHASE.name,
            from: record.status.word().to_owned(),
            to: to.word().to_owned(),
            trigger: trigger.word().to_owned(),
            reachable: "nothing by hand".to_owned(),
        });
    }
    record.status = to;
    Ok(())
}

/// The first edge that one of the machines has; the refusal of the first machine where none has it. An edge that is
/// there and lacks a field is refused for that field.
fn taken(
    machines: &'static [Machine],
    apply: impl Fn(&'static Machine) -> Result<&'static Edge, Refused>,
) -> Result<&'static Edge, Refused> {
    let mut refused = None;
    for machine in machines {
        match apply(machine) {
            Ok(edge) => return Ok(edge),
            Err(missing @ Refused::MissingField { .. }) => return Err(missing),
            Err(none @ Refused::NoEdge { .. }) => {
                refused.get_or_insert(none);
            }
        }
    }
    Err(refused.unwrap_or(Refused::NoEdge {
        machine: STEP.name,
        from: String::new(),
        to: String::new(),
        trigger: String::new(),
        reachable: String::new(),
    }))
}
