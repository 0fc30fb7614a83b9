//! Agents and checks that work in a copy of the workspace, closed in by walls.

use std::fs;

use crate::process::Fifo;
use crate::roadmap_support::Project;
use crate::roadmap_support::add;
use crate::support::Env;

/// Does all that it must not do, says what succeeded, and does its work.
const TRESPASSER: &str = r#"real=$(cat where)
{
    (echo x >"$real/absolute") && echo wrote by absolute path
    (echo x >>"$real/agent.sh") && echo changed a real file
    rm "$real/keep.txt" && echo removed a real file
    (echo x >"$real/.git/hooks/pre-commit") && echo planted a real hook
    cat "$real/.git/HEAD" && echo read the real repository
    ls "$real/.git/seriatim" && echo listed the store
    (echo x >"$real/.git/seriatim/journal.db") && echo wrote to the store
    cat "$real/keep.txt" && echo read a real file
    echo x >"$TMPDIR/scratch" && echo wrote a temporary file
} 2>/dev/null >said
cat node_modules/pkg/index.js >seen
printf '#!/bin/sh\n' >.git/hooks/pre-commit
export GIT_AUTHOR_NAME=B GIT_AUTHOR_EMAIL=b GIT_COMMITTER_NAME=B GIT_COMMITTER_EMAIL=b HOME=$TMPDIR
git commit --quiet --no-verify --all --message=inside && git log --format=%s >log
echo more >>node_modules/pkg/index.js
rm gone.txt
setsid sleep 1000 >/dev/null 2>&1 &
finish "done""#;

fn project(isolation: &str, script: &str) -> Env {
    furnished(Env::new(), isolation, script)
}

fn furnished(env: Env, isolation: &str, script: &str) -> Env {
    env.bakery(&["Knead the dough", "Bake it"]).agent_sh(script);
    let config = env.read("seriatim.toml").replace("isolation = \"none\"", isolation);
    fs::write(env.path("seriatim.toml"), config).unwrap();
    env.file("keep.txt", "kept\n").file("gone.txt", "gone\n").file(".gitignore", "node_modules/\n");
    env.file("node_modules/pkg/index.js", "ignored\n").file("where", env.root.display().to_string());
    env.git(&["init", "--quiet", "--initial-branch=main"]);
    env.git(&["add", "."]);
    env.git(&["commit", "--quiet", "--message=first"]);
    env
}

#[test]
fn an_agent_in_a_copy_changes_the_workspace_by_its_merged_files_alone() {
    let env = project("isolation = \"copy\"", TRESPASSER);
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(0);
    assert_eq!(env.read("said"), "kept\nread a real file\nwrote a temporary file\n");
    // The second attempt began with what was merged of the first one, and its repository was the real one again.
    assert_eq!(env.read("log"), "inside\nfirst\n");
    assert_eq!(env.read("trace"), "5.1.1 attempt 1\n5.1.2 attempt 1\n");
    assert_eq!(env.read("seen"), "ignored\n");
    assert_eq!(env.read("node_modules/pkg/index.js"), "ignored\n");
    assert_eq!(env.read("keep.txt"), "kept\n");
    assert!(!env.path("absolute").exists() && !env.path("gone.txt").exists());
    assert!(!env.path(".git/hooks/pre-commit").exists());
    env.git(&["diff", "--cached", "--quiet", "HEAD"]);
    assert_eq!(env.living(), Vec::<String>::new());
    let run = env.newest();
    env.run(&["log", &run]).exits(0).says("worked in a copy: weaker isolation than a world");
    env.run(&["show", &run, "-v"]).exits(0).says("weaker isolation than a world");
    env.run(&["verify"]).exits(0);
    env.assert_tidy();
}

#[test]
fn the_next_attempt_finds_what_the_one_before_left_in_its_copy() {
    let env = project(
        "isolation = \"copy\"",
        r#"case "$SERIATIM_STEP $SERIATIM_ATTEMPT" in
        "5.1.1 1") echo half >dough; rm gone.txt; mkdir -p a/b; echo c >a/b/c; chmod 600 keep.txt; exit 7 ;;
        "5.1.1 2") test ! -e gone.txt && cat dough >whole && rm -r a && mkdir a && echo new >a/new ;;
        esac
        finish "done""#,
    );
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3);
    env.run(&["answer", "q1", "retry"]);
    env.run(&["resume", &env.newest(), "--no-input"]).exits(0);
    assert_eq!(env.read("whole"), "half\n");
    assert_eq!(env.read("a/new"), "new\n");
    assert!(!env.path("a/b").exists() && !env.path("gone.txt").exists());
    env.assert_tidy();
}

