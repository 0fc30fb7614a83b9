//! Views without mounts: a process works in a full copy of the place, closed in by walls.
//!
//! The copy is there from before its process starts until somebody looks at the view the next time. Then it becomes the
//! layer of the view. The state of the view says which of both counts, so that a process that dies leaves one of them.

use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::sync::PoisonError;

use rustix::fs::FlockOperation;
use rustix::fs::flock;
use seriatim_core::world::Isolation;

use super::Worlds;
use super::cover::GIT;
use super::cover::Ground;
use super::surroundings;
use crate::hands::disk::Disk;
use crate::hands::files::FileError;
use crate::hands::files::Files;
use crate::hands::files::Write;
use crate::hands::layers::CopyListing;
use crate::hands::layers::LayerStack;
use crate::hands::layers::remove_layers;
use crate::hands::layers::seal_copy;
use crate::hands::process::Spawn;
use crate::hands::views::Guest;
use crate::hands::views::Ignores;
use crate::hands::views::ViewError;
use crate::hands::views::ViewOf;
use crate::hands::views::folder;
use crate::hands::views::folder::ViewFolder;
use crate::hands::views::folder::make_private;
use crate::hands::walls::ABI_MIN;
use crate::hands::walls::Walls;
use crate::hands::walls::landlock_abi;

/// The copy of the files of the work, in the folder of the copy.
const TREE: &str = "tree";
const LISTING: &str = "listing.json";
const LISTING_BYTES_MAX: u64 = 1 << 30;
/// The variables by which programs find the folder for temporary files.
const TEMPORARY: [&str; 3] = ["TMPDIR", "TMP", "TEMP"];

/// Returns why there can be no copies here; nothing where there can.
pub(super) fn obstacle() -> Option<String> {
    match landlock_abi() {
        None => Some("this kernel has no Landlock, or it is switched off".to_owned()),
        Some(abi) if abi < ABI_MIN => {
            Some(format!("this kernel has version {abi} of Landlock, and version {ABI_MIN} is needed"))
        }
        Some(_) => None,
    }
}

impl Worlds {
    /// Opens the folder of a view. A copy whose process has ended becomes a layer first.
    pub(super) fn open(&self, of: ViewOf<'_>) -> Result<Option<ViewFolder>, ViewError> {
        let Some(root) = self.recorded()? else { return Ok(None) };
        let Some(mut folder) = ViewFolder::open(&root, of)? else { return Ok(None) };
        // Where another engine's process is at work, the view is what it was before that process.
        self.settle(&mut folder, of)?;
        Ok(Some(folder))
    }

    /// Makes the layer of a copy. Returns false where another engine uses the copy.
    pub(super) fn settle(&self, folder: &mut ViewFolder, of: ViewOf<'_>) -> Result<bool, ViewError> {
        if !folder.state.copied {
            return Ok(true);
        }
        self.let_go(&folder.path);
        let Some(_lock) = lock(&folder.path)? else { return Ok(false) };
        let ground = Ground::of(&self.at, of.place);
        let copy = folder.copy();
        let number = folder.prepare_layer()?;
        let listings = read_listings(&copy.join(LISTING))?;
        for (n, listing) in listings.listings.iter().enumerate() {
            let (of, out) = match n.checked_sub(1) {
                None => (&ground.top, folder.upper(number)),
                Some(git) => {
                    let layer = git_layer(folder, git);
                    remove_layers(&layer)?;
                    make_private(&layer)?;
                    match ground.elsewhere.get(git) {
                        Some(path) => (path, layer.join("upper")),
                        None => continue,
                    }
                }
            };
            // The file that leads to a git folder elsewhere is the copy's own.
            let is_way = |path: &Path| n == 0 && !ground.elsewhere.is_empty() && path == Path::new(".git");
            let apart =
                |path: &Path| self.is_apart(&of.join(path)) || listings.shared(n, path) || is_way(path);
            seal_copy(&part(&copy, n), listing, &out, &apart)?;
        }
        folder.seal_layer(number)?;
        remove_layers(&copy)?;
        Ok(true)
    }

