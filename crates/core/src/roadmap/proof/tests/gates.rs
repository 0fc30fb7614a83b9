//! Runs of gates, and what their phases make of them.

use proptest::prelude::*;

use super::super::*;
use super::rules;
use crate::evidence::Counts;
use crate::evidence::Red;
use crate::evidence::TestVerdict;
use crate::gate::CheckEvidence;
use crate::gate::Demand;
use crate::gate::Gate;
use crate::gate::GateEnd;
use crate::gate::GateRun;

const RED: &str = "=== test session starts ===\ncollected 2 items\n\ntest_a.py .F\n\n=== FAILURES ===\n\
    ___ test_b ___\n\n    def test_b():\n>       assert 1 == 2\nE       assert 1 == 2\n\ntest_a.py:5: AssertionError\n\
    === short test summary info ===\nFAILED test_a.py::test_b - assert 1 == 2\n=== 1 failed, 1 passed in 0.02s ===\n";
const GREEN: &str =
    "=== test session starts ===\ncollected 2 items\n\ntest_a.py ..\n\n=== 2 passed in 0.02s ===\n";
const MISSING: &str = "=== test session starts ===\ncollected 1 item\n\ntest_a.py F\n\n=== FAILURES ===\n\
    ___ test_b ___\n\n    def test_b():\n>       boil()\n\n    def boil():\n>       raise NotImplementedError\n\
    E       NotImplementedError\n\nkettle.py:2: NotImplementedError\n=== short test summary info ===\n\
    FAILED test_a.py::test_b - NotImplementedError\n=== 1 failed in 0.02s ===\n";
const IMPORT: &str = "=== test session starts ===\ncollected 0 items / 1 error\n\n=== ERRORS ===\n\
    ___ ERROR collecting test_a.py ___\nImportError while importing test module 'test_a.py'.\n\
    E   ModuleNotFoundError: No module named 'kettle'\n=== short test summary info ===\nERROR test_a.py\n\
    === 1 error in 0.10s ===\n";
const COMPILE: &str = include_str!("../../../evidence/fixtures/cargo_compile.txt");
const NOTHING: &str = "=== test session starts ===\ncollected 0 items\n\n=== no tests ran in 0.01s ===\n";

fn run(gate: &str, exit: i32, output: &str) -> Seen {
    see(&ended(gate, GateEnd::Exit(exit), output, None))
}

fn ended(name: &str, end: GateEnd, output: &str, expect: Option<&str>) -> CheckEvidence {
    let declared = Gate { expect: expect.map(str::to_owned), ..Gate::default() };
    let reading = crate::gate::read(&crate::gate::query(name, &declared), output, end.exit(), &[]);
    let run = GateRun {
        gate: name.to_owned(),
        argv: ["pytest", "-q"].map(str::to_owned).into(),
        end,
        good: declared.good_exits(),
        reading,
        tail: crate::gate::tail(output),
        output: None,
    };
    crate::gate::judge(run, &Demand::default())
}

#[track_caller]
fn verdict(phase: &str, seen: &[Seen]) -> Vec<Objection> {
    judge(phase, Sort::of(phase), seen, &Earlier::default())
}

#[track_caller]
fn refused(phase: &str, seen: Seen, rule: &str, words: &str) {
    let objections = verdict(phase, &[seen]);
    assert_eq!(rules(&objections), [rule], "{phase}");
    let message = &objections[0].message;
    assert!(message.starts_with(phase) || message.contains(&format!(" {phase}")), "{message}");
    assert!(message.contains(words), "{message}");
    assert!(!objections[0].output.is_empty());
}

/// E-54: an acceptance test that passes at once, or fails by an import error, is not red.
#[test]
fn e_54_red_acceptance_refuses_green_and_import_errors() {
    assert!(verdict("RED_ACCEPTANCE", &[run("acceptance", 1, RED)]).is_empty());
    refused("RED_ACCEPTANCE", run("acceptance", 0, GREEN), "red-is-green", "2 tests ran, all passed");
    refused("RED_ACCEPTANCE", run("acceptance", 2, IMPORT), "red-is-broken", "could not be imported");
    refused("RED_ACCEPTANCE", run("acceptance", 5, NOTHING), "nothing-ran", "No test ran");
    // The tests stand in where there is no acceptance gate.
    refused("RED_ACCEPTANCE", run("tests", 0, GREEN), "red-is-green", "gate `tests` passes");
}

