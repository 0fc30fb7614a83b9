//! A person cancels the run: nothing is undone, and the step says how it stands.

use seriatim_flows::registry::End;

use crate::world::World;
use crate::world::step;

#[test]
fn a_run_that_is_cancelled_in_any_phase_leaves_its_step_failed_and_it_can_be_tried_again() {
    let phases = ["PREPARE", "RED_ACCEPTANCE", "RED_UNIT", "GREEN", "REVIEW", "REFACTOR_CONTINUOUS"];
    for (at, phase) in phases.iter().enumerate() {
        let mut world = World::of("", &[step("01-01", "add", &[])]);
        world.start.only = Some("01-01".to_owned());
        let story = world.cancelled_at(&format!("01-01 {phase}")).run();
        story.ends(
            End::Cancelled,
            "The work was cancelled. What is committed stays, nothing was undone, and steps can be tried again.",
        );
        assert_eq!(story.log().last().unwrap(), "Step 01-01 was stopped: a person cancelled the run.");
        assert_eq!(*story.saves().last().unwrap(), format!("01-01 FAILED: {phase} NOT_EXECUTED"));
        let again = story.again().run();
        let rest: Vec<String> = phases[at..].iter().map(|phase| format!("01-01 {phase}")).collect();
        assert_eq!(again.calls(), rest);
        assert_eq!(again.ended().status, End::Completed);
    }
}

#[test]
fn a_run_that_is_cancelled_at_a_question_leaves_its_step_failed() {
    let world = World::one().file("src/add.py", "# mine\n").cancelled_at("your changes");
    let story = world.run();
    assert_eq!(story.ended().status, End::Cancelled);
    // Nothing was saved yet, so that there is nothing to leave.
    assert_eq!(story.saves(), Vec::<String>::new());
    assert_eq!(story.log().last().unwrap(), "Step 01-01 (Function add) began with @software-crafter.");
}

#[test]
fn a_roadmap_that_is_cancelled_leaves_the_steps_before_done_and_the_ones_after_untouched() {
    let story = World::three().cancelled_at("01-02 GREEN").run();
    assert_eq!(
        story.log_of(&["is done", "was stopped"]),
        ["Step 01-01 is done.", "Step 01-02 was stopped: a person cancelled the run."]
    );
    let again = story.again().run();
    assert_eq!(again.calls(), ["01-02 GREEN", "01-03 RED", "01-03 GREEN"]);
    again.ends(End::Completed, "3 of 3 steps are done.");
}
