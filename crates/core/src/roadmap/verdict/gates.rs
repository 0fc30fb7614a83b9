//! Gates of the project that are run when an agent says that its step is done: evidence beside its claim (DS-97).

use std::fmt;

use regex::Regex;
use serde::Deserialize;
use serde::Serialize;

use crate::config::Comparator;
use crate::config::Gate;
use crate::evidence;
use crate::evidence::Red;
use crate::evidence::Why;
use crate::evidence::coverage;
use crate::evidence::coverage::Coverage;
use crate::evidence::coverage::Threshold;

/// The gates of the configuration that are run at a stop, in this order.
pub const AT_STOP: [&str; 5] = ["tests", "lint", "acceptance", "coverage", "security"];

/// How much of what a gate printed is told.
const TAIL_LINES: usize = 5;
const TAIL_CHARS_MAX: usize = 500;
/// A shell says with these that a command cannot be run, or is not there.
const EXITS_NO_COMMAND: [i32; 2] = [126, 127];

/// What a gate showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    Green,
    /// The work does not meet it.
    Red,
    /// It says nothing about the work, because it could not do its own.
    Broken,
    NotRun,
}

/// What a gate showed, as it goes on record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    pub gate: String,
    pub result: Shown,
    /// What there is to say about it; may be empty.
    pub detail: String,
    /// The command around it in which it ran; empty on the host (OC-98).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<String>,
}

/// How the command of a gate ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ran<'o> {
    /// Absent where a signal ended it.
    pub exit: Option<i32>,
    pub output: &'o str,
    /// The text of the report that `value` names, where it names a file.
    pub report: Option<&'o str>,
}

impl Evidence {
    fn new(gate: &str, result: Shown, detail: String) -> Evidence {
        Evidence { gate: gate.to_owned(), result, detail, within: vec![] }
    }

    /// The same, with where it ran.
    #[must_use]
    pub fn ran_within(self, within: &[String]) -> Evidence {
        Evidence { within: within.to_vec(), ..self }
    }

    pub fn not_run(gate: &str, why: impl Into<String>) -> Evidence {
        Evidence::new(gate, Shown::NotRun, why.into())
    }

    pub fn broken(gate: &str, why: impl fmt::Display) -> Evidence {
        Evidence::new(gate, Shown::Broken, why.to_string())
    }

    /// What follows from how a gate's command ended. Tests tell an assertion that failed from what says nothing about
    /// the code; the others are as good as their exit code, and coverage as good as its value besides.
    pub fn of(name: &str, gate: &Gate, ran: &Ran<'_>) -> Evidence {
        let (result, words) = match (name, ran.exit) {
            (_, None) => (Shown::Broken, "it was ended by a signal".to_owned()),
            (_, Some(exit)) if EXITS_NO_COMMAND.contains(&exit) => {
                (Shown::Broken, "its command could not be run".to_owned())
            }
            ("tests" | "acceptance", Some(exit)) => of_tests(gate, ran, exit),
            ("coverage", Some(0)) => of_coverage(gate, ran),
            (_, Some(0)) => (Shown::Green, String::new()),
            (_, Some(_)) => (Shown::Red, String::new()),
        };
        let tail = if result == Shown::Green { String::new() } else { tail(ran.output) };
        let detail = [words, tail].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
        Evidence::new(name, result, detail)
    }

    /// How it is told.
    pub fn sentence(&self) -> String {
        let is = match self.result {
            Shown::Green => "is green",
            Shown::Red => "is red",
            Shown::Broken => "is broken",
            Shown::NotRun => "was not run",
        };
        let head = format!("{}`{}` {is}", head(&self.gate), self.gate);
        let place = match self.within.is_empty() {
            true => String::new(),
            false => format!("within `{}`", self.within.join(" ")),
        };
        let said = [place.as_str(), &self.detail].into_iter().filter(|part| !part.is_empty());
        let said = said.collect::<Vec<_>>().join("; ");
        if said.is_empty() { head } else { format!("{head}: {said}") }
    }
}

