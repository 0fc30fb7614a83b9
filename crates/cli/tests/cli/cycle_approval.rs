//! The verdict rests on what was run, and nothing is committed but what a person approved.

use crate::cycle::Project;
use crate::cycle::blocks;

/// A Judge that always says PASS does not help: the reason reaches the Planner.
#[track_caller]
fn is_insufficient(project: &Project, reason: &str) {
    project.run(&[]).exits(3).says("Paused");
    assert_eq!(project.calls("judge"), 5);
    let told = project.prompt("planner", 2);
    assert!(told.contains(reason), "{told}");
    assert_eq!(blocks(&project.document())[3], "Judge INSUFFICIENT > Planner");
    assert_eq!(project.commits().last().unwrap(), "Begin");
    assert!(!project.commits().contains(&"Greet politely".to_owned()));
}

#[test]
fn e_35_cy_63_pass_against_a_red_test_is_insufficient() {
    is_insufficient(
        &Project::new().actor("echo \"echo $n\" >greet.sh; done_well"),
        "1 failed: no good morning",
    );
}

#[test]
fn cy_73_pass_against_a_red_linter_is_insufficient_and_the_green_tests_are_named() {
    let project = Project::new().gate("lint", "echo greet.sh:1 is not quoted; exit 1");
    is_insufficient(&project, "greet.sh:1 is not quoted");
    assert!(
        project.prompt("planner", 2).contains(
            "Green: Existing Tests, Planned changes, Credentials, Authorization, Scope, Test files."
        ),
        "{}",
        project.prompt("planner", 2)
    );
}

#[test]
fn cy_64_pass_against_a_credential_is_insufficient_and_the_secret_is_nowhere() {
    let secret = ["ghp_", "x7Kq2mPz9LwR4tVbN8sYc3HdJ6fGa1Qe5UoT"].concat();
    let project = Project::new().actor(&format!("echo 'echo good morning # {secret}' >greet.sh; done_well"));
    is_insufficient(&project, "greet.sh:1 holds what looks like a secret (github-token)");
    assert!(!project.document().contains(&secret));
    assert!(!project.prompt("judge", 1).contains(&secret));
}

// A credential that one try brought in is still found after the next, and gone when it is taken away.
#[test]
fn cy_64_a_credential_that_was_taken_away_again_is_no_reason_any_more() {
    let project = Project::new().actor(
        "case $n in 1) printf 'echo good morning\\npassword = \"vK8#qLz2xWm9Tr4p\"\\n' >greet.sh ;; \
         2) echo 'other' >other.txt ;; *) echo 'echo good morning' >greet.sh ;; esac; done_well",
    );
    project.run(&[("Approval", "commit", "")]).exits(0);
    assert_eq!(project.calls("judge"), 3);
    assert!(project.prompt("planner", 3).contains("greet.sh:2 holds what looks like a secret"));
}

#[test]
fn cy_64_a_credential_that_a_comment_lets_pass_is_shown_at_the_approval() {
    let line = "password = \"vK8#qLz2xWm9Tr4p\" # seriatim:allow-secret";
    let project =
        Project::new().actor(&format!("printf 'echo good morning\\n{line}\\n' >greet.sh; done_well"));
    let asked = project.run(&[]).exits(3).says("Approval");
    asked
        .says("greet.sh:2 holds what looks like a secret")
        .says("a comment on the line says that it is none");
}

// K-114
#[test]
fn k_114_without_a_usable_opinion_a_person_decides_and_red_stays_red() {
    let green = Project::new().judge("echo nonsense >\"$SERIATIM_REPORT\"");
    green.run(&[]).exits(3).says("Not checked");
    assert_eq!(green.calls("judge"), 3);
    let red = Project::new()
        .planner(
            "case $n in 1) step ;; *) say '{\"kind\": \"questions\", \"questions\": [\"How?\"]}' ;; esac",
        )
        .actor("echo other >greet.sh; done_well")
        .judge("echo nonsense >\"$SERIATIM_REPORT\"");
    red.run(&[]).exits(3).says("How?");
    assert!(red.prompt("planner", 2).contains("1 failed: no good morning"));
}

