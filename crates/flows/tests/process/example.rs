//! The worked example: a review of a change in four steps, from the first file to the last (PX-151).

use serde_json::Value;
use serde_json::json;
use seriatim_flows::registry::End;

use crate::build;
use crate::story::Story;
use crate::world::World;

const DEFINITION: &str = r#"---
definition:
  id: "PROC-5.1"
  name: Code review
  description: Looks at a change before it is merged
  version: "1.0"
  phase: 5
  information_composition: {formal: 65, tacit: 25, emergent: 10}
interfaces:
  inputs:
    - type: change
      required: true
      description: The change to look at
  outputs:
    - type: review_report
      description: What was found, and what should be done
steps:
  - id: "5.1.1"
    name: Gather context
    description: Read the change, the files around it and the reason for it
    capability: Elicit
    pattern: AI-Only
    human_role: None
    ai_role: code-reader
    completion_criteria: The reason for the change is known
  - id: "5.1.2"
    name: Analyse the change
    description: Look for faults, weak spots and missing tests
    capability: Analyse
    pattern: AI-Led
    human_role: Answers what only people know
    ai_role: code-reviewer
    escalation_triggers:
      - condition: The change touches authentication
        action: ESCALATE
        severity: HIGH
        context: Security changes require human review before approval
      - condition: The change cannot be understood
        action: RETURN
        severity: MEDIUM
        target: "5.1.1"
  - id: "5.1.3"
    name: Write the report
    capability: Generate
    pattern: AI-Led
    human_role: Reads it first
    ai_role: code-reviewer
  - id: "5.1.4"
    name: Keep the report
    capability: Preserve
    pattern: AI-Only
    human_role: None
    ai_role: archivist
quality:
  exit_criteria:
    - Every finding has a place and a remedy
flow: |
  ```mermaid
  flowchart LR
    A[Gather context] --> B[Analyse the change] --> C[Write the report] --> D[Keep the report]
    B -->|not understood| A
  ```
references:
  rules: [house-style]
---
"#;

/// What the run leaves in its log, to the letter.
const LOG: &str = r#"---
execution:
  id: EXEC-20260118-150001
  instance_id: PINST-20260118-143052
  started: "2026-01-18T15:00:01Z"
  completed: "2026-01-18T15:00:17Z"
  status: COMPLETED
  executor:
    agent: process-executor
step_executions:
  - step_id: "5.1.1"
    step_name: Gather context
    capability: Elicit
    pattern: AI-Only
    started: "2026-01-18T15:00:02Z"
    completed: "2026-01-18T15:00:04Z"
    duration_ms: 2000
    status: COMPLETED
    outcome_summary: Gather context is done
    decisions: []
    observations:
      - OBS-20260118-150003
    iteration: 1
  - step_id: "5.1.2"
    step_name: Analyse the change
    capability: Analyse
    pattern: AI-Led
    started: "2026-01-18T15:00:05Z"
    completed: "2026-01-18T15:00:08Z"
    duration_ms: 3000
    status: COMPLETED
    outcome_summary: Two weak spots in the login
    decisions:
      - DEC-20260118-150007
    observations:
      - OBS-20260118-150006
      - OBS-20260118-150007
    escalation:
      trigger: The change touches authentication
      action: ESCALATE
      severity: HIGH
      target: human
      context: Security changes require human review before approval
      human_response: approve
    iteration: 1
  - step_id: "5.1.3"
    step_name: Write the report
    capability: Generate
    pattern: AI-Led
    started: "2026-01-18T15:00:09Z"
    completed: "2026-01-18T15:00:11Z"
    duration_ms: 2000
    status: COMPLETED
    outcome_summary: The report is written
    decisions: []
    observations:
      - OBS-20260118-150010
    iteration: 1
  - step_id: "5.1.4"
    step_name: Keep the report
    capability: Preserve
    pattern: AI-Only
    started: "2026-01-18T15:00:12Z"
    completed: "2026-01-18T15:00:14Z"
    duration_ms: 2000
    status: COMPLETED
    outcome_summary: Keep the report is done
    decisions: []
    observations:
      - OBS-20260118-150013
    iteration: 1
audit_summary:
  total_decisions: 1
  total_observations: 5
  decision_ids:
    - DEC-20260118-150007
  observation_ids:
    - OBS-20260118-150003
    - OBS-20260118-150006
    - OBS-20260118-150007
    - OBS-20260118-150010
    - OBS-20260118-150013
control_flow_events: []
errors: []
---
"#;

fn reviewed() -> Story {
    let mut world =
        World::new(Value::Null).file(build::DEFINITION, DEFINITION).inputs(json!({"change": "PR 12"}));
    let instance = &mut world.instance["instance"];
    instance["plain_english_description"] = json!("Review the authentication PR for security issues");
    world
        .reports(
            "5.1.2",
            json!({
                "status": "done", "summary": "Two weak spots in the login", "confidence": 85,
                "outputs": {"weak_spots": 2},
                "triggers": ["The change touches authentication"],
                "decisions": [{"subject": "Depth", "outcome": "Read every line", "rationale": "it is the login"}],
                "observations": [{"type": "MEASUREMENT", "subject": "Weak spots", "value": 2}],
            }),
        )
        .reports(
            "5.1.3",
            json!({"status": "done", "summary": "The report is written", "outputs": {"review_report": "Two findings"}}),
        )
        .run()
}

#[test]
fn px_151_the_example_runs_as_it_is_told() {
    let story = reviewed();
    assert_eq!(story.called(), ["5.1.1/1", "5.1.2/1", "5.1.3/1", "5.1.4/1", "exit-criteria/1"]);
    assert_eq!(
        story.asked(),
        [
            "Analyse the change: Something needs your attention: The change touches authentication. Context: Security \
          changes require human review before approval. -> approve"
        ]
    );
    assert_eq!(story.ended.status, End::Completed);
    assert_eq!(story.result(), "APPROVED");
    assert_eq!(*story.outputs(), json!({"review_report": "Two findings"}));
    assert_eq!(story.instance()["execution_log_id"], story.log()["execution"]["id"]);
    assert_eq!(story.log()["audit_summary"]["total_decisions"], 1);
}

#[test]
fn px_151_the_log_of_the_example() {
    let story = reviewed();
    assert_eq!(story.files[&story.logs()[0]], LOG);
}
