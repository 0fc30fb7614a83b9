//! Opening: what is read, in which order, and what happens when it cannot be.

use serde_json::Value;
use serde_json::json;
use seriatim_flows::registry::End;

use crate::build;
use crate::build::alone;
use crate::build::definition;
use crate::build::step;
use crate::world::World;

fn plain() -> Value {
    definition(vec![alone("5.1.1", "Look", "Analyse"), alone("5.1.2", "Tell", "Generate")])
}

/// PX-01, PX-03, PX-04.
#[test]
fn px_01_px_03_px_04_a_run_is_what_its_instance_says_in_the_order_of_the_phases() {
    let mut definition = plain();
    definition["quality"] = json!({"entry_criteria": ["It is Tuesday"], "exit_criteria": ["It is told"]});
    let story = World::new(definition).run();
    let names = |call: &seriatim_flows::Call| match &call.request {
        seriatim_flows::Request::Read(file) => format!("read {}", file.path),
        seriatim_flows::Request::Agent(assignment) => format!("agent {}", assignment.brief.step),
        seriatim_flows::Request::Ask(question) => format!("ask {}", question.header),
        seriatim_flows::Request::Record { fact } => format!("fact {}", fact["fact"].as_str().unwrap()),
        seriatim_flows::Request::Go(go) => format!("go {}", go.to),
        other => other.name().to_owned(),
    };
    let kept = |line: &String| {
        let noise = ["now", "ids", "edit", "fact decision", "fact observation"];
        !noise.contains(&line.as_str())
    };
    let course: Vec<String> = story.seen.calls.iter().map(names).filter(kept).collect();
    assert_eq!(
        course,
        [
            "read .dialogue/processes/PINST-20260118-143052.yaml",
            "read processes/process-work.yaml",
            "ask Before it begins",
            "fact began",
            "go IN_PROGRESS",
            "agent 5.1.1",
            "world",
            "fact step_ended",
            "agent 5.1.2",
            "world",
            "fact step_ended",
            "agent exit-criteria",
            "world",
            "world",
            "fact weighed",
            "fact weighed",
            "fact weighed",
            "look",
            "fact finished",
            "go COMPLETED",
        ]
    );
}

#[test]
fn px_08_an_instance_that_is_not_there_is_a_specific_error() {
    let mut world = World::new(plain());
    world.instance = Value::Null;
    let story = world.run();
    assert_eq!(story.ended.status, End::Failed);
    assert_eq!(story.ended.message, "The file that describes this run is not there.");
    // The technical side stands in the finding.
    assert_eq!(story.ended.findings[0].path, build::INSTANCE);
    assert_eq!(story.ended.findings[0].findings[0].message, format!("`{}` does not exist", build::INSTANCE));
    assert_eq!(story.logs(), Vec::<String>::new());
}

/// PX-08, PX-09.
#[test]
fn px_08_px_09_an_instance_that_is_broken_is_shown_with_its_place() {
    for (text, rule, line) in [
        ("instance: [\n", "yaml", 1),
        ("instance:\n  id: PINST-20260118-143052\n  status: DREAMING\n", "missing-field", 2),
    ] {
        let story = World::new(plain()).file(build::INSTANCE, text).run();
        assert_eq!(story.ended.status, End::Failed);
        assert_eq!(story.ended.message, "The file that describes this run has errors.");
        let found = &story.ended.findings[0].findings[0];
        assert_eq!((found.rule.as_str(), found.place.line), (rule, line), "{found:?}");
        assert_eq!(story.files[build::INSTANCE], text);
        assert_eq!(story.called(), Vec::<String>::new());
    }
}

#[test]
fn px_10_the_definition_is_read_from_the_path_that_the_instance_names() {
    let mut world =
        World::new(Value::Null).file("elsewhere/other.yaml", &seriatim_core::doc::write(&plain()));
    world.instance["instance"]["definition_source"]["definition_path"] = json!("elsewhere/other.yaml");
    assert_eq!(world.run().ended.status, End::Completed);
}

#[test]
fn px_11_an_embedded_definition_is_held_to_the_relaxed_rules() {
    let inline = json!({
        "name": "Two things",
        "information_composition": {"formal": 100, "tacit": 0, "emergent": 0},
        "steps": [alone("D.1", "Look", "Analyse"), alone("D.7", "Tell", "Generate")],
    });
    let mut world = World::new(Value::Null);
    world.instance["instance"]["definition_source"] = json!({"type": "DYNAMIC", "inline_definition": inline});
    let story = world.run();
    assert_eq!(story.steps(), ["D.1 COMPLETED #1", "D.7 COMPLETED #1"]);
}

