//! The engine dies or is stopped in the middle of an agent's work, and somebody continues.

use rustix::process::Signal;

use crate::process::Fifo;
use crate::process::Handle;
use crate::process::Running;
use crate::support::Env;

/// Three steps; the second waits at its first attempt, until somebody ends it.
fn blocked_in_the_middle(env: &Env) -> (Running, Handle, Fifo) {
    env.bakery(&["Knead the dough", "Let it rise", "Bake it"]).agent_sh(
        r#"case "$SERIATIM_STEP $SERIATIM_ATTEMPT" in
        "5.1.2 1") echo $$ >began; read word <hold ;;
        esac
        finish "$SERIATIM_STEP is done""#,
    );
    let (mut began, hold) = (env.fifo("began"), env.fifo("hold"));
    let engine = env.start(&["run", "process", "instance.yaml", "--no-input"]);
    let agent = began.process(&engine);
    (engine, agent, hold)
}

/// Each step once, but the one that was interrupted twice; one log that says so; nothing left lying about.
fn assert_continued(env: &Env, run: &str) {
    env.run(&["resume", run, "--no-input"]).exits(0).says("completed:");
    assert_whole(env, run);
}

fn assert_whole(env: &Env, run: &str) {
    assert_eq!(env.read("trace"), "5.1.1 attempt 1\n5.1.2 attempt 1\n5.1.2 attempt 2\n5.1.3 attempt 1\n");

    let logs = env.files_below(".dialogue/logs/executions");
    assert_eq!(logs.len(), 1, "{logs:?}");
    let log = std::fs::read_to_string(&logs[0]).unwrap();
    assert!(log.contains("5.1.2: CrashError - the work was interrupted"), "{log}");
    assert_eq!(log.matches("- step_id: ").count(), 3, "{log}");

    let (shown, _) = env.json(&["show", run]);
    let failed = shown["failed_attempts"].as_array().unwrap();
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert_eq!(failed[0]["step"], "5.1.2");
    assert_eq!(failed[0]["attempt"], 1);
    assert_eq!(failed[0]["failure"]["class"], "crash");
    assert_eq!(failed[0]["failure"]["interrupted"], true);

    env.assert_tidy();
    env.run(&["verify"]).exits(0);
}

#[test]
fn e_86_kill_9_while_an_agent_works_and_resume_continues_where_it_was() {
    let env = Env::new();
    let (engine, agent, _hold) = blocked_in_the_middle(&env);
    let ended = engine.kill();
    assert_eq!(ended.exit, None, "{}", ended.snapshot());
    // Its supervisor sees the engine die and ends the orphan by itself, before anybody resumes.
    agent.ends();

    let (status, _) = env.json(&["status"]);
    assert_eq!(status["runs"][0]["interrupted"], true, "{status}");
    assert_continued(&env, &env.newest());
}

#[test]
fn kill_9_and_then_run_on_the_same_instance_continues_instead_of_beginning_again() {
    let env = Env::new();
    let (engine, agent, _hold) = blocked_in_the_middle(&env);
    engine.kill();
    agent.ends();
    let before = env.newest();
    env.run(&["run", "process", "instance.yaml", "--no-input"])
        .exits(0)
        .says(&format!("Continuing the work that was begun before ({before})"));
    assert_eq!(env.newest(), before);
    assert_whole(&env, &before);
}

#[test]
fn ctrl_c_while_an_agent_works_ends_the_agent_and_leaves_a_run_that_can_be_continued() {
    let env = Env::new();
    let (engine, agent, _hold) = blocked_in_the_middle(&env);
    engine.signal(Signal::INT);
    engine.output().exits(3).says("The work was stopped here and can be continued.").says("seriatim resume ");
    agent.has_ended();
    assert_eq!(env.living(), Vec::<String>::new());
    assert_continued(&env, &env.newest());
}

#[test]
fn a_terminal_that_goes_away_and_a_polite_request_to_end_are_the_same_as_ctrl_c() {
    for signal in [Signal::HUP, Signal::TERM] {
        let env = Env::new();
        let (engine, agent, _hold) = blocked_in_the_middle(&env);
        engine.signal(signal);
        engine.output().exits(3);
        agent.has_ended();
        assert_continued(&env, &env.newest());
    }
}

#[test]
fn kill_9_again_and_again_leaves_each_interrupted_attempt_on_record() {
    let env = Env::new();
    env.bakery(&["Knead the dough", "Bake it"]).agent_sh(
        r#"case "$SERIATIM_STEP $SERIATIM_ATTEMPT" in
        "5.1.2 4") ;;
        "5.1.2 "*) echo $$ >began; read word <hold ;;
        esac
        finish "$SERIATIM_STEP is done""#,
    );
    let (mut began, _hold) = (env.fifo("began"), env.fifo("hold"));
    let first = env.start(&["run", "process", "instance.yaml", "--no-input"]);
    let agent = began.process(&first);
    first.kill();
    agent.ends();
    let run = env.newest();
    for _ in 0..2 {
        let next = env.start(&["resume", &run, "--no-input"]);
        let agent = began.process(&next);
        next.kill();
        agent.ends();
    }
    env.run(&["resume", &run, "--no-input"]).exits(0);
    assert_eq!(
        env.read("trace"),
        "5.1.1 attempt 1\n5.1.2 attempt 1\n5.1.2 attempt 2\n5.1.2 attempt 3\n5.1.2 attempt 4\n"
    );
    let (shown, _) = env.json(&["show", &run]);
    assert_eq!(shown["failed_attempts"].as_array().unwrap().len(), 3, "{shown}");
    assert_eq!(env.files_below(".dialogue/logs/executions").len(), 1);
    env.assert_tidy();
    env.run(&["verify"]).exits(0);
}

#[test]
fn a_finished_run_is_not_continued_and_nothing_is_done_again() {
    let env = Env::new();
    env.bakery(&["Knead the dough"]).agent_sh("finish kneaded");
    env.run(&["run", "process", "instance.yaml"]).exits(0);
    let before = env.read("instance.yaml");
    env.run(&["resume", &env.newest()]).exits(2).says("is over already: it is completed");
    assert_eq!(env.read("trace"), "5.1.1 attempt 1\n");
    assert_eq!(env.read("instance.yaml"), before);
}
