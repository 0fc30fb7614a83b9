//! What a view covers: the files of the work, the repository around them, and the home folder.

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use rustix::fs::CWD;
use rustix::fs::FileType;
use rustix::fs::Mode;
use rustix::fs::mknodat;
use rustix::io::Errno;
use seriatim_core::world::ViewFile;
use seriatim_core::world::ViewKind;

use super::WorldsAt;
use super::homes;
use crate::hands::files::FileError;
use crate::hands::home;
use crate::hands::layers::LayerChange;
use crate::hands::layers::Node;
use crate::hands::layers::remove_layers;
use crate::hands::paths::decode_name;
use crate::hands::paths::encode_name;
use crate::hands::process::Spawn;
use crate::hands::views::Covered;
use crate::hands::views::Guest;
use crate::hands::views::ViewDifference;
use crate::hands::views::ViewError;
use crate::hands::views::ViewSide;
use crate::hands::views::folder::ViewFolder;
use crate::hands::views::folder::make_private;
use crate::hands::world::Cover;
use crate::hands::world::WorldPlan;
use crate::hands::world::mounts_below;
use crate::home::TREES;

/// The layer of the home folder, in the folder of a view.
pub(super) const HOME: &str = "home";
/// The layer of a git folder that lies outside of the covered files.
pub(super) const GIT: &str = "git";
/// The layer that shows files in another version than the place has.
pub(super) const COVERING: &str = "covering";
/// What a world has of its own in the place of what this machine has there.
pub(super) const PRIVATE: [&str; 4] = ["/tmp", "/var/tmp", "/dev/shm", "/run"];
/// The folders around a place.
#[derive(Debug)]
pub(super) struct Ground {
    /// The folder that is covered: the top of the working tree in which the place lies.
    pub(super) top: PathBuf,
    /// The place, seen from there.
    inside: PathBuf,
    /// Git folders that do not lie below the top.
    pub(super) elsewhere: Vec<PathBuf>,
    /// The git folder of the working tree.
    pub(super) git: Option<PathBuf>,
}

impl Ground {
    pub(super) fn of(at: &WorldsAt, place: &Path) -> Ground {
        // A copy or working tree in the store is a world of its own: nothing around it belongs to the work.
        let own = tree_top(&at.store, place);
        let around = match &own {
            Some(top) => home::repository_at(top),
            None => home::repository_around(place),
        };
        let top = own.or_else(|| around.as_ref().map(|found| found.top.clone()));
        let top = top.unwrap_or_else(|| place.to_owned());
        let inside = place.strip_prefix(&top).unwrap_or(Path::new("")).to_owned();
        let mut elsewhere: Vec<PathBuf> = around
            .iter()
            .flat_map(|found| [found.common.clone(), found.git.clone()])
            .filter(|git| !git.starts_with(&top))
            .collect();
        elsewhere.sort();
        elsewhere.dedup();
        let all = elsewhere.clone();
        elsewhere.retain(|git| !all.iter().any(|other| git != other && git.starts_with(other)));
        Ground { top, inside, elsewhere, git: around.map(|found| found.git) }
    }

    /// A path of the covered folder as the work knows it; nothing for what lies beside the place.
    pub(super) fn inside<'p>(&self, path: &'p str) -> Option<&'p str> {
        let prefix = encode_name(self.inside.as_os_str());
        if prefix.is_empty() {
            return Some(path);
        }
        path.strip_prefix(prefix.as_str())?.strip_prefix('/')
    }

    /// A path of the work as the covered folder knows it.
    pub(super) fn outside(&self, path: &str) -> String {
        match encode_name(self.inside.as_os_str()) {
            prefix if prefix.is_empty() => path.to_owned(),
            prefix => format!("{prefix}/{path}"),
        }
    }

    /// The git folders that the last layer can have changed, each with its upper layer.
    pub(super) fn repositories(&self, folder: &ViewFolder) -> Vec<(PathBuf, PathBuf)> {
        let nested = folder.counted().map(|upper| (self.top.join(".git"), upper.join(".git")));
        let others = self.elsewhere.iter().enumerate();
        let others =
            others.map(|(n, path)| (path.clone(), folder.path.join(format!("{GIT}{n}")).join("upper")));
        // No link is followed: an agent may have put one there.
        let is_folder = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
        nested.into_iter().chain(others).filter(|(path, upper)| is_folder(path) && is_folder(upper)).collect()
    }

    /// Plans the world of one attempt.
    pub(super) fn plan(
        &self,
        at: &WorldsAt,
        root: &Path,
        folder: &ViewFolder,
        number: u32,
        guest: &Guest,
        spawn: &Spawn,
    ) -> Result<WorldPlan, ViewError> {
        let own = folder.path.join("own");
        // An earlier attempt may have put anything there, also a link where a mount point has to be.
        remove_layers(&own)?;
        make_private(&own)?;
        let mut plan = WorldPlan::new(own);
        plan.covers.push(Cover {
            at: self.top.clone(),
            lowers: vec![],
            upper: folder.upper(number),
            work: folder.work(number),
        });
        for (n, git) in self.elsewhere.iter().enumerate() {
            let layer = folder.path.join(format!("{GIT}{n}"));
            if !guest.looks {
                remove_layers(&layer)?;
            }
            plan.covers.push(fresh_cover(git, &layer)?);
        }
        plan.hide = vec![at.store.clone(), root.to_owned()];
        plan.hide.extend(homes::credentials(at));
        let home = homes::of(at).filter(|home| *home != self.top);
        if let Some(home) = home.filter(|home| is_coverable(home, root)) {
            plan.covers.push(fresh_cover(&home, &folder.path.join(HOME))?);
        }
        plan.share.clone_from(&guest.share);
        plan.show = shown(spawn, &plan);
        plan.network = guest.network;
        Ok(plan)
    }
}

