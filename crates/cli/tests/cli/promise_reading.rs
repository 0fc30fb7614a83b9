//! Files of configuration and state that are there and cannot be used, over all dialects: one row for each file, one column
//! for each defect. Every cell ends before any agent is called, changes nothing, and tells the file, the line where there
//! is one, and a remedy. Where a cell does not apply the table says why.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::support::Env;
use crate::support::is_root;

const OTHER: u32 = 65_534;
const GOAL: &str = "Add a function add to src/calc.py that returns the sum of two numbers";
const CYCLE: &[&str] = &["run", "cycle", "--goal", GOAL, "--no-input"];
const ACTION: &[&str] = &["run", "action", "build", "--no-input"];
const STEP: &[&str] = &["run", "step", "@software-crafter", "calc", "01-01", "--no-input"];
const ROADMAP: &[&str] = &["run", "roadmap", "calc", "--no-input"];
const PROCESS: &[&str] = &["run", "process", "instance.yaml", "--no-input"];
const GATES: &[&str] = &["gates"];

const PROSE: &str = "prose: every text is one";
const NO_NAMES: &str = "it names nothing that could be missing";
const NO_PATTERNS: &str = "it holds no patterns";

/// What a text in place of the file leads to.
enum Cell {
    /// Refused, at this line.
    Line(u32, &'static str),
    /// The defect cannot occur there, or is none.
    No(&'static str),
}

use Cell::Line;
use Cell::No;

struct Row {
    path: &'static str,
    command: &'static [&'static str],
    /// What is in the file otherwise; absent where it is laid out for every row.
    good: Option<&'static str>,
    /// The exit code of a text with errors; what cannot be read at all is always 2.
    exit: i32,
    syntax: Cell,
    wrong_type: Cell,
    reference: Cell,
    pattern: Cell,
    empty: Cell,
}

impl Row {
    /// A document in prose, of which only the reading can fail.
    const fn prose(path: &'static str, command: &'static [&'static str], good: &'static str) -> Row {
        Row {
            path,
            command,
            good: Some(good),
            exit: 2,
            syntax: No(PROSE),
            wrong_type: No(PROSE),
            reference: No(PROSE),
            pattern: No(PROSE),
            empty: No("an empty one says nothing, as an absent one"),
        }
    }

    const fn configuration(command: &'static [&'static str]) -> Row {
        Row {
            path: "seriatim.toml",
            command,
            good: None,
            exit: 2,
            syntax: Line(1, "[agents\n"),
            wrong_type: Line(2, "[agents.default]\nkind = 3\n"),
            reference: Line(3, "[agents.default]\nkind = \"human\"\nfallback = \"nobody\"\n"),
            pattern: Line(
                2,
                "[redact]\npatterns = [\"(\"]\n[gates]\ntests = {command = [\"true\"], value = \"[\"}\n",
            ),
            empty: No("valid TOML that configures nothing"),
        }
    }

    const fn lifecycle(
        path: &'static str,
        command: &'static [&'static str],
        good: Option<&'static str>,
    ) -> Row {
        Row {
            path,
            command,
            good,
            exit: 2,
            syntax: Line(1, "current_stage: [\n"),
            wrong_type: Line(2, "current_stage: a\nstages: [a]\ngates: {}\n"),
            reference: Line(4, "current_stage: a\nstages:\n  a:\n    required_gates: [docs]\ngates: {}\n"),
            pattern: No(NO_PATTERNS),
            empty: Line(1, ""),
        }
    }

    const fn roadmap(command: &'static [&'static str]) -> Row {
        Row {
            path: "docs/feature/calc/roadmap.yaml",
            command,
            good: None,
            exit: 2,
            syntax: Line(1, "phases: [\n"),
            wrong_type: Line(1, "- project_id: calc\n"),
            reference: Line(
                7,
                "project_id: calc\nphases:\n  - phase_id: \"01\"\n    steps:\n      - step_id: \"01-01\"\n        name: add\n        dependencies: [\"99-99\"]\n        acceptance_criteria: [it adds]\n",
            ),
            pattern: No(NO_PATTERNS),
            empty: Line(1, ""),
        }
    }
}

