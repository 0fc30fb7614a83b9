//! A project that is guarded: the mark that says so, and where its things are.

use std::io;
use std::path::Path;
use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;
use seriatim_core::guard::client::Client;
use seriatim_core::hash::Hash;
use seriatim_core::time::Utc;

use super::GuardError;
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

/// A guarded project.
#[derive(Clone, Debug)]
pub struct Project {
    /// With symbolic links resolved.
    pub root: PathBuf,
}

/// The mark of the workspace `home`. Those that share a store have one each.
fn mark_of(home: &Home) -> PathBuf {
    let alone = home.store().file_name().is_some_and(|name| name == PLAIN);
    home.store().join(if alone { MARK.to_owned() } else { home::mark_name(&home.key()) })
}

/// A text; what is no UTF-8 in it is replaced. Nearly always nothing is, and then nothing is copied.
fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

impl Project {
    /// The nearest guarded project from `folder` upwards. It costs a look at each folder and nothing else.
    pub fn find(folder: &Path) -> Option<Project> {
        let marked = |home: &Home| mark_of(home).exists();
        let found = folder.ancestors().find_map(|top| {
            if top.join(PLAIN).join(MARK).exists() {
                return Some(top.to_owned());
            }
            let homes = if top.join(".git").exists() { home::around(folder, top) } else { vec![] };
            homes.into_iter().find(marked).map(|home| home.root().to_owned())
        })?;
        Some(Project { root: found.canonicalize().unwrap_or(found) })
    }

    /// Where the records of a folder are: a linked worktree has those of the guarded project that it belongs to.
    pub fn home(root: &Path) -> PathBuf {
        let guarded = home::in_main(root).filter(|home| mark_of(home).exists());
        guarded.map_or_else(|| root.to_owned(), |home| home.root().to_owned())
    }

    /// Whether the project at `root` is guarded.
    pub fn is_guarded(root: &Path) -> bool {
        Project::mark_path(root).exists()
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
        std::fs::read(Project::mark_path(&self.root))
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default()
    }

    /// When the project was put under guard, as far as the mark tells.
    pub(super) fn guarded_since(&self) -> Option<Utc> {
        let changed = std::fs::metadata(Project::mark_path(&self.root)).ok()?.modified().ok()?;
        let since = changed.duration_since(std::time::UNIX_EPOCH).ok()?;
        // Git counts in seconds: what was committed in the same one is rather looked at than not.
        Some(Utc(i64::try_from(since.as_secs()).ok()?.saturating_sub(1).saturating_mul(1000)))
    }

    pub fn root_text(&self) -> &str {
        // A root that is no text cannot be named by any payload; nothing is then inside of it.
        self.root.to_str().unwrap_or("/dev/null")
    }

    /// Reads a text inside of the project; nothing where there is no such file.
    pub(crate) fn read(&self, relative: &str) -> Result<Option<String>, GuardError> {
        let path = self.file(relative);
        let unreadable = |source: io::Error| GuardError::File { path: path.clone(), source };
        match std::fs::read(&path) {
            Ok(bytes) => Ok(Some(text_of(bytes))),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(None)
            }
            Err(error) => Err(unreadable(error)),
        }
    }
}
