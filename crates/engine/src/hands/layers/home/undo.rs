//! Undoing a merge, in the opposite order. Nothing that others saved meanwhile is overwritten or lost.

use rustix::fs::AtFlags;
use rustix::fs::statat;
use rustix::io::Errno;

use super::super::LayerError;
use super::super::node::Node;
use super::super::node::same;
use super::super::writes;
use super::Merge;
use super::plan::Deed;
use super::plan::MADE_MODE;
use super::plan::Work;
use super::root::Entry;

impl Merge<'_> {
    pub(super) fn undo(&self, index: usize, deed: &Deed) -> Result<(), LayerError> {
        match &deed.work {
            // A mode that somebody else gave stays.
            Work::Loosen { from, to } => self.set_mode(deed, *to, *from).map(drop),
            // These are set when nothing is undone any more.
            Work::Mode { .. } => Ok(()),
            Work::RemoveFile { before, .. } => self.undo_remove_file(index, deed, before),
            Work::RemoveFolder { mode, .. } => self.undo_remove_folder(deed, *mode),
            Work::MakeFolder { mode } => self.undo_make_folder(deed, *mode),
            Work::Put { before: Some(_), after, .. } => self.undo_replace(index, deed, after),
            Work::Put { before: None, after, .. } => self.undo_add(index, deed, after),
        }
    }

    /// Removes what was written beside its place before anything was applied. All of it is ours.
    pub(super) fn unstage(&self, index: usize, deed: &Deed) -> Result<(), LayerError> {
        if deed.has_temporary() {
            let Some(aside) = self.aside(index, deed)? else { return Ok(()) };
            return remove(&aside);
        }
        match &deed.work {
            Work::Loosen { from, to } => self.set_mode(deed, *to, *from).map(drop),
            _ => Ok(()),
        }
    }

    fn undo_remove_file(&self, index: usize, deed: &Deed, before: &Node) -> Result<(), LayerError> {
        let Some(aside) = self.aside(index, deed)? else { return Ok(()) };
        if aside.node()?.is_none() {
            return Ok(());
        }
        let entry = self.root.entry(&deed.place()?)?;
        let now = match &entry {
            Some(entry) => entry.node()?,
            None => None,
        };
        // A rename in two steps that a crash cut off: both names lead to the file.
        if same(now.as_ref(), Some(before)) && same(aside.node()?.as_ref(), Some(before)) {
            return remove(&aside);
        }
        self.put_back(deed, &aside, entry.as_ref())
    }

    fn undo_remove_folder(&self, deed: &Deed, mode: u32) -> Result<(), LayerError> {
        let Some(entry) = self.root.entry(&deed.place()?)? else { return Ok(()) };
        match writes::make_folder(entry.spot()) {
            // If it is there, a crash may have come between making it and giving it its mode.
            Ok(()) | Err(Errno::EXIST) => self.set_mode(deed, MADE_MODE, mode).map(drop),
            Err(errno) => Err(entry.error(errno)),
        }
    }

    fn undo_make_folder(&self, deed: &Deed, mode: u32) -> Result<(), LayerError> {
        let Some(entry) = self.root.entry(&deed.place()?)? else { return Ok(()) };
        match writes::remove_folder(entry.spot()) {
            Ok(()) | Err(Errno::NOENT | Errno::NOTDIR) => Ok(()),
            // Others have put something into it, so it stays.
            Err(Errno::NOTEMPTY | Errno::EXIST) => self.set_mode(deed, MADE_MODE, mode).map(drop),
            Err(errno) => Err(entry.error(errno)),
        }
    }

    fn undo_replace(&self, index: usize, deed: &Deed, after: &Node) -> Result<(), LayerError> {
        let Some(aside) = self.settled_aside(index, deed)? else { return Ok(()) };
        let Some(beside) = aside.node()? else { return Ok(()) };
        if !beside.is_same(after) {
            let Some(entry) = self.root.entry(&deed.place()?)? else { return Ok(()) };
            self.give_back(deed, &aside, &entry, after)?;
        }
        match aside.node()? {
            Some(beside) if !beside.is_same(after) => self.kept.take_aside(&aside).map(drop),
            _ => remove(&aside),
        }
    }

    fn undo_add(&self, index: usize, deed: &Deed, after: &Node) -> Result<(), LayerError> {
        let Some(aside) = self.aside(index, deed)? else { return Ok(()) };
        let entry = self.root.entry(&deed.place()?)?;
        if aside.node()?.is_none() {
            let Some(entry) = &entry else { return Ok(()) };
            // Whoever edited it since has made it theirs.
            if !same(entry.node()?.as_ref(), Some(after)) {
                return Ok(());
            }
            match writes::rename_new(entry.spot(), aside.spot()) {
                Ok(()) => {}
                Err(Errno::NOENT) => return Ok(()),
                Err(errno) => return Err(entry.error(errno)),
            }
        }
        if !same(aside.node()?.as_ref(), Some(after)) {
            return self.put_back(deed, &aside, entry.as_ref());
        }
        if let Some(entry) = entry.filter(|entry| is_one_file(&aside, entry)) {
            // A rename in two steps that a crash cut off: the place has it too.
            remove(&entry)?;
        }
        remove(&aside)
    }
}

/// Returns whether two names lead to one file.
pub(super) fn is_one_file(one: &Entry, other: &Entry) -> bool {
    let node = |entry: &Entry| {
        let spot = entry.spot();
        statat(spot.folder, spot.name, AtFlags::SYMLINK_NOFOLLOW).map(|found| (found.st_dev, found.st_ino))
    };
    matches!((node(one), node(other)), (Ok(one), Ok(other)) if one == other)
}

/// Removes a file of ours, if it is there.
pub(super) fn remove(entry: &Entry) -> Result<(), LayerError> {
    match writes::unlink(entry.spot()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(entry.error(errno)),
    }
}
