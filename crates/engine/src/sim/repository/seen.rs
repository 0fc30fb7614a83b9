//! The simulated repository as it is seen from one of its working trees.

use std::path::Path;
use std::path::PathBuf;

use super::Checkout;
use super::LOOK_BACK;
use super::REFUSED;
use super::REMOTE;
use super::SimRepositories;
use super::contains;
use super::failed;
use super::is_ignored;
use crate::hands::files::Files as _;
use crate::hands::git::Change;
use crate::hands::git::Committed;
use crate::hands::git::Diff;
use crate::hands::git::ExactCommit;
use crate::hands::git::GitError;
use crate::hands::git::Merged;
use crate::hands::git::TreeEdit;
use crate::hands::git::TreeEntry;
use crate::hands::git::Worktree;
use crate::hands::repository::Repository;
use crate::sim::lock;
use crate::sim::objects;
use crate::sim::objects::Blob;
use crate::sim::objects::Listing;
use crate::sim::objects::SimCommit;

/// The repository from one working tree.
pub(super) struct Seen<'r> {
    pub(super) all: &'r SimRepositories,
    pub(super) root: PathBuf,
}

impl Seen<'_> {
    fn checkout(&self) -> Result<Checkout, GitError> {
        let found = lock(&self.all.held).now.trees.get(&self.root).cloned();
        found.ok_or_else(|| GitError::NotARepository { path: self.root.clone() })
    }

    fn tip(&self) -> Result<String, GitError> {
        let branch = self.checkout()?.branch;
        let found = lock(&self.all.held).now.branches.get(&branch).cloned();
        found.ok_or(GitError::UnknownRevision { name: branch })
    }

    /// The id that a name means.
    fn id(&self, name: &str) -> Result<String, GitError> {
        let unknown = || GitError::UnknownRevision { name: name.to_owned() };
        if let Some(child) = name.strip_suffix('^') {
            let child = self.id(child)?;
            let held = lock(&self.all.held);
            let parent = held.objects.commit(&child).and_then(|commit| commit.parents.first().cloned());
            return parent.ok_or_else(unknown);
        }
        if name == "HEAD" {
            return self.tip();
        }
        let held = lock(&self.all.held);
        let id = held.now.branches.get(name).cloned().unwrap_or_else(|| name.to_owned());
        held.objects.files(&id).map(|_| id).ok_or_else(unknown)
    }

    fn files_of(&self, name: Option<&str>) -> Result<Listing, GitError> {
        let Some(name) = name else { return Ok(Listing::new()) };
        let id = self.id(name)?;
        lock(&self.all.held).objects.files(&id).ok_or(GitError::UnknownRevision { name: id })
    }

    fn put(&self, tree: Listing, parents: Vec<String>, message: String) -> String {
        let mut held = lock(&self.all.held);
        let tree = held.objects.add_tree(tree);
        held.objects.add_commit(SimCommit { parents, message, tree })
    }

    fn message(commit: &ExactCommit) -> String {
        let trailers: Vec<String> = commit.trailers.iter().map(|(k, v)| format!("{k}: {v}")).collect();
        if trailers.is_empty() {
            return commit.message.clone();
        }
        format!("{}\n\n{}", commit.message, trailers.join("\n"))
    }

    fn find_trailer(&self, tip: &str, (key, value): (&str, &str)) -> Option<String> {
        let wanted = format!("{key}: {value}");
        let held = lock(&self.all.held);
        let carries = |id: &String| {
            held.objects.commit(id).is_some_and(|c| c.message.lines().any(|line| line.trim() == wanted))
        };
        held.objects.history(tip).into_iter().take(LOOK_BACK).find(carries)
    }

    fn advance(&self, branch: &str, id: &str) {
        self.all.change(|now| {
            now.branches.insert(branch.to_owned(), id.to_owned());
        });
    }
}

