//! State files: read with all their drift, checked, and changed without losing what others wrote (K-12).
//!
//! A step file (JSON) holds one step; an `execution-status.yaml` holds many. Both read into [`StepState`], and a
//! changed state is written back as edits of the text: comments, unknown fields, order and indentation stay.

mod amend;
mod edit;
mod json;
mod record;
mod status;
mod step_file;
#[cfg(test)]
mod tests;
mod tracker;

use serde_json::Value as Json;

pub use self::amend::Record;
use self::edit::AtPath;
use self::edit::Draft;
use super::phases::Schema;
use super::state::StepState;
use super::state::StepStatus;
use crate::closest::closest;
use crate::doc;
use crate::doc::Limits;
use crate::doc::Node;
use crate::doc::Value;
use crate::doc::edit::EditError;
use crate::finding::Finding;
use crate::finding::Place;
use crate::finding::has_errors;
use crate::time::Utc;

/// How a state file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Syntax {
    Json,
    Yaml,
}

/// Which of the known kinds of state files it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One step in a file of its own.
    StepFile,
    /// The checkpoints of a project.
    Status,
    /// A list of steps, each with its phases; an odd form of the same.
    Tracker,
}

/// A state file that could be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    path: String,
    text: String,
    syntax: Syntax,
    shape: Shape,
    root: Node,
    /// Lists of phases that the project brings itself.
    own: Vec<Schema>,
    findings: Vec<Finding>,
}

/// Why a step cannot be had from a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StepError {
    #[error("{path} has no step `{step}`{}", or_known(.known, .meant.as_deref()))]
    NotThere { path: String, step: String, meant: Option<String>, known: Vec<String> },
    #[error("{path} holds several steps ({}); say which one is meant", .known.join(", "))]
    Ambiguous { path: String, known: Vec<String> },
    #[error("{path} holds no step yet; name the one that is meant")]
    Empty { path: String },
}

fn or_known(known: &[String], meant: Option<&str>) -> String {
    match (meant, known.is_empty()) {
        (Some(meant), _) => format!("; did you mean `{meant}`?"),
        (None, false) => format!("; it has {}", known.join(", ")),
        (None, true) => String::new(),
    }
}

/// A state file that is not there (DS-18, DS-38).
pub fn not_found(path: &str) -> Finding {
    Finding::error("step-file", Place::TOP, format!("Step file not found: {path}"))
        .help("create it, or correct the path in the prompt")
}

impl Document {
    /// Reads a state file. Only what cannot be read at all is refused; everything else that is wrong with it is in
    /// [`Document::findings`].
    pub fn read(path: &str, text: &str) -> Result<Document, Vec<Finding>> {
        Document::read_among(path, text, &[])
    }

    /// Reads a state file whose phases may be those of a list that the project brings itself.
    pub fn read_among(path: &str, text: &str, own: &[Schema]) -> Result<Document, Vec<Finding>> {
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        let is_json = path.to_ascii_lowercase().ends_with(".json") || text.trim_start().starts_with('{');
        let syntax = if is_json { Syntax::Json } else { Syntax::Yaml };
        let (root, mut findings) = match syntax {
            Syntax::Json => json::tree(text).map_err(|error| vec![invalid_json(text, &error)])?,
            Syntax::Yaml => match doc::parse(text.as_bytes(), &Limits::default()) {
                (Some(root), findings) if !has_errors(&findings) => (root, findings),
                (_, findings) => return Err(findings),
            },
        };
        if !matches!(root.value, Value::Map(_)) {
            let message = format!("a state file must be a mapping, but this is {}", root.in_words());
            return Err(vec![Finding::error("type", root.place, message)]);
        }
        let shape = shape(&root);
        findings.extend(match shape {
            Shape::StepFile => step_file::findings(&root, own),
            Shape::Status => status::findings(&root, own),
            Shape::Tracker => tracker::findings(&root, own),
        });
        doc::sort(&mut findings);
        let own = own.to_vec();
        Ok(Document { path: path.to_owned(), text: text.to_owned(), syntax, shape, root, own, findings })
    }

    /// Everything that is wrong or odd with the file, in one pass (DS-22).
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    pub fn shape(&self) -> Shape {
        self.shape
    }

    pub fn path(&self) -> &str {
        &self.path
    }

    /// The ids of the steps that the file knows, in its order.
    pub fn steps(&self) -> Vec<String> {
        match self.shape {
            Shape::StepFile => vec![step_file::task_id(&self.root)],
            Shape::Status => status::steps(&self.root),
            Shape::Tracker => tracker::steps(&self.root).into_iter().map(|(id, _)| id).collect(),
        }
    }

    /// The project that the file belongs to.
    pub fn project_id(&self) -> String {
        match self.shape {
            Shape::StepFile => step_file::project_id(&self.root),
            Shape::Status | Shape::Tracker => status::project_id(&self.root),
        }
    }

    /// A step as it stands: the named one, else the one that the file is about at the moment.
    pub fn step(&self, id: Option<&str>) -> Result<StepState, StepError> {
        let known = self.steps();
        let wanted = match id.map(str::to_owned).or_else(|| self.current(&known)) {
            Some(wanted) => wanted,
            None if known.is_empty() => return Err(StepError::Empty { path: self.path.clone() }),
            None => return Err(StepError::Ambiguous { path: self.path.clone(), known }),
        };
        if !known.contains(&wanted) {
            let meant = closest(&wanted, known.iter().map(String::as_str)).map(str::to_owned);
            return Err(StepError::NotThere { path: self.path.clone(), step: wanted, meant, known });
        }
        let mut state = match self.shape {
            Shape::StepFile => step_file::state(&self.root, &self.own),
            Shape::Status => status::state(&self.root, &wanted),
            Shape::Tracker => tracker::state(&self.root, &wanted),
        };
        state.step_file.clone_from(&self.path);
        Ok(state)
    }

