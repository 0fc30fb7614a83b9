//! Documents from which the engine takes its orders: an agent of no dialect changes them, unless its work names them.

use std::fs;

use crate::action_support::Workshop;
use crate::cycle::Project as Cycle;
use crate::support::Env;
use crate::world_support::agent;
use crate::world_support::shared;

/// Documents that the workspace has.
const MAP: &str = "agents:\n  backend-developer: {}\nactions:\n  build: {}\n";
const ROADMAP: &str =
    "project_id: calc\nsteps:\n  - id: 01-01\n    name: Add\n    acceptance_criteria: [\"it adds\"]\n";
const STATUS: &str = "execution_status:\n  project_id: calc\n";
const LIFECYCLE: &str = "current_stage: planning\nstages: {}\ngates: {}\n";

const FINISH: &str = r#"printf '{"status": "done", "summary": "done", "confidence": 100, "artifacts": [%s], "criteria": [%s]}' \
    '"docs/feature/new/roadmap.yaml"' \
    '{"criterion": "It is done", "met": true, "confidence": 100, "reason": "seen"}' >"$SERIATIM_REPORT""#;

/// Everything that steers, whether it was there or not.
const STEERING: [&str; 13] = [
    "agents/agent-map.yaml",
    "agents/actions/build.md",
    "agents/architect/SKILL.md",
    "docs/context/current_cycle.md",
    "docs/feature/calc/audit-2026-01-01.log",
    "docs/feature/calc/execution-status.yaml",
    "docs/feature/calc/roadmap.yaml",
    "docs/feature/new/roadmap.yaml",
    "lifecycle-stage.yaml",
    "other-instance.yaml",
    "other-process.yaml",
    "principles.yaml",
    "SETUP_AUTOMATION.yaml",
];

/// A process whose agent does this before it says that it is done.
fn process(script: &str) -> Env {
    let env = Env::new();
    env.bakery(&["Knead the dough"]);
    env.file("agents/agent-map.yaml", MAP).file("lifecycle-stage.yaml", LIFECYCLE);
    env.file("docs/feature/calc/roadmap.yaml", ROADMAP);
    env.file("docs/feature/calc/execution-status.yaml", STATUS);
    env.file("other-process.yaml", env.read("process.yaml"));
    env.file("other-instance.yaml", env.read("instance.yaml"));
    env.file("principles.yaml", "principles: []\n");
    let config = agent(&env, &format!("{script}\n{FINISH}"));
    env.file("seriatim.toml", format!("{config}\n[process]\nprinciples = \"principles.yaml\"\n"));
    env.git(&["init", "--quiet", "--initial-branch=main"]);
    env
}

fn run(env: &Env) {
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(0);
}

#[test]
fn what_steers_runs_is_held_back_and_named_before_all_other_files() {
    let paths = STEERING.join(" ");
    let env = process(&format!(
        "for path in {paths} seriatim.toml; do mkdir -p \"$(dirname $path)\"; echo '# evil' >>$path; done\n\
         for n in 1 2 3 4 5 6 7 8 9 10 11 12; do echo bread >a$n.txt; done"
    ));
    let before: Vec<Option<String>> =
        STEERING.iter().map(|path| fs::read_to_string(env.path(path)).ok()).collect();
    run(&env);
    for (path, before) in STEERING.iter().zip(before) {
        assert_eq!(fs::read_to_string(env.path(path)).ok(), before, "{path}");
    }
    assert_eq!(env.read("a12.txt"), "bread\n");
    let shown = env.run(&["show", &env.newest()]).exits(0);
    let shown = STEERING.iter().fold(shown, |shown, path| shown.says(path));
    shown.says("held back, since runs are steered by it: ").says("seriatim.toml").says("and 4 more");
    env.run(&["log", &env.newest(), "--json"]).exits(0).says("a12.txt").says("\"held\"");
}

