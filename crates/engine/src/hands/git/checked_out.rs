//! Files of a commit, written to another folder than the working tree.

use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

use crate::hands::git::Git;
use crate::hands::git::GitError;
use crate::hands::git::Invocation;
use crate::hands::git::tree::text_of;

impl Git<'_> {
    /// Writes files of a commit below a folder, as a checkout would write them: through the filters of the user, and with
    /// the paths that they have from the top of the repository.
    pub fn check_out(&self, commit: &str, paths: &[String], into: &Path) -> Result<(), GitError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        if paths.is_empty() {
            return Ok(());
        }
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let index = self.private.join(format!("checkout-{}-{count}", std::process::id()));
        self.files.make_directory(&self.private)?;
        let env = [("GIT_INDEX_FILE".to_owned(), text_of(&index)?)];
        let prefix = format!("--prefix={}/", text_of(into)?);
        let arguments = ["checkout-index", "--force", "--quiet", "-z", "--stdin", &prefix];
        let written = self
            .text(Invocation::read(&["read-tree", commit]).env(&env))
            .and_then(|_| self.text(Invocation::read(&arguments).env(&env).paths(paths)));
        for leftover in [index.clone(), index.with_extension("lock")] {
            self.files.remove(&leftover)?;
        }
        written.map(|_| ())
    }
}
