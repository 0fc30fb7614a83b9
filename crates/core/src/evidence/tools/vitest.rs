//! vitest: failed suites and failed tests under headings, and the counts at the end.

use std::collections::BTreeSet;

use super::kinds;
use crate::evidence::Counts;
use crate::evidence::Failed;
use crate::evidence::Kind;
use crate::evidence::Tool;
use crate::evidence::found::Found;
use crate::evidence::text;

pub(super) fn read(lines: &[&str]) -> Found {
    let mut found = Found::by(Tool::Vitest);
    let mut spoke = false;
    let mut in_suites = false;
    let mut block: Option<Block> = None;
    let mut named = BTreeSet::new();
    for line in lines {
        let trimmed = line.trim();
        if let Some(counts) = trimmed.strip_prefix("Tests  ").and_then(counts_of) {
            spoke = true;
            found.add_counts(counts);
        } else if trimmed.starts_with("No test files found, exiting with code") {
            spoke = true;
            found.nothing = true;
        } else if trimmed.starts_with("Test Files  ") {
            spoke = true;
            block.take().into_iter().for_each(|block| found.push(block.failed()));
        } else if trimmed.starts_with('⎯') {
            block.take().into_iter().for_each(|block| found.push(block.failed()));
            in_suites =
                (in_suites || trimmed.contains(" Failed Suites ")) && !trimmed.contains(" Failed Tests ");
        } else if let Some(title) = line.strip_prefix(" FAIL ") {
            block.take().into_iter().for_each(|block| found.push(block.failed()));
            block = named.insert(title).then(|| Block::new(title.trim(), in_suites));
        } else if let Some(block) = &mut block {
            block.line(trimmed);
        }
    }
    block.into_iter().for_each(|block| found.push(block.failed()));
    if spoke { found } else { Found::default() }
}

struct Block<'o> {
    title: &'o str,
    suite: bool,
    said: &'o str,
    kind: Option<Kind>,
    place: Option<(&'o str, u32)>,
}

impl<'o> Block<'o> {
    fn new(title: &'o str, suite: bool) -> Block<'o> {
        Block { title, suite, said: "", kind: None, place: None }
    }

    fn line(&mut self, line: &'o str) {
        if self.said.is_empty() && !line.is_empty() {
            self.said = line;
            self.kind = kinds::of_exception(line);
            if ["Parse failure", "Transform failed", "Expected ';'"].iter().any(|words| line.contains(words))
            {
                self.kind = Some(Kind::Compile);
            }
        } else if let Some(place) = line.strip_prefix("❯ ").filter(|place| !place.contains("node_modules"))
            && self.place.is_none()
        {
            let place = place.rsplit_once(' ').map_or(place, |(_, place)| place);
            self.place = text::place(place).map(|(place, _)| place);
        }
    }

    fn failed(self) -> Failed {
        let (file, name) = self.title.split_once(" > ").unwrap_or((self.title, ""));
        let file = file.split_once(" [").map_or(file, |(file, _)| file);
        let kind = match (self.suite, self.kind) {
            (true, Some(kind @ (Kind::Import | Kind::Compile))) => kind,
            // A hook of the suite failed.
            (true, _) if !name.is_empty() => Kind::Setup,
            (true, _) => Kind::Collection,
            (false, kind) => kind.unwrap_or(Kind::Error),
        };
        let mut failed = Failed::new(if name.is_empty() { file } else { name }, kind, self.said);
        failed.file = Some(text::short(file));
        failed.at(self.place)
    }
}

/// `5 failed | 1 passed | 2 skipped | 1 todo (9)`
fn counts_of(items: &str) -> Option<Counts> {
    let (items, _) = items.rsplit_once(" (")?;
    let (mut passed, mut failed, mut skipped) = (0_u64, 0_u64, 0_u64);
    for item in items.split('|') {
        let (number, word) = text::counted(item)?;
        let counter = match word {
            "passed" => &mut passed,
            "failed" => &mut failed,
            "skipped" | "todo" | "expected fail" => &mut skipped,
            _ => return None,
        };
        *counter = counter.saturating_add(number);
    }
    Some(Counts::of(passed, failed, 0, skipped))
}
