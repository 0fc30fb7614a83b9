//! Tests of the facts.

use serde_json::Value;
use serde_json::json;

use super::*;
use crate::choices::Choices;
use crate::sentence::Sentence;
use crate::sentence::told;
use crate::time::Utc;

fn text(fact: &Value) -> String {
    let Sentence { text, detail, .. } =
        told::<CycleFact>(fact).unwrap_or_else(|| panic!("{fact} is not read"));
    if detail.is_empty() { text } else { format!("{text} [{detail}]") }
}

#[test]
fn facts_of_the_first_version_are_still_read() {
    for (fact, words) in [
        (json!({"fact": "cycle_began", "cycle": 7, "project": "work"}), "Cycle 007 of work began."),
        (
            json!({"fact": "risk_decided", "choice": "changes", "by": "ada", "step": "Drop it"}),
            "ada rejected the risky step \"Drop it\" and asked for another plan.",
        ),
        (
            json!({"fact": "judged", "cycle": 1, "pass": false, "evidence": [{"check": "Scope", "green": true, "hash": null}]}),
            "The verdict is INSUFFICIENT.",
        ),
        (
            json!({"fact": "approval", "cycle": 1, "choice": "squash", "by": "ada", "tree": "t1", "latency_ms": 61_000}),
            "ada approved a squashed commit after 1 min 1 s.",
        ),
        (
            json!({"fact": "alert", "alert": "5-Loop Pause", "why": "Too often.", "cycle": 1}),
            "5-Loop Pause: Too often.",
        ),
        (json!({"fact": "error", "text": "archive: full"}), "An error occurred. [archive: full]"),
        (json!({"fact": "cycle_ended", "cycle": 1, "end": "incomplete"}), "Cycle 001 ended incomplete."),
        (
            json!({"fact": "context_pack", "role": "Judge", "need": "the log"}),
            "The Judge was answered what it lacked: the log.",
        ),
    ] {
        assert_eq!(text(&fact), words);
    }
}

#[test]
fn a_fact_with_a_choice_that_the_question_does_not_offer_is_none() {
    let fact =
        json!({"fact": "approval", "cycle": 1, "choice": "yes", "by": "ada", "tree": "", "latency_ms": 0});
    assert_eq!(told::<CycleFact>(&fact), None);
    assert_eq!(read_facts(&[Fact { at: Utc(0), data: fact }]), vec![]);
}

/// Every option of a question as the decision about it.
fn decisions<C: Choices>(decision: fn(C) -> Decision) -> Vec<Decision> {
    C::ALL.iter().map(|choice| decision(*choice)).collect()
}

#[test]
fn every_answer_of_a_person_has_a_sentence_of_its_own() {
    let all = [
        decisions(Decision::Occupied),
        decisions(Decision::Goal),
        decisions(Decision::Clarify),
        decisions(Decision::Context),
        decisions(Decision::Blocked),
        decisions(Decision::Undelivered),
        decisions(Decision::OwnChanges),
        decisions(Decision::Moved),
        decisions(Decision::Pause),
        decisions(Decision::Planless),
    ]
    .concat();
    let mut seen = std::collections::BTreeSet::new();
    for decision in all {
        let fact = CycleFact::Decided { cycle: 1, decision, by: "ada".to_owned(), words: String::new() };
        let journalled = serde_json::to_value(&fact).unwrap();
        assert_eq!(serde_json::from_value::<CycleFact>(journalled.clone()).unwrap(), fact);
        let words = text(&journalled);
        assert!(words.starts_with("ada ") && words.ends_with('.'), "{words}");
        assert!(seen.insert(words), "{journalled}");
    }
    assert_eq!(seen.len(), 27);
}

#[test]
fn a_decision_names_its_matter_and_choice_in_the_journal() {
    let decision = Decision::Pause(PauseChoice::NewGoal);
    let fact = CycleFact::Decided { cycle: 2, decision, by: "ada".to_owned(), words: "Shorter.".to_owned() };
    assert_eq!(
        serde_json::to_value(fact).unwrap(),
        json!({"fact": "decided", "cycle": 2, "matter": "pause", "choice": "new_goal", "by": "ada", "words": "Shorter."})
    );
}

#[test]
fn a_delivery_says_what_was_committed_where_and_whether_it_was_pushed() {
    let fact = CycleFact::Delivered {
        cycle: 1,
        how: DeliveredHow::Merge,
        commit: "c0ffee".to_owned(),
        branch: Some("main".to_owned()),
        pushed: false,
        files: vec!["greet.sh".to_owned()],
    };
    assert_eq!(
        text(&serde_json::to_value(fact).unwrap()),
        "1 file was committed and merged as c0ffee on main, not pushed. [greet.sh]"
    );
}

#[test]
fn a_pass_without_the_judges_opinion_says_so() {
    let fact = CycleFact::Judged {
        verdict: None,
        cycle: 1,
        pass: true,
        evidence: vec![],
        opinion: Opinion::Missing("the agent crashed".to_owned()),
        reasons: vec![],
    };
    assert_eq!(
        text(&serde_json::to_value(fact).unwrap()),
        "The verdict is PASS without an opinion of the Judge. [the agent crashed]"
    );
}
