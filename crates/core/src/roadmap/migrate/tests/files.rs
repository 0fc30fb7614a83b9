//! Files of each kind.

use serde_json::json;

use super::*;

/// A status file in which everything drifted: hoisted fields, other names, siblings, a phase twice, odd words.
const DRIFTED: &str = r#"# Kept by hand
project_id: tea-kettle
created: 2026-01-29
schema_version: "2.0.0"
metadata: {owner: Ada, priority: 3}
execution_status:
  current_step: "01-02"   # at work
  completed_steps:
    - {step_id: "01-01", commit_hash: abc123, completed_at: "2026-01-29T10:00:00Z", mood: fine}
    - "00-01"
  step_checkpoint: null
step_checkpoint_01_02:
  remarks: slow
  phases:
    - {name: PREPARE, status: complete, outcome: PASS, ended_at: 2026-01-29T11:00:00Z}
    - {name: RED_ACCEPTANCE, status: COMPLETED, outcome: FAIL, notes: first}
    - {name: RED_ACCEPTANCE, status: COMPLETED, outcome: PASS, extensions_granted: 2}
    - {name: RED_UNIT, status: IN_PROGRESS, timestamp: 2026-01-29T12:00:00Z}
    - {name: GREEN}
    - {name: REVIEW}
    - {name: REFACTOR_CONTINUOUS}
    - {name: COMMIT}
"#;

#[test]
fn dw_43_a_drifted_status_file_gets_the_form_of_schema_one() {
    let done = migrated(&[("execution-status.yaml", DRIFTED)]);
    assert_eq!(
        (done.changed, done.steps.clone()),
        (true, vec!["01-01".into(), "00-01".into(), "01-02".into()])
    );
    assert!(done.text.starts_with("# Kept by hand\n# at work\n"), "{}", done.text);
    let new = tree(&done.text);
    nothing_is_lost(&[&tree(DRIFTED)], &new);
    let status = &new["execution_status"];
    assert_eq!(status["schema_version"], "1.0");
    assert_eq!((&status["project_id"], &status["created_at"]), (&json!("tea-kettle"), &json!("2026-01-29")));
    assert_eq!(status["current"]["step_id"], "01-02");
    assert_eq!(status["completed_steps"][0]["commit_sha"], "abc123");
    assert_eq!(status["completed_steps"][0]["migrated_from"], json!({"mood": "fine"}));
    assert_eq!(status["completed_steps"][1], json!({"step_id": "00-01"}));
    let kept = &status["migrated_from"][0]["fields"];
    assert_eq!(kept["metadata"], json!({"owner": "Ada", "priority": 3}));
    assert_eq!(kept["schema_version"], "2.0.0");
    let phases = &status["step_checkpoint_01_02"]["phases"];
    assert_eq!(phases.as_array().unwrap().len(), 7);
    assert_eq!(phases[0]["status"], "COMPLETED");
    assert_eq!(phases[0]["migrated_from"], json!({"status": "complete"}));
    assert_eq!(phases[0]["completed_at"], "2026-01-29T11:00:00Z");
    assert_eq!(phases[1]["history"][0]["notes"], "first");
    assert_eq!(phases[1]["migrated_from"], json!({"extensions_granted": 2}));
    let (old, new) =
        (Document::read("s.yaml", DRIFTED).unwrap(), Document::read("s.yaml", &done.text).unwrap());
    for id in old.steps() {
        assert_eq!(plain(&old.step(Some(&id)).unwrap()), plain(&new.step(Some(&id)).unwrap()), "{id}");
    }
    assert!(
        done.carried.iter().any(|c| c.from == "current_step" && c.to == "execution_status.current.step_id")
    );
}

#[test]
fn a_file_that_has_the_form_is_left_alone_to_the_byte() {
    let text = crate::roadmap::document::new_status("p", now())
        .replace("completed_steps: []", "completed_steps: [] # none yet");
    let done = migrated(&[("execution-status.yaml", &text)]);
    assert_eq!((done.changed, done.text), (false, text));
}

