//! What is about to be committed or pushed, as contents of files.

use seriatim_core::time::Utc;

use crate::hands::git::Git;
use crate::hands::git::GitError;
use crate::hands::git::Invocation;

/// Larger files are no state files.
const FILE_BYTES_MAX: usize = 4 << 20;

impl Git<'_> {
    /// The files that the next commit would change or add, with what is staged of them.
    pub fn staged(&self) -> Result<Vec<(String, String)>, GitError> {
        let arguments =
            ["diff", "--cached", "--name-only", "-z", "--diff-filter=ACMRT", "--no-ext-diff", "--relative"];
        let names = self.text(Invocation::read(&arguments))?;
        self.contents(&names, "")
    }

    /// The paths that the next commit would change in any way.
    pub fn staged_paths(&self) -> Result<Vec<String>, GitError> {
        let arguments =
            ["diff", "--cached", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--relative"];
        let names = self.text(Invocation::read(&arguments))?;
        Ok(names.split_terminator('\0').map(str::to_owned).collect())
    }

    /// The files that the commits up to `tip` changed which no remote has yet, as `tip` has them. `known` is what the
    /// remote in question is known to have. With `since`, commits that are older do not count.
    pub fn unpublished(
        &self,
        known: Option<&str>,
        tip: &str,
        since: Option<Utc>,
    ) -> Result<Vec<(String, String)>, GitError> {
        let range =
            ["log", "--format=", "--name-only", "-z", "-m", "--no-renames", "--no-ext-diff", "--relative"];
        let mut arguments = range.map(str::to_owned).to_vec();
        arguments.extend(since.map(|since| format!("--since={}", since.seconds())));
        arguments.extend([tip.to_owned(), "--not".to_owned(), "--remotes".to_owned()]);
        // A commit that was fetched by nobody says nothing here.
        if let Some(known) = known.filter(|known| self.has_commit(known)) {
            arguments.push(known.to_owned());
        }
        let names = self.text(Invocation::read(&arguments))?;
        let mut names: Vec<&str> = names.split('\0').map(str::trim).filter(|name| !name.is_empty()).collect();
        names.sort_unstable();
        names.dedup();
        self.contents(&names.join("\0"), tip)
    }

    /// Whether anything was ever fetched from a remote, or pushed to one.
    pub fn has_remote_branches(&self) -> Result<bool, GitError> {
        let arguments = ["for-each-ref", "--count=1", "--format=%(refname)", "refs/remotes"];
        Ok(!self.text(Invocation::read(&arguments))?.trim().is_empty())
    }

    /// Whether everything that `commit` holds is in `later` as well.
    pub fn is_ancestor(&self, commit: &str, later: &str) -> Result<bool, GitError> {
        let arguments = ["merge-base", "--is-ancestor", commit, later];
        Ok(self.lookup(&arguments)?.is_some())
    }

    /// A file as a commit has it; nothing where it has no such text.
    pub fn text_at(&self, commit: &str, path: &str) -> Option<String> {
        let object = format!("{commit}:./{path}");
        let blob =
            || Invocation { keep_bytes: FILE_BYTES_MAX, ..Invocation::read(&["cat-file", "blob", &object]) };
        // Trees that the engine measured are in its own store.
        self.text(blob()).or_else(|_| self.text(blob().env(&self.all_objects()?))).ok()
    }

    fn has_commit(&self, id: &str) -> bool {
        let name = format!("{id}^{{commit}}");
        self.lookup(&["rev-parse", "--verify", "--quiet", &name]).is_ok_and(|found| found.is_some())
    }

    /// The contents of files of a commit, or of the index where none is named. What is no text is left out.
    fn contents(&self, names: &str, tip: &str) -> Result<Vec<(String, String)>, GitError> {
        let mut found = vec![];
        for name in names.split_terminator('\0').filter(|name| may_hold_state(name)) {
            let object = format!("{tip}:./{name}");
            let invocation =
                Invocation { keep_bytes: FILE_BYTES_MAX, ..Invocation::read(&["cat-file", "blob", &object]) };
            if let Ok(text) = self.text(invocation) {
                found.push((name.to_owned(), text));
            }
        }
        Ok(found)
    }
}

/// State files are JSON or YAML.
fn may_hold_state(name: &str) -> bool {
    [".json", ".yaml", ".yml"].iter().any(|ending| name.ends_with(ending))
}
