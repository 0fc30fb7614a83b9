//! Bringing the branch of a further working tree and that of the workspace together.

use crate::hands::git::COMMIT_MS;
use crate::hands::git::Change;
use crate::hands::git::ChangeKind;
use crate::hands::git::Git;
use crate::hands::git::GitError;
use crate::hands::git::Invocation;
use crate::hands::process::Input;

/// What a merge came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merged {
    /// There was nothing that was not here already.
    Nothing,
    Done,
    /// Both sides changed the same place. Everything is as it was before.
    Conflicts(Vec<String>),
}

impl Git<'_> {
    /// Merges a commit into the branch that is checked out here. When it cannot be done, nothing happened.
    pub fn merge(&self, commit: &str, message: &str) -> Result<Merged, GitError> {
        let head = self.head()?;
        if let Some(head) = &head
            && self.is_ancestor(commit, head)?
        {
            return Ok(Merged::Nothing);
        }
        self.clear_interrupted(commit)?;
        let message = format!("--message={message}");
        let arguments = ["merge", "--quiet", "--no-edit", &message, commit];
        let invocation = Invocation { hooks: true, deadline_ms: COMMIT_MS, ..Invocation::read(&arguments) };
        let ended = self.run(&invocation)?;
        if ended.success() {
            self.files.sync(self.workspace.root())?;
            return Ok(Merged::Done);
        }
        let listed = Invocation::read(&["diff", "--name-only", "--diff-filter=U", "-z", "--relative"]);
        let conflicts: Vec<String> = self.text(listed)?.split_terminator('\0').map(str::to_owned).collect();
        if conflicts.is_empty() {
            // A hook refused, or files that nobody committed are in the way.
            let _ = self.run(&Invocation::read(&["merge", "--abort"]))?;
            return Err(self.failure(&invocation, ended));
        }
        self.text(Invocation::read(&["merge", "--abort"]))?;
        Ok(Merged::Conflicts(conflicts))
    }

    /// Moves the branch that is checked out forward to a commit that holds all of it. Changes that nobody committed
    /// stay; where they are in the way, nothing happens.
    pub fn fast_forward(&self, commit: &str) -> Result<(), GitError> {
        self.clear_interrupted(commit)?;
        let invocation = Invocation {
            hooks: true,
            deadline_ms: COMMIT_MS,
            ..Invocation::read(&["merge", "--quiet", "--ff-only", commit])
        };
        self.text(invocation)?;
        // Git does not wait until the files of a working tree are on the disk.
        Ok(self.files.sync(self.workspace.root())?)
    }

    /// Puts back what a merge of the same commit left that was cut off: files that are in their new state while the
    /// branch is not. A file that differs from both states is nobody's but a person's, and stays.
    fn clear_interrupted(&self, commit: &str) -> Result<(), GitError> {
        if self.lookup(&["rev-parse", "--verify", "--quiet", "MERGE_HEAD"])?.is_some() {
            self.text(Invocation::read(&["merge", "--abort"]))?;
        }
        let Some(head) = self.head()? else { return Ok(()) };
        let coming = self.changes_between(Some(&head), commit)?;
        let dirty = self.changes_since(Some(&head))?;
        let touched = |change: &&Change| coming.iter().any(|other| other.path == change.path);
        let dirty: Vec<&Change> = dirty.iter().filter(touched).collect();
        if dirty.is_empty() {
            return Ok(());
        }
        let still = self.changes_since(Some(commit))?;
        for change in dirty.into_iter().filter(|change| !still.iter().any(|other| other.path == change.path))
        {
            match change.kind {
                ChangeKind::Added => self.files.remove(&self.workspace.root().join(&change.path))?,
                _ => {
                    self.text(Invocation::read(&["checkout", "--quiet", "HEAD", "--", &change.path]))?;
                }
            }
        }
        Ok(())
    }

    /// Of these paths, the ones that git ignores.
    pub fn ignored(&self, paths: &[String]) -> Result<Vec<String>, GitError> {
        let invocation = Invocation::read(&["check-ignore", "-z", "--stdin"]).paths(paths);
        // Without a match the exit code is 1.
        let ended = self.run(&Invocation { literal: false, ..invocation })?;
        Ok(ended.stdout.split_terminator('\0').map(str::to_owned).collect())
    }

    /// Deletes a branch, if there is one of that name.
    pub fn delete_branch(&self, branch: &str) -> Result<(), GitError> {
        let name = format!("refs/heads/{branch}");
        if self.lookup(&["rev-parse", "--verify", "--quiet", &name])?.is_some() {
            self.text(Invocation::read(&["branch", "--quiet", "--delete", "--force", branch]))?;
        }
        Ok(())
    }

    /// Makes a name free for a new branch: one that holds work which is nowhere else is kept under another name.
    pub fn put_aside(&self, branch: &str) -> Result<(), GitError> {
        let name = format!("refs/heads/{branch}");
        let Some(tip) = self.lookup(&["rev-parse", "--verify", "--quiet", &name])? else { return Ok(()) };
        let merged = match self.head()? {
            Some(head) => self.is_ancestor(&tip, &head)?,
            None => false,
        };
        if merged {
            return self.delete_branch(branch);
        }
        let kept = format!("{branch}-{}", tip.get(..8).unwrap_or(&tip));
        self.text(Invocation::read(&["branch", "--force", "--move", branch, &kept])).map(|_| ())
    }

    /// Takes the last commit back and leaves its files as they are (DW-74). What the user has staged of other files
    /// stays staged.
    pub fn uncommit(&self, commit: &str) -> Result<(), GitError> {
        let listed =
            ["diff-tree", "-r", "--root", "--no-commit-id", "--name-only", "-z", "--relative", commit];
        let printed = self.text(Invocation::read(&listed))?;
        let paths: Vec<&str> = printed.split_terminator('\0').collect();
        let parent = format!("{commit}^");
        let has_parent = self.lookup(&["rev-parse", "--verify", "--quiet", &parent])?.is_some();
        let (unstage, back): (&[&str], &[&str]) = if has_parent {
            (&["reset", "--quiet", &parent], &["reset", "--quiet", "--soft", &parent])
        } else {
            (&["rm", "--cached", "--quiet", "--ignore-unmatch"], &["update-ref", "-d", "HEAD"])
        };
        // The index first: while another git holds it, nothing is moved.
        if !paths.is_empty() {
            let unstage = [unstage, &["--pathspec-from-file=-", "--pathspec-file-nul"]].concat();
            self.text(Invocation::read(&unstage).paths(&paths))?;
        }
        self.text(Invocation::read(back)).map(|_| ())
    }

    /// Whether a commit is on any branch of a remote, as far as is known here.
    pub fn is_pushed(&self, commit: &str) -> Result<bool, GitError> {
        let arguments = ["branch", "--remotes", "--contains", commit, "--format=%(refname)"];
        Ok(!self.text(Invocation::read(&arguments))?.trim().is_empty())
    }

    /// The last commits of the branch that is checked out, the newest first, with their messages.
    pub fn recent(&self, count: u32) -> Result<Vec<(String, String)>, GitError> {
        if self.head()?.is_none() {
            return Ok(vec![]);
        }
        let limit = format!("--max-count={count}");
        let text = self.text(Invocation::read(&["log", &limit, "--format=%H%x00%B%x00%x00"]))?;
        let pairs = text.split("\0\0").filter_map(|entry| entry.trim_start().split_once('\0'));
        Ok(pairs.map(|(id, message)| (id.to_owned(), message.to_owned())).collect())
    }

    /// Takes what a commit did to some files back out of the files here, for when the commit itself cannot be taken
    /// back any more (K-37). It is done whole or not at all; what was undone before is left alone.
    pub fn undo(&self, commit: &str, paths: &[String]) -> Result<(), GitError> {
        if paths.is_empty() {
            return Ok(());
        }
        let fixed = ["diff-tree", "-p", "--binary", "--full-index", "--no-ext-diff", "--no-textconv"];
        let more = [
            "--no-commit-id",
            "--no-color",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            "--relative",
            "--root",
            commit,
            "--",
        ];
        let mut arguments: Vec<&str> = fixed.into_iter().chain(more).collect();
        arguments.extend(paths.iter().map(String::as_str));
        let patch = self.text(Invocation::read(&arguments))?;
        match self.applied(&["apply", "--reverse", "--whitespace=nowarn"], &patch) {
            Err(_) if self.applied(&["apply", "--check", "--whitespace=nowarn"], &patch).is_ok() => Ok(()),
            other => other,
        }
    }

    fn applied(&self, arguments: &[&str], patch: &str) -> Result<(), GitError> {
        let stdin = Input::Bytes(patch.as_bytes().to_vec());
        self.text(Invocation { stdin, ..Invocation::read(arguments) }).map(|_| ())
    }
}
