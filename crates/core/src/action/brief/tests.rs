//! Tests of briefs.

use super::*;
use crate::action::approval;
use crate::action::gate::GateKind;
use crate::action::plan::resolve;

fn build() -> Action {
    resolve("build", None, None).unwrap()
}

fn said(role: &str, feedback: &[String]) -> String {
    let action = build();
    let duty = action.duties().find(|duty| duty.role == role).unwrap();
    let inputs = [("intent".to_owned(), "build it".to_owned())];
    let material = Material {
        open: &[],
        action: &action,
        duty,
        guide: "# Guide\nDo it well.\n",
        contract: "# Action: Build\n",
        inputs: &inputs,
        feedback,
    };
    prompt(&material)
}

// OC-07, OC-13
#[test]
fn oc_07_a_brief_holds_the_guide_as_it_is_written() {
    let text = said("backend-developer", &[]);
    assert!(text.starts_with("# Backend Developer: action \"build\"\n"), "{text}");
    for part in [
        "## Your guide\n\n# Guide\nDo it well.",
        "- engine/**",
        "- planning-mds/**",
        "- intent: build it",
        "# Action: Build",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("outputs.findings") && !text.contains("different this time"));
    assert!(said("security", &[]).contains("outputs.findings"));
}

// OC-37, OC-54: feedback stands in front of everything else, word by word.
#[test]
fn oc_85_feedback_is_in_the_next_brief() {
    let words = approval::feedback("Customer.Email is missing");
    let text = said("backend-developer", std::slice::from_ref(&words));
    assert!(text.contains(&words));
    assert!(text.find(&words) < text.find("## Inputs"));
}

#[test]
fn oc_105_a_self_review_names_every_point() {
    let gate = |checklist: &[&str]| Gate {
        kind: GateKind::SelfReview,
        name: "x".to_owned(),
        command: vec![],
        limits: vec![],
        checklist: checklist.iter().map(|point| (*point).to_owned()).collect(),
    };
    assert!(self_review(&gate(&["a holds", "b holds"])).ends_with("points:\n- a holds\n- b holds"));
    assert!(!self_review(&gate(&[])).contains("points"));
}

// OC-10, OC-15
#[test]
fn oc_15_conditions_and_open_points_are_asked_and_never_guessed() {
    let action = build();
    let ai = action.duties().find(|duty| !duty.condition.is_empty()).unwrap();
    let question = condition_question("build", ai);
    assert!(
        question.question.contains("the AI Engineer works only if the scope includes AI"),
        "{}",
        question.question
    );
    let open = clarification_question("plan", "requirements", &["Who pays?".to_owned()]);
    assert_eq!(open.options[0].id, "guide");
    assert!(open.choose("guide", None).is_err());
    assert_eq!(clarification_question("plan", "requirements", &[]).options[0].id, "approve");
}
