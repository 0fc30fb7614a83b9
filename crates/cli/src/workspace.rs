//! The workspace: where `seriatim.toml` and `.seriatim/` are.

use seriatim_engine::guard::Project;
use seriatim_engine::ports::Ports;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use seriatim_core::config::Config;
use seriatim_core::finding::Severity;
use seriatim_core::redact::BadPattern;
use seriatim_core::redact::Redactor;
use seriatim_core::redact::names_a_secret;
use seriatim_journal::Store;

use crate::error::CommandError;
use crate::error::Result;
use crate::render;
use crate::ui::Ui;

/// The name of the configuration file.
pub(crate) const CONFIG: &str = "seriatim.toml";
/// The folder of runtime state.
pub(crate) const STATE: &str = ".seriatim";

/// A workspace and what it is configured to be.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) config: Config,
}

impl Workspace {
    /// The workspace that was named, or the nearest one from here upwards: a folder with `seriatim.toml`,
    /// `.seriatim/` or `.git`; else the current folder.
    pub(crate) fn find(named: Option<&Path>) -> Result<PathBuf> {
        let start = match named {
            Some(dir) => dir.to_owned(),
            None => std::env::current_dir()
                .map_err(|e| CommandError::usage(format!("the current folder cannot be read: {e}")))?,
        };
        let start = start.canonicalize().map_err(|e| {
            CommandError::usage(format!("the workspace {} cannot be opened: {e}", start.display()))
        })?;
        if !start.is_dir() {
            return Err(CommandError::usage(format!("the workspace {} is not a folder", start.display())));
        }
        if named.is_some() {
            return Ok(start);
        }
        let marks = [CONFIG, STATE, ".git"];
        let found = start.ancestors().find(|dir| marks.iter().any(|m| dir.join(m).exists()));
        Ok(found.unwrap_or(&start).to_owned())
    }

    /// Opens it: configuration errors are shown with their place and end the command.
    pub(crate) fn open(ui: &Ui, named: Option<&Path>) -> Result<Workspace> {
        let root = Workspace::find(named)?;
        let path = root.join(CONFIG);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Workspace { root, config: Config::default() });
            }
            Err(e) => return Err(CommandError::usage(format!("{} cannot be read: {e}", path.display()))),
        };
        let (config, findings) = Config::read(&text);
        let errors = findings.iter().filter(|f| f.severity == Severity::Error).count();
        if errors > 0 || ui.verbose {
            render::findings::to_stderr(CONFIG, &text, &findings);
        }
        if errors > 0 {
            return Err(CommandError::usage(format!("{CONFIG} has {errors} error(s)")));
        }
        Ok(Workspace { root, config })
    }

    /// The folder of runtime state.
    pub(crate) fn state(&self) -> PathBuf {
        self.root.join(STATE)
    }

    /// What must never be stored: configured patterns and the values of variables whose names say so.
    pub(crate) fn redactor(&self) -> Result<Redactor> {
        make_redactor(&self.config.redact).map_err(|e| CommandError::usage(format!("{CONFIG}: {e}")))
    }

    /// The workspace as the guard sees it.
    pub(crate) fn project(&self, ports: &Ports) -> Project {
        Project::new(&self.root, Arc::clone(&ports.files))
    }

    /// The journal, created when it is not there.
    pub(crate) fn store(&self) -> Result<Store> {
        Ok(Store::open(&self.state(), self.redactor()?)?)
    }

    /// The journal for reading; nothing is created or changed.
    pub(crate) fn store_to_read(&self) -> Result<Option<Store>> {
        Ok(Store::open_read_only(&self.state(), self.redactor()?)?)
    }
}

/// Takes out what must never be stored: what the patterns say, and values of variables whose names say so.
pub(crate) fn make_redactor(patterns: &[String]) -> std::result::Result<Redactor, BadPattern> {
    let secrets: Vec<String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| names_a_secret(name))
        .map(|(_, value)| value)
        .collect();
    Redactor::new(patterns, &secrets)
}

/// The time, for showing how long things have waited.
pub(crate) fn now() -> seriatim_core::time::Utc {
    use seriatim_engine::hands::clock::Clock;
    seriatim_engine::hands::clock::SystemClock::default().now()
}
