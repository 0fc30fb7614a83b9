//! Tests of reading the output of test runs. The fixtures are what the tools print.

use proptest::prelude::*;

use super::*;

/// A run, one line for itself and one for each failure.
fn told(output: &str, exit: i32) -> Vec<String> {
    let run = read(output, Some(exit), None);
    let counts = run.counts.map_or("-".to_owned(), |c| {
        format!("{} = {}+{}+{}+{}", c.total, c.passed, c.failed, c.errors, c.skipped)
    });
    let tool = run.tool.map_or("-".to_owned(), |tool| tool.to_string());
    let mut lines = vec![format!("{tool}: {counts}: {:?}", run.verdict)];
    for failed in run.failures {
        let file = failed.file.unwrap_or_default();
        let line = failed.line.map_or(String::new(), |line| format!(":{line}"));
        lines.push(format!("{:?} {} {file}{line}", failed.kind, failed.name));
    }
    lines
}

fn verdict(output: &str, exit: i32) -> TestVerdict {
    read(output, Some(exit), None).verdict
}

const fn broken(why: Why) -> TestVerdict {
    TestVerdict::Broken { why }
}

const ASSERTION: TestVerdict = TestVerdict::Red(Red::Assertion);

#[test]
fn pytest_is_read_in_all_its_parts() {
    let expected = [
        "pytest: 13 = 3+7+1+2: Broken { why: Import }",
        "Assertion test_greets_politely test_greet.py:5",
        "Error test_boom test_greet.py:11",
        "Missing test_todo test_greet.py:14",
        "Assertion test_raises test_greet.py:17",
        "Assertion test_pfail test_greet.py:21",
        "Assertion TestC::test_p[2] test_greet.py:42",
        "Import test_imp test_greet.py:44",
        "Setup test_db test_greet.py:25",
    ];
    assert_eq!(told(include_str!("fixtures/pytest_every_kind.txt"), 1), expected);
    // The report of the same run, which also calls an exception in a test a failure.
    let report = told(include_str!("fixtures/junit_pytest.xml"), 1);
    assert_eq!(report[0], "JUnit XML: 13 = 3+7+1+2: Broken { why: Import }");
    assert_eq!(report.len(), expected.len());
    // Without the long reports the places are not known, but the kinds are.
    let quiet = told(include_str!("fixtures/pytest_quiet.txt"), 1);
    assert_eq!(quiet[0], expected[0]);
    assert_eq!(quiet[3], "Missing test_todo test_greet.py");
}

// E-54, DS-93: what cannot be imported is not red.
#[test]
fn e_54_an_import_error_is_not_red() {
    assert_eq!(
        told(include_str!("fixtures/pytest_collection.txt"), 2),
        [
            "pytest: 2 = 0+0+2+0: Broken { why: Compile }",
            "Import test_coll.py test_coll.py:1",
            "Compile test_syn.py test_syn.py:1",
        ]
    );
    assert_eq!(
        told(include_str!("fixtures/unittest_import.txt"), 1),
        ["unittest: 1 = 0+0+1+0: Broken { why: Import }", "Import nomod "]
    );
    let conftest = "ImportError while loading conftest '/home/ann/greet/conftest.py'.\nconftest.py:1: in <module>\n    import nowhere\nE   ModuleNotFoundError: No module named 'nowhere'\n";
    assert_eq!(verdict(conftest, 4), broken(Why::Import));
}

// E-54, DS-93: a test that passes at once is not red.
#[test]
fn e_54_a_test_that_passes_at_once_is_green() {
    for output in [
        "============================== 1 passed in 0.01s ===============================\n",
        "1 passed, 2 skipped, 1 warning in 61.20s (0:01:01)\n",
        ".\n----------------------------------------------------------------------\nRan 1 test in 0.000s\n\nOK\n",
        "running 1 test\ntest it ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
        "     Summary [   0.605s] 2 tests run: 2 passed (1 slow, 1 flaky), 0 skipped\n",
        "ok  \texample.com/greet\t0.004s\n",
        "Tests:       2 passed, 2 total\n",
        " Test Files  1 passed (1)\n      Tests  2 passed (2)\n",
        "<testsuite tests=\"1\"><testcase name=\"a\"/></testsuite>",
        "TAP version 13\nok 1 - a\n1..1\n",
    ] {
        let run = read(output, Some(0), None);
        assert_eq!(run.verdict, TestVerdict::Green, "{output}");
        assert!(run.tool.is_some(), "{output}");
        // The tests passed, but the command did not: something else is wrong.
        assert!(matches!(verdict(output, 3), TestVerdict::Broken { .. }), "{output}");
    }
}

