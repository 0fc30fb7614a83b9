//! Checkpoints that are taken back: the commit goes, the files stay, and the work is done again from there.

use serde_json::json;

use crate::roadmap_support::Project;
use crate::roadmap_support::SHORT;
use crate::roadmap_support::STATUS;
use crate::roadmap_support::add;
use crate::support::Output;

/// A step that is done, and its three commits.
fn done() -> Project {
    let project = Project::new();
    project.step("01-01").exits(0);
    project
}

/// Takes the newest checkpoint back.
#[track_caller]
fn roll_back(project: &Project, args: &[&str]) -> Output {
    project.env.run(&[&["roadmap", "rollback", "calc", "--yes"], args].concat())
}

/// How the first step stands, and its open phase.
#[track_caller]
fn standing(project: &Project) -> (String, String) {
    let (document, _) = project.env.json(&["roadmap", "show", "calc"]);
    let text = |key: &str| document["steps"][0][key].as_str().unwrap_or("-").to_owned();
    (text("status"), text("phase"))
}

fn at(status: &str, phase: &str) -> (String, String) {
    (status.to_owned(), phase.to_owned())
}

// DW-48, DW-72, DW-73, DW-77: out of DONE by an explicit word alone, and with the history kept.
#[test]
fn dw_74_a_checkpoint_is_taken_back_and_the_work_is_done_again_from_there() {
    let project = done();
    let env = &project.env;
    let commits = Project::commits_of("01-01");
    assert_eq!(project.subjects(), commits);
    // Nobody can be asked here; what would be done is shown, and nothing is.
    let asked = env.run(&["roadmap", "rollback", "calc"]).exits(2).says("add --yes");
    asked.says("`feat(01-01): DONE`").says("open again: REFACTOR_CONTINUOUS, COMMIT");
    let (planned, exit) = env.json(&["roadmap", "rollback", "calc", "01-01", "--dry-run"]);
    assert_eq!((exit, &planned["how"], &planned["done"]), (Some(0), &json!("reset"), &json!(false)));
    assert_eq!(project.subjects(), commits);

    let files = env.read("src/add.py");
    roll_back(&project, &[]).exits(0).says("`feat(01-01): DONE` is taken back");
    assert_eq!(project.subjects(), commits[..2]);
    assert_eq!(standing(&project), at("IN_PROGRESS", "REFACTOR_CONTINUOUS"));
    assert_eq!(env.read("src/add.py"), files, "files stay as they are");
    assert_eq!(project.status()["completed_steps"], json!([]));
    let pending = project.phase("01-01", "COMMIT");
    assert_eq!(pending["status"], "SKIPPED");
    assert!(
        pending["blocked_by"].as_str().unwrap().starts_with("CHECKPOINT_PENDING: tester took"),
        "{pending}"
    );
    assert_eq!(pending["history"][0]["outcome"], "PASS");
    let checkpoint = project.checkpoint("01-01");
    let last = checkpoint["state_history"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&last["reason"], &checkpoint["state"]["status"]),
        (&json!("rollback"), &json!("IN_PROGRESS"))
    );
    assert_eq!(checkpoint["execution_result"]["success"], false);
    env.run(&["check", STATUS]).exits(0);

    roll_back(&project, &["01-01"]).exits(0).says("`review(01-01)`");
    roll_back(&project, &["01-01"]).exits(0).says("open again: GREEN");
    assert_eq!((project.subjects(), standing(&project)), (vec![], at("IN_PROGRESS", "GREEN")));
    roll_back(&project, &[]).exits(2).says("no checkpoint among the last commits");

    project.step("01-01").exits(0);
    assert_eq!(project.subjects(), commits);
    project.assert_done_beside(&["01-01"]);
    assert_eq!(project.git(&["status", "--porcelain", "--", "docs", "src", "tests"]), "");
    let calls = |phase: &str| project.count("01-01", phase);
    assert_eq!(
        (calls("RED_UNIT"), calls("GREEN"), calls("REVIEW")),
        (1, 2, 2),
        "what was red is not done again"
    );
}

