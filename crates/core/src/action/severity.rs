//! What reviewers found, by severity (OC-58 to OC-60, K-50): critical never passes, high passes with a justification, and
//! the rest is kept in mind.

mod plain;
#[cfg(test)]
mod tests;

pub use plain::PlainReview;
pub use plain::read_plain;

use std::fmt;

use serde::Deserialize;
use serde::Serialize;
use serde_json::Map;
use serde_json::Value;

/// How bad a finding of a reviewer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Low,
    Medium,
    High,
    Critical,
}

impl Severity {
    pub const ALL: [Severity; 4] = [Severity::Critical, Severity::High, Severity::Medium, Severity::Low];

    pub fn word(self) -> &'static str {
        match self {
            Severity::Critical => "critical",
            Severity::High => "high",
            Severity::Medium => "medium",
            Severity::Low => "low",
        }
    }

    /// Returns what one of the many words of reviewers means; nothing for one that nobody knows.
    pub fn of_word(word: &str) -> Option<Severity> {
        match word.trim().to_ascii_lowercase().as_str() {
            "critical" | "blocker" | "blocking" | "fatal" => Some(Severity::Critical),
            "high" | "major" | "error" | "severe" => Some(Severity::High),
            "medium" | "moderate" | "warning" => Some(Severity::Medium),
            "low" | "minor" | "info" | "note" | "nit" | "trivial" => Some(Severity::Low),
            _ => None,
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.word().to_uppercase())
    }
}

/// One finding of a reviewer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Concern {
    pub severity: Severity,
    pub title: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// From 1; absent where there is no line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remedy: String,
    /// The role that found it.
    pub by: String,
}

impl fmt::Display for Concern {
    /// `SQL injection in src/Customer.cs:45`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.title)?;
        match (self.file.is_empty(), self.line) {
            (true, _) => Ok(()),
            (false, Some(line)) => write!(f, " in {}:{line}", self.file),
            (false, None) => write!(f, " in {}", self.file),
        }
    }
}

/// The output that every reviewer owes.
pub const FINDINGS: &str = "findings";

/// Reads the findings in the outputs of a report, or says what the reviewer has to correct. An unknown severity is never
/// taken for a mild one.
pub fn read(by: &str, outputs: &Map<String, Value>) -> Result<Vec<Concern>, Vec<String>> {
    let Some(found) = outputs.get(FINDINGS).filter(|value| !value.is_null()) else {
        return Err(vec![format!(
            "`outputs.{FINDINGS}` is missing: list your findings, or give an empty list"
        )]);
    };
    let Some(found) = found.as_array() else {
        return Err(vec![format!("`outputs.{FINDINGS}` must be a list")]);
    };
    let mut problems = vec![];
    let mut concerns = vec![];
    for (index, entry) in found.iter().enumerate() {
        match concern(by, entry) {
            Ok(concern) => concerns.push(concern),
            Err(problem) => problems.push(format!("`outputs.{FINDINGS}[{index}]` {problem}")),
        }
    }
    if problems.is_empty() { Ok(concerns) } else { Err(problems) }
}

fn concern(by: &str, entry: &Value) -> Result<Concern, String> {
    let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default().trim().to_owned();
    if !entry.is_object() {
        return Err("must be an object with `severity` and `title`".to_owned());
    }
    let word = text("severity").to_lowercase();
    let Some(severity) = Severity::ALL.into_iter().find(|severity| severity.word() == word) else {
        return Err("needs a `severity`: one of critical, high, medium, low".to_owned());
    };
    let title = text("title");
    if title.is_empty() {
        return Err("needs a `title` that says what is wrong".to_owned());
    }
    let line = entry.get("line").and_then(Value::as_u64).filter(|line| *line > 0);
    Ok(Concern { severity, title, file: text("file"), line, remedy: text("remedy"), by: by.to_owned() })
}

/// How often critical findings go back by themselves before a person is asked.
pub const MENDS_MAX: u32 = 2;

/// What the findings lead to at the next gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// At least one is critical: the work goes back, and nobody can let it pass.
    Blocked { critical: Vec<Concern> },
    /// At least one is high: whoever approves must say why.
    NeedsJustification { high: Vec<Concern> },
    /// What there is does not stop anything.
    Clear,
}

/// Judges findings. Nothing but their severity counts.
pub fn judge(concerns: &[Concern]) -> Verdict {
    let of = |severity| concerns.iter().filter(|c| c.severity == severity).cloned().collect::<Vec<_>>();
    let critical = of(Severity::Critical);
    if !critical.is_empty() {
        return Verdict::Blocked { critical };
    }
    match of(Severity::High) {
        high if high.is_empty() => Verdict::Clear,
        high => Verdict::NeedsJustification { high },
    }
}

/// The findings that stop nothing and are tracked (OC-60).
pub fn tracked(concerns: &[Concern]) -> Vec<&Concern> {
    concerns.iter().filter(|concern| concern.severity <= Severity::Medium).collect()
}

/// How many there are of each severity: `1 critical, 2 low`.
pub fn counted(concerns: &[Concern]) -> String {
    let count = |severity: Severity| concerns.iter().filter(|c| c.severity == severity).count();
    let parts: Vec<String> = Severity::ALL
        .into_iter()
        .filter(|severity| count(*severity) > 0)
        .map(|severity| format!("{} {}", count(severity), severity.word()))
        .collect();
    if parts.is_empty() { "no findings".to_owned() } else { parts.join(", ") }
}

/// What is shown when critical findings block (OC-58).
pub fn block_text(critical: &[Concern], going_to: &[String]) -> String {
    let issues = if critical.len() == 1 { "issue" } else { "issues" };
    let mut lines = vec![format!("Security scan found {} CRITICAL {issues}:", critical.len())];
    lines.extend(critical.iter().map(|concern| format!("- {concern}")));
    lines.extend([String::new(), "❌ BLOCK - Cannot proceed until resolved".to_owned()]);
    if !going_to.is_empty() {
        lines.extend([String::new(), format!("Action: Returning to {} to fix issues.", going_to.join(", "))]);
    }
    lines.join("\n")
}

/// What the one who mends is told of each finding.
pub fn feedback(concerns: &[Concern]) -> Vec<String> {
    let with_remedy = |concern: &Concern| match concern.remedy.as_str() {
        "" => format!("{}: {concern}", concern.severity),
        remedy => format!("{}: {concern}. Remedy: {remedy}", concern.severity),
    };
    concerns.iter().map(with_remedy).collect()
}