#[test]
fn no_test_is_neither_green_nor_red() {
    for (output, exit) in [
        ("============================ no tests ran in 0.00s =============================\n", 5),
        ("============================ 13 deselected in 0.01s ============================\n", 5),
        ("s                                     [100%]\n1 skipped in 0.01s\n", 0),
        ("Ran 0 tests in 0.000s\n\nOK\n", 0),
        ("Ran 0 tests in 0.000s\n\nNO TESTS RAN\n", 5),
        ("Ran 2 tests in 0.000s\n\nOK (skipped=2)\n", 0),
        (
            "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 13 filtered out; finished in 0.00s\n",
            0,
        ),
        ("     Summary [   0.000s] 0 tests run: 0 passed, 14 skipped\nerror: no tests to run\n", 4),
        ("?   \texample.com/greet/cmd\t[no test files]\n", 0),
        ("testing: warning: no tests to run\nPASS\nok  \texample.com/greet\t0.001s [no tests to run]\n", 0),
        ("No tests found, exiting with code 1\n", 1),
        (" RUN  v4.1.12 /home/ann\n\nNo test files found, exiting with code 1\n", 1),
        ("<testsuites tests=\"0\"></testsuites>", 0),
        ("1..0 # SKIP nothing here\n", 0),
    ] {
        assert_eq!(verdict(output, exit), TestVerdict::Nothing, "{output}");
    }
}

#[test]
fn ds_94_unittest_tells_failures_from_errors() {
    assert_eq!(
        told(include_str!("fixtures/unittest_every_kind.txt"), 1),
        [
            "unittest: 8 = 0+4+2+2: Broken { why: Setup }",
            "Setup setUpClass /home/ann/greet/ut.py:20",
            "Error test_b /home/ann/greet/ut.py:6",
            "Assertion test_a /home/ann/greet/ut.py:4",
            "Assertion test_sub (i=0) /home/ann/greet/ut.py:13",
            "Assertion test_sub (i=1) /home/ann/greet/ut.py:13",
            "Error test_f ",
        ]
    );
    let rule = "=".repeat(70);
    let dashes = "-".repeat(70);
    let one = |label: &str, said: &str, summary: &str| {
        format!(
            "{rule}\n{label}: test_a (t.T.test_a)\n{dashes}\nTraceback (most recent call last):\n  File \"t.py\", line 4, in test_a\n    x\n{said}\n\n{dashes}\nRan 1 test in 0.001s\n\nFAILED ({summary})\n"
        )
    };
    assert_eq!(verdict(&one("FAIL", "AssertionError: 1 != 2", "failures=1"), 1), ASSERTION);
    assert_eq!(
        verdict(&one("ERROR", "NameError: name 'x' is not defined", "errors=1"), 1),
        broken(Why::Error)
    );
    assert_eq!(verdict(&one("ERROR", "NotImplementedError", "errors=1"), 1), TestVerdict::Red(Red::Missing));
}

#[test]
fn ds_94_cargo_test_tells_assertions_from_other_panics() {
    let expected = [
        "Assertion tests::deb src/lib.rs:19",
        "Error tests::idx src/lib.rs:21",
        "Missing tests::laters src/lib.rs:5",
        "Assertion tests::m src/lib.rs:20",
        "Assertion tests::ne src/lib.rs:18",
        "Assertion tests::plain src/lib.rs:11",
        "Error tests::res ",
        "Assertion tests::polite src/lib.rs:9",
        "Assertion tests::sp ",
        "Assertion tests::truth src/lib.rs:10",
        "Error tests::unwraps src/lib.rs:12",
    ];
    let cargo = told(include_str!("fixtures/cargo_every_kind.txt"), 101);
    assert_eq!(cargo[0], "cargo test: 15 = 2+12+0+1: Red(Assertion)");
    assert_eq!(cargo[1..12], expected);
    assert_eq!(cargo[12], "Assertion src/lib.rs - (line 1) src/lib.rs:1");
    let mut nextest = told(include_str!("fixtures/nextest_every_kind.txt"), 100);
    assert_eq!(nextest.remove(0), "cargo nextest: 14 = 2+11+0+1: Red(Assertion)");
    nextest.sort();
    let mut sorted = expected;
    sorted.sort_unstable();
    assert_eq!(nextest, sorted);
}

