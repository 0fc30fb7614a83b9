//! The engine dies in the middle of a step, or the step fails: what was closed stays closed, and all is remembered.

use serde_json::Value;

use crate::roadmap_support::Project;
use crate::roadmap_support::SEVEN;
use crate::roadmap_support::STATUS;

/// DW-39: each resumption goes on at the first open phase. E-48: what was cut off is on record and not taken as done.
#[test]
fn dw_39_kill_9_in_each_phase_and_each_time_the_step_goes_on_where_it_was() {
    let project = Project::single();
    project.agent(
        r#"if [ $number -eq 1 ]; then echo $$ >began; read word <hold; fi
        usual; finish"#,
    );
    let (mut began, _hold) = (project.env.fifo("began"), project.env.fifo("hold"));
    let phases = &SEVEN[..6];
    for (at, phase) in phases.iter().enumerate() {
        let engine = match at {
            0 => project.start_step("01-01"),
            _ => project.env.start(&["resume", &project.env.newest(), "--no-input", "-q"]),
        };
        let agent = began.process(&engine);
        // DW-40: that the phase is under way is on record before anybody works on it.
        assert_eq!(project.phase("01-01", phase)["status"], "IN_PROGRESS");
        engine.kill();
        agent.ends();
    }
    project.resume(&[]).exits(0);
    for phase in phases {
        assert_eq!(project.count("01-01", phase), 2, "{phase}");
        let record = project.phase("01-01", phase);
        assert_eq!((&record["status"], &record["outcome"]), (&"COMPLETED".into(), &"PASS".into()));
        let history = record["history"].as_array().unwrap();
        assert_eq!(history.len(), 1, "{record:#}");
        assert_eq!(history[0]["status"], "CRASHED", "{record:#}");
    }
    assert_eq!(project.subjects(), Project::commits_of("01-01"));
    assert_eq!(project.env.files_below("docs/feature/calc/logs").len(), 1);
    std::fs::remove_file(project.env.path("began")).unwrap();
    std::fs::remove_file(project.env.path("hold")).unwrap();
    project.assert_done(&["01-01"]);
    project.env.assert_tidy();
}

/// The agent had reported; its report is known, the gate is asked again, and the agent is not.
#[test]
fn kill_9_while_a_gate_runs_asks_the_gate_again_and_not_the_agent() {
    let project = Project::short();
    let gate = "[gates.acceptance]\ncommand = [\"sh\", \"gate.sh\"]\n";
    let hold = "[ -f .git/seen ] || { touch .git/seen; echo $$ >.git/began; read x <.git/hold; }\n";
    project.configure(gate).with("gate.sh", &format!("{hold}exec sh check.sh\n"));
    let (mut began, _hold) = (project.env.fifo(".git/began"), project.env.fifo(".git/hold"));
    let engine = project.start_step("01-01");
    let gate = began.process(&engine);
    engine.kill();
    gate.ends();
    assert_eq!(project.phase("01-01", "RED")["status"], "IN_PROGRESS");
    project.resume(&[]).exits(0);
    assert_eq!((project.count("01-01", "RED"), project.count("01-01", "GREEN")), (1, 1));
    assert_eq!(project.tries("01-01", "RED").len(), 1);
    project.assert_done(&["01-01"]);
}

/// The journal is lost, too: the file alone says what was under way.
#[test]
fn e_48_a_phase_that_is_left_in_progress_is_crashed_in_the_history_and_done_again() {
    let project = Project::short();
    project.agent(
        r#"usual
        if [ "$SERIATIM_PHASE $number" = "GREEN 1" ]; then echo $$ >.git/began; read word <.git/hold; fi
        finish"#,
    );
    let (mut began, _hold) = (project.env.fifo(".git/began"), project.env.fifo(".git/hold"));
    let engine = project.start_step("01-01");
    let agent = began.process(&engine);
    engine.kill();
    agent.ends();
    std::fs::remove_dir_all(project.env.store()).unwrap();
    // The work of the phase is there, but nobody says that it is done; nor is it the user's that it is.
    project.step_answering("01-01", &[("your changes", "approve", "")]).exits(0);
    assert_eq!((project.count("01-01", "RED"), project.count("01-01", "GREEN")), (1, 2));
    let history = project.phase("01-01", "GREEN")["history"].clone();
    assert_eq!(history[0]["status"], "CRASHED", "{history:#}");
    project.assert_done(&["01-01"]);
}

#[test]
fn kill_9_in_the_middle_of_a_commit_leaves_one_commit() {
    let project = Project::short();
    // The commit is made, and nobody has said so yet.
    let hook = ".git/hooks/post-commit";
    let script =
        "#!/bin/sh\n[ -f .git/seen ] || { touch .git/seen; echo $$ >.git/began; read x <.git/hold; }\n";
    project.env.file(hook, script);
    std::process::Command::new("chmod").arg("+x").arg(project.env.path(hook)).status().unwrap();
    let (mut began, mut hold) = (project.env.fifo(".git/began"), project.env.fifo(".git/hold"));
    let engine = project.start_step("01-01");
    let hook = began.process(&engine);
    engine.kill();
    hold.send("go on");
    hook.ends();
    project.resume(&[]).exits(0);
    assert_eq!(project.subjects(), ["feat(01-01): GREEN", "feat(01-01): DONE"]);
    assert_eq!((project.count("01-01", "RED"), project.count("01-01", "GREEN")), (1, 1));
    assert!(!project.env.path(".git/index.lock").exists());
    project.assert_done(&["01-01"]);
}

/// DW-77, DW-48: the tries of both runs are in the history, and so are all states in between.
#[test]
fn dw_92_a_step_that_failed_goes_on_from_its_last_closed_phase_in_a_new_run() {
    let project = Project::short();
    project.agent("usual; [ $SERIATIM_PHASE = RED ] || write_code 4; finish");
    project.step("01-01").exits(1);
    let first = project.env.newest();
    project.agent("usual; finish");
    project.step("01-01").exits(0);
    assert_ne!(project.env.newest(), first);
    assert_eq!((project.count("01-01", "RED"), project.count("01-01", "GREEN")), (1, 4));
    let green = project.phase("01-01", "GREEN");
    let history = green["history"].as_array().unwrap();
    assert_eq!(history.len(), 3, "{green:#}");
    assert!(history.iter().all(|entry| entry["outcome"] == "FAIL"), "{green:#}");
    let checkpoint = project.checkpoint("01-01");
    let states: Vec<&str> =
        checkpoint["state_history"].as_array().unwrap().iter().filter_map(|e| e["status"].as_str()).collect();
    assert_eq!(states, ["IN_PROGRESS", "FAILED", "RETRY", "IN_PROGRESS", "DONE"], "{checkpoint:#}");
    assert_eq!(checkpoint["execution_metrics"]["rework_count"], 3);
    assert_eq!(checkpoint["execution_result"]["success"], true);
    let status = project.status();
    assert_eq!(status["current"]["failure_reason"], Value::Null, "{status:#}");
    project.assert_done(&["01-01"]);
    let text = project.env.read(STATUS);
    assert!(!text.contains("failure_reason: GREEN"), "{text}");
}
