//! Who does a step: agents, people, and both.

use serde_json::json;
use seriatim_flows::registry::End;

use crate::build::alone;
use crate::build::definition;
use crate::build::done;
use crate::build::step;
use crate::build::trigger;
use crate::build::watching;
use crate::build::with;
use crate::story::has;
use crate::world::World;

/// PX-54, PX-97.
#[test]
fn px_54_px_97_a_person_decides_alone_and_the_decision_is_on_record() {
    let steps = vec![alone("5.1.1", "Look", "Analyse"), step("5.1.2", "Sign", "Decide", "Human-Only")];
    let story = World::new(definition(steps))
        .reports("5.1.1", with(done("Looked"), json!({"outputs": {"risk_level": "low"}})))
        .answers_with("Sign", "approve", "good enough")
        .run();
    assert_eq!(story.called(), ["5.1.1/1"]);
    // What there is so far is shown with the question.
    assert_eq!(story.question("Sign").details, "Look\n  risk level: low");
    let decisions = story.decisions();
    assert_eq!(decisions.len(), 1);
    assert_eq!(decisions[0]["actor"], "human:ada");
    assert_eq!(decisions[0]["outcome"], "Approved");
    assert_eq!(decisions[0]["rationale"], "good enough");
    assert_eq!(story.step_records()[1]["decisions"][0], decisions[0]["id"]);
    assert_eq!(story.step_records()[1]["outcome_summary"], "Approved by ada: good enough");
}

#[test]
fn px_53_a_person_drives_and_the_words_are_the_result() {
    let steps =
        vec![step("5.1.1", "Interview", "Elicit", "Human-Led"), alone("5.1.2", "Write up", "Generate")];
    let story = World::new(definition(steps)).answers_with("Interview", "done", "they want it blue").run();
    assert_eq!(story.called(), ["5.1.2/1"]);
    let answers = &story.call("5.1.2", 0).brief.inputs["answers"];
    assert_eq!(*answers, json!({"5.1.1": {"choice": "done", "text": "they want it blue", "by": "ada"}}));
    has(&story.observed(), "EVENT Interview: Done by ada: they want it blue");
}

#[test]
fn px_54_a_person_may_leave_it_out_or_stop() {
    let steps = || {
        definition(vec![
            step("5.1.1", "Interview", "Elicit", "Human-Only"),
            alone("5.1.2", "Tell", "Generate"),
        ])
    };
    let skipped = World::new(steps()).answers("Interview", "skip").run();
    assert_eq!(skipped.steps(), ["5.1.1 SKIPPED #1", "5.1.2 COMPLETED #1"]);
    let stopped = World::new(steps()).answers("Interview", "cancel").run();
    assert_eq!(stopped.ended.status, End::Failed);
    assert_eq!(stopped.errors(), ["5.1.1: FATAL - ada stopped the work here"]);
}

#[test]
fn a_person_who_does_a_step_can_say_that_a_trigger_holds() {
    let back = with(trigger("They changed their mind", "RETURN", "LOW"), json!({"target": "5.1.1"}));
    let steps = vec![
        alone("5.1.1", "Prepare", "Generate"),
        watching(step("5.1.2", "Interview", "Elicit", "Human-Only"), vec![back]),
    ];
    let story = World::new(definition(steps)).answers("Interview", "They changed their mind").run();
    assert_eq!(story.events(), ["RETURN 5.1.2 > 5.1.1 LOW #1"]);
    has(&story.observed(), "EVENT Interview: They changed their mind - said by ada.");
    let (asked, _) = &story.seen.questions[0];
    assert_eq!(asked.options[2].description, "The work goes back to an earlier step.");
}

/// PX-51, PX-57.
#[test]
fn px_51_px_57_an_agent_may_have_a_question_and_is_given_the_answer() {
    let asks = with(
        done("Looked"),
        json!({"questions": [{"question": "Which of the two is right", "options": [{"label": "The first"}]}]}),
    );
    let steps = vec![step("5.1.1", "Look", "Analyse", "AI-Led")];
    let story =
        World::new(definition(steps)).reports("5.1.1", asks).answers("Which of the two", "The first").run();
    assert_eq!(story.asked(), ["Look: Which of the two is right. -> option_1"]);
    assert_eq!(story.called(), ["5.1.1/1", "5.1.1/2"]);
    let said = "- Asked \"Which of the two is right\", a person said: The first\n";
    assert!(story.call("5.1.1", 1).brief.prompt.contains(said));
    assert_eq!(story.steps(), ["5.1.1 COMPLETED #1"]);
}

