//! A project that is guarded: the mark that says so, and where its things are.

use std::io;
use std::path::Path;
use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;
use seriatim_core::guard::client::Client;
use seriatim_core::time::Utc;

use super::GuardError;

/// The folder of runtime state.
const STATE: &str = ".seriatim";
/// The file that marks a project as guarded, in that folder.
const MARK: &str = "guard.json";

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
    pub ours: seriatim_core::hash::Hash,
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

/// The guarded project whose repository a linked worktree belongs to: the worktree has a file `.git` that names it.
fn main_worktree(folder: &Path) -> Option<PathBuf> {
    let link = folder.ancestors().map(|folder| folder.join(".git")).find(|git| git.exists())?;
    let text = std::fs::read_to_string(&link).ok()?;
    // Git writes the path as seen from the worktree where it was told so.
    let git = link.parent()?.join(text.strip_prefix("gitdir:")?.trim());
    let root = PathBuf::from(git.to_str()?.split_once("/.git/worktrees/")?.0);
    Project::is_guarded(&root).then_some(root)
}

/// A text; what is no UTF-8 in it is replaced. Nearly always nothing is, and then nothing is copied.
fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

impl Project {
    /// The nearest guarded project from `folder` upwards. It costs a look at each folder and nothing else.
    pub fn find(folder: &Path) -> Option<Project> {
        let found = folder.ancestors().find(|folder| folder.join(STATE).join(MARK).exists());
        let found = found.map(Path::to_owned).or_else(|| main_worktree(folder))?;
        Some(Project { root: found.canonicalize().unwrap_or(found) })
    }

    /// Where the records of a folder are: a linked worktree has those of the guarded project that it belongs to.
    pub fn home(root: &Path) -> PathBuf {
        let home = main_worktree(root).map(|home| home.canonicalize().unwrap_or(home));
        home.unwrap_or_else(|| root.to_owned())
    }

    /// Whether the project at `root` is guarded.
    pub fn is_guarded(root: &Path) -> bool {
        root.join(STATE).join(MARK).exists()
    }

    pub fn state_dir(&self) -> PathBuf {
        self.root.join(STATE)
    }

    /// Where the guard keeps what is not in the journal.
    pub fn guard_dir(&self) -> PathBuf {
        self.state_dir().join("guard")
    }

    pub fn mark_path(root: &Path) -> PathBuf {
        root.join(STATE).join(MARK)
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
        let path = self.root.join(relative);
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
