//! The status file of a project, with all its drift.

use super::carried_out;
use super::changed_lines;
use super::lines;
use super::now;
use super::read;
use crate::roadmap::document::Document;
use crate::roadmap::document::Shape;
use crate::roadmap::document::new_status;
use crate::roadmap::machine;
use crate::roadmap::phases::Schema;
use crate::roadmap::state::Outcome;
use crate::roadmap::state::PhaseStatus;
use crate::roadmap::state::StepStatus;
use crate::roadmap::verdict;

const PATH: &str = "docs/feature/demo/execution-status.yaml";

const USUAL: &str = "\
# kept by hand
execution_status:
  schema_version: \"1.0\"
  created_at: 2026-01-20T10:00:00Z
  updated_at: 2026-01-21T10:00:00Z
  project_id: demo
  current:
    step_id: \"01-02\"   # now
    phase_index: 0
    phase_name: PREPARE
    started_at: 2026-01-21 09:00:00
    turn_count: 3
    last_checkpoint: null
  completed_steps:
    # the first one
    - step_id: \"01-01\"
      completed_at: 2026-01-20 12:00:00
      phases_executed: 7
      commit_sha: abc123
  step_checkpoint:
    step_id: \"01-02\"
    phases:
      - phase_index: 0
        phase_name: PREPARE
        status: COMPLETED
        started_at: 2026-01-21 09:00:00
        outcome: PASS
        mood: good   # nobody knows this field
      - {phase_index: 1, phase_name: RED_ACCEPTANCE, status: NOT_EXECUTED, outcome: null}
      - {phase_index: 2, phase_name: RED_UNIT, status: NOT_EXECUTED}
      - {phase_index: 3, phase_name: GREEN, status: NOT_EXECUTED}
      - {phase_index: 4, phase_name: REVIEW, status: NOT_EXECUTED}
      - {phase_index: 5, phase_name: REFACTOR_CONTINUOUS, status: NOT_EXECUTED}
      - {phase_index: 6, phase_name: COMMIT, status: NOT_EXECUTED}
# the end
";

#[test]
fn k_12_the_usual_file_holds_many_steps() {
    let document = read(PATH, USUAL);
    assert_eq!(document.findings(), []);
    assert_eq!(document.shape(), Shape::Status);
    assert_eq!(document.steps(), ["01-01", "01-02"]);
    let current = document.step(None).unwrap();
    assert_eq!((current.task_id.as_str(), &current.status), ("01-02", &StepStatus::InProgress));
    assert_eq!(
        current.phases[0].started_at.as_deref(),
        Some("2026-01-21 09:00:00"),
        "a native time is a time"
    );
    let first = document.step(Some("01-01")).unwrap();
    assert_eq!((first.status, first.phases.len()), (StepStatus::Done, 0));
    assert_eq!(
        document.step(Some("09-09")).unwrap_err().to_string(),
        format!("{PATH} has no step `09-09`; it has 01-01, 01-02")
    );
}

#[test]
fn e_57_changes_keep_comments_and_unknown_fields() {
    let edited = carried_out(PATH, USUAL, "01-02", "RED_ACCEPTANCE");
    assert_eq!(
        changed_lines(USUAL, &edited),
        [
            "updated_at: \"2026-01-22T12:00:00Z\"",
            "phase_index: 1",
            "phase_name: RED_ACCEPTANCE",
            "started_at: \"2026-01-22T12:00:00Z\"",
            "- {phase_index: 1, phase_name: RED_ACCEPTANCE, status: \"COMPLETED\", outcome: \"PASS\", \
             \"started_at\": \"2026-01-22T12:00:00Z\", \"completed_at\": \"2026-01-22T12:00:00Z\", \
             \"duration_minutes\": 0}",
        ]
    );
    for kept in
        ["# kept by hand", "# now", "# the first one", "mood: good   # nobody knows this field", "# the end"]
    {
        assert!(edited.contains(kept), "{kept}");
    }
}

