//! Finds the store of a workspace: below the git common dir, or in `.seriatim/` where there is no git.
//!
//! Everything here costs a few looks at files and starts no program: hooks ask on every call.

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use seriatim_core::hash::Hash;
use seriatim_journal::Error;
use seriatim_journal::Relocated;
use seriatim_journal::finish_relocation;
use seriatim_journal::private;
use seriatim_journal::relocate;

use crate::hands::paths::decode_name;
use crate::hands::paths::encode_name;

/// The folder of the store in a workspace without git, and the name by which the guard's records mean the store.
pub const PLAIN: &str = ".seriatim";
/// The folder of the store in the git common dir.
const IN_GIT: &str = "seriatim";
/// The workspace that a repository was made with, among those that share a store.
const MAIN: &str = ".";
/// What a store has in it, or at least one of these.
const CONTENT: [&str; 2] = ["journal.db", MARK];
/// The file that marks a workspace as guarded, in its store.
pub(crate) const MARK: &str = "guard.json";

/// The folder of per-attempt folders, in the store.
pub const ATTEMPTS: &str = "attempts";
/// The folder of working trees and copies, in the store.
pub const TREES: &str = "trees";

/// A repository, as its folder `.git` or the file of that name tells.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Repository {
    /// The working tree in which the workspace lies.
    top: PathBuf,
    /// The git folder of that working tree.
    git: PathBuf,
    /// What all working trees of the repository share.
    common: PathBuf,
    /// The working tree that the repository was made with; a bare one has none.
    main: Option<PathBuf>,
}

/// A workspace, and where its store is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
    store: PathBuf,
    repository: Option<Repository>,
}

/// What `settle` found or did, to be told to people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The store is where it belongs.
    Already,
    Moved {
        from: PathBuf,
        to: PathBuf,
    },
    /// A process still works with the store at the old place, which is used meanwhile.
    Later {
        at: PathBuf,
    },
    /// The repository has a store; the one at the old place is another, and is not used.
    Second {
        unused: PathBuf,
        used: PathBuf,
    },
}

impl Repository {
    /// The repository whose working tree `folder` lies in.
    fn around(folder: &Path) -> Option<Repository> {
        folder.ancestors().find_map(Repository::at)
    }

    /// The repository whose working tree has its top at `top`.
    fn at(top: &Path) -> Option<Repository> {
        let dot = top.join(".git");
        let found = fs::metadata(&dot).ok()?;
        let (git, common) = if found.is_dir() {
            let git = dot.canonicalize().ok()?;
            (git.clone(), git)
        } else {
            let text = fs::read_to_string(&dot).ok()?;
            let git = top.join(text.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
            let common = match fs::read_to_string(git.join("commondir")) {
                Ok(text) => git.join(text.trim()).canonicalize().ok()?,
                Err(_) => git.clone(),
            };
            (git, common)
        };
        if !common.join("HEAD").is_file() {
            return None;
        }
        let main = if git == common {
            Some(top.to_owned())
        } else {
            common.parent().filter(|_| common.ends_with(".git")).map(Path::to_owned)
        };
        Some(Repository { top: top.to_owned(), git, common, main })
    }

    fn store(&self) -> PathBuf {
        self.common.join(IN_GIT)
    }

    /// The folder that workspaces are named from.
    fn base(&self) -> &Path {
        self.main.as_deref().or_else(|| self.common.parent()).unwrap_or(&self.common)
    }

    fn key(&self, root: &Path) -> String {
        match root.strip_prefix(self.base()) {
            Ok(inside) if inside.as_os_str().is_empty() => MAIN.to_owned(),
            Ok(inside) => encode_name(inside.as_os_str()),
            Err(_) => encode_name(root.as_os_str()),
        }
    }
}

/// Where git keeps what belongs to a working tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GitFolders {
    /// The top of the working tree.
    pub(crate) top: PathBuf,
    pub(crate) git: PathBuf,
    pub(crate) common: PathBuf,
}

impl From<Repository> for GitFolders {
    fn from(found: Repository) -> GitFolders {
        GitFolders { top: found.top, git: found.git, common: found.common }
    }
}

/// Returns the git folders of the working tree in which a folder lies.
pub(crate) fn repository_around(folder: &Path) -> Option<GitFolders> {
    Repository::around(folder).map(GitFolders::from)
}

/// Returns the git folders of the working tree that has its top at a folder.
pub(crate) fn repository_at(top: &Path) -> Option<GitFolders> {
    Repository::at(top).map(GitFolders::from)
}

/// The name of the mark of a workspace in a store that it shares with others.
pub(crate) fn mark_name(key: &str) -> String {
    if key == MAIN { MARK.to_owned() } else { format!("guard-{}.json", Hash::of(key.as_bytes()).short()) }
}

fn has_store(folder: &Path) -> bool {
    CONTENT.iter().any(|name| folder.join(name).symlink_metadata().is_ok())
}

impl Home {
    /// Looks where the store of the workspace at `root` is. A store at the old place is used until it is moved.
    pub fn of(root: &Path) -> Home {
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let repository = Repository::around(&root);
        let store = match &repository {
            None => root.join(PLAIN),
            Some(repository) => {
                let store = repository.store();
                let old = || old_places(&root, repository).into_iter().find(|old| has_store(old));
                if store.symlink_metadata().is_ok() { store } else { old().unwrap_or(store) }
            }
        };
        Home { root, store, repository }
    }

