//! The battery and the Judge: what is run, what it found, and what follows from it.

use serde_json::json;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_flows::cycle::DOCUMENT;
use seriatim_flows::request::Ran;

use crate::world::World;
use crate::world::greet;
use crate::world::ran;

const PASSED: &str = "test result: ok. 1 passed; 0 failed; 0 ignored\n";

// CY-05, CY-53, CY-63
#[test]
fn cy_63_red_tests_force_insufficient_whatever_the_judge_says() {
    let red = "test result: FAILED. 0 passed; 1 failed; 0 ignored\n";
    let story = World::new().command("tests", ran(101, red)).run();
    assert_eq!(story.called(), ["planner", "actor", "judge", "planner", "actor", "judge"]);
    let told = story.told();
    let red = "1 test ran, 1 failed; proves nothing: the command failed, and its output does not say why (exit code \
               101)\ntest result: FAILED. 0 passed; 1 failed; 0 ignored";
    assert_eq!(
        told[4..12],
        [
            format!("Check \"Existing Tests\" failed. [{red}]"),
            "Check \"Linter/Formatter\" was not run: none is configured.".to_owned(),
            "Check \"Security Scans\" was not run: none is configured.".to_owned(),
            "Check \"Planned changes\" passed. [all planned files were changed]".to_owned(),
            "Check \"Credentials\" passed.".to_owned(),
            "Check \"Authorization\" passed.".to_owned(),
            "Check \"Scope\" passed. [2 lines in 1 file.]".to_owned(),
            "Check \"Test files\" passed. [nothing that the checks stand on changed unplanned]".to_owned(),
        ]
    );
    assert_eq!(told[12], format!("The verdict is INSUFFICIENT. [Existing Tests: {red}]"));
    assert_eq!(story.facts("judged")[0]["opinion"], "pass");
    assert!(story.brief("planner", 1).contains("Existing Tests: 1 test ran, 1 failed"));
    assert_eq!(story.blocks("2026-01-18_cycle-001.md")[3], "Judge INSUFFICIENT > Planner");
}

// CY-59, CY-60, CY-61, CY-73
#[test]
fn cy_73_a_red_linter_is_insufficient_and_the_green_tests_are_named() {
    let story =
        World::new().gate("lint").gate("security").command("lint", ran(1, "greet.sh:1 no shebang\n")).run();
    let judged = &story.facts("judged")[0];
    assert_eq!(judged["pass"], false);
    assert_eq!(
        judged["reasons"],
        json!(["Linter/Formatter: it failed with exit code 1\ngreet.sh:1 no shebang"])
    );
    assert!(
        story
            .brief("planner", 1)
            .contains("\nGreen: Existing Tests, Security Scans, Planned changes, Credentials")
    );
    assert_eq!(story.seen.commands[..3], [["tests"], ["lint"], ["security"]]);
}

// CY-54, CY-61, CY-64
#[test]
fn cy_64_a_credential_in_the_change_blocks_the_commit() {
    let world = World::new().with(|world| world.leaks = vec!["greet.sh:1 an access key".to_owned()]);
    let story = world.cancelled_at("Paused").run();
    assert_eq!(story.asked(), ["Paused -> cancelled"]);
    assert_eq!(story.facts("judged").len(), 5);
    assert_eq!(story.facts("judged")[0]["reasons"], json!(["Credentials: greet.sh:1 an access key"]));
    assert!(story.seen.deliveries.is_empty());
}

// CY-61
#[test]
fn cy_61_a_permission_check_that_is_removed_is_insufficient() {
    let before = "@login_required\ndef greet(): pass\n";
    let story = World::new()
        .file("greet.sh", before)
        .does("actor", json!({"result": "SUCCESS"}), |outside| {
            outside.write("greet.sh", "def greet(): pass\n");
        })
        .cancelled_at("Paused")
        .run();
    let authorization = &story.facts("check_ran")[5];
    assert_eq!((&authorization["check"], &authorization["result"]), (&json!("Authorization"), &json!("bad")));
    assert_eq!(story.facts("judged")[0]["pass"], false);
}

// CY-43, CY-62
#[test]
fn cy_43_a_step_that_changed_no_file_is_insufficient() {
    let story = World::new().does("actor", json!({"result": "SUCCESS"}), |_| {}).run();
    assert_eq!(story.facts("judged")[0]["reasons"], json!(["Planned changes: no file was changed"]));
    assert!(story.archived("2026-01-18_cycle-001.md").contains("No file was changed."));
}

// CY-68
#[test]
fn cy_68_a_suite_that_crashed_is_tried_again_or_its_subset() {
    let crash = || Ok(Ran { code: None, ..Ran::default() });
    let again = World::new().command("tests", crash()).run();
    assert_eq!(again.seen.commands, [["tests"], ["tests"]]);
    assert!(again.ended.good);
    let mut world = World::new().command("tests", crash()).command("quick", ran(0, PASSED));
    world.start.gates.get_mut("tests").unwrap().subset = vec!["quick".to_owned(), "{files}".to_owned()];
    let subset = world.says("Not checked", "accept", "The rest is slow.").run();
    assert_eq!(
        subset.seen.commands,
        [vec!["tests".to_owned()], vec!["quick".to_owned(), "greet.sh".to_owned()]]
    );
    assert_eq!(
        subset.facts("check_ran")[0]["words"],
        "the whole suite crashed (it was ended by a signal); a subset of it was run instead: 1 test ran, it passed\n\
         test result: ok. 1 passed; 0 failed; 0 ignored"
    );
    assert_eq!(subset.facts("check_ran")[0]["result"], "unknown");
}

