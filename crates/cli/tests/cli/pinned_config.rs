//! The configuration of a run is recorded at its start; another one holds only when a person says so.

use serde_json::Value;

use crate::cycle::Project;
use crate::support::Env;
use crate::support::Output;

/// A process that waits for a person between two steps of agents.
fn waiting() -> Env {
    let env = Env::new();
    env.bakery(&["Knead the dough", "P:Decide on the crust", "Bake the bread"]).agent_sh("finish kneaded");
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3);
    env.run(&["answer", "q1", "approve"]).exits(0);
    env
}

/// The same with another program in the configuration by now, which says so in a file.
fn edited() -> Env {
    let env = waiting();
    let config = env.read("seriatim.toml").replace("agent.sh", "other.sh").replace("5m", "7m");
    let other = format!("touch other-was-here\n{}", env.read("agent.sh"));
    env.file("seriatim.toml", config).file("other.sh", other);
    env
}

#[track_caller]
fn resume(env: &Env, args: &[&str]) -> Output {
    env.run(&[&["resume", &env.newest(), "--no-input"], args].concat())
}

#[track_caller]
fn decisions(env: &Env) -> Vec<Value> {
    let (shown, _) = env.json(&["show", &env.newest()]);
    shown["configuration"]["decisions"].as_array().unwrap().clone()
}

#[test]
fn without_a_difference_nothing_is_said_and_nothing_is_recorded() {
    let env = waiting();
    let config = env.read("seriatim.toml");
    env.file("seriatim.toml", format!("# a remark\n{config}\n[redact]\npatterns = [\"xyz\"]\n"));
    resume(&env, &[]).exits(0).says_nothing_of("configuration");
    assert_eq!(decisions(&env), Vec::<Value>::new());
}

#[test]
fn a_difference_parks_the_run_and_names_both_ways_on() {
    let env = edited();
    insta::assert_snapshot!(resume(&env, &[]).snapshot(), @r"
    --- stdout

    waiting: Nothing was done: the configuration differs from the recorded one in 2 points. To go on, keep the recorded one with `seriatim resume RUN --config old`, or use the new one with `seriatim resume RUN --config new`.
    --- stderr
    The configuration differs from the one that run RUN recorded:
      agent default: command was `sh agent.sh`, is now `sh other.sh`
      agent default: timeout was 5 min, is now 7 min
    --- exit 3
    ");
    let (document, exit) = env.json(&["resume", &env.newest(), "--no-input"]);
    assert_eq!(exit, Some(3));
    assert_eq!(
        document["configuration"]["differences"][0],
        serde_json::json!({
            "about": "agent default", "setting": "command", "old": "`sh agent.sh`", "new": "`sh other.sh`",
        })
    );
    env.run(&["verify"]).exits(0);
}

#[test]
fn the_recorded_configuration_can_be_kept() {
    let env = edited();
    resume(&env, &["--config", "old"]).exits(0);
    assert!(!env.path("other-was-here").exists());
    let decided = decisions(&env);
    assert_eq!((&decided[0]["choice"], &decided[0]["by"]), (&"old".into(), &"tester".into()));
    assert_eq!(decided[0]["differences"].as_array().unwrap().len(), 2);
    env.run(&["verify"]).exits(0).says("sound");
}

#[test]
fn the_same_difference_is_decided_once_and_another_one_again() {
    let env = Env::new();
    env.bakery(&["P:Decide on the flour", "Knead the dough", "P:Decide on the crust", "Bake the bread"]);
    env.agent_sh("finish kneaded");
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3);
    env.run(&["answer", "q1", "approve"]).exits(0);
    let config = env.read("seriatim.toml");
    env.file("seriatim.toml", config.replace("5m", "7m"));
    resume(&env, &["--config", "old"]).exits(3).says("Decide on the crust");
    env.run(&["answer", "q2", "approve"]).exits(0);
    env.file("seriatim.toml", config.replace("5m", "8m"));
    resume(&env, &[]).exits(3).says("agent default: timeout was 5 min, is now 8 min");
    env.file("seriatim.toml", config.replace("5m", "7m"));
    resume(&env, &[]).exits(0).says_nothing_of("differs");
    assert_eq!(decisions(&env).len(), 1);
}

