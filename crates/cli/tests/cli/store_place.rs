//! Where the record is: below the git common dir, out of reach of what people and agents do with their files.

use std::fs;
use std::path::Path;
use std::process::Command;

use seriatim_core::redact::Redactor;
use seriatim_core::time::Utc;
use seriatim_journal::Holder;
use seriatim_journal::Store;

use crate::support::Env;
use crate::support::Output;
use crate::support::files_below;

/// A repository with a process of three steps, of which the second is a person's. Its files are committed.
fn bakery() -> Env {
    let env = Env::new();
    env.bakery(&["Knead the dough", "P:Decide on the crust", "Bake it"]).agent_sh("finish kneaded");
    init(&env);
    env.git(&["add", "--all"]);
    env.git(&["commit", "--quiet", "--message", "Begin"]);
    env
}

fn init(env: &Env) {
    env.git(&["init", "--quiet", "--initial-branch=main"]);
}

/// The same with a run that waits for a person.
fn waiting() -> (Env, String) {
    let env = bakery();
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3);
    let run = env.newest();
    (env, run)
}

/// The program in another folder than the workspace.
fn at(env: &Env, folder: &Path, args: &[&str]) -> Output {
    let mut command = env.command(args);
    command.current_dir(folder);
    env.start_command(command).output()
}

/// What git says about the files, ignored ones too.
fn git_status(env: &Env) -> Vec<String> {
    let mut command = Command::new("git");
    command.args(["status", "--porcelain", "--ignored", "--untracked-files=all"]);
    env.furnish(&mut command);
    let output = command.output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// The record is whole, and the run goes on to its end.
fn goes_on(env: &Env, run: &str) {
    env.run(&["inbox"]).exits(0).says("How shall it be?");
    env.run(&["answer", "q1", "approve"]).exits(0);
    env.run(&["resume", run, "--no-input"]).exits(0).says("completed:");
    env.run(&["verify"]).exits(0).says("all is as it was written");
    assert_eq!(env.read("trace").lines().last(), Some("5.1.3 attempt 1"));
    env.assert_tidy();
}

#[test]
fn git_clean_while_a_run_waits_takes_nothing_of_the_record() {
    let (env, run) = waiting();
    let before = files_below(&env.store());
    env.git(&["clean", "--quiet", "-fdx"]);
    assert_eq!(files_below(&env.store()), before);
    assert!(!env.path(".dialogue").exists(), "the files that were made from it are gone");
    goes_on(&env, &run);
    assert!(!env.files_below(".dialogue/logs/executions").is_empty(), "and are made again");
}

#[test]
fn git_stash_of_everything_while_a_run_waits_takes_nothing_of_the_record() {
    let (env, run) = waiting();
    let before = files_below(&env.store());
    env.git(&["stash", "--quiet", "--all"]);
    assert_eq!(files_below(&env.store()), before);
    goes_on(&env, &run);
}

#[test]
fn another_branch_while_a_run_waits_leaves_the_record_whole() {
    let (env, run) = waiting();
    env.git(&["add", "--all"]);
    env.git(&["commit", "--quiet", "--message", "Half baked"]);
    env.git(&["checkout", "--quiet", "-b", "other", "HEAD~1"]);
    env.run(&["verify", &run]).exits(1).says(".dialogue/logs/executions").says("is not there");
    goes_on(&env, &run);
}

#[test]
fn nothing_of_the_record_shows_in_git_status_and_git_add_catches_none_of_it() {
    let env = bakery();
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3);
    let shown = git_status(&env);
    assert_eq!(shown.first().unwrap(), " M instance.yaml");
    assert_eq!(shown.last().unwrap(), "?? trace", "what the agent itself wrote");
    for log in &shown[1..shown.len() - 1] {
        assert!(log.starts_with("?? .dialogue/logs/"), "{shown:?}");
    }
    env.git(&["add", "--all", "--force"]);
    let staged = git_status(&env);
    assert!(staged.iter().all(|line| !line.contains("seriatim/")), "{staged:?}");
    assert!(env.stored("journal.db").is_file() && !env.path(".seriatim").exists());
    // Nor is there anything to ignore once it is set up.
    env.run(&["init"]).exits(0);
    assert_eq!(git_status(&env), staged);
}

