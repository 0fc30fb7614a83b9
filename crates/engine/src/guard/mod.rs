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

use std::io;
use std::path::PathBuf;

use seriatim_core::redact::BadPattern;
use seriatim_core::redact::Redactor;
use seriatim_core::time::Utc;

pub use commit::Gate;
pub use hook::hook;
pub use people::is_guards;
pub use project::Installed;
pub use project::Kept;
pub use project::Mark;
pub use project::Project;
pub use step::Base;
pub use step::OpenStep;
pub use watchdog::Intervention;

use crate::hands::git::GitError;
use book::Book;
use book::Desk;
use evidence::Patience;
use rules::Rules;

/// Why the guard could not do its work. At a door that is a no.
#[derive(Debug, thiserror::Error)]
pub enum GuardError {
    #[error("{} cannot be used: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
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
    pub now: Utc,
    /// Made when it is needed: it takes longer to make than most hooks take.
    redactor: &'p MakeRedactor,
    /// Opened when it is needed: most of what happens does not concern it.
    book: Option<Book>,
    /// How long the client waits for an answer.
    patience: Patience,
}

impl<'p> Guard<'p> {
    pub fn new(project: &'p Project, now: Utc, redactor: &'p MakeRedactor) -> Guard<'p> {
        Guard { project, now, redactor, book: None, patience: Patience::default() }
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
        let text = self.project.read("seriatim.toml")?.unwrap_or_default();
        let patterns = match text.contains("redact") {
            true => Rules::read(self.project)?.config.redact,
            false => vec![],
        };
        (self.redactor)(&patterns).map_err(|error| GuardError::Refused(error.to_string()))
    }

    fn book(&mut self) -> Result<&mut Book, GuardError> {
        if self.book.is_none() {
            let redactor = self.make_redactor()?;
            self.book = Some(Book::open(self.project, redactor)?);
        }
        self.book.as_mut().ok_or_else(|| GuardError::Refused("the book cannot be opened".to_owned()))
    }

    fn transact<T>(
        &mut self,
        work: impl FnOnce(&mut Desk<'_, '_>) -> Result<T, GuardError>,
    ) -> Result<T, GuardError> {
        let (project, now) = (self.project, self.now);
        self.book()?.write(project, now, work)
    }
}