    /// Gives back the locks on views at or below a folder.
    pub(super) fn let_go(&self, folder: &Path) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.retain(|path, _| !path.starts_with(folder));
    }

    /// Whether a path of the place belongs to us, and to no copy.
    fn is_apart(&self, path: &Path) -> bool {
        path == self.at.store
    }

    /// Makes the copy in which a process works, and the walls around it.
    pub(super) fn enter_copy(
        &self,
        ground: &Ground,
        folder: &mut ViewFolder,
        of: ViewOf<'_>,
        guest: &Guest,
        spawn: &mut Spawn,
        ignores: Ignores<'_>,
    ) -> Result<(), ViewError> {
        refuse_moved_worktree(ground)?;
        let Some(held) = lock(&folder.path)? else {
            let reason = "another process works in it".to_owned();
            return Err(ViewError::BadFolder { path: folder.path.clone(), reason });
        };
        let copy = folder.copy();
        remove_layers(&copy)?;
        make_private(&copy)?;
        if folder.state.layer.is_none() {
            folder.mark_beginning()?;
        }
        let below = self.below(ground, folder, of, guest, ignores)?;
        let listings = self.copy_all(ground, folder, &below, guest)?;
        let text = serde_json::to_vec(&listings)
            .map_err(|error| FileError::Io { path: copy.clone(), reason: error.to_string() })?;
        Disk.write(&copy.join(LISTING), &text, Write::DURABLE.mode(0o600))?;
        folder.state.copied = true;
        folder.state.isolation = Some(Isolation::Copy);
        folder.save()?;
        self.held.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.path.clone(), held);
        let temporary = copy.join("tmp");
        make_private(&temporary)?;
        redirect(spawn, &ground.top, &part(&copy, 0), &temporary);
        let parts = (0..=ground.elsewhere.len()).map(|n| part(&copy, n));
        spawn.walls = Some(Walls {
            read_write: parts.chain([temporary]).chain(guest.share.iter().cloned()).collect(),
            read_only: surroundings::readable(&self.at, &self.root()?, ground),
            network: guest.network,
        });
        Ok(())
    }

    /// Copies the files of the work and the git folders that lie elsewhere.
    fn copy_all(
        &self,
        ground: &Ground,
        folder: &ViewFolder,
        below: &[PathBuf],
        guest: &Guest,
    ) -> Result<Listings, ViewError> {
        let copy = folder.copy();
        let began = folder::began(&folder.path);
        let tree = part(&copy, 0);
        let shared: Vec<PathBuf> = guest
            .share
            .iter()
            .filter(|path| path.exists())
            .filter_map(|path| path.strip_prefix(&ground.top).ok())
            .filter(|path| !path.as_os_str().is_empty())
            .map(Path::to_owned)
            .collect();
        let mut listings = Listings { listings: vec![], share: shared };
        let own = folder.counted().into_iter();
        let view = LayerStack::new(own.chain(below.iter().cloned()).collect(), &ground.top, &began);
        let under = LayerStack::new(below.to_vec(), &ground.top, &began);
        let is_moved = !ground.elsewhere.is_empty();
        let apart = |path: &Path| {
            self.is_apart(&ground.top.join(path))
                || listings.shared(0, path)
                || is_moved && path == Path::new(".git")
        };
        let listing = view.copy_out(&under, &tree, &apart)?;
        for path in &listings.share {
            let (from, to) = (ground.top.join(path), tree.join(path));
            let linked = to.parent().map_or(Ok(()), fs::create_dir_all);
            let linked = linked.and_then(|()| std::os::unix::fs::symlink(&from, &to));
            linked.map_err(|error| FileError::of(&to, &error))?;
        }
        listings.listings.push(listing);
        for (n, git) in ground.elsewhere.iter().enumerate() {
            let (plain, to) = (LayerStack::new(vec![], git, &began), part(&copy, n + 1));
            let apart = |path: &Path| self.is_apart(&git.join(path));
            listings.listings.push(plain.copy_out(&plain, &to, &apart)?);
            if let Some(inside) = ground.git.as_ref().and_then(|own| own.strip_prefix(git).ok()) {
                let text = format!("gitdir: {}\n", to.join(inside).display());
                let file = tree.join(".git");
                fs::write(&file, text).map_err(|error| FileError::of(&file, &error))?;
            }
        }
        Ok(listings)
    }
}

