//! DEFER and RESUME, and work that belongs to another process.

use serde_json::Value;
use serde_json::json;
use seriatim_flows::registry::End;

use crate::build;
use crate::build::alone;
use crate::build::definition;
use crate::build::done;
use crate::build::holds;
use crate::build::trigger;
use crate::build::watching;
use crate::build::with;
use crate::story::has;
use crate::world::World;

const LATER: &str = "Legal has to look at it";

fn deferring() -> Value {
    let back = with(trigger("It is stale", "RETURN", "LOW"), json!({"target": "5.1.1"}));
    definition(vec![
        alone("5.1.1", "Look", "Analyse"),
        watching(alone("5.1.2", "Weigh", "Analyse"), vec![trigger(LATER, "DEFER", "MEDIUM"), back]),
    ])
}

/// PX-88, PX-89, PX-90, PX-91.
#[test]
fn px_88_px_89_px_90_px_91_a_deferred_run_says_where_it_stands() {
    let story = World::new(deferring())
        .parameters(json!({"depth": 2}))
        .reports("5.1.1", with(done("Looked"), json!({"outputs": {"files": 3}})))
        .reports("5.1.2", holds("It is stale"))
        .reports("5.1.2", with(holds(LATER), json!({"outputs": {"weighed": 1}})))
        .run();
    // The instance as it was while the run lay still.
    let texts = &story.seen.instances;
    let suspended = texts.iter().find(|t| t.contains("SUSPENDED")).unwrap();
    let (tree, _) = seriatim_core::doc::parse(suspended.as_bytes(), &seriatim_core::doc::Limits::default());
    let instance = tree.unwrap().to_json()["instance"].clone();
    assert_eq!(instance["status"], "SUSPENDED");
    let mut state = instance["continuation"].clone();
    assert!(state["deferred_at"].as_str().unwrap().starts_with("2026-01-18T15:00:"));
    state.as_object_mut().unwrap().remove("deferred_at");
    assert_eq!(
        state,
        json!({
            "step_id": "5.1.2", "reason": LATER, "iterations": {"5.1.2": 1},
            "outputs": {"5.1.1": {}}, "step_outputs": {"weighed": 1}, "parameters": {"depth": 2},
        })
    );
    let event = story.log()["control_flow_events"][1].clone();
    assert_eq!(
        (&event["type"], &event["to_step"], &event["reason"]),
        (&json!("DEFER"), &Value::Null, &json!(LATER))
    );
    has(
        &story.observed(),
        "EVENT Process deferred at Weigh: Legal has to look at it - awaiting async review",
    );
}

#[test]
fn px_90_the_log_says_that_it_is_suspended_while_it_is() {
    let story = World::new(deferring())
        .reports("5.1.2", holds(LATER))
        .while_suspended(|outside| {
            let (path, text) = outside.files.iter().find(|(p, _)| p.contains("/EXEC-")).unwrap();
            assert!(text.contains("\n  status: SUSPENDED\n"), "{path}\n{text}");
        })
        .run();
    assert_eq!(story.log()["execution"]["status"], "COMPLETED");
}

#[test]
fn px_92_a_resumed_run_keeps_counters_outputs_and_parameters() {
    let story = World::new(deferring())
        .parameters(json!({"depth": 2}))
        .reports("5.1.1", with(done("Looked"), json!({"outputs": {"files": 3}})))
        .reports("5.1.1", with(done("Looked"), json!({"outputs": {"files": 4}})))
        .reports("5.1.2", holds("It is stale"))
        .reports("5.1.2", holds(LATER))
        .reports("5.1.2", holds("It is stale"))
        .run();
    assert_eq!(
        story.events(),
        [
            "RETURN 5.1.2 > 5.1.1 LOW #1",
            "DEFER 5.1.2 > - MEDIUM #2",
            "RESUME 5.1.2 > 5.1.2 MEDIUM #2",
            "RETURN 5.1.2 > 5.1.1 LOW #2",
        ]
    );
    let after = &story.call("5.1.2", 2).brief;
    assert_eq!(after.inputs["steps"]["5.1.1"], json!({"files": 4}));
    assert_eq!(after.parameters, json!({"depth": 2}));
    has(&story.observed(), "EVENT Process resumed at Weigh: Continued by grace");
    assert_eq!(story.instance()["continuation"], Value::Null);
    assert_eq!(story.ended.status, End::Completed);
}

