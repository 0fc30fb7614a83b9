//! A tree with other files in some places, made without touching anything of the user's.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

use crate::hands::files::FileError;
use crate::hands::git::Git;
use crate::hands::git::GitError;
use crate::hands::git::Invocation;
use crate::hands::git::tree::text_of;
use crate::hands::paths::decode_name;
use crate::hands::process::Input;

/// What one path of a tree becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeEdit {
    /// Relative to the workspace, as [`crate::hands::paths::encode_name`] writes it.
    pub path: String,
    pub to: TreeEntry,
}

/// What a path of a tree holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeEntry {
    Nothing,
    File { source: PathBuf, executable: bool },
    Link { target: String },
}

impl Git<'_> {
    /// Returns the id of `base` with these edits. Files are taken as the filters of the workspace itself want them; what
    /// the edits say about filters has no say.
    pub fn tree_with(&self, base: &str, edits: &[TreeEdit]) -> Result<String, GitError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let mut env = self.objects_env()?;
        let base = self.base(Some(base), &env)?;
        if edits.is_empty() {
            return Ok(base);
        }
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let index = self.private.join(format!("edited-{}-{count}", std::process::id()));
        env.push(("GIT_INDEX_FILE".to_owned(), text_of(&index)?));
        let tree = self.edit_index(&base, edits, &env);
        for leftover in [index.clone(), index.with_extension("lock")] {
            self.files.remove(&leftover)?;
        }
        tree
    }

    fn edit_index(
        &self,
        base: &str,
        edits: &[TreeEdit],
        env: &[(String, String)],
    ) -> Result<String, GitError> {
        self.text(Invocation::read(&["read-tree", base]).env(env))?;
        let prefix = self.text(Invocation::read(&["rev-parse", "--show-prefix"]).env(env))?;
        let prefix = prefix.trim_end_matches('\n');
        let (gone, there): (Vec<&TreeEdit>, Vec<&TreeEdit>) =
            edits.iter().partition(|edit| edit.to == TreeEntry::Nothing);
        let mut lines: Vec<u8> = Vec::new();
        // Removals come first, so that a file can take the place of a folder.
        for edit in gone.into_iter().chain(there) {
            let (mode, id) = match &edit.to {
                TreeEntry::Nothing => ("0", "0".repeat(40)),
                TreeEntry::File { source, executable } => {
                    let id = self.hash_file(&edit.path, source, env)?;
                    (if *executable { "100755" } else { "100644" }, id)
                }
                TreeEntry::Link { target } => ("120000", self.hash_bytes(target, env)?),
            };
            let name = decoded(&edit.path)?;
            lines.extend(format!("{mode} {id}\t{prefix}").bytes());
            lines.extend(name.as_os_str().as_bytes());
            lines.push(0);
        }
        let arguments = ["update-index", "--add", "--replace", "-z", "--index-info"];
        self.text(Invocation { stdin: Input::Bytes(lines), ..Invocation::read(&arguments).env(env) })?;
        Ok(self.text(Invocation::read(&["write-tree"]).env(env))?.trim().to_owned())
    }

    fn hash_file(
        &self,
        path: &str,
        source: &std::path::Path,
        env: &[(String, String)],
    ) -> Result<String, GitError> {
        let at = format!("--path={}", text_of(&decoded(path)?)?);
        let source = text_of(source)?;
        let arguments = ["hash-object", "-w", &at, "--", &source];
        Ok(self.text(Invocation::read(&arguments).env(env))?.trim().to_owned())
    }

    fn hash_bytes(&self, target: &str, env: &[(String, String)]) -> Result<String, GitError> {
        let bytes = decoded(target)?.into_os_string().as_encoded_bytes().to_vec();
        let call = Invocation::read(&["hash-object", "-w", "--stdin"]).env(env);
        Ok(self.text(Invocation { stdin: Input::Bytes(bytes), ..call })?.trim().to_owned())
    }
}

fn decoded(path: &str) -> Result<PathBuf, GitError> {
    let name = decode_name(path).ok_or_else(|| FileError::BadName { path: path.into() })?;
    Ok(PathBuf::from(name))
}
