//! A repository in memory: commits, branches, working trees, and what git would say about them.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::collections::VecDeque;

use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::hash::Hash;
use seriatim_flows::request::CaughtUp;
use seriatim_flows::request::Checkpoint;
use seriatim_flows::request::Committed;
use seriatim_flows::request::Difference;
use seriatim_flows::request::Done;
use seriatim_flows::request::FileChange;
use seriatim_flows::request::GitCall;
use seriatim_flows::request::Hooked;
use seriatim_flows::request::Shown;
use seriatim_flows::request::Stand;
use seriatim_flows::request::Text;
use seriatim_flows::request::TreePlace;

use crate::stage::Reply;

pub(crate) type Files = BTreeMap<String, String>;

/// The tree of no files.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// A working tree, and where its branch began.
#[derive(Clone, Default)]
struct WorkTree {
    branch: String,
    base: String,
    files: Files,
}

#[derive(Default)]
pub(crate) struct Repository {
    /// Every tree that was seen, by commit or by its own id.
    trees: BTreeMap<String, Files>,
    heads: BTreeMap<String, String>,
    work: BTreeMap<String, WorkTree>,
    /// The subjects of all commits, with their number.
    pub(crate) subjects: Vec<String>,
    pub(crate) remote: Option<String>,
    pub(crate) pushes: u32,
    /// What goes wrong, one entry for each call of that name.
    pub(crate) troubles: BTreeMap<&'static str, VecDeque<Option<Failure>>>,
}

fn hash_of(files: &Files) -> String {
    let text: String = files.iter().map(|(path, text)| format!("{path}\0{text}\0")).collect();
    Hash::of(text.as_bytes()).to_string()
}

fn is_apart(path: &str, apart: &[String]) -> bool {
    apart.iter().any(|one| path == one || (one.ends_with('/') && path.starts_with(one.as_str())))
}

fn differences(before: &Files, after: &Files, apart: &[String]) -> Vec<FileChange> {
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let change = |path: &&String| -> Option<FileChange> {
        let (old, new) = (before.get(*path), after.get(*path));
        if old == new || is_apart(path, apart) {
            return None;
        }
        let kind = match (old, new) {
            (None, _) => "added",
            (_, None) => "deleted",
            _ => "modified",
        };
        let added = new.map_or(0, |text| text.lines().count() as u64);
        Some(FileChange { path: (*path).clone(), kind: kind.to_owned(), added, ..FileChange::default() })
    };
    paths.iter().filter_map(change).collect()
}

impl Repository {
    /// A repository whose files are all committed.
    pub(crate) fn of(files: Files) -> Repository {
        let mut repository = Repository::default();
        repository
            .work
            .insert(String::new(), WorkTree { branch: "main".to_owned(), files, ..WorkTree::default() });
        repository
    }

    /// Commits everything as the user does.
    pub(crate) fn user_commits(&mut self) {
        let files = self.seen().clone();
        self.record("main", files, "Begin");
    }

    /// The files of the workspace, to be looked at.
    pub(crate) fn seen(&self) -> &Files {
        &self.work[""].files
    }

    /// The files of a working tree; the workspace is that without a name.
    pub(crate) fn files(&mut self, tree: &str) -> &mut Files {
        let name = tree.to_owned();
        &mut self.work.get_mut(tree).unwrap_or_else(|| panic!("no working tree {name}")).files
    }

