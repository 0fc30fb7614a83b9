//! `seriatim phase`, many at once, the watchdog, and the trail that all of them leave (DS-25, DS-50 to DS-63, DS-85).

use std::fmt::Write as _;
use std::fs;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use serde_json::Value;
use serde_json::json;

use crate::guard::AGENT;
use crate::guard::Guarded;
use crate::guard::STEP;
use crate::guard::THREE;
use crate::guard::holds;
use crate::guard::step;

const MANY: usize = 50;

// DS-85, DS-69.
#[test]
fn ds_85_ds_69_fifty_processes_on_fifty_steps_lose_no_entry() {
    let guarded = Guarded::new();
    let ids: Vec<String> = (0..MANY).map(|i| format!("02-{i:02}")).collect();
    for id in &ids {
        guarded.state(&format!("many/{id}.json"), &step(id, &THREE));
    }
    let start = |id: &String| guarded.env.start(&["phase", "start", id, "RED"]);
    let running: Vec<_> = ids.iter().map(start).collect();
    for one in running {
        one.output().exits(0);
    }
    let trail = guarded.trail_in("many");
    for id in &ids {
        let mine: Vec<&Value> = trail.iter().filter(|line| line["step_id"] == **id).collect();
        let events: Vec<&str> = mine.iter().filter_map(|line| line["event"].as_str()).collect();
        assert_eq!(events, ["STATE_TRANSITION", "PHASE_STARTED"], "{id}");
        let state: Value = serde_json::from_str(&guarded.env.read(&format!("many/{id}.json"))).unwrap();
        assert_eq!(state["tdd_cycle"]["phase_execution_log"][0]["status"], "IN_PROGRESS");
    }
    assert_eq!(trail.len(), 2 * MANY);
    guarded.env.run(&["verify"]).exits(0);
}

#[test]
fn ds_85_fifty_processes_on_one_file_lose_no_entry() {
    let guarded = Guarded::new();
    let file = "docs/feature/greeting/execution-status.yaml";
    let ids: Vec<String> = (0..MANY).map(|i| format!("03-{i:02}")).collect();
    let mut text =
        "execution_status:\n  schema_version: \"1.0\"\n  project_id: greeting\n  completed_steps: []\n"
            .to_owned();
    for id in &ids {
        let _ =
            writeln!(text, "  step_checkpoint_{}:\n    step_id: \"{id}\"\n    phases:", id.replace('-', "_"));
        for (i, name) in THREE.iter().enumerate() {
            let _ = writeln!(
                text,
                "      - phase_index: {i}\n        phase_name: {name}\n        status: NOT_EXECUTED"
            );
        }
    }
    guarded.env.file(file, text);
    let start = |id: &String| guarded.env.start(&["phase", "start", id, "RED"]);
    let running: Vec<_> = ids.iter().map(start).collect();
    for one in running {
        one.output().exits(0);
    }
    let text = guarded.env.read(file);
    let trail = guarded.trail_in("docs/feature/greeting");
    assert_eq!(text.matches("status: IN_PROGRESS").count(), MANY, "{text}");
    for id in &ids {
        let started = |line: &&Value| line["event"] == "PHASE_STARTED" && line["step_id"] == **id;
        assert_eq!(trail.iter().filter(started).count(), 1, "{id}");
    }
    guarded.env.run(&["verify"]).exits(0);
}

#[test]
fn ds_69_of_fifty_that_begin_the_same_phase_one_wins() {
    let guarded = Guarded::fourteen();
    let running: Vec<_> =
        (0..MANY).map(|_| guarded.env.start(&["phase", "start", "01-01", "PREPARE"])).collect();
    let exits: Vec<_> = running.into_iter().map(|one| one.output().exit).collect();
    assert_eq!(exits.iter().filter(|exit| **exit == Some(0)).count(), 1, "{exits:?}");
    assert!(exits.iter().all(|exit| matches!(exit, Some(0 | 1))), "{exits:?}");
    let events = guarded.events();
    assert_eq!(events.iter().filter(|event| *event == "PHASE_STARTED").count(), 1);
    guarded.env.run(&["verify"]).exits(0);
}

