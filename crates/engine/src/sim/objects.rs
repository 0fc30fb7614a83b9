//! Trees and commits of the simulated repository, and what differs between two trees.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use seriatim_core::hash::Hash;

use crate::hands::git::Change;
use crate::hands::git::ChangeKind;

/// The id that git gives to the tree of no files.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
/// Ids are as long as those of git.
const ID_DIGITS: usize = 40;
const EXECUTABLE: u32 = 0o100_755;
const PLAIN: u32 = 0o100_644;
const LINK: u32 = 0o120_000;

/// A file or a link of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Blob {
    pub(super) mode: u32,
    /// The content of a file, or the target of a link.
    pub(super) bytes: Vec<u8>,
}

impl Blob {
    pub(super) fn file(bytes: &[u8], permissions: u32) -> Blob {
        let mode = if permissions & 0o100 == 0 { PLAIN } else { EXECUTABLE };
        Blob { mode, bytes: bytes.to_vec() }
    }

    pub(super) fn link(target: String) -> Blob {
        Blob { mode: LINK, bytes: target.into_bytes() }
    }

    pub(super) fn is_link(&self) -> bool {
        self.mode == LINK
    }

    pub(super) fn permissions(&self) -> u32 {
        if self.mode == EXECUTABLE { 0o755 } else { 0o644 }
    }

    fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok()
    }
}

/// The files of a tree, by path.
pub(super) type Listing = BTreeMap<String, Blob>;

/// Returns the id of a tree: equal trees have equal ids.
pub(super) fn tree_id(tree: &Listing) -> String {
    if tree.is_empty() {
        return EMPTY_TREE.to_owned();
    }
    let parts: Vec<String> = tree
        .iter()
        .map(|(path, blob)| format!("{:o} {}\t{path}\n", blob.mode, Hash::of(&blob.bytes)))
        .collect();
    id_of(&parts.concat())
}

pub(super) fn id_of(text: &str) -> String {
    let mut id = Hash::of(text.as_bytes()).to_string();
    id.truncate(ID_DIGITS);
    id
}

/// A commit of the simulated repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimCommit {
    pub parents: Vec<String>,
    pub message: String,
    /// The id of its tree.
    pub tree: String,
}

impl SimCommit {
    pub(super) fn id(&self) -> String {
        id_of(&format!("{}\n{}\n{}", self.tree, self.parents.join(" "), self.message))
    }
}

/// Everything that was ever made; like the objects of git it only grows.
#[derive(Clone, Debug, Default)]
pub(super) struct Objects {
    trees: BTreeMap<String, Listing>,
    commits: BTreeMap<String, SimCommit>,
}

impl Objects {
    pub(super) fn add_tree(&mut self, tree: Listing) -> String {
        let id = tree_id(&tree);
        self.trees.entry(id.clone()).or_insert(tree);
        id
    }

    pub(super) fn add_commit(&mut self, commit: SimCommit) -> String {
        let id = commit.id();
        self.commits.entry(id.clone()).or_insert(commit);
        id
    }

    pub(super) fn commit(&self, id: &str) -> Option<&SimCommit> {
        self.commits.get(id)
    }

    /// Returns the files of a commit or of a tree.
    pub(super) fn files(&self, id: &str) -> Option<Listing> {
        if id == EMPTY_TREE {
            return Some(Listing::new());
        }
        let tree = self.commits.get(id).map_or(id, |commit| commit.tree.as_str());
        self.trees.get(tree).cloned()
    }

    /// Lists a commit and everything below it, the nearest first.
    pub(super) fn history(&self, tip: &str) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut row = vec![tip.to_owned()];
        while !row.is_empty() {
            let mut next = Vec::new();
            for id in row {
                let Some(commit) = self.commits.get(&id) else { continue };
                if seen.insert(id.clone()) {
                    next.extend(commit.parents.iter().cloned());
                    found.push(id);
                }
            }
            row = next;
        }
        found
    }

    pub(super) fn is_ancestor(&self, commit: &str, later: &str) -> bool {
        self.history(later).iter().any(|id| id == commit)
    }

    /// Brings two commits together, file by file: a file that both sides changed in different ways is a conflict.
    pub(super) fn merge(&self, ours: &str, theirs: &str) -> Result<Listing, Vec<String>> {
        let below = self.history(theirs);
        let base = self.history(ours).into_iter().find(|id| below.contains(id));
        let files = |id: &str| self.files(id).unwrap_or_default();
        let base = base.map(|id| files(&id)).unwrap_or_default();
        let (ours, theirs) = (files(ours), files(theirs));
        let mut merged = ours.clone();
        let mut conflicts = Vec::new();
        for path in paths_of(&base, &theirs) {
            let (was, our, their) = (base.get(&path), ours.get(&path), theirs.get(&path));
            if their == was || their == our {
                continue;
            }
            if our != was {
                conflicts.push(path);
                continue;
            }
            match their {
                Some(blob) => merged.insert(path, blob.clone()),
                None => merged.remove(&path),
            };
        }
        if conflicts.is_empty() { Ok(merged) } else { Err(conflicts) }
    }
}

pub(super) fn paths_of(one: &Listing, other: &Listing) -> BTreeSet<String> {
    one.keys().chain(other.keys()).cloned().collect()
}

