//! On a terminal the question is asked in place. `script` of util-linux plays the terminal.

use std::process::Command;

use crate::support::Env;
use crate::support::Output;

/// The program on a terminal, with everything that it shows going to `record` too. `None` where no terminal can be
/// played.
fn played(env: &Env, args: &str, record: &str) -> Option<Command> {
    let terminal = |line: &str, record: &str| {
        let mut script = Command::new("script");
        script.args(["-qef", "--echo", "never", "-c", line, record]);
        env.furnish(&mut script);
        script.env("TERM", "dumb").env("SHELL", "/bin/sh");
        script
    };
    if !terminal("true", "/dev/null").output().is_ok_and(|output| output.status.success()) {
        println!("SKIPPED: there is no `script` of util-linux to play a terminal");
        return None;
    }
    Some(terminal(&format!("{} {args}", env!("CARGO_BIN_EXE_seriatim")), record))
}

/// Runs the program on a terminal and types `keys`.
fn on_terminal(env: &Env, args: &str, keys: &str) -> Option<Output> {
    let mut script = played(env, args, "/dev/null")?;
    env.file("keys", keys);
    script.stdin(std::fs::File::open(env.path("keys")).unwrap());
    Some(env.start_command(script).output())
}

fn decide() -> Env {
    let env = Env::new();
    env.bakery(&["Knead the dough", "P:Decide on the crust"]).agent_sh("finish kneaded");
    env
}

#[test]
fn a_question_is_asked_in_place_and_answered_by_number() {
    let env = decide();
    let Some(output) = on_terminal(&env, "run process instance.yaml", "1\nDark, please.\n") else { return };
    let output = output.exits(0).says("Your choice (number or word, empty to decide later):");
    output.says("completed:");
    let decisions = env.files_below(".dialogue/logs/decisions");
    let decision = std::fs::read_to_string(&decisions[0]).unwrap();
    assert!(decision.contains("human:tester") && decision.contains("Dark, please."), "{decision}");
}

#[test]
fn a_mistyped_answer_is_asked_again_and_an_empty_one_decides_later() {
    let env = decide();
    let Some(output) = on_terminal(&env, "run process instance.yaml", "9\nperhaps\n\n") else { return };
    let output =
        output.exits(3).says("`9` is not one of the options.").says("`perhaps` is not one of the options.");
    output.says("seriatim resume ");
    env.run(&["answer", "q1", "approve"]).exits(0);
}

#[test]
fn a_configuration_that_differs_is_asked_about_in_place() {
    let env = decide();
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3);
    env.run(&["answer", "q1", "approve"]).exits(0);
    env.file("seriatim.toml", env.read("seriatim.toml").replace("agent.sh", "other.sh"));
    let resume = format!("resume {}", env.newest());
    let Some(output) = on_terminal(&env, &resume, "\n") else { return };
    output.exits(3).says("Which configuration shall run").says("--config old");
    let Some(output) = on_terminal(&env, &resume, "1\n") else { return };
    output.exits(0).says("command was `sh agent.sh`, is now `sh other.sh`");
}

#[test]
fn with_no_input_nothing_is_asked_even_on_a_terminal() {
    let env = decide();
    let Some(output) = on_terminal(&env, "run process instance.yaml --no-input", "1\n\n") else { return };
    output.exits(3).says_nothing_of("Your choice");
}

#[test]
fn no_color_holds_on_a_terminal_too() {
    let env = decide().variable("NO_COLOR", "1");
    let Some(output) = on_terminal(&env, "status", "") else { return };
    output.says_nothing_of("\u{1b}[1m").says_nothing_of("\u{1b}[2m");
}

#[test]
fn while_an_agent_works_its_step_its_time_and_its_last_words_are_shown() {
    let env = Env::new();
    env.bakery(&["Knead the dough"]).agent_sh("echo folding it over; read word <hold; finish kneaded");
    let (mut shown, mut hold) = (env.fifo("shown"), env.fifo("hold"));
    let Some(script) = played(&env, "run process instance.yaml", "shown") else { return };
    let engine = env.start_command(script);
    let progress = shown.until("folding it over", &engine);
    let line = progress.rsplit('\r').next().unwrap_or_default();
    assert!(line.contains("Knead the dough · ") && line.contains("at most 5 min · "), "{progress:?}");
    hold.send("go");
    engine.output().exits(0).says("completed:");
}
