//! `seriatim.toml` and `--workspace`.

use crate::support::Env;

fn configured(text: &str) -> Env {
    let env = Env::new();
    env.bakery(&["Knead the dough"]);
    env.file("seriatim.toml", text);
    env
}

const RUN: [&str; 4] = ["run", "process", "instance.yaml", "--no-input"];

#[test]
fn errors_in_the_configuration_are_shown_with_their_place_and_nothing_is_started() {
    let env = configured(
        "[agents.default]\nkind = \"comand\"\ntimeout = \"soon\"\n\n[gates.tests]\ntimeout = \"1m\"\n",
    );
    insta::assert_snapshot!(env.run(&RUN).snapshot(), @r#"
    --- stderr
    error[unknown-value]: unknown kind `comand` in [agents.default]
     --> seriatim.toml:2:8
      |
    2 | kind = "comand"
      |        ^^^^^^^^
      |
      = help: did you mean `command`?

    error[bad-value]: `timeout` in [agents.default] must be a span of time; got "soon"
     --> seriatim.toml:3:11
      |
    3 | timeout = "soon"
      |           ^^^^^^
      |
      = help: write it like "30s", "20m" or "1h30m"

    error[missing-field]: [gates.tests] needs `command`: a gate is a command whose exit code counts
     --> seriatim.toml:5:8
      |
    5 | [gates.tests]
      |        ^^^^^
      |
      = help: add `command = ["program", "argument"]`

    error: seriatim.toml has 3 error(s)
    help: fix it; `seriatim check seriatim.toml` shows every problem
    --- exit 2
    "#);
    assert!(!env.store().exists());
    assert!(!env.path(".dialogue").exists());
}

#[test]
fn a_configuration_that_is_no_toml() {
    insta::assert_snapshot!(configured("[agents.default\nkind = 1\n").run(&RUN).snapshot(), @r#"
    --- stderr
    error[toml]: this is not valid TOML: unclosed table, expected `]`
     --> seriatim.toml:1:16
      |
    1 | [agents.default
      |                ^

    error: seriatim.toml has 1 error(s)
    help: fix it; `seriatim check seriatim.toml` shows every problem
    --- exit 2
    "#);
}

#[test]
fn a_kind_of_agent_that_is_not_built_is_an_error_and_never_a_silent_fallback() {
    let env = configured("[agents.default]\nkind = \"claude\"\nmodel = \"m\"\n");
    insta::assert_snapshot!(env.run(&RUN).snapshot(), @r#"
    --- stderr
    error[not-built]: agents of kind `claude` are not built in yet; use kind = "command"
     --> seriatim.toml:2:8
      |
    2 | kind = "claude"
      |        ^^^^^^^^

    error: seriatim.toml has 1 error(s)
    help: fix it; `seriatim check seriatim.toml` shows every problem
    --- exit 2
    "#);
}

#[test]
fn an_unknown_field_of_the_configuration_warns_with_the_closest_name() {
    let env = configured("[agents.default]\nkind = \"human\"\ntimout = \"1m\"\n");
    insta::assert_snapshot!(env.run(&["check", "seriatim.toml"]).snapshot(), @r#"
    --- stdout
    warning[unknown-field]: unknown field `timout` in [agents.default]
     --> seriatim.toml:3:1
      |
    3 | timout = "1m"
      | ^^^^^^
      |
      = help: did you mean `timeout`?

    0 error(s), 1 warning(s) in 1 file(s)
    --- exit 0
    "#);
    env.run(&["status"]).exits(0);
}

#[test]
fn a_workspace_that_is_not_there() {
    let env = Env::new();
    insta::assert_snapshot!(env.run(&["status", "--workspace", "nowhere"]).snapshot(), @r#"
    --- stderr
    error: the workspace nowhere cannot be opened: No such file or directory (os error 2)
    --- exit 2
    "#);
    env.file("file", "").run(&["status", "--workspace", "file"]).exits(2).says("is not a folder");
}

#[test]
fn a_workspace_is_found_from_below_and_by_name() {
    let env = configured("[agents.default]\nkind = \"human\"\n");
    env.run(&RUN).exits(3);
    std::fs::create_dir_all(env.path("deep/down")).unwrap();
    let mut below = env.command(&["inbox"]);
    below.current_dir(env.path("deep/down"));
    env.start_command(below).output().exits(0).says("Knead the dough");
    let mut named = env.command(&["inbox", "--workspace", env.root.to_str().unwrap()]);
    named.current_dir("/");
    env.start_command(named).output().exits(0).says("Knead the dough");
}

#[test]
fn a_person_can_be_the_agent() {
    let env = configured("[agents.default]\nkind = \"human\"\n");
    env.run(&RUN).exits(3).says("Please do this and say how it went: Knead the dough");
    let (inbox, _) = env.json(&["inbox"]);
    let question = &inbox["questions"][0];
    assert_eq!(question["kind"], "assignment");
    env.run(&["answer", question["id"].as_str().unwrap(), "done", "--text", "kneaded by hand"]).exits(0);
    env.run(&["resume", &env.newest(), "--no-input"]).exits(0);
    let log = std::fs::read_to_string(&env.files_below(".dialogue/logs/executions")[0]).unwrap();
    assert!(log.contains("kneaded by hand"), "{log}");
}

#[test]
fn no_agent_at_all_is_a_question_that_says_what_to_do() {
    let env = configured("");
    env.run(&RUN).exits(3).says("seriatim.toml");
}

#[test]
fn files_outside_the_workspace_are_refused() {
    let env = configured("[agents.default]\nkind = \"human\"\n");
    let outside = env.root.with_file_name("outside.yaml");
    std::fs::copy(env.path("instance.yaml"), &outside).unwrap();
    env.run(&["run", "process", "../outside.yaml"]).exits(2).says("is outside the workspace");
    env.file("instance.yaml", env.read("instance.yaml").replace("\"process.yaml\"", "\"../process.yaml\""));
    let (document, exit) = env.json(&RUN);
    assert_eq!(exit, Some(1), "{document}");
}
