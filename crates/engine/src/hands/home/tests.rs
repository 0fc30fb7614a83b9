//! The places of stores, on repositories that git itself made.

use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use seriatim_core::redact::Redactor;
use seriatim_journal::Store;

use super::*;

struct Ground {
    _dir: tempfile::TempDir,
    top: PathBuf,
}

impl Ground {
    fn new() -> Ground {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        Ground { _dir: dir, top }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.top.join(path)
    }

    fn git(&self, at: &str, args: &[&str]) {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]);
        command.args(["-c", "protocol.file.allow=always"]).args(args).current_dir(self.path(at));
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        let output = command.output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn repository(&self, at: &str) {
        fs::create_dir_all(self.path(at)).unwrap();
        self.git(at, &["init", "-q"]);
        self.git(at, &["commit", "-q", "--allow-empty", "-m", "begin"]);
    }

    fn home(&self, at: &str) -> Home {
        Home::of(&self.path(at))
    }
}

fn store(dir: &Path) {
    Store::open(dir, Redactor::new(&[], &[]).unwrap()).unwrap().close().unwrap();
}

#[test]
fn without_git_the_store_is_in_the_workspace() {
    let ground = Ground::new();
    let home = ground.home(".");
    assert_eq!((home.store(), home.key().as_str()), (ground.path(".seriatim").as_path(), ""));
    // An empty folder of that name is no repository, for git neither.
    fs::create_dir(ground.path(".git")).unwrap();
    assert_eq!(ground.home(".").store(), ground.path(".seriatim"));
}

#[test]
fn all_working_trees_and_folders_of_a_repository_share_a_store_under_names_of_their_own() {
    let ground = Ground::new();
    ground.repository("repo");
    fs::create_dir_all(ground.path("repo/sub/deep")).unwrap();
    ground.git("repo", &["worktree", "add", "-q", "../linked", "-b", "one"]);
    ground.git("repo", &["worktree", "add", "-q", "inside", "-b", "two"]);
    let shared = ground.path("repo/.git/seriatim");
    let linked = ground.path("linked").display().to_string();
    for (at, key) in
        [("repo", "."), ("repo/sub/deep", "sub/deep"), ("repo/inside", "inside"), ("linked", &linked)]
    {
        let home = ground.home(at);
        assert_eq!((home.store(), home.key().as_str()), (shared.as_path(), key), "{at}");
        assert_eq!(home.folder_of(key), ground.path(at));
    }
    assert_eq!(in_main(&ground.path("linked")).unwrap().root(), ground.path("repo"));
    assert_eq!(in_main(&ground.path("repo")), None);
}

#[test]
fn a_worktree_with_a_relative_link_a_submodule_and_a_bare_repository_are_understood() {
    let ground = Ground::new();
    ground.repository("repo");
    ground.git("repo", &["worktree", "add", "-q", "../linked"]);
    let link = fs::read_to_string(ground.path("linked/.git")).unwrap();
    let absolute = format!("{}/", ground.top.display());
    fs::write(ground.path("linked/.git"), link.replace(&absolute, "../")).unwrap();
    assert_eq!(ground.home("linked").store(), ground.path("repo/.git/seriatim"));

    ground.repository("part");
    ground.git("repo", &["submodule", "--quiet", "add", "../part", "part"]);
    let module = ground.home("repo/part");
    assert_eq!(module.store(), ground.path("repo/.git/modules/part/seriatim"));
    assert_eq!((module.key().as_str(), module.folder_of(".")), (".", ground.path("repo/part")));

    ground.git(".", &["clone", "-q", "--bare", "repo", "bare/.bare"]);
    ground.git("bare/.bare", &["worktree", "add", "-q", "../tree"]);
    let tree = ground.home("bare/tree");
    assert_eq!((tree.store(), tree.key().as_str()), (ground.path("bare/.bare/seriatim").as_path(), "tree"));
    assert_eq!(tree.folder_of("tree"), ground.path("bare/tree"));
}

#[test]
fn a_store_at_the_old_place_is_used_until_it_is_moved_and_moved_once() {
    let ground = Ground::new();
    ground.repository("repo");
    ground.git("repo", &["worktree", "add", "-q", "../linked"]);
    let (old, new) = (ground.path("repo/.seriatim"), ground.path("repo/.git/seriatim"));
    store(&old);
    let mut home = ground.home("linked");
    assert_eq!(home.store(), old, "the store of the repository, seen from a linked worktree");
    assert_eq!(home.settle().unwrap(), Settled::Moved { from: old.clone(), to: new.clone() });
    assert_eq!((home.store(), old.exists()), (new.as_path(), false));
    assert_eq!(ground.home("repo").settle().unwrap(), Settled::Already);
    // Another one is not mixed with it, and not lost.
    store(&ground.path("linked/.seriatim"));
    let second = Settled::Second { unused: ground.path("linked/.seriatim"), used: new };
    assert_eq!(ground.home("linked").settle().unwrap(), second);
    assert!(ground.path("linked/.seriatim/journal.db").exists());
}
