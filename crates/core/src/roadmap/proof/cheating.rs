//! Ways to green that prove nothing: the red test rewritten, skipped or deleted, the gate or what loads the tests edited.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::Objection;
use super::Rule;
use super::sort::Sort;
use crate::evidence::scenarios;
use crate::evidence::scenarios::Scenario;
use crate::hash::Hash;

/// A file with tests at three moments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestFile {
    pub path: String,
    /// At the step's base commit.
    pub base: Option<String>,
    /// At the end of RED. The text may be empty where it is too long to be kept; the hash speaks then.
    pub red: Option<(Hash, String)>,
    pub now: Option<(Hash, String)>,
}

impl TestFile {
    fn base(&self) -> Option<&str> {
        self.base.as_deref()
    }

    fn red(&self) -> Option<&str> {
        self.red.as_ref().map(|(_, text)| text.as_str()).filter(|text| !text.is_empty())
    }

    fn now(&self) -> Option<&str> {
        self.now.as_ref().map(|(_, text)| text.as_str())
    }

    /// What it is held against: what RED left, else what was there when the step began.
    fn before(&self) -> Option<&str> {
        self.red().or(self.base())
    }

    /// Names of tests that were there at one of the two earlier moments.
    fn names_before(&self) -> BTreeSet<String> {
        let texts = [self.base(), self.red()];
        texts.into_iter().flatten().flat_map(|text| scenarios::tests_in(text, &self.path)).collect()
    }
}

/// What was done to tests after RED that makes green worth nothing, at every phase up to the commit: a red test that was
/// rewritten, a marker that skips a test, a test or a file that is gone. A test that moved to another file after GREEN,
/// word for word, is not gone.
pub fn cheats(sort: Sort, files: &[TestFile]) -> Vec<Objection> {
    if !sort.is_after_red() {
        return vec![];
    }
    // While the code is written tests stay where they are, so that nothing counts as moved.
    let fixed = matches!(sort, Sort::Green | Sort::GreenUnit);
    let moved = if fixed { BTreeMap::new() } else { gained(files) };
    let mut objections = vec![];
    for file in files {
        let Some(now) = file.now() else {
            objections.extend(gone(file, fixed, &moved));
            continue;
        };
        if fixed || !is_only_shorter(file, now) {
            objections.extend(rewritten(file));
        }
        objections.extend(put_off(file, now));
        objections.extend(emptied(file, now));
        objections.extend(deleted(file, now, &moved));
    }
    objections
}

/// Tests that were there when the step began and are gone before the code is written: a suite must not shrink on the
/// way to RED.
pub fn losses(files: &[TestFile]) -> Vec<Objection> {
    let moved = gained(files);
    let of = |file: &TestFile| -> Vec<Objection> {
        match file.now() {
            Some(now) => deleted(file, now, &moved).into_iter().chain(emptied(file, now)).collect(),
            None => gone(file, false, &moved).into_iter().collect(),
        }
    };
    let had_tests = files.iter().filter(|file| file.base.is_some());
    had_tests.flat_map(of).collect()
}

/// Tests that moved, by name: their text in the file that holds them now and did not before.
type Moved = BTreeMap<String, Vec<String>>;

fn gained(files: &[TestFile]) -> Moved {
    let mut moved = BTreeMap::new();
    for file in files {
        let before = file.names_before();
        let Some(now) = file.now() else { continue };
        let names = scenarios::tests_in(now, &file.path);
        for name in names.into_iter().filter(|name| !before.contains(name)) {
            let body = scenarios::body(now, &file.path, &name);
            moved.insert(name, body);
        }
    }
    moved
}

/// Returns whether a test of a file stands elsewhere now, word for word.
fn has_moved(file: &TestFile, name: &str, moved: &Moved) -> bool {
    let before = file.before().unwrap_or_default();
    moved.get(name).is_some_and(|now| *now == scenarios::body(before, &file.path, name))
}

/// Returns whether lines were taken out of a file after RED, and none was added or changed: where tests went is looked at
/// apart.
fn is_only_shorter(file: &TestFile, now: &str) -> bool {
    let Some(red) = file.red() else { return file.red.is_none() };
    let mut left = red.lines().map(str::trim_end).filter(|line| !line.is_empty());
    now.lines().map(str::trim_end).filter(|line| !line.is_empty()).all(|line| left.any(|known| known == line))
}

