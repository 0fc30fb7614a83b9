//! Gates: commands that the engine runs itself. One declaration, one reading of the whole output, one judge.
//!
//! Good needs an exit status that the gate calls good, every measure within its threshold, at least one test where tests
//! are counted, and no fall of the executed tests against the base. A measure can make a gate bad; it can never make a
//! red exit good.

mod judge;
mod standing;
#[cfg(test)]
mod tests;

use serde::Deserialize;
use serde::Serialize;

use crate::evidence;
use crate::evidence::Counts;
use crate::evidence::Run;
use crate::evidence::Tool;
use crate::evidence::coverage;
use crate::evidence::coverage::Coverage;
use crate::evidence::coverage::Threshold;
use crate::hash::Hash;
use crate::verdict::Verdict;

pub use crate::config::Gate;
pub use judge::judge;
pub use judge::judge_subset;
pub use standing::Standing;
pub use standing::find_standing;
pub use standing::named_words;

/// Gates whose name says what they run.
pub const TESTS: &str = "tests";
pub const ACCEPTANCE: &str = "acceptance";
pub const COVERAGE: &str = "coverage";
pub const LINT: &str = "lint";
pub const SECURITY: &str = "security";

/// No more failures of a run are kept than this; the counts are complete all the same.
const FAILURES_KEPT: usize = 20;
/// No more of an output is kept for people than this.
const TAIL_BYTES_MAX: usize = 4000;

/// What is looked for in the output of a gate. It is looked for in all of it, before anything is cut off.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OutputQuery {
    pub tests: TestsIn,
    /// A pattern that says why tests failed, where the tool does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<String>,
    /// Where a measured value is: a pattern on the output, or a report file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Whether a printed table of coverage is looked for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub coverage: bool,
}

/// Whether the output of a gate is one of tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestsIn {
    /// The gate runs tests, whatever its output looks like.
    Always,
    /// The output is read as one of tests where a known tool printed it.
    #[default]
    WhereKnown,
    /// Its output may look like anything.
    Never,
}

/// What the whole output of a gate showed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OutputReading {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests: Option<Run>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Coverage>,
    /// Lines that warn.
    #[serde(skip_serializing_if = "is_zero")]
    pub warnings: u64,
    /// There was more output than could be read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// How the command of a gate ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateEnd {
    Exit(i32),
    Signal,
    /// Its time was over; the words say which time.
    Deadline(String),
    /// It could not be run, or not be run to its end. Earlier versions called an end without an exit code `without`.
    #[serde(alias = "without")]
    NotRun(String),
}

impl GateEnd {
    pub fn exit(&self) -> Option<i32> {
        match self {
            GateEnd::Exit(code) => Some(*code),
            GateEnd::Signal | GateEnd::Deadline(_) | GateEnd::NotRun(_) => None,
        }
    }

    /// Returns whether the command crashed instead of failing: a part of it may still say something (CY-68).
    pub fn is_crash(&self) -> bool {
        match self {
            GateEnd::Signal => true,
            GateEnd::Exit(code) => *code > judge::EXIT_SIGNAL,
            GateEnd::Deadline(_) | GateEnd::NotRun(_) => false,
        }
    }
}

/// What a dialect demands of a gate beyond its declaration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// The tests that were executed before the work began: fewer are not enough.
    pub floor: Option<Counts>,
    /// Lines that warn make it bad.
    pub warnings_fail: bool,
    /// The threshold of the measured value; absent where no value is demanded.
    pub threshold: Option<Threshold>,
}

/// One run of a gate, as it is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateRun {
    pub gate: String,
    /// All that was run, the command around it included.
    pub argv: Vec<String>,
    pub end: GateEnd,
    /// Exit codes that the gate calls good.
    pub good: Vec<i32>,
    pub reading: OutputReading,
    /// The end of the output, for people.
    pub tail: String,
    /// Over the output as it was kept.
    pub output: Option<Hash>,
}

/// What one run of a gate showed: the verdict, and what it rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckEvidence {
    pub gate: String,
    /// What was run, word by word; empty where nothing was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    pub verdict: Verdict,
    /// Absent where the gate was not run at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<GateEnd>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<Run>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Coverage>,
    /// One line for people.
    pub words: String,
    /// The end of the output.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tail: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Hash>,
}

impl CheckEvidence {
    /// Returns the evidence of a gate that this project does not have: nothing was checked, and that is told.
    pub fn not_configured(gate: &str) -> CheckEvidence {
        let words = "no such check is configured".to_owned();
        CheckEvidence::without_run(gate, Verdict::absent(words.clone(), "configuration"), words)
    }

