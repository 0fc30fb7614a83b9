//! Events as lines, and trails of all generations.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn at(text: &str) -> Utc {
    Utc::parse(text).unwrap()
}

/// DS-51, DS-52, DS-53, DS-54, DS-55, DS-56, DS-57, DS-58, DS-59, DS-60, DS-61, DS-62: the twelve, and ours (K-20).
#[test]
fn ds_51_to_ds_62_k_20_all_events_have_their_words() {
    let words: Vec<&str> = Happening::ALL.map(Happening::word).into();
    assert_eq!(
        words[..12],
        [
            "TASK_INVOCATION_STARTED",
            "TASK_INVOCATION_VALIDATED",
            "TASK_INVOCATION_REJECTED",
            "PHASE_STARTED",
            "PHASE_COMPLETED",
            "PHASE_SKIPPED",
            "PHASE_FAILED",
            "SUBAGENT_STOP_VALIDATION",
            "COMMIT_VALIDATION_PASSED",
            "COMMIT_VALIDATION_FAILED",
            "WATCHDOG_INTERVENTION",
            "SILENT_COMPLETION_DETECTED",
        ]
    );
    assert!(words[12..].contains(&"SCOPE_VIOLATION") && words[12..].contains(&"STATE_TRANSITION"));
    for happening in Happening::ALL {
        assert_eq!(Happening::of_word(happening.word()), Some(happening));
    }
}

#[test]
fn ds_50_k_84_a_line_begins_with_time_event_and_file_and_goes_to_the_file_of_its_day() {
    let event = Event::new(at("2026-01-22T23:59:59.999Z"), Happening::PhaseStarted, "steps/01-01.json")
        .with("phase", "PREPARE")
        .with("nothing", Json::Null)
        .with("timestamp", "forged");
    assert_eq!(
        event.line(),
        r#"{"timestamp":"2026-01-22T23:59:59.999Z","event":"PHASE_STARTED","step_file":"steps/01-01.json","phase":"PREPARE"}"#
    );
    assert_eq!(event.file_name(), "audit-2026-01-22.log");
}

#[test]
fn e_77_midnight_is_that_of_utc() {
    assert_eq!(file_name(at("2026-01-23T00:30:00+01:00")), "audit-2026-01-22.log");
    assert_eq!(file_name(at("2026-01-23T00:00:00Z")), "audit-2026-01-23.log");
}

#[test]
fn older_lines_are_read() {
    let text = concat!(
        r#"{"event":"TASK_INVOCATION_STARTED","timestamp":"2026-01-20T10:00:00","command":"/nw:execute","step_path":"steps/01-01.json","agent":"a"}"#,
        "\n",
        r#"{"event":"PHASE_STARTED","timestamp":"2026-03-02T10:00:00Z","hook_id":"h","feature_name":"f","step_id":"01-02"}"#,
        "\r\n",
    );
    let trail = read(text);
    assert_eq!(trail.findings, []);
    assert_eq!(trail.whole, text.len());
    let [first, second] = trail.entries.as_slice() else { panic!("two lines") };
    assert_eq!(first.step_file.as_deref(), Some("steps/01-01.json"));
    assert_eq!(first.at, Utc::parse("2026-01-20T10:00:00Z"));
    assert_eq!(second.step_id.as_deref(), Some("01-02"));
    assert_eq!((second.place.line, second.happening), (2, Some(Happening::PhaseStarted)));
}

#[test]
fn k_18_e_78_a_line_that_cannot_be_read_is_an_integrity_finding_and_the_others_count() {
    let good = Event::new(at("2026-01-22T10:00:00Z"), Happening::PhaseStarted, "s").line();
    let text = format!("{good}\n{{broken\n[1]\n\n{good}\n{{\"half\": ");
    let trail = read(&text);
    assert_eq!(trail.entries.len(), 2);
    let lines: Vec<String> =
        trail.findings.iter().map(|f| format!("{} {} {}", f.rule, f.place.line, f.message)).collect();
    assert_eq!(
        lines,
        [
            "audit-integrity 2 line 2 of the audit trail cannot be read: key must be a string at line 1 column 2",
            "audit-integrity 3 line 3 of the audit trail cannot be read: it is not a JSON object",
            "audit-integrity 6 the last line of the audit trail was not written to its end",
        ]
    );
    assert!(text[..trail.whole].ends_with(&format!("{good}\n")));
    assert!(crate::finding::has_errors(&trail.findings));
}

#[test]
fn odd_lines_are_named() {
    let lines: Vec<String> =
        check("{\"timestamp\": \"soon\", \"event\": \"PHASE_STARTD\"}\n{\"event\": \"X\"}\n{\"timestamp\": \"2026-01-22T10:00:00Z\"}\n")
            .iter()
            .map(|f| format!("{} {} {}", f.place.line, f.severity, f.message))
            .collect();
    assert_eq!(
        lines,
        [
            "1 error `soon` is not a point in time",
            "1 note `PHASE_STARTD` is not an event that is known here",
            "2 error an audit line needs the field `timestamp`",
            "2 note `X` is not an event that is known here",
            "3 error an audit line needs the field `event`",
        ]
    );
}

fn stop(file: &str, step: &str, status: &str) -> String {
    Event::new(at("2026-01-22T10:00:00Z"), Happening::SubagentStopValidation, file)
        .with("step_id", step)
        .with("status", status)
        .line()
}

#[test]
fn k_18_e_75_e_76_only_the_last_stop_of_this_step_counts() {
    let lines = [
        stop("./steps/01-01.json", "01-01", "error"),
        stop("steps/01-01.json", "01-01", "success"),
        stop("steps/01-02.json", "01-02", "error"),
        stop("execution-status.yaml", "01-01", "warning"),
        stop("execution-status.yaml", "01-02", "error"),
    ];
    let trail = read(&(lines.join("\n") + "\n"));
    let status =
        |file: &str, step: &str| last_stop(&trail.entries, file, step).map(|(e, _)| e.data["status"].clone());
    assert_eq!(status("steps/01-01.json", "01-01"), Some(json!("success")));
    assert_eq!(status("steps/01-02.json", "01-02"), Some(json!("error")));
    assert_eq!(status("execution-status.yaml", "01-01"), Some(json!("warning")));
    assert_eq!(status("steps/01-03.json", "01-03"), None);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_back(file in "\\PC{0,30}", note in any::<String>(), ms in 0_i64..4_000_000_000_000) {
        let event = Event::new(Utc(ms), Happening::PhaseFailed, &file).with("notes", note.clone());
        let line = event.line();
        prop_assert!(!line.contains('\n'));
        let trail = read(&format!("{line}\n"));
        prop_assert_eq!(trail.findings, vec![]);
        prop_assert_eq!(trail.entries[0].at, Some(event.at));
        prop_assert_eq!(trail.entries[0].step_file.as_deref(), Some(file.as_str()));
        prop_assert_eq!(&trail.entries[0].data["notes"], &json!(note));
    }

    #[test]
    fn a_trail_of_any_text_is_read_without_harm(text in any::<String>()) {
        let trail = read(&text);
        prop_assert!(trail.whole <= text.len() && text.is_char_boundary(trail.whole));
    }
}
