//! What is kept about a step beside its phases: its result, its history, its cost, its files.

use serde_json::Map;
use serde_json::Value as Json;
use serde_json::json;

use super::Document;
use super::Shape;
use super::below;
use super::edit::Draft;
use super::path;
use super::set_if_new;
use super::status;
use super::step_file;
use super::tracker;
use crate::doc::Node;
use crate::doc::edit::EditError;
use crate::roadmap::result::FilesModified;
use crate::roadmap::state::StepState;
use crate::time::Utc;

/// The list to which entries are only ever added (DW-49).
const HISTORY: &str = "state_history";
/// The field that has the step's files (DW-69).
const FILES: &str = "files_modified";

/// What goes on record about a step beside its phases.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// Fields such as `execution_result`; those that are null are left alone.
    pub fields: Map<String, Json>,
    /// Entries that are added to the history of the step's states.
    pub history: Vec<Json>,
    pub files: Option<FilesModified>,
}

impl Document {
    /// The text with a step as it shall stand, and with what goes on record about it.
    pub fn apply_with(&self, after: &StepState, record: &Record, now: Utc) -> Result<String, EditError> {
        let text = self.apply(after, now)?;
        let mut draft = Draft { syntax: self.syntax, text };
        let Some(root) = draft.tree() else { return Ok(draft.text) };
        let Some(place) = place(self.shape, &root, &after.task_id) else { return Ok(draft.text) };
        for (key, value) in record.fields.iter().filter(|(_, value)| !value.is_null()) {
            set_if_new(&mut draft, &below(&place, key), value)?;
        }
        for entry in &record.history {
            draft.append(&below(&place, HISTORY), entry)?;
        }
        if let Some(files) = &record.files {
            let holder = status::completed_path(&root, &after.task_id).unwrap_or(place);
            let files = json!({"implementation": files.implementation, "tests": files.tests});
            set_if_new(&mut draft, &below(&holder, FILES), &files)?;
        }
        Ok(draft.text)
    }

    /// The files that a step changed, where the file says so.
    pub fn files_modified(&self, id: &str) -> Option<FilesModified> {
        let holder = status::completed_entry(&self.root, id)
            .or_else(|| (self.shape == Shape::StepFile).then_some(&self.root))?;
        let files = holder.get(FILES)?;
        let of = |key: &str| step_file::texts(files.get(key));
        Some(FilesModified { implementation: of("implementation"), tests: of("tests") })
    }
}

/// Where the fields of a step stand.
fn place(shape: Shape, root: &Node, id: &str) -> Option<Vec<String>> {
    match shape {
        Shape::StepFile => Some(path(&[])),
        Shape::Status => status::checkpoint_path(root, id),
        Shape::Tracker => tracker::steps(root).into_iter().find(|(known, _)| known == id).map(|(_, at)| at),
    }
}
