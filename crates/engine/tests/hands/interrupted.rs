//! Calls of git that are cut off between any two of its programs, and done again.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;

use seriatim_engine::hands::disk::Disk;
use seriatim_engine::hands::git::Commit;
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
const CHANGING: [&str; 7] = ["symbolic-ref", "branch", "commit", "commit-tree", "update-ref", "add", "rm"];

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

#[test]
fn a_delivery_by_merge_that_is_cut_off_anywhere_is_made_once() {
    let commit = Commit {
        paths: vec!["a.txt".to_owned()],
        message: "second".to_owned(),
        trailers: vec![("Mark".to_owned(), "run-1".to_owned())],
    };
    let prepare = |root: &Path| {
        fs::write(root.join("a.txt"), "two\n").unwrap();
        fs::write(root.join("b.txt"), "the user's own\n").unwrap();
    };
    let deliver = |git: &Git<'_>| {
        if git.resume_merge(&commit, "cycle-001", ("Mark", "run-1"))?.is_none() {
            let tree = git.text_at("HEAD", "a.txt");
            assert_eq!(tree.as_deref().unwrap_or("one\n"), "one\n", "it is not made twice");
            git.commit_and_merge(&commit, "cycle-001")?;
        }
        Ok(())
    };
    cut_anywhere(prepare, deliver, told);
}

#[test]
fn a_delivery_by_merge_touches_no_file_and_leaves_the_users_changes_alone() {
    let folder = repository();
    fs::write(folder.path().join("a.txt"), "two\n").unwrap();
    fs::write(folder.path().join("b.txt"), "the user's own\n").unwrap();
    let processes = processes();
    let hands = Git::new(&processes, &Disk, Workspace::new(folder.path()).unwrap(), ".seriatim/git");
    let commit = Commit { paths: vec!["a.txt".to_owned()], message: "second".to_owned(), trailers: vec![] };
    let made = hands.commit_and_merge(&commit, "cycle-001").unwrap();
    assert_eq!(made.paths, ["a.txt"]);
    assert_eq!(git(folder.path(), &["rev-parse", "HEAD"]).trim(), made.id);
    assert_eq!(git(folder.path(), &["log", "--format=%s", "--first-parent"]), "second\nfirst\n");
    assert_eq!(git(folder.path(), &["status", "--porcelain"]), " M b.txt\n");
    assert_eq!(git(folder.path(), &["rev-parse", "HEAD^2"]), git(folder.path(), &["rev-parse", "cycle-001"]));
    assert_eq!(git(folder.path(), &["for-each-ref", "refs/seriatim"]), "");
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
