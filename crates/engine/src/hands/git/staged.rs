//! What is about to be committed or pushed, as contents of files.

use crate::hands::git::Git;
use crate::hands::git::GitError;
use crate::hands::git::Invocation;

/// Larger files are no state files.
const FILE_BYTES_MAX: usize = 4 << 20;

impl Git<'_> {
    /// The files that the next commit would change or add, with what is staged of them.
    pub fn staged(&self) -> Result<Vec<(String, String)>, GitError> {
        let arguments = ["diff", "--cached", "--name-only", "-z", "--diff-filter=ACMRT", "--no-ext-diff", "--relative"];
        let names = self.text(Invocation::read(&arguments))?;
        self.contents(&names, "")
    }

    /// The files that differ between two commits (nothing means the empty tree), as the second has them.
    pub fn changed_files(&self, since: Option<&str>, tip: &str) -> Result<Vec<(String, String)>, GitError> {
        let base = match since {
            Some(since) => since.to_owned(),
            None => self.base(None, &self.objects_env()?)?,
        };
        let arguments = [
            "diff-tree", "-r", "--name-only", "-z", "--diff-filter=ACMRT", "--no-ext-diff", "--relative", &base, tip,
        ];
        let env = self.objects_env()?;
        let names = self.text(Invocation::read(&arguments).env(&env))?;
        self.contents(&names, tip)
    }

    /// The contents of files of a commit, or of the index where none is named. What is no text is left out.
    fn contents(&self, names: &str, tip: &str) -> Result<Vec<(String, String)>, GitError> {
        let mut found = vec![];
        for name in names.split_terminator('\0').filter(|name| may_hold_state(name)) {
            let object = format!("{tip}:./{name}");
            let invocation = Invocation { keep_bytes: FILE_BYTES_MAX, ..Invocation::read(&["cat-file", "blob", &object]) };
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
