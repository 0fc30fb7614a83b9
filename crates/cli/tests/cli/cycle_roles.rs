//! What each role is checked for before and after its turn, and what follows when something goes wrong.

use crate::cycle::Project;
use crate::cycle::blocks;

const FAIL: &str = "FAIL\", \"blocker\": {\"class\": \"adjustable\", \"explanation\": ";

/// An Actor that says once why it cannot go on, and then does the work.
fn failing_once(reason: &str) -> Project {
    let fail = format!("say '{{\"result\": \"{FAIL}\"{reason}\"}}}}'");
    Project::new()
        .actor(&format!("case $n in 1) {fail} ;; *) echo 'echo good morning' >greet.sh; done_well ;; esac"))
}

// CY-03, CY-28, CY-39: no plan before the questions are answered, no Actor before the plan.
#[test]
fn cy_03_cy_39_the_actor_begins_only_once_the_questions_are_answered_and_a_plan_stands() {
    let project = Project::new().planner(
        r#"case $n in 1|2) say "{\"kind\": \"questions\", \"questions\": [\"Question $n?\"]}" ;; *) step ;; esac"#,
    );
    project.run(&[]).exits(3).says("Question 1?");
    assert_eq!(project.calls("actor"), 0);
    assert_eq!(blocks(&project.document()), ["Human INIT > Planner", "Planner PLAN_CREATED > Human"]);
    project.resume(&[("Before the plan", "provide_input", "One.")]).exits(3).says("Question 2?");
    assert_eq!(project.calls("actor"), 0);
    project.resume(&[("Before the plan", "provide_input", "Two.")]).exits(3).says("Approval");
    assert_eq!(project.calls("actor"), 1);
    let brief = project.prompt("planner", 3);
    assert!(brief.contains("One.") && brief.contains("Two."), "{brief}");
    assert!(brief.contains("## Goal\nMake greet.sh say good morning"), "{brief}");
}

// CY-04, CY-05, CY-06, CY-50, CY-51: the Judge sees the plan's criteria, the change and what was run.
#[test]
fn cy_04_cy_50_cy_51_the_judge_has_criteria_change_and_evidence_before_it_speaks() {
    let project = Project::new();
    project.run(&[]).exits(3).says("Approval");
    let brief = project.prompt("judge", 1);
    for words in [
        "Done when:\n- greet.sh says good morning",
        "+echo good morning",
        "- Existing Tests: good 1 passed",
        "- Scope: good 2 lines in 1 file",
        "- Planned changes: good all planned files were changed",
    ] {
        assert!(brief.contains(words), "{words}: {brief}");
    }
    let found = blocks(&project.document());
    assert_eq!(found[2..], ["Actor SUCCESS > Judge", "Judge PASS > Human"]);
}

// CY-52, CY-60: a check that is missing is noted, one that is there is run.
#[test]
fn cy_52_cy_60_what_cannot_be_checked_is_noted_and_the_linter_is_run() {
    let project = Project::new().gate("lint", "echo 4 files are tidy");
    project
        .run(&[])
        .exits(3)
        .says("Linter/Formatter: 4 files are tidy")
        .says("Security Scans: no such check is configured");
    let document = project.document();
    assert!(document.contains("| Security Scans | not run | no such check is configured |"), "{document}");
    assert!(document.contains("| Linter/Formatter | good | 4 files are tidy |"), "{document}");
}

// CY-54, CY-61, CY-64: what the scanner says is in the document, and holds the commit.
#[test]
fn cy_54_cy_61_a_finding_of_the_scanner_is_logged_and_insufficient() {
    let project = Project::new().gate("security", "echo 'CVE-2026-0001 in greet.sh'; exit 1");
    project.run(&[]).exits(3).says("Paused");
    let document = project.document();
    assert!(
        document.contains("| Security Scans | bad | it failed with exit code 1 CVE-2026-0001 in greet.sh |"),
        "{document}"
    );
    assert_eq!(blocks(&document)[3], "Judge INSUFFICIENT > Planner");
    assert_eq!(project.commits(), ["More", "Begin"]);
}

// CY-61: a permission check that goes is a finding, whatever the Judge says.
#[test]
fn cy_61_a_removed_permission_check_is_insufficient() {
    let project = Project::new()
        .with("app.py", "def show(user):\n    require_permission(user, 'read')\n    return 1\n")
        .actor("printf 'def show(user):\\n    return 1\\n' >app.py; echo 'echo good morning' >greet.sh; done_well");
    project.run(&[]).exits(3).says("Paused");
    let told = project.prompt("planner", 2);
    assert!(told.contains("Authorization: app.py:2 The check `require_permission` was removed."), "{told}");
}

// CY-43: a step without any change is not sufficient, and what was left out is named.
#[test]
fn cy_43_what_was_planned_and_not_attempted_is_found() {
    let nothing = Project::new().with("greet.sh", "echo good morning\n").actor("done_well");
    nothing.run(&[]).exits(3).says("Paused");
    assert!(nothing.prompt("planner", 2).contains("Planned changes: no file was changed"));
    let other =
        Project::new().with("greet.sh", "echo good morning\n").actor("echo note >other.txt; done_well");
    other.run(&[]).exits(3).says("Planned changes: planned, but not changed: greet.sh");
}

