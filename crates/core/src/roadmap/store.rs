//! The file that holds the state of steps, whatever generation it is of (K-12, K-103).

use std::collections::BTreeSet;

use super::document::Document;
use super::document::Record;
use super::document::Shape;
use super::log;
use super::log::Log;
use super::machine;
use super::machine::Listed;
use super::phases::Schema;
use super::result::FilesModified;
use super::source;
use super::state::StepState;
use super::state::StepStatus;
use crate::doc::edit::EditError;
use crate::finding::Finding;
use crate::time::Utc;

/// A state file that could be read.
#[derive(Clone, Debug)]
pub enum StateFile {
    Document(Document),
    Log(Log),
}

/// Why a state file cannot be changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WriteError {
    #[error("{path} cannot be changed: {error}")]
    Edit { path: String, error: EditError },
    #[error(transparent)]
    Append(#[from] log::AppendError),
}

/// The name under which the book keeps what a later run has to know about a step.
pub fn memory_key(path: &str, step: &str) -> String {
    format!("roadmap:{path}#{step}")
}

impl StateFile {
    /// Reads a state file of any generation.
    pub fn read(path: &str, text: &str, own: &[Schema]) -> Result<StateFile, Vec<Finding>> {
        let parsed = source::read(path, text)?;
        match parsed.root.get("events") {
            Some(_) => Log::read_among(path, text, own).map(StateFile::Log),
            None => Document::read_among(path, text, own).map(StateFile::Document),
        }
    }

    pub fn findings(&self) -> &[Finding] {
        match self {
            StateFile::Document(document) => document.findings(),
            StateFile::Log(log) => log.findings(),
        }
    }

    pub fn steps(&self) -> Vec<String> {
        match self {
            StateFile::Document(document) => document.steps(),
            StateFile::Log(log) => log.steps(),
        }
    }

    /// A step as it stands; one that the file does not know has not begun.
    pub fn step(&self, path: &str, project: &str, id: &str, schema: &Schema) -> StepState {
        let mut state = match self {
            StateFile::Document(document) => document.step_or_fresh(id, schema),
            StateFile::Log(log) => {
                log.step(id).unwrap_or_else(|_| StepState::fresh(path, project, id, schema))
            }
        };
        path.clone_into(&mut state.step_file);
        // Where a record stands in its file is no part of what it says.
        state.phases.iter_mut().for_each(|phase| phase.place = None);
        state
    }

    /// The phases of a step of this file (K-123).
    pub fn phases_of(&self, id: &str, own: &[Schema], planned: Option<&Schema>) -> Schema {
        let state = match self {
            StateFile::Document(document) => document.step(Some(id)).ok(),
            StateFile::Log(_) => None,
        };
        let listed = match (self, &state) {
            (StateFile::Log(log), _) => Listed::Log { log, step: id },
            (StateFile::Document(_), Some(state)) => Listed::Records(&state.phases),
            (StateFile::Document(_), None) => Listed::Nothing,
        };
        machine::phases_of(listed, own, planned).clone()
    }

    /// The steps that are done.
    pub fn done(&self) -> BTreeSet<String> {
        let states = match self {
            StateFile::Document(document) => document.states(),
            StateFile::Log(log) => log.states(),
        };
        let done = states.into_iter().filter(|state| state.status == StepStatus::Done);
        done.map(|state| state.task_id).collect()
    }

    /// The files that a step changed, where that is on record.
    pub fn files_modified(&self, id: &str) -> Option<FilesModified> {
        match self {
            StateFile::Document(document) => document.files_modified(id),
            StateFile::Log(log) => Some(log.files_modified(id)),
        }
    }

    /// The text with a step as it shall stand, and with what goes on record about it.
    pub fn write(&self, after: &StepState, record: &Record, now: Utc) -> Result<String, WriteError> {
        match self {
            StateFile::Document(document) => document
                .apply_with(after, record, now)
                .map_err(|error| WriteError::Edit { path: document.path().to_owned(), error }),
            StateFile::Log(log) => {
                let mut events = log.events_to(after, now);
                let files = record.files.clone().unwrap_or_default();
                let of =
                    |sort: &'static str, paths: Vec<String>| paths.into_iter().map(move |path| (sort, path));
                let named = of("implementation", files.implementation).chain(of("tests", files.tests));
                events
                    .extend(named.map(|(sort, path)| log::Event::of_file(&after.task_id, sort, &path, now)));
                Ok(log.append(&events)?)
            }
        }
    }

    /// Whether each step has a file of its own.
    pub fn is_step_file(&self) -> bool {
        matches!(self, StateFile::Document(document) if document.shape() == Shape::StepFile)
    }
}
