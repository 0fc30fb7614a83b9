//! Nothing is good by default, on the program itself: a validation process and agents that say no, nothing, or both.

use crate::support::Env;

/// A validation of one step, by an agent that runs `script`.
fn validation(script: &str) -> Env {
    let env = Env::new();
    env.file("process-check.yaml", DEFINITION);
    env.file("agent.sh", script);
    env.file(
        "seriatim.toml",
        "[agents.default]\nkind = \"command\"\nargv = [\"sh\", \"agent.sh\"]\nenv = [\"PATH\"]\n",
    );
    env
}

const DEFINITION: &str = r#"---
definition:
  id: "PROC-5.1"
  name: "Validate the change"
  description: "Say whether the change is right."
  version: "1.0"
  phase: 5
  type: "validation"
  information_composition: {formal: 100, tacit: 0, emergent: 0}
steps:
  - id: "5.1.1"
    name: "Check"
    capability: "Validate"
    pattern: "AI-Only"
    human_role: "None"
    ai_role: "Checker"
flow: |
  ```mermaid
  flowchart LR
    check --> report
  ```
"#;

const RUN: [&str; 4] = ["run", "process", "process-check.yaml", "--no-input"];

#[test]
fn k_110_a_report_that_contradicts_itself_is_corrected_then_asked_about() {
    let again = "contradicts itself: `verdict` says PASS, and `outputs.pass` says false";
    let twice = "`outputs.result` stands twice in the report";
    for (outputs, said) in [(r#"{"pass": false}"#, again), (r#"{"result": "FAIL", "result": "PASS"}"#, twice)]
    {
        let report = format!(
            r#"{{"status": "done", "summary": "Looked at it", "verdict": "PASS", "outputs": {outputs}}}"#
        );
        let env = validation(&format!("echo x >> calls.txt; echo '{report}' > \"$SERIATIM_REPORT\"\n"));
        env.run(&RUN).exits(3).says(said);
        env.run(&["verify"]).exits(0);
    }
}

#[test]
fn k_110_a_verdict_of_the_agent_is_a_pass_on_its_word() {
    let report = r#"{"status": "done", "summary": "Looked at it", "verdict": "PASS"}"#;
    let env = validation(&format!("echo '{report}' > \"$SERIATIM_REPORT\"\n"));
    env.run(&RUN).exits(0).says("the result is PASS, on the agent's word.");
}

#[test]
fn k_110_no_agent_that_does_not_answer_ends_a_validation_well() {
    for script in [
        "exit 1\n",
        "kill -9 $$\n",
        "exit 127\n",
        "exit 0\n",
        "echo 'all is well' > \"$SERIATIM_REPORT\"\n",
        "echo '{\"status\": \"partial\", \"verdict\": \"PASS\"}' > \"$SERIATIM_REPORT\"\n",
        "echo '{\"status\": \"failed\", \"verdict\": \"PASS\"}' > \"$SERIATIM_REPORT\"\n",
        "echo '{\"status\": \"done\", \"outputs\": {}}' > \"$SERIATIM_REPORT\"\n",
    ] {
        let env = validation(script);
        env.run(&RUN).exits(3).says("How should I proceed?");
        // Letting it go on is a person's word about the step, and no verdict.
        env.run(&["answer", "q1", "skip", "--by", "ada", "--resume"])
            .exits(1)
            .says("the result is PARTIAL. Not known: 'Check' gave no verdict: skipped by ada");
    }
}

#[test]
fn a_person_in_the_place_of_the_agent_says_whether_it_passes() {
    for (choice, code, says) in [
        ("pass", 0, "the result is PASS."),
        ("fail", 1, "the result is FAIL. Not good: 'Check' does not pass: three are red."),
    ] {
        let env = validation("exit 1\n");
        env.file("seriatim.toml", "[agents.default]\nkind = \"human\"\n");
        env.run(&RUN).exits(3).says("It passes").says("It does not pass").says("It could not be done");
        env.run(&["answer", "a1", choice, "--text", "three are red", "--by", "ada", "--resume"])
            .exits(code)
            .says(says);
    }
}

/// A rule that cannot be understood is an error of the definition, and never a rule that does not hold.
#[test]
fn a_trigger_whose_condition_cannot_be_read_stops_before_any_agent_is_called() {
    let env = validation("touch called; exit 1\n");
    let trigger = "    ai_role: \"Checker\"\n    escalation_triggers:\n      - {condition: \"bad\", when: \"outputs.a >\", \
                   action: BLOCK, severity: HIGH}\n";
    env.file("process-check.yaml", DEFINITION.replace("    ai_role: \"Checker\"\n", trigger));
    env.run(&RUN).exits(1).says("process-check.yaml:18:").says("nothing was started");
    assert!(!env.path("called").exists());
}