/// What was copied: the files of the work, then each git folder that lies elsewhere.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Listings {
    listings: Vec<CopyListing>,
    /// Folders of the work that the copy shares with the place.
    #[serde(with = "crate::hands::named::paths")]
    share: Vec<PathBuf>,
}

impl Listings {
    fn shared(&self, n: usize, path: &Path) -> bool {
        n == 0 && self.share.iter().any(|shared| shared == path)
    }
}

fn read_listings(path: &Path) -> Result<Listings, ViewError> {
    let found = Disk.read(path, LISTING_BYTES_MAX)?;
    serde_json::from_slice(&found.bytes)
        .map_err(|error| FileError::Io { path: path.to_owned(), reason: error.to_string() }.into())
}

/// Where a part of the copy is: the files of the work are the first one.
fn part(copy: &Path, n: usize) -> PathBuf {
    match n.checked_sub(1) {
        None => copy.join(TREE),
        Some(git) => copy.join(format!("{GIT}{git}")),
    }
}

fn git_layer(folder: &ViewFolder, n: usize) -> PathBuf {
    folder.path.join(format!("{GIT}{n}"))
}

/// Locks a view against other engines until the file is closed; nothing where one of them has locked it.
fn lock(folder: &Path) -> Result<Option<fs::File>, ViewError> {
    let opened = fs::File::open(folder).map_err(|error| FileError::of(folder, &error))?;
    match flock(&opened, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(opened)),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(errno) => Err(FileError::of(folder, &errno.into()).into()),
    }
}

/// Refuses a git folder that names its working tree by itself, as one of a submodule does: in a copy it would still mean
/// the real files.
fn refuse_moved_worktree(ground: &Ground) -> Result<(), ViewError> {
    let Some(git) = ground.git.as_ref() else { return Ok(()) };
    let config = fs::read_to_string(git.join("config")).unwrap_or_default();
    let names_it = |line: &str| line.trim().to_ascii_lowercase().starts_with("worktree");
    let common = fs::read_to_string(git.join("commondir")).unwrap_or_default();
    if config.lines().any(names_it) || Path::new(common.trim()).is_absolute() {
        let reason = format!(
            "the git folder {} names its working tree or its repository by path, and git would leave the copy",
            git.display()
        );
        return Err(ViewError::NoCopy { reason });
    }
    Ok(())
}

/// Lets a process work in the copy: its folder, the files that its command names in full, and its temporary files.
fn redirect(spawn: &mut Spawn, top: &Path, tree: &Path, temporary: &Path) {
    let moved = |path: &Path| path.strip_prefix(top).ok().map(|inside| tree.join(inside));
    for word in &mut spawn.argv {
        if let Some(path) = moved(Path::new(&*word)).filter(|path| path.symlink_metadata().is_ok()) {
            *word = path.to_string_lossy().into_owned();
        }
    }
    if let Some(path) = moved(&spawn.cwd) {
        // Joining nothing leaves a slash at the end.
        spawn.cwd = path.components().collect();
    }
    spawn.env.retain(|(name, _)| !TEMPORARY.contains(&name.as_str()));
    let text = |path: &Path| path.to_string_lossy().into_owned();
    spawn.env.extend(TEMPORARY.map(|name| (name.to_owned(), text(temporary))));
    spawn.env.push(("SERIATIM_WORKSPACE".to_owned(), text(&spawn.cwd)));
}
