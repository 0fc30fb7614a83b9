//! Git in real repositories.

use std::fs;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use seriatim_engine::hands::disk::Disk;
use seriatim_engine::hands::git::Change;
use seriatim_engine::hands::git::ChangeKind;
use seriatim_engine::hands::git::Commit;
use seriatim_engine::hands::git::Git;
use seriatim_engine::hands::git::GitError;
use seriatim_engine::hands::git::Place;
use seriatim_engine::hands::paths::Workspace;
use seriatim_engine::hands::runner::Supervised;
use tempfile::TempDir;
use tempfile::tempdir;

use crate::support::processes;

struct Repository {
    directory: TempDir,
    processes: Supervised,
}

impl Repository {
    fn new() -> Repository {
        let repository = Repository { directory: tempdir().unwrap(), processes: processes() };
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository.git(&["config", "user.name", "Somebody"]);
        repository.git(&["config", "user.email", "somebody@example.org"]);
        repository.write(".seriatim/journal", "ours, and no part of the user's work");
        repository
    }

    fn with_commit() -> Repository {
        let repository = Repository::new();
        repository.write("a.txt", "one\ntwo\n");
        repository.write("b.txt", "b\n");
        repository.write("old name.txt", "1\n2\n3\n4\n5\n");
        repository.write("run.sh", "#!/bin/sh\n");
        repository.git(&["add", ".", ":!.seriatim"]);
        repository.git(&["commit", "--quiet", "-m", "first"]);
        repository
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    fn script(&self, name: &str, text: &str) {
        self.write(name, &format!("#!/bin/sh\n{text}\n"));
        fs::set_permissions(self.path(name), Permissions::from_mode(0o755)).unwrap();
    }

    /// Plain git, as a user would call it.
    fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(self.directory.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn hands(&self) -> Git<'_> {
        self.hands_in(self.directory.path())
    }

    fn hands_in(&self, root: &Path) -> Git<'_> {
        Git::new(&self.processes, &Disk, Workspace::new(root).unwrap(), ".seriatim/git")
            .with_variable("GIT_CONFIG_GLOBAL", "/dev/null")
            .with_variable("GIT_CONFIG_SYSTEM", "/dev/null")
    }

    fn changes(&self, base: &str) -> Vec<Change> {
        self.hands().changes_since(Some(base)).unwrap()
    }
}

fn commit(paths: &[&str]) -> Commit {
    Commit {
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        message: "Do it".to_owned(),
        trailers: vec![("Step-ID".to_owned(), "01-02".to_owned())],
    }
}

fn find<'c>(changes: &'c [Change], path: &str) -> &'c Change {
    changes.iter().find(|change| change.path == path).unwrap_or_else(|| panic!("no {path} in {changes:#?}"))
}

#[test]
fn a_directory_without_a_repository_is_told_from_trouble() {
    let repository = Repository { directory: tempdir().unwrap(), processes: processes() };
    assert_eq!(repository.hands().is_repository(), Ok(false));
    assert!(matches!(repository.hands().status(), Err(GitError::NotARepository { .. })));
    repository.git(&["init", "--quiet"]);
    assert_eq!(repository.hands().is_repository(), Ok(true));
    repository.write(".git/config", "[broken");
    assert!(matches!(repository.hands().is_repository(), Err(GitError::Failed { .. })));
}

#[test]
fn e_52_before_the_first_commit_everything_is_new() {
    let repository = Repository::new();
    let names = ["with space.txt", "tab\tand\nnewline", "grüße/日本.txt", "-dash", ":(glob)*", "quote\"'"];
    for name in names {
        repository.write(name, "1\n2\n");
    }
    let hands = repository.hands();
    assert_eq!(hands.head(), Ok(None));
    assert_eq!(hands.branch(), Ok(Some("main".to_owned())));
    let changes = hands.changes_since(None).unwrap();
    assert_eq!(changes.len(), names.len());
    for name in names {
        let change = find(&changes, name);
        assert_eq!((change.kind, change.added, change.old_mode), (ChangeKind::Added, 2, 0));
    }
    let committed = hands.commit(&commit(&names)).unwrap();
    assert_eq!(hands.head(), Ok(Some(committed.id)));
    assert_eq!(committed.paths.len(), names.len());
    assert!(hands.status().unwrap().is_clean());
}

