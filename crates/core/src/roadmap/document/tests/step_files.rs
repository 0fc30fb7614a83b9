//! Step files.

use serde_json::json;

use super::carried_out;
use super::changed_lines;
use super::lines;
use super::now;
use super::read;
use crate::roadmap::document::Document;
use crate::roadmap::document::Shape;
use crate::roadmap::document::not_found;
use crate::roadmap::machine;
use crate::roadmap::phases::Schema;
use crate::roadmap::state::PhaseStatus;
use crate::roadmap::state::StepStatus;

/// A step file of the first variant, with the phases of a generation.
fn variant_a(version: &str) -> String {
    let log: Vec<serde_json::Value> = Schema::of_version(version)
        .unwrap()
        .phases
        .iter()
        .map(|phase| {
            json!({"phase_name": phase.name, "phase_index": phase.index, "status": "NOT_EXECUTED",
                   "started_at": null, "ended_at": null, "outcome": null, "notes": null, "blocked_by": null,
                   "history": [], "house_field": {"kept": true}})
        })
        .collect();
    let file = json!({
        "schema_version": "1.0", "task_id": "01-01", "project_id": "demo", "step_type": "atdd",
        "execution_agent": "software-crafter",
        "task_specification": {"name": "x", "allowed_file_patterns": ["src/**"], "test_file": "tests/a.rs"},
        "state": {"status": "TODO", "assigned_to": null, "started_at": null, "completed_at": null},
        "tdd_cycle": {"phase_execution_log": log}, "quality_gates": {"all_tests_must_pass": true},
    });
    serde_json::to_string_pretty(&file).unwrap() + "\n"
}

#[test]
fn variant_a_is_read_whole() {
    let document = read("steps/01-01.json", &variant_a("1"));
    assert_eq!(document.findings(), []);
    assert_eq!((document.shape(), document.steps()), (Shape::StepFile, vec!["01-01".to_owned()]));
    let state = document.step(None).unwrap();
    assert_eq!((state.task_id.as_str(), state.project_id.as_str()), ("01-01", "demo"));
    assert_eq!((state.status, state.phases.len(), state.writes), (StepStatus::Todo, 14, true));
    assert_eq!(state.step_file, "steps/01-01.json");
    assert_eq!(state.allowed_patterns, Some(vec!["src/**".to_owned(), "tests/a.rs".to_owned()]));
    assert_eq!(
        document.step(Some("01-02")).unwrap_err().to_string(),
        "steps/01-01.json has no step `01-02`; did you mean `01-01`?"
    );
}

#[test]
fn variants_b_and_c_are_read() {
    let b = json!({
        "step_id": "02-03", "step_name": "n", "project_id": "demo", "phase_id": "02",
        "tdd_cycle": {
            "tdd_phase_tracking": {"current_phase": "GREEN", "phases_completed": ["PREPARE"]},
            "phase_execution_log": [
                {"phase_name": "PREPARE", "status": "EXECUTED", "outcome": "PASS", "completed_at": "2026-01-20T10:00:00Z"},
                {"outcome": "PASS"},
            ],
        },
        "validation": {"status": "approved"},
    });
    let state = read("02-03.json", &b.to_string()).step(None).unwrap();
    assert_eq!(state.task_id, "02-03");
    assert_eq!(state.phases[0].ended_at.as_deref(), Some("2026-01-20T10:00:00Z"));
    // DS-39: no status is not executed, no name is unknown.
    assert_eq!(
        (state.phases[1].name.as_str(), &state.phases[1].status),
        ("UNKNOWN", &PhaseStatus::NotExecuted)
    );
    assert_eq!(state.allowed_patterns, None);
    let c = json!({
        "task_specification": {"task_id": "03-01", "project_id": "demo", "step_type": "research"},
        "tdd_cycle": {"phases": {"RED": "COMPLETED", "GREEN": {"status": "in_progress"}, "COMMIT": null}},
        "validation": {},
    });
    let state = read("03-01.json", &c.to_string()).step(None).unwrap();
    let statuses: Vec<&PhaseStatus> = state.phases.iter().map(|phase| &phase.status).collect();
    assert_eq!(statuses, [&PhaseStatus::Done, &PhaseStatus::InProgress, &PhaseStatus::NotExecuted]);
    assert!(!state.writes);
    let claimed = json!({
        "task_id": "04-01", "project_id": "demo",
        "tdd_cycle": {"tdd_phase_tracking": {"current_phase": "RED_UNIT", "phases_completed": ["PREPARE", "RED_ACCEPTANCE"]}},
    });
    let state = read("04-01.json", &claimed.to_string()).step(None).unwrap();
    assert_eq!(state.phase("RED_ACCEPTANCE").unwrap().status, PhaseStatus::Done);
    assert_eq!(state.phase("RED_ACCEPTANCE").unwrap().outcome, None, "a claim without an outcome");
}