// CY-38, CY-55, CY-62, CY-65, CY-72: beyond the limits the limit is named, the diff is kept, a smaller step follows.
#[test]
fn cy_38_cy_55_cy_65_cy_72_scope_creep_leads_to_a_narrower_step() {
    let project = Project::new().actor(
        "echo 'echo good morning' >greet.sh; case $n in 1) lines a.txt 100; lines b.txt 60 ;; esac; done_well",
    );
    project.run(&[]).exits(3).says("Approval");
    let told = project.prompt("planner", 2);
    assert!(told.contains("162 lines in 3 files were changed; the limit is 150 lines or 2 files."), "{told}");
    let document = project.document();
    assert_eq!(
        blocks(&document)[2..4],
        ["Actor FAIL > Planner", "Planner PLAN_UPDATED > Actor"],
        "{document}"
    );
    assert!(document.contains("+line 60"), "the partial result stays on record: {document}");
}

// CY-45, CY-48, CY-49, CY-69: what stood in the Actor's way goes to the Planner in its own words.
#[test]
fn cy_48_cy_49_cy_69_the_reasons_of_an_actor_reach_the_planner() {
    for reason in [
        "greet.sh could not be written: permission denied",
        "the instructions are unclear: which greeting?",
        "src/missing.sh does not exist",
    ] {
        let project = failing_once(reason);
        project.run(&[]).exits(3).says("Approval");
        assert!(project.prompt("planner", 2).contains(reason), "{reason}");
        let document = project.document();
        assert!(document.contains(reason), "{document}");
        assert_eq!(blocks(&document)[2], "Actor FAIL > Planner");
    }
}

// CY-70, K-114: a report that cannot be read is corrected twice; then a person decides.
#[test]
fn cy_70_an_unreadable_judge_is_logged_and_a_person_decides() {
    let project = Project::new().judge("echo 'PASS!' >\"$SERIATIM_REPORT\"");
    project.run(&[]).exits(3).says("Not checked");
    assert_eq!(project.calls("judge"), 3);
    assert_eq!(project.facts("attempt_failed").len(), 3);
}

// CY-68: a suite that crashed instead of failing is tried with the subset that the project names.
#[test]
fn cy_68_a_crashed_suite_is_tried_again_with_a_subset() {
    let config = "[agents.default]\nkind = \"command\"\nargv = [\"sh\", \".git/desk/agent.sh\"]\nenv = [\"PATH\"]\n\n\
                  [gates.tests]\ncommand = [\"sh\", \"-c\", \"kill -SEGV $$\"]\n\
                  subset = [\"sh\", \"-c\", \"echo 1 passed: $*\", \"sh\", \"{files}\"]\n";
    let project = Project::new().with("seriatim.toml", config);
    project.run(&[]).exits(3).says(
        "the whole suite crashed (it was ended by a signal); a subset of it was run instead: 1 passed: greet.sh",
    );
    // Without a subset the whole is run once more, before the work and after it; what crashes twice is unknown.
    let project = Project::new().with("check.sh", "echo again >>.git/tried; kill -SEGV $$\n");
    project.run(&[]).exits(3).says("Not checked");
    assert_eq!(project.env.read(".git/tried").lines().count(), 2 * 2);
}

