//! Exit criteria, results and the outcome.

use serde_json::Value;
use serde_json::json;
use seriatim_flows::registry::End;

use crate::build::alone;
use crate::build::definition;
use crate::build::done;
use crate::build::judged;
use crate::build::step;
use crate::build::with;
use crate::world::World;

const GREEN: &str = "All tests are green";
const TOLD: &str = "Everybody was told";
const EXIT: &str = "exit-criteria";

fn ending(kind: &str, criteria: Value) -> Value {
    let mut definition = definition(vec![alone("5.1.1", "Work", "Analyse")]);
    definition["definition"]["type"] = json!(kind);
    definition["quality"] = json!({"exit_criteria": criteria});
    definition
}

/// E-26, PX-121, PX-122.
#[test]
fn e_26_px_121_px_122_an_unmet_exit_criterion_is_a_failing_result_and_no_failed_run() {
    let report = with(
        judged(&[GREEN], false, 99, "three are red"),
        json!({"criteria": [
            {"criterion": GREEN, "met": false, "confidence": 99, "reason": "three are red"},
            {"criterion": TOLD, "met": true, "confidence": 95},
        ]}),
    );
    let story = World::new(ending("validation", json!([GREEN, TOLD]))).reports(EXIT, report).run();
    assert_eq!(story.ended.status, End::Completed);
    assert!(!story.ended.good);
    assert_eq!(story.ended.outcome["execution_success"], true);
    assert_eq!(story.result(), "FAIL");
    assert_eq!(
        story.summary(),
        "'Get the change into the release' is done; the result is FAIL. Not good: \"All tests are green\" is not \
         met: three are red. Work is done."
    );
    assert_eq!(story.instance()["status"], "COMPLETED");
    let evaluated: Vec<Value> = story
        .observations()
        .into_iter()
        .filter(|o| o["subject"] == "Exit criterion")
        .map(|o| json!([o["value"]["criterion"], o["value"]["met"], o["value"]["how"]]))
        .collect();
    assert_eq!(
        evaluated,
        [
            json!([GREEN, false, "judged with confidence 99: three are red"]),
            json!([TOLD, true, "judged with confidence 95"]),
        ]
    );
}

#[test]
fn px_121_an_uncertain_exit_criterion_is_asked() {
    let world = || {
        World::new(ending("analysis", json!([GREEN])))
            .reports(EXIT, judged(&[GREEN], true, 10, "no run was seen"))
    };
    let yes = world().run();
    assert_eq!(
        yes.asked(),
        [
            "At the end: I'm uncertain if 'All tests are green' was achieved: no run was seen. I'm checking 'Get the change \
          into the release'. Could you tell me whether it was achieved? -> approve"
        ]
    );
    assert_eq!((yes.result(), yes.ended.good), ("COMPLETE", true));
    let no = world().answers("was achieved", "reject").run();
    assert_eq!((no.result(), no.ended.good), ("INCOMPLETE", false));
}

#[test]
fn px_121_a_computed_exit_criterion_is_computed_over_the_outputs() {
    let criteria = json!([{"criterion": "No faults", "when": "outputs.faults == 0"}]);
    for (faults, result) in [(0, "PASS"), (2, "FAIL")] {
        let story = World::new(ending("validation", criteria.clone()))
            .condition("outputs.faults == 0", |about| about["outputs"]["faults"] == 0)
            .reports("5.1.1", with(done("Checked"), json!({"outputs": {"faults": faults}})))
            .run();
        assert_eq!(story.result(), result);
        assert_eq!(story.called(), ["5.1.1/1"]);
        assert_eq!(story.asked(), Vec::<String>::new());
    }
}

#[test]
fn px_126_the_words_of_the_result_are_those_of_the_type() {
    // A type, the word of its Validate step, and the words of the type.
    let rows = [
        ("validation", "PASS", "PASS", true),
        ("validation", "PARTIAL", "PARTIAL", false),
        ("validation", "FAIL", "FAIL", false),
        ("review", "APPROVED", "APPROVED", true),
        ("review", "CHANGES_REQUESTED", "CHANGES_REQUESTED", false),
        ("review", "REJECTED", "REJECTED", false),
        ("review", "PARTIAL", "CHANGES_REQUESTED", false),
        ("analysis", "COMPLETE", "COMPLETE", true),
        ("analysis", "INCOMPLETE", "INCOMPLETE", false),
        ("generation", "GENERATED", "GENERATED", true),
        ("generation", "FAILED", "FAILED", false),
        // A word of another type is put into the words of this one.
        ("review", "FAIL", "REJECTED", false),
    ];
    for (kind, said, result, good) in rows {
        let steps = vec![alone("5.1.1", "Check", "Validate"), alone("5.1.2", "Keep", "Preserve")];
        let mut definition = definition(steps);
        definition["definition"]["type"] = json!(kind);
        let story =
            World::new(definition).reports("5.1.1", with(done("Worked"), json!({"verdict": said}))).run();
        assert_eq!((story.result(), story.ended.good), (result, good), "{kind} {said}");
        assert_eq!(story.ended.outcome["execution_success"], true);
    }
}

