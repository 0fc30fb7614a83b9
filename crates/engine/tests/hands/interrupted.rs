//! Calls of git that are cut off between any two of its programs, and done again.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;

use seriatim_engine::hands::disk::Disk;
use seriatim_engine::hands::git::Committed;
use seriatim_engine::hands::git::ExactCommit;
use seriatim_engine::hands::git::Git;
use seriatim_engine::hands::git::GitError;
use seriatim_engine::hands::git::Merged;
use seriatim_engine::hands::paths::Workspace;
use seriatim_engine::hands::process::Ended;
use seriatim_engine::hands::process::Processes;
use seriatim_engine::hands::process::Spawn;
use seriatim_engine::hands::process::SpawnError;
use seriatim_engine::hands::process::Watch;
use seriatim_engine::hands::runner::Supervised;
use tempfile::TempDir;
use tempfile::tempdir;

use crate::support::processes;

/// Calls of git that change something; between them it makes no difference when the engine dies.
const CHANGING: [&str; 5] = ["unpack-objects", "commit-tree", "update-ref", "update-index", "branch"];

/// Runs so many programs that change something, and then no more at all: the engine is dead.
struct Cut {
    processes: Supervised,
    left: AtomicUsize,
    dead: AtomicBool,
}

impl Processes for Cut {
    fn run(&self, spawn: &Spawn, watch: &dyn Watch) -> Result<Ended, SpawnError> {
        if spawn.argv.iter().any(|word| CHANGING.contains(&word.as_str())) {
            let lives =
                self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
            self.dead.fetch_or(lives.is_err(), Ordering::Relaxed);
        }
        if self.dead.load(Ordering::Relaxed) {
            return Err(SpawnError::NotFound { program: "the engine is dead".to_owned() });
        }
        self.processes.run(spawn, watch)
    }

    fn sweep(&self, marker: &str) -> Vec<u32> {
        self.processes.sweep(marker)
    }
}

fn git(root: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").args(arguments).current_dir(root).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn repository() -> TempDir {
    let folder = tempdir().unwrap();
    let root = folder.path();
    git(root, &["init", "--quiet", "--initial-branch=main"]);
    git(root, &["config", "user.name", "Ada"]);
    git(root, &["config", "user.email", "ada@example.org"]);
    fs::write(root.join("a.txt"), "one\n").unwrap();
    fs::write(root.join("b.txt"), "b\n").unwrap();
    fs::write(root.join("old.txt"), "old\n").unwrap();
    fs::write(root.join(".gitignore"), ".seriatim/\n").unwrap();
    git(root, &["add", "."]);
    git(root, &["commit", "--quiet", "--message=first"]);
    folder
}