// CY-18, E-34: the engine is killed while the Actor works; no section is lost, and the counters are as they were.
#[test]
fn cy_18_e_34_kill_9_in_mid_cycle_loses_no_section() {
    let project = Project::new()
        .actor("case $n in 2) echo $$ >.git/began; read word <.git/hold ;; esac; echo \"echo good morning $n\" >greet.sh; done_well")
        .judge(r#"case $n in 1) say '{"result": "INSUFFICIENT", "diagnostics": "too curt"}' ;; *) pass ;; esac"#);
    let (mut began, _hold) = (project.env.fifo(".git/began"), project.env.fifo(".git/hold"));
    let engine = project.env.start(&["run", "cycle", "--goal", crate::cycle::GOAL, "--no-input"]);
    let agent = began.process(&engine);
    let before = project.document();
    assert_eq!(blocks(&before).last().unwrap(), "Planner PLAN_UPDATED > Actor");
    engine.kill();
    agent.ends();
    project.env.run(&["run", "cycle", "--no-input"]).exits(3).says("Approval");
    let after = project.document();
    assert!(after.starts_with(&before), "{before}\n---\n{after}");
    assert_eq!((project.calls("actor"), project.calls("judge")), (3, 2));
    assert_eq!(project.facts("document_tampered"), Vec::<serde_json::Value>::new());
}

// CY-19: nothing is in the archive before the approval.
#[test]
fn cy_19_the_archive_is_written_after_the_approval() {
    let project = Project::new();
    project.run(&[]).exits(3).says("Approval");
    assert!(!project.env.path("docs/context/archive").exists());
    project.resume(&[("Approval", "commit", "")]).exits(0);
    assert_eq!(project.archive(), ["cycle-001.md"]);
}

// CY-24, K-98: a line of the form, on record either way, and never a question of its own.
#[test]
fn cy_24_whether_earlier_cycles_were_looked_at_is_on_record() {
    let earlier = "docs/context/archive/2020-01-01_cycle-001.md";
    let silent = Project::new().with(earlier, "kept\n");
    silent.run(&[]).exits(3).says("Approval");
    assert!(silent.document().contains("Earlier cycles were looked at: not said"));
    let asked = Project::new().with(earlier, "kept\n");
    asked
        .run_for("do it", &[])
        .exits(3)
        .says("Archives reviewed: yes, when you looked at the 1 earlier ones");
    let goal = format!("{}\nArchives reviewed: yes", crate::cycle::GOAL);
    asked.resume(&[("Goal", "provide_input", &goal)]).exits(3).says("Approval");
    assert!(asked.document().contains("Earlier cycles were looked at: yes"));
}

// E-39, CY-12, CY-15: a link cannot bring a planning document to the Judge under another name.
#[test]
fn e_39_a_document_behind_a_link_is_refused() {
    let project = Project::new()
        .with("docs/agent_docs/DECISIONS.md", "plan of plans\n")
        .with("docs/agent_docs/GOALS.md", "goal of goals\n");
    std::os::unix::fs::symlink("DECISIONS.md", project.env.path("docs/agent_docs/TESTING.md")).unwrap();
    let goal = format!("{}\nContext docs: GOALS, TESTING", crate::cycle::GOAL);
    project.run_for(&goal, &[]).exits(3).says("Approval");
    assert!(project.prompt("planner", 1).contains("goal of goals"));
    assert!(!project.prompt("judge", 1).contains("plan of plans"));
    let said = "`docs/agent_docs/TESTING.md` does not exist, or is a link to something else";
    assert!(project.document().contains(said), "{}", project.document());
}

// CY-83, CY-85: once in a stretch, on `status`, and told to the command of the project.
#[test]
fn cy_83_cy_85_alerts_are_on_record_on_status_and_told_to_a_command() {
    let project = Project::new().judge(r#"say '{"result": "INSUFFICIENT", "diagnostics": "too curt"}'"#);
    let config = project.env.read("seriatim.toml");
    let alert = "[cycle]\nalert = [\"sh\", \"-c\", 'echo \"$1\" >>.git/alerts', \"sh\"]\n";
    let project = project.with("seriatim.toml", &format!("{config}\n{alert}"));
    project.run(&[]).exits(3).says("Paused").says("alert: Stuck Cycles:");
    let told = project.env.read(".git/alerts");
    assert_eq!(told, "Stuck Cycles\n5-Loop Pause\n");
    project
        .env
        .run(&["status"])
        .exits(0)
        .says("Stuck Cycles: Planner, Actor and Judge have gone round three times");
    let (status, _) = project.env.json(&["status"]);
    assert_eq!(status["runs"][0]["alerts"].as_array().unwrap().len(), 2, "{status}");
}

// CY-95: a stop is a stage of its own with its block.
#[test]
fn cy_95_a_stop_ends_the_document_with_a_block() {
    let project = Project::new();
    project.run(&[("Approval", "stop", "")]).exits(1);
    let document = project.archived("_incomplete.md");
    assert_eq!(blocks(&document).last().unwrap(), "Human INIT > Human");
    let waiting = Project::new();
    waiting.run(&[]).exits(3);
    waiting.env.run(&["cancel", &waiting.env.newest()]).exits(0);
    let document = waiting.archived("_incomplete.md");
    assert_eq!(blocks(&document).last().unwrap(), "Human INIT > Human");
    assert!(document.contains("## 5. Human: Stopped"), "{document}");
}

// CY-47, E-38: a forbidden command early in a long output is found, too.
#[test]
fn cy_47_a_forbidden_command_is_found_anywhere_in_the_output() {
    let project = Project::new()
        .actor("echo '+ rm -rf build'; lines .git/noise 5000; cat .git/noise; echo 'echo good morning' >greet.sh; done_well");
    project.run(&[]).exits(3).says("A command was used that is forbidden (rm -rf): + rm -rf build");
}

// CY-77: what a paused cycle left uncommitted is part of what is judged and committed later.
#[test]
fn cy_77_work_of_a_paused_cycle_does_not_slip_through() {
    let project = Project::new()
        .actor(
            "case $n in 1) echo left >left.txt ;; esac; echo \"echo good morning $n\" >greet.sh; done_well",
        )
        .judge(
            r#"case $n in 6) pass ;; *) say '{"result": "INSUFFICIENT", "diagnostics": "too curt"}' ;; esac"#,
        );
    let goal = "Let greet.sh wish a good morning to all who come by";
    project.run(&[("Paused", "new_goal", goal)]).exits(3).says("+left");
    project.resume(&[("Approval", "commit", "")]).exits(0);
    assert_eq!(project.git_says(&["show", "--name-only", "--format="]), "greet.sh\nleft.txt\n");
}
