//! Snapshots of the workspace: what was there before an action, so that it can be had back.
//!
//! A snapshot is a manifest (`<id>/manifest.json`: path, kind, mode, digest) and the contents that it names,
//! which lie once for all snapshots under `objects/` by their SHA-256. Links are recorded and never followed, and
//! nothing of the store itself, of `.git` or of what is excluded is ever recorded, replaced or deleted.

mod compare;
mod restore;
mod retention;
mod walk;

use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;
use seriatim_core::hash::Hash;
use seriatim_core::time::Utc;

pub use crate::hands::snapshot::compare::Plan;
pub use crate::hands::snapshot::compare::Step;
pub use crate::hands::snapshot::restore::Restored;
pub use crate::hands::snapshot::retention::Retention;

use crate::hands::files::Expect;
use crate::hands::files::FileError;
use crate::hands::files::Files;
use crate::hands::files::Kind;
use crate::hands::files::Lock;
use crate::hands::files::Write;
use crate::hands::paths::Workspace;
use crate::hands::pattern::Pattern;
use crate::perform::remove_all;

const VERSION: u32 = 1;
const MANIFEST: &str = "manifest.json";
const MANIFEST_BYTES_MAX: u64 = 256 << 20;
/// A store in which this many snapshots were taken in one second is not one of ours.
const IDS_TRIED_MAX: u64 = 1_000;
/// A file that changes under the hand is read this many times.
const READS_MAX: usize = 3;

/// What is left out of snapshots when nothing else is configured.
pub const DEFAULT_EXCLUDES: [&str; 5] = [".git", ".seriatim", "target", "node_modules", ".venv"];

/// The snapshots of one workspace.
pub struct Snapshots<'f> {
    files: &'f dyn Files,
    workspace: Workspace,
    store: PathBuf,
    /// What no snapshot of this store holds and no restoration touches, whatever its manifest says.
    apart: Vec<Pattern>,
}

/// Why and of what a snapshot is taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Take {
    pub action: String,
    pub run: String,
    pub created: Utc,
    /// What belongs to it; nothing named means everything.
    pub scope: Vec<Pattern>,
    pub excludes: Vec<Pattern>,
}

/// What a snapshot holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub version: u32,
    pub id: String,
    pub action: String,
    pub run: String,
    pub created: Utc,
    pub scope: Vec<Pattern>,
    pub excludes: Vec<Pattern>,
    /// Sorted by path.
    pub items: Vec<Item>,
    /// Sockets, pipes and devices: seen, but neither recorded nor ever touched.
    pub special: Vec<String>,
}

/// One file, directory or link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Relative to the workspace, as [`crate::hands::paths::encode_name`] writes it.
    pub path: String,
    pub state: State,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    File { mode: u32, size_bytes: u64, hash: Hash },
    Directory { mode: u32 },
    Symlink { target: String },
}

/// A snapshot in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    pub id: String,
    pub action: String,
    pub run: String,
    pub created: Utc,
    pub files: u64,
    pub size_bytes: u64,
}

/// All snapshots, newest first, and the names of those whose manifest cannot be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    pub snapshots: Vec<Summary>,
    pub damaged: Vec<String>,
}

/// What is wrong with the content of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    pub path: String,
    pub expected: Hash,
    /// `None` when there is nothing.
    pub found: Option<Hash>,
}

/// What a pruning removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    pub snapshots: Vec<String>,
    pub objects: u64,
    pub size_bytes: u64,
}

/// Why something with a snapshot could not be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    #[error("there is no snapshot `{id}`")]
    Unknown { id: String },
    #[error("the manifest of snapshot `{id}` cannot be read: {reason}")]
    BadManifest { id: String, reason: String },
    #[error("snapshot `{id}` is damaged: the content of {} files is missing or changed", damage.len())]
    Damaged { id: String, damage: Vec<Damage> },
    #[error(
        "the files have changed since the comparison with snapshot `{id}` was shown; nothing was restored"
    )]
    Moved { id: String },
    #[error("{path} changes while it is being read")]
    Unstable { path: String },
    #[error("the restoration stopped halfway ({source}); the state before it is kept as snapshot `{undo}`")]
    Halted { undo: String, source: FileError },
    #[error(transparent)]
    File(#[from] FileError),
}

impl<'f> Snapshots<'f> {
    /// `store` is a directory for snapshots alone, such as `.seriatim/snapshots` of the workspace.
    pub fn new(files: &'f dyn Files, workspace: Workspace, store: impl AsRef<Path>) -> Snapshots<'f> {
        let store = workspace.root().join(store);
        Snapshots { files, workspace, store, apart: vec![] }
    }

    /// Leaves these paths alone, in all that is taken and in all that is brought back.
    #[must_use]
    pub fn apart_from(mut self, paths: &[&str]) -> Snapshots<'f> {
        self.apart.extend(paths.iter().map(|path| Pattern::new(*path)));
        self
    }

