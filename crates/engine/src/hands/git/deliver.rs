//! Bringing work where it belongs: a commit, a merge, a push. Each is found again if it was done before.

use crate::hands::git::COMMIT_MS;
use crate::hands::git::Git;
use crate::hands::git::GitError;
use crate::hands::git::Invocation;

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
        let arguments =
            ["log", LOOK_BACK, "--fixed-strings", &grep, "--format=%H%x00%B%x00%x00", "HEAD", "--"];
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

    /// Returns the merge by which a commit of another branch came into this one.
    pub fn merge_of(&self, made: &str) -> Result<Option<String>, GitError> {
        let text = self.text(Invocation::read(&["log", LOOK_BACK, "--merges", "--format=%H %P"]))?;
        let merge = text.lines().find(|line| line.split(' ').skip(2).any(|parent| parent == made));
        Ok(merge.and_then(|line| line.split(' ').next()).map(str::to_owned))
    }
}
