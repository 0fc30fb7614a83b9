//! The closing pass after the last step, the push, and several processes at work on one project.

use serde_json::Value;

use crate::process::Fifo;
use crate::roadmap_support::Project;
use crate::roadmap_support::SHORT;
use crate::roadmap_support::Step;
use crate::roadmap_support::TEST;
use crate::roadmap_support::add;
use crate::roadmap_support::step;
use crate::roadmap_support::texts;

fn two_steps() -> Project {
    Project::of(SHORT, &[add(), step("01-02", "sub", &["01-01"])])
}

/// What the closing pass came to, and its part of that name.
fn closing(project: &Project, part: &str) -> Value {
    project.shown()["finalized"][part].clone()
}

/// DW-47: steps, review, finalize, in this order; DW-67: the larger refactoring comes once, after all steps.
#[test]
fn dw_67_the_architecture_is_refactored_once_after_all_steps_and_committed() {
    let project = two_steps();
    project.agent(
        r#"usual
        [ "$SERIATIM_PHASE" != REFACTOR_ARCHITECTURE ] || printf '"""Sums."""\n\nRESULT = 5\n' >src/add.py
        finish"#,
    );
    project.all(&[]).exits(0).says("2 of 2 steps are done.").says("The closing refactoring is committed.");
    assert_eq!(project.calls().last().map(String::as_str), Some("finalize REFACTOR_ARCHITECTURE"));
    assert_eq!(project.count("finalize", "REFACTOR_ARCHITECTURE"), 1);
    assert_eq!(project.subjects().last().map(String::as_str), Some("refactor(calc): L4-L6"));
    assert_eq!(project.git(&["show", "--name-only", "--format=", "HEAD"]), "src/add.py\n");
    let prompt = project.prompt("finalize", "REFACTOR_ARCHITECTURE", 1);
    assert!(
        prompt.contains("L4") && prompt.contains("L6") && prompt.contains("- src/add.py\n- src/sub.py"),
        "{prompt}"
    );
    // DW-91: the record of every step was looked at once more.
    assert_eq!(closing(&project, "review")["status"], "passed");
    project.assert_done(&["01-01", "01-02"]);
}

#[test]
fn dw_67_a_closing_refactoring_that_breaks_a_test_or_goes_too_far_is_refused_and_put_back() {
    for (script, words) in [
        ("echo 'RESULT = 6' >src/add.py", "The closing refactoring was refused and put back: "),
        ("echo more >>check.sh", "it changed files that no step changed: check.sh."),
    ] {
        let project = two_steps();
        project.agent(&format!(
            "usual; [ \"$SERIATIM_PHASE\" != REFACTOR_ARCHITECTURE ] || {{ {script}; }}; finish"
        ));
        project.all(&[]).exits(0).says(words);
        assert_eq!(closing(&project, "refactoring")["restored"], true);
        assert_eq!(project.env.read("src/add.py"), "RESULT = 5\n");
        assert_eq!(project.subjects().last().map(String::as_str), Some("feat(01-02): DONE"));
        project.assert_done(&["01-01", "01-02"]);
    }
}

/// The scope is what the steps have on record, each file once, tests not among them.
#[test]
fn dw_71_the_mutation_tool_is_called_with_the_files_of_all_steps() {
    let project = two_steps();
    project.with("mutate.sh", "echo \"scope: $*\"; exit 1\n");
    project.configure("[roadmap]\nmutation = [\"sh\", \"mutate.sh\", \"--paths\", \"{files}\"]\n");
    project.all(&[]).exits(0).says("The mutation tool found tests that notice too little.");
    let mutation = closing(&project, "mutation");
    assert_eq!(mutation["command"], "sh mutate.sh --paths src/add.py src/sub.py", "{mutation:#}");
    assert_eq!(mutation["exit"], 1);
    assert_eq!(texts(&closing(&project, "mutation_scope")), ["src/add.py", "src/sub.py"]);
}

#[test]
fn the_closing_pass_is_left_out_where_the_configuration_says_so() {
    let project = two_steps();
    project.configure("[roadmap]\nfinalize = false\n");
    project.all(&[]).exits(0);
    assert_eq!(project.count("finalize", "REFACTOR_ARCHITECTURE"), 0);
}

/// A project with a remote beside it, and a configuration that allows to push.
fn with_remote() -> Project {
    let project = Project::short();
    let remote = project.stage("remote.git").display().to_string();
    project.env.git(&["init", "--quiet", "--bare", "--initial-branch=main", &remote]);
    project.env.git(&["remote", "add", "origin", &remote]);
    project.env.git(&["push", "--quiet", "--set-upstream", "origin", "main"]);
    project.configure("[roadmap]\npush = true\n");
    project
}

