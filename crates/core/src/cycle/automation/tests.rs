//! Tests of the automation file.

use super::*;
use crate::cycle::limits::ScopeMode;

/// In the form in which such files are published.
const FILE: &str = r#"
loop:
  start_agent: planner
  max_consecutive_insufficient: 5
  human_approval_checkpoints: true
  context_path: docs/context/current_cycle.md
  archive_path: docs/context/archive
  max_duration: 30
agents:
  planner: {temperature: 0.1, top_p: 0.9, max_tokens: 2500, max_plan_loc: 50, max_context_docs: 2, time_budget: 3}
  actor:
    temperature: 0.0
    max_tokens: 3000
    max_execution_loc: 150
    max_files_modified: 2
    time_budget: 5
    forbidden_commands: ["rm -rf", "DROP TABLE", "DROP DATABASE", "DELETE FROM.*WHERE 1=1"]
  judge:
    max_tokens: 2000
    time_budget: 5
    required_checks: [existing_tests, linter, security_scan]
    validate_scope: true
    pause_threshold: 5
paths: {docs: docs/agent_docs}
risk_gates:
  low: {operations: [refactor, tests], judge_auto_approve: true, require_human_commit_approval: true}
  medium: {operations: [dependencies], judge_auto_approve: false, require_human_approval: true}
  high: {operations: [deployment], judge_auto_approve: false, block_and_escalate: true, require_audit_trail: true}
logging: {level: info}
notifications: {on_complete: true}
human_checkpoints:
  planner_questions_enabled: true
  planner_question_timeout: 24h
  judge_pass_approval_required: true
  judge_pass_timeout: 24h
  judge_pause_notification: true
images: {max_size_mb: 10}
judge_test_battery:
  run_existing_tests: true
  test_timeout: 5m
  run_linter: true
  linter_config: .eslintrc
  run_security_scan: true
  security_tools: [credential_leak_detection]
  fail_on_linter_warnings: false
  fail_on_security_warnings: true
archiving:
  archive_on_success: true
  success_suffix: ""
  incomplete_suffix: "_incomplete"
  failed_suffix: "_failed"
  retention_days: 365
"#;

fn said(text: &str) -> Vec<String> {
    let (_, findings) = Automation::parse(text.as_bytes());
    findings
        .into_iter()
        .map(|f| {
            let help = f.help.map(|help| format!(" | {help}")).unwrap_or_default();
            format!("{} {} {}:{} {}{help}", f.severity, f.rule, f.place.line, f.place.column, f.message)
        })
        .collect()
}

#[test]
fn a_file_as_published_is_read_without_a_word() {
    let (automation, findings) = Automation::parse(FILE.as_bytes());
    assert_eq!(findings, []);
    assert_eq!(automation.limits, Limits { plan_loc: Some(50), ..Limits::default() });
    assert_eq!(automation.names, Names::default());
    let gates = &automation.gates;
    assert_eq!(gates.required_checks, Check::ALL);
    assert_eq!(gates.test_timeout_ms, Some(300_000));
    assert_eq!(
        (gates.planner_minutes, gates.actor_minutes, gates.judge_minutes),
        (Some(3), Some(5), Some(5))
    );
    assert_eq!(gates.question_reminder_ms, Some(86_400_000));
    assert_eq!(Risk::ALL.map(|risk| gates.approval_before(risk)), [false, false, true]);
    assert_eq!(gates.risks[&Risk::Low].operations, ["refactor", "tests"]);
    assert!(gates.risks[&Risk::High].audit_trail);
}

#[test]
fn a_file_is_checked_by_its_kind() {
    let checked = crate::check::file("SETUP_AUTOMATION.yaml", FILE.as_bytes(), None);
    assert_eq!(checked.kind, Some(crate::kind::Kind::Automation));
    assert_eq!(checked.findings, []);
    let wrong = crate::check::file("SETUP_AUTOMATION.yaml", b"loop: {max_duration: 0}\nagents: {}\n", None);
    assert_eq!(wrong.findings.len(), 1);
}

