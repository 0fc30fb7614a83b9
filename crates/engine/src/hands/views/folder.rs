//! The folder of one view: its layers, and which of them count.
//!
//! `view.json` is the truth: a layer that it does not name was never finished, and is removed. It is replaced as a
//! whole, so that a process that dies leaves the stack of before or the one after.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;
use seriatim_core::hash::Hash;
use seriatim_core::world::Effect;
use seriatim_core::world::Isolation;
use seriatim_journal::private;

use super::RunLayers;
use super::ViewError;
use super::ViewOf;
use super::ViewPlace;
use crate::hands::disk::Disk;
use crate::hands::files::FileError;
use crate::hands::files::Files;
use crate::hands::files::Write;
use crate::hands::layers::LayerStack;
use crate::hands::layers::remove_layers;
use crate::hands::paths::decode_name;
use crate::hands::paths::encode_name;

const STATE: &str = "view.json";
/// Layers that count no more: what a flow did not take of finished work.
const ASIDE: &str = "aside";
const STATE_BYTES_MAX: u64 = 16 << 20;
/// Longer names of views are cut in the names of their folders; the hash tells them apart.
const NAME_CHARS_MAX: usize = 40;

/// What is on disk about a view.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ViewState {
    /// The name of the view, as the flow gave it.
    pub(super) view: String,
    /// The folder that it covers, as [`encode_name`] writes it.
    pub(super) place: String,
    /// The number of the layer that counts; none while the view changes nothing.
    pub(super) layer: Option<u32>,
    /// The number of the last layer that was ever begun.
    pub(super) last: u32,
    /// What earlier attempts changed beside their work.
    #[serde(default)]
    pub(super) effects: Vec<Effect>,
    /// Keys of the merges that are done, with what came of them.
    #[serde(default)]
    pub(super) merges: Vec<(String, seriatim_core::world::ViewMerged)>,
    /// The weakest isolation in which a process ever worked in the view.
    #[serde(default)]
    pub(super) isolation: Option<Isolation>,
    /// Whether a process works, or worked, in a copy of which no layer was made yet.
    #[serde(default)]
    pub(super) copied: bool,
    /// The folder at whose path the last process of the view found the place, where that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) shown_at: Option<String>,
    /// The paths of the covered folder that the last check of this view saw in another version than the place had.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) seen_changed: BTreeSet<String>,
}

/// The folder of a view.
#[derive(Debug)]
pub(super) struct ViewFolder {
    pub(super) path: PathBuf,
    pub(super) state: ViewState,
}

impl ViewFolder {
    /// Returns where the folder of a view is, below the folder of all layers.
    pub(super) fn at(root: &Path, of: ViewOf<'_>) -> PathBuf {
        let readable: String = of
            .view
            .chars()
            .take(NAME_CHARS_MAX)
            .map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '.' { c } else { '_' })
            .collect();
        let place = encode_name(of.place.as_os_str());
        let hash = Hash::of_parts(&[of.view.as_bytes(), place.as_bytes()]);
        root.join(of.run).join(format!("{}-{}", readable.trim_start_matches('.'), hash.short()))
    }

    /// Opens the folder of a view; nothing where no process ever entered it.
    pub(super) fn open(root: &Path, of: ViewOf<'_>) -> Result<Option<ViewFolder>, ViewError> {
        let path = ViewFolder::at(root, of);
        Ok(read_state(&path)?.map(|state| ViewFolder { path, state }))
    }

    /// Opens the folder of a view, or makes it.
    pub(super) fn make(root: &Path, of: ViewOf<'_>) -> Result<ViewFolder, ViewError> {
        if let Some(known) = ViewFolder::open(root, of)? {
            return Ok(known);
        }
        let path = ViewFolder::at(root, of);
        make_private(&path)?;
        let (view, place) = (of.view.to_owned(), encode_name(of.place.as_os_str()));
        let made = ViewFolder { path, state: ViewState { view, place, ..ViewState::default() } };
        made.save()?;
        Ok(made)
    }

    pub(super) fn save(&self) -> Result<(), ViewError> {
        let text = serde_json::to_vec(&self.state)
            .map_err(|error| FileError::Io { path: self.path.clone(), reason: error.to_string() })?;
        Disk.write(&self.path.join(STATE), &text, Write::DURABLE.mode(0o600))?;
        Ok(())
    }

    fn layer(&self, number: u32) -> PathBuf {
        self.path.join(number.to_string())
    }

    pub(super) fn upper(&self, number: u32) -> PathBuf {
        self.layer(number).join("upper")
    }

    pub(super) fn work(&self, number: u32) -> PathBuf {
        self.layer(number).join("work")
    }

    /// Where the changes of the view are.
    pub(super) fn counted(&self) -> Option<PathBuf> {
        self.state.layer.map(|number| self.upper(number))
    }

    /// Returns the layer in which the next process works: the one that is there, or a new one.
    pub(super) fn layer_to_enter(&mut self) -> Result<u32, ViewError> {
        if let Some(number) = self.state.layer {
            // The kernel wants the folder that it needs for itself as it made it; a dead one may have left anything.
            remove_layers(&self.work(number))?;
            make_private(&self.work(number))?;
            return Ok(number);
        }
        let number = self.prepare_layer()?;
        make_private(&self.upper(number))?;
        self.replace_layer(Some(number))?;
        Ok(number)
    }

    /// Puts a layer that is finished in the place of the one that counts; without one the view changes nothing from now
    /// on.
    pub(super) fn replace_layer(&mut self, by: Option<u32>) -> Result<(), ViewError> {
        match self.exchange_layer(by)? {
            Some(old) => Ok(remove_layers(&self.layer(old))?),
            None => Ok(()),
        }
    }

    /// Does the same and keeps the old layer aside until the view is thrown away: it counts no more, and can be read.
    pub(super) fn set_layer_aside(&mut self, by: Option<u32>) -> Result<(), ViewError> {
        let Some(old) = self.exchange_layer(by)? else { return Ok(()) };
        let (from, aside) = (self.layer(old), self.path.join(ASIDE));
        make_private(&aside)?;
        let to = aside.join(old.to_string());
        fs::rename(&from, &to).map_err(|error| FileError::of(&from, &error))?;
        // Only what was changed is worth keeping.
        Ok(remove_layers(&to.join("work"))?)
    }

    /// Returns the layer that counted before, unless it still does.
    fn exchange_layer(&mut self, by: Option<u32>) -> Result<Option<u32>, ViewError> {
        if by.is_some() {
            self.mark_beginning()?;
        }
        self.swap_layer(by)
    }

    /// Puts the layer that a copy became in the place of the one from which the copy was made. It is compared with the
    /// place as it was before the copy.
    pub(super) fn seal_layer(&mut self, by: u32) -> Result<(), ViewError> {
        self.state.copied = false;
        match self.swap_layer(Some(by))? {
            Some(old) => Ok(remove_layers(&self.layer(old))?),
            None => Ok(()),
        }
    }

    fn swap_layer(&mut self, by: Option<u32>) -> Result<Option<u32>, ViewError> {
        let old = std::mem::replace(&mut self.state.layer, by);
        self.save()?;
        Ok(old.filter(|number| Some(*number) != by))
    }

    /// Makes the folders of a layer that does not count yet, but for the one of its changes.
    pub(super) fn prepare_layer(&mut self) -> Result<u32, ViewError> {
        self.state.last += 1;
        let number = self.state.last;
        remove_layers(&self.layer(number))?;
        for folder in [self.layer(number), self.work(number)] {
            make_private(&folder)?;
        }
        Ok(number)
    }

    /// Where the copy of the view is, while there is one.
    pub(super) fn copy(&self) -> PathBuf {
        self.path.join("copy")
    }

    /// How far the processes of the view were kept apart.
    pub(super) fn isolation(&self) -> Isolation {
        self.state.isolation.unwrap_or(Isolation::World)
    }

    fn began(&self) -> PathBuf {
        began(&self.path)
    }

    /// When the view was opened, by the clock of the file system.
    pub(super) fn began_at(&self) -> Option<(i64, i64)> {
        fs::symlink_metadata(self.began()).ok().map(|found| (found.ctime(), found.ctime_nsec()))
    }

    /// Remembers that the layers are compared with the place as it is from this moment on.
    pub(super) fn mark_beginning(&self) -> Result<(), ViewError> {
        Disk.remove(&self.began())?;
        Disk.write(&self.began(), b"", Write::REBUILDABLE.mode(0o600))?;
        Ok(())
    }

    /// The layer over a folder.
    pub(super) fn stack(&self, lower: &Path) -> LayerStack {
        LayerStack::new(self.counted().into_iter().collect(), lower, self.began())
    }
}

