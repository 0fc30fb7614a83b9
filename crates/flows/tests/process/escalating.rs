//! ESCALATE and BLOCK: what people are shown, what they may choose, and where their words go.

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
use crate::story::has;
use crate::world::World;

const ODD: &str = "The figures look odd";
const LEAK: &str = "A password is in the code";

fn watched(triggers: Vec<Value>) -> Value {
    definition(vec![
        watching(alone("5.1.1", "Look", "Analyse"), triggers),
        alone("5.1.2", "Tell", "Generate"),
    ])
}

fn odd() -> World {
    let odd = with(trigger(ODD, "ESCALATE", "MEDIUM"), json!({"context": "Finance reads them first"}));
    let report = with(
        holds(ODD),
        json!({
            "summary": "Three rows differ",
            "outputs": {"odd_rows": [4, 7]},
            "observations": [{"type": "MEASUREMENT", "subject": "Sum", "value": 12}],
        }),
    );
    World::new(watched(vec![odd])).reports("5.1.1", report)
}

fn options(story: &Story, nth: usize) -> Vec<(&str, &str, &str)> {
    let options = story.seen.questions[nth].0.options.iter();
    options.map(|o| (o.id.as_str(), o.label.as_str(), o.description.as_str())).collect()
}

/// PX-64, PX-65, PX-66, PX-67, PX-68.
#[test]
fn px_64_px_65_px_66_px_67_px_68_a_trigger_is_put_to_a_person_with_its_context() {
    let story = odd().answers_with("The figures look odd", "approve", "that is the new tax").run();
    assert_eq!(
        story.asked(),
        [
            "Look: Something needs your attention: The figures look odd. Context: Finance reads them first. -> approve"
        ]
    );
    assert_eq!(
        options(&story, 0),
        [
            ("approve", "Continue as it is", "The work goes on, and the record says that you knew."),
            ("details", "Show me the details", "What was found is shown, and you are asked again."),
            ("guide", "Provide guidance", "I'll explain what you need."),
            ("skip", "Skip step", "The work goes on without this step, and the record says so."),
            ("cancel", "Stop here", "Nothing more is done; what there is so far is kept."),
        ]
    );
    assert_eq!(
        story.step_records()[0]["escalation"],
        json!({
            "trigger": ODD, "action": "ESCALATE", "severity": "MEDIUM", "target": "human",
            "context": "Finance reads them first", "human_response": "approve: that is the new tax",
        })
    );
    has(&story.observed(), "EVENT Escalation in Look: approve: that is the new tax");
    // The words go with the work.
    assert!(story.call("5.1.2", 0).brief.prompt.contains("- that is the new tax\n"));
    assert_eq!(story.steps(), ["5.1.1 COMPLETED #1", "5.1.2 COMPLETED #1"]);
}

#[test]
fn px_68_guidance_reaches_the_next_attempt() {
    let story = odd().answers_with("The figures look odd", "guide", "leave row 7 out").run();
    assert_eq!(story.called(), ["5.1.1/1", "5.1.1/2", "5.1.2/1"]);
    assert!(
        story
            .call("5.1.1", 1)
            .brief
            .prompt
            .contains("## What people said about this step\n- leave row 7 out\n")
    );
}

#[test]
fn px_69_the_details_are_shown_and_it_is_asked_again() {
    let story =
        odd().answers("The figures look odd", "details").answers("The figures look odd", "skip").run();
    assert_eq!(story.asked().len(), 2);
    let again = &story.seen.questions[1].0;
    assert_eq!(again.details, "Three rows differ.\nLook\n  odd rows: [4,7]\n- Sum: 12");
    assert!(again.options.iter().all(|o| o.id != "details"));
    assert_eq!(story.steps()[0], "5.1.1 SKIPPED #1");
    // Only the answer is on record, not the look at the details.
    assert_eq!(story.observed().iter().filter(|o| o.contains("Escalation in")).count(), 1);
}

#[test]
fn px_69_matters_of_security_have_their_own_options() {
    let story =
        World::new(watched(vec![trigger(LEAK, "ESCALATE", "HIGH")])).reports("5.1.1", holds(LEAK)).run();
    let labels: Vec<&str> = options(&story, 0).iter().map(|o| o.1).collect();
    assert_eq!(
        labels,
        [
            "Approve as acceptable risk",
            "Show me the details",
            "Flag for security team",
            "Provide guidance",
            "Skip step",
            "Stop here"
        ]
    );
}

#[test]
fn px_69_flagging_for_the_security_team_puts_the_run_off() {
    let story = World::new(watched(vec![trigger(LEAK, "ESCALATE", "HIGH")]))
        .reports("5.1.1", holds(LEAK))
        .answers("password", "defer")
        .run();
    assert_eq!(story.seen.waits, 1);
    assert_eq!(story.events(), ["DEFER 5.1.1 > - HIGH #1", "RESUME 5.1.1 > 5.1.1 HIGH #1"]);
    let reason = story.log()["control_flow_events"][0]["reason"].clone();
    assert_eq!(reason, "Flagged for security team: A password is in the code");
    assert_eq!(story.ended.status, End::Completed);
}

#[test]
fn px_75_stopping_at_an_escalation_blocks() {
    let story = odd().answers("The figures look odd", "cancel").run();
    assert_eq!(story.ended.status, End::Blocked);
    assert_eq!(story.called(), ["5.1.1/1"]);
}