#[test]
fn worktrees_share_the_record_and_each_has_runs_of_its_own() {
    let (env, run) = waiting();
    let tree = env.root.with_file_name("tree");
    env.git(&["worktree", "add", "--quiet", "../tree", "-b", "other"]);
    at(&env, &tree, &["status"]).exits(0).says("Nothing has run in this workspace yet.");
    at(&env, &tree, &["inbox"]).exits(0).says("Nothing waits for you here.");
    at(&env, &tree, &["log"]).exits(2).says("nothing has run in this workspace yet");
    // The same instance is free here, though it is under way there.
    at(&env, &tree, &["run", "process", "instance.yaml", "--no-input"]).exits(3);
    let here: serde_json::Value = at(&env, &tree, &["status", "--json"]).document();
    assert_eq!(here["runs"].as_array().unwrap().len(), 1);
    let other = here["runs"][0]["run"].as_str().unwrap().to_owned();
    at(&env, &tree, &["run", "process", "instance.yaml", "--no-input"]).exits(3).says(&other);
    let all = at(&env, &tree, &["status", "--all", "--json"]).document();
    assert_eq!(all["runs"].as_array().unwrap().len(), 2);
    assert_eq!(all["runs"][1]["workspace"], env.root.display().to_string());
    assert!(all["runs"][0].get("workspace").is_none(), "{all}");
    at(&env, &tree, &["status", "--all"]).exits(0).says(&format!("{}", env.root.display()));
    at(&env, &tree, &["inbox", "--all"]).exits(0).says(&format!("in {}", env.root.display()));
    // Shown and checked from anywhere; continued and ended only where its files are.
    at(&env, &tree, &["show", &run]).exits(0).says("Bake bread");
    at(&env, &tree, &["log", &run]).exits(0);
    at(&env, &tree, &["verify", &run]).exits(0);
    let there = format!("run {run} belongs to {}; nothing was changed", env.root.display());
    for verb in ["resume", "cancel"] {
        let way = format!("continue there:  seriatim --workspace {} {verb} {run}", env.root.display());
        at(&env, &tree, &[verb, &run]).exits(2).says(&there).says(&way);
    }
    let way = format!("Continue with:  seriatim --workspace {} resume {run}", env.root.display());
    at(&env, &tree, &["answer", "q1", "approve"]).exits(0).says(&way);
    env.run(&["resume", &run, "--no-input"]).exits(0);
    // A worktree that is gone leaves its runs in the record.
    env.git(&["worktree", "remove", "--force", "../tree"]);
    env.run(&["resume", &other])
        .exits(2)
        .says(&format!("run {other} belongs to {}, which is gone; nothing was changed", tree.display()))
        .says(&format!("bring the folder back to {}", tree.display()))
        .says(&format!("or end it on record:  seriatim cancel {other}"));
    env.run(&["show", &other]).exits(0);
    env.run(&["verify"]).exits(0);
    // There is a way out: it is ended on record, and no file of this folder is touched.
    let before = git_status(&env);
    env.run(&["cancel", &other])
        .exits(0)
        .says("The work was cancelled. Its folder ")
        .says("No file was changed.");
    assert_eq!(git_status(&env), before);
    env.run(&["cancel", &other]).exits(2).says("is over already");
    env.run(&["inbox", "--all"]).exits(0).says("Nothing waits for you here.");
    env.run(&["log", &other]).exits(0).says("tester cancelled the run.");
    env.run(&["verify"]).exits(0);
}

#[test]
fn an_older_record_that_comes_back_to_the_old_place_is_named_and_never_removed() {
    let (env, run) = waiting();
    let copy = env.root.with_file_name("copy");
    assert!(Command::new("cp").arg("-a").arg(env.store()).arg(&copy).status().unwrap().success());
    env.run(&["answer", "q1", "approve"]).exits(0);
    env.run(&["resume", &run, "--no-input"]).exits(0);
    // The finished record lies at the old place now, with a file of its owner's, and the earlier one at the new place.
    fs::rename(env.store(), env.path(".seriatim")).unwrap();
    fs::rename(&copy, env.store()).unwrap();
    env.file(".seriatim/notes.txt", "mine\n");
    env.run(&["inbox"]).exits(0).says(".seriatim");
    assert_eq!(env.read(".seriatim/notes.txt"), "mine\n");
    assert!(env.path(".seriatim/journal.db").is_file());
}

