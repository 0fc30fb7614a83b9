//! Configurations and what is said about them.

use proptest::prelude::*;

use super::*;
use crate::finding::has_errors;

/// Findings as one line each: `line:column severity rule: message (help)`.
fn said(text: &str) -> Vec<String> {
    let line = |f: &Finding| {
        let help = f.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
        format!("{}:{} {} {}: {}{help}", f.place.line, f.place.column, f.severity, f.rule, f.message)
    };
    check(text).iter().map(line).collect()
}

fn good(text: &str) -> Config {
    let (config, findings) = Config::read(text);
    assert_eq!(findings, []);
    config
}

#[test]
fn nothing_configured_is_the_default() {
    assert_eq!(good(""), Config::default());
    assert_eq!(good("# nothing here\n"), Config::default());
    assert_eq!(Config::default().agent(&["judge".into()]), None);
    assert_eq!(Config::default().process.progress_every, 3);
    assert_eq!(Config::default().process.actor, "ai:claude");
}

/// Every table and field that there is.
const WHOLE: &str = r#"
        [agents.default]
        kind = "command"
        argv = ["python3", "agent.py"]
        timeout = "45m"
        grace = "10s"
        env = ["PATH", "HOME"]
        model = "large"
        fallback = "Rehearsal"
        budget = { usd = 5, tokens = 200_000, turns = 50 }

        [agents.rehearsal]
        kind = "scripted"
        script = "rehearsal.yaml"

        [agents.reviewer]
        kind = "human"

        [gates.coverage]
        command = ["cargo", "llvm-cov"]
        timeout = "20m"
        expect = "assertion (failed|`left == right`)"
        within = ["docker", "run", "--rm", "app"]
        env = ["CI"]
        value = "TOTAL.*?([0-9.]+)%"
        subset = ["cargo", "test", "{files}"]
        threshold = 80.5
        comparator = ">="

        [redact]
        patterns = ["corp-[0-9a-f]{32}"]

        [process]
        principles = "docs/principles.md"
        progress_every = 5
        actor = "ai:reviewer"

        [roadmap]
        push = false
        [cycle]
        alert = ["notify"]
        [actions]
        [guard]
        [paths]
        "#;

#[test]
fn every_field_is_read() {
    let config = good(WHOLE);
    let default = Agent {
        has_timeout: true,
        kind: Kind::Command { argv: vec!["python3".into(), "agent.py".into()] },
        timeout_ms: 45 * 60_000,
        grace_ms: 10_000,
        env: vec!["PATH".into(), "HOME".into()],
        model: Some("large".into()),
        fallback: Some("Rehearsal".into()),
        budget: Budget { usd: Some(5.0), tokens: Some(200_000), turns: Some(50) },
        isolation: None,
        network: Network::Host,
    };
    assert_eq!(config.agents["default"], default);
    let rehearsal = Agent::new(Kind::Scripted { script: "rehearsal.yaml".into() });
    assert_eq!(config.agents["rehearsal"], rehearsal);
    assert_eq!((rehearsal.timeout_ms, rehearsal.grace_ms), (1_800_000, 5_000));
    assert_eq!(config.agents["reviewer"], Agent::new(Kind::Human));
    let coverage = Gate {
        command: vec!["cargo".into(), "llvm-cov".into()],
        subset: vec!["cargo".into(), "test".into(), "{files}".into()],
        timeout_ms: Some(1_200_000),
        ok_exit: vec![],
        expect: Some("assertion (failed|`left == right`)".into()),
        within: ["docker", "run", "--rm", "app"].map(str::to_owned).into(),
        env: vec!["CI".into()],
        value: Some("TOTAL.*?([0-9.]+)%".into()),
        threshold: Some(80.5),
        comparator: Some(Comparator::AtLeast),
        isolation: None,
        network: Network::Host,
        setup: vec![],
    };
    assert_eq!(config.gates["coverage"], coverage);
    assert_eq!(config.redact, ["corp-[0-9a-f]{32}"]);
    assert_eq!(config.cycle.alert, ["notify"]);
    assert_eq!(config.process.principles.as_deref(), Some("docs/principles.md"));
    assert_eq!((config.process.progress_every, config.process.actor.as_str()), (5, "ai:reviewer"));
    let journalled = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<Config>(&journalled).unwrap(), config);
}

