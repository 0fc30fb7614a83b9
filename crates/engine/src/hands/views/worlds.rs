//! The views of this machine: worlds over layers that lie outside of everything that they cover.

mod choice;
mod copying;
mod cover;
mod foreign;
mod ignored;
mod merging;
mod saving;
mod surroundings;

use std::collections::BTreeMap;
use std::fs;
use std::fs::File;
use std::io::ErrorKind;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::OnceLock;
use std::sync::PoisonError;

use rustix::fs::FlockOperation;
use rustix::fs::OFlags;
use rustix::fs::flock;
use seriatim_core::hash::Hash;
use seriatim_core::world::Isolation;
use seriatim_core::world::Overlap;
use seriatim_core::world::ViewMerged;

use super::Guest;
use super::Ignores;
use super::Knowledge;
use super::RunLayers;
use super::Seen;
use super::ViewDifference;
use super::ViewError;
use super::ViewOf;
use super::ViewPlace;
use super::ViewSize;
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
use crate::hands::inside;
use crate::hands::inside::AnswerInside;
use crate::hands::inside::Listening;
use crate::hands::layers;
use crate::hands::layers::LayerStack;
use crate::hands::layers::remove_layers;
use crate::hands::paths::decode_name;
use crate::hands::paths::encode_name;
use crate::hands::process::Spawn;
use crate::hands::world::NoWorld;
use crate::hands::world::WorldStep;
use crate::hands::world::probe;
pub use choice::in_force;
use cover::Ground;

/// The file of the store that says where the layers are.
const PLACE: &str = "worlds";
/// How the folder of the layers begins; the rest is random, since it lies in a folder that others use too.
const PREFIX: &str = "seriatim-";
const USUAL: &str = "/var/tmp";
/// The file of the store by which merges wait for each other.
const MERGING: &str = "merging.lock";
/// The file of the store by which processes say that they use the folder of the layers.
const IN_USE: &str = "worlds.lock";
/// The folder of the store with versions of files that gave way on a person's word.
const REPLACED: &str = "replaced";

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
    /// The folder of all layers, and the lock that keeps it there.
    root: Mutex<Option<(PathBuf, File)>>,
    foreign: foreign::Known,
    /// Views in whose copy a process of this engine works, or worked last. Each is locked against other engines.
    held: Mutex<BTreeMap<PathBuf, File>>,
}