#[test]
fn the_new_configuration_holds_from_the_decision_on_and_the_record_verifies() {
    let env = edited();
    resume(&env, &["--config", "new"]).exits(0);
    assert!(env.path("other-was-here").exists());
    assert_eq!(decisions(&env)[0]["choice"], "new");
    let (shown, _) = env.json(&["show", &env.newest()]);
    let argv = &shown["configuration"]["recorded"]["config"]["agents"]["default"]["kind"]["command"]["argv"];
    assert_eq!(argv, &serde_json::json!(["sh", "other.sh"]));
    env.run(&["show", &env.newest(), "-v"]).exits(0).says("tester put a new configuration in its place:");
    env.run(&["verify"]).exits(0).says("sound");
}

#[test]
fn running_the_same_work_again_compares_too() {
    let env = edited();
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3).says("--config old");
    env.run(&["run", "process", "instance.yaml", "--no-input", "--config", "new"]).exits(0);
    assert!(env.path("other-was-here").exists());
}

#[test]
fn answering_and_going_on_at_once_compares_too() {
    let env = Env::new();
    env.bakery(&["P:Decide on the crust", "Bake the bread"]).agent_sh("finish baked");
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3);
    env.file("seriatim.toml", env.read("seriatim.toml").replace("agent.sh", "other.sh"));
    env.run(&["answer", "q1", "approve", "--config", "old"]).exits(2).says("--resume");
    env.run(&["answer", "q1", "approve", "--resume"]).exits(3).says("--config new");
    resume(&env, &["--config", "old"]).exits(0);
}

#[test]
fn an_agent_that_is_gone_from_the_file_still_works_for_the_run() {
    let env = waiting();
    env.file("seriatim.toml", "");
    resume(&env, &[]).exits(3).says("agent default: was `sh agent.sh`, is now removed");
    resume(&env, &["--config", "old"]).exits(0);
    env.run(&["verify"]).exits(0);
}

#[test]
fn a_file_that_cannot_be_read_any_more_does_not_matter_to_the_recorded_configuration() {
    let env = waiting();
    let run = env.newest();
    env.file("seriatim.toml", "[agents.default\n");
    let broken = env.run(&["resume", &run, "--no-input"]).exits(2);
    broken.says("--config old` goes on with the recorded configuration");
    env.run(&["resume", &run, "--no-input", "--config", "new"]).exits(2);
    let kept = env.run(&["resume", &run, "--no-input", "--config", "old"]).exits(0);
    kept.says("seriatim.toml: was usable, is now not: seriatim.toml has 1 error(s)");
    env.file("seriatim.toml", "");
    assert_eq!(decisions(&env)[0]["choice"], "old");
    env.run(&["verify"]).exits(0);
}

/// A rehearsal whose second step is played after a question.
fn rehearsal(words: &str) -> String {
    let criteria = "criteria: [{criterion: It is done, met: true, confidence: 100, reason: seen}]";
    format!("- repeat: true\n  report: {{status: done, summary: {words}, confidence: 100, {criteria}}}\n")
}

#[test]
fn the_content_of_a_script_is_recorded_with_the_configuration() {
    for (choice, expected) in [("old", "as rehearsed"), ("new", "as rewritten")] {
        let env = Env::new();
        env.bakery(&["P:Decide on the crust", "Bake the bread"]);
        env.file("seriatim.toml", "[agents.default]\nkind = \"scripted\"\nscript = \"play.yaml\"\n");
        env.file("play.yaml", rehearsal("as rehearsed"));
        env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3);
        env.run(&["answer", "q1", "approve"]).exits(0);
        env.file("play.yaml", rehearsal("as rewritten"));
        resume(&env, &[]).exits(3).says("agent default: script content was content ");
        resume(&env, &["--config", choice]).exits(0);
        let (shown, _) = env.json(&["show", &env.newest()]);
        let steps = shown["steps"].as_array().unwrap();
        assert_eq!(steps.last().unwrap()["outcome_summary"], expected, "{shown:#}");
        env.run(&["verify"]).exits(0);
    }
}

