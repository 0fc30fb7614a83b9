//! Older state files are brought forward into an `execution-status.yaml` of schema 1.0.
//!
//! Nothing is lost: a value either moves to its place in the new file or stays under `migrated_from`, beside the thing
//! it belonged to. A word that had to be changed is kept there as it was. A file that has the form already is left
//! alone to the byte, so that migrating twice is the same as migrating once.

mod comments;
mod old;
mod records;
mod status;
mod steps;
#[cfg(test)]
mod tests;

use serde_json::Map;
use serde_json::Value as Json;
use serde_json::json;

use self::steps::Part;
use super::document::Document;
use super::document::Shape;
use super::log::Log;
use super::source;
use super::state::PhaseStatus;
use super::state::StepStatus;
use crate::doc;
use crate::finding::Finding;
use crate::finding::has_errors;
use crate::time::Utc;

/// Where values stay that have no place of their own.
const KEPT: &str = "migrated_from";
/// The version of the new file.
const VERSION: &str = "1.0";

/// A file that is brought forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source<'t> {
    pub path: &'t str,
    pub text: &'t str,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migration {
    /// The new `execution-status.yaml`.
    pub text: String,
    /// False where the file had the form already.
    pub changed: bool,
    /// The steps whose state was carried over, in order.
    pub steps: Vec<String>,
    /// Where things went.
    pub carried: Vec<Carried>,
}

/// One thing that was carried over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    pub file: String,
    pub from: String,
    pub to: String,
}

/// Why nothing was brought forward.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MigrateError {
    #[error("there is no state file to bring forward")]
    Nothing,
    #[error("{path} cannot be read: {}", .findings.iter().map(|f| f.message.as_str()).collect::<Vec<_>>().join("; "))]
    Unreadable { path: String, findings: Vec<Finding> },
    #[error("{path} belongs to project `{found}`, but the others belong to `{expected}`")]
    OtherProject { path: String, expected: String, found: String },
    #[error("step {step} is both in {first} and in {second}; say which of them counts")]
    StepTwice { step: String, first: String, second: String },
}

/// The new file while it is put together.
#[derive(Debug, Default)]
struct Target {
    project_id: String,
    created_at: Option<Json>,
    updated_at: Option<Json>,
    current: Map<String, Json>,
    completed: Vec<Json>,
    /// Under their keys; a null stands for the free place.
    checkpoints: Vec<(String, Json)>,
    parts: Vec<Part>,
    kept: Vec<Json>,
    comments: Vec<String>,
    carried: Vec<Carried>,
    /// The steps that are known so far, and their files.
    steps: Vec<(String, String)>,
}