    /// The path as seen from the workspace, as its working tree and the path in it.
    pub(crate) fn place<'p>(&self, path: &'p str) -> (String, &'p str) {
        let found = self.work.keys().filter(|tree| !tree.is_empty()).find_map(|tree| {
            let rest = path.strip_prefix(tree.as_str())?.strip_prefix('/')?;
            Some((tree.clone(), rest))
        });
        found.unwrap_or((String::new(), path))
    }

    pub(crate) fn trees(&self) -> Vec<&str> {
        self.work.keys().filter(|tree| !tree.is_empty()).map(String::as_str).collect()
    }

    /// The files of the last commit on the workspace's branch.
    pub(crate) fn committed(&self) -> &Files {
        &self.trees[&self.heads["main"]]
    }

    fn record(&mut self, branch: &str, files: Files, subject: &str) -> String {
        self.subjects.push(subject.to_owned());
        let id = format!("{:010x}{:030x}", self.subjects.len(), 0);
        self.trees.insert(id.clone(), files);
        self.heads.insert(branch.to_owned(), id.clone());
        id
    }

    fn tree(&self, id: &str) -> Done<Files> {
        if id == EMPTY_TREE {
            return Ok(Files::new());
        }
        self.trees.get(id).cloned().ok_or_else(|| Failure::new(Class::Contract, format!("no tree {id}")))
    }

    /// What git answers.
    pub(crate) fn answer(&mut self, call: &GitCall) -> Reply {
        let name = name_of(call);
        if let Some(failure) = self.troubles.get_mut(name).and_then(VecDeque::pop_front).flatten() {
            return Reply::of(&Done::<()>::Err(failure));
        }
        match call {
            GitCall::Stand { tree } => Reply::of(&Done::Ok(self.stand(tree))),
            GitCall::Changes { since, apart, tree, .. } => {
                let found = self.tree(since).map(|before| {
                    let files = differences(&before, self.files(tree), apart);
                    let diff = files.iter().map(|file| format!("{} {}\n", file.kind, file.path)).collect();
                    Difference { files, diff, ..Difference::default() }
                });
                Reply::of(&found)
            }
            GitCall::Show { at, paths, .. } => {
                let text = |text: &String| Text { text: text.clone(), hash: Hash::of(text.as_bytes()) };
                let shown = self
                    .tree(at)
                    .map(|files| -> Shown { paths.iter().map(|path| files.get(path).map(text)).collect() });
                Reply::of(&shown)
            }
            GitCall::Between { from, to, .. } => {
                let before = from.as_deref().map_or_else(|| Ok(Files::new()), |from| self.tree(from));
                Reply::of(&before.and_then(|before| Ok(differences(&before, &self.tree(to)?, &[]))))
            }
            GitCall::Commit(checkpoint) => Reply::of(&Done::Ok(self.commit(checkpoint))),
            GitCall::OpenTree { tree, branch, resume: true, .. } => {
                let resumed = self.work.get(tree).is_some_and(|known| known.branch == *branch);
                Reply::of(&Done::Ok(TreePlace { name: tree.clone(), path: tree.clone(), resumed }))
            }
            GitCall::OpenTree { tree, branch, base, resume: false } => {
                self.heads.insert(branch.clone(), base.clone());
                let files = self.trees[base].clone();
                let made = WorkTree { branch: branch.clone(), base: base.clone(), files };
                self.work.insert(tree.clone(), made);
                let (name, path) = (tree.clone(), tree.clone());
                Reply::of(&Done::Ok(TreePlace { name, path, resumed: false }))
            }
            GitCall::CloseTree { tree, .. } => {
                self.work.remove(tree);
                Reply::of(&Done::Ok(()))
            }
            GitCall::CatchUp { tree, message } => Reply::of(&Done::Ok(self.catch_up(tree, message))),
            GitCall::Advance { branch } => {
                self.advance(branch);
                Reply::of(&Done::Ok(()))
            }
            GitCall::Hooks(_) => Reply::of(&Done::Ok(Hooked::default())),
            GitCall::Push => {
                self.pushes += 1;
                Reply::of(&Done::Ok(true))
            }
            GitCall::Deliver(_) | GitCall::ViewTree { .. } | GitCall::Compare { .. } => {
                panic!("a roadmap without views asks for no such thing")
            }
        }
    }

    fn stand(&mut self, tree: &str) -> Stand {
        let files = self.files(tree).clone();
        let id = hash_of(&files);
        self.trees.insert(id.clone(), files);
        let branch = self.work[tree].branch.clone();
        Stand {
            head: self.heads.get(&branch).cloned(),
            branch: Some(branch),
            tree: id,
            remote: self.remote.clone(),
        }
    }

    fn commit(&mut self, checkpoint: &Checkpoint) -> Committed {
        let branch = self.work[&checkpoint.tree].branch.clone();
        let before = self.heads.get(&branch).map(|head| self.trees[head].clone()).unwrap_or_default();
        let mut after = before.clone();
        let seen = self.trees.get(&checkpoint.seen).cloned();
        for path in &checkpoint.paths {
            let seen = seen.as_ref().filter(|_| !checkpoint.own.contains(path));
            match seen.unwrap_or_else(|| self.files(&checkpoint.tree)).get(path) {
                Some(text) => after.insert(path.clone(), text.clone()),
                None => after.remove(path),
            };
        }
        let paths: Vec<String> =
            differences(&before, &after, &[]).into_iter().map(|file| file.path).collect();
        if paths.is_empty() && !checkpoint.may_be_empty {
            return Committed::default();
        }
        let subject = checkpoint.message.lines().next().unwrap_or_default();
        Committed { commit: self.record(&branch, after, subject), paths }
    }

    /// Brings the workspace's branch into that of a working tree, file by file.
    fn catch_up(&mut self, tree: &str, message: &str) -> CaughtUp {
        let main = self.heads["main"].clone();
        let work = self.work[tree].clone();
        if main == work.base {
            return CaughtUp::default();
        }
        let (base, theirs) = (self.trees[&work.base].clone(), self.trees[&main].clone());
        let ours = self.trees[&self.heads[&work.branch]].clone();
        let moved = differences(&base, &theirs, &[]);
        let conflicts: Vec<String> = moved
            .iter()
            .map(|file| file.path.clone())
            .filter(|path| ours.get(path) != base.get(path) && ours.get(path) != theirs.get(path))
            .collect();
        if !conflicts.is_empty() {
            return CaughtUp { moved: false, conflicts };
        }
        let mut merged = ours;
        for file in moved {
            match theirs.get(&file.path) {
                Some(text) => merged.insert(file.path, text.clone()),
                None => merged.remove(&file.path),
            };
        }
        self.record(&work.branch, merged.clone(), message);
        self.work.insert(tree.to_owned(), WorkTree { base: main, files: merged, ..work });
        CaughtUp { moved: true, conflicts: vec![] }
    }

    /// A person resolves a conflict: both sides are merged, and the person's files win.
    pub(crate) fn resolve(&mut self, tree: &str, path: &str, text: &str) {
        let main = self.heads["main"].clone();
        let work = self.work[tree].clone();
        let mut files = self.trees[&main].clone();
        files.extend(self.trees[&self.heads[&work.branch]].clone());
        files.insert(path.to_owned(), text.to_owned());
        self.record(&work.branch, files.clone(), "Both");
        self.work.insert(tree.to_owned(), WorkTree { base: main, files, ..work });
    }

    fn advance(&mut self, branch: &str) {
        let to = self.heads[branch].clone();
        let (before, after) = (self.committed().clone(), self.trees[&to].clone());
        for file in differences(&before, &after, &[]) {
            match after.get(&file.path) {
                Some(text) => self.files("").insert(file.path, text.clone()),
                None => self.files("").remove(&file.path),
            };
        }
        self.heads.insert("main".to_owned(), to);
    }
}

/// What tests call a question to git.
fn name_of(call: &GitCall) -> &'static str {
    match call {
        GitCall::Stand { .. } => "stand",
        GitCall::Changes { .. } => "changes",
        GitCall::Show { .. } => "show",
        GitCall::Between { .. } => "between",
        GitCall::Commit(_) => "commit",
        GitCall::OpenTree { .. } => "open_tree",
        GitCall::CloseTree { .. } => "close_tree",
        GitCall::CatchUp { .. } => "catch_up",
        GitCall::Advance { .. } => "advance",
        GitCall::Push => "push",
        GitCall::Hooks(_) => "hooks",
        GitCall::Deliver(_) | GitCall::ViewTree { .. } | GitCall::Compare { .. } => {
            panic!("a roadmap without views asks for no such thing")
        }
    }
}
