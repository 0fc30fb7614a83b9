//! Commits by plumbing: exactly one tree on exactly one commit, read back afterwards.
//!
//! No hook of the repository takes part, and no file of the working tree is read or written. The branch moves only from the
//! commit that was named, and of the user's index only the files of the change are brought along. A process that dies in
//! between leaves a branch that moved and an index that did not; [`Git::settle_index`] finishes that, however often it is
//! asked for.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

use crate::hands::files::FileError;
use crate::hands::files::Kind;
use crate::hands::git::COMMIT_MS;
use crate::hands::git::Committed;
use crate::hands::git::Git;
use crate::hands::git::GitError;
use crate::hands::git::Invocation;
use crate::hands::git::tree::text_of;
use crate::hands::git::unreadable;
use crate::hands::process::Input;

/// A commit that is to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExactCommit {
    /// The commit on which it is made; nothing for the first one.
    pub head: Option<String>,
    /// The branch that is checked out; nothing where only a commit is.
    pub branch: Option<String>,
    /// What it holds.
    pub tree: String,
    pub message: String,
    /// Lines such as `Step-ID: 01-02`, in this order at the end of the message.
    pub trailers: Vec<(String, String)>,
    /// A new branch that gets the commit, which is then merged into the one that is checked out.
    pub beside: Option<String>,
}

/// One path that differs between two trees, or a tree and the index, as `--raw` tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RawChange {
    old: (String, String),
    new: (String, String),
    path: String,
}

impl RawChange {
    /// Whether the path is not there afterwards.
    fn is_removal(&self) -> bool {
        is_nothing(&self.new.1)
    }
}