#[test]
fn a_gate_that_is_edited_meanwhile_counts_only_when_a_person_says_so() {
    for (choice, asked) in [("old", "Approval"), ("new", "Paused")] {
        let project = Project::new();
        project.run(&[]).exits(3).says("Approval");
        let config =
            project.env.read("seriatim.toml").replace("\"check.sh\"", "\"-c\", \"echo 1 failed; exit 1\"");
        project.env.file("seriatim.toml", config);
        let newest = project.env.newest();
        project.env.run(&["answer", "q1", "changes", "--text", "once more"]).exits(0);
        project
            .env
            .run(&["resume", &newest, "--no-input"])
            .exits(3)
            .says("gate tests: command was `sh check.sh`, is now `sh -c \"echo 1 failed; exit 1\"`");
        let output = project.env.run(&["resume", &newest, "--no-input", "--config", choice]).exits(3);
        assert!(output.asked().starts_with(asked), "{choice}: {}", output.snapshot());
        project.env.run(&["verify"]).exits(0).says("sound");
    }
}

#[test]
fn work_of_a_person_goes_to_the_agent_that_the_new_configuration_names() {
    let env = Env::new();
    env.bakery(&["Knead the dough"]).agent_sh("finish kneaded");
    let config = env.read("seriatim.toml");
    env.file("seriatim.toml", "[agents.default]\nkind = \"human\"\n");
    env.run(&["run", "process", "instance.yaml", "--no-input"])
        .exits(3)
        .says("worker: default for Baker: a person");
    env.file("seriatim.toml", config);
    resume(&env, &["--config", "new"]).exits(0);
    let (inbox, _) = env.json(&["inbox"]);
    assert_eq!(inbox["questions"], serde_json::json!([]));
    env.run(&["verify"]).exits(0).says("sound");
}

#[test]
fn a_secret_in_a_command_is_neither_recorded_nor_lost() {
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let env = Env::new();
    env.bakery(&["Knead the dough", "P:Decide on the crust", "Bake the bread"]);
    env.agent_sh("[ \"$1\" = ghp_0123456789abcdefghijABCDEFGHIJ012345 ] && finish kneaded");
    let config = env.read("seriatim.toml").replace("\"agent.sh\"]", &format!("\"agent.sh\", \"{secret}\"]"));
    env.file("seriatim.toml", &config);
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3).says_nothing_of(secret);
    env.run(&["answer", "q1", "approve"]).exits(0);
    env.file("seriatim.toml", config.replace("agent.sh", "other.sh"));
    let parked = resume(&env, &["--config", "old"]).exits(3).says_nothing_of(secret);
    parked.says("the recorded command of the agent default held a secret, which was not recorded");
    env.file("seriatim.toml", config);
    resume(&env, &[]).exits(0);
    env.run(&["show", &env.newest(), "--events"]).exits(0).says_nothing_of(secret);
    env.run(&["verify"]).exits(0);
}

#[test]
fn the_start_of_a_run_says_who_works_by_which_program_with_which_environment() {
    let env = Env::new();
    env.bakery(&["Knead the dough", "P:Decide on the crust"]).agent_sh("finish kneaded");
    let config = env.read("seriatim.toml");
    env.file(
        "seriatim.toml",
        format!("{config}\n[agents.baker]\nkind = \"command\"\nargv = [\"no-such-program\"]\n"),
    );
    insta::assert_snapshot!(env.run(&["run", "process", "instance.yaml", "--no-input"]).stderr.lines().next().unwrap(), @"worker: baker for Baker: `no-such-program` (no-such-program not found), gets PATH, HOME, LANG, TMPDIR");
    let env = Env::new();
    env.bakery(&["Knead the dough", "P:Decide on the crust"]).agent_sh("finish kneaded");
    let (document, _) = env.json(&["run", "process", "instance.yaml", "--no-input"]);
    let worker = &document["workers"][0];
    assert_eq!(worker["agent"], "default");
    assert_eq!(worker["for"], serde_json::json!(["Baker"]));
    assert_eq!(worker["command"], serde_json::json!(["sh", "agent.sh"]));
    assert!(worker["program"].as_str().unwrap().ends_with("/sh"), "{document:#}");
    assert_eq!(worker["environment"], serde_json::json!(["PATH"]));
}

#[test]
fn the_workers_of_a_cycle_are_one_line_and_quiet_says_none() {
    let project = Project::new();
    let output = project.run(&[]).exits(3);
    insta::assert_snapshot!(output.snapshot().lines().find(|line| line.starts_with("worker:")).unwrap(), @"worker: default for planner, actor, judge: `sh .git/desk/agent.sh` (PROGRAM), gets PATH");
    let env = waiting();
    env.run(&["run", "process", "instance.yaml", "--no-input", "-q"]).says_nothing_of("worker:");
}