fn step_file(id: &str, status: &str, phase: &str) -> String {
    json!({
        "schema_version": "1.0", "task_id": id, "project_id": "tea-kettle", "step_type": "atdd",
        "self_contained_context": {"background": "Tea", "relevant_files": ["a.py"]},
        "state": {"status": status, "assigned_to": "ada", "started_at": null},
        "tdd_cycle": {
            "acceptance_test": "boils",
            "phase_execution_log": [
                {"phase_name": "PREPARE", "phase_index": 0, "status": "EXECUTED", "outcome": "PASS", "duration_minutes": 4, "decision_gates": ["G1"]},
                {"phase_name": "RED_ACCEPTANCE", "phase_index": 1, "status": phase, "started_at": "2026-01-20T10:00:00Z"},
                {"phase_name": "COMMIT", "phase_index": 2, "status": "NOT_EXECUTED"},
            ],
        },
        "quality_gates": {"coverage": 80.5},
    })
    .to_string()
}

#[test]
fn k_12_step_files_become_one_status_file() {
    let files = [
        (
            "steps/01-01.json",
            step_file("01-01", "DONE", "EXECUTED")
                .replace("NOT_EXECUTED\"", "EXECUTED\", \"outcome\": \"PASS\"")
                .replace("\"EXECUTED\",\"started_at\"", "\"EXECUTED\",\"outcome\":\"PASS\",\"started_at\""),
        ),
        ("steps/01-02.json", step_file("01-02", "IN_PROGRESS", "IN_PROGRESS")),
        (
            "steps/01-03.json",
            step_file("01-03", "TODO", "NOT_EXECUTED")
                .replace("EXECUTED\",\"outcome\":\"PASS\"", "NOT_EXECUTED\""),
        ),
        ("steps/01-04.json", step_file("01-04", "FAILED", "EXECUTED")),
    ];
    let sources: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let done = migrated(&sources);
    let new = tree(&done.text);
    let olds: Vec<Json> = files.iter().map(|(_, text)| tree(text)).collect();
    nothing_is_lost(&olds.iter().collect::<Vec<_>>(), &new);
    let status = &new["execution_status"];
    assert_eq!(status["project_id"], "tea-kettle");
    assert_eq!(status["current"]["step_id"], "01-02");
    assert_eq!(status["current"]["phase_name"], "RED_ACCEPTANCE");
    assert_eq!(status["step_checkpoint"]["step_id"], "01-02", "the one at work has the usual place");
    let entry = &status["completed_steps"][0];
    assert_eq!((&entry["step_id"], &entry["duration_minutes"]), (&json!("01-01"), &json!(4)));
    let kept = &status["step_checkpoint_01_04"]["migrated_from"];
    assert_eq!(kept["file"], "steps/01-04.json");
    assert_eq!(kept["fields"]["quality_gates"]["coverage"], json!(80.5));
    let read = Document::read("execution-status.yaml", &done.text).unwrap();
    for (path, text) in &files {
        let old = Document::read(path, text).unwrap().step(None).unwrap();
        let new = read.step(Some(&old.task_id)).unwrap();
        assert_eq!(plain(&old), plain(&new), "{path}");
        assert_eq!(old.assigned_to, new.assigned_to);
    }
}

#[test]
fn k_16_partial_work_stays_partial_and_reasons_come_along() {
    let text = step_file("01-01", "FAILED", "EXECUTED").replace(
        "\"quality_gates\"",
        "\"execution_result\":{\"partial_completion\":true,\"failure_reason\":\"No prices\",\"recovery_suggestions\":[\"Ask\"],\"can_retry\":true},\"quality_gates\"",
    );
    let done = migrated(&[("steps/01-01.json", &text)]);
    let old = Document::read("x.json", &text).unwrap().step(None).unwrap();
    let new = Document::read("execution-status.yaml", &done.text).unwrap().step(Some("01-01")).unwrap();
    assert_eq!(old.status, StepStatus::Partial);
    assert_eq!(plain(&old), plain(&new));
    assert_eq!(
        (new.failure_reason.as_deref(), new.can_retry, new.recovery_suggestions),
        (Some("No prices"), Some(true), vec!["Ask".to_owned()])
    );
}

