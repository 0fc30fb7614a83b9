//! Entry criteria: approval, trust that is bound to the definition, and what is computed or judged.

use serde_json::Map;
use serde_json::Value;
use serde_json::json;
use seriatim_core::process::Definition;
use seriatim_flows::registry::End;

use crate::build::alone;
use crate::build::definition;
use crate::build::judged;
use crate::build::shares;
use crate::story::has;
use crate::world::World;

const EXISTS: &str = "A change exists";
const REVIEWED: &str = "It was reviewed";
const ENTRY: &str = "entry-criteria";

fn guarded(criteria: Value) -> Value {
    let mut definition = definition(vec![alone("5.1.1", "Build", "Generate")]);
    definition["quality"] = json!({"entry_criteria": criteria});
    definition
}

fn two() -> Value {
    guarded(json!([EXISTS, REVIEWED]))
}

fn digest(definition: &Value) -> String {
    let text = seriatim_core::doc::write(definition);
    Definition::parse(text.as_bytes()).0.unwrap().digest().to_string()
}

/// PX-114, PX-115, PX-116.
#[test]
fn px_114_px_115_px_116_the_first_run_is_approved_criterion_by_criterion() {
    let story = World::new(two()).answers_with("please confirm", "approve", "fine with me").run();
    assert_eq!(
        story.asked(),
        [
            "Before it begins: Before executing 'Get the change into the release', please confirm:\n - A change exists\n - \
          It was reviewed\nDo you approve? For future runs: review each time, or trust this approval? -> approve"
        ]
    );
    let labels: Vec<&str> = story.seen.questions[0].0.options.iter().map(|o| o.label.as_str()).collect();
    assert_eq!(labels, ["Approve (review each run)", "Approve (trust for future)", "Do not approve"]);
    // The answer is bound to the definition and to the inputs that it was given for.
    assert_eq!(story.seen.questions[0].0.about.len(), 2);
    let decision = &story.decisions()[0];
    assert_eq!(decision["actor"], "human:ada");
    assert_eq!(decision["outcome"], "Approved for this run");
    assert_eq!(decision["rationale"], "fine with me");
    let approval = &story.instance()["approval"];
    assert_eq!(approval["trust_level"], "REVIEW_EACH");
    assert_eq!(approval["approved_by"], "human:ada");
    assert_eq!(approval["approval_decision_id"], decision["id"]);
    assert_eq!(approval["definition_digest"], digest(&two()));
    // A person has confirmed them, so nobody judges them once more.
    assert_eq!(story.called(), ["5.1.1/1"]);
}

#[test]
fn px_115_without_approval_nothing_begins() {
    let story = World::new(two()).answers("please confirm", "reject").run();
    assert_eq!(story.called(), Vec::<String>::new());
    assert_eq!(story.ended.status, End::Blocked);
    assert_eq!(story.events(), ["BLOCK - > - - #1"]);
    assert_eq!(story.decisions()[0]["outcome"], "Not approved");
    assert_eq!(
        story.ended.message,
        "The process could not continue because ada did not approve it. Manual intervention required."
    );
    assert_eq!(story.instance()["status"], "FAILED");
    assert_eq!(story.instance().get("approval"), None);
}

/// PX-114, K-76.
#[test]
fn px_114_k_76_it_is_asked_again_while_there_is_no_trust() {
    for (level, asked) in [("REVIEW_EACH", true), ("TRUST_APPROVED", false)] {
        let story = World::new(two()).trusted(level, Some(&digest(&two()))).run();
        assert_eq!(!story.asked().is_empty(), asked, "{level}");
    }
    let mut unset = World::new(two());
    unset.instance["instance"]["run_count"] = json!(4);
    assert_eq!(unset.run().asked().len(), 1);
    // Trust before the first run is none.
    let mut first = World::new(two()).trusted("TRUST_APPROVED", None);
    first.instance["instance"]["run_count"] = json!(0);
    assert_eq!(first.run().asked().len(), 1);
}

#[test]
fn e_22_a_definition_that_has_changed_is_approved_again() {
    let story = World::new(two()).trusted("TRUST_APPROVED", Some(&digest(&definition(vec![])))).run();
    assert_eq!(story.asked().len(), 1);
    assert!(story.asked()[0].contains("The process itself has changed since it was last approved."));
    assert_eq!(story.instance()["approval"]["definition_digest"], digest(&two()));
    assert_eq!(story.instance()["approval"]["trust_level"], "REVIEW_EACH");
}

#[test]
fn trust_without_a_digest_is_believed_once_and_bound() {
    let story = World::new(two()).trusted("TRUST_APPROVED", None).run();
    assert_eq!(story.asked(), Vec::<String>::new());
    assert_eq!(story.instance()["approval"]["definition_digest"], digest(&two()));
    assert_eq!(story.instance()["approval"]["trust_level"], "TRUST_APPROVED");
}

/// PX-117, PX-119.
#[test]
fn px_117_px_119_with_trust_every_criterion_is_judged_before_anything_begins() {
    let story = World::new(two())
        .inputs(json!({}))
        .trusted("TRUST_APPROVED", None)
        .reports(ENTRY, judged(&[EXISTS, REVIEWED], true, 90, "it is there"))
        .run();
    assert_eq!(story.called(), ["entry-criteria/1", "5.1.1/1"]);
    let call = story.call(ENTRY, 0);
    assert_eq!(call.brief.criteria, [EXISTS, REVIEWED]);
    assert!(call.judge_all);
    // Judging makes no record of a step.
    assert_eq!(story.steps(), ["5.1.1 COMPLETED #1"]);
}

