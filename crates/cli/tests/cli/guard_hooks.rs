//! The hooks of git: chained with those that are there, wherever git looks for them.

use std::fs;

use crate::guard_stage::Stage;
use crate::guard_stage::executable;
use crate::guard_stage::mode;
use crate::guard_stage::open_step;
use crate::support::Output;

fn commit(stage: &Stage) -> Output {
    stage.env.file("bread", "flour\n");
    stage.git(&["add", "bread"]).exits(0);
    stage.git(&["commit", "-qm", "Bread"])
}

/// DS-117: with a real step, by git itself.
#[test]
fn ds_117_an_unfinished_step_is_not_committed() {
    let stage = Stage::new();
    stage.install(&["claude"]);
    commit(&stage).exits(0);
    stage.env.file("steps/01-01.json", open_step());
    stage.git(&["add", "steps"]).exits(0);
    let output = stage.git(&["commit", "-qm", "Too early"]).exits(1);
    output.says("The commit is held by the guard of this project:").says("PREPARE");
    stage.uninstall();
    stage.git(&["commit", "-qm", "Nobody asks any more"]).exits(0);
}

#[test]
fn a_hook_that_was_there_runs_first_and_its_no_counts() {
    let stage = Stage::new();
    stage.put(".git/hooks/pre-commit", 0o755, "#!/bin/sh\necho \"asked $#\" >>said\nexit 7\n");
    stage.install(&["claude"]);
    commit(&stage).exits(1);
    assert_eq!(stage.env.read("said"), "asked 0\n");
    executable(&stage.env.path(".git/hooks/pre-commit.before-seriatim"), "echo again >>said");
    commit(&stage).exits(0);
    assert_eq!(stage.env.read("said"), "asked 0\nagain\n");
}

#[test]
fn a_hook_that_git_would_not_run_is_not_run_either() {
    let stage = Stage::new();
    stage.put(".git/hooks/pre-commit", 0o644, "#!/bin/sh\nexit 7\n");
    stage.install(&["claude"]);
    commit(&stage).exits(0);
    stage.uninstall();
    assert_eq!(mode(&stage.env.path(".git/hooks/pre-commit")), 0o644);
}

#[test]
fn both_hooks_get_what_is_pushed() {
    let stage = Stage::new();
    stage.put(".git/hooks/pre-push", 0o755, "#!/bin/sh\necho \"$@\" >>said\ncat >>said\n");
    stage.install(&["claude"]);
    commit(&stage).exits(0);
    let away = stage.env.root.with_file_name("away.git");
    let away = away.to_str().unwrap();
    stage.git(&["init", "-q", "--bare", away]).exits(0);
    stage.git(&["remote", "add", "away", away]).exits(0);
    stage.git(&["push", "-q", "away", "main"]).exits(0);
    let said = stage.env.read("said");
    assert!(said.starts_with(&format!("away {away}\nrefs/heads/main ")), "{said}");
    // What is committed past the hooks is seen here.
    stage.env.file("steps/01-01.json", open_step());
    stage.git(&["add", "steps"]).exits(0);
    stage.git(&["commit", "-q", "--no-verify", "-m", "Past the hook"]).exits(0);
    stage.git(&["push", "-q", "away", "main"]).exits(1).says("The push is held by the guard");
    assert_eq!(stage.env.read("said").lines().count(), 4, "the earlier hook was asked both times");
}

#[test]
fn without_the_program_nothing_is_committed_and_the_remedy_is_said() {
    let stage = Stage::new();
    stage.install(&["claude"]);
    stage.without("seriatim");
    commit(&stage).exits(1).says("is not on PATH: the commit is refused").says("install it or mend PATH");
}

#[test]
fn the_folder_that_is_configured_is_honoured_and_a_tracked_one_is_said() {
    let stage = Stage::new();
    stage.put("hooks/pre-commit", 0o755, "#!/bin/sh\necho theirs >>said\n");
    stage.git(&["config", "core.hooksPath", "hooks"]).exits(0);
    stage.git(&["add", "hooks"]).exits(0);
    stage.git(&["commit", "-q", "--no-verify", "-m", "Hooks"]).exits(0);
    let before = stage.tree();
    stage.install(&["claude"]).says("which is tracked");
    assert!(!stage.env.path(".git/hooks/pre-commit").exists());
    stage.run(&["guard", "status"]).exits(0).says("hooks/pre-commit: there");
    commit(&stage).exits(0);
    assert_eq!(stage.env.read("said"), "theirs\n");
    // Looking elsewhere disarms it, and that is noticed.
    stage.git(&["config", "core.hooksPath", "elsewhere"]).exits(0);
    stage.run(&["guard", "status"]).exits(1).says("elsewhere/pre-commit: missing");
    stage.run(&["doctor"]).exits(1).says("git looks for hooks elsewhere since the guard was installed");
    stage.uninstall();
    let mut after = stage.tree_without_record();
    after.retain(|path, _| !["said", "bread"].contains(&path.as_str()));
    assert_eq!(after, before);
}

/// Husky's scripts tell by their own name what to run, and where.
#[test]
fn the_scripts_of_husky_still_know_their_name() {
    let stage = Stage::new();
    stage.put(".husky/_/h", 0o644, "n=$(basename \"$0\")\ns=$(dirname \"$(dirname \"$0\")\")/$n\n[ ! -f \"$s\" ] && exit 0\nsh -e \"$s\" \"$@\"\n");
    stage.put(".husky/_/pre-commit", 0o755, "#!/usr/bin/env sh\n. \"$(dirname \"$0\")/h\"");
    stage.put(".husky/pre-commit", 0o644, "echo husky >>said\n");
    stage.git(&["config", "core.hooksPath", ".husky/_"]).exits(0);
    stage.install(&["claude"]);
    commit(&stage).exits(0);
    assert_eq!(stage.env.read("said"), "husky\n");
    stage.env.file(".husky/pre-commit", "exit 5\n");
    stage.env.file("bread", "more flour\n");
    stage.git(&["commit", "-qam", "More"]).exits(1);
}

