//! Stages: roles one after the other and side by side, and what their work has to be.

use serde_json::json;
use seriatim_core::action::evidence::Change;
use seriatim_core::action::facts::ActionFact;
use seriatim_core::action::facts::FileWritten;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_flows::registry::End;

use crate::world::World;
use crate::world::done;
use crate::world::work;

const PARALLEL: &str =
    "- parallel: [backend-developer, frontend-developer]\n- {gate: approval, name: release}";
const PLAN: &str = "- architect\n- {gate: approval, name: release}";

/// OC-18, OC-80, OC-97: the straight way, told from the first to the last event.
#[test]
fn oc_18_the_straight_way_is_told_from_its_first_to_its_last_event() {
    let story = World::new(PLAN).says("Gate release", "approve", "well done").play();
    story.ends(
        End::Completed,
        "The action build is done: 1 file written. Approved: release by ann. Not checked: this action has no gate that runs a check. Evidence: \
         planning-mds/operations/evidence/build-20260207-103001/.",
    );
    assert_eq!(
        story.log,
        [
            "Snapshot build-1 taken.",
            "The action build began for ada.",
            "Not checked: this action has no gate that runs a check.",
            "Evidence written to planning-mds/operations/evidence/build-20260207-103001/ (5 files).",
            "Stage 1 began: Architect.",
            "Architect called, attempt 1.",
            "Architect finished: 1 file written.",
            "ann decided on release: approve.",
            "Round 1 at gate release: approve by ann.",
            "Gate release approved.",
            "Evidence written to planning-mds/operations/evidence/build-20260207-103001/ (5 files).",
            "Checksums of 1 file recorded."
        ]
    );
    let done = story.facts.iter().find(|fact| matches!(fact, ActionFact::RoleDone { .. }));
    assert_eq!(
        done,
        Some(&ActionFact::RoleDone {
            role: "architect".to_owned(),
            stage: 1,
            calls: 1,
            files: vec![FileWritten { path: "planning-mds/design.md".to_owned(), change: Change::Created }],
            summary: "as asked".to_owned(),
            findings: vec![],
        })
    );
    let folder = "planning-mds/operations/evidence/build-20260207-103001";
    let evidence: Vec<String> = [
        "action-context.md",
        "artifact-trace.md",
        "gate-decisions.md",
        "commands.log",
        "lifecycle-gates.log",
    ]
    .iter()
    .map(|name| format!("{folder}/{name}"))
    .collect();
    assert!(evidence.iter().all(|path| story.written().contains(path.as_str())), "{:?}", story.written());
    assert_eq!(story.ended().outcome["result"], "COMPLETED");
    assert_eq!(story.ended().outcome["artifacts"], json!(["planning-mds/design.md"]));
    assert!(story.ended().outcome["compliance"].as_object().unwrap().values().all(|point| point == true));
}

/// OC-47, OC-48, OC-50: one of two roles fails and recovers; the other is not called again.
#[test]
fn oc_47_a_parallel_role_that_fails_is_retried_and_the_others_stay() {
    let story = World::new(PARALLEL)
        .fails("backend-developer", 1, Failure::new(Class::Crash, "it ended with exit code 1"))
        .says("Gate release", "approve", "")
        .play();
    story.completes().tells(&[
        "Stage 1 began: Backend Developer, Frontend Developer.",
        "Backend Developer called, attempt 1.",
        "Frontend Developer called, attempt 1.",
        "Attempt 1 of backend-developer failed: it ended with exit code 1.",
        "Parallel roles: Backend Developer failed and is retried.",
        "Backend Developer is retried in 1 s.",
        "Backend Developer called, attempt 2.",
        "Frontend Developer finished: 1 file written.",
        "Backend Developer finished: 1 file written.",
        "Parallel roles: Backend Developer finished, Frontend Developer finished.",
        "ann decided on release: approve.",
        "Round 1 at gate release: approve by ann.",
        "Gate release approved.",
    ]);
    assert_eq!((story.calls("backend-developer"), story.calls("frontend-developer")), (2, 1));
    assert_eq!(story.world().slept_ms, [1000]);
    assert_eq!(story.world().files["engine/api.md"], "# Work\n\nCall 2.\n");
}

