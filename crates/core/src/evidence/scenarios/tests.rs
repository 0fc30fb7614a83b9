//! Tests of finding tests in sources, and what puts them off.

use proptest::prelude::*;

use super::*;

/// `name:line`, with a minus before it where it is put off.
fn listed(text: &str, path: &str) -> Vec<String> {
    list(text, path)
        .into_iter()
        .map(|s| format!("{}{}:{}", if s.enabled { "" } else { "-" }, s.name, s.line))
        .collect()
}

fn markers(text: &str, path: &str) -> Vec<String> {
    skip_markers("", text, path)
        .into_iter()
        .map(|m| format!("{}: {} {}", m.line, m.word, m.test.unwrap_or("*".to_owned())))
        .collect()
}

const PYTHON: &str = include_str!("../fixtures/sources/scenarios.py.txt");
const RUST: &str = include_str!("../fixtures/sources/scenarios.rs.txt");
const SCRIPT: &str = include_str!("../fixtures/sources/scenarios.js.txt");
const GO: &str = include_str!("../fixtures/sources/scenarios_go.txt");
const GHERKIN: &str = include_str!("../fixtures/sources/scenarios.feature.txt");

#[test]
fn ds_92_scenarios_of_python() {
    assert_eq!(
        listed(PYTHON, "tests/test_a.py"),
        [
            "test_active:10",
            "-test_put_off:14",
            "-test_over_lines:20",
            "test_not_on_windows:24",
            "-test_never:28",
            "-test_expected_to_fail:32",
            "-test_stops_itself:35",
            "test_stops_sometimes:39",
            "TestGroup::test_inside:45",
            "-TestGroup::test_later:49",
            "-Later::test_of_class:54",
        ]
    );
    assert_eq!(
        markers(PYTHON, "tests/test_a.py"),
        [
            "13: @pytest.mark.skip test_put_off",
            "17: @pytest.mark.skip test_over_lines",
            "23: @pytest.mark.skipif test_not_on_windows",
            "27: @pytest.mark.skipif test_never",
            "31: @pytest.mark.xfail test_expected_to_fail",
            "36: pytest.skip test_stops_itself",
            "41: pytest.skip test_stops_sometimes",
            "48: @unittest.skip TestGroup::test_later",
            "52: @skip Later",
        ]
    );
    let module = "import pytest\npytestmark = pytest.mark.skip(reason=\"later\")\n\ndef test_a(): pass\n";
    assert_eq!(listed(module, "a.py"), ["-test_a:4"]);
    assert_eq!(
        listed("def test_a(): pass\npytest.skip(\"x\", allow_module_level=True)\n", "a.py"),
        ["-test_a:1"]
    );
}

#[test]
fn ds_92_scenarios_of_rust() {
    assert_eq!(
        listed(RUST, "tests/a.rs"),
        ["active:10", "-put_off:14", "-with_reason:16", "asynchronous:21", "sometimes:25", "-never:29"]
    );
    assert_eq!(
        markers(RUST, "tests/a.rs"),
        [
            "13: #[IGNORE] put_off",
            "16: #[IGNORE] with_reason",
            "24: #[cfg_attr] sometimes",
            "28: #[cfg] never"
        ]
        .map(|line| line.replace("IGNORE", "ignore"))
    );
}

#[test]
fn ds_92_scenarios_of_scripts() {
    assert_eq!(
        listed(SCRIPT, "src/a.test.ts"),
        [
            "greeting > greets politely:5",
            "-greeting > is put off:7",
            "-greeting > is put off too:8",
            "-greeting > is an idea:9",
            "greeting > adds %i and %i:10",
            "greeting > runs sometimes:14",
            "-later > has a suite that is put off:17",
            "stands alone:20",
        ]
    );
    assert_eq!(
        markers(SCRIPT, "src/a.test.ts"),
        [
            "7: it.skip greeting > is put off",
            "8: xit greeting > is put off too",
            "9: test.todo greeting > is an idea",
            "14: it.skipIf greeting > runs sometimes",
            "16: describe.skip later",
        ]
    );
    let only = "describe('a', () => {\n  it('b', () => {});\n  it.only('c', () => {});\n});\n";
    assert_eq!(listed(only, "a.js"), ["-a > b:2", "a > c:3"]);
    assert_eq!(markers(only, "a.js"), ["3: it.only a > c"]);
}

