//! Bringing work where it belongs: a commit, a merge, a push. Each is found again if it was done before.

use crate::hands::git::COMMIT_MS;
use crate::hands::git::Commit;
use crate::hands::git::Committed;
use crate::hands::git::Git;
use crate::hands::git::GitError;
use crate::hands::git::Invocation;
use crate::hands::git::unreadable;

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
        let wanted = format!("{key}: {value}");
        let grep = format!("--grep={wanted}");
        let arguments = ["log", LOOK_BACK, "--fixed-strings", &grep, "--format=%H%x00%B%x00%x00"];
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
    pub fn commit_and_merge(&self, commit: &Commit, branch: &str) -> Result<Committed, GitError> {
        let base = self.branch()?.ok_or_else(|| unreadable("merge", "no branch is checked out"))?;
        self.switch(&["switch", "--quiet", "--create", branch])?;
        let committed = self.commit(commit);
        self.switch(&["switch", "--quiet", &base])?;
        let committed = match committed {
            Ok(committed) => committed,
            Err(error) => {
                self.switch(&["branch", "--quiet", "--delete", "--force", branch])?;
                return Err(error);
            }
        };
        let message = format!("--message={}", commit.message);
        let merge = ["merge", "--quiet", "--no-ff", &message, branch];
        let invocation = Invocation { hooks: true, deadline_ms: COMMIT_MS, ..Invocation::read(&merge) };
        self.text(invocation)?;
        let id = self.head()?.ok_or_else(|| unreadable("merge", "no commit came into being"))?;
        Ok(Committed { id, ..committed })
    }

    fn switch(&self, arguments: &[&str]) -> Result<(), GitError> {
        self.text(Invocation { deadline_ms: COMMIT_MS, ..Invocation::read(arguments) }).map(|_| ())
    }
}
