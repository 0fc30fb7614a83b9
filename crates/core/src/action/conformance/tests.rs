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
    }
    assert!(point("rollback").is_some() && point("x").is_none());
}

#[test]
fn oc_96_every_point_says_what_was_seen_and_where_it_fails_what_was_expected() {
    let backoff = point("backoff").unwrap();
    let [yes, no] = [true, false].map(|compliant| all(compliant).in_words(&[backoff]));
    assert_eq!(
        yes,
        "[PASS] backoff (OC-82): Transient failures are tried again with growing pauses, three times at most\n       \
         seen: it went on\nCOMPLIANT (1 of 1)"
    );
    assert_eq!(
        no,
        "[FAIL] backoff (OC-82): Transient failures are tried again with growing pauses, three times at most\n       \
         seen: it went on\n       expected: The role is called three times; the second pause is at least as long as the \
         first; then a person is asked\nNOT COMPLIANT (0 of 1)"
    );
    let points: Vec<&Point> = POINTS.iter().collect();
    assert!(all(true).in_words(&points).ends_with("\nCOMPLIANT (22 of 22)"));
    let nothing = Conformance::default().in_words(&points);
    assert!(nothing.contains("seen: it was not judged") && nothing.ends_with("\nNOT COMPLIANT (0 of 22)"));
}
