//! Gates at which a person decides: the answer holds for what was shown, and words go to those who made it.

use crate::action_support::RELEASE;
use crate::action_support::Workshop;

/// A maker, a check that runs something, a reviewer, and a person.
const CHECKED: &str = "- backend-developer\n- {gate: script, name: smoke, command: [sh, engine/api.sh]}\n\
                       - security\n- {gate: approval, name: release}\n";
const GATE: &str = "Gate release";

/// OC-54, OC-17, OC-80, OC-85, K-46: reject twice, then approve.
#[test]
fn oc_55_reasons_reach_the_next_brief_iterations_are_logged_and_checks_run_again() {
    let workshop = Workshop::of(CHECKED);
    workshop.build(&[(GATE, "changes", "Name the harbour"), (GATE, "reject", "Too long")]).exits(3);
    assert_eq!((workshop.count("backend-developer"), workshop.count("security")), (3, 3));
    assert_eq!(
        workshop.feedback("backend-developer", 2),
        [
            "User rejected your output with feedback:\n\"Name the harbour\"\n\nPlease revise the artifact addressing this feedback."
        ]
    );
    assert!(workshop.feedback("backend-developer", 3)[0].contains("\"Too long\""));
    assert_eq!(workshop.facts("gate_ran").len(), 3);
    assert!(workshop.question().details().contains("This is round 3 at this gate."));
    workshop.resume(&[(GATE, "approve", "")]).exits(0);
    let rounds = workshop.facts("gate_round");
    let said: Vec<String> = rounds
        .iter()
        .map(|fact| fact["round"].clone())
        .map(|round| {
            format!("{} {} {} {}", round["iteration"], round["decision"], round["reason"], round["by"])
        })
        .collect();
    assert_eq!(
        said,
        [
            "1 \"changes\" \"Name the harbour\" \"ada\"",
            "2 \"reject\" \"Too long\" \"ada\"",
            "3 \"approve\" null \"ada\""
        ]
    );
    assert!(rounds.iter().all(|fact| fact["round"]["at"].is_number()), "{rounds:?}");
    let evidence = workshop.evidence("gate-decisions.md");
    for words in [
        "- Decision: changes",
        "- Decision: reject",
        "- Rationale: Too long",
        "- Decision: approve",
        "- By: ada",
    ] {
        assert!(evidence.contains(words), "{words}:\n{evidence}");
    }
    workshop.verify();
}

/// OC-52, OC-53, OC-18, E-64: the options of a gate, and a blank reason is none.
#[test]
fn e_64_rejecting_takes_a_reason_that_is_not_blank() {
    let workshop = Workshop::of(CHECKED);
    workshop.build(&[]).exits(3);
    let question = workshop.question();
    assert_eq!(question.choices(), ["approve", "changes", "reject", "cancel", "rollback"]);
    assert_eq!(question.labels()[..3], ["Approve", "Changes", "Reject"]);
    assert_eq!(question.with_words(), ["changes", "reject"]);
    question.every_option_has_its_consequence();
    assert!(
        question.0["options"][2]["description"]
            .as_str()
            .unwrap()
            .contains("Why are you rejecting this artifact?")
    );
    for words in [
        "Backend Developer: backend-developer, call 1",
        "- engine/api.sh",
        "smoke: `sh engine/api.sh`, exit code 0",
    ] {
        assert!(question.details().contains(words), "{words}:\n{}", question.details());
    }
    let env = &workshop.env;
    env.run(&["answer", question.id(), "reject"]).exits(2).says("needs a few words");
    env.run(&["answer", question.id(), "reject", "--text", "  \t "]).exits(2).says("needs a few words");
    env.run(&["answer", question.id(), "skip"]).exits(2).says("is not one of the options");
    assert_eq!(workshop.question().id(), question.id());
    assert_eq!(workshop.count("backend-developer"), 1);
}

/// OC-99: a file changes between the question and the answer.
#[test]
fn oc_17_an_approval_of_something_else_is_void_and_asked_again() {
    let workshop = Workshop::of(CHECKED);
    workshop.build(&[]).exits(3);
    let first = workshop.question();
    workshop.env.run(&["answer", first.id(), "approve", "--by", "ada"]).exits(0);
    workshop.env.file("engine/api.sh", "echo something else\n");
    workshop.resume(&[]).exits(3);
    let second = workshop.question();
    assert_ne!(second.id(), first.id());
    assert!(second.details().contains("the approval before was void"), "{}", second.details());
    assert_eq!(workshop.facts("approval_void").len(), 1);
    workshop.resume(&[(GATE, "approve", "")]).exits(0);
    assert_eq!(workshop.env.read("engine/api.sh"), "echo something else\n");
}

/// OC-56, K-47: at any round a person can cancel, keep the work, or think better of it.
#[test]
fn oc_56_cancelling_is_possible_in_every_round_and_can_be_taken_back() {
    let workshop = Workshop::of(CHECKED);
    let answers = [
        (GATE, "reject", "No"),
        (GATE, "cancel", ""),
        ("^Cancel", "back", ""),
        (GATE, "cancel", ""),
        ("^Cancel", "keep", ""),
    ];
    workshop.build(&answers).exits(1).says("its files stay as they are");
    assert_eq!(workshop.env.read("engine/api.sh"), "echo call 2\n");
    assert_eq!(workshop.facts("gate_round").len(), 3);
    assert_eq!(workshop.outcome()["result"], "CANCELLED");
    assert!(workshop.evidence("action-context.md").contains("ada cancelled the action build"));
    workshop.verify();
}

/// OC-18: nobody gets past a gate by ending and beginning again.
#[test]
fn oc_18_a_gate_is_never_passed_by() {
    let workshop = Workshop::new();
    for _ in 0..3 {
        let output = if workshop.calls().is_empty() { workshop.build(&[]) } else { workshop.resume(&[]) };
        output.exits(3).says(GATE);
    }
    assert_eq!(workshop.decisions(), Vec::<String>::new());
    workshop.resume(&[RELEASE]).exits(0);
    assert_eq!(workshop.decisions(), ["release approve"]);
}
