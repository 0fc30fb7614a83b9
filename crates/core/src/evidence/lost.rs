//! Tests that a change takes away: deleted, left behind with their file, put off by a marker, or emptied.

use std::collections::BTreeSet;
use std::fmt;

use super::scenarios;

/// A file that a change touches, before and after it. Absent where there was none, or is none any more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TouchedFile {
    pub path: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// One test, or a file with tests, that a change takes away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostTest {
    pub path: String,
    /// Absent where a whole file of tests goes, of which no names are known.
    pub test: Option<String>,
    pub how: Loss,
}

/// How a test is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Its file is deleted, or renamed without it.
    FileGone,
    Deleted,
    /// A marker puts it off.
    PutOff {
        marker: String,
        line: u32,
    },
    /// It is still there, and checks nothing any more.
    Emptied {
        line: u32,
    },
}

impl Loss {
    /// Returns whether the test is still counted, or was replaced by another in the count: no number tells of it.
    pub fn is_hidden(&self) -> bool {
        match self {
            Loss::PutOff { .. } | Loss::Emptied { .. } => true,
            Loss::FileGone | Loss::Deleted => false,
        }
    }
}

impl fmt::Display for LostTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let test = self.test.as_deref().unwrap_or("all tests");
        match &self.how {
            Loss::FileGone => write!(f, "{} is gone with {test}", self.path),
            Loss::Deleted => write!(f, "{test} is gone from {}", self.path),
            Loss::PutOff { marker, line } => write!(f, "{marker} puts {test} off in {}:{line}", self.path),
            Loss::Emptied { line } => write!(f, "{test} in {}:{line} checks nothing any more", self.path),
        }
    }
}

/// Returns the tests that a change takes away. A test that stands in another file now is not lost.
pub fn find_lost(files: &[TouchedFile]) -> Vec<LostTest> {
    let moved = find_gained(files);
    let mut lost = vec![];
    for TouchedFile { path, before, after } in files {
        let Some(before) = before else { continue };
        let names = match after {
            Some(after) => scenarios::removed_tests(before, after, path),
            None => scenarios::tests_in(before, path),
        };
        let how = if after.is_some() { Loss::Deleted } else { Loss::FileGone };
        if after.is_none() && !scenarios::is_readable(path) && is_test_path(path) {
            lost.push(LostTest { path: path.clone(), test: None, how: Loss::FileGone });
        }
        let gone = names.into_iter().filter(|name| !moved.contains(name));
        lost.extend(gone.map(|name| LostTest { path: path.clone(), test: Some(name), how: how.clone() }));
        let markers = after.as_deref().map(|after| scenarios::skip_markers(before, after, path));
        for marker in markers.unwrap_or_default() {
            let how = Loss::PutOff { marker: marker.word, line: marker.line };
            lost.push(LostTest { path: path.clone(), test: marker.test, how });
        }
        let emptied = after.as_deref().map(|after| scenarios::emptied_tests(before, after, path));
        for test in emptied.unwrap_or_default() {
            let how = Loss::Emptied { line: test.line };
            lost.push(LostTest { path: path.clone(), test: Some(test.name), how });
        }
    }
    lost
}

/// The names of tests that stand in a file now and did not stand in it before.
fn find_gained(files: &[TouchedFile]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for TouchedFile { path, before, after } in files {
        let tests = |text: &Option<String>| -> BTreeSet<String> {
            let listed = text.as_deref().map(|text| scenarios::tests_in(text, path));
            listed.unwrap_or_default().into_iter().collect()
        };
        names.extend(tests(after).difference(&tests(before)).cloned());
    }
    names
}

/// Returns whether a file holds tests by its name or its folder.
pub fn is_test_path(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let file = path.rsplit('/').next().unwrap_or(&path);
    path.split('/').any(|part| matches!(part, "test" | "tests" | "__tests__" | "spec" | "specs"))
        || file.starts_with("test_")
        || ["_test.", ".test.", "_spec.", ".spec."].iter().any(|mark| file.contains(mark))
}

/// Words by which people and plans say that something goes.
const REMOVAL: [&str; 16] = [
    "remove",
    "removing",
    "removal",
    "delete",
    "deleting",
    "deletion",
    "drop",
    "retire",
    "discard",
    "get rid",
    "take out",
    "obsolete",
    "deprecate",
    "rename",
    "replace",
    "replacing",
];
/// Words that turn it round.
const NEGATION: [&str; 5] = ["not ", "n't ", "never ", "without ", "keep "];