// DS-91, DS-98.
#[test]
fn ds_91_ds_98_a_phase_is_checked_at_the_moment_of_writing_and_a_refusal_changes_nothing() {
    let guarded = Guarded::fourteen();
    let before = guarded.env.read(STEP);
    for (args, said) in [
        (["done", "01-01", "PREPARE", "--outcome", "PASS"].as_slice(), "PREPARE"),
        (&["start", "01-01", "RED_UNIT"], "cannot start before PREPARE is over"),
        (&["start", "01-01", "PREPAR"], "PREPARE"),
        (&["skip", "01-01", "PREPARE", "--reason", "DEFERRED: later"], "cannot be deferred"),
        (&["skip", "01-01", "PREPARE", "--reason", "because"], "BLOCKED_BY_DEPENDENCY"),
        (&["skip", "01-01", "PREPARE"], "PREPARE"),
    ] {
        guarded.phase(args).exits(1).says("not recorded").says(said);
        assert_eq!(guarded.env.read(STEP), before, "{args:?}");
    }
    guarded.phase(&["start", "09-09", "PREPARE"]).exits(2);
    guarded.phase(&["start", "01-01", "PREPARE"]).exits(0);
    let done = [
        "done",
        "01-01",
        "PREPARE",
        "--outcome",
        "PASS",
        "--note",
        "read it",
        "--tests",
        "3,2,1",
        "--artifact",
        "src/a",
    ];
    guarded.phase(&done).exits(0);
    let record = guarded.step()["tdd_cycle"]["phase_execution_log"][0].clone();
    assert_eq!(
        (&record["status"], &record["outcome"], &record["notes"]),
        (&json!("EXECUTED"), &json!("PASS"), &json!("read it"))
    );
    assert_eq!(record["test_results"], json!({"total": 3, "passed": 2, "failed": 1}));
    assert_eq!(record["artifacts_created"], json!(["src/a"]));
    for field in ["started_at", "ended_at", "duration_minutes"] {
        assert!(!record[field].is_null(), "{record}");
    }
    // DS-01, DS-56: why a phase was skipped is on the trail as well.
    guarded
        .phase(&["skip", "01-01", "RED_ACCEPTANCE", "--reason", "NOT_APPLICABLE: documents only"])
        .exits(0);
    assert_eq!(guarded.last("PHASE_SKIPPED")["blocked_by"], "NOT_APPLICABLE: documents only");
}

/// The trail of today beside the step.
fn trail_file(guarded: &Guarded) -> PathBuf {
    let files = guarded.env.files_below("steps");
    files.into_iter().find(|path| path.extension().is_some_and(|end| end == "log")).unwrap()
}

#[test]
fn ds_63_a_line_that_was_changed_or_removed_is_found() {
    let guarded = Guarded::new().at_work();
    guarded.done("RED");
    let path = trail_file(&guarded);
    let text = fs::read_to_string(&path).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    fs::write(&path, text.replacen("\"outcome\":\"PASS\"", "\"outcome\":\"FAIL\"", 1)).unwrap();
    guarded.env.run(&["verify"]).exits(1).says(&name);
    let lines: Vec<&str> = text.lines().collect();
    fs::write(&path, format!("{}\n", [&lines[..2], &lines[3..]].concat().join("\n"))).unwrap();
    guarded.env.run(&["verify"]).exits(1).says(&name).says("from line 3 on");
    fs::remove_file(&path).unwrap();
    guarded.env.run(&["verify"]).exits(1).says("is not there");
    // Whoever writes next puts it right, with an incident.
    guarded.phase(&["start", "01-01", "GREEN"]).exits(0);
    guarded.env.run(&["verify"]).exits(0);
    assert!(fs::read_to_string(&path).unwrap().starts_with(&text));
    holds(
        &guarded.last("INTEGRITY_INCIDENT")["what"].to_string(),
        &["the audit trail was not as it was left"],
    );
}

#[test]
fn e_78_a_last_line_that_was_half_written_is_put_right_with_an_incident() {
    let guarded = Guarded::new().at_work();
    guarded.done("RED");
    let path = trail_file(&guarded);
    let text = fs::read(&path).unwrap();
    fs::write(&path, &text[..text.len() - 20]).unwrap();
    guarded.env.run(&["verify"]).exits(1);
    guarded.phase(&["start", "01-01", "GREEN"]).exits(0);
    let trail = guarded.trail();
    assert!(trail.iter().all(Value::is_object), "{trail:?}");
    holds(&guarded.last("INTEGRITY_INCIDENT")["what"].to_string(), &["not written to their end"]);
    assert_eq!(guarded.last("PHASE_STARTED")["phase"], "GREEN");
    guarded.env.run(&["verify"]).exits(0);
}

#[test]
fn lines_of_an_older_tool_are_kept_and_covered_from_then_on() {
    let guarded = Guarded::new();
    let today = guarded.env.run(&["phase", "start", "01-01", "RED"]).exits(0);
    drop(today);
    let name = trail_file(&guarded).file_name().unwrap().to_str().unwrap().to_owned();
    let guarded = Guarded::new();
    let old =
        "{\"event\":\"TASK_INVOCATION_STARTED\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"command\":\"x\"}\n";
    guarded.env.file(&format!("steps/{name}"), old);
    guarded.phase(&["start", "01-01", "RED"]).exits(0);
    let text = guarded.env.read(&format!("steps/{name}"));
    assert!(text.starts_with(old), "{text}");
    assert_eq!(text.lines().count(), 3);
    guarded.env.run(&["verify"]).exits(0);
    let path = guarded.env.path(&format!("steps/{name}"));
    fs::write(&path, text.replacen("2026-01-01", "2026-01-02", 1)).unwrap();
    guarded.env.run(&["verify"]).exits(1);
}