const TABLE: &[Row] = &[
    Row::configuration(CYCLE),
    Row::configuration(ACTION),
    Row::configuration(STEP),
    Row::configuration(PROCESS),
    Row {
        path: "script.yaml",
        command: CYCLE,
        good: None,
        exit: 2,
        syntax: Line(1, "- {\n"),
        wrong_type: Line(1, "report: {status: done}\n"),
        reference: No(NO_NAMES),
        pattern: No(NO_PATTERNS),
        empty: Line(1, ""),
    },
    Row {
        path: "docs/agent_docs/SETUP_AUTOMATION.yaml",
        command: CYCLE,
        good: Some("loop: {max_duration: 30}\n"),
        exit: 2,
        syntax: Line(1, "loop: [\n"),
        wrong_type: Line(1, "loop: {max_duration: soon}\n"),
        reference: Line(3, "agents:\n  judge:\n    required_checks: [lintr]\n"),
        pattern: Line(3, "agents:\n  actor:\n    forbidden_commands: ['rm (-rf']\n"),
        empty: Line(1, ""),
    },
    Row::prose("docs/context/current_cycle.md", CYCLE, ""),
    Row {
        path: "agents/agent-map.yaml",
        command: ACTION,
        good: None,
        exit: 2,
        syntax: Line(1, "agents: [\n"),
        wrong_type: Line(2, "agents: {}\nactions: 3\n"),
        reference: Line(5, "agents: {}\nactions:\n  build:\n    steps:\n      - agent: nobody\n"),
        pattern: No(NO_PATTERNS),
        empty: Line(1, ""),
    },
    Row {
        path: "agents/actions/build.md",
        command: ACTION,
        good: Some("# Action: build\n\n## User Intent\n\nBuild it.\n"),
        exit: 2,
        syntax: Line(2, "---\nsteps: [\n---\n# Action: build\n"),
        wrong_type: Line(2, "---\n- steps\n---\n# Action: build\n"),
        reference: Line(3, "---\nsteps:\n  - agent: nobody\n---\n# Action: build\n"),
        pattern: No(NO_PATTERNS),
        empty: Line(1, ""),
    },
    Row::prose("agents/actions/README.md", ACTION, "- [build](./build.md) - Build it\n"),
    Row {
        path: "agents/backend-developer/SKILL.md",
        command: ACTION,
        good: Some("# Backend developer\n\nWrite it.\n"),
        exit: 2,
        syntax: Line(2, "---\nname: [\n---\nWrite it.\n"),
        wrong_type: No("its descriptive fields are drift: the brief takes the body as it is"),
        reference: No(NO_NAMES),
        pattern: No(NO_PATTERNS),
        empty: Line(1, ""),
    },
    Row::lifecycle("lifecycle-stage.yaml", ACTION, Some("current_stage: a\nstages: {a: {}}\ngates: {}\n")),
    Row::lifecycle("lifecycle-stage.yaml", GATES, Some("current_stage: a\nstages: {a: {}}\ngates: {}\n")),
    Row::lifecycle(".snapshots/lifecycle-approved.yaml", ACTION, None),
    Row {
        path: ".snapshots/sealed.json",
        command: ACTION,
        good: None,
        exit: 2,
        syntax: Line(1, "{"),
        wrong_type: Line(1, "{\"files\": 3}"),
        reference: No(NO_NAMES),
        pattern: No(NO_PATTERNS),
        empty: Line(1, ""),
    },
    Row {
        path: ".snapshots/restores.jsonl",
        command: ACTION,
        good: None,
        exit: 2,
        syntax: Line(1, "{\n"),
        wrong_type: Line(1, "{\"at\": 3}\n"),
        reference: No(NO_NAMES),
        pattern: No(NO_PATTERNS),
        empty: No("nothing was restored"),
    },
    Row::roadmap(STEP),
    Row::roadmap(ROADMAP),
    Row {
        path: "docs/feature/calc/execution-status.yaml",
        command: STEP,
        good: None,
        exit: 2,
        syntax: Line(1, "execution_status: [\n"),
        wrong_type: Line(1, "- done\n"),
        reference: No("a step that the roadmap does not have is drift: its record is kept"),
        pattern: No(NO_PATTERNS),
        empty: Line(1, ""),
    },
    Row {
        path: "phases.yaml",
        command: STEP,
        good: None,
        exit: 2,
        syntax: Line(1, "phases: [\n"),
        wrong_type: Line(2, "version: \"1\"\nphases: []\n"),
        reference: No(NO_NAMES),
        pattern: No(NO_PATTERNS),
        empty: Line(1, ""),
    },
    Row {
        path: "instance.yaml",
        command: PROCESS,
        good: None,
        exit: 1,
        syntax: Line(1, "instance: [\n"),
        wrong_type: Line(1, "instance: 3\n"),
        reference: No("the definition that it names has a row of its own"),
        pattern: No(NO_PATTERNS),
        empty: Line(1, ""),
    },
    Row {
        path: "process.yaml",
        command: PROCESS,
        good: None,
        exit: 1,
        syntax: Line(1, "definition: [\n"),
        wrong_type: Line(1, "- definition\n"),
        reference: No("rules V1 to V8 block the run, as `check` tells"),
        pattern: No(NO_PATTERNS),
        empty: Line(1, ""),
    },
    Row::prose("principles.md", PROCESS, "# Principles\n"),
];