// K-37: what others may have is undone by a further commit, for all to see.
#[test]
fn k_37_a_checkpoint_that_was_pushed_is_undone_by_a_further_commit() {
    let project = done();
    let env = &project.env;
    project.git(&["init", "--quiet", "--bare", "../home/remote.git"]);
    project.git(&["remote", "add", "origin", "../home/remote.git"]);
    project.git(&["push", "--quiet", "origin", "main"]);
    let before = env.read(STATUS);
    let refused = roll_back(&project, &[]).exits(1);
    refused.says("is on a remote already").says("--revert makes a commit that undoes it");
    assert_eq!(env.read(STATUS), before);
    let (done, exit) = env.json(&["roadmap", "rollback", "calc", "--revert", "--yes"]);
    assert_eq!((exit, &done["how"], &done["done"]), (Some(0), &json!("revert"), &json!(true)));
    assert!(done["revert_commit"].is_string(), "{done}");
    assert_eq!(project.subjects().last().unwrap(), "revert(01-01): feat(01-01): DONE");
    assert_eq!(env.read("src/add.py"), "RESULT = 5\n");
    assert_eq!(standing(&project), at("IN_PROGRESS", "REFACTOR_CONTINUOUS"));
    // With the files of GREEN go its tests, so that they have to be red once more.
    roll_back(&project, &["--revert"]).exits(0).says("`review(01-01)`");
    roll_back(&project, &["--revert"]).exits(0).says("PREPARE, RED_ACCEPTANCE");
    assert!(!env.path("tests/test_add.py").exists());
    assert_eq!(project.git(&["status", "--porcelain", "--", "docs", "src", "tests"]), "");
    project.step("01-01").exits(0);
    assert_eq!(project.subjects()[6..], Project::commits_of("01-01"));
    project.assert_done_beside(&["01-01"]);
    assert_eq!(project.git(&["status", "--porcelain", "--", "docs", "src", "tests"]), "");
}

#[test]
fn dw_74_commits_of_others_on_top_and_unfinished_work_are_left_alone() {
    let project = done();
    let env = &project.env;
    project.with("notes.txt", "mine\n");
    let before = env.read(STATUS);
    roll_back(&project, &[]).exits(1).says("`notes.txt`").says("came after it");
    roll_back(&project, &["01-02"]).exits(2).says("step 01-02 has no checkpoint");
    roll_back(&project, &["--from", "LUNCH", "--revert"]).exits(2).says("has no phase `LUNCH`");
    let late = roll_back(&project, &["--from", "COMMIT", "--revert"]).exits(2);
    late.says("opens REFACTOR_CONTINUOUS and what follows");
    assert_eq!((env.read(STATUS), project.subjects()), (before, Project::commits_of("01-01")));
    env.run(&["run", "step", "@software-crafter", "calc", "01-02", "--attach", "--no-input"]).exits(3);
    roll_back(&project, &[]).exits(4).says("this work is unfinished");
    env.run(&["cancel", &env.newest()]).exits(0);
    roll_back(&project, &["01-01", "--revert"]).exits(0);
    assert_eq!((env.read("notes.txt").as_str(), standing(&project).0.as_str()), ("mine\n", "IN_PROGRESS"));
}

#[test]
fn dw_74_what_was_cut_off_half_way_is_brought_to_its_end() {
    let project = Project::of(SHORT, &[add()]);
    let env = &project.env;
    project.step("01-01").exits(0);
    let lock = ".git/index.lock";
    env.file(lock, "");
    roll_back(&project, &[]).exits(1).says("was not undone").says("run the same command again");
    assert_eq!(project.subjects().len(), 2);
    std::fs::remove_file(env.path(lock)).unwrap();
    // What the user has staged of other files stays staged.
    env.file("mine.txt", "staged\n");
    project.git(&["add", "mine.txt"]);
    env.file("mine.txt", "staged, and more\n");
    roll_back(&project, &[]).exits(0).says("no phase has to be opened again");
    assert_eq!(project.subjects(), ["feat(01-01): GREEN"]);
    assert_eq!(project.git(&["show", ":mine.txt"]), "staged\n");
    assert_eq!(project.phase("01-01", "COMMIT")["history"].as_array().map(Vec::len), Some(1));
    project.step("01-01").exits(0);
    assert_eq!(project.git(&["show", ":mine.txt"]), "staged\n");
    project.assert_done_beside(&["01-01"]);
}
