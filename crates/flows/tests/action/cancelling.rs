//! Cancelling: from outside at any point, and by the options of questions (K-47).

use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_flows::registry::End;

use crate::world::World;

const WHOLE: &str = "- architect\n- parallel: [backend-developer, frontend-developer]\n- security\n\
                     - {gate: clarification, name: points}\n- {gate: approval, name: release}";
const OUTSIDE: &str = "The action was cancelled. Its files stay as they are; `seriatim snapshot list` shows what can be \
                       gone back to.";
const KEPT: &str = "ann cancelled the action build; its files stay as they are.";

/// OC-33: a cancellation from outside ends the action in each stage, and nothing more is called.
#[test]
fn oc_33_a_cancellation_from_outside_ends_the_action_in_each_stage() {
    for (at, calls) in [
        ("architect", [0, 0, 0, 0]),
        ("backend-developer", [1, 0, 0, 0]),
        ("frontend-developer", [1, 1, 0, 0]),
        ("security", [1, 1, 1, 0]),
        ("Clarification", [1, 1, 1, 1]),
        ("Gate release", [1, 1, 1, 1]),
    ] {
        let story = World::new(WHOLE).says("Clarification", "approve", "").cancelled_at(at).play();
        story.ends(End::Cancelled, OUTSIDE);
        let roles = ["architect", "backend-developer", "frontend-developer", "security"];
        assert_eq!(roles.map(|role| story.calls(role)), calls, "{at}");
    }
}

/// A cancellation while an input is asked for leaves nothing behind.
#[test]
fn a_cancellation_before_the_start_leaves_nothing() {
    let story = World::new(WHOLE).map_line("prerequisites: [docs/x.md]").cancelled_at("Missing input").play();
    story.ends(End::Cancelled, OUTSIDE).tells(&[]);
    assert!(story.written().is_empty());
}

/// K-47: cancelling by an option asks what becomes of the work: kept, rolled back, or not cancelled after all.
#[test]
fn k_47_cancelling_asks_what_becomes_of_the_work() {
    let plan =
        || World::new("- architect\n- {gate: approval, name: release}").says("Gate release", "cancel", "");
    let story = plan().says("Cancel", "keep", "").play();
    story.ends(End::Cancelled, KEPT).tells(&[
        "Stage 1 began: Architect.",
        "Architect called, attempt 1.",
        "Architect finished: 1 file written.",
        "ann decided on release: cancel.",
        "Round 1 at gate release: cancel by ann.",
        "ann decided on Cancel: keep.",
    ]);
    let story = plan().says("Cancel", "rollback", "").says("Rollback", "confirm", "").play();
    assert_eq!(story.ended().outcome["result"], "ROLLED_BACK");
    let story = plan()
        .says("Cancel", "rollback", "")
        .says("Rollback", "cancel", "")
        .says("Cancel", "back", "")
        .says("Gate release", "approve", "")
        .play();
    story.completes().tells(&[
        "Stage 1 began: Architect.",
        "Architect called, attempt 1.",
        "Architect finished: 1 file written.",
        "ann decided on release: cancel.",
        "Round 1 at gate release: cancel by ann.",
        "ann decided on Cancel: rollback.",
        "ann decided on Rollback: cancel.",
        "ann decided on Cancel: back.",
        "ann decided on release: approve.",
        "Round 2 at gate release: approve by ann.",
        "Gate release approved.",
    ]);
}

/// K-47: who does not cancel a failed role after all sees it work again.
#[test]
fn k_47_a_role_whose_cancellation_is_taken_back_works_again() {
    let story = World::new("- architect\n- {gate: approval, name: release}")
        .fails("architect", 1, Failure::new(Class::Contract, "it cannot be done"))
        .says("Failure", "cancel", "")
        .says("Cancel", "back", "")
        .says("Gate release", "approve", "")
        .play();
    story.completes().tells(&[
        "Stage 1 began: Architect.",
        "Architect called, attempt 1.",
        "Attempt 1 of architect failed: it cannot be done.",
        "ann decided on Failure: Architect: cancel.",
        "Architect stopped: a person asked to cancel the action.",
        "ann decided on Cancel: back.",
        "Architect called, attempt 2.",
        "Architect finished: 1 file written.",
        "ann decided on release: approve.",
        "Round 1 at gate release: approve by ann.",
        "Gate release approved.",
    ]);
    let story = World::new("- architect")
        .fails("architect", 1, Failure::new(Class::Cancelled, "it was stopped from outside"))
        .play();
    story.ends(End::Failed, "The action build cannot go on: it was stopped from outside").tells(&[
        "Stage 1 began: Architect.",
        "Architect called, attempt 1.",
        "Attempt 1 of architect failed: it was stopped from outside.",
        "Architect stopped: the engine cannot go on.",
        "The action cannot go on: it was stopped from outside.",
    ]);
}
