//! Bringing a snapshot back. What it replaces becomes a snapshot first.

use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;

use seriatim_core::time::Utc;

use crate::hands::files::Entry;
use crate::hands::files::FileError;
use crate::hands::files::Kind;
use crate::hands::files::Write;
use crate::hands::paths::decode_name;
use crate::hands::snapshot::Item;
use crate::hands::snapshot::Plan;
use crate::hands::snapshot::SnapshotError;
use crate::hands::snapshot::Snapshots;
use crate::hands::snapshot::State;
use crate::hands::snapshot::Step;
use crate::hands::snapshot::Take;

/// How the names of replaced states begin.
const UNDO: &str = "before-restore-";
/// Enter the directory and change what it holds.
const OWNER_MAY_WRITE: u32 = 0o300;

/// What a restoration did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The snapshot of what was replaced: restoring it undoes the restoration.
    pub undo: String,
    pub plan: Plan,
}

impl Snapshots<'_> {
    /// Does what the plan says, if the workspace still is as the plan saw it and the snapshot is whole. Otherwise
    /// nothing is changed. Done again after an interruption it goes on where it stopped.
    pub fn restore(&self, plan: &Plan, now: Utc) -> Result<Restored, SnapshotError> {
        self.restore_noted(plan, now, |_| Ok(()))
    }

    /// The same for a call that may have been cut off before: what was replaced then is in the snapshot that was taken
    /// at that time, and a second one would hold what is half restored.
    pub fn restore_again(&self, plan: &Plan, at: Utc) -> Result<Restored, SnapshotError> {
        let manifest = self.manifest(&plan.id)?;
        let action = undo_of(&manifest.action);
        let listing = self.list()?;
        let known = listing
            .snapshots
            .into_iter()
            .find(|one| one.run == manifest.run && one.action == action && one.created.0 == at.0);
        let Some(known) = known else { return self.restore(plan, at) };
        let _lock = self.lock()?;
        let halted = |source| SnapshotError::Halted { undo: known.id.clone(), source };
        self.apply(&plan.steps).map_err(halted)?;
        Ok(Restored { undo: known.id, plan: plan.clone() })
    }

    /// The same, with a note of it that is made before anything is changed; it is given the id of the undo.
    pub fn restore_noted(
        &self,
        plan: &Plan,
        now: Utc,
        note: impl FnOnce(&str) -> Result<(), FileError>,
    ) -> Result<Restored, SnapshotError> {
        let _lock = self.lock()?;
        let id = plan.id.clone();
        let manifest = self.manifest(&id)?;
        let fresh = self.compare_with(&manifest, None)?;
        if !fresh.does_the_same(plan) {
            return Err(SnapshotError::Moved { id });
        }
        let damage = self.check_objects(&needed(&fresh))?;
        if !damage.is_empty() {
            return Err(SnapshotError::Damaged { id, damage });
        }
        let (undo, _) = self.create_locked(&Take {
            action: undo_of(&manifest.action),
            run: manifest.run,
            created: now,
            scope: manifest.scope,
            excludes: manifest.excludes,
        })?;
        note(&undo.id)?;
        self.apply(&plan.steps).map_err(|source| SnapshotError::Halted { undo: undo.id.clone(), source })?;
        Ok(Restored { undo: undo.id, plan: plan.clone() })
    }

    /// Puts single paths back as a snapshot has them; those that it does not have go away.
    pub fn put_back(&self, id: &str, paths: &[String]) -> Result<(), SnapshotError> {
        let _lock = self.lock()?;
        let manifest = self.manifest(id)?;
        let plan = self.compare_with(&manifest, None)?;
        let steps: Vec<Step> = plan.steps.into_iter().filter(|step| paths.contains(&step.path)).collect();
        Ok(self.apply(&steps)?)
    }

    fn apply(&self, steps: &[Step]) -> Result<(), FileError> {
        let opened = self.open_directories(steps)?;
        // What goes away goes first and from below, so that a file can take the place of a directory.
        for step in steps.iter().rev() {
            self.clear(step)?;
        }
        for step in steps {
            self.bring_back(step)?;
        }
        // A directory that must not be written gets its mode when everything in it is done.
        for (place, mode) in opened {
            if matches!(self.files.look(&place)?, Some(Entry { kind: Kind::Directory, .. })) {
                self.files.set_mode(&place, mode)?;
            }
        }
        for step in steps.iter().rev() {
            if let Some(State::Directory { mode }) = step.then {
                self.files.set_mode(&self.place(&step.path)?, mode)?;
            }
        }
        Ok(())
    }

    /// Lets directories be written whose mode forbids it and in which something has to be done, and returns them
    /// with their modes.
    fn open_directories(&self, steps: &[Step]) -> Result<Vec<(PathBuf, u32)>, FileError> {
        let parents: BTreeSet<&str> =
            steps.iter().filter_map(|step| Some(step.path.rsplit_once('/')?.0)).collect();
        let mut opened = Vec::new();
        for parent in parents {
            // Where a link stands now there is no directory to be opened.
            let Ok(place) = self.place(parent) else { continue };
            if let Some(Entry { kind: Kind::Directory, mode, .. }) = self.files.look(&place)?
                && mode & OWNER_MAY_WRITE != OWNER_MAY_WRITE
            {
                self.files.set_mode(&place, mode | OWNER_MAY_WRITE)?;
                opened.push((place, mode));
            }
        }
        Ok(opened)
    }

    fn clear(&self, step: &Step) -> Result<(), FileError> {
        let Some(now) = &step.now else { return Ok(()) };
        let replaced_in_place = step.then.as_ref().is_some_and(|then| then.same_kind(now));
        if replaced_in_place {
            return Ok(());
        }
        match self.files.remove(&self.place(&step.path)?) {
            // It holds what is not part of the snapshot and therefore stays.
            Err(FileError::NotEmpty { .. }) if step.then.is_none() => Ok(()),
            removed => removed,
        }
    }

    fn bring_back(&self, step: &Step) -> Result<(), FileError> {
        let Some(then) = &step.then else { return Ok(()) };
        let place = self.place(&step.path)?;
        match then {
            State::Directory { .. } => self.files.make_directory(&place),
            State::Symlink { target } => {
                let target = decode_name(target).ok_or_else(|| FileError::BadName { path: target.into() })?;
                self.files.link(&place, Path::new(&target))
            }
            State::File { mode, hash, .. } => match &step.now {
                Some(State::File { hash: current, .. }) if current == hash => {
                    self.files.set_mode(&place, *mode)
                }
                _ => self.files.copy(&self.object(*hash), &place, Write::DURABLE.mode(*mode)).map(|_| ()),
            },
        }
    }
}

/// What the snapshot of a replaced state is of. That of an undo is named like the undo, so that going back and forth
/// makes no ever longer names.
fn undo_of(action: &str) -> String {
    format!("{UNDO}{}", action.strip_prefix(UNDO).unwrap_or(action))
}

/// The contents that the plan has to bring back.
fn needed(plan: &Plan) -> Vec<Item> {
    let items = plan.steps.iter().filter_map(|step| {
        let state = step.then.clone()?;
        let at_hand = step.now.as_ref().is_some_and(|now| now.hash() == state.hash());
        (!at_hand).then(|| Item { path: step.path.clone(), state })
    });
    items.collect()
}
