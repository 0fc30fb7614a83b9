//! The time that a run may take.

use serde_json::Value;
use serde_json::json;
use seriatim_flows::registry::End;

use crate::build::alone;
use crate::build::definition;
use crate::build::holds;
use crate::build::step;
use crate::build::trigger;
use crate::build::watching;
use crate::story::Story;
use crate::story::has;
use crate::world::World;

fn limited(second: &str) -> Value {
    let mut definition = definition(vec![
        alone("5.1.1", "Look", "Analyse"),
        step("5.1.2", "Weigh", "Analyse", second),
        alone("5.1.3", "Tell", "Generate"),
    ]);
    let sla =
        json!({"expected_duration_minutes": 20, "timeout_minutes": 60, "warning_threshold_percent": 75});
    definition["quality"] = json!({"sla": sla});
    definition
}

/// A clock that stands still but for what the test says, so that limits are met to the minute.
fn taking(minutes: u64, pattern: &str) -> World {
    let mut world =
        World::new(limited(pattern)).meanwhile("5.1.1", move |outside| outside.minutes_pass(minutes));
    world.tick_ms = 0;
    world
}

fn measured(story: &Story) -> Vec<String> {
    story.observed().into_iter().filter(|o| o.starts_with("MEASUREMENT")).collect()
}

/// PX-44, PX-48.
#[test]
fn px_44_px_48_metrics_are_part_of_the_outcome() {
    let story = taking(15, "AI-Only").run();
    assert_eq!(measured(&story), Vec::<String>::new());
    assert_eq!(
        story.outputs()["sla_metrics"],
        json!({"expected_minutes": 20.0, "actual_minutes": 15.0, "suspended_minutes": 0.0, "within_sla": true})
    );
    assert_eq!(story.log()["audit_summary"].get("note"), None);
}

#[test]
fn px_46_a_warning_comes_once() {
    let story = taking(46, "AI-Only").meanwhile("5.1.2", |outside| outside.minutes_pass(2)).run();
    assert_eq!(measured(&story), ["MEASUREMENT Time of the process: Process at 76% of timeout"]);
    assert_eq!(story.asked(), Vec::<String>::new());
    let fine = taking(45, "AI-Only").run();
    assert_eq!(measured(&fine), Vec::<String>::new());
}

#[test]
fn px_46_a_person_is_asked_where_the_pattern_allows_it() {
    let asked = "Time is short: Process at 76% of timeout. Shall 'Weigh' still begin?";
    let story = taking(46, "AI-Led").run();
    assert_eq!(story.asked(), [format!("{asked} -> approve")]);
    assert_eq!(story.ended.status, End::Completed);
    let stopped = taking(46, "AI-Led").answers("Time is short", "cancel").run();
    assert_eq!(stopped.called(), ["5.1.1/1"]);
    assert_eq!(
        stopped.ended.message,
        "The process could not continue because ada stopped the work: Process at 76% of timeout. Manual intervention \
         required."
    );
}

#[test]
fn e_19_exactly_at_the_limit_is_not_over_it() {
    let story = taking(60, "AI-Only").run();
    assert_eq!(measured(&story), ["MEASUREMENT Time of the process: Process at 100% of timeout"]);
    assert_eq!(story.ended.status, End::Completed);
    assert_eq!(story.outputs()["sla_metrics"]["within_sla"], true);
}

/// PX-45, PX-47.
#[test]
fn px_45_px_47_past_the_limit_the_run_blocks_and_says_by_how_much() {
    let story = taking(61, "AI-Only").run();
    assert_eq!(measured(&story), ["MEASUREMENT Time of the process: Process exceeded timeout (60 minutes)"]);
    assert_eq!(story.called(), ["5.1.1/1"]);
    assert_eq!(story.events(), ["BLOCK 5.1.2 > - - #1"]);
    assert_eq!(
        story.ended.message,
        "The process could not continue because Process exceeded timeout (60 minutes). Manual intervention required."
    );
    assert_eq!(story.outputs()["sla_metrics"]["within_sla"], false);
    assert_eq!(
        story.log()["audit_summary"]["note"],
        "It took 61 minutes, significantly longer than the 20 that were expected."
    );
}

#[test]
fn px_47_a_quarter_over_what_was_expected_is_noted() {
    assert_eq!(taking(25, "AI-Only").run().log()["audit_summary"].get("note"), None);
    let note = taking(26, "AI-Only").run().log()["audit_summary"]["note"].clone();
    assert_eq!(note, "It took 26 minutes, significantly longer than the 20 that were expected.");
}

#[test]
fn e_18_time_that_it_lay_suspended_does_not_count() {
    let mut definition = limited("AI-Only");
    definition["steps"][1] = watching(definition["steps"][1].clone(), vec![trigger("Later", "DEFER", "LOW")]);
    let mut world = World::new(definition)
        .reports("5.1.2", holds("Later"))
        .while_suspended(|outside| outside.minutes_pass(3 * 24 * 60))
        .meanwhile("5.1.3", |outside| outside.minutes_pass(5));
    world.tick_ms = 0;
    let story = world.run();
    assert_eq!(story.ended.status, End::Completed);
    assert_eq!(
        story.outputs()["sla_metrics"],
        json!({"expected_minutes": 20.0, "actual_minutes": 5.0, "suspended_minutes": 4320.0, "within_sla": true})
    );
    has(&story.steps(), "5.1.2 COMPLETED #2");
}

#[test]
fn px_44_the_clock_starts_with_the_log_and_not_with_the_wait_for_an_approval() {
    let mut definition = limited("AI-Only");
    definition["quality"]["entry_criteria"] = json!(["It is Tuesday"]);
    // Hours go by until the criterion is judged.
    let story = World::new(definition)
        .trusted("TRUST_APPROVED", None)
        .meanwhile("entry-criteria", |outside| outside.minutes_pass(300))
        .run();
    assert_eq!(story.ended.status, End::Completed);
    assert_eq!(measured(&story), Vec::<String>::new());
    assert_eq!(story.log()["execution"]["started"], story.instance()["started"]);
}