#[test]
fn ds_94_a_message_in_own_words_is_an_assertion_only_where_the_test_stands() {
    let output = |test: &str, place: &str, said: &str| {
        format!(
            "running 1 test\n\n---- {test} stdout ----\n\nthread '{test}' panicked at {place}:3:5:\n{said}\n\nfailures:\n    {test}\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
        )
    };
    for (test, place, said, expected) in [
        ("greets", "tests/it.rs", "is not polite", ASSERTION),
        ("greet::tests::polite", "src/greet.rs", "is not polite", ASSERTION),
        ("greet::tests::polite", "src/greet/mod.rs", "is not polite", ASSERTION),
        ("greet::tests::polite", "src/greet/tests.rs", "is not polite", ASSERTION),
        ("greet::tests::polite", "src/words.rs", "no such word", broken(Why::Error)),
        ("greet::tests::polite", "src/words.rs", "assertion failed: n > 0", ASSERTION),
        ("greets", "tests/it.rs", "called `Result::unwrap()` on an `Err` value: Missing", broken(Why::Error)),
        ("greets", "tests/it.rs", "server: Os { code: 111, kind: ConnectionRefused }", broken(Why::Setup)),
    ] {
        assert_eq!(verdict(&output(test, place, said), 101), expected, "{test} {place} {said}");
    }
    let old = "running 1 test\n---- a stdout ----\nthread 'a' panicked at 'assertion failed: x', src/lib.rs:2:5\n\nfailures:\n    a\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n";
    assert_eq!(told(old, 101)[1], "Assertion a src/lib.rs:2");
}

#[test]
fn ds_94_what_does_not_compile_or_dies_is_not_red() {
    assert_eq!(
        told(include_str!("fixtures/cargo_compile.txt"), 101),
        ["cargo test: -: Broken { why: Compile }", "Compile tests/broken.rs tests/broken.rs:1"]
    );
    assert_eq!(verdict(include_str!("fixtures/cargo_abort.txt"), 101), broken(Why::Crash));
    assert_eq!(verdict("error: no test target named `it`.\n", 101), broken(Why::Setup));
    assert_eq!(
        told(
            "     Summary [ 1.0s] 1 test run: 0 passed, 1 timed out, 0 skipped\n     TIMEOUT [   1.000s] (1/1) greet tests::slow\nerror: test run failed\n",
            100
        ),
        ["cargo nextest: 1 = 0+1+0+0: Broken { why: Timeout }", "Timeout tests::slow "]
    );
    assert_eq!(verdict(include_str!("fixtures/pytest_usage.txt"), 4), broken(Why::Collection));
    assert_eq!(
        told(include_str!("fixtures/go_build.txt"), 1),
        [
            "go test: -: Broken { why: Compile }",
            "Compile greet_test.go greet_test.go:8",
            "Compile greet_test.go greet_test.go:9",
        ]
    );
}

#[test]
fn go_test_is_read_in_words_verbose_and_as_json() {
    assert_eq!(
        told(include_str!("fixtures/go_fail.txt"), 1),
        ["go test: -: Red(Assertion)", "Assertion TestGreet/polite greet_test.go:12", "Error TestBoom "]
    );
    let verbose = ["go test: 4 = 2+1+0+1: Red(Assertion)", "Assertion TestGreet/polite greet_test.go:12"];
    assert_eq!(told(include_str!("fixtures/go_verbose.txt"), 1), verbose);
    assert_eq!(told(include_str!("fixtures/go_json.txt"), 1), verbose);
    let late = "panic: test timed out after 1s\n\ngoroutine 1 [running]:\nFAIL\texample.com/greet\t1.003s\n";
    assert_eq!(verdict(late, 1), broken(Why::Timeout));
    let later =
        "--- FAIL: TestA (0.00s)\npanic: not implemented [recovered]\nFAIL\texample.com/greet\t0.003s\n";
    assert_eq!(verdict(later, 1), TestVerdict::Red(Red::Missing));
}

