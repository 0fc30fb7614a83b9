//! Ways around the guard that somebody tried.

use serde_json::json;

use crate::guard::AGENT;
use crate::guard::Guarded;
use crate::guard::STEP;
use crate::guard::holds;
use crate::guard::step;

// DS-27, DS-82: an agent cannot widen its own scope by editing its step file.
#[test]
fn ds_82_patterns_are_fixed_while_a_step_is_at_work() {
    let guarded = Guarded::new().at_work();
    guarded.all_done();
    guarded.edit(|state| state["task_specification"]["allowed_file_patterns"] = json!(["**"]));
    guarded.env.file("other.rs", "x\n");
    let told = guarded.sub_stop(AGENT).blocked();
    holds(&told, &["the allowed file patterns of the step were changed while it is at work"]);
    assert_ne!(guarded.step()["task_specification"]["allowed_file_patterns"], json!(["**"]));
    holds(&guarded.sub_stop(AGENT).blocked(), &["Unexpected modification: other.rs"]);
}

// DS-66: a link to a file of the project that the step may not change is named.
#[test]
fn ds_66_a_link_to_another_file_of_the_project_is_named() {
    let guarded = Guarded::new();
    guarded.env.file("other.rs", "x\n");
    guarded.committed("Another file");
    let guarded = guarded.at_work();
    guarded.all_done();
    std::fs::create_dir_all(guarded.env.path("src")).unwrap();
    std::os::unix::fs::symlink("../other.rs", guarded.env.path("src/link.rs")).unwrap();
    holds(
        &guarded.sub_stop(AGENT).blocked(),
        &["Unexpected modification: src/link.rs (a link to ../other.rs"],
    );
}

// DS-66: a person's `retry` does not make good what was changed outside of the patterns; accepting it is another word.
#[test]
fn ds_66_a_retry_does_not_launder_a_scope_violation() {
    let guarded = Guarded::new().with_git_hooks().at_work();
    guarded.all_done();
    guarded.env.file("other.rs", "x\n");
    for _ in 0..5 {
        guarded.sub_stop(AGENT).blocked();
    }
    guarded.sub_stop(AGENT).passes();
    guarded.env.run(&["answer", "q1", "retry"]).exits(0);
    guarded.git(&["add", "--all"]);
    guarded.git(&["commit", "--message=Out"]).exits(1).says("Unexpected modification: other.rs");
}

// DS-28, DS-67: an agent whose start nobody saw and that did nothing has failed silently.
#[test]
fn ds_67_a_call_that_came_back_without_a_start_and_with_nothing_is_silent_completion() {
    let guarded = Guarded::new();
    guarded.spawn(&guarded.prompt()).passes();
    guarded.spawn_done(crate::guard::CALL, json!({"status": "completed", "agentId": AGENT})).blocked();
    assert_eq!(guarded.status(), "FAILED");
    assert!(guarded.events().contains(&"SILENT_COMPLETION_DETECTED".to_owned()), "{:?}", guarded.events());
}

// DS-35: the call says whose agent it was, not which one began first.
#[test]
fn ds_35_an_ad_hoc_agent_that_began_first_is_not_taken_for_the_steps() {
    let guarded = Guarded::new();
    guarded.spawn(&guarded.prompt()).passes();
    guarded.spawn_as("toolu_2", json!({"description": "x", "prompt": "Look around"}), json!({})).passes();
    guarded.sub_start("a2").passes();
    guarded.sub_start(AGENT).passes();
    guarded.spawn_done("toolu_2", json!({"status": "completed", "agentId": "a2"})).passes();
    let told =
        guarded.spawn_done(crate::guard::CALL, json!({"status": "completed", "agentId": AGENT})).blocked();
    holds(&told, &["01-01"]);
}

// DS-25: work that somebody left in progress before the guard came is recovered before it starts anew.
#[test]
fn ds_25_stale_work_of_the_step_itself_is_recovered_at_the_door() {
    let guarded = Guarded::new();
    guarded.edit(|state| {
        state["state"]["status"] = json!("IN_PROGRESS");
        let log = &mut state["tdd_cycle"]["phase_execution_log"][0];
        log["status"] = json!("IN_PROGRESS");
        log["started_at"] = json!("2020-01-01T00:00:00Z");
    });
    guarded.spawn(&guarded.prompt()).passes();
    assert!(guarded.events().contains(&"WATCHDOG_INTERVENTION".to_owned()), "{:?}", guarded.events());
    guarded.sub_start(AGENT).passes();
    guarded.phase(&["start", "01-01", "RED"]).exits(0);
}

