//! A step that stops beside others: its work is kept, and it goes on at its phase, with what was merged meanwhile.

use crate::roadmap_support::Project;
use crate::roadmap_support::add;
use crate::roadmap_support::step;

/// Two steps that need nothing of one another.
fn pair() -> Project {
    Project::of("", &[add(), step("01-02", "sub", &[])])
}

/// Whether the agent of a call saw a file of the other step, which the agent of the tests notes.
const LOOKS: &str = r#"[ ! -f src/add.py ] || echo "$SERIATIM_STEP $SERIATIM_PHASE" >>"$stage/saw-add""#;

fn saw_add(project: &Project) -> Vec<String> {
    let saw = std::fs::read_to_string(project.stage("saw-add")).unwrap_or_default();
    saw.lines().filter(|line| line.starts_with("01-02")).map(str::to_owned).collect()
}

/// How often the agent was called for each phase of the second step up to GREEN.
fn calls(project: &Project) -> [usize; 4] {
    ["PREPARE", "RED_ACCEPTANCE", "RED_UNIT", "GREEN"].map(|phase| project.count("01-02", phase))
}

/// Both steps are done, each by commits of its own, and neither working trees nor branches are left.
#[track_caller]
fn assert_whole(project: &Project) {
    project.assert_done(&["01-01", "01-02"]);
    assert_eq!(project.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(project.git(&["branch", "--format=%(refname:short)"]), "main\n");
    assert_eq!(project.git(&["show", "HEAD:src/sub.py"]), "\"\"\"The function sub.\"\"\"\n\nRESULT = 5\n");
    assert_eq!(project.git(&["show", "HEAD:src/add.py"]), "\"\"\"The function add.\"\"\"\n\nRESULT = 5\n");
    let subjects = project.subjects();
    for of in ["01-01", "01-02"] {
        for subject in Project::commits_of(of) {
            assert_eq!(subjects.iter().filter(|known| **known == subject).count(), 1, "{subjects:?}");
        }
    }
    let files = project.status()["completed_steps"][1]["files_modified"].clone();
    assert_eq!(files["implementation"], serde_json::json!(["src/sub.py"]), "{files:#}");
}

/// The second step fails in GREEN, since its gate stays red; the first one is merged.
fn failed() -> Project {
    let project = pair();
    project
        .in_worlds()
        .agent(r#"usual; [ "$SERIATIM_STEP $SERIATIM_PHASE" != "01-02 GREEN" ] || write_code 4; finish"#);
    project.all(&["--parallel", "2"]).exits(1).says("1 of 2 steps are done, 1 failed.");
    assert_eq!(calls(&project), [1, 1, 1, 3]);
    assert_eq!(project.git(&["status", "--porcelain", "--", "src", "tests"]), "");
    project.agent(&format!("{LOOKS}; usual; finish"));
    project
}

#[test]
fn a_step_that_failed_beside_others_goes_on_at_its_phase_when_the_roadmap_is_run_again() {
    let project = failed();
    project.all(&["--parallel", "2"]).exits(0).says("2 of 2 steps are done");
    assert_eq!(calls(&project), [1, 1, 1, 4], "what was closed is not done again");
    // The step that was merged meanwhile is there.
    assert_eq!(saw_add(&project), ["01-02 GREEN", "01-02 REVIEW", "01-02 REFACTOR_CONTINUOUS"]);
    assert_whole(&project);
}

#[test]
fn a_step_that_failed_beside_others_goes_on_at_its_phase_when_it_is_run_alone() {
    let project = failed();
    project.step("01-02").exits(0).says("Step 01-02 (Function sub) is done");
    assert_eq!(calls(&project), [1, 1, 1, 4]);
    assert_eq!(saw_add(&project).len(), 3);
    assert_whole(&project);
}

#[test]
fn a_step_whose_agent_crashed_beside_others_goes_on_at_its_phase() {
    let project = pair();
    project.agent(r#"usual; [ "$SERIATIM_STEP $SERIATIM_PHASE" != "01-02 REVIEW" ] || exit 7; finish"#);
    project.all(&["--parallel", "2"]).exits(1).says("1 of 2 steps are done, 1 failed.");
    let crashed = project.count("01-02", "REVIEW");
    project.agent("usual; finish").all(&["--parallel", "2"]).exits(0);
    assert_eq!(calls(&project), [1, 1, 1, 1]);
    assert_eq!(project.count("01-02", "REVIEW"), crashed + 1);
    assert_whole(&project);
}

/// The engine dies, and nobody resumes that run: a person cancels it, and starts another one.
#[test]
fn a_step_that_was_cut_off_beside_others_goes_on_at_its_phase_after_the_run_was_cancelled() {
    let project = pair();
    project.agent(
        r#"usual
        if [ "$SERIATIM_STEP $SERIATIM_PHASE $number" = "01-02 GREEN 1" ]; then
            echo $$ >"$stage/began"; read word <"$stage/hold"
        fi
        finish"#,
    );
    let (began, hold) = (project.stage("began"), project.stage("hold"));
    let mut began = crate::process::Fifo::new(&began);
    let _hold = crate::process::Fifo::new(&hold);
    let engine = project.env.start(&["run", "roadmap", "calc", "--no-input", "-q", "--parallel", "2"]);
    let _agent = began.line(&engine);
    engine.kill();
    project.env.run(&["cancel", &project.env.newest()]).exits(0);
    project.all(&["--parallel", "2"]).exits(0).says("2 of 2 steps are done");
    assert_eq!(calls(&project), [1, 1, 1, 2]);
    assert_eq!(project.phase("01-02", "GREEN")["history"][0]["status"], "CRASHED");
    assert_whole(&project);
}

/// The same with the run that was cut off itself.
#[test]
fn a_step_that_was_cut_off_beside_others_goes_on_at_its_phase_when_the_run_is_resumed() {
    let project = pair();
    project.in_worlds().agent(
        r#"usual
        if [ "$SERIATIM_STEP $SERIATIM_PHASE $number" = "01-02 GREEN 1" ]; then
            echo $$ >"$stage/began"; read word <"$stage/hold"
        fi
        finish"#,
    );
    let (began, hold) = (project.stage("began"), project.stage("hold"));
    let mut began = crate::process::Fifo::new(&began);
    let _hold = crate::process::Fifo::new(&hold);
    let engine = project.env.start(&["run", "roadmap", "calc", "--no-input", "-q", "--parallel", "2"]);
    let _agent = began.line(&engine);
    engine.kill();
    project.resume(&[]).exits(0).says("2 of 2 steps are done");
    assert_eq!(calls(&project), [1, 1, 1, 2]);
    assert_whole(&project);
}

/// What nobody committed is gone with the working tree, so that its phases have to be done again; the branch is kept.
#[test]
fn a_step_whose_working_tree_is_gone_begins_anew() {
    let project = failed();
    let tree = project.env.stored("trees/calc-01-02");
    std::fs::remove_dir_all(tree).unwrap();
    project.all(&["--parallel", "2"]).exits(0);
    assert_eq!(calls(&project), [2, 2, 2, 4]);
    project.assert_done(&["01-01", "01-02"]);
}

/// The commit at the end of a step is refused after its files were merged: it goes on in the workspace, and what the user
/// has there is not taken for the step's.
#[test]
fn a_step_whose_last_commit_was_refused_goes_on_in_the_workspace_and_leaves_the_users_files_alone() {
    let project =
        Project::of("", &[add(), step("01-02", "sub", &[]).with("files_to_modify", "[\"src/notes.txt\"]")]);
    project.with("src/notes.txt", "one\n");
    project.env.file("src/notes.txt", "one\ntwo, by hand\n");
    let hook = ".git/hooks/commit-msg";
    project.env.file(hook, "#!/bin/sh\n! grep -q 'feat(01-02): DONE' \"$1\"\n");
    std::process::Command::new("chmod").arg("+x").arg(project.env.path(hook)).status().unwrap();
    project.all(&["--parallel", "2"]).exits(1).says("Step 01-02 is FAILED");
    assert_eq!(project.git(&["worktree", "list"]).lines().count(), 1);
    std::fs::remove_file(project.env.path(hook)).unwrap();
    project.all(&["--parallel", "2"]).exits(0);
    assert_eq!(calls(&project), [1, 1, 1, 1]);
    assert_eq!(project.git(&["status", "--porcelain"]), " M src/notes.txt\n");
    assert_eq!(project.git(&["show", "HEAD:src/notes.txt"]), "one\n");
    project.assert_done_beside(&["01-01", "01-02"]);
}
