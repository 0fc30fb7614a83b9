//! Runtime parameters, principles, and the quick and the full mode.

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
use crate::story::Story;
use crate::world::World;

fn three() -> Value {
    definition(vec![
        alone("5.1.1", "Look", "Analyse"),
        with(alone("5.1.2", "Dig", "Analyse"), json!({"completion_criteria": ["Every layer was seen"]})),
        alone("5.1.3", "Tell", "Generate"),
    ])
}

fn observation(story: &Story, subject: &str) -> Value {
    let all = story.observations();
    let found = all.iter().find(|o| o["subject"] == subject);
    found.unwrap_or_else(|| panic!("no observation of {subject}")).clone()
}

/// PX-14, PX-15, PX-16.
#[test]
fn px_14_px_15_px_16_parameters_keep_their_types_reach_every_step_and_are_on_record() {
    let given = json!({
        "focus_areas": ["security", "speed"], "max_file_size": 1000, "strict_mode": false, "environment": "staging",
    });
    let story = World::new(three()).parameters(given.clone()).run();
    for call in &story.seen.agents {
        assert_eq!(call.brief.parameters, given);
        assert!(call.brief.prompt.contains("- max_file_size: 1000\n- strict_mode: false\n"));
    }
    let logged = observation(&story, "Runtime parameters");
    assert_eq!((&logged["type"], &logged["value"]), (&json!("STATE"), &given));
    // Before any step.
    assert!(logged["timestamp"].as_str() <= story.step_records()[0]["started"].as_str());
}

#[test]
fn px_15_without_parameters_there_is_nothing_to_log() {
    let story = World::new(three()).run();
    assert!(story.observations().iter().all(|o| o["subject"] != "Runtime parameters"));
}

#[test]
fn px_17_focus_areas_come_first_in_the_brief() {
    let story = World::new(three()).parameters(json!({"focus_areas": ["security", "speed"]})).run();
    let prompt = &story.call("5.1.1", 0).brief.prompt;
    let focus = prompt.find("## Look at these first\nsecurity, speed\n").unwrap();
    assert!(focus < prompt.find("## Parameters").unwrap());
}

#[test]
fn px_18_strict_mode_wants_an_answer_to_every_criterion() {
    let silent = done("Dug");
    let strict =
        World::new(three()).parameters(json!({"strict_mode": true})).reports("5.1.2", silent.clone()).run();
    assert!(strict.call("5.1.2", 0).judge_all);
    assert!(strict.call("5.1.2", 0).brief.prompt.contains("## Be strict\n"));
    // The report is sent back with what it lacks.
    assert_eq!(strict.called(), ["5.1.1/1", "5.1.2/1", "5.1.2/2", "5.1.3/1"]);
    let usual = World::new(three()).reports("5.1.2", silent).run();
    assert!(!usual.call("5.1.2", 0).judge_all);
    assert_eq!(usual.called(), ["5.1.1/1", "5.1.2/1", "5.1.3/1"]);
}

const PRINCIPLES: &str = "# Principles\n## PRI-001 Progressive value delivery\nPhase 1 and phase 5.\n## PRI-002 \
                          Evidence\nFor validation.\n## PRI-003 Plain words\nAlways.\n";

/// PX-29, PX-31, PX-32.
#[test]
fn px_29_px_31_px_32_principles_are_read_selected_handed_on_and_logged() {
    let mut definition = three();
    definition["definition"]["phase"] = json!(5);
    let mut world = World::new(definition).file("docs/principles.md", PRINCIPLES);
    world.start.principles = Some("docs/principles.md".into());
    let story = world.run();
    let logged = observation(&story, "Principles consulted");
    assert_eq!(
        logged["value"],
        json!({"consulted": ["PRI-001 Progressive value delivery", "PRI-003 Plain words"], "mode": "QUICK"})
    );
    for call in &story.seen.agents {
        assert!(call.brief.prompt.contains("- PRI-003 Plain words: Always.\n"));
        assert!(!call.brief.prompt.contains("PRI-002"));
    }
}