// DS-81: what can be done after a crash stands in the state file.
#[test]
fn ds_81_a_crash_leaves_suggestions() {
    let guarded = Guarded::new().at_work();
    guarded.phase(&["start", "01-01", "RED"]).exits(0);
    guarded.send("StopFailure", json!({"error": "overloaded", "agent_id": AGENT})).passes();
    assert!(guarded.step().to_string().contains("Start the interrupted phase again"), "{}", guarded.step());
}

// K-06: a checkpoint is in the middle: not before green, and not after the commit.
#[test]
fn k_06_pending_phases_pass_in_the_middle_alone() {
    let seven = ["PREPARE", "RED_ACCEPTANCE", "RED_UNIT", "GREEN", "REVIEW", "REFACTOR_CONTINUOUS", "COMMIT"];
    let verdict = |status: &str, done: usize, commit: &str| {
        let mut state = step("01-01", &seven);
        state["state"]["status"] = json!(status);
        for (at, phase) in
            state["tdd_cycle"]["phase_execution_log"].as_array_mut().unwrap().iter_mut().enumerate()
        {
            let (word, outcome, blocked) = match at {
                6 if commit == "done" => ("COMPLETED", json!("PASS"), json!(null)),
                _ if at < done => ("COMPLETED", json!("PASS"), json!(null)),
                _ => ("SKIPPED", json!(null), json!("CHECKPOINT_PENDING: later")),
            };
            phase["status"] = json!(word);
            phase["outcome"] = outcome;
            phase["blocked_by"] = blocked;
        }
        let guarded = Guarded::new();
        guarded.state(STEP, &state);
        guarded.git(&["add", "--all"]);
        guarded.env.run(&["commit-gate"]).exit
    };
    assert_eq!(verdict("IN_PROGRESS", 4, "pending"), Some(0), "a checkpoint at green");
    assert_eq!(verdict("IN_PROGRESS", 5, "pending"), Some(0), "a checkpoint at the review");
    assert_eq!(verdict("IN_PROGRESS", 2, "pending"), Some(1), "green itself is pending");
    assert_eq!(verdict("IN_PROGRESS", 5, "done"), Some(1), "committed with a phase pending");
    assert_eq!(verdict("DONE", 6, "pending"), Some(1), "done, and the commit pending");
}

// A settings file that switches all hooks off is refused, whichever it is.
#[test]
fn switching_all_hooks_off_is_refused() {
    let guarded = Guarded::new();
    guarded.env.file(".claude/settings.local.json", "{\"disableAllHooks\": true}\n");
    let file = guarded.env.path(".claude/settings.local.json");
    let answer = guarded.send("ConfigChange", json!({"source": "local_settings", "file_path": file}));
    assert_eq!(answer.0.exit, Some(2), "{}", answer.0.snapshot());
}

// DS-30: a worktree beside the project belongs to it.
#[test]
fn ds_30_open_work_does_not_get_out_through_a_linked_worktree() {
    let guarded = Guarded::new().with_git_hooks();
    guarded.git(&["worktree", "add", "--quiet", "../beside", "-b", "beside"]).exits(0);
    let guarded = guarded.at_work();
    guarded.sh("cd ../beside && echo x >new.rs && git add new.rs && git commit --quiet -m Out").exits(1);
    guarded.done("RED");
    guarded.done("GREEN");
    guarded.done("COMMIT");
    guarded.sub_stop(AGENT).passes();
    guarded.sh("cd ../beside && git commit --quiet -m Out").exits(0);
}

// Reconciliation: at a commit and by `doctor`, too, before any stop was seen.
#[test]
fn sub_agents_and_files_that_nobody_accounts_for_are_found_at_a_commit_and_by_doctor() {
    let guarded = Guarded::new().with_git_hooks().at_work();
    guarded.env.run(&["doctor"]).says("none of them held");
    guarded.env.file("other.rs", "x\n");
    guarded.env.run(&["doctor"]).exits(1).says("Unexpected modification: other.rs");
    std::fs::remove_file(guarded.env.path("other.rs")).unwrap();
    let folder = guarded.transcript().with_extension("").join("subagents");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("agent-ghost1.meta.json"), "{\"toolUseId\": \"toolu_ghost\"}").unwrap();
    guarded.env.run(&["doctor"]).exits(1).says("Sub-agent ghost1 was started without any hook seeing it");
    guarded.all_done();
    guarded.git(&["add", "--all"]);
    guarded.git(&["commit", "--message=Out"]).exits(1).says("Sub-agent ghost1 was started without any hook");
}