#[test]
fn a_broken_configuration_keeps_nobody_from_reading_and_answering() {
    let (env, run) = waiting();
    env.file("seriatim.toml", "[agents.default\n");
    for command in
        [&["status"][..], &["inbox"], &["log"], &["show", &run], &["verify"], &["answer", "q1", "approve"]]
    {
        env.run(command).exits(0).says("the record can be read all the same");
    }
    env.run(&["resume", &run, "--no-input"]).exits(2).says("--config old");
    env.run(&["resume", &run, "--no-input", "--config", "old"]).exits(0);
    env.run(&["log", &run]).exits(0).says("kept the recorded configuration");
}

#[test]
fn a_repository_that_was_moved_finds_its_runs() {
    let (env, run) = waiting();
    let moved = env.root.with_file_name("moved");
    fs::rename(&env.root, &moved).unwrap();
    at(&env, &moved, &["status"]).exits(0).says(&run);
    at(&env, &moved, &["answer", "q1", "approve"]).exits(0);
    at(&env, &moved, &["resume", &run, "--no-input"]).exits(0);
    fs::rename(&moved, &env.root).unwrap();
}

#[test]
fn a_folder_of_a_repository_is_a_workspace_of_its_own_in_the_same_record() {
    let env = bakery();
    let sub = env.path("sub");
    fs::create_dir(&sub).unwrap();
    for file in ["process.yaml", "instance.yaml", "seriatim.toml", "agent.sh"] {
        fs::copy(env.path(file), sub.join(file)).unwrap();
    }
    at(&env, &sub, &["run", "process", "instance.yaml", "--no-input"]).exits(3);
    assert!(env.stored("journal.db").is_file() && !sub.join(".seriatim").exists());
    env.run(&["status"]).exits(0).says("Nothing has run in this workspace yet.");
    at(&env, &sub, &["answer", "q1", "approve"]).exits(0);
    let here = at(&env, &sub, &["status", "--json"]).document();
    at(&env, &sub, &["resume", here["runs"][0]["run"].as_str().unwrap(), "--no-input"]).exits(0);
    at(&env, &sub, &["verify"]).exits(0);
    assert!(git_status(&env).iter().all(|line| line[3..].starts_with("sub/")), "{:?}", git_status(&env));
}

#[test]
fn a_submodule_keeps_its_record_in_its_own_git_folder() {
    let env = bakery();
    let outer = env.root.with_file_name("outer");
    fs::create_dir(&outer).unwrap();
    let inner = env.root.display().to_string();
    for args in [
        vec!["init", "--quiet"],
        vec!["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &inner, "part"],
    ] {
        let mut command = Command::new("git");
        command.args(args);
        env.furnish(&mut command);
        assert!(command.current_dir(&outer).status().unwrap().success());
    }
    let part = outer.join("part");
    at(&env, &part, &["run", "process", "instance.yaml", "--no-input"]).exits(3);
    assert!(outer.join(".git/modules/part/seriatim/journal.db").is_file());
    assert!(!part.join(".seriatim").exists() && !outer.join(".git/seriatim").exists());
    at(&env, &part, &["status"]).exits(0).says("waiting");
}

#[test]
fn without_git_the_record_is_in_the_workspace_and_moves_when_git_comes() {
    let env = Env::new();
    env.bakery(&["Knead the dough", "P:Decide on the crust", "Bake it"]).agent_sh("finish kneaded");
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3);
    let run = env.newest();
    assert!(env.path(".seriatim/journal.db").is_file());
    init(&env);
    let moved = env.run(&["answer", "q1", "approve"]).exits(0);
    assert_eq!(
        moved.stderr,
        format!(
            "The record was moved from {0}/.seriatim to {0}/.git/seriatim, where `git clean` does not reach it.\n",
            env.root.display()
        )
    );
    assert!(!env.path(".seriatim").exists());
    env.run(&["resume", &run, "--no-input"]).exits(0).says_nothing_of("was moved");
    env.run(&["verify"]).exits(0);
}