/// DW-72 with K-100: pushed once, at the end, and only when a person says so.
#[test]
fn k_100_the_commits_are_pushed_at_the_end_when_a_person_approves() {
    let project = with_remote();
    let before = project.git(&["rev-parse", "origin/main"]);
    let asked = project.step("01-01").exits(3).asked();
    assert!(asked.contains("Shall the commits on main be pushed now?"), "{asked}");
    assert_eq!(project.git(&["ls-remote", "origin", "main"]).split('\t').next(), Some(before.trim()));
    project.resume(&[("Push calc", "approve", "")]).exits(0);
    let head = project.git(&["rev-parse", "HEAD"]);
    assert_eq!(project.git(&["ls-remote", "origin", "main"]).split('\t').next(), Some(head.trim()));
    assert_eq!(project.shown()["outcome"]["pushed"], true);
}

#[test]
fn k_100_nothing_is_pushed_when_a_person_says_not_now_or_nobody_configured_it() {
    let project = with_remote();
    let before = project.git(&["ls-remote", "origin", "main"]);
    project.step_answering("01-01", &[("Push calc", "cancel", "")]).exits(0);
    assert_eq!(project.git(&["ls-remote", "origin", "main"]), before);
    project.assert_done(&["01-01"]);
    let quiet = Project::short();
    quiet.step("01-01").exits(0);
    assert_eq!(quiet.shown()["outcome"]["pushed"], false);
}

/// DW-95: two processes have read the state file; each then writes what its step came to, and none overwrites the other.
#[test]
fn e_56_two_processes_on_two_steps_of_a_project_lose_no_write() {
    // Steps that change no file: two agents cannot tell their changes apart in one working tree.
    let research = |step: Step| step.with("step_type", "research").without("test_file");
    let steps = [research(add()), research(step("01-02", "sub", &[]))];
    let project = Project::of("tdd_phases: [PREPARE, RED, GREEN, COMMIT]\n", &steps);
    project.with("src/add.py", "RESULT = 5\n").with("tests/test_add.py", TEST);
    project.agent(
        r#"echo here >"$stage/began-$SERIATIM_STEP"; read word <"$stage/hold-$SERIATIM_STEP"; finish"#,
    );
    let pipe = |name: &str| Fifo::new(&project.stage(name));
    let mut began = ["01-01", "01-02"].map(|id| pipe(&format!("began-{id}")));
    let mut hold = ["01-01", "01-02"].map(|id| pipe(&format!("hold-{id}")));
    let (first, second) = (project.start_step("01-01"), project.start_step("01-02"));
    began[0].line(&first);
    began[1].line(&second);
    for id in ["01-01", "01-02"] {
        assert_eq!(project.phase(id, "PREPARE")["status"], "IN_PROGRESS");
    }
    hold[0].send("go on");
    first.output().exits(0);
    // The first one's commit moved the branch on which the second one's work stands: that is asked about.
    hold[1].send("go on");
    second.output().exits(3).says("Step 01-02: the branch moved");
    project.env.run(&["answer", "q1", "approve", "--by", "ada", "--resume"]).exits(0);
    for id in ["01-01", "01-02"] {
        let checkpoint = project.checkpoint(id);
        let closed = |phase: &Value| phase["outcome"] == "PASS" || phase["status"] == "SKIPPED";
        assert!(checkpoint["phases"].as_array().unwrap().iter().all(closed), "{checkpoint:#}");
        assert_eq!(checkpoint["state"]["status"], "DONE", "{checkpoint:#}");
    }
    assert_eq!(project.subjects(), ["feat(01-01): DONE", "feat(01-02): DONE"]);
    project.assert_done(&["01-01", "01-02"]);
}

#[test]
fn the_same_step_is_not_carried_out_twice_at_once() {
    let project = two_steps();
    project.agent(
        r#"usual
        [ "$SERIATIM_PHASE $number" != "RED 1" ] || { echo $$ >.git/began; read word <.git/hold; }
        finish"#,
    );
    let (mut began, mut hold) = (project.env.fifo(".git/began"), project.env.fifo(".git/hold"));
    let first = project.start_step("01-01");
    began.line(&first);
    project.step("01-01").exits(4);
    project.all(&[]).exits(4).says("this work is under way already");
    hold.send("go on");
    first.output().exits(0);
    assert_eq!(project.count("01-01", "RED"), 1);
    project.assert_done(&["01-01"]);
}
