//! What the dialect lets happen today although it should not. Each test shows the shortest way there; whoever closes a
//! hole turns its test around.

use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;

use crate::world::World;
use crate::world::exit;
use crate::world::work;

const PLAN: &str = "- backend-developer\n- {gate: approval, name: release}";
const LIFECYCLE: &str = "current_stage: a\nstages:\n  a:\n    required_gates: [docs]\ngates:\n  docs:\n    command: [check-docs]\n";

/// Work that is fixed for a lifecycle gate is never approved: the last approval covers another text.
#[test]
fn hole_a_fix_for_a_lifecycle_gate_is_approved_by_nobody() {
    let story = World::new(PLAN)
        .file("lifecycle-stage.yaml", LIFECYCLE)
        .command("check-docs", vec![exit(1, "red\n")])
        .says_while("Gate release", "approve", |world| {
            assert_eq!(world.files["engine/api.md"], "# Work\n\nCall 1.\n");
        })
        .says("Gate lifecycle", "fix", "")
        .play();
    story.completes();
    assert_eq!(story.world().files["engine/api.md"], "# Work\n\nCall 2.\n");
}

/// An editorial gate behind an approval lets roles change what was approved.
#[test]
fn hole_an_editorial_gate_changes_approved_files() {
    let story = World::new(&format!("{PLAN}\n- {{gate: editorial, name: polish}}"))
        .says("Gate release", "approve", "")
        .play();
    story.completes();
    assert_eq!(story.asked(), ["Gate release"]);
    assert_eq!(story.world().files["engine/api.md"], "# Work\n\nCall 2.\n");
}

/// A breach of scope that could not be put back is part of the baseline of the next call, so it stays.
#[test]
fn hole_a_breach_that_cannot_be_put_back_is_forgotten() {
    let story = World::new(PLAN)
        .breaks("put_back")
        .act("backend-developer", 1, |files| {
            files.insert("secrets.md".to_owned(), "# Mine\n".to_owned());
            work("backend-developer", files, 1)
        })
        .says("Gate release", "approve", "")
        .play();
    story.completes();
    assert!(story.world().files.contains_key("secrets.md"));
}

/// The evidence of an action that is cancelled from outside says for ever that it is under way.
#[test]
fn hole_the_evidence_of_a_cancelled_action_is_never_closed() {
    let story = World::new(PLAN).cancelled_at("Gate release").play();
    let context = story.world().files.iter().find(|(path, _)| path.ends_with("action-context.md"));
    assert!(context.unwrap().1.contains("- Ended (UTC): not yet"));
}

/// A role that has two duties before a gate does both again in one copy: the second call sees the first one's draft.
#[test]
fn hole_two_duties_of_one_role_share_a_copy_in_a_rework() {
    let steps =
        "- {agent: architect, phase: A}\n- {agent: architect, phase: B}\n- {gate: approval, name: release}";
    let story = World::new(steps)
        .act("architect", 4, |files| {
            assert_eq!(files["planning-mds/design.md"], "# Work\n\nCall 3.\n");
            work("architect", files, 4)
        })
        .says("Gate release", "changes", "shorter")
        .usually(&["cancel", "keep"])
        .play();
    assert_eq!(story.calls("architect"), 4);
    assert_eq!(story.asked(), ["Gate release", "Failure: Architect (phase B)", "Cancel"]);
}

/// A snapshot that is restored from outside while a failure waits is not noticed.
#[test]
fn hole_a_restoration_while_a_failure_waits_is_not_noticed() {
    let story = World::new("- backend-developer\n- frontend-developer")
        .fails("frontend-developer", 1, Failure::new(Class::Contract, "not now"))
        .says_while("Failure", "retry", World::restored_outside)
        .play();
    story.completes();
    assert!(!story.world().files.contains_key("engine/api.md"));
}