// CY-92: what a hook refuses goes back to the Planner, and what it said with it.
#[test]
fn a_commit_that_a_hook_refuses_is_no_success() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new();
    project.env.file(".git/hooks/pre-commit", "#!/bin/sh\necho no ticket named >&2\nexit 1\n");
    let hook = project.env.path(".git/hooks/pre-commit");
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    project.run(&[("Approval", "commit", "")]).exits(3).says("Paused");
    assert_eq!(project.commits(), ["Begin"]);
    assert!(project.prompt("planner", 2).contains("no ticket named"));
    assert_eq!(project.facts("approval").len(), 0);
}

#[test]
fn a_judge_that_changes_files_is_not_believed() {
    let project = Project::new().judge("case $n in 1) echo '# better' >>greet.sh ;; esac; pass");
    project.run(&[("Approval", "commit", "")]).exits(0);
    assert_eq!(project.calls("judge"), 2);
    assert!(project.prompt("planner", 2).contains("Files changed while the Judge looked at them: greet.sh."));
}

#[test]
fn what_a_check_leaves_behind_is_neither_measured_nor_committed() {
    let project = Project::new().gate("lint", "date +%N >report.txt").judge(
        "case $n in 1) say '{\"result\": \"INSUFFICIENT\", \"diagnostics\": \"again\"}' ;; *) pass ;; esac",
    );
    project.run(&[("Approval", "commit", "")]).exits(0);
    assert_eq!(project.git_says(&["show", "--name-only", "--format="]).trim(), "greet.sh");
    assert!(project.env.path("report.txt").exists());
}

// E-43, CY-80
#[test]
fn e_43_an_approval_is_void_when_files_changed_meanwhile_and_all_is_judged_again() {
    let project = Project::new();
    project.run(&[]).exits(3).says("Approval");
    project.env.file("greet.sh", "echo good morning, all\n");
    project.resume(&[("Approval", "commit", "")]).exits(3).says("Approval").says("+echo good morning, all");
    assert_eq!(project.calls("judge"), 2);
    assert_eq!(project.facts("approval_void").len(), 1);
    assert_eq!(project.commits(), ["Begin"]);
    let document = project.document();
    assert!(document.contains("so that the approval is void: greet.sh."), "{document}");
    project.resume(&[("Approval", "commit", "")]).exits(0);
    assert_eq!(project.git_says(&["show", "HEAD:greet.sh"]), "echo good morning, all\n");
}

// E-43: what was brought in meanwhile is looked at like everything else.
#[test]
fn e_43_a_change_after_the_verdict_cannot_bring_in_what_the_battery_refuses() {
    let project = Project::new();
    project.run(&[]).exits(3);
    project.env.file("greet.sh", "echo good morning\npassword = \"vK8#qLz2xWm9Tr4p\"\n");
    project.resume(&[("Approval", "commit", "")]).exits(3).says("Approval");
    assert_eq!(blocks(&project.document())[5], "Judge INSUFFICIENT > Planner");
    assert_eq!(project.commits(), ["Begin"]);
}

// CY-07, CY-75
#[test]
fn a_commit_is_pushed_where_there_is_a_remote() {
    let project = Project::new();
    project.env.git(&["init", "--quiet", "--bare", "--initial-branch=main", "../remote.git"]);
    project.env.git(&["remote", "add", "origin", "../remote.git"]);
    project.run(&[("Approval", "commit", "")]).exits(0).says("Committed and pushed as ");
    assert_eq!(
        project.git_says(&["--git-dir=../remote.git", "log", "-1", "--format=%s", "main"]),
        "Greet politely\n"
    );
}

