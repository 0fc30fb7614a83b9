//! Secrets reach no file of ours: not the journal, not a log, not a kept output.

use crate::support::Env;

/// Looks like the token of a well-known service. Put together here so that no scanner takes this file for a leak.
fn token() -> String {
    format!("ghp_{}", "a1B2c3D4e5F6".repeat(3))
}

/// The bytes stand in no file that the program wrote, nor in anything it said.
#[track_caller]
fn assert_nowhere(env: &Env, secret: &str) {
    let holds = |path: &std::path::PathBuf| {
        let bytes = std::fs::read(path).unwrap();
        bytes.windows(secret.len()).any(|window| window == secret.as_bytes())
    };
    let mut files = [env.stored_below(""), env.files_below(".dialogue")].concat();
    files.extend(crate::support::files_below(&env.scratch()));
    files.push(env.path("instance.yaml"));
    let found: Vec<_> = files.into_iter().filter(holds).collect();
    assert_eq!(found, Vec::<std::path::PathBuf>::new(), "files with the secret");
}

#[test]
fn e_58_a_token_in_a_report_or_in_output_is_stored_nowhere() {
    let env = Env::new();
    let token = token();
    env.bakery(&["Knead the dough", "P:Decide on the crust"])
        .agent_sh(&format!("echo the token is {token}\nfinish \"kneaded with {token}\""));
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3).says_nothing_of(&token);
    assert_nowhere(&env, &token);
    let run = env.newest();
    env.run(&["answer", "q1", "approve", "--text", &format!("use {token}")]).exits(0);
    assert_nowhere(&env, &token);
    env.run(&["resume", &run, "--no-input"]).exits(0).says_nothing_of(&token);
    assert_nowhere(&env, &token);
    for args in
        [&["show", &run][..], &["show", &run, "--events"], &["log", &run], &["status", &run, "--json"]]
    {
        env.run(args).exits(0).says_nothing_of(&token);
    }
    env.run(&["verify"]).exits(0);
}

#[test]
fn the_value_of_a_variable_whose_name_says_secret_is_stored_nowhere() {
    let value = "crusty-loaf-4711";
    let env = Env::new().variable("MY_API_KEY", value);
    env.bakery(&["Knead the dough"]).agent_with(
        "env = [\"PATH\", \"MY_API_KEY\"]\n",
        "echo \"$MY_API_KEY\"; echo \"$MY_API_KEY\" >&2\n[ -n \"$MY_API_KEY\" ] && finish \"kneaded with $MY_API_KEY\"",
    );
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(0).says_nothing_of(value);
    let log = std::fs::read_to_string(&env.files_below(".dialogue/logs/executions")[0]).unwrap();
    assert!(log.contains("kneaded with "), "{log}");
    assert_nowhere(&env, value);
}

#[test]
fn a_secret_in_a_question_after_a_crash_and_in_the_kept_output_is_hidden() {
    let token = token();
    let env = Env::new();
    let long = "head -c 3000000 /dev/zero | tr '\\0' x; echo";
    env.bakery(&["Knead the dough"])
        .agent_sh(&format!("echo {token}; {long}; echo last words {token}; exit 9"));
    let output = env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3);
    output.says("last words ").says_nothing_of(&token);
    assert_eq!(env.stored_below("outputs").len(), 1);
    assert_nowhere(&env, &token);
}

#[test]
fn a_pattern_of_the_workspace_is_hidden_too() {
    let env = Env::new();
    env.bakery(&["Knead the dough"]).agent_with(
        "[redact]\npatterns = [\"RECIPE-[0-9]{4}\"]\n",
        "finish \"followed RECIPE-1234 to the letter\"",
    );
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(0).says_nothing_of("RECIPE-1234");
    assert_nowhere(&env, "RECIPE-1234");
}

#[test]
fn kill_9_leaves_the_report_of_an_agent_only_until_the_run_is_continued() {
    let token = token();
    let env = Env::new();
    env.bakery(&["Knead the dough"]).agent_sh(&format!(
        "finish 'with {token}'\n[ \"$SERIATIM_ATTEMPT\" != 1 ] || {{ echo $$ >began; read word <hold; }}"
    ));
    let (mut began, _hold) = (env.fifo("began"), env.fifo("hold"));
    let engine = env.start(&["run", "process", "instance.yaml", "--no-input"]);
    let agent = began.process(&engine);
    engine.kill();
    agent.ends();
    assert!(!env.stored_below("attempts").is_empty(), "there is something to clear away");
    env.run(&["resume", &env.newest(), "--no-input"]).exits(0);
    assert_nowhere(&env, &token);
    env.assert_tidy();
}
