//! The repository as a port: everything that the engine asks of git, with the `git` program behind it or a simulation.
//!
//! A change that a call has reported is on the disk for sure: the journal says next that it was made, and nothing
//! makes it a second time.

use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use crate::hands::files::Files;
use crate::hands::git::Change;
use crate::hands::git::Committed;
use crate::hands::git::Diff;
use crate::hands::git::ExactCommit;
use crate::hands::git::Git;
use crate::hands::git::GitError;
use crate::hands::git::Merged;
use crate::hands::git::TreeEdit;
use crate::hands::git::Worktree;
use crate::hands::paths::Workspace;
use crate::hands::process::Processes;

/// Finds the repository that a folder belongs to.
pub trait Repositories: Send + Sync {
    /// Returns the repository as it is seen from a folder. The hooks of its commits are given `variables`.
    fn seen_from<'r>(&'r self, folder: &Workspace, variables: &[(&str, &str)]) -> Box<dyn Repository + 'r>;
}

/// A repository, seen from one of its working trees. Paths are relative to that.
pub trait Repository {
    /// Whether there is one at all.
    fn is_repository(&self) -> Result<bool, GitError>;
    /// Returns the commit that is checked out; nothing before the first one.
    fn head(&self) -> Result<Option<String>, GitError>;
    /// Returns the branch that is checked out; nothing when there is only a commit.
    fn branch(&self) -> Result<Option<String>, GitError>;
    /// Returns the id of the tree that the files as they are would make, without ignored ones.
    fn tree(&self) -> Result<String, GitError>;
    /// Returns the remote that a push goes to.
    fn remote(&self) -> Result<Option<String>, GitError>;

    /// Lists what differs between a commit or tree and the files as they are.
    fn changes_since(&self, base: Option<&str>) -> Result<Vec<Change>, GitError>;
    /// Lists what differs between two commits or trees.
    fn changes_between(&self, base: Option<&str>, tree: &str) -> Result<Vec<Change>, GitError>;
    /// Returns the unified diff between a commit or tree and the files as they are; no path means all of them.
    fn diff_since(&self, base: Option<&str>, paths: &[String], limit_bytes: usize) -> Result<Diff, GitError>;
    /// Returns the unified diff between two commits or trees; no path means all of them.
    fn diff_between(
        &self,
        base: Option<&str>,
        tree: &str,
        paths: &[String],
        limit_bytes: usize,
    ) -> Result<Diff, GitError>;
    /// Writes files of a commit below another folder.
    fn check_out(&self, commit: &str, paths: &[String], into: &Path) -> Result<(), GitError>;
    /// Returns the id of a tree with these edits.
    fn tree_with(&self, base: &str, edits: &[TreeEdit]) -> Result<String, GitError>;
    /// Returns a file as a commit or tree has it; nothing where it has no such text.
    fn text_at(&self, revision: &str, path: &str) -> Option<String>;
    /// Returns those of the paths that git ignores.
    fn ignored(&self, paths: &[String]) -> Result<Vec<String>, GitError>;
    /// Finds a commit of the branch by a line at the end of its message.
    fn commit_with_trailer(&self, key: &str, value: &str) -> Result<Option<String>, GitError>;

    /// Returns the id of the tree of a commit or tree with some paths as another tree has them.
    fn tree_taking(&self, base: Option<&str>, from: &str, paths: &[String]) -> Result<String, GitError>;
    /// Makes a commit of exactly one tree on exactly one commit. Where that is not checked out, nothing happens.
    fn commit_exactly(&self, wanted: &ExactCommit) -> Result<Committed, GitError>;
    /// Finishes the commit that is checked out, where the process that made it died before its end.
    fn settle_index(&self, commit: &str) -> Result<(), GitError>;
    /// Whether the repository has hooks that look at a commit before it is made.
    fn commit_hooks(&self) -> Result<Vec<&'static str>, GitError>;
    /// Returns the script that git runs before a commit; nothing where there is none that is a text.
    fn pre_commit_script(&self) -> Result<Option<String>, GitError>;
    /// Tells the hook of the repository that hears of commits.
    fn after_commit(&self) -> Result<(), GitError>;
    /// Returns the merge by which a commit of another branch came into this one.
    fn merge_of(&self, commit: &str) -> Result<Option<String>, GitError>;
    /// Merges a commit into the branch that is checked out. With conflicts nothing happens.
    fn merge(&self, commit: &str, message: &str) -> Result<Merged, GitError>;
    /// Moves the branch that is checked out forward to a commit that holds all of it.
    fn fast_forward(&self, commit: &str) -> Result<(), GitError>;
    /// Sends the present commit to the branch of the same name.
    fn push(&self, remote: &str) -> Result<(), GitError>;

    /// Lists all working trees. One that is locked was not made to its end, or belongs to a person.
    fn worktrees(&self) -> Result<Vec<Worktree>, GitError>;
    /// Makes a working tree on a new branch, or on none.
    fn add_worktree(&self, path: &Path, branch: Option<&str>, base: &str) -> Result<(), GitError>;
    /// Removes a working tree with everything in it. One that is gone is no error.
    fn remove_worktree(&self, path: &Path) -> Result<(), GitError>;
    /// Forgets working trees whose folders are gone.
    fn prune_worktrees(&self) -> Result<(), GitError>;
    /// Deletes a branch, if there is one of that name.
    fn delete_branch(&self, branch: &str) -> Result<(), GitError>;
    /// Makes a name free for a new branch; work that is nowhere else is kept under another name.
    fn put_aside(&self, branch: &str) -> Result<(), GitError>;
}