// CY-52
#[test]
fn cy_52_a_check_that_cannot_be_started_is_unknown_and_asked_about() {
    let missing = || Err(Failure::new(Class::MissingArtifact, "there is no program `tests`"));
    let story = World::new().command("tests", missing()).answers("Not checked", "stop").run();
    assert_eq!(
        story.facts("unchecked_decided")[0]["matters"],
        json!(["Existing Tests: there is no program `tests`"])
    );
    assert!(!story.ended.good);
}

#[test]
fn warnings_are_failures_where_the_project_says_so() {
    let automation = "agents: {judge: {linter_warnings_fail: true}}\n";
    let plain = World::new().gate("security").command("security", ran(0, "warning: old lock file\n")).run();
    assert_eq!(plain.facts("check_ran")[2]["result"], "good");
    let strict = World::new()
        .automation(automation)
        .gate("security")
        .command("security", ran(0, "warning: old lock file\n"))
        .run();
    assert_eq!(
        strict.facts("check_ran")[2]["words"],
        "1 warning, which this project counts as failures\nwarning: old lock file"
    );
    assert_eq!(strict.facts("check_ran")[2]["result"], "bad");
}

// CY-06, CY-56, CY-58
#[test]
fn cy_56_insufficient_goes_back_and_another_word_is_corrected() {
    let back =
        World::new().reports("judge", json!({"result": "INSUFFICIENT", "diagnostics": "too curt"})).run();
    assert_eq!(back.facts("judged")[0]["reasons"], json!(["too curt"]));
    assert_eq!(back.called().len(), 6);
    for outputs in [json!({"result": "pass"}), json!({}), json!({"result": "PASSED", "diagnostics": ""})] {
        let story = World::new().reports("judge", outputs).run();
        assert_eq!(story.called(), ["planner", "actor", "judge", "judge"]);
        assert!(story.brief("judge", 1).contains("`outputs.result` must be PASS or INSUFFICIENT; it was"));
        assert_eq!(story.facts("judged")[0]["pass"], true);
    }
}

// CY-70, K-114
#[test]
fn k_114_without_an_opinion_a_person_decides_and_it_is_theirs() {
    let crash = |world: World| world.fails("judge", Class::Crash, "it ended with exit code 7");
    let green = crash(World::new()).says("Not checked", "accept", "I read it.").run();
    let asked = green.question("Not checked").question;
    assert!(asked.ends_with("\n- The Judge did not answer: it ended with exit code 7"), "{asked}");
    assert_eq!(green.facts("judged")[0]["opinion"], json!({"person": {"by": "ada", "words": "I read it."}}));
    let words = "accepted unchecked by ada: I read it. (The Judge did not answer: it ended with exit code 7)";
    assert!(green.told().contains(&format!("The verdict is PASS, on the word of ada. [{words}]")));
    assert!(green.question("Approval").question.contains("ada judged it, not the Judge."));
    assert!(green.ended.good && green.ended.message.contains("Accepted unchecked by ada: I read it."));
    assert_eq!(green.ended.outcome["judged_by"], "ada");
    let red = crash(World::new().command("tests", ran(1, "boom\n"))).run();
    assert_eq!(
        red.facts("judged")[0]["reasons"],
        json!([
            "Existing Tests: the tests failed; proves nothing: the command failed, and its output does not say why (exit code 1)\nboom"
        ])
    );
}

// CY-17
#[test]
fn a_judge_that_changes_the_work_or_the_document_is_not_believed() {
    let story = World::new()
        .does("judge", json!({"result": "PASS"}), |outside| outside.write("greet.sh", "echo better\n"))
        .does("judge", json!({"result": "PASS"}), |outside| outside.write(DOCUMENT, "mine\n"))
        .run();
    assert_eq!(
        story.facts("judged")[0]["reasons"],
        json!(["Files changed while the Judge looked at them: greet.sh."])
    );
    assert_eq!(
        story.facts("judged")[1]["reasons"],
        json!(["The Judge changed earlier parts of the cycle document; they were restored."])
    );
    assert!(story.ended.good);
}

// CY-74
#[test]
fn cy_74_a_tenth_more_in_documents_alone_passes_and_is_told_at_the_approval() {
    let story = World::new()
        .does("actor", json!({"result": "SUCCESS"}), |outside| {
            greet(outside);
            outside.files.insert("greet.sh".to_owned(), "echo hello\n".to_owned());
            for path in ["a.md", "b.md", "c.md"] {
                outside.write(path, &"word\n".repeat(53));
            }
        })
        .run();
    let details = story.question("Approval").details;
    assert!(
        details.contains("Note: 159 lines were changed where 150 are allowed; it passes because"),
        "{details}"
    );
    assert!(story.ended.good);
}
