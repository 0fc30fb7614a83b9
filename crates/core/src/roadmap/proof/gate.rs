//! What a run of a gate shows, and whether that is what its phase needs.

use std::collections::BTreeMap;

use super::Objection;
use super::Rule;
use super::sort::ACCEPTANCE;
use super::sort::Sort;
use super::sort::TESTS;
use crate::evidence;
use crate::evidence::Counts;
use crate::evidence::TestVerdict;
use crate::evidence::Why;
use crate::gate::CheckEvidence;
use crate::gate::GateEnd;
use crate::verdict::Verdict;

/// What a run of a gate shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub gate: String,
    pub command: String,
    pub verdict: TestVerdict,
    /// Absent where the tool does not tell, and for gates that run no tests.
    pub counts: Option<Counts>,
    /// One line for people: `3 tests ran, 1 failed: boils (test_kettle.py:12)`.
    pub words: String,
    /// The end of the output, from the beginning of a line where there is one.
    pub tail: String,
}

/// What earlier phases of the step proved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Earlier {
    /// For each gate the counts at the end of RED.
    pub red: BTreeMap<String, Counts>,
}

/// Returns what the evidence of a gate means to a phase. Gates named `acceptance` and `tests` are read as runs of tests,
/// which RED needs to fail for a good reason; of every other gate the verdict alone counts.
pub fn see(evidence: &CheckEvidence) -> Seen {
    let of_tests = evidence.tests.as_ref().filter(|_| runs_tests(&evidence.gate));
    let verdict = match (&evidence.verdict, of_tests, &evidence.end) {
        (Verdict::Good(_), _, _) => TestVerdict::Green,
        (_, _, Some(GateEnd::Signal)) => TestVerdict::Broken { why: Why::Crash },
        (_, _, Some(GateEnd::Deadline(_))) => TestVerdict::Broken { why: Why::Timeout },
        // What the engine itself holds against the gate outranks what its output says.
        (_, Some(tests), Some(GateEnd::Exit(_))) if tests.verdict != TestVerdict::Green => tests.verdict,
        _ => TestVerdict::Broken { why: Why::Unknown },
    };
    let could_run = !matches!(evidence.end, Some(GateEnd::Deadline(_) | GateEnd::NotRun(_)) | None);
    let words = match (of_tests, could_run) {
        (_, false) => format!("it could not be judged: {}", evidence.words),
        (Some(tests), true) if tests.verdict == verdict => evidence::count_in_words(tests),
        (_, true) => evidence.words.clone(),
    };
    Seen {
        gate: evidence.gate.clone(),
        command: evidence.argv.join(" "),
        verdict,
        counts: evidence.counts().filter(|_| of_tests.is_some()),
        words,
        tail: evidence.tail.clone(),
    }
}

fn runs_tests(gate: &str) -> bool {
    [ACCEPTANCE, TESTS].contains(&gate)
}

/// What keeps a phase from being over, after its gates were run (DW-61 to DW-66, DS-93, DS-94, DS-97).
///
/// Where no gate was run there is nothing to object to: the phase then closes on what its agent says.
pub fn judge(phase: &str, sort: Sort, seen: &[Seen], earlier: &Earlier) -> Vec<Objection> {
    let mut objections = vec![];
    for seen in seen {
        let objection = match sort {
            Sort::Prepare | Sort::Other => None,
            _ if !runs_tests(&seen.gate) => failed(phase, seen),
            Sort::RedAcceptance => not_red(phase, seen, Need::MissingLogic),
            Sort::Red if seen.gate == ACCEPTANCE => not_red(phase, seen, Need::MissingLogic),
            Sort::RedUnit | Sort::Red => not_red(phase, seen, Need::Assertion),
            Sort::CheckAcceptance => match seen.verdict {
                TestVerdict::Green | TestVerdict::Red(_) => None,
                TestVerdict::Broken { .. } | TestVerdict::Nothing => not_green(phase, seen),
            },
            Sort::GreenUnit if is_nearer(seen, earlier) => None,
            Sort::GreenUnit | Sort::Green | Sort::Review | Sort::Refactor | Sort::Final | Sort::Commit => {
                not_green(phase, seen)
            }
        };
        objections.extend(objection);
        if sort.is_after_red() && runs_tests(&seen.gate) {
            objections.extend(fewer_tests(seen, earlier));
        }
    }
    objections
}

/// For which reasons tests may fail at the end of RED.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    /// An acceptance test may also fail because the code says itself that it is not written yet (DS-93).
    MissingLogic,
    /// A unit test fails on its assertion (DS-94).
    Assertion,
}