/// OC-47: a role that keeps failing is asked about while the other one is finished.
#[test]
fn oc_49_a_parallel_role_that_keeps_failing_is_for_a_person() {
    let failure = || Failure::new(Class::Crash, "it ended with exit code 1");
    let story = World::new(PARALLEL)
        .fails("backend-developer", 1, failure())
        .fails("backend-developer", 2, failure())
        .fails("backend-developer", 3, failure())
        .says("Failure: Backend Developer", "retry", "look at the log")
        .says("Gate release", "approve", "")
        .play();
    story.completes();
    assert_eq!(story.options("Failure"), ["retry", "fix", "cancel", "rollback"]);
    assert_eq!((story.calls("backend-developer"), story.calls("frontend-developer")), (4, 1));
    assert_eq!(story.world().prompts.last().unwrap().1, ["look at the log"]);
}

/// OC-41, OC-42: a promised file that is not there is never taken as done.
#[test]
fn oc_41_a_missing_artifact_is_asked_about() {
    let story = World::new(PLAN)
        .act("architect", 1, |_| done(json!({})))
        .says("Missing artifacts", "retry", "")
        .says("Gate release", "approve", "")
        .play();
    story.completes().tells(&[
        "Stage 1 began: Architect.",
        "Architect called, attempt 1.",
        "Attempt 1 of architect failed: Agent architect completed but required artifacts missing:\n- Expected: planning-mds/design.md\n\nThis indicates an agent execution issue.",
        "ann decided on Missing artifacts: Architect: retry.",
        "Architect called, attempt 2.",
        "Architect finished: 1 file written.",
        "ann decided on release: approve.",
        "Round 1 at gate release: approve by ann.",
        "Gate release approved.",
    ]);
    assert!(story.question("Missing artifacts").why.contains("- Expected: planning-mds/design.md"));
}

/// OC-14: what a role writes outside of its contract is put back, and the role corrects its work.
#[test]
fn oc_14_a_breach_of_scope_is_put_back_and_corrected() {
    let story = World::new(PLAN)
        .file("engine/api.md", "# Old\n")
        .act("architect", 1, |files| {
            files.insert("engine/api.md".to_owned(), "# Mine\n".to_owned());
            work("architect", files, 1)
        })
        .says("Gate release", "approve", "")
        .play();
    story.completes().tells(&[
        "Stage 1 began: Architect.",
        "Architect called, attempt 1.",
        "Attempt 1 of architect failed: it wrote where it must not: engine/api.md is not among the files that you may write.",
        "Architect called, attempt 2.",
        "Architect finished: 1 file written.",
        "ann decided on release: approve.",
        "Round 1 at gate release: approve by ann.",
        "Gate release approved.",
    ]);
    assert_eq!(story.world().files["engine/api.md"], "# Old\n");
    assert_eq!(story.world().prompts[1].1, ["engine/api.md is not among the files that you may write"]);
    let kept = story.world().files.keys().find(|path| path.starts_with(".artifacts-failed/"));
    assert_eq!(
        kept.map(String::as_str),
        Some(".artifacts-failed/build-20260207-103001/architect-1/engine/api.md")
    );
}

/// OC-36, OC-37, OC-38: invalid output is corrected at once, twice at most.
#[test]
fn oc_38_invalid_output_is_corrected_twice_and_then_a_person_decides() {
    let bad = |files: &mut crate::world::Files| {
        files.insert("planning-mds/design.md".to_owned(), "# Bad\n\n```sh\necho\n".to_owned());
        done(json!({}))
    };
    let story = World::new(PLAN)
        .act("architect", 1, bad)
        .act("architect", 2, bad)
        .act("architect", 3, bad)
        .says_while("Invalid output", "fix", |world| {
            world.files.insert("planning-mds/design.md".to_owned(), "# By hand\n".to_owned());
        })
        .says("Gate release", "approve", "")
        .play();
    story.completes().tells(&[
        "Stage 1 began: Architect.",
        "Architect called, attempt 1.",
        "Attempt 1 of architect failed: Invalid Markdown in line 3: a code block is never closed (planning-mds/design.md:3).",
        "Architect called, attempt 2.",
        "Attempt 2 of architect failed: Invalid Markdown in line 3: a code block is never closed (planning-mds/design.md:3).",
        "Architect called, attempt 3.",
        "Attempt 3 of architect failed: Invalid Markdown in line 3: a code block is never closed (planning-mds/design.md:3).",
        "ann decided on Invalid output: Architect: fix.",
        "Architect finished: 1 file written.",
        "ann decided on release: approve.",
        "Round 1 at gate release: approve by ann.",
        "Gate release approved.",
    ]);
    assert_eq!(story.calls("architect"), 3);
    assert!(story.world().slept_ms.is_empty());
    assert_eq!(story.world().files["planning-mds/design.md"], "# By hand\n");
}

