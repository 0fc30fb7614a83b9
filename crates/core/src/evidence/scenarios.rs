//! Which tests a source holds and which of them are put off (DS-92, DW-59), and what a change did to them: a marker
//! that skips a test, or a test that is gone.
//!
//! Sources are scanned and not parsed. Comments and the insides of strings do not count.

mod gherkin;
mod go;
mod mask;
mod python;
mod rust;
mod script;
mod substance;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use substance::emptied_tests;

/// One test or scenario in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// With the classes or suites around it, as its tool writes them.
    pub name: String,
    /// From 1.
    pub line: u32,
    /// Not put off by anything that holds without a condition. A test that is skipped on one system only is enabled.
    pub enabled: bool,
}

/// A place in a source where tests are put off, on a condition or without one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// From 1.
    pub line: u32,
    /// As it is written: `@pytest.mark.skip`, `it.skip`, `t.Skip`.
    pub word: String,
    /// The test or the group of tests that it puts off; `None` for the whole file.
    pub test: Option<String>,
}

/// What a reader of one language found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Source {
    scenarios: Vec<Scenario>,
    markers: Vec<Marker>,
}

fn read(text: &str, path: &str) -> Source {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "py" | "pyi" => python::read(text),
        "rs" => rust::read(text),
        "js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "mts" | "cts" => script::read(text),
        "go" => go::read(text),
        "feature" => gherkin::read(text),
        _ => Source::default(),
    }
}

/// Whether sources under this name can be read at all. Of others nothing is known.
pub fn is_readable(path: &str) -> bool {
    const ENDS: [&str; 12] =
        [".py", ".rs", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".go", ".feature"];
    ENDS.iter().any(|end| path.ends_with(end))
}

/// The tests in a source, in their order. The extension of `path` says which language it is.
pub fn list(text: &str, path: &str) -> Vec<Scenario> {
    read(text, path).scenarios
}

/// The names of the tests in a source, those that are put off included.
pub fn tests_in(text: &str, path: &str) -> Vec<String> {
    read(text, path).scenarios.into_iter().map(|scenario| scenario.name).collect()
}

/// The markers in `after` that `before` did not have for the same test. One that only moved is not new; one that
/// changed from one test to another is.
pub fn skip_markers(before: &str, after: &str, path: &str) -> Vec<Marker> {
    let mut known: BTreeMap<(String, Option<String>), usize> = BTreeMap::new();
    for marker in read(before, path).markers {
        *known.entry((marker.word, marker.test)).or_default() += 1;
    }
    let mut added = vec![];
    for marker in read(after, path).markers {
        match known.get_mut(&(marker.word.clone(), marker.test.clone())) {
            Some(left) if *left > 0 => *left -= 1,
            _ => added.push(marker),
        }
    }
    added
}

/// The tests of `before` that `after` does not hold any more.
pub fn removed_tests(before: &str, after: &str, path: &str) -> Vec<String> {
    let mut left: BTreeMap<String, usize> = BTreeMap::new();
    for name in tests_in(after, path) {
        *left.entry(name).or_default() += 1;
    }
    let mut gone = vec![];
    for name in tests_in(before, path) {
        match left.get_mut(&name) {
            Some(number) if *number > 0 => *number -= 1,
            _ => gone.push(name),
        }
    }
    gone
}

/// Returns the text of a test, line by line without blanks around them: from its name to the next test. Attributes and
/// decorators of the next test are no part of it.
pub fn body(text: &str, path: &str, name: &str) -> Vec<String> {
    let tests = list(text, path);
    let Some(at) = tests.iter().position(|test| test.name == name) else { return vec![] };
    let from = tests.get(at).map_or(0, |test| test.line.saturating_sub(1) as usize);
    let until = tests.get(at + 1).map_or(usize::MAX, |next| next.line.saturating_sub(1) as usize);
    let lines = text.lines().take(until).skip(from).map(str::trim).filter(|line| !line.is_empty());
    let mut body: Vec<String> = lines.map(str::to_owned).collect();
    while body.last().is_some_and(|line| line.starts_with('@') || line.starts_with("#[")) {
        body.pop();
    }
    body
}
