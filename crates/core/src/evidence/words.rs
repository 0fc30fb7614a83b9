//! A run of tests in one plain sentence.

use super::Counts;
use super::Failed;
use super::Kind;
use super::Red;
use super::Run;
use super::TestVerdict;

/// So many failures are named; the rest is a number.
const NAMED_MAX: usize = 3;

/// One plain sentence without a full stop: `3 tests ran, 1 failed: greets_politely (greet_test.py:12)`.
pub fn count_in_words(run: &Run) -> String {
    let mut sentence = ran(run);
    sentence.push_str(&named(run));
    match run.verdict {
        TestVerdict::Broken { why } => {
            let beside = run.failures.iter().any(|failed| failed.kind == Kind::Assertion);
            let although = if beside { ", although an assertion failed too" } else { "" };
            sentence.push_str(&format!("; proves nothing: {why}{although}"));
        }
        TestVerdict::Red(Red::Missing) => sentence.push_str("; the code is not written yet"),
        TestVerdict::Green | TestVerdict::Red(Red::Assertion) | TestVerdict::Nothing => {}
    }
    sentence
}

fn ran(run: &Run) -> String {
    let Some(counts) = run.counts else {
        let failed = run.failures.iter().filter(|failed| !failed.kind.keeps_from_running()).count();
        return match (run.verdict, failed) {
            (TestVerdict::Green, _) => "all tests passed, their number is not known".to_owned(),
            (TestVerdict::Nothing, _) => "no test ran".to_owned(),
            (_, 0) if run.failures.is_empty() => "the tests failed".to_owned(),
            (_, 0) => "the tests did not run".to_owned(),
            (_, n) => format!("{} failed", tests(n as u64)),
        };
    };
    let mut parts = vec![match counts.passed.saturating_add(counts.failed) {
        0 => "no test ran".to_owned(),
        n => format!("{} ran", tests(n)),
    }];
    parts.extend(outcomes(&counts));
    parts.join(", ")
}

fn outcomes(counts: &Counts) -> Vec<String> {
    let mut parts = vec![];
    match (counts.passed, counts.failed, counts.errors) {
        (0, 0, _) => {}
        (1, 0, 0) => parts.push("it passed".to_owned()),
        (_, 0, 0) => parts.push("all passed".to_owned()),
        (_, failed, _) => parts.extend((failed > 0).then(|| format!("{failed} failed"))),
    }
    parts.extend(match counts.errors {
        0 => None,
        1 => Some("1 error".to_owned()),
        n => Some(format!("{n} errors")),
    });
    parts.extend((counts.skipped > 0).then(|| format!("{} skipped", counts.skipped)));
    parts
}

fn tests(number: u64) -> String {
    if number == 1 { "1 test".to_owned() } else { format!("{number} tests") }
}

/// What decided comes first.
fn named(run: &Run) -> String {
    if run.failures.is_empty() {
        return String::new();
    }
    let broken = matches!(run.verdict, TestVerdict::Broken { .. });
    let (first, then): (Vec<&Failed>, Vec<&Failed>) =
        run.failures.iter().partition(|failed| broken && failed.kind.is_basic());
    let names: Vec<String> = first.into_iter().chain(then).take(NAMED_MAX).map(name_and_place).collect();
    let more = match run.failures.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    format!(": {}{more}", names.join(", "))
}

fn name_and_place(failed: &Failed) -> String {
    match (&failed.file, failed.line) {
        (Some(file), Some(line)) if *file == failed.name => format!("{file}:{line}"),
        (Some(file), Some(line)) => format!("{} ({file}:{line})", failed.name),
        (Some(file), None) if *file != failed.name => format!("{} ({file})", failed.name),
        _ => failed.name.clone(),
    }
}
