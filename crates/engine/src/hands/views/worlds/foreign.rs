//! Files of another owner or group, which an overlay of an ordinary user cannot copy up when they are written: they are
//! copied before, and as long as nobody touches the copies they are no change.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::PoisonError;

use rustix::fs::Access;
use rustix::fs::access;
use rustix::process::getegid;
use rustix::process::geteuid;

use super::cover::Ground;
use crate::hands::disk::Disk;
use crate::hands::files::FileError;
use crate::hands::files::Files;
use crate::hands::files::Write;
use crate::hands::layers::LayerChange;
use crate::hands::layers::LayerError;
use crate::hands::layers::LayerStack;
use crate::hands::layers::foreign;
use crate::hands::paths::decode_name;
use crate::hands::paths::encode_name;
use crate::hands::views::Covered;
use crate::hands::views::ViewError;
use crate::hands::views::folder::ViewFolder;

/// The list of the copies, in the folder of a layer. It is written when all of them are there.
const LIST: &str = "copied.json";
const LIST_BYTES_MAX: u64 = 64 << 20;
/// Far more than a project that is shared in a group has; each of them is copied for each view.
const FOREIGN_MAX: usize = 20_000;
/// Git never writes into these: it makes new ones.
const OBJECTS: [&str; 2] = [".git/objects", "objects"];

/// The foreign files of folders, each looked for once.
#[derive(Debug, Default)]
pub(super) struct Known(Mutex<BTreeMap<PathBuf, Vec<PathBuf>>>);

impl Known {
    /// Copies what another owner or group has, and what this user may write, into a layer that is about to be entered.
    pub(super) fn copy_into(
        &self,
        ground: &Ground,
        folder: &ViewFolder,
        number: u32,
        covered: &Covered,
    ) -> Result<(), ViewError> {
        // The superuser needs no user namespace.
        if geteuid().is_root() {
            return Ok(());
        }
        let upper = folder.upper(number);
        let list = upper.with_file_name(LIST);
        let is_new = !list.exists();
        let stack = folder.stack(&ground.top);
        // A layer that was entered before has its copies, but for the repository, which begins anew each time.
        // What is covered is this user's own by that.
        let is_covered = |path: &Path| {
            let names = covered.present.iter().chain(&covered.absent);
            names.into_iter().any(|name| Path::new(&ground.outside(name)) == path)
        };
        let missing = |path: &Path| (is_new || path.starts_with(".git")) && !is_covered(path);
        let copied = self.copy(&stack, &ground.top, &upper, &missing)?;
        if is_new {
            let text = serde_json::to_vec(&copied)
                .map_err(|error| FileError::Io { path: list.clone(), reason: error.to_string() })?;
            Disk.write(&list, &text, Write::REBUILDABLE.mode(0o600))?;
        }
        Ok(())
    }

    /// Does the same for git folders that lie elsewhere, whose layers are always new.
    pub(super) fn copy_repositories(&self, ground: &Ground, folder: &ViewFolder) -> Result<(), ViewError> {
        if geteuid().is_root() {
            return Ok(());
        }
        for (git, upper) in ground.repositories(folder) {
            if !git.starts_with(&ground.top) {
                let stack = LayerStack::new(vec![], &git, git.clone());
                self.copy(&stack, &git, &upper, &|_| true)?;
            }
        }
        Ok(())
    }

    fn copy(
        &self,
        stack: &LayerStack,
        top: &Path,
        upper: &Path,
        is_wanted: &dyn Fn(&Path) -> bool,
    ) -> Result<Vec<String>, ViewError> {
        let mut copied = vec![];
        for path in self.below(top)?.into_iter().filter(|path| is_wanted(path)) {
            if fs::symlink_metadata(upper.join(&path)).is_ok() {
                continue;
            }
            match stack.copy_up(upper, &path) {
                Ok(()) => copied.push(encode_name(path.as_os_str())),
                // Gone, or closed to this user: inside it is the same.
                Err(LayerError::Special { .. })
                | Err(LayerError::File(FileError::NotFound { .. } | FileError::Permission { .. })) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(copied)
    }

    fn below(&self, top: &Path) -> Result<Vec<PathBuf>, ViewError> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(top) {
            return Ok(found.clone());
        }
        let mut found = foreign(top, geteuid().as_raw(), getegid().as_raw(), FOREIGN_MAX)?;
        if found.len() >= FOREIGN_MAX {
            let reason = format!(
                "more than {FOREIGN_MAX} of its files belong to another user or group; give them to your own \
                 group with `chgrp -R`"
            );
            return Err(ViewError::BadFolder { path: top.to_owned(), reason });
        }
        found.retain(|path| {
            let place = top.join(path);
            let git = if top.join("HEAD").is_file() { OBJECTS[1] } else { OBJECTS[0] };
            let is_object = path.starts_with(git) && !place.is_dir();
            !is_object && !place.is_symlink() && access(&place, Access::WRITE_OK).is_ok()
        });
        known.insert(top.to_owned(), found.clone());
        Ok(found)
    }
}

/// Leaves out the copies that nobody touched: what differs there, somebody else changed in the folder itself.
pub(super) fn without_copies(
    folder: &ViewFolder,
    changes: Vec<LayerChange>,
) -> Result<Vec<LayerChange>, ViewError> {
    let Some(upper) = folder.counted() else { return Ok(changes) };
    let list = upper.with_file_name(LIST);
    let copied: BTreeSet<String> = match Disk.read(&list, LIST_BYTES_MAX) {
        Ok(found) => serde_json::from_slice(&found.bytes).unwrap_or_default(),
        Err(FileError::NotFound { .. }) => return Ok(changes),
        Err(error) => return Err(error.into()),
    };
    let when = fs::symlink_metadata(&list).map_err(|error| FileError::of(&list, &error))?;
    let is_untouched = |change: &LayerChange| {
        let place = decode_name(&change.path).filter(|_| copied.contains(&change.path));
        place
            .and_then(|place| fs::symlink_metadata(upper.join(place)).ok())
            .is_some_and(|found| (found.ctime(), found.ctime_nsec()) < (when.ctime(), when.ctime_nsec()))
    };
    Ok(changes.into_iter().filter(|change| !is_untouched(change)).collect())
}
