//! Tests of approval gates.

use proptest::prelude::*;

use super::*;
use crate::action::severity::Severity;

fn entry(at: usize, concern: Concern) -> LedgerEntry {
    LedgerEntry { id: format!("F{}", at + 1), concern, seen_at: None, state: Default::default() }
}

fn summary(severities: &[Severity]) -> Summary {
    let concern = |severity: &Severity| Concern {
        severity: *severity,
        title: "hard-coded secret".to_owned(),
        file: "config.json".to_owned(),
        line: Some(12),
        remedy: String::new(),
        by: "security".to_owned(),
    };
    Summary {
        action: "build".to_owned(),
        gate: "build-approval".to_owned(),
        iteration: 1,
        work: vec!["Backend Developer - Success".to_owned()],
        findings: severities.iter().enumerate().map(|(at, one)| entry(at, concern(one))).collect(),
        can_roll_back: true,
        ..Summary::default()
    }
}

fn ids(question: &Question) -> Vec<&str> {
    question.options.iter().map(|option| option.id.as_str()).collect()
}

// OC-17, OC-52, OC-56
#[test]
fn oc_52_a_gate_offers_its_options() {
    let question = question(&summary(&[Severity::Low]));
    assert_eq!(ids(&question), ["approve", "changes", "reject", "cancel", "rollback"]);
    assert!(question.choose("approve", None).is_ok());
    assert!(
        question.details.contains("- F1 LOW: hard-coded secret in config.json:12 (security)"),
        "{}",
        question.details
    );
    assert_eq!(ids(&super::question(&Summary { can_roll_back: false, ..summary(&[]) })).len(), 4);
}

// OC-53, E-64
#[test]
fn oc_53_a_rejection_takes_a_reason() {
    let question = question(&summary(&[]));
    for id in ["reject", "changes"] {
        assert!(question.choose(id, None).is_err());
        assert!(question.choose(id, Some(" \n ")).is_err());
        assert!(question.choose(id, Some("Customer.Email is missing")).is_ok());
    }
    let reject = question.options.iter().find(|option| option.id == "reject").unwrap();
    assert!(reject.description.starts_with("Why are you rejecting this artifact?"));
}

#[test]
fn oc_54_feedback_has_the_documented_form() {
    assert_eq!(
        feedback(" Data model is missing Customer.Email field "),
        "User rejected your output with feedback:\n\"Data model is missing Customer.Email field\"\n\n\
         Please revise the artifact addressing this feedback."
    );
}

#[test]
fn e_63_a_critical_finding_cannot_be_approved() {
    let question = question(&summary(&[Severity::Critical, Severity::Low]));
    assert_eq!(ids(&question), ["fix", "changes", "reject", "cancel", "rollback"]);
    for way in ["approve", "override", "skip"] {
        assert!(question.choose(way, Some("I insist")).is_err());
    }
    assert!(question.why.contains("❌ BLOCK - Cannot proceed until resolved"));
}

#[test]
fn oc_59_high_findings_are_approved_with_words_only() {
    let question = question(&summary(&[Severity::High]));
    assert!(question.choose("approve", None).is_err());
    assert!(question.choose("approve", Some("mitigated by the proxy")).is_ok());
}

// OC-55: each turn of the loop is on record with its time and the words.
#[test]
fn oc_55_an_iteration_is_kept_with_time_and_words() {
    let iteration = Iteration {
        gate: "g".to_owned(),
        iteration: 7,
        decision: Decision::Reject,
        reason: "no".to_owned(),
        by: "ann".to_owned(),
        at: Utc(0),
        stage: String::new(),
    };
    let text = serde_json::to_string(&iteration).unwrap();
    assert_eq!(text, r#"{"gate":"g","iteration":7,"decision":"reject","reason":"no","by":"ann","at":0}"#);
    assert_eq!(serde_json::from_str::<Iteration>(&text).unwrap(), iteration);
}

proptest! {
    #[test]
    fn oc_86_no_words_lead_past_a_critical_finding(given in ".{0,20}", words in ".{0,20}", others in 0_usize..4) {
        let mut severities = vec![Severity::Low; others];
        severities.push(Severity::Critical);
        let question = question(&summary(&severities));
        if let Ok(choice) = question.choose(&given, Some(&words)) {
            prop_assert!(Decision::of(&choice.id) != Some(Decision::Approve));
        }
        for option in &question.options {
            prop_assert!(Decision::of(&option.id).is_some());
            prop_assert!(!option.description.is_empty());
        }
    }
}
