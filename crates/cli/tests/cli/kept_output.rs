//! What agents and gates printed is kept with their attempts, and why an agent failed is told wherever it is asked about.

use crate::action_support::Workshop;
use crate::cycle;
use crate::roadmap_support;
use crate::support::Env;

const RUN: [&str; 4] = ["run", "process", "instance.yaml", "--no-input"];

#[test]
fn the_output_of_a_good_attempt_is_kept_and_what_is_too_long_goes_to_a_file() {
    let env = Env::new();
    env.bakery(&["Knead the dough"]).agent_sh(
        "echo first; head -c 3145728 /dev/zero | tr '\\0' x | fold -w 63; echo last >&2; finish kneaded",
    );
    env.run(&RUN).exits(0);
    let (shown, _) = env.json(&["show", &env.newest()]);
    let attempt = &shown["attempts"][0];
    assert_eq!(attempt["agent"]["step"], "5.1.1", "{}", shown["attempts"]);
    let printed = &attempt["printed"];
    let stdout = printed["stdout"].as_str().unwrap();
    assert!(stdout.starts_with("first\nxxx"));
    let kept = stdout.len() + printed["stderr"].as_str().unwrap_or_default().len();
    assert!((1 << 20) - 64 < kept && kept <= 1 << 20, "{kept}");
    let file = printed["file"].as_str().unwrap();
    assert!(std::fs::metadata(env.path(file)).unwrap().len() > 2 << 20);
    env.run(&["show", &env.newest(), "-v"])
        .exits(0)
        .says("5.1.1 attempt 1: Knead the dough - ended")
        .says("more in:");
    env.run(&["verify"]).exits(0).says("sound");
}

#[test]
fn secrets_in_kept_output_are_redacted() {
    let env = Env::new();
    env.bakery(&["Knead the dough"])
        .agent_sh("echo ghp_0123456789abcdefghijABCDEFGHIJ012345; finish kneaded");
    env.run(&RUN).exits(0);
    env.run(&["show", &env.newest(), "-v"]).exits(0).says("[redacted:").says_nothing_of("ghp_0123456789");
}

#[test]
fn the_output_of_gates_is_shown_beside_that_of_agents() {
    let project = cycle::Project::new();
    project.run(&[]).exits(3);
    let shown = project.env.run(&["show", &project.env.newest(), "-v"]).exits(0);
    shown.says("`sh check.sh` - exit code 0").says("      1 passed");
}

/// Six lines on stderr, of which the last five are the reason, and some on stdout.
const FAILS: &str = "for i in 1 2 3 4 5 6; do echo \"trace $i\" >&2; done; echo chatter; exit 7";
const REASON: &str = "trace 2\n  trace 3\n  trace 4\n  trace 5\n  trace 6";

#[test]
fn why_an_agent_failed_is_in_question_log_and_show_of_a_process() {
    let env = Env::new();
    env.bakery(&["Knead the dough"]).agent_sh(FAILS);
    let asked = env.run(&RUN).exits(3).asked();
    assert!(asked.contains("it ended with exit code 7 and no usable report"), "{asked}");
    assert!(asked.contains(&REASON.replace("  ", "    ")), "{asked}");
    assert!(!asked.contains("trace 1") && !asked.contains("chatter"), "{asked}");
    env.run(&["log", &env.newest()]).says(": it ended with exit code 7").says("\n    trace 6");
    env.run(&["show", &env.newest()])
        .says("Knead the dough attempt 1: CrashError - it ended with exit code 7")
        .says("\n      trace 6");
}

#[test]
fn without_stderr_the_last_lines_of_stdout_are_the_reason() {
    let env = Env::new();
    env.bakery(&["Knead the dough"]).agent_sh("echo no flour; kill -9 $$");
    let asked = env.run(&RUN).exits(3).asked();
    assert!(asked.contains("it was killed from outside, perhaps because memory ran out"), "{asked}");
    assert!(asked.contains("The last lines of its output:\n    no flour"), "{asked}");
}

#[test]
fn why_an_agent_failed_is_in_question_log_and_show_of_a_cycle() {
    let project = cycle::Project::new().planner(FAILS);
    let asked = project.run(&[]).exits(3).asked();
    assert!(asked.contains("it ended with exit code 7"), "{asked}");
    assert!(asked.contains(&REASON.replace("  ", "    ")), "{asked}");
    let env = &project.env;
    env.run(&["log", &env.newest()]).says(": it ended with exit code 7").says("\n    trace 6");
    env.run(&["show", &env.newest()])
        .says("attempt 1: CrashError - it ended with exit code 7")
        .says("\n      trace 6");
    let project = cycle::Project::new().actor(FAILS);
    let asked = project.run(&[]).exits(3).asked();
    assert!(
        asked.contains("it ended with exit code 7 and no usable report; it last printed: trace 2 / "),
        "{asked}"
    );
}

#[test]
fn why_an_agent_failed_is_in_end_log_and_show_of_a_step() {
    let project = roadmap_support::Project::short();
    project.agent(&format!("usual; [ $SERIATIM_PHASE != GREEN ] || {{ {FAILS}; }}; finish"));
    project.step("01-01").exits(1).says("failed in GREEN: it ended with exit code 7");
    let env = &project.env;
    env.run(&["log", &env.newest()]).says(": it ended with exit code 7").says("\n    trace 6");
    env.run(&["show", &env.newest()]).says("trace 6");
}

#[test]
fn why_an_agent_failed_is_in_question_log_and_show_of_an_action() {
    let workshop = Workshop::of("- backend-developer\n- {gate: approval, name: release}\n");
    workshop.table(&[("backend-developer", 0, FAILS)]);
    workshop.build(&[]).exits(3);
    let question = workshop.question();
    assert!(question.details().contains(REASON), "{}", question.details());
    assert!(question.why().contains("it ended with exit code 7"), "{}", question.why());
    let env = &workshop.env;
    env.run(&["log", &env.newest()]).says(": it ended with exit code 7").says("\n    trace 6");
    env.run(&["show", &env.newest()])
        .says("attempt 1: CrashError - it ended with exit code 7")
        .says("\n      trace 6");
}
