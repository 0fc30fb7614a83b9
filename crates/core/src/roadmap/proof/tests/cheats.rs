//! Tests that were rewritten, put off or deleted, and gates that were edited.

use proptest::prelude::*;

use super::super::*;
use super::rules;
use crate::hash::Hash;

const BASE: &str = "def test_cold():\n    assert cold() == 4\n";
const RED: &str =
    "def test_cold():\n    assert cold() == 4\n\n\ndef test_boils():\n    assert boil() == 100\n";
const AFTER_RED: [&str; 10] = [
    "GREEN_UNIT",
    "CHECK_ACCEPTANCE",
    "GREEN_ACCEPTANCE",
    "GREEN",
    "REVIEW",
    "REFACTOR_CONTINUOUS",
    "REFACTOR_L1",
    "POST_REFACTOR_REVIEW",
    "FINAL_VALIDATE",
    "COMMIT",
];

fn hashed(text: &str) -> (Hash, String) {
    (Hash::of(text.as_bytes()), text.to_owned())
}

fn file(path: &str, base: Option<&str>, red: Option<&str>, now: Option<&str>) -> TestFile {
    TestFile {
        path: path.to_owned(),
        base: base.map(str::to_owned),
        red: red.map(hashed),
        now: now.map(hashed),
    }
}

fn cheated(phase: &str, now: Option<&str>) -> Vec<Objection> {
    cheats(Sort::of(phase), &[file("tests/test_kettle.py", Some(BASE), Some(RED), now)])
}

/// A red test that is rewritten is refused at every later phase, with file, test and line.
#[test]
fn dw_63_green_by_rewriting_the_red_test_is_refused() {
    let softer = RED.replace("boil() == 100", "boil() is None");
    for phase in AFTER_RED {
        let objections = cheated(phase, Some(&softer));
        assert_eq!(rules(&objections), ["red-test-changed"], "{phase}");
        let message = &objections[0].message;
        assert!(message.contains("tests/test_kettle.py"), "{message}");
        assert!(message.contains("line 6 at `test_boils`"), "{message}");
        assert!(cheated(phase, Some(RED)).is_empty());
    }
    let moved_and_softer = [
        file("tests/test_kettle.py", Some(BASE), Some(RED), None),
        file("tests/unit/test_kettle.py", None, None, Some(&softer)),
    ];
    assert_eq!(rules(&cheats(Sort::Refactor, &moved_and_softer)), ["test-file-deleted"]);
    // Even a line more at the end could replace a test by another one of its name.
    let longer = format!("{RED}\n\ndef test_boils():\n    pass\n");
    assert_eq!(rules(&cheated("GREEN", Some(&longer))), ["red-test-changed"]);
}

/// Rust keeps unit tests in the source that has to change at GREEN: its tests count, the code above does not.
#[test]
fn tests_inside_of_a_rust_source_are_held_apart_from_its_code() {
    let tests = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn boils() {\n        assert_eq!(super::boil(), 100);\n    }\n}\n";
    let red = format!("fn boil() -> u8 {{ 0 }}\n\n{tests}");
    let green = format!("fn boil() -> u8 {{\n    100\n}}\n\n{tests}");
    let at_green = |now: &str| cheats(Sort::Green, &[file("src/lib.rs", None, Some(&red), Some(now))]);
    assert!(at_green(&green).is_empty());
    let objections = at_green(&green.replace("boil(), 100", "boil(), 0"));
    assert_eq!(rules(&objections), ["red-test-changed"]);
    assert!(objections[0].message.contains("`boils`"), "{}", objections[0].message);
    assert!(objections[0].message.contains("line 7"), "{}", objections[0].message);
    // An import for tests at the top does not make everything below it a test.
    let with_import = |text: &str| format!("#[cfg(test)]\nuse std::fs;\n\n{text}");
    let imported = file("src/lib.rs", None, Some(&with_import(&red)), Some(&with_import(&green)));
    assert!(cheats(Sort::Green, &[imported]).is_empty());
    // A file of tests alone is held as a whole.
    for path in ["tests/boil.rs", "src/kettle/tests.rs", "src/kettle/tests/boil.rs", "src/kettle_test.rs"] {
        let whole = cheats(Sort::Green, &[file(path, None, Some(&red), Some(&green))]);
        assert_eq!(rules(&whole), ["red-test-changed"], "{path}");
    }
    // Tests without a module of their own.
    let bare = "#[test]\nfn boils() {\n    assert_eq!(boil(), 100);\n}\n";
    let at_red = format!("fn boil() -> u8 {{ 0 }}\n{bare}");
    let at_green = format!("fn boil() -> u8 {{ 100 }}\n{bare}");
    assert!(cheats(Sort::Green, &[file("src/lib.rs", None, Some(&at_red), Some(&at_green))]).is_empty());
}

