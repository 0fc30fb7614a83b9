//! Git's own hooks ask the guard: open work is neither committed nor pushed (DS-30, DS-49, DS-59, DS-60).

use serde_json::Value;
use serde_json::json;

use crate::guard::AGENT;
use crate::guard::Guarded;
use crate::guard::STEP;
use crate::guard::THREE;
use crate::guard::holds;
use crate::guard::step;
use crate::phases::FOURTEEN;

fn commits(guarded: &Guarded) -> usize {
    guarded.git(&["rev-list", "--all", "--count"]).exits(0).stdout.trim().parse().unwrap()
}

/// A step at work, with something to commit.
fn open_work() -> Guarded {
    let guarded = Guarded::new().with_git_hooks().at_work();
    guarded.env.file("src/greet.sh", "echo good morning\n");
    guarded.git(&["add", "src"]).exits(0);
    guarded
}

// DS-30, DS-60.
#[test]
fn ds_30_ds_60_open_work_is_not_committed_by_whatever_way() {
    let guarded = open_work();
    guarded.phase(&["start", "01-01", "RED"]).exits(0);
    let before = commits(&guarded);
    for line in [
        "git commit -m x",
        "git -c user.name=Eve commit -m x",
        "bash -c 'git commit -m x'",
        "sh -c \"g=git; \\$g commit -m x\"",
        "printf 'git commit -am x' >c.sh; sh c.sh; r=$?; rm c.sh; exit $r",
        "git commit -m x src/greet.sh",
        "git commit -a -m x",
        "git stash -q && git stash pop -q && git commit -am x",
    ] {
        let said = guarded.sh(line);
        assert_ne!(said.exit, Some(0), "{line}: {}", said.snapshot());
        said.says("The commit is held by the guard")
            .says("Phase RED left in progress")
            .says("Phase GREEN not executed");
        assert_eq!(commits(&guarded), before, "{line}");
    }
    let line = guarded.last("COMMIT_VALIDATION_FAILED");
    holds(&line["errors"].to_string(), &["Phase RED left in progress"]);
}

#[test]
fn ds_59_a_whole_step_is_committed_and_closed() {
    let guarded = open_work();
    guarded.all_done();
    guarded.sub_stop(AGENT).passes();
    guarded.git(&["add", "--all"]).exits(0);
    guarded.git(&["commit", "-m", "Greet politely"]).exits(0);
    assert_eq!(guarded.last("COMMIT_VALIDATION_PASSED")["step_id"], "01-01");
    // It is closed: what comes later is not its business.
    guarded.env.file("README.md", "Other work.\n");
    guarded.git(&["commit", "-am", "Other work"]).exits(0);
    guarded.env.run(&["verify"]).exits(0);
}

#[test]
fn an_agent_commits_in_its_last_phase_and_stops_afterwards() {
    let guarded = open_work();
    guarded.agent_transcript(AGENT, &guarded.prompt());
    guarded.done("RED");
    guarded.done("GREEN");
    guarded.phase(&["start", "01-01", "COMMIT"]).exits(0);
    guarded.git(&["commit", "-am", "Greet politely"]).exits(0);
    // Its record is not whole yet, and it is still known.
    holds(&guarded.sub_stop(AGENT).blocked(), &["Phase COMMIT left IN_PROGRESS"]);
    guarded.phase(&["done", "01-01", "COMMIT", "--outcome", "PASS"]).exits(0);
    guarded.sub_stop(AGENT).passes();
    assert!(!guarded.events().contains(&"INTEGRITY_INCIDENT".to_owned()));
    guarded.env.file("README.md", "A person's own.\n");
    guarded.git(&["commit", "-am", "A person's own"]).exits(0);
    // A word to the agent of a closed step is refused as well.
    let words =
        json!({"tool_name": "SendMessage", "tool_input": {"to": AGENT, "message": "One more thing."}});
    holds(&guarded.send("PreToolUse", words).denied(), &["is complete"]);
    guarded.sub_stop(AGENT).passes();
}

