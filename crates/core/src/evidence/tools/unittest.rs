//! Python's unittest, and runners that print as it does.

use super::kinds;
use crate::evidence::Counts;
use crate::evidence::Failed;
use crate::evidence::Kind;
use crate::evidence::Tool;
use crate::evidence::found::Found;
use crate::evidence::text;

pub(super) fn read(lines: &[&str]) -> Found {
    let mut found = Found::by(Tool::Unittest);
    let mut block: Option<Block> = None;
    let mut ran: Option<u64> = None;
    let mut spoke = false;
    let mut below_rule = false;
    for line in lines {
        // A program under test may print the same words; a report stands below a rule.
        let starts = std::mem::replace(&mut below_rule, is_rule(line, '='));
        if below_rule {
            block.take().into_iter().for_each(|block| found.push(block.failed()));
        } else if let Some(number) = ran_of(line) {
            block.take().into_iter().for_each(|block| found.push(block.failed()));
            ran = Some(number);
        } else if let Some(number) = ran.filter(|_| !line.is_empty()) {
            ran = None;
            if let Some(counts) = outcome(line, number) {
                spoke = true;
                found.nothing |= line.starts_with("NO TESTS RAN");
                found.add_counts(counts);
            }
        } else if let Some(started) = Block::start(line).filter(|_| starts && block.is_none()) {
            block = Some(started);
        } else if let Some(block) = &mut block {
            block.line(line);
        }
    }
    if spoke { found } else { Found::default() }
}

/// The report of one failure.
struct Block<'o> {
    fails: bool,
    title: &'o str,
    /// Whether the rule below the title has come.
    body: bool,
    place: Option<(&'o str, u32)>,
    /// The line of the last exception: the first one that is not indented after its frames.
    said: &'o str,
    in_frames: bool,
    in_setup: bool,
    import: bool,
}

impl<'o> Block<'o> {
    fn start(line: &'o str) -> Option<Block<'o>> {
        let (fails, title) = match line.split_once(": ")? {
            ("FAIL", title) => (true, title),
            ("ERROR" | "UNEXPECTED SUCCESS", title) => (false, title),
            _ => return None,
        };
        let in_setup = title.starts_with("setUp") || title.starts_with("tearDown");
        let import = title.contains("_FailedTest");
        Some(Block { fails, title, body: false, place: None, said: "", in_frames: false, in_setup, import })
    }

    fn line(&mut self, line: &'o str) {
        if !self.body {
            self.body = is_rule(line, '-');
            return;
        }
        if let Some(frame) = line.strip_prefix("  File \"") {
            self.in_frames = true;
            if let Some((file, rest)) = frame.split_once("\", line ") {
                let (number, function) = rest.split_once(", in ").unwrap_or((rest, ""));
                self.place = number.parse().ok().map(|line| (file, line));
                self.in_setup |=
                    matches!(function, "setUp" | "setUpClass" | "setUpModule" | "tearDown" | "asyncSetUp");
            }
        } else if self.in_frames && !line.is_empty() && !line.starts_with(' ') {
            self.in_frames = false;
            self.said = line;
        } else if self.said.is_empty() && line.starts_with("ImportError: ") {
            self.said = line;
        }
    }

    fn failed(self) -> Failed {
        let kind = match (self.fails, kinds::of_exception(self.said)) {
            (true, _) => Kind::Assertion,
            (false, Some(kind @ (Kind::Import | Kind::Compile))) => kind,
            (false, _) if self.import => Kind::Collection,
            (false, _) if self.in_setup => Kind::Setup,
            // Had the test made the comparison itself, this would stand as a failure.
            (false, Some(kind)) if kind != Kind::Assertion => kind,
            (false, _) => Kind::Error,
        };
        let name = self.title.split_once(" (").map_or(self.title, |(name, _)| name);
        let sub = self.title.rsplit_once(") (").map_or("", |(_, sub)| sub);
        let name = if sub.is_empty() { name.to_owned() } else { format!("{name} ({sub}") };
        // A module that cannot be loaded has no place but in the loader.
        Failed::new(&name, kind, self.said).at(self.place.filter(|_| !self.import))
    }
}

fn is_rule(line: &str, sign: char) -> bool {
    line.len() >= 20 && line.chars().all(|c| c == sign)
}

/// `Ran 7 tests in 0.002s`
fn ran_of(line: &str) -> Option<u64> {
    let (number, rest) = text::counted(line.strip_prefix("Ran ")?)?;
    (rest.starts_with("tests in ") || rest.starts_with("test in ")).then_some(number)
}

/// `OK`, `OK (skipped=1)`, `FAILED (failures=3, errors=2)`, `NO TESTS RAN`.
fn outcome(line: &str, ran: u64) -> Option<Counts> {
    let (word, items) = line.split_once(" (").unwrap_or((line, ""));
    if !matches!(word, "OK" | "FAILED" | "NO TESTS RAN") {
        return None;
    }
    let (mut failed, mut errors, mut skipped) = (0_u64, 0_u64, 0_u64);
    for item in items.trim_end_matches(')').split(", ").filter(|item| !item.is_empty()) {
        let (name, number) = item.split_once('=')?;
        let number: u64 = number.parse().ok()?;
        let counter = match name {
            "failures" | "unexpected successes" => &mut failed,
            "errors" => &mut errors,
            "skipped" | "expected failures" => &mut skipped,
            _ => continue,
        };
        *counter = counter.saturating_add(number);
    }
    let others = failed.saturating_add(errors).saturating_add(skipped);
    Some(Counts::of(ran.saturating_sub(others), failed, errors, skipped))
}