#[test]
fn jest_and_vitest_are_read() {
    assert_eq!(
        told(include_str!("fixtures/jest_every_kind.txt"), 1),
        [
            "jest: 9 = 1+6+0+2: Broken { why: Timeout }",
            "Assertion greeting › greets politely greet.test.js:3",
            "Error greeting › blows greet.test.js:5",
            "Missing greeting › later greet.test.js:6",
            "Timeout greeting › slow greet.test.js:9",
            "Assertion greeting › node assert greet.test.js:10",
            "Error hooks › x greet.test.js:12",
        ]
    );
    assert_eq!(
        told(include_str!("fixtures/jest_suites.txt"), 1)[1..],
        ["Import gone.test.js gone.test.js:1", "Compile syn.test.js "]
    );
    // With all its colours.
    assert_eq!(
        told(include_str!("fixtures/vitest_every_kind.txt"), 1),
        [
            "vitest: 9 = 1+5+0+3: Broken { why: Compile }",
            "Import gone.test.js gone.test.js:1",
            "Setup greeting_hooks greet.test.js:12",
            "Compile syn.test.js syn.test.js",
            "Assertion greeting > greets politely greet.test.js:3",
            "Error greeting > blows greet.test.js:5",
            "Missing greeting > later greet.test.js:6",
            "Timeout greeting > slow greet.test.js:9",
            "Assertion greeting > node assert greet.test.js:10",
        ]
        .map(|line| line.replace("greeting_hooks", "hooks"))
    );
}

#[test]
fn tap_and_reports_of_other_tools_are_read() {
    assert_eq!(
        told(include_str!("fixtures/tap.txt"), 1),
        [
            "TAP: 4 = 1+2+0+1: Red(Assertion)",
            "Assertion a /home/ann/greet/tap.test.mjs:2",
            "Error inner /home/ann/greet/tap.test.mjs:5",
        ]
    );
    assert_eq!(verdict("1..2\nok 1\nBail out! No database.\n", 255), broken(Why::Crash));
    let java = r#"<?xml version="1.0"?><testsuite name="T" tests="3" failures="1" errors="1" skipped="0">
      <testcase name="a"><failure message="expected: &lt;1&gt; but was: &lt;2&gt;" type="org.opentest4j.AssertionFailedError"><![CDATA[at T.a(T.java:5)]]></failure></testcase>
      <testcase name="b"><error type="java.lang.NullPointerException"/></testcase><testcase name="c"/></testsuite>"#;
    assert_eq!(told(java, 1), ["JUnit XML: 3 = 1+1+1+0: Red(Assertion)", "Assertion a ", "Error b "]);
    // Cut off in the middle, and with the counts alone.
    assert_eq!(told(&java[..java.find("<error").unwrap()], 1)[1..], ["Assertion a "]);
    assert_eq!(
        told("<testsuites tests=\"2\" failures=\"1\"/>", 1)[0],
        "JUnit XML: 2 = 1+1+0+0: Broken { why: Unknown }"
    );
}

#[test]
fn several_tools_in_one_output_are_added_up() {
    let both = "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n==== 1 failed, 1 passed in 0.1s ====\n";
    assert_eq!(told(both, 1)[0], "cargo test: 4 = 3+1+0+0: Broken { why: Unknown }");
    let assertion = "=== short test summary info ===\nFAILED t.py::test_a - assert 1 == 2\n";
    assert_eq!(verdict(&format!("{assertion}{both}"), 1), ASSERTION);
    // Broken wins, and the sentence says that there was an assertion too.
    let run =
        read(&format!("{assertion}ERROR u.py - ImportError: x\n1 failed, 1 error in 0.1s\n"), Some(2), None);
    assert_eq!(
        count_in_words(&run),
        "1 test ran, 1 failed, 1 error: u.py, test_a (t.py); proves nothing: something could not be imported, although an assertion failed too"
    );
}

#[test]
fn a_tool_that_is_not_known_is_judged_by_its_exit_and_what_was_expected() {
    let expect = Regex::new("(?m)^erwartet").unwrap();
    let judged = |output: &str, exit: Option<i32>| read(output, exit, Some(&expect)).verdict;
    assert_eq!(judged("erwartet 1, war 2", Some(1)), ASSERTION);
    assert_eq!(judged("\u{1b}[31merwartet\u{1b}[0m 1\r\n", Some(1)), ASSERTION);
    assert_eq!(judged("kein Platz auf dem Laufwerk", Some(1)), broken(Why::Unknown));
    assert_eq!(judged("alles gut", Some(0)), TestVerdict::Green);
    assert_eq!(judged("erwartet 1", None), broken(Why::Crash));
    assert_eq!(verdict("sh: 1: pytest: not found", 127), broken(Why::Setup));
    assert_eq!(verdict("", 124), broken(Why::Timeout));
    assert_eq!(verdict("", 139), broken(Why::Crash));
    assert_eq!(verdict("Error: Cannot find module './x'", 1), broken(Why::Import));
    // It says why a test failed where its tool does not, and never makes red what could not be collected.
    let error = Regex::new("ValueError").unwrap();
    let failed = "=== short test summary info ===\nFAILED t.py::test_a - ValueError: x\n1 failed in 0.1s\n";
    assert_eq!(read(failed, Some(1), None).verdict, broken(Why::Error));
    assert_eq!(read(failed, Some(1), Some(&error)).verdict, ASSERTION);
    let collected = "=== short test summary info ===\nERROR t.py - ValueError: x\n1 error in 0.1s\n";
    assert_eq!(read(collected, Some(2), Some(&error)).verdict, broken(Why::Collection));
}