    /// The workspace, without links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of the store.
    pub fn store(&self) -> &Path {
        &self.store
    }

    /// Where the workspace lies in its repository; empty for the whole of it, and without one.
    pub fn part(&self) -> PathBuf {
        let top = self.repository.as_ref().map(|repository| repository.top.as_path());
        top.and_then(|top| self.root.strip_prefix(top).ok()).unwrap_or(Path::new("")).to_owned()
    }

    /// Whether the workspace is in a git repository.
    pub fn is_in_git(&self) -> bool {
        self.repository.is_some()
    }

    /// The name of the workspace in the store: from the working tree that the repository was made with where it lies
    /// inside, so that a repository that was moved still finds its runs, and absolute otherwise. Empty without git:
    /// then the store is the workspace's alone.
    pub fn key(&self) -> String {
        self.repository.as_ref().map(|repository| repository.key(&self.root)).unwrap_or_default()
    }

    /// The folder of the workspace that has this name in the store.
    pub fn folder_of(&self, key: &str) -> PathBuf {
        let base = self.repository.as_ref().map_or(self.root.as_path(), Repository::base);
        if key == MAIN || key.is_empty() {
            return base.to_owned();
        }
        base.join(decode_name(key).unwrap_or_else(|| key.into()))
    }

    /// How a place in the store is shown: from the workspace where it lies inside, and whole otherwise.
    pub fn shown(&self, place: &Path) -> String {
        place.strip_prefix(&self.root).unwrap_or(place).display().to_string()
    }

    /// Moves a store from the old place, once, and says what was found.
    pub fn settle(&mut self) -> Result<Settled, Error> {
        let Some(repository) = &self.repository else { return Ok(Settled::Already) };
        let store = repository.store();
        for old in old_places(&self.root, repository) {
            if !has_store(&old) {
                continue;
            }
            let origin = old.parent().map_or_else(|| MAIN.to_owned(), |root| repository.key(root));
            let moved = match store.symlink_metadata() {
                Ok(_) => Relocated::Elsewhere,
                Err(_) => relocate(&old, &store, &origin)?,
            };
            match moved {
                Relocated::Moved => {
                    self.store.clone_from(&store);
                    if origin != MAIN && store.join(MARK).exists() {
                        let of = |path: &Path, source| Error::Io { path: path.to_owned(), source };
                        let mark = store.join(mark_name(&origin));
                        fs::rename(store.join(MARK), &mark).map_err(|e| of(&mark, e))?;
                    }
                    return Ok(Settled::Moved { from: old, to: store });
                }
                Relocated::Busy => {
                    self.store.clone_from(&old);
                    return Ok(Settled::Later { at: old });
                }
                Relocated::Elsewhere => {
                    self.store.clone_from(&store);
                    if has_store(&old) && !finish_relocation(&old, &store)? {
                        return Ok(Settled::Second { unused: old, used: store });
                    }
                }
            }
        }
        Ok(Settled::Already)
    }

    /// Makes the folder of the store, and one in it, for this user alone; gives the latter.
    pub fn make_folder(&self, name: &str) -> Result<PathBuf, Error> {
        private::make_folder(&self.store)?;
        let folder = self.store.join(name);
        private::make_folder(&folder)?;
        Ok(folder)
    }
}

/// Where earlier versions kept the store of a workspace.
fn old_places(root: &Path, repository: &Repository) -> Vec<PathBuf> {
    let mut places = vec![root.join(PLAIN)];
    places.extend(repository.main.iter().filter(|main| *main != root).map(|main| main.join(PLAIN)));
    places
}

/// The workspace in the working tree that the repository was made with that a linked worktree has at `root`.
pub(crate) fn in_main(root: &Path) -> Option<Home> {
    let repository = Repository::around(root)?;
    let inside = root.strip_prefix(&repository.top).ok()?;
    let main = repository.main.as_ref().filter(|main| **main != repository.top)?;
    Some(Home { root: main.join(inside), store: repository.store(), repository: Some(repository.clone()) })
}

/// The workspaces to which `folder` can belong in the working tree with its top at `top`, the nearest first: the
/// folders around it up to there, and the same in the working tree that the repository was made with.
pub(crate) fn around(folder: &Path, top: &Path) -> Vec<Home> {
    let Some(repository) = Repository::at(top) else { return vec![] };
    let store = repository.store();
    let within: Vec<&Path> = folder.ancestors().take_while(|f| f.starts_with(&repository.top)).collect();
    let home = |root: PathBuf| Home { root, store: store.clone(), repository: Some(repository.clone()) };
    let main = repository.main.iter().filter(|main| **main != repository.top);
    let in_main = main.flat_map(|main| {
        within.iter().filter_map(|f| Some(main.join(f.strip_prefix(&repository.top).ok()?)))
    });
    let here: Vec<Home> = within.iter().map(|f| home(f.to_path_buf())).collect();
    let there: Vec<Home> = in_main.map(home).collect();
    here.into_iter().chain(there).collect()
}

#[cfg(test)]
mod tests;
