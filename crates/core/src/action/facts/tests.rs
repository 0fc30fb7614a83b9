//! Tests of facts: every variant has its name in the journal and its sentence.

use serde_json::json;

use super::*;
use crate::action::approval::Decision;
use crate::action::severity::Severity;
use crate::failure::Class;
use crate::failure::Failure;

fn at() -> Utc {
    Utc::parse("2026-02-07T10:45:23Z").unwrap()
}

fn concern() -> Concern {
    Concern {
        severity: Severity::Critical,
        title: "SQL injection".to_owned(),
        file: "src/a.rs".to_owned(),
        line: Some(7),
        remedy: String::new(),
        by: "security".to_owned(),
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// What roles do, with the name and the sentence that each event has.
fn of_roles() -> Vec<(ActionFact, &'static str, &'static str)> {
    let (backend, frontend) = ("backend-developer".to_owned(), "frontend-developer".to_owned());
    let file = FileWritten { path: "engine/api.rs".to_owned(), change: Change::Created };
    let result = |role: &String, result| RoleResult { role: role.clone(), result };
    vec![
        (
            ActionFact::StageBegan {
                stage: 2,
                roles: vec![backend.clone(), frontend.clone()],
                gates: vec![],
            },
            "stage_began",
            "Stage 2 began: Backend Developer, Frontend Developer.",
        ),
        (
            ActionFact::RoleCalled {
                role: backend.clone(),
                stage: 2,
                attempt: 2,
                agent: Some("other".to_owned()),
                timeout_ms: 60_000,
                feedback: owned(&["Correct the API.\nAll of it."]),
            },
            "role_called",
            "Backend Developer called (other), attempt 2. | may take 1 min; feedback: Correct the API.",
        ),
        (
            ActionFact::RoleDone {
                role: backend.clone(),
                stage: 2,
                calls: 2,
                files: vec![file],
                summary: "The API.\nMore".to_owned(),
                findings: vec![concern()],
            },
            "role_done",
            "Backend Developer finished: 1 file written, 1 finding. | The API.; engine/api.rs",
        ),
        (
            ActionFact::RoleSkipped { role: backend.clone(), stage: 2, reason: Skipped::Failed },
            "role_skipped",
            "Backend Developer was skipped.",
        ),
        (
            ActionFact::RoleStopped { role: backend.clone(), stage: 2, reason: RoleStop::Cancelled },
            "role_stopped",
            "Backend Developer stopped: a person asked to cancel the action.",
        ),
        (
            ActionFact::Waiting { role: backend.clone(), text: "Transient error: x.".to_owned(), ms: 2000 },
            "waiting",
            "Backend Developer is retried in 2 s. | Transient error: x.",
        ),
        (
            ActionFact::ParallelResults {
                text: "Parallel execution results:".to_owned(),
                roles: vec![result(&backend, RoleEnd::Done), result(&frontend, RoleEnd::Skipped)],
            },
            "parallel_results",
            "Parallel roles: Backend Developer finished, Frontend Developer skipped.",
        ),
    ]
}

/// What gates come to.
fn of_gates() -> Vec<(ActionFact, &'static str, &'static str)> {
    let round = Iteration {
        gate: "release".to_owned(),
        iteration: 2,
        decision: Decision::Reject,
        reason: "too long".to_owned(),
        by: "ann".to_owned(),
        at: at(),
        stage: String::new(),
    };
    let ran = LifecycleResult { gate: "docs".to_owned(), end: GateEnd::Exit(1), verdict: None };
    vec![
        (
            ActionFact::GateRan {
                gate: "tests".to_owned(),
                command: "sh check.sh".to_owned(),
                exit: Some(1),
                output: "one\n2 failed".to_owned(),
                output_hash: None,
                stage: None,
                within: vec![],
                verdict: None,
            },
            "gate_ran",
            "Gate tests ran: exit code 1. | sh check.sh: 2 failed",
        ),
        (
            ActionFact::GateFailed { gate: "quality".to_owned(), text: "Coverage: 65%\nFAIL".to_owned() },
            "gate_failed",
            "Gate quality failed: the measured values are not what it demands. | Coverage: 65%; FAIL",
        ),
        (ActionFact::GateRound { round }, "gate_round", "Round 2 at gate release: reject by ann. | too long"),
        (
            ActionFact::GateEnded {
                gate: "quality".to_owned(),
                kind: GateKind::Quality,
                stage: 1,
                result: GateResult::Overridden,
            },
            "gate_ended",
            "Gate quality failed and was overridden.",
        ),
        (
            ActionFact::ApprovalVoid { why: Voided::FilesChanged },
            "approval_void",
            "The approval is void: files changed after they were shown.",
        ),
        (
            ActionFact::Blocked {
                text: String::new(),
                findings: vec![concern()],
                roles: owned(&["backend-developer"]),
            },
            "blocked",
            "1 critical finding sent back to Backend Developer. | SQL injection in src/a.rs:7",
        ),
        (
            ActionFact::TrackedFindings { findings: owned(&["LOW: a", "LOW: b"]) },
            "tracked_findings",
            "2 findings tracked. | LOW: a; LOW: b",
        ),
        (
            ActionFact::LifecycleGates {
                stage: "planning".to_owned(),
                text: String::new(),
                gates: vec![ran],
            },
            "lifecycle_gates",
            "Lifecycle stage planning: 1 of 1 gate failed. | docs",
        ),
    ]
}

/// The beginning, decisions, files and the end.
fn of_files() -> Vec<(ActionFact, &'static str, &'static str)> {
    let event = RolledBack {
        snapshot: "s1".to_owned(),
        undo: "s2".to_owned(),
        words: "1 file reverted.".to_owned(),
        by: "ann".to_owned(),
        at: at(),
    };
    vec![
        (
            ActionFact::ActionBegan {
                action: "build".to_owned(),
                run: "build-1".to_owned(),
                snapshot: Some("s1".to_owned()),
                mode: Mode::Manual,
                operator: "ada".to_owned(),
                stage: Some("planning".to_owned()),
            },
            "action_began",
            "The action build began for ada in manual mode. | lifecycle stage planning",
        ),
        (
            ActionFact::SnapshotTaken { snapshot: "s1".to_owned(), scope: owned(&["engine/", "docs/"]) },
            "snapshot_taken",
            "Snapshot s1 taken. | engine/, docs/",
        ),
        (
            ActionFact::EvidenceWritten { folder: "evidence/build-1/".to_owned(), files: owned(&["a", "b"]) },
            "evidence_written",
            "Evidence written to evidence/build-1/ (2 files).",
        ),
        (
            ActionFact::FlowChanged {
                change: CourseChange::Void,
                reason: "a snapshot was restored".to_owned(),
            },
            "flow_changed",
            "All stages begin again: a snapshot was restored.",
        ),
        (
            ActionFact::Decision {
                id: "release".to_owned(),
                subject: "release".to_owned(),
                outcome: "approve".to_owned(),
                actor: "ann".to_owned(),
                rationale: "fine".to_owned(),
                at: at(),
            },
            "decision",
            "ann decided on release: approve. | fine",
        ),
        (
            ActionFact::RolledBack { event },
            "rolled_back",
            "ann rolled back to snapshot s1. | 1 file reverted. Undo: seriatim snapshot restore s2",
        ),
        (
            ActionFact::Error { at: ErrorAt::Evidence, text: "the disk is full.".to_owned() },
            "error",
            "The evidence could not be written: the disk is full.",
        ),
        (ActionFact::ArtifactsSealed { files: 1 }, "artifacts_sealed", "Checksums of 1 file recorded."),
    ]
}

#[test]
fn every_event_has_its_name_in_the_journal_and_one_sentence() {
    let all: Vec<_> = of_files().into_iter().chain(of_roles()).chain(of_gates()).collect();
    for (fact, name, words) in all {
        let journalled = serde_json::to_value(&fact).unwrap();
        assert_eq!(journalled["fact"], name);
        assert_eq!(serde_json::from_value::<ActionFact>(journalled.clone()).unwrap(), fact);
        let sentence = sentence(&journalled).unwrap();
        let detail =
            if sentence.detail.is_empty() { String::new() } else { format!(" | {}", sentence.detail) };
        assert_eq!(format!("{}{detail}", sentence.text), words);
    }
}

#[test]
fn names_of_fields_that_other_tools_read_stay() {
    let (decision, ..) = of_files().remove(4);
    assert_eq!(
        serde_json::to_value(decision).unwrap(),
        json!({"fact": "decision", "id": "release", "subject": "release", "outcome": "approve", "actor": "ann",
               "rationale": "fine", "at": at().to_string()})
    );
    let (changed, ..) = of_files().remove(3);
    assert_eq!(serde_json::to_value(changed).unwrap()["type"], "VOID");
}

#[test]
fn a_failed_attempt_is_told_like_in_every_dialect() {
    let failure = Failure::new(Class::Crash, "it ended with exit code 7");
    let fact = SharedFact::AttemptFailed { step: "architect".to_owned(), attempt: 1, failure };
    let journalled = serde_json::to_value(fact).unwrap();
    assert_eq!(
        sentence(&journalled).unwrap().text,
        "Attempt 1 of architect failed: it ended with exit code 7."
    );
    assert_eq!(sentence(&json!({"fact": "unheard_of"})), None);
}