#[test]
fn what_was_committed_past_the_hooks_is_not_pushed() {
    let guarded = open_work();
    let remote = guarded.env.root.with_file_name("remote.git");
    let remote = remote.to_str().unwrap();
    guarded.git(&["init", "-q", "--bare", remote]).exits(0);
    guarded.git(&["remote", "add", "origin", remote]).exits(0);
    // What was there before the step began may be pushed while it is at work.
    guarded.git(&["push", "-q", "origin", "main"]).exits(0);
    guarded.phase(&["start", "01-01", "RED"]).exits(0);
    guarded.git(&["commit", "--no-verify", "-am", "Past the hooks"]).exits(0);
    for line in
        ["git push origin main", "git push origin HEAD:refs/heads/other", "bash -c 'git push --all origin'"]
    {
        let said = guarded.sh(line);
        assert_ne!(said.exit, Some(0), "{line}");
        said.says("The push is held by the guard").says("step 01-01").says("Phase RED left in progress");
    }
    assert_eq!(guarded.last("COMMIT_VALIDATION_FAILED")["at"], "push");
    // Whole, it gets out.
    guarded.phase(&["done", "01-01", "RED", "--outcome", "PASS"]).exits(0);
    guarded.done("GREEN");
    guarded.done("COMMIT");
    guarded.sub_stop(AGENT).passes();
    guarded.git(&["add", "--all"]).exits(0);
    guarded.git(&["commit", "-m", "Whole"]).exits(0);
    guarded.git(&["push", "-q", "origin", "main"]).exits(0);
}

#[test]
fn a_state_that_was_left_open_in_a_commit_is_not_pushed_even_if_nobody_started_it() {
    let guarded = Guarded::new().with_git_hooks();
    let remote = guarded.env.root.with_file_name("remote.git");
    let remote = remote.to_str().unwrap();
    guarded.git(&["init", "-q", "--bare", remote]).exits(0);
    guarded.git(&["remote", "add", "origin", remote]).exits(0);
    guarded.git(&["push", "-q", "origin", "main"]).exits(0);
    guarded.phase(&["start", "01-01", "RED"]).exits(0);
    guarded.committed("Past the hooks");
    guarded.git(&["push", "origin", "main"]).exits(1).says("Phase RED left in progress");
    guarded.git(&["push", "origin", "main:refs/heads/new"]).exits(1).says("Phase RED left in progress");
    guarded.git(&["push", "-q", "origin", "HEAD~1:refs/heads/new"]).exits(0);
}

/// Stages a step whose phases are all passed but for `change`, and asks the gate.
fn staged(change: impl FnOnce(&mut Value)) -> crate::support::Output {
    let guarded = Guarded::fourteen();
    let mut given = step("01-01", &FOURTEEN);
    given["state"]["status"] = json!("DONE");
    for record in given["tdd_cycle"]["phase_execution_log"].as_array_mut().unwrap() {
        record["status"] = json!("EXECUTED");
        record["outcome"] = json!("PASS");
    }
    change(&mut given);
    guarded.state(STEP, &given);
    guarded.git(&["add", STEP]).exits(0);
    guarded.env.run(&["commit-gate"])
}

fn skipped(step: &mut Value, from: usize, reason: &str) {
    for record in step["tdd_cycle"]["phase_execution_log"].as_array_mut().unwrap().iter_mut().skip(from) {
        record["status"] = json!("SKIPPED");
        record["blocked_by"] = json!(reason);
        record.as_object_mut().unwrap().remove("outcome");
    }
}

