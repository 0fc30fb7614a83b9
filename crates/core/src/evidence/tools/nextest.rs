//! `cargo nextest`: one status line for each test, its output indented below it.

use std::collections::BTreeSet;

use super::cargo;
use super::panics::Panics;
use crate::evidence::Counts;
use crate::evidence::Failed;
use crate::evidence::Kind;
use crate::evidence::Tool;
use crate::evidence::found::Found;
use crate::evidence::text;

pub(super) fn read(lines: &[&str]) -> Found {
    // Without these lines nothing was run, and what the compiler said is read as that of cargo.
    if !lines.iter().any(|line| line.trim_start().starts_with("Nextest run ID ") || summary(line).is_some()) {
        return Found::default();
    }
    let mut found = Found::by(Tool::Nextest);
    let mut named = BTreeSet::new();
    let mut panics = Panics::default();
    let mut block: Option<Failed> = None;
    let mut settled = false;
    for line in lines {
        if let Some(counts) = summary(line) {
            found.add_counts(counts);
        } else if line.starts_with("error: no tests to run") {
            found.nothing = true;
        } else if let Some((status, name)) = status_line(line) {
            block.take().into_iter().for_each(|failed| found.push(failed));
            // A later try decides over the earlier ones.
            if status.starts_with("TRY ") && status.ends_with("PASS") {
                found.failures.retain(|failed| failed.name != test_of(name));
            }
            block = kind_of_status(status)
                .filter(|_| named.insert(name))
                .map(|kind| Failed::new(test_of(name), kind, status));
            settled = false;
        } else if let Some(panic) = panics.line(line)
            && let Some(failed) = block.as_mut().filter(|failed| !settled && failed.kind == Kind::Error)
        {
            cargo::settle(failed, &panic);
            settled = true;
        } else if let Some(failed) = block.as_mut().filter(|failed| !settled && failed.kind == Kind::Error) {
            settled = outcome_without_panic(failed, line.trim());
        }
    }
    block.into_iter().for_each(|failed| found.push(failed));
    for failed in cargo::compile_errors(lines) {
        found.push(failed);
    }
    found
}

/// The lines before nextest began and after it summed up.
pub(super) fn around<'o>(lines: &[&'o str]) -> Vec<&'o str> {
    let begins = |line: &&str| line.trim_start().starts_with("Nextest run ID ");
    let first = lines.iter().position(begins).unwrap_or(0);
    let last = lines.iter().rposition(|line| summary(line).is_some()).unwrap_or(lines.len());
    // A compiler that refused is read as part of the run itself.
    let before = lines.iter().take(first).filter(|line| !line.starts_with("error"));
    before.chain(lines.iter().skip(last.saturating_add(1))).copied().collect()
}

fn outcome_without_panic(failed: &mut Failed, line: &str) -> bool {
    if let Some(note) = line.strip_prefix("note: test did not panic as expected") {
        failed.kind = Kind::Assertion;
        failed.message = text::short(&format!("test did not panic as expected{note}"));
        return true;
    }
    if let Some(error) = line.strip_prefix("Error: ") {
        failed.message = text::short(error);
    }
    false
}

/// `Summary [   0.605s] 13 tests run: 2 passed (1 slow), 11 failed, 1 skipped`
fn summary(line: &str) -> Option<Counts> {
    let (_, rest) = line.trim_start().strip_prefix("Summary [")?.split_once(']')?;
    let (_, items) = rest.split_once(" run: ")?;
    let mut counts = Counts::default();
    // What stands in brackets says more about tests that are counted already.
    let plain: String = items
        .split('(')
        .enumerate()
        .filter_map(|(i, part)| if i == 0 { Some(part) } else { part.split_once(')').map(|(_, rest)| rest) })
        .collect();
    for (number, word) in plain.split(',').filter_map(text::counted) {
        match word {
            "passed" => counts.passed = number,
            "skipped" => counts.skipped = number,
            _ => counts.failed = counts.failed.saturating_add(number),
        }
    }
    Some(Counts::of(counts.passed, counts.failed, 0, counts.skipped))
}

/// `FAIL [   0.124s] ( 2/13) greet tests::deb` as status and the rest.
fn status_line(line: &str) -> Option<(&str, &str)> {
    let (status, rest) = line.trim_start().split_once(" [")?;
    let letters = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || matches!(c, ' ' | '+' | '-');
    if status.is_empty() || !status.chars().all(letters) {
        return None;
    }
    let (time, rest) = rest.split_once(']')?;
    if !time.trim_start_matches(['>', ' ']).starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let rest = rest.trim_start();
    let name = match rest.strip_prefix('(') {
        Some(progress) => progress.split_once(')')?.1.trim_start(),
        None => rest,
    };
    Some((status.trim(), name))
}

fn kind_of_status(status: &str) -> Option<Kind> {
    if status.contains("TIMEOUT") || status.contains("TERMINATING") {
        return Some(Kind::Timeout);
    }
    if status.starts_with("SIG") || status.starts_with("ABORT") || status.contains(" SIG") {
        return Some(Kind::Crash);
    }
    status.contains("FAIL").then_some(Kind::Error)
}

/// The name without the binary before it.
fn test_of(name: &str) -> &str {
    name.split_once(' ').map_or(name, |(_, test)| test)
}