/// Repositories by the `git` program.
#[derive(Clone)]
pub struct GitRepositories {
    processes: Arc<dyn Processes>,
    files: Arc<dyn Files>,
    /// Where our own index and objects lie: relative to the working tree, or absolute.
    private: PathBuf,
}

impl GitRepositories {
    pub fn new(
        processes: Arc<dyn Processes>,
        files: Arc<dyn Files>,
        private: impl Into<PathBuf>,
    ) -> GitRepositories {
        GitRepositories { processes, files, private: private.into() }
    }
}

impl Repositories for GitRepositories {
    fn seen_from<'r>(&'r self, folder: &Workspace, variables: &[(&str, &str)]) -> Box<dyn Repository + 'r> {
        let git = Git::new(self.processes.as_ref(), self.files.as_ref(), folder.clone(), &self.private);
        Box::new(variables.iter().fold(git, |git, (name, value)| git.with_variable(name, value)))
    }
}

impl Repository for Git<'_> {
    fn is_repository(&self) -> Result<bool, GitError> {
        self.is_repository()
    }

    fn head(&self) -> Result<Option<String>, GitError> {
        self.head()
    }

    fn branch(&self) -> Result<Option<String>, GitError> {
        self.branch()
    }

    fn tree(&self) -> Result<String, GitError> {
        self.tree()
    }

    fn remote(&self) -> Result<Option<String>, GitError> {
        self.remote()
    }

    fn changes_since(&self, base: Option<&str>) -> Result<Vec<Change>, GitError> {
        self.changes_since(base)
    }

    fn changes_between(&self, base: Option<&str>, tree: &str) -> Result<Vec<Change>, GitError> {
        self.changes_between(base, tree)
    }

    fn diff_since(&self, base: Option<&str>, paths: &[String], limit_bytes: usize) -> Result<Diff, GitError> {
        self.diff_since(base, paths, limit_bytes)
    }

    fn diff_between(
        &self,
        base: Option<&str>,
        tree: &str,
        paths: &[String],
        limit_bytes: usize,
    ) -> Result<Diff, GitError> {
        self.diff_between(base, tree, paths, limit_bytes)
    }

    fn check_out(&self, commit: &str, paths: &[String], into: &Path) -> Result<(), GitError> {
        self.check_out(commit, paths, into)
    }

    fn tree_with(&self, base: &str, edits: &[TreeEdit]) -> Result<String, GitError> {
        self.tree_with(base, edits)
    }

    fn text_at(&self, revision: &str, path: &str) -> Option<String> {
        self.text_at(revision, path)
    }

    fn ignored(&self, paths: &[String]) -> Result<Vec<String>, GitError> {
        self.ignored(paths)
    }

    fn commit_with_trailer(&self, key: &str, value: &str) -> Result<Option<String>, GitError> {
        self.commit_with_trailer(key, value)
    }

    fn tree_taking(&self, base: Option<&str>, from: &str, paths: &[String]) -> Result<String, GitError> {
        self.tree_taking(base, from, paths)
    }

    fn commit_exactly(&self, wanted: &ExactCommit) -> Result<Committed, GitError> {
        self.commit_exactly(wanted)
    }

    fn settle_index(&self, commit: &str) -> Result<(), GitError> {
        self.settle_index(commit)
    }

    fn commit_hooks(&self) -> Result<Vec<&'static str>, GitError> {
        self.commit_hooks()
    }

    fn pre_commit_script(&self) -> Result<Option<String>, GitError> {
        self.pre_commit_script()
    }

    fn after_commit(&self) -> Result<(), GitError> {
        self.after_commit()
    }

    fn merge_of(&self, commit: &str) -> Result<Option<String>, GitError> {
        self.merge_of(commit)
    }

    fn merge(&self, commit: &str, message: &str) -> Result<Merged, GitError> {
        self.merge(commit, message)
    }

    fn fast_forward(&self, commit: &str) -> Result<(), GitError> {
        self.fast_forward(commit)
    }

    fn push(&self, remote: &str) -> Result<(), GitError> {
        self.push(remote)
    }

    fn worktrees(&self) -> Result<Vec<Worktree>, GitError> {
        self.worktrees()
    }

    fn add_worktree(&self, path: &Path, branch: Option<&str>, base: &str) -> Result<(), GitError> {
        self.add_worktree(path, branch, base)
    }

    fn remove_worktree(&self, path: &Path) -> Result<(), GitError> {
        self.remove_worktree(path)
    }

    fn prune_worktrees(&self) -> Result<(), GitError> {
        self.prune_worktrees()
    }

    fn delete_branch(&self, branch: &str) -> Result<(), GitError> {
        self.delete_branch(branch)
    }

    fn put_aside(&self, branch: &str) -> Result<(), GitError> {
        self.put_aside(branch)
    }
}
