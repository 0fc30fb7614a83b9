//! State files of every generation: read, checked, and continued without losing anything.

use serde_json::Value;
use serde_json::json;

use crate::phases::FOURTEEN;
use crate::roadmap_support::Project;
use crate::roadmap_support::SEVEN;
use crate::roadmap_support::STATUS;
use crate::roadmap_support::TEST;
use crate::roadmap_support::add;
use crate::roadmap_support::texts;

/// A project whose state is in another file than usual.
fn with_state(path: &str, text: &str) -> Project {
    let project = Project::of("", &[add()]);
    std::fs::remove_file(project.env.path(STATUS)).unwrap();
    project.with(path, text);
    project.env.run(&["check", path]).exits(0);
    project
}

/// A list of phases of which the first ones are closed.
fn phases(names: &[&str], closed: usize, done: &str) -> Vec<Value> {
    let of = |(index, name): (usize, &&str)| {
        let is_closed = index < closed;
        json!({
            "phase_name": name, "phase_index": index, "status": if is_closed { done } else { "NOT_EXECUTED" },
            "started_at": is_closed.then_some("2026-01-29T15:00:00Z"),
            "ended_at": is_closed.then_some("2026-01-29T15:10:00Z"),
            "outcome": is_closed.then_some("PASS"), "notes": null, "blocked_by": null, "history": [],
            "house_field": {"kept": index},
        })
    };
    names.iter().enumerate().map(of).collect()
}

/// DW-56 with K-12: fourteen phases in a file for each step, whose word for an end is EXECUTED (K-03).
#[test]
fn k_12_a_step_file_of_the_first_generation_is_continued_and_keeps_its_form() {
    let path = "docs/feature/calc/steps/01-01.json";
    let file = json!({
        "schema_version": "1.0", "task_id": "01-01", "project_id": "calc", "step_type": "atdd",
        "execution_agent": "software-crafter", "house": {"owner": "rita"},
        "task_specification": {"name": "x", "description": "y", "acceptance_criteria": ["add of two numbers is right"],
            "allowed_file_patterns": ["src/**", "tests/**"]},
        "state": {"status": "IN_PROGRESS", "assigned_to": "software-crafter", "started_at": "2026-01-29T15:00:00Z",
            "completed_at": null},
        "tdd_cycle": {"phase_execution_log": phases(&FOURTEEN, 1, "EXECUTED")},
    });
    let project = with_state(path, &format!("{}\n", serde_json::to_string_pretty(&file).unwrap()));
    project.step("01-01").exits(0);
    assert_eq!(project.count("01-01", "PREPARE"), 0);
    let after: Value = serde_json::from_str(&project.env.read(path)).unwrap();
    assert_eq!(after["house"], json!({"owner": "rita"}));
    assert_eq!(after["state"]["status"], "DONE", "{after:#}");
    let log = after["tdd_cycle"]["phase_execution_log"].as_array().unwrap();
    assert_eq!(log.len(), 14);
    for (index, (entry, name)) in log.iter().zip(FOURTEEN).enumerate() {
        assert_eq!((&entry["phase_name"], &entry["status"]), (&name.into(), &"EXECUTED".into()), "{entry:#}");
        assert_eq!(entry["house_field"], json!({"kept": index}), "{entry:#}");
    }
    assert_eq!(texts(&after["files_modified"]["implementation"]), ["src/add.py"], "{after:#}");
    assert_eq!(project.subjects(), Project::commits_of("01-01"));
    project.env.run(&["check", path]).exits(0);
    assert_eq!(project.git(&["status", "--porcelain"]), "");
}