#[test]
fn a_hook_that_somebody_put_in_the_place_of_ours_is_left_alone_and_said() {
    let stage = Stage::new();
    stage.put(".git/hooks/pre-commit", 0o755, "#!/bin/sh\necho first\n");
    stage.install(&["claude"]);
    stage.put(".git/hooks/pre-commit", 0o755, "#!/bin/sh\necho second\n");
    stage.run(&["guard", "status"]).exits(1).says(".git/hooks/pre-commit: somebody else's");
    stage
        .run(&["guard", "install", "--client", "claude", "--yes"])
        .exits(2)
        .says("holds an earlier hook already");
    stage.uninstall().says(".git/hooks/pre-commit is no longer the guard's");
    assert_eq!(stage.env.read(".git/hooks/pre-commit"), "#!/bin/sh\necho second\n");
    assert_eq!(stage.env.read(".git/hooks/pre-commit.before-seriatim"), "#!/bin/sh\necho first\n");
    assert!(!stage.env.path(".git/hooks/pre-push").exists());
}

/// The framework of that name moves a hook aside and calls it from there.
#[test]
fn a_hook_that_was_moved_aside_and_is_still_called_counts() {
    let stage = Stage::new();
    stage.install(&["claude"]);
    let hooks = stage.env.path(".git/hooks");
    fs::rename(hooks.join("pre-commit"), hooks.join("pre-commit.legacy")).unwrap();
    executable(&hooks.join("pre-commit"), "exec \"$(dirname \"$0\")/pre-commit.legacy\"");
    stage.run(&["guard", "status"]).exits(0);
    commit(&stage).exits(0);
    stage.uninstall();
    assert!(hooks.join("pre-commit").exists() && !hooks.join("pre-commit.legacy").exists());
}

#[test]
fn an_altered_hook_is_seen_and_put_right() {
    let stage = Stage::new();
    stage.install(&["claude"]);
    let hook = stage.env.path(".git/hooks/pre-commit");
    let text = fs::read_to_string(&hook).unwrap();
    fs::write(&hook, text.replace("exec seriatim commit-gate", "exit 0")).unwrap();
    stage.run(&["guard", "status"]).exits(1).says("pre-commit: altered");
    stage.install(&["claude"]).says("~ is written anew");
    stage.put(".git/hooks/pre-commit", 0o644, &text);
    stage.run(&["guard", "status"]).exits(1).says("pre-commit: not executable");
    stage.install(&["claude"]);
    stage.run(&["guard", "status"]).exits(0);
}

#[test]
fn a_project_in_no_repository_has_the_hooks_of_the_client_alone() {
    let stage = Stage::bare();
    let before = stage.tree();
    stage.install(&["claude"]).says("commits are not protected");
    stage.run(&["guard", "status"]).exits(1).says("commits are not protected");
    stage.run(&["doctor"]).exits(1).says("this is no git repository: commits are not protected");
    stage.run(&["guard", "install", "--client", "claude", "--yes"]).exits(0);
    stage.uninstall();
    assert_eq!(stage.tree_without_record(), before);
}

#[test]
fn a_working_tree_of_its_own_shares_the_hooks_of_the_repository() {
    let stage = Stage::new();
    stage.env.git(&["commit", "-q", "--allow-empty", "-m", "First"]);
    stage.env.git(&["worktree", "add", "-q", "beside", "-b", "beside"]);
    stage.run(&["guard", "install", "--client", "claude", "--yes", "--workspace", "beside"]).exits(0);
    assert!(stage.env.path(".git/hooks/pre-commit").is_file());
    assert!(!stage.env.stored("guard.json").exists(), "the mark is that of the other working tree");
    // The main working tree is not guarded, and its commits are nobody's concern.
    stage.env.file("steps/01-01.json", open_step());
    stage.git(&["add", "steps"]).exits(0);
    stage.git(&["commit", "-qm", "Free"]).exits(0);
    stage.env.file("beside/steps/01-02.json", open_step());
    stage.git(&["-C", "beside", "add", "steps"]).exits(0);
    stage.git(&["-C", "beside", "commit", "-qm", "Held"]).exits(1).says("held by the guard");
    stage.run(&["guard", "uninstall", "--yes", "--workspace", "beside"]).exits(0);
    assert!(!stage.env.path(".git/hooks/pre-commit").exists());
}

#[test]
fn a_project_below_the_top_of_the_repository_is_asked_for_by_its_folder() {
    let stage = Stage::new();
    stage.env.file("it's here/seriatim.toml", "").file("other/seriatim.toml", "");
    let at = |folder: &'static str| {
        stage.run(&["guard", "install", "--client", "claude", "--yes", "--workspace", folder])
    };
    at("it's here").exits(0);
    let hook = stage.env.read(".git/hooks/pre-commit");
    assert!(hook.ends_with("exec seriatim commit-gate --workspace 'it'\\''s here'\n"), "{hook}");
    commit(&stage).exits(0);
    stage.env.file("it's here/steps/01-01.json", open_step());
    stage.git(&["add", "."]).exits(0);
    stage.git(&["commit", "-qm", "Held"]).exits(1).says("held by the guard");
    at("other").exits(2).says("guards another folder of this repository");
    assert!(!stage.env.path("other/.seriatim").exists());
}
