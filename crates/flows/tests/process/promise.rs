//! Nothing is good by default (K-110): every role, every way in which it can fail to answer, and what follows.

use serde_json::Value;
use serde_json::json;
use seriatim_core::failure::Class;

use crate::build::alone;
use crate::build::definition;
use crate::build::done;
use crate::build::judged;
use crate::build::shares;
use crate::build::step;
use crate::build::with;
use crate::story::Story;
use crate::world::World;

const RIGHT: &str = "The change is right";

/// Writes, validates, decides, all by agents, and has a criterion at its end that an agent judges.
fn review() -> Value {
    let mut made = definition(vec![
        alone("5.1.1", "Write", "Generate"),
        alone("5.1.2", "Check", "Validate"),
        alone("5.1.3", "Sign", "Decide"),
    ]);
    made["definition"]["type"] = json!("review");
    made["interfaces"] = json!({"outputs": [{"type": "report"}]});
    made["quality"] = json!({"exit_criteria": [RIGHT]});
    made
}

fn written() -> Value {
    with(done("Wrote it"), json!({"outputs": {"report": "two lines"}}))
}

/// How an agent can fail to answer.
const TROUBLES: [&str; 10] = [
    "exit 1",
    "killed",
    "timeout",
    "not installed",
    "no report",
    "not JSON",
    "partial",
    "failed",
    "empty outputs",
    "contradictory outputs",
];

/// The agent of `role` is in this trouble whenever it is called.
fn in_trouble(world: World, role: &str, trouble: &str) -> World {
    let failing = |world: World, class: Class| {
        (0..4).fold(world, |world, _| world.fails(role, class, &format!("it did not answer: {trouble}")))
    };
    let answered = judged(&[RIGHT], true, 95, "");
    let criteria = if role == "exit-criteria" { answered["criteria"].clone() } else { json!([]) };
    match trouble {
        "exit 1" | "killed" => failing(world, Class::Crash),
        "timeout" => failing(world, Class::AgentDeadline),
        "not installed" => failing(world, Class::Contract),
        "no report" => failing(world, Class::Silent),
        "not JSON" => world.always(role, json!("all is well")),
        "partial" => world.always(
            role,
            json!({"status": "partial", "summary": "Half of it", "verdict": "PASS", "criteria": criteria,
                   "outputs": {"report": "half"}}),
        ),
        "failed" => world.always(
            role,
            json!({"status": "failed", "summary": "It cannot be done", "verdict": "PASS", "criteria": criteria}),
        ),
        "empty outputs" => world.always(role, json!({"status": "done", "confidence": 95, "outputs": {}})),
        "contradictory outputs" => world.always(
            role,
            json!({"status": "done", "confidence": 95, "verdict": "PASS", "criteria": criteria,
                   "outputs": {"pass": false}}),
        ),
        other => panic!("unknown trouble: {other}"),
    }
}

/// A person who lets the work go on wherever that is offered, and says nothing good about it.
fn played(role: &str, trouble: &str) -> Story {
    let world = World::new(review()).answers("unexpected error", "skip").answers("was achieved", "reject");
    let world = if role == "5.1.1" { world } else { world.always("5.1.1", written()) };
    in_trouble(world, role, trouble).run()
}

/// Calls of the role, what people were asked, and the result.
fn what_follows(role: &str, story: &Story) -> String {
    let calls = story.called().iter().filter(|call| call.starts_with(&format!("{role}/"))).count();
    let asked: Vec<String> = story
        .seen
        .questions
        .iter()
        .map(|(question, choice)| format!("{} -> {choice}", question.header))
        .collect();
    let asked = if asked.is_empty() { "nobody asked".to_owned() } else { asked.join(", ") };
    format!("{calls} calls; {asked}; {}", story.result())
}

#[test]
fn k_110_no_role_that_does_not_answer_makes_a_good_end() {
    let mut table = vec![];
    for role in ["5.1.1", "5.1.2", "5.1.3", "exit-criteria"] {
        for trouble in TROUBLES {
            let story = played(role, trouble);
            assert!(!story.ended.good, "{role} {trouble}: {}", story.ended.message);
            table.push(format!("{role} | {trouble} | {}", what_follows(role, &story)));
        }
    }
    assert_eq!(table.join("\n"), TABLE.trim());
}

