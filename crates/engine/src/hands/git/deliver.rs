//! Bringing work where it belongs: a commit, a merge, a push. Each is found again if it was done before.

use crate::hands::git::COMMIT_MS;
use crate::hands::git::Commit;
use crate::hands::git::Committed;
use crate::hands::git::Git;
use crate::hands::git::GitError;
use crate::hands::git::Invocation;
use crate::hands::git::unreadable;
use crate::hands::process::How;

/// How many commits back an earlier delivery is looked for.
const LOOK_BACK: &str = "--max-count=200";

impl Git<'_> {
    /// The remote that a push goes to: that of the branch, else the only one there is.
    pub fn remote(&self) -> Result<Option<String>, GitError> {
        if let Some(branch) = self.branch()? {
            let key = format!("branch.{branch}.remote");
            if let Some(remote) = self.lookup(&["config", "--get", &key])?.filter(|r| r != ".") {
                return Ok(Some(remote));
            }
        }
        let all = self.text(Invocation::read(&["remote"]))?;
        let mut names = all.lines().map(str::trim).filter(|n| !n.is_empty());
        Ok(match (names.next(), names.next()) {
            (Some(only), None) => Some(only.to_owned()),
            (Some(_), Some(_)) => all.lines().find(|n| n.trim() == "origin").map(|n| n.trim().to_owned()),
            _ => None,
        })
    }

    /// The commit that carries a trailer, if one of the last commits does.
    pub fn commit_with_trailer(&self, key: &str, value: &str) -> Result<Option<String>, GitError> {
        if self.head()?.is_none() {
            return Ok(None);
        }
        self.find_trailer("HEAD", key, value)
    }

    fn find_trailer(&self, from: &str, key: &str, value: &str) -> Result<Option<String>, GitError> {
        let wanted = format!("{key}: {value}");
        let grep = format!("--grep={wanted}");
        let arguments = ["log", LOOK_BACK, "--fixed-strings", &grep, "--format=%H%x00%B%x00%x00", from, "--"];
        let text = self.text(Invocation::read(&arguments))?;
        let found = text.split("\0\0").find_map(|entry| {
            let (id, body) = entry.trim_start().split_once('\0')?;
            body.lines().any(|line| line.trim() == wanted).then(|| id.to_owned())
        });
        Ok(found)
    }

    /// Sends the present commit to the branch of the same name.
    pub fn push(&self, remote: &str) -> Result<(), GitError> {
        let invocation =
            Invocation { hooks: true, deadline_ms: COMMIT_MS, ..Invocation::read(&["push", remote, "HEAD"]) };
        self.text(invocation).map(|_| ())
    }

    /// Commits on a branch of its own and merges that into the present one, so that the work stays visible as one.
    ///
    /// No file is touched on the way: only HEAD and branches move, one at a time, and the branch that was checked out
    /// is noted before. [`Git::resume_merge`] goes on from wherever this was cut off.
    pub fn commit_and_merge(&self, commit: &Commit, branch: &str) -> Result<Committed, GitError> {
        let base = self.branch()?.ok_or_else(|| unreadable("merge", "no branch is checked out"))?;
        let (head, tip) = (self.head()?, self.tip(branch)?);
        if tip.is_some() && tip != head {
            let output = format!("a branch named '{branch}' already exists");
            return Err(GitError::Failed { command: "branch".to_owned(), how: How::Exited(128), output });
        }
        self.switch(&["symbolic-ref", &merging(branch), &format!("refs/heads/{base}")])?;
        if tip.is_none() {
            self.switch(&["branch", "--quiet", branch])?;
        }
        self.switch(&["symbolic-ref", "HEAD", &format!("refs/heads/{branch}")])?;
        let committed = match self.commit(commit) {
            Ok(committed) => committed,
            Err(error) => {
                self.leave_branch(&base)?;
                self.delete_branch(branch)?;
                self.forget_base(branch)?;
                return Err(error);
            }
        };
        let id = self.finish_merge(&committed.id, &commit.message, branch)?;
        Ok(Committed { id, ..committed })
    }

    /// Goes on with a merge that was begun and cut off, and returns the commit that it came to. Nothing where the
    /// commit with this trailer was not made; then everything is as it was before.
    pub fn resume_merge(
        &self,
        commit: &Commit,
        branch: &str,
        trailer: (&str, &str),
    ) -> Result<Option<String>, GitError> {
        let made = match self.commit_with_trailer(trailer.0, trailer.1)? {
            Some(made) => Some(made),
            None if self.tip(branch)?.is_some() => self.find_trailer(branch, trailer.0, trailer.1)?,
            None => None,
        };
        if let Some(made) = made {
            return self.finish_merge(&made, &commit.message, branch).map(Some);
        }
        if let Some(base) = self.base_of(branch)? {
            self.leave_branch(&base)?;
            self.delete_branch(branch)?;
            self.forget_base(branch)?;
        }
        Ok(None)
    }

    /// Merges the commit of a branch into the branch that was checked out before, and returns the merge.
    fn finish_merge(&self, made: &str, message: &str, branch: &str) -> Result<String, GitError> {
        let base = match self.base_of(branch)? {
            Some(base) => base,
            None => self.branch()?.ok_or_else(|| unreadable("merge", "no branch is checked out"))?,
        };
        self.leave_branch(&base)?;
        let head = self.head()?.ok_or_else(|| unreadable("merge", "no commit is checked out"))?;
        let id = if self.is_ancestor(made, &head)? {
            self.merge_of(made)?.unwrap_or_else(|| made.to_owned())
        } else {
            let tree = format!("{made}^{{tree}}");
            let parent = self.lookup(&["rev-parse", "--verify", "--quiet", &format!("{made}^")])?;
            if parent.as_deref() != Some(head.as_str()) {
                return Err(unreadable("merge", format!("{base} moved while {branch} was merged into it")));
            }
            let arguments = ["commit-tree", &tree, "-p", &head, "-p", made, "-m", message];
            let id = self.text(Invocation::read(&arguments))?.trim().to_owned();
            self.switch(&["update-ref", "-m", "merge", &format!("refs/heads/{base}"), &id, &head])?;
            id
        };
        self.forget_base(branch)?;
        Ok(id)
    }

    fn merge_of(&self, made: &str) -> Result<Option<String>, GitError> {
        let text = self.text(Invocation::read(&["log", LOOK_BACK, "--merges", "--format=%H %P"]))?;
        let merge = text.lines().find(|line| line.split(' ').skip(2).any(|parent| parent == made));
        Ok(merge.and_then(|line| line.split(' ').next()).map(str::to_owned))
    }

    /// The branch that was checked out when the merge of another one was begun.
    fn base_of(&self, branch: &str) -> Result<Option<String>, GitError> {
        let noted = self.lookup(&["symbolic-ref", "--quiet", &merging(branch)])?;
        Ok(noted.map(|name| name.trim_start_matches("refs/heads/").to_owned()))
    }

    fn leave_branch(&self, base: &str) -> Result<(), GitError> {
        if self.branch()?.as_deref() == Some(base) {
            return Ok(());
        }
        self.switch(&["symbolic-ref", "HEAD", &format!("refs/heads/{base}")])
    }

    fn forget_base(&self, branch: &str) -> Result<(), GitError> {
        match self.base_of(branch)? {
            Some(_) => self.switch(&["symbolic-ref", "--delete", &merging(branch)]),
            None => Ok(()),
        }
    }

    fn tip(&self, branch: &str) -> Result<Option<String>, GitError> {
        self.lookup(&["rev-parse", "--verify", "--quiet", &format!("refs/heads/{branch}")])
    }

    fn switch(&self, arguments: &[&str]) -> Result<(), GitError> {
        self.text(Invocation { deadline_ms: COMMIT_MS, ..Invocation::read(arguments) }).map(|_| ())
    }
}

/// Where it is noted what was checked out before a merge of a branch was begun.
fn merging(branch: &str) -> String {
    format!("refs/seriatim/merging/{branch}")
}
