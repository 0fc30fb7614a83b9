//! The words of the command line: help, set-up, completions, and what is not a command.

use crate::support::Env;

#[test]
fn init_sets_up_and_never_overwrites() {
    let env = Env::new().variable("PATH", "/nonexistent");
    insta::assert_snapshot!(env.run(&["init"]).snapshot(), @r#"
    --- stdout
    created: seriatim.toml
    Next: name an agent in seriatim.toml, then `seriatim run process FILE`.
    Guard live sessions of Claude Code, Codex or Gemini here with `seriatim guard install`.
    --- exit 0
    "#);
    env.run(&["check", "seriatim.toml"]).exits(0);
    env.file("seriatim.toml", "# mine\n");
    insta::assert_snapshot!(env.run(&["init"]).snapshot(), @r#"
    --- stdout
    kept:    seriatim.toml (left as it is)
    Next: name an agent in seriatim.toml, then `seriatim run process FILE`.
    Guard live sessions of Claude Code, Codex or Gemini here with `seriatim guard install`.
    --- exit 0
    "#);
    assert_eq!(env.read("seriatim.toml"), "# mine\n");
    assert!(!env.path(".seriatim").exists(), "the record is made when something is recorded");
    let (document, _) = env.json(&["init", "--workspace", "fresh"]);
    assert_eq!(document["created"], serde_json::json!(["seriatim.toml"]));
    assert!(env.path("fresh/seriatim.toml").is_file());
}

#[test]
fn help_lists_the_commands() {
    let env = Env::new();
    insta::assert_snapshot!(env.run(&["--help"]).snapshot(), @r#"
    --- stdout
    Executes multi-step work of agents and people: no step is skipped, no result is faked, no approval
    is stretched, and anyone can check it offline

    Usage: seriatim [OPTIONS] <COMMAND>

    Commands:
      init         Set up a workspace: seriatim.toml; nothing that exists is overwritten
      check        Check files against their rules: all findings at once, each with its place
      run          Start work and carry it as far as it goes
      resume       Continue a run that waits or was interrupted
      cancel       Cancel a run; what was done until then is kept
      inbox        List open questions and open assignments, the longest waiting first
      answer       Answer an open question; `resume` then continues its run
      report       Hand in a report for an assignment of a run that was started with --attach, and go on
                   with the run
      status       Show what runs, what waits for whom, and since when
      show         Show a run: its steps, attempts, evidence and decisions
      log          Tell what happened in a run, in plain words; the newest run when none is named
      process      List the processes of the workspace, or show one: its steps, criteria and flow
      cycle        Companions of the loop of Human, Planner, Actor and Judge
      roadmap      Files of a roadmap: create its state, show how far it is, bring an older one forward,
                   undo checkpoints
      metrics      Show figures over all runs: of cycles five with their goals, and the alerts
      prompt       Render a prompt from a template, or check any prompt before it is sent
      decide       Record a decision: prints its id, and nothing else
      observe      Record an observation: prints its id, and nothing else
      guard        Guard the live sessions of this project: hooks of the clients, and of git
      doctor       Test that the guard works here, and name what is not protected
      phase        Record a phase of a step: started, done, skipped or failed
      hook         Answer an event of an agent's client: JSON on stdin, the decision on stdout
      commit-gate  Say whether the staged commit may be made: what the git pre-commit hook runs
      watchdog     Find work that has been in progress for too long, and recover it
      gates        Run the gates that the current lifecycle stage requires
      snapshot     States before actions: list them, show what has changed since, go back to one, remove
                   old ones
      world        Layers of a run: list what agents changed, show it, enter a view, remove old layers
      conform      Try an orchestrator out: whether it keeps the contract of actions, point by point
      verify       Prove that the record is whole: every chain, every file made from it, and the course
                   of every run
      bench        Measure what this machine can do: durable steps, recovery, parked runs, worlds
      completions  Print a completion script for a shell
      man          Print the manual page, in roff; read it with: seriatim man | man -l -
      help         Print this message or the help of the given subcommand(s)

    Options:
          --json             Print one JSON document on stdout, and nothing else there
          --workspace <DIR>  The workspace; by default the nearest folder upwards with seriatim.toml,
                             .seriatim or .git
      -q, --quiet            Say only what was asked for
      -v, --verbose          Say more
      -h, --help             Print help
      -V, --version          Print version
    --- exit 0
    "#);
}

#[test]
fn every_command_explains_itself() {
    let env = Env::new();
    insta::assert_snapshot!(env.run(&["run", "process", "--help"]).snapshot(), @r#"
    --- stdout
    Run a process: from an instance, or from a definition (then an instance is created)

    Exit codes: 0 done and good, 1 done and not good, 2 nothing was changed, 3 waiting for a person, 4
    held by another process.

    Usage: seriatim run process [OPTIONS] <FILE>

    Arguments:
      <FILE>
              A process instance or a process definition

    Options:
          --input <NAME=VALUE>
              An input, for a run from a definition

          --no-input
              Never ask on the terminal: park the run and exit with 3

          --answers <FILE>
              Answer from a YAML list, first match wins

          --config <old|new>
              Continue with the recorded configuration (old) or with that of the file (new), where they
              differ

          --json
              Print one JSON document on stdout, and nothing else there

          --workspace <DIR>
              The workspace; by default the nearest folder upwards with seriatim.toml, .seriatim or .git

      -q, --quiet
              Say only what was asked for

      -v, --verbose
              Say more

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version
    --- exit 0
    "#);
}

#[test]
fn the_help_of_answer_names_its_options() {
    let env = Env::new();
    insta::assert_snapshot!(env.run(&["answer", "-h"]).snapshot(), @r#"
    --- stdout
    Answer an open question; `resume` then continues its run

    Usage: seriatim answer [OPTIONS] <QUESTION> <CHOICE>

    Arguments:
      <QUESTION>  The question, as `inbox` names it (q1, q2 ...)
      <CHOICE>    The option: its word or its label

    Options:
          --text <TEXT>       Words of your own
          --by <NAME>         Who answers; by default the user of this machine
          --resume            Continue the run at once
          --config <old|new>  With --resume: continue with the recorded configuration (old) or with that
                              of the file (new), where they differ
          --json              Print one JSON document on stdout, and nothing else there
          --workspace <DIR>   The workspace; by default the nearest folder upwards with seriatim.toml,
                              .seriatim or .git
      -q, --quiet             Say only what was asked for
      -v, --verbose           Say more
      -h, --help              Print help (see more with '--help')
      -V, --version           Print version
    --- exit 0
    "#);
    for command in [
        "init",
        "check",
        "run",
        "resume",
        "cancel",
        "inbox",
        "answer",
        "status",
        "show",
        "log",
        "prompt",
        "verify",
        "bench",
        "completions",
        "man",
    ] {
        let output = env.run(&[command, "--help"]).exits(0).says("Usage: seriatim ");
        assert!(output.stderr.is_empty(), "{}", output.snapshot());
    }
}

#[test]
fn an_unknown_command_or_option_is_usage() {
    let env = Env::new();
    insta::assert_snapshot!(env.run(&["rum"]).snapshot(), @r#"
    --- stderr
    error: unrecognized subcommand 'rum'

      tip: some similar subcommands exist: 'run', 'resume'

    Usage: seriatim [OPTIONS] <COMMAND>

    For more information, try '--help'.
    --- exit 2
    "#);
    insta::assert_snapshot!(env.run(&["status", "--jsn"]).snapshot(), @r#"
    --- stderr
    error: unexpected argument '--jsn' found

      tip: a similar argument exists: '--json'

    Usage: seriatim status --json [RUN]

    For more information, try '--help'.
    --- exit 2
    "#);
    env.run(&[]).exits(2);
    env.run(&["run"]).exits(2);
    env.run(&["run", "process"]).exits(2);
    assert!(env.files_below(".").is_empty(), "nothing was changed");
}

#[test]
fn the_version_is_said() {
    let output = Env::new().run(&["--version"]).exits(0);
    assert_eq!(output.stdout, format!("seriatim {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn completions_and_the_manual_are_printed() {
    let env = Env::new();
    for shell in ["bash", "zsh", "fish"] {
        let output = env.run(&["completions", shell]).exits(0);
        assert!(output.stdout.contains("seriatim") && output.stdout.contains("resume"), "{shell}");
    }
    env.run(&["completions", "abacus"]).exits(2);
    let page = env.run(&["man"]).exits(0);
    assert!(page.stdout.contains(".TH seriatim 1") && page.stdout.contains(".SH"), "{}", page.stdout);
    env.run(&["man", "answer"]).exits(0).says("Answer an open question");
    insta::assert_snapshot!(env.run(&["man", "rum"]).snapshot(), @r#"
    --- stderr
    error: there is no command `rum`
    help: seriatim --help lists them
    --- exit 2
    "#);
}

#[test]
fn there_is_no_colour_unless_somebody_looks() {
    let env = Env::new().variable("NO_COLOR", "1").variable("CLICOLOR_FORCE", "0");
    env.bakery(&["Knead the dough", "P:Decide on the crust"]).agent_sh("finish kneaded");
    for args in [
        &["run", "process", "instance.yaml", "--no-input"][..],
        &["inbox"],
        &["status"],
        &["check", "agent.sh"],
        &["--help"],
        &["rum"],
    ] {
        env.run(args).says_nothing_of("\u{1b}[");
    }
}

#[test]
fn quiet_says_only_what_was_asked_for() {
    let env = Env::new();
    env.bakery(&["Knead the dough"]).agent_sh("finish kneaded");
    insta::assert_snapshot!(env.run(&["check", "-q", "process.yaml"]).snapshot(), @r#"--- exit 0"#);
    insta::assert_snapshot!(env.run(&["-q", "run", "process", "instance.yaml"]).snapshot(), @r#"
    --- stdout

    completed: 'Bake bread for the evening' is done; the result is GENERATED, on the agent's word. Kneaded.
    --- exit 0
    "#);
}

#[test]
fn a_file_that_is_no_process_is_refused_before_anything_is_written() {
    let env = Env::new();
    env.file("seriatim.toml", "").file("broken.yaml", "definition: [\n").file("notes.txt", "flour\n");
    insta::assert_snapshot!(env.run(&["run", "process", "missing.yaml"]).snapshot(), @r#"
    --- stderr
    error: missing.yaml cannot be read: No such file or directory (os error 2)
    help: name a file that is there and that you may read
    --- exit 2
    "#);
    insta::assert_snapshot!(env.run(&["run", "process", "broken.yaml"]).snapshot(), @r#"
    --- stderr
    error[yaml]: the `[` opened here is not closed
     --> broken.yaml:1:13
      |
    1 | definition: [
      |             ^
      |
      = help: add the closing `]`; it seems to reach as far as line 1, column 13

    error: broken.yaml has 1 error(s); nothing was started
    --- exit 1
    "#);
    env.run(&["run", "process", "seriatim.toml"]).exits(2);
    env.run(&["run", "process", "notes.txt"]);
    assert!(!env.path(".dialogue").exists());
}

#[test]
fn a_run_is_named_by_any_unique_beginning() {
    let env = Env::new();
    env.bakery(&["Knead the dough"]).agent_sh("finish kneaded");
    env.run(&["run", "process", "instance.yaml"]).exits(0);
    let run = env.newest();
    env.run(&["show", &run[..3]]).exits(0).says(&run);
    env.file("instance.yaml", env.read("instance.yaml").replace("status: COMPLETED", "status: PLANNED"));
    env.run(&["run", "process", "instance.yaml"]).exits(0);
    env.run(&["show", &run[..3]]).exits(2).says("type a few more characters");
    env.run(&["show", "zzz"]).exits(2).says("`seriatim status` lists the runs");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let env = Env::new();
    env.bakery(&["Knead the dough"]).agent_sh("finish kneaded");
    env.run(&["run", "process", "instance.yaml"]).exits(0);
    let mut shell = std::process::Command::new("sh");
    shell.args([
        "-c",
        "\"$0\" show \"$1\" --events | head -n 1",
        env!("CARGO_BIN_EXE_seriatim"),
        &env.newest(),
    ]);
    env.furnish(&mut shell);
    let output = env.start_command(shell).output().exits(0);
    assert_eq!(output.stdout.lines().count(), 1);
    assert_eq!(output.stderr, "");
}
