//! The Test Anything Protocol: `ok` and `not ok`, with a block of details below.

use super::kinds;
use crate::evidence::Counts;
use crate::evidence::Failed;
use crate::evidence::Kind;
use crate::evidence::Tool;
use crate::evidence::found::Found;
use crate::evidence::text;

pub(super) fn read(lines: &[&str]) -> Found {
    let is_plan = |line: &&str| {
        line.strip_prefix("1..").is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
            || line.starts_with("1..0 ")
    };
    if !lines.iter().any(|line| line.starts_with("TAP version ") || is_plan(line)) {
        return Found::default();
    }
    let (mut passed, mut failed, mut skipped) = (0_u64, 0_u64, 0_u64);
    let mut found = Found::by(Tool::Tap);
    let mut block: Option<Block> = None;
    for line in lines {
        let trimmed = line.trim_start();
        if let Some(point) = Point::of(trimmed) {
            close(&mut block, &mut found, &mut failed);
            match point {
                Point { put_off: true, .. } => skipped += 1,
                Point { ok: true, .. } => passed += 1,
                Point { name, .. } => block = Some(Block::new(name)),
            }
        } else if let Some(why) = trimmed.strip_prefix("Bail out!") {
            found.push(Failed::new("TAP", Kind::Crash, why));
        } else if let Some(block) = &mut block {
            block.line(trimmed);
        }
    }
    close(&mut block, &mut found, &mut failed);
    found.nothing = true;
    found.add_counts(Counts::of(passed, failed, 0, skipped));
    found
}

fn close(block: &mut Option<Block<'_>>, found: &mut Found, failed: &mut u64) {
    // One that failed because its parts did is no test of its own.
    if let Some(block) = block.take().filter(|block| !block.of_parts) {
        *failed += 1;
        found.push(block.failed());
    }
}

/// One line of result.
struct Point<'o> {
    ok: bool,
    /// With `# SKIP` or `# TODO`.
    put_off: bool,
    name: &'o str,
}

impl<'o> Point<'o> {
    fn of(line: &'o str) -> Option<Point<'o>> {
        let (ok, rest) = match line.strip_prefix("not ok") {
            Some(rest) => (false, rest),
            None => (true, line.strip_prefix("ok")?),
        };
        if !rest.is_empty() && !rest.starts_with(' ') {
            return None;
        }
        let (rest, directive) = rest.split_once(" # ").unwrap_or((rest, ""));
        let directive = directive.to_ascii_uppercase();
        let numbered = rest.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
        let name = numbered.trim_start().trim_start_matches("- ");
        Some(Point { ok, put_off: directive.starts_with("SKIP") || directive.starts_with("TODO"), name })
    }
}

struct Block<'o> {
    name: &'o str,
    said: &'o str,
    exception: Option<Kind>,
    of_parts: bool,
    place: Option<(&'o str, u32)>,
}

impl<'o> Block<'o> {
    fn new(name: &'o str) -> Block<'o> {
        Block { name, said: "", exception: None, of_parts: false, place: None }
    }

    fn line(&mut self, line: &'o str) {
        let Some((key, value)) = line.split_once(": ") else { return };
        let value = value.trim().trim_matches(['\'', '"']);
        match key {
            "error" | "message" => self.said = value,
            "name" => self.exception = kinds::of_exception(value),
            "failureType" => self.of_parts = value == "subtestsFailed",
            "location" => self.place = text::place(value).map(|(place, _)| place),
            _ => {}
        }
    }

    fn failed(self) -> Failed {
        // Where nothing else is said, `not ok` is the result of a comparison.
        let kind = self.exception.or(kinds::of_words(self.said)).unwrap_or(Kind::Assertion);
        Failed::new(self.name, kind, self.said).at(self.place)
    }
}
