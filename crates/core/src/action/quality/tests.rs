//! Tests of quality gates.

use proptest::prelude::*;

use super::*;

fn measured(values: &[(&str, &str)]) -> BTreeMap<String, Coverage> {
    values
        .iter()
        .map(|(name, value)| ((*name).to_owned(), Coverage::Percent(value.parse().unwrap())))
        .collect()
}

#[test]
fn oc_57_coverage_is_compared_with_its_threshold() {
    let limits = [Limit::coverage()];
    assert_eq!(judge(&limits, &measured(&[("coverage", "80")])), []);
    assert_eq!(judge(&limits, &measured(&[("coverage", "80.1")])), []);
    let short = judge(&limits, &measured(&[("coverage", "79.9")]));
    assert_eq!(text(&short), "Coverage: 79.9% (threshold: 80%)\n❌ FAIL - Below threshold");
    let short = judge(&limits, &measured(&[("coverage", "65")]));
    assert_eq!(short[0].line(), "Coverage: 65% (threshold: 80%)");
}

#[test]
fn oc_57_what_was_not_measured_is_never_good_enough() {
    let limits =
        [Limit::parse("unit_coverage_pct", "80").unwrap(), Limit::parse("pass_rate_pct", "100").unwrap()];
    let short = judge(&limits, &measured(&[("pass_rate_pct", "100")]));
    assert_eq!(short.len(), 1);
    assert_eq!(short[0].line(), "Unit coverage: not measured (threshold: 80%)");
    assert_eq!(feedback(&short).len(), 1);
}

// OC-57, OC-77, K-48: the documented three come first, then what is always there.
#[test]
fn k_48_the_documented_options_come_first() {
    let question = question("coverage", &judge(&[Limit::coverage()], &BTreeMap::new()), None);
    let labels: Vec<&str> = question.options.iter().map(|option| option.label.as_str()).collect();
    assert_eq!(labels, ["Fix coverage", "Lower threshold", "Override", "Retry", "Cancel"]);
    for id in ["override", "lower_threshold"] {
        assert!(question.choose(id, None).is_err() && question.choose(id, Some("it is a spike")).is_ok());
    }
}

#[test]
fn oc_106_the_share_of_passed_tests_is_exact() {
    let counts = |passed, failed| Counts { total: passed + failed, passed, failed, ..Counts::default() };
    let all = Limit::parse("pass_rate_pct", "100").unwrap();
    assert!(all.holds(pass_rate(&counts(3, 0)).unwrap()));
    assert!(!all.holds(pass_rate(&counts(999_999, 1)).unwrap()));
    assert_eq!(pass_rate(&Counts::default()), None);
}

// OC-18
#[test]
fn oc_18_no_option_passes_a_required_gate_by() {
    let question = command_question("tracker-sync", &["check".to_owned()], "3 differences", None);
    let ids: Vec<&str> = question.options.iter().map(|option| option.id.as_str()).collect();
    assert_eq!(ids, ["fix", "retry", "cancel"]);
}

proptest! {
    #[test]
    fn oc_57_a_lowered_demand_is_met_by_what_was_measured(
        covered in 0_u64..=1000, total in 1_u64..=1000, sign in "|>=|>|<=|<", limit in 0_u32..=100,
    ) {
        prop_assume!(covered <= total);
        let limits = [Limit::parse("coverage", &format!("{sign}{limit}")).unwrap()];
        let measured = BTreeMap::from([("coverage".to_owned(), Coverage::Counted { covered, total })]);
        let lower = lowered(&limits, &judge(&limits, &measured));
        // A share that was cut off after nine places is still not more than itself.
        let at_most = lower[0].comparator == Comparator::AtMost;
        prop_assert!(at_most || judge(&lower, &measured).is_empty());
        let unmeasured = judge(&limits, &BTreeMap::new());
        prop_assert_eq!(lowered(&limits, &unmeasured), limits.to_vec());
    }
}
