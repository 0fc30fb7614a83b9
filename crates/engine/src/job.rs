//! A job: one request of one run, handed to the hands after it is in the journal.

use std::sync::Arc;

use seriatim_core::config::PinnedConfig;
use seriatim_core::hash::Hash;
use seriatim_core::report::Brief;
use seriatim_core::time::Utc;
use seriatim_flows::Request;
use seriatim_flows::request::Assignment;
use seriatim_journal::RunRef;

use crate::labelled::Needed;

/// Which call of which run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    pub run: RunRef,
    pub key: String,
}

/// Which work an agent was called for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallOf {
    pub step: String,
    pub role: String,
    pub phase: String,
}

impl CallOf {
    pub fn new(assignment: &Assignment) -> CallOf {
        let Brief { step, role, .. } = &assignment.brief;
        CallOf { step: step.clone(), role: role.clone(), phase: assignment.phase.clone() }
    }
}

/// Work for the hands. They are idempotent by run and key.
#[derive(Clone, Debug)]
pub struct Job {
    pub address: Address,
    /// The run's public id.
    pub run_name: String,
    /// The configuration of the run.
    pub config: Arc<PinnedConfig>,
    pub request: Request,
    /// When the request was journalled.
    pub at: Utc,
    /// The agent calls that this run made before, in order, without those that were cut off.
    pub earlier: Vec<CallOf>,
    /// What the journal says, for the few requests that need it.
    pub told: Told,
}

/// Facts of the journal at the moment at which a job is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The head of the run's chain.
    pub head: Option<Hash>,
    /// The runs that may still need their snapshots.
    pub needed: Needed,
}

impl Default for Told {
    fn default() -> Told {
        Told { head: None, needed: Needed::Unknown }
    }
}

impl Job {
    /// Unique for this call; processes carry it, so that leftovers can be found.
    pub fn marker(&self) -> String {
        format!("{}{}", self.run_name, self.address.key)
    }

    /// A name for files that belong to this call.
    pub fn file_name(&self) -> String {
        self.marker().replace(['/', ':'], "-")
    }
}
