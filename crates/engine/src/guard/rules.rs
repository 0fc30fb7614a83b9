//! What a project says about its phases, its prompts and its patience.

use std::collections::BTreeMap;

use seriatim_core::config::Config;
use seriatim_core::config::Guard;
use seriatim_core::prompt::Library;
use seriatim_core::prompt::library::FOLDER;
use seriatim_core::roadmap::phases::Schema;
use seriatim_core::roadmap::state::StepState;

use super::GuardError;
use super::project::Project;

/// The project's own word where it has one, and the usual where not.
pub struct Rules {
    pub config: Config,
    own: Vec<Schema>,
    library: Option<Library>,
}

impl Rules {
    /// Reads `seriatim.toml` and what it points to. A configuration that cannot be read is no reason to be lax.
    pub fn read(project: &Project) -> Result<Rules, GuardError> {
        let text = project.read("seriatim.toml")?.unwrap_or_default();
        let (config, findings) = Config::read(&text);
        if seriatim_core::finding::has_errors(&findings) {
            return Err(GuardError::Refused(
                "seriatim.toml has errors, so that nothing can be decided; see `seriatim check seriatim.toml`"
                    .to_owned(),
            ));
        }
        let own = match &config.guard.phases {
            Some(path) => vec![own_schema(project, path)?],
            None => vec![],
        };
        let library = match &config.guard.templates {
            Some(folder) => Some(own_library(project, folder)?),
            None if project.root.join(FOLDER).is_dir() => Some(own_library(project, FOLDER)?),
            None => None,
        };
        Ok(Rules { config, own, library })
    }

    /// The phases that the project brings itself.
    pub fn own(&self) -> &[Schema] {
        &self.own
    }

    pub fn library(&self) -> &Library {
        self.library.as_ref().unwrap_or_else(|| Library::standard())
    }

    /// The schema of a step that nobody has begun.
    pub fn usual(&self) -> &Schema {
        self.own.first().unwrap_or_else(|| Schema::usual())
    }

    /// The schema whose phases a step has.
    pub fn schema_of(&self, state: &StepState) -> Schema {
        let names: Vec<&str> = state.phases.iter().map(|phase| phase.name.as_str()).collect();
        Schema::detect_among(&self.own, names.iter().copied()).unwrap_or_else(|| self.usual()).clone()
    }

    pub fn stale_minutes(&self) -> u64 {
        let Guard { stale_ms, .. } = &self.config.guard;
        stale_ms.map_or(seriatim_core::roadmap::verdict::STALE_MINUTES, |ms| ms / 60_000)
    }
}

fn own_schema(project: &Project, path: &str) -> Result<Schema, GuardError> {
    let text = project
        .read(path)?
        .ok_or_else(|| GuardError::Refused(format!("[guard] phases names {path}, which does not exist")))?;
    Schema::parse(&text).map_err(|findings| {
        let first = findings.first().map(|f| f.message.clone()).unwrap_or_default();
        GuardError::Refused(format!("the phases in {path} cannot be used: {first}"))
    })
}

fn own_library(project: &Project, folder: &str) -> Result<Library, GuardError> {
    let path = project.root.join(folder);
    let unreadable = |source| GuardError::File { path: path.clone(), source };
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(&path).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let text = std::fs::read_to_string(entry.path()).map_err(unreadable)?;
            files.insert(name, text);
        }
    }
    let (library, findings) = Library::with(&files);
    match findings.iter().find(|found| found.finding.severity == seriatim_core::finding::Severity::Error) {
        Some(found) => {
            Err(GuardError::Refused(format!("{folder}/{}: {}", found.file, found.finding.message)))
        }
        None => Ok(library),
    }
}
