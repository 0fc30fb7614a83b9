//! RED: a test that fails, on an assertion, or nothing is proven.

use seriatim_flows::registry::End;

use crate::repository::Files;
use crate::world::World;
use crate::world::test_of;

/// The test is there, and so is the code.
fn green(files: &mut Files) {
    files.insert("tests/test_add.py".to_owned(), test_of("add"));
    files.insert("src/add.py".to_owned(), "RESULT = 5\n".to_owned());
}

fn always_green() -> World {
    World::one().does("01-01 RED", green).does("01-01 RED", green).does("01-01 RED", green)
}

const GREEN_RED: &str = "Step 01-01, RED: refused. RED needs a test that fails, but the gate `tests` passes: 1 test \
                         ran, it passed. A test that passes before the code is written proves nothing about it. \
                         Write a test for behaviour that is missing yet, or mend the one that passes without it.";

/// DW-61: a test that passes at once is refused, and the next call is told why.
#[test]
fn dw_61_red_that_is_green_is_refused_and_the_next_attempt_may_pass() {
    let story = World::one().does("01-01 RED", green).run();
    assert_eq!(story.calls(), ["01-01 RED", "01-01 RED", "01-01 GREEN"]);
    assert_eq!(
        story.log_of(&["RED:"]),
        [
            "Step 01-01, RED: began.",
            "Step 01-01, RED: the gate tests ran: 1 test ran, it passed.",
            GREEN_RED,
            "Step 01-01, RED: began again, attempt 2.",
            "Step 01-01, RED: the gate tests ran: 1 test ran, 1 failed: test_add (tests/test_add.py).",
            "Step 01-01, RED: passed.",
        ]
    );
    let feedback = &story.world().called[1].brief.feedback;
    assert!(feedback[0].starts_with("RED needs a test that fails"), "{feedback:?}");
    assert_eq!(story.ended().status, End::Completed);
}

/// After three refusals RED that stays green is a question, and each of its options leads where it says.
#[test]
fn red_that_stays_green_is_asked_about_and_fixed() {
    let story = always_green().answers("RED stays green", "fix", "compare with six").run();
    assert_eq!(story.questions(), ["Step 01-01: RED stays green"]);
    assert_eq!(story.calls(), ["01-01 RED", "01-01 RED", "01-01 RED", "01-01 RED", "01-01 GREEN"]);
    assert_eq!(story.world().called[3].brief.feedback.last().unwrap(), "compare with six");
    assert_eq!(
        story.log_of(&["decided"]),
        ["ada decided on the green test at RED of step 01-01: fix. [compare with six]"]
    );
    assert_eq!(story.ended().status, End::Completed);
}

/// DW-75: a person may skip the phase, with a reason that is recorded.
#[test]
fn dw_75_red_that_stays_green_is_skipped_with_approval() {
    let story = always_green().answers("RED stays green", "skip", "it is there already").run();
    assert_eq!(
        story.log_of(&["skip"]),
        [
            "ada decided on the green test at RED of step 01-01: skip. [it is there already]",
            "Step 01-01, RED: skipped. [APPROVED_SKIP: it is there already (ada)]",
        ]
    );
    assert!(
        story.saves().contains(
            &"01-01 IN_PROGRESS: RED SKIPPED (APPROVED_SKIP: it is there already (ada))".to_owned()
        ),
        "{:#?}",
        story.saves()
    );
    assert_eq!(story.ended().status, End::Completed);
}

#[test]
fn red_that_stays_green_is_stopped_by_a_person() {
    let story = always_green().answers("RED stays green", "cancel", "").run();
    story.ends(
        End::Cancelled,
        "Step 01-01 was stopped: ada stopped it. Go on with:  seriatim run step @software-crafter calc 01-01",
    );
    assert_eq!(story.log().last().unwrap(), "Step 01-01 was stopped: ada stopped it.");
    assert_eq!(story.saves().last().unwrap(), "01-01 FAILED: ");
    assert_eq!(story.commits(), Vec::<&str>::new());
}

/// DW-61, DS-93: a test that cannot be imported is not red.
#[test]
fn dw_61_red_that_is_broken_is_refused() {
    let only_test = |files: &mut Files| {
        files.insert("tests/test_add.py".to_owned(), test_of("add"));
    };
    let story = World::one().does("01-01 RED", only_test).run();
    let refused = story.log_of(&["RED: refused"]);
    assert_eq!(refused.len(), 1);
    assert!(refused[0].contains("but the gate `tests` failed for another reason"), "{refused:?}");
    assert_eq!(story.view().fields["phases"][0]["objections"][0]["rule"], "red-is-broken");
    assert_eq!(story.ended().status, End::Completed);
}

/// DS-94: a unit test that only says that the code is not written yet is red for the wrong reason.
#[test]
fn ds_94_red_for_the_wrong_reason_is_refused() {
    let output = "=== short test summary info ===\nFAILED tests/test_add.py::test_add - NotImplementedError\n\
                  ==== 1 failed in 0.01s ====\n";
    let story = World::one().shows("tests", 1, output).run();
    let refused = story.log_of(&["RED: refused"]);
    assert!(refused[0].contains("but no assertion was reached"), "{refused:?}");
    assert_eq!(story.ended().status, End::Completed);
}

/// DW-59: without the test file of the step nothing is red.
#[test]
fn dw_59_red_without_its_test_file_is_refused() {
    let story = World::one().does("01-01 RED", |_| {}).run();
    let objections = story.view().fields["phases"][0]["objections"].clone();
    let rules: Vec<&str> =
        objections.as_array().unwrap().iter().map(|o| o["rule"].as_str().unwrap()).collect();
    assert_eq!(rules, ["G1", "nothing-ran"]);
    assert_eq!(story.ended().status, End::Completed);
}

/// `show` lays the claim of the agent beside the evidence, with the objections and the output of the gates.
#[test]
fn a_refused_phase_is_shown_with_its_claim_its_evidence_and_the_commits() {
    let story = World::one().does("01-01 RED", green).run();
    insta::assert_snapshot!(story.shown());
}
