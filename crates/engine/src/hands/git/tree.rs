//! The working tree as a git tree, made without touching anything of the user's.

use std::path::Path;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

use crate::hands::files::FileError;
use crate::hands::files::Write;
use crate::hands::git::Git;
use crate::hands::git::GitError;
use crate::hands::git::Invocation;
use crate::hands::git::unreadable;

/// So often a tree is taken anew because files vanished meanwhile.
const VANISHED_MAX: u32 = 10;
/// So many repositories without commits inside of one are taken in turn.
const UNBORN_MAX: usize = 100;

/// Where git keeps what is needed here.
struct Layout {
    index: PathBuf,
    objects: PathBuf,
}

impl Git<'_> {
    /// The id of a tree that holds what is in the workspace now: tracked and untracked files, but not ignored
    /// ones. Equal ids mean equal contents.
    pub fn tree(&self) -> Result<String, GitError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let layout = self.layout()?;
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let index = self.private.join(format!("index-{}-{count}", std::process::id()));
        match self.files.copy(&layout.index, &index, Write::REBUILDABLE) {
            // By its time git knows which files may have changed after it was written, within the same tick of the clock.
            Ok(_) => self.files.copy_time(&layout.index, &index)?,
            // A repository in which nothing was ever added has no index.
            Err(FileError::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let mut env = self.private_objects(&layout)?;
        env.push(("GIT_INDEX_FILE".to_owned(), text_of(&index)?));
        let tree = self.fill_index(&env);
        for leftover in [index.clone(), index.with_extension("lock")] {
            self.files.remove(&leftover)?;
        }
        tree
    }

    /// Variables for calls that have to see trees made here.
    pub(super) fn objects_env(&self) -> Result<Vec<(String, String)>, GitError> {
        self.private_objects(&self.layout()?)
    }

    /// The id of the tree of a commit or tree; without a name that of the empty tree (E-52).
    pub(super) fn base(&self, name: Option<&str>, env: &[(String, String)]) -> Result<String, GitError> {
        let Some(name) = name else {
            let empty = Invocation::read(&["hash-object", "-w", "-t", "tree", "--stdin"]);
            return Ok(self.text(empty.env(env))?.trim().to_owned());
        };
        let unknown = || GitError::UnknownRevision { name: name.to_owned() };
        let revision = format!("{name}^{{tree}}");
        let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &revision];
        match self.text(Invocation::read(&arguments).env(env)) {
            Ok(id) => Ok(id.trim().to_owned()),
            Err(GitError::Failed { .. }) => Err(unknown()),
            Err(error) => Err(error),
        }
    }

    fn fill_index(&self, env: &[(String, String)]) -> Result<String, GitError> {
        self.lift_blinds(env)?;
        let mut unborn: Vec<String> = Vec::new();
        let mut vanished = 0;
        loop {
            match self.add_all(&unborn, env) {
                Ok(()) => break,
                // A file that went between the listing and the look, such as one that is being replaced, is no matter.
                Err(GitError::Failed { output, .. }) if vanished < VANISHED_MAX && has_vanished(&output) => {
                    vanished += 1;
                }
                // A repository inside of this one that has no commit yet cannot be added.
                Err(error) if unborn.len() < UNBORN_MAX => {
                    let GitError::Failed { output, .. } = &error else { return Err(error) };
                    let named = named_as_unborn(output).filter(|path| !unborn.contains(path));
                    match named {
                        Some(path) => unborn.push(path),
                        None => return Err(error),
                    }
                }
                Err(error) => return Err(error),
            }
        }
        if !unborn.is_empty() {
            // It must not go unnoticed, so it is recorded like a repository whose commit is the empty tree.
            let empty = self.base(None, env)?;
            let entries: Vec<String> = unborn.iter().map(|path| format!("160000 {empty}\t{path}")).collect();
            let arguments = ["update-index", "--add", "-z", "--index-info"];
            self.text(Invocation::read(&arguments).env(env).paths(&entries))?;
        }
        Ok(self.text(Invocation::read(&["write-tree"]).env(env))?.trim().to_owned())
    }

    fn add_all(&self, excluded: &[String], env: &[(String, String)]) -> Result<(), GitError> {
        let arguments = ["add", "--all", "--sparse", "--pathspec-from-file=-", "--pathspec-file-nul"];
        let mut paths = vec![".".to_owned()];
        paths.extend(self.own.iter().map(|path| left_out(path)));
        paths.extend(excluded.iter().map(|path| format!(":(exclude,literal,top){path}")));
        let invocation = Invocation { literal: false, ..Invocation::read(&arguments).env(env).paths(&paths) };
        self.text(invocation).map(|_| ())
    }

    /// Files that somebody told git not to look at are looked at: what is marked *assume unchanged* always, what is
    /// marked *skip* (as in a sparse checkout) if it is there.
    fn lift_blinds(&self, env: &[(String, String)]) -> Result<(), GitError> {
        let listed = self.text(Invocation::read(&["ls-files", "-v", "-z"]).env(env))?;
        let mut assumed = Vec::new();
        let mut skipped = Vec::new();
        for entry in listed.split_terminator('\0') {
            let (tag, path) = entry.split_once(' ').ok_or_else(|| unreadable("ls-files", entry))?;
            if tag.chars().all(|c| c.is_ascii_lowercase()) {
                assumed.push(path);
            }
            if tag.eq_ignore_ascii_case("s") && self.files.look(&self.workspace.root().join(path))?.is_some()
            {
                skipped.push(path);
            }
        }
        for (option, paths) in [("--no-assume-unchanged", assumed), ("--no-skip-worktree", skipped)] {
            if !paths.is_empty() {
                let arguments = ["update-index", option, "-z", "--stdin"];
                self.text(Invocation::read(&arguments).env(env).paths(&paths))?;
            }
        }
        Ok(())
    }

    fn layout(&self) -> Result<Layout, GitError> {
        let arguments =
            ["rev-parse", "--path-format=absolute", "--git-path", "index", "--git-path", "objects"];
        let answer = self.text(Invocation::read(&arguments))?;
        match answer.lines().collect::<Vec<_>>().as_slice() {
            [index, objects] => Ok(Layout { index: index.into(), objects: objects.into() }),
            _ => Err(unreadable("rev-parse", answer)),
        }
    }

    /// The variables by which git sees the objects of our own store beside those of the repository.
    pub(super) fn all_objects(&self) -> Result<Vec<(String, String)>, GitError> {
        self.private_objects(&self.layout()?)
    }

    /// New objects go to our own store; those of the repository are seen through it.
    fn private_objects(&self, layout: &Layout) -> Result<Vec<(String, String)>, GitError> {
        let own = self.private.join("objects");
        self.files.make_directory(&own)?;
        let theirs = text_of(&layout.objects)?;
        // The variable is a list with `:`, in which a quoted entry may hold anything.
        let quoted = format!("\"{}\"", theirs.replace('\\', "\\\\").replace('"', "\\\""));
        Ok(vec![
            ("GIT_OBJECT_DIRECTORY".to_owned(), text_of(&own)?),
            ("GIT_ALTERNATE_OBJECT_DIRECTORIES".to_owned(), quoted),
        ])
    }
}

/// Returns whether git stumbled over a file that was there a moment before.
fn has_vanished(output: &str) -> bool {
    output.lines().any(|line| line.contains("unable to stat") && line.contains("No such file"))
}

/// The path, seen from the top of the repository, of a repository without commits that `git add` complains about.
fn named_as_unborn(output: &str) -> Option<String> {
    let (_, rest) = output.split_once("error: '")?;
    let (path, _) = rest.split_once("/' does not have a commit checked out")?;
    Some(path.to_owned())
}

pub(super) fn text_of(path: &Path) -> Result<String, GitError> {
    let text = path.to_str().ok_or_else(|| FileError::BadName { path: path.to_owned() })?;
    Ok(text.to_owned())
}

/// A pattern that leaves a directory out. Spelt without a fixed beginning: git takes a plain name, even one that is to
/// be left out, for a wish to add it, and refuses when it is ignored.
fn left_out(directory: &str) -> String {
    let mut letters = directory.chars();
    let first = letters.next().unwrap_or('.');
    format!(":(exclude,glob)[{first}]{}/**", letters.as_str())
}