#[test]
fn e_16_a_definition_that_changed_meanwhile_is_told_about_and_not_adopted() {
    let story = World::new(deferring())
        .reports("5.1.2", holds(LATER))
        .while_suspended(|outside| outside.replace(build::DEFINITION, "Weigh", "Weigh anew"))
        .run();
    let what = "The definition was changed while the work was put off; it goes on with the one it began with";
    has(&story.observed(), &format!("EVENT Definition changed: {what}"));
    assert!(story.ended.message.contains(what), "{}", story.ended.message);
    assert_eq!(story.call("5.1.2", 1).title, "Weigh");
    let same = World::new(deferring())
        .reports("5.1.2", holds(LATER))
        .while_suspended(|outside| {
            let text = outside.files.get_mut(build::DEFINITION).unwrap();
            text.insert_str(0, "# a remark changes nothing\n");
        })
        .run();
    assert!(!same.ended.message.contains("changed"), "{}", same.ended.message);
}

/// E-17, PX-92.
#[test]
fn e_17_px_92_there_is_one_resume_for_each_deferral() {
    let story = World::new(deferring()).reports("5.1.2", holds(LATER)).reports("5.1.2", holds(LATER)).run();
    assert_eq!(story.seen.waits, 2);
    let kinds: Vec<String> = story.events().iter().map(|e| e.split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(kinds, ["DEFER", "RESUME", "DEFER", "RESUME"]);
}

fn elsewhere() -> Value {
    let other = with(trigger("The design is wrong", "RETURN", "HIGH"), json!({"target": "PROC-4.2"}));
    definition(vec![
        watching(alone("5.1.1", "Look", "Analyse"), vec![other]),
        alone("5.1.2", "Tell", "Generate"),
    ])
}

#[test]
fn a_return_to_a_known_process_waits_for_it() {
    let mut world = World::new(elsewhere()).reports("5.1.1", holds("The design is wrong"));
    world.start.known_processes = vec![("PROC-4.2".into(), "Design it".into())];
    let story = world.run();
    assert_eq!(
        story.events(),
        ["RETURN 5.1.1 > PROC-4.2 HIGH #1", "DEFER 5.1.1 > - HIGH #2", "RESUME 5.1.1 > 5.1.1 HIGH #2"]
    );
    assert_eq!(story.asked(), Vec::<String>::new());
    assert_eq!(story.called(), ["5.1.1/1", "5.1.1/1", "5.1.2/1"]);
    assert!(story.ended.message.contains("It was put off until 'Design it' had been done again."));
}

#[test]
fn a_return_to_an_unknown_process_is_a_question() {
    let asked = "Look: This has to go back to other work, which I cannot start from here: The design is wrong. Has it \
                 been dealt with?";
    let world = || World::new(elsewhere()).reports("5.1.1", holds("The design is wrong"));
    let retried = world().run();
    assert_eq!(retried.asked(), [format!("{asked} -> retry")]);
    assert_eq!(retried.steps(), ["5.1.1 ESCALATED #1", "5.1.1 COMPLETED #2", "5.1.2 COMPLETED #1"]);
    let skipped = world().answers("Has it been dealt with", "skip").run();
    assert_eq!(skipped.steps(), ["5.1.1 SKIPPED #1", "5.1.2 COMPLETED #1"]);
    let stopped = world().answers("Has it been dealt with", "cancel").run();
    assert_eq!(stopped.ended.status, End::Blocked);
}