#[test]
fn an_execution_log_becomes_a_status_file() {
    let text = include_str!("../../log/tests/bars.yaml");
    let done = migrated(&[("execution-log.yaml", text)]);
    let new = tree(&done.text);
    nothing_is_lost(&[&tree(text)], &new);
    assert_eq!(new["execution_status"]["created_at"], "2026-02-05T13:50:00Z");
    assert_eq!(
        new["execution_status"]["completed_steps"][0]["files_modified"]["tests"],
        json!(["tests/test_kettle.py"])
    );
    let (old, read) = (Log::read("l.yaml", text).unwrap(), Document::read("s.yaml", &done.text).unwrap());
    for id in old.steps() {
        assert_eq!(plain(&old.step(&id).unwrap()), plain(&read.step(Some(&id)).unwrap()), "{id}");
    }
}

#[test]
fn a_list_of_steps_becomes_checkpoints() {
    let text = "project_id: p\nphases:\n- name: One\n  steps:\n  - id: 01-01\n    status: completed\n    completed_at: 2026-01-01T00:00:00Z\n    size: 3\n    tdd_phases:\n    - {name: RED, status: completed, outcome: PASS}\n    - {name: GREEN, status: completed, outcome: PASS}\n    - {name: COMMIT, status: completed, outcome: PASS}\n  - id: 01-02\n    status: in_progress\n    started_at: 2026-01-02T00:00:00Z\n    tdd_phases:\n    - {name: RED, status: in_progress}\n    - {name: GREEN, status: pending}\n    - {name: COMMIT, status: pending}\n";
    let done = migrated(&[("execution-status.yaml", text)]);
    let new = tree(&done.text);
    nothing_is_lost(&[&tree(text)], &new);
    let (old, read) =
        (Document::read("s.yaml", text).unwrap(), Document::read("s.yaml", &done.text).unwrap());
    assert_eq!(old.shape(), Shape::Tracker);
    for id in old.steps() {
        assert_eq!(plain(&old.step(Some(&id)).unwrap()), plain(&read.step(Some(&id)).unwrap()), "{id}");
    }
    assert_eq!(new["execution_status"]["step_checkpoint"]["step_id"], "01-02");
}

#[test]
fn what_cannot_be_brought_forward_is_refused_loudly() {
    let error = |sources: &[(&str, &str)]| {
        let sources: Vec<Source<'_>> = sources.iter().map(|(path, text)| Source { path, text }).collect();
        migrate(&sources, now()).unwrap_err().to_string()
    };
    assert_eq!(error(&[]), "there is no state file to bring forward");
    let one = step_file("01-01", "TODO", "NOT_EXECUTED");
    assert_eq!(
        error(&[("a.json", &one), ("b.json", &one)]),
        "step 01-01 is both in a.json and in b.json; say which of them counts"
    );
    let other = step_file("01-02", "TODO", "NOT_EXECUTED").replace("tea-kettle", "toaster");
    assert_eq!(
        error(&[("a.json", &one), ("b.json", &other)]),
        "b.json belongs to project `toaster`, but the others belong to `tea-kettle`"
    );
    assert!(error(&[("a.json", "{")]).starts_with("a.json cannot be read: this is not JSON"));
    // A key that is there twice would lose one of its values.
    assert!(
        error(&[("a.yaml", "project_id: a\nproject_id: b\nexecution_status: {}\n")])
            .contains("a.yaml cannot be read")
    );
}
