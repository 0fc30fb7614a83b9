//! The ports of a process that works without a driver: hooks, gates of commits, and commands about steps.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use seriatim_core::redact::Redactor;
use seriatim_journal::Error as JournalError;
use seriatim_journal::Store;

use crate::hands::clock::Clock;
use crate::hands::clock::SystemClock;
use crate::hands::disk::Disk;
use crate::hands::environment::Environment;
use crate::hands::files::Files;
use crate::hands::process::Processes;
use crate::hands::runner::Supervised;

/// Opens the store of a project, for a process that lives for a moment.
pub trait Stores: Send + Sync {
    fn open(&self, dir: &Path, redactor: Redactor) -> Result<Store, JournalError>;

    /// Ends the use of a store by a process that ends itself at once.
    fn leave(&self, store: Store);
}

/// The stores of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct HookStores;

impl Stores for HookStores {
    fn open(&self, dir: &Path, redactor: Redactor) -> Result<Store, JournalError> {
        Store::open_for_hook(dir, redactor)
    }

    fn leave(&self, store: Store) {
        store.leave();
    }
}

/// Everything outside of such a process.
#[derive(Clone)]
pub struct Ports {
    pub files: Arc<dyn Files>,
    pub clock: Arc<dyn Clock>,
    pub processes: Arc<dyn Processes>,
    pub stores: Arc<dyn Stores>,
    pub environment: Environment,
}

impl Ports {
    /// Returns the ports of this machine.
    pub fn real() -> Ports {
        Ports {
            files: Arc::new(Disk),
            clock: Arc::new(SystemClock::default()),
            processes: Arc::new(Supervised::by_this_program()),
            stores: Arc::new(HookStores),
            environment: Environment::of_process(),
        }
    }
}

impl fmt::Debug for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ports").field("environment", &self.environment).finish_non_exhaustive()
    }
}
