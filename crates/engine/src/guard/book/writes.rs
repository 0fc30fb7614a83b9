//! State files that were to be written after a transaction: a process that dies in between leaves the old file there.
//!
//! The transaction remembers the old file by its node and the new one by its hash. Whoever comes next and finds the old
//! file writes the new one, before anything is decided by what the file says.

use std::path::Path;

use serde::Deserialize;
use serde::Serialize;
use seriatim_core::hash::Hash;
use seriatim_core::roadmap::audit::Happening;
use seriatim_journal::Store;

use super::Desk;
use super::FLOW;
use crate::guard::GuardError;
use crate::guard::project::Project;
use crate::hands::files::Links;
use crate::hands::files::Stamp;

const WRITING: &str = "writing:";

/// A write that its transaction announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Writing {
    /// The file that was to be replaced; absent where there was none.
    before: Option<Node>,
    after: Hash,
}

/// A file by its node: whoever writes it anew, even with the same content, leaves another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Node {
    inode: u64,
    changed_ns: i64,
}

impl Writing {
    fn is_missing(&self, project: &Project, path: &str) -> Result<bool, GuardError> {
        Ok(find_node(project, path)? == self.before)
    }
}

fn find_node(project: &Project, path: &str) -> Result<Option<Node>, GuardError> {
    let found = project.files.stamp(&project.root.join(path), Links::Keep)?;
    Ok(found.map(|Stamp { inode, changed_ns, .. }| Node { inode, changed_ns }))
}

fn read(memos: Vec<(String, Vec<u8>)>) -> impl Iterator<Item = (String, Writing)> {
    memos.into_iter().filter_map(|(key, value)| {
        let path = key.strip_prefix(WRITING)?.to_owned();
        Some((path, serde_json::from_slice(&value).ok()?))
    })
}

/// Returns whether a state file is still the one that a transaction was to replace.
pub(super) fn any_missing(store: &Store, project: &Project) -> Result<bool, GuardError> {
    let Some(book) = store.book(FLOW)? else { return Ok(false) };
    for (path, writing) in read(store.memos(book, WRITING)?) {
        if writing.is_missing(project, &path)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Removes what a dead process left half written beside these files.
pub(super) fn clear_folders(project: &Project, paths: &[String]) {
    for folder in paths.iter().filter_map(|path| Path::new(path).parent()) {
        // It does no harm where it stays.
        let _ = project.files.clear_temporary(&project.root.join(folder));
    }
}

impl Desk<'_, '_> {
    /// Remembers that a file is about to be replaced.
    pub(super) fn expect_write(&mut self, path: &str, after: Hash) -> Result<(), GuardError> {
        let writing = Writing { before: find_node(self.project, path)?, after };
        self.remember(&format!("{WRITING}{path}"), &writing)
    }

    /// Forgets the writes that were made: what is in those files now is the doing of others.
    pub(super) fn forget_written(&mut self) -> Result<(), GuardError> {
        for (path, writing) in read(self.page.memos(WRITING)?) {
            if !writing.is_missing(self.project, &path)? {
                self.page.forget(&format!("{WRITING}{path}"))?;
            }
        }
        Ok(())
    }

    /// Writes the files again that were not written, puts that on record, and returns their paths.
    pub(super) fn write_missing(&mut self) -> Result<Vec<String>, GuardError> {
        let mut missing = vec![];
        for (path, writing) in read(self.page.memos(WRITING)?) {
            let is_missing = writing.is_missing(self.project, &path)?;
            let text = self.last_state(&path)?.filter(|text| Hash::of(text.as_bytes()) == writing.after);
            // A text from which a secret was taken is not the one that was to be written.
            let Some(text) = text.filter(|_| is_missing) else {
                self.page.forget(&format!("{WRITING}{path}"))?;
                continue;
            };
            let what = "the state file was not written to its end; it was written again from the record";
            let incident = self.event(Happening::IntegrityIncident, &path).with("what", what);
            self.happened(&incident)?;
            missing.push(path.clone());
            self.files.push((path, text));
        }
        Ok(missing)
    }
}
