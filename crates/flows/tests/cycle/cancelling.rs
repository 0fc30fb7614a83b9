//! Runs that a person cancels, in every stage and at every question (CY-95).

use serde_json::json;
use seriatim_core::failure::Class;
use seriatim_flows::registry::End;

use crate::world::World;
use crate::world::step;

const KEPT: &str = "2026-01-18_cycle-001_incomplete.md";

/// Cancels a run and proves what holds wherever that happens. Returns the number of stages that were kept.
#[track_caller]
fn cancelled(world: World, point: &'static str) -> usize {
    let story = world.cancelled_at(point).run();
    assert_eq!((story.ended.status, story.ended.good), (End::Cancelled, false), "{point}");
    assert_eq!(
        story.ended.message,
        "The cycle was stopped. Its document is kept in the archive; no change of the files was undone."
    );
    assert_eq!(story.document(), "", "{point}");
    assert_eq!(story.archive(), [KEPT], "{point}");
    assert!(story.archived(KEPT).contains("The cycle was cancelled by a person."), "{point}");
    assert_eq!(story.blocks(KEPT).last().unwrap(), "Human INIT > Human", "{point}");
    assert!(story.seen.deliveries.is_empty() || point == "Not committed", "{point}");
    let told = story.told();
    assert_eq!(
        told[told.len() - 2..],
        [
            format!("The document was archived as docs/context/archive/{KEPT}."),
            "Cycle 001 ended incomplete.".to_owned(),
        ]
    );
    story.blocks(KEPT).len()
}

// CY-95
#[test]
fn cy_95_a_cycle_cancelled_while_a_role_or_a_check_works_keeps_its_document() {
    assert_eq!(cancelled(World::new(), "planner"), 2);
    assert_eq!(cancelled(World::new(), "actor"), 3);
    // The tests are counted before the Actor begins.
    assert_eq!(cancelled(World::new(), "tests"), 3);
    assert_eq!(cancelled(World::new().gate("lint"), "lint"), 4);
    assert_eq!(cancelled(World::new(), "judge"), 4);
}

// CY-95
#[test]
fn cy_95_a_cycle_cancelled_at_a_question_keeps_its_document() {
    assert_eq!(cancelled(World::new(), "Approval"), 5);
    assert_eq!(cancelled(World::new().insufficient(5), "Paused"), 18);
    let questions = json!({"kind": "questions", "questions": ["To whom?"]});
    assert_eq!(cancelled(World::new().reports("planner", questions), "Before the plan"), 3);
    let need = json!({"kind": "context_request", "need": "the spelling"});
    assert_eq!(cancelled(World::new().reports("actor", need), "Context is missing"), 3);
    let risky = step(json!({"risk": "high"}));
    assert_eq!(cancelled(World::new().reports("planner", risky), "A risky step"), 3);
    assert_eq!(cancelled(World::new().shows("actor", "rm -rf build"), "The work was held"), 4);
    let crash = World::new().fails("planner", Class::Crash, "it ended with exit code 7");
    assert_eq!(cancelled(crash, "No usable plan"), 2);
    let refused = World::new().delivery_fails(Class::Denied, "the hook says no");
    assert_eq!(cancelled(refused, "Not committed"), 6);
    let mut vague = World::new();
    vague.start.goal = Some("do the thing".to_owned());
    assert_eq!(cancelled(vague, "Goal"), 1);
}