/// Lists what differs. Renamings are a file that went and one that came.
pub(super) fn changes(from: &Listing, to: &Listing) -> Vec<Change> {
    let differs = |path: &String| from.get(path) != to.get(path);
    let paths = paths_of(from, to).into_iter().filter(differs);
    paths.map(|path| change(from.get(&path), to.get(&path), path)).collect()
}

fn change(was: Option<&Blob>, is: Option<&Blob>, path: String) -> Change {
    let kind = match (was, is) {
        (None, _) => ChangeKind::Added,
        (_, None) => ChangeKind::Deleted,
        (Some(was), Some(is)) if was.is_link() != is.is_link() => ChangeKind::TypeChanged,
        (Some(was), Some(is)) if was.bytes == is.bytes => ChangeKind::ModeChanged,
        (Some(_), Some(_)) => ChangeKind::Modified,
    };
    let text = |blob: Option<&Blob>| blob.map_or(Some(""), Blob::text).map(str::to_owned);
    let (old, new) = (text(was), text(is));
    let binary = old.is_none() || new.is_none();
    let (deleted, added) = match (&old, &new) {
        (Some(old), Some(new)) => {
            let (gone, come) = middle(old, new);
            (gone.len() as u64, come.len() as u64)
        }
        _ => (0, 0),
    };
    let target = is.filter(|blob| blob.is_link()).and_then(|_| new.clone());
    Change {
        path,
        old_path: None,
        kind,
        old_mode: was.map_or(0, |blob| blob.mode),
        new_mode: is.map_or(0, |blob| blob.mode),
        binary,
        added,
        deleted,
        target,
    }
}

/// Returns the lines that differ, without what both texts begin and end with.
fn middle<'t>(old: &'t str, new: &'t str) -> (Vec<&'t str>, Vec<&'t str>) {
    let (mut old, mut new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let front = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    old.drain(..front);
    new.drain(..front);
    let back = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    old.truncate(old.len() - back);
    new.truncate(new.len() - back);
    (old, new)
}

/// Writes the difference as a patch.
pub(super) fn patch(from: &Listing, to: &Listing, is_wanted: impl Fn(&str) -> bool) -> String {
    let mut text = String::new();
    for path in paths_of(from, to).into_iter().filter(|path| is_wanted(path)) {
        let (was, is) = (from.get(&path), to.get(&path));
        if was == is {
            continue;
        }
        let side = |blob: Option<&Blob>, letter: &str| match blob {
            Some(_) => format!("{letter}/{path}"),
            None => "/dev/null".to_owned(),
        };
        text.push_str(&format!("diff --git a/{path} b/{path}\n"));
        let read = |blob: Option<&Blob>| blob.map_or(Some(String::new()), |b| b.text().map(str::to_owned));
        let (Some(old), Some(new)) = (read(was), read(is)) else {
            text.push_str("Binary files differ\n");
            continue;
        };
        let (gone, come) = middle(&old, &new);
        text.push_str(&format!("--- {}\n+++ {}\n", side(was, "a"), side(is, "b")));
        text.push_str(&format!("@@ -1,{} +1,{} @@\n", gone.len(), come.len()));
        gone.iter().for_each(|line| text.push_str(&format!("-{line}\n")));
        come.iter().for_each(|line| text.push_str(&format!("+{line}\n")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Listing {
        files.iter().map(|(path, text)| ((*path).to_owned(), Blob::file(text.as_bytes(), 0o644))).collect()
    }

    fn commit(objects: &mut Objects, files: &[(&str, &str)], parents: &[&String]) -> String {
        let tree = objects.add_tree(tree(files));
        let parents = parents.iter().map(|id| (*id).clone()).collect();
        objects.add_commit(SimCommit { parents, message: "m".to_owned(), tree })
    }

    #[test]
    fn a_merge_takes_what_one_side_changed_and_names_what_both_did() {
        let mut objects = Objects::default();
        let base = commit(&mut objects, &[("a", "1\n"), ("b", "1\n")], &[]);
        let ours = commit(&mut objects, &[("a", "2\n"), ("b", "1\n")], &[&base]);
        let theirs = commit(&mut objects, &[("a", "1\n"), ("c", "3\n")], &[&base]);
        let other = commit(&mut objects, &[("a", "9\n"), ("b", "1\n")], &[&base]);
        assert_eq!(objects.merge(&ours, &theirs), Ok(tree(&[("a", "2\n"), ("c", "3\n")])));
        assert_eq!(objects.merge(&ours, &other), Err(vec!["a".to_owned()]));
        assert!(objects.is_ancestor(&base, &ours) && !objects.is_ancestor(&theirs, &ours));
    }

    #[test]
    fn differences_are_counted_and_shown_as_git_does() {
        let (from, to) = (tree(&[("a", "1\n2\n3\n"), ("b", "x\n")]), tree(&[("a", "1\n3\n"), ("c", "y\n")]));
        let found: Vec<_> =
            changes(&from, &to).into_iter().map(|c| (c.path, c.kind, c.added, c.deleted)).collect();
        let expected = [
            ("a".to_owned(), ChangeKind::Modified, 0, 1),
            ("b".to_owned(), ChangeKind::Deleted, 0, 1),
            ("c".to_owned(), ChangeKind::Added, 1, 0),
        ];
        assert_eq!(found, expected);
        let text = patch(&from, &to, |path| path == "c");
        assert_eq!(text, "diff --git a/c b/c\n--- /dev/null\n+++ b/c\n@@ -1,0 +1,1 @@\n+y\n");
    }
}