/// Corrected where that can help, then asked; a person who lets it go on makes nothing good of it. What the work owes and
/// nobody gave makes the first rows bad.
const TABLE: &str = "
5.1.1 | exit 1 | 1 calls; Write -> skip; REJECTED
5.1.1 | killed | 1 calls; Write -> skip; REJECTED
5.1.1 | timeout | 1 calls; Write -> skip; REJECTED
5.1.1 | not installed | 1 calls; Write -> skip; REJECTED
5.1.1 | no report | 3 calls; Write -> skip; REJECTED
5.1.1 | not JSON | 3 calls; Write -> skip; REJECTED
5.1.1 | partial | 1 calls; Write -> skip; REJECTED
5.1.1 | failed | 1 calls; Write -> skip; REJECTED
5.1.1 | empty outputs | 1 calls; nobody asked; REJECTED
5.1.1 | contradictory outputs | 3 calls; Write -> skip; REJECTED
5.1.2 | exit 1 | 1 calls; Check -> skip; CHANGES_REQUESTED
5.1.2 | killed | 1 calls; Check -> skip; CHANGES_REQUESTED
5.1.2 | timeout | 1 calls; Check -> skip; CHANGES_REQUESTED
5.1.2 | not installed | 1 calls; Check -> skip; CHANGES_REQUESTED
5.1.2 | no report | 3 calls; Check -> skip; CHANGES_REQUESTED
5.1.2 | not JSON | 3 calls; Check -> skip; CHANGES_REQUESTED
5.1.2 | partial | 1 calls; Check -> skip; CHANGES_REQUESTED
5.1.2 | failed | 1 calls; Check -> skip; CHANGES_REQUESTED
5.1.2 | empty outputs | 3 calls; Check -> skip; CHANGES_REQUESTED
5.1.2 | contradictory outputs | 3 calls; Check -> skip; CHANGES_REQUESTED
5.1.3 | exit 1 | 1 calls; Sign -> skip; CHANGES_REQUESTED
5.1.3 | killed | 1 calls; Sign -> skip; CHANGES_REQUESTED
5.1.3 | timeout | 1 calls; Sign -> skip; CHANGES_REQUESTED
5.1.3 | not installed | 1 calls; Sign -> skip; CHANGES_REQUESTED
5.1.3 | no report | 3 calls; Sign -> skip; CHANGES_REQUESTED
5.1.3 | not JSON | 3 calls; Sign -> skip; CHANGES_REQUESTED
5.1.3 | partial | 1 calls; Sign -> skip; CHANGES_REQUESTED
5.1.3 | failed | 1 calls; Sign -> skip; CHANGES_REQUESTED
5.1.3 | empty outputs | 3 calls; Sign -> skip; CHANGES_REQUESTED
5.1.3 | contradictory outputs | 3 calls; Sign -> skip; CHANGES_REQUESTED
exit-criteria | exit 1 | 1 calls; At the end -> reject; REJECTED
exit-criteria | killed | 1 calls; At the end -> reject; REJECTED
exit-criteria | timeout | 1 calls; At the end -> reject; REJECTED
exit-criteria | not installed | 1 calls; At the end -> reject; REJECTED
exit-criteria | no report | 3 calls; At the end -> reject; REJECTED
exit-criteria | not JSON | 3 calls; At the end -> reject; REJECTED
exit-criteria | partial | 1 calls; At the end -> reject; REJECTED
exit-criteria | failed | 1 calls; At the end -> reject; REJECTED
exit-criteria | empty outputs | 3 calls; At the end -> reject; REJECTED
exit-criteria | contradictory outputs | 3 calls; At the end -> reject; REJECTED";

fn validation(steps: Vec<Value>) -> Value {
    let mut made = definition(steps);
    made["definition"]["type"] = json!("validation");
    made
}

fn checked(report: Value) -> Story {
    World::new(validation(vec![alone("5.1.1", "Check", "Validate")]))
        .always("5.1.1", report)
        .answers("unexpected error", "skip")
        .run()
}

