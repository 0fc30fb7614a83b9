//! Whether a file is what its name says: Markdown, JSON, YAML or TOML. Code is for the checkers that are configured.

use super::Problem;
use super::problem;
use crate::action::markdown;
use crate::doc;
use crate::doc::Limits;
use crate::finding::Severity;

pub(super) fn is_markdown(path: &str) -> bool {
    matches!(extension(path).as_str(), "md" | "markdown")
}

/// Whether a file of this name cannot be anything but text.
pub(super) fn must_be_text(path: &str) -> bool {
    matches!(extension(path).as_str(), "md" | "markdown" | "json" | "yaml" | "yml" | "toml")
}

pub(super) fn check(path: &str, text: &str) -> Vec<Problem> {
    let text = text.trim_start_matches('\u{FEFF}');
    if must_be_text(path) && text.trim().is_empty() {
        return vec![problem(path, None, "The file is empty")];
    }
    match extension(path).as_str() {
        "md" | "markdown" => markdown_problems(path, text),
        "json" => json_problem(path, text).into_iter().collect(),
        "yaml" | "yml" => yaml_problems(path, text),
        "toml" => toml_problem(path, text).into_iter().collect(),
        _ => vec![],
    }
}

fn extension(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).unwrap_or_default()
}

fn invalid(path: &str, what: &str, line: u64, why: &str) -> Problem {
    problem(path, Some(line), format!("Invalid {what} in line {line}: {why}"))
}

fn markdown_problems(path: &str, text: &str) -> Vec<Problem> {
    let mut problems = vec![];
    if let Some((yaml, _)) = doc::front_matter(text) {
        let (_, findings) = crate::action::placeholders::parse(text.get(..yaml.end).unwrap_or_default());
        let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
        problems.extend(errors.map(|f| invalid(path, "front matter", u64::from(f.place.line), &f.message)));
    }
    if let Some(line) = markdown::open_fence(text) {
        problems.push(invalid(path, "Markdown", u64::from(line), "a code block is never closed"));
    }
    problems
}

fn json_problem(path: &str, text: &str) -> Option<Problem> {
    let error = serde_json::from_str::<serde::de::IgnoredAny>(text).err()?;
    let said = error.to_string();
    let why = said.split(" at line ").next().unwrap_or(&said);
    let line = u64::try_from(error.line()).unwrap_or(1).max(1);
    Some(invalid(path, "JSON", line, why))
}

/// A file may hold several documents; each is read by itself, on its own lines. Templates with double braces are left
/// to the tool that fills them.
fn yaml_problems(path: &str, text: &str) -> Vec<Problem> {
    if text.contains("{{") {
        return vec![];
    }
    let mut problems = vec![];
    let mut before = String::new();
    let mut document = String::new();
    let mut read = |before: &str, document: &str| {
        if document.trim().is_empty() {
            return;
        }
        let (_, findings) = doc::parse(format!("{before}{document}").as_bytes(), &Limits::default());
        let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
        problems.extend(errors.map(|f| invalid(path, "YAML", u64::from(f.place.line), &f.message)));
    };
    for line in text.split_inclusive('\n') {
        if line.trim_end() == "---" {
            read(&before, &document);
            before.extend(document.matches('\n'));
            before.push('\n');
            document.clear();
        } else {
            document.push_str(line);
        }
    }
    read(&before, &document);
    problems
}

fn toml_problem(path: &str, text: &str) -> Option<Problem> {
    let error = text.parse::<toml::Table>().err()?;
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = u64::try_from(before.matches('\n').count() + 1).unwrap_or(1);
    Some(invalid(path, "TOML", line, error.message()))
}
