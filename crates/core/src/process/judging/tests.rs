//! Verdicts that steps owe, and what contradicts them.

use serde_json::json;

use super::*;

fn against(outputs: Value) -> Vec<String> {
    let Value::Object(outputs) = outputs else { panic!("outputs are a mapping") };
    objections(&outputs)
}

#[test]
fn k_110_outputs_that_say_no_are_found_whatever_they_are_called() {
    for outputs in [
        json!({"pass": false}),
        json!({"valid": false}),
        json!({"is_valid": "no"}),
        json!({"Passed": false}),
        json!({"tests-passed": false}),
        json!({"verdict": "FAIL"}),
        json!({"status": "failed"}),
        json!({"result": "Rejected"}),
        json!({"decision": "changes requested"}),
        json!({"errors": ["one"]}),
        json!({"failures": [{"test": "a"}]}),
        json!({"blocking_issues": {"a": 1}}),
        json!({"error_count": 3}),
        json!({"failed": true}),
        json!({"passed": 10, "failed": 2}),
        json!({"report": {"summary": {"pass": false}}}),
    ] {
        assert_eq!(against(outputs.clone()).len(), 1, "{outputs}");
    }
}

#[test]
fn outputs_that_say_yes_or_speak_of_parts_say_nothing_against_it() {
    for outputs in [
        json!({}),
        json!({"pass": true, "errors": [], "failures": [], "error_count": 0, "verdict": "PASS"}),
        json!({"passed": 12, "failed": 0, "skipped": 1}),
        json!({"notes": "no failure was found", "summary": "FAIL fast was kept on"}),
        json!({"checks": [{"name": "style", "pass": false}]}),
        json!({"failed": false, "blocked": false}),
    ] {
        assert_eq!(against(outputs.clone()), Vec::<String>::new(), "{outputs}");
    }
    assert_eq!(
        against(json!({"report": {"is_valid": false}})),
        [r#"its outputs say "report, is valid: false""#]
    );
}
