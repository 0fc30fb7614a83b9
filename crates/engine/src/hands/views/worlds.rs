//! The views of this machine: worlds over layers that lie outside of everything that they cover.

mod copying;
mod cover;
mod ignored;
mod merging;
mod saving;
mod surroundings;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::OnceLock;
use std::sync::PoisonError;

use seriatim_core::world::Isolation;
use seriatim_core::world::Overlap;
use seriatim_core::world::ViewMerged;

use super::Guest;
use super::Ignores;
use super::Knowledge;
use super::Seen;
use super::ViewError;
use super::ViewOf;
use super::ViewPlace;
use super::Views;
use super::effects::Effects;
use super::effects::join;
use super::folder;
use super::folder::ViewFolder;
use super::folder::make_private;
use crate::hands::disk::Disk;
use crate::hands::files::FileError;
use crate::hands::files::Files;
use crate::hands::files::Write;
use crate::hands::git::TreeEdit;
use crate::hands::layers::LayerStack;
use crate::hands::layers::remove_layers;
use crate::hands::paths::decode_name;
use crate::hands::paths::encode_name;
use crate::hands::process::Spawn;
use crate::hands::world::NoWorld;
use crate::hands::world::WorldStep;
use crate::hands::world::probe;
use cover::Ground;

/// The file of the store that says where the layers are.
const PLACE: &str = "worlds";
/// How the folder of the layers begins; the rest is random, since it lies in a folder that others use too.
const PREFIX: &str = "seriatim-";
const USUAL: &str = "/var/tmp";

/// Where views find what they cover, and where they keep their layers.
#[derive(Clone, Debug)]
pub struct WorldsAt {
    pub workspace: PathBuf,
    pub store: PathBuf,
    /// The folder that the configuration names for layers.
    pub dir: Option<PathBuf>,
    /// The folder for temporary files that the user chose, where there is one.
    pub temporary: Option<PathBuf>,
    pub home: Option<PathBuf>,
}

/// Views of this machine.
#[derive(Debug)]
pub struct Worlds {
    at: WorldsAt,
    /// Whether worlds work here: the whole sequence is tried once.
    probed: OnceLock<Result<(), NoWorld>>,
    root: Mutex<Option<PathBuf>>,
    /// Views in whose copy a process of this engine works, or worked last. Each is locked against other engines.
    held: Mutex<BTreeMap<PathBuf, fs::File>>,
}

impl Worlds {
    pub fn new(at: WorldsAt) -> Worlds {
        Worlds { at, probed: OnceLock::new(), root: Mutex::new(None), held: Mutex::new(BTreeMap::new()) }
    }

    /// Returns whether worlds work here, and why not.
    pub fn works(&self) -> Result<(), NoWorld> {
        self.probed
            .get_or_init(|| {
                let unusable = |error: ViewError| NoWorld {
                    step: WorldStep::Layers,
                    reason: error.to_string(),
                    help: "name a folder on a local disk as `dir` in [worlds] of seriatim.toml".to_owned(),
                };
                probe(&self.root().map_err(unusable)?)
            })
            .clone()
    }

    /// Returns the folder of all layers of this store, which is made where there is none.
    pub fn root(&self) -> Result<PathBuf, ViewError> {
        let mut known = self.root.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(root) = known.as_ref() {
            return Ok(root.clone());
        }
        let root = match self.recorded()? {
            Some(root) => root,
            None => self.make_root()?,
        };
        *known = Some(root.clone());
        Ok(root)
    }

