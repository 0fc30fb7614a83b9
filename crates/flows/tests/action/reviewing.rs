//! Findings of reviewers: critical never passes, high takes words, the rest is tracked.

use seriatim_flows::registry::End;

use crate::world::World;

const REVIEW: &str = "- backend-developer\n- security\n- {gate: approval, name: release}";

/// OC-58: critical findings go back to the maker by themselves.
#[test]
fn oc_58_a_critical_finding_is_fixed_before_anyone_is_asked() {
    let story = World::new(REVIEW).finds(1, "critical").says("Gate release", "approve", "").play();
    story.completes().tells(&[
        "Stage 1 began: Backend Developer.",
        "Backend Developer called, attempt 1.",
        "Backend Developer finished: 1 file written.",
        "Stage 2 began: Security.",
        "Security called, attempt 1.",
        "Security finished: 1 file written, 1 finding.",
        "1 critical finding sent back to Backend Developer.",
        "engine decided on security: blocked.",
        "Backend Developer called, attempt 2.",
        "Backend Developer finished: 1 file written.",
        "Security called, attempt 2.",
        "Security finished: 1 file written.",
        "ann decided on release: approve.",
        "Round 1 at gate release: approve by ann.",
        "Gate release approved.",
    ]);
    assert_eq!((story.calls("backend-developer"), story.calls("security")), (2, 2));
}

/// OC-58: after two rounds a person is asked, and no option lets it pass.
#[test]
fn oc_58_a_critical_finding_that_stays_leaves_no_option_to_approve() {
    let mut world = World::new(REVIEW).says("Gate release", "fix", "").says("Gate release", "approve", "");
    for call in 1..=3 {
        world = world.finds(call, "critical");
    }
    let story = world.play();
    story.completes();
    let questions = story.played.questions();
    let ids = |index: usize| -> Vec<&str> {
        questions[index].options.iter().map(|option| option.id.as_str()).collect()
    };
    assert_eq!(ids(0), ["fix", "changes", "reject", "cancel", "rollback"]);
    assert_eq!(ids(1), ["approve", "changes", "reject", "cancel", "rollback"]);
    assert_eq!((story.calls("backend-developer"), story.calls("security")), (4, 4));
}

/// OC-59: a high finding passes with a justification only.
#[test]
fn oc_59_a_high_finding_needs_a_justification() {
    let story =
        World::new(REVIEW).finds(1, "high").says("Gate release", "approve", "known and accepted").play();
    story.completes().tells(&[
        "Stage 1 began: Backend Developer.",
        "Backend Developer called, attempt 1.",
        "Backend Developer finished: 1 file written.",
        "Stage 2 began: Security.",
        "Security called, attempt 1.",
        "Security finished: 1 file written, 1 finding.",
        "ann decided on release: approve.",
        "Round 1 at gate release: approve by ann.",
        "Gate release approved.",
    ]);
    let question = story.question("Gate release");
    assert!(question.options[0].id == "approve" && question.options[0].needs_text);
}

/// OC-59: findings behind which no gate comes are decided upon all the same.
#[test]
fn oc_59_a_high_finding_without_a_gate_behind_it_is_asked_about() {
    let story = World::new("- backend-developer\n- security")
        .finds(1, "high")
        .says("Gate findings", "cancel", "")
        .says("Cancel", "keep", "")
        .play();
    story.ends(End::Cancelled, "ann cancelled the action build; its files stay as they are.").tells(&[
        "Stage 1 began: Backend Developer.",
        "Backend Developer called, attempt 1.",
        "Backend Developer finished: 1 file written.",
        "Stage 2 began: Security.",
        "Security called, attempt 1.",
        "Security finished: 1 file written, 1 finding.",
        "ann decided on findings: cancel.",
        "Round 1 at gate findings: cancel by ann.",
        "ann decided on Cancel: keep.",
    ]);
}

/// OC-60: medium and low findings are tracked and stop nothing.
#[test]
fn oc_60_medium_findings_are_tracked() {
    let story = World::new(REVIEW).finds(1, "medium").says("Gate release", "approve", "").play();
    story.completes().tells(&[
        "Stage 1 began: Backend Developer.",
        "Backend Developer called, attempt 1.",
        "Backend Developer finished: 1 file written.",
        "Stage 2 began: Security.",
        "Security called, attempt 1.",
        "Security finished: 1 file written, 1 finding.",
        "ann decided on release: approve.",
        "Round 1 at gate release: approve by ann.",
        "Gate release approved.",
        "1 finding tracked.",
    ]);
}

/// OC-62, OC-104: findings that cannot be used are corrected.
#[test]
fn oc_62_a_report_without_usable_findings_is_corrected() {
    let story = World::new(REVIEW).finds(1, "blocker").says("Gate release", "approve", "").play();
    story.completes().tells(&[
        "Stage 1 began: Backend Developer.",
        "Backend Developer called, attempt 1.",
        "Backend Developer finished: 1 file written.",
        "Stage 2 began: Security.",
        "Security called, attempt 1.",
        "Attempt 1 of security failed: its findings cannot be used: `outputs.findings[0]` needs a `severity`: one of critical, high, medium, low.",
        "Security called, attempt 2.",
        "Security finished: 1 file written.",
        "ann decided on release: approve.",
        "Round 1 at gate release: approve by ann.",
        "Gate release approved.",
    ]);
}
