//! `cancel`: what was done is kept, what is under way is stopped, what is over stays as it was.

use crate::support::Env;

#[test]
fn a_parked_run_is_cancelled_and_its_files_say_so() {
    let env = Env::new();
    env.bakery(&["Knead the dough", "P:Decide on the crust"]).agent_sh("finish kneaded");
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3);
    let run = env.newest();
    let output = env.run(&["cancel", &run]).exits(0);
    output.says("cancelled: The work was cancelled. What was done until then is kept in its log.");
    let (status, _) = env.json(&["status", &run]);
    assert_eq!(status["status"], "cancelled");
    assert!(env.read("instance.yaml").contains("status: CANCELLED"), "{}", env.read("instance.yaml"));
    let log = std::fs::read_to_string(&env.files_below(".dialogue/logs/executions")[0]).unwrap();
    assert!(
        log.contains("Knead the dough") && log.contains("Cancelled - a person stopped the work"),
        "{log}"
    );
    env.run(&["inbox"]).says("Nothing waits for you here.");
    env.run(&["resume", &run, "--no-input"]).exits(2).says("is over already: it is cancelled");
    env.run(&["verify"]).exits(0);
}

#[test]
fn a_run_held_by_another_process_is_cancelled_and_its_agent_stopped() {
    let env = Env::new();
    env.bakery(&["Knead the dough", "Bake it"])
        .agent_with("grace = \"100ms\"\n", "echo $$ >began; read word <hold; finish kneaded");
    let (mut began, _hold) = (env.fifo("began"), env.fifo("hold"));
    let engine = env.start(&["run", "process", "instance.yaml", "--no-input"]);
    let agent = began.process(&engine);
    let run = env.newest();
    env.run(&["cancel", &run, "--by", "ada"]).exits(0).says("Asked process ").says("cancelled:");
    agent.has_ended();
    // Done, and the outcome is not good.
    engine.output().exits(1).says("cancelled:");
    assert_eq!(env.read("trace"), "5.1.1 attempt 1\n");
    assert_eq!(env.living(), Vec::<String>::new());
    env.run(&["verify"]).exits(0);
    env.assert_tidy();
}

#[test]
fn a_finished_run_cannot_be_cancelled() {
    let env = Env::new();
    env.bakery(&["Knead the dough"]).agent_sh("finish kneaded");
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(0);
    let run = env.newest();
    insta::assert_snapshot!(env.run(&["cancel", &run]).snapshot(), @r#"
    --- stderr
    error: run RUN is over already: it is completed
    --- exit 2
    "#);
    let (status, _) = env.json(&["status", &run]);
    assert_eq!(status["status"], "completed");
}

#[test]
fn cancelling_twice_is_refused() {
    let env = Env::new();
    env.bakery(&["P:Decide on the crust"]).agent_sh("finish kneaded");
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3);
    let run = env.newest();
    env.run(&["cancel", &run]).exits(0);
    env.run(&["cancel", &run]).exits(2).says("is over already: it is cancelled");
    env.run(&["cancel", "no-such-run"]).exits(2);
}

#[test]
fn an_interrupted_run_can_be_cancelled() {
    let env = Env::new();
    env.bakery(&["Knead the dough"]).agent_sh("echo $$ >began; read word <hold; finish kneaded");
    let (mut began, _hold) = (env.fifo("began"), env.fifo("hold"));
    let engine = env.start(&["run", "process", "instance.yaml", "--no-input"]);
    let agent = began.process(&engine);
    engine.kill();
    let run = env.newest();
    env.run(&["cancel", &run]).exits(0);
    agent.ends();
    assert_eq!(env.read("trace"), "5.1.1 attempt 1\n");
    env.run(&["verify"]).exits(0);
    env.assert_tidy();
}