/// A text that was too long to be kept at RED is held by its hash, and never taken for an empty file.
#[test]
fn a_long_test_file_is_held_by_its_hash() {
    let skipped = RED.replace("def test_boils", "@pytest.mark.skip\ndef test_boils");
    let long = |path: &str, now: Option<&str>| TestFile {
        path: path.to_owned(),
        base: Some(skipped.clone()),
        red: Some((Hash::of(skipped.as_bytes()), String::new())),
        now: now.map(hashed),
    };
    assert!(cheats(Sort::Green, &[long("tests/test_a.py", Some(&skipped))]).is_empty());
    let changed = format!("{skipped}\n");
    let objections = cheats(Sort::Green, &[long("tests/test_a.py", Some(&changed))]);
    assert_eq!(rules(&objections), ["red-test-changed"]);
    assert_eq!(rules(&cheats(Sort::Commit, &[long("tests/test_a.py", None)])), ["test-file-deleted"]);
    let only_hash = TestFile { base: None, ..long("tests/test_a.py", None) };
    assert_eq!(rules(&cheats(Sort::Commit, &[only_hash])), ["test-file-deleted"]);
}

/// A skip marker that was not there at RED is refused at every phase after it, even where the step began with it.
#[test]
fn ds_92_a_skip_marker_is_refused_after_red() {
    let skipped = RED.replace("def test_boils", "@pytest.mark.skip\ndef test_boils");
    for phase in AFTER_RED {
        let objections = cheated(phase, Some(&skipped));
        assert!(rules(&objections).contains(&"skip-marker"), "{phase}");
        let message = &objections.last().unwrap().message;
        assert!(message.contains("`@pytest.mark.skip` on line 5"), "{message}");
        assert!(message.contains("`test_boils`"), "{message}");
    }
    let back = file("tests/test_kettle.py", Some(&skipped), Some(RED), Some(&skipped));
    assert_eq!(rules(&cheats(Sort::Refactor, &[back])), ["red-test-changed", "skip-marker"]);
    // One that RED had already is not new, and a new file has none to begin with.
    let old = file("tests/test_kettle.py", Some(BASE), Some(&skipped), Some(&skipped));
    assert!(cheats(Sort::Green, &[old]).is_empty());
    let new = file("tests/test_new.py", None, None, Some(&skipped));
    assert_eq!(rules(&cheats(Sort::Review, &[new])), ["skip-marker"]);
}

/// A deleted test is refused by name, whether RED wrote it or the step began with it.
#[test]
fn dw_66_a_deleted_test_is_refused() {
    for phase in AFTER_RED {
        let objections = cheated(phase, Some(BASE));
        assert!(rules(&objections).contains(&"test-deleted"), "{phase}");
        let message = &objections.last().unwrap().message;
        assert!(
            message.contains("`test_boils` is gone: it stood on line 5 of tests/test_kettle.py at RED"),
            "{message}"
        );
    }
    // RED itself deleted a test that was there before the step.
    let boils_only = "def test_boils():\n    assert boil() == 100\n";
    let at_red = file("tests/test_kettle.py", Some(BASE), Some(boils_only), Some(boils_only));
    let objections = cheats(Sort::Green, &[at_red]);
    assert_eq!(rules(&objections), ["test-deleted"]);
    assert!(objections[0].message.contains("`test_cold`"));
    assert!(objections[0].message.contains("when the step began"));
}

/// A deleted file is refused with the tests that it held; one that moved after GREEN is not gone.
#[test]
fn dw_66_a_deleted_test_file_is_refused_and_a_moved_one_is_not() {
    for phase in AFTER_RED {
        let objections = cheated(phase, None);
        assert_eq!(rules(&objections), ["test-file-deleted"], "{phase}");
        assert!(objections[0].message.contains("`test_cold`, `test_boils`"), "{}", objections[0].message);
    }
    let moved = [
        file("tests/test_kettle.py", Some(BASE), Some(RED), None),
        file("tests/unit/test_kettle.py", None, None, Some(RED)),
    ];
    assert!(cheats(Sort::Refactor, &moved).is_empty());
    assert_eq!(rules(&cheats(Sort::Green, &moved)), ["test-file-deleted"]);
    let half = [
        file("tests/test_kettle.py", Some(BASE), Some(RED), Some(BASE)),
        file("tests/test_heat.py", None, None, Some("def test_boils():\n    assert boil() == 100\n")),
    ];
    assert!(cheats(Sort::Refactor, &half).is_empty());
    // A helper may go once the code is written.
    let helper = [file("tests/conftest.py", None, Some("x = 1\n"), None)];
    assert!(cheats(Sort::Refactor, &helper).is_empty());
    assert_eq!(rules(&cheats(Sort::Green, &helper)), ["test-file-deleted"]);
    // A file whose language nobody reads has a name at least.
    let unread = [
        file("tests/kettle.bats", None, Some("@test x {}"), None),
        file("tests/test_new.py", None, None, Some(RED)),
    ];
    assert_eq!(rules(&cheats(Sort::Commit, &unread)), ["test-file-deleted"]);
}

