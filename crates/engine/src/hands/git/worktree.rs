//! Further working trees, for branches of a flow that run at the same time.

use std::path::Path;
use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;

use crate::hands::files::FileError;
use crate::hands::git::Git;
use crate::hands::git::GitError;
use crate::hands::git::Invocation;
use crate::hands::git::unreadable;

/// One working tree of the repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worktree {
    pub path: PathBuf,
    pub head: Option<String>,
    /// Without `refs/heads/`; `None` when only a commit is checked out.
    pub branch: Option<String>,
    pub locked: bool,
    /// Its directory is gone.
    pub prunable: bool,
}

impl Git<'_> {
    /// Makes a working tree at `path` with `base` checked out: on a new branch of the given name, or on none.
    pub fn add_worktree(&self, path: &Path, branch: Option<&str>, base: &str) -> Result<(), GitError> {
        let path = text_of(path)?;
        let mut arguments = vec!["worktree", "add", "--quiet"];
        match branch {
            Some(branch) => arguments.extend(["-b", branch]),
            None => arguments.push("--detach"),
        }
        arguments.extend(["--", path, base]);
        self.text(Invocation::read(&arguments))?;
        // Git does not wait until the files of a working tree are on the disk.
        Ok(self.files.sync(Path::new(path))?)
    }

    /// Removes a working tree with everything in it that is not committed. One that is gone is no error.
    pub fn remove_worktree(&self, path: &Path) -> Result<(), GitError> {
        let known = self.worktrees()?.into_iter().any(|tree| tree.path == path);
        if !known {
            return Ok(());
        }
        self.text(Invocation::read(&["worktree", "remove", "--force", "--force", "--", text_of(path)?]))
            .map(|_| ())
    }

    /// All working trees; the first one is that of the repository itself.
    pub fn worktrees(&self) -> Result<Vec<Worktree>, GitError> {
        parse(&self.text(Invocation::read(&["worktree", "list", "--porcelain", "-z"]))?)
    }

    /// Forgets working trees whose directories are gone.
    pub fn prune_worktrees(&self) -> Result<(), GitError> {
        self.text(Invocation::read(&["worktree", "prune"])).map(|_| ())
    }
}

fn text_of(path: &Path) -> Result<&str, GitError> {
    Ok(path.to_str().ok_or_else(|| FileError::BadName { path: path.to_owned() })?)
}

fn parse(printed: &str) -> Result<Vec<Worktree>, GitError> {
    let mut trees: Vec<Worktree> = Vec::new();
    for line in printed.split_terminator('\0').filter(|line| !line.is_empty()) {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        if key == "worktree" {
            trees.push(Worktree { path: value.into(), ..Worktree::default() });
            continue;
        }
        let tree = trees.last_mut().ok_or_else(|| unreadable("worktree", line))?;
        match key {
            // Before the first commit git prints a row of zeros.
            "HEAD" if value.bytes().any(|digit| digit != b'0') => tree.head = Some(value.to_owned()),
            "branch" => tree.branch = Some(value.trim_start_matches("refs/heads/").to_owned()),
            "locked" => tree.locked = true,
            "prunable" => tree.prunable = true,
            _ => {}
        }
    }
    Ok(trees)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_listed_with_what_is_checked_out() {
        let printed = "worktree /a b\0HEAD 12\0branch refs/heads/x/y\0\0worktree /c\0HEAD 00\0detached\0\
                       locked why\0prunable gone\0\0";
        let trees = parse(printed).unwrap();
        let first = Worktree {
            path: "/a b".into(),
            head: Some("12".to_owned()),
            branch: Some("x/y".to_owned()),
            ..Worktree::default()
        };
        let second = Worktree { path: "/c".into(), locked: true, prunable: true, ..Worktree::default() };
        assert_eq!(trees, [first, second]);
        assert!(parse("HEAD 12\0").is_err());
    }
}