impl Git<'_> {
    /// Returns the id of the tree of `base` with some paths as another tree has them.
    pub fn tree_taking(&self, base: Option<&str>, from: &str, paths: &[String]) -> Result<String, GitError> {
        let mut env = self.objects_env()?;
        let base = self.base(base, &env)?;
        let from = self.base(Some(from), &env)?;
        let prefix = self.prefix()?;
        let wanted = |path: &str| {
            path.strip_prefix(prefix.as_str()).is_some_and(|inside| paths.iter().any(|p| p == inside))
        };
        let differing = self.raw(&["diff-tree", "-r", &base, &from], &env)?;
        // A name that is no text is not told apart from others, so that nothing is taken by a name like it.
        if let Some(unclear) =
            differing.iter().find(|change| change.path.contains(char::REPLACEMENT_CHARACTER))
        {
            return Err(FileError::BadName { path: unclear.path.clone().into() }.into());
        }
        let taken: Vec<RawChange> = differing.into_iter().filter(|change| wanted(&change.path)).collect();
        if taken.is_empty() {
            return Ok(base);
        }
        let index = self.private_index("taking")?;
        env.push(("GIT_INDEX_FILE".to_owned(), text_of(&index)?));
        let tree = self
            .text(Invocation::read(&["read-tree", &base]).env(&env))
            .and_then(|_| self.put_entries(&taken, &env))
            .and_then(|()| self.text(Invocation::read(&["write-tree"]).env(&env)));
        for leftover in [index.clone(), index.with_extension("lock")] {
            self.files.remove(&leftover)?;
        }
        Ok(tree?.trim().to_owned())
    }

    /// Makes a commit, moves the branch to it, and brings the user's index along. Where the branch is not where it was
    /// said to be, nothing happens.
    pub fn commit_exactly(&self, wanted: &ExactCommit) -> Result<Committed, GitError> {
        self.stands_at(wanted)?;
        self.absorb(&wanted.tree, wanted.head.as_deref())?;
        let message = self.with_trailers(&wanted.message, &wanted.trailers)?;
        let parents: Vec<&str> = wanted.head.as_deref().into_iter().collect();
        let made = self.write_commit(&wanted.tree, &parents, &message)?;
        let id = match (&wanted.beside, &wanted.head) {
            (Some(_), Some(head)) => self.write_commit(&wanted.tree, &[head, &made], &wanted.message)?,
            (Some(_) | None, _) => made.clone(),
        };
        self.move_branches(wanted, &made, &id)?;
        if self.branch()? != wanted.branch {
            // Another branch was checked out at this very moment; its files and index are none of ours.
            self.move_back(wanted, &id)?;
            return Err(self.moved(wanted)?);
        }
        self.settle_index(&id)?;
        self.read_back(wanted, &id)?;
        let paths = self.changes_between(wanted.head.as_deref(), &id)?;
        let both = |change: crate::hands::git::Change| [Some(change.path), change.old_path];
        let mut paths: Vec<String> = paths.into_iter().flat_map(both).flatten().collect();
        paths.sort();
        Ok(Committed { id, paths })
    }

    /// Runs the hook that hears of a commit, as git does after one. What it says has no say.
    pub fn after_commit(&self) -> Result<(), GitError> {
        let arguments = ["hook", "run", "--ignore-missing", "post-commit"];
        let invocation = Invocation { hooks: true, deadline_ms: COMMIT_MS, ..Invocation::read(&arguments) };
        self.run(&invocation).map(|_| ())
    }

    /// Brings the user's index to a commit that is checked out, for the files that the commit changes and no others. What
    /// the user has staged in them meanwhile, and has in the files too, stays.
    pub fn settle_index(&self, commit: &str) -> Result<(), GitError> {
        if self.head()?.as_deref() != Some(commit) {
            return Ok(());
        }
        let env = [];
        let parent = self.lookup(&["rev-parse", "--verify", "--quiet", &format!("{commit}^")])?;
        let before = self.base(parent.as_deref(), &self.objects_env()?)?;
        let own = self.objects_env()?;
        let changes = self.raw(&["diff-tree", "-r", &before, &format!("{commit}^{{tree}}")], &own)?;
        let changes: BTreeMap<&str, &RawChange> =
            changes.iter().map(|change| (change.path.as_str(), change)).collect();
        let mut stale = vec![];
        for found in self.raw(&["diff-index", "--cached", commit], &env)? {
            let Some(change) = changes.get(found.path.as_str()) else { continue };
            let is_old = found.new == change.old;
            if is_old || self.file_is(&found.path, &change.new)? {
                stale.push((*change).clone());
            }
        }
        if !stale.is_empty() {
            self.put_entries(&stale, &env)?;
        }
        // The times of the files are noted, so that other programs need not read them. Files that differ are no failure.
        let refresh = Invocation::read(&["update-index", "-q", "--refresh"]);
        self.run(&refresh).map(|_| ())
    }

    fn stands_at(&self, wanted: &ExactCommit) -> Result<(), GitError> {
        if self.head()? == wanted.head && self.branch()? == wanted.branch {
            return Ok(());
        }
        Err(self.moved(wanted)?)
    }

    fn moved(&self, wanted: &ExactCommit) -> Result<GitError, GitError> {
        let expected = stand_in_words(wanted.head.as_deref(), wanted.branch.as_deref());
        let found = stand_in_words(self.head()?.as_deref(), self.branch()?.as_deref());
        Ok(GitError::Moved { expected, found })
    }

    /// Copies the objects of a tree that the repository does not have yet from our own store.
    fn absorb(&self, tree: &str, head: Option<&str>) -> Result<(), GitError> {
        let env = self.objects_env()?;
        let pack = self.private_index("pack")?;
        let wanted = match head {
            Some(head) => format!("{tree}\n^{head}\n"),
            None => format!("{tree}\n"),
        };
        let arguments = ["pack-objects", "--revs", "-q", &text_of(&pack)?];
        let stdin = Input::Bytes(wanted.into_bytes());
        let call = Invocation { deadline_ms: COMMIT_MS, stdin, ..Invocation::read(&arguments).env(&env) };
        let printed = self.text(call)?;
        let file = |hash: &str, ending: &str| {
            let name = pack.file_name().unwrap_or_default().to_string_lossy();
            pack.with_file_name(format!("{name}-{hash}.{ending}"))
        };
        let mut absorbed = Ok(());
        for hash in printed.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let stdin = Input::File(file(hash, "pack"));
            let call = Invocation::read(&["unpack-objects", "-q"]);
            let unpacked = self.text(Invocation { deadline_ms: COMMIT_MS, stdin, ..call });
            absorbed = absorbed.and(unpacked.map(|_| ()));
            for ending in ["pack", "idx", "rev"] {
                self.files.remove(&file(hash, ending))?;
            }
        }
        absorbed
    }

    fn with_trailers(&self, message: &str, trailers: &[(String, String)]) -> Result<String, GitError> {
        let message = format!("{}\n", message.trim());
        if trailers.is_empty() {
            return Ok(message);
        }
        let mut arguments = vec!["interpret-trailers".to_owned(), "--no-divider".to_owned()];
        arguments.extend(trailers.iter().map(|(key, value)| format!("--trailer={key}: {value}")));
        let stdin = Input::Bytes(message.into_bytes());
        self.text(Invocation { stdin, ..Invocation::read(&arguments) })
    }

    fn write_commit(&self, tree: &str, parents: &[&str], message: &str) -> Result<String, GitError> {
        let mut arguments = vec!["commit-tree", tree];
        parents.iter().for_each(|parent| arguments.extend(["-p", parent]));
        let signs = self.lookup(&["config", "--type=bool", "--get", "commit.gpgsign"])?;
        if signs.as_deref() == Some("true") {
            arguments.push("-S");
        }
        let stdin = Input::Bytes(message.as_bytes().to_vec());
        let call = Invocation { stdin, deadline_ms: COMMIT_MS, ..Invocation::read(&arguments) };
        Ok(self.text(call)?.trim().to_owned())
    }

    /// Moves the branch, and makes the one beside it: both or neither.
    fn move_branches(&self, wanted: &ExactCommit, made: &str, id: &str) -> Result<(), GitError> {
        let mut lines = String::from("start\n");
        if let Some(beside) = &wanted.beside {
            lines.push_str(&format!("create refs/heads/{beside} {made}\n"));
        }
        let name = match &wanted.branch {
            Some(branch) => format!("refs/heads/{branch}"),
            None => {
                lines.push_str("option no-deref\n");
                "HEAD".to_owned()
            }
        };
        match &wanted.head {
            Some(head) => lines.push_str(&format!("update {name} {id} {head}\n")),
            None => lines.push_str(&format!("create {name} {id}\n")),
        }
        lines.push_str("prepare\ncommit\n");
        let subject = wanted.message.lines().next().unwrap_or_default();
        let arguments = ["update-ref", "-m", &format!("commit: {subject}"), "--stdin"];
        let stdin = Input::Bytes(lines.into_bytes());
        match self.text(Invocation { stdin, ..Invocation::read(&arguments) }) {
            Ok(_) => Ok(()),
            Err(error) => match self.stands_at(wanted) {
                Err(moved) => Err(moved),
                Ok(()) => Err(error),
            },
        }
    }

    fn move_back(&self, wanted: &ExactCommit, id: &str) -> Result<(), GitError> {
        let Some(branch) = &wanted.branch else { return Ok(()) };
        let name = format!("refs/heads/{branch}");
        let reason = ["update-ref", "-m", "commit: taken back"];
        match &wanted.head {
            Some(head) => self.text(Invocation::read(&[&reason[..], &[&name, head, id]].concat()))?,
            None => self.text(Invocation::read(&[&reason[..], &["-d", &name, id]].concat()))?,
        };
        if let Some(beside) = &wanted.beside {
            self.delete_branch(beside)?;
        }
        Ok(())
    }

    /// The commit is what was asked for: its files, its parent, and the branch that leads to it.
    fn read_back(&self, wanted: &ExactCommit, id: &str) -> Result<(), GitError> {
        let is = |name: &str| self.lookup(&["rev-parse", "--verify", "--quiet", name]);
        let (tree, parent) = (is(&format!("{id}^{{tree}}"))?, is(&format!("{id}^"))?);
        let there = (self.head()?, self.branch()?);
        if tree.as_deref() == Some(wanted.tree.as_str())
            && parent == wanted.head
            && there == (Some(id.to_owned()), wanted.branch.clone())
        {
            return Ok(());
        }
        let found = stand_in_words(there.0.as_deref(), there.1.as_deref());
        let expected = stand_in_words(Some(id), wanted.branch.as_deref());
        Err(GitError::Moved { expected, found })
    }

    /// Whether a file of the working tree, from the top of the repository, is what an entry of a tree says.
    fn file_is(&self, path: &str, entry: &(String, String)) -> Result<bool, GitError> {
        let top = self.text(Invocation::read(&["rev-parse", "--show-toplevel"]))?;
        let place = PathBuf::from(top.trim_end_matches('\n')).join(path);
        let Some(found) = self.files.look(&place)? else { return Ok(is_nothing(&entry.1)) };
        if !matches!(found.kind, Kind::File) {
            return Ok(false);
        }
        let at = format!("--path={}", text_of(&place)?);
        let hash = self.text(Invocation::read(&["hash-object", &at, "--", &text_of(&place)?]))?;
        Ok(hash.trim() == entry.1)
    }

    fn put_entries(&self, changes: &[RawChange], env: &[(String, String)]) -> Result<(), GitError> {
        let mut lines: Vec<u8> = vec![];
        // Removals come first, so that a file can take the place of a folder.
        let (gone, there): (Vec<&RawChange>, Vec<&RawChange>) =
            changes.iter().partition(|change| change.is_removal());
        for change in gone.into_iter().chain(there) {
            let mode = if change.is_removal() { "0" } else { &change.new.0 };
            lines.extend(format!("{mode} {}\t{}\0", change.new.1, change.path).bytes());
        }
        let arguments = ["update-index", "--add", "--replace", "-z", "--index-info"];
        let call = Invocation::read(&arguments).env(env);
        self.text(Invocation { stdin: Input::Bytes(lines), ..call }).map(|_| ())
    }

    /// Lists what differs, with paths from the top of the repository. A renaming is a removal and an addition.
    fn raw(&self, command: &[&str], env: &[(String, String)]) -> Result<Vec<RawChange>, GitError> {
        let options = ["--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=none"];
        let arguments = [&command[..1], &options, &command[1..]].concat();
        let printed = self.text(Invocation::read(&arguments).env(env))?;
        let mut fields = printed.split_terminator('\0');
        let mut found = vec![];
        while let Some(field) = fields.next() {
            let change = parse_raw(field, fields.next());
            found.push(change.ok_or_else(|| unreadable(command[0], field))?);
        }
        Ok(found)
    }

    fn prefix(&self) -> Result<String, GitError> {
        let prefix = self.text(Invocation::read(&["rev-parse", "--show-prefix"]))?;
        Ok(prefix.trim_end_matches('\n').to_owned())
    }

    fn private_index(&self, name: &str) -> Result<PathBuf, GitError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        self.files.make_directory(&self.private)?;
        Ok(self.private.join(format!("{name}-{}-{count}", std::process::id())))
    }
}

/// `:100644 100644 <old> <new> M`, and the path that follows.
fn parse_raw(field: &str, path: Option<&str>) -> Option<RawChange> {
    let words: Vec<&str> = field.strip_prefix(':')?.split(' ').collect();
    let [old_mode, new_mode, old_id, new_id, _] = words.as_slice() else { return None };
    let entry = |mode: &str, id: &str| (mode.to_owned(), id.to_owned());
    Some(RawChange { old: entry(old_mode, old_id), new: entry(new_mode, new_id), path: path?.to_owned() })
}

/// Whether git means nothing by an id.
fn is_nothing(id: &str) -> bool {
    id.bytes().all(|byte| byte == b'0')
}

/// Where a repository stands, as people call it.
fn stand_in_words(head: Option<&str>, branch: Option<&str>) -> String {
    let commit = match head {
        Some(head) => format!("at commit {}", head.get(..12).unwrap_or(head)),
        None => "without a commit".to_owned(),
    };
    match branch {
        Some(branch) => format!("branch {branch} {commit}"),
        None => format!("no branch, {commit}"),
    }
}