#[test]
fn ds_18_ds_19_ds_21_ds_22_what_is_missing_is_said_to_the_letter_and_at_once() {
    assert_eq!(not_found("a/b.json").message, "Step file not found: a/b.json");
    assert_eq!(
        lines("x.json", "{\"task_specification\": {}}"),
        [
            "1:1 error Step file missing field: task_id",
            "1:1 error Step file missing field: project_id",
            "1:1 error Step file missing field: tdd_cycle"
        ]
    );
    let broken = Document::read("x.json", "{\n  \"task_id\": \n}").unwrap_err();
    assert_eq!(broken[0].message, "Step file invalid JSON: expected value at line 3 column 1");
    assert_eq!(broken[0].place.line, 3);
    assert_eq!(
        Document::read("x.json", "[]").unwrap_err()[0].message,
        "a state file must be a mapping, but this is a list"
    );
    assert_eq!(Document::read("x.json", "").unwrap_err()[0].place.line, 1);
}

#[test]
fn ds_20_k_95_the_count_is_that_of_the_files_generation() {
    for schema in Schema::built_in() {
        assert_eq!(lines("x.json", &variant_a(&schema.version)), Vec::<String>::new(), "{}", schema.version);
        let mut file: serde_json::Value = serde_json::from_str(&variant_a(&schema.version)).unwrap();
        let log = file["tdd_cycle"]["phase_execution_log"].as_array_mut().unwrap();
        log.remove(0);
        let expected = schema.phases.len();
        let text = serde_json::to_string_pretty(&file).unwrap();
        let told = lines("x.json", &text).join("\n");
        let found = expected - 1;
        assert!(told.contains(&format!("error Step file has {found} phases, expected {expected}")), "{told}");
    }
    let empty = json!({"task_id": "1", "project_id": "p", "tdd_cycle": {"phase_execution_log": []}});
    assert_eq!(lines("x.json", &empty.to_string()), ["1:68 error Step file has 0 phases, expected 14"]);
    let second = json!({"schema_version": "2.0", "task_id": "1", "project_id": "p", "tdd_cycle": {}});
    assert_eq!(
        lines("x.json", &second.to_string())[0].split_once(' ').unwrap().1,
        "error Step file has 0 phases, expected 8"
    );
}

#[test]
fn e_83_what_is_wrong_with_phases_is_said_with_its_line() {
    let text = variant_a("3")
        .replacen("NOT_EXECUTED", "WIP", 1)
        .replacen("NOT_EXECUTED", "COMPLETED", 1)
        .replacen("NOT_EXECUTED", "SKIPPED", 1);
    let told = lines("x.json", &text);
    assert_eq!(
        told,
        [
            "22:7 error Phase PREPARE has the unknown status `WIP`",
            "36:7 error Phase RED_ACCEPTANCE COMPLETED without outcome",
            "50:7 error Phase RED_UNIT SKIPPED without blocked_by",
        ]
    );
}

