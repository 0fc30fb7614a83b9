//! What follows from a run of tests: green, red for a good reason, broken, or nothing.

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

use super::Kind;
use super::found::Found;

/// What a run proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestVerdict {
    /// At least one test ran, and all that ran passed (DS-97).
    Green,
    /// Tests ran and failed for a reason that says something about the code.
    Red(Red),
    /// Something failed that says nothing about the code. It wins over assertions that failed beside it: as long as a
    /// part of the tests cannot run, nobody knows what they would say.
    Broken { why: Why },
    /// No test ran: neither green nor red.
    Nothing,
}

/// A good reason for a test to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Red {
    /// An assertion did not hold (DS-94).
    Assertion,
    /// No assertion was reached, because the code under test says that it is not written yet (`NotImplementedError`,
    /// `not yet implemented`). That is missing business logic and no infrastructure, so an acceptance test may fail so
    /// (DS-93); a unit test may not (DS-94).
    Missing,
}

/// Why a run proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    Compile,
    Collection,
    Import,
    Setup,
    Crash,
    Timeout,
    /// Tests stopped on an error of another kind, and none on an assertion.
    Error,
    /// The command failed, and its output does not say why.
    Unknown,
}

impl TestVerdict {
    pub fn is_green(self) -> bool {
        self == TestVerdict::Green
    }

    /// DS-94: on an assertion, not on set-up or compilation.
    pub fn fails_on_assertion(self) -> bool {
        self == TestVerdict::Red(Red::Assertion)
    }

    /// DS-93: for missing business logic, not for infrastructure.
    pub fn fails_for_missing_logic(self) -> bool {
        matches!(self, TestVerdict::Red(_))
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Why::Compile => "something does not compile",
            Why::Collection => "tests could not be collected",
            Why::Import => "something could not be imported",
            Why::Setup => "the set-up of tests failed",
            Why::Crash => "the tests crashed",
            Why::Timeout => "the tests took too long",
            Why::Error => "tests stopped on an error, none on an assertion",
            Why::Unknown => "the command failed, and its output does not say why",
        })
    }
}

/// The reasons that win over a failed assertion, the most basic one first.
const BASIC: [(Kind, Why); 6] = [
    (Kind::Compile, Why::Compile),
    (Kind::Collection, Why::Collection),
    (Kind::Import, Why::Import),
    (Kind::Setup, Why::Setup),
    (Kind::Crash, Why::Crash),
    (Kind::Timeout, Why::Timeout),
];

/// `timeout(1)` says so with this exit code.
const EXIT_TIMEOUT: i32 = 124;
/// A shell says with these that the command cannot be run, or is not there.
const EXITS_NO_COMMAND: [i32; 2] = [126, 127];
/// A shell adds the signal's number to this.
const EXIT_SIGNAL: i32 = 128;

pub(super) fn of(found: &Found, output: &str, exit: Option<i32>, expected: bool) -> TestVerdict {
    let has = |kind: Kind| found.failures.iter().any(|failed| failed.kind == kind);
    if let Some((_, why)) = BASIC.iter().find(|(kind, _)| has(*kind)) {
        return TestVerdict::Broken { why: *why };
    }
    if has(Kind::Assertion) {
        return TestVerdict::Red(Red::Assertion);
    }
    if has(Kind::Missing) {
        return TestVerdict::Red(Red::Missing);
    }
    let counts = found.counts.unwrap_or_default();
    if counts.failed > 0 || counts.errors > 0 || !found.failures.is_empty() {
        return match expected {
            true => TestVerdict::Red(Red::Assertion),
            false if has(Kind::Error) => TestVerdict::Broken { why: Why::Error },
            false => TestVerdict::Broken { why: by_exit(exit) },
        };
    }
    let known = found.tool.is_some();
    match exit {
        _ if found.nothing && counts.ran() == 0 && !found.passed_some => TestVerdict::Nothing,
        Some(0) if !known || counts.ran() > 0 || found.passed_some => TestVerdict::Green,
        Some(0) => TestVerdict::Nothing,
        Some(_) if !known && expected => TestVerdict::Red(Red::Assertion),
        _ if !known => TestVerdict::Broken { why: by_words(output).unwrap_or(by_exit(exit)) },
        _ => TestVerdict::Broken { why: by_exit(exit) },
    }
}

fn by_exit(exit: Option<i32>) -> Why {
    match exit {
        Some(EXIT_TIMEOUT) => Why::Timeout,
        Some(code) if EXITS_NO_COMMAND.contains(&code) => Why::Setup,
        Some(code) if !(0..=EXIT_SIGNAL).contains(&code) && code < 255 => Why::Crash,
        None => Why::Crash,
        Some(_) => Why::Unknown,
    }
}

/// Words by which many tools that are not known here say that there was nothing to test.
fn by_words(output: &str) -> Option<Why> {
    const WORDS: [(&str, Why); 8] = [
        ("SyntaxError", Why::Compile),
        ("IndentationError", Why::Compile),
        ("compilation failed", Why::Compile),
        ("Compilation failed", Why::Compile),
        ("ModuleNotFoundError", Why::Import),
        ("ImportError", Why::Import),
        ("Cannot find module", Why::Import),
        ("Segmentation fault", Why::Crash),
    ];
    WORDS.iter().find(|(words, _)| output.contains(words)).map(|(_, why)| *why)
}
