//! Commits as a person makes them: of given paths alone, as the files are now, and with the user's hooks.

use std::path::PathBuf;

use crate::hands::git::COMMIT_MS;
use crate::hands::git::Git;
use crate::hands::git::GitError;
use crate::hands::git::Invocation;
use crate::hands::git::Place;
use crate::hands::git::StatusEntry;
use crate::hands::git::unreadable;
use crate::hands::process::How;

/// What to commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Files or directories, relative to the workspace and taken literally. Whatever else is staged stays staged.
    pub paths: Vec<String>,
    pub message: String,
    /// Lines such as `Step-ID: 01-02`, in this order at the end of the message.
    pub trailers: Vec<(String, String)>,
}

/// What was committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    pub id: String,
    /// The files that differed. A path that was asked for and is not among them had not changed, or is ignored.
    pub paths: Vec<String>,
}

/// A longer hook is run as it is.
const HOOK_BYTES_MAX: u64 = 64 << 10;

impl Git<'_> {
    /// Commits the present state of the paths. When it fails, the index is as it was.
    pub fn commit(&self, commit: &Commit) -> Result<Committed, GitError> {
        let status = self.status()?;
        let wanted = |entry: &&StatusEntry| {
            let is_asked_for = |path: &str| commit.paths.iter().any(|asked| contains(asked, path));
            entry.place != Place::Ignored
                && (is_asked_for(&entry.path) || entry.old_path.as_deref().is_some_and(is_asked_for))
        };
        let entries: Vec<&StatusEntry> = status.entries.iter().filter(wanted).collect();
        let asked = |path: &&String| commit.paths.iter().any(|asked| contains(asked, path));
        let mut paths: Vec<String> = entries
            .iter()
            .flat_map(|e| [Some(&e.path), e.old_path.as_ref()])
            .flatten()
            .filter(asked)
            .cloned()
            .collect();
        paths.sort();
        paths.dedup();
        if paths.is_empty() {
            return Err(GitError::NothingToCommit);
        }
        let untracked: Vec<&String> =
            entries.iter().filter(|entry| entry.place == Place::Untracked).map(|entry| &entry.path).collect();
        // A commit of named paths only takes files that the index knows at least by name.
        self.with_paths(&["add", "--intent-to-add"], &untracked)?;
        if let Err(error) = self.commit_paths(commit, &paths) {
            self.with_paths(&["rm", "--cached", "--quiet", "--force", "--ignore-unmatch"], &untracked)?;
            return Err(error);
        }
        let id = self.head()?.ok_or_else(|| unreadable("commit", "no commit came into being"))?;
        Ok(Committed { id, paths })
    }

    fn commit_paths(&self, commit: &Commit, paths: &[String]) -> Result<(), GitError> {
        let mut arguments = vec!["commit".to_owned(), "--quiet".to_owned(), "--only".to_owned()];
        arguments.push(format!("--message={}", commit.message));
        arguments.extend(commit.trailers.iter().map(|(key, value)| format!("--trailer={key}: {value}")));
        arguments.extend(["--pathspec-from-file=-", "--pathspec-file-nul"].map(str::to_owned));
        let literal: Vec<String> = paths.iter().map(|path| format!(":(literal){path}")).collect();
        let invocation = Invocation {
            hooks: true,
            literal: false,
            deadline_ms: COMMIT_MS,
            ..Invocation::read(&arguments).paths(&literal)
        };
        let ended = self.run(&invocation)?;
        if ended.success() {
            return Ok(());
        }
        let refused = ended.how == How::Exited(1) && !self.commit_hooks()?.is_empty();
        match self.failure(&invocation, ended) {
            GitError::Failed { output, .. } if refused => Err(GitError::Hook { output }),
            error => Err(error),
        }
    }

    /// Whether there are hooks that can refuse a commit. Git says by the same exit code that a hook refused and that it
    /// failed itself, so they are looked for.
    pub fn commit_hooks(&self) -> Result<Vec<&'static str>, GitError> {
        let directory = self.hooks_folder()?;
        let mut found = vec![];
        for name in ["pre-commit", "commit-msg"] {
            if self.files.look(&directory.join(name))?.is_some_and(|entry| entry.mode & 0o111 != 0) {
                found.push(name);
            }
        }
        Ok(found)
    }

    /// The script that git runs before a commit; nothing where there is none that is a text.
    pub fn pre_commit_script(&self) -> Result<Option<String>, GitError> {
        let path = self.hooks_folder()?.join("pre-commit");
        let found = self.files.read(&path, HOOK_BYTES_MAX).ok();
        Ok(found.and_then(|found| String::from_utf8(found.bytes).ok()))
    }

    fn hooks_folder(&self) -> Result<PathBuf, GitError> {
        let arguments = ["rev-parse", "--path-format=absolute", "--git-path", "hooks"];
        let invocation = Invocation { hooks: true, ..Invocation::read(&arguments) };
        Ok(PathBuf::from(self.text(invocation)?.trim_end_matches('\n')))
    }

    fn with_paths(&self, arguments: &[&str], paths: &[&String]) -> Result<(), GitError> {
        if paths.is_empty() {
            return Ok(());
        }
        let mut arguments = arguments.to_vec();
        arguments.extend(["--pathspec-from-file=-", "--pathspec-file-nul"]);
        self.text(Invocation::read(&arguments).paths(paths)).map(|_| ())
    }
}

fn contains(asked: &str, path: &str) -> bool {
    let asked = asked.trim_start_matches("./").trim_end_matches('/');
    asked.is_empty()
        || asked == "."
        || path.strip_prefix(asked).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_contains_itself_and_what_is_below_it() {
        for (asked, path, expected) in [
            ("a", "a", true),
            ("a/", "a/b", true),
            ("./a", "a/b", true),
            (".", "x", true),
            ("a", "ab", false),
            ("a/b", "a", false),
        ] {
            assert_eq!(contains(asked, path), expected, "{asked} {path}");
        }
    }
}