#[test]
fn a_step_that_ends_joins_the_complete_ones() {
    let mut text = USUAL.to_owned();
    for phase in Schema::usual().phases.iter().skip(1) {
        text = carried_out(PATH, &text, "01-02", &phase.name);
    }
    let document = read(PATH, &text);
    let state = document.step(Some("01-02")).unwrap();
    assert_eq!(state.status, StepStatus::Done);
    assert_eq!(machine::stop(&state, state.schema(), now()).status, verdict::Standing::Success);
    assert!(text.contains("    # the first one\n    - step_id: \"01-01\"\n"), "{text}");
    assert!(text.contains("    - step_id: \"01-02\"\n      completed_at: \"2026-01-22T12:00:00Z\"\n      phases_executed: 7\n"), "{text}");
    assert_eq!(lines(PATH, &text), Vec::<String>::new());
}

#[test]
fn a_new_step_takes_the_free_place_or_one_beside() {
    let fresh = new_status("demo", now());
    assert_eq!(lines(PATH, &fresh), Vec::<String>::new());
    assert_eq!(
        read(PATH, &fresh).step(None).unwrap_err().to_string(),
        format!("{PATH} holds no step yet; name the one that is meant")
    );
    let begun = carried_out(PATH, &fresh, "01-01", "PREPARE");
    let document = read(PATH, &begun);
    assert_eq!(document.step(None).unwrap().task_id, "01-01");
    assert_eq!(document.step(None).unwrap().project_id, "demo");
    let second = carried_out(PATH, &begun, "03-01", "PREPARE");
    assert!(second.contains("  step_checkpoint_03_01:\n"), "{second}");
    assert_eq!(read(PATH, &second).steps(), ["01-01", "03-01"]);
    assert_eq!(read(PATH, &second).step(Some("01-01")).unwrap().phases[0].status, PhaseStatus::Done);
}

