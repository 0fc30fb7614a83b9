//! Tests of the view: everything that a person asks about an action is in it.

use serde_json::Value;

use super::*;
use crate::action::facts::ErrorAt;
use crate::failure::Class;
use crate::failure::Failure;
use crate::gate::GateEnd;
use crate::time::Utc;

fn at() -> Utc {
    Utc::parse("2026-02-07T10:45:23Z").unwrap()
}

fn fact(fact: &impl Serialize) -> Fact {
    Fact { at: at(), data: serde_json::to_value(fact).unwrap() }
}

fn called(role: &str, stage: u32) -> ActionFact {
    ActionFact::RoleCalled {
        role: role.to_owned(),
        stage,
        attempt: 1,
        agent: None,
        timeout_ms: 1000,
        feedback: vec![],
    }
}

fn done(role: &str, stage: u32, path: &str, change: Change, findings: Vec<Concern>) -> ActionFact {
    ActionFact::RoleDone {
        role: role.to_owned(),
        stage,
        calls: 1,
        files: vec![FileWritten { path: path.to_owned(), change }],
        summary: "as asked\nmore".to_owned(),
        findings,
    }
}

fn finding() -> Concern {
    Concern {
        severity: Severity::High,
        title: "weak hash".to_owned(),
        file: "engine/a.rs".to_owned(),
        line: Some(3),
        remedy: String::new(),
        by: "security".to_owned(),
    }
}

fn facts() -> Vec<Fact> {
    let failure = Failure::new(Class::Crash, "it ended with exit code 7");
    vec![
        fact(&ActionFact::SnapshotTaken { snapshot: "s1".to_owned(), scope: vec![] }),
        fact(&ActionFact::ActionBegan {
            action: "build".to_owned(),
            run: "build-1".to_owned(),
            snapshot: Some("s1".to_owned()),
            mode: Mode::Automated,
            operator: "ada".to_owned(),
            stage: None,
        }),
        fact(&ActionFact::StageBegan {
            stage: 1,
            roles: vec!["backend-developer".to_owned()],
            gates: vec!["tests".to_owned()],
        }),
        fact(&called("backend-developer", 1)),
        fact(&SharedFact::AttemptFailed { step: "backend-developer".to_owned(), attempt: 1, failure }),
        fact(&called("backend-developer", 1)),
        fact(&done("backend-developer", 1, "engine/a.rs", Change::Created, vec![])),
        fact(&ActionFact::GateRan {
            gate: "tests".to_owned(),
            command: "sh t.sh".to_owned(),
            exit: Some(1),
            output: "1 failed".to_owned(),
            output_hash: None,
            stage: None,
            within: vec![],
            verdict: None,
        }),
        fact(&ActionFact::GateEnded {
            gate: "tests".to_owned(),
            kind: GateKind::Quality,
            stage: 1,
            result: GateResult::Overridden,
        }),
        fact(&called("security", 2)),
        fact(&done("security", 2, "engine/a.rs", Change::Updated, vec![finding()])),
        fact(&ActionFact::Decision {
            id: "release".to_owned(),
            subject: "release".to_owned(),
            outcome: "approve".to_owned(),
            actor: "ann".to_owned(),
            rationale: "known".to_owned(),
            at: at(),
        }),
        fact(&ActionFact::LifecycleGates {
            stage: "planning".to_owned(),
            text: String::new(),
            gates: vec![LifecycleResult { gate: "docs".to_owned(), end: GateEnd::Exit(0), verdict: None }],
        }),
        fact(&ActionFact::EvidenceWritten { folder: "evidence/build-1/".to_owned(), files: vec![] }),
        fact(&ActionFact::Error { at: ErrorAt::Records, text: "the disk is full".to_owned() }),
    ]
}

fn plain(section: &Section) -> Vec<String> {
    let lines = section.blocks.iter().flat_map(|block| match block {
        Block::Line { label, text, .. } => vec![format!("{label}: {text}")],
        Block::Table { rows, .. } => rows.iter().map(|row| row.join(" | ")).collect(),
        Block::Output { title, exit, text, brief, .. } => vec![format!("{title} {exit:?} {text} {brief}")],
    });
    std::iter::once(format!("# {}", section.title)).chain(lines).collect()
}

#[test]
fn an_action_is_shown_with_stages_gates_decisions_findings_files_and_evidence() {
    let view = view(&facts());
    let lines: Vec<String> = view.sections.iter().flat_map(plain).collect();
    assert_eq!(
        lines,
        [
            "# Stages",
            "1 | Backend Developer | 2 | done | 1 file | as asked",
            "2 | Security | 1 | done | 1 file | as asked",
            "# Gates",
            "tests: failed, overridden (stage 1, quality)",
            "docs: passed (lifecycle)",
            "tests Some(1) 1 failed true",
            "# Decisions",
            "release: approve by ann: known",
            "# Findings",
            "F1 high: weak hash in engine/a.rs:3 (Security), open",
            "# Files",
            "engine/a.rs: created by Security",
            "# Evidence",
            "folder: evidence/build-1/",
            "snapshot: s1 (seriatim snapshot restore s1)",
            "error: the disk is full",
        ]
    );
    assert_eq!(view.alerts, ["The gate tests failed and was overridden."]);
    assert_eq!(view.fields["roles"][0]["calls"], 2);
    assert_eq!(view.fields["gates"][0]["result"], "overridden");
    assert_eq!(view.fields["artifacts"][0]["path"], "engine/a.rs");
    assert_eq!(view.fields["findings"][0]["severity"], "high");
    assert_eq!(view.fields["decisions"][0]["actor"], "ann");
}

#[test]
fn a_role_that_failed_or_was_skipped_says_so() {
    let row = |facts: &[Fact]| view(facts).fields["roles"][0]["result"].as_str().map(str::to_owned).unwrap();
    let mut facts = facts();
    facts.truncate(4);
    assert_eq!(row(&facts[..3]), "waiting");
    assert_eq!(row(&facts), "working");
    let failure = Failure::new(Class::Crash, "it ended");
    facts.push(fact(&SharedFact::AttemptFailed {
        step: "backend-developer".to_owned(),
        attempt: 1,
        failure,
    }));
    assert_eq!(row(&facts), "failed");
    let skipped =
        ActionFact::RoleSkipped { role: "backend-developer".to_owned(), stage: 1, reason: Skipped::Failed };
    facts.push(fact(&skipped));
    assert_eq!(row(&facts), "skipped");
}

#[test]
fn without_facts_there_is_nothing_to_show() {
    let view = view(&[Fact { at: at(), data: Value::Null }]);
    assert_eq!(view.sections, []);
}
