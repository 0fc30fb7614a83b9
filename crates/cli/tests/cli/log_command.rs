//! `log` tells a finished run of every dialect from its first to its last event, in plain words.

use regex::Regex;

use crate::action_support::RELEASE;
use crate::action_support::Workshop;
use crate::cycle;
use crate::guard::AGENT;
use crate::guard::CALL;
use crate::guard::Guarded;
use crate::roadmap_support::Project as Roadmap;
use crate::support::Env;

/// The log without what differs from run to run.
fn log(env: &Env) -> String {
    let text = env.run(&["log"]).exits(0).snapshot();
    let filters = [
        (r"\b[0-9a-f]{40}\b|\b[0-9a-f]{10}\b|\b[0-9a-f]{12}\b", "COMMIT"),
        (r"\d{4}-\d\d-\d\d(-\d{6})?", "DATE"),
        (r"build-[0-9A-Z-]+", "build-ID"),
        (r"\b\d+ (ms|s)\b", "SPAN"),
    ];
    filters.into_iter().fold(text, |text, (pattern, name)| {
        Regex::new(pattern).unwrap().replace_all(&text, name).into_owned()
    })
}

#[test]
fn the_log_of_a_finished_process_is_complete() {
    let env = Env::new();
    env.bakery(&["Gather flour", "Bake", "P:Taste it"]).agent_sh("finish \"The dough is $SERIATIM_STEP.\"");
    let answers = "- {match: '^Taste', choose: approve, text: Very good, by: Ada}\n- {choose: approve, by: Ada, repeat: true}\n";
    env.file("answers.yaml", answers);
    env.run(&["run", "process", "instance.yaml", "--no-input", "--answers", "answers.yaml"]).exits(0);
    insta::assert_snapshot!("log_of_a_process", log(&env));
}

#[test]
fn the_log_of_a_finished_cycle_is_complete() {
    let project = cycle::Project::new()
        .planner(r#"case $n in 1) say '{"kind": "questions", "questions": ["To whom?"]}' ;; *) step ;; esac"#)
        .actor("case $n in 1) echo 'echo good mroning' >greet.sh ;; *) echo 'echo good morning' >greet.sh ;; esac; done_well");
    let answers = [("Before the plan", "provide_input", "To all of them."), ("Approval", "commit", "Good.")];
    project.run(&answers).exits(0);
    insta::assert_snapshot!("log_of_a_cycle", log(&project.env));
}

#[test]
fn the_log_of_a_finished_roadmap_step_is_complete() {
    let project = Roadmap::single();
    project.step("01-01").exits(0);
    insta::assert_snapshot!("log_of_a_roadmap_step", log(&project.env));
}

#[test]
fn the_log_of_a_finished_action_is_complete() {
    let workshop =
        Workshop::of("- backend-developer\n- agent: security\n- {gate: approval, name: release}\n");
    workshop.usual().build(&[RELEASE]).exits(0);
    insta::assert_snapshot!("log_of_an_action", log(&workshop.env));
}

#[test]
fn the_log_of_the_guard_is_complete() {
    let guarded = Guarded::new().at_work();
    guarded.all_done();
    guarded.sub_stop(AGENT);
    guarded.spawn_done(CALL, serde_json::json!({"status": "completed"}));
    insta::assert_snapshot!("log_of_the_guard", guarded.env.run(&["log", "guard"]).exits(0).snapshot());
}
