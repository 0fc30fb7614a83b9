//! What a role hands in, judged by rules alone (OC-35 to OC-42): completeness, format and references. What is missing
//! altogether, and what lies where it must not, are matters of [`paths`](super::paths) and
//! [`boundary`](super::boundary).

mod format;
mod references;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;

use super::markdown;
use super::paths;
use super::plan::Duty;
use super::roles;

/// A file that a role wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Artifact<'a> {
    /// From the workspace on.
    pub path: &'a str,
    /// Nothing where it is not text.
    pub text: Option<&'a str>,
}

/// One thing that is wrong with an artifact.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    pub path: String,
    /// From 1.
    pub line: Option<u64>,
    /// In the documented words.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{} ({}:{line})", self.message, self.path),
            None => write!(f, "{} ({})", self.message, self.path),
        }
    }
}

/// Everything that is wrong with what a role wrote, sorted by place; never only the first (OC-36). `existing` are all
/// files of the workspace, those of the role included.
pub fn validate(duty: &Duty, artifacts: &[Artifact<'_>], existing: &BTreeSet<String>) -> Vec<Problem> {
    let mut problems = vec![];
    for artifact in artifacts {
        let Some(text) = artifact.text else {
            if format::must_be_text(artifact.path) {
                problems.push(problem(artifact.path, None, "The file is not text in UTF-8"));
            }
            continue;
        };
        problems.extend(format::check(artifact.path, text));
        problems.extend(sections(duty, artifact.path, text));
    }
    problems.extend(references::check(artifacts, existing));
    problems.sort();
    problems.dedup();
    problems
}

fn problem(path: &str, line: Option<u64>, message: impl Into<String>) -> Problem {
    Problem { path: path.to_owned(), line, message: message.into() }
}

/// The sections that the contract of a role demands of its Markdown.
fn sections(duty: &Duty, path: &str, text: &str) -> Vec<Problem> {
    if !format::is_markdown(path) {
        return vec![];
    }
    let applies = |pattern: &str| pattern.is_empty() || paths::covered(&[pattern.to_owned()], path);
    let required = duty.sections.iter().filter(|(pattern, _)| applies(pattern)).flat_map(|(_, names)| names);
    let headings = markdown::headings(text);
    let mut problems = vec![];
    for name in required {
        let wanted = plain(name);
        let found =
            headings.iter().find(|heading| plain(heading.title) == wanted || bare(heading.title) == wanted);
        match found {
            None => problems.push(problem(path, None, format!("Missing required section: \"{name}\""))),
            Some(heading) => {
                let body =
                    markdown::section(text, heading.title).map(|section| section.body).unwrap_or_default();
                if body.trim().is_empty() {
                    let line = Some(u64::from(heading.line.number));
                    problems.push(problem(path, line, format!("Empty required section: \"{name}\"")));
                }
            }
        }
    }
    problems
}

fn plain(title: &str) -> String {
    title.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// A title without the number in front of it.
fn bare(title: &str) -> String {
    plain(title.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ' ' | ')')))
}

/// What an agent is told about invalid output, in the documented form (OC-37).
pub fn feedback(problems: &[Problem]) -> String {
    let listed: Vec<String> = problems.iter().map(|problem| format!("- {problem}")).collect();
    format!(
        "Previous output was invalid. Errors found:\n{}\n\nPlease correct these issues and regenerate output.",
        listed.join("\n")
    )
}

/// What is reported where promised files are not there, in the documented form (OC-42).
pub fn missing_text(role: &str, missing: &[String]) -> String {
    let listed: Vec<String> = missing.iter().map(|path| format!("- Expected: {path}")).collect();
    format!(
        "Agent {role} completed but required artifacts missing:\n{}\n\nThis indicates an agent execution issue.",
        listed.join("\n")
    )
}

/// How one role of a parallel stage ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    pub role: String,
    /// Why it failed; nothing where it did not.
    pub failed: Option<String>,
    /// It is tried again.
    pub retrying: bool,
}

/// The status of a parallel stage, in the documented form (OC-47).
pub fn parallel_text(ended: &[Ended]) -> String {
    let mut lines = vec!["Parallel execution results:".to_owned()];
    for one in ended {
        let role = roles::title(&one.role);
        lines.push(match &one.failed {
            None => format!("✅ {role} - Success"),
            Some(reason) => format!("❌ {role} - Failed ({reason})"),
        });
    }
    let retrying: Vec<String> = ended
        .iter()
        .filter(|one| one.retrying)
        .map(|one| format!("Retrying {}...", roles::title(&one.role)))
        .collect();
    if !retrying.is_empty() {
        lines.push(String::new());
        lines.extend(retrying);
    }
    lines.join("\n")
}

/// Where invalid output of an attempt is kept: the original and each correction have their own folder (OC-39, E-62).
pub fn failed_path(run: &str, role: &str, attempt: u32, path: &str) -> String {
    format!("{}{run}/{role}-{attempt}/{path}", paths::FAILED_ARTIFACTS)
}
