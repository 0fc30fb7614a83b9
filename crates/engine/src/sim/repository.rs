//! A repository in memory over simulated files: branches, working trees, a remote, and a hook that refuses.

mod seen;

use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;

use super::fate::Fate;
use super::files::SimFiles;
use super::lock;
use super::objects;
use super::objects::Listing;
use super::objects::Objects;
use super::objects::SimCommit;
use super::rng::Rng;
use crate::hands::files::Files as _;
use crate::hands::git::GitError;
use crate::hands::paths::Workspace;
use crate::hands::process::How;
use crate::hands::repository::Repositories;
use crate::hands::repository::Repository;
use seen::Seen;

const MAIN: &str = "main";
const REMOTE: &str = "origin";
/// The hook of the simulated repository refuses a commit in which these words stand.
pub const REFUSED: &str = "do not commit this";
const LOOK_BACK: usize = 200;

/// The one repository of a simulated world. It is outside, and outlives the engine.
pub struct SimRepositories {
    files: Arc<SimFiles>,
    fate: Fate,
    /// Where its first working tree is.
    root: PathBuf,
    /// The folder of the engine's own state, which is no part of anybody's work.
    own: String,
    held: Mutex<Held>,
}

struct Held {
    objects: Objects,
    /// As it is seen.
    now: References,
    /// As it would be after a power cut, at the latest.
    sure: References,
}

/// Everything about a repository that changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct References {
    branches: BTreeMap<String, String>,
    trees: BTreeMap<PathBuf, Checkout>,
    /// What the remote has, by branch.
    remote: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Checkout {
    branch: String,
    /// It was begun and is not made to its end.
    locked: bool,
}

/// The message of a commit, and its files with their content.
pub type CommitPicture = (String, BTreeMap<String, Vec<u8>>);
impl SimRepositories {
    /// Makes the repository at `root`, with all files that are there in a first commit.
    pub fn new(files: Arc<SimFiles>, fate: Fate, root: impl Into<PathBuf>, own: &str) -> SimRepositories {
        let root = root.into();
        let main = Checkout { branch: MAIN.to_owned(), locked: false };
        let now = References { trees: BTreeMap::from([(root.clone(), main)]), ..References::default() };
        let held = Held { objects: Objects::default(), sure: now.clone(), now };
        let repository = SimRepositories { files, fate, root, own: own.to_owned(), held: Mutex::new(held) };
        let tree = repository.listing(&repository.root);
        let mut held = lock(&repository.held);
        let tree = held.objects.add_tree(tree);
        let first = SimCommit { parents: vec![], message: "Begin".to_owned(), tree };
        let id = held.objects.add_commit(first);
        held.now.branches.insert(MAIN.to_owned(), id.clone());
        held.now.remote.insert(MAIN.to_owned(), id);
        held.sure = held.now.clone();
        drop(held);
        repository
    }

    /// The machine dies: what was not made sure may be as it was before.
    pub fn cut_power(&self, rng: &mut Rng) {
        let mut held = lock(&self.held);
        if rng.chance(50) {
            held.now = held.sure.clone();
        } else {
            held.sure = held.now.clone();
        }
    }

    /// Lists the commits of every branch, and of the remote, from the first to the last: message and files of each.
    pub fn history(&self) -> BTreeMap<String, Vec<CommitPicture>> {
        let held = lock(&self.held);
        let told = |tip: &String| {
            let mut commits: Vec<_> = held.objects.history(tip).into_iter().collect();
            commits.reverse();
            let one = |id: String| {
                let message = held.objects.commit(&id).map(|c| c.message.clone()).unwrap_or_default();
                let files = held.objects.files(&id).unwrap_or_default();
                (message, files.into_iter().map(|(path, blob)| (path, blob.bytes)).collect())
            };
            commits.into_iter().map(one).collect()
        };
        let branches = held.now.branches.iter().map(|(name, tip)| (name.clone(), told(tip)));
        let remote = held.now.remote.iter().map(|(name, tip)| (format!("{REMOTE}/{name}"), told(tip)));
        branches.chain(remote).collect()
    }

    /// Lists the working trees beside the first one.
    pub fn further_trees(&self) -> Vec<PathBuf> {
        lock(&self.held).now.trees.keys().filter(|path| **path != self.root).cloned().collect()
    }

    /// Changes branches and working trees. Until it is made sure, a power cut may undo it.
    fn change(&self, work: impl FnOnce(&mut References)) {
        self.fate.pass("before the repository changes");
        work(&mut lock(&self.held).now);
        self.fate.pass("the repository changed and is not on the disk");
        {
            let mut held = lock(&self.held);
            held.sure = held.now.clone();
        }
        self.fate.pass("after the repository changed");
    }

    /// The files of a working tree that git looks at.
    fn listing(&self, root: &Path) -> Listing {
        let mut files = self.files.below(root);
        let rules = files.get(".gitignore").map(|blob| String::from_utf8_lossy(&blob.bytes).into_owned());
        let rules = rules.unwrap_or_default();
        files.retain(|path, _| !self.is_own(path) && !is_ignored(&rules, path));
        files
    }

    fn is_own(&self, path: &str) -> bool {
        path.split('/').next().is_some_and(|first| first == self.own || first == ".git")
    }

    /// Brings files of a working tree from one tree to another. What differs from the first is in the way.
    fn check_out(&self, root: &Path, from: &Listing, to: &Listing) -> Result<(), GitError> {
        let here = self.files.below(root);
        let touched: Vec<String> =
            objects::paths_of(from, to).into_iter().filter(|path| from.get(path) != to.get(path)).collect();
        if let Some(path) =
            touched.iter().find(|path| here.get(*path) != from.get(*path) && here.get(*path) != to.get(*path))
        {
            return Err(failed("merge", format!("your local changes to {path} would be overwritten")));
        }
        for path in touched {
            self.fate.pass("before a file of a working tree changes");
            self.files.set(&root.join(&path), to.get(&path));
        }
        self.fate.pass("the files of a working tree are not on the disk");
        let _ = self.files.sync(root);
        Ok(())
    }
}

/// The first lines of an ignore file, as far as the simulation has any: names of files and folders.
fn is_ignored(rules: &str, path: &str) -> bool {
    rules
        .lines()
        .map(|line| line.trim_end_matches('/'))
        .filter(|line| !line.is_empty())
        .any(|rule| path == rule || path.strip_prefix(rule).is_some_and(|rest| rest.starts_with('/')))
}

fn failed(command: &str, output: impl Into<String>) -> GitError {
    GitError::Failed { command: command.to_owned(), how: How::Exited(1), output: output.into() }
}

fn contains(asked: &str, path: &str) -> bool {
    let asked = asked.trim_start_matches("./").trim_end_matches('/');
    asked.is_empty()
        || asked == "."
        || path.strip_prefix(asked).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl Repositories for SimRepositories {
    fn seen_from<'r>(&'r self, folder: &Workspace, _variables: &[(&str, &str)]) -> Box<dyn Repository + 'r> {
        Box::new(Seen { all: self, root: folder.root().to_owned() })
    }
}
