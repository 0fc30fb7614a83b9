//! The approval and the delivery: what is approved is what is committed.

use serde_json::json;
use seriatim_core::failure::Class;
use seriatim_core::hash::Hash;
use seriatim_flows::registry::End;
use seriatim_flows::request::How;

use crate::world::World;

// CY-07, CY-80, CY-92
#[test]
fn cy_07_each_way_of_delivery_is_the_one_that_was_chosen() {
    for (choice, how, told) in [
        ("commit", How::Commit, "1 file was committed as c0ffee on main, not pushed. [greet.sh]"),
        ("merge", How::Merge, "1 file was committed and merged as c0ffee on main, not pushed. [greet.sh]"),
        ("squash", How::Squash, "1 file was squashed as c0ffee on main, not pushed. [greet.sh]"),
    ] {
        let story = World::new().answers("Approval", choice).run();
        let delivery = &story.seen.deliveries[0];
        assert_eq!(
            (delivery.how, delivery.tree.as_str()),
            (how, story.facts("approval")[0]["tree"].as_str().unwrap())
        );
        assert_eq!(delivery.paths, ["greet.sh"]);
        assert_eq!(delivery.trailers, [("Seriatim-Cycle".to_owned(), "001".to_owned())]);
        assert!(story.told().contains(&told.to_owned()), "{:#?}", story.told());
        assert_eq!(story.facts("delivered")[0]["how"], choice);
    }
}

// CY-07, CY-89
#[test]
fn cy_89_the_question_shows_the_evidence_and_the_answer_is_bound_to_the_tree_and_the_change() {
    let story = World::new().meanwhile("Approval", "commit", |outside| outside.minutes_pass(3)).run();
    let question = story.question("Approval");
    assert_eq!(
        question.details,
        "Existing Tests: 1 test ran, it passed\nLinter/Formatter: no such check is configured\n\
         Security Scans: no such check is configured\nPlanned changes: all planned files were changed\nCredentials: \n\
         Authorization: \nScope: 2 lines in 1 file.\n\
         Test files: nothing that the checks stand on changed unplanned\n\n\
         --- a/greet.sh\n+++ b/greet.sh\n@@ -1,1 +1,1 @@\n-echo hello\n+echo good morning\n"
    );
    let diff = "--- a/greet.sh\n+++ b/greet.sh\n@@ -1,1 +1,1 @@\n-echo hello\n+echo good morning\n";
    let tree = story.facts("approval")[0]["tree"].as_str().unwrap().to_owned();
    assert_eq!(question.about, [Hash::of(tree.as_bytes()), Hash::of(diff.as_bytes())]);
    assert_eq!(
        story.facts("approval"),
        [
            json!({"fact": "approval", "cycle": 1, "choice": "commit", "by": "ada", "tree": tree, "latency_ms": 180_000})
        ]
    );
}

// CY-07
#[test]
fn cy_07_a_request_for_changes_goes_back_to_the_planner_with_the_words() {
    let story = World::new().says("Approval", "changes", "Shorter.").run();
    assert_eq!(story.asked(), ["Approval -> changes", "Approval -> commit"]);
    assert!(story.brief("planner", 1).contains("A person asks for changes: Shorter."));
    assert_eq!(
        story.blocks("2026-01-18_cycle-001.md")[4..6],
        ["Human INIT > Planner", "Planner PLAN_UPDATED > Actor"]
    );
    assert_eq!(story.seen.deliveries.len(), 1);
}

// CY-80, E-43
#[test]
fn e_43_files_that_change_while_the_question_is_open_void_the_approval_and_are_judged_again() {
    let story = World::new()
        .meanwhile("Approval", "commit", |outside| outside.write("greet.sh", "echo good evening\n"))
        .run();
    assert_eq!(story.asked(), ["Approval -> commit", "Approval -> commit"]);
    assert_eq!(story.called(), ["planner", "actor", "judge", "judge"]);
    let void = &story.facts("approval_void")[0];
    assert_eq!(
        (&void["changed"], &void["shown"]),
        (&json!(["greet.sh"]), &story.facts("approval")[0]["tree"])
    );
    assert_eq!(story.seen.deliveries.len(), 1);
    assert_eq!(story.seen.deliveries[0].tree, story.facts("approval")[1]["tree"].as_str().unwrap());
    assert!(story.question("Approval").details.contains("+echo good morning"));
    assert!(story.played.questions()[1].0.details.contains("+echo good evening"));
    assert!(story.archived("2026-01-18_cycle-001.md").contains(
        "Files changed between the verdict and the approval, so that the approval is void: greet.sh."
    ));
    assert_eq!(story.view().fields["cycles"][0]["iterations"].as_array().unwrap().len(), 2);
}

// E-42
#[test]
fn e_42_a_delivery_that_fails_is_tried_again_under_the_same_approval() {
    let story = World::new()
        .delivery_fails(Class::Transport, "the remote is away")
        .delivery_fails(Class::Transport, "the remote is away")
        .answers("Not committed", "retry")
        .answers("Not committed", "retry")
        .run();
    assert_eq!(story.asked(), ["Approval -> commit", "Not committed -> retry", "Not committed -> retry"]);
    assert_eq!(story.seen.deliveries.len(), 3);
    assert_eq!(story.seen.deliveries[0], story.seen.deliveries[2]);
    assert_eq!(
        story.facts("error")[0],
        json!({"fact": "error", "effect": "delivery", "text": "delivery: TransportError - the remote is away"})
    );
    assert!(story.ended.good);
}

#[test]
fn a_commit_that_a_rule_refuses_goes_back_to_the_planner() {
    for choice in ["retry", "changes"] {
        let story = World::new()
            .delivery_fails(Class::Denied, "the hook says no")
            .says("Not committed", choice, "Sign it.")
            .run();
        assert_eq!(story.called(), ["planner", "actor", "judge", "planner", "actor", "judge"], "{choice}");
        assert!(
            story.brief("planner", 1).contains("The commit was refused: the hook says no Sign it."),
            "{choice}"
        );
        assert_eq!(story.facts("approval").len(), 2, "{choice}");
    }
}

// CY-95
#[test]
fn a_delivery_that_fails_may_end_the_cycle_without_a_commit() {
    let story = World::new()
        .delivery_fails(Class::Storage, "the disk is full")
        .answers("Not committed", "stop")
        .run();
    assert_eq!((story.ended.status, story.ended.good), (End::Cancelled, false));
    assert_eq!(story.ended.outcome["commit"], json!(null));
    assert_eq!(story.facts("delivered"), Vec::<serde_json::Value>::new());
    assert_eq!(story.facts("cycle_ended")[0]["end"], "incomplete");
}
