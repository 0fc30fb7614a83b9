//! Whether a step may begin, and whose changes are there already.

use serde_json::json;
use seriatim_core::roadmap::change;
use seriatim_core::roadmap::store::memory_key;
use seriatim_flows::registry::End;

use crate::world::World;
use crate::world::step;

/// DW-54, DW-87: a step whose dependency is open is blocked, and nothing is done.
#[test]
fn dw_54_dw_87_a_step_with_an_open_dependency_is_blocked() {
    let mut world = World::three();
    world.start.only = Some("01-03".to_owned());
    let story = world.run();
    assert_eq!(story.ended().status, End::Blocked);
    assert_eq!(story.log().len(), 1);
    assert!(story.log()[0].starts_with("Step 01-03 could not begin: "), "{:?}", story.log());
    assert_eq!(story.ended().outcome["execution_blocked"]["reason"], "dependency_not_met");
    assert_eq!((story.calls().len(), story.saves().len()), (0, 0));
}

/// DW-06: a step that the roadmap does not have is not guessed.
#[test]
fn dw_06_a_step_that_is_not_in_the_roadmap_is_blocked() {
    let mut world = World::one();
    world.start.only = Some("09-09".to_owned());
    let story = world.run();
    story.ends(End::Blocked, "Step 09-09 not found in roadmap.");
}

#[test]
fn a_step_that_is_done_is_not_done_again() {
    let story = World::one().run().again().run();
    story.ends(End::Completed, "Step 01-01 is done already; there is nothing to do.");
    assert_eq!(story.log(), ["Step 01-01 was done before."]);
    assert_eq!(story.saves(), Vec::<String>::new());
}

/// A record of an earlier run that cannot be read is never taken for none.
#[test]
fn a_record_of_an_earlier_run_that_cannot_be_read_blocks_the_step() {
    let mut world = World::one();
    world.book.memory.insert(memory_key(crate::world::STATUS, "01-01"), json!({"base_tree": 7}));
    let story = world.run();
    assert_eq!(story.ended().status, End::Blocked);
    assert!(story.ended().message.starts_with("The record of an earlier run of step 01-01 cannot be read"));
    assert_eq!(story.calls(), Vec::<String>::new());
}

#[test]
fn a_roadmap_with_errors_is_not_begun() {
    let story = World::one().file(crate::world::ROADMAP, "project_id: calc\n").run();
    assert_eq!(story.ended().status, End::Failed);
    assert_eq!(story.log(), Vec::<String>::new());
}

/// Changes of the user in a file of the step become part of it only when the user says so.
#[test]
fn changes_of_the_user_are_committed_with_the_step_when_the_user_says_so() {
    let story = World::one()
        .file("src/add.py", "# mine\n")
        .file("notes.txt", "mine\n")
        .answers("your changes", "approve", "")
        .run();
    assert_eq!(
        story.log_of(&["ada"]),
        [
            "ada decided on the uncommitted changes in files of step 01-01: approve.",
            "ada allowed step 01-01 to commit the user's changes in src/add.py.",
        ]
    );
    assert_eq!(story.ended().status, End::Completed);
    assert_eq!(story.world().repository.committed().get("notes.txt"), None);
    assert!(story.world().repository.committed().contains_key("src/add.py"));
}

#[test]
fn changes_of_the_user_keep_the_step_from_beginning_when_the_user_says_no() {
    let story = World::one().file("src/add.py", "# mine\n").answers("your changes", "cancel", "").run();
    assert_eq!(story.ended().status, End::Cancelled);
    assert_eq!(story.calls(), Vec::<String>::new());
    assert_eq!(story.commits(), Vec::<&str>::new());
    assert_eq!(story.saves(), ["01-01 FAILED: "]);
}

/// DW-74: after a checkpoint was rolled back, the step goes on from the phases that are pending again.
#[test]
fn dw_74_a_step_that_was_rolled_back_goes_on_from_the_pending_phase() {
    let story = World::one().git_succeeds("commit").git_fails("commit", "a hook refused it").run();
    assert_eq!(story.ended().status, End::Failed);
    let world = story.again().edit_state("01-01", |state, schema, now| {
        change::roll_back(&state, schema, "GREEN", "rolled back", now).unwrap().0
    });
    let again = world.run();
    assert_eq!(again.calls(), ["01-01 GREEN"]);
    assert_eq!(again.ended().status, End::Completed);
}

/// DW-51: a review that says that the step is not ready blocks it.
#[test]
fn dw_51_a_step_that_a_review_holds_back_is_blocked() {
    let head = "reviews:\n  - reviewer: architect\n    ready_for_execution: false\n    critiques: []\n";
    let mut world = World::of(head, &[step("01-01", "add", &[])]);
    world.start.only = Some("01-01".to_owned());
    let story = world.run();
    assert_eq!(story.ended().status, End::Blocked, "{}", story.ended().message);
}
