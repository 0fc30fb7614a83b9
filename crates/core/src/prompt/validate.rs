//! The validator: everything that keeps a prompt from being sent, found in one pass (DS-22).

use serde::Serialize;

use super::library::Library;
use super::origin::Head;
use super::origin::Metadata;
use super::outline::Outline;
use super::phases::PhaseList;
use super::registry::Level;
use super::rules;
use super::standing;
use super::standing::Standing;
use crate::finding::Finding;
use crate::finding::Place;
use crate::finding::Severity;

/// What is said about a prompt that claims nothing (DS-08).
pub const SKIPPED: &str = "Prompt not DES-tagged - validation skipped";

/// Who sends a prompt, and with it who says how strictly it is checked (K-32).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender<'a> {
    /// Anybody: the markers in the prompt's head block decide.
    Foreign,
    /// A known command: the registry decides, whatever the prompt says of itself.
    Command(&'a str),
}

/// What a text is held against.
#[derive(Clone, Copy, Debug)]
pub struct Standard<'a> {
    pub library: &'a Library,
    pub phases: &'a PhaseList,
}

/// One thing that is wrong, and how to mend it (DS-80).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The section, or a short word.
    pub rule: String,
    pub message: String,
    /// What to add or change.
    pub help: String,
    pub line: u32,
    #[serde(skip)]
    pub place: Place,
}

impl Problem {
    pub(super) fn new(
        rule: &str,
        place: Place,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Problem {
        Problem { rule: rule.to_owned(), message: message.into(), help: help.into(), line: place.line, place }
    }

    fn finding(&self, severity: Severity) -> Finding {
        let finding = Finding::error(&self.rule, self.place, self.message.clone()).help(self.help.clone());
        Finding { severity, ..finding }
    }
}

/// What the validator has to say (DS-17).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Validation {
    pub valid: bool,
    pub errors: Vec<Problem>,
    pub warnings: Vec<Problem>,
    pub metadata: Metadata,
}

/// Why no agent is called (DS-31): the text names every error, one on a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Cannot invoke Task - validation failed:\n{}", .errors.iter().map(|e| e.message.as_str()).collect::<Vec<_>>().join("\n"))]
pub struct PreInvocationValidationError {
    pub errors: Vec<Problem>,
}

impl PreInvocationValidationError {
    /// The same with what has to be added or changed, for an agent that is refused and should mend its prompt.
    pub fn reason(&self) -> String {
        let mut text = String::from("Cannot invoke Task - validation failed:");
        for error in &self.errors {
            text.push_str(&format!(
                "\n{}\n  To mend it: {}",
                error.message,
                error.help.replace('\n', "\n    ")
            ));
        }
        text
    }

    /// The errors as findings.
    pub fn findings(&self) -> Vec<Finding> {
        self.errors.iter().map(|problem| problem.finding(Severity::Error)).collect()
    }
}

impl Validation {
    /// The error that keeps the prompt from being sent, if there is one.
    pub fn into_result(self) -> Result<Metadata, PreInvocationValidationError> {
        if self.valid { Ok(self.metadata) } else { Err(PreInvocationValidationError { errors: self.errors }) }
    }

    /// Errors and warnings as findings.
    pub fn findings(&self) -> Vec<Finding> {
        let errors = self.errors.iter().map(|problem| problem.finding(Severity::Error));
        errors.chain(self.warnings.iter().map(|problem| problem.finding(Severity::Warning))).collect()
    }
}

/// Validates a prompt that is about to be sent.
pub fn validate(prompt: &str, sender: Sender<'_>, standard: &Standard<'_>) -> Validation {
    let head = Head::of(prompt);
    let mut report = Report::default();
    let standing = standing::of(&head, sender, &standard.library.registry, &mut report);
    match standing {
        Standing::Skipped => {}
        Standing::Held { command, level } => {
            let held = Held {
                text: prompt,
                head: &head,
                outline: Outline::read(prompt, standard.library.titles(standard.phases)),
                command,
                level,
                standard,
                form: Form::Prompt,
            };
            held.examine(&mut report);
        }
    }
    if let Some(place) = head.found_in_body {
        report.warning(
            "markers",
            place,
            "markers below the head of the prompt are taken for quotations and count for nothing",
            "if they are meant, move them to the very top, before any other text",
        );
    }
    report.into_validation(head.metadata())
}

/// The one line about a call of a step (DS-31).
pub fn description(task_id: &str) -> String {
    format!("Execute step {task_id}")
}

/// Whether a text is about to be sent, or is a template in which placeholders are at home (K-25).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Prompt,
    Template,
}

/// A text and everything it is held against.
pub(super) struct Held<'a> {
    pub(super) text: &'a str,
    pub(super) head: &'a Head,
    pub(super) outline: Outline<'a>,
    pub(super) command: Option<&'a super::registry::Command>,
    pub(super) level: Level,
    pub(super) standard: &'a Standard<'a>,
    pub(super) form: Form,
}

impl Held<'_> {
    /// Applies every rule; none keeps another from being applied.
    pub(super) fn examine(&self, report: &mut Report) {
        rules::markers(self, report);
        rules::sections(self, report);
        if self.level == Level::Full {
            rules::phases(self, report);
        }
        rules::timeout(self, report);
        rules::unfilled(self, report);
        rules::fences(self, report);
    }
}

/// Collects problems.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) errors: Vec<Problem>,
    pub(super) warnings: Vec<Problem>,
}

impl Report {
    pub(super) fn error(
        &mut self,
        rule: &str,
        place: Place,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.errors.push(Problem::new(rule, place, message, help));
    }

    pub(super) fn warning(
        &mut self,
        rule: &str,
        place: Place,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.warnings.push(Problem::new(rule, place, message, help));
    }

    pub(super) fn into_validation(self, metadata: Metadata) -> Validation {
        Validation { valid: self.errors.is_empty(), errors: self.errors, warnings: self.warnings, metadata }
    }
}