#[test]
fn what_a_project_chooses_holds() {
    let text = "scope_mode: any\nloop: {max_consecutive_insufficient: 3, max_duration: 60, archive_path: old/}\nagents:\n  planner: {max_context_docs: 1}\n  actor: {max_execution_loc: 80, max_files_modified: 4, forbidden_commands: [git push]}\n  judge: {required_checks: [linter]}\narchiving: {incomplete_suffix: _open}\nrisk_gates: {medium: {block_and_escalate: true}}\n";
    let (automation, findings) = Automation::parse(text.as_bytes());
    assert_eq!(findings, []);
    assert_eq!(
        automation.limits,
        Limits {
            loc: 80,
            files: 4,
            plan_loc: None,
            docs: 1,
            insufficient: 3,
            minutes: 60,
            mode: ScopeMode::Any,
            forbidden: vec!["git push".to_owned()],
        }
    );
    assert_eq!(automation.gates.required_checks, [Check::Linter]);
    assert!(automation.gates.approval_before(Risk::Medium));
    assert_eq!(
        automation.names.archived("2026-01-18", 7, Suffix::Incomplete),
        "old/2026-01-18_cycle-007_open.md"
    );
    assert_eq!(
        Names::default().archived("2026-01-18", 7, Suffix::Failed),
        archive::name("2026-01-18", 7, Suffix::Failed)
    );
}

#[test]
fn unknown_fields_warn_and_a_check_that_nobody_knows_is_an_error() {
    assert_eq!(
        said("loop: {max_durations: 30, colour: red}\nagents: {judge: {required_checks: [lintr, tests]}}\n"),
        [
            "warning unknown-field 1:8 unknown field `max_durations` in `loop` | did you mean `max_duration`?",
            "warning unknown-field 1:27 unknown field `colour` in `loop`",
            "error unknown-value 2:36 `lintr` is not a known check | did you mean `linter`?",
            "error unknown-value 2:43 `tests` is not a known check | known are existing_tests, linter, security_scan",
        ]
    );
}

// CY-11, CY-80
#[test]
fn cy_11_cy_80_checkpoints_cannot_be_switched_off() {
    let text = "loop: {human_approval_checkpoints: false}\nagents: {judge: {validate_scope: false, required_checks: [linter]}}\nhuman_checkpoints: {judge_pass_approval_required: false}\nrisk_gates: {high: {block_and_escalate: false}}\njudge_test_battery: {run_linter: false}\n";
    assert_eq!(
        said(text),
        [
            "warning always-on 1:36 `human_approval_checkpoints` cannot be switched off and stays on",
            "warning always-on 2:34 `validate_scope` cannot be switched off and stays on",
            "warning always-on 3:51 `judge_pass_approval_required` cannot be switched off and stays on",
            "warning contradiction 5:34 `run_linter` is off, but `linter` is a required check and is run",
        ]
    );
    assert!(Automation::parse(text.as_bytes()).0.gates.approval_before(Risk::High));
}

#[test]
fn what_cannot_be_used_is_an_error_and_stands_as_usual() {
    let text = "scope_mode: both\nloop: {max_duration: 0, context_path: ../x.md}\nagents:\n  actor:\n    max_execution_loc: many\n    forbidden_commands: [\"rm -rf\", \"(\"]\n  judge: {pause_threshold: 4}\njudge_test_battery: {test_timeout: soon}\narchiving: {failed_suffix: \"/../x\"}\n";
    assert_eq!(
        said(text),
        [
            "error unknown-value 1:13 `both` is not a scope mode | known are `all`, `any`",
            "error bad-value 2:22 `max_duration` must be at least 1",
            "error outside 2:39 `context_path` must be a path inside of the project, but this is `../x.md`",
            "error type 5:24 `max_execution_loc` of the actor must be a whole number from 0 on, but this is the text `many`",
            "error bad-pattern 6:36 `(` is not a valid regular expression: unclosed group | put a backslash before signs that stand for themselves",
            "warning contradiction 7:28 `pause_threshold` is 4, but the loop pauses after 5; the smaller number holds | write the same number as in `max_consecutive_insufficient`",
            "error type 8:36 `test_timeout` must be a span of time, but this is `soon` | write it as in 90s, 5m or 24h",
            "error bad-value 9:28 `failed_suffix` may hold letters, digits, `_` and `-`, but this is `/../x`",
        ]
    );
    let (automation, _) = Automation::parse(text.as_bytes());
    let expected = Limits { insufficient: 4, forbidden: vec!["rm -rf".to_owned()], ..Limits::default() };
    assert_eq!(automation.limits, expected);
    assert_eq!(automation.names, Names::default());
    assert_eq!(Automation::parse(b"a: [").0, Automation::default());
}