#[test]
fn e_57_a_change_touches_only_what_changed() {
    let text = variant_a("1");
    let edited = carried_out("steps/01-01.json", &text, "01-01", "PREPARE");
    assert_eq!(
        changed_lines(&text, &edited),
        [
            "\"status\": \"IN_PROGRESS\",",
            "\"started_at\": \"2026-01-22T12:00:00Z\",",
            "\"status\": \"EXECUTED\",",
            "\"started_at\": \"2026-01-22T12:00:00Z\",",
            "\"ended_at\": \"2026-01-22T12:00:00Z\",",
            "\"outcome\": \"PASS\",",
            "},",
            "\"duration_minutes\": 0",
        ]
    );
    assert_eq!(edited.matches("house_field").count(), 14);
}

#[test]
fn k_03_the_files_own_words_are_kept() {
    let eight = variant_a("2").replacen("\"NOT_EXECUTED\"", "\"EXECUTED\"", 1).replacen(
        "\"outcome\": null",
        "\"outcome\": \"PASS\"",
        1,
    );
    let edited = carried_out("x.json", &eight, "01-01", "RED_ACCEPTANCE");
    assert_eq!(edited.matches("\"EXECUTED\"").count(), 2);
    let fresh = carried_out("x.json", &variant_a("2"), "01-01", "PREPARE");
    assert!(fresh.contains("\"COMPLETED\""));
}

#[test]
fn a_step_is_carried_from_its_first_phase_to_its_end_in_every_generation() {
    for schema in Schema::built_in() {
        let mut text = variant_a(&schema.version);
        for phase in &schema.phases {
            text = carried_out("x.json", &text, "01-01", &phase.name);
        }
        let state = read("x.json", &text).step(None).unwrap();
        assert_eq!(state.status, StepStatus::Done);
        assert_eq!(machine::stop(&state, schema, now()).errors, []);
        assert_eq!(lines("x.json", &text), Vec::<String>::new());
    }
}

#[test]
fn ds_64_ds_65_ds_67_recoveries_are_written_where_the_contract_says() {
    let started = |text: &str| -> (Document, crate::roadmap::StepState) {
        let document = read("x.json", text);
        let mut state = document.step(None).unwrap();
        state.status = StepStatus::InProgress;
        (document, state)
    };
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let (document, state) = started(&variant_a("1"));
    let silent = machine::silent(&state, now()).unwrap().state;
    let file = json(&document.apply(&silent, now()).unwrap());
    assert_eq!(file["state"]["status"], json!("FAILED"));
    assert_eq!(file["state"]["failure_reason"], json!("Agent completed without updating step file"));
    assert_eq!(file["state"]["recovery_suggestions"].as_array().unwrap().len(), 3);
    let mut running = state.clone();
    running.phases[0].status = PhaseStatus::InProgress;
    let crashed = json(&document.apply(&machine::crash(&running, now()).state, now()).unwrap());
    assert_eq!(crashed["state"]["can_retry"], json!(true));
    let phase = &crashed["tdd_cycle"]["phase_execution_log"][0];
    assert_eq!(
        (&phase["status"], &phase["history"][0]["status"]),
        (&json!("NOT_EXECUTED"), &json!("CRASHED"))
    );
    let partial =
        document.apply(&machine::partial(&running, &["go on".to_owned()], now()).state, now()).unwrap();
    let file = json(&partial);
    assert_eq!(file["state"]["status"], json!("PARTIAL"));
    assert_eq!(
        file["execution_result"],
        json!({"recovery_suggestions": ["go on"], "partial_completion": true})
    );
    assert!(read("x.json", &partial).step(None).unwrap().is_resumable());
}

#[test]
fn a_file_without_a_log_gets_one() {
    let text = "{\n  \"task_id\": \"1\",\n  \"project_id\": \"p\",\n  \"status\": \"pending\",\n  \"tdd_cycle\": {}\n}\n";
    let edited = carried_out("x.json", text, "1", "PREPARE");
    let state = read("x.json", &edited).step(None).unwrap();
    assert_eq!((state.status, state.phases.len()), (StepStatus::InProgress, 14));
    assert!(edited.contains("\"status\": \"in_progress\""), "{edited}");
    assert!(edited.starts_with("{\n  \"task_id\": \"1\",\n"));
}