/// A file that is not there any more. One that held no test, such as a helper, may go once the code is written.
fn gone(file: &TestFile, fixed: bool, moved: &Moved) -> Option<Objection> {
    if file.red.is_none() && file.base.is_none() {
        return None;
    }
    let before = file.before();
    let tests = before.map(|text| scenarios::tests_in(text, &file.path)).unwrap_or_default();
    let lost: Vec<String> =
        tests.iter().filter(|name| !has_moved(file, name, moved)).map(|name| format!("`{name}`")).collect();
    if lost.is_empty() && !fixed && before.is_some() && scenarios::is_readable(&file.path) {
        return None;
    }
    let tests = if lost.is_empty() { String::new() } else { format!(" with {}", lost.join(", ")) };
    let message = format!("The test file {} is gone{tests}. Bring it back as it was at RED.", file.path);
    Some(Objection::new(Rule::TestFileDeleted, message))
}

/// A red test that is not what it was when it was red.
fn rewritten(file: &TestFile) -> Option<Objection> {
    let ((red_hash, _), (now_hash, now)) = (file.red.as_ref()?, file.now.as_ref()?);
    if red_hash == now_hash {
        return None;
    }
    let place = match (file.red(), is_mixed(&file.path)) {
        (Some(red), mixed) => {
            let (red_tests, from) = if mixed { tests_of(red) } else { (red, 1) };
            let now_tests = if mixed { tests_of(now).0 } else { now };
            if mixed && red_tests == now_tests {
                return None;
            }
            let line = first_difference(red_tests, now_tests).saturating_add(from);
            let list = scenarios::list(red, &file.path);
            match list.iter().rev().find(|test| test.line <= line) {
                Some(test) => format!(" (line {line} at `{}`)", test.name),
                None => format!(" (line {line})"),
            }
        }
        // Code and tests of a file that was too long to be kept cannot be told apart any more.
        (None, true) => return None,
        (None, false) => String::new(),
    };
    let message = format!(
        "The tests in {} were changed after they were red{place}. Put them back as they were at RED and mend the code \
         instead; further tests go into a file of their own.",
        file.path
    );
    Some(Objection::new(Rule::RedTestChanged, message))
}

/// Whether a file may hold tests beside the code that they test, which has to change at GREEN. Rust keeps unit tests
/// so; in other languages a file with tests holds only them.
fn is_mixed(path: &str) -> bool {
    let mut parts = path.rsplit(['/', '\\']);
    let name = parts.next().unwrap_or(path);
    let of_tests = name == "tests.rs" || name.ends_with("_test.rs") || name.ends_with("_tests.rs");
    name.ends_with(".rs") && !of_tests && !parts.any(|folder| folder == "tests")
}

/// The part of a Rust source that holds its tests, and the line on which it begins: from the module of tests on, else
/// from the first test on; the whole of it where there is neither.
fn tests_of(text: &str) -> (&str, u32) {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let begins_module = |at: usize| {
        let rest = lines.get(at..).unwrap_or_default();
        let marked = rest.first().is_some_and(|line| line.starts_with("#[cfg(") && line.contains("test"));
        let item = rest.iter().find(|line| !line.starts_with("#["));
        marked && item.is_some_and(|line| line.contains("mod ") && line.trim_end().ends_with('{'))
    };
    let begins_test = |at: usize| lines.get(at).is_some_and(|line| line.trim_end() == "#[test]");
    let found = (0..lines.len()).find(|at| begins_module(*at));
    let from = found.or_else(|| (0..lines.len()).find(|at| begins_test(*at))).unwrap_or(0);
    let bytes: usize = lines.iter().take(from).map(|line| line.len()).sum();
    (text.get(bytes..).unwrap_or(text), u32::try_from(from).unwrap_or(u32::MAX).saturating_add(1))
}

/// How many lines are the same before the first that is not.
fn first_difference(a: &str, b: &str) -> u32 {
    let same = a.lines().zip(b.lines()).take_while(|(a, b)| a == b).count();
    u32::try_from(same).unwrap_or(u32::MAX)
}