#[test]
fn e_52_every_kind_of_change_is_seen_and_nothing_of_the_user_is_touched() {
    let repository = Repository::with_commit();
    repository.write("a.txt", "one\nTWO\nthree\n");
    fs::remove_file(repository.path("b.txt")).unwrap();
    fs::rename(repository.path("old name.txt"), repository.path("nëw name.txt")).unwrap();
    fs::set_permissions(repository.path("run.sh"), Permissions::from_mode(0o755)).unwrap();
    symlink("/etc/passwd", repository.path("link")).unwrap();
    fs::write(repository.path("data.bin"), [0u8, 1, 2, 0]).unwrap();
    repository.write("new/deep/file.rs", "x\n");
    repository.write("ignored.log", "x");
    repository.write(".gitignore", "*.log\n");
    let index = fs::read(repository.path(".git/index")).unwrap();
    let objects = repository.git(&["count-objects", "-v"]);

    let changes = repository.changes("HEAD");

    let kind = |path: &str| find(&changes, path).kind;
    let modified = find(&changes, "a.txt");
    assert_eq!((modified.kind, modified.added, modified.deleted), (ChangeKind::Modified, 2, 1));
    assert_eq!(kind("b.txt"), ChangeKind::Deleted);
    let renamed = find(&changes, "nëw name.txt");
    assert_eq!((renamed.kind, renamed.old_path.as_deref()), (ChangeKind::Renamed, Some("old name.txt")));
    let mode = find(&changes, "run.sh");
    assert_eq!((mode.kind, mode.old_mode, mode.new_mode), (ChangeKind::ModeChanged, 0o100_644, 0o100_755));
    assert_eq!(find(&changes, "link").target.as_deref(), Some("/etc/passwd"));
    assert!(find(&changes, "data.bin").binary);
    assert_eq!(find(&changes, "new/deep/file.rs").added, 1);
    assert_eq!(changes.len(), 8, "{changes:#?}");

    assert_eq!(fs::read(repository.path(".git/index")).unwrap(), index);
    assert_eq!(repository.git(&["count-objects", "-v"]), objects);
    assert_eq!(fs::read_dir(repository.path(".seriatim/git")).unwrap().count(), 1, "only the objects remain");
}

#[test]
fn a_tree_taken_earlier_is_an_exact_base_also_for_untracked_files() {
    let repository = Repository::with_commit();
    repository.write("untracked.txt", "before\n");
    repository.write("same.txt", "same\n");
    let hands = repository.hands();
    let before = hands.tree().unwrap();
    assert_eq!(hands.tree().unwrap(), before);
    assert_eq!(hands.changes_since(Some(&before)).unwrap(), []);
    repository.write("untracked.txt", "after\n");
    let changes = hands.changes_since(Some(&before)).unwrap();
    assert_eq!(changes.len(), 1);
    assert_eq!(find(&changes, "untracked.txt").kind, ChangeKind::Modified);
    let refused = hands.changes_since(Some("--output=stolen"));
    assert_eq!(refused, Err(GitError::UnknownRevision { name: "--output=stolen".to_owned() }));
}

#[test]
fn changes_cannot_be_hidden_from_the_comparison() {
    let repository = Repository::with_commit();
    repository.git(&["update-index", "--assume-unchanged", "a.txt"]);
    repository.git(&["update-index", "--skip-worktree", "b.txt"]);
    repository.write("a.txt", "hidden\n");
    repository.write("b.txt", "hidden too\n");
    repository.git(&["init", "--quiet", "empty"]);
    repository.write("empty/file", "x\n");
    repository.git(&["init", "--quiet", "full"]);
    repository.git(&[
        "-C",
        "full",
        "-c",
        "user.name=x",
        "-c",
        "user.email=x@y",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "x",
    ]);
    repository.write("plain.txt", "x\n");
    let changes = repository.changes("HEAD");
    assert_eq!(find(&changes, "a.txt").kind, ChangeKind::Modified);
    assert_eq!(find(&changes, "b.txt").kind, ChangeKind::Modified);
    assert_eq!(find(&changes, "full").new_mode, 0o160_000);
    assert_eq!(find(&changes, "plain.txt").kind, ChangeKind::Added);
    assert_eq!(find(&changes, "empty").new_mode, 0o160_000);
    assert_eq!(changes.len(), 5, "{changes:#?}");
}