/// DS-93, DS-94: an acceptance test may fail because the code is not written yet, a unit test may not.
#[test]
fn dw_62_a_unit_test_fails_on_its_assertion() {
    assert!(verdict("RED_UNIT", &[run("tests", 1, RED)]).is_empty());
    refused("RED_UNIT", run("tests", 0, GREEN), "red-is-green", "proves nothing");
    refused("RED_UNIT", run("tests", 1, MISSING), "red-is-broken", "no assertion was reached");
    refused("RED_UNIT", run("tests", 101, COMPILE), "red-is-broken", "does not compile");
    refused("RED_UNIT", run("tests", 2, IMPORT), "red-is-broken", "such as an empty function");
    assert_eq!(run("acceptance", 1, MISSING).verdict, TestVerdict::Red(Red::Missing));
    assert!(verdict("RED_ACCEPTANCE", &[run("acceptance", 1, MISSING)]).is_empty());
}

/// K-04: in RED phases PASS means red for the valid reason; the shortest list has both at once.
#[test]
fn k_04_red_of_the_shortest_list_needs_both() {
    assert!(verdict("RED", &[run("acceptance", 1, MISSING), run("tests", 1, RED)]).is_empty());
    let objections = verdict("RED", &[run("acceptance", 1, RED), run("tests", 1, MISSING)]);
    assert_eq!(rules(&objections), ["red-is-broken"]);
    assert_eq!(rules(&verdict("RED", &[run("acceptance", 0, GREEN)])), ["red-is-green"]);
}

/// DW-63: GREEN with one red test is refused, with the test named and the output shown.
#[test]
fn dw_63_green_needs_every_test_to_pass() {
    assert!(verdict("GREEN", &[run("acceptance", 0, GREEN), run("tests", 0, GREEN)]).is_empty());
    refused("GREEN", run("tests", 1, RED), "not-green", "test_b");
    refused("GREEN", run("tests", 2, IMPORT), "not-green", "could not be imported");
    refused("GREEN", run("tests", 5, NOTHING), "nothing-ran", "nothing is proved");
    refused("GREEN_ACCEPTANCE", run("acceptance", 1, RED), "not-green", "Mend the code, not the test");
    let objections = verdict("GREEN", &[run("acceptance", 1, RED), run("tests", 1, RED)]);
    assert_eq!(rules(&objections), ["not-green", "not-green"]);
    assert!(objections[0].output.contains("E       assert 1 == 2"));
}

/// DW-65: a refactoring that breaks a test is refused.
#[test]
fn dw_65_a_refactoring_keeps_everything_green() {
    refused("REFACTOR_CONTINUOUS", run("tests", 1, RED), "not-green", "1 failed");
    refused("REFACTOR_L2", run("lint", 1, "unused import"), "gate-failed", "exit code 1");
}

/// DW-64, DW-66: a review and the commit need lint and security, too.
#[test]
fn dw_64_review_and_commit_need_every_gate() {
    for phase in ["REVIEW", "POST_REFACTOR_REVIEW", "FINAL_VALIDATE", "COMMIT"] {
        let objections = verdict(
            phase,
            &[
                run("tests", 0, GREEN),
                run("lint", 0, ""),
                run("coverage", 0, "80%"),
                run("security", 3, "CVE"),
            ],
        );
        assert_eq!(rules(&objections), ["gate-failed"], "{phase}");
        assert!(objections[0].message.contains("`security`"), "{}", objections[0].message);
    }
}

/// K-10: the list of fourteen lets the unit tests pass first; the acceptance test may still be red then.
#[test]
fn k_10_green_unit_may_leave_the_acceptance_test_red() {
    let earlier = |failed| Earlier {
        red: [("tests".to_owned(), Counts { total: 2, passed: 2 - failed, failed, ..Counts::default() })]
            .into(),
    };
    let judged =
        |phase: &str, failed| judge(phase, Sort::of(phase), &[run("tests", 1, RED)], &earlier(failed));
    assert!(judged("GREEN_UNIT", 2).is_empty());
    assert_eq!(rules(&judged("GREEN_UNIT", 1)), ["not-green"]);
    assert_eq!(rules(&judged("GREEN", 2)), ["not-green"]);
    assert!(verdict("CHECK_ACCEPTANCE", &[run("acceptance", 1, RED)]).is_empty());
    assert_eq!(rules(&verdict("CHECK_ACCEPTANCE", &[run("acceptance", 2, IMPORT)])), ["not-green"]);
}

