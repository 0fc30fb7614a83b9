//! `check` on broken files: the place, a picture of it, and how to mend it.

use crate::support::Env;
use crate::support::Output;

/// Checks one file with this content.
fn check(name: &str, text: impl AsRef<[u8]>) -> Output {
    let env = Env::new();
    env.file(name, text).run(&["check", name])
}

const WELL: &str = r#"---
definition:
  id: "PROC-5.1"
  name: "Bake bread"
  description: "Bake."
  version: "1.0"
  phase: 5
  information_composition: {formal: 90, tacit: 10, emergent: 0}
interfaces:
  inputs: []
  outputs: []
steps:
  - id: "5.1.1"
    name: "Knead"
    capability: "Generate"
    pattern: "AI-Only"
    human_role: "None"
    ai_role: "Baker"
    escalation_triggers: []
    completion_criteria: ["It is done"]
flow: |
  ```mermaid
  flowchart LR
    a --> b
  ```
"#;

#[test]
fn a_good_file_and_one_whose_second_document_is_null() {
    insta::assert_snapshot!(check("p.yaml", WELL).snapshot(), @r#"
    --- stdout
    p.yaml: process-definition, no problems found
    --- exit 0
    "#);
    check("p.yaml", format!("{WELL}---\n")).exits(0);
    check("p.yaml", format!("{WELL}---\n...\n")).exits(0);
}

#[test]
fn a_second_document_with_content() {
    insta::assert_snapshot!(check("p.yaml", format!("{WELL}---\nmore: true\n")).snapshot(), @r#"
    --- stdout
    error[yaml]: the file holds a second document, and only one is expected
      --> p.yaml:27:1
       |
    27 | more: true
       | ^^^^^^^^^^
       |
       = help: remove the line `---` above it, or put it into a file of its own

    1 error(s), 0 warning(s) in 1 file(s)
    --- exit 1
    "#);
}

#[test]
fn a_duplicate_key() {
    let text = WELL.replace("  phase: 5\n", "  phase: 5\n  name: \"Bake cake\"\n");
    insta::assert_snapshot!(check("p.yaml", text).snapshot(), @r#"
    --- stdout
    error[duplicate-key]: the key `name` is here twice
     --> p.yaml:8:3
      |
    8 |   name: "Bake cake"
      |   ^^^^
      |
      = help: the first is on line 4; remove or rename one of them

    1 error(s), 0 warning(s) in 1 file(s)
    --- exit 1
    "#);
}

#[test]
fn a_bomb_of_aliases_is_refused_at_once() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for i in 1..12 {
        let aliases = vec![format!("*a{}", i - 1); 10].join(", ");
        bomb.push_str(&format!("a{i}: &a{i} [{aliases}]\n"));
    }
    insta::assert_snapshot!(check("p.yaml", bomb).snapshot(), @r#"
    --- stdout
    error[alias-limit]: the aliases of this file expand to more than 100000 values or 16777216 bytes
     --> p.yaml:5:45
      |
    5 | a4: &a4 [*a3, *a3, *a3, *a3, *a3, *a3, *a3, *a3, *a3, *a3]
      |                                             ^^^
      |
      = help: write the content out, or split the file

    1 error(s), 0 warning(s) in 1 file(s)
    --- exit 1
    "#);
}

#[test]
fn more_than_sixteen_mebibytes() {
    let text = format!("{WELL}# {}\n", "x".repeat(16 << 20));
    let output = check("p.yaml", text).exits(1);
    assert!(output.stdout.len() < 4096, "{} bytes of picture", output.stdout.len());
    insta::assert_snapshot!(output.snapshot(), @r#"
    --- stdout
    error[size]: the file has 16777217 bytes, which is more than the limit of 16777216
     --> p.yaml:1:1
      |
    1 | ---
      | ^
      |
      = help: split it into several files

    1 error(s), 0 warning(s) in 1 file(s)
    --- exit 1
    "#);
}

#[test]
fn the_line_ends_of_another_system_and_a_byte_order_mark_are_fine() {
    check("p.yaml", WELL.replace('\n', "\r\n")).exits(0).says("no problems found");
    check("p.yaml", format!("\u{feff}{WELL}")).exits(0).says("no problems found");
    // And places are still right.
    let text = WELL.replace("AI-Only", "AI-Lonely").replace('\n', "\r\n");
    insta::assert_snapshot!(check("p.yaml", format!("\u{feff}{text}")).snapshot(), @r#"
    --- stdout
    error[unknown-value]: `AI-Lonely` is not a pattern
      --> p.yaml:16:14
       |
    16 |     pattern: "AI-Lonely"
       |              ^^^^^^^^^^^
       |
       = help: did you mean `AI-Only`?

    1 error(s), 0 warning(s) in 1 file(s)
    --- exit 1
    "#);
}

#[test]
fn a_tab_for_indentation() {
    insta::assert_snapshot!(check("p.yaml", WELL.replace("    name: \"Knead\"", "\tname: \"Knead\"")).snapshot(), @r#"
    --- stdout
    error[yaml]: a tab is used for indentation
      --> p.yaml:14:1
       |
    14 |     name: "Knead"
       | ^^^^
       |
       = help: use spaces

    1 error(s), 0 warning(s) in 1 file(s)
    --- exit 1
    "#);
}

#[test]
fn a_file_that_is_not_utf_8() {
    let mut bytes = WELL.replace("Bake bread", "Bake br?ad").into_bytes();
    let at = bytes.iter().position(|b| *b == b'?').unwrap();
    bytes[at] = 0xe9;
    insta::assert_snapshot!(check("p.yaml", bytes).snapshot(), @r#"
    --- stdout
    error[encoding]: the file is not valid UTF-8: byte 49 (0xE9) is at line 4, column 17
     --> p.yaml:4:17
      |
    4 |   name: "Bake br�ad"
      |                 ^
      |
      = help: save the file as UTF-8

    1 error(s), 0 warning(s) in 1 file(s)
    --- exit 1
    "#);
}

#[test]
fn an_unclosed_bracket_and_an_unclosed_quote() {
    let text = WELL.replace("[\"It is done\"]", "[\"It is done\"");
    insta::assert_snapshot!(check("p.yaml", text).snapshot(), @r#"
    --- stdout
    error[yaml]: the `[` opened here is not closed
      --> p.yaml:20:26
       |
    20 |     completion_criteria: ["It is done"
       |                          ^
       |
       = help: add the closing `]`; it seems to reach as far as line 21, column 5

    1 error(s), 0 warning(s) in 1 file(s)
    --- exit 1
    "#);
    let text = WELL.replace("name: \"Bake bread\"", "name: \"Bake bread");
    insta::assert_snapshot!(check("p.yaml", text).snapshot(), @r#"
    --- stdout
    error[yaml]: the quote " opened here is not closed
     --> p.yaml:4:9
      |
    4 |   name: "Bake bread
      |         ^
      |
      = help: add the closing "; it seems to reach as far as line 5, column 3

    1 error(s), 0 warning(s) in 1 file(s)
    --- exit 1
    "#);
}

#[test]
fn an_empty_file_and_one_that_is_no_contract() {
    insta::assert_snapshot!(check("p.yaml", "").snapshot(), @r#"
    --- stdout
    error[empty]: the file is empty
     --> p.yaml:1:1
      |
    1 |
      | ^
      |
      = help: a comment alone is no content; see `seriatim init` for files to start from

    1 error(s), 0 warning(s) in 1 file(s)
    --- exit 1
    "#);
    insta::assert_snapshot!(check("p.yaml", "flour: 500 g\n").snapshot(), @r#"
    --- stdout
    warning[not-checked]: this is no kind of file that is known here; only its syntax was checked
     --> p.yaml:1:1
      |
    1 | flour: 500 g
      | ^
      |
      = help: name the kind with --kind

    0 error(s), 1 warning(s) in 1 file(s)
    --- exit 0
    "#);
    insta::assert_snapshot!(check("p.yaml", "- flour\n").snapshot(), @r#"
    --- stdout
    warning[not-checked]: this is no kind of file that is known here; only its syntax was checked
     --> p.yaml:1:1
      |
    1 | - flour
      | ^
      |
      = help: name the kind with --kind

    0 error(s), 1 warning(s) in 1 file(s)
    --- exit 0
    "#);
}

#[test]
fn unknown_fields_and_values_warn_with_the_closest_name() {
    let text = WELL
        .replace("    ai_role:", "    descripton: \"By hand.\"\n    ai_role:")
        .replace("  version:", "  shelf_life: \"two days\"\n  version:");
    insta::assert_snapshot!(check("p.yaml", text).snapshot(), @r#"
    --- stdout
    warning[unknown-field]: unknown field `shelf_life` in the section `definition`
     --> p.yaml:6:3
      |
    6 |   shelf_life: "two days"
      |   ^^^^^^^^^^

    warning[unknown-field]: unknown field `descripton` in a step
      --> p.yaml:19:5
       |
    19 |     descripton: "By hand."
       |     ^^^^^^^^^^
       |
       = help: did you mean `description`?

    0 error(s), 2 warning(s) in 1 file(s)
    --- exit 0
    "#);
}

#[test]
fn all_findings_come_at_once_e_01_e_04() {
    let text = WELL
        .replace("formal: 90", "formal: 89")
        .replace("AI-Only", "Human-Only")
        .replace("id: \"5.1.1\"", "id: \"5.1.2\"");
    let output = check("p.yaml", text).exits(1);
    insta::assert_snapshot!(output.snapshot(), @r#"
    --- stdout
    error[V1]: Information composition must sum to 100 (got 99)
     --> p.yaml:8:3
      |
    8 |   information_composition: {formal: 89, tacit: 10, emergent: 0}
      |   ^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: change `formal`, `tacit` or `emergent`

    error[V3]: Step IDs must be sequential (found 5.1.2)
      --> p.yaml:13:9
       |
    13 |   - id: "5.1.2"
       |         ^^^^^^^
       |
       = help: number the steps as in `5.1.1`, `5.1.2`, `5.1.3`, without gaps

    error[C3]: C3 violated in step 5.1.2: AI role defined but pattern is Human-Only
      --> p.yaml:16:14
       |
    16 |     pattern: "Human-Only"
       |              ^^^^^^^^^^^^
       |
       = help: choose another pattern, or write `ai_role: None`

    error[C1]: C1 violated in step 5.1.2: Human-Only pattern cannot have AI role
      --> p.yaml:18:14
       |
    18 |     ai_role: "Baker"
       |              ^^^^^^^
       |
       = help: write `ai_role: None`, or choose another pattern

    4 error(s), 0 warning(s) in 1 file(s)
    --- exit 1
    "#);
}

#[test]
fn a_missing_file_a_folder_and_an_unknown_kind_are_usage_and_nothing_is_said_of_the_others() {
    let env = Env::new();
    env.file("p.yaml", WELL);
    insta::assert_snapshot!(env.run(&["check", "p.yaml", "q.yaml"]).snapshot(), @r#"
    --- stderr
    error: q.yaml cannot be read: No such file or directory (os error 2)
    --- exit 2
    "#);
    insta::assert_snapshot!(env.run(&["check", "."]).snapshot(), @r#"
    --- stderr
    error: . is a folder
    help: name the files in it
    --- exit 2
    "#);
    insta::assert_snapshot!(env.run(&["check", "p.yaml", "--kind", "recipe"]).snapshot(), @r#"
    --- stderr
    error: `recipe` is not a kind of file
    help: known kinds: process-definition, process-instance, execution-log, decision, observation, cycle, automation, roadmap, execution-status, execution-log-tdd, step, audit-log, action, agent-map, role, lifecycle, prompt, template, config
    --- exit 2
    "#);
    env.run(&["check"]).exits(2);
    // Checking leaves nothing behind.
    assert!(!env.store().exists());
}

#[test]
fn an_instance_is_checked_together_with_its_definition() {
    let env = Env::new();
    env.bakery(&["Knead the dough"]);
    env.run(&["check", "instance.yaml"]).exits(0);
    let text = env.read("process.yaml");
    let wants =
        "  inputs:\n    - type: \"flour\"\n      required: true\n      description: \"What to bake with.\"\n";
    env.file("process.yaml", text.replace("  inputs: []\n", wants));
    insta::assert_snapshot!(env.run(&["check", "instance.yaml"]).snapshot(), @r#"
    --- stdout
    error[V8]: Required input 'flour' not provided in instance context
      --> instance.yaml:13:5
       |
    13 |     inputs: {}
       |     ^^^^^^
       |
       = help: add `flour:` under `context.inputs`

    1 error(s), 0 warning(s) in 1 file(s)
    --- exit 1
    "#);
}
