//! `prompt render` and `prompt check`: what is sent to an agent, and what is refused.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::Value;
use serde_json::json;

use crate::support::Env;

/// A step file as it is kept, with these phases in its record.
fn step_file(phases: &[&str]) -> String {
    let log: Vec<Value> =
        phases.iter().map(|name| json!({"phase_name": name, "status": "NOT_EXECUTED"})).collect();
    json!({
        "task_id": "01-02",
        "project_id": "bakery",
        "self_contained_context": {"background": "Bread is baked at night.", "technical_context": "Rust."},
        "task_specification": {
            "name": "Knead",
            "description": "Knead the dough.",
            "acceptance_criteria": ["The dough is smooth"],
            "allowed_file_patterns": ["src/dough/**"],
        },
        "tdd_cycle": {"phase_execution_log": log},
    })
    .to_string()
}

const SEVEN: [&str; 7] =
    ["PREPARE", "RED_ACCEPTANCE", "RED_UNIT", "GREEN", "REVIEW", "REFACTOR_CONTINUOUS", "COMMIT"];

const RENDER: [&str; 10] = [
    "prompt",
    "render",
    "--template",
    "execute-step",
    "--values",
    "steps/01-02.json",
    "--set",
    "agent_name=software-crafter",
    "--set",
    "agent_specialty=baking",
];

/// A workspace with a step file.
fn workspace() -> Env {
    let env = Env::new();
    env.file("steps/01-02.json", step_file(&SEVEN));
    env
}