/// E-57: comments, unknown keys and the order of a file that people edit.
#[test]
fn e_57_an_execution_status_with_comments_and_unknown_keys_is_continued_and_keeps_them() {
    let text = r#"# Kept by hand since January.
execution_status:
  schema_version: "1.0"   # not the phases' version
  project_id: calc
  house: {owner: rita}
  current:
    step_id: "01-01"
    phase_index: 1
    mood: hopeful
  completed_steps: []
  step_checkpoint:
    step_id: "01-01"
    # the first one was easy
    phases:
      - {phase_index: 0, phase_name: PREPARE, status: COMPLETED, started_at: "2026-01-29T15:00:00Z", completed_at: "2026-01-29T15:10:00Z", outcome: PASS, by: rita}
      - {phase_index: 1, phase_name: RED_ACCEPTANCE, status: NOT_EXECUTED}
      - {phase_index: 2, phase_name: RED_UNIT, status: NOT_EXECUTED}
      - {phase_index: 3, phase_name: GREEN, status: NOT_EXECUTED}
      - {phase_index: 4, phase_name: REVIEW, status: NOT_EXECUTED}
      - {phase_index: 5, phase_name: REFACTOR_CONTINUOUS, status: NOT_EXECUTED}
      - {phase_index: 6, phase_name: COMMIT, status: NOT_EXECUTED}
"#;
    let project = Project::single();
    project.with(STATUS, text);
    project.env.run(&["check", STATUS]).exits(0);
    project.step("01-01").exits(0);
    let after = project.env.read(STATUS);
    for kept in ["# Kept by hand since January.", "# not the phases' version", "# the first one was easy"] {
        assert!(after.contains(kept), "{kept} is lost:\n{after}");
    }
    let status = project.status();
    assert_eq!((&status["house"]["owner"], &status["current"]["mood"]), (&"rita".into(), &"hopeful".into()));
    assert_eq!(project.phase("01-01", "PREPARE")["by"], "rita");
    assert_eq!(project.count("01-01", "PREPARE"), 0);
    assert_eq!(project.count("01-01", "RED_ACCEPTANCE"), 1);
    project.assert_done(&["01-01"]);
}

/// What a log says before and after: every line that was there stays, to the letter.
#[track_caller]
fn assert_only_longer(before: &str, after: &str) {
    let mut rest = after.lines();
    for line in before.lines().filter(|line| !matches!(line.trim(), "]" | "}" | "],")) {
        let line = line.trim_end_matches(',');
        assert!(rest.any(|other| other.trim_end_matches(',') == line), "{line} is lost:\n{after}");
    }
}

/// A log is only ever added to; the phases that it knows go on.
#[test]
fn k_12_an_execution_log_with_strings_is_continued() {
    let path = "docs/feature/calc/execution-log.yaml";
    let text = "# the log of calc\nproject_id: calc\nschema_version: \"2.0\"\nevents:\n  \
                - \"01-01|PREPARE|EXECUTED|PASS|2026-02-05T10:00:00Z|3|1200\"\n  # red was hard\n  \
                - \"01-01|RED_ACCEPTANCE|EXECUTED|FAIL|2026-02-05T10:05:00Z\"\n";
    let project = with_state(path, text);
    project.step("01-01").exits(0);
    let after = project.env.read(path);
    assert_only_longer(text, &after);
    assert!(after.contains("01-01|COMMIT|EXECUTED|PASS"), "{after}");
    assert!(after.contains("FILES_MODIFIED") && after.contains("src/add.py"), "{after}");
    assert_eq!((project.count("01-01", "PREPARE"), project.count("01-01", "RED_ACCEPTANCE")), (0, 1));
    project.env.run(&["check", path]).exits(0);
    project.step("01-01").exits(0).says("Step 01-01 is done already");
    assert_eq!(project.git(&["status", "--porcelain"]), "");
}

#[test]
fn k_12_an_execution_log_with_mappings_is_continued() {
    let path = "docs/feature/calc/execution-log.yaml";
    let text = "project_id: calc\nschema_version: \"3.0\"\nhouse: {owner: rita}\nevents:\n  \
                - {sid: 01-01, p: PREPARE, s: EXECUTED, d: PASS, t: \"2026-02-11T10:00:00Z\", tu: 3, tk: 900}\n";
    let project = with_state(path, text);
    project.step("01-01").exits(0);
    let after = project.env.read(path);
    assert_only_longer(text, &after);
    let events = project.yaml(path)["events"].clone();
    assert!(events.as_array().unwrap().iter().all(Value::is_object), "{events:#}");
    assert_eq!(project.count("01-01", "PREPARE"), 0);
    project.env.run(&["check", path]).exits(0);
    project.step("01-01").exits(0).says("Step 01-01 is done already");
}

