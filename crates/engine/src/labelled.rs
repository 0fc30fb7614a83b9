//! The snapshots that people see and go back to (OC-64 to OC-70): what would change and whose work that is, the
//! restoration with its record, and which of them are kept.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::Serialize;
use seriatim_core::seal::Sealed;
use seriatim_core::time::Utc;
use seriatim_journal::Error as JournalError;
use seriatim_journal::Filter;
use seriatim_journal::Store;

use crate::hands::files::FileError;
use crate::hands::files::Files;
use crate::hands::paths::Workspace;
use crate::hands::snapshot::Listing;
use crate::hands::snapshot::Manifest;
use crate::hands::snapshot::Plan;
use crate::hands::snapshot::Pruned;
use crate::hands::snapshot::Restored;
use crate::hands::snapshot::Retention;
use crate::hands::snapshot::SnapshotError;
use crate::hands::snapshot::Snapshots;

/// Where they are kept, below the workspace (OC-66).
pub const FOLDER: &str = ".snapshots";
/// The record of restorations, in that folder: one JSON document on each line.
pub const RESTORES: &str = "restores.jsonl";
/// What the last action left behind when it ended, in that folder.
pub const SEAL: &str = "sealed.json";
/// In no snapshot and in no restoration: what is on record stays on record, and nobody's history is rewritten.
pub const APART: [&str; 6] =
    [".git", ".seriatim", FOLDER, ".artifacts-failed", "logs/errors", "planning-mds/operations/evidence"];

/// Records and seals that are larger are not ours.
const RECORD_BYTES_MAX: u64 = 64 << 20;

/// The snapshots of a workspace that people see.
pub struct Labelled<'f> {
    files: &'f dyn Files,
    all: Snapshots<'f>,
}

/// What going back would change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub plan: Plan,
    /// Whether it is known what the action itself changed, so that the changes of others could be told apart (E-65).
    pub told_apart: bool,
}

/// A restoration, as it goes on record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restoration {
    pub snapshot: String,
    /// The snapshot of what was replaced: restoring it is the undo.
    pub undo: String,
    pub by: String,
    /// RFC 3339.
    pub at: String,
    /// The difference as it was confirmed.
    pub words: String,
    /// The run before which the snapshot was taken.
    pub run: String,
}

/// Which runs may still need their snapshots (K-53).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Needed {
    /// Those that are not over, and those of which nobody can tell.
    By(BTreeSet<String>),
    /// The journal cannot be read to its end, so that any run may.
    Unknown,
}

impl Needed {
    /// Asks the journal.
    pub fn read(store: &Store) -> Result<Needed, JournalError> {
        let listing = store.runs(&Filter::default())?;
        let mut runs: BTreeSet<String> =
            listing.runs.into_iter().filter(|run| !run.status.is_finished()).map(|run| run.name).collect();
        for problem in listing.unreadable {
            match problem.run {
                Some(run) => runs.insert(run),
                None => return Ok(Needed::Unknown),
            };
        }
        Ok(Needed::By(runs))
    }

    fn is_by(&self, run: &str) -> bool {
        match self {
            Needed::By(runs) => runs.contains(run),
            Needed::Unknown => true,
        }
    }

    /// The snapshots that must not go.
    pub fn ids(&self, listing: &Listing) -> BTreeSet<String> {
        listing.snapshots.iter().filter(|one| self.is_by(&one.run)).map(|one| one.id.clone()).collect()
    }
}

impl<'f> Labelled<'f> {
    pub fn new(files: &'f dyn Files, workspace: Workspace) -> Labelled<'f> {
        Labelled { files, all: Snapshots::new(files, workspace, FOLDER).apart_from(&APART) }
    }

    /// The snapshots as such.
    pub fn all(&self) -> &Snapshots<'f> {
        &self.all
    }

    /// All of them, newest first. Those that cannot be read are named.
    pub fn list(&self) -> Result<Listing, SnapshotError> {
        self.all.list()
    }

    pub fn manifest(&self, id: &str) -> Result<Manifest, SnapshotError> {
        self.all.manifest(id)
    }

    /// What going back would change, with what somebody changed since marked as conflicts (E-65): since the action
    /// ended, or, for an undo, since the restoration.
    pub fn difference(&self, id: &str) -> Result<Difference, SnapshotError> {
        if let Some(restored) = self.restored_over(id) {
            match self.all.compare(id, Some(&restored)) {
                // It may have been removed since, and then nobody can tell.
                Err(SnapshotError::Unknown { .. } | SnapshotError::BadManifest { .. }) => {}
                compared => return Ok(Difference { plan: compared?, told_apart: true }),
            }
        }
        let mut plan = self.all.compare(id, None)?;
        let sealed = self.sealed(id);
        if let Some(sealed) = &sealed {
            plan.mark(sealed);
        }
        Ok(Difference { plan, told_apart: sealed.is_some() })
    }

    /// Goes back. That is on record before anything is changed.
    pub fn restore(&self, plan: &Plan, by: &str, at: Utc) -> Result<Restored, SnapshotError> {
        let run = self.all.manifest(&plan.id)?.run;
        self.all.restore_noted(plan, at, |undo| {
            self.note(&Restoration {
                snapshot: plan.id.clone(),
                undo: undo.to_owned(),
                by: by.to_owned(),
                at: at.to_string(),
                words: plan.in_words(),
                run,
            })
        })
    }

    /// Removes what the rule no longer keeps (K-53, K-106). What cannot be read is never chosen.
    pub fn prune(&self, rule: &Retention, needed: &Needed, now: Utc) -> Result<Pruned, SnapshotError> {
        self.all.prune(|listing| rule.outlived(&listing.snapshots, &needed.ids(listing), now))
    }

    /// The restorations of this workspace, the oldest first. Lines that cannot be read are left out.
    pub fn restorations(&self) -> Vec<Restoration> {
        let read = self.files.read(&self.all.beside(RESTORES), RECORD_BYTES_MAX);
        let text = read.map(|read| String::from_utf8_lossy(&read.bytes).into_owned()).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The snapshot whose restoration a snapshot undoes.
    fn restored_over(&self, id: &str) -> Option<String> {
        self.restorations().into_iter().rev().find(|one| one.undo == id).map(|one| one.snapshot)
    }

    /// What the action of a snapshot left behind. About earlier actions than the last one nothing is known.
    fn sealed(&self, id: &str) -> Option<Sealed> {
        let seal = self.files.read(&self.all.beside(SEAL), RECORD_BYTES_MAX).ok()?;
        serde_json::from_slice(&seal.bytes).ok().filter(|sealed: &Sealed| sealed.snapshot == id)
    }

    fn note(&self, restoration: &Restoration) -> Result<(), FileError> {
        // Plain data of strings can always be written as JSON.
        let mut line = serde_json::to_vec(restoration).unwrap_or_default();
        line.push(b'\n');
        self.files.append(&self.all.beside(RESTORES), &line, true)
    }
}
