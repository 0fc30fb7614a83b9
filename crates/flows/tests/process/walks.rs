//! Whatever agents report and people choose: the run ends, and everything that must hold of every run holds.

use proptest::prelude::*;

use serde_json::Value;
use serde_json::json;
use seriatim_core::failure::Class;
use seriatim_flows::registry::End;

use crate::build::alone;
use crate::build::definition;
use crate::build::done;
use crate::build::holds;
use crate::build::shares;
use crate::build::step;
use crate::build::trigger;
use crate::build::watching;
use crate::build::with;
use crate::world::World;

/// What may come of a step.
#[derive(Clone, Copy, Debug)]
enum Turn {
    Done,
    Unsure,
    Partial,
    Returns,
    Defers,
    Escalates,
    Blocks,
    Crashes,
    Unusable,
}

fn turn() -> impl Strategy<Value = Turn> {
    prop_oneof![
        6 => Just(Turn::Done),
        1 => Just(Turn::Unsure),
        1 => Just(Turn::Partial),
        4 => Just(Turn::Returns),
        1 => Just(Turn::Defers),
        2 => Just(Turn::Escalates),
        1 => Just(Turn::Blocks),
        1 => Just(Turn::Crashes),
        2 => Just(Turn::Unusable),
    ]
}

const STEPS: [&str; 4] = ["5.1.1", "5.1.2", "5.1.3", "5.1.2a"];

/// Three steps that watch for everything, with a correction for the second.
fn eventful(severity: &str, invocation: &str, tacit: u32) -> Value {
    let back = |condition: &str| with(trigger(condition, "RETURN", severity), json!({"target": "5.1.1"}));
    let all = || {
        vec![
            back("Returns"),
            trigger("Defers", "DEFER", severity),
            trigger("Escalates", "ESCALATE", severity),
            trigger("Blocks", "BLOCK", severity),
        ]
    };
    let fix = with(
        alone("5.1.2a", "Mend", "Transform"),
        json!({"trigger_from": "5.1.2", "invocation": invocation}),
    );
    let mut definition = definition(vec![
        watching(step("5.1.1", "Look", "Elicit", "AI-Led"), all()),
        watching(alone("5.1.2", "Check", "Validate"), all()),
        watching(step("5.1.3", "Sign", "Decide", "Partnership"), all()),
    ]);
    definition["control_flow"] = json!({"fix_steps": [watching(fix, all())]});
    definition["quality"] = json!({"sla": {"expected_duration_minutes": 1, "timeout_minutes": 30}});
    shares(definition, 100 - tacit, tacit, 0)
}

fn play(world: World, step: &str, turn: Turn) -> World {
    match turn {
        Turn::Done => world.reports(step, with(done("Did it"), json!({"outputs": {"part": step}}))),
        Turn::Unsure => world.reports(step, with(done("Perhaps"), json!({"confidence": 10}))),
        Turn::Partial => world.reports(step, json!({"status": "partial", "summary": "Half of it"})),
        Turn::Returns => world.reports(step, holds("Returns")),
        Turn::Defers => world.reports(step, holds("Defers")),
        Turn::Escalates => world.reports(step, holds("Escalates")),
        Turn::Blocks => world.reports(step, holds("Blocks")),
        Turn::Crashes => world.fails(step, Class::Crash, "it fell over in 5.1.2 of PROC-5.1"),
        Turn::Unusable => world.reports(step, json!({"status": "well"})),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_walk_ends_with_an_outcome_a_log_and_an_instance_that_agree(
        severity in prop::sample::select(vec!["LOW", "MEDIUM", "HIGH"]),
        invocation in prop::sample::select(vec!["ALWAYS", "ON_RETRY", "ASK"]),
        tacit in prop::sample::select(vec![10_u32, 50, 90]),
        turns in prop::collection::vec((prop::sample::select(STEPS.to_vec()), turn()), 0..14),
        moods in prop::collection::vec(0..6_usize, 0..20),
    ) {
        let world = World::new(eventful(severity, invocation, tacit)).wavering(moods);
        let world = turns.into_iter().fold(world, |world, (step, turn)| play(world, step, turn));
        let story = world.run();
        let (status, standing) = match story.ended.status {
            End::Completed => ("COMPLETED", "COMPLETED"),
            End::Blocked => ("BLOCKED", "FAILED"),
            End::Failed => ("FAILED", "FAILED"),
            End::Cancelled => panic!("nobody cancelled it"),
        };
        let (log, instance) = (story.log(), story.instance());
        prop_assert_eq!(&log["execution"]["status"], status);
        prop_assert_eq!(&instance["status"], standing);
        prop_assert_eq!(&instance["run_count"], 1);
        prop_assert_eq!(&instance["outcome"], &story.ended.outcome);
        let success = story.ended.outcome["execution_success"] == true;
        prop_assert_eq!(success, status == "COMPLETED");
        // K-71: the six keys stand in every outcome without success, and in no other.
        for key in ["completed_steps", "partial_outputs", "failed_at", "partial_results", "error_step", "error_count"] {
            prop_assert_eq!(story.outputs().get(key).is_some(), !success);
        }
        if !success {
            prop_assert_eq!(&story.outputs()["error_count"], story.errors().len());
            prop_assert!(story.events().last().unwrap().starts_with("BLOCK "));
        }
    }
}
