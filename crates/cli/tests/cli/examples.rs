//! The examples that newcomers run, on repositories made here.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::Env;

/// Copies a folder of `examples/` into the workspace.
fn lay_out(env: &Env, example: &str, to: &str) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example);
    for entry in fs::read_dir(from).unwrap().flatten() {
        if entry.file_type().unwrap().is_file() {
            let path = format!("{to}{}", entry.file_name().to_str().unwrap());
            env.file(&path, fs::read(entry.path()).unwrap());
        }
    }
}

/// A small project with a release, a change after it, and the release check beside it.
fn project() -> Env {
    let env = Env::new();
    lay_out(&env, "release-check", "release-check/");
    env.file(
        "seriatim.toml",
        "[agents.default]\nkind = \"command\"\nargv = [\"sh\", \"release-check/agent.sh\"]\ntimeout = \"10m\"\n\
         env = [\"PATH\", \"HOME\"]\n",
    );
    env.file(".gitignore", "/.dialogue/\n/reports/\n");
    env.file("README.md", "# Bakery\n\nBakes bread.\n").file("LICENSE", "MIT License\n");
    env.file("CHANGELOG.md", "# Changes\n\n## 1.1\n\n- Rye bread.\n\n## 1.0\n\n- Bread.\n");
    env.git(&["init", "-q", "-b", "main"]);
    env.git(&["add", "."]);
    env.git(&["commit", "-q", "-m", "Bake bread"]);
    env.git(&["tag", "v1.0"]);
    env.file("src/rye.sh", "echo rye\n").file("tests/rye.sh", "sh src/rye.sh\n");
    env.git(&["add", "."]);
    env.git(&["commit", "-q", "-m", "Add rye bread"]);
    env
}

const PROCESS: &str = "release-check/process-release-check.yaml";

#[test]
fn hello_runs_to_its_end() {
    let env = Env::new();
    lay_out(&env, "hello", "");
    env.run(&["run", "process", "process-hello.yaml"]).exits(0).says("completed:");
    assert_eq!(env.read("greeting.txt"), "Hello, world.\n");
    assert_eq!(env.files_below(".dialogue/logs/executions").len(), 1);
    env.run(&["verify"]).exits(0);
    env.assert_tidy();
}

#[test]
fn px_02_an_instance_is_created_under_the_second_of_its_creation() {
    let env = Env::new();
    lay_out(&env, "hello", "");
    env.run(&["run", "process", "process-hello.yaml"]).exits(0).says("Run it again with:");
    let names = env.files_below(".dialogue/processes");
    assert_eq!(names.len(), 1);
    let name = Path::new(&names[0]).file_name().unwrap().to_str().unwrap().to_owned();
    let stamp = name.strip_prefix("PINST-").and_then(|n| n.strip_suffix(".yaml")).unwrap();
    let (day, time) = stamp.split_once('-').unwrap();
    assert!(day.len() == 8 && time.len() == 6 && stamp.replace('-', "").bytes().all(|b| b.is_ascii_digit()));
}

#[test]
fn the_release_check_asks_in_plain_words_and_its_report_is_worth_reading() {
    let env = project();
    let output = env.run(&["run", "process", PROCESS, "--no-input"]).exits(3);
    let shown = output.stdout.clone();
    output.says("Decide whether to release").says("Does this version go out?");

    let (inbox, _) = env.json(&["inbox"]);
    let question = &inbox["questions"][0];
    let words: Vec<&str> =
        ["header", "question", "why", "details"].iter().filter_map(|k| question[k].as_str()).collect();
    let words = words.join("\n");
    for hidden in ["7.1.", "PROC-", "PINST-", "EXEC-", "human_role", "ai_role", "step_id", "outcome_summary"]
    {
        assert!(!words.contains(hidden), "`{hidden}` in:\n{words}");
    }
    assert!(shown.contains("commits: 1"), "what was found is shown with the question:\n{shown}");

    env.run(&["answer", "q1", "approve", "--text", "Good bread.", "--by", "ada"]).exits(0);
    env.run(&["resume", &env.newest(), "--no-input"]).exits(0).says("completed:");
    let report = env.read("reports/release-report.md");
    for part in [
        "# Release report",
        "**Release.** Decided by ada",
        "Good bread.",
        "Add rye bread",
        "## Checks",
        "v1.0",
    ] {
        assert!(report.contains(part), "`{part}` is not in:\n{report}");
    }
    let log = fs::read_to_string(&env.files_below(".dialogue/logs/executions")[0]).unwrap();
    assert_eq!(log.matches("- step_id: ").count(), 5, "{log}");
    env.run(&["verify"]).exits(0);
    env.assert_tidy();
    assert_eq!(env.living(), Vec::<String>::new());
}

#[test]
fn the_release_check_runs_to_its_end_with_the_answers_beside_it() {
    let env = project();
    let answers = "release-check/answers.yaml";
    let (document, exit) = env.json(&["run", "process", PROCESS, "--answers", answers, "--no-input"]);
    assert_eq!(exit, Some(0), "{document}");
    assert_eq!(document["status"], "completed");
    assert_eq!(document["outcome"]["execution_success"], true, "{document}");
    assert_eq!(document["questions"], Value::Array(vec![]));
    assert!(env.read("reports/release-report.md").contains("Decided by release owner"));
}

#[test]
fn the_release_check_holds_back_what_is_refused() {
    let env = project();
    env.file("answers.yaml", "- choose: reject\n  text: The crust is burnt.\n");
    env.run(&["run", "process", PROCESS, "--answers", "answers.yaml", "--no-input"]);
    let report = env.read("reports/release-report.md");
    assert!(
        report.contains("**Hold.** Decided by tester") && report.contains("The crust is burnt."),
        "{report}"
    );
}

#[test]
fn the_release_check_outside_a_repository_says_so() {
    let env = project();
    fs::remove_dir_all(env.path(".git")).unwrap();
    env.run(&["run", "process", PROCESS, "--no-input"])
        .exits(3)
        .says("This directory is not a git repository");
}
