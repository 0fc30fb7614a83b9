//! What phases must show, one example for each rule.

mod cheats;
mod gates;
mod quality;
mod scenarios;
mod skeletons;

use super::*;

#[track_caller]
fn rules(objections: &[Objection]) -> Vec<&'static str> {
    objections.iter().map(|objection| objection.rule.word()).collect()
}

/// K-01: every phase of every generation has its sort, and so has one that nobody knows.
#[test]
fn k_01_every_phase_of_every_generation_has_a_sort() {
    for (phase, sort) in [
        ("PREPARE", Sort::Prepare),
        ("RED_ACCEPTANCE", Sort::RedAcceptance),
        ("RED_UNIT", Sort::RedUnit),
        ("RED", Sort::Red),
        ("GREEN_UNIT", Sort::GreenUnit),
        ("CHECK_ACCEPTANCE", Sort::CheckAcceptance),
        ("GREEN", Sort::Green),
        ("GREEN_ACCEPTANCE", Sort::Green),
        ("REVIEW", Sort::Review),
        ("POST_REFACTOR_REVIEW", Sort::Review),
        ("REFACTOR_CONTINUOUS", Sort::Refactor),
        ("REFACTOR_L4", Sort::Refactor),
        ("FINAL_VALIDATE", Sort::Final),
        ("COMMIT", Sort::Commit),
        ("red-unit", Sort::RedUnit),
        ("REDUCE", Sort::Other),
        ("DEPLOY", Sort::Other),
    ] {
        assert_eq!(Sort::of(phase), sort, "{phase}");
    }
    for schema in crate::roadmap::Schema::built_in() {
        assert!(schema.names().all(|name| Sort::of(name) != Sort::Other), "{}", schema.version);
    }
}

/// DW-61, DW-62: each phase has its gates; where there is no acceptance gate the tests stand in for it.
#[test]
fn dw_61_a_phase_has_its_gates_and_tests_stand_in_for_acceptance() {
    let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(Sort::RedAcceptance.gates(), ["acceptance"]);
    assert_eq!(Sort::RedUnit.gates(), ["tests"]);
    assert_eq!(Sort::Green.gates(), ["acceptance", "tests"]);
    assert_eq!(Sort::Review.gates(), ["acceptance", "tests", "lint", "coverage", "security"]);
    assert_eq!(Sort::Refactor.gates(), ["acceptance", "tests", "lint", "coverage"]);
    assert!(Sort::Prepare.gates().is_empty());
    assert_eq!(fallback("acceptance"), Some("tests"));
    assert_eq!(fallback("tests"), None);
    assert_eq!(Sort::RedAcceptance.gates_among(&named(&["tests", "lint"])), ["tests"]);
    assert_eq!(Sort::Green.gates_among(&named(&["tests", "lint"])), ["tests"]);
    assert_eq!(Sort::Commit.gates_among(&named(&["security", "acceptance"])), ["acceptance", "security"]);
    assert!(Sort::Green.gates_among(&[]).is_empty());
}

/// The message comes first; an output that two objections share is given once.
#[test]
fn feedback_has_the_message_first_and_each_output_once() {
    let objections = [
        Objection::new(Rule::NotGreen, "One test fails.").showing("E assert 1 == 2\n"),
        Objection::new(Rule::TestCount, "Fewer tests ran.").showing("E assert 1 == 2\n"),
        Objection::new(Rule::SkipMarker, "A test is put off."),
    ];
    assert_eq!(
        feedback(&objections),
        [
            "One test fails.\nThe output ended with:\nE assert 1 == 2",
            "Fewer tests ran.",
            "A test is put off."
        ]
    );
}
