//! A job: one request of one run, handed to the hands after it is in the journal.

use seriatim_core::time::Utc;
use seriatim_flows::Request;
use seriatim_journal::RunRef;

/// Which call of which run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    pub run: RunRef,
    pub key: String,
}

/// Work for the hands. They are idempotent by run and key.
#[derive(Clone, Debug)]
pub struct Job {
    pub address: Address,
    /// The run's public id.
    pub run_name: String,
    pub request: Request,
    /// When the request was journalled.
    pub at: Utc,
    /// Step and role of the agent calls that this run made before, in order, without those that were cut off.
    pub earlier: Vec<(String, String)>,
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
