//! Merging a change into the real folder: wholly or not at all, also when the process dies at any point.
//!
//! First every path is compared. Then the plan is written down, new contents are written beside their places
//! (*staging*), and exchanged with what is there (*applying*); what was displaced stays beside its place until
//! everything is merged, and is then moved away (*finishing*), and folders get their modes (*closing*). A path that turns out to be changed at that very moment
//! sends everything back (*undoing*).

mod deed;
mod kept;
mod plan;
mod root;
mod stage;
#[cfg(test)]
mod tests;
mod undo;

use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;

use self::deed::Done;
use self::kept::Kept;
use self::kept::Phase;
use self::plan::Plan;
use self::plan::Work;
use self::plan::plan;
use self::plan::token;
use self::root::Root;
use self::undo::remove;
use super::HomeStep;
use super::LayerError;
use super::LayerStack;
use super::access::Access;
use super::inside;
use super::node::Node;
use crate::hands::files::FileError;

/// The result of a merge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Homecoming {
    /// Paths of the real folder that are neither as before nor as wanted. If there is one, nothing is merged.
    pub conflicts: Vec<String>,
    /// The merged paths, also those that were as wanted before. A removed folder in which others have put something
    /// stays, and is not among them.
    pub brought: Vec<String>,
}

impl LayerStack {
    /// Merges the steps into the real folder. When it returns, either all of them are merged and durable, or none is.
    /// After a crash it must be called again with the same arguments; then it completes the merge or undoes it.
    /// The folder `kept` belongs to this merge alone; displaced files are in `kept/displaced` until the caller
    /// removes it. Set-user-id, set-group-id and sticky bits are not merged. Nobody else may merge into the same real
    /// folder at the same time.
    pub fn home(&self, wanted: &[HomeStep], kept: &Path) -> Result<Homecoming, LayerError> {
        for step in wanted {
            inside(&step.path)?;
            if [&step.before, &step.after].into_iter().flatten().any(|node| *node == Node::Special) {
                return Err(LayerError::Special { path: step.path.clone() });
            }
        }
        let kept = Kept::open(kept)?;
        let token = token(wanted, kept.path())?;
        let root = Root::open(&self.lower)?;
        let mut merge =
            Merge { stack: self, root, kept, access: Access::default(), plan: Plan::nothing(&token) };
        if let Some((plan, phase)) = merge.kept.read()? {
            if plan.token != token {
                return Err(LayerError::OtherMerge { kept: merge.kept.path().to_owned() });
            }
            merge.plan = plan;
            match phase {
                Phase::Staging => merge.unstage_all()?,
                Phase::Applying => return merge.apply_all(wanted),
                Phase::Finishing => return merge.finish(wanted),
                Phase::Closing => return merge.close(wanted),
                Phase::Done => return merge.merged(wanted),
                Phase::Undoing { conflicts } => {
                    merge.undo_all()?;
                    if !conflicts.is_empty() {
                        return Ok(Homecoming { conflicts, brought: Vec::new() });
                    }
                }
            }
        }
        let planned = plan(self, &merge.root, wanted, token)?;
        if !planned.conflicts.is_empty() {
            return Ok(Homecoming { conflicts: planned.conflicts, brought: Vec::new() });
        }
        merge.plan = planned.plan;
        if merge.plan.deeds.is_empty() {
            return merge.merged(wanted);
        }
        merge.kept.begin(&merge.plan)?;
        merge.stage_all()?;
        merge.apply_all(wanted)
    }
}

/// One merge at work.
struct Merge<'m> {
    stack: &'m LayerStack,
    root: Root,
    kept: Kept,
    access: Access,
    plan: Plan,
}

