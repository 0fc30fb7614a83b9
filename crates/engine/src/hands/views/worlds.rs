//! The views of this machine: worlds over layers that lie outside of everything that they cover.

mod choice;
mod copying;
mod cover;
mod foreign;
mod homes;
mod ignored;
mod merging;
mod place;
mod renewing;
mod saving;
mod surroundings;

use std::collections::BTreeMap;
use std::fs;
use std::fs::File;
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
use super::folder::remove_anything;
use crate::hands::files::FileError;
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
use crate::home::TREES;
pub use choice::coverable;
pub use choice::in_force;
use cover::Ground;
use place::IN_USE;

/// The file of the store by which merges wait for each other.
const MERGING: &str = "merging.lock";
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

    /// Makes the layers between the place and what a process writes, those that count more first.
    fn below(
        &self,
        ground: &Ground,
        folder: &mut ViewFolder,
        of: ViewOf<'_>,
        guest: &Guest,
        ignores: Ignores<'_>,
    ) -> Result<Vec<PathBuf>, ViewError> {
        let mut below = vec![];
        if let Some(unmerged) = &guest.on {
            let other = ViewOf { view: &unmerged.view, ..of };
            below.extend(self.deliverable(ground, folder, other, &unmerged.paths, ignores)?);
        }
        below.extend(cover::covering(ground, folder, &guest.covered)?);
        below.extend(renewing::renewed(ground, folder, guest)?);
        Ok(below)
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
        let layer = check.path.join(merging::DELIVERABLE);
        remove_layers(&layer)?;
        let Some(folder) = self.open(of)? else { return Ok(vec![]) };
        merging::deliverable(ground, &folder, paths, &layer, ignores)?;
        Ok(vec![layer])
    }

    /// The folders around the place at which the processes of a view found their own, where that is another one.
    fn stage(&self, folder: &ViewFolder) -> Option<Ground> {
        let at = folder.state.shown_at.as_deref().and_then(decode_name)?;
        Some(Ground::of(&self.at, Path::new(&at)))
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
        files.extend(merging::removed_of_deliverable(&ground, folder)?);
        // It was removed, or something else is in its place.
        let git = folder.counted().map(|upper| upper.join(".git"));
        if git.is_some_and(|git| fs::symlink_metadata(git).is_ok_and(|found| !found.is_dir())) {
            effects.git("HEAD");
        }
        let stage = self.stage(folder).unwrap_or(ground);
        for (path, upper) in stage.repositories(folder) {
            let stack = LayerStack::new(vec![upper], &path, folder.path.join("began"));
            if path.exists() {
                stack.change(&|_| false)?.iter().for_each(|change| effects.git(&change.path));
            }
        }
        if let Some(home) = homes::of(&self.at) {
            let upper = folder.path.join(cover::HOME).join("upper");
            if upper.exists() {
                let stack = LayerStack::new(vec![upper], &home, folder.path.join("began"));
                stack.change(&|_| false)?.iter().for_each(|_| effects.home());
            }
        }
        let effects = join(folder.state.effects.iter().cloned().chain(effects.list()));
        Ok(Seen { isolation: folder.isolation(), files, effects })
    }
}

impl Views for Worlds {
    fn isolation(
        &self,
        wanted: Option<Isolation>,
        place: &Path,
        share: &[PathBuf],
    ) -> Result<Isolation, ViewError> {
        if wanted == Some(Isolation::None) {
            return Ok(Isolation::None);
        }
        in_force(&self.works().and_then(|()| coverable(place, share)), wanted)
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
            // Nothing that the code under test wrote while it was checked has a say in the next check.
            folder.replace_layer(None)?;
            remove_layers(&folder.path.join(cover::HOME))?;
        } else if let Some(upper) = folder.counted().filter(|_| !guest.looks) {
            // What an earlier attempt did to the repository is on record, and ends with that attempt.
            folder.state.effects = self.seen(&folder, of, ignores)?.effects;
            folder.save()?;
            remove_anything(&upper.join(".git"))?;
        }
        if guest.isolation == Isolation::Copy {
            return self.enter_copy(&ground, &mut folder, of, guest, spawn, ignores);
        }
        folder.state.shown_at = guest.shown_at.as_ref().map(|at| encode_name(at.as_os_str()));
        let number = folder.layer_to_enter()?;
        folder.save()?;
        if let Some(at) = &guest.shown_at {
            spawn.cwd.clone_from(at);
        }
        let stage = self.stage(&folder);
        let stage = stage.as_ref().unwrap_or(&ground);
        self.foreign.copy_into(stage, &folder, number, &guest.covered)?;
        let mut plan = stage.plan(&self.at, &root, &folder, number, guest, spawn)?;
        let below = self.below(&ground, &mut folder, of, guest, ignores)?;
        if !below.is_empty() {
            plan.covers
                .iter_mut()
                .filter(|cover| cover.at == stage.top)
                .for_each(|c| c.lowers.extend(below.clone()));
        }
        spawn.world = Some(plan);
        self.foreign.copy_repositories(stage, &folder)?;
        for (name, value) in &mut spawn.env {
            if name == "TMPDIR" {
                "/tmp".clone_into(value);
            } else if name == "HOME" {
                homes::rename(&self.at, value);
            }
        }
        Ok(())
    }

    fn shown_at(&self, place: &Path, isolation: Isolation) -> Option<PathBuf> {
        let is_elsewhere = place.starts_with(self.at.store.join(TREES));
        (isolation == Isolation::World && is_elsewhere).then(|| self.at.workspace.clone())
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

    fn adopt(
        &self,
        of: ViewOf<'_>,
        from: ViewOf<'_>,
        paths: &[String],
        ignores: Ignores<'_>,
    ) -> Result<(), ViewError> {
        let (Some(mut folder), Some(from)) = (self.open(of)?, self.open(from)?) else { return Ok(()) };
        saving::adopt(&Ground::of(&self.at, of.place), &mut folder, &from, paths, ignores)
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

    fn keep(&self, of: ViewOf<'_>, paths: &[String], ignores: Ignores<'_>) -> Result<(), ViewError> {
        match self.open(of)? {
            Some(mut folder) => merging::keep(&Ground::of(&self.at, of.place), &mut folder, paths, ignores),
            None => Ok(()),
        }
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
