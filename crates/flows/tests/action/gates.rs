//! Gates: none is passed by (OC-17, OC-18).

use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_flows::registry::End;

use crate::world::World;
use crate::world::exit;

const LIFECYCLE: &str = "current_stage: planning\nstages:\n  planning:\n    required_gates: [docs]\n  release:\n\
                         \x20   required_gates: []\ngates:\n  docs:\n    command: [check-docs]\n";

fn behind(gate: &str) -> World {
    World::new(&format!("- backend-developer\n- {gate}"))
}

/// OC-53, OC-54, OC-55: rejected work goes back with the person's words, and each round is on record.
#[test]
fn oc_53_changes_and_rejections_send_the_work_back_with_the_words() {
    let story = behind("{gate: approval, name: release}")
        .says("Gate release", "changes", "shorter")
        .says("Gate release", "reject", "not this")
        .says("Gate release", "approve", "")
        .play();
    story.completes().tells(&[
        "Stage 1 began: Backend Developer.",
        "Backend Developer called, attempt 1.",
        "Backend Developer finished: 1 file written.",
        "ann decided on release: changes.",
        "Round 1 at gate release: changes by ann.",
        "Backend Developer called, attempt 2.",
        "Backend Developer finished: 1 file written.",
        "ann decided on release: reject.",
        "Round 2 at gate release: reject by ann.",
        "Backend Developer called, attempt 3.",
        "Backend Developer finished: 1 file written.",
        "ann decided on release: approve.",
        "Round 3 at gate release: approve by ann.",
        "Gate release approved.",
    ]);
    assert_eq!(
        story.world().prompts[1].1,
        [
            "User rejected your output with feedback:\n\"shorter\"\n\nPlease revise the artifact addressing this feedback."
        ]
    );
}

/// E-68: an approval counts for what was shown and nothing else.
#[test]
fn e_68_an_approval_of_files_that_changed_meanwhile_is_void() {
    let story = behind("{gate: signoff, name: release}")
        .says_while("Gate release", "approve", |world| {
            world.files.insert("engine/api.md".to_owned(), "# Other\n".to_owned());
        })
        .says("Gate release", "approve", "")
        .play();
    story.completes().tells(&[
        "Stage 1 began: Backend Developer.",
        "Backend Developer called, attempt 1.",
        "Backend Developer finished: 1 file written.",
        "ann decided on release: approve.",
        "Round 1 at gate release: approve by ann.",
        "The approval is void: files changed after they were shown.",
        "ann decided on release: approve.",
        "Round 2 at gate release: approve by ann.",
        "Gate release approved.",
    ]);
}

/// OC-123: evidence of another lifecycle stage does not count.
#[test]
fn oc_123_an_approval_for_another_lifecycle_stage_is_void_and_checks_run_again() {
    let world = World::new(
        "- backend-developer\n- {gate: script, name: lint, command: [lint]}\n- {gate: approval, name: release}",
    );
    let story = world
        .file("lifecycle-stage.yaml", LIFECYCLE)
        .says_while("Gate release", "approve", |world| {
            let text = world.files["lifecycle-stage.yaml"]
                .replace("current_stage: planning", "current_stage: release");
            world.files.insert("lifecycle-stage.yaml".to_owned(), text);
        })
        .says("Gate release", "approve", "")
        .play();
    story.completes().tells(&[
        "Stage 1 began: Backend Developer.",
        "Backend Developer called, attempt 1.",
        "Backend Developer finished: 1 file written.",
        "Gate lint ran: exit code 0.",
        "engine decided on lint: passed.",
        "Gate lint passed.",
        "ann decided on release: approve.",
        "Round 1 at gate release: approve by ann.",
        "The approval is void: another lifecycle stage is declared by now.",
        "Gate lint ran: exit code 0.",
        "engine decided on lint: passed.",
        "Gate lint passed.",
        "ann decided on release: approve.",
        "Round 2 at gate release: approve by ann.",
        "Gate release approved.",
        "Lifecycle stage release requires no gates: nothing was checked.",
    ]);
}

