//! What reviewers find: CRITICAL goes back and is never approved, HIGH takes words, the rest is tracked.

use crate::action_support::RELEASE;
use crate::action_support::Workshop;

const CRITICAL: (&str, usize, &str) =
    ("security", 0, "usual; found critical 'SQL injection' engine/api.sh 1");
const GATE: &str = "Gate release";

/// E-63, OC-86, OC-94, OC-102, K-48, K-50: to the role whose contract holds the file, twice, and then a question.
#[test]
fn oc_58_a_critical_finding_goes_back_twice_and_no_option_approves_it() {
    let workshop = Workshop::new();
    workshop.table(&[CRITICAL]);
    workshop.build(&[]).exits(3);
    assert_eq!(workshop.counts(), [3, 1, 1, 3]);
    for call in [2, 3] {
        assert_eq!(
            workshop.feedback("backend-developer", call),
            ["CRITICAL: SQL injection in engine/api.sh:1. Remedy: mend it"]
        );
    }
    let blocked = workshop.told("blocked");
    assert_eq!(
        blocked[0],
        "Security scan found 1 CRITICAL issue:\n- SQL injection in engine/api.sh:1\n\n\
         ❌ BLOCK - Cannot proceed until resolved\n\nAction: Returning to Backend Developer to fix issues."
    );
    let question = workshop.question();
    assert_eq!(question.choices(), ["fix", "changes", "reject", "cancel", "rollback"]);
    assert!(question.why().contains("❌ BLOCK - Cannot proceed until resolved"), "{}", question.why());
    question.every_option_has_its_consequence();
    for choice in ["approve", "override", "skip", "Approve"] {
        let refused = workshop.env.run(&["answer", question.id(), choice, "--text", "I know better"]);
        refused.exits(2).says("is not one of the options");
    }
    assert_eq!(workshop.question().id(), question.id());
    // To try again sends it back once more; when the reviewer is content, a person can approve.
    workshop.table(&[("security", 0, "usual; closes F1")]);
    workshop.resume(&[("blocked", "fix", ""), RELEASE]).exits(0);
    assert_eq!(workshop.counts(), [4, 1, 1, 4]);
    workshop.verify();
}

/// E-63: not by a list of prepared answers either.
#[test]
fn e_63_a_prepared_approval_of_a_critical_finding_is_refused() {
    let workshop = Workshop::of("- backend-developer\n- security\n- {gate: approval, name: release}\n");
    workshop.table(&[CRITICAL]);
    workshop.build(&[RELEASE]).exits(2).says("is not one of the options");
    assert_eq!(workshop.decisions().last().unwrap(), "security blocked");
}

/// OC-103: it takes a justification, which is on record with who gave it.
#[test]
fn oc_59_a_high_finding_is_approved_only_with_words() {
    let workshop = Workshop::new();
    workshop.table(&[("security", 0, "usual; found high 'weak hash' engine/api.sh 1")]);
    workshop.build(&[]).exits(3);
    assert_eq!(workshop.counts(), [1, 1, 1, 1]);
    let question = workshop.question();
    assert_eq!(question.with_words(), ["approve", "changes", "reject"]);
    assert!(
        question.details().contains("HIGH: weak hash in engine/api.sh:1 (security)"),
        "{}",
        question.details()
    );
    workshop.env.run(&["answer", question.id(), "approve"]).exits(2).says("needs a few words");
    workshop.resume(&[(GATE, "approve", "only inside the harbour")]).exits(0);
    let decision = workshop.facts("decision").pop().unwrap();
    assert_eq!(
        (&decision["rationale"], &decision["actor"]),
        (&"only inside the harbour".into(), &"ada".into())
    );
    assert_eq!(workshop.outcome()["findings"][0]["severity"], "high");
}

#[test]
fn oc_60_medium_and_low_findings_are_tracked_and_stop_nothing() {
    let workshop = Workshop::new();
    let both = r#"usual; finish '{"findings": [{"severity": "medium", "title": "long names", "file": "engine/api.sh"},
        {"severity": "LOW", "title": "no comment"}]}'"#;
    workshop.table(&[("security", 0, both)]);
    workshop.build(&[RELEASE]).exits(0);
    let tracked = workshop.facts("tracked_findings");
    assert_eq!(
        tracked[0]["findings"],
        serde_json::json!(["MEDIUM: long names in engine/api.sh", "LOW: no comment"])
    );
    assert_eq!(workshop.outcome()["findings"].as_array().unwrap().len(), 2);
}

/// OC-104: an unknown severity is never taken for a mild one; the reviewer corrects it.
#[test]
fn oc_62_findings_that_cannot_be_used_are_corrected_at_once() {
    let workshop = Workshop::of("- backend-developer\n- security\n- {gate: approval, name: release}\n");
    workshop.table(&[
        ("security", 1, r#"usual; finish '{"findings": [{"severity": "blocker", "title": "odd"}]}'"#),
        ("security", 2, "usual; finish '{}'"),
    ]);
    workshop.build(&[RELEASE]).exits(0);
    assert_eq!(workshop.count("security"), 3);
    assert!(workshop.feedback("security", 2)[0].contains("critical, high, medium, low"));
    assert!(workshop.feedback("security", 3)[0].contains("findings"));
    assert_eq!(workshop.pauses(), Vec::<u64>::new());
}

/// OC-18, OC-58: where no gate comes behind the reviewers, a person is asked all the same.
#[test]
fn oc_94_nothing_proceeds_past_findings_behind_which_no_gate_stands() {
    let workshop = Workshop::of("- backend-developer\n- security\n");
    workshop.table(&[CRITICAL]);
    workshop.build(&[]).exits(3);
    assert_eq!(workshop.counts(), [3, 0, 0, 3]);
    assert!(!workshop.question().choices().contains(&"approve"));
    let closed = r#"usual; finish '{"findings": [{"severity": "high", "title": "weak hash", "file": "engine/api.sh"}], "closed": [{"id": "F1", "reason": "it is fixed"}]}'"#;
    workshop.table(&[("security", 0, closed)]);
    workshop.resume(&[("blocked", "fix", "")]).exits(3);
    assert!(workshop.question().with_words().contains(&"approve"));
    workshop.resume(&[("Gate findings", "approve", "for the demonstration")]).exits(0);
}
