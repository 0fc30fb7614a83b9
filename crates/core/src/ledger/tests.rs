//! A finding ends only by name.

use serde_json::json;

use super::*;

fn concern(severity: Severity, title: &str, file: &str) -> Concern {
    Concern {
        severity,
        title: title.to_owned(),
        file: file.to_owned(),
        line: Some(3),
        remedy: String::new(),
        by: "security".to_owned(),
    }
}

fn hash(text: &str) -> Option<Hash> {
    Some(Hash::of(text.as_bytes()))
}

fn with_critical() -> FindingLedger {
    let mut ledger = FindingLedger::default();
    ledger.note(vec![concern(Severity::Critical, "SQL injection", "src/db.rs")], |_| hash("before"));
    ledger
}

fn closing(id: &str, reason: &str) -> Vec<Closing> {
    vec![Closing { id: id.to_owned(), reason: reason.to_owned() }]
}

#[test]
fn a_report_that_omits_a_finding_closes_nothing() {
    let mut ledger = with_critical();
    ledger.note(vec![], |_| hash("after"));
    ledger.note(vec![concern(Severity::Low, "typo", "README.md")], |_| hash("after"));
    assert_eq!(
        ledger.brief(),
        ["F1 CRITICAL: SQL injection in src/db.rs:3 (security)", "F2 LOW: typo in README.md:3 (security)"]
    );
}

#[test]
fn a_finding_is_closed_by_name_with_a_reason_after_the_thing_changed() {
    let mut ledger = with_critical();
    let refused = ledger.close("security", &closing("F1", "parameters are bound now"), |_| hash("before"));
    assert_eq!(refused, [NotClosed::Unchanged("F1".to_owned())]);
    let refused = ledger.close("security", &closing("F1", " \u{200b} "), |_| hash("after"));
    assert_eq!(refused, [NotClosed::NoReason("F1".to_owned())]);
    let refused = ledger.close("security", &closing("F9", "gone"), |_| hash("after"));
    assert_eq!(refused, [NotClosed::NoSuchFinding("F9".to_owned(), "F1".to_owned())]);
    assert_eq!(ledger.close("security", &closing("f1", "parameters are bound now"), |_| hash("after")), []);
    assert_eq!(ledger.open().count(), 0);
    assert_eq!(
        ledger.entries()[0].told(),
        "F1 CRITICAL: SQL injection in src/db.rs:3 (security): closed by security: parameters are bound now"
    );
}

#[test]
fn what_nothing_is_known_about_did_not_change() {
    let mut ledger = FindingLedger::default();
    ledger.note(vec![concern(Severity::High, "unclear", "")], |_| None);
    assert_eq!(
        ledger.close("r", &closing("F1", "clear now"), |_| None),
        [NotClosed::Unchanged("F1".to_owned())]
    );
}

#[test]
fn a_finding_that_is_reported_again_is_one_entry_and_open_again() {
    let mut ledger = with_critical();
    ledger.close("security", &closing("F1", "bound"), |_| hash("after"));
    let moved = Concern { line: Some(9), ..concern(Severity::Medium, "sql  Injection!", "src/db.rs") };
    assert_eq!(ledger.note(vec![moved], |_| hash("after")), ["F1"]);
    // It does not become milder by being told again.
    assert_eq!(ledger.brief(), ["F1 CRITICAL: sql  Injection! in src/db.rs:9 (security)"]);
}

#[test]
fn a_critical_finding_is_accepted_only_where_the_dialect_allows_it() {
    let mut ledger = with_critical();
    assert_eq!(ledger.accept("F1", "ann", "false alarm", false), Err(NotAccepted::Critical("F1".to_owned())));
    assert_eq!(ledger.accept("F1", "ann", "\u{2060}", true), Err(NotAccepted::NoReason("F1".to_owned())));
    assert_eq!(ledger.accept("F1", "ann", "false alarm", true), Ok(()));
    assert_eq!(ledger.accept("F1", "ann", "again", true), Err(NotAccepted::NoSuchFinding("F1".to_owned())));
    // It stays accepted when it is reported once more as it was.
    ledger.note(vec![concern(Severity::Critical, "SQL injection", "src/db.rs")], |_| hash("before"));
    assert_eq!(ledger.open().count(), 0);
}

#[test]
fn an_accepted_finding_that_becomes_graver_is_open_again() {
    let mut ledger = FindingLedger::default();
    ledger.note(vec![concern(Severity::Low, "slow", "a.rs")], |_| hash("1"));
    ledger.accept("F1", "ann", "fine", false).unwrap();
    ledger.note(vec![concern(Severity::High, "slow", "a.rs")], |_| hash("2"));
    assert_eq!(ledger.open_from(Severity::High).len(), 1);
}

#[test]
fn closings_are_read_or_corrected() {
    let outputs = json!({"closed": [{"id": "F1", "reason": "fixed"}]});
    assert_eq!(read_closings(outputs.as_object().unwrap()), Ok(closing("F1", "fixed")));
    let broken = json!({"closed": ["F1"]});
    assert_eq!(
        read_closings(broken.as_object().unwrap()),
        Err(vec!["`outputs.closed[0]` needs `id` and `reason` as texts".to_owned()])
    );
    assert_eq!(read_closings(&Map::new()), Ok(vec![]));
}