/// OC-17: a readiness, done-review or sign-off gate asks like an approval.
#[test]
fn oc_17_every_gate_at_which_a_person_decides_asks() {
    for kind in ["approval", "signoff", "readiness", "done-review"] {
        let story =
            behind(&format!("{{gate: {kind}, name: release}}")).says("Gate release", "approve", "").play();
        story.completes();
        assert_eq!(
            story.options("Gate release"),
            ["approve", "changes", "reject", "cancel", "rollback"],
            "{kind}"
        );
    }
}

/// OC-57: measured values below the threshold are a question; fixing, lowering and overriding are on record.
#[test]
fn oc_57_a_quality_gate_below_its_threshold_is_decided_upon() {
    let quality = || {
        behind("{gate: quality, name: coverage-gate}").gate(
            "coverage",
            "cov",
            Some("Coverage: ([0-9]+)%"),
            Some("80"),
        )
    };
    let low = || vec![exit(0, "Coverage: 65%\n")];
    let high = || exit(0, "Coverage: 90%\n");
    let story = quality().command("cov", vec![high()]).play();
    story.completes().tells(&[
        "Stage 1 began: Backend Developer.",
        "Backend Developer called, attempt 1.",
        "Backend Developer finished: 1 file written.",
        "Gate coverage ran: exit code 0.",
        "engine decided on coverage-gate: passed.",
        "Gate coverage-gate passed.",
    ]);
    let story =
        quality().command("cov", [low(), vec![high()]].concat()).says("Quality gate", "fix", "").play();
    story.completes().tells(&[
        "Stage 1 began: Backend Developer.",
        "Backend Developer called, attempt 1.",
        "Backend Developer finished: 1 file written.",
        "Gate coverage ran: exit code 0.",
        "Gate coverage-gate failed: the measured values are not what it demands.",
        "ann decided on coverage-gate: fix.",
        "Backend Developer called, attempt 2.",
        "Backend Developer finished: 1 file written.",
        "Gate coverage ran: exit code 0.",
        "engine decided on coverage-gate: passed.",
        "Gate coverage-gate passed.",
    ]);
    let story = quality()
        .command("cov", [low(), low()].concat())
        .says("Quality gate", "lower_threshold", "later")
        .play();
    story.completes();
    let story = quality().command("cov", low()).says("Quality gate", "override", "a prototype").play();
    story.completes().tells(&[
        "Stage 1 began: Backend Developer.",
        "Backend Developer called, attempt 1.",
        "Backend Developer finished: 1 file written.",
        "Gate coverage ran: exit code 0.",
        "Gate coverage-gate failed: the measured values are not what it demands.",
        "ann decided on coverage-gate: override.",
        "gate coverage-gate: overridden by ann.",
        "Gate coverage-gate failed and was overridden.",
    ]);
    let story =
        quality().command("cov", [low(), vec![high()]].concat()).says("Quality gate", "retry", "").play();
    story.completes();
}

/// OC-18: a quality gate without a measure is a person's decision.
#[test]
fn oc_18_a_quality_gate_that_measures_nothing_asks_a_person() {
    let story = behind("{gate: quality, name: numbers}").says("Gate numbers", "approve", "").play();
    story.completes();
    assert!(
        story
            .question("Gate numbers")
            .details
            .contains("Nothing is configured that the gate numbers could measure.")
    );
}

/// OC-18: a red script never passes; it is fixed, retried, or the action ends.
#[test]
fn oc_18_a_red_script_is_never_passed_by() {
    let script = |results| behind("{gate: script, name: lint, command: [lint]}").command("lint", results);
    let red = || exit(1, "1 error\n");
    let story = script(vec![]).play();
    story.completes().tells(&[
        "Stage 1 began: Backend Developer.",
        "Backend Developer called, attempt 1.",
        "Backend Developer finished: 1 file written.",
        "Gate lint ran: exit code 0.",
        "engine decided on lint: passed.",
        "Gate lint passed.",
    ]);
    let story = script(vec![red(), red()]).says("Gate lint", "fix", "").says("Gate lint", "retry", "").play();
    story.completes().tells(&[
        "Stage 1 began: Backend Developer.",
        "Backend Developer called, attempt 1.",
        "Backend Developer finished: 1 file written.",
        "Gate lint ran: exit code 1.",
        "ann decided on lint: fix.",
        "Backend Developer called, attempt 2.",
        "Backend Developer finished: 1 file written.",
        "Gate lint ran: exit code 1.",
        "ann decided on lint: retry.",
        "Gate lint ran: exit code 0.",
        "engine decided on lint: passed.",
        "Gate lint passed.",
    ]);
    assert_eq!(story.options("Gate lint"), ["fix", "retry", "cancel"]);
    assert_eq!(story.world().prompts[1].1, ["The gate lint failed:\n1 error"]);
    let broken = Err(Failure::new(Class::Contract, "there is no program named `lint`"));
    let story = script(vec![broken]).says("Gate lint", "cancel", "").says("Cancel", "keep", "").play();
    story.ends(End::Cancelled, "ann cancelled the action build; its files stay as they are.").tells(&[
        "Stage 1 began: Backend Developer.",
        "Backend Developer called, attempt 1.",
        "Backend Developer finished: 1 file written.",
        "Gate lint ran: no exit code.",
        "ann decided on lint: cancel.",
        "ann decided on Cancel: keep.",
    ]);
}