/// Brings state files forward: one that holds everything, or the step files of a project together.
pub fn migrate(sources: &[Source<'_>], now: Utc) -> Result<Migration, MigrateError> {
    let mut target = Target::default();
    let mut alone = None;
    for source in sources {
        let read = read(source)?;
        let is_status = matches!(&read.state, State::Document(document) if document.shape() == Shape::Status);
        alone = Some((source, read.root.clone())).filter(|_| is_status && sources.len() == 1);
        target.add(source, read)?;
    }
    if sources.is_empty() {
        return Err(MigrateError::Nothing);
    }
    let (new, content) = target.finish(now);
    Ok(match alone {
        // The order of keys and fields that say nothing are no reason to touch a file.
        Some((source, old)) if status::has_the_form(&old) || old == content => {
            Migration { text: source.text.to_owned(), changed: false, steps: new.steps, carried: vec![] }
        }
        _ => new,
    })
}

/// A file, as its state and as plain data.
struct Read {
    root: Json,
    state: State,
}

enum State {
    Document(Document),
    Log(Log),
}

fn read(file: &Source<'_>) -> Result<Read, MigrateError> {
    let unreadable =
        |findings: Vec<Finding>| MigrateError::Unreadable { path: file.path.to_owned(), findings };
    let parsed = source::read(file.path, file.text).map_err(unreadable)?;
    // A key that is there twice would lose one of its values.
    if has_errors(&parsed.findings) {
        return Err(unreadable(parsed.findings));
    }
    let state = match parsed.root.get("events") {
        Some(_) => State::Log(Log::read(file.path, file.text).map_err(unreadable)?),
        None => State::Document(Document::read(file.path, file.text).map_err(unreadable)?),
    };
    Ok(Read { root: parsed.root.to_json(), state })
}

impl Target {
    fn add(&mut self, source: &Source<'_>, read: Read) -> Result<(), MigrateError> {
        let (project, steps) = match &read.state {
            State::Document(document) => (document.project_id(), document.steps()),
            State::Log(log) => (log.project_id(), log.steps()),
        };
        self.of_project(source.path, project)?;
        for step in steps {
            if let Some((_, first)) = self.steps.iter().find(|(known, _)| *known == step) {
                let (first, second) = (first.clone(), source.path.to_owned());
                return Err(MigrateError::StepTwice { step, first, second });
            }
            self.steps.push((step, source.path.to_owned()));
        }
        self.comments.extend(comments::of(source));
        match read.state {
            State::Log(log) => steps::of_log(self, &log, read.root),
            State::Document(document) => match document.shape() {
                Shape::StepFile => steps::of_step_file(self, &document, read.root),
                Shape::Tracker => steps::of_tracker(self, &document, read.root),
                Shape::Status => status::of_status(self, &document, read.root),
            },
        }
        Ok(())
    }

    fn of_project(&mut self, path: &str, found: String) -> Result<(), MigrateError> {
        match (self.project_id.is_empty(), found.is_empty()) {
            (_, true) => Ok(()),
            (true, _) => {
                self.project_id = found;
                Ok(())
            }
            _ if self.project_id == found => Ok(()),
            _ => {
                let expected = self.project_id.clone();
                Err(MigrateError::OtherProject { path: path.to_owned(), expected, found })
            }
        }
    }

    fn carry(&mut self, file: &str, from: &str, to: &str) {
        self.carried.push(Carried { file: file.to_owned(), from: from.to_owned(), to: to.to_owned() });
    }

    /// Keeps what is left of a file.
    fn keep(&mut self, file: &str, left: Json) {
        if let Some(fields) = old::pruned(left) {
            self.carry(file, &old::keys(&fields), &format!("execution_status.{KEPT}"));
            self.kept.push(json!({"file": file, "fields": fields}));
        }
    }

    /// A key for the checkpoint of a step that no other one has.
    fn free_key(&self, id: &str) -> String {
        let plain: String = id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let wanted = format!("{}_{plain}", status::CHECKPOINT);
        let taken = |key: &String| self.checkpoints.iter().any(|(known, _)| known == key);
        let numbered = (2_u32..).map(|number| format!("{wanted}_{number}"));
        std::iter::once(wanted.clone()).chain(numbered).find(|key| !taken(key)).unwrap_or(wanted)
    }

    /// Gives the steps their checkpoints: the one at work has the usual place, the others stand beside it.
    fn place_parts(&mut self) {
        let parts = std::mem::take(&mut self.parts);
        let rank = |part: &Part| match part.state.status {
            StepStatus::InProgress => 2,
            StepStatus::Done | StepStatus::Todo => 0,
            _ => 1,
        };
        let free = self.checkpoints.iter().all(|(key, node)| key != status::CHECKPOINT || node.is_null());
        let first_of = |best: Option<usize>, at: usize| match best.and_then(|best| parts.get(best)) {
            Some(known) if parts.get(at).is_some_and(|part| rank(part) > rank(known)) => Some(at),
            Some(_) => best,
            None => Some(at),
        };
        let main = (0..parts.len()).fold(None, first_of).filter(|_| free);
        if main.is_some() {
            self.checkpoints.retain(|(key, _)| key != status::CHECKPOINT);
        }
        for (at, part) in parts.into_iter().enumerate() {
            let is_main = main == Some(at);
            let key =
                if is_main { status::CHECKPOINT.to_owned() } else { self.free_key(&part.state.task_id) };
            if part.state.status == StepStatus::InProgress && !self.current.contains_key("step_id") {
                self.current = current_of(&part);
            }
            self.carry(&part.state.step_file, &part.from, &format!("execution_status.{key}.phases"));
            self.completed.extend(part.completed);
            self.checkpoints.push((key, Json::Object(part.checkpoint)));
        }
    }

    /// The new file, as text and as plain data.
    fn finish(mut self, now: Utc) -> (Migration, Json) {
        self.place_parts();
        let stamp = Json::from(now.seconds());
        let mut current: Map<String, Json> = Map::new();
        for key in ["step_id", "phase_index", "phase_name", "started_at", "turn_count", "last_checkpoint"] {
            let nothing = if key == "turn_count" { Json::from(0) } else { Json::Null };
            current.insert(key.to_owned(), self.current.shift_remove(key).unwrap_or(nothing));
        }
        current.extend(self.current);
        let mut status: Map<String, Json> = Map::new();
        let head = [
            ("schema_version", Json::from(VERSION)),
            ("created_at", self.created_at.unwrap_or_else(|| stamp.clone())),
            ("updated_at", self.updated_at.unwrap_or(stamp)),
            ("project_id", Json::from(self.project_id)),
            ("current", Json::Object(current)),
            ("completed_steps", Json::from(self.completed)),
        ];
        status.extend(head.map(|(key, value)| (key.to_owned(), value)));
        if !self.checkpoints.iter().any(|(key, _)| key == status::CHECKPOINT) {
            status.insert(status::CHECKPOINT.to_owned(), Json::Null);
        }
        self.checkpoints.sort_by_key(|(key, _)| key != status::CHECKPOINT);
        status.extend(self.checkpoints);
        if !self.kept.is_empty() {
            status.insert(KEPT.to_owned(), Json::from(self.kept));
        }
        let content = json!({"execution_status": status});
        let text = comments::head(&self.comments) + &doc::write(&content);
        let steps = self.steps.into_iter().map(|(step, _)| step).collect();
        (Migration { text, changed: true, steps, carried: self.carried }, content)
    }
}

/// What is current, from the step that is at work.
fn current_of(part: &Part) -> Map<String, Json> {
    let mut current = Map::new();
    current.insert("step_id".to_owned(), Json::from(part.state.task_id.as_str()));
    if let Some(phase) = part.state.phases.iter().find(|phase| phase.status == PhaseStatus::InProgress) {
        current.insert("phase_index".to_owned(), Json::from(phase.index));
        current.insert("phase_name".to_owned(), Json::from(phase.name.as_str()));
        current.insert("started_at".to_owned(), phase.started_at.clone().map_or(Json::Null, Json::from));
    }
    current
}