/// While tests are still being written nothing of this counts.
#[test]
fn before_green_tests_may_change() {
    for phase in ["PREPARE", "RED_ACCEPTANCE", "RED_UNIT", "RED", "DEPLOY"] {
        assert!(cheated(phase, None).is_empty(), "{phase}");
        assert!(cheated(phase, Some("")).is_empty(), "{phase}");
    }
}

/// Tests of before stay while new ones are written, unless the step itself is about taking them out.
#[test]
fn tests_that_were_there_before_the_step_are_not_lost_while_it_writes_its_own() {
    let lost = |now| losses(&[file("tests/test_kettle.py", Some(BASE), None, now)]);
    assert_eq!(rules(&lost(None)), ["test-file-deleted"]);
    assert_eq!(rules(&lost(Some("def test_boils():\n    assert boil() == 100\n"))), ["test-deleted"]);
    assert!(lost(Some(RED)).is_empty());
}

/// A gate that was edited is refused with its name and the file.
#[test]
fn dw_66_an_edited_gate_is_refused() {
    let hash = |text: &str| Hash::of(text.as_bytes());
    let gate = |path: &str, now: Option<Hash>| GateFile {
        gate: "tests".to_owned(),
        path: path.to_owned(),
        base: hash("pytest"),
        now,
    };
    assert!(gate_edits(&[gate("run-tests.sh", Some(hash("pytest")))]).is_empty());
    let objections = gate_edits(&[gate("run-tests.sh", Some(hash("true"))), gate("seriatim.toml", None)]);
    assert_eq!(rules(&objections), ["gate-edited", "gate-edited"]);
    assert!(objections[0].message.starts_with("run-tests.sh was changed, and the gate `tests`"));
    assert!(objections[1].message.starts_with("seriatim.toml is gone"));
}

/// A Python file with these tests.
fn source(names: &[String], skipped: usize) -> String {
    let test = |(at, name): (usize, &String)| {
        let marker = if at < skipped { "@pytest.mark.skip\n" } else { "" };
        format!("{marker}def test_{name}():\n    assert {name}\n")
    };
    names.iter().enumerate().map(test).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// What is left as it was is never cheating; whatever is taken away or put off after RED always is.
    #[test]
    fn nothing_changed_is_no_cheating_and_every_loss_is(
        names in prop::collection::btree_set("[a-z]{1,6}", 1..6),
        lost in 0..6_usize,
        skipped in 1..4_usize,
    ) {
        let names: Vec<String> = names.into_iter().collect();
        let red = source(&names, 0);
        let at = |sort, now: &str| cheats(sort, &[file("test_a.py", Some(&red), Some(&red), Some(now))]);
        let mut fewer = names.clone();
        fewer.remove(lost % names.len());
        for phase in AFTER_RED {
            let sort = Sort::of(phase);
            prop_assert!(at(sort, &red).is_empty());
            prop_assert!(rules(&at(sort, &source(&fewer, 0))).contains(&"test-deleted"));
            prop_assert!(rules(&at(sort, &source(&names, skipped))).contains(&"skip-marker"));
        }
    }
}
/// What loads the tests is held as it was when they were red; byte code is never part of the work.
#[test]
fn a_changed_loader_and_byte_code_are_refused_by_name() {
    let hash = |text: &str| Some(Hash::of(text.as_bytes()));
    let loader = |before, now| LoaderFile { path: "conftest.py".to_owned(), before, now };
    assert!(loader_edits(&[loader(hash("a"), hash("a")), loader(None, None)], &[]).is_empty());
    let objections = loader_edits(
        &[loader(None, hash("a")), loader(hash("a"), hash("b")), loader(hash("a"), None)],
        &["__pycache__/calc.cpython-312.pyc".to_owned()],
    );
    assert_eq!(rules(&objections), ["test-loader"; 4]);
    assert!(
        objections[0].message.starts_with("conftest.py was added after the tests were red, and it decides")
    );
    assert!(objections[3].message.starts_with("__pycache__/calc.cpython-312.pyc is byte code"));
}

/// A test that was green before and is emptied later proves nothing, in every phase after RED and on the way to it.
#[test]
fn a_test_that_was_not_red_may_not_be_emptied() {
    let before = "def test_a():\n    assert a() == 1\n";
    for body in ["pass", "assert True", "a()", "return\n    assert a() == 1"] {
        let now = format!("def test_a():\n    {body}\n");
        let files = [file("tests/test_old.py", Some(before), None, Some(&now))];
        for sort in [Sort::Green, Sort::GreenUnit, Sort::Refactor, Sort::Review, Sort::Commit] {
            assert_eq!(rules(&cheats(sort, &files)), ["test-emptied"], "{body}");
        }
        assert_eq!(rules(&losses(&files)), ["test-emptied"], "{body}");
    }
    let other = file("tests/test_old.py", Some(before), None, Some("def test_a():\n    assert a() == 2\n"));
    assert!(cheats(Sort::Green, &[other]).is_empty());
}