/// A report that says PASS and something against it is corrected, then a person is asked; it is never a pass.
#[test]
fn k_110_a_validation_that_contradicts_itself_is_corrected_then_asked_about() {
    for against in [
        json!({"outputs": {"pass": false, "errors": ["a"]}}),
        json!({"outputs": {"verdict": "FAIL"}}),
        json!({"outputs": {"approved": false}}),
        json!({"outputs": {"success": false}}),
        json!({"outputs": {"report": {"summary": {"passed": false}}}}),
        json!({"outputs": {"findings": [{"severity": "critical", "title": "Weak hash"}]}}),
        json!({"outputs": {"issues": [{"severity": "high", "title": "Weak hash"}]}}),
        json!({"outputs": {"problems": ["CRITICAL: weak hash"]}}),
        json!({"error": {"class": "permanent", "message": "It crashed"}}),
        json!({"errors": ["It crashed"]}),
    ] {
        let story = checked(with(with(done("All is fine"), json!({"verdict": "PASS"})), against.clone()));
        assert_eq!(story.called().len(), 3, "{against}");
        let feedback = &story.call("5.1.1", 1).brief.feedback;
        assert!(
            feedback[0].starts_with("the report contradicts itself: `verdict` says PASS, and"),
            "{feedback:?}"
        );
        assert_eq!(story.seen.questions.len(), 1, "{against}");
        assert_eq!((story.result(), story.ended.good), ("PARTIAL", false), "{against}");
    }
}

/// What an honest validation tells beside its PASS costs it nothing.
#[test]
fn k_110_a_validation_that_tells_of_small_things_passes_at_once() {
    for outputs in [
        json!({"failed": 0, "errors": [], "findings": [], "error": null}),
        json!({"findings": [{"severity": "low", "title": "A name"}], "notes": "No test may fail"}),
        json!({"issues": [{"severity": "critical", "title": "Hash", "status": "fixed"}], "pass": true}),
    ] {
        let story = checked(with(done("All is fine"), json!({"verdict": "PASS", "outputs": outputs})));
        assert_eq!((story.result(), story.called().len()), ("PASS", 1));
    }
}

#[test]
fn k_110_a_word_in_the_outputs_of_another_step_never_counts() {
    let steps = vec![alone("5.1.1", "Check", "Validate"), alone("5.1.2", "Keep", "Preserve")];
    for (verdict, word, result) in [("FAIL", "PASS", "FAIL"), ("PASS", "FAIL", "PASS")] {
        let story = World::new(validation(steps.clone()))
            .reports("5.1.1", with(done("Looked"), json!({"verdict": verdict})))
            .reports(
                "5.1.2",
                with(done("Kept"), json!({"outputs": {"process_result": word, "verdict": word}})),
            )
            .run();
        assert_eq!(story.result(), result);
    }
}

#[test]
fn k_110_a_validation_owes_its_verdict_and_answered_criteria_are_one() {
    let story = checked(done("Looked at it"));
    assert_eq!(story.called(), ["5.1.1/1", "5.1.1/2", "5.1.1/3"]);
    let feedback = &story.call("5.1.1", 1).brief.feedback;
    assert_eq!(
        feedback[..],
        [
            r#"`verdict` is missing; this step judges, so it must say one of "PASS", "FAIL", "PARTIAL", with the reason in `summary`"#
        ]
    );
    let prompt = &story.call("5.1.1", 0).brief.prompt;
    assert!(prompt.contains("This step judges. Say in the report whether it passes"), "{prompt}");

    let step = with(alone("5.1.1", "Check", "Validate"), json!({"completion_criteria": [RIGHT]}));
    let story = World::new(validation(vec![step]))
        .reports("5.1.1", with(judged(&[RIGHT], true, 95, ""), json!({"confidence": 95})))
        .run();
    assert_eq!((story.result(), story.called().len()), ("PASS", 1));
}

#[test]
fn k_110_a_validation_without_anything_that_judges_is_not_passed() {
    let story = World::new(validation(vec![alone("5.1.1", "Look", "Analyse")])).run();
    assert_eq!((story.result(), story.ended.good), ("PARTIAL", false));
    assert!(story.summary().contains("Not good: nothing was checked."), "{}", story.summary());
}

#[test]
fn a_validation_that_its_condition_leaves_out_is_told_and_never_counted_as_passed() {
    let step = with(alone("5.1.1", "Check", "Validate"), json!({"when": "inputs.deep"}));
    let story = World::new(validation(vec![step.clone()])).condition("inputs.deep", |_| false).run();
    assert_eq!((story.result(), story.ended.good), ("PARTIAL", false));
    assert!(
        story.summary().contains("nothing was checked: the condition for 'Check' does not hold."),
        "{}",
        story.summary()
    );
    let other = alone("5.1.2", "Check the rest", "Validate");
    let story = World::new(validation(vec![step.clone(), other])).condition("inputs.deep", |_| false).run();
    assert_eq!((story.result(), story.ended.good), ("PASS", true));
    assert!(
        story.summary().contains("Not run: the condition for 'Check' does not hold."),
        "{}",
        story.summary()
    );
    // A condition that cannot be computed is no lawful absence.
    let story = World::new(validation(vec![step, alone("5.1.2", "Check the rest", "Validate")])).run();
    assert_eq!((story.result(), story.ended.good), ("PARTIAL", false));
}