    /// A step as it stands, or a new one that nobody has begun where the file does not know it yet.
    pub fn step_or_fresh(&self, id: &str, schema: &Schema) -> StepState {
        let fresh = StepState::fresh(&self.path, &self.project_id(), id, schema);
        match self.step(Some(id)) {
            Ok(state) if state.phases.is_empty() && state.status != StepStatus::Done => {
                StepState { phases: fresh.phases, ..state }
            }
            Ok(state) => state,
            Err(_) => fresh,
        }
    }

    /// All steps as they stand.
    pub fn states(&self) -> Vec<StepState> {
        self.steps().iter().filter_map(|id| self.step(Some(id)).ok()).collect()
    }

    /// The text with a step as it shall stand. Only what differs is touched, and each edit is proved.
    pub fn apply(&self, after: &StepState, now: Utc) -> Result<String, EditError> {
        let mut draft = Draft { syntax: self.syntax, text: self.text.clone() };
        let before = self.step(Some(&after.task_id)).ok();
        match self.shape {
            Shape::StepFile => step_file::write(&mut draft, before.as_ref(), after, &self.own, now)?,
            Shape::Status => status::write(&mut draft, before.as_ref(), after, &self.own, now)?,
            Shape::Tracker => tracker::write(&mut draft, before.as_ref(), after, &self.own)?,
        }
        Ok(draft.text)
    }

    fn current(&self, known: &[String]) -> Option<String> {
        match (self.shape, known) {
            (_, [only]) => Some(only.clone()),
            (Shape::Status, _) => status::current(&self.root),
            _ => None,
        }
    }
}

/// What a check has to say about a state file.
pub fn check(path: &str, text: &str) -> Vec<Finding> {
    match Document::read(path, text) {
        Ok(document) => document.findings,
        Err(findings) => findings,
    }
}

/// Whether a document is a list of steps with phases of their own: the odd form of a status file.
pub fn is_tracker(root: &Node) -> bool {
    !tracker::steps(root).is_empty()
}

/// A new `execution-status.yaml` in which no step has begun.
pub fn new_status(project_id: &str, now: Utc) -> String {
    let stamp = now.seconds();
    doc::write(&serde_json::json!({"execution_status": {
        "schema_version": "1.0",
        "created_at": stamp,
        "updated_at": stamp,
        "project_id": project_id,
        "current": {
            "step_id": null, "phase_index": null, "phase_name": null, "started_at": null, "turn_count": 0,
            "last_checkpoint": null,
        },
        "completed_steps": [],
        "step_checkpoint": null,
    }}))
}

/// A new state file for a step, in the form that its name asks for: one of its own, or one for all steps.
pub fn new_for(path: &str, project_id: &str, step: &str, now: Utc) -> String {
    if !path.to_ascii_lowercase().ends_with(".json") {
        return new_status(project_id, now);
    }
    let file = serde_json::json!({
        "task_id": step,
        "project_id": project_id,
        "state": {"status": "TODO", "assigned_to": null, "started_at": null, "completed_at": null},
        "tdd_cycle": {"phase_execution_log": []},
    });
    format!("{file:#}\n")
}

/// Tells the kinds apart by their keys.
fn shape(root: &Node) -> Shape {
    let has = |key: &str| root.get(key).is_some();
    if has("tdd_cycle") || has("task_specification") || (has("task_id") && !has("execution_status")) {
        return Shape::StepFile;
    }
    if !tracker::steps(root).is_empty() && status::checkpoints(root).is_empty() {
        return Shape::Tracker;
    }
    let status =
        has("execution_status") || has("step_checkpoint") || has("completed_steps") || has("current_step");
    if status || !has("step_id") { Shape::Status } else { Shape::StepFile }
}

fn invalid_json(text: &str, error: &serde_json::Error) -> Finding {
    let line = error.line().max(1);
    let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let byte = u32::try_from(start + error.column().saturating_sub(1)).unwrap_or(u32::MAX);
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let place = Place { line: number(line), column: number(error.column().max(1)), start: byte, end: byte };
    Finding::error("step-file", place, format!("Step file invalid JSON: {error}"))
}

/// A path from parts.
fn path(parts: &[&str]) -> Vec<String> {
    parts.iter().map(|part| (*part).to_owned()).collect()
}

/// A path and one part more.
fn below(parent: &[String], key: &str) -> Vec<String> {
    let mut path = parent.to_vec();
    path.push(key.to_owned());
    path
}

/// The first of several paths at which a text stands.
fn first_text(root: &Node, paths: &[&[&str]]) -> Option<String> {
    paths.iter().find_map(|path| root.at(path)).and_then(Node::scalar_text)
}

/// Sets one value where it differs from what is there; a key that is not there is not made for nothing.
fn set_if_new(draft: &mut Draft, path: &[String], value: &Json) -> Result<(), EditError> {
    let root = draft.tree();
    let keys: Vec<&str> = path.iter().map(String::as_str).collect();
    let old = root.as_ref().and_then(|root| root.at_path(&keys)).map(Node::to_json);
    let nothing = |value: &Json| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
    match old {
        Some(old) if old == *value => Ok(()),
        None if nothing(value) => Ok(()),
        _ => draft.set(path, value),
    }
}

fn text_or_null(text: Option<&String>) -> Json {
    text.map_or(Json::Null, |text| Json::from(text.as_str()))
}
