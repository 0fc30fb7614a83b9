//! A project that is guarded: the mark that says so, and where its things are.

use std::fmt;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use serde::Serialize;
use seriatim_core::guard::client::Client;
use seriatim_core::hash::Hash;
use seriatim_core::time::Utc;

use super::GuardError;
use crate::hands::files::Entry;
use crate::hands::files::FileBytes;
use crate::hands::files::FileError;
use crate::hands::files::Files;
use crate::hands::files::Kind;
use crate::hands::files::Links;
use crate::hands::files::Write;
use crate::hands::files::exists;
use crate::hands::files::read_text;
use crate::home;
use crate::home::Home;
use crate::home::MARK;
use crate::home::PLAIN;

/// What stands in the mark. A mark that cannot be read still is one: whoever damages it does not switch the guard off.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Mark {
    pub version: u32,
    /// The clients whose hooks were installed, with what was there before.
    pub clients: Vec<Installed>,
    /// The hooks of git that were installed.
    pub git_hooks: Vec<Kept>,
}

/// A client whose settings were changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installed {
    pub client: Client,
    pub settings: Kept,
}

/// A file that was changed, and its text before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Relative to the root of the project, or absolute where it lies outside.
    pub path: String,
    /// Absent when there was no such file.
    pub original: Option<String>,
    /// What we left there, by its hash.
    pub ours: Hash,
    /// Folders that had to be made for it, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<String>,
}

/// A guarded project, and the files it is made of.
#[derive(Clone)]
pub struct Project {
    /// With symbolic links resolved.
    pub root: PathBuf,
    pub(crate) files: Arc<dyn Files>,
}

impl fmt::Debug for Project {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Project").field("root", &self.root).finish_non_exhaustive()
    }
}

/// The mark of the workspace `home`. Those that share a store have one each.
fn mark_of(home: &Home) -> PathBuf {
    let alone = home.store().file_name().is_some_and(|name| name == PLAIN);
    home.store().join(if alone { MARK.to_owned() } else { home::mark_name(&home.key()) })
}

impl Project {
    /// The project at `root`, which must be without symbolic links.
    pub fn new(root: impl Into<PathBuf>, files: Arc<dyn Files>) -> Project {
        Project { root: root.into(), files }
    }

    /// The nearest guarded project from `folder` upwards. It costs a look at each folder and nothing else.
    pub fn find(files: &Arc<dyn Files>, folder: &Path) -> Option<Project> {
        let marked = |home: &Home| exists(files.as_ref(), &mark_of(home));
        let found = folder.ancestors().find_map(|top| {
            if exists(files.as_ref(), &top.join(PLAIN).join(MARK)) {
                return Some(top.to_owned());
            }
            let is_top = exists(files.as_ref(), &top.join(".git"));
            let homes = if is_top { home::around(folder, top) } else { vec![] };
            homes.into_iter().find(marked).map(|home| home.root().to_owned())
        })?;
        Some(Project::new(files.resolve(&found).unwrap_or(found), Arc::clone(files)))
    }

    /// Where the records of a folder are: a linked worktree has those of the guarded project that it belongs to.
    pub fn home(files: &dyn Files, root: &Path) -> PathBuf {
        let guarded = home::in_main(root).filter(|home| exists(files, &mark_of(home)));
        guarded.map_or_else(|| root.to_owned(), |home| home.root().to_owned())
    }

    /// Whether the project at `root` is guarded.
    pub fn is_guarded(files: &dyn Files, root: &Path) -> bool {
        exists(files, &Project::mark_path(root))
    }

    /// Where its store is.
    pub fn place(&self) -> Home {
        Home::of(&self.root)
    }

    /// The file that a name of the record means: from the root, or in the store where it begins with `.seriatim/`.
    pub fn file(&self, name: &str) -> PathBuf {
        match Path::new(name).strip_prefix(PLAIN) {
            Ok(inside) => self.state_dir().join(inside),
            Err(_) => self.root.join(name),
        }
    }

    pub fn state_dir(&self) -> PathBuf {
        self.place().store().to_owned()
    }

    /// Where the guard keeps what is not in the journal.
    pub fn guard_dir(&self) -> PathBuf {
        self.state_dir().join("guard")
    }

    pub fn mark_path(root: &Path) -> PathBuf {
        mark_of(&Home::of(root))
    }

    /// The mark; without its content where that cannot be read.
    pub fn mark(&self) -> Mark {
        self.files
            .read_from(&Project::mark_path(&self.root), 0, u64::MAX)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default()
    }

    /// When the project was put under guard, as far as the mark tells.
    pub(super) fn guarded_since(&self) -> Option<Utc> {
        let stamp = self.files.stamp(&Project::mark_path(&self.root), Links::Follow).ok()??;
        let seconds = stamp.modified_ns.div_euclid(1_000_000_000);
        // Git counts in seconds: what was committed in the same one is rather looked at than not.
        Some(Utc(seconds.saturating_sub(1).saturating_mul(1000)))
    }

    pub fn root_text(&self) -> &str {
        // A root that is no text cannot be named by any payload; nothing is then inside of it.
        self.root.to_str().unwrap_or("/dev/null")
    }

    /// Reads a file of configuration or state; nothing where there is no such file. One that is there and cannot be read
    /// is an error: also a link that leads nowhere or out of the project, and bytes that are no text.
    pub(crate) fn read(&self, relative: &str) -> Result<Option<String>, GuardError> {
        let path = self.file(relative);
        let bytes = match self.files.read_from(&path, 0, u64::MAX) {
            Ok(bytes) => bytes,
            Err(error) if error.is_absence() => {
                return match self.link_at(&path)? {
                    Some(target) => Err(FileError::DeadLink { path, target }.into()),
                    None => Ok(None),
                };
            }
            Err(error) => return Err(error.into()),
        };
        if self.link_at(&path)?.is_some() {
            let place = self.files.resolve(&path)?;
            if !place.starts_with(&self.root) && !place.starts_with(self.state_dir()) {
                return Err(FileError::Outside { path, root: self.root.clone() }.into());
            }
        }
        Ok(Some(FileBytes::new(bytes).into_text(&path)?))
    }

    /// The target of the link at a path; nothing where it is no link.
    fn link_at(&self, path: &Path) -> Result<Option<PathBuf>, GuardError> {
        Ok(match self.files.look(path) {
            Ok(Some(Entry { kind: Kind::Symlink(target), .. })) => Some(PathBuf::from(target)),
            Ok(_) => None,
            Err(error) if error.is_absence() => None,
            Err(error) => return Err(error.into()),
        })
    }

    /// The same, with the error that says why there is none.
    pub(crate) fn text(&self, relative: &str) -> Result<String, FileError> {
        read_text(self.files.as_ref(), &self.file(relative))
    }

    /// Reads a record of the guard's own that can be made again; nothing where it cannot be read.
    pub(super) fn hint(&self, path: &Path) -> Option<Vec<u8>> {
        self.files.read_from(path, 0, u64::MAX).ok()
    }

    /// Writes such a record. It only spares work: where it cannot be written, the work is done again.
    pub(super) fn leave_hint(&self, path: &Path, bytes: &[u8]) {
        let _ = self.files.write(path, bytes, Write::REBUILDABLE);
    }
}