#[test]
fn px_126_what_a_person_decides_is_the_result_of_a_review() {
    for (choice, text, result) in [
        ("approve", None, "APPROVED"),
        ("changes", Some("rename it"), "CHANGES_REQUESTED"),
        ("reject", None, "REJECTED"),
    ] {
        let steps = vec![step("5.1.1", "Sign", "Decide", "Human-Only"), alone("5.1.2", "Keep", "Preserve")];
        let world = World::new(definition(steps));
        let story = match text {
            Some(text) => world.answers_with("Sign", choice, text).run(),
            None => world.answers("Sign", choice).run(),
        };
        assert_eq!(story.result(), result);
    }
}

fn with_outputs() -> Value {
    let mut definition = ending("generation", json!([]));
    definition["interfaces"] = json!({"outputs": [{"type": "report"}, {"type": "figures"}]});
    definition
}

#[test]
fn px_128_outputs_go_out_under_the_names_of_the_interface() {
    let outputs = json!({"report": "all good", "figures": [1, 2], "scratch": "not for you"});
    let story =
        World::new(with_outputs()).reports("5.1.1", with(done("Worked"), json!({"outputs": outputs}))).run();
    assert_eq!(*story.outputs(), json!({"report": "all good", "figures": [1, 2]}));
    assert_eq!(story.call("5.1.1", 0).brief.outputs_expected, ["report", "figures"]);
    assert_eq!(story.instance()["outcome"]["outputs"], *story.outputs());
}

#[test]
fn px_129_k_111_an_outcome_without_a_declared_output_is_no_success() {
    let report = with(done("Worked"), json!({"outputs": {"report": "all good"}}));
    let story = World::new(with_outputs())
        .parameters(json!({"strict_mode": true}))
        .reports("5.1.1", report.clone())
        .run();
    assert_eq!(story.ended.status, End::Failed);
    assert_eq!(story.ended.outcome["execution_success"], false);
    assert_eq!(story.errors(), ["outcome: ValidationError - Output 'figures' was not produced"]);
    assert!(story.summary().contains("Not good: nobody gave figures."), "{}", story.summary());
    assert_eq!(story.outputs()["report"], "all good");
    assert_eq!(story.outputs()["completed_steps"], json!(["5.1.1"]));
    assert_eq!(story.instance()["status"], "FAILED");

    // K-111: also where nobody is strict; a word about it is enough.
    let silent = World::new(with_outputs()).reports("5.1.1", report).run();
    assert_eq!(silent.ended.outcome["execution_success"], false);
    assert!(!silent.ended.good);
    let spoken = with(
        done("Worked"),
        json!({"outputs": {"report": "all good", "figures": "none: there are no numbers"}}),
    );
    let spoken = World::new(with_outputs()).reports("5.1.1", spoken).run();
    assert_eq!(spoken.ended.outcome["execution_success"], true);
    assert!(spoken.ended.good);
}

/// PX-125, PX-127, PX-130, PX-131.
#[test]
fn px_125_px_127_px_130_px_131_a_completed_run_says_so_in_log_instance_and_records() {
    let mut world = World::new(ending("generation", json!([])));
    world.instance["instance"]["run_count"] = json!(7);
    let story = world.reports("5.1.1", done("wrote twelve pages")).run();
    assert!(story.ended.good);
    assert_eq!(
        story.ended.message,
        "'Get the change into the release' is done; the result is GENERATED, on the agent's word. Wrote twelve pages."
    );
    let log = story.log();
    assert_eq!(log["execution"]["status"], "COMPLETED");
    let instance = story.instance();
    assert_eq!(instance["status"], "COMPLETED");
    assert_eq!(instance["run_count"], 8);
    assert_eq!(instance["completed"], log["execution"]["completed"]);
    assert_eq!(instance["execution_log_id"], log["execution"]["id"]);
    assert_eq!(instance["outcome"], story.ended.outcome);
    assert_eq!(
        story.observed().pop().unwrap(),
        "EVENT Process execution completed: Status: COMPLETED, Execution: true, Result: GENERATED"
    );
}