#[test]
fn a_step_that_names_a_document_may_write_it() {
    let env = process(&format!(
        "mkdir -p docs/feature/new; echo '{}' >docs/feature/new/roadmap.yaml; echo '# more' >>agents/agent-map.yaml",
        ROADMAP.trim_end()
    ));
    let named = "    artifacts: [./docs/feature/new/roadmap.yaml]\n    escalation_triggers";
    env.file("process.yaml", env.read("process.yaml").replacen("    escalation_triggers", named, 1));
    env.run(&["check", "process.yaml"]).exits(0);
    run(&env);
    assert_eq!(env.read("docs/feature/new/roadmap.yaml"), ROADMAP);
    assert_eq!(env.read("agents/agent-map.yaml"), MAP);
}

#[test]
fn a_removed_or_replaced_folder_takes_no_document_along() {
    for script in [
        "rm -r agents docs",
        "mv agents evil; ln -s evil agents; rm -r docs; echo evil >docs",
        "chmod 000 agents/agent-map.yaml; ln -sf ../evil.txt docs/feature/calc/roadmap.yaml; echo evil >evil.txt",
    ] {
        let env = process(script);
        run(&env);
        assert_eq!(env.read("agents/agent-map.yaml"), MAP, "{script}");
        assert_eq!(env.read("docs/feature/calc/roadmap.yaml"), ROADMAP, "{script}");
        assert!(!env.path("evil/agent-map.yaml").exists() && !env.path("agents").is_symlink());
    }
}

#[test]
fn files_that_are_only_like_documents_are_work() {
    const ALIKE: [(&str, &str); 7] = [
        ("buildspec.yml", "phases:\n  install: {}\n"),
        ("docs/roadmap.md", "# Roadmap\n"),
        ("sub/Cargo.toml", "[package]\n"),
        ("Makefile", "roadmap:\n"),
        ("motor_cycle-1.rs", "fn main() {}\n"),
        ("docs/notes.md", "# Action: call the baker\n"),
        ("events.jsonl", "{\"event\": \"click\"}\n"),
    ];
    let writes = ALIKE.map(|(path, text)| format!("printf '%s' '{text}' >{path}")).join("\n");
    let env = process(&format!("mkdir -p docs sub\n{writes}"));
    run(&env);
    for (path, text) in ALIKE {
        assert_eq!(env.read(path), text, "{path}");
    }
}

fn in_worlds(env: &Env) {
    let (home, shared) = (env.root.with_file_name("home"), shared(env));
    let config = env.read("seriatim.toml").replace("isolation = \"none\"", "isolation = \"world\"");
    let kept: Vec<&str> =
        config.lines().filter(|line| *line != "[worlds]" && !line.starts_with("share = ")).collect();
    env.file("seriatim.toml", format!("{}\n\n[worlds]\nshare = [{home:?}, {shared:?}]\n", kept.join("\n")));
}

/// A pattern of a contract names no document.
#[test]
fn a_role_that_writes_a_document_within_a_pattern_is_refused() {
    let workshop = Workshop::of("- backend-developer\n");
    in_worlds(&workshop.env);
    workshop.table(&[("backend-developer", 1, "put engine/roadmap.yaml 'steps: []'; usual; finish")]);
    workshop.build(&[]).exits(0);
    assert_eq!(workshop.count("backend-developer"), 2);
    let feedback = workshop.feedback("backend-developer", 2).join("\n");
    assert!(feedback.contains("engine/roadmap.yaml"), "{feedback}");
    assert!(!workshop.env.path("engine/roadmap.yaml").exists());
}

/// What the plan does not name is not part of what is approved.
#[test]
fn a_document_that_no_plan_names_is_in_no_approval_and_no_commit() {
    let project = Cycle::new()
        .actor("echo 'echo good morning' >greet.sh; echo '# evil' >>agents/agent-map.yaml; done_well");
    project.env.file("agents/agent-map.yaml", MAP);
    in_worlds(&project.env);
    project.env.git(&["add", "--all"]);
    project.env.git(&["commit", "--quiet", "--all", "--message=Worlds"]);
    project.run(&[]).exits(3).says("Approval").says_nothing_of("agents/agent-map.yaml |");
    project.env.run(&["show", &project.env.newest()]).exits(0).says("agents/agent-map.yaml");
    project.resume(&[("Approval", "commit", "")]).exits(0);
    assert_eq!(project.env.read("agents/agent-map.yaml"), MAP);
    assert_eq!(project.git_says(&["diff", "--name-only", "HEAD~1", "HEAD"]), "greet.sh\n");
}
