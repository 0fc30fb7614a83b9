//! The early block: each rule broken alone gives its message at its line, and nothing begins (PX-99, K-72).

use serde_json::Value;
use serde_json::json;
use seriatim_flows::registry::End;

use crate::build;
use crate::story::Story;
use crate::world::World;

/// A valid definition, of which each test breaks one thing.
const WORK: &str = r#"---
definition:
  id: "PROC-5.1"
  name: Handle a change
  version: "1.0"
  information_composition:
    formal: 60
    tacit: 30
    emergent: 10
interfaces:
  inputs:
    - type: change
      required: true
    - type: focus
steps:
  - id: "5.1.1"
    name: Gather
    capability: Elicit
    pattern: AI-Only
    human_role: None
    ai_role: collector
  - id: "5.1.2"
    name: Sign
    capability: Decide
    pattern: Human-Only
    human_role: owner
    ai_role: None
    escalation_triggers:
      - condition: It is not ready
        action: RETURN
        severity: LOW
        target: "5.1.1"
control_flow:
  fix_steps:
    - id: "5.1.2a"
      name: Mend
      trigger_from: "5.1.2"
      capability: Transform
      pattern: AI-Only
      human_role: None
      ai_role: mender
flow: |
  flowchart TD
    A --> B
---
"#;

fn run(text: &str, inputs: Value) -> Story {
    World::new(Value::Null).file(build::DEFINITION, text).inputs(inputs).run()
}

/// `RULE line message`, one for each finding.
fn findings(story: &Story) -> Vec<String> {
    let all = story.ended.findings.iter().flat_map(|f| &f.findings);
    all.map(|f| format!("{} {} {}", f.rule, f.place.line, f.message)).collect()
}

/// Breaks one thing, and looks at everything that follows from it.
#[track_caller]
fn breaks(old: &str, new: &str, expected: &[&str], told: &str) {
    assert!(WORK.contains(old), "{old}");
    let story = run(&WORK.replacen(old, new, 1), json!({"change": "a.rs"}));
    assert_eq!(findings(&story), expected);
    blocked(&story, told);
}

/// What every early block leaves behind.
#[track_caller]
fn blocked(story: &Story, told: &str) {
    assert_eq!(story.called(), Vec::<String>::new());
    assert_eq!(story.asked(), Vec::<String>::new());
    assert_eq!(story.ended.status, End::Blocked);
    assert_eq!(
        story.ended.message,
        format!("The process could not continue because {told}. Manual intervention required.")
    );
    assert_eq!(story.summary(), format!("Process blocked: {told}"));
    let all = story.ended.findings.iter().flat_map(|f| &f.findings);
    let messages: Vec<&str> = all.map(|f| f.message.as_str()).collect();
    let log = story.log();
    assert_eq!(log["execution"]["status"], "BLOCKED");
    assert_eq!(log["step_executions"], json!([]));
    assert_eq!(story.events(), ["BLOCK - > - - #1"]);
    assert_eq!(log["control_flow_events"][0]["reason"], messages.join("; "));
    let instance = story.instance();
    assert_eq!(instance["status"], "FAILED");
    assert_eq!(instance["run_count"], 1);
    assert_eq!(instance["execution_log_id"], log["execution"]["id"]);
    assert_eq!(instance["outcome"]["process_result"], "BLOCKED");
    let none = json!({
        "completed_steps": [], "partial_outputs": {}, "failed_at": null,
        "partial_results": {}, "error_step": null, "error_count": 0,
    });
    assert_eq!(instance["outcome"]["outputs"], none);
}

#[test]
fn a_valid_definition_begins() {
    let story = run(WORK, json!({"change": "a.rs"}));
    assert_eq!(story.ended.status, End::Completed);
}

#[test]
fn px_100_v1_shares_that_do_not_add_up_block() {
    let message = "Information composition must sum to 100 (got 99)";
    breaks("formal: 60", "formal: 59", &[&format!("V1 6 {message}")], message);
}

/// E-04, PX-101, PX-103, K-74.
#[test]
fn e_04_px_101_px_103_k_74_c1_and_c3_are_both_found_and_people_are_told_once() {
    breaks(
        "human_role: owner\n    ai_role: None",
        "human_role: owner\n    ai_role: advisor",
        &[
            "C1 27 C1 violated in step 5.1.2: Human-Only pattern cannot have AI role",
            "C3 25 C3 violated in step 5.1.2: AI role defined but pattern is Human-Only",
        ],
        "Human-Only pattern cannot have AI role in step \"Sign\"",
    );
}

/// PX-102, PX-104, K-74.
#[test]
fn px_102_px_104_k_74_c2_and_c4_are_both_found_and_people_are_told_once() {
    breaks(
        "human_role: None\n    ai_role: collector",
        "human_role: observer\n    ai_role: collector",
        &[
            "C2 20 C2 violated in step 5.1.1: AI-Only pattern cannot have human role",
            "C4 19 C4 violated in step 5.1.1: Human role defined but pattern is AI-Only",
        ],
        "AI-Only pattern cannot have human role in step \"Gather\"",
    );
}

#[test]
fn px_105_v3_a_gap_in_the_ids_blocks() {
    // The step with the wrong number is the only one, so that nothing else refers to it.
    let text = WORK.replace("5.1.1", "5.1.3");
    let story = run(&text, json!({"change": "a.rs"}));
    assert_eq!(findings(&story), ["V3 16 Step IDs must be sequential (found 5.1.3, 5.1.2)"]);
    blocked(&story, "Step IDs must be sequential (found \"Gather\", \"Sign\")");
}

