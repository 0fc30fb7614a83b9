//! Stops a drive whose store vanished or was replaced under it, and hands over what could not be journalled.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;
use seriatim_core::failure::Failure;
use seriatim_journal::Append;
use seriatim_journal::NewEntry;
use seriatim_journal::RunRef;

use super::Driver;
use super::Error;

/// An entry that the journal did not take.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unrecorded {
    pub run: String,
    pub kind: &'static str,
    pub key: String,
    pub at: String,
    /// As JSON where it is JSON, and as text otherwise; secrets are taken out of it.
    pub body: Value,
}

impl Driver<'_> {
    /// Keeps what an append brings that failed, until it is known why it failed.
    pub(super) fn keep_unrecorded(&mut self, appends: &[Append]) {
        for append in appends {
            self.set_aside(append.run, &append.entries);
        }
    }

    fn set_aside(&mut self, run: RunRef, entries: &[NewEntry]) {
        let name = self.live.get(&run).map(|live| live.name.clone()).unwrap_or_default();
        for entry in entries {
            let bytes = entry.body.as_bytes();
            let text = || Value::String(String::from_utf8_lossy(bytes).into_owned());
            self.unrecorded.push(Unrecorded {
                run: name.clone(),
                kind: entry.kind.as_str(),
                key: entry.key.clone(),
                at: entry.at.to_string(),
                body: serde_json::from_slice(bytes).unwrap_or_else(|_| text()),
            });
        }
    }

    /// Ends all agents and says what is not in the journal.
    pub(super) fn abandon(&mut self, path: PathBuf) -> Error {
        self.stop_all();
        let now = self.schedule.now();
        for run in self.live.keys().copied().collect::<Vec<_>>() {
            let Some(live) = self.live.get_mut(&run) else { continue };
            live.cut_off_agents(&self.door, &Failure::interrupted(), now);
            let entries = std::mem::take(&mut live.entries);
            self.set_aside(run, &entries);
        }
        Error::StoreLost { path, unrecorded: std::mem::take(&mut self.unrecorded) }
    }
}
