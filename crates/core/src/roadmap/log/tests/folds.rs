//! What the events of a log mean for its steps.

use serde_json::json;

use super::BARS;
use super::lines;
use super::read;
use crate::check::file;
use crate::kind::Kind;
use crate::roadmap::Outcome;
use crate::roadmap::PhaseStatus;
use crate::roadmap::StepStatus;
use crate::roadmap::document::StepError;
use crate::roadmap::log::Log;
use crate::roadmap::log::Shape;

#[test]
fn dw_38_strings_and_mappings_are_read_with_their_quirks() {
    let log = read(BARS);
    assert_eq!(log.project_id(), "tea-kettle");
    assert_eq!(log.steps(), ["01-01", "01-02-light"]);
    let green = &log.events()[3];
    assert_eq!(
        (green.data.as_str(), green.turns, green.tokens),
        ("PASS: 23 tests | 0 failed", Some(12), Some(4500))
    );
    assert_eq!(log.events().last().unwrap().shape, Shape::Mapping);
    assert_eq!(log.usage("01-01"), (12, 4500));
    assert_eq!(log.files_modified("01-01").implementation, ["src/kettle.py"]);
    assert_eq!(log.files_modified("01-01").tests, ["tests/test_kettle.py"]);
    assert_eq!(log.done(), ["01-01"]);
}

/// The same model as other state files: phases with outcome, reason, times.
#[test]
fn dw_37_a_step_of_a_log_is_a_step_like_any_other() {
    let state = read(BARS).step("01-01").unwrap();
    assert_eq!((state.status.clone(), state.phases.len()), (StepStatus::Done, 7));
    assert_eq!(state.completed_at.as_deref(), Some("2026-02-05T22:08:00Z"));
    let phase = |name: &str| state.phase(name).unwrap();
    assert_eq!(phase("RED_UNIT").status, PhaseStatus::Skipped);
    assert_eq!(phase("RED_UNIT").blocked_by.as_deref(), Some("NOT_APPLICABLE: covered"));
    assert_eq!(phase("GREEN").outcome, Some(Outcome::Pass));
    assert_eq!(phase("GREEN").notes.as_deref(), Some("23 tests | 0 failed"));
    assert_eq!(phase("GREEN").turn_count, Some(12));
    assert!(state.all_phases_valid());

    let light = read(BARS).step("01-02-light").unwrap();
    assert_eq!(light.status, StepStatus::InProgress);
    let prepare = light.phase("PREPARE").unwrap();
    assert_eq!(prepare.started_at.as_deref(), Some("2026-02-05T23:00:00Z"));
    assert_eq!(prepare.ended_at.as_deref(), Some("2026-02-05T23:01:00Z"));
    let red = light.phase("RED_ACCEPTANCE").unwrap();
    assert_eq!(red.outcome, Some(Outcome::Other("UNEXPECTED_GREEN".to_owned())), "never a pass");
    assert!(matches!(read(BARS).step("01-03"), Err(StepError::NotThere { .. })));
}

/// K-04: FAIL of a red test means that it is red, where the work went on; elsewhere a failed phase is a failed phase.
#[test]
fn k_04_a_red_test_that_fails_is_red() {
    let state = read(BARS).step("01-01").unwrap();
    assert_eq!(state.phase("RED_ACCEPTANCE").unwrap().outcome, Some(Outcome::Pass));
    assert_eq!(state.phase("RED_ACCEPTANCE").unwrap().outcome_details.as_deref(), Some("FAIL"));
    let stopped = "project_id: p\nevents:\n- 01-01|PREPARE|EXECUTED|PASS|2026-02-05T22:00:00Z\n- 01-01|RED_UNIT|EXECUTED|FAIL|2026-02-05T22:01:00Z\n";
    let state = read(stopped).step("01-01").unwrap();
    assert_eq!(
        (state.status.clone(), state.phase("RED_UNIT").unwrap().status.clone()),
        (StepStatus::Failed, PhaseStatus::Failed)
    );
}

/// DW-77: a phase that comes again takes those after it along, and the history has what was.
#[test]
fn dw_77_a_second_round_keeps_the_first_as_history() {
    let more = "  - \"01-01|GREEN|EXECUTED|FAIL|2026-02-06T10:00:00Z\"\n";
    let state = read(&format!("{BARS}{more}")).step("01-01").unwrap();
    assert_eq!(state.status, StepStatus::Failed);
    let green = state.phase("GREEN").unwrap();
    assert_eq!((green.status.clone(), green.history.len()), (PhaseStatus::Failed, 1));
    assert_eq!(green.history[0]["outcome"], json!("PASS"));
    assert_eq!(state.phase("COMMIT").unwrap().status, PhaseStatus::NotExecuted);
    assert_eq!(state.phase("COMMIT").unwrap().history.len(), 1);
    assert_eq!(state.phase("PREPARE").unwrap().status, PhaseStatus::Done, "what came before still stands");
}

