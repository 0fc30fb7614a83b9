//! `process list` and `process show`: definitions are found, told in words, and drawn.

use crate::support::Env;

const REVIEW: &str = r#"---
definition:
  id: "PROC-5.3"
  name: "Code review"
  description: "Look at a change before it goes in."
  version: "1.0"
  phase: 5
  information_composition: {formal: 50, tacit: 30, emergent: 20}
interfaces:
  inputs:
    - {type: "change", required: true, description: "The change to look at."}
  outputs: []
steps:
  - id: "5.3.1"
    name: "Run the checks"
    capability: "Validate"
    pattern: "AI-Led"
    human_role: "Chooses the checks"
    ai_role: "Runs them"
    escalation_triggers:
      - {condition: "A secret was found", action: ESCALATE, severity: HIGH}
      - {condition: "The checks fail", action: RETURN, severity: HIGH, target: "PROC-5.1"}
    completion_criteria: ["Every check has a result"]
  - id: "5.3.2"
    name: "Decide"
    capability: "Decide"
    pattern: "Human-Only"
    human_role: "Decides"
    ai_role: "None"
    escalation_triggers:
      - {condition: "The reviewer wants other checks", action: RETURN, severity: LOW, target: "5.3.1"}
    completion_criteria: ["There is a decision"]
quality:
  entry_criteria:
    - "The change is complete"
  exit_criteria: ["There is a decision"]
  sla: {expected_duration_minutes: 20, timeout_minutes: 60}
flow: "first, then second"
---
"#;

const HELLO: &str = r#"---
definition:
  id: "PROC-1.1"
  name: "Hello"
  description: "Say hello."
  version: "1.0"
  phase: 1
  information_composition: {formal: 90, tacit: 10, emergent: 0}
interfaces: {inputs: [], outputs: []}
steps:
  - {id: "1.1.1", name: "Say it", capability: "Generate", pattern: "AI-Only", human_role: "None", ai_role: "Greeter",
     escalation_triggers: [], completion_criteria: ["It was said"]}
flow: "one step"
---
"#;

/// Two definitions, and files that are none.
fn workspace() -> Env {
    let env = Env::new();
    env.file("process-review.yaml", REVIEW)
        .file("flows/processes/hello.yaml", HELLO)
        .file("processes/notes.yaml", "flour: 500 g\n")
        .file("node_modules/process-not-ours.yaml", HELLO);
    env
}