/// OC-18: a script gate without a command is a person's decision.
#[test]
fn oc_18_a_sync_gate_without_a_command_asks_a_person() {
    let story = behind("{gate: tracker-sync, name: tracker}").says("Gate tracker", "approve", "").play();
    story.completes();
    assert!(story.question("Gate tracker").details.contains("The gate tracker has no command"));
}

/// OC-17: at an editorial or self-review gate the roles look at their own work again.
#[test]
fn oc_17_an_editorial_gate_calls_the_roles_again() {
    for kind in ["editorial", "self-review"] {
        let story = behind(&format!("{{gate: {kind}, name: polish, checklist: [Names agree]}}")).play();
        story.completes();
        assert_eq!(story.calls("backend-developer"), 2, "{kind}");
        assert!(story.world().prompts[1].1[0].ends_with("- Names agree"), "{kind}");
        assert!(story.log.contains(&"Gate polish: the roles reviewed their work.".to_owned()), "{kind}");
    }
}

/// OC-17: what is not clear is clarified by a person, and the answer reaches the roles.
#[test]
fn oc_17_a_clarification_goes_to_the_roles_and_is_asked_again() {
    let story = behind("{gate: clarification, name: open-points}")
        .says("Clarification", "guide", "use REST")
        .says("Clarification", "approve", "")
        .play();
    story.completes().tells(&[
        "Stage 1 began: Backend Developer.",
        "Backend Developer called, attempt 1.",
        "Backend Developer finished: 1 file written.",
        "ann decided on open-points: guide.",
        "Backend Developer called, attempt 2.",
        "Backend Developer finished: 1 file written.",
        "ann decided on open-points: approve.",
        "Gate open-points: no question is open.",
    ]);
    assert_eq!(story.world().prompts[1].1, ["use REST"]);
}

/// OC-116 to OC-121: the gates of the lifecycle stage are run before the action counts as done.
#[test]
fn oc_116_lifecycle_gates_are_run_fixed_and_run_again() {
    let world = World::new("- backend-developer\n- {gate: approval, name: release}")
        .file("lifecycle-stage.yaml", LIFECYCLE);
    let story = world
        .command("check-docs", vec![exit(2, "a link is dead\n"), exit(2, "a link is dead\n")])
        .says("Gate release", "approve", "")
        .says("Gate lifecycle (docs)", "fix", "")
        .says("Gate lifecycle (docs)", "retry", "")
        .play();
    story.completes().tells(&[
        "Stage 1 began: Backend Developer.",
        "Backend Developer called, attempt 1.",
        "Backend Developer finished: 1 file written.",
        "ann decided on release: approve.",
        "Round 1 at gate release: approve by ann.",
        "Gate release approved.",
        "Gate docs ran: exit code 2.",
        "Lifecycle stage planning: 1 of 1 gate failed.",
        "ann decided on lifecycle gates: fix.",
        "Backend Developer called, attempt 2.",
        "Backend Developer finished: 1 file written.",
        "Gate docs ran: exit code 2.",
        "Lifecycle stage planning: 1 of 1 gate failed.",
        "ann decided on lifecycle gates: retry.",
        "Gate docs ran: exit code 0.",
        "Lifecycle stage planning: 1 gate passed.",
    ]);
    assert!(story.world().files.contains_key(".snapshots/lifecycle-approved.yaml"));
}
