//! The guard of live sessions: what a hook, a commit and an agent's own report do to a step.
//!
//! A client calls a hook for everything that matters and waits for the answer. The rules are in `core`; here are the
//! hands that read state files, ask git, and write the book of the guard. A hook that fails says no at a door.
//!
//! Architecture invariant: what is not the guard's business costs a look for one file and nothing else.

mod advice;
pub mod book;
mod commit;
mod config;
mod doors;
mod evidence;
mod hook;
mod people;
mod phase;
mod project;
mod reconcile;
pub mod rules;
mod scope;
mod sightings;
mod state;
mod step;
mod stops;
pub mod templates;
mod transcript;
mod watchdog;

use std::cell::OnceCell;
use std::rc::Rc;

use seriatim_core::config::Config;
use seriatim_core::redact::BadPattern;
use seriatim_core::redact::Redactor;
use seriatim_core::time::Utc;
use seriatim_journal::Store;

pub use commit::Gate;
pub use hook::hook;
pub use people::is_guards;
pub use project::Installed;
pub use project::Kept;
pub use project::Mark;
pub use project::Project;
pub use step::Accepted;
pub use step::Base;
pub use step::Checked;
pub use step::OpenStep;
pub use watchdog::Intervention;

use crate::hands::files::FileError;
use crate::hands::git::GitError;
use crate::ports::Ports;
use book::Book;
use book::Desk;
use evidence::Patience;
use rules::Rules;
use scope::Repository;

/// Why the guard could not do its work. At a door that is a no.
#[derive(Debug, thiserror::Error)]
pub enum GuardError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Journal(#[from] seriatim_journal::Error),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("{0}")]
    Refused(String),
}

/// Makes the one that takes secrets out, from the patterns of the configuration.
pub type MakeRedactor = dyn Fn(&[String]) -> Result<Redactor, BadPattern>;

/// The guard of one project, at one moment.
pub struct Guard<'p> {
    pub project: &'p Project,
    ports: &'p Ports,
    pub now: Utc,
    /// Made when it is needed: it takes longer to make than most hooks take.
    redactor: &'p MakeRedactor,
    /// Read when it is needed, and once.
    settings: OnceCell<String>,
    /// The configuration, where the process had read it before.
    config: Option<Config>,
    rules: OnceCell<Rc<Rules>>,
    /// Opened when it is needed: most of what happens does not concern it.
    book: Option<Book>,
    /// State files that a dead process did not come to write were looked for.
    has_looked: bool,
    /// How long the client waits for an answer.
    patience: Patience,
}

impl<'p> Guard<'p> {
    pub fn new(project: &'p Project, ports: &'p Ports, redactor: &'p MakeRedactor) -> Guard<'p> {
        let now = ports.clock.now();
        let patience = Patience::most(ports.clock.as_ref());
        let (settings, rules) = (OnceCell::new(), OnceCell::new());
        Guard {
            project,
            ports,
            now,
            redactor,
            settings,
            config: None,
            rules,
            book: None,
            has_looked: false,
            patience,
        }
    }

    /// Takes a configuration without errors that the process has read already.
    pub fn with_config(mut self, config: Config) -> Guard<'p> {
        self.config = Some(config);
        self
    }

    /// Takes a store that the process has opened already.
    pub fn with_store(mut self, store: Store) -> Guard<'p> {
        self.book = Some(Book::over(store));
        self
    }

    /// The project's rules, read once.
    fn rules(&self) -> Result<Rc<Rules>, GuardError> {
        if let Some(rules) = self.rules.get() {
            return Ok(Rc::clone(rules));
        }
        let rules = match &self.config {
            Some(config) => Rules::of(self.project, config.clone())?,
            None => Rules::parse(self.project, self.settings()?)?,
        };
        Ok(Rc::clone(self.rules.get_or_init(|| Rc::new(rules))))
    }

    /// The text of the configuration, read once.
    fn settings(&self) -> Result<&str, GuardError> {
        if let Some(text) = self.settings.get() {
            return Ok(text);
        }
        let text = rules::settings(self.project)?;
        Ok(self.settings.get_or_init(|| text))
    }

    /// The project as git sees it.
    fn repository(&self) -> Repository<'p> {
        Repository { project: self.project, processes: self.ports.processes.as_ref() }
    }

    /// The steps that are open.
    pub fn steps(&mut self) -> Result<Vec<OpenStep>, GuardError> {
        self.book()?.steps()
    }

    /// The steps that a passed gate has closed.
    pub fn finished(&mut self) -> Result<Vec<OpenStep>, GuardError> {
        self.book()?.finished()
    }

    fn make_redactor(&self) -> Result<Redactor, GuardError> {
        let patterns = match &self.config {
            Some(config) => config.redact.clone(),
            None if self.settings()?.contains("redact") => self.rules()?.config.redact.clone(),
            None => vec![],
        };
        (self.redactor)(&patterns).map_err(|error| GuardError::Refused(error.to_string()))
    }

    fn book(&mut self) -> Result<&mut Book, GuardError> {
        if self.book.is_none() {
            let redactor = self.make_redactor()?;
            self.book = Some(Book::open(self.project, self.ports.stores.as_ref(), redactor)?);
        }
        let opened = self.book.as_mut();
        let book = opened.ok_or_else(|| GuardError::Refused("the book cannot be opened".to_owned()))?;
        if !std::mem::replace(&mut self.has_looked, true) {
            book.complete_writes(self.project, self.now)?;
        }
        Ok(book)
    }

    fn transact<T>(
        &mut self,
        work: impl FnOnce(&mut Desk<'_, '_>) -> Result<T, GuardError>,
    ) -> Result<T, GuardError> {
        let (project, now) = (self.project, self.now);
        self.book()?.write(project, now, work)
    }
}
