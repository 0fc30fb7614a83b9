//! Tests of the checklist.

use std::collections::BTreeSet;

use super::*;

fn all(compliant: bool) -> Conformance {
    let judge =
        |point: &Point| Judgement { point: point.id.to_owned(), compliant, seen: "it went on".to_owned() };
    Conformance { judgements: POINTS.iter().map(judge).collect() }
}

// OC-81 to OC-96, OC-110 to OC-115
#[test]
fn oc_81_every_point_of_both_lists_is_there_once() {
    let requirements: BTreeSet<&str> = POINTS.iter().map(|point| point.requirement).collect();
    let wanted: BTreeSet<String> = (81..=96).chain(110..=115).map(|number| format!("OC-{number}")).collect();
    assert_eq!(requirements, wanted.iter().map(String::as_str).collect());
    let ids: BTreeSet<&str> = POINTS.iter().map(|point| point.id).collect();
    assert_eq!(ids.len(), POINTS.len());
    let count = |list| POINTS.iter().filter(|point| point.list == list).count();
    assert_eq!([List::FailureHandling, List::Forbidden, List::Contract].map(count), [10, 6, 6]);
    assert!(POINTS.iter().all(|point| !point.text.ends_with('.') && point.judged.len() > 30));
}

#[test]
fn oc_110_compliant_means_every_point_and_no_less() {
    assert!(all(true).compliant());
    assert!(!Conformance::default().compliant());
    for point in &POINTS {
        let mut almost = all(true);
        almost.judgements.retain(|judgement| judgement.point != point.id);
        assert!(!almost.compliant(), "{}", point.id);
        almost.judgements.push(Judgement {
            point: point.id.to_owned(),
            compliant: false,
            seen: "it went on".to_owned(),
        });
        assert!(!almost.compliant(), "{}", point.id);
        assert!(almost.in_words().contains(&format!("[FAIL] {} {}: it went on", point.id, point.text)));
    }
    assert!(all(true).in_words().ends_with("Compliant: all 22 points hold"));
    assert!(all(false).in_words().ends_with("Not compliant: 22 of 22 points do not hold"));
    assert!(point("rollback").is_some() && point("x").is_none());
}