/// A step with a phase that began long ago.
fn stale() -> Value {
    let mut given = step("01-01", &THREE);
    given["state"] = json!({"status": "IN_PROGRESS", "started_at": "2026-01-01T11:00:00Z"});
    given["tdd_cycle"]["phase_execution_log"][0]["status"] = json!("IN_PROGRESS");
    given["tdd_cycle"]["phase_execution_log"][0]["started_at"] = json!("2026-01-01T12:00:00Z");
    given
}

// DS-25, DS-61.
#[test]
fn ds_25_ds_61_work_that_is_stale_is_recovered() {
    let guarded = Guarded::of(&stale());
    guarded.env.run(&["watchdog"]).exits(1).says("RED of step 01-01").says("can be tried again");
    let intervention = guarded.last("WATCHDOG_INTERVENTION");
    assert_eq!(
        (&intervention["phase"], &intervention["recovery_action"]),
        (&json!("RED"), &json!("marked_as_failed"))
    );
    let step = guarded.step();
    assert_eq!((&step["state"]["status"], &step["state"]["can_retry"]), (&json!("FAILED"), &json!(true)));
    assert_eq!(step["tdd_cycle"]["phase_execution_log"][0]["history"][0]["status"], "CRASHED");
    guarded.env.run(&["watchdog"]).exits(0).says("Nothing is stale");
    // What has just begun is not.
    guarded.phase(&["start", "01-01", "RED"]).exits(0);
    guarded.env.run(&["watchdog"]).exits(0);
    guarded.env.run(&["verify"]).exits(0);
}

#[test]
fn ds_25_a_step_whose_agent_died_between_two_phases_is_stale_as_well() {
    let mut given = stale();
    let record = &mut given["tdd_cycle"]["phase_execution_log"][0];
    record["status"] = json!("COMPLETED");
    record["outcome"] = json!("PASS");
    record["ended_at"] = json!("2026-01-01T12:30:00Z");
    let guarded = Guarded::of(&given);
    guarded.env.run(&["watchdog"]).exits(1).says("GREEN of step 01-01");
    assert_eq!(guarded.status(), "FAILED");
    assert_eq!(guarded.phases()[0].1, "COMPLETED");
}

#[test]
fn the_watchdog_leaves_a_persons_edits_of_other_files_alone() {
    let guarded = Guarded::new();
    guarded.phase(&["start", "01-01", "RED"]).exits(0);
    // The guard does not follow this step: whoever edits its file may.
    let mut edited = stale();
    edited["state"]["status"] = json!("TODO");
    edited["tdd_cycle"]["phase_execution_log"][0]["status"] = json!("NOT_EXECUTED");
    guarded.state(STEP, &edited);
    let before = guarded.env.read(STEP);
    guarded.env.run(&["watchdog"]).exits(0);
    assert_eq!(guarded.env.read(STEP), before);
}

#[test]
fn ds_25_stale_work_is_recovered_before_new_work_begins() {
    let guarded = Guarded::new();
    guarded.state("steps/01-02.json", &step("01-02", &THREE)).committed("Another step");
    // Less than a minute is no time at all, so that all that is in progress is stale.
    guarded.env.file("seriatim.toml", "[guard]\nstale = \"1s\"\n");
    let guarded = guarded.at_work();
    guarded.phase(&["start", "01-01", "RED"]).exits(0);
    guarded.edit(|step| {
        step["tdd_cycle"]["phase_execution_log"][0]["started_at"] = json!("2026-01-01T12:00:00Z");
    });
    let second = json!({"prompt": guarded.prompt_for("steps/01-02.json"), "run_in_background": false});
    guarded.spawn_as("toolu_2", second, json!({})).passes();
    assert_eq!(guarded.last("WATCHDOG_INTERVENTION")["step_id"], "01-01");
    assert_eq!(guarded.status(), "FAILED");
    // The agent that was given up may not end as if nothing had happened.
    guarded.sub_stop(AGENT).passes();
    assert_eq!(guarded.last("SUBAGENT_STOP_VALIDATION")["status"], "warning");
}

// DS-63, DS-02.
#[test]
fn ds_63_ds_02_an_entry_survives_whoever_wrote_it() {
    let guarded = Guarded::new().at_work();
    guarded.done("RED");
    let path = trail_file(&guarded);
    // A line that nobody wrote is as bad as one that is gone.
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    writeln!(file, "{}", json!({"event": "COMMIT_VALIDATION_PASSED", "timestamp": "2026-01-01T00:00:00Z"}))
        .unwrap();
    guarded.env.run(&["verify"]).exits(1);
    guarded.sub_stop(AGENT).blocked();
    assert!(!guarded.events().contains(&"COMMIT_VALIDATION_PASSED".to_owned()));
    guarded.env.run(&["verify"]).exits(0);
}
