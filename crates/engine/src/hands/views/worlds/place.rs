//! The folder of all layers of a store: where it is, and how it is made.

use std::fs;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::path::PathBuf;
use std::sync::PoisonError;

use rustix::fs::FlockOperation;

use super::MERGING;
use super::Worlds;
use super::homes;
use super::lock;
use crate::hands::disk::Disk;
use crate::hands::files::FileError;
use crate::hands::files::Files;
use crate::hands::files::Write;
use crate::hands::paths::decode_name;
use crate::hands::paths::encode_name;
use crate::hands::views::ViewError;
use crate::hands::views::folder::make_private;
use crate::hands::world::NoWorld;
use crate::hands::world::probe;

/// The file of the store that says where the layers are.
const PLACE: &str = "worlds";
/// How the folder of the layers begins; the rest is random, since it lies in a folder that others use too.
const PREFIX: &str = "seriatim-";
const USUAL: &str = "/var/tmp";
/// The file of the store by which processes say that they use the folder of the layers.
pub(super) const IN_USE: &str = "worlds.lock";

impl Worlds {
    /// Returns the folder of all layers of this store, which is made where there is none.
    pub fn root(&self) -> Result<PathBuf, ViewError> {
        let mut known = self.root.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((root, _)) = known.as_ref() {
            return Ok(root.clone());
        }
        // While it is held, no other process takes the folder away.
        let in_use = lock(&self.at.store.join(IN_USE), FlockOperation::LockShared)?;
        let root = match self.recorded()? {
            Some(root) => root,
            None => self.make_root()?,
        };
        *known = Some((root.clone(), in_use));
        Ok(root)
    }

    /// Returns the folder that the store names, if it is still there and this user's alone.
    pub fn recorded(&self) -> Result<Option<PathBuf>, ViewError> {
        let Some(root) = self.named()? else { return Ok(None) };
        if fs::symlink_metadata(&root).is_err() {
            return Ok(None);
        }
        make_private(&root)?;
        Ok(Some(root))
    }

    /// Returns the folder that the store names, whether it is there or not.
    fn named(&self) -> Result<Option<PathBuf>, ViewError> {
        match Disk.read(&self.at.store.join(PLACE), 1 << 16) {
            Ok(found) => {
                let name = String::from_utf8(found.bytes).unwrap_or_default();
                Ok(decode_name(name.trim()).map(PathBuf::from))
            }
            Err(FileError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the folder in which the folder of all layers is made. Temporary files in the home folder are no reason to
    /// leave it read-only, as one that holds layers has to be.
    fn parent(&self) -> PathBuf {
        let home = homes::of(&self.at);
        let is_outside = |folder: &&PathBuf| match (fs::canonicalize(folder), &home) {
            (Ok(folder), Some(home)) => !folder.starts_with(home),
            (Ok(_), None) | (Err(_), _) => true,
        };
        let temporary = self.at.temporary.as_ref().filter(is_outside);
        self.at.dir.as_ref().or(temporary).cloned().unwrap_or_else(|| PathBuf::from(USUAL))
    }

    /// Returns where the layers are, or in which folder they will be, and whether worlds work there. Nothing is made.
    pub fn examine(&self) -> (PathBuf, Result<(), NoWorld>) {
        let folder = self.recorded().ok().flatten().unwrap_or_else(|| self.parent());
        let tried = probe(&folder);
        (folder, tried)
    }

    fn make_root(&self) -> Result<PathBuf, ViewError> {
        let parent = self.parent();
        let unusable = |reason: String| ViewError::BadFolder { path: parent.clone(), reason };
        let parent_place = fs::canonicalize(&parent).map_err(|error| unusable(error.to_string()))?;
        if parent_place.starts_with(&self.at.workspace) {
            return Err(unusable("layers cannot lie in the workspace that they cover".to_owned()));
        }
        // Of two processes that begin at once the first one decides: a view is found by all of them, or by none.
        let _alone = lock(&self.at.store.join(MERGING), FlockOperation::LockExclusive)?;
        if let Some(root) = self.recorded()? {
            return Ok(root);
        }
        let root = parent_place.join(format!("{PREFIX}{}", random()?));
        make_private(&root)?;
        let text = encode_name(root.as_os_str());
        Disk.write(&self.at.store.join(PLACE), text.as_bytes(), Write::DURABLE.mode(0o600))?;
        Ok(root)
    }
}

/// Sixteen letters that nobody can guess.
fn random() -> Result<String, ViewError> {
    let source = Path::new("/dev/urandom");
    let mut bytes = [0u8; 8];
    let read = File::open(source).and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(|error| FileError::of(source, &error))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