#[test]
fn drift_is_read_and_named() {
    let text = "\
project_id: demo
created: 2026-01-20
schema_version: \"2.0.0\"
metadata: {owner: x}
current_step: \"03-01\"
completed_steps:
  - {step_id: \"01-01\", commit_hash: abc}
step_checkpoint: null
step_checkpoint_03_01:
  phases:
    - {phase_name: RED, status: complete, outcome: PASS}
    - {phase_name: GREEN, status: IN_PROGRESS, started_at: 2026-01-21T09:00:00}
    - {phase_name: COMMIT, status: NOT_EXECUTED}
    - {phase_name: GREEN, status: COMPLETED, outcome: PASS}
";
    assert_eq!(
        lines(PATH, text),
        [
            "1:1 warning the fields belong under `execution_status`",
            "2:1 warning `created` is read as `created_at`",
            "5:1 warning `current_step` is read as `current.step_id`",
            "7:24 warning `commit_hash` is read as `commit_sha`",
            "9:1 warning `step_checkpoint_03_01` is read as one more checkpoint",
            "11:7 warning `complete` is read as `COMPLETED`",
            "14:7 warning the phase GREEN is there more than once; the last entry counts",
        ]
    );
    let state = read(PATH, text).step(None).unwrap();
    assert_eq!((state.task_id.as_str(), state.project_id.as_str()), ("03-01", "demo"));
    assert_eq!(state.phases.len(), 3);
    assert_eq!(state.phase("GREEN").unwrap().status, PhaseStatus::Done);
    let edited = carried_out(PATH, text, "03-01", "COMMIT");
    assert_eq!(read(PATH, &edited).step(Some("03-01")).unwrap().status, StepStatus::Done);
    assert!(edited.contains("- {phase_name: GREEN, status: IN_PROGRESS, started_at: 2026-01-21T09:00:00}"));
}

#[test]
fn hoisted_fields_beside_a_nested_status_are_read() {
    let text = "project_id: demo\nexecution_status:\n  current: {step_id: \"01-01\"}\n  step_checkpoint:\n    step_id: \"01-01\"\n    phases: [RED, GREEN, COMMIT]\n";
    assert_eq!(lines(PATH, text), ["1:1 warning `project_id` belongs under `execution_status`"]);
    let state = read(PATH, text).step(None).unwrap();
    assert_eq!((state.project_id.as_str(), state.phases.len(), state.status), ("demo", 3, StepStatus::Todo));
    let edited = carried_out(PATH, text, "01-01", "RED");
    assert_eq!(read(PATH, &edited).step(None).unwrap().phases[0].status, PhaseStatus::Done);
}

#[test]
fn the_tracker_is_read_and_keeps_its_case() {
    let text = "\
project_id: demo
phases:
  - id: \"01\"
    name: first
steps:
  - id: \"01-01\"
    status: in_progress   # going on
    tdd_phases:
      - {name: RED, status: completed, outcome: pass}
      - name: GREEN
        status: pending
      - name: COMMIT
        status: pending
";
    let document = read(PATH, text);
    assert_eq!(document.shape(), Shape::Tracker);
    assert_eq!(document.steps(), ["01-01"]);
    let state = document.step(None).unwrap();
    assert_eq!((&state.status, &state.phases[0].status), (&StepStatus::InProgress, &PhaseStatus::Done));
    let edited = carried_out(PATH, &carried_out(PATH, text, "01-01", "GREEN"), "01-01", "COMMIT");
    assert!(edited.contains("    status: done   # going on\n"), "{edited}");
    assert!(edited.contains("        status: completed\n"), "{edited}");
    assert!(lines(PATH, text)[0].contains("is a list of steps"));
}

#[test]
fn k_16_partial_is_failed_with_its_marks_here() {
    let document = read(PATH, USUAL);
    let state = document.step(None).unwrap();
    let partial = machine::partial(&state, &["carry on with RED".to_owned()], now()).state;
    let text = document.apply(&partial, now()).unwrap();
    for line in ["    status: FAILED\n", "    partial_completion: true\n", "    can_retry: true\n"] {
        assert!(text.contains(line), "{text}");
    }
    let again = read(PATH, &text).step(None).unwrap();
    assert_eq!(again.status, StepStatus::Partial);
    assert!(again.is_resumable());
    let resumed = carried_out(PATH, &text, "01-02", "RED_ACCEPTANCE");
    let state = read(PATH, &resumed).step(None).unwrap();
    assert_eq!((state.status, state.partial_completion), (StepStatus::InProgress, false));
}

#[test]
fn ds_64_a_crash_is_written_and_read_back() {
    let mut state = read(PATH, USUAL).step(None).unwrap();
    state.phases[1].status = PhaseStatus::InProgress;
    let text = read(PATH, USUAL).apply(&machine::crash(&state, now()).state, now()).unwrap();
    let again = read(PATH, &text).step(None).unwrap();
    assert_eq!(again.status, StepStatus::Failed);
    assert_eq!(again.failure_reason.as_deref(), Some("Agent crashed"));
    assert_eq!(again.phases[1].history.len(), 1);
}

#[test]
fn ds_19_ds_20_what_a_status_file_lacks_is_said() {
    let text = "execution_status:\n  step_checkpoint:\n    step_id: \"01-01\"\n    phases:\n      - {phase_name: PREPARE, status: NOT_EXECUTED}\n      - {phase_name: GREEN, status: NOT_EXECUTED}\n      - {status: NOT_EXECUTED}\n";
    assert_eq!(
        lines(PATH, text),
        [
            "2:3 error the execution status needs the field `project_id`",
            "3:5 error Step file has 3 phases, expected 5",
            "7:9 error a phase needs the field `phase_name`",
        ]
    );
    assert_eq!(lines(PATH, "a: [\n").len(), 1);
}

#[test]
fn k_01_a_projects_own_phases_are_known_when_they_are_given() {
    let own = [Schema::parse("version: house\ndone: MADE\nphases: [THINK, MAKE, COMMIT]\n").unwrap()];
    let text = "execution_status:\n  project_id: demo\n  step_checkpoint:\n    step_id: \"1\"\n    phases:\n      - {phase_name: THINK, status: NOT_EXECUTED}\n      - {phase_name: MAKE, status: NOT_EXECUTED}\n      - {phase_name: COMMIT, status: NOT_EXECUTED}\n";
    assert!(!lines(PATH, text).is_empty(), "nobody said that these are phases");
    let document = Document::read_among(PATH, text, &own).unwrap();
    assert_eq!(document.findings(), []);
    let mut state = document.step(None).unwrap();
    assert_eq!(state.schema_among(&own).version, "house");
    state.phases[0].status = PhaseStatus::Failed;
    state.phases[0].outcome = Some(Outcome::Fail);
    let edited = document.apply(&state, now()).unwrap();
    assert!(edited.contains("{phase_name: THINK, status: \"MADE\", \"outcome\": \"FAIL\"}"), "{edited}");
}