    /// Returns the evidence of a gate that should have been run and was not.
    pub fn not_run(gate: &str, why: impl Into<String>) -> CheckEvidence {
        let why = why.into();
        CheckEvidence::without_run(gate, Verdict::unknown(format!("{gate} was not run: {why}")), why)
    }

    /// Returns the evidence of something that the engine compared itself.
    pub fn measured(what: &str, verdict: Verdict, words: impl Into<String>) -> CheckEvidence {
        CheckEvidence::without_run(what, verdict, words.into())
    }

    fn without_run(gate: &str, verdict: Verdict, words: String) -> CheckEvidence {
        CheckEvidence {
            gate: gate.to_owned(),
            argv: vec![],
            verdict,
            end: None,
            tests: None,
            value: None,
            words,
            tail: String::new(),
            output: None,
        }
    }

    pub fn exit(&self) -> Option<i32> {
        self.end.as_ref().and_then(GateEnd::exit)
    }

    pub fn counts(&self) -> Option<Counts> {
        self.tests.as_ref().and_then(|tests| tests.counts)
    }

    /// Returns the name and the line for people.
    pub fn line(&self) -> String {
        format!("{}: {}", self.gate, self.words)
    }
}

/// Returns what is looked for in the output of a gate of this name.
pub fn query(name: &str, gate: &Gate) -> OutputQuery {
    let tests = match name {
        TESTS | ACCEPTANCE => TestsIn::Always,
        LINT | SECURITY => TestsIn::Never,
        _ => TestsIn::WhereKnown,
    };
    OutputQuery { tests, expect: gate.expect.clone(), value: gate.value.clone(), coverage: name == COVERAGE }
}

/// Reads the whole output of a gate. `reports` are the files that its command wrote in this run, and no others.
pub fn read(
    query: &OutputQuery,
    output: &str,
    exit: Option<i32>,
    reports: &[Option<String>],
) -> OutputReading {
    let reports: Vec<&str> = reports.iter().flatten().map(String::as_str).collect();
    OutputReading {
        tests: read_tests(query, output, exit, &reports),
        value: read_value(query, output, &reports),
        warnings: count_warnings(output),
        cut: false,
    }
}

fn read_tests(query: &OutputQuery, output: &str, exit: Option<i32>, reports: &[&str]) -> Option<Run> {
    if query.tests == TestsIn::Never {
        return None;
    }
    // A pattern that is none is an error of the configuration, and reported there.
    let expect = query.expect.as_deref().and_then(|pattern| regex::Regex::new(pattern).ok());
    let printed = evidence::read(output, exit, expect.as_ref());
    let written = reports.iter().map(|report| evidence::read(report, exit, expect.as_ref()));
    let written = written.filter(|run| run.tool == Some(Tool::Junit)).find(|run| run.counts.is_some());
    let run = match printed.counts {
        Some(_) => printed,
        None => written.unwrap_or(printed),
    };
    let is_known = run.tool.is_some() && run.counts.is_some();
    let mut run = Some(run).filter(|_| is_known || query.tests == TestsIn::Always)?;
    run.failures.truncate(FAILURES_KEPT);
    Some(run)
}

fn read_value(query: &OutputQuery, output: &str, reports: &[&str]) -> Option<Coverage> {
    let written = reports.iter().find_map(|report| coverage::in_report(report));
    let matched = || query.value.as_deref().and_then(|pattern| coverage::by_expression(output, pattern));
    let printed = || (query.coverage && query.value.is_none()).then(|| coverage::in_output(output)).flatten();
    written.or_else(matched).or_else(printed)
}

/// Counts lines that warn. A summary that there were none is no warning.
fn count_warnings(output: &str) -> u64 {
    let warns = |line: &str| {
        let line = line.to_lowercase();
        let none = ["0 warning", "no warning", "without warning"].iter().any(|words| line.contains(words));
        !none && (line.contains("warning:") || line.contains("[warning]") || line.contains("warn:"))
    };
    output.lines().filter(|line| warns(line)).count() as u64
}

/// Returns the last part of an output, from the beginning of a line where there is one.
pub fn tail(output: &str) -> String {
    let output = output.trim_end();
    if output.len() <= TAIL_BYTES_MAX {
        return output.trim().to_owned();
    }
    let from = output.ceil_char_boundary(output.len() - TAIL_BYTES_MAX);
    let end = output.get(from..).unwrap_or_default();
    match end.split_once('\n') {
        Some((_, whole_lines)) if !whole_lines.trim().is_empty() => whole_lines.to_owned(),
        _ => end.to_owned(),
    }
}
