//! The state files of a roadmap: each change is one transaction of the book, whoever else writes at the same time.

use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::roadmap::document;
use seriatim_core::roadmap::document::Record;
use seriatim_core::roadmap::state::StepState;
use seriatim_core::roadmap::store::StateFile;
use seriatim_flows::request::Save;
use seriatim_flows::request::Saved;

use crate::guard::GuardError;
use crate::guard::Project;
use crate::guard::book;
use crate::guard::book::Book;
use crate::guard::rules::Rules;
use crate::job::Job;
use crate::perform::Hands;

/// What is remembered about a step beside its file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// The last call that was carried out: doing it again adds nothing.
    pub(crate) done: String,
    /// What a later run has to know.
    pub(crate) value: Value,
}

/// Where it is remembered.
pub(crate) fn key(path: &str, step: &str) -> String {
    format!("roadmap:{path}#{step}")
}

/// What an earlier run left about a step; nothing where there is none or where it cannot be read.
pub(crate) fn recall(hands: &Hands, path: &str, step: &str) -> Value {
    let found = || -> Result<Option<Memory>, GuardError> {
        Book::open(&project(hands), hands.redactor.clone())?.memo(&key(path, step))
    };
    found().ok().flatten().unwrap_or_default().value
}

/// Writes a step as it shall stand.
pub(crate) fn save(hands: &Hands, job: &Job, save: &Save) -> Result<Saved, Failure> {
    save_step(hands, job, &project(hands), save).map_err(|error| failure(&error))
}

fn project(hands: &Hands) -> Project {
    Project { root: hands.workspace.root().to_owned() }
}

fn failure(error: &GuardError) -> Failure {
    let class = match error {
        GuardError::File { .. } | GuardError::Journal(_) => Class::Storage,
        GuardError::Git(_) | GuardError::Refused(_) => Class::Contract,
    };
    Failure::new(class, error.to_string())
}

fn save_step(hands: &Hands, job: &Job, project: &Project, save: &Save) -> Result<Saved, GuardError> {
    let rules = Rules::read(project)?;
    let place = key(&save.path, &save.after.task_id);
    let marker = job.marker();
    let mut book = Book::open(project, hands.redactor.clone())?;
    book.write(project, save.at, |desk| {
        let memory: Memory = desk.memo(&place)?.unwrap_or_default();
        let trail = book::trail_of(&save.path, save.at);
        if memory.done == marker {
            return Ok(Saved { foreign: false, trail });
        }
        let text = match project.read(&save.path)? {
            Some(text) => text,
            // Whoever removed it did not remove what it said.
            None => desk.last_state(&save.path)?.unwrap_or_else(|| new_file(save)),
        };
        let file = StateFile::read(&save.path, &text, rules.own()).map_err(|findings| {
            let first = findings.first().map(|f| f.message.clone()).unwrap_or_default();
            GuardError::Refused(format!("{} cannot be read any more: {first}", save.path))
        })?;
        let found = stands(&file, save);
        let record =
            Record { fields: save.record.clone(), history: save.history.clone(), files: save.files.clone() };
        let new = file
            .write(&save.after, &record, save.at)
            .map_err(|error| GuardError::Refused(error.to_string()))?;
        for event in &save.events {
            desk.happened(event)?;
        }
        if new != text {
            desk.write_state(&save.path, new)?;
        }
        let value = if save.memory.is_null() { memory.value } else { save.memory.clone() };
        desk.remember(&place, &Memory { done: marker, value })?;
        Ok(Saved { foreign: found.is_some_and(|found| differs(&found, &save.before)), trail })
    })
}

fn new_file(save: &Save) -> String {
    document::new_for(&save.path, &save.after.project_id, &save.after.task_id, save.at)
}

/// The step as the file has it, if it has it.
fn stands(file: &StateFile, save: &Save) -> Option<StepState> {
    let id = &save.after.task_id;
    let known = file.steps().iter().any(|known| known == id);
    known.then(|| {
        let schema = save.before.schema();
        file.step(&save.path, &save.before.project_id, id, schema)
    })
}

/// Whether somebody else changed what phases a step has been through, or where it stands.
fn differs(found: &StepState, believed: &StepState) -> bool {
    let phases = |state: &StepState| {
        let of = state
            .phases
            .iter()
            .map(|phase| (phase.name.clone(), phase.status.clone(), phase.outcome.clone()));
        of.collect::<Vec<_>>()
    };
    found.status != believed.status || phases(found) != phases(believed)
}