    fn is_apart(&self, path: &str) -> bool {
        self.apart.iter().any(|pattern| pattern.excludes(path))
    }

    /// Where something lies that belongs to a snapshot or to all of them.
    pub fn beside(&self, name: impl AsRef<Path>) -> PathBuf {
        self.store.join(name)
    }

    /// Takes a snapshot and returns its manifest with the digest of the manifest's file.
    pub fn create(&self, take: &Take) -> Result<(Manifest, Hash), SnapshotError> {
        let _lock = self.lock()?;
        self.create_locked(take)
    }

    fn create_locked(&self, take: &Take) -> Result<(Manifest, Hash), SnapshotError> {
        let (items, special) = self.walk(&take.scope, &take.excludes, |path, item| self.keep(path, item))?;
        // All contents are on the disk before a manifest says so.
        self.files.make_directory(&self.store)?;
        self.files.sync(&self.store)?;
        let mut manifest = Manifest {
            version: VERSION,
            id: String::new(),
            action: take.action.clone(),
            run: take.run.clone(),
            created: take.created,
            scope: take.scope.clone(),
            excludes: take.excludes.clone(),
            items,
            special,
        };
        let mut tried = 0;
        loop {
            manifest.id = id_for(&take.action, take.created.plus_ms(tried * 1_000));
            let path = self.store.join(&manifest.id).join(MANIFEST);
            let text = serde_json::to_vec_pretty(&manifest).map_err(|error| SnapshotError::BadManifest {
                id: manifest.id.clone(),
                reason: error.to_string(),
            })?;
            self.clear_beside(&path);
            match self.files.write(&path, &text, Write::DURABLE.expecting(Expect::Absent)) {
                Ok(hash) => return Ok((manifest, hash)),
                Err(FileError::Changed { .. }) if tried < IDS_TRIED_MAX => tried += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Removes what a process that died left half written in the folder of a file of ours.
    fn clear_beside(&self, path: &Path) {
        if let Some(folder) = path.parent() {
            // It does no harm where it stays.
            let _ = self.files.clear_temporary(folder);
        }
    }

    /// The manifest of a snapshot.
    pub fn manifest(&self, id: &str) -> Result<Manifest, SnapshotError> {
        let unknown = || SnapshotError::Unknown { id: id.to_owned() };
        // Ids come from people; one that is not a plain name is not looked up.
        if id.is_empty() || id.starts_with('.') || id.contains(['/', '\0']) {
            return Err(unknown());
        }
        let read = self.files.read(&self.store.join(id).join(MANIFEST), MANIFEST_BYTES_MAX);
        let bytes = match read {
            Err(FileError::NotFound { .. }) => return Err(unknown()),
            read => read?.bytes,
        };
        let bad = |reason: String| SnapshotError::BadManifest { id: id.to_owned(), reason };
        let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|error| bad(error.to_string()))?;
        if manifest.version != VERSION {
            return Err(bad(format!("it has version {}, and {VERSION} is known", manifest.version)));
        }
        if manifest.id != id {
            return Err(bad(format!("it is that of `{}`", manifest.id)));
        }
        Ok(manifest)
    }

    pub fn list(&self) -> Result<Listing, SnapshotError> {
        let mut listing = Listing::default();
        for id in self.ids()? {
            match self.manifest(&id) {
                Ok(manifest) => listing.snapshots.push(manifest.summary()),
                Err(_) => listing.damaged.push(id),
            }
        }
        listing
            .snapshots
            .sort_by(|one, other| other.created.cmp(&one.created).then_with(|| other.id.cmp(&one.id)));
        Ok(listing)
    }

    /// Reads every content again and compares it with its digest.
    pub fn verify(&self, id: &str) -> Result<Vec<Damage>, SnapshotError> {
        self.check_objects(&self.manifest(id)?.items)
    }

    /// Removes the snapshots that `chosen` names, and the contents that none of the remaining ones needs. Nothing is
    /// taken between the choice and the removal.
    pub fn prune(&self, chosen: impl FnOnce(&Listing) -> Vec<String>) -> Result<Pruned, SnapshotError> {
        let _lock = self.lock()?;
        let chosen = chosen(&self.list()?);
        let mut pruned = Pruned::default();
        if chosen.is_empty() {
            return Ok(pruned);
        }
        let mut needed: BTreeSet<Hash> = BTreeSet::new();
        let mut complete = true;
        for id in self.ids()? {
            if chosen.contains(&id) {
                remove_all(self.files, &self.store.join(&id))?;
                pruned.snapshots.push(id);
            } else if let Ok(manifest) = self.manifest(&id) {
                needed.extend(manifest.items.iter().filter_map(|item| item.state.hash()));
            } else {
                complete = false;
            }
        }
        // What a manifest that cannot be read needs is unknown, so then every content is kept.
        if complete {
            self.remove_objects_except(&needed, &mut pruned)?;
        }
        Ok(pruned)
    }

    fn remove_objects_except(
        &self,
        needed: &BTreeSet<Hash>,
        pruned: &mut Pruned,
    ) -> Result<(), SnapshotError> {
        let objects = self.store.join("objects");
        if self.files.look(&objects)?.is_none() {
            return Ok(());
        }
        for (prefix, _) in self.files.list(&objects)? {
            let directory = objects.join(&prefix);
            for (rest, entry) in self.files.list(&directory)? {
                let hash = format!("{prefix}{rest}").parse::<Hash>();
                if hash.is_ok_and(|hash| !needed.contains(&hash)) {
                    self.files.remove(&directory.join(&rest))?;
                    pruned.objects += 1;
                    pruned.size_bytes += entry.size_bytes;
                }
            }
        }
        Ok(())
    }

    fn lock(&self) -> Result<Lock, FileError> {
        self.files.lock(&self.store.join("lock"))
    }

    fn ids(&self) -> Result<Vec<String>, FileError> {
        if self.files.look(&self.store)?.is_none() {
            return Ok(Vec::new());
        }
        let mut ids = Vec::new();
        for (name, entry) in self.files.list(&self.store)? {
            if entry.kind == Kind::Directory && name != "objects" {
                ids.push(name);
            }
        }
        Ok(ids)
    }

    fn object(&self, hash: Hash) -> PathBuf {
        let name = hash.to_string();
        let (prefix, rest) = name.split_at(2);
        self.store.join("objects").join(prefix).join(rest)
    }

    /// Puts the content of a file into the store and returns what was put there.
    fn keep(&self, path: &Path, state: State) -> Result<State, SnapshotError> {
        let State::File { mode, hash: mut expected, mut size_bytes } = state else { return Ok(state) };
        for _ in 0..READS_MAX {
            let object = self.object(expected);
            let known = self.files.look(&object)?;
            if known.is_some_and(|entry| entry.kind == Kind::File && entry.size_bytes == size_bytes) {
                return Ok(State::File { mode, size_bytes, hash: expected });
            }
            self.clear_beside(&object);
            let copied = self.files.copy(path, &object, Write::REBUILDABLE.mode(0o600))?;
            // The file may have been changed since it was listed, so what counts is what was copied.
            size_bytes = self.files.look(&object)?.map_or(0, |entry| entry.size_bytes);
            if copied == expected {
                return Ok(State::File { mode, size_bytes, hash: expected });
            }
            // It was changed between its digest and its copy: what lies there has the wrong name.
            self.files.remove(&object)?;
            expected = copied;
        }
        Err(SnapshotError::Unstable { path: path.display().to_string() })
    }

    fn check_objects<'i>(
        &self,
        items: impl IntoIterator<Item = &'i Item>,
    ) -> Result<Vec<Damage>, SnapshotError> {
        let mut damage = Vec::new();
        for item in items {
            let Some(expected) = item.state.hash() else { continue };
            let found = match self.files.hash(&self.object(expected)) {
                Ok(found) => Some(found),
                Err(FileError::NotFound { .. }) => None,
                Err(error) => return Err(error.into()),
            };
            if found != Some(expected) {
                damage.push(Damage { path: item.path.clone(), expected, found });
            }
        }
        Ok(damage)
    }
}

impl Manifest {
    pub fn summary(&self) -> Summary {
        let sizes = self.items.iter().filter_map(|item| match item.state {
            State::File { size_bytes, .. } => Some(size_bytes),
            State::Directory { .. } | State::Symlink { .. } => None,
        });
        Summary {
            id: self.id.clone(),
            action: self.action.clone(),
            run: self.run.clone(),
            created: self.created,
            files: sizes.clone().count() as u64,
            size_bytes: sizes.sum(),
        }
    }
}

impl State {
    fn hash(&self) -> Option<Hash> {
        match self {
            State::File { hash, .. } => Some(*hash),
            State::Directory { .. } | State::Symlink { .. } => None,
        }
    }

    fn same_kind(&self, other: &State) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

/// The id that other tools of the seeds use: `build-2026-02-07-10-30-00` (OC-66).
fn id_for(action: &str, moment: Utc) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '-' };
    let action: String = action.chars().take(80).map(plain).collect();
    let action = if action.is_empty() { "snapshot" } else { &action };
    let time: String = moment.seconds().chars().skip(11).take(8).map(plain).collect();
    format!("{action}-{}-{time}", moment.day())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oc_66_ids_name_action_and_second() {
        let moment = Utc::parse("2026-02-07T10:30:00Z").unwrap();
        assert_eq!(id_for("build", moment), "build-2026-02-07-10-30-00");
        assert_eq!(id_for("../x y", moment), "---x-y-2026-02-07-10-30-00");
        assert_eq!(id_for("", moment), "snapshot-2026-02-07-10-30-00");
    }
}
