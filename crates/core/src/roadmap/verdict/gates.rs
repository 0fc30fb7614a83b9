//! Gates of the project that are run when an agent says that its step is done, and before its commit: evidence beside its
//! claim (DS-97). What they come to is judged by [`crate::gate`]; here it gets the form that goes on record.

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

use crate::config::Comparator;
use crate::gate;
use crate::gate::CheckEvidence;
use crate::gate::Demand;
use crate::gate::Gate;
use crate::verdict::Verdict;

/// The gates of the configuration that are run at a stop, in this order.
pub const AT_STOP: [&str; 5] = [gate::TESTS, gate::LINT, gate::ACCEPTANCE, gate::COVERAGE, gate::SECURITY];

/// Told where a step is done and no gate is configured: nothing was looked at, so that nothing is green.
pub const NOTHING_CHECKED: &str = "nothing was checked: no gate is configured";

/// How much of what a gate printed is told.
const TAIL_LINES: usize = 5;
const TAIL_CHARS_MAX: usize = 500;

/// What a gate showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    Green,
    /// The work does not meet it.
    Red,
    /// It was run, or should have been, and says nothing about the work.
    Broken,
    /// There was no time for it at a stop; the commit gate runs it.
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

/// Returns what the guard demands of a gate beyond its declaration.
pub fn demand(gate: &Gate) -> Demand {
    Demand { threshold: gate.limit(Comparator::AtLeast), ..Demand::default() }
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

    /// Returns the form for the record of what a gate came to.
    pub fn of(check: &CheckEvidence) -> Evidence {
        let result = match &check.verdict {
            Verdict::Good(_) => Shown::Green,
            Verdict::Bad(_) => Shown::Red,
            Verdict::Unknown(_) => Shown::Broken,
            Verdict::NotApplicable(_) => Shown::NotRun,
        };
        let is_measured = check.counts().is_some() || check.value.is_some();
        let detail = match result {
            Shown::Green if is_measured => check.words.clone(),
            Shown::Green => String::new(),
            Shown::Red | Shown::Broken | Shown::NotRun => {
                let parts = [check.words.clone(), last_lines(&check.tail)];
                parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ")
            }
        };
        Evidence::new(&check.gate, result, detail)
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

/// The last lines that say something, in one.
fn last_lines(output: &str) -> String {
    let last: Vec<&str> =
        output.lines().rev().map(str::trim).filter(|line| !line.is_empty()).take(TAIL_LINES).collect();
    let text = last.into_iter().rev().collect::<Vec<_>>().join(" / ");
    let from = text.chars().count().saturating_sub(TAIL_CHARS_MAX);
    text.chars().skip(from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::GateEnd;
    use crate::gate::GateRun;

    fn shown(name: &str, gate: &Gate, end: GateEnd, output: &str) -> Evidence {
        let reading = gate::read(&gate::query(name, gate), output, end.exit(), &[]);
        let run = GateRun {
            gate: name.to_owned(),
            argv: vec![],
            end,
            good: gate.good_exits(),
            reading,
            tail: gate::tail(output),
            output: None,
        };
        Evidence::of(&gate::judge(run, &demand(gate)))
    }

    // DS-94: an assertion that failed is told from what could not even be collected, and both object.
    #[test]
    fn ds_94_the_words_of_the_one_judge_stand_in_the_record() {
        let gate = Gate::default();
        let red = "=== test session starts ===\ncollected 2 items\n\ntest_a.py .F\n\n=== FAILURES ===\n\
            ___ test_b ___\n\n    def test_b():\n>       assert 1 == 2\nE       assert 1 == 2\n\n\
            test_a.py:5: AssertionError\n=== short test summary info ===\n\
            FAILED test_a.py::test_b - assert 1 == 2\n=== 1 failed, 1 passed in 0.02s ===\n";
        let red = shown("tests", &gate, GateEnd::Exit(1), red);
        assert_eq!(red.result, Shown::Red);
        assert!(red.sentence().starts_with("G6: `tests` is red: "), "{}", red.sentence());
        assert!(red.sentence().contains("(exit code 1): "), "{}", red.sentence());
        let nothing = "=== test session starts ===\ncollected 0 items\n\n=== no tests ran in 0.01s ===\n";
        assert_eq!(shown("acceptance", &gate, GateEnd::Exit(0), nothing).result, Shown::Broken);
        let plain = shown("tests", &gate, GateEnd::Exit(1), "1 failed\n");
        assert_eq!(plain.result, Shown::Red);
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
        let told = |gate: &Gate, exit, output| shown("coverage", gate, GateEnd::Exit(exit), output);
        let at_least = gate(None);
        assert_eq!(told(&at_least, 0, "total: 80%").sentence(), "Gate `coverage` is green: 80%");
        assert_eq!(
            told(&at_least, 0, "total: 79.99%").sentence(),
            "Gate `coverage` is red: 79.99%, but at least 80% is demanded: total: 79.99%"
        );
        assert_eq!(told(&gate(Some(Comparator::MoreThan)), 0, "total: 80%").result, Shown::Red);
        assert_eq!(told(&at_least, 0, "nothing").result, Shown::Broken);
        assert_eq!(told(&at_least, 1, "total: 99%").result, Shown::Red);
    }

    #[test]
    fn a_gate_that_says_nothing_is_broken_and_not_red() {
        let gate = Gate::default();
        let missing = shown("lint", &gate, GateEnd::Exit(127), "sh: clipy: not found");
        assert_eq!(missing.result, Shown::Broken);
        let signal = shown("security", &gate, GateEnd::Signal, "");
        assert_eq!(signal.sentence(), "Gate `security` is broken: it was ended by a signal");
        let own = GateEnd::Deadline("it did not end within its 1.0 s".to_owned());
        assert_eq!(
            shown("tests", &gate, own, "").sentence(),
            "G6: `tests` is broken: it did not end within its 1.0 s"
        );
        assert_eq!(shown("lint", &gate, GateEnd::Exit(0), "").sentence(), "Gate `lint` is green");
    }

    #[test]
    fn only_gates_that_are_red_or_broken_object_at_a_stop() {
        let gate = Gate::default();
        let red = shown("tests", &gate, GateEnd::Exit(1), "x");
        assert_eq!(red.objection().map(|objection| objection.sentence()), Some(red.sentence()));
        assert!(shown("lint", &gate, GateEnd::Exit(126), "x").objection().is_some());
        assert_eq!(shown("lint", &gate, GateEnd::Exit(0), "").objection(), None);
        assert_eq!(Evidence::not_run("tests", "no time was left").objection(), None);
    }
}