#[test]
fn list_names_the_definitions_of_the_workspace() {
    let env = workspace();
    insta::assert_snapshot!(env.run(&["process", "list"]).snapshot(), @r"
    --- stdout
    name         id        steps  path
    Hello        PROC-1.1  1      flows/processes/hello.yaml
    Code review  PROC-5.3  2      process-review.yaml

    More with:  seriatim process show ID
    --- exit 0
    ");
    let (document, exit) = env.json(&["process", "list"]);
    assert_eq!(exit, Some(0));
    assert_eq!(
        document,
        serde_json::json!({"processes": [
            {"id": "PROC-1.1", "name": "Hello", "path": "flows/processes/hello.yaml", "steps": 1, "phase": 1,
             "type": "generation"},
            {"id": "PROC-5.3", "name": "Code review", "path": "process-review.yaml", "steps": 2, "phase": 5,
             "type": "review"},
        ]})
    );
    assert!(!env.store().exists(), "looking leaves nothing behind");
}

#[test]
fn an_empty_workspace_says_where_definitions_are_looked_for() {
    let env = Env::new();
    env.run(&["process", "list"])
        .exits(0)
        .says("There are no process definitions")
        .says("folders named processes");
    assert_eq!(env.json(&["process", "list"]).0, serde_json::json!({"processes": []}));
}

#[test]
fn show_tells_the_process_in_words_and_draws_its_flow() {
    let env = workspace();
    let shown = env.run(&["process", "show", "PROC-5.3"]).exits(0);
    assert!(shown.stderr.is_empty(), "{}", shown.snapshot());
    insta::assert_snapshot!(shown.snapshot());
    // The same process by its name and by its file.
    for wanted in ["code review", "process-review.yaml"] {
        assert_eq!(env.run(&["process", "show", wanted]).stdout, shown.stdout);
    }
}

#[test]
fn show_json_carries_the_technical_side() {
    let env = workspace();
    let (document, _) = env.json(&["process", "show", "PROC-5.3"]);
    assert_eq!(document["engagement"]["level"], "medium");
    assert_eq!(document["type"], "review");
    assert_eq!(document["steps"][0]["pattern"], "AI-Led");
    assert_eq!(document["steps"][0]["triggers"][1]["target"], "PROC-5.1");
    assert_eq!(document["sla"]["timeout_minutes"], 60.0);
    assert!(document["flow"]["mermaid"].as_str().unwrap().starts_with("flowchart TD\n"));
    assert!(document["flow"]["text"].as_str().unwrap().contains("5.3.2 Decide"));
    assert_eq!((&document["svg"], &document["errors"]), (&serde_json::Value::Null, &serde_json::json!(0)));
}

#[test]
fn an_instance_shows_the_process_that_it_is_of() {
    let env = Env::new();
    env.bakery(&["Knead the dough", "P:Taste it"]);
    env.run(&["process", "show", "instance.yaml"])
        .exits(0)
        .says("5.1.2 Taste it")
        .says("◆ Decide · a person");
}

#[test]
fn mermaid_is_printed_alone() {
    let output = workspace().run(&["process", "show", "PROC-1.1", "--mermaid"]).exits(0);
    insta::assert_snapshot!(output.snapshot(), @r#"
    --- stdout
    flowchart TD
      begin((begin))
      s1["1.1.1 Say it<br/>Generate, an agent alone"]
      done((end))
      begin --> s1 --> done
    --- exit 0
    "#);
}

#[test]
fn a_picture_is_drawn_into_a_file_and_drawn_again() {
    let env = workspace();
    env.run(&["process", "show", "PROC-5.3", "--svg", "pictures/review.svg"])
        .exits(0)
        .says("pictures/review.svg");
    let first = env.read("pictures/review.svg");
    assert!(first.starts_with("<svg ") && first.contains("<title id=\"seriatim-title\">Code review</title>"));
    // What was drawn before is drawn anew, to the byte.
    env.run(&["process", "show", "PROC-1.1", "--svg", "pictures/review.svg"]).exits(0);
    let (document, _) = env.json(&["process", "show", "PROC-5.3", "--svg", "pictures/review.svg"]);
    assert_eq!(document["svg"], "pictures/review.svg");
    assert_eq!(env.read("pictures/review.svg"), first);
    env.assert_tidy();
}

#[test]
fn a_file_of_somebody_else_is_not_replaced_unasked() {
    let env = workspace();
    env.file("mine.svg", "<svg>mine</svg>\n");
    insta::assert_snapshot!(env.run(&["process", "show", "PROC-5.3", "--svg", "mine.svg"]).snapshot(), @r"
    --- stderr
    error: mine.svg exists and was not drawn by seriatim; it was left as it is
    help: name another file, or replace it with --force
    --- exit 2
    ");
    assert_eq!(env.read("mine.svg"), "<svg>mine</svg>\n");
    env.run(&["process", "show", "PROC-5.3", "--svg", "mine.svg", "--force"]).exits(0);
    assert!(env.read("mine.svg").contains("Code review"));
    // A folder is no place for a picture, whatever is said.
    env.run(&["process", "show", "PROC-5.3", "--svg", "flows", "--force"]).exits(2);
    env.run(&["process", "show", "PROC-5.3", "--force"]).exits(2);
}

#[test]
fn what_is_no_process_is_said_with_the_closest_name() {
    let env = workspace();
    insta::assert_snapshot!(env.run(&["process", "show", "PROC-5.4"]).snapshot(), @r"
    --- stderr
    error: there is no process `PROC-5.4`, and no such file
    help: did you mean `PROC-5.3`? `seriatim process list` lists them
    --- exit 2
    ");
    env.run(&["process", "show", "processes/notes.yaml"]).exits(2).says("is not a process");
    env.file("process-other.yaml", REVIEW);
    env.run(&["process", "show", "PROC-5.3"]).exits(2).says("process-other.yaml, process-review.yaml");
    env.file("process-broken.yaml", "definition: [\n");
    env.run(&["process", "show", "process-broken.yaml"]).exits(1);
}

#[test]
fn a_definition_with_errors_is_shown_with_a_warning() {
    let env = workspace();
    env.file("process-review.yaml", REVIEW.replace("formal: 50", "formal: 49"));
    let output = env.run(&["process", "show", "process-review.yaml"]).exits(0);
    assert!(output.stderr.contains("has 1 error(s)"), "{}", output.snapshot());
    assert!(output.stdout.contains("5.3.2 Decide"));
}