#[test]
fn the_text_of_a_diff_ends_with_a_whole_line_at_the_limit() {
    let repository = Repository::with_commit();
    repository.git(&["config", "diff.external", "false"]);
    repository.git(&["config", "diff.noprefix", "true"]);
    repository.write("a.txt", &"line\n".repeat(1_000));
    repository.write("b.txt", "B\n");
    let hands = repository.hands();
    let whole = hands.diff_since(Some("HEAD"), &[], 1 << 20).unwrap();
    assert!(!whole.cut);
    assert!(whole.text.contains("+++ b/b.txt\n@@ -1 +1 @@\n-b\n+B\n"), "{}", whole.text);
    let some = hands.diff_since(Some("HEAD"), &["a.txt".to_owned()], 300).unwrap();
    assert!(some.cut && some.text.len() <= 300 && some.text.ends_with("+line\n"), "{some:?}");
    assert!(!some.text.contains("b.txt"));
}

#[test]
fn the_status_tells_staged_unstaged_untracked_ignored_and_conflicts() {
    let repository = Repository::with_commit();
    repository.git(&["checkout", "--quiet", "-b", "other"]);
    repository.write("b.txt", "theirs\n");
    repository.git(&["commit", "--quiet", "-am", "theirs"]);
    repository.git(&["checkout", "--quiet", "main"]);
    repository.write("b.txt", "ours\n");
    repository.git(&["commit", "--quiet", "-am", "ours"]);
    assert!(
        !Command::new("git")
            .args(["merge", "--quiet", "other"])
            .current_dir(repository.path(""))
            .output()
            .unwrap()
            .status
            .success()
    );
    repository.write("a.txt", "changed\n");
    repository.git(&["mv", "old name.txt", "renamed.txt"]);
    repository.write("build/out.o", "x");
    repository.write(".gitignore", "build/\n");
    let status = repository.hands().status().unwrap();
    let place = |path: &str| status.entries.iter().find(|entry| entry.path == path).unwrap().place;
    assert_eq!(place("b.txt"), Place::Conflict);
    assert_eq!(place("a.txt"), Place::Tracked { staged: None, unstaged: Some('M') });
    assert_eq!(place("renamed.txt"), Place::Tracked { staged: Some('R'), unstaged: None });
    assert_eq!(place(".gitignore"), Place::Untracked);
    assert_eq!(place("build/"), Place::Ignored);
    assert_eq!(status.branch.as_deref(), Some("main"));
    assert_eq!(status.head, repository.hands().head().unwrap());
}

#[test]
fn a_commit_takes_the_named_paths_alone_and_leaves_the_rest_staged() {
    let repository = Repository::with_commit();
    repository.write("b.txt", "staged by the user\n");
    repository.git(&["add", "b.txt"]);
    repository.write("a.txt", "ours\n");
    repository.write("src/new.rs", "new\n");
    fs::rename(repository.path("old name.txt"), repository.path("src/moved.txt")).unwrap();
    repository.write("src/*.rs", "looks like a pattern\n");
    repository.write("other.rs", "not asked for\n");
    let committed =
        repository.hands().commit(&commit(&["a.txt", "src/", "old name.txt", "unchanged"])).unwrap();
    let expected = ["a.txt", "old name.txt", "src/*.rs", "src/moved.txt", "src/new.rs"];
    assert_eq!(committed.paths, expected);
    let listed = repository.git(&["show", "--name-only", "--no-renames", "--format=%B", "HEAD"]);
    assert_eq!(listed, format!("Do it\n\nStep-ID: 01-02\n\n\n{}\n", expected.join("\n")));
    assert_eq!(repository.git(&["status", "--porcelain"]), "M  b.txt\n?? .seriatim/\n?? other.rs\n");
    assert_eq!(repository.hands().commit(&commit(&["a.txt"])), Err(GitError::NothingToCommit));
}

#[test]
fn a_hook_that_refuses_is_feedback_and_the_index_stays_as_it_was() {
    let repository = Repository::with_commit();
    repository
        .script(".git/hooks/pre-commit", "echo 'line 3: missing semicolon' >&2; env >> hook-ran; exit 1");
    repository.write("b.txt", "staged by the user\n");
    repository.git(&["add", "b.txt"]);
    repository.write("new.txt", "new\n");
    let before = repository.git(&["status", "--porcelain"]);
    let refused = repository.hands().commit(&commit(&["new.txt"]));
    assert_eq!(refused, Err(GitError::Hook { output: "line 3: missing semicolon".to_owned() }));
    let seen = fs::read_to_string(repository.path("hook-ran")).unwrap();
    assert!(!seen.contains("LITERAL_PATHSPECS") && !seen.contains("hooksPath"), "{seen}");
    fs::remove_file(repository.path("hook-ran")).unwrap();
    assert_eq!(repository.git(&["status", "--porcelain"]), before);

    repository.script(".git/hooks/pre-commit", "exit 0");
    assert!(repository.hands().commit(&commit(&["new.txt"])).is_ok());
}