impl Repository for Seen<'_> {
    fn is_repository(&self) -> Result<bool, GitError> {
        Ok(self.checkout().is_ok())
    }

    fn head(&self) -> Result<Option<String>, GitError> {
        self.tip().map(Some)
    }

    fn branch(&self) -> Result<Option<String>, GitError> {
        self.checkout().map(|checkout| Some(checkout.branch))
    }

    fn tree(&self) -> Result<String, GitError> {
        self.checkout()?;
        let here = self.all.listing(&self.root);
        Ok(lock(&self.all.held).objects.add_tree(here))
    }

    fn remote(&self) -> Result<Option<String>, GitError> {
        Ok(Some(REMOTE.to_owned()))
    }

    fn changes_since(&self, base: Option<&str>) -> Result<Vec<Change>, GitError> {
        let tree = self.tree()?;
        self.changes_between(base, &tree)
    }

    fn changes_between(&self, base: Option<&str>, tree: &str) -> Result<Vec<Change>, GitError> {
        Ok(objects::changes(&self.files_of(base)?, &self.files_of(Some(tree))?))
    }

    fn diff_since(&self, base: Option<&str>, paths: &[String], limit_bytes: usize) -> Result<Diff, GitError> {
        let tree = self.tree()?;
        self.diff_between(base, &tree, paths, limit_bytes)
    }

    fn diff_between(
        &self,
        base: Option<&str>,
        tree: &str,
        paths: &[String],
        limit_bytes: usize,
    ) -> Result<Diff, GitError> {
        let (from, to) = (self.files_of(base)?, self.files_of(Some(tree))?);
        let is_wanted = |path: &str| paths.is_empty() || paths.iter().any(|asked| contains(asked, path));
        let mut text = objects::patch(&from, &to, is_wanted);
        let cut = text.len() > limit_bytes;
        if cut {
            let end = text[..text.floor_char_boundary(limit_bytes)].rfind('\n').map_or(0, |at| at + 1);
            text.truncate(end);
        }
        Ok(Diff { text, cut })
    }

    fn check_out(&self, commit: &str, paths: &[String], into: &Path) -> Result<(), GitError> {
        let files = self.files_of(Some(commit))?;
        paths.iter().for_each(|path| self.all.files.set(&into.join(path), files.get(path)));
        Ok(())
    }

    fn tree_with(&self, base: &str, edits: &[TreeEdit]) -> Result<String, GitError> {
        let mut files = self.files_of(Some(base))?;
        for edit in edits {
            let blob = match &edit.to {
                TreeEntry::Nothing => None,
                TreeEntry::Link { target } => Some(Blob::link(target.clone())),
                TreeEntry::File { source, executable } => {
                    let found = self.all.files.read(source, u64::MAX)?;
                    Some(Blob::file(&found.bytes, if *executable { 0o755 } else { 0o644 }))
                }
            };
            match blob {
                Some(blob) => drop(files.insert(edit.path.clone(), blob)),
                None => drop(files.remove(&edit.path)),
            }
        }
        Ok(lock(&self.all.held).objects.add_tree(files))
    }

    fn text_at(&self, revision: &str, path: &str) -> Option<String> {
        let files = self.files_of(Some(revision)).ok()?;
        String::from_utf8(files.get(path)?.bytes.clone()).ok()
    }

    fn ignored(&self, paths: &[String]) -> Result<Vec<String>, GitError> {
        let files = self.all.files.below(&self.root);
        let rules = files.get(".gitignore").map(|b| String::from_utf8_lossy(&b.bytes).into_owned());
        let rules = rules.unwrap_or_default();
        Ok(paths.iter().filter(|path| is_ignored(&rules, path)).cloned().collect())
    }

    fn commit_with_trailer(&self, key: &str, value: &str) -> Result<Option<String>, GitError> {
        Ok(self.find_trailer(&self.tip()?, (key, value)))
    }

    fn tree_taking(&self, base: Option<&str>, from: &str, paths: &[String]) -> Result<String, GitError> {
        let (mut files, from) = (self.files_of(base)?, self.files_of(Some(from))?);
        for path in paths {
            match from.get(path) {
                Some(blob) => drop(files.insert(path.clone(), blob.clone())),
                None => drop(files.remove(path)),
            }
        }
        Ok(lock(&self.all.held).objects.add_tree(files))
    }

    /// As the real one: branches move once, and no file is touched. The hook of this repository looks on.
    fn commit_exactly(&self, wanted: &ExactCommit) -> Result<Committed, GitError> {
        let (head, branch) = (self.tip()?, self.checkout()?.branch);
        if wanted.head.as_ref() != Some(&head) || wanted.branch.as_ref() != Some(&branch) {
            let expected = format!("{:?} {:?}", wanted.branch, wanted.head);
            return Err(GitError::Moved { expected, found: format!("{branch} {head}") });
        }
        let tree = self.files_of(Some(&wanted.tree))?;
        let changes = self.changes_between(Some(&head), &wanted.tree)?;
        let is_refused = |change: &&Change| {
            let blob = tree.get(&change.path);
            blob.is_some_and(|blob| String::from_utf8_lossy(&blob.bytes).contains(REFUSED))
        };
        if let Some(change) = changes.iter().find(is_refused) {
            return Err(GitError::Hook { output: format!("{}: {REFUSED}", change.path) });
        }
        let made = self.put(tree.clone(), vec![head.clone()], Self::message(wanted));
        let id = match &wanted.beside {
            Some(_) => self.put(tree, vec![head, made.clone()], wanted.message.clone()),
            None => made.clone(),
        };
        self.all.change(|now| {
            if let Some(beside) = &wanted.beside {
                now.branches.insert(beside.clone(), made);
            }
            now.branches.insert(branch, id.clone());
        });
        Ok(Committed { id, paths: changes.into_iter().map(|change| change.path).collect() })
    }

    /// The simulated repository has no index.
    fn settle_index(&self, _commit: &str) -> Result<(), GitError> {
        Ok(())
    }

    /// The one hook of the simulated repository refuses a commit when it is made.
    fn commit_hooks(&self) -> Result<Vec<&'static str>, GitError> {
        Ok(vec![])
    }

    fn pre_commit_script(&self) -> Result<Option<String>, GitError> {
        Ok(None)
    }

    fn after_commit(&self) -> Result<(), GitError> {
        Ok(())
    }

    fn merge_of(&self, commit: &str) -> Result<Option<String>, GitError> {
        let head = self.tip()?;
        let held = lock(&self.all.held);
        let is_merge = |id: &String| {
            held.objects.commit(id).is_some_and(|c| c.parents.iter().skip(1).any(|parent| parent == commit))
        };
        Ok(held.objects.history(&head).into_iter().find(is_merge))
    }

    fn merge(&self, commit: &str, message: &str) -> Result<Merged, GitError> {
        let (tip, theirs) = (self.tip()?, self.id(commit)?);
        let (merged, id) = {
            let mut held = lock(&self.all.held);
            if held.objects.is_ancestor(&theirs, &tip) {
                return Ok(Merged::Nothing);
            }
            let merged = match held.objects.merge(&tip, &theirs) {
                Ok(merged) => merged,
                Err(conflicts) => return Ok(Merged::Conflicts(conflicts)),
            };
            let id = if held.objects.is_ancestor(&tip, &theirs) {
                theirs
            } else {
                let tree = held.objects.add_tree(merged.clone());
                let parents = vec![tip.clone(), theirs];
                held.objects.add_commit(SimCommit { parents, message: message.to_owned(), tree })
            };
            (merged, id)
        };
        self.all.check_out(&self.root, &self.files_of(Some(&tip))?, &merged)?;
        self.advance(&self.checkout()?.branch, &id);
        Ok(Merged::Done)
    }

    fn fast_forward(&self, commit: &str) -> Result<(), GitError> {
        let (tip, to) = (self.tip()?, self.id(commit)?);
        let (forward, already) = {
            let held = lock(&self.all.held);
            (held.objects.is_ancestor(&tip, &to), held.objects.is_ancestor(&to, &tip))
        };
        if already {
            return Ok(());
        }
        if !forward {
            return Err(failed("merge", "not possible to fast-forward"));
        }
        self.all.check_out(&self.root, &self.files_of(Some(&tip))?, &self.files_of(Some(&to))?)?;
        self.advance(&self.checkout()?.branch, &to);
        Ok(())
    }

    fn push(&self, _remote: &str) -> Result<(), GitError> {
        let (branch, tip) = (self.checkout()?.branch, self.tip()?);
        self.all.change(|now| {
            now.remote.insert(branch, tip);
        });
        Ok(())
    }

    fn worktrees(&self) -> Result<Vec<Worktree>, GitError> {
        let held = lock(&self.all.held);
        let one = |(path, checkout): (&PathBuf, &Checkout)| Worktree {
            path: path.clone(),
            head: held.now.branches.get(&checkout.branch).cloned(),
            branch: Some(checkout.branch.clone()),
            locked: checkout.locked,
            prunable: !self.all.files.is_folder(path),
        };
        Ok(held.now.trees.iter().map(one).collect())
    }

    fn add_worktree(&self, path: &Path, branch: Option<&str>, base: &str) -> Result<(), GitError> {
        let (branch, tip) = (branch.unwrap_or("detached").to_owned(), self.id(base)?);
        if lock(&self.all.held).now.branches.contains_key(&branch) {
            return Err(failed("worktree", format!("a branch named '{branch}' already exists")));
        }
        if !self.all.files.below(path).is_empty() {
            return Err(failed("worktree", format!("'{}' already exists", path.display())));
        }
        let locked = |locked: bool| {
            let checkout = Checkout { branch: branch.clone(), locked };
            self.all.change(|now| {
                now.branches.insert(branch.clone(), tip.clone());
                now.trees.insert(path.to_owned(), checkout);
            });
        };
        locked(true);
        let files = self.files_of(Some(&tip))?;
        self.all.check_out(path, &Listing::new(), &files)?;
        locked(false);
        Ok(())
    }

    fn remove_worktree(&self, path: &Path) -> Result<(), GitError> {
        if !lock(&self.all.held).now.trees.contains_key(path) {
            return Ok(());
        }
        for name in self.all.files.below(path).keys() {
            self.all.fate.pass("before a file of a working tree is removed");
            self.all.files.set(&path.join(name), None);
        }
        self.all.files.remove_folders(path);
        let _ = self.all.files.sync(path);
        self.all.change(|now| {
            now.trees.remove(path);
        });
        Ok(())
    }

    fn prune_worktrees(&self) -> Result<(), GitError> {
        let gone: Vec<PathBuf> =
            self.worktrees()?.into_iter().filter(|t| t.prunable && !t.locked).map(|t| t.path).collect();
        for path in gone {
            self.all.change(|now| {
                now.trees.remove(&path);
            });
        }
        Ok(())
    }

    fn delete_branch(&self, branch: &str) -> Result<(), GitError> {
        if lock(&self.all.held).now.branches.contains_key(branch) {
            self.all.change(|now| {
                now.branches.remove(branch);
            });
        }
        Ok(())
    }

    fn put_aside(&self, branch: &str) -> Result<(), GitError> {
        let Some(tip) = lock(&self.all.held).now.branches.get(branch).cloned() else { return Ok(()) };
        let is_merged = {
            let head = self.tip()?;
            lock(&self.all.held).objects.is_ancestor(&tip, &head)
        };
        if is_merged {
            return self.delete_branch(branch);
        }
        let kept = format!("{branch}-{}", tip.get(..8).unwrap_or(&tip));
        self.all.change(|now| {
            if let Some(tip) = now.branches.remove(branch) {
                now.branches.insert(kept, tip);
            }
        });
        Ok(())
    }
}