#[test]
fn px_50_alone_means_alone_and_an_open_question_is_only_noted() {
    let asks = with(done("Looked"), json!({"questions": [{"question": "Which one?"}]}));
    let story = World::new(definition(vec![alone("5.1.1", "Look", "Analyse")])).reports("5.1.1", asks).run();
    assert_eq!(story.asked(), Vec::<String>::new());
    has(&story.observed(), "EVENT Question left open: Which one?");
}

/// E-21, PX-05.
#[test]
fn e_21_px_05_ids_in_an_agents_question_never_reach_a_person() {
    let asks = with(
        done("Looked"),
        json!({"questions": [{
            "header": "PROC-5.1",
            "question": "Does step 5.1.2 of PINST-20260118-143052 need version 5.1.2 of libfoo?",
            "options": [{"label": "Yes", "description": "Then escalation_triggers of 5.1.2 hold, see EXEC-20260118-150001"}],
        }]}),
    );
    let steps = vec![step("5.1.1", "Look", "Analyse", "AI-Led"), alone("5.1.2", "Build", "Generate")];
    let story = World::new(definition(steps)).reports("5.1.1", asks).run();
    let (question, _) = &story.seen.questions[0];
    assert_eq!(question.header, "\"Handle a change\"");
    assert_eq!(
        question.question,
        "Does step \"Build\" of \"Get the change into the release\" need version 5.1.2 of libfoo?"
    );
}

/// PX-49, PX-62.
#[test]
fn px_49_px_62_a_step_whose_criteria_are_not_met_is_not_done() {
    let look = with(
        alone("5.1.1", "Look", "Analyse"),
        json!({"completion_criteria": ["Every file was read"], "validation": "The list is sorted"}),
    );
    let report = json!({
        "status": "done", "summary": "Most of it",
        "criteria": [{"criterion": "Every file was read", "met": false, "reason": "two are locked"},
                     {"criterion": "The list is sorted", "met": true}],
    });
    let story = World::new(definition(vec![look])).reports("5.1.1", report).run();
    assert_eq!(story.call("5.1.1", 0).brief.criteria, ["Every file was read", "The list is sorted"]);
    assert_eq!(
        story.asked(),
        [
            "Look: An unexpected error occurred: Completion criteria not satisfied: Every file was read (two are \
          locked). How should I proceed? -> retry"
        ]
    );
    assert_eq!(story.called(), ["5.1.1/1", "5.1.1/2"]);
    assert_eq!(story.steps(), ["5.1.1 COMPLETED #1"]);
}

#[test]
fn px_62_a_step_that_is_only_partly_done_is_not_done() {
    let partial = json!({"status": "partial", "summary": "Half of it", "outputs": {"half": 1}});
    let story = World::new(definition(vec![alone("5.1.1", "Look", "Analyse")]))
        .reports("5.1.1", partial)
        .answers("only partly done", "cancel")
        .run();
    assert_eq!(story.ended.status, End::Failed);
    assert_eq!(story.outputs()["partial_outputs"]["5.1.1"]["partial_output"], json!({"half": 1}));
}

#[test]
fn a_step_with_a_condition_is_left_out_where_it_does_not_hold() {
    let tell = with(alone("5.1.2", "Tell", "Generate"), json!({"when": "outputs.risk == 'high'"}));
    let steps = || definition(vec![alone("5.1.1", "Look", "Analyse"), tell.clone()]);
    let risky = |about: &serde_json::Map<String, serde_json::Value>| about["outputs"]["risk"] == "high";
    for (risk, expected) in [("high", "5.1.2 COMPLETED #1"), ("low", "5.1.2 SKIPPED #1")] {
        let story = World::new(steps())
            .condition("outputs.risk == 'high'", risky)
            .reports("5.1.1", with(done("Looked"), json!({"outputs": {"risk": risk}})))
            .run();
        assert_eq!(story.steps()[1], expected);
    }
}

#[test]
fn px_62_a_computed_criterion_is_not_left_to_the_agent() {
    let look = with(
        alone("5.1.1", "Look", "Analyse"),
        json!({"completion_criteria": [
            "Every file was read",
            {"criterion": "At least three files", "when": "outputs.files >= 3"},
        ]}),
    );
    let story = World::new(definition(vec![look]))
        .condition("outputs.files >= 3", |about| about["outputs"]["files"].as_u64().unwrap_or(0) >= 3)
        .reports("5.1.1", with(done("Looked"), json!({"outputs": {"files": 2}})))
        .answers("At least three files", "retry")
        .reports("5.1.1", with(done("Looked again"), json!({"outputs": {"files": 3}})))
        .run();
    assert_eq!(story.call("5.1.1", 0).brief.criteria, ["Every file was read"]);
    assert_eq!(story.called(), ["5.1.1/1", "5.1.1/2"]);
    assert_eq!(story.steps(), ["5.1.1 COMPLETED #1"]);
}
