//! Writing projections: atomically, only what changed, and never over somebody else's edit without keeping it.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use seriatim_core::hash::Hash;
use seriatim_core::projection::Fact;
use seriatim_core::projection::Image;
use seriatim_flows::registry::Flow;
use seriatim_flows::request::FreshIds;

use crate::hands::files::FileError;
use crate::hands::files::Files;
use crate::hands::files::Write;
use crate::hands::paths::Workspace;
use crate::ids;
use crate::ids::is_placeholder;
use crate::listen::Listener;
use crate::perform::folder_or_root;

const IMAGE_BYTES_MAX: u64 = 256 << 20;

/// Where projections go.
#[derive(Clone)]
pub struct Disk {
    pub files: Arc<dyn Files>,
    pub workspace: Workspace,
    /// The folder of runtime state, where foreign edits are kept.
    pub state: PathBuf,
}

impl Disk {
    /// Writes images. They can be made again at any time, so nothing waits for the disk.
    pub(super) fn write(&self, images: &[Image], written: &mut Vec<String>) -> Result<(), FileError> {
        for image in images {
            let path = self.workspace.resolve_in(self.files.as_ref(), Path::new(&image.path))?;
            self.files.write(&path, image.text.as_bytes(), Write::REBUILDABLE)?;
            if !written.contains(&image.path) {
                written.push(image.path.clone());
            }
        }
        Ok(())
    }

    /// What is on the disk, if anything.
    pub fn hash(&self, path: &str) -> Result<Option<(Hash, Vec<u8>)>, FileError> {
        let path = self.workspace.resolve_in(self.files.as_ref(), Path::new(path))?;
        match self.files.read(&path, IMAGE_BYTES_MAX) {
            Ok(found) => Ok(Some((found.hash, found.bytes))),
            Err(FileError::NotFound { .. }) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Keeps a foreign edit beside the journal before it is replaced.
    fn keep_foreign(&self, path: &str, bytes: &[u8]) -> Result<String, FileError> {
        let name = format!("{}-{}", Hash::of(bytes).short(), path.replace('/', "-"));
        let kept = self.state.join("foreign").join(name);
        self.files.write(&kept, bytes, Write::DURABLE.mode(0o600))?;
        Ok(self.workspace.relative(&kept).unwrap_or_else(|| kept.display().to_string()))
    }

    /// Gives ids back that were reserved for a run and that nothing will come of any more.
    pub(super) fn release(&self, reserved: &[(String, FreshIds)]) -> Result<(), FileError> {
        ids::release(self.files.as_ref(), &self.workspace, reserved)
    }

    /// Removes what an engine that died left half written beside the files of a run.
    fn clear_temporary<'p>(&self, paths: impl Iterator<Item = &'p String>) {
        let folders: BTreeSet<_> = paths.filter_map(|path| Path::new(path).parent()).collect();
        let files = self.files.as_ref();
        for folder in folders
            .into_iter()
            .filter_map(|folder| self.workspace.resolve_in(files, folder_or_root(folder)).ok())
        {
            // It does no harm where it stays.
            let _ = self.files.clear_temporary(&folder);
        }
    }

    /// Brings the files of a run up to what its journal says; tells about edits that were not ours.
    pub(super) fn mend(
        &self,
        flow: &Flow,
        input: &Value,
        facts: &[Fact],
        listener: &mut dyn Listener,
    ) -> Result<Vec<String>, FileError> {
        let images = images_of(flow, input, facts);
        self.clear_temporary(images.keys());
        let mut paths = Vec::new();
        for (path, wanted) in images {
            let found = self.hash(&path)?;
            if let Some((hash, bytes)) = &found {
                if *hash == Hash::of(wanted.as_bytes()) {
                    paths.push(path);
                    continue;
                }
                if !is_placeholder(bytes) && !was_ours(flow, input, facts, &path, *hash) {
                    let kept = self.keep_foreign(&path, bytes)?;
                    listener.warn(&format!(
                        "{path} was changed by somebody else; it is written anew and the change is kept in {kept}"
                    ));
                }
            }
            let target = self.workspace.resolve_in(self.files.as_ref(), Path::new(&path))?;
            self.files.write(&target, wanted.as_bytes(), Write::REBUILDABLE)?;
            paths.push(path);
        }
        Ok(paths)
    }
}

/// All files of a run as they should be.
pub fn images_of(flow: &Flow, input: &Value, facts: &[Fact]) -> BTreeMap<String, String> {
    let mut projector = (flow.projector)(input);
    facts.iter().for_each(|fact| projector.apply(fact));
    projector.changed().into_iter().map(|image| (image.path, image.text)).collect()
}

/// Whether the file once was as it is now: then it is only behind, because the engine died between commit and write.
fn was_ours(flow: &Flow, input: &Value, facts: &[Fact], path: &str, hash: Hash) -> bool {
    let mut projector = (flow.projector)(input);
    facts.iter().any(|fact| {
        projector.apply(fact);
        projector.changed().iter().any(|i| i.path == path && Hash::of(i.text.as_bytes()) == hash)
    })
}
