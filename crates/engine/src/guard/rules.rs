//! What a project says about its phases, its prompts and its patience.

use std::cell::RefCell;
use std::rc::Rc;

use seriatim_core::config::Config;
use seriatim_core::config::Guard;
use seriatim_core::finding::Finding;
use seriatim_core::prompt::Library;
use seriatim_core::prompt::library::FOLDER;
use seriatim_core::reading::BrokenFile;
use seriatim_core::roadmap::document::Document;
use seriatim_core::roadmap::machine::Listed;
use seriatim_core::roadmap::machine::phases_of;
use seriatim_core::roadmap::phases::Schema;
use seriatim_core::roadmap::state::StepState;
use seriatim_core::roadmap::verdict::AT_STOP;

use super::GuardError;
use super::project::Project;
use super::templates;
use super::templates::OwnTemplates;
use crate::hands::files::FileError;

/// The project's own word where it has one, and the usual where not.
pub struct Rules {
    pub config: Config,
    own: Vec<Schema>,
    library: Option<Library>,
    /// The state file that was read last, with its path and text.
    latest: RefCell<Option<(String, String, Rc<Document>)>>,
}

impl Rules {
    /// Reads `seriatim.toml` and what it points to. A configuration that cannot be read is no reason to be lax.
    pub fn read(project: &Project) -> Result<Rules, GuardError> {
        Rules::parse(project, &settings(project)?)
    }

    /// The same from the text of `seriatim.toml`.
    pub(super) fn parse(project: &Project, text: &str) -> Result<Rules, GuardError> {
        let (config, findings) = Config::read(text);
        if seriatim_core::finding::has_errors(&findings) {
            let broken = BrokenFile::of("seriatim.toml", text.to_owned(), findings);
            return Err(GuardError::Refused(format!(
                "seriatim.toml has errors, so that nothing can be decided; see `seriatim check seriatim.toml`: {}",
                broken.headline()
            )));
        }
        Rules::of(project, config)
    }

    /// Reads what a configuration without errors points to.
    pub fn of(project: &Project, config: Config) -> Result<Rules, GuardError> {
        let own = match &config.guard.phases {
            Some(path) => vec![own_schema(project, path)?],
            None => vec![],
        };
        let library = match &config.guard.templates {
            Some(folder) => Some(own_library(project, folder)?),
            None if is_there(project, FOLDER) => Some(own_library(project, FOLDER)?),
            None => None,
        };
        Ok(Rules { config, own, library, latest: RefCell::default() })
    }

    /// The phases that the project brings itself.
    pub fn own(&self) -> &[Schema] {
        &self.own
    }

    /// What stands in a state file. One call looks at the same file several times, and its text says whether it is
    /// still the same.
    pub(super) fn document(&self, path: &str, text: &str) -> Result<Rc<Document>, Vec<Finding>> {
        let mut latest = self.latest.borrow_mut();
        if let Some((of, read, document)) = &*latest
            && of == path
            && read == text
        {
            return Ok(Rc::clone(document));
        }
        let document = Rc::new(Document::read_among(path, text, &self.own)?);
        *latest = Some((path.to_owned(), text.to_owned(), Rc::clone(&document)));
        Ok(document)
    }

    pub fn library(&self) -> &Library {
        self.library.as_ref().unwrap_or_else(|| Library::standard())
    }

    /// The schema of a step that nobody has begun.
    pub fn usual(&self) -> &Schema {
        phases_of(Listed::Nothing, &self.own, None)
    }

    /// The schema whose phases a step has.
    pub fn schema_of(&self, state: &StepState) -> Schema {
        phases_of(Listed::Records(&state.phases), &self.own, None).clone()
    }

    /// The gates that are run when a step is said to be done, and before its commit.
    pub fn gates(&self) -> Vec<&'static str> {
        AT_STOP.into_iter().filter(|name| self.config.gates.contains_key(*name)).collect()
    }

    pub fn stale_minutes(&self) -> u64 {
        let Guard { stale_ms, .. } = &self.config.guard;
        stale_ms.map_or(seriatim_core::roadmap::machine::STALE_MINUTES, |ms| ms / 60_000)
    }
}

/// The text of the configuration; empty where there is none.
pub(super) fn settings(project: &Project) -> Result<String, GuardError> {
    Ok(project.read("seriatim.toml")?.unwrap_or_default())
}

/// Whether anything is at the usual place: a file or a dead link there is no reason to use what is built in.
fn is_there(project: &Project, folder: &str) -> bool {
    project.files.look(&project.root.join(folder)).is_ok_and(|found| found.is_some())
}

fn own_schema(project: &Project, path: &str) -> Result<Schema, GuardError> {
    let files = project.files.as_ref();
    let text = templates::inside(files, &project.root, path)
        .and_then(|file| templates::read_text(files, &file))
        .map_err(|error| unusable("phases", &error))?;
    Schema::parse(&text).map_err(|findings| {
        let broken = BrokenFile::of(path, text, findings);
        GuardError::Refused(format!(
            "the phases in {path} cannot be used: {}; {}",
            broken.headline(),
            broken.remedy()
        ))
    })
}

fn own_library(project: &Project, folder: &str) -> Result<Library, GuardError> {
    let files = project.files.as_ref();
    let own = templates::inside(files, &project.root, folder)
        .and_then(|folder| OwnTemplates::read(files, &folder))
        .map_err(|error| unusable("templates", &error))?;
    let broken = own.errors().next().map(|found| {
        let path = format!("{folder}/{}", found.file);
        let broken = BrokenFile::of(&path, String::new(), vec![found.finding.clone()]);
        GuardError::Refused(format!("{}; {}", broken.headline(), broken.remedy()))
    });
    broken.map_or(Ok(own.library), Err)
}

fn unusable(key: &str, error: &FileError) -> GuardError {
    GuardError::Refused(format!("[guard] {key} of seriatim.toml cannot be used: {error}"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::hands::disk::Disk;

    #[test]
    fn a_state_file_is_read_again_when_its_text_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let rules = Rules::read(&Project::new(folder.path(), Arc::new(Disk))).unwrap();
        let read = |path: &str, text: &str| rules.document(path, text).unwrap();
        let first = read("01.json", "{\"task_id\": \"01\"}");
        assert!(Rc::ptr_eq(&first, &read("01.json", "{\"task_id\": \"01\"}")));
        assert_eq!(read("01.json", "{\"task_id\": \"02\"}").steps(), ["02"]);
        assert_eq!(read("03.json", "{\"task_id\": \"02\"}").path(), "03.json");
        assert!(rules.document("01.json", "{").is_err());
        assert_eq!(read("01.json", "{\"task_id\": \"01\"}").steps(), ["01"]);
    }
}
