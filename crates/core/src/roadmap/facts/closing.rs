//! What the closing pass after the last step came to (DW-67, DW-71, DW-91).

use serde::Deserialize;
use serde::Serialize;

use crate::hash::Hash;

/// The closing pass: refactoring of the whole, a check of the tests themselves, a review of the record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Closing {
    pub refactoring: ClosingRefactoring,
    pub mutation: ClosingMutation,
    pub review: ClosingReview,
    /// The implementation files of all steps.
    pub mutation_scope: Vec<String>,
    /// All of it in a few sentences; empty where there is nothing to say.
    pub words: String,
}

/// What became of the refactoring of the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RefactoringStatus {
    #[serde(rename = "left out")]
    Omitted,
    #[serde(rename = "not done")]
    NotDone,
    #[serde(rename = "refused")]
    Refused,
    #[serde(rename = "nothing to change")]
    NothingToChange,
    #[serde(rename = "not committed")]
    NotCommitted,
    #[serde(rename = "done")]
    Done,
}

/// The refactoring of the whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClosingRefactoring {
    pub status: RefactoringStatus,
    /// Whether the files are as they were before, where it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restored: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
    pub words: String,
    /// What the agent said about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
}

impl ClosingRefactoring {
    /// Returns a result that has only words.
    pub fn new(status: RefactoringStatus, words: impl Into<String>) -> ClosingRefactoring {
        ClosingRefactoring {
            status,
            restored: None,
            commit: None,
            files: None,
            words: words.into(),
            claim: None,
        }
    }
}

/// What became of the check of the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MutationStatus {
    #[serde(rename = "no tool is configured")]
    NoTool,
    #[serde(rename = "no files")]
    NoFiles,
    #[serde(rename = "passed")]
    Passed,
    #[serde(rename = "failed")]
    Failed,
    #[serde(rename = "not run")]
    NotRun,
}

/// The check of the tests by changing the code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClosingMutation {
    pub status: MutationStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Hash>,
    pub words: String,
}

impl ClosingMutation {
    /// Returns a result that has only words.
    pub fn new(status: MutationStatus, words: impl Into<String>) -> ClosingMutation {
        ClosingMutation { status, command: None, exit: None, output: None, words: words.into() }
    }
}

/// Whether the record of every step is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewStatus {
    Passed,
    Findings,
}

/// The review of the record of every step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClosingReview {
    pub status: ReviewStatus,
    pub findings: Vec<String>,
    pub words: String,
}
