//! The Actor: limits, forbidden commands, blockers and the document that it must leave alone.

use serde_json::json;
use seriatim_core::failure::Class;
use seriatim_flows::cycle::DOCUMENT;

use crate::world::Outside;
use crate::world::World;

fn too_much(outside: &mut Outside) {
    for path in ["a.sh", "b.sh", "c.sh"] {
        outside.write(path, &"echo\n".repeat(60));
    }
}

// CY-42, CY-46, CY-65, CY-72
#[test]
fn cy_42_work_beyond_the_limits_is_undone_and_goes_back_to_the_planner() {
    let story = World::new().does("actor", json!({"result": "SUCCESS"}), too_much).run();
    assert_eq!(story.called(), ["planner", "actor", "planner", "actor", "judge"]);
    assert_eq!(
        story.told()[3..5],
        [
            "The change of 180 lines was undone because it exceeds the limits. [snapshot s2]",
            "The step failed and goes back to the Planner: 180 lines in 3 files were changed; the limit is 150 lines or 2 files.",
        ]
    );
    assert!(
        story
            .brief("planner", 1)
            .contains("180 lines in 3 files were changed; the limit is 150 lines or 2 files.")
    );
    assert!(!story.files.contains_key("a.sh"));
    let document = story.archived("2026-01-18_cycle-001.md");
    assert!(document.contains("+++ b/a.sh"), "the document keeps the diff:\n{document}");
    assert_eq!(story.seen.deliveries[0].paths, ["greet.sh"]);
}

// CY-47, CY-71
#[test]
fn cy_71_a_forbidden_command_that_the_actor_ran_is_for_a_person() {
    let story = World::new()
        .shows("actor", "rm -rf /var/cache")
        .says("The work was held", "changes", "Use the package manager.")
        .run();
    let why = "A command was used that is forbidden (rm -rf): rm -rf /var/cache";
    assert_eq!(story.question("The work was held").question, format!("{why}. How should it go on?"));
    assert_eq!(
        story.told()[3..5],
        [
            format!("The step needs a person's decision: {why}."),
            "ada asked for another way. [Use the package manager.]".to_owned(),
        ]
    );
    assert!(story.brief("planner", 1).contains(&format!("{why} A person said: Use the package manager.")));
    assert_eq!(story.blocks("2026-01-18_cycle-001.md")[2], "Actor FAIL > Human");
}

// CY-71
#[test]
fn cy_71_a_forbidden_command_that_a_person_allows_may_be_used_from_then_on() {
    let story = World::new()
        .shows("actor", "rm -rf /var/cache")
        .answers("The work was held", "approve")
        .shows("actor", "rm -rf /var/cache")
        .run();
    assert_eq!(story.asked(), ["The work was held -> approve", "Approval -> commit"]);
    assert!(story.brief("planner", 1).contains("A person approved it."));
    assert!(story.ended.good);
}

// CY-45, CY-48, CY-49, CY-69, K-59
#[test]
fn cy_45_a_fail_goes_where_its_class_says() {
    let fail = |class: &str| json!({"result": "FAIL", "blocker": {"class": class, "explanation": "greet.sh is locked"}});
    let adjustable = World::new().reports("actor", fail("adjustable")).run();
    assert_eq!(adjustable.called(), ["planner", "actor", "planner", "actor", "judge"]);
    assert_eq!(adjustable.blocks("2026-01-18_cycle-001.md")[2], "Actor FAIL > Planner");
    let unknown = World::new().reports("actor", fail("weather")).run();
    assert_eq!(unknown.told(), adjustable.told());
    let approval =
        World::new().reports("actor", fail("approval")).answers("The work was held", "approve").run();
    assert_eq!(approval.facts("work_failed")[0]["blocker"], "approval");
    assert!(approval.brief("planner", 1).contains("greet.sh is locked A person approved it."));
}

// CY-45
#[test]
fn cy_45_an_actor_without_a_result_or_a_reason_has_failed() {
    let story = World::new().reports("actor", json!({})).reports("actor", json!({"result": "DONE"})).run();
    let why: Vec<_> = story.facts("work_failed").iter().map(|fact| fact["why"].clone()).collect();
    assert_eq!(
        why,
        [
            "The result must be SUCCESS or FAIL; it was missing.",
            "The result must be SUCCESS or FAIL; it was DONE."
        ]
    );
}

// CY-18
#[test]
fn cy_18_an_actor_that_crashes_costs_a_try_and_no_part_of_the_document() {
    let story = World::new().fails("actor", Class::Crash, "it ended with exit code 7").run();
    assert_eq!(story.called(), ["planner", "actor", "planner", "actor", "judge"]);
    assert_eq!(
        story.told()[3..5],
        [
            "Attempt 1 of actor failed: it ended with exit code 7.",
            "The step failed and goes back to the Planner: it ended with exit code 7.",
        ]
    );
    assert_eq!(
        story.blocks("2026-01-18_cycle-001.md")[..4],
        [
            "Human INIT > Planner",
            "Planner PLAN_CREATED > Actor",
            "Actor FAIL > Planner",
            "Planner PLAN_UPDATED > Actor"
        ]
    );
}

// CY-17, E-27
#[test]
fn cy_17_an_actor_that_changes_the_document_has_failed_and_the_document_is_restored() {
    let story = World::new()
        .does("actor", json!({"result": "SUCCESS"}), |outside| {
            let text = outside.files[DOCUMENT].replace("Make greet.sh", "Break greet.sh");
            outside.write(DOCUMENT, &text);
        })
        .run();
    assert_eq!(
        story.told()[3..5],
        [
            "The document of the cycle was changed from outside and was written anew. [earlier text was changed at line 11]",
            "The step failed and goes back to the Planner: The Actor changed earlier parts of the cycle document; they were restored.",
        ]
    );
    assert!(!story.archived("2026-01-18_cycle-001.md").contains("Break greet.sh"));
}

// CY-17
#[test]
fn cy_17_text_that_another_process_adds_is_recorded_and_removed() {
    let story = World::new()
        .meanwhile("Approval", "commit", |outside| {
            let text = format!("{}\nP.S. well done\n", outside.files[DOCUMENT]);
            outside.write(DOCUMENT, &text);
        })
        .run();
    let tampered = story.facts("document_tampered");
    assert_eq!(
        tampered,
        [json!({"fact": "document_tampered", "cycle": 1, "what": "text was added by another process"})]
    );
    assert!(story.ended.good && !story.archived("2026-01-18_cycle-001.md").contains("P.S."));
}
