//! Going back: shown first, done only when confirmed, and on record (OC-64 to OC-67).

use seriatim_core::action::facts::ActionFact;
use seriatim_flows::registry::End;

use crate::world::World;

const PLAN: &str = "- architect\n- {gate: approval, name: release}";

/// OC-67: a confirmed rollback restores all files and can be undone.
#[test]
fn oc_67_a_confirmed_rollback_restores_the_files_and_ends_the_action() {
    let story = World::new(PLAN)
        .file("planning-mds/design.md", "# Before\n")
        .says("Gate release", "rollback", "")
        .says("Rollback", "confirm", "")
        .play();
    story
        .ends(
            End::Cancelled,
            "ann rolled the action build back: This will change 1 files. Undo with:  seriatim snapshot restore undo-1",
        )
        .tells(&[
            "Stage 1 began: Architect.",
            "Architect called, attempt 1.",
            "Architect finished: 1 file written.",
            "ann decided on release: rollback.",
            "Round 1 at gate release: rollback by ann.",
            "ann decided on Rollback: confirm.",
            "ann rolled back to snapshot build-1.",
        ]);
    assert_eq!(story.world().files["planning-mds/design.md"], "# Before\n");
    assert_eq!(story.ended().outcome["result"], "ROLLED_BACK");
    assert!(story.world().files[".snapshots/restores.jsonl"].contains("\"undo\":\"undo-1\""));
    assert!(
        story.facts.iter().any(|fact| matches!(fact, ActionFact::RolledBack { event } if event.by == "ann"))
    );
}

/// OC-67: without a confirmation nothing changes, and the gate is shown again.
#[test]
fn oc_67_a_rollback_that_is_not_confirmed_changes_nothing() {
    let story = World::new(PLAN)
        .says("Gate release", "rollback", "")
        .says("Rollback", "cancel", "")
        .says("Gate release", "approve", "")
        .play();
    story.completes().tells(&[
        "Stage 1 began: Architect.",
        "Architect called, attempt 1.",
        "Architect finished: 1 file written.",
        "ann decided on release: rollback.",
        "Round 1 at gate release: rollback by ann.",
        "ann decided on Rollback: cancel.",
        "ann decided on release: approve.",
        "Round 2 at gate release: approve by ann.",
        "Gate release approved.",
    ]);
}

/// OC-90: a rollback that the disk refuses is on record, and the question comes again.
#[test]
fn oc_90_a_rollback_that_fails_is_on_record() {
    for broken in ["compare", "restore"] {
        let mut world = World::new(PLAN).breaks(broken).says("Gate release", "rollback", "");
        if broken == "restore" {
            world = world.says("Rollback", "confirm", "");
        }
        let story = world.says("Gate release", "approve", "").play();
        story.completes();
        assert!(story.log.contains(&"The rollback failed: the disk refuses it.".to_owned()), "{broken}");
    }
}

/// OC-67: a restoration from outside while a gate waits voids the stages.
#[test]
fn oc_67_a_restoration_from_outside_voids_the_stages() {
    let story = World::new(PLAN)
        .says_while("Gate release", "approve", World::restored_outside)
        .says("Gate release", "approve", "")
        .play();
    story.completes().tells(&[
        "Stage 1 began: Architect.",
        "Architect called, attempt 1.",
        "Architect finished: 1 file written.",
        "ann decided on release: approve.",
        "Round 1 at gate release: approve by ann.",
        "All stages begin again: files were brought back from a snapshot.",
        "Stage 1 began: Architect.",
        "Architect called, attempt 2.",
        "Architect finished: 1 file written.",
        "ann decided on release: approve.",
        "Round 2 at gate release: approve by ann.",
        "Gate release approved.",
    ]);
    assert_eq!(story.calls("architect"), 2);
}

/// OC-67: damage found before an action can be rolled back; then no action starts.
#[test]
fn oc_67_damage_is_rolled_back_before_the_next_action() {
    let first = World::new(PLAN).says("Gate release", "approve", "").play();
    let sealed = first.world().files[".snapshots/sealed.json"].clone();
    let again = || World::new(PLAN).file(".snapshots/sealed.json", &sealed);
    let damaged = again().says("Changed artifacts", "rollback", "").breaks("compare").play();
    damaged
        .ends(End::Cancelled, "Nothing was changed, and no action was started.")
        .tells(&["ann decided on Changed artifacts: rollback.", "The rollback failed: the disk refuses it."]);
}
