//! What the dialect lets happen today although it should not. Each test shows the shortest way there; whoever closes a
//! hole turns its test around.

use serde_json::json;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;

use crate::world::World;
use crate::world::exit;
use crate::world::work;

const PLAN: &str = "- backend-developer\n- {gate: approval, name: release}";
const LIFECYCLE: &str = "current_stage: a\nstages:\n  a:\n    required_gates: [docs]\ngates:\n  docs:\n    command: [check-docs]\n";

/// A red test command passes where a limit on the pass rate is met: the number outvotes the exit code.
#[test]
fn hole_a_red_test_command_passes_by_its_pass_rate() {
    let story =
        World::new("- backend-developer\n- {gate: quality, name: numbers, thresholds: {pass_rate_pct: 50}}")
            .gate("tests", "run-tests", None, None)
            .command("run-tests", vec![exit(1, "==== 1 failed, 9 passed in 0.1s ====\n")])
            .play();
    story.completes();
    assert!(story.asked().is_empty());
}

/// A lifecycle file that cannot be read counts as none: no lifecycle gate is run.
#[test]
fn hole_a_broken_lifecycle_file_passes_all_lifecycle_gates() {
    let story = World::new(PLAN)
        .file("lifecycle-stage.yaml", "current_stage: [\n")
        .says("Gate release", "approve", "")
        .play();
    story.completes();
    assert!(!story.log.iter().any(|line| line.starts_with("Lifecycle")));
}

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

/// A critical finding of a review that follows a late fix is looked at by no gate.
#[test]
fn hole_a_critical_finding_after_the_last_gate_passes() {
    let story = World::new("- backend-developer\n- security\n- {gate: approval, name: release}")
        .finds(2, "critical")
        .file("lifecycle-stage.yaml", LIFECYCLE)
        .command("check-docs", vec![exit(1, "red\n")])
        .says("Gate release", "approve", "")
        .says("Gate lifecycle", "fix", "")
        .play();
    story.completes();
    assert_eq!(story.ended().outcome["findings"][0]["severity"], "critical");
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

/// Where checksums cannot be computed, an approval covers whatever there is.
#[test]
fn hole_an_approval_without_checksums_covers_anything() {
    let story = World::new(PLAN)
        .breaks("seals")
        .says_while("Gate release", "approve", |world| {
            world.files.insert("engine/api.md".to_owned(), "# Other\n".to_owned());
        })
        .play();
    story.completes();
    assert_eq!(story.asked(), ["Gate release"]);
}

/// A review whose findings cannot be used is clean once a person chooses Manual Fix or Skip validation.
#[test]
fn hole_a_review_without_usable_findings_becomes_a_clean_one() {
    for (choice, words) in [("fix", ""), ("override", "never mind")] {
        let mut world = World::new("- backend-developer\n- security\n- {gate: approval, name: release}");
        for call in 1..=3 {
            world = world.finds(call, "blocker");
        }
        let story = world.says("Invalid output", choice, words).says("Gate release", "approve", "").play();
        story.completes();
        assert_eq!(story.ended().outcome["findings"], json!([]), "{choice}");
    }
}

/// Skip validation takes the work of a role that reported nothing usable and wrote nothing.
#[test]
fn hole_skip_validation_takes_work_that_does_not_exist() {
    let silent = || Failure::new(Class::Silent, "it reported nothing");
    let story = World::new("- backend-developer")
        .fails("backend-developer", 1, silent())
        .fails("backend-developer", 2, silent())
        .fails("backend-developer", 3, silent())
        .says("Invalid output", "override", "never mind")
        .play();
    story.completes();
    assert!(!story.world().files.contains_key("engine/api.md"));
}

/// Skipping an optional reviewer at its second look erases what it found at its first.
#[test]
fn hole_skipping_a_reviewer_erases_its_critical_finding() {
    let steps = "- backend-developer\n- {agent: security, optional: true}\n- {gate: approval, name: release}";
    let story = World::new(steps)
        .finds(1, "critical")
        .fails("security", 2, Failure::new(Class::Contract, "not now"))
        .says("Failure: Security", "skip", "")
        .says("Gate release", "approve", "")
        .play();
    story.completes();
    assert_eq!(story.ended().outcome["findings"], json!([]));
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

/// Checksums that cannot be read count as none: damage is not noticed.
#[test]
fn hole_a_broken_seal_hides_damage() {
    let story =
        World::new(PLAN).file(".snapshots/sealed.json", "{").says("Gate release", "approve", "").play();
    story.completes();
    assert_eq!(story.asked(), ["Gate release"]);
}

/// The last sentence says that every gate passed, also where one was overridden.
#[test]
fn hole_an_overridden_gate_counts_as_passed_in_the_last_sentence() {
    let story = World::new("- backend-developer\n- {gate: quality, name: numbers}")
        .gate("coverage", "cov", Some("Coverage: ([0-9]+)%"), Some("80"))
        .command("cov", vec![exit(0, "Coverage: 1%\n")])
        .says("Quality gate", "override", "a demo")
        .play();
    assert!(story.ended().message.contains("every gate passed"));
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