#[test]
fn a_step_whose_checks_and_agent_work_in_copies_is_committed_as_they_saw_it() {
    let project = Project::of("", &[add()]);
    let config = project.env.read("seriatim.toml").replace("isolation = \"none\"", "isolation = \"copy\"");
    project.env.file("seriatim.toml", config);
    let home = project.env.root.with_file_name("home");
    project.configure(&format!("\n[worlds]\nshare = [{:?}]\n", home.display().to_string()));
    project.agent("usual\nfinish");
    project.step("01-01").exits(0);
    project.assert_done(&["01-01"]);
    let listed = project.git(&["ls-tree", "-r", "--name-only", "HEAD", "src"]);
    assert_eq!(listed, "src/__init__.py\nsrc/add.py\n");
}

#[test]
fn without_namespaces_an_agent_gets_a_copy_by_itself_and_the_log_says_so() {
    let env = project("", "echo made >made\npwd >place\nfinish \"done\"");
    let text = "echo 0 >/proc/sys/user/max_user_namespaces && echo 0 >/proc/sys/user/max_pid_namespaces && \
         exec \"$0\" \"$@\"";
    let engine = env.command(&["run", "process", "instance.yaml", "--no-input"]);
    let mut command = std::process::Command::new("unshare");
    command.args(["-Ur", "sh", "-c", text]).arg(engine.get_program()).args(engine.get_args());
    env.furnish(&mut command);
    let ended = env.start_command(command).output();
    if ended.snapshot().contains("unshare failed") {
        println!("not tried: {}", ended.snapshot());
        return;
    }
    ended.exits(0);
    assert_eq!(env.read("made"), "made\n");
    assert!(env.read("place").trim_end().ends_with("/copy/tree"), "{}", env.read("place"));
    env.run(&["log", &env.newest()]).exits(0).says("worked in a copy: weaker isolation than a world");
}

#[test]
fn in_a_linked_working_tree_git_stays_in_the_copy() {
    let script = "export GIT_AUTHOR_NAME=B GIT_AUTHOR_EMAIL=b GIT_COMMITTER_NAME=B GIT_COMMITTER_EMAIL=b\n\
         echo x >>keep.txt; git commit --quiet --all --message=inside && git log --format=%s >log\n\
         git rev-parse --git-dir >git-dir\nfinish \"done\"";
    let env = project("isolation = \"copy\"", script);
    let tree = env.root.with_file_name("linked");
    env.git(&["worktree", "add", "--quiet", tree.to_str().unwrap()]);
    let mut command = env.command(&["run", "process", "instance.yaml", "--no-input"]);
    command.current_dir(&tree);
    env.start_command(command).output().exits(0);
    assert_eq!(fs::read_to_string(tree.join("log")).unwrap(), "inside\nfirst\n");
    let git = fs::read_to_string(tree.join("git-dir")).unwrap();
    assert!(git.contains("/copy/git0/worktrees/linked"), "{git}");
    env.git(&["diff", "--quiet", "main", "linked"]);
}

#[test]
fn kill_9_while_an_agent_works_in_a_copy_loses_nothing_of_it() {
    let script = r#"case "$SERIATIM_STEP $SERIATIM_ATTEMPT" in
        "5.1.1 1") echo half >dough; echo $$ >"$STAGE/began"; read word <"$STAGE/hold" ;;
        "5.1.1 2") cat dough >whole ;;
        esac
        finish "done""#;
    let env = Env::new();
    let stage = env.root.with_file_name("stage");
    fs::create_dir(&stage).unwrap();
    let script = script.replace("$STAGE", stage.to_str().unwrap());
    let env = furnished(env, "isolation = \"copy\"", &script);
    env.file("seriatim.toml", format!("{}\n[worlds]\nshare = [{stage:?}]\n", env.read("seriatim.toml")));
    let (mut began, _hold) = (Fifo::new(&stage.join("began")), Fifo::new(&stage.join("hold")));
    let engine = env.start(&["run", "process", "instance.yaml", "--no-input"]);
    let agent = began.process(&engine);
    engine.kill();
    agent.ends();
    env.run(&["resume", &env.newest(), "--no-input"]).exits(0);
    assert_eq!(env.read("whole"), "half\n");
    env.assert_tidy();
}
