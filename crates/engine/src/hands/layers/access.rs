//! Reading what an agent made unreadable: the owner opens it for the time of one call.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::fs::Metadata;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::path::PathBuf;

use rustix::process::geteuid;

use super::LayerError;

const PERMISSION_BITS: u32 = 0o7777;

/// Remembers the modes that were opened, and puts them back when it is dropped. Only layers are opened, never the real
/// folder: a layer belongs to one user and is sealed.
#[derive(Debug, Default)]
pub(super) struct Access {
    opened: RefCell<BTreeMap<PathBuf, u32>>,
}

impl Access {
    /// Makes a folder of a layer readable, if it is not.
    pub(super) fn open_folder(&self, path: &Path, found: &Metadata) -> Result<(), LayerError> {
        self.open(path, found.permissions().mode(), 0o500)
    }

    /// Makes a file of a layer readable, if it is not.
    pub(super) fn open_file(&self, path: &Path, found: &Metadata) -> Result<(), LayerError> {
        self.open(path, found.permissions().mode(), 0o400)
    }

    fn open(&self, path: &Path, mode: u32, needed: u32) -> Result<(), LayerError> {
        let mode = mode & PERMISSION_BITS;
        if mode & needed == needed || geteuid().is_root() {
            return Ok(());
        }
        fs::set_permissions(path, Permissions::from_mode(mode | needed))
            .map_err(|error| LayerError::of(path, &error))?;
        self.opened.borrow_mut().entry(path.to_owned()).or_insert(mode);
        Ok(())
    }

    /// Makes the folders between `root` and `path` readable, and the file at its end.
    pub(super) fn open_way(&self, root: &Path, path: &Path) -> Result<(), LayerError> {
        let Ok(inside) = path.strip_prefix(root) else { return Ok(()) };
        let mut place = root.to_owned();
        for part in inside.components() {
            place.push(part);
            let found = fs::symlink_metadata(&place).map_err(|error| LayerError::of(&place, &error))?;
            if found.is_dir() {
                self.open_folder(&place, &found)?;
            } else if found.is_file() {
                self.open_file(&place, &found)?;
            }
        }
        Ok(())
    }

    /// Returns the mode that the agent gave.
    pub(super) fn mode(&self, path: &Path, found: u32) -> u32 {
        self.opened.borrow().get(path).copied().unwrap_or(found) & PERMISSION_BITS
    }
}

impl Drop for Access {
    fn drop(&mut self) {
        // The deepest first: once its parent is closed again, a folder cannot be reached.
        for (path, mode) in self.opened.get_mut().iter().rev() {
            // The layer stays readable to its owner if this fails; nothing is lost.
            let _ = fs::set_permissions(path, Permissions::from_mode(*mode));
        }
    }
}