#[test]
fn cy_53_counts_are_told_in_one_sentence() {
    let words = |output: &str, exit: i32| count_in_words(&read(output, Some(exit), None));
    let failed = "=== FAILURES ===\n___ greets_politely ___\n\nE   assert 1 == 2\n\ngreet_test.py:12: AssertionError\n=== 1 failed, 2 passed in 0.1s ===\n";
    assert_eq!(words(failed, 1), "3 tests ran, 1 failed: greets_politely (greet_test.py:12)");
    assert_eq!(words("3 passed, 1 skipped in 0.1s", 0), "3 tests ran, all passed, 1 skipped");
    assert_eq!(words("1 passed in 0.1s", 0), "1 test ran, it passed");
    assert_eq!(words("no tests ran in 0.1s", 5), "no test ran");
    assert_eq!(words("ok  \tx\t0.1s", 0), "all tests passed, their number is not known");
    assert_eq!(
        words("?", 1),
        "the tests failed; proves nothing: the command failed, and its output does not say why"
    );
    assert_eq!(
        words(include_str!("fixtures/cargo_compile.txt"), 101),
        "the tests did not run: tests/broken.rs:1; proves nothing: something does not compile"
    );
}

#[test]
fn ds_93_code_that_is_not_written_yet_is_red_for_acceptance_alone() {
    let output =
        "=== short test summary info ===\nFAILED t.py::test_a - NotImplementedError\n1 failed in 0.1s\n";
    let verdict = verdict(output, 1);
    assert!(verdict.fails_for_missing_logic());
    assert!(!verdict.fails_on_assertion());
    assert!(!verdict.is_green());
    assert!(ASSERTION.fails_on_assertion() && ASSERTION.fails_for_missing_logic());
}

#[test]
fn ds_97_a_green_summary_does_not_hide_a_failure() {
    // The exit code was lost in a pipe.
    assert_eq!(
        verdict("=== short test summary info ===\nFAILED t.py::a - assert 0\n1 failed in 0.1s\n", 0),
        ASSERTION
    );
    assert!(matches!(verdict("1 failed, 1 passed in 0.1s", 0), TestVerdict::Broken { .. }));
}

#[test]
fn a_huge_output_is_read_in_one_pass() {
    // Were any reader quadratic, these would take minutes.
    let block = "---- a stdout ----\nthread 'a' panicked at src/lib.rs:1:1:\nE   AssertionError\n=== RUN   TestA/b\n  ● a › b\n FAIL  x > y\n___ t ___\nnot ok 1 - x\n<<\u{1b}]\u{1b}[\n";
    let long = block.repeat(5_000);
    for start in
        ["running 1 test\n", "=== FAILURES ===\n", "TAP version 13\n", "<testsuite>", "Nextest run ID x\n"]
    {
        let run = read(&format!("{start}{long}"), Some(1), None);
        assert!(run.failures.len() <= FAILURES_MAX);
    }
    let flat = "(".repeat(400_000);
    read(&flat, Some(1), None);
    read(&format!("<testsuite {flat}"), Some(1), None);
}