#[test]
fn px_29_a_document_that_is_not_there_changes_nothing() {
    let mut world = World::new(three());
    world.start.principles = Some("docs/principles.md".into());
    let story = world.run();
    assert_eq!(story.ended.status, End::Completed);
    assert!(story.observations().iter().all(|o| o["subject"] != "Principles consulted"));
}

const TANGLED: &str = "The code is tangled";

fn with_modes(initial: Option<&str>) -> Value {
    let mut definition = three();
    definition["control_flow"] = json!({"mode_variations": {"QUICK": {"skip_steps": ["5.1.2"]}, "FULL": {}}});
    definition["progressive_disclosure"] =
        json!({"upgrade_triggers": [TANGLED], "upgrade_prompt": "Shall I dig deeper?"});
    if let Some(mode) = initial {
        definition["progressive_disclosure"]["initial_mode"] = json!(mode);
    }
    definition
}

#[test]
fn px_30_a_run_is_quick_by_default_and_leaves_steps_out() {
    for initial in [None, Some("QUICK")] {
        let story = World::new(with_modes(initial)).run();
        assert_eq!(story.steps(), ["5.1.1 COMPLETED #1", "5.1.2 SKIPPED #1", "5.1.3 COMPLETED #1"]);
        assert_eq!(story.step_records()[1]["outcome_summary"], "Left out in the quick mode.");
        let logged = observation(&story, "Mode of this run");
        assert_eq!(logged["value"], json!({"principle": "PRI-001", "mode": "QUICK"}));
    }
    let full = World::new(with_modes(Some("FULL"))).run();
    assert_eq!(full.called(), ["5.1.1/1", "5.1.2/1", "5.1.3/1"]);
}

#[test]
fn px_30_the_full_mode_is_offered_when_the_work_grows_and_makes_up_for_what_was_left_out() {
    let story = World::new(with_modes(None)).reports("5.1.3", holds(TANGLED)).run();
    assert_eq!(story.asked(), ["More than it seemed: Shall I dig deeper? -> full"]);
    assert_eq!(
        story.steps(),
        ["5.1.1 COMPLETED #1", "5.1.2 SKIPPED #1", "5.1.3 COMPLETED #1", "5.1.2 COMPLETED #2"]
    );
    assert_eq!(story.call("5.1.1", 0).brief.triggers, [TANGLED]);
    assert_eq!(story.call("5.1.2", 0).brief.triggers, Vec::<String>::new());
    let early = World::new(with_modes(None)).reports("5.1.1", holds(TANGLED)).run();
    assert_eq!(early.steps(), ["5.1.1 COMPLETED #1", "5.1.2 COMPLETED #1", "5.1.3 COMPLETED #1"]);
}

/// PX-30, PX-31.
#[test]
fn px_30_px_31_the_offer_can_be_declined_and_both_are_on_record() {
    let story =
        World::new(with_modes(None)).reports("5.1.1", holds(TANGLED)).answers("dig deeper", "quick").run();
    assert_eq!(story.called(), ["5.1.1/1", "5.1.3/1"]);
    let modes: Vec<Value> = story
        .observations()
        .iter()
        .filter(|o| o["subject"] == "Mode of this run")
        .map(|o| o["value"].clone())
        .collect();
    assert_eq!(modes[1], json!({"because": TANGLED, "mode": "QUICK", "by": "ada"}));
}

#[test]
fn a_step_that_was_made_up_for_on_the_way_back_is_not_done_twice() {
    let mut definition = with_modes(None);
    let back = with(trigger("It is wrong", "RETURN", "LOW"), json!({"target": "5.1.1"}));
    definition["steps"][2] = watching(definition["steps"][2].clone(), vec![back]);
    let both = with(done("Told"), json!({"triggers": [TANGLED, "It is wrong"]}));
    let story = World::new(definition).reports("5.1.3", both).run();
    assert_eq!(
        story.steps(),
        [
            "5.1.1 COMPLETED #1",
            "5.1.2 SKIPPED #1",
            "5.1.3 ESCALATED #1",
            "5.1.1 COMPLETED #2",
            "5.1.2 COMPLETED #2",
            "5.1.3 COMPLETED #2",
        ]
    );
}