#[test]
fn without_an_identity_the_error_says_so() {
    let repository = Repository::with_commit();
    repository.git(&["config", "--unset", "user.name"]);
    repository.git(&["config", "--unset", "user.email"]);
    repository.git(&["config", "user.useConfigOnly", "true"]);
    repository.write("a.txt", "x\n");
    assert_eq!(repository.hands().commit(&commit(&["a.txt"])), Err(GitError::NoIdentity));
}

#[test]
fn reads_run_neither_hooks_nor_the_monitor() {
    let repository = Repository::with_commit();
    for hook in ["post-index-change", "post-checkout", "reference-transaction"] {
        repository
            .script(&format!(".git/hooks/{hook}"), "echo $0 >> \"$(git rev-parse --show-toplevel)/ran\"");
    }
    repository.script("monitor", "echo monitor >> ran; exit 1");
    repository.git(&["config", "core.fsmonitor", "./monitor"]);
    let ran = repository.path("ran");
    let _ = fs::remove_file(&ran);
    let hands = repository.hands();
    hands.status().unwrap();
    hands.changes_since(Some("HEAD")).unwrap();
    hands.add_worktree(&repository.path(".seriatim/tree"), None, "HEAD").unwrap();
    assert!(!ran.exists());
}

#[test]
fn worktrees_come_and_go() {
    let repository = Repository::with_commit();
    let hands = repository.hands();
    let root = repository.directory.path().canonicalize().unwrap();
    let (one, other) = (root.join(".seriatim/trees/one 1"), root.join(".seriatim/trees/other"));
    hands.add_worktree(&one, Some("step/01-02"), "HEAD").unwrap();
    hands.add_worktree(&other, None, "HEAD").unwrap();
    let trees = hands.worktrees().unwrap();
    assert_eq!(trees.len(), 3);
    assert_eq!((trees[1].path.as_path(), trees[1].branch.as_deref()), (one.as_path(), Some("step/01-02")));
    assert_eq!((trees[2].branch.as_deref(), trees[2].head.clone()), (None, hands.head().unwrap()));
    fs::write(one.join("uncommitted"), "x").unwrap();
    let inside = repository.hands_in(&one);
    assert_eq!(inside.changes_since(Some("HEAD")).unwrap().len(), 1);
    hands.remove_worktree(&one).unwrap();
    hands.remove_worktree(&one).unwrap();
    assert!(!one.exists());
    fs::remove_dir_all(&other).unwrap();
    assert!(hands.worktrees().unwrap()[1].prunable);
    hands.prune_worktrees().unwrap();
    assert_eq!(hands.worktrees().unwrap().len(), 1);
}

#[test]
fn a_workspace_below_the_top_sees_its_own_part() {
    let repository = Repository::with_commit();
    repository.write("part/x.txt", "x\n");
    repository.git(&["add", ".", ":!.seriatim"]);
    repository.git(&["commit", "--quiet", "-m", "part"]);
    repository.write("part/x.txt", "y\n");
    repository.write("part/new.txt", "n\n");
    repository.write("a.txt", "outside\n");
    let hands = repository.hands_in(&repository.path("part"));
    let changes = hands.changes_since(Some("HEAD")).unwrap();
    let paths: Vec<&str> = changes.iter().map(|change| change.path.as_str()).collect();
    assert_eq!(paths, ["new.txt", "x.txt"]);
    let status = hands.status().unwrap();
    let paths: Vec<&str> =
        status.entries.iter().filter(|it| it.place != Place::Ignored).map(|it| it.path.as_str()).collect();
    assert_eq!(paths, ["x.txt", "new.txt"]);
    let committed = hands.commit(&commit(&["x.txt", "new.txt"])).unwrap();
    assert_eq!(committed.paths, ["new.txt", "x.txt"]);
    assert_eq!(repository.git(&["status", "--porcelain", "-uno"]), " M a.txt\n");
}
