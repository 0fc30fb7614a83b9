//! The views of this machine: worlds over layers that lie outside of everything that they cover.

mod cover;
mod ignored;
mod merging;

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
use crate::hands::inside;
use crate::hands::inside::AnswerInside;
use crate::hands::inside::Listening;
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
}

impl Worlds {
    pub fn new(at: WorldsAt) -> Worlds {
        Worlds { at, probed: OnceLock::new(), root: Mutex::new(None) }
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
        Ok(Seen { isolation: Isolation::World, files, effects })
    }
}

impl Views for Worlds {
    fn isolation(&self, wanted: Option<Isolation>) -> Result<Isolation, ViewError> {
        match wanted {
            Some(Isolation::None) => Ok(Isolation::None),
            Some(Isolation::World) => self.works().map(|()| Isolation::World).map_err(ViewError::NoWorld),
            Some(Isolation::Copy) => {
                Err(ViewError::NoCopy { reason: "copies are not built in yet".to_owned() })
            }
            None => match self.works() {
                Ok(()) => Ok(Isolation::World),
                Err(world) => Err(ViewError::NoIsolation { world }),
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
        let ground = Ground::of(&self.at, of.place);
        if guest.fresh {
            merging::keep_caches(&ground, &mut folder, ignores)?;
        } else if let Some(upper) = folder.counted() {
            // What an earlier attempt did to the repository is on record, and ends with that attempt.
            folder.state.effects = self.seen(&folder, of, ignores)?.effects;
            remove_layers(&upper.join(".git"))?;
        }
        let number = folder.layer_to_enter()?;
        spawn.world = Some(ground.plan(&self.at, &root, &folder, number, guest, spawn)?);
        for (name, value) in &mut spawn.env {
            if name == "TMPDIR" {
                "/tmp".clone_into(value);
            }
        }
        Ok(())
    }

    fn listen(&self, spawn: &mut Spawn, answer: AnswerInside) -> Result<Option<Listening>, ViewError> {
        let Some(plan) = &spawn.world else { return Ok(None) };
        let listening =
            Listening::start(&plan.own, answer).map_err(|error| FileError::of(&plan.own, &error))?;
        spawn.env.retain(|(name, _)| name != inside::SOCKET);
        spawn.env.push((inside::SOCKET.to_owned(), Listening::inside()));
        Ok(Some(listening))
    }

    fn change(&self, of: ViewOf<'_>, ignores: Ignores<'_>) -> Result<Seen, ViewError> {
        let none = Seen { isolation: Isolation::None, files: vec![], effects: vec![] };
        let Some(root) = self.recorded()? else { return Ok(none) };
        match ViewFolder::open(&root, of)? {
            Some(folder) if folder.state.layer.is_some() => self.seen(&folder, of, ignores),
            Some(_) => Ok(Seen { isolation: Isolation::World, ..none }),
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
        let Some(root) = self.recorded()? else { return Ok(ViewMerged::default()) };
        let Some(mut folder) = ViewFolder::open(&root, of)? else { return Ok(ViewMerged::default()) };
        if let Some((_, done)) = folder.state.merges.iter().find(|(known, _)| known == key) {
            return Ok(done.clone());
        }
        let ground = Ground::of(&self.at, of.place);
        merging::merge(&ground, &mut folder, key, paths, overlap, knowledge)
    }

    fn drop_view(&self, of: ViewOf<'_>) -> Result<(), ViewError> {
        let Some(root) = self.recorded()? else { return Ok(()) };
        Ok(remove_layers(&ViewFolder::at(&root, of))?)
    }

    fn list(&self, run: &str) -> Result<Vec<ViewPlace>, ViewError> {
        match self.recorded()? {
            Some(root) => folder::list(&root, run),
            None => Ok(vec![]),
        }
    }

    fn drop_run(&self, run: &str) -> Result<(), ViewError> {
        let Some(root) = self.recorded()? else { return Ok(()) };
        remove_layers(&root.join(run))?;
        // The folder of all layers goes with the last run, so that a store without work leaves nothing behind. Where
        // another run is at work it is not empty, and stays.
        let _ = fs::remove_dir(&root);
        *self.root.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
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
