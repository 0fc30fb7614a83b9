//! What a run of a gate comes to.

use super::CheckEvidence;
use super::Demand;
use super::GateEnd;
use super::GateRun;
use crate::config::Comparator;
use crate::evidence::Counts;
use crate::evidence::Run;
use crate::evidence::TestVerdict;
use crate::evidence::Why;
use crate::evidence::count_in_words;
use crate::evidence::coverage::Threshold;
use crate::verdict::Verdict;

/// A shell says with these that a command cannot be run, or is not there.
const EXITS_NO_COMMAND: [i32; 2] = [126, 127];
/// `timeout(1)` says with this that the time was over.
const EXIT_TIMEOUT: i32 = 124;
/// A shell adds the number of a signal to this.
pub(super) const EXIT_SIGNAL: i32 = 128;

/// Judges one run of a gate.
pub fn judge(run: GateRun, demand: &Demand) -> CheckEvidence {
    let verdict = verdict(&run, demand);
    let words = words(&run, &verdict);
    let GateRun { gate, argv, end, reading, tail, output, .. } = run;
    let verdict = match verdict {
        Found::Good => Verdict::checked(gate.clone(), words.clone(), output),
        Found::Bad(why) => Verdict::bad(format!("{gate}: {why}")),
        Found::Unknown(why) => Verdict::unknown(format!("{gate}: {why}")),
    };
    CheckEvidence {
        gate,
        argv,
        verdict,
        end: Some(end),
        tests: reading.tests,
        value: reading.value,
        words,
        tail,
        output,
    }
}

/// Judges a smaller run after the whole one crashed. What it shows to be bad is bad; the rest stays unknown (CY-68).
pub fn judge_subset(whole: &CheckEvidence, run: GateRun, demand: &Demand) -> CheckEvidence {
    // The whole suite has a floor; a part of it has none.
    let part = judge(run, &Demand { floor: None, ..demand.clone() });
    let why =
        format!("the whole suite crashed ({}); a subset of it was run instead: {}", whole.words, part.words);
    let verdict = match part.verdict {
        Verdict::Bad(_) => Verdict::bad(format!("{}: {why}", whole.gate)),
        Verdict::Good(_) | Verdict::Unknown(_) | Verdict::NotApplicable(_) => {
            Verdict::unknown(format!("{}: {why}", whole.gate))
        }
    };
    CheckEvidence { verdict, words: why, ..part }
}

/// What a run comes to, before it is put into words.
enum Found {
    Good,
    Bad(String),
    Unknown(String),
}

fn verdict(run: &GateRun, demand: &Demand) -> Found {
    let code = match &run.end {
        GateEnd::Exit(code) => *code,
        GateEnd::Signal => return Found::Unknown("it was ended by a signal".to_owned()),
        GateEnd::Deadline(why) | GateEnd::NotRun(why) => return Found::Unknown(why.clone()),
    };
    if !run.good.contains(&code) {
        return red_exit(run, code);
    }
    if run.reading.cut {
        return Found::Unknown("it printed more than can be judged".to_owned());
    }
    if let Some(found) = run.reading.tests.as_ref().and_then(of_tests) {
        return found;
    }
    if let Some(floor) = demand.floor
        && let Some(found) = below_floor(run.reading.tests.as_ref(), floor)
    {
        return found;
    }
    if demand.warnings_fail && run.reading.warnings > 0 {
        let warnings = counted(run.reading.warnings, "warning");
        return Found::Bad(format!("{warnings}, which this project counts as failures"));
    }
    match &demand.threshold {
        Some(threshold) => of_value(run, threshold),
        None => Found::Good,
    }
}