/// Gates whose tests must be green have the number that the phases know them by.
fn head(gate: &str) -> &'static str {
    if matches!(gate, "tests" | "acceptance") { "G6: " } else { "Gate " }
}

fn of_tests(gate: &Gate, ran: &Ran<'_>, exit: i32) -> (Shown, String) {
    let expect = gate.expect.as_deref().and_then(|pattern| Regex::new(pattern).ok());
    let run = evidence::read(ran.output, Some(exit), expect.as_ref());
    let counted = run.counts.map(|counts| {
        let bad = counts.failed.saturating_add(counts.errors);
        match bad {
            0 => format!("{} tests passed", counts.passed),
            _ => format!("{bad} of {} tests failed", counts.ran()),
        }
    });
    let with_counts = |words: &str| match &counted {
        Some(counted) => format!("{words}; {counted}"),
        None => words.to_owned(),
    };
    match run.verdict {
        evidence::Verdict::Green => (Shown::Green, counted.unwrap_or_default()),
        evidence::Verdict::Red(Red::Assertion) => (Shown::Red, with_counts("an assertion does not hold")),
        evidence::Verdict::Red(Red::Missing) => {
            (Shown::Red, with_counts("what is tested says that it is not written yet"))
        }
        evidence::Verdict::Broken { why: Why::Unknown } => (Shown::Red, counted.unwrap_or_default()),
        evidence::Verdict::Broken { why: why @ Why::Error } => (Shown::Red, with_counts(&why.to_string())),
        evidence::Verdict::Broken { why } => (Shown::Broken, why.to_string()),
        evidence::Verdict::Nothing => (Shown::Broken, "no test ran, so that it shows nothing".to_owned()),
    }
}

fn of_coverage(gate: &Gate, ran: &Ran<'_>) -> (Shown, String) {
    let pattern = || gate.value.as_deref().and_then(|pattern| Regex::new(pattern).ok());
    let found = match (ran.report, &gate.value) {
        (Some(report), _) => coverage::in_report(report),
        (None, Some(_)) => pattern().and_then(|pattern| coverage::by_pattern(ran.output, &pattern)),
        (None, None) => coverage::in_output(ran.output),
    };
    let Some(threshold) = gate.threshold else {
        return (Shown::Green, found.map(|value| value.to_string()).unwrap_or_default());
    };
    let Some(value) = found else { return (Shown::Broken, "it does not tell its value".to_owned()) };
    let (word, enough) = meets(value, gate.comparator.unwrap_or(Comparator::AtLeast), threshold);
    match enough {
        true => (Shown::Green, format!("{value}, and {word} {threshold}% is asked for")),
        false => (Shown::Red, format!("{value}, but {word} {threshold}% is asked for")),
    }
}

/// Whether a share is enough, and what is asked for in words.
fn meets(value: Coverage, comparator: Comparator, threshold: f64) -> (&'static str, bool) {
    let percent = threshold.to_string().parse().unwrap_or_default();
    let by = |comparator| value.meets(&Threshold { comparator, percent });
    match comparator {
        Comparator::AtLeast => ("at least", by(coverage::Comparator::AtLeast)),
        Comparator::MoreThan => ("more than", by(coverage::Comparator::Above)),
        Comparator::AtMost => ("at most", !by(coverage::Comparator::Above)),
        Comparator::LessThan => ("less than", !by(coverage::Comparator::AtLeast)),
    }
}