impl Merge<'_> {
    fn stage_all(&self) -> Result<(), LayerError> {
        match self.try_stage_all() {
            Ok(()) => Ok(()),
            Err(error) => {
                // If this fails too, the next call tries it again.
                self.unstage_all()?;
                Err(error)
            }
        }
    }

    fn try_stage_all(&self) -> Result<(), LayerError> {
        for (index, deed) in self.plan.deeds.iter().enumerate() {
            // These come first in the plan: new contents may need the folders.
            if matches!(deed.work, Work::Loosen { .. }) {
                self.apply(index, deed)?;
            }
            self.stage(index, deed)?;
        }
        self.sync_folders()?;
        self.kept.enter(&Phase::Applying)
    }

    fn unstage_all(&self) -> Result<(), LayerError> {
        for (index, deed) in self.plan.deeds.iter().enumerate().rev() {
            self.unstage(index, deed)?;
        }
        self.kept.forget()
    }

    fn apply_all(&self, wanted: &[HomeStep]) -> Result<Homecoming, LayerError> {
        for (index, deed) in self.plan.deeds.iter().enumerate() {
            match self.apply(index, deed) {
                Ok(Done::Yes) => {}
                Ok(Done::Conflict) => {
                    let conflicts = vec![deed.path.clone()];
                    self.kept.enter(&Phase::Undoing { conflicts: conflicts.clone() })?;
                    self.undo_all()?;
                    return Ok(Homecoming { conflicts, brought: Vec::new() });
                }
                Err(error) => {
                    self.kept.enter(&Phase::Undoing { conflicts: Vec::new() })?;
                    self.undo_all()?;
                    return Err(error);
                }
            }
        }
        self.sync_folders()?;
        self.kept.enter(&Phase::Finishing)?;
        self.finish(wanted)
    }

    fn undo_all(&self) -> Result<(), LayerError> {
        for (index, deed) in self.plan.deeds.iter().enumerate().rev() {
            self.undo(index, deed)?;
        }
        self.sync_folders()?;
        self.kept.forget()
    }

    /// Moves the displaced files out of the real folder.
    fn finish(&self, wanted: &[HomeStep]) -> Result<Homecoming, LayerError> {
        let mut folders = BTreeSet::new();
        for (index, deed) in self.plan.deeds.iter().enumerate().filter(|(_, deed)| deed.has_temporary()) {
            let Some(aside) = self.settled_aside(index, deed)? else { continue };
            let Some(beside) = aside.node()? else { continue };
            let is_ours = matches!(&deed.work, Work::Put { after, .. } if beside.is_same(after));
            if is_ours {
                remove(&aside)?;
            } else {
                folders.insert(self.kept.take(&aside, &deed.place()?)?);
            }
        }
        self.sync_folders()?;
        self.kept.sync(&folders)?;
        self.kept.enter(&Phase::Closing)?;
        self.close(wanted)
    }

    /// Gives folders their modes. Nothing has to be reached through them afterwards.
    fn close(&self, wanted: &[HomeStep]) -> Result<Homecoming, LayerError> {
        for deed in &self.plan.deeds {
            let Work::Mode { from, to, .. } = &deed.work else { continue };
            match self.set_mode(deed, *from, *to) {
                // A mode that somebody gave in the meantime stays. A folder that cannot be reached had its turn before
                // a crash: children come before their parents.
                Ok(_) | Err(LayerError::File(FileError::Permission { .. })) => {}
                Err(error) => return Err(error),
            }
        }
        self.sync_folders()?;
        self.kept.enter(&Phase::Done)?;
        self.merged(wanted)
    }

    fn merged(&self, wanted: &[HomeStep]) -> Result<Homecoming, LayerError> {
        let mut brought = Vec::new();
        for step in wanted {
            let was_folder = step.before.as_ref().is_some_and(Node::is_folder);
            let is_removed = was_folder && step.after.is_none();
            let stayed = is_removed && matches!(self.root.folder(&inside(&step.path)?), Ok(Some(_)));
            if !stayed {
                brought.push(step.path.clone());
            }
        }
        Ok(Homecoming { conflicts: Vec::new(), brought })
    }

    /// Waits until the disk holds all names that the plan changes.
    fn sync_folders(&self) -> Result<(), LayerError> {
        let mut folders = BTreeSet::new();
        for deed in &self.plan.deeds {
            folders.insert(deed.anchor_path()?);
            folders.insert(deed.place()?.parent().map_or_else(PathBuf::new, Path::to_owned));
        }
        self.root.sync(&folders)
    }
}