/// A red exit is red, whatever the output says. It is unknown where the command says nothing about the work.
fn red_exit(run: &GateRun, code: i32) -> Found {
    if EXITS_NO_COMMAND.contains(&code) {
        return Found::Unknown(format!("its command could not be run (exit code {code})"));
    }
    if code == EXIT_TIMEOUT {
        return Found::Unknown(format!("it took too long (exit code {code})"));
    }
    if code > EXIT_SIGNAL && code < 255 {
        return Found::Unknown(format!("it was ended from outside (exit code {code})"));
    }
    match run.reading.tests.as_ref().filter(|tests| tests.verdict != TestVerdict::Green) {
        Some(Run { verdict: TestVerdict::Nothing, .. }) => {
            Found::Unknown(format!("no test ran (exit code {code})"))
        }
        Some(Run { verdict: TestVerdict::Broken { why: why @ (Why::Crash | Why::Timeout) }, .. }) => {
            Found::Unknown(format!("{why} (exit code {code})"))
        }
        Some(tests) => Found::Bad(format!("{} (exit code {code})", count_in_words(tests))),
        None => Found::Bad(format!("it failed with exit code {code}")),
    }
}

/// Returns what tests say against a good exit code; nothing where they agree with it.
fn of_tests(tests: &Run) -> Option<Found> {
    match tests.verdict {
        TestVerdict::Green => None,
        TestVerdict::Nothing => Some(Found::Unknown("no test ran".to_owned())),
        TestVerdict::Red(_) => {
            Some(Found::Bad(format!("{}, although the command ended well", count_in_words(tests))))
        }
        // Tests that failed are bad, also where their tool does not say on what.
        TestVerdict::Broken { .. } if tests.counts.is_some_and(|counts| counts.failed > 0) => {
            Some(Found::Bad(format!("{}, although the command ended well", count_in_words(tests))))
        }
        TestVerdict::Broken { .. } => {
            Some(Found::Unknown(format!("{}, although the command ended well", count_in_words(tests))))
        }
    }
}

/// Returns what is wrong with the number of tests; nothing where it did not fall.
fn below_floor(tests: Option<&Run>, floor: Counts) -> Option<Found> {
    if floor.ran() == 0 {
        return None;
    }
    let before = counted(floor.ran(), "test");
    match tests.and_then(|tests| tests.counts) {
        None => {
            Some(Found::Unknown(format!("it does not say how many tests ran; before the work {before} ran")))
        }
        Some(now) if now.ran() < floor.ran() => {
            let now = counted(now.ran(), "test");
            Some(Found::Bad(format!("{now} ran, but before the work {before} ran")))
        }
        Some(_) => None,
    }
}

fn of_value(run: &GateRun, threshold: &Threshold) -> Found {
    let demanded = format!("{} {}%", phrase(threshold.comparator), threshold.percent);
    match run.reading.value {
        None => Found::Unknown(format!("no value was found, and {demanded} is demanded")),
        Some(value) if value.meets(threshold) => Found::Good,
        Some(value) => Found::Bad(format!("{value}, but {demanded} is demanded")),
    }
}

/// Returns the comparator in words.
pub(super) fn phrase(comparator: Comparator) -> &'static str {
    match comparator {
        Comparator::AtLeast => "at least",
        Comparator::MoreThan => "more than",
        Comparator::AtMost => "at most",
        Comparator::LessThan => "less than",
    }
}

/// One line for people.
fn words(run: &GateRun, found: &Found) -> String {
    let tests = run.reading.tests.as_ref().filter(|tests| tests.tool.is_some()).map(count_in_words);
    match found {
        Found::Bad(why) | Found::Unknown(why) => why.clone(),
        Found::Good => {
            let value = run.reading.value.map(|value| value.to_string());
            let parts: Vec<String> = [tests, value].into_iter().flatten().collect();
            match parts.is_empty() {
                false => parts.join(", "),
                true => last_line(&run.tail).unwrap_or_else(|| "it passed".to_owned()),
            }
        }
    }
}

fn last_line(text: &str) -> Option<String> {
    text.lines().rev().find(|line| !line.trim().is_empty()).map(|line| line.trim().to_owned())
}

fn counted(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