fn not_red(phase: &str, seen: &Seen, need: Need) -> Option<Objection> {
    let Seen { gate, command, words, .. } = seen;
    let (rule, message) = match seen.verdict {
        TestVerdict::Red(_) if need == Need::MissingLogic => return None,
        verdict if verdict.fails_on_assertion() => return None,
        TestVerdict::Green => (
            Rule::RedIsGreen,
            format!(
                "{phase} needs a test that fails, but the gate `{gate}` passes: {words}. A test that passes before \
                 the code is written proves nothing about it. Write a test for behaviour that is missing yet, or \
                 mend the one that passes without it."
            ),
        ),
        TestVerdict::Nothing => (Rule::NothingRan, nothing_ran(phase, seen)),
        TestVerdict::Red(_) => (
            Rule::RedIsBroken,
            format!(
                "{phase} needs a unit test that fails on its assertion, but no assertion was reached: {words}. Let \
                 the code under test return something wrong instead of saying that it is not written yet, so that \
                 the test compares and fails."
            ),
        ),
        TestVerdict::Broken { why } => (
            Rule::RedIsBroken,
            format!(
                "{phase} needs a test that fails on an assertion, but the gate `{gate}` failed for another reason: \
                 {words}. {}",
                remedy(why, command)
            ),
        ),
    };
    Some(Objection::new(rule, message).showing(&seen.tail))
}

/// What an agent can do about a run that proves nothing.
fn remedy(why: Why, command: &str) -> String {
    match why {
        Why::Import | Why::Compile | Why::Collection => {
            "Write the least that lets the tests be found, compiled and imported, such as an empty function, so that \
             they run and fail on what they assert."
                .to_owned()
        }
        Why::Setup => {
            "Mend what the tests stand on (fixtures, hooks, services), so that they run and fail on what they assert."
                .to_owned()
        }
        Why::Error => {
            "Let the tests compare a result and fail on that, not on an error on the way there.".to_owned()
        }
        Why::Crash | Why::Timeout | Why::Unknown => {
            format!("Run `{command}` yourself and mend what keeps it from coming to a result.")
        }
    }
}

fn nothing_ran(phase: &str, seen: &Seen) -> String {
    format!(
        "No test ran for the gate `{}` of {phase}, so that nothing is proved. See that `{}` finds the tests of this \
         step, and that none of them is put off.",
        seen.gate, seen.command
    )
}

fn not_green(phase: &str, seen: &Seen) -> Option<Objection> {
    let Seen { gate, command, words, .. } = seen;
    let (rule, message) = match seen.verdict {
        TestVerdict::Green => return None,
        TestVerdict::Nothing => (Rule::NothingRan, nothing_ran(phase, seen)),
        TestVerdict::Red(_) => (
            Rule::NotGreen,
            format!(
                "{phase} is over only when all tests pass, but the gate `{gate}` says: {words}. Mend the code, not the \
                 test."
            ),
        ),
        TestVerdict::Broken { .. } => (
            Rule::NotGreen,
            format!(
                "{phase} is over only when all tests pass, but the gate `{gate}` says: {words}. Run `{command}` \
                 yourself and mend what keeps the tests from passing."
            ),
        ),
    };
    Some(Objection::new(rule, message).showing(&seen.tail))
}

/// A gate that runs no tests.
fn failed(phase: &str, seen: &Seen) -> Option<Objection> {
    if seen.verdict.is_green() {
        return None;
    }
    let message = format!(
        "The gate `{}` has to pass at the end of {phase}, but {}. Run `{}` yourself and mend what it names.",
        seen.gate, seen.words, seen.command
    );
    Some(Objection::new(Rule::GateFailed, message).showing(&seen.tail))
}

/// Whether fewer tests fail than at RED. The list with fourteen phases lets unit tests pass first; where one gate runs
/// all tests, the acceptance test may still be red then.
fn is_nearer(seen: &Seen, earlier: &Earlier) -> bool {
    let open = |counts: &Counts| counts.failed.saturating_add(counts.errors);
    match (seen.verdict, &seen.counts, earlier.red.get(&seen.gate)) {
        (TestVerdict::Red(_), Some(now), Some(red)) => open(now) < open(red),
        _ => false,
    }
}

/// Fewer tests than at RED, or more of them put off: a way to green that proves nothing.
fn fewer_tests(seen: &Seen, earlier: &Earlier) -> Option<Objection> {
    let red = earlier.red.get(&seen.gate)?;
    let gate = &seen.gate;
    let message = match seen.counts {
        // What could not run at all is objected to as such.
        _ if matches!(seen.verdict, TestVerdict::Broken { .. } | TestVerdict::Nothing) => return None,
        None if red.ran() > 0 => format!(
            "At RED the gate `{gate}` ran {}, and now its output does not say how many ran. Let the tests report as \
             they did.",
            tests(red.ran())
        ),
        Some(now) if now.ran() < red.ran() => format!(
            "At RED the gate `{gate}` ran {}, and now it runs {}. Bring the missing ones back: a test that does not \
             run proves nothing.",
            tests(red.ran()),
            now.ran()
        ),
        Some(now) if now.skipped > red.skipped => format!(
            "At RED the gate `{gate}` put off {}, and now it puts off {}. Let the tests run: one that is skipped, or \
             expected to fail, proves nothing.",
            tests(red.skipped),
            now.skipped
        ),
        None | Some(_) => return None,
    };
    Some(Objection::new(Rule::TestCount, message).showing(&seen.tail))
}

fn tests(number: u64) -> String {
    match number {
        0 => "no test".to_owned(),
        1 => "1 test".to_owned(),
        n => format!("{n} tests"),
    }
}
