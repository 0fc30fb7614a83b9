//! The deeds of a merge. Each can be done again after a crash: what lies beside a place tells how far it came.

use rustix::io::Errno;

use super::super::LayerError;
use super::super::node::MERGED_BITS;
use super::super::node::Node;
use super::super::node::same;
use super::super::writes;
use super::Merge;
use super::plan::Deed;
use super::plan::Work;
use super::root::Entry;
use super::undo::is_one_file;

/// How often two versions are exchanged when others save at the same moment.
const SWAPS_MAX: usize = 1_000;

/// What came of a deed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Done {
    Yes,
    /// The place is neither as before nor as wanted. The deed has left it as it is.
    Conflict,
}

impl Merge<'_> {
    pub(super) fn apply(&self, index: usize, deed: &Deed) -> Result<Done, LayerError> {
        match &deed.work {
            Work::Loosen { from, to } => self.set_mode(deed, *from, *to),
            // It comes last: files are still to be moved out of folders that will be closed.
            Work::Mode { from, to, made } => self.check_mode(deed, *from, *to, *made),
            Work::RemoveFile { before, after } => self.remove_file(index, deed, before, after.as_ref()),
            Work::RemoveFolder { emptied, .. } => self.remove_folder(deed, *emptied),
            Work::MakeFolder { .. } => self.make_folder(deed),
            Work::Put { before: Some(before), after, .. } => self.replace(index, deed, before, after),
            Work::Put { before: None, after, .. } => self.add(index, deed, after),
        }
    }

    fn check_mode(&self, deed: &Deed, from: u32, to: u32, made: bool) -> Result<Done, LayerError> {
        let expected = match self.root.node(&deed.place()?)? {
            Some(Node::Folder { mode }) => [from, to].contains(&(mode & MERGED_BITS)),
            _ => false,
        };
        Ok(if expected || made { Done::Yes } else { Done::Conflict })
    }

    /// Sets the mode of a folder that has the mode `from`. Bits that are not merged stay as they are.
    pub(super) fn set_mode(&self, deed: &Deed, from: u32, to: u32) -> Result<Done, LayerError> {
        let place = deed.place()?;
        let Some(Node::Folder { mode }) = self.root.node(&place)? else { return Ok(Done::Yes) };
        if mode & MERGED_BITS == to {
            return Ok(Done::Yes);
        }
        if mode & MERGED_BITS != from {
            return Ok(Done::Conflict);
        }
        let Some(folder) = self.root.folder(&place)? else { return Ok(Done::Conflict) };
        writes::set_mode(&folder, to | (mode & !MERGED_BITS))
            .map_err(|error| LayerError::of(&self.root.shown(&place), &error))?;
        Ok(Done::Yes)
    }

    fn make_folder(&self, deed: &Deed) -> Result<Done, LayerError> {
        let Some(entry) = self.root.entry(&deed.place()?)? else { return Ok(Done::Conflict) };
        match writes::make_folder(entry.spot()) {
            Ok(()) => Ok(Done::Yes),
            Err(Errno::EXIST) => {
                let is_folder = entry.node()?.is_some_and(|node| node.is_folder());
                Ok(if is_folder { Done::Yes } else { Done::Conflict })
            }
            Err(errno) => Err(entry.error(errno)),
        }
    }

    fn remove_folder(&self, deed: &Deed, emptied: bool) -> Result<Done, LayerError> {
        let Some(entry) = self.root.entry(&deed.place()?)? else { return Ok(Done::Yes) };
        match writes::remove_folder(entry.spot()) {
            Ok(()) | Err(Errno::NOENT) => Ok(Done::Yes),
            // Others have put something into it, so it stays; that is a conflict only where it is in the way.
            Err(Errno::NOTEMPTY | Errno::EXIST) if !emptied => Ok(Done::Yes),
            // After a crash the entry that replaces it may be there already; its own deed looks at that.
            Err(Errno::NOTDIR) => Ok(Done::Yes),
            Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(Done::Conflict),
            Err(errno) => Err(entry.error(errno)),
        }
    }

    fn remove_file(
        &self,
        index: usize,
        deed: &Deed,
        before: &Node,
        after: Option<&Node>,
    ) -> Result<Done, LayerError> {
        let Some(aside) = self.aside(index, deed)? else { return Ok(Done::Conflict) };
        let entry = self.root.entry(&deed.place()?)?;
        if aside.node()?.is_none() {
            let Some(entry) = &entry else { return Ok(Done::Yes) };
            let now = entry.node()?;
            if now.is_none() || same(now.as_ref(), after) {
                return Ok(Done::Yes);
            }
            if !same(now.as_ref(), Some(before)) {
                return Ok(Done::Conflict);
            }
            match writes::rename_new(entry.spot(), aside.spot()) {
                Ok(()) => {}
                Err(Errno::NOENT) => return Ok(Done::Yes),
                Err(errno) => return Err(entry.error(errno)),
            }
        } else if let Some(entry) = entry.as_ref().filter(|entry| is_one_file(&aside, entry)) {
            // A rename in two steps that a crash cut off.
            writes::unlink(entry.spot()).map_err(|errno| entry.error(errno))?;
        }
        if same(aside.node()?.as_ref(), Some(before)) {
            return Ok(Done::Yes);
        }
        // Somebody saved after the comparison: their version goes back.
        self.put_back(deed, &aside, entry.as_ref())?;
        Ok(Done::Conflict)
    }

    fn add(&self, index: usize, deed: &Deed, after: &Node) -> Result<Done, LayerError> {
        let Some(entry) = self.root.entry(&deed.place()?)? else { return Ok(Done::Conflict) };
        let Some(aside) = self.aside(index, deed)? else { return Ok(Done::Conflict) };
        if aside.node()?.is_none() {
            if entry.node()?.is_some() {
                // It was put in place before a crash, and nobody but us can have done that.
                return Ok(Done::Yes);
            }
            self.stage(index, deed)?;
        }
        match writes::rename_new(aside.spot(), entry.spot()) {
            Ok(()) => Ok(Done::Yes),
            Err(Errno::EXIST) if same(entry.node()?.as_ref(), Some(after)) => {
                writes::unlink(aside.spot()).map_err(|errno| aside.error(errno))?;
                Ok(Done::Yes)
            }
            Err(Errno::EXIST) => Ok(Done::Conflict),
            Err(errno) => Err(entry.error(errno)),
        }
    }

    fn replace(&self, index: usize, deed: &Deed, before: &Node, after: &Node) -> Result<Done, LayerError> {
        let Some(aside) = self.settled_aside(index, deed)? else { return Ok(Done::Conflict) };
        let Some(entry) = self.root.entry(&deed.place()?)? else { return Ok(Done::Conflict) };
        let mut beside = aside.node()?;
        if beside.is_none() {
            // Somebody removed our file. What is at the place tells whether that was before or after the exchange.
            if same(entry.node()?.as_ref(), Some(after)) {
                return Ok(Done::Yes);
            }
            self.stage(index, deed)?;
            beside = aside.node()?;
        }
        if same(beside.as_ref(), Some(after)) {
            let now = entry.node()?;
            if same(now.as_ref(), Some(after)) {
                writes::unlink(aside.spot()).map_err(|errno| aside.error(errno))?;
                return Ok(Done::Yes);
            }
            if !same(now.as_ref(), Some(before)) {
                return Ok(Done::Conflict);
            }
            match self.exchange(&aside, &entry) {
                Ok(()) => {}
                Err(Errno::NOENT) => return Ok(Done::Conflict),
                Err(errno) => return Err(entry.error(errno)),
            }
            beside = aside.node()?;
        }
        if same(beside.as_ref(), Some(before)) {
            return Ok(Done::Yes);
        }
        self.give_back(deed, &aside, &entry, after)?;
        Ok(Done::Conflict)
    }

    /// Exchanges back until the place has the newest version that somebody else saved. Afterwards our own version is
    /// aside, or an older one of theirs.
    pub(super) fn give_back(
        &self,
        deed: &Deed,
        aside: &Entry,
        entry: &Entry,
        ours: &Node,
    ) -> Result<(), LayerError> {
        let mut placed = Some(ours.clone());
        for _ in 0..SWAPS_MAX {
            let held = aside.node()?;
            match self.exchange(aside, entry) {
                Ok(()) => {}
                // They removed the file in the meantime. Their last version is put back: a file too many is better
                // than one that is lost.
                Err(Errno::NOENT) => return self.put_back(deed, aside, Some(entry)),
                Err(errno) => return Err(entry.error(errno)),
            }
            // If what came out is not what was put there, somebody saved in between, and that is newer.
            if same(aside.node()?.as_ref(), placed.as_ref()) {
                return Ok(());
            }
            placed = held;
        }
        Err(LayerError::Restless { path: deed.path.clone(), aside: aside.shown().to_owned() })
    }

    /// Moves what is aside to its place, if that is free, and into the folder of displaced files otherwise.
    pub(super) fn put_back(
        &self,
        deed: &Deed,
        aside: &Entry,
        entry: Option<&Entry>,
    ) -> Result<(), LayerError> {
        if let Some(entry) = entry {
            match writes::rename_new(aside.spot(), entry.spot()) {
                Ok(()) => return Ok(()),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(entry.error(errno)),
            }
        }
        self.kept.take(aside, &deed.place()?).map(drop)
    }

    /// Exchanges two entries. Where the file system cannot do that in one step, the file at the place gets a second name
    /// first, so that it is never without one.
    fn exchange(&self, aside: &Entry, entry: &Entry) -> rustix::io::Result<()> {
        match writes::exchange(aside.spot(), entry.spot()) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
            exchanged => return exchanged,
        }
        let old = aside.old_name();
        let old = writes::Spot { name: &old, ..aside.spot() };
        match writes::unlink(old) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno),
        }
        writes::link(entry.spot(), old)?;
        writes::rename(aside.spot(), entry.spot())?;
        writes::rename(old, aside.spot())
    }

    /// Returns the entry aside after an exchange in several steps was completed that a crash cut off.
    pub(super) fn settled_aside(&self, index: usize, deed: &Deed) -> Result<Option<Entry>, LayerError> {
        let Some(aside) = self.aside(index, deed)? else { return Ok(None) };
        let old = aside.old_name();
        let old_spot = writes::Spot { name: &old, ..aside.spot() };
        if !old_spot.exists() {
            return Ok(Some(aside));
        }
        let settled = if aside.node()?.is_some() {
            // The place still has the file, so this is a second name of it.
            writes::unlink(old_spot)
        } else {
            writes::rename(old_spot, aside.spot())
        };
        settled.map_err(|errno| aside.error(errno))?;
        Ok(Some(aside))
    }

    /// Returns the entry beside the place of a deed. `None` if its folder is gone.
    pub(super) fn aside(&self, index: usize, deed: &Deed) -> Result<Option<Entry>, LayerError> {
        self.root.entry(&self.plan.temporary(index, deed)?)
    }
}