/// The last lines that say something, in one.
fn tail(output: &str) -> String {
    let last: Vec<&str> =
        output.lines().rev().map(str::trim).filter(|line| !line.is_empty()).take(TAIL_LINES).collect();
    let text = last.into_iter().rev().collect::<Vec<_>>().join(" / ");
    let from = text.chars().count().saturating_sub(TAIL_CHARS_MAX);
    text.chars().skip(from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(name: &str, gate: &Gate, exit: i32, output: &str) -> Evidence {
        Evidence::of(name, gate, &Ran { exit: Some(exit), output, report: None })
    }

    const PYTEST_RED: &str = "=== test session starts ===\ncollected 2 items\n\ntest_a.py .F\n\n=== FAILURES ===\n\
        ___ test_b ___\n\n    def test_b():\n>       assert 1 == 2\nE       assert 1 == 2\n\ntest_a.py:5: AssertionError\n\
        === short test summary info ===\nFAILED test_a.py::test_b - assert 1 == 2\n=== 1 failed, 1 passed in 0.02s ===\n";

    // DS-94: an assertion that failed is told from what could not even be collected.
    #[test]
    fn ds_94_red_by_assertion_is_told_from_broken() {
        let gate = Gate::default();
        let red = shown("tests", &gate, 1, PYTEST_RED);
        assert_eq!(red.result, Shown::Red);
        assert!(
            red.sentence()
                .starts_with("G6: `tests` is red: an assertion does not hold; 1 of 2 tests failed: ")
        );
        let broken = "=== test session starts ===\ncollected 0 items / 1 error\n\n=== ERRORS ===\n\
            ___ ERROR collecting test_a.py ___\nE   ModuleNotFoundError: No module named 'dough'\n\
            === short test summary info ===\nERROR test_a.py\n=== 1 error in 0.10s ===\n";
        assert_eq!(shown("tests", &gate, 2, broken).result, Shown::Broken);
        let nothing = "=== test session starts ===\ncollected 0 items\n\n=== no tests ran in 0.01s ===\n";
        assert_eq!(shown("acceptance", &gate, 5, nothing).result, Shown::Broken);
        // Nobody knows the tool: the exit code is all there is.
        let plain = shown("tests", &gate, 1, "1 failed\n");
        assert_eq!(plain.sentence(), "G6: `tests` is red: 1 failed");
    }

    // DS-101: the value counts where a threshold is set, exactly.
    #[test]
    fn ds_101_coverage_is_as_good_as_its_value() {
        let gate = |comparator| Gate {
            value: Some("total: ([0-9.]+)%".to_owned()),
            threshold: Some(80.0),
            comparator,
            ..Gate::default()
        };
        let at_least = gate(None);
        assert_eq!(shown("coverage", &at_least, 0, "total: 80%").result, Shown::Green);
        let red = shown("coverage", &at_least, 0, "total: 79.99%");
        assert!(
            red.sentence().starts_with("Gate `coverage` is red: 79.99%, but at least 80% is asked for"),
            "{red:?}"
        );
        assert_eq!(shown("coverage", &gate(Some(Comparator::MoreThan)), 0, "total: 80%").result, Shown::Red);
        assert_eq!(shown("coverage", &at_least, 0, "nothing").result, Shown::Broken);
        assert_eq!(shown("coverage", &Gate::default(), 0, "nothing").result, Shown::Green);
        assert_eq!(shown("coverage", &at_least, 1, "total: 99%").result, Shown::Red);
    }

    #[test]
    fn a_gate_that_cannot_be_run_is_broken_and_not_red() {
        let gate = Gate::default();
        assert_eq!(shown("lint", &gate, 127, "sh: clipy: not found").result, Shown::Broken);
        let signal = Evidence::of("security", &gate, &Ran::default());
        assert_eq!(signal.sentence(), "Gate `security` is broken: it was ended by a signal");
        assert_eq!(shown("lint", &gate, 0, "").sentence(), "Gate `lint` is green");
    }

    #[test]
    fn only_gates_that_are_red_or_broken_object() {
        let gate = Gate::default();
        let red = shown("tests", &gate, 1, "x");
        assert_eq!(red.objection().map(|objection| objection.sentence()), Some(red.sentence()));
        assert!(shown("lint", &gate, 126, "x").objection().is_some());
        assert_eq!(shown("lint", &gate, 0, "").objection(), None);
        assert_eq!(Evidence::not_run("tests", "no time was left").objection(), None);
    }
}