/// PX-84, PX-85, PX-86, PX-87, PX-138.
#[test]
fn px_84_px_85_px_86_px_87_px_138_a_block_says_why_and_keeps_what_there_is() {
    let story = World::new(definition(vec![
        alone("5.1.1", "Look", "Analyse"),
        watching(alone("5.1.2", "Weigh", "Analyse"), vec![trigger("There is no licence", "BLOCK", "HIGH")]),
        alone("5.1.3", "Tell", "Generate"),
    ]))
    .reports("5.1.1", with(done("Looked"), json!({"outputs": {"files": 3}})))
    .reports("5.1.2", with(holds("There is no licence"), json!({"outputs": {"weighed": 1}})))
    .run();
    assert_eq!(story.asked(), Vec::<String>::new());
    assert_eq!(story.called(), ["5.1.1/1", "5.1.2/1"]);
    let log = story.log();
    assert_eq!(log["execution"]["status"], "BLOCKED");
    let event = &log["control_flow_events"][0];
    assert_eq!(event["type"], "BLOCK");
    assert_eq!(event["to_step"], Value::Null);
    assert_eq!(event["reason"], "There is no licence");
    assert_eq!(event["severity"], "HIGH");
    assert_eq!(story.errors(), ["5.1.2: FATAL - There is no licence"]);
    assert_eq!(
        story.ended.message,
        "The process could not continue because There is no licence. Manual intervention required."
    );
    assert_eq!(
        story.summary(),
        "Process blocked: There is no licence. Process completed step 1 of 3. Partial results preserved. To resume: \
         provide corrected input and re-run."
    );
    let outcome = &story.instance()["outcome"];
    assert_eq!(story.instance()["status"], "FAILED");
    assert_eq!(outcome["execution_success"], false);
    assert_eq!(outcome["process_result"], "BLOCKED");
    has(&story.observed(), "EVENT Process blocked at Weigh: There is no licence");
    let parts = json!({
        "5.1.1": {"status": "COMPLETED", "output": {"files": 3}},
        "5.1.2": {"status": "FAILED", "partial_output": {"weighed": 1}, "error": "There is no licence"},
    });
    assert_eq!(
        *story.outputs(),
        json!({
            "completed_steps": ["5.1.1"], "partial_outputs": parts, "failed_at": "5.1.2",
            "partial_results": parts, "error_step": "5.1.2", "error_count": 1,
        })
    );
}

#[test]
fn several_triggers_at_once_are_taken_by_weight_then_in_order() {
    let all = || {
        vec![
            trigger("One", "ESCALATE", "LOW"),
            trigger("Two", "ESCALATE", "LOW"),
            with(trigger("Three", "RETURN", "LOW"), json!({"target": "5.1.1"})),
            trigger("Four", "DEFER", "LOW"),
            trigger("Five", "BLOCK", "LOW"),
        ]
    };
    let fired = |names: &[&str]| with(done("Looked"), json!({"triggers": names}));
    let events = |names: &[&str]| World::new(watched(all())).reports("5.1.1", fired(names)).run().events();
    assert_eq!(events(&["One", "Three", "Four", "Five"]), ["BLOCK 5.1.1 > - LOW #1"]);
    assert_eq!(events(&["One", "Three", "Four"])[0], "DEFER 5.1.1 > - LOW #1");
    assert_eq!(events(&["One", "Three"]), ["RETURN 5.1.1 > 5.1.1 LOW #1"]);
    let story = World::new(watched(all())).reports("5.1.1", fired(&["Two", "One"])).run();
    assert_eq!(
        story.asked(),
        [
            "Look: Something needs your attention: One. -> approve",
            "Look: Something needs your attention: Two. -> approve"
        ]
    );
}

/// PX-63, PX-134.
#[test]
fn px_63_px_134_a_trigger_acts_although_the_criteria_are_not_met() {
    let look =
        with(alone("5.1.1", "Look", "Analyse"), json!({"completion_criteria": ["Every file was read"]}));
    let report = with(holds(ODD), json!({"criteria": [{"criterion": "Every file was read", "met": false}]}));
    let story = World::new(definition(vec![watching(look, vec![trigger(ODD, "ESCALATE", "LOW")])]))
        .reports("5.1.1", report)
        .run();
    // One answer settles what its question names; the criteria are a matter of their own.
    assert_eq!(
        story.asked(),
        [
            "Look: Something needs your attention: The figures look odd. -> approve",
            "Look: An unexpected error occurred: Completion criteria not satisfied: Every file was read. How should I \
             proceed? -> retry",
        ]
    );
    assert_eq!(
        story.errors(),
        ["5.1.1: ValidationError - Completion criteria not satisfied: Every file was read"]
    );
    assert_eq!(story.steps(), ["5.1.1 COMPLETED #1"]);
}

#[test]
fn a_trigger_with_a_condition_is_computed_and_no_agents_word_is_needed() {
    let computed = with(trigger("Too many faults", "BLOCK", "LOW"), json!({"when": "outputs.faults > 3"}));
    for (faults, end) in [(3, End::Completed), (4, End::Blocked)] {
        let story = World::new(watched(vec![computed.clone()]))
            .condition("outputs.faults > 3", |about| about["outputs"]["faults"].as_u64().unwrap() > 3)
            .reports("5.1.1", with(done("Counted"), json!({"outputs": {"faults": faults}})))
            .run();
        assert_eq!(story.ended.status, end);
        // The agent is not told to watch for it.
        assert_eq!(story.call("5.1.1", 0).brief.triggers, Vec::<String>::new());
    }
}