/// OC-43, OC-51: an optional role that fails can be skipped, and the next gate says so.
#[test]
fn oc_43_an_optional_role_is_skipped_with_the_reason_on_record() {
    let story = World::new("- quality-engineer\n- {gate: approval, name: release}")
        .fails("quality-engineer", 1, Failure::new(Class::Contract, "there is nothing to test"))
        .says("Failure: Quality Engineer", "skip", "not today")
        .says("Gate release", "approve", "")
        .play();
    story.completes().tells(&[
        "Stage 1 began: Quality Engineer.",
        "Quality Engineer called, attempt 1.",
        "Attempt 1 of quality-engineer failed: there is nothing to test.",
        "ann decided on Failure: Quality Engineer: skip.",
        "Quality Engineer was skipped.",
        "ann decided on release: approve.",
        "Round 1 at gate release: approve by ann.",
        "Gate release approved.",
    ]);
    let details = story.question("Gate release").details;
    assert!(details.contains("Quality Engineer: skipped"), "{details}");
    assert!(details.contains("Quality Engineer was skipped by ann: not today"), "{details}");
}

/// OC-33: a stage whose copies cannot be made ends the action with the reason.
#[test]
fn a_stage_without_copies_ends_with_the_reason() {
    let story = World::new(PARALLEL).breaks("copy").play();
    story.ends(End::Failed, "The action build cannot go on: the disk refuses it").tells(&[
        "Stage 1 began: Backend Developer, Frontend Developer.",
        "Parallel roles: Backend Developer stopped, Frontend Developer stopped.",
        "Backend Developer stopped: the engine cannot go on.",
        "The action cannot go on: the disk refuses it.",
    ]);
    let story = World::new(PLAN).breaks("mark").play();
    story.ends(End::Failed, "The action build cannot go on: the disk refuses it").tells(&[
        "Stage 1 began: Architect.",
        "Architect stopped: the engine cannot go on.",
        "The action cannot go on: the disk refuses it.",
    ]);
}

/// OC-90: a disk that refuses the evidence is on record and does not stop the work.
#[test]
fn oc_90_evidence_that_cannot_be_written_is_on_record() {
    let story = World::new(PLAN).breaks("write").says("Gate release", "approve", "").play();
    story.completes();
    let line = "The evidence could not be written: the disk refuses it.".to_owned();
    assert_eq!(story.log.iter().filter(|told| **told == line).count(), 20);
}

/// OC-100: what the action owes beside its roles is looked for at the end.
#[test]
fn oc_100_outputs_of_the_action_are_required() {
    let story = World::new(PLAN)
        .map_line("outputs: [docs/guide.md]")
        .says("Gate release", "approve", "")
        .says("Gate required artifacts", "fix", "")
        .says_while("Gate required artifacts", "retry", |world| {
            world.files.insert("docs/guide.md".to_owned(), "# Guide\n".to_owned());
        })
        .play();
    story.completes().tells(&[
        "Stage 1 began: Architect.",
        "Architect called, attempt 1.",
        "Architect finished: 1 file written.",
        "ann decided on release: approve.",
        "Round 1 at gate release: approve by ann.",
        "Gate release approved.",
        "ann decided on required artifacts: fix.",
        "Architect called, attempt 2.",
        "Architect finished: 1 file written.",
        "ann decided on required artifacts: retry.",
    ]);
}