/// The file that tells since when the layers of a view are compared.
pub(super) fn began(view: &Path) -> PathBuf {
    view.join("began")
}

/// Makes a folder for this user alone.
pub(super) fn make_private(path: &Path) -> Result<(), ViewError> {
    private::make_folder(path)
        .map_err(|error| ViewError::BadFolder { path: path.to_owned(), reason: error.to_string() })
}

/// Removes what an attempt put in the place of a folder, whatever it is.
pub(super) fn remove_anything(path: &Path) -> Result<(), ViewError> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => Ok(remove_layers(path)?),
        Ok(_) => fs::remove_file(path).map_err(|error| FileError::of(path, &error).into()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(FileError::of(path, &error).into()),
    }
}

/// Lists the views of a run. A folder that no view ever counted in was never finished, and is none.
pub(super) fn list(root: &Path, run: &str) -> Result<Vec<ViewPlace>, ViewError> {
    let folder = root.join(run);
    let mut found = vec![];
    let entries = match Disk.list(&folder) {
        Ok(entries) => entries,
        Err(FileError::NotFound { .. }) => return Ok(found),
        Err(error) => return Err(error.into()),
    };
    for (name, _) in entries {
        let folder = folder.join(name);
        if let Some(state) = read_state(&folder)? {
            let place = decode_name(&state.place).map(PathBuf::from).unwrap_or_default();
            found.push(ViewPlace { view: state.view, place, folder });
        }
    }
    Ok(found)
}

/// Lists the runs that have a folder below the folder of all layers.
pub(super) fn runs(root: &Path) -> Result<Vec<RunLayers>, ViewError> {
    let entries = match Disk.list(root) {
        Ok(entries) => entries,
        Err(FileError::NotFound { .. }) => return Ok(vec![]),
        Err(error) => return Err(error.into()),
    };
    let layers = |name: String| {
        let folder = root.join(&name);
        folder.is_dir().then_some(RunLayers { run: name, folder })
    };
    let mut runs: Vec<RunLayers> = entries.into_iter().filter_map(|(name, _)| layers(name)).collect();
    runs.sort_by(|one, other| one.run.cmp(&other.run));
    Ok(runs)
}

fn read_state(folder: &Path) -> Result<Option<ViewState>, ViewError> {
    let path = folder.join(STATE);
    match Disk.read(&path, STATE_BYTES_MAX) {
        Ok(found) => serde_json::from_slice(&found.bytes)
            .map(Some)
            .map_err(|error| FileError::Io { path, reason: error.to_string() }.into()),
        Err(FileError::NotFound { .. } | FileError::NotDirectory { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
