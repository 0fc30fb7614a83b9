//! Whole cycles: from the goal to the commit, and the other ways in which they end.

use crate::cycle::Project;
use crate::cycle::blocks;

// CY-02 to CY-08, CY-26, CY-30, CY-44, CY-57, CY-63, CY-75, CY-81, CY-82, CY-92
#[test]
fn a_whole_cycle_with_a_question_a_red_battery_and_a_commit() {
    let project = Project::new()
        .planner(r#"case $n in 1) say '{"kind": "questions", "questions": ["To whom?"]}' ;; *) step ;; esac"#)
        .actor("case $n in 1) echo 'echo good mroning' >greet.sh ;; *) echo 'echo good morning' >greet.sh ;; esac; done_well");
    project
        .run(&[("Before the plan", "provide_input", "To all of them."), ("Approval", "commit", "")])
        .exits(0);

    assert_eq!(project.archive(), ["cycle-001.md"]);
    let document = project.archived("cycle-001.md");
    assert_eq!(
        blocks(&document),
        [
            "Human INIT > Planner",
            "Planner PLAN_CREATED > Human",
            "Human INIT > Planner",
            "Planner PLAN_UPDATED > Actor",
            "Actor SUCCESS > Judge",
            "Judge INSUFFICIENT > Planner",
            "Planner PLAN_UPDATED > Actor",
            "Actor SUCCESS > Judge",
            "Judge PASS > Human",
            "Human INIT > Judge",
            "Judge PASS > Human",
        ]
    );
    assert!(document.contains("-echo hello\n+echo good mroning"), "{document}");
    assert!(document.contains("Project=work | Agent=Human | Step=1"), "{document}");
    // The answer and then the diagnostics are in the next brief; the Actor has neither (CY-08, CY-14).
    assert!(project.prompt("planner", 2).contains("To all of them."));
    assert!(project.prompt("planner", 3).contains("1 failed: no good morning"));
    let told = project.env.read(".git/desk/actor.2.json");
    assert!(
        !told.contains("To all of them") && !told.contains("1 failed") && !told.contains("tests pass"),
        "{told}"
    );

    assert_eq!(project.commits(), ["Greet politely", "Begin"]);
    assert_eq!(
        project
            .git_says(&["show", "--name-only", "--format=%(trailers:key=Seriatim-Cycle,valueonly)"])
            .trim(),
        "001\n\n\ngreet.sh"
    );
    assert_eq!(project.document(), "");
    project.env.assert_tidy();
}

// CY-10, CY-76, CY-77, CY-93, K-61
#[test]
fn five_insufficient_pause_and_a_restart_by_instruction() {
    let project = Project::new().judge(
        r#"case $n in 6) pass ;; *) say '{"result": "INSUFFICIENT", "diagnostics": "too curt"}' ;; esac"#,
    );
    project.run(&[]).exits(3).says("Paused");
    assert_eq!((project.calls("actor"), project.calls("judge")), (5, 5));
    assert_eq!(project.archive(), ["cycle-001_incomplete.md"]);
    let kept = project.archived("_incomplete.md");
    assert_eq!(kept, project.document());
    assert_eq!(kept.matches("- too curt").count(), 5, "{kept}");
    assert_eq!(blocks(&kept).last().unwrap(), "Judge INSUFFICIENT > Human");
    let alerts = project.facts("alert");
    assert!(alerts.iter().any(|a| a["alert"] == "5-Loop Pause"), "{alerts:?}");
    assert!(alerts.iter().any(|a| a["alert"] == "Stuck Cycles"), "{alerts:?}");

    let ended = project.resume(&[("Paused", "guide", "Say it with a smile."), ("Approval", "commit", "")]);
    ended.exits(0);
    assert!(project.prompt("planner", 6).contains("Say it with a smile."));
    assert_eq!(project.archive(), ["cycle-001.md", "cycle-001_incomplete.md"]);
}

// CY-77, CY-79
#[test]
fn after_a_pause_a_new_goal_is_a_new_cycle() {
    let project = Project::new().actor("echo \"echo good morning $n\" >greet.sh; done_well").judge(
        r#"case $n in 6) pass ;; *) say '{"result": "INSUFFICIENT", "diagnostics": "too curt"}' ;; esac"#,
    );
    let goal = "Let greet.sh wish a good morning to all who come by";
    project.run(&[("Paused", "new_goal", goal), ("Approval", "commit", "")]).exits(0);
    assert_eq!(project.archive(), ["cycle-001_incomplete.md", "cycle-002.md"]);
    let document = project.archived("cycle-002.md");
    assert!(document.starts_with("# Cycle 002:") && document.contains(goal), "{document}");
    // What stood in the way is over; the finding is closed by name.
    assert!(document.contains("too curt (judge): closed by judge"), "{document}");
}

// E-33, K-60
#[test]
fn e_33_five_fails_of_the_actor_pause_although_the_judge_never_ran() {
    let project = Project::new()
        .actor(r#"say '{"result": "FAIL", "blocker": {"class": "adjustable", "explanation": "greet.sh is locked"}}'"#);
    project.run(&[]).exits(3).says("Paused");
    assert_eq!((project.calls("planner"), project.calls("actor"), project.calls("judge")), (5, 5, 0));
    assert!(project.prompt("planner", 5).contains("greet.sh is locked"));
    assert_eq!(project.archive(), ["cycle-001_incomplete.md"]);
    project.resume(&[("Paused", "stop", "")]).exits(1);
    assert_eq!(project.document(), "");
    assert_eq!(project.archive(), ["cycle-001_incomplete.md"]);
}

// E-32
#[test]
fn e_32_a_fail_of_the_actor_does_not_reset_the_count_of_insufficient() {
    let project = Project::new()
        .actor(r#"case $n in 3) say '{"result": "FAIL"}' ;; *) echo "echo $n" >greet.sh; done_well ;; esac"#);
    project.run(&[]).exits(3).says("Paused");
    assert_eq!((project.calls("actor"), project.calls("judge")), (6, 5));
}

// E-31
#[test]
fn e_31_a_pass_resets_the_count_of_insufficient() {
    let project = Project::new().judge(
        r#"case $n in 5) pass ;; *) say '{"result": "INSUFFICIENT", "diagnostics": "too curt"}' ;; esac"#,
    );
    project.run(&[("Approval", "changes", "Shorter.")]).exits(3).says("Paused");
    assert_eq!(project.calls("judge"), 10);
    assert!(project.prompt("planner", 6).contains("A person asks for changes: Shorter."));
}

// CY-78, CY-94, K-59
#[test]
fn cy_94_an_unrecoverable_blocker_ends_the_cycle_as_failed() {
    let project = Project::new()
        .actor(r#"say '{"result": "FAIL", "blocker": {"class": "unrecoverable", "explanation": "the disk is gone"}}'"#);
    project.run(&[]).exits(1).says("The cycle failed: the disk is gone.");
    assert_eq!(project.archive(), ["cycle-001_failed.md"]);
    let document = project.archived("_failed.md");
    assert!(document.contains("The Actor could not go on: the disk is gone"), "{document}");
    blocks(&document);
    assert_eq!(project.document(), "");
}

// CY-25, CY-27
#[test]
fn cy_25_a_vague_goal_is_sent_back_with_what_is_missing() {
    let project = Project::new();
    let asked = project.run_for("do the thing", &[]).exits(3);
    asked.says("is not specific enough yet").says("The goal has 3 words");
    assert_eq!(project.calls("planner"), 0);
    let goal = "Make greet.sh say good morning to all of our users\nDone when: the tests pass\nCurrent state: it says hello";
    project.resume(&[("Goal", "provide_input", goal)]).exits(3).says("Approval");
    let prompt = project.prompt("planner", 1);
    assert!(prompt.contains("Done when:\n- the tests pass"), "{prompt}");
    assert!(prompt.contains("What there is now: it says hello"), "{prompt}");
}

// CY-95
#[test]
fn cy_95_a_person_stops_at_the_approval() {
    let project = Project::new();
    project.run(&[("Approval", "stop", "")]).exits(1).says("stopped the cycle");
    assert_eq!(project.archive(), ["cycle-001_incomplete.md"]);
    assert_eq!(project.commits(), ["Begin"]);
    // Nothing of the work is undone.
    assert_eq!(project.env.read("greet.sh"), "echo good morning\n");
}

// CY-95
#[test]
fn cy_95_a_cycle_that_waits_can_be_cancelled_and_its_document_is_kept() {
    let project = Project::new();
    project.run(&[]).exits(3);
    project.env.run(&["cancel", &project.env.newest()]).exits(0);
    assert_eq!(project.archive(), ["cycle-001_incomplete.md"]);
    assert!(project.archived("_incomplete.md").contains("cancelled by a person"));
    assert_eq!(project.document(), "");
    assert_eq!(project.commits(), ["Begin"]);
}

// E-41, CY-23
#[test]
fn e_41_numbers_go_on_and_a_document_in_use_is_put_away_only_when_a_person_says_so() {
    let old = "# Cycle 007: work\n\n### SIGNAL BLOCK\n- Agent: Human\n- Result: INIT\n- Step Summary: Old goal\n- Next: Planner\n";
    let project = Project::new()
        .with("docs/context/archive/2020-01-01_cycle-006_failed.md", "kept\n")
        .with("docs/context/current_cycle.md", old);
    project.run(&[("A cycle is open", "cancel", "")]).exits(1);
    assert_eq!(project.document(), old);
    project.run(&[("A cycle is open", "approve", ""), ("Approval", "commit", "")]).exits(0);
    assert_eq!(project.archive(), ["cycle-006_failed.md", "cycle-007_incomplete.md", "cycle-008.md"]);
    assert_eq!(project.archived("006_failed.md"), "kept\n");
    assert_eq!(project.archived("007_incomplete.md"), old);
}

// E-34
#[test]
fn e_34_counters_outlive_the_process() {
    let project = Project::new()
        .planner(r#"case $n in 5) say '{"kind": "questions", "questions": ["Really?"]}' ;; *) step ;; esac"#)
        .judge(r#"say '{"result": "INSUFFICIENT", "diagnostics": "too curt"}'"#);
    project.run(&[]).exits(3).says("Really?");
    assert_eq!(project.calls("judge"), 4);
    project.resume(&[("Before the plan", "approve", "")]).exits(3).says("Paused");
    assert_eq!(project.calls("judge"), 5);
}