/// Does `work` with the engine dying after each number of programs, then once more; `look` says what came of it.
fn cut_anywhere(
    prepare: impl Fn(&Path),
    work: impl Fn(&Git<'_>) -> Result<(), GitError>,
    look: impl Fn(&Path) -> String,
) {
    let with = |root: &Path, left: usize| {
        let cut = Cut { processes: processes(), left: AtomicUsize::new(left), dead: AtomicBool::default() };
        let hands = Git::new(&cut, &Disk, Workspace::new(root).unwrap(), ".seriatim/git");
        let done = work(&hands);
        (done, left - cut.left.load(Ordering::Relaxed))
    };
    let unharmed = repository();
    prepare(unharmed.path());
    let (done, programs) = with(unharmed.path(), usize::MAX);
    done.unwrap();
    let expected = look(unharmed.path());
    for number in 0..programs {
        let folder = repository();
        prepare(folder.path());
        let (died, _) = with(folder.path(), number);
        assert!(died.is_err(), "after {number} of {programs} programs");
        let (again, _) = with(folder.path(), usize::MAX);
        again.unwrap_or_else(|e| panic!("after {number} of {programs} programs: {e}"));
        assert_eq!(look(folder.path()), expected, "after {number} of {programs} programs");
    }
}

fn told(root: &Path) -> String {
    let graph = git(root, &["log", "--graph", "--format=%s %(trailers:key=Mark,valueonly)", "--all"]);
    let head = git(root, &["symbolic-ref", "HEAD"]);
    let status = git(root, &["status", "--porcelain"]);
    let refs = git(root, &["for-each-ref", "--format=%(refname)"]);
    let tree = git(root, &["ls-tree", "-r", "HEAD"]);
    format!("{graph}\n{head}\n{status}\n{refs}\n{tree}")
}

/// Work on three files, beside changes of the user: one that is staged, one that is not, and a new file.
fn prepare(root: &Path) {
    for (name, text) in
        [("a.txt", "two\n"), ("new.txt", "new\n"), ("b.txt", "staged\n"), ("mine.txt", "mine\n")]
    {
        fs::write(root.join(name), text).unwrap();
    }
    fs::remove_file(root.join("old.txt")).unwrap();
    git(root, &["add", "b.txt"]);
    fs::write(root.join("b.txt"), "not staged\n").unwrap();
}

/// The commit of the work on what is checked out, made once under its mark.
fn deliver(git: &Git<'_>, beside: Option<&str>) -> Result<Option<Committed>, GitError> {
    if let Some(made) = git.commit_with_trailer("Mark", "run-1")? {
        let id = git.merge_of(&made)?.unwrap_or(made);
        git.settle_index(&id)?;
        return Ok(None);
    }
    let head = git.head()?;
    assert_eq!(git.text_at("HEAD", "a.txt").as_deref().unwrap_or("one\n"), "one\n", "it is not made twice");
    let paths = ["a.txt", "new.txt", "old.txt"].map(str::to_owned);
    let tree = git.tree_taking(head.as_deref(), &git.tree()?, &paths)?;
    git.commit_exactly(&ExactCommit {
        head,
        branch: git.branch()?,
        tree,
        message: "second\n\nbody".to_owned(),
        trailers: vec![("Mark".to_owned(), "run-1".to_owned())],
        beside: beside.map(str::to_owned),
    })
    .map(Some)
}

#[test]
fn a_commit_that_is_cut_off_anywhere_is_made_once_and_the_index_is_right() {
    for beside in [None, Some("cycle-001")] {
        cut_anywhere(prepare, |git| deliver(git, beside).map(|_| ()), told);
    }
}

#[test]
fn a_commit_touches_no_file_and_leaves_what_the_user_has_staged_and_changed() {
    for beside in [None, Some("cycle-001")] {
        let folder = repository();
        let root = folder.path();
        prepare(root);
        let processes = processes();
        let hands = Git::new(&processes, &Disk, Workspace::new(root).unwrap(), ".seriatim/git");
        let made = deliver(&hands, beside).unwrap().unwrap();
        assert_eq!(made.paths, ["a.txt", "new.txt", "old.txt"]);
        assert_eq!(git(root, &["rev-parse", "HEAD"]).trim(), made.id);
        assert_eq!(git(root, &["log", "--format=%s", "--first-parent"]), "second\nfirst\n");
        assert_eq!(git(root, &["status", "--porcelain"]), "MM b.txt\n?? mine.txt\n");
        assert_eq!(git(root, &["show", ":b.txt"]), "staged\n");
        assert_eq!(git(root, &["show", "HEAD:b.txt"]), "b\n");
        assert_eq!(git(root, &["fsck", "--strict", "--no-dangling"]), "");
        if beside.is_some() {
            assert_eq!(git(root, &["rev-parse", "HEAD^2"]), git(root, &["rev-parse", "cycle-001"]));
        }
    }
}

#[test]
fn a_commit_is_made_on_the_commit_and_branch_that_were_named_or_not_at_all() {
    let folder = repository();
    let root = folder.path();
    prepare(root);
    let processes = processes();
    let hands = Git::new(&processes, &Disk, Workspace::new(root).unwrap(), ".seriatim/git");
    let tree = hands.tree_taking(Some("HEAD"), &hands.tree().unwrap(), &["a.txt".to_owned()]).unwrap();
    let (head, branch) = (hands.head().unwrap(), hands.branch().unwrap());
    let wanted =
        ExactCommit { head, branch, tree, message: "second".to_owned(), trailers: vec![], beside: None };
    git(root, &["switch", "--quiet", "--create", "elsewhere"]);
    let error = hands.commit_exactly(&wanted).unwrap_err();
    assert!(matches!(&error, GitError::Moved { .. }), "{error}");
    git(root, &["switch", "--quiet", "main"]);
    git(root, &["commit", "--quiet", "--allow-empty", "--only", "--message=meanwhile"]);
    assert!(matches!(hands.commit_exactly(&wanted), Err(GitError::Moved { .. })));
    assert_eq!(git(root, &["log", "--topo-order", "--all", "--format=%s"]), "meanwhile\nfirst\n");
}

#[test]
fn a_first_commit_and_one_without_a_branch_are_made_too() {
    let folder = tempdir().unwrap();
    let root = folder.path();
    git(root, &["init", "--quiet", "--initial-branch=main"]);
    git(root, &["config", "user.name", "Ada"]);
    git(root, &["config", "user.email", "ada@example.org"]);
    fs::write(root.join(".gitignore"), ".seriatim/\n").unwrap();
    let processes = processes();
    let hands = Git::new(&processes, &Disk, Workspace::new(root).unwrap(), ".seriatim/git");
    for name in ["a.txt", "b.txt"] {
        fs::write(root.join(name), "text\n").unwrap();
        let head = hands.head().unwrap();
        let tree = hands.tree_taking(head.as_deref(), &hands.tree().unwrap(), &[name.to_owned()]).unwrap();
        let (branch, message) = (hands.branch().unwrap(), name.to_owned());
        hands
            .commit_exactly(&ExactCommit { head, branch, tree, message, trailers: vec![], beside: None })
            .unwrap();
        git(root, &["switch", "--quiet", "--detach"]);
    }
    assert_eq!(git(root, &["log", "--format=%s"]), "b.txt\na.txt\n");
    assert_eq!(git(root, &["rev-parse", "main"]), git(root, &["rev-parse", "HEAD^"]));
    assert_eq!(git(root, &["status", "--porcelain"]), "?? .gitignore\n");
}

/// A branch that changes one file, adds one and removes one.
fn other_branch(root: &Path) {
    git(root, &["switch", "--quiet", "--create", "other"]);
    fs::write(root.join("a.txt"), "two\n").unwrap();
    fs::write(root.join("c.txt"), "new\n").unwrap();
    git(root, &["add", "."]);
    git(root, &["commit", "--quiet", "--message=theirs"]);
    git(root, &["switch", "--quiet", "main"]);
}

#[test]
fn files_that_an_interrupted_merge_left_are_no_reason_to_refuse_it() {
    for half in [&["a.txt"][..], &["c.txt"], &["a.txt", "c.txt"]] {
        let folder = repository();
        let root = folder.path();
        other_branch(root);
        fs::write(root.join("b.txt"), "the user's own\n").unwrap();
        for path in half {
            fs::write(root.join(path), git(root, &["show", &format!("other:{path}")])).unwrap();
        }
        let processes = processes();
        let hands = Git::new(&processes, &Disk, Workspace::new(root).unwrap(), ".seriatim/git");
        hands.fast_forward("other").unwrap();
        assert_eq!(git(root, &["log", "--format=%s"]), "theirs\nfirst\n");
        assert_eq!(git(root, &["status", "--porcelain"]), " M b.txt\n", "{half:?}");
    }
}

#[test]
fn a_persons_own_change_stays_in_the_way_of_a_merge() {
    let folder = repository();
    let root = folder.path();
    other_branch(root);
    fs::write(root.join("a.txt"), "the user's own\n").unwrap();
    let processes = processes();
    let hands = Git::new(&processes, &Disk, Workspace::new(root).unwrap(), ".seriatim/git");
    assert!(matches!(hands.fast_forward("other"), Err(GitError::Failed { .. })));
    assert!(matches!(hands.merge("other", "m"), Err(GitError::Failed { .. }) | Ok(Merged::Conflicts(_))));
    assert_eq!(fs::read_to_string(root.join("a.txt")).unwrap(), "the user's own\n");
    assert_eq!(git(root, &["log", "--format=%s"]), "first\n");
}