/// DS-97: a falling count of executed tests, a rising one of skipped tests, and a count that is hidden are refused.
#[test]
fn ds_97_fewer_tests_than_at_red_are_refused() {
    let red = |passed, failed, skipped| Earlier {
        red: [(
            "tests".to_owned(),
            Counts { total: passed + failed + skipped, passed, failed, errors: 0, skipped },
        )]
        .into(),
    };
    let judged = |output: &str, earlier| judge("GREEN", Sort::Green, &[run("tests", 0, output)], &earlier);
    assert!(judged(GREEN, red(1, 1, 0)).is_empty());
    let fewer = judged(GREEN, red(2, 1, 0));
    assert_eq!(rules(&fewer), ["test-count"]);
    assert!(fewer[0].message.contains("ran 3 tests, and now it runs 2"), "{}", fewer[0].message);
    let skipped = "=== test session starts ===\ncollected 3 items\n\ntest_a.py ..s\n\n\
                   === 2 passed, 1 skipped in 0.02s ===\n";
    assert_eq!(rules(&judged(skipped, red(1, 1, 0))), ["test-count"]);
    assert!(judged(skipped, red(1, 1, 1)).is_empty());
    assert_eq!(rules(&judged("fine\n", red(1, 1, 0))), ["test-count"]);
    // Another gate's counts say nothing.
    let other =
        Earlier { red: [("acceptance".to_owned(), Counts { passed: 9, ..Counts::default() })].into() };
    assert!(judged(GREEN, other).is_empty());
}

/// A gate that could not be run is neither red nor green, and the reason is passed on.
#[test]
fn a_gate_that_could_not_be_run_proves_nothing() {
    let late = GateEnd::Deadline("it took longer than 20 min".to_owned());
    let seen = see(&ended("tests", late, "", None));
    assert!(seen.words.contains("longer than 20 min"));
    for (phase, rule) in [("RED_UNIT", "red-is-broken"), ("GREEN", "not-green"), ("COMMIT", "not-green")] {
        let objections = verdict(phase, std::slice::from_ref(&seen));
        assert_eq!(rules(&objections), [rule], "{phase}");
        assert!(objections[0].message.contains("`pytest -q`"), "{}", objections[0].message);
    }
    let lint = see(&CheckEvidence::not_run("lint", "no time was left"));
    assert!(!lint.verdict.is_green());
}

/// `expect` says why a tool failed that nobody knows here.
#[test]
fn expect_makes_red_what_an_unknown_tool_says() {
    let seen = |expect| see(&ended("tests", GateEnd::Exit(1), "MISMATCH: wanted 3\n", expect));
    assert!(!seen(None).verdict.fails_on_assertion());
    assert!(seen(Some("^MISMATCH")).verdict.fails_on_assertion());
    assert!(!seen(Some("(")).verdict.fails_on_assertion());
}

/// Without a gate a phase closes on what its agent says.
#[test]
fn without_a_gate_nothing_is_objected() {
    for schema in crate::roadmap::Schema::built_in() {
        assert!(schema.names().all(|phase| verdict(phase, &[]).is_empty()));
    }
    assert!(verdict("PREPARE", &[run("tests", 1, RED)]).is_empty());
    assert!(verdict("DEPLOY", &[run("tests", 1, RED)]).is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The tail is the end of the output, bounded, and a phase never both passes as red and as green.
    #[test]
    fn a_tail_is_bounded_and_no_output_is_red_and_green(lines in prop::collection::vec("\\PC{0,90}", 0..100), exit in -1..260_i32) {
        let output = lines.join("\n");
        let seen = run("tests", exit, &output);
        prop_assert!(seen.tail.len() <= 4000);
        prop_assert!(output.trim_end().ends_with(&seen.tail));
        let red = verdict("RED_UNIT", std::slice::from_ref(&seen)).is_empty();
        let green = verdict("GREEN", &[seen]).is_empty();
        prop_assert!(!(red && green));
    }
}
