//! Tests of the rule about severities.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn outputs(findings: Value) -> Map<String, Value> {
    Map::from_iter([(FINDINGS.to_owned(), findings)])
}

fn found(severities: &[Severity]) -> Vec<Concern> {
    let concern = |severity: &Severity| Concern {
        severity: *severity,
        title: "SQL injection".to_owned(),
        file: "src/a.cs".to_owned(),
        line: Some(45),
        remedy: String::new(),
        by: "security".to_owned(),
    };
    severities.iter().map(concern).collect()
}

// OC-58, E-63
#[test]
fn oc_58_one_critical_finding_blocks() {
    let all = found(&[Severity::Low, Severity::High, Severity::Critical]);
    let Verdict::Blocked { critical } = judge(&all) else { panic!("not blocked") };
    assert_eq!(critical.len(), 1);
    let text = block_text(&critical, &["Backend Developer".to_owned()]);
    assert_eq!(
        text,
        "Security scan found 1 CRITICAL issue:\n- SQL injection in src/a.cs:45\n\n❌ BLOCK - Cannot proceed until resolved\
         \n\nAction: Returning to Backend Developer to fix issues."
    );
}

#[test]
fn oc_59_high_findings_need_a_justification() {
    assert!(
        matches!(judge(&found(&[Severity::High, Severity::Low])), Verdict::NeedsJustification { high } if high.len() == 1)
    );
}

#[test]
fn oc_60_medium_and_low_findings_are_tracked_and_stop_nothing() {
    let all = found(&[Severity::Medium, Severity::Low]);
    assert_eq!(judge(&all), Verdict::Clear);
    assert_eq!(tracked(&all).len(), 2);
    assert_eq!(counted(&all), "1 medium, 1 low");
    assert_eq!(counted(&[]), "no findings");
}

#[test]
fn k_50_an_unknown_severity_is_never_taken_for_a_mild_one() {
    let read = |findings: Value| read("security", &outputs(findings));
    assert_eq!(read(json!([])), Ok(vec![]));
    let good = read(json!([{"severity": "High", "title": "x", "file": "a", "line": 0, "remedy": "mend it"}]))
        .unwrap();
    assert_eq!(good[0].line, None);
    assert_eq!(feedback(&good), ["HIGH: x in a. Remedy: mend it"]);
    for bad in [
        json!(null),
        json!("none"),
        json!([1]),
        json!([{"title": "x"}]),
        json!([{"severity": "blocker", "title": "x"}]),
        json!([{"severity": "low"}]),
    ] {
        assert!(read(bad.clone()).is_err(), "{bad}");
    }
    let problems = read(json!([{"severity": "low"}, {"severity": "?", "title": "y"}])).unwrap_err();
    assert_eq!(problems.len(), 2);
    assert!(problems[1].starts_with("`outputs.findings[1]` needs a `severity`"), "{problems:?}");
}

proptest! {
    #[test]
    fn oc_94_nothing_but_the_severity_decides(ranks in proptest::collection::vec(0_usize..4, 0..12)) {
        let severities: Vec<Severity> = ranks.iter().filter_map(|rank| Severity::ALL.get(*rank).copied()).collect();
        let verdict = judge(&found(&severities));
        match severities.iter().max() {
            Some(Severity::Critical) => {
                let blocked = matches!(verdict, Verdict::Blocked { .. });
                prop_assert!(blocked);
            }
            Some(Severity::High) => {
                let justify = matches!(verdict, Verdict::NeedsJustification { .. });
                prop_assert!(justify);
            }
            _ => prop_assert_eq!(verdict, Verdict::Clear),
        }
    }
}