// E-42
#[test]
fn e_42_a_push_that_fails_is_tried_again_under_the_same_approval() {
    let project = Project::new();
    project.env.git(&["remote", "add", "origin", "../remote.git"]);
    project.run(&[("Approval", "commit", "")]).exits(3).says("it was committed, but not pushed");
    assert_eq!(project.archive(), Vec::<String>::new());
    assert_eq!(project.facts("cycle_ended"), Vec::<serde_json::Value>::new());
    project.env.git(&["init", "--quiet", "--bare", "--initial-branch=main", "../remote.git"]);
    project.resume(&[("Not committed", "retry", "")]).exits(0).says("Committed and pushed as ");
    assert_eq!(project.commits(), ["Greet politely", "Begin"]);
    assert_eq!(project.facts("approval").len(), 1);
    assert_eq!(
        project.git_says(&["--git-dir=../remote.git", "log", "-1", "--format=%s", "main"]),
        "Greet politely\n"
    );
}

// CY-07
#[test]
fn merge_and_squash_act_on_the_branch_that_the_cycle_was_started_from() {
    let merged = Project::new();
    merged.run(&[("Approval", "merge", "")]).exits(0);
    assert_eq!(merged.git_says(&["rev-list", "--merges", "--count", "HEAD"]), "1\n");
    assert_eq!(merged.git_says(&["branch", "--show-current"]), "main\n");
    assert_eq!(merged.git_says(&["show", "HEAD:greet.sh"]), "echo good morning\n");
    let squashed = Project::new();
    squashed.run(&[("Approval", "squash", "")]).exits(0);
    assert_eq!(squashed.commits(), ["Greet politely", "Begin"]);
}

// CY-87 to CY-91
#[test]
fn cy_87_the_five_metrics_as_json_table_and_chart() {
    let project = Project::new().judge(
        "case $n in 1) say '{\"result\": \"INSUFFICIENT\", \"diagnostics\": \"again\"}' ;; *) pass ;; esac",
    );
    project.run(&[("Approval", "commit", "")]).exits(0);
    let (figures, exit) = project.env.json(&["metrics", "--svg", "chart.svg"]);
    assert_eq!(exit, Some(0));
    assert_eq!(figures["avg_iterations"], serde_json::json!({"value": 2, "goal": 3, "met": true}));
    assert_eq!(
        figures["pass_rate"],
        serde_json::json!({"value": 0.5, "goal": 0.7, "met": false, "by_people": 0})
    );
    assert_eq!(figures["pause_frequency"], serde_json::json!({"value": 0, "goal": 0.1, "met": true}));
    assert_eq!(figures["completion"]["value"], 1);
    assert_eq!(figures["completion"]["split"], serde_json::json!({"pass": 1, "incomplete": 0, "failed": 0}));
    assert!(figures["approval_latency_s"]["value"].is_number(), "{figures}");
    assert!(project.env.read("chart.svg").starts_with("<svg"));
    project.env.run(&["metrics"]).exits(0).says("Judge PASS rate").says("at least 70%").says("missed");
}

// CY-96
#[test]
fn cy_96_init_writes_the_companions_and_overwrites_nothing() {
    let project = Project::new().with("docs/agent_docs/AGENTS.md", "mine\n").with("AGENTS.md", "mine too\n");
    let (said, exit) = project.env.json(&["cycle", "init"]);
    assert_eq!(exit, Some(0));
    assert_eq!(said["kept"], serde_json::json!(["docs/agent_docs/AGENTS.md"]));
    assert_eq!(said["created"].as_array().unwrap().len(), 3);
    assert_eq!(project.env.read("docs/agent_docs/AGENTS.md"), "mine\n");
    assert_eq!(project.env.read("AGENTS.md"), "mine too\n");
    let (again, _) = project.env.json(&["cycle", "init"]);
    assert_eq!(again["created"], serde_json::json!([]));
    // What it writes about limits is what holds without it.
    let automation = project.env.read("docs/agent_docs/SETUP_AUTOMATION.yaml");
    let (read, findings) = seriatim_core::cycle::automation::Automation::parse(automation.as_bytes());
    assert_eq!(read, seriatim_core::cycle::automation::Automation::default());
    assert!(findings.is_empty(), "{findings:?}");
}