#[test]
fn the_first_name_that_has_an_agent_wins_and_the_default_stands_in() {
    let config = good(
        "[agents.default]\nkind = \"human\"\n[agents.code_reviewer]\nkind = \"human\"\n[agents.DevOps]\nkind = \"human\"\n",
    );
    let found = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        config.agent(&names).map(|(name, _)| name.to_owned())
    };
    assert_eq!(found(&["Code Reviewer"]).as_deref(), Some("code_reviewer"));
    assert_eq!(found(&["@code-reviewer"]).as_deref(), Some("code_reviewer"));
    assert_eq!(found(&["planner", "devops", "code-reviewer"]).as_deref(), Some("DevOps"));
    assert_eq!(found(&["planner"]).as_deref(), Some("default"));
    assert_eq!(found(&["--", ""]).as_deref(), Some("default"));
    assert_eq!(found(&[]).as_deref(), Some("default"));
}

#[test]
fn kinds_that_are_not_built_are_an_error_and_never_a_fallback() {
    for kind in ["claude", "codex", "gemini", "opencode"] {
        let text = format!("[agents.judge]\nkind = \"{kind}\"\nmodel = \"x\"\n");
        assert_eq!(
            said(&text),
            [format!(
                "2:8 error not-built: agents of kind `{kind}` are not built in yet; use kind = \"command\""
            )]
        );
    }
}