#[test]
fn ds_30_a_staged_state_is_judged_phase_by_phase() {
    staged(|_| {}).exits(0);
    staged(|step| skipped(step, 13, "NOT_APPLICABLE: documents only")).exits(0);
    staged(|step| skipped(step, 12, "DEFERRED: later"))
        .exits(1)
        .says("Phase FINAL_VALIDATE: DEFERRED phases block commit");
    staged(|step| skipped(step, 12, "LATER: some day")).exits(1).says("an unknown prefix in blocked_by");
    staged(|step| skipped(step, 12, "NOT_APPLICABLE:")).exits(1).says("without a reason");
    let log = |step: &mut Value, status: &str| {
        step["tdd_cycle"]["phase_execution_log"][4]["status"] = json!(status);
    };
    staged(|step| log(step, "IN_PROGRESS")).exits(1).says("Phase CHECK_ACCEPTANCE left in progress");
    staged(|step| log(step, "NOT_EXECUTED")).exits(1).says("Phase CHECK_ACCEPTANCE not executed");
    staged(|step| log(step, "FAILED")).exits(1).says("Phase CHECK_ACCEPTANCE FAILED");
    staged(|step| log(step, "WIP")).exits(1).says("unknown status `WIP`");
}

#[test]
fn k_06_what_is_pending_passes_at_a_checkpoint_and_not_at_the_end() {
    let pending = |status: &'static str| {
        staged(move |step| {
            step["state"]["status"] = json!(status);
            skipped(step, 6, "CHECKPOINT_PENDING: after the review");
        })
    };
    pending("IN_PROGRESS").exits(0);
    pending("DONE").exits(1).says("Phase REVIEW still CHECKPOINT_PENDING");
}

// K-18, E-75.
#[test]
fn k_18_e_75_an_error_that_was_repaired_does_not_block() {
    let guarded = open_work();
    guarded.phase(&["start", "01-01", "RED"]).exits(0);
    guarded.env.file("README.md", "Outside.\n");
    holds(&guarded.sub_stop(AGENT).blocked(), &["left IN_PROGRESS", "README.md"]);
    guarded.env.run(&["commit-gate"]).exits(1).says("Unexpected modification: README.md");
    // DS-49: repaired without another stop, and then with one.
    guarded.env.file("README.md", "Greets.\n");
    guarded.phase(&["done", "01-01", "RED", "--outcome", "PASS"]).exits(0);
    guarded.done("GREEN");
    guarded.done("COMMIT");
    guarded.env.run(&["commit-gate"]).exits(0);
    guarded.sub_stop(AGENT).passes();
    guarded.git(&["commit", "-am", "Repaired"]).exits(0);
}

// K-18, E-76, DS-69.
#[test]
fn k_18_e_76_ds_69_a_sibling_that_is_open_does_not_hold_the_commit_of_a_whole_step() {
    let guarded = Guarded::new().with_git_hooks();
    let mut sibling = step("01-02", &THREE);
    sibling["task_specification"]["allowed_file_patterns"] = json!(["docs/**"]);
    guarded.state("steps/01-02.json", &sibling).committed("A sibling");
    let second = json!({"prompt": guarded.prompt_for("steps/01-02.json"), "run_in_background": false});
    guarded.spawn_as("toolu_2", second, json!({})).passes();
    guarded.sub_start("a2").passes();
    guarded.env.file("docs/guide.md", "Half of it.\n");
    holds(&guarded.sub_stop("a2").blocked(), &["Phase RED NOT_EXECUTED"]);
    guarded.spawn(&guarded.prompt()).passes();
    guarded.sub_start(AGENT).passes();
    guarded.env.file("src/greet.sh", "echo good morning\n");
    guarded.all_done();
    guarded.sub_stop(AGENT).passes();
    guarded.git(&["add", "src", STEP]).exits(0);
    guarded.git(&["commit", "-m", "Greet politely"]).exits(0);
    // The sibling's own work does not get out with it, and neither does work that might be its.
    guarded.git(&["add", "docs"]).exits(0);
    guarded.git(&["commit", "-m", "x"]).exits(1).says("step 01-02").says_nothing_of("step 01-01");
    guarded.git(&["reset", "-q"]).exits(0);
    guarded.env.file("README.md", "By somebody.\n");
    guarded.git(&["commit", "-am", "x"]).exits(1).says("step 01-02");
}