/// E-05, E-06: the order is one of numbers, within each process.
#[test]
fn e_06_px_105_v3_counts_by_number_and_per_process() {
    let ids = |ids: &[&str]| {
        let steps =
            ids.iter().map(|id| build::alone(id, &format!("Part {}", id.replace('.', "-")), "Analyse"));
        let story = World::new(build::definition(steps.collect())).run();
        (story.ended.status, findings(&story).len())
    };
    let ten: Vec<String> = (1..=10).map(|n| format!("5.1.{n}")).collect();
    assert_eq!(ids(&ten.iter().map(String::as_str).collect::<Vec<_>>()), (End::Completed, 0));
    assert_eq!(ids(&["5.1.1", "5.1.2", "5.1.10"]), (End::Blocked, 1));
    assert_eq!(ids(&["5.1.1", "5.2.2"]), (End::Blocked, 1));
    assert_eq!(ids(&["5.1.1", "5.2.1"]), (End::Completed, 0));
}

#[test]
fn px_106_v4_a_return_to_nowhere_blocks() {
    let message = "RETURN target '5.1.9' does not exist in step 5.1.2";
    let told = "RETURN target '5.1.9' does not exist in step \"Sign\"";
    breaks("target: \"5.1.1\"", "target: \"5.1.9\"", &[&format!("V4 32 {message}")], told);
}

/// E-07, PX-106.
#[test]
fn e_07_px_106_v4_a_correction_is_no_target() {
    let message = "RETURN target '5.1.2a' does not exist in step 5.1.2";
    let told = "RETURN target \"Mend\" does not exist in step \"Sign\"";
    breaks("target: \"5.1.1\"", "target: \"5.1.2a\"", &[&format!("V4 32 {message}")], told);
}

#[test]
fn px_107_v5_a_trigger_without_severity_blocks() {
    let message = "Escalation trigger in step 5.1.2 missing required severity";
    let told = "Escalation trigger in step \"Sign\" missing required severity";
    breaks("        severity: LOW\n", "", &[&format!("V5 29 {message}")], told);
}

#[test]
fn px_108_v6_a_correction_of_nothing_blocks() {
    let story = run(
        &WORK
            .replace("\"5.1.2a\"", "\"5.1.7a\"")
            .replace("trigger_from: \"5.1.2\"", "trigger_from: \"5.1.7\""),
        json!({"change": "a.rs"}),
    );
    assert_eq!(findings(&story), ["V6 37 Fix step 5.1.7a references non-existent step 5.1.7"]);
    blocked(&story, "Fix step \"Mend\" references non-existent step 5.1.7");
}

#[test]
fn px_109_v6_a_correction_is_called_after_its_step() {
    let message = "Fix step ID must be parent step + 'a' suffix";
    breaks("id: \"5.1.2a\"", "id: \"5.1.2b\"", &[&format!("V6 35 {message}")], message);
}

#[test]
fn px_110_v7_without_a_diagram_it_blocks() {
    let message = "ProcessDefinition must include a flow diagram (Mermaid)";
    breaks("flow: |\n  flowchart TD\n    A --> B\n", "flow: \"\"\n", &[&format!("V7 42 {message}")], message);
}

/// E-09, PX-111.
#[test]
fn e_09_px_111_v8_a_required_input_that_is_missing_or_null_blocks() {
    let message = "Required input 'change' not provided in instance context";
    for inputs in [json!({}), json!({"change": null})] {
        let story = run(WORK, inputs);
        let found = findings(&story);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("V8 ") && found[0].ends_with(message), "{found:?}");
        assert_eq!(story.ended.findings[0].path, build::INSTANCE);
        blocked(&story, message);
    }
}

#[test]
fn px_112_v8_an_input_that_nobody_declared_is_only_noted() {
    let story = run(WORK, json!({"change": "a.rs", "colour": "blue"}));
    assert_eq!(story.ended.status, End::Completed);
    let noted = "EVENT Input outside the interface: Input 'colour' provided but not in interface definition";
    assert_eq!(story.observed()[0], noted);
}

#[test]
fn px_99_everything_that_is_wrong_is_said_at_once_and_in_order() {
    let text = WORK.replacen("formal: 60", "formal: 59", 1).replacen("        severity: LOW\n", "", 1);
    let story = run(&text, json!({}));
    let rules: Vec<&str> =
        story.ended.findings.iter().flat_map(|f| &f.findings).map(|f| f.rule.as_str()).collect();
    assert_eq!(rules, ["V1", "V5", "V8"]);
    assert_eq!(story.events().len(), 1);
}

#[test]
fn px_20_a_dry_run_blocks_as_well_and_leaves_the_instance_alone() {
    let world =
        World::new(Value::Null).file(build::DEFINITION, &WORK.replacen("formal: 60", "formal: 59", 1));
    let story = world.inputs(json!({"change": "a.rs"})).rehearsal().run();
    assert_eq!(findings(&story), ["V1 6 Information composition must sum to 100 (got 99)"]);
    assert_eq!(story.ended.status, End::Blocked);
    assert_eq!(story.instance()["status"], "PLANNED");
    assert_eq!(story.instance()["run_count"], 0);
    assert_eq!(story.seen.instances, Vec::<String>::new());
}