#[test]
fn what_a_kind_needs_is_asked_for_where_it_is_missing() {
    let text = "\
[agents.a]
kind = \"command\"
[agents.b]
kind = \"scripted\"
argv = [\"x\"]
[agents.c]
argv = []
[agents.d]
kind = \"comand\"
[agents.e]
kind = \"command\"
argv = [\" \"]
";
    assert_eq!(
        said(text),
        [
            "1:9 error missing-field: [agents.a] needs `argv`: an agent of kind `command` is a program to start (add `argv = [\"program\", \"argument\"]`)",
            "3:9 error missing-field: [agents.b] needs `script`: an agent of kind `scripted` answers from a file (add `script = \"rehearsal.yaml\"`)",
            "5:1 warning unused-field: `argv` in [agents.b] is not used by agents of kind `scripted` (it belongs to `kind = \"command\"`)",
            "6:9 error missing-field: [agents.c] needs `kind`: it says what sort of agent this is (add `kind = \"command\"`; known kinds: command, claude, codex, gemini, opencode, scripted, human)",
            "7:8 error bad-value: `argv` in [agents.c] must name a program",
            "9:8 error unknown-value: unknown kind `comand` in [agents.d] (did you mean `command`?)",
            "12:8 error bad-value: `argv` in [agents.e] must name a program",
        ]
    );
}

#[test]
fn all_wrong_values_are_found_at_once_and_in_order() {
    let text = "\
[agents.default]
kind = 3
argv = \"python3 agent.py\"
timeout = 30
grace = \"five seconds\"
env = [\"PATH\", \"TOKEN=1\", 7]
fallback = \"jugde\"
budget = { usd = -1, tokens = 1.5, turns = 0, dollars = 3 }
[agents.judge]
kind = \"human\"
timeout = \"0s\"
fallback = \"Judge\"
[agents.Judge]
kind = \"human\"
[gates]
lint = \"cargo clippy\"
[gates.tests]
expect = \"(\"
within = \"crates/core\"
threshold = \"80\"
comparator = \"=\"
[redact]
patterns = [\"a*\", \"[\"]
[process]
progress_every = 0
actor = \"\"
";
    let pattern = "is not a valid regular expression";
    assert_eq!(
        said(text),
        [
            "2:8 error type: `kind` in [agents.default] must be a text in quotes; got the number 3",
            "3:8 error type: `argv` in [agents.default] must be a list of texts; got \"python3 agent.py\"",
            "4:11 error bad-value: `timeout` in [agents.default] must be a span of time; got the number 30 (write it like \"30s\", \"20m\" or \"1h30m\")",
            "5:9 error bad-value: `grace` in [agents.default] must be a span of time; got \"five seconds\" (write it like \"30s\", \"20m\" or \"1h30m\")",
            "6:27 error type: `env` in [agents.default] must be a list of texts; got the number 7",
            "7:12 error unknown-value: `fallback` in [agents.default] names `jugde`, which is no agent of this file (did you mean `judge`?)",
            "8:18 error bad-value: `usd` in `budget` of [agents.default] must not be negative",
            "8:31 error type: `tokens` in `budget` of [agents.default] must be a whole number from 0 on; got the number 1.5",
            "8:44 error type: `turns` in `budget` of [agents.default] must be a whole number from 1 on; got the number 0",
            "8:47 warning unknown-field: unknown field `dollars` in `budget` of [agents.default] (known here: usd, tokens, turns)",
            "11:11 error bad-value: `timeout` in [agents.judge] must be longer than nothing",
            "12:12 error bad-value: `fallback` in [agents.judge] names the agent itself (name a different agent)",
            "13:9 error duplicate-name: [agents.Judge] and [agents.judge] are the same name (rename one of the two)",
            "16:8 error type: [gates.lint] must be a table; got \"cargo clippy\"",
            "17:8 error missing-field: [gates.tests] needs `command`: a gate is a command whose exit code counts (add `command = [\"program\", \"argument\"]`)",
            &format!(
                "18:10 error bad-pattern: `expect` in [gates.tests] {pattern}: unclosed group (put a backslash before signs that mean themselves)"
            ),
            "19:10 error type: `within` in [gates.tests] must be a list of texts; got a text (write the command around it word by word, like [\"docker\", \"run\", \"--rm\", \"image\"])",
            "20:13 error type: `threshold` in [gates.tests] must be a number; got \"80\"",
            "21:14 error unknown-value: unknown comparator `=` in [gates.tests] (one of \">=\", \">\", \"<=\", \"<\")",
            "23:13 error bad-value: the pattern `a*` of [redact] matches the empty text, so everywhere (make it match at least one character)",
            &format!(
                "23:19 error bad-pattern: `patterns` in [redact] {pattern}: unclosed character class (put a backslash before signs that mean themselves)"
            ),
            "25:18 error type: `progress_every` in [process] must be a whole number from 1 on; got the number 0",
            "26:9 error bad-value: `actor` in [process] must not be empty",
        ]
    );
}

#[test]
fn a_variable_with_its_value_is_no_name() {
    assert_eq!(
        said("[agents.x]\nkind = \"human\"\nenv = [\"A\", \"TOKEN=1\"]\n"),
        [
            "3:13 error bad-value: `env` in [agents.x] lists names of environment variables; \"TOKEN=1\" cannot be one (write the name alone; its value is taken from the environment)"
        ]
    );
}

#[test]
fn unknown_names_are_warnings_and_a_gate_field_that_is_nearly_a_known_one_is_an_error() {
    let text = "colour = 1\n[agent.x]\n[gates.tests]\ncomand = [\"a\"]\ncommand = [\"a\"]\ncolour = 1\n";
    assert_eq!(
        said(text),
        [
            "1:1 warning unknown-table: unknown table [colour] (known here: agents, gates, redact, process, roadmap, cycle, actions, guard, worlds, paths)",
            "2:2 warning unknown-table: unknown table [agent] (did you mean `agents`?)",
            "4:1 error unknown-field: unknown field `comand` in [gates.tests] (did you mean `command`?)",
            "6:1 warning unknown-field: unknown field `colour` in [gates.tests] (known here: command, subset, timeout, ok_exit, expect, within, env, value, threshold, comparator, isolation, network, setup)",
        ]
    );
    assert!(!has_errors(&check("colour = 1\n[agent.x]\n")));
}

#[test]
fn broken_toml_points_at_its_place() {
    assert_eq!(
        said("[gates.a]\ncommand = [\"x\"]\n[gates.a]\n"),
        [
            "3:8 error toml: `a` stands here a second time (keep one of the two; what stands under both belongs together)"
        ]
    );
    assert_eq!(
        said("[agents.default]\nkind = command\nargv = [\"x\"]\nkind = \"human\"\n"),
        [
            "2:8 error toml: this is not valid TOML: string values must be quoted, expected literal string",
            "4:1 error toml: `kind` stands here a second time (keep one of the two; what stands under both belongs together)",
        ]
    );
    assert_eq!(
        said("[agents.default\n"),
        ["1:16 error toml: this is not valid TOML: unclosed table, expected `]`"]
    );
    assert_eq!(
        said("agents = 3\ncycle = true\n"),
        [
            "1:10 error type: [agents] must be a table; got the number 3",
            "2:9 error type: [cycle] must be a table; got true"
        ]
    );
    let missing_bracket = format!("x = [\n{}", "a = \"b\"\n".repeat(100));
    assert_eq!(check(&missing_bracket).len(), 10);
}

#[test]
fn columns_count_characters_and_ranges_count_bytes() {
    let text = "\u{feff}[agents.x]\r\nmodel = \"äö\"\r\nkind = \"häman\" # ä\r\n";
    let findings = check(text);
    let place = findings[0].place;
    assert_eq!((place.line, place.column), (3, 8));
    assert_eq!(&text[place.start as usize..place.end as usize], "\"häman\"");
    let first_line = check("\u{feff}[agent]\n")[0].place;
    assert_eq!((first_line.line, first_line.column, first_line.start), (1, 2, 4));
    let inline = check("agents = { \"ä\" = { kind = 1 } }\n")[0].place;
    assert_eq!((inline.line, inline.column), (1, 27));
}

proptest! {
    #[test]
    fn no_text_makes_reading_panic(text in ".{0,200}") {
        check(&text);
    }

    #[test]
    fn no_mixture_of_known_words_makes_reading_panic(
        parts in proptest::collection::vec(
            prop::sample::select(vec![
                "[agents.a]", "[agents]", "[gates.g]", "[redact]", "[process]", "[[agents]]", "\n", "\n", "\n", "\r\n",
                "kind", "argv", "timeout", "budget", "patterns", " = ", "=", "\"30m\"", "\"ä", "\"", "[\"x\"]", "[",
                "]", "{", "}", "usd", ",", ".", "1", "-1", "1e999", "nan", "true", "0xff", "\u{feff}", "#", "2026-01-01",
            ]),
            0..40,
        )
    ) {
        let text = parts.concat();
        for finding in check(&text) {
            let range = finding.place.start as usize..finding.place.end as usize;
            prop_assert!(range.end <= text.len() && text.is_char_boundary(range.start), "{finding:?}");
        }
    }
}

#[test]
fn isolation_network_and_shared_folders_are_read() {
    let (config, findings) = Config::read(
        "[agents.default]\nkind = \"command\"\nargv = [\"sh\"]\nisolation = \"copy\"\nnetwork = \"none\"\n\
         [gates.tests]\ncommand = [\"make\"]\nisolation = \"none\"\nsetup = [\"npm\", \"ci\"]\n\
         [worlds]\nshare = [\"target/\", \"/srv/cache\"]\ndir = \"/srv/layers\"\n",
    );
    assert_eq!(findings, []);
    let agent = &config.agents["default"];
    assert_eq!((agent.isolation, agent.network), (Some(Isolation::Copy), Network::None));
    let gate = &config.gates["tests"];
    assert_eq!((gate.isolation, gate.network), (Some(Isolation::None), Network::Host));
    assert_eq!(gate.setup, ["npm", "ci"]);
    assert_eq!(config.worlds.share, ["target/", "/srv/cache"]);
    assert_eq!(config.worlds.dir.as_deref(), Some("/srv/layers"));
}

#[test]
fn a_word_that_is_no_isolation_and_a_folder_that_leaves_the_workspace_are_errors() {
    let (_, findings) = Config::read(
        "[agents.default]\nkind = \"command\"\nargv = [\"sh\"]\nisolation = \"wurld\"\n\
         [worlds]\nshare = [\"../beside\"]\ndir = \"layers\"\n",
    );
    let told: Vec<(&str, u32)> = findings.iter().map(|f| (f.message.as_str(), f.place.line)).collect();
    assert_eq!(
        told,
        [
            ("unknown isolation `wurld` in [agents.default]", 4),
            ("`share` in [worlds] cannot hold `../beside`", 6),
            ("`dir` in [worlds] must be an absolute path", 7),
        ]
    );
}

#[test]
fn a_value_is_a_pattern_that_compiles_or_the_name_of_a_report() {
    let value = |value: &str| said(&format!("[gates.coverage]\ncommand = [\"a\"]\nvalue = '{value}'\n"));
    assert_eq!(value("out/cov[1.xml"), Vec::<String>::new());
    assert_eq!(value("TOTAL ([0-9.]+)"), Vec::<String>::new());
    assert_eq!(
        value("TOTAL ([0-9.]+"),
        [
            "3:9 error bad-pattern: `value` in [gates.coverage] is not a valid regular expression: unclosed group (put a backslash before signs that mean themselves)"
        ]
    );
}
