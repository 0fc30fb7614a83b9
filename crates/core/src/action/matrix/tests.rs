//! Tests of the nine actions.

use std::collections::BTreeSet;

use super::*;
use crate::action::gate::Does;
use crate::action::inputs;
use crate::action::paths;
use crate::action::plan::Action;
use crate::action::plan::resolve;
use crate::action::roles;

fn action(name: &str) -> Action {
    resolve(name, None, None).unwrap()
}

/// The shape of a plan in one line.
fn drawn(name: &str) -> String {
    let action = action(name);
    let mut parts = vec![];
    for stage in &action.stages {
        let duties: Vec<&str> = stage.duties.iter().map(|duty| duty.role.as_str()).collect();
        parts.push(duties.join("+"));
        parts.extend(stage.gates.iter().map(|gate| format!("[{} {}]", gate.kind.word(), gate.name)));
    }
    parts.join(" ")
}

fn asked(name: &str) -> Vec<String> {
    let action = action(name);
    let missing = inputs::missing(&action.prerequisites, &BTreeSet::new(), &BTreeSet::new());
    missing.iter().map(|input| input.words.clone()).collect()
}

// OC-100 to OC-108: all nine start from their contracts and ask for what is missing.
#[test]
fn oc_15_every_action_asks_for_everything_that_it_needs() {
    for contract in &CONTRACTS {
        let words: Vec<&str> = contract.inputs.iter().map(|need| need.words).collect();
        assert_eq!(asked(contract.name), words, "{}", contract.name);
        assert!(!words.is_empty() && !contract.outputs.is_empty() && !contract.purpose.is_empty());
        for input in &action(contract.name).prerequisites {
            assert!(input.question(contract.name).question.contains(&input.words));
        }
    }
}

#[test]
fn oc_100_init_yields_the_scaffold_without_an_approval() {
    assert_eq!(asked("init"), ["project name", "domain context", "target users", "initial entities"]);
    assert_eq!(drawn("init"), "product-manager");
    let outputs = action("init").outputs;
    let documented = [
        "planning-mds/BLUEPRINT.md",
        "planning-mds/domain/glossary.md",
        "planning-mds/architecture/SOLUTION-PATTERNS.md",
    ];
    assert_eq!(outputs, documented);
    assert_eq!(paths::missing(&outputs, &BTreeSet::new()), documented);
    assert_eq!(contract("init").unwrap().gates, GateRule::ArtifactsExist);
}

#[test]
fn oc_101_plan_has_both_approvals() {
    assert_eq!(
        drawn("plan"),
        "product-manager [clarification requirements-clarification] [approval requirements-approval] architect [approval \
         architecture-approval]"
    );
    assert_eq!(action("plan").outputs, ["planning-mds/BLUEPRINT.md"]);
}

#[test]
fn oc_102_build_is_reviewed_before_it_is_approved() {
    assert_eq!(
        drawn("build"),
        "architect backend-developer+frontend-developer+ai-engineer+quality-engineer+devops [quality build-quality] \
         code-reviewer+security [approval build-approval]"
    );
    assert_eq!(contract("build").unwrap().gates, GateRule::Severity);
    let build = action("build");
    let ai = build.duties().find(|duty| duty.role == "ai-engineer").unwrap();
    assert!(!ai.condition.is_empty());
}

#[test]
fn oc_103_feature_is_scoped_and_reviewed() {
    assert!(asked("feature").contains(&"which feature is to be built".to_owned()));
    assert!(drawn("feature").ends_with("code-reviewer+security [approval feature-approval]"));
    assert_eq!(contract("feature").unwrap().gates, GateRule::Severity);
}

#[test]
fn oc_104_review_yields_findings_and_an_approval() {
    assert_eq!(drawn("review"), "code-reviewer+security [approval review-approval]");
    assert!(action("review").duties().all(|duty| duty.review));
}

#[test]
fn oc_105_validate_goes_through_its_checklist() {
    assert_eq!(drawn("validate"), "product-manager+architect [self-review validation-checklist]");
    assert_eq!(contract("validate").unwrap().gates, GateRule::Checklist);
}

#[test]
fn oc_106_test_is_stopped_by_thresholds() {
    assert_eq!(drawn("test"), "quality-engineer [quality test-quality]");
    let gate = &action("test").stages[0].gates[0];
    assert_eq!(gate.kind.does(), Does::Measure);
    assert_eq!(gate.limits[0].to_string(), "80%");
}

#[test]
fn oc_107_document_has_a_review() {
    assert_eq!(drawn("document"), "technical-writer [editorial documentation-review]");
}

#[test]
fn oc_108_blog_has_checks_before_it_ends() {
    assert_eq!(drawn("blog"), "blogger [editorial editorial-review]");
}

#[test]
fn every_role_of_the_nine_actions_is_known() {
    for contract in &CONTRACTS {
        for duty in action(contract.name).duties() {
            let known = roles::known(&duty.role).unwrap();
            assert_eq!(known.name, duty.role);
            assert!(!duty.writes.is_empty() && duty.timeout_ms > 0, "{}", duty.role);
        }
    }
}
