//! The check of files as `seriatim check` does it.

use crate::check;
use crate::kind::Kind;

fn checked(name: &str, text: &str, kind: Option<Kind>) -> (Option<Kind>, Vec<String>) {
    let checked = check::file(name, text.as_bytes(), kind);
    let line = |f: &crate::finding::Finding| {
        format!("{}:{} {} {}", f.place.line, f.place.column, f.severity, f.message)
    };
    (checked.kind, checked.findings.iter().map(line).collect())
}

#[test]
fn ds_20_step_files_are_checked_by_their_own_rules() {
    let text = "{\n  \"task_id\": \"1\",\n  \"project_id\": \"p\",\n  \"tdd_cycle\": {\"phase_execution_log\": [{\"phase_name\": \"RED\"}]}\n}\n";
    let expected = vec!["4:40 error Step file has 1 phases, expected 3".to_owned()];
    assert_eq!(checked("01-01.json", text, None), (Some(Kind::Step), expected.clone()));
    // A byte order mark moves bytes, not lines.
    assert_eq!(checked("01-01.json", &format!("\u{FEFF}{text}"), None), (Some(Kind::Step), expected));
}

#[test]
fn ds_21_broken_json_is_still_known_as_a_step_and_said_in_its_words() {
    let text = "{\n  \"tdd_cycle\": {\"phase_execution_log\": [}\n}\n";
    let (kind, lines) = checked("01-01.json", text, None);
    assert_eq!(kind, Some(Kind::Step));
    assert_eq!(lines, ["2:41 error Step file invalid JSON: expected value at line 2 column 41"]);
    assert_eq!(checked("x", "{", Some(Kind::Step)).1.len(), 1);
}

#[test]
fn escapes_of_json_that_yaml_lacks_are_no_matter() {
    let text = "{\"task_id\": \"\\ud83d\\ude00\", \"project_id\": \"p\", \"tdd_cycle\": {\"phases\": [\"RED\", \"GREEN\", \"COMMIT\"]}}";
    assert_eq!(checked("x.json", text, None), (Some(Kind::Step), vec![]));
}

#[test]
fn status_files_and_trackers_are_one_kind() {
    let tracker = "project_id: p\nsteps:\n  - id: a\n    tdd_phases: [RED, GREEN, COMMIT]\n";
    let (kind, lines) = checked("execution-status.yaml", tracker, None);
    assert_eq!(kind, Some(Kind::ExecutionStatus));
    assert_eq!(lines.len(), 1, "{lines:?}");
    let bare = checked("x.yaml", "execution_status: {}\n", None);
    let expected = vec!["1:19 error the execution status needs the field `project_id`".to_owned()];
    assert_eq!(bare, (Some(Kind::ExecutionStatus), expected));
    assert_eq!(checked("execution-status.yaml", "a: [\n", None).1.len(), 1);
}

#[test]
fn k_18_audit_trails_are_checked_line_by_line() {
    let good = r#"{"timestamp":"2026-01-22T10:00:00Z","event":"PHASE_STARTED","step_file":"s"}"#;
    let (kind, lines) = checked("audit-2026-01-22.log", &format!("{good}\nnot json\n{good}\n"), None);
    assert_eq!(kind, Some(Kind::AuditLog));
    assert_eq!(lines.len(), 1);
    assert!(lines[0].starts_with("2:1 error line 2 of the audit trail cannot be read"), "{lines:?}");
}
