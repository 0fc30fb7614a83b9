//! Coverage, findings of reviews, and the quick way through a refactoring.

use serde_json::Map;
use serde_json::Value as Json;
use serde_json::json;

use super::super::*;
use crate::config::Comparator;
use crate::evidence::coverage::Coverage;
use crate::evidence::coverage::Threshold;

fn outputs(value: Json) -> Map<String, Json> {
    value.as_object().unwrap().clone()
}

/// E-55: 29 lines are a quick look, 30 are not.
#[test]
fn e_55_the_quick_way_ends_before_thirty_lines() {
    assert!(is_quick(0));
    assert!(is_quick(29));
    assert!(!is_quick(30));
}

/// K-51: exactly the threshold is enough or not, as the gate says.
#[test]
fn k_51_the_comparator_decides_about_exactly_the_threshold() {
    let percent = |text: &str| Some(Coverage::Percent(text.parse().unwrap()));
    let threshold = |comparator| Threshold { comparator, percent: "80".parse().unwrap() };
    let (above, at_least) = (threshold(Comparator::MoreThan), threshold(Comparator::AtLeast));
    assert_eq!(coverage(percent("80.1"), &above, None), None);
    assert_eq!(coverage(percent("80"), &at_least, None), None);
    let refused = coverage(percent("80"), &above, None).unwrap();
    assert_eq!(refused.rule.word(), "coverage");
    assert!(
        refused.message.starts_with("Coverage is 80%, and it has to be above 80%"),
        "{}",
        refused.message
    );
    let refused = coverage(percent("79.99"), &at_least, None).unwrap();
    assert!(refused.message.contains("79.99%, and it has to be at least 80%"), "{}", refused.message);
}

/// DW-64: coverage that is not known, or fell since the step began, is refused.
#[test]
fn dw_64_coverage_that_fell_or_is_unknown_is_refused() {
    let threshold = Threshold { comparator: Comparator::MoreThan, percent: "80".parse().unwrap() };
    let counted = |covered| Some(Coverage::Counted { covered, total: 100 });
    assert_eq!(coverage(None, &threshold, None).unwrap().rule.word(), "coverage-unknown");
    assert_eq!(coverage(counted(91), &threshold, counted(91)), None);
    assert_eq!(coverage(counted(92), &threshold, counted(91)), None);
    let fell = coverage(counted(90), &threshold, counted(91)).unwrap();
    assert_eq!(fell.rule.word(), "coverage-fell");
    assert!(fell.message.contains("fell to 90%; it was 91%"), "{}", fell.message);
    assert_eq!(coverage(counted(70), &threshold, counted(91)).unwrap().rule.word(), "coverage");
}

/// DW-64: findings are read with their severities; which of them hold a review is the ledger's to say.
#[test]
fn dw_64_findings_are_read_with_their_severities() {
    let found = review_findings(&outputs(json!({"review": {"findings": [
        {"severity": "critical", "title": "SQL from input", "file": "src/db.py", "line": 12, "remedy": "Use parameters"},
        {"severity": "HIGH", "title": "No test for steam."},
        {"severity": "medium", "title": "Long function"},
        {"severity": "low", "title": "A name"},
        {"severity": "high", "title": "Mended", "resolved": true},
    ]}})));
    assert_eq!(found.len(), 5);
    assert_eq!(found[0].to_json()["severity"], json!("critical"));
    assert_eq!(found[4].to_json()["resolved"], json!(true));
}

/// DW-64: findings are read in the shapes in which reviewers write them.
#[test]
fn dw_64_findings_are_read_whatever_their_shape() {
    let one = |value: Json| review_findings(&outputs(value)).remove(0);
    let listed =
        one(json!({"review": [{"level": "Blocker", "message": "x", "location": "a.py:7", "fix": "y"}]}));
    assert_eq!((listed.severity, listed.line), (ReviewSeverity::Critical, Some(7)));
    assert_eq!((listed.file.as_deref(), listed.remedy.as_deref()), (Some("a.py"), Some("y")));
    assert_eq!(one(json!({"findings": ["just words"]})).severity, ReviewSeverity::Medium);
    assert_eq!(
        one(json!({"findings": [{"issue": "x", "severity": "odd"}]})).severity,
        ReviewSeverity::Medium
    );
    assert_eq!(one(json!({"findings": [{"title": "x", "line": "3", "status": "Fixed"}]})).line, Some(3));
    for nothing in [json!({}), json!({"review": "fine"}), json!({"review": {"findings": [7, {}, ""]}})] {
        assert!(review_findings(&outputs(nothing)).is_empty());
    }
}

/// K-11: what has to hold after a refactoring is one list, for the brief and for the record.
#[test]
fn k_11_the_list_after_refactoring_has_six_items() {
    assert_eq!(post_refactor_list().len(), 6);
    assert_eq!(post_refactor_list(), POST_REFACTOR_LIST);
}