#[test]
fn a_person_who_validates_says_whether_it_passes() {
    let steps = || vec![step("5.1.1", "Check", "Validate", "Human-Only")];
    for (choice, text, result, reason) in [
        ("pass", None, "PASS", None),
        ("fail", Some("three are red"), "FAIL", Some("ada says that 'Check' does not pass: three are red")),
        ("skip", None, "PARTIAL", Some("'Check' gave no verdict: left out by ada")),
    ] {
        let world = World::new(validation(steps()));
        let story = match text {
            Some(text) => world.answers_with("Check", choice, text).run(),
            None => world.answers("Check", choice).run(),
        };
        assert_eq!((story.result(), story.ended.good), (result, result == "PASS"));
        match reason {
            Some(reason) => assert!(story.summary().contains(reason), "{}", story.summary()),
            None => assert!(!story.summary().contains("on the agent's word"), "{}", story.summary()),
        }
    }
}

#[test]
fn a_decision_of_a_person_accepts_what_its_question_names_and_that_stays_visible() {
    let steps = vec![alone("5.1.1", "Check", "Validate"), step("5.1.2", "Sign", "Decide", "Human-Only")];
    let failing = || {
        World::new(definition(steps.clone()))
            .reports("5.1.1", with(done("two are red"), json!({"verdict": "FAIL"})))
    };
    let story = failing().answers_with("Sign", "approve", "they are known").run();
    let (question, _) = &story.seen.questions[0];
    assert!(
        question.question.ends_with("Still open: 'Check' does not pass: two are red."),
        "{}",
        question.question
    );
    assert_eq!((story.result(), story.ended.good), ("APPROVED", true));
    let accepted = "overridden by ada: they are known ('Check' does not pass: two are red)";
    assert!(
        story.ended.message.contains(&format!("With a person's word: {accepted}.")),
        "{}",
        story.ended.message
    );
    assert_eq!(story.instance()["outcome"]["verdict"]["accepted"], json!([accepted]));
    let story = failing().answers("Sign", "reject").run();
    assert_eq!((story.result(), story.ended.good), ("REJECTED", false));
}

#[test]
fn a_result_that_nobody_was_sure_of_is_accepted_unchecked_and_named() {
    let made = shares(validation(vec![alone("5.1.1", "Check", "Validate")]), 50, 50, 0);
    let story = World::new(made)
        .reports("5.1.1", with(done("Looks well"), json!({"verdict": "PASS", "confidence": 10})))
        .run();
    assert_eq!((story.result(), story.ended.good), ("PASS", true));
    let accepted =
        "accepted unchecked by ada: 'Check', of which the agent was not sure (confidence: 10 of 100)";
    assert!(story.summary().contains(accepted), "{}", story.summary());
    assert_eq!(story.instance()["outcome"]["verdict"]["accepted"], json!([accepted]));
    assert_eq!(story.instance()["outcome"]["verdict"]["rests_on"], "the agent's word");
}

#[test]
fn a_failed_validation_follows_the_policy_of_its_definition_and_its_last_verdict_counts() {
    let mut made = validation(vec![alone("5.1.1", "Write", "Generate"), alone("5.1.2", "Check", "Validate")]);
    made["control_flow"] =
        json!({"retry_policy": {"on_validation_failure": {"return_to": "5.1.1", "max_iterations": 2}}});
    let story = World::new(made)
        .reports("5.1.2", with(done("Red"), json!({"verdict": "FAIL"})))
        .reports("5.1.2", with(done("Green"), json!({"verdict": "PASS"})))
        .run();
    assert_eq!(story.called(), ["5.1.1/1", "5.1.2/1", "5.1.1/1", "5.1.2/1"]);
    assert_eq!((story.result(), story.ended.good), ("PASS", true));
}

#[test]
fn a_computed_criterion_is_evidence_and_needs_no_word_of_the_agent() {
    let check = with(
        alone("5.1.1", "Check", "Validate"),
        json!({"completion_criteria": [{"criterion": "No faults", "when": "outputs.faults == 0"}]}),
    );
    let story = World::new(validation(vec![check]))
        .condition("outputs.faults == 0", |about| about["outputs"]["faults"] == 0)
        .reports("5.1.1", json!({"status": "done", "verdict": "PASS", "outputs": {"faults": 0}}))
        .run();
    assert_eq!((story.result(), story.ended.good), ("PASS", true));
}