    /// Returns the folder that the store names, if it is still there and this user's alone.
    pub fn recorded(&self) -> Result<Option<PathBuf>, ViewError> {
        let named = match Disk.read(&self.at.store.join(PLACE), 1 << 16) {
            Ok(found) => String::from_utf8(found.bytes).unwrap_or_default(),
            Err(FileError::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let Some(root) = decode_name(named.trim()).map(PathBuf::from) else { return Ok(None) };
        if fs::symlink_metadata(&root).is_err() {
            return Ok(None);
        }
        make_private(&root)?;
        Ok(Some(root))
    }

    fn make_root(&self) -> Result<PathBuf, ViewError> {
        let parent = match (&self.at.dir, &self.at.temporary) {
            (Some(dir), _) | (None, Some(dir)) => dir.clone(),
            (None, None) => PathBuf::from(USUAL),
        };
        let unusable = |reason: String| ViewError::BadFolder { path: parent.clone(), reason };
        let parent_place = fs::canonicalize(&parent).map_err(|error| unusable(error.to_string()))?;
        if parent_place.starts_with(&self.at.workspace) {
            return Err(unusable("layers cannot lie in the workspace that they cover".to_owned()));
        }
        let root = parent_place.join(format!("{PREFIX}{}", random()?));
        make_private(&root)?;
        let text = encode_name(root.as_os_str());
        Disk.write(&self.at.store.join(PLACE), text.as_bytes(), Write::DURABLE.mode(0o600))?;
        Ok(root)
    }

    /// Makes the layer that holds exactly these files of a view, for a check that looks at them.
    fn deliverable(
        &self,
        ground: &Ground,
        check: &ViewFolder,
        of: ViewOf<'_>,
        paths: &[String],
        ignores: Ignores<'_>,
    ) -> Result<Vec<PathBuf>, ViewError> {
        let layer = check.path.join("deliverable");
        remove_layers(&layer)?;
        let Some(folder) = self.open(of)? else { return Ok(vec![]) };
        merging::deliverable(ground, &folder, paths, &layer, ignores)?;
        Ok(vec![layer])
    }

    /// Reads what a view changes: its files, and effects that never leave it.
    fn seen(&self, folder: &ViewFolder, of: ViewOf<'_>, ignores: Ignores<'_>) -> Result<Seen, ViewError> {
        let ground = Ground::of(&self.at, of.place);
        let mut effects = Effects::default();
        let mut files = vec![];
        let changes = merging::changes(&ground, folder, ignores)?;
        let ignored = ignored::files(&ground, &changes, ignores);
        for change in &changes {
            match ground.inside(&change.path) {
                Some(path) => files.extend(cover::view_file(path, change)),
                None => effects.beside(&change.path),
            }
        }
        for file in &mut files {
            file.ignored = ignored.contains(&file.path);
        }
        for (path, upper) in ground.repositories(folder) {
            let stack = LayerStack::new(vec![upper], &path, folder.path.join("began"));
            if path.exists() {
                stack.change(&|_| false)?.iter().for_each(|change| effects.git(&change.path));
            }
        }
        if let Some(home) = &self.at.home {
            let upper = folder.path.join(cover::HOME).join("upper");
            if upper.exists() {
                let stack = LayerStack::new(vec![upper], home, folder.path.join("began"));
                stack.change(&|_| false)?.iter().for_each(|_| effects.home());
            }
        }
        let effects = join(folder.state.effects.iter().cloned().chain(effects.list()));
        Ok(Seen { isolation: folder.isolation(), files, effects })
    }
}

impl Views for Worlds {
    fn isolation(&self, wanted: Option<Isolation>) -> Result<Isolation, ViewError> {
        match wanted {
            Some(Isolation::None) => Ok(Isolation::None),
            Some(Isolation::World) => self.works().map(|()| Isolation::World).map_err(ViewError::NoWorld),
            Some(Isolation::Copy) => match copying::obstacle() {
                None => Ok(Isolation::Copy),
                Some(reason) => Err(ViewError::NoCopy { reason }),
            },
            None => match (self.works(), copying::obstacle()) {
                (Ok(()), _) => Ok(Isolation::World),
                (Err(_), None) => Ok(Isolation::Copy),
                (Err(world), Some(copy)) => Err(ViewError::NoIsolation { world, copy }),
            },
        }
    }

    fn enter(
        &self,
        of: ViewOf<'_>,
        guest: &Guest,
        spawn: &mut Spawn,
        ignores: Ignores<'_>,
    ) -> Result<(), ViewError> {
        let root = self.root()?;
        let mut folder = ViewFolder::make(&root, of)?;
        if !self.settle(&mut folder, of)? {
            let reason = "another process works in it".to_owned();
            return Err(ViewError::BadFolder { path: folder.path, reason });
        }
        let ground = Ground::of(&self.at, of.place);
        if guest.fresh {
            merging::keep_caches(&ground, &mut folder, ignores)?;
        } else if let Some(upper) = folder.counted() {
            // What an earlier attempt did to the repository is on record, and ends with that attempt.
            folder.state.effects = self.seen(&folder, of, ignores)?.effects;
            remove_repository(&upper.join(".git"))?;
        }
        if guest.isolation == Isolation::Copy {
            return self.enter_copy(&ground, &mut folder, of, guest, spawn, ignores);
        }
        let number = folder.layer_to_enter()?;
        let mut plan = ground.plan(&self.at, &root, &folder, number, guest, spawn)?;
        if let Some(unmerged) = &guest.on {
            let other = ViewOf { view: &unmerged.view, ..of };
            let below = self.deliverable(&ground, &folder, other, &unmerged.paths, ignores)?;
            plan.covers
                .iter_mut()
                .filter(|cover| cover.at == ground.top)
                .for_each(|c| c.lowers.extend(below.clone()));
        }
        spawn.world = Some(plan);
        for (name, value) in &mut spawn.env {
            if name == "TMPDIR" {
                "/tmp".clone_into(value);
            }
        }
        Ok(())
    }

    fn edits(
        &self,
        of: ViewOf<'_>,
        paths: &[String],
        ignores: Ignores<'_>,
    ) -> Result<Vec<TreeEdit>, ViewError> {
        match self.open(of)? {
            Some(folder) => saving::edits(&Ground::of(&self.at, of.place), &folder, paths, ignores),
            None => Ok(vec![]),
        }
    }

    fn save(&self, of: ViewOf<'_>, ignores: Ignores<'_>) -> Result<(), ViewError> {
        match self.open(of)? {
            Some(folder) => saving::save(&Ground::of(&self.at, of.place), &folder, ignores),
            None => Ok(()),
        }
    }

    fn reset(&self, of: ViewOf<'_>, ignores: Ignores<'_>) -> Result<(), ViewError> {
        match self.open(of)? {
            Some(mut folder) => saving::reset(&Ground::of(&self.at, of.place), &mut folder, ignores),
            None => Ok(()),
        }
    }

    fn written(&self, of: ViewOf<'_>, path: &str) -> Result<Option<PathBuf>, ViewError> {
        let Some(folder) = self.open(of)? else { return Ok(None) };
        let Some(upper) = folder.counted() else { return Ok(None) };
        let ground = Ground::of(&self.at, of.place);
        let Some(inside) = decode_name(&ground.outside(path)) else { return Ok(None) };
        // The layer alone is looked at: what the place itself has, no process of this view wrote.
        Ok(LayerStack::new(vec![], &upper, folder::began(&folder.path)).find(&inside)?)
    }

    fn change(&self, of: ViewOf<'_>, ignores: Ignores<'_>) -> Result<Seen, ViewError> {
        let none = Seen { isolation: Isolation::None, files: vec![], effects: vec![] };
        match self.open(of)? {
            Some(folder) if folder.state.layer.is_some() => self.seen(&folder, of, ignores),
            Some(folder) => Ok(Seen { isolation: folder.isolation(), ..none }),
            None => Ok(none),
        }
    }

    fn merge(
        &self,
        of: ViewOf<'_>,
        key: &str,
        paths: &[String],
        overlap: Overlap,
        knowledge: &Knowledge<'_>,
    ) -> Result<ViewMerged, ViewError> {
        let Some(mut folder) = self.open(of)? else { return Ok(ViewMerged::default()) };
        if let Some((_, done)) = folder.state.merges.iter().find(|(known, _)| known == key) {
            return Ok(done.clone());
        }
        let ground = Ground::of(&self.at, of.place);
        merging::merge(&ground, &mut folder, key, paths, overlap, knowledge)
    }

    fn drop_view(&self, of: ViewOf<'_>) -> Result<(), ViewError> {
        let Some(root) = self.recorded()? else { return Ok(()) };
        let folder = ViewFolder::at(&root, of);
        self.let_go(&folder);
        Ok(remove_layers(&folder)?)
    }

    fn list(&self, run: &str) -> Result<Vec<ViewPlace>, ViewError> {
        match self.recorded()? {
            Some(root) => folder::list(&root, run),
            None => Ok(vec![]),
        }
    }

    fn drop_run(&self, run: &str) -> Result<(), ViewError> {
        let Some(root) = self.recorded()? else { return Ok(()) };
        self.let_go(&root.join(run));
        remove_layers(&root.join(run))?;
        // The folder of all layers goes with the last run, so that a store without work leaves nothing behind. Where
        // another run is at work it is not empty, and stays.
        let _ = fs::remove_dir(&root);
        *self.root.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }
}

/// Removes what a layer has of the repository, also where a process removed or replaced the whole of it.
fn remove_repository(path: &Path) -> Result<(), ViewError> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_dir() => Ok(Disk.remove(path)?),
        _ => Ok(remove_layers(path)?),
    }
}

/// Sixteen letters that nobody can guess.
fn random() -> Result<String, ViewError> {
    let source = Path::new("/dev/urandom");
    let mut bytes = [0u8; 8];
    let read = fs::File::open(source).and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(|error| FileError::of(source, &error))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