/// A workspace in which every dialect could begin.
fn lay_out(row: &Row) -> Env {
    let env = Env::new();
    env.git(&["init", "--quiet", "--initial-branch=main"]);
    env.bakery(&["Bake"]);
    env.file("agent.sh", "touch called\nprintf '{\"status\": \"done\"}' > \"$SERIATIM_REPORT\"\n");
    env.file(
        "seriatim.toml",
        "[agents.default]\nkind = \"command\"\nargv = [\"sh\", \"agent.sh\"]\n\n[agents.played]\nkind = \"scripted\"\n\
         script = \"script.yaml\"\n\n[guard]\nphases = \"phases.yaml\"\n\n[process]\nprinciples = \"principles.md\"\n",
    );
    env.file("script.yaml", "- {report: {status: done}}\n").file("principles.md", "# Principles\n");
    env.file("phases.yaml", "version: \"9.9\"\nphases:\n  - {name: PREPARE}\n  - {name: COMMIT}\n");
    env.file("agents/agent-map.yaml", MAP).file("planning-mds/BLUEPRINT.md", "# Blueprint\n");
    env.file("docs/feature/calc/roadmap.yaml", PLAN);
    env.file("docs/feature/calc/execution-status.yaml", STATUS);
    if let Some(good) = row.good {
        env.file(row.path, good);
    }
    env
}

const MAP: &str = "agents:\n  backend-developer: {writes: [engine/api.md]}\nactions:\n  build:\n    description: Build it\n    \
                   steps:\n      - agent: backend-developer\n";
const PLAN: &str = "project_id: calc\nphases:\n  - phase_id: \"01\"\n    name: all\n    steps:\n      - step_id: \"01-01\"\n        \
                    name: add\n        description: Add two numbers\n        acceptance_criteria: [it adds]\n";
const STATUS: &str =
    "execution_status:\n  schema_version: \"1.0\"\n  project_id: calc\n  completed_steps: []\n";

/// Everything in a folder, without git's own.
fn files(folder: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if entry.file_name() == ".git" {
            continue;
        }
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.insert(path.display().to_string(), vec![]);
            files(&path, found);
        } else {
            found.insert(path.display().to_string(), fs::read(&path).unwrap_or_default());
        }
    }
}