/// Returns whether words are about taking something out, so that tests may go with it.
pub fn says_removal(words: &str) -> bool {
    let words = words.to_lowercase();
    REMOVAL.iter().any(|word| words.contains(word))
}

/// Returns whether some words say that this test may go: a sentence that speaks of removal, without a negation, and
/// names the test or its file.
pub fn is_named_as_removed(lost: &LostTest, words: &[String]) -> bool {
    let file = lost.path.rsplit('/').next().unwrap_or(&lost.path);
    let stem = file.split('.').next().unwrap_or(file);
    let test = lost.test.as_deref().map(|test| test.rsplit([':', '.', ' ']).next().unwrap_or(test));
    let names: Vec<String> = [Some(stem), test]
        .into_iter()
        .flatten()
        .map(str::to_lowercase)
        .filter(|name| name.len() > 2)
        .collect();
    let says = |sentence: &str| {
        let sentence = format!("{} ", sentence.to_lowercase());
        let has = |list: &[&str]| list.iter().any(|word| sentence.contains(word));
        says_removal(&sentence)
            && !has(&NEGATION)
            && names.iter().any(|name| sentence.contains(name.as_str()))
    };
    words.iter().flat_map(|text| sentences(text)).any(says)
}

/// Sentences end at a line or at a full stop that a space follows: paths hold full stops, too.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split(". "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_about_taking_something_out_are_known() {
        for words in ["Remove the legacy export", "Drops support for XML", "Replace the parser"] {
            assert!(says_removal(words), "{words}");
        }
        assert!(!says_removal("Boil water at 100 degrees"));
    }

    fn file(path: &str, before: Option<&str>, after: Option<&str>) -> TouchedFile {
        TouchedFile {
            path: path.to_owned(),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        }
    }

    fn told(files: &[TouchedFile]) -> Vec<String> {
        find_lost(files).iter().map(ToString::to_string).collect()
    }

    const TWO: &str = "def test_a():\n    assert a\n\ndef test_b():\n    assert b\n";
    const ONE: &str = "def test_a():\n    assert a\n";

    #[test]
    fn deleted_tests_and_files_are_named_and_moved_ones_are_not() {
        assert_eq!(
            told(&[file("tests/test_x.py", Some(TWO), Some(ONE))]),
            ["test_b is gone from tests/test_x.py"]
        );
        assert_eq!(
            told(&[file("tests/test_x.py", Some(ONE), None)]),
            ["tests/test_x.py is gone with test_a"]
        );
        assert_eq!(told(&[file("tests/run.sh", Some("x"), None)]), ["tests/run.sh is gone with all tests"]);
        let moved = [
            file("tests/test_x.py", Some(TWO), Some(ONE)),
            file("tests/test_y.py", None, Some("def test_b():\n    assert b\n")),
        ];
        assert_eq!(told(&moved), Vec::<String>::new());
        let skipped = "import pytest\n@pytest.mark.skip\ndef test_a():\n    assert a\n";
        assert_eq!(
            told(&[file("test_x.py", Some(ONE), Some(skipped))]),
            ["@pytest.mark.skip puts test_a off in test_x.py:2"]
        );
    }

    #[test]
    fn a_test_that_keeps_its_name_and_loses_its_checks_is_named() {
        let emptied = "def test_a():\n    pass\n\ndef test_b():\n    assert b\n";
        let change = [file("tests/test_x.py", Some(TWO), Some(emptied))];
        assert_eq!(told(&change), ["test_a in tests/test_x.py:1 checks nothing any more"]);
        let lost = find_lost(&change);
        assert!(lost.iter().all(|lost| lost.how.is_hidden()));
        assert!(is_named_as_removed(&lost[0], &["Remove what test_a checks".to_owned()]));
    }

    #[test]
    fn only_words_that_name_the_test_and_its_removal_let_it_go() {
        let lost = LostTest {
            path: "tests/test_export.py".to_owned(),
            test: Some("test_csv".to_owned()),
            how: Loss::FileGone,
        };
        for (words, lets_go) in [
            ("Remove the CSV export. Delete tests/test_export.py.", true),
            ("Drop test_csv, the feature is gone", true),
            ("Remove the CSV export", false),
            ("Do not remove test_csv", false),
            ("Change test_csv", false),
            ("Remove the button. Leave test_csv alone", false),
        ] {
            assert_eq!(is_named_as_removed(&lost, &[words.to_owned()]), lets_go, "{words}");
        }
    }
}