/// PX-113, PX-117, PX-149.
#[test]
fn px_113_px_117_px_149_below_the_threshold_a_person_is_asked_with_what_is_known() {
    let mut reviewed = guarded(json!([REVIEWED]));
    reviewed["interfaces"] = json!({"inputs": [{"type": "change_path"}]});
    // Little is tacit, so much confidence is needed: 100 - 10, capped at 90.
    let story = World::new(reviewed)
        .inputs(json!({"change_path": "src/a.rs"}))
        .trusted("TRUST_APPROVED", None)
        .reports(ENTRY, judged(&[REVIEWED], true, 89, "nobody has signed it."))
        .run();
    assert_eq!(
        story.asked(),
        [
            "Before it begins: I'm uncertain if 'It was reviewed' is met because nobody has signed it. I'm checking 'Get \
          the change into the release'. Could you tell me whether it is met? -> approve"
        ]
    );
    assert_eq!(story.seen.questions[0].0.details, "What was given\n  change path: src/a.rs");
    let seen = story.observations();
    let said = seen.iter().find(|o| o["subject"] == "Entry criterion confirmed by a person").unwrap();
    assert_eq!(said["value"], json!({"criterion": REVIEWED, "met": true, "by": "ada", "words": null}));
    assert_eq!(story.ended.status, End::Completed);
}

/// PX-113, K-75.
#[test]
fn px_113_k_75_the_threshold_falls_with_what_is_tacit_and_never_below_the_floor() {
    for (tacit, emergent, confidence, asked) in
        [(35, 0, 65, 0), (35, 0, 64, 1), (60, 0, 50, 0), (60, 0, 49, 1), (60, 20, 80, 0), (60, 20, 79, 1)]
    {
        let definition = shares(guarded(json!([EXISTS])), 100 - tacit - emergent, tacit, emergent);
        let story = World::new(definition)
            .trusted("TRUST_APPROVED", None)
            .reports(ENTRY, judged(&[EXISTS], true, confidence, ""))
            .run();
        let about = story.asked().iter().filter(|q| q.contains("I'm uncertain")).count();
        assert_eq!(about, asked, "{tacit} {emergent} {confidence}");
    }
}

#[test]
fn px_118_what_a_person_calls_not_met_blocks() {
    let story = World::new(two())
        .trusted("TRUST_APPROVED", None)
        .reports(ENTRY, judged(&[EXISTS, REVIEWED], true, 20, "I cannot tell"))
        .answers("It was reviewed", "reject")
        .run();
    assert_eq!(story.asked().len(), 2);
    assert_eq!(story.called(), ["entry-criteria/1"]);
    assert_eq!(
        story.ended.message,
        "The process could not continue because what must be true at the beginning is not: It was reviewed. Manual \
         intervention required."
    );
}

#[test]
fn px_119_what_is_surely_not_met_blocks_unasked() {
    let story = World::new(two())
        .trusted("TRUST_APPROVED", None)
        .reports(ENTRY, judged(&[EXISTS, REVIEWED], false, 99, "there is none"))
        .run();
    assert_eq!(story.asked(), Vec::<String>::new());
    assert_eq!(story.ended.status, End::Blocked);
    assert_eq!(story.events(), ["BLOCK - > - - #1"]);
}

#[test]
fn px_117_what_nobody_could_judge_is_asked() {
    let story = World::new(guarded(json!([EXISTS])))
        .trusted("TRUST_APPROVED", None)
        .fails(ENTRY, seriatim_core::failure::Class::Crash, "it fell over")
        .run();
    assert!(
        story.asked()[0].contains("because it could not be judged: it fell over."),
        "{:?}",
        story.asked()
    );
    has(&story.errors(), "entry-criteria: CrashError - it fell over");
}

fn green(about: &Map<String, Value>) -> bool {
    about["inputs"]["build"] == "green"
}

/// PX-117, K-75.
#[test]
fn px_117_k_75_a_computed_criterion_needs_no_agent_and_no_confidence() {
    let computed = || {
        let mut d = guarded(json!([{"criterion": "The build is green", "when": "inputs.build == 'green'"}]));
        d["interfaces"] = json!({"inputs": [{"type": "build"}]});
        World::new(d).trusted("TRUST_APPROVED", None).condition("inputs.build == 'green'", green)
    };
    let met = computed().inputs(json!({"build": "green"})).run();
    assert_eq!((met.called(), met.asked()), (vec!["5.1.1/1".to_owned()], vec![]));
    let unmet = computed().inputs(json!({"build": "red"})).run();
    assert_eq!((unmet.called(), unmet.asked()), (vec![], vec![]));
    assert!(unmet.ended.message.contains("what must be true at the beginning is not: The build is green"));
}

#[test]
fn what_is_computed_to_be_false_blocks_before_anybody_is_asked_to_approve() {
    let mixed =
        guarded(json!([EXISTS, {"criterion": "The build is green", "when": "inputs.build == 'green'"}]));
    let story = World::new(mixed).condition("inputs.build == 'green'", green).run();
    assert_eq!(story.asked(), Vec::<String>::new());
    assert_eq!(story.ended.status, End::Blocked);
}

#[test]
fn what_cannot_be_computed_does_not_hold() {
    let story = World::new(guarded(json!([{"criterion": "It is small", "when": "size < 3"}])))
        .trusted("TRUST_APPROVED", None)
        .run();
    assert_eq!(story.ended.status, End::Blocked);
}
