//! What a restoration would do, to be shown before it is done.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;
use seriatim_core::hash::Hash;
use seriatim_core::seal::Sealed;

use crate::hands::snapshot::Item;
use crate::hands::snapshot::Manifest;
use crate::hands::snapshot::SnapshotError;
use crate::hands::snapshot::Snapshots;
use crate::hands::snapshot::State;

/// The difference between the workspace and a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub id: String,
    /// The snapshot that was taken after the action, if conflicts were looked for.
    pub after: Option<String>,
    /// Sorted by path.
    pub steps: Vec<Step>,
}

/// One path that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub path: String,
    /// What is there now; `None` when it was deleted since.
    pub now: Option<State>,
    /// What the snapshot holds; `None` when it was created since.
    pub then: Option<State>,
    /// Somebody changed it after the action, so that the restoration would undo more than the action (E-65).
    pub conflict: bool,
}

impl Plan {
    /// Stands for exactly this difference: a confirmation is given for it and holds for nothing else.
    pub fn digest(&self) -> Hash {
        // Plain data of strings and numbers can always be written as JSON.
        Hash::of(&serde_json::to_vec(self).unwrap_or_default())
    }

    /// The summary for people: `This will revert 5 files, delete 3 new files` (OC-67). Paths that were changed
    /// after the action are named.
    pub fn in_words(&self) -> String {
        let count = |wanted: fn(&Step) -> bool| {
            let is_directory = |step: &&Step| matches!(step.subject(), Some(State::Directory { .. }));
            self.steps.iter().filter(|step| wanted(step) && !is_directory(step)).count()
        };
        let reverted = count(|step| step.now.is_some() && step.then.is_some());
        let deleted = count(|step| step.then.is_none());
        let missing = count(|step| step.now.is_none());
        let directories = self.steps.len() - reverted - deleted - missing;
        let files = |count: usize, before: &str, adjective: &str| {
            let noun = if count == 1 { "file" } else { "files" };
            (count > 0).then(|| format!("{before} {count} {adjective}{noun}"))
        };
        let noun = if directories == 1 { "directory" } else { "directories" };
        let parts: Vec<String> = [
            files(reverted, "revert", ""),
            files(missing, "bring back", "deleted "),
            files(deleted, "delete", "new "),
            (directories > 0).then(|| format!("adjust {directories} {noun}")),
        ]
        .into_iter()
        .flatten()
        .collect();
        if parts.is_empty() {
            return "Nothing has changed since the snapshot".to_owned();
        }
        let conflicts: Vec<&str> = self.conflicts().collect();
        let warning = if conflicts.is_empty() {
            String::new()
        } else {
            format!(". Changed by somebody since then, and undone as well: {}", conflicts.join(", "))
        };
        format!("This will {}{warning}", parts.join(", "))
    }

    /// Whether both mean the same changes, whoever is thought to have made them.
    pub(super) fn does_the_same(&self, other: &Plan) -> bool {
        let changes = |plan: &Plan| -> Vec<(String, Option<State>, Option<State>)> {
            let of = plan.steps.iter().map(|step| (step.path.clone(), step.now.clone(), step.then.clone()));
            of.collect()
        };
        self.id == other.id && changes(self) == changes(other)
    }

    /// Marks as conflicts what is not as a run left it when it ended: somebody changed it since (E-65).
    pub(crate) fn mark(&mut self, left: &Sealed) {
        for step in &mut self.steps {
            step.conflict = match (&step.now, left.files.get(&step.path)) {
                (Some(State::File { mode, hash, .. }), Some(seal)) => {
                    seal.hash != *hash || seal.mode != *mode
                }
                (_, Some(_)) => true,
                (None, None) => !left.deleted.contains(&step.path),
                // A run is about files: folders and links come and go with its work.
                (Some(State::Directory { .. } | State::Symlink { .. }), None) => false,
                (Some(State::File { .. }), None) => true,
            };
        }
    }

    pub fn conflicts(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().filter(|step| step.conflict).map(|step| step.path.as_str())
    }
}

impl Step {
    fn subject(&self) -> Option<&State> {
        self.then.as_ref().or(self.now.as_ref())
    }
}

impl Snapshots<'_> {
    /// Compares the workspace with a snapshot. `after` names the snapshot taken when the action had ended: what
    /// differs from that was changed by somebody else and is marked as a conflict.
    pub fn compare(&self, id: &str, after: Option<&str>) -> Result<Plan, SnapshotError> {
        let manifest = self.manifest(id)?;
        let after_manifest = after.map(|id| self.manifest(id)).transpose()?;
        self.compare_with(&manifest, after_manifest.as_ref())
    }

    pub(super) fn compare_with(
        &self,
        manifest: &Manifest,
        after: Option<&Manifest>,
    ) -> Result<Plan, SnapshotError> {
        let (now, _) = self.walk(&manifest.scope, &manifest.excludes, |_, state| Ok(state))?;
        let now = by_path(&now);
        let mut then = by_path(&manifest.items);
        then.retain(|path, _| !self.is_apart(path));
        let after_items = after.map(|manifest| by_path(&manifest.items));
        let mut paths: Vec<&str> = now.keys().chain(then.keys()).copied().collect();
        paths.sort_unstable();
        paths.dedup();
        let steps = paths.into_iter().filter(|path| now.get(path) != then.get(path)).map(|path| Step {
            path: path.to_owned(),
            now: now.get(path).copied().cloned(),
            then: then.get(path).copied().cloned(),
            conflict: after_items.as_ref().is_some_and(|after| after.get(path) != now.get(path)),
        });
        Ok(Plan {
            id: manifest.id.clone(),
            after: after.map(|manifest| manifest.id.clone()),
            steps: steps.collect(),
        })
    }
}

fn by_path(items: &[Item]) -> BTreeMap<&str, &State> {
    items.iter().map(|item| (item.path.as_str(), &item.state)).collect()
}
