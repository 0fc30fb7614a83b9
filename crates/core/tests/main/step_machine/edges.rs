//! Every edge that is not in the table is refused and changes nothing.

use seriatim_core::machine::Machine;
use seriatim_core::roadmap::machine::Actor;
use seriatim_core::roadmap::machine::PHASE;
use seriatim_core::roadmap::machine::PHASE_ENGINE;
use seriatim_core::roadmap::machine::STEP;
use seriatim_core::roadmap::machine::STEP_ENGINE;
use seriatim_core::roadmap::machine::Trigger;
use seriatim_core::roadmap::machine::move_phase;
use seriatim_core::roadmap::machine::move_step;
use seriatim_core::roadmap::machine::way_to_work;
use seriatim_core::roadmap::state::Outcome;
use seriatim_core::roadmap::state::PhaseRecord;
use seriatim_core::roadmap::state::PhaseStatus;
use seriatim_core::roadmap::state::StepState;
use seriatim_core::roadmap::state::StepStatus;

use super::world::NOW;
use super::world::schema;

fn steps() -> [StepStatus; 9] {
    [
        StepStatus::Todo,
        StepStatus::InProgress,
        StepStatus::InReview,
        StepStatus::Partial,
        StepStatus::Failed,
        StepStatus::Retry,
        StepStatus::Rework,
        StepStatus::Done,
        StepStatus::Unknown("WIP".to_owned()),
    ]
}

fn phases() -> [PhaseStatus; 7] {
    [
        PhaseStatus::NotExecuted,
        PhaseStatus::Pending,
        PhaseStatus::InProgress,
        PhaseStatus::Done,
        PhaseStatus::Skipped,
        PhaseStatus::Failed,
        PhaseStatus::Unknown("WIP".to_owned()),
    ]
}

/// Whether a table has an edge, by the names that it uses itself.
fn has(machine: &Machine, from: &str, to: &str, trigger: Trigger) -> bool {
    machine.edges.iter().any(|edge| (edge.from, edge.to, edge.trigger) == (from, to, trigger.word()))
}

fn step(status: StepStatus, valid: bool) -> StepState {
    let mut state = StepState::fresh("steps/01.json", "p", "01", schema());
    state.status = status;
    for phase in state.phases.iter_mut().filter(|_| valid) {
        phase.status = PhaseStatus::Done;
        phase.outcome = Some(Outcome::Pass);
    }
    state
}

#[test]
fn k_14_a_step_takes_the_edges_of_its_table_and_no_other() {
    for (from, to, trigger, by, valid) in steps().into_iter().flat_map(|from| {
        let tos = steps().into_iter().flat_map(|to| Trigger::ALL.map(|trigger| (to.clone(), trigger)));
        tos.flat_map(move |(to, trigger)| {
            let from = from.clone();
            [(Actor::Command, true), (Actor::Command, false), (Actor::Engine, true), (Actor::Engine, false)]
                .map(|(by, valid)| (from.clone(), to.clone(), trigger, by, valid))
        })
    }) {
        let before = step(from.clone(), valid);
        let mut after = before.clone();
        let moved = move_step(&mut after, to.clone(), trigger, by, NOW);
        let engines = match &from {
            StepStatus::Unknown(_) => "UNKNOWN",
            known => known.word(),
        };
        let recovers = from == StepStatus::Done && to != StepStatus::InProgress;
        let listed = has(&STEP, from.word(), to.word(), trigger) && (to != StepStatus::Done || valid)
            || by == Actor::Engine && has(&STEP_ENGINE, engines, to.word(), trigger) && !(recovers && valid);
        let told = format!("{} -{}-> {} by {by:?}", from.word(), trigger.word(), to.word());
        assert_eq!(moved.is_ok(), listed, "{told}");
        match moved {
            Ok(_) => assert_eq!(after, StepState { status: to, ..before }, "{told}"),
            Err(_) => assert_eq!(after, before, "{told}"),
        }
    }
}

#[test]
fn k_05_k_90_a_phase_takes_the_edges_of_its_table_and_only_the_engine_resets_one() {
    let given =
        [("outcome", serde_json::json!("PASS")), ("blocked_by", serde_json::json!("NOT_APPLICABLE: x"))];
    let engines = |status: &PhaseStatus| match status {
        PhaseStatus::Pending => "CHECKPOINT_PENDING".to_owned(),
        PhaseStatus::Unknown(_) => "UNKNOWN".to_owned(),
        known => known.word().to_owned(),
    };
    for from in phases() {
        for to in phases() {
            for trigger in Trigger::ALL {
                for by in Actor::ALL {
                    let before = PhaseRecord { status: from.clone(), ..PhaseRecord::new("RED", 0) };
                    let mut after = before.clone();
                    let moved = move_phase(&mut after, to.clone(), trigger, by, &given);
                    let barred = match by {
                        Actor::Engine => false,
                        Actor::Command => trigger == Trigger::CrashReset,
                        Actor::Edit => matches!(trigger, Trigger::CrashReset | Trigger::Reopen),
                    };
                    let plain = to != PhaseStatus::Pending && has(&PHASE, from.word(), to.word(), trigger);
                    let listed = plain && !barred
                        || by == Actor::Engine && has(&PHASE_ENGINE, &engines(&from), &engines(&to), trigger);
                    let told = format!("{from:?} -{}-> {to:?} by {by:?}", trigger.word());
                    assert_eq!(moved.is_ok(), listed, "{told}");
                    let status = if listed { to.clone() } else { from.clone() };
                    assert_eq!(after, PhaseRecord { status, ..before }, "{told}");
                }
            }
        }
    }
}

#[test]
fn an_edge_that_lacks_a_field_is_refused_and_changes_nothing() {
    for (from, to, trigger) in [
        (PhaseStatus::InProgress, PhaseStatus::Done, Trigger::Done),
        (PhaseStatus::InProgress, PhaseStatus::Skipped, Trigger::Skip),
        (PhaseStatus::NotExecuted, PhaseStatus::Skipped, Trigger::Preset),
    ] {
        let before = PhaseRecord { status: from, ..PhaseRecord::new("RED", 0) };
        let mut after = before.clone();
        let refused = move_phase(&mut after, to, trigger, Actor::Engine, &[]).unwrap_err().to_string();
        assert!(refused.contains("needs `"), "{refused}");
        assert_eq!(after, before);
    }
}

#[test]
fn every_way_to_work_is_made_of_edges() {
    for status in steps() {
        for by in [Actor::Command, Actor::Engine] {
            let mut state = step(status.clone(), false);
            for (to, trigger) in way_to_work(&state, by).unwrap_or_default() {
                move_step(&mut state, to.clone(), *trigger, by, NOW).unwrap();
            }
        }
    }
}
