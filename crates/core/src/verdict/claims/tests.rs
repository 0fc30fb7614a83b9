//! Reports that contradict themselves are found, and honest ones are left alone.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn contradicts(outputs: Value) -> bool {
    let Value::Object(outputs) = outputs else { panic!("outputs are a mapping") };
    Claims::of_outputs(&outputs, Severity::High).contradiction().is_some()
}

/// Outputs of an honest report that passes, each beside a PASS.
fn honest() -> Vec<Value> {
    vec![
        json!({}),
        json!({"failed": 0, "errors": [], "findings": [], "issues": [], "problems": {}, "error": null}),
        json!({"errors": "none", "error": "", "failures": "0", "failed": "0", "violations": "No issues."}),
        json!({"findings": [{"severity": "low", "title": "A name"}, {"severity": "medium", "title": "Long"}]}),
        json!({"findings": [{"severity": "critical", "title": "Hash", "status": "fixed"}]}),
        json!({"issues": [{"severity": "high", "title": "x", "resolved": true}]}),
        json!({"findings": {"critical": 0, "high": [], "low": 3}}),
        json!({"summary": "No test may fail; errors are handled", "notes": "FAIL fast was kept on"}),
        json!({"checks": [{"name": "old", "pass": false, "verdict": "FAIL"}]}),
        json!({"tests": {"passed": 12, "failed": 0, "skipped": 1}, "status": "done", "error": 0.02}),
        json!({"error_rate": 0.5, "failure_modes": ["none is left"], "expected_failures": 3}),
        json!({"errors": [null, "", "none"], "blocked": false, "has_errors": false, "isValid": true}),
        json!({"problems": ["critical path is covered", "low: a name could be better"]}),
    ]
}

/// What speaks against a PASS that stands beside it.
fn against() -> Vec<Value> {
    vec![
        json!({"pass": false}),
        json!({"Passed": "no"}),
        json!({"verdict": "FAIL"}),
        json!({"decision": "changes requested"}),
        json!({"approved": false}),
        json!({"success": false}),
        json!({"ready": false}),
        json!({"isReady": false}),
        json!({"error": "it crashed"}),
        json!({"error": {"message": "it crashed"}}),
        json!({"errors": ["one"]}),
        json!({"errors": "two assertions do not hold"}),
        json!({"failed": ["test_a"]}),
        json!({"failed": "2"}),
        json!({"findings": [{"severity": "Critical", "title": "Weak hash"}]}),
        json!({"issues": [{"level": "blocker", "message": "It does not start"}]}),
        json!({"problems": ["HIGH: injection"]}),
        json!({"security_findings": {"critical": 2}}),
        json!({"review": {"summary": {"verdict": "rejected"}}}),
        json!({"report": {"findings": [{"severity": "high", "title": "x"}]}}),
    ]
}

fn beside(word: Value, more: &Value) -> Value {
    let mut outputs = word;
    for (key, value) in more.as_object().into_iter().flatten() {
        outputs[key] = value.clone();
    }
    outputs
}

#[test]
fn a_good_word_with_anything_against_it_is_a_contradiction() {
    for more in against() {
        assert!(contradicts(beside(json!({"result": "PASS"}), &more)), "{more}");
        assert!(!contradicts(beside(json!({"result": "FAIL"}), &more)), "{more}");
    }
    assert!(contradicts(json!({"result": "FAIL", "approved": true})));
    assert!(contradicts(json!({"pass": true, "PASS": false})));
}

#[test]
fn honest_reports_are_left_alone() {
    for more in honest() {
        assert!(!contradicts(beside(json!({"result": "PASS"}), &more)), "{more}");
    }
    // What is good about a part says nothing against a bad whole.
    assert!(!contradicts(json!({"result": "FAIL", "lint": {"passed": true}, "tests": {"passed": false}})));
}

#[test]
fn a_severity_that_the_dialect_lets_pass_is_none_against_it() {
    let outputs = json!({"verdict": "approved", "findings": [{"severity": "high", "title": "x"}]});
    let outputs = outputs.as_object().unwrap();
    assert!(Claims::of_outputs(outputs, Severity::High).contradiction().is_some());
    assert!(Claims::of_outputs(outputs, Severity::Critical).contradiction().is_none());
}

#[test]
fn a_contradiction_names_both_places() {
    let outputs = json!({"result": "PASS", "report": {"pass": false}});
    let two = Claims::of_outputs(outputs.as_object().unwrap(), Severity::High).contradiction().unwrap();
    assert_eq!(
        two.to_string(),
        "the report contradicts itself: `outputs.result` says PASS, and `outputs.report.pass` says false; say which one \
         holds, and report nothing against it"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Prose is never a claim, and honest outputs stay honest whatever is put together of them.
    #[test]
    fn no_mixture_of_honest_outputs_contradicts_itself(
        picked in prop::collection::vec(0..honest().len(), 0..5),
        prose in "[a-zA-Z ,.:]{0,60}(fail|FAILED|error|critical|reject)?[a-z ]{0,20}",
    ) {
        let mut outputs = json!({"result": "PASS", "summary": prose, "notes": [prose], "what_was_done": {"text": prose}});
        for at in picked {
            outputs = beside(outputs, &honest()[at]);
        }
        prop_assert!(!contradicts(outputs.clone()), "{}", outputs);
    }

    /// One thing against it is found, whatever honest things stand around it and however deep it is.
    #[test]
    fn nothing_hides_what_speaks_against_it(
        honest_at in 0..honest().len(),
        against_at in 0..against().len(),
        depth in 0_usize..3,
    ) {
        let mut bad = against()[against_at].clone();
        for _ in 0..depth {
            bad = json!({"details": bad});
        }
        let outputs = beside(beside(json!({"result": "PASS"}), &honest()[honest_at]), &bad);
        prop_assert!(contradicts(outputs.clone()), "{}", outputs);
    }
}