#[test]
fn px_12_a_source_that_cannot_be_used_keeps_the_run_from_starting() {
    let missing = World::new(Value::Null).run();
    assert_eq!(missing.ended.message, "The file with the definition of the process is not there.");
    assert_eq!(missing.ended.findings[0].path, build::DEFINITION);
    for source in [json!({"type": "MAGIC"}), json!({"type": "DYNAMIC"}), json!({"type": "WELL_KNOWN"})] {
        let mut world = World::new(plain());
        world.instance["instance"]["definition_source"] = source;
        let story = world.run();
        assert_eq!(story.ended.status, End::Failed);
        assert_eq!(story.ended.findings[0].path, build::INSTANCE);
        assert_eq!(story.called(), Vec::<String>::new());
    }
}

#[test]
fn px_13_people_see_no_name_of_the_process_but_the_plain_one() {
    let mut definition = definition(vec![step("5.1.1", "Shape", "Transform", "Partnership")]);
    definition["definition"]["name"] = json!("CHG-HANDLER-2");
    let story = World::new(definition).run();
    let shown = serde_json::to_string(&story.seen.questions[0].0).unwrap();
    assert!(shown.contains("Get the change into the release"), "{shown}");
    assert!(!shown.contains("CHG-HANDLER-2"), "{shown}");
    assert!(!story.ended.message.contains("CHG-HANDLER-2"), "{}", story.ended.message);
}

fn wanting() -> World {
    let mut definition = plain();
    definition["interfaces"] = json!({"inputs": [
        {"type": "artifact_path", "required": true, "description": "The file to look at."},
        {"type": "max.depth", "required": true},
        {"type": "note", "required": false},
    ]});
    let mut world = World::new(definition);
    world.start.ask_for_inputs = true;
    world
}

#[test]
fn px_150_a_run_from_a_definition_asks_for_what_is_missing() {
    let story = wanting()
        .answers_with("The file to look at", "I'll provide the path", "src/a.rs")
        .answers_with("max.depth", "provide_input", "3")
        .run();
    assert_eq!(
        story.asked(),
        [
            "Input needed: Before 'Get the change into the release' can start, one thing is missing: The file to look at. \
             What should it be? -> provide_input",
            "Input needed: Before 'Get the change into the release' can start, one thing is missing: max.depth. What \
             should it be? -> provide_input",
        ]
    );
    let labels = |nth: usize| -> Vec<&str> {
        story.seen.questions[nth].0.options.iter().map(|o| o.label.as_str()).collect()
    };
    assert_eq!(labels(0), ["I'll provide the path", "Skip this check"]);
    assert_eq!(labels(1), ["I'll provide it", "Skip this check"]);
    let given = json!({"artifact_path": "src/a.rs", "max.depth": "3"});
    assert_eq!(story.instance()["context"]["inputs"], given);
    assert_eq!(story.call("5.1.1", 0).brief.inputs["inputs"], given);
    assert_eq!(story.ended.status, End::Completed);
    // The engine's own edit is no foreign one.
    assert_eq!(story.errors(), Vec::<String>::new());
}

#[test]
fn px_150_without_the_input_the_work_does_not_begin() {
    let story = wanting().answers("The file to look at", "skip").run();
    assert_eq!(story.asked().len(), 1);
    assert_eq!(story.ended.status, End::Blocked);
    assert_eq!(story.called(), Vec::<String>::new());
    // An instance that lacks it blocks without a question (V8).
    let mut instance = wanting();
    instance.start.ask_for_inputs = false;
    let story = instance.run();
    assert_eq!((story.asked(), story.ended.status), (vec![], End::Blocked));
}

#[test]
fn px_25_a_dry_run_asks_for_no_input() {
    let story = wanting().rehearsal().run();
    assert_eq!(story.asked(), Vec::<String>::new());
    assert_eq!(story.ended.status, End::Blocked);
    assert_eq!(story.instance()["context"]["inputs"], json!({}));
}

#[test]
fn a_run_that_was_started_with_nonsense_says_so() {
    let flow = seriatim_flows::registry::newest("process").unwrap();
    let past = seriatim_flows::Past::default();
    let mut run = seriatim_flows::Run::new(past, |cx| (flow.start)(cx, json!({"instance": 7})));
    let seriatim_flows::Turn::Done(calls, ended) = run.turn() else { panic!("it is over at once") };
    assert_eq!((calls, ended.status), (vec![], End::Failed));
}
