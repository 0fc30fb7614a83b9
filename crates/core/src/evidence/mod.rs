//! What the output of a test run means (DS-93, DS-94, DS-97, CY-53): how many tests ran, which of them failed, and
//! whether they failed on an assertion or on something that says nothing about the code.

pub mod coverage;
mod found;
pub mod loading;
pub mod lost;
pub mod scenarios;
#[cfg(test)]
mod tests;
mod text;
mod tools;
mod verdict;
mod words;
mod xml;

use std::fmt;

use regex::Regex;
use serde::Deserialize;
use serde::Serialize;

pub use verdict::Red;
pub use verdict::TestVerdict;
pub use verdict::Why;
pub use words::count_in_words;

/// What a run of tests showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The tool whose output was recognised; the first one, where several spoke.
    pub tool: Option<Tool>,
    /// Absent where the tool does not tell (`go test` without `-v`, an unknown tool).
    pub counts: Option<Counts>,
    pub verdict: TestVerdict,
    /// In the order of the output, at most [`FAILURES_MAX`].
    pub failures: Vec<Failed>,
}

/// A run has no more failures listed than this; the counts are complete all the same.
pub const FAILURES_MAX: usize = 200;

/// A tool that runs tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    Pytest,
    Unittest,
    CargoTest,
    Nextest,
    GoTest,
    Jest,
    Vitest,
    Junit,
    Tap,
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Tool::Pytest => "pytest",
            Tool::Unittest => "unittest",
            Tool::CargoTest => "cargo test",
            Tool::Nextest => "cargo nextest",
            Tool::GoTest => "go test",
            Tool::Jest => "jest",
            Tool::Vitest => "vitest",
            Tool::Junit => "JUnit XML",
            Tool::Tap => "TAP",
        })
    }
}

/// How many tests there were (CY-53). A test that is expected to fail, and does, proves nothing and counts as
/// skipped; one that passes against its expectation counts as passed unless the tool calls it a failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    pub total: u64,
    pub passed: u64,
    pub failed: u64,
    pub errors: u64,
    pub skipped: u64,
}

impl Counts {
    fn of(passed: u64, failed: u64, errors: u64, skipped: u64) -> Counts {
        let total = passed.saturating_add(failed).saturating_add(errors).saturating_add(skipped);
        Counts { total, passed, failed, errors, skipped }
    }

    /// How many were executed, those that ended in an error included: the number that must not fall between RED and
    /// GREEN.
    pub fn ran(&self) -> u64 {
        self.passed.saturating_add(self.failed).saturating_add(self.errors)
    }

    fn plus(self, other: Counts) -> Counts {
        Counts::of(
            self.passed.saturating_add(other.passed),
            self.failed.saturating_add(other.failed),
            self.errors.saturating_add(other.errors),
            self.skipped.saturating_add(other.skipped),
        )
    }
}

/// One test that did not pass, or one thing that kept tests from running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// The test as its tool calls it, or the file that could not be collected or compiled.
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// From 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    pub kind: Kind,
    /// The first line of what was said, shortened; may be empty.
    pub message: String,
}

/// Why a test did not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The test compared, and found a difference.
    Assertion,
    /// The code under test says itself that it is not written yet.
    Missing,
    /// Something else went wrong in the test or in the code under test.
    Error,
    /// A module that the test needs is not there.
    Import,
    /// The test could not be collected.
    Collection,
    /// The test, or the code under test, is not valid source.
    Compile,
    /// What the test stands on (a fixture, a hook) failed before the test began, or after it.
    Setup,
    Timeout,
    /// The process that ran the test died.
    Crash,
}

impl Kind {
    /// Says nothing about the code, and wins over what does.
    pub fn is_basic(self) -> bool {
        !matches!(self, Kind::Assertion | Kind::Missing | Kind::Error)
    }

    /// The test was never begun.
    fn keeps_from_running(self) -> bool {
        matches!(self, Kind::Import | Kind::Collection | Kind::Compile | Kind::Crash)
    }
}

/// Reads the output of a test run.
///
/// `exit` is the exit code of the command, `None` where there is none: it was ended by a signal or at its deadline.
/// `expect` is searched for in the output where the tool is not known, or does not tell why a test failed; it never
/// makes red what could not be collected or compiled.
///
/// Takes time linear in the length of the output, and never fails: what is not understood is
/// [`Why::Unknown`].
pub fn read(output: &str, exit: Option<i32>, expect: Option<&Regex>) -> Run {
    let clean = text::clean(output);
    let found = tools::recognise(&clean, exit);
    let expected = expect.is_some_and(|pattern| pattern.is_match(&clean));
    let verdict = verdict::of(&found, &clean, exit, expected);
    Run { tool: found.tool, counts: found.counts, verdict, failures: found.failures }
}
