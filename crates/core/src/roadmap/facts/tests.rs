//! Each fact as a sentence.

use serde_json::json;

use super::*;
use crate::sentence::Mood;
use crate::sentence::told;

#[track_caller]
fn text(fact: &serde_json::Value) -> String {
    let sentence = told::<RoadmapFact>(fact).unwrap_or_else(|| panic!("{fact}"));
    match sentence.detail.is_empty() {
        true => sentence.text,
        false => format!("{} [{}]", sentence.text, sentence.detail),
    }
}

#[test]
fn every_fact_of_the_phases_of_a_step_is_one_sentence() {
    for (fact, expected) in [
        (
            json!({"fact": "queue", "execution_queue": [{"step_id": "01-01", "execution_queue":
                {"queued_at": "2026-01-18T15:00:00Z", "position": 1, "estimated_start": null}}]}),
            "1 step is in the queue: 01-01.",
        ),
        (
            json!({"fact": "step_began", "step": "01-01", "name": "Add", "agent": "software-crafter", "resumed": false}),
            "Step 01-01 (Add) began with @software-crafter.",
        ),
        (
            json!({"fact": "step_began", "step": "01-01", "name": "Add", "agent": "researcher", "resumed": true,
                "skipped": [{"phase": "RED", "reason": "NOT_APPLICABLE: research"}],
                "place": {"tree": "trees/a", "branch": "b"}}),
            "Step 01-01 (Add) goes on with @researcher. [RED is skipped: NOT_APPLICABLE: research; in trees/a on the \
             branch b]",
        ),
        (
            json!({"fact": "overlap_approved", "step": "01-01", "files": ["a", "b"], "by": "ada"}),
            "ada allowed step 01-01 to commit the user's changes in a, b.",
        ),
        (
            json!({"fact": "coverage_base", "step": "01-01", "value": "82%"}),
            "Coverage before step 01-01: 82%.",
        ),
        (
            json!({"fact": "coverage_base", "step": "01-01", "value": null}),
            "Coverage before step 01-01 was not measured.",
        ),
        (
            json!({"fact": "phase_began", "step": "01-01", "phase": "RED", "attempt": 1}),
            "Step 01-01, RED: began.",
        ),
        (
            json!({"fact": "phase_began", "step": "01-01", "phase": "RED", "attempt": 2}),
            "Step 01-01, RED: began again, attempt 2.",
        ),
        (
            json!({"fact": "gate_ran", "step": "01-01", "phase": "RED", "gate": "tests", "exit": 1,
                "verdict": "Red(Assertion)", "words": "1 test ran, 1 failed"}),
            "Step 01-01, RED: the gate tests ran: 1 test ran, 1 failed.",
        ),
        (
            json!({"fact": "phase_ended", "step": "01-01", "phase": "GREEN", "outcome": "FAIL",
                "objections": [{"rule": "not-green", "message": "One test fails."}]}),
            "Step 01-01, GREEN: refused. One test fails.",
        ),
        (
            json!({"fact": "phase_ended", "step": "01-01", "phase": "GREEN", "outcome": "SKIPPED",
                "words": "APPROVED_SKIP: ok"}),
            "Step 01-01, GREEN: skipped. [APPROVED_SKIP: ok]",
        ),
        (
            json!({"fact": "phase_reopened", "step": "01-01", "phase": "RED", "cause": "red_is_void", "words": "why"}),
            "Step 01-01, RED: has to be done again, since the tests are not those that were red. [why]",
        ),
    ] {
        assert_eq!(text(&fact), expected);
    }
}

