//! Several processes and one piece of work.

use crate::support::Env;

#[test]
fn two_processes_on_one_instance_do_each_step_once_and_the_loser_names_the_holder() {
    let env = Env::new();
    env.bakery(&["Knead the dough", "Bake it"])
        .agent_sh("[ \"$SERIATIM_STEP\" != 5.1.1 ] || { echo here >began; read word <hold; }\nfinish baked");
    let (mut began, mut hold) = (env.fifo("began"), env.fifo("hold"));
    let first = env.start(&["run", "process", "instance.yaml", "--no-input"]);
    began.line(&first);

    let second = env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(4);
    let holder = format!("process {} (`seriatim run process instance.yaml --no-input`)", first.pid());
    let second = second.says(&holder);
    insta::assert_snapshot!(second.snapshot(), @r#"
    --- stderr
    error: this work is under way already, as run RUN, held by process PID (`seriatim run process instance.yaml --no-input`) on HOST since TIME
    help: wait for it, or stop it there
    --- exit 4
    "#);
    let run = env.newest();
    env.run(&["resume", &run]).exits(4).says(&holder);
    env.run(&["status", &run]).exits(0).says(&holder);
    // Reading is never in the way: the record as it stands so far is sound.
    env.run(&["verify"]).exits(0);

    hold.send("go");
    first.output().exits(0);
    assert_eq!(env.read("trace"), "5.1.1 attempt 1\n5.1.2 attempt 1\n");
    assert_eq!(env.files_below(".dialogue/logs/executions").len(), 1);
}

#[test]
fn e_56_a_holder_that_died_is_noticed_at_once() {
    let env = Env::new();
    env.bakery(&["Knead the dough"])
        .agent_sh("[ \"$SERIATIM_ATTEMPT\" != 1 ] || { echo $$ >began; read word <hold; }\nfinish kneaded");
    let (mut began, _hold) = (env.fifo("began"), env.fifo("hold"));
    let first = env.start(&["run", "process", "instance.yaml", "--no-input"]);
    let agent = began.process(&first);
    first.kill();
    // No waiting time: the very next process takes the run over.
    env.run(&["resume", &env.newest(), "--no-input"]).exits(0);
    agent.ends();
}

#[test]
fn two_instances_run_at_the_same_time_in_one_workspace() {
    let env = Env::new();
    env.bakery(&["Knead the dough"])
        .agent_sh("echo \"$SERIATIM_RUN\" >began; read word <hold; finish kneaded");
    let other = env.read("instance.yaml").replace("000000", "000001");
    env.file("other.yaml", other);
    let (mut began, mut hold) = (env.fifo("began"), env.fifo("hold"));
    let first = env.start(&["run", "process", "instance.yaml", "--no-input"]);
    let one = began.line(&first);
    let second = env.start(&["run", "process", "other.yaml", "--no-input"]);
    let two = began.line(&second);
    assert_ne!(one, two);
    hold.send("go");
    hold.send("go");
    first.output().exits(0);
    second.output().exits(0);
    // E-24: two runs in the same second have distinct ids, and each its own log.
    assert_eq!(env.files_below(".dialogue/logs/executions").len(), 2);
    env.run(&["verify"]).exits(0);
    env.assert_tidy();
}
