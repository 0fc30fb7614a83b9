//! Records that keep a step from being committed: the hook of git names each, and the engine goes past none either.

use std::fmt::Write as _;

use crate::guard::Guarded;
use crate::roadmap_support::Project;
use crate::roadmap_support::STATUS;
use crate::roadmap_support::TEST;

/// A state file in which RED stands as given and GREEN is done.
fn state(red: &str) -> String {
    let mut text = "execution_status:\n  schema_version: \"1.0\"\n  project_id: calc\n  current: {step_id: \"01-01\"}\n  \
                    completed_steps: []\n  step_checkpoint:\n    step_id: \"01-01\"\n    phases:\n"
        .to_owned();
    let times = "started_at: \"2026-01-29T15:00:00Z\", completed_at: \"2026-01-29T15:10:00Z\"";
    let done = format!("status: COMPLETED, outcome: PASS, {times}");
    let red = red.replace("TIMES", times);
    for (index, (name, fields)) in
        [("RED", red.as_str()), ("GREEN", &done), ("COMMIT", "status: NOT_EXECUTED")].into_iter().enumerate()
    {
        let _ = writeln!(text, "      - {{phase_index: {index}, phase_name: {name}, {fields}}}");
    }
    text
}

/// What the hook of git says about a commit with such a state file in it.
#[track_caller]
fn gate(red: &str) -> Option<String> {
    let project = Project::short();
    // The gates of the project are run before the commit of finished work.
    project.with("src/add.py", "RESULT = 5\n").with("tests/test_add.py", TEST);
    project.env.store_file("guard.json", "{}\n").file(STATUS, state(red));
    project.env.git(&["add", STATUS]);
    let (document, exit) = project.env.json(&["commit-gate"]);
    assert_eq!(document["guarded"], true, "{document}");
    match exit {
        Some(0) => None,
        _ => Some(document["reasons"].to_string()),
    }
}

#[track_caller]
fn assert_held(red: &str, words: &str) {
    let said = gate(red).unwrap_or_else(|| panic!("`{red}` is not held"));
    assert!(said.contains(words), "{red}: {said}");
}

#[test]
fn dw_79_a_phase_that_was_not_executed_blocks_the_commit() {
    assert_held("status: NOT_EXECUTED", "Phase RED not executed");
}

#[test]
fn dw_80_a_phase_that_is_left_in_progress_blocks_the_commit() {
    assert_held("status: IN_PROGRESS, started_at: \"2026-01-29T15:00:00Z\"", "Phase RED left in progress");
}

#[test]
fn dw_81_a_finished_phase_without_an_outcome_blocks_the_commit() {
    assert_held("status: COMPLETED, TIMES", "COMPLETED without outcome");
}

/// DW-38: a word that is no outcome is none.
#[test]
fn e_53_a_finished_phase_with_the_outcome_fail_blocks_the_commit() {
    assert_held("status: COMPLETED, outcome: FAIL, TIMES", "Phase RED");
}

#[test]
fn dw_82_a_skip_without_a_reason_blocks_the_commit() {
    assert_held("status: SKIPPED", "SKIPPED without reason");
}

/// DW-76, K-09.
#[test]
fn dw_76_a_deferred_skip_blocks_the_commit() {
    assert_held("status: SKIPPED, blocked_by: \"DEFERRED: later\"", "DEFERRED phases block commit");
    assert_held("status: SKIPPED, blocked_by: \" DEFERRED: later\"", "DEFERRED phases block commit");
}

/// DW-75 and K-08: only what is on the list of prefixes is a skip, and each with a reason.
#[test]
fn e_49_a_skip_needs_an_exact_prefix_and_a_reason() {
    for reason in ["NOT_APPLICABLE:", "not_applicable: no code", "FOO: bar"] {
        assert_held(&format!("status: SKIPPED, blocked_by: \"{reason}\""), "Phase RED");
    }
}

#[test]
fn dw_83_phases_that_are_done_or_validly_skipped_let_the_commit_pass() {
    for prefix in ["NOT_APPLICABLE", "BLOCKED_BY_DEPENDENCY", "APPROVED_SKIP"] {
        assert_eq!(gate(&format!("status: SKIPPED, blocked_by: \"{prefix}: there is no code\"")), None);
    }
    assert_eq!(gate("status: COMPLETED, outcome: PASS, TIMES"), None);
}

/// A record that somebody wrote by hand does not get past the engine either; nothing of it is committed.
#[test]
fn dw_83_the_engine_commits_nothing_on_a_record_that_does_not_hold() {
    for red in
        ["status: SKIPPED, blocked_by: \"DEFERRED: later\"", "status: SKIPPED", "status: COMPLETED, TIMES"]
    {
        let project = Project::short();
        project.with("src/add.py", "RESULT = 5\n").with("tests/test_add.py", TEST).with(STATUS, &state(red));
        project.step("01-01").exits(1).says("Step 01-01 is FAILED:").says("RED");
        assert_eq!(project.subjects(), Vec::<String>::new());
    }
}

/// Both decide by one machine: an agent that does nothing adds nothing to the record, so that the engine commits exactly
/// what the hook of git lets pass.
#[test]
fn dw_83_the_hook_of_git_and_the_engine_give_the_same_answer_for_the_same_record() {
    for (red, passes) in [
        ("status: NOT_EXECUTED", false),
        ("status: IN_PROGRESS, started_at: \"2026-01-29T15:00:00Z\"", false),
        ("status: COMPLETED, TIMES", false),
        ("status: COMPLETED, outcome: FAIL, TIMES", false),
        ("status: COMPLETED, outcome: PASS, TIMES", true),
        ("status: SKIPPED", false),
        ("status: SKIPPED, blocked_by: \"DEFERRED: later\"", false),
        ("status: SKIPPED, blocked_by: \"NOT_APPLICABLE\"", false),
        ("status: SKIPPED, blocked_by: \"APPROVED_SKIP: there is no code\"", true),
    ] {
        assert_eq!(gate(red).is_none(), passes, "the hook of git on `{red}`");
        let project = Project::short();
        project.agent("finish").with("src/add.py", "RESULT = 5\n").with("tests/test_add.py", TEST);
        project.with(STATUS, &state(red));
        project.step("01-01");
        assert_eq!(project.subjects() == ["feat(01-01): DONE"], passes, "the engine on `{red}`");
    }
}

/// DW-40: what an agent writes into the file for several phases at once is no record of them.
#[test]
fn dw_78_phases_that_are_written_in_one_go_block_the_commit() {
    let guarded = Guarded::new().at_work();
    guarded.edit(|step| {
        for index in 0..3 {
            let record = &mut step["tdd_cycle"]["phase_execution_log"][index];
            record["status"] = "EXECUTED".into();
            record["outcome"] = "PASS".into();
        }
    });
    let words = "batching: 3 phases were changed in one save: RED, GREEN, COMMIT";
    guarded.env.run(&["commit-gate"]).exits(1).says(words);
}