/// Runs the row's command, and asserts that it is refused with a file, a line and a remedy, and that nothing happened.
#[track_caller]
fn refused(env: &Env, row: &Row, column: &str, exit: i32, line: Option<u32>) {
    let mut before = BTreeMap::new();
    files(&env.root, &mut before);
    let output = env.run(row.command);
    let cell = format!("{} x {column} ({:?}):\n{}{}", row.path, row.command, output.stdout, output.stderr);
    assert_eq!(output.exit, Some(exit), "{cell}");
    match line {
        Some(line) => assert!(output.stderr.contains(&format!("{}:{line}", row.path)), "{cell}"),
        None => assert!(output.stderr.contains(row.path), "{cell}"),
    }
    // The documented runner of gates has a form of its own, in which there is no place for more.
    assert!(output.stderr.contains("help: ") || row.command == GATES, "{cell}");
    let mut after = BTreeMap::new();
    files(&env.root, &mut after);
    assert!(before == after, "something was changed: {cell}");
    assert!(!env.store().exists(), "a run was recorded: {cell}");
}

fn in_column(column: &str, cell: fn(&Row) -> &Cell) {
    for row in TABLE {
        match cell(row) {
            Line(line, text) => {
                let env = lay_out(row);
                env.file(row.path, text);
                refused(&env, row, column, row.exit, Some(*line));
            }
            No(why) => assert!(!why.is_empty()),
        }
    }
}

/// Puts something else in the place of each file.
fn in_place(column: &str, exit: fn(&Row) -> i32, put: fn(&mut Env, &Path)) {
    for row in TABLE {
        let mut env = lay_out(row);
        let path = env.path(row.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if path.exists() {
            fs::remove_file(&path).unwrap();
        }
        put(&mut env, &path);
        refused(&env, row, column, exit(row), None);
    }
}

#[test]
fn law_1_the_workspace_of_the_table_lets_every_dialect_begin() {
    for row in TABLE {
        let env = lay_out(row);
        let output = env.run(row.command);
        assert_ne!(output.exit, Some(2), "{} {:?}: {}", row.path, row.command, output.stderr);
    }
}

#[test]
fn law_1_a_file_with_a_syntax_error_stops_before_any_agent_is_called() {
    in_column("syntax error", |row| &row.syntax);
}

#[test]
fn law_1_a_file_with_a_wrong_type_stops_before_any_agent_is_called() {
    in_column("wrong type", |row| &row.wrong_type);
}

#[test]
fn law_1_a_file_with_an_unknown_reference_stops_before_any_agent_is_called() {
    in_column("unknown reference", |row| &row.reference);
}

#[test]
fn law_1_a_file_with_a_bad_pattern_stops_before_any_agent_is_called() {
    in_column("bad regular expression", |row| &row.pattern);
}

#[test]
fn law_1_an_empty_file_stops_before_any_agent_is_called_unless_it_means_something() {
    in_column("empty", |row| &row.empty);
}

#[test]
fn law_1_a_file_that_is_not_utf_8_stops_before_any_agent_is_called() {
    in_place("not UTF-8", |row| row.exit, |_, path| fs::write(path, b"a: \xff\n").unwrap());
}

#[test]
fn law_1_a_folder_in_place_of_a_file_stops_before_any_agent_is_called() {
    in_place("a folder", |_| 2, |_, path| fs::create_dir(path).unwrap());
}

#[test]
fn law_1_a_link_that_leads_nowhere_stops_before_any_agent_is_called() {
    in_place("dead link", |_| 2, |_, path| symlink("gone.yaml", path).unwrap());
}

#[test]
fn law_1_a_link_that_leaves_the_workspace_stops_before_any_agent_is_called() {
    in_place(
        "link out",
        |_| 2,
        |env, path| {
            let outside = env.root.with_file_name("outside");
            fs::write(&outside, "a: 1\n").unwrap();
            symlink(&outside, path).unwrap();
        },
    );
}

#[test]
fn law_1_a_file_that_may_not_be_read_stops_before_any_agent_is_called() {
    if !is_root() {
        println!("not tried: only the superuser can become another user");
        return;
    }
    in_place(
        "mode 000",
        |_| 2,
        |env, path| {
            fs::write(path, "a: 1\n").unwrap();
            env.hand_over(OTHER);
            fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
        },
    );
}
