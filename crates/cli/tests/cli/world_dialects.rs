//! What the dialects promise without worlds holds with them, where worlds change the way to it.

use crate::action_support::Workshop;
use crate::cycle::Project as Cycle;
use crate::support::Env;
use crate::world_support::shared;

fn in_worlds(env: &Env) {
    let (home, shared) = (env.root.with_file_name("home"), shared(env));
    let config = env.read("seriatim.toml").replace("isolation = \"none\"", "isolation = \"world\"");
    let kept: Vec<&str> =
        config.lines().filter(|line| *line != "[worlds]" && !line.starts_with("share = ")).collect();
    let worlds = format!("\n[worlds]\nshare = [{home:?}, {shared:?}]\n");
    env.file("seriatim.toml", format!("{}\n{worlds}", kept.join("\n")));
}

fn cycle() -> Cycle {
    let project = Cycle::new();
    in_worlds(&project.env);
    project.env.git(&["commit", "--quiet", "--all", "--message=Worlds"]);
    project
}

/// E-43, CY-80: what a person does to a file between verdict and approval is asked about, and the result is judged and
/// approved again before anything is committed.
#[test]
fn e_43_an_approval_is_void_where_a_person_changed_the_same_file_whatever_the_answer() {
    let theirs = "echo good morning, all\n";
    for (choice, result) in [("keep", theirs), ("replace", "echo good morning\n")] {
        let project = cycle();
        project.run(&[]).exits(3).says("Approval");
        project.env.file("greet.sh", theirs);
        project.resume(&[("Approval", "commit", "")]).exits(3).says("Changed on both sides");
        assert_eq!(project.env.read("greet.sh"), theirs);
        project.resume(&[("both sides", choice, "")]).exits(3).says("Approval");
        assert_eq!(project.commits(), ["Worlds", "Begin"]);
        assert_eq!(project.facts("approval_void").len(), 1, "{choice}");
        project.resume(&[("Approval", "commit", "")]).exits(0);
        assert_eq!(project.git_says(&["show", "HEAD:greet.sh"]), result, "{choice}");
        assert_eq!(project.git_says(&["diff", "HEAD"]), "");
    }
}

/// CY-95: whoever stops at the approval is told where the work is, and it stays there until it is pruned.
#[test]
fn cy_95_the_work_of_a_cycle_that_is_stopped_stays_in_its_view_and_is_named() {
    let project = cycle();
    let stopped = project.run(&[("Approval", "stop", "")]).exits(1);
    stopped.says("1 file of unmerged work is kept; look with `seriatim world ");
    assert_eq!(project.env.read("greet.sh"), "echo hello\n");
    let run = project.env.newest();
    project.env.run(&["world", &run, "--diff"]).exits(0).says("+echo good morning");
    project.env.run(&["world", "prune"]).exits(0).says("(its run has ended)");
    project.env.assert_tidy();
}

/// OC-14: what a call that failed left outside of its contract is never merged, and no later call is blamed for it.
#[test]
fn oc_14_a_stray_file_of_a_failed_call_is_not_held_against_the_next_one() {
    let workshop = Workshop::of("- backend-developer\n");
    in_worlds(&workshop.env);
    workshop.table(&[("backend-developer", 1, "put stray.txt 'a thought'; exit 127")]);
    workshop.build(&[]).exits(3);
    workshop.env.run(&["log", &workshop.env.newest()]).exits(0).says("not merged: stray.txt");
    workshop.resume(&[("Failure", "retry", "")]).exits(0);
    assert_eq!(workshop.count("backend-developer"), 2);
    assert!(!workshop.env.path("stray.txt").exists());
    assert_eq!(workshop.outcome()["artifacts"], serde_json::json!(["engine/api.sh"]));
    workshop.verify();
}

/// A call that succeeds answers for what it adds itself.
#[test]
fn oc_14_a_stray_file_of_a_call_that_succeeds_is_held_against_it() {
    let workshop = Workshop::of("- backend-developer\n");
    in_worlds(&workshop.env);
    workshop.table(&[
        ("backend-developer", 1, "put stray.txt 'a thought'; exit 127"),
        ("backend-developer", 2, "put other.txt 'a thought'; usual; finish"),
    ]);
    workshop.build(&[]).exits(3);
    workshop.resume(&[("Failure", "retry", "")]).exits(0);
    assert_eq!(workshop.count("backend-developer"), 3);
    let feedback = workshop.feedback("backend-developer", 3).join("\n");
    assert!(feedback.contains("other.txt") && !feedback.contains("stray.txt"), "{feedback}");
}

/// A refused call leaves nothing in the workspace, and its work waits for the next call.
#[test]
fn oc_14_nothing_of_a_refused_call_is_merged_and_its_work_is_there_for_the_next_one() {
    let workshop = Workshop::of("- backend-developer\n");
    in_worlds(&workshop.env);
    let api = workshop.env.path("engine/api.sh");
    let (real, stray) = (api.display(), "put other.txt 'a thought'");
    workshop.table(&[
        ("backend-developer", 1, &format!("{stray}; usual; finish")),
        (
            "backend-developer",
            2,
            "[ -e engine/api.sh ] && [ ! -e other.txt ] || exit 1; failed permanent 'no more'",
        ),
    ]);
    workshop.build(&[]).exits(3);
    assert_eq!(workshop.count("backend-developer"), 2);
    assert!(!api.exists(), "{real} was merged");
    let run = workshop.env.newest();
    workshop.env.run(&["show", &run]).exits(0).says("engine/api.sh").says("other.txt");
    workshop.env.run(&["world", &run, "--diff"]).exits(0).says("engine/api.sh").says_nothing_of("other.txt");
    workshop.table(&[("backend-developer", 3, "[ -e engine/api.sh ] && finish")]);
    workshop.resume(&[("Failure", "retry", "")]).exits(0);
    assert!(api.exists() && !workshop.env.path("other.txt").exists());
    workshop.verify();
}

/// K-47, OC-33: what a role had not finished when the action is cancelled can be looked at.
#[test]
fn k_47_the_unfinished_work_of_a_cancelled_action_is_kept_and_named() {
    let workshop = Workshop::of("- quality-engineer\n");
    in_worlds(&workshop.env);
    let half = "put tests/plan.md 'half a plan'; failed permanent 'no more'";
    workshop.table(&[("quality-engineer", 0, half)]);
    workshop.build(&[("Failure", "cancel", "")]).exits(3);
    let ended = workshop.resume(&[("^Cancel", "keep", "")]).exits(1);
    ended.says("cancelled").says("1 file of unmerged work is kept").says_nothing_of("warning:");
    let run = workshop.env.newest();
    workshop.env.run(&["world", &run, "--diff"]).exits(0).says("half a plan");
    workshop.env.run(&["world", "prune"]).exits(0).says("(its run has ended)");
    workshop.env.assert_tidy();
}
