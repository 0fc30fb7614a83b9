//! Tests of thresholds and of the sorts of gates.

use proptest::prelude::*;

use super::*;

fn percent(text: &str) -> Coverage {
    Coverage::Percent(text.parse().unwrap())
}

// OC-57: exactly the threshold is a matter of the comparator.
#[test]
fn k_51_every_comparator_at_the_threshold_and_beside_it() {
    for (limit, below, at, above) in [
        ("80", false, true, true),
        (">= 80", false, true, true),
        ("> 80", false, false, true),
        ("<= 80", true, true, false),
        ("< 80", true, false, false),
    ] {
        let limit = Limit::parse("coverage", limit).unwrap();
        let found = ["79.9", "80", "80.1"].map(|value| limit.holds(percent(value)));
        assert_eq!(found, [below, at, above], "{limit}");
    }
}

#[test]
fn oc_57_counted_coverage_is_never_rounded() {
    let limit = Limit::coverage();
    assert!(!limit.holds(Coverage::Counted { covered: 79_999_999_999, total: 100_000_000_000 }));
    assert!(limit.holds(Coverage::Counted { covered: 4, total: 5 }));
    let above = Limit::parse("coverage", "> 66.666666666").unwrap();
    assert!(above.holds(Coverage::Counted { covered: 2, total: 3 }));
}

#[test]
fn limits_are_read_as_they_are_written_or_refused() {
    assert_eq!(Limit::parse("m", " > 79.5 % ").unwrap().to_string(), "above 79.5%");
    assert_eq!(Limit::configured("m", 79.9, None).unwrap().percent, "79.9".parse().unwrap());
    let strict = Limit::configured("m", 80.0, Some(Comparator::MoreThan)).unwrap();
    assert_eq!(strict.to_string(), "above 80%");
    for bad in ["", "eighty", "101", "-1", "=80", "=> 80", "80 or so"] {
        assert!(Limit::parse("m", bad).is_err(), "{bad}");
    }
    let text = serde_json::to_string(&strict).unwrap();
    assert_eq!(text, r#"{"measure":"m","comparator":">","percent":"80"}"#);
    assert_eq!(serde_json::from_str::<Limit>(&text).unwrap(), strict);
}

#[test]
fn oc_17_every_sort_of_gate_does_one_thing() {
    for (word, kind) in GateKind::WORDS {
        assert_eq!(GateKind::of_word(word), Some(kind));
        assert_eq!(kind.word(), word);
        assert_eq!(serde_json::to_value(kind).unwrap(), serde_json::json!(word));
    }
    assert_eq!(GateKind::of_word("Sign-Off"), Some(GateKind::Signoff));
    assert_eq!(GateKind::of_word("self_review"), Some(GateKind::SelfReview));
    assert_eq!(GateKind::of_word("blessing"), None);
    assert_eq!(GateKind::script_command("scripts/check.py --all"), ["python3", "scripts/check.py", "--all"]);
    assert_eq!(GateKind::script_command("bin/check"), ["bin/check"]);
}

proptest! {
    #[test]
    fn k_51_comparators_are_opposites(value in 0_u32..=10_000, limit in 0_u32..=10_000) {
        let decimal = |hundredths: u32| format!("{}.{:02}", hundredths / 100, hundredths % 100);
        let measured = percent(&decimal(value));
        let holds = |sign: &str| Limit::parse("m", &format!("{sign}{}", decimal(limit))).unwrap().holds(measured);
        prop_assert_eq!(holds(">="), value >= limit);
        prop_assert_eq!(holds(">"), value > limit);
        prop_assert_eq!(holds("<="), !holds(">"));
        prop_assert_eq!(holds("<"), !holds(">="));
    }
}