/// K-01: five phases are five, also while the first steps of a log have not come that far.
#[test]
fn k_01_the_generation_is_that_of_the_log() {
    let event = |step: &str, phase: &str| json!({"sid": step, "p": phase, "s": "EXECUTED", "d": "PASS", "t": "2026-03-03T16:45:14Z"});
    let five =
        ["PREPARE", "RED_ACCEPTANCE", "RED_UNIT", "GREEN", "COMMIT"].map(|phase| event("01-01", phase));
    let mut events = five.to_vec();
    events.push(event("01-02", "PREPARE"));
    events.push(event("02-01", "RED"));
    let text = json!({"schema_version": "3.0", "feature_id": "p", "events": events}).to_string();
    let log = Log::read("execution-log.json", &text).unwrap();
    assert_eq!(log.findings(), []);
    assert_eq!(log.step("01-01").unwrap().status, StepStatus::Done);
    assert_eq!(log.step("01-02").unwrap().phases.len(), 5);
    assert_eq!(log.step("02-01").unwrap().phases.len(), 3);
}

#[test]
fn json_in_the_data_is_understood() {
    let blob = json!({"outcome": "PASS", "total": 9, "passed": 9, "failed": 0}).to_string();
    let event =
        json!({"sid": "01-01", "p": "GREEN", "s": "EXECUTED", "d": blob, "t": "2026-03-03T16:45:14Z"});
    let text = json!({"project_id": "p", "events": [event]}).to_string();
    let state = Log::read("execution-log.json", &text).unwrap().step("01-01").unwrap();
    let green = state.phase("GREEN").unwrap();
    assert_eq!((green.outcome.clone(), green.test_results.unwrap().total), (Some(Outcome::Pass), 9));
}

/// Drift is a warning; only what cannot be understood is an error.
#[test]
fn the_check_names_what_is_odd() {
    assert_eq!(
        lines(BARS),
        [
            "10:5 warning drift FAIL of RED_ACCEPTANCE is read as a test that is red as it should be",
            "21:5 warning unknown-value `COMPLETED` is read as `EXECUTED`",
        ]
    );
    let text = "project: p
events:
  - 01-01|PREPARE|EXECUTED
  - 01-01|PREPAR|EXECUTED|all fine|2026-02-05T22:00:00Z
  - 01-01|GREEN|WAITING|x|2026-02-05T21:00:00Z
  - 01-01|GREEN|SKIP|just so|yesterday
  - 7
  - {sid: 01-01, p: GREEN, s: EXECUTED}
  - 01-01|FILES_MODIFIED|pictures|x.png|2026-02-05T22:00:00Z
";
    assert_eq!(
        lines(text),
        [
            "1:1 error missing-field an execution log needs the field `project_id`",
            "1:1 warning unknown-field unknown field `project` in an execution log",
            "3:5 error event an event has at least 5 fields, but this has 3",
            "4:5 warning unknown-phase `PREPAR` is not a known phase",
            "4:5 warning phase phase PREPAR was carried out without an outcome",
            "5:5 warning timestamp step 01-01 goes back in time here",
            "5:5 warning unknown-value `WAITING` is not a status",
            "6:5 warning timestamp `yesterday` is not a time",
            "6:5 warning unknown-value `SKIP` is read as `SKIPPED`",
            "6:5 warning phase phase GREEN was skipped without a valid reason: `just so`",
            "7:5 error event the number 7 is not an event",
            "8:5 error event an event needs the field `t`",
            "9:5 warning unknown-value `pictures` is not a sort of files",
        ]
    );
    assert_eq!(
        lines("project_id: p\nevents: 3\n"),
        ["2:9 error type `events` must be a list, but this is the number 3"]
    );
    assert_eq!(
        lines("project_id: p\n"),
        ["1:1 error missing-field an execution log needs the field `events`"]
    );
    let few = BARS.replace("total_steps: 3", "total_steps: 1");
    assert!(lines(&few)[0].contains("`total_steps` is 1, but the events name 2 steps"));
}

#[test]
fn a_log_is_a_kind_of_file_with_rules_of_its_own() {
    let checked = file("execution-log.yaml", BARS.as_bytes(), None);
    assert_eq!((checked.kind, checked.findings.len()), (Some(Kind::ExecutionLogTdd), 2));
    let broken = file("execution-log.json", b"{\"events\": [}", None);
    assert_eq!(broken.kind, Some(Kind::ExecutionLogTdd));
    assert!(broken.findings[0].message.starts_with("this is not JSON"), "{:?}", broken.findings);
}