#[test]
fn ds_92_scenarios_of_go() {
    assert_eq!(listed(GO, "a_test.go"), ["TestActive:9", "-TestPutOff:15", "TestShort:20"]);
    assert_eq!(markers(GO, "a_test.go"), ["16: t.Skip TestPutOff", "22: t.SkipNow TestShort"]);
    assert_eq!(
        listed("//go:build ignore\n\npackage a\n\nfunc TestA(t *testing.T) {}\n", "a_test.go"),
        ["-TestA:5"]
    );
}

#[test]
fn ds_92_scenarios_of_feature_files() {
    assert_eq!(
        listed(GHERKIN, "greet.feature"),
        [
            "greets politely:7",
            "-is put off:18",
            "-is in work:22",
            "greets <name>:28",
            "-of a rule that is put off:39"
        ]
    );
    assert_eq!(
        markers(GHERKIN, "greet.feature"),
        ["17: @skip is put off", "21: @wip is in work", "36: @Ignore later"]
    );
    assert_eq!(listed("# language: de\nFunktionalität: x\n  Szenario: grüßt\n", "a.feature"), ["grüßt:3"]);
}

#[test]
fn dw_59_a_marker_is_new_only_where_the_test_had_none() {
    let before = "@pytest.mark.skip\ndef test_a(): pass\n\ndef test_b(): pass\n";
    let moved = "import x\n\n\n@pytest.mark.skip\ndef test_a(): pass\n\ndef test_b(): pass\n";
    assert_eq!(skip_markers(before, moved, "a.py"), []);
    // The same number of markers, but on another test.
    let shifted = "def test_a(): pass\n\n@pytest.mark.skip\ndef test_b(): pass\n";
    assert_eq!(
        skip_markers(before, shifted, "a.py"),
        [Marker { line: 3, word: "@pytest.mark.skip".to_owned(), test: Some("test_b".to_owned()) }]
    );
    assert_eq!(skip_markers(before, "def test_a(): pass\n", "a.py"), []);
}

#[test]
fn a_test_that_is_gone_is_named() {
    let before = "def test_a(): pass\n\ndef test_b(): pass\n";
    assert_eq!(removed_tests(before, "def test_b(): pass\n# def test_a(): pass\n", "a.py"), ["test_a"]);
    assert_eq!(
        removed_tests(before, "\"\"\"\ndef test_a(): pass\n\"\"\"\ndef test_b(): pass\n", "a.py"),
        ["test_a"]
    );
    assert_eq!(removed_tests(before, before, "a.py"), Vec::<String>::new());
    assert_eq!(tests_in("whatever", "a.txt"), Vec::<String>::new());
    assert!(is_readable("tests/a.py") && is_readable("a.feature") && !is_readable("a.rb"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn nothing_makes_the_readers_fail(
        pieces in prop::collection::vec(
            prop_oneof![
                proptest::sample::select(
                    [PYTHON, RUST, SCRIPT, GO, GHERKIN].into_iter().flat_map(str::lines).collect::<Vec<_>>()
                ).prop_map(str::to_owned),
                ".{0,40}",
                "[#\\[\\](){}'\"`\\\\/*@:.,a-z ]{0,40}",
            ],
            0..40,
        )
    ) {
        let text = pieces.join("\n");
        for path in ["a.py", "a.rs", "a.js", "a.go", "a.feature"] {
            let found = list(&text, path);
            let lines = text.lines().count() as u32;
            prop_assert!(found.iter().all(|scenario| (1..=lines).contains(&scenario.line)));
            prop_assert_eq!(skip_markers(&text, &text, path), vec![]);
            prop_assert_eq!(removed_tests(&text, &text, path), Vec::<String>::new());
        }
    }
}

#[test]
fn a_long_source_is_read_in_one_pass() {
    for piece in
        ["#[", "it.each(", "it(", "/*", "r#", "(((", "@x(\n", "'", "describe('a', ", "def test_a(:\n  "]
    {
        let text = piece.repeat(5_000);
        for path in ["a.py", "a.rs", "a.js", "a.go", "a.feature"] {
            list(&text, path);
        }
    }
}
