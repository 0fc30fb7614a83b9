//! The other sorts of gates, and roles that are needed only at times.

use crate::action_support::Workshop;

const ROLE: &str = "backend-developer";

/// OC-105, OC-107, OC-108: the role goes through its own work again, with every point of the checklist.
#[test]
fn oc_105_self_review_and_editorial_gates_call_again_with_the_checklist() {
    let workshop = Workshop::of(
        "- backend-developer\n- {gate: self-review, checklist: [It runs, It says why]}\n- frontend-developer\n\
         - {gate: editorial, checklist: [No jargon]}\n",
    );
    workshop.build(&[]).exits(0);
    assert_eq!(workshop.counts()[..2], [2, 2]);
    let words = workshop.feedback(ROLE, 2).join("\n");
    assert!(
        words.contains("Look at your own work again") && words.contains("- It runs\n- It says why"),
        "{words}"
    );
    assert!(workshop.feedback("frontend-developer", 2)[0].ends_with("- No jargon"));
    assert_eq!(workshop.decisions(), ["self-review passed", "editorial passed"]);
    assert_eq!(workshop.env.read("engine/api.sh"), "echo call 2\n");
}

/// OC-99: a script decides by its exit code; its output goes to those who mend.
#[test]
fn oc_18_a_tracker_script_that_fails_is_mended_and_run_again() {
    let workshop = Workshop::of("- backend-developer\n- {gate: tracker-sync, script: scripts/sync.sh}\n");
    workshop.env.file(
        "scripts/sync.sh",
        "grep -q 'call 2' engine/api.sh || { echo the tracker is behind; exit 4; }\n",
    );
    workshop.build(&[]).exits(3).says("the tracker is behind");
    let question = workshop.question();
    assert_eq!(question.choices(), ["fix", "retry", "cancel"]);
    question.every_option_has_its_consequence();
    workshop.resume(&[("tracker-sync", "fix", "")]).exits(0);
    assert_eq!(workshop.feedback(ROLE, 2), ["The gate tracker-sync failed:\nthe tracker is behind"]);
    let commands = workshop.evidence("commands.log");
    assert_eq!(commands.matches("$ sh scripts/sync.sh").count(), 2, "{commands}");
    assert!(commands.contains("exit code 4") && commands.contains("exit code 0"), "{commands}");
}

/// A gate whose command is nowhere is decided by a person, for none is passed by.
#[test]
fn oc_18_a_script_gate_without_a_command_asks_a_person() {
    let workshop = Workshop::of("- backend-developer\n- {gate: ontology-sync}\n");
    workshop.build(&[]).exits(3).says("has no command, so that a person decides");
    workshop.resume(&[("ontology-sync", "approve", "")]).exits(0);
}

/// OC-98: the command around a gate is part of the evidence.
#[test]
fn oc_98_a_gate_can_run_within_another_command() {
    let workshop = Workshop::of("- backend-developer\n- {gate: script, name: unit}\n");
    workshop.configure(
        "[gates.unit]\ncommand = [\"sh\", \"engine/api.sh\"]\nwithin = [\"env\", \"PLACE=container\"]\n",
    );
    workshop.table(&[(ROLE, 0, "put engine/api.sh 'test \"$PLACE\" = container\\n'; finish")]);
    workshop.build(&[]).exits(0);
    let commands = workshop.evidence("commands.log");
    assert!(commands.contains("within: env PLACE=container"), "{commands}");
}

/// OC-101, OC-74: questions that roles raise come before a person, and the answer goes to them.
#[test]
fn oc_101_a_clarification_gate_shows_what_roles_asked() {
    let workshop = Workshop::of("- backend-developer\n- {gate: clarification, name: open-points}\n");
    let asks = r#"usual; report '{"status": "done", "summary": "s", "questions": [{"header": "Money", "question": "Which currency?"}]}'"#;
    workshop.table(&[(ROLE, 1, asks)]);
    workshop.build(&[]).exits(3);
    let question = workshop.question();
    assert!(question.details().contains("- Which currency?"), "{}", question.details());
    assert_eq!(question.choices(), ["guide", "approve", "cancel"]);
    workshop.env.run(&["answer", question.id(), "guide"]).exits(2).says("needs a few words");
    workshop.resume(&[("Clarification", "guide", "Guilders")]).exits(3);
    assert_eq!(workshop.feedback(ROLE, 2), ["Guilders"]);
    assert_eq!(workshop.question().choices(), ["approve", "guide", "cancel"]);
    workshop.resume(&[("Clarification", "approve", "")]).exits(0);
    assert_eq!(workshop.decisions(), ["open-points guide", "open-points approve"]);
}

/// OC-18: all of these are decided by a person, each by itself.
#[test]
fn oc_17_signoff_readiness_and_done_review_are_decisions() {
    let workshop =
        Workshop::of("- backend-developer\n- {gate: readiness}\n- {gate: done-review}\n- {gate: signoff}\n");
    workshop.run_answering(&["build"], &[("^Gate ", "approve", "")]).exits(0);
    assert_eq!(workshop.decisions(), ["readiness approve", "done-review approve", "signoff approve"]);
    assert_eq!(workshop.count(ROLE), 1);
}

/// OC-08: whether a condition holds is for a person to say.
#[test]
fn oc_08_a_role_under_a_condition_works_only_if_it_holds() {
    let steps = "- parallel:\n    - backend-developer\n    - {agent: quality-engineer, condition: there is something to \
                 test}\n- {gate: approval, name: release}\n";
    for (choice, calls) in [("yes", 1), ("no", 0)] {
        let workshop = Workshop::of(steps);
        workshop.build(&[("Quality Engineer needed", choice, "")]).exits(3).says("Gate release");
        assert_eq!((workshop.count(ROLE), workshop.count("quality-engineer")), (1, calls), "{choice}");
        if choice == "no" {
            assert!(workshop.question().details().contains("Quality Engineer: not needed"));
        }
    }
}