#[test]
fn a_record_at_the_old_place_is_moved_whole_once_nobody_works_with_it() {
    let (env, run) = waiting();
    // As an earlier version left it: readable for all, with more than the journal in it.
    let old = env.path(".seriatim");
    fs::rename(env.store(), &old).unwrap();
    fs::create_dir_all(old.join("snapshots")).unwrap();
    fs::write(old.join("snapshots/kept"), "x").unwrap();
    fs::write(old.join("guard.json"), "{}\n").unwrap();
    let store = Store::open(&old, Redactor::new(&[], &[]).unwrap()).unwrap();
    let holder = Holder::register(&store, "another process", Utc(0)).unwrap();
    env.run(&["status"]).exits(0).says(&run).says("stays in").says("another process works with it there");
    assert!(old.is_dir() && !env.store().exists());
    drop(holder);
    store.close().unwrap();
    fs::set_permissions(&old, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    env.run(&["answer", "q1", "approve"]).exits(0).says("The record was moved from");
    assert!(!old.exists() && env.stored("snapshots/kept").is_file() && env.stored("guard.json").is_file());
    env.run(&["resume", &run, "--no-input"]).exits(0).says_nothing_of("was moved");
    env.run(&["verify"]).exits(0);
}

#[test]
fn two_records_are_never_mixed() {
    let (env, run) = waiting();
    let other = Env::new();
    other.bakery(&["P:Decide on the crust"]).run(&["run", "process", "instance.yaml", "--no-input"]).exits(3);
    fs::create_dir(env.path(".seriatim")).unwrap();
    fs::copy(other.path(".seriatim/journal.db"), env.path(".seriatim/journal.db")).unwrap();
    env.run(&["status"]).exits(0).says(&run).says("/.seriatim is not used");
    assert!(env.path(".seriatim/journal.db").is_file());
}

/// A folder in memory, which is another file system than that of the tests as a rule.
fn other_disk(env: &Env) -> Option<tempfile::TempDir> {
    use std::os::unix::fs::MetadataExt;
    let device = |path: &Path| fs::metadata(path).map(|found| found.dev()).ok();
    let memory = Path::new("/dev/shm");
    let other = device(memory).is_some_and(|memory| Some(memory) != device(&env.root));
    other.then(|| tempfile::tempdir_in(memory).ok()).flatten()
}

#[test]
fn a_move_to_another_disk_that_was_cut_off_loses_nothing() {
    let env = Env::new();
    let Some(disk) = other_disk(&env) else {
        println!("SKIPPED: there is no second file system here");
        return;
    };
    env.bakery(&["Knead the dough", "P:Decide on the crust", "Bake it"]).agent_sh("finish kneaded");
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3);
    let run = env.newest();
    let git = disk.path().join("git");
    env.git(&["init", "--quiet", &format!("--separate-git-dir={}", git.display())]);
    let (old, new, unfinished) = (env.path(".seriatim"), git.join("seriatim"), git.join("seriatim.moving"));
    // Killed while it was copied: the old place is whole, and what was copied is nobody's store.
    fs::create_dir(&unfinished).unwrap();
    fs::write(unfinished.join("journal.db"), "half a").unwrap();
    env.run(&["status"]).exits(0).says("The record was moved from").says(&run);
    assert!(!old.exists() && !unfinished.exists() && new.join("journal.db").is_file());
    // Killed before the old place was cleared: both are there, and they are the same store.
    fs::create_dir(&old).unwrap();
    fs::copy(new.join("journal.db"), old.join("journal.db")).unwrap();
    env.run(&["answer", "q1", "approve"]).exits(0).says_nothing_of("warning:");
    assert!(!old.exists());
    env.run(&["resume", &run, "--no-input"]).exits(0);
    env.run(&["verify"]).exits(0);
}

#[test]
fn the_documents_of_a_cycle_and_of_a_roadmap_are_all_that_git_sees() {
    let cycle = crate::cycle::Project::new();
    cycle.run(&[]).exits(3);
    let shown = git_status(&cycle.env);
    assert!(!shown.is_empty() && shown.iter().all(|line| !line.contains("seriatim/")), "{shown:?}");
    assert!(cycle.env.stored("journal.db").is_file() && !cycle.env.path(".seriatim").exists());
    let roadmap = crate::roadmap_support::Project::single();
    roadmap.all(&[]);
    let shown = git_status(&roadmap.env);
    assert!(shown.iter().all(|line| !line.contains("seriatim/")), "{shown:?}");
    assert!(roadmap.env.stored("journal.db").is_file() && !roadmap.env.path(".seriatim").exists());
    let tracked = roadmap.git(&["ls-files"]);
    assert!(!tracked.contains("seriatim/"), "{tracked}");
}