#[test]
fn every_decision_commit_and_end_is_one_sentence() {
    for (fact, expected) in [
        (
            json!({"fact": "review_asked", "step": "01-01", "from": "solution-architect", "reason": "API changed"}),
            "The agent of step 01-01 asked @solution-architect for a review. [API changed]",
        ),
        (
            json!({"fact": "decision", "subject": "review of step 01-01", "outcome": "rework", "rationale": "rename it",
                "actor": "ada", "id": "01-01"}),
            "ada decided on the review of step 01-01: rework. [rename it]",
        ),
        (
            json!({"fact": "committed", "step": "01-01",
                "commit": {"subject": "feat(01-01): DONE", "commit": "0123456789abc", "files": ["a"]}}),
            "Step 01-01 was committed as feat(01-01): DONE. [0123456789, 1 file]",
        ),
        (
            json!({"fact": "conflict", "step": "01-01", "files": ["a", "b"]}),
            "Step 01-01 conflicts with merged changes in a, b.",
        ),
        (
            json!({"fact": "merged", "step": "01-01", "branch": "seriatim/calc/01-01"}),
            "Step 01-01 was merged from the branch seriatim/calc/01-01.",
        ),
        (json!({"fact": "step_closed", "step": "01-01", "status": "DONE"}), "Step 01-01 is done."),
        (
            json!({"fact": "step_closed", "step": "01-01", "status": "FAILED", "reason": "The agent failed."}),
            "Step 01-01 failed: The agent failed.",
        ),
        (json!({"fact": "push", "result": "pushed", "branch": "main"}), "The branch main was pushed."),
        (
            json!({"fact": "push", "result": "declined", "branch": "main", "reason": "ada declined it"}),
            "The branch main was not pushed: ada declined it.",
        ),
        (json!({"fact": "error", "text": "push: no route"}), "Error: push: no route."),
    ] {
        assert_eq!(text(&fact), expected);
    }
}

#[test]
fn the_mood_of_the_end_of_a_step_is_that_of_its_state() {
    let mood = |status| {
        RoadmapFact::StepClosed { step: String::new(), status, reason: String::new() }.sentence().mood
    };
    assert_eq!(mood(StepResult::Done), Mood::Good);
    assert_eq!(mood(StepResult::Failed), Mood::Bad);
    assert_eq!(mood(StepResult::Blocked), Mood::Attention);
}

#[test]
fn a_fact_reads_back_as_what_was_written() {
    let fact = RoadmapFact::PhaseEnded(Box::new(PhaseEnd {
        step: "01-01".to_owned(),
        phase: "RED".to_owned(),
        attempt: Some(2),
        outcome: PhaseOutcome::Fail,
        claim: None,
        evidence: vec![GateEvidence {
            gate: "tests".to_owned(),
            command: "pytest".to_owned(),
            exit: None,
            verdict: GateVerdict::BrokenTimeout,
            words: "the tests took too long".to_owned(),
            output: String::new(),
            output_hash: Some(crate::hash::Hash::of(b"")),
            within: vec!["podman".to_owned()],
        }],
        objections: vec![Refusal {
            rule: crate::roadmap::proof::Rule::TestFileMissing,
            message: String::new(),
        }],
        notes: vec![],
        words: String::new(),
    }));
    let journalled = serde_json::to_value(&fact).unwrap();
    assert_eq!(journalled["fact"], "phase_ended");
    assert_eq!(journalled["evidence"][0]["verdict"], "Broken { why: Timeout }");
    assert_eq!(journalled["objections"][0]["rule"], "G1");
    assert_eq!(serde_json::from_value::<RoadmapFact>(journalled).unwrap(), fact);
}

#[test]
fn the_word_of_a_gates_verdict_is_that_of_the_verdict_itself() {
    use crate::evidence::Red;
    use crate::evidence::TestVerdict;
    use crate::evidence::Why;
    let whys = [
        Why::Compile,
        Why::Collection,
        Why::Import,
        Why::Setup,
        Why::Crash,
        Why::Timeout,
        Why::Error,
        Why::Unknown,
    ];
    let broken = whys.map(|why| TestVerdict::Broken { why });
    let others = [
        TestVerdict::Green,
        TestVerdict::Nothing,
        TestVerdict::Red(Red::Assertion),
        TestVerdict::Red(Red::Missing),
    ];
    for verdict in others.into_iter().chain(broken) {
        assert_eq!(serde_json::to_value(GateVerdict::from(verdict)).unwrap(), format!("{verdict:?}"));
    }
}