// DS-31: rendered from the template and the step file, and valid.
#[test]
fn ds_31_a_step_file_becomes_a_prompt_that_passes_the_check() {
    let env = workspace();
    let prompt = env.run(&RENDER).exits(0);
    assert_eq!(prompt.stderr, "");
    for words in [
        "<!-- DES-STEP-FILE: steps/01-02.json -->",
        "YOUR ONLY TASK: Execute the 7-phase TDD cycle for step 01-02",
        "approximately 50 turns",
        "BEGIN EXECUTION NOW.",
    ] {
        assert!(prompt.stdout.contains(words), "{words}: {}", prompt.stdout);
    }
    env.file("p.md", &prompt.stdout);
    insta::assert_snapshot!(env.run(&["prompt", "check", "p.md"]).snapshot(), @r"
    --- stdout
    p.md: command:/nw:execute, can be sent
    --- exit 0
    ");
    env.run(&["check", "p.md"]).exits(0).says("p.md: prompt, no problems found");
}

// DS-71: the cost is in the document.
#[test]
fn ds_71_render_tells_machines_the_prompt_and_its_cost() {
    let env = workspace();
    let (document, exit) = env.json(&[&RENDER[..], &["--schema", "v1", "--out", "p.md"]].concat());
    assert_eq!(exit, Some(0));
    assert_eq!((&document["template"], &document["schema"]), (&json!("execute-step"), &json!("1.0")));
    assert_eq!(document["prompt"], json!(env.read("p.md")));
    assert_eq!(document["file"], json!("p.md"));
    let [before, after] = ["before", "after"].map(|which| document["tokens"][which].as_u64().unwrap());
    assert!(before > 0 && after > before + 1000, "{before} {after}");
    assert!(env.read("p.md").contains("14-phase"));
}

#[test]
fn ds_31_values_that_are_missing_are_all_named() {
    let env = Env::new();
    insta::assert_snapshot!(env.run(&["prompt", "render", "--template", "baseline-create"]).snapshot(), @r"
    --- stdout
    error: no value was given for `{agent_name}`
      help: give a value for `agent_name`
    error: no value was given for `{project_id}`
      help: give a value for `project_id`
    error: no value was given for `{self_contained_context.background}`
      help: give a value for `self_contained_context.background`
    error: no value was given for `{task_specification.description}`
      help: give a value for `task_specification.description`

    4 error(s); no prompt was made
    --- exit 1
    ");
    let (document, exit) = env.json(&["prompt", "render", "--template", "baseline-create"]);
    assert_eq!((document["findings"].as_array().map(Vec::len), exit), (Some(4), Some(1)));
}

#[test]
fn a_file_that_is_no_prompt_is_not_replaced_unasked() {
    let env = workspace();
    env.file("notes.md", "mine\n");
    let out = |more: &[&str]| env.run(&[&RENDER[..], &["--out", "notes.md"], more].concat());
    out(&[]).exits(2).says("notes.md exists and is no prompt");
    assert_eq!(env.read("notes.md"), "mine\n");
    out(&["--force"]).exits(0).says("written: notes.md");
    out(&[]).exits(0);
}

#[test]
fn what_was_typed_wrongly_is_usage() {
    let env = workspace();
    for (args, hint) in [
        (&["render", "--template", "execute-stp"][..], "did you mean `execute-step`?"),
        (
            &["render", "--template", "execute-step", "--schema", "v9"],
            "there are v1.0, v2.0, v3.0, v4.0, v5.0",
        ),
        (&["render", "--template", "execute-step", "--set", "x"], "is not of the form NAME=VALUE"),
        (&["render", "--template", "execute-step", "--values", "none.yaml"], "cannot be read"),
        (&["render", "--template", "execute-step", "--templates", "none"], "is not a folder"),
        (&["check", "none.md"], "cannot be read"),
        (&["check", "steps/01-02.json", "--command", "/nw:exceute"], "did you mean `/nw:execute`?"),
    ] {
        env.run(&[&["prompt"], args].concat()).exits(2).says(hint);
    }
    env.run(&["prompt"]).exits(2);
    env.run(&["prompt", "render"]).exits(2);
}

// DS-22, DS-80: all errors, each with its remedy.
#[test]
fn ds_22_check_says_everything_at_once() {
    let env = Env::new();
    env.file(
        "p.md",
        "<!-- DES-ORIGIN: command:/nw:baseline -->\n<!-- DES-VALIDATION: required -->\n\n# TASK_CONTEXT\n\n",
    );
    insta::assert_snapshot!(env.run(&["prompt", "check", "p.md"]).snapshot(), @r"
    --- stdout
    error[DES_METADATA]: MISSING: Mandatory section 'DES_METADATA' not found
     --> p.md:1:1
      |
    1 | <!-- DES-ORIGIN: command:/nw:baseline -->
      | ^
      |
      = help: put these lines at the very top of the prompt, before any other text:
              <!-- DES-VERSION: 1.0 -->

    error[AGENT_IDENTITY]: MISSING: Mandatory section 'AGENT_IDENTITY' not found
     --> p.md:1:1
      |
    1 | <!-- DES-ORIGIN: command:/nw:baseline -->
      | ^
      |
      = help: add a heading `# AGENT_IDENTITY` at the start of a line, and under it: who the agent is, its specialty, the step and the project

    error[TASK_CONTEXT]: EMPTY: Mandatory section 'TASK_CONTEXT' has no content
     --> p.md:4:1
      |
    4 | # TASK_CONTEXT
      | ^^^^^^^^^^^^^^
      |
      = help: write under it: background, technical context, the task and its acceptance criteria

    error[OUTCOME_RECORDING]: MISSING: Mandatory section 'OUTCOME_RECORDING' not found
     --> p.md:1:1
      |
    1 | <!-- DES-ORIGIN: command:/nw:baseline -->
      | ^
      |
      = help: add a heading `# OUTCOME_RECORDING` at the start of a line, and under it: how each result is recorded, and when

    error[BOUNDARY_RULES]: MISSING: Mandatory section 'BOUNDARY_RULES' not found
     --> p.md:1:1
      |
    1 | <!-- DES-ORIGIN: command:/nw:baseline -->
      | ^
      |
      = help: add a heading `# BOUNDARY_RULES` at the start of a line, and under it: the one task, what is allowed, what is forbidden, and what to do on completion

    error[TIMEOUT_INSTRUCTION]: MISSING: Mandatory section 'TIMEOUT_INSTRUCTION' not found
     --> p.md:1:1
      |
    1 | <!-- DES-ORIGIN: command:/nw:baseline -->
      | ^
      |
      = help: add a heading `# TIMEOUT_INSTRUCTION` at the start of a line, and under it: a budget, such as `approximately 50 turns`, and what to do when it does not suffice

    error[TIMEOUT_INSTRUCTION]: MISSING: No timeout/turn-limit instruction found
     --> p.md:1:1
      |
    1 | <!-- DES-ORIGIN: command:/nw:baseline -->
      | ^
      |
      = help: say a number of turns or minutes, such as: finish within approximately 50 turns

    7 error(s): it cannot be sent
    --- exit 1
    ");
}

#[test]
fn ds_17_check_tells_machines_four_fields() {
    let env = Env::new();
    env.file("p.md", "Find the cause.\n");
    let (document, exit) = env.json(&["prompt", "check", "p.md"]);
    assert_eq!(exit, Some(0));
    assert_eq!(document["warnings"][0]["message"], json!("Prompt not DES-tagged - validation skipped"));
    let mut keys: Vec<&String> = document.as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(keys, ["errors", "metadata", "valid", "warnings"]);
    // K-32: for a known sender the registry decides, not what the text says of itself.
    let (document, exit) = env.json(&["prompt", "check", "p.md", "--command", "/nw:execute"]);
    assert_eq!((exit, &document["valid"]), (Some(1), &json!(false)));
    assert!(
        document["errors"]
            .as_array()
            .unwrap()
            .iter()
            .all(|error| !error["help"].as_str().unwrap().is_empty())
    );
}

#[test]
fn a_prompt_can_come_from_standard_input() {
    let env = workspace();
    let prompt = env.run(&RENDER).exits(0).stdout;
    let mut command = env.command(&["prompt", "check", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(prompt.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "-: command:/nw:execute, can be sent\n");
    assert_eq!(output.status.code(), Some(0));
}

// E-73 on the command line, and K-01: the list is that of the schema which is named.
#[test]
fn e_73_a_phase_that_is_missing_is_named() {
    let env = workspace();
    let prompt = env.run(&[&RENDER[..], &["--schema", "v1"]].concat()).exits(0).stdout;
    env.file("p.md", prompt.replace("| 6 | REVIEW |", "| 6 | - |"));
    let (document, exit) = env.json(&["prompt", "check", "p.md"]);
    assert_eq!(exit, Some(1));
    assert_eq!(document["errors"][0]["message"], json!("INCOMPLETE: TDD phase 'REVIEW' not mentioned"));
    assert_eq!(document["errors"].as_array().map(Vec::len), Some(1));
    env.run(&["prompt", "check", "p.md", "--schema", "v3"]).exits(1);
}

// DS-10: a project's own templates and rules lie over those that are built in.
#[test]
fn ds_10_the_templates_of_the_project_are_used() {
    let env = workspace();
    let folder = "nWave/templates/prompt-templates";
    let own = "---\nextends: base-task\ncommand: /nw:baseline\n---\n<!-- DES-ORIGIN: command:/nw:baseline -->\n\
               <!-- DES-VALIDATION: required -->\n<!-- DES-VERSION: 1.0 -->\n# TASK_CONTEXT\nWeigh the {thing}.\n";
    env.file(&format!("{folder}/baseline-create.template.md"), own).file("elsewhere/x.txt", "");
    let args = ["prompt", "render", "--template", "baseline-create", "--set", "thing=flour"];
    let rest = ["--set", "agent_name=a", "--set", "agent_specialty=b", "--set", "project_id=c"];
    env.run(&[&args[..], &rest].concat()).exits(0).says("Weigh the flour.");
    env.run(&[&args[..], &rest, &["--templates", "elsewhere"]].concat()).exits(1);
    let file = format!("{folder}/baseline-create.template.md");
    env.run(&["check", &file]).exits(0).says("template, no problems found");
    env.file(
        &format!("{folder}/_validation-schema.json"),
        "{\"commands\": {\"/x:y\": {\"level\": \"sometimes\"}}}",
    );
    env.run(&[&args[..], &rest].concat()).exits(2).says("`sometimes` is not a level of validation");
}

// K-01: a project may have phases of its own; prompts are made and checked by them.
#[test]
fn k_01_the_phases_of_the_project_are_used() {
    let env = workspace();
    env.file("seriatim.toml", "[guard]\nphases = \"phases.yaml\"\n")
        .file(
            "phases.yaml",
            "version: \"7.0\"\ntitles: [OUR_PHASES]\nphases: [{name: MIX, gate: G1}, BAKE]\n",
        )
        .file("steps/01-02.json", step_file(&["MIX", "BAKE"]));
    let prompt = env.run(&RENDER).exits(0).stdout;
    assert!(prompt.contains("# OUR_PHASES\n") && prompt.contains("| 1 | BAKE | - |"), "{prompt}");
    env.file("p.md", &prompt);
    env.run(&["prompt", "check", "p.md"]).exits(0);
    env.run(&["prompt", "check", "p.md", "--schema", "v3"]).exits(1);
    env.file("seriatim.toml", "[guard]\nphases = \"../phases.yaml\"\n");
    env.run(&["prompt", "check", "p.md"]).exits(2).says("cannot be used");
}