/// Lines that mean something to one of the readers, in any order.
fn line() -> impl Strategy<Value = String> {
    let known: Vec<&str> = [
        include_str!("fixtures/pytest_every_kind.txt"),
        include_str!("fixtures/unittest_every_kind.txt"),
        include_str!("fixtures/cargo_every_kind.txt"),
        include_str!("fixtures/nextest_every_kind.txt"),
        include_str!("fixtures/go_verbose.txt"),
        include_str!("fixtures/jest_every_kind.txt"),
        include_str!("fixtures/vitest_every_kind.txt"),
        include_str!("fixtures/tap.txt"),
        include_str!("fixtures/junit_pytest.xml"),
    ]
    .into_iter()
    .flat_map(str::lines)
    .collect();
    prop_oneof![
        4 => proptest::sample::select(known).prop_map(str::to_owned),
        1 => ".{0,60}",
        1 => "[-=_ .:()\\[\\]<>/&;'\"`0-9a-zA-Z\u{1b}\u{fffd}]{0,60}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn nothing_makes_the_readers_fail(lines in prop::collection::vec(line(), 0..60), exit in prop::option::of(-1..300)) {
        let output = lines.join("\n");
        let run = read(&output, exit, None);
        if run.verdict == TestVerdict::Green {
            prop_assert_eq!(exit, Some(0));
            prop_assert!(run.failures.is_empty());
            prop_assert!(run.counts.is_none_or(|counts| counts.failed == 0 && counts.errors == 0));
        }
        if let TestVerdict::Red(_) = run.verdict {
            prop_assert!(!run.failures.iter().any(|failed| failed.kind.is_basic()));
        }
        prop_assert!(!count_in_words(&run).is_empty());
        prop_assert_eq!(read(&output.replace('\n', "\r\n"), exit, None), run);
    }

    #[test]
    fn cy_53_the_counts_of_the_binaries_of_cargo_add_up(binaries in prop::collection::vec((0_u64..50, 0_u64..50, 0_u64..50), 1..9)) {
        let output: String = binaries
            .iter()
            .map(|(p, f, i)| format!("test result: ok. {p} passed; {f} failed; {i} ignored; 0 measured; 7 filtered out; finished in 0.00s\n"))
            .collect();
        let sum = |of: fn(&(u64, u64, u64)) -> u64| binaries.iter().map(of).sum::<u64>();
        let counts = read(&output, Some(0), None).counts.unwrap();
        prop_assert_eq!(counts, Counts::of(sum(|b| b.0), sum(|b| b.1), 0, sum(|b| b.2)));
    }
}

/// Several runners in one command, of which one failed: the good summary of another does not outvote it.
#[test]
fn a_good_summary_outvotes_no_failure_beside_it() {
    let cargo_ok =
        "running 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured\n";
    let pytest_ok = "============================== 1 passed in 0.01s ==============================\n";
    let nextest_ok = " Nextest run ID 1 with nextest profile: default\n    PASS [   0.1s] (1/1) a tests::a\n     Summary [   0.1s] 1 test run: 1 passed, 0 skipped\n";
    for bad in [
        "running 1 test\ntest b ... FAILED\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured\n",
        "running 2 tests\ntest b ... FAILED\n",
        "running 2 tests\ntest b ... ok\n",
        "1 failed, 2 passed, 3 snapshots updated in 0.10s\n",
        "Ran 2 tests in 0.002s\n\nFAILED (failures=1)\n",
        "--- FAIL: TestX (0.00s)\nFAIL\nFAIL\texample.com/a\t0.01s\n",
        "FAIL\texample.com/a\t0.01s\n",
        "Test Suites: 1 failed, 1 total\nTests:       2 passed, 2 total\n",
        "TAP version 13\nnot ok 1 - adds\n1..1\n",
    ] {
        for good in [cargo_ok, pytest_ok, nextest_ok] {
            for output in [format!("{bad}{good}"), format!("{good}{bad}")] {
                assert!(!verdict(&output, 0).is_green(), "{output}");
            }
        }
    }
}

/// What a test merely prints, an expected failure and a try that was repeated are no failures.
#[test]
fn printed_words_expected_failures_and_repeated_tries_stay_green() {
    for output in [
        "ERROR: no connection\nFAIL: as it should\n.\n----------------------------------------------------------------------\nRan 1 test in 0.002s\n\nOK\n",
        "FAILED to open the file, as it should\n1 passed, 1 xfailed in 0.01s\n",
        "1 passed, 1 rerun in 0.01s\n",
        " Nextest run ID 1 with nextest profile: default\n  TRY 1 FAIL [   0.1s] (1/1) a tests::a\n  TRY 2 PASS [   0.1s] (1/1) a tests::a\n     Summary [   0.2s] 1 test run: 1 passed (1 flaky), 0 skipped\n",
        "TAP version 13\nok 1 - a\nnot ok 2 - later # TODO\nnot ok 3 - b # SKIP\n1..3\n",
        "running 1 test\ntest prints - should panic ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured\n",
        "Ran 2 tests in 0.002s\n\nOK (expected failures=1)\n",
    ] {
        assert!(verdict(output, 0).is_green(), "{output}");
    }
}
