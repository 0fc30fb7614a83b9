//! The matrix of gates: good only where everything says so.

use super::*;
use crate::config::Comparator;

const PASSED: &str =
    "=== test session starts ===\ncollected 3 items\n\ntest_a.py ...\n\n=== 3 passed in 0.02s ===\n";
const FEWER: &str =
    "=== test session starts ===\ncollected 2 items\n\ntest_a.py ..\n\n=== 2 passed in 0.02s ===\n";
const NONE: &str = "=== test session starts ===\ncollected 0 items\n\n=== no tests ran in 0.01s ===\n";

/// One test failed early, and much was printed after that.
fn failed_early() -> String {
    let head = "=== test session starts ===\ncollected 3 items\n\ntest_a.py F..\n\n=== FAILURES ===\n___ test_b ___\n\n    \
        def test_b():\n>       assert 1 == 2\nE       assert 1 == 2\n\ntest_a.py:5: AssertionError\n";
    let noise = "a line of captured output\n".repeat(4_000);
    let end = "=== short test summary info ===\nFAILED test_a.py::test_b - assert 1 == 2\n=== 1 failed, 2 passed in 0.02s ===\n";
    format!("{head}{noise}{end}")
}

fn three_ran() -> Counts {
    Counts { total: 3, passed: 3, failed: 0, errors: 0, skipped: 0 }
}

fn run(name: &str, gate: &Gate, end: GateEnd, output: &str, report: Option<&str>) -> GateRun {
    let query = query(name, gate);
    let reading = read(&query, output, end.exit(), &[report.map(str::to_owned)]);
    GateRun {
        gate: name.to_owned(),
        argv: vec!["pytest".to_owned()],
        end,
        good: gate.good_exits(),
        reading,
        tail: tail(output),
        output: None,
    }
}

/// Whether a gate is good, as a word.
fn word(name: &str, end: GateEnd, output: &str, demand: &Demand) -> String {
    judge(run(name, &Gate::default(), end, output, None), demand).verdict.word().to_owned()
}

#[test]
fn a_gate_of_tests_is_good_in_one_cell_of_the_matrix_only() {
    let demand = Demand { floor: Some(three_ran()), ..Demand::default() };
    let early = failed_early();
    let outputs = [("passed", PASSED), ("early", early.as_str()), ("none", NONE), ("fewer", FEWER)];
    let ends = [
        ("0", GateEnd::Exit(0)),
        ("1", GateEnd::Exit(1)),
        ("101", GateEnd::Exit(101)),
        ("137", GateEnd::Exit(137)),
        ("signal", GateEnd::Signal),
        ("deadline", GateEnd::Deadline("it did not finish in time".to_owned())),
    ];
    let mut table = vec![];
    for (end_name, end) in &ends {
        let row: Vec<String> = outputs
            .iter()
            .map(|(name, output)| format!("{name} {}", word(TESTS, end.clone(), output, &demand)))
            .collect();
        table.push(format!("{end_name}: {}", row.join(", ")));
    }
    assert_eq!(
        table,
        [
            "0: passed good, early bad, none unknown, fewer bad",
            "1: passed bad, early bad, none bad, fewer bad",
            "101: passed bad, early bad, none bad, fewer bad",
            "137: passed unknown, early unknown, none unknown, fewer unknown",
            "signal: passed unknown, early unknown, none unknown, fewer unknown",
            "deadline: passed unknown, early unknown, none unknown, fewer unknown",
        ]
    );
}

#[test]
fn a_measure_never_makes_a_red_exit_good() {
    let threshold = Threshold { comparator: Comparator::AtLeast, percent: "80".parse().unwrap() };
    let demand = Demand { threshold: Some(threshold), ..Demand::default() };
    let report = r#"<coverage line-rate="0.99" lines-covered="99" lines-valid="100"></coverage>"#;
    let gate = Gate { value: Some("coverage.xml".to_owned()), ..Gate::default() };
    let judged = |end, report| judge(run(COVERAGE, &gate, end, "", report), &demand).verdict;
    assert!(judged(GateEnd::Exit(0), Some(report)).is_good());
    for code in [1, 2, 101] {
        let expected = Verdict::bad(format!("coverage: it failed with exit code {code}"));
        assert_eq!(judged(GateEnd::Exit(code), Some(report)), expected);
    }
    assert_eq!(judged(GateEnd::Exit(137), Some(report)).word(), "unknown");
    // A report that the command did not write in this run is none.
    assert_eq!(
        judged(GateEnd::Exit(0), None),
        Verdict::unknown("coverage: no value was found, and at least 80% is demanded")
    );
    let low = r#"<coverage line-rate="0.79" lines-covered="79" lines-valid="100"></coverage>"#;
    assert_eq!(
        judged(GateEnd::Exit(0), Some(low)),
        Verdict::bad("coverage: 79%, but at least 80% is demanded")
    );
}

