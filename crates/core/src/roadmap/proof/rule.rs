//! The rules by which a phase can be refused.

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

/// A rule that a phase, or what an agent did in it, broke. Its word is what `show --json` and documents call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// RED needs a test that fails, and the gate passes.
    RedIsGreen,
    /// RED needs a test that fails on an assertion, and the gate failed for another reason.
    RedIsBroken,
    /// No test ran at all.
    NothingRan,
    /// All tests have to pass, and they do not.
    NotGreen,
    /// A gate that runs no tests failed.
    GateFailed,
    /// Fewer tests ran than at RED, or more of them were skipped.
    TestCount,
    /// A test was rewritten after it was red.
    RedTestChanged,
    /// A marker skips a test that ran before.
    SkipMarker,
    /// A test was deleted.
    TestDeleted,
    /// A test is still there and checks nothing any more.
    TestEmptied,
    /// A file with tests was deleted.
    TestFileDeleted,
    /// A file that a gate depends on was changed.
    GateEdited,
    /// A file that decides how tests are loaded was changed, or byte code was added.
    TestLoader,
    /// Not exactly one scenario is enabled.
    OneScenario,
    /// The test file of the step is not there.
    #[serde(rename = "G1")]
    TestFileMissing,
    /// The acceptance test does not go through the entry point.
    WalkingSkeleton,
    /// The coverage is below its threshold.
    Coverage,
    /// The coverage is lower than when the step began.
    CoverageFell,
    /// The coverage is not known.
    CoverageUnknown,
    /// A review found something serious that is not resolved.
    ReviewFinding,
    /// A file was changed that the step may not change.
    Scope,
    /// The agent says itself that the phase is only partly done.
    Partial,
    /// A criterion is not met.
    Criteria,
    /// A phase was not reported.
    Phases,
    /// The agent failed.
    Agent,
}

impl Rule {
    /// Returns the word of the rule, as it is recorded.
    pub fn word(self) -> &'static str {
        match self {
            Rule::RedIsGreen => "red-is-green",
            Rule::RedIsBroken => "red-is-broken",
            Rule::NothingRan => "nothing-ran",
            Rule::NotGreen => "not-green",
            Rule::GateFailed => "gate-failed",
            Rule::TestCount => "test-count",
            Rule::RedTestChanged => "red-test-changed",
            Rule::SkipMarker => "skip-marker",
            Rule::TestDeleted => "test-deleted",
            Rule::TestEmptied => "test-emptied",
            Rule::TestFileDeleted => "test-file-deleted",
            Rule::GateEdited => "gate-edited",
            Rule::TestLoader => "test-loader",
            Rule::OneScenario => "one-scenario",
            Rule::TestFileMissing => "G1",
            Rule::WalkingSkeleton => "walking-skeleton",
            Rule::Coverage => "coverage",
            Rule::CoverageFell => "coverage-fell",
            Rule::CoverageUnknown => "coverage-unknown",
            Rule::ReviewFinding => "review-finding",
            Rule::Scope => "scope",
            Rule::Partial => "partial",
            Rule::Criteria => "criteria",
            Rule::Phases => "phases",
            Rule::Agent => "agent",
        }
    }

    /// Returns whether the tests are no longer those that were red, so that RED has to be shown again.
    pub fn voids_red(self) -> bool {
        match self {
            Rule::RedTestChanged
            | Rule::SkipMarker
            | Rule::TestDeleted
            | Rule::TestEmptied
            | Rule::TestFileDeleted
            | Rule::TestCount => true,
            Rule::RedIsGreen
            | Rule::RedIsBroken
            | Rule::NothingRan
            | Rule::NotGreen
            | Rule::GateFailed
            | Rule::GateEdited
            | Rule::TestLoader
            | Rule::OneScenario
            | Rule::TestFileMissing
            | Rule::WalkingSkeleton
            | Rule::Coverage
            | Rule::CoverageFell
            | Rule::CoverageUnknown
            | Rule::ReviewFinding
            | Rule::Scope
            | Rule::Partial
            | Rule::Criteria
            | Rule::Phases
            | Rule::Agent => false,
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