impl Worlds {
    pub fn new(at: WorldsAt) -> Worlds {
        Worlds {
            at,
            probed: OnceLock::new(),
            root: Mutex::new(None),
            foreign: foreign::Known::default(),
            held: Mutex::new(BTreeMap::new()),
        }
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

    /// Returns the folder in which the folder of all layers is made.
    fn parent(&self) -> PathBuf {
        match (&self.at.dir, &self.at.temporary) {
            (Some(dir), _) | (None, Some(dir)) => dir.clone(),
            (None, None) => PathBuf::from(USUAL),
        }
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
        let (changes, nested) = merging::changes_and_repositories(&ground, folder, ignores)?;
        nested.iter().for_each(|path| effects.repository(path));
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
        // It was removed, or something else is in its place.
        let git = folder.counted().map(|upper| upper.join(".git"));
        if git.is_some_and(|git| fs::symlink_metadata(git).is_ok_and(|found| !found.is_dir())) {
            effects.git("HEAD");
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
        if wanted == Some(Isolation::None) {
            return Ok(Isolation::None);
        }
        in_force(&self.works(), wanted)
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
        } else if let Some(upper) = folder.counted().filter(|_| !guest.looks) {
            // What an earlier attempt did to the repository is on record, and ends with that attempt.
            folder.state.effects = self.seen(&folder, of, ignores)?.effects;
            folder.save()?;
            remove_anything(&upper.join(".git"))?;
        }
        if guest.isolation == Isolation::Copy {
            return self.enter_copy(&ground, &mut folder, of, guest, spawn, ignores);
        }
        let number = folder.layer_to_enter()?;
        self.foreign.copy_into(&ground, &folder, number)?;
        let mut plan = ground.plan(&self.at, &root, &folder, number, guest, spawn)?;
        let mut below = vec![];
        if let Some(unmerged) = &guest.on {
            let other = ViewOf { view: &unmerged.view, ..of };
            below.extend(self.deliverable(&ground, &folder, other, &unmerged.paths, ignores)?);
        }
        below.extend(cover::covering(&ground, &folder, &guest.covered)?);
        if !below.is_empty() {
            plan.covers
                .iter_mut()
                .filter(|cover| cover.at == ground.top)
                .for_each(|c| c.lowers.extend(below.clone()));
        }
        spawn.world = Some(plan);
        self.foreign.copy_repositories(&ground, &folder)?;
        for (name, value) in &mut spawn.env {
            if name == "TMPDIR" {
                "/tmp".clone_into(value);
            }
        }
        Ok(())
    }

    fn covering(&self, of: ViewOf<'_>) -> Result<Option<PathBuf>, ViewError> {
        let folder = ViewFolder::make(&self.root()?, of)?;
        let layer = folder.path.join(cover::COVERING);
        remove_layers(&layer)?;
        make_private(&layer)?;
        Ok(Some(layer))
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
        match self.open(of)? {
            Some(folder) if folder.state.layer.is_some() => self.seen(&folder, of, ignores),
            Some(folder) => Ok(Seen { isolation: folder.isolation(), ..none }),
            None => Ok(none),
        }
    }

    fn differences(&self, of: ViewOf<'_>, ignores: Ignores<'_>) -> Result<Vec<ViewDifference>, ViewError> {
        let Some(root) = self.recorded()? else { return Ok(vec![]) };
        let Some(folder) = ViewFolder::open(&root, of)? else { return Ok(vec![]) };
        let ground = Ground::of(&self.at, of.place);
        let changes = merging::changes(&ground, &folder, ignores)?;
        let ignored = ignored::files(&ground, &changes, ignores);
        let difference = |change| cover::difference(&ground, change);
        let mut found: Vec<ViewDifference> = changes.iter().filter_map(difference).collect();
        for difference in &mut found {
            difference.file.ignored = ignored.contains(&difference.file.path);
        }
        Ok(found)
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
        // Another run may merge into the same folder, and each has to see what the other one did.
        let _alone = lock(&self.at.store.join(MERGING), FlockOperation::LockExclusive)?;
        let replaced = self.at.store.join(REPLACED).join(of.run).join(Hash::of(key.as_bytes()).short());
        merging::merge(&ground, &mut folder, key, paths, overlap, &replaced, knowledge)
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

    fn size(&self, of: ViewOf<'_>, ignores: Ignores<'_>) -> Result<ViewSize, ViewError> {
        let Some(root) = self.recorded()? else { return Ok(ViewSize::default()) };
        let Some(folder) = ViewFolder::open(&root, of)? else { return Ok(ViewSize::default()) };
        let (files, bytes) = layers::size(&folder.path)?;
        let mut measured = ViewSize { files, bytes, ignored_files: 0 };
        if let Some(upper) = folder.counted() {
            let ground = Ground::of(&self.at, of.place);
            for ignored in ignored::folders(&ground, &upper, ignores)? {
                measured.ignored_files += layers::size(&upper.join(ignored))?.0;
            }
        }
        Ok(measured)
    }

    fn runs(&self) -> Result<Vec<RunLayers>, ViewError> {
        match self.recorded()? {
            Some(root) => folder::runs(&root),
            None => Ok(vec![]),
        }
    }

    fn drop_run(&self, run: &str) -> Result<(), ViewError> {
        let Some(root) = self.recorded()? else { return Ok(()) };
        self.let_go(&root.join(run));
        remove_layers(&root.join(run))?;
        // The folder of all layers goes with the last run, so that a store without work leaves nothing behind. Where
        // another process is about to use it, or it is not empty, it stays.
        *self.root.lock().unwrap_or_else(PoisonError::into_inner) = None;
        if lock(&self.at.store.join(IN_USE), FlockOperation::NonBlockingLockExclusive).is_ok() {
            let _ = fs::remove_dir(&root);
        }
        Ok(())
    }
}

/// Takes a lock of the store, which is held for as long as the file is open.
fn lock(path: &Path, how: FlockOperation) -> Result<File, ViewError> {
    let of = |error: std::io::Error| ViewError::from(FileError::of(path, &error));
    let mut options = File::options();
    let flags = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or(0);
    let file = options.write(true).create(true).truncate(false).mode(0o600).custom_flags(flags).open(path);
    let file = file.map_err(of)?;
    flock(&file, how).map_err(|errno| of(errno.into()))?;
    Ok(file)
}

/// Removes what an attempt put in the place of a folder, whatever it is.
fn remove_anything(path: &Path) -> Result<(), ViewError> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => Ok(remove_layers(path)?),
        Ok(_) => fs::remove_file(path).map_err(|error| FileError::of(path, &error).into()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(FileError::of(path, &error).into()),
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