/// The folder of the working tree or copy in the store that a place lies in.
fn tree_top(store: &Path, place: &Path) -> Option<PathBuf> {
    let trees = store.join(TREES);
    let name = place.strip_prefix(&trees).ok()?.components().next()?;
    Some(trees.join(name))
}

/// Finishes the layer that shows some files in another version: what is present was written there before.
pub(super) fn covering(
    ground: &Ground,
    folder: &ViewFolder,
    covered: &Covered,
) -> Result<Option<PathBuf>, ViewError> {
    if covered.absent.is_empty() && covered.present.is_empty() {
        return Ok(None);
    }
    let layer = folder.path.join(COVERING);
    for path in &covered.absent {
        let Some(inside) = decode_name(&ground.outside(path)).map(PathBuf::from) else { continue };
        let place = layer.join(&inside);
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent).map_err(|error| FileError::of(parent, &error))?;
        }
        whiteout(&place).map_err(|error| FileError::of(&place, &error.into()))?;
    }
    Ok(Some(layer))
}

/// Makes the node by which a layer says that there is nothing.
fn whiteout(at: &Path) -> Result<(), Errno> {
    match mknodat(CWD, at, FileType::CharacterDevice, Mode::empty(), 0) {
        Err(Errno::EXIST) | Ok(()) => Ok(()),
        Err(errno) => Err(errno),
    }
}

/// A cover with a layer of its own.
fn fresh_cover(at: &Path, layer: &Path) -> Result<Cover, ViewError> {
    let (upper, work) = (layer.join("upper"), layer.join("work"));
    for folder in [layer, &upper, &work] {
        make_private(folder)?;
    }
    Ok(Cover { at: at.to_owned(), lowers: vec![], upper, work })
}

/// In a user namespace a folder with a mount point below it cannot be covered, and nowhere one that holds the layers; it
/// is read-only then.
fn is_coverable(folder: &Path, layers: &Path) -> bool {
    mounts_below(folder).is_empty() && !layers.starts_with(folder)
}

/// Programs and scripts that the command names, and folders of programs, that a world would hide.
fn shown(spawn: &Spawn, plan: &WorldPlan) -> Vec<PathBuf> {
    let path = spawn.env.iter().find(|(name, _)| name == "PATH").map_or("", |(_, value)| value.as_str());
    let folders = std::env::split_paths(path);
    let named = spawn.argv.iter().map(PathBuf::from);
    let is_hidden = |path: &PathBuf| PRIVATE.iter().any(|private| path.starts_with(private));
    let is_there_already = |path: &PathBuf| {
        plan.covers.iter().any(|cover| path.starts_with(&cover.at))
            || plan.share.iter().any(|shared| path.starts_with(shared))
            || PRIVATE.iter().any(|private| path == Path::new(private))
    };
    let mut shown: Vec<PathBuf> = named
        .chain(folders)
        .filter(|path| path.is_absolute() && path.exists())
        .filter(|path| is_hidden(path) && !is_there_already(path))
        .collect();
    shown.sort();
    shown.dedup();
    shown
}

/// A change of the covered folder as a file of the work; nothing for folders, which come and go with their files.
pub(super) fn view_file(path: &str, change: &LayerChange) -> Option<ViewFile> {
    let is_folder = |node: &Option<Node>| matches!(node, Some(Node::Folder { .. }));
    let kind = match (&change.before, &change.after) {
        (_, Some(Node::Special)) => ViewKind::Special,
        (before, after) if is_folder(before) && is_folder(after) => return None,
        (None, after) if is_folder(after) => return None,
        (before, None) if is_folder(before) => return None,
        (None, _) => ViewKind::Added,
        (_, None) => ViewKind::Deleted,
        (Some(Node::File { hash: was, .. }), Some(Node::File { hash: is, .. })) if was == is => {
            ViewKind::Mode
        }
        _ => ViewKind::Modified,
    };
    let target = match &change.after {
        Some(Node::Link { target }) => Some(target.clone()),
        _ => None,
    };
    let (path, meanwhile) = (path.to_owned(), change.meanwhile);
    Some(ViewFile { path, kind, target, ignored: false, meanwhile, steers: None })
}

/// A change of the covered folder with both of its sides; nothing for folders and for what lies beside the place.
pub(super) fn difference(ground: &Ground, change: &LayerChange) -> Option<ViewDifference> {
    let file = view_file(ground.inside(&change.path)?, change)?;
    let real = decode_name(&change.path).map(|path| ground.top.join(path));
    let before = side(change.before.as_ref(), real);
    let after = side(change.after.as_ref(), change.source.clone());
    Some(ViewDifference { file, before, after })
}

fn side(node: Option<&Node>, at: Option<PathBuf>) -> Option<ViewSide> {
    Some(match node? {
        Node::File { mode, size, .. } => ViewSide::File { mode: *mode, bytes: *size, at: at? },
        Node::Link { target } => ViewSide::Link { target: target.clone() },
        Node::Folder { .. } => ViewSide::Folder,
        Node::Special => ViewSide::Special,
    })
}