#[test]
fn tests_that_a_known_tool_printed_are_read_whatever_the_gate_is_called() {
    let early = failed_early();
    assert_eq!(word("smoke", GateEnd::Exit(0), &early, &Demand::default()), "bad");
    assert_eq!(word("smoke", GateEnd::Exit(0), NONE, &Demand::default()), "unknown");
    assert_eq!(word(COVERAGE, GateEnd::Exit(0), &early, &Demand::default()), "bad");
    assert_eq!(word(LINT, GateEnd::Exit(0), &early, &Demand::default()), "good");
    assert_eq!(word(LINT, GateEnd::Exit(1), PASSED, &Demand::default()), "bad");
}

#[test]
fn an_exit_code_is_good_where_the_gate_declares_it() {
    let gate = Gate { ok_exit: vec![0, 5], ..Gate::default() };
    let judged = |code| judge(run(LINT, &gate, GateEnd::Exit(code), "fine", None), &Demand::default());
    assert!(judged(5).verdict.is_good());
    assert!(!judged(6).verdict.is_good());
}

#[test]
fn output_that_could_not_be_read_whole_is_unknown() {
    let mut cut = run(TESTS, &Gate::default(), GateEnd::Exit(0), PASSED, None);
    cut.reading.cut = true;
    let judged = judge(cut, &Demand::default());
    assert_eq!(judged.verdict, Verdict::unknown("tests: it printed more than can be judged"));
}

#[test]
fn warnings_are_bad_where_the_project_says_so() {
    let demand = Demand { warnings_fail: true, ..Demand::default() };
    assert_eq!(word(LINT, GateEnd::Exit(0), "a.rs:3: warning: unused", &demand), "bad");
    assert_eq!(word(LINT, GateEnd::Exit(0), "checked 3 files, 0 warnings", &demand), "good");
}

#[test]
fn cy_68_a_subset_after_a_crash_is_unknown_for_the_rest() {
    let whole = judge(run(TESTS, &Gate::default(), GateEnd::Signal, "", None), &Demand::default());
    let subset = |output, code| {
        let part = run(TESTS, &Gate::default(), GateEnd::Exit(code), output, None);
        judge_subset(&whole, part, &Demand { floor: Some(three_ran()), ..Demand::default() })
    };
    assert_eq!(
        subset(FEWER, 0).words,
        "the whole suite crashed (it was ended by a signal); a subset of it was run instead: 2 tests ran, all passed"
    );
    assert_eq!(subset(FEWER, 0).verdict.word(), "unknown");
    assert_eq!(subset(&failed_early(), 1).verdict.word(), "bad");
}

#[test]
fn a_gate_that_is_not_there_is_told_and_never_good() {
    let absent = CheckEvidence::not_configured(TESTS);
    assert!(!absent.verdict.is_good() && absent.verdict.closes());
    assert_eq!(absent.line(), "tests: no such check is configured");
    assert_eq!(CheckEvidence::not_run(TESTS, "no time was left").verdict.word(), "unknown");
    let command_missing = word(TESTS, GateEnd::Exit(127), "sh: pytest: not found", &Demand::default());
    assert_eq!(command_missing, "unknown");
}

#[test]
fn junit_reports_that_the_gate_wrote_are_counted() {
    let gate = Gate { value: Some("junit.xml".to_owned()), ..Gate::default() };
    let report = r#"<testsuites><testsuite name="s" tests="2" failures="0" errors="0" skipped="0"><testcase name="a"/><testcase name="b"/></testsuite></testsuites>"#;
    let judged = judge(run(TESTS, &gate, GateEnd::Exit(0), "done", Some(report)), &Demand::default());
    assert_eq!(judged.counts().map(|counts| counts.passed), Some(2));
}