/// Markers that put tests off and were not there before.
fn put_off(file: &TestFile, now: &str) -> Vec<Objection> {
    let before = file.before().unwrap_or_default();
    let objection = |marker: scenarios::Marker| {
        let test = marker.test.map_or_else(|| "all tests in it".to_owned(), |test| format!("`{test}`"));
        let message = format!(
            "`{}` on line {} of {} puts off {test}. Take it out: a test that is skipped proves nothing.",
            marker.word, marker.line, file.path
        );
        Objection::new(Rule::SkipMarker, message)
    };
    scenarios::skip_markers(before, now, &file.path).into_iter().map(objection).collect()
}

/// Tests that kept their name and check nothing any more.
fn emptied(file: &TestFile, now: &str) -> Vec<Objection> {
    let before = file.before().unwrap_or_default();
    let objection = |test: Scenario| {
        let message = format!(
            "The test `{}` on line {} of {} checks nothing any more. Put back what it checked: a test without a check \
             proves nothing.",
            test.name, test.line, file.path
        );
        Objection::new(Rule::TestEmptied, message)
    };
    scenarios::emptied_tests(before, now, &file.path).into_iter().map(objection).collect()
}

/// Tests that were there when the step began, or at RED, and are not any more.
fn deleted(file: &TestFile, now: &str, moved: &Moved) -> Vec<Objection> {
    let mut said = BTreeSet::new();
    let mut objections = vec![];
    for (when, text) in [("at RED", file.red()), ("when the step began", file.base())] {
        let Some(text) = text else { continue };
        let list = scenarios::list(text, &file.path);
        for name in scenarios::removed_tests(text, now, &file.path) {
            if has_moved(file, &name, moved) || !said.insert(name.clone()) {
                continue;
            }
            let line = list.iter().find(|test: &&Scenario| test.name == name).map_or(0, |test| test.line);
            let message = format!(
                "The test `{name}` is gone: it stood on line {line} of {} {when}. Bring it back under its name.",
                file.path
            );
            objections.push(Objection::new(Rule::TestDeleted, message));
        }
    }
    objections
}

/// A file that a pinned gate's command names (or the configuration itself), when the step began and now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateFile {
    pub gate: String,
    pub path: String,
    pub base: Hash,
    /// `None` where it is gone.
    pub now: Option<Hash>,
}

/// Gates are pinned when a step begins: what they stand on stays as it is until the step is over.
pub fn gate_edits(files: &[GateFile]) -> Vec<Objection> {
    let objection = |file: &GateFile| {
        let what = match file.now {
            Some(now) if now == file.base => return None,
            Some(_) => "was changed",
            None => "is gone",
        };
        let message = format!(
            "{} {what}, and the gate `{}` stands on it. A step does not change its own gates: put the file back as it \
             was when the step began.",
            file.path, file.gate
        );
        Some(Objection::new(Rule::GateEdited, message))
    };
    files.iter().filter_map(objection).collect()
}

/// A file that decides how tests are loaded, by the part of it that does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoaderFile {
    pub path: String,
    /// That part when the tests were red, or when the step began where they never were; `None` where there was none.
    pub before: Option<Hash>,
    pub now: Option<Hash>,
}

/// Files that decide how tests are run stay as they were when the tests were red, up to the commit. Byte code is never
/// part of the work: an interpreter would run it in place of the source.
pub fn loader_edits(files: &[LoaderFile], byte_code: &[String]) -> Vec<Objection> {
    let edited = |file: &LoaderFile| {
        let what = match (file.before, file.now) {
            (before, now) if before == now => return None,
            (None, _) => "was added after the tests were red",
            (Some(_), None) => "no longer says what it said when the tests were red",
            (Some(_), Some(_)) => "was changed after the tests were red",
        };
        let message = format!(
            "{} {what}, and it decides which tests run and what counts as passed. Put it back as it was.",
            file.path
        );
        Some(Objection::new(Rule::TestLoader, message))
    };
    let planted = |path: &String| {
        let message = format!("{path} is byte code, which is run in place of the source. Delete it.");
        Objection::new(Rule::TestLoader, message)
    };
    files.iter().filter_map(edited).chain(byte_code.iter().map(planted)).collect()
}