/// DW-43: the version of the log does not choose the phases; those that are in it do.
#[test]
fn dw_43_an_execution_log_in_json_with_three_phases_is_continued() {
    let path = "docs/feature/calc/deliver/execution-log.json";
    let text = "{\n  \"feature_id\": \"calc\",\n  \"schema_version\": \"5.0\",\n  \"house\": \"ours\",\n  \"events\": [\n    \
                {\"sid\": \"01-01\", \"p\": \"RED\", \"s\": \"EXECUTED\", \"d\": \"PASS\", \"t\": \"2026-05-01T10:00:00Z\"}\n  \
                ]\n}\n";
    let project = with_state(path, text);
    // What was red before is there, as its step left it.
    project.with("src/add.py", "RESULT = 0\n");
    project.with(
        "tests/test_add.py",
        "from src.add import RESULT\n\n\ndef test_add():\n    assertEqual(RESULT, 5)\n",
    );
    project.step("01-01").exits(0);
    let after = project.env.read(path);
    assert_only_longer(text, &after);
    assert_eq!(project.calls(), ["01-01 GREEN"]);
    let log: Value = serde_json::from_str(&after).unwrap();
    let last: Vec<&str> = log["events"].as_array().unwrap().iter().filter_map(|e| e["p"].as_str()).collect();
    assert!(last.contains(&"COMMIT") && last.contains(&"FILES_MODIFIED"), "{after}");
    project.env.run(&["check", path]).exits(0);
}

/// K-02: eight phases and five, of which all but the last are closed, go on as what they are.
#[test]
fn k_02_a_checkpoint_with_eight_or_five_phases_is_continued_with_its_own_list() {
    let eight = [&SEVEN[..6], &["REFACTOR_L4", "COMMIT"]].concat();
    let five = [&SEVEN[..4], &["COMMIT"]].concat();
    for (names, closed, calls) in [(eight, 6, vec!["01-01 REFACTOR_L4"]), (five, 4, vec![])] {
        let project = Project::single();
        let state = json!({"execution_status": {
            "schema_version": "1.0", "project_id": "calc", "current": {"step_id": "01-01"}, "completed_steps": [],
            "step_checkpoint": {"step_id": "01-01", "phases": phases(&names, closed, "COMPLETED")},
        }});
        project.with(STATUS, &format!("{state:#}\n"));
        project.with("src/add.py", "RESULT = 5\n").with("tests/test_add.py", TEST);
        project.env.run(&["check", STATUS]).exits(0);
        project.step("01-01").exits(0);
        assert_eq!(project.calls(), calls);
        let after = project.checkpoint("01-01");
        let kept: Vec<&str> =
            after["phases"].as_array().unwrap().iter().filter_map(|p| p["phase_name"].as_str()).collect();
        assert_eq!(kept, names);
        assert_eq!(project.phase("01-01", "PREPARE")["house_field"], json!({"kept": 0}));
        project.assert_done(&["01-01"]);
    }
}

/// K-01 and DW-57: the list of a roadmap is the list of its steps, whatever the versions say.
#[test]
fn dw_57_without_any_list_a_step_has_the_seven_phases_in_order() {
    let project = Project::single();
    project.step("01-01").exits(0);
    let checkpoint = project.checkpoint("01-01");
    for (index, (phase, name)) in checkpoint["phases"].as_array().unwrap().iter().zip(SEVEN).enumerate() {
        assert_eq!((&phase["phase_index"], &phase["phase_name"]), (&index.into(), &name.into()));
    }
    let calls: Vec<String> = SEVEN[..6].iter().map(|name| format!("01-01 {name}")).collect();
    assert_eq!(project.calls(), calls);
}

/// A file that cannot be read keeps the step from beginning, and is not touched.
#[test]
fn dw_53_a_state_file_that_cannot_be_read_is_left_alone_and_nothing_is_begun() {
    let project = Project::short();
    let text = "execution_status:\n  project_id: calc\n  current: [\n";
    project.with(STATUS, text);
    project.step("01-01").exits(2).says(&format!("{STATUS}:3: ")).says("nothing was started");
    assert_eq!(project.env.read(STATUS), text);
    assert_eq!(project.calls(), Vec::<String>::new());
}
