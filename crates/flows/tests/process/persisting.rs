//! Failures that will come again with the same input.

use serde_json::Value;
use serde_json::json;
use seriatim_flows::registry::End;

use crate::build::alone;
use crate::build::definition;
use crate::build::done;
use crate::build::holds;
use crate::build::trigger;
use crate::build::watching;
use crate::build::with;
use crate::story::has;
use crate::world::World;

const BAD: &str = "The artifact is not valid";
const AGAIN: &str = "This validation will fail again with the same input. Would you like to provide a different \
                     artifact or skip?";

/// A validation that returns to the step before it, and a step after it.
fn validating() -> Value {
    let back = with(trigger(BAD, "RETURN", "LOW"), json!({"target": "5.1.1"}));
    definition(vec![
        alone("5.1.1", "Fetch", "Elicit"),
        watching(alone("5.1.2", "Check", "Validate"), vec![back]),
        alone("5.1.3", "Publish", "Generate"),
    ])
}

/// A failure with outputs of its own, which makes it another one than the last.
fn failing(faults: u32) -> Value {
    with(holds(BAD), json!({"outputs": {"faults": faults}}))
}

/// PX-71, PX-72.
#[test]
fn px_71_px_72_the_same_failure_on_the_same_input_is_asked_about() {
    let story = World::new(validating()).reports_times(2, "5.1.2", &failing(1)).run();
    assert_eq!(story.asked()[0], format!("Check: {AGAIN} -> provide_input"));
    let options = &story.seen.questions[0].0.options;
    let labels: Vec<&str> = options.iter().map(|o| o.label.as_str()).collect();
    assert_eq!(labels, ["Provide different input", "Skip this validation", "Cancel"]);
    // PX-70: the event comes first, with its counter, whatever a person then decides.
    assert_eq!(story.events(), ["RETURN 5.1.2 > 5.1.1 LOW #1", "RETURN 5.1.2 > 5.1.1 LOW #2"]);
    assert_eq!(story.step_records()[3]["escalation"]["human_response"], "provide_input: as you like");
}

#[test]
fn px_71_other_outputs_or_another_kind_of_step_are_transient() {
    let other = World::new(validating()).reports("5.1.2", failing(1)).reports("5.1.2", failing(2)).run();
    assert_eq!(other.asked(), Vec::<String>::new());
    let mut analysing = validating();
    analysing["steps"][1]["capability"] = json!("Analyse");
    let story = World::new(analysing).reports_times(3, "5.1.2", &failing(1)).run();
    assert_eq!(story.asked(), Vec::<String>::new());
    assert_eq!(story.ended.status, End::Completed);
}

#[test]
fn px_71_another_result_of_the_step_before_makes_it_transient() {
    let gives = |n: u32| with(done("Fetched"), json!({"outputs": {"artifact": n}}));
    let story = World::new(validating())
        .reports("5.1.1", gives(1))
        .reports("5.1.1", gives(2))
        .reports_times(2, "5.1.2", &failing(1))
        .run();
    assert_eq!(story.asked(), Vec::<String>::new());
}

/// E-14, PX-73.
#[test]
fn e_14_px_73_new_input_starts_the_count_anew_and_three_returns_are_allowed_again() {
    let story = World::new(validating())
        .reports_times(2, "5.1.2", &failing(0))
        .answers_with("will fail again", "provide_input", "the file of yesterday")
        .reports("5.1.2", failing(1))
        .reports("5.1.2", failing(2))
        .reports("5.1.2", failing(3))
        .run();
    let counted: Vec<String> =
        story.events().iter().map(|e| e.rsplit(' ').next().unwrap().to_owned()).collect();
    assert_eq!(counted, ["#1", "#2", "#1", "#2", "#3"]);
    assert_eq!(story.ended.status, End::Completed);
    // What was given reaches everybody who works on it afterwards.
    assert_eq!(story.call("5.1.1", 2).brief.inputs["provided"], json!(["the file of yesterday"]));
    assert!(story.call("5.1.2", 2).brief.prompt.contains("the file of yesterday"));
    assert!(!story.call("5.1.2", 1).brief.prompt.contains("the file of yesterday"));
}

#[test]
fn e_14_the_fourth_failure_after_new_input_blocks() {
    let mut world = World::new(validating()).reports_times(2, "5.1.2", &failing(0));
    for n in 1..=4 {
        world = world.reports("5.1.2", failing(n));
    }
    let story = world.run();
    assert_eq!(story.events().pop().unwrap(), "BLOCK 5.1.2 > - LOW #4");
    assert_eq!(story.ended.status, End::Blocked);
}

#[test]
fn px_74_skipping_goes_on_with_the_next_step_and_says_so() {
    let story = World::new(validating())
        .reports_times(2, "5.1.2", &failing(1))
        .answers("will fail again", "skip")
        .run();
    assert_eq!(
        story.steps(),
        [
            "5.1.1 COMPLETED #1",
            "5.1.2 ESCALATED #1",
            "5.1.1 COMPLETED #2",
            "5.1.2 SKIPPED #2",
            "5.1.3 COMPLETED #1",
        ]
    );
    // K-87: the record names the person who let it pass.
    assert_eq!(story.step_records()[3]["outcome_summary"], "Skipped by ada: The artifact is not valid");
    has(&story.observed(), "EVENT Escalation in Check: skip");
    assert_eq!(story.ended.status, End::Completed);
    // K-110: a validation that was skipped gives the incomplete word, never the good one.
    assert!(!story.ended.good);
    let told = "the result is FAILED. Not known: 'Check' gave no verdict: skipped by ada: The artifact is not valid.";
    assert!(story.summary().contains(told), "{}", story.summary());
}

#[test]
fn px_72_cancelling_blocks() {
    let story = World::new(validating())
        .reports_times(2, "5.1.2", &failing(1))
        .answers_with("will fail again", "cancel", "it is hopeless")
        .run();
    assert_eq!(story.ended.status, End::Blocked);
    assert_eq!(
        story.ended.message,
        "The process could not continue because ada stopped the work here: it is hopeless. Manual intervention \
         required."
    );
}
