//! The Planner: questions, context, corrections, risk and forbidden commands.

use serde_json::json;
use seriatim_core::failure::Class;
use seriatim_flows::registry::End;

use crate::world::World;
use crate::world::step;

// CY-03, CY-31
#[test]
fn cy_31_questions_may_be_left_to_the_planners_judgement() {
    let story = World::new()
        .reports("planner", json!({"kind": "questions", "questions": ["To whom?"]}))
        .answers("Before the plan", "approve")
        .run();
    assert!(story.brief("planner", 1).contains("## The answer\nNo further word; use your judgement."));
    assert_eq!(
        story.told()[2..4],
        ["The Planner asks 1 question. [To whom?]", "ada left the answer to the Planner's judgement."]
    );
    assert_eq!(
        story.blocks("2026-01-18_cycle-001.md")[..4],
        [
            "Human INIT > Planner",
            "Planner PLAN_CREATED > Human",
            "Human INIT > Planner",
            "Planner PLAN_UPDATED > Actor"
        ]
    );
}

// CY-22
#[test]
fn cy_22_context_goes_to_the_role_that_lacks_it_and_to_no_other() {
    let need = |what: &str| json!({"kind": "context_request", "need": what});
    let story = World::new()
        .reports("planner", need("who reads it"))
        .says("Context is missing", "provide_input", "All users.")
        .reports("actor", need("the spelling"))
        .answers("Context is missing", "approve")
        .reports("judge", need("the tone"))
        .says("Context is missing", "provide_input", "Friendly.")
        .run();
    assert_eq!(story.called(), ["planner", "planner", "actor", "actor", "judge", "judge"]);
    assert!(story.brief("planner", 1).contains("## Context that you asked for\nwho reads it\nAll users.\n"));
    assert!(story.brief("actor", 1).contains("the spelling\nThere is none; go on without it.\n"));
    assert!(story.brief("judge", 1).contains("the tone\nFriendly.\n"));
    assert!(!story.brief("judge", 1).contains("All users."));
    let packs: Vec<String> =
        story.told().into_iter().filter(|line| line.contains("was answered what it lacked")).collect();
    assert_eq!(
        packs,
        [
            "The Planner was answered what it lacked: who reads it.",
            "The Actor was answered what it lacked: the spelling.",
            "The Judge was answered what it lacked: the tone.",
        ]
    );
}

// CY-20, CY-21, CY-33, CY-34, CY-37, CY-40, E-40
#[test]
fn cy_33_a_plan_with_faults_goes_back_to_the_planner_with_all_of_them() {
    let large =
        json!({"loc": 151, "files": ["greet.sh", "b.sh"], "creates": ["c.sh"], "success_criteria": []});
    let cites = json!({"instructions": "See greet.sh:99 and lib.sh:1."});
    let story = World::new().reports("planner", step(large)).reports("planner", step(cites)).run();
    assert_eq!(story.called(), ["planner", "planner", "planner", "actor", "judge"]);
    assert_eq!(
        story.facts("plan_rejected"),
        [
            json!({"fact": "plan_rejected", "cycle": 1, "why": [
                "The step is too large: 151 lines in 3 files are planned, and a step may have 150 lines or 2 files. Split it and give the first part.",
                "The step has no success criteria: say what the Judge should look at.",
                "`b.sh` does not exist: if the step makes it, name it in `creates`.",
            ]}),
            json!({"fact": "plan_rejected", "cycle": 1, "why": [
                "`greet.sh:99` is cited, but the file has 1 line.",
                "`lib.sh` is cited and does not exist: cite what is there, or name it in `creates`.",
            ]}),
        ]
    );
    assert!(story.brief("planner", 1).contains("The last attempt could not be used: `b.sh` does not exist"));
}

#[test]
fn a_plan_that_stays_unusable_is_for_a_person_whose_words_reach_the_planner() {
    let story = World::new()
        .reports("planner", json!({"kind": "poem"}))
        .reports("planner", json!({"kind": "poem"}))
        .reports("planner", json!({"kind": "poem"}))
        .says("No usable plan", "retry", "Plan one step, please.")
        .run();
    assert_eq!(
        story.question("No usable plan").question,
        "The plan could not be used even after corrections: `kind` must be `step`, `questions` or `context_request`. How should it go on?"
    );
    assert_eq!(story.facts("plan_rejected").len(), 3);
    assert!(story.brief("planner", 3).contains("## The answer\nPlan one step, please."));
    assert!(story.ended.good);
}

#[test]
fn a_planner_that_crashes_is_for_a_person_who_may_stop() {
    let story = World::new()
        .fails("planner", Class::Crash, "it ended with exit code 7")
        .answers("No usable plan", "stop")
        .run();
    assert_eq!(story.called(), ["planner"]);
    assert_eq!((story.ended.status, story.ended.good), (End::Cancelled, false));
    assert_eq!(
        story.told()[2..],
        [
            "Attempt 1 of planner failed: it ended with exit code 7.",
            "ada stopped the cycle without a usable plan.",
            "The document was archived as docs/context/archive/2026-01-18_cycle-001_incomplete.md.",
            "Cycle 001 ended incomplete.",
        ]
    );
}

// CY-35, CY-71, CY-84
#[test]
fn cy_84_a_step_of_high_risk_raises_an_alert_and_waits_for_approval() {
    let story = World::new()
        .reports("planner", step(json!({"risk": "high"})))
        .answers("A risky step", "approve")
        .run();
    assert_eq!(story.asked(), ["A risky step -> approve", "Approval -> commit"]);
    assert_eq!(
        story.told()[2..5],
        [
            "The Planner planned \"Greet politely\": 1 line in 1 file, high risk. [greet.sh]",
            "High Risk: A step of high risk is planned that no person has approved.",
            "ada approved the risky step \"Greet politely\".",
        ]
    );
    assert_eq!(
        story.blocks("2026-01-18_cycle-001.md")[1..4],
        ["Planner PLAN_CREATED > Actor", "Human INIT > Actor", "Actor SUCCESS > Judge"]
    );
    assert_eq!(
        story.view().alerts,
        ["High Risk: A step of high risk is planned that no person has approved."]
    );
}

// CY-41, CY-71
#[test]
fn cy_41_a_plan_with_a_forbidden_command_that_is_refused_is_planned_again() {
    let story = World::new()
        .reports("planner", step(json!({"commands": ["rm -rf build"]})))
        .says("A risky step", "changes", "Leave the build alone.")
        .run();
    assert!(story.question("A risky step").question.contains("forbidden without your word: rm -rf build."));
    assert_eq!(story.called(), ["planner", "planner", "actor", "judge"]);
    assert!(story.brief("planner", 1).contains("A person refused this step: Leave the build alone."));
    assert_eq!(
        story.facts("risk_decided"),
        [
            json!({"fact": "risk_decided", "cycle": 1, "choice": "changes", "by": "ada", "step": "Greet politely",
            "words": "Leave the build alone."})
        ]
    );
}

// CY-41: a command is approved once.
#[test]
fn cy_41_an_approved_command_is_not_asked_about_again() {
    let forbidden = || step(json!({"commands": ["rm -rf build"]}));
    let story = World::new()
        .reports("planner", forbidden())
        .reports("planner", forbidden())
        .answers("A risky step", "approve")
        .shows("actor", "rm -rf build")
        .insufficient(1)
        .run();
    assert_eq!(story.asked(), ["A risky step -> approve", "Approval -> commit"]);
    assert!(story.ended.good);
}
