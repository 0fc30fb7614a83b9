//! jest: one block with a bullet for each failure, and the counts at the end.

use std::collections::BTreeSet;

use super::kinds;
use crate::evidence::Counts;
use crate::evidence::Failed;
use crate::evidence::Kind;
use crate::evidence::Tool;
use crate::evidence::found::Found;
use crate::evidence::text;

const SUITE: &str = "Test suite failed to run";

pub(super) fn read(lines: &[&str]) -> Found {
    let mut found = Found::by(Tool::Jest);
    let mut spoke = false;
    let mut suite = "";
    let mut block: Option<Block> = None;
    let mut named = BTreeSet::new();
    for line in lines {
        if let Some(counts) = line.strip_prefix("Tests: ").and_then(counts_of) {
            spoke = true;
            block.take().into_iter().for_each(|block| found.push(block.failed()));
            found.add_counts(counts);
        } else if let Some(suites) = line.strip_prefix("Test Suites: ") {
            block.take().into_iter().for_each(|block| found.push(block.failed()));
            let failed =
                suites.split(',').filter_map(text::counted).any(|(n, word)| n > 0 && word == "failed");
            if failed && found.failures.is_empty() {
                found.push(Failed::new(
                    "jest",
                    Kind::Collection,
                    "a suite failed, and none of its tests says why",
                ));
            }
        } else if line.starts_with("No tests found, exiting with code") {
            spoke = true;
            found.nothing = true;
        } else if let Some(rest) = line.strip_prefix("FAIL ") {
            block.take().into_iter().for_each(|block| found.push(block.failed()));
            suite = rest.trim().trim_start_matches("./");
        } else if let Some(title) = line.strip_prefix("  ● ") {
            block.take().into_iter().for_each(|block| found.push(block.failed()));
            let is_test =
                title.contains(" › ") || !matches!(title, "Console" | "Cannot log after tests are done");
            // The failures are repeated at the end where there are many suites.
            block = (is_test && named.insert((suite, title))).then(|| Block::new(suite, title));
        } else if let Some(block) = &mut block {
            block.line(line.trim());
        }
    }
    block.into_iter().for_each(|block| found.push(block.failed()));
    spoke |= found.failures.iter().any(|failed| failed.kind != Kind::Assertion && !failed.name.is_empty())
        && lines.iter().any(|line| line.starts_with("Test Suites: "));
    if spoke { found } else { Found::default() }
}

struct Block<'o> {
    suite: &'o str,
    title: &'o str,
    said: &'o str,
    kind: Option<Kind>,
    expected: bool,
    received: bool,
    place: Option<(&'o str, u32)>,
}

impl<'o> Block<'o> {
    fn new(suite: &'o str, title: &'o str) -> Block<'o> {
        Block { suite, title, said: "", kind: None, expected: false, received: false, place: None }
    }

    fn line(&mut self, line: &'o str) {
        if line.is_empty() {
            return;
        }
        if self.said.is_empty() {
            self.said = line;
            self.kind = kinds::of_exception(line);
        }
        self.expected |= line.starts_with("Expected");
        self.received |= line.starts_with("Received");
        if self.title == SUITE && line.starts_with("SyntaxError: ") {
            self.said = line;
            self.kind = Some(Kind::Compile);
        }
        if self.place.is_none() {
            self.place = frame(line);
        }
    }

    fn failed(self) -> Failed {
        if self.title == SUITE {
            let kind = self.kind.filter(|kind| matches!(kind, Kind::Import | Kind::Compile));
            // Types are checked before anything runs: `src/greet.ts:3:5 - error TS2304: ...`
            let typed = self.said.contains("error TS").then_some(Kind::Compile);
            let name = if self.suite.is_empty() { SUITE } else { self.suite };
            let kind = kind.or(typed).unwrap_or(Kind::Collection);
            return Failed::new(name, kind, self.said).at(self.place);
        }
        let compared = (self.expected && self.received).then_some(Kind::Assertion);
        Failed::new(self.title, self.kind.or(compared).unwrap_or(Kind::Error), self.said).at(self.place)
    }
}

/// `at Object.toBe (greet.test.js:3:54)` and `at greet.test.js:3:54`, outside of packages.
pub(super) fn frame(line: &str) -> Option<(&str, u32)> {
    let frame = line.strip_prefix("at ")?;
    let place = frame.rsplit_once('(').map_or(frame, |(_, place)| place.trim_end_matches(')'));
    if place.contains("node_modules") || place.starts_with("node:") {
        return None;
    }
    text::place(place.strip_prefix("file://").unwrap_or(place)).map(|(place, _)| place)
}

/// `6 failed, 1 skipped, 1 todo, 1 passed, 9 total`
fn counts_of(items: &str) -> Option<Counts> {
    if !items.trim_end().ends_with(" total") {
        return None;
    }
    let number = |wanted: &str| {
        items.split(',').filter_map(text::counted).find(|(_, word)| *word == wanted).map_or(0, |(n, _)| n)
    };
    Some(Counts::of(number("passed"), number("failed"), 0, number("skipped").saturating_add(number("todo"))))
}