#[test]
fn steps_that_nobody_has_begun_and_those_from_before_the_guard_hold_nothing() {
    let guarded = Guarded::new().with_git_hooks();
    let mut old = step("00-01", &THREE);
    old["state"]["status"] = json!("DONE");
    guarded.state("steps/00-01.json", &old).committed("Long ago");
    guarded.env.file("README.md", "Other work.\n");
    guarded.git(&["commit", "-am", "Other work"]).exits(0);
    // A correction in a finished file, and the plan of further steps.
    old["task_specification"]["description"] = json!("With a slip of the pen put right.");
    guarded.state("steps/00-01.json", &old).state("steps/01-03.json", &step("01-03", &FOURTEEN));
    guarded.git(&["add", "--all"]).exits(0);
    guarded.git(&["commit", "-m", "Plan"]).exits(0);
    // A call that passed the door and was refused elsewhere has begun nothing.
    guarded.spawn(&guarded.prompt()).passes();
    guarded.env.file("README.md", "More.\n");
    guarded.git(&["commit", "-am", "More"]).exits(0);
}

#[test]
fn a_state_that_is_staged_otherwise_than_it_is_known_does_not_pass() {
    let guarded = open_work();
    let truth = guarded.env.read(STEP);
    guarded.edit(|step| {
        step["state"]["status"] = json!("DONE");
        for record in step["tdd_cycle"]["phase_execution_log"].as_array_mut().unwrap() {
            record["status"] = json!("EXECUTED");
            record["outcome"] = json!("PASS");
        }
    });
    guarded.git(&["add", STEP]).exits(0);
    guarded.env.file(STEP, truth);
    guarded.git(&["commit", "-m", "x"]).exits(1).says("Phase RED not executed");
    guarded.git(&["rm", "-q", "--force", STEP]).exits(0);
    guarded.git(&["commit", "-m", "x"]).exits(1).says("Phase RED not executed");
}

#[test]
fn an_agent_hears_early_and_in_words_what_git_would_refuse() {
    let guarded = open_work();
    let bash = |line: &str| {
        guarded.send("PreToolUse", json!({"tool_name": "Bash", "tool_input": {"command": line}}))
    };
    for line in [
        "git commit -m x",
        "git -c a=b commit",
        "bash -c 'git commit'",
        "cd src && git push",
        "git commit --no-verify -m x",
    ] {
        let reason = bash(line).denied();
        holds(&reason, &["There is open work", "step 01-01", "Phase RED not executed"]);
    }
    for line in ["git status", "git diff", "echo git commit", "ls"] {
        bash(line).passes();
    }
    for line in [
        "seriatim guard uninstall",
        "rm .git/hooks/pre-commit",
        "git config core.hooksPath /tmp",
        "rm -r .seriatim",
        "rm -r .git/seriatim",
    ] {
        holds(&bash(line).denied(), &["would take the guard of this project away"]);
    }
    guarded.all_done();
    guarded.sub_stop(AGENT).passes();
    bash("git commit -m x").passes();
    holds(&bash("git commit --no-verify -m x").denied(), &["go through its hooks"]);
    holds(&bash("git -c core.hooksPath=/dev/null push").denied(), &["go through its hooks"]);
}

#[test]
fn k_91_the_gate_says_one_for_no_and_a_project_without_guard_is_let_alone() {
    let guarded = open_work();
    let (document, exit) = guarded.env.json(&["commit-gate"]);
    assert_eq!((exit, &document["passed"], &document["guarded"]), (Some(1), &json!(false), &json!(true)));
    holds(&document["reasons"].to_string(), &["step 01-01 (steps/01-01.json): Phase RED not executed"]);
    // What the gate cannot decide is a no.
    guarded.env.file("seriatim.toml", "[guard]\nstale = 7\nphases = 3\n");
    guarded.env.run(&["commit-gate"]).exits(1);
    std::fs::remove_file(guarded.env.stored("guard.json")).unwrap();
    guarded.env.run(&["commit-gate"]).exits(0);
}
