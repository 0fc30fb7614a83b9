//! Tests of the evidence files.

use proptest::prelude::*;

use super::*;

fn evidence() -> Evidence {
    Evidence {
        action: "build".to_owned(),
        run: "r1".to_owned(),
        mode: Mode::Automated,
        operator: "ann".to_owned(),
        started: Utc::parse("2026-02-07T10:30:00Z").unwrap(),
        ended: None,
        summary: String::new(),
        stage: Some("implementation".to_owned()),
        inputs: vec![("stories".to_owned(), "planning-mds/stories/".to_owned())],
        roles: vec![("architect".to_owned(), "agents/architect/SKILL.md".to_owned())],
        reads: BTreeSet::from(["planning-mds/BLUEPRINT.md".to_owned()]),
        writes: vec![Written {
            path: "engine/a.rs".to_owned(),
            change: Change::Created,
            role: "backend-developer".to_owned(),
        }],
        decisions: vec![GateDecision {
            gate: "build-approval".to_owned(),
            decision: "approve".to_owned(),
            at: Utc::parse("2026-02-07T11:00:00Z").unwrap(),
            by: "ann".to_owned(),
            rationale: "good\nenough".to_owned(),
        }],
        commands: vec![CommandRun {
            at: Utc::parse("2026-02-07T10:50:00Z").unwrap(),
            argv: vec!["cargo".to_owned(), "test".to_owned()],
            within: vec!["docker".to_owned(), "run".to_owned(), "app".to_owned()],
            exit: Some(0),
            duration_ms: 12_000,
            stage: Some("implementation".to_owned()),
        }],
        lifecycle: String::new(),
        findings: vec![],
        not_checked: vec![],
        waived: vec![],
    }
}

// OC-02, OC-97, OC-98, OC-99
#[test]
fn oc_97_the_five_files_name_everything() {
    let text: Vec<String> =
        evidence().files().iter().map(|(name, text)| format!("=== {name}\n{text}")).collect();
    insta::assert_snapshot!(text.join(""), @r"
    === action-context.md
    # Action context: build

    - Action: build
    - Run: r1
    - Mode: automated
    - Operator: ann
    - Started (UTC): 2026-02-07T10:30:00Z
    - Ended (UTC): not yet
    - Lifecycle stage: implementation

    ## Inputs

    - stories: planning-mds/stories/

    ## Roles

    - architect: agents/architect/SKILL.md

    ## Summary

    It is under way.
    === artifact-trace.md
    # Artifact trace: r1

    ## Read

    - planning-mds/BLUEPRINT.md

    ## Created

    - engine/a.rs (backend-developer)

    ## Updated

    - none

    ## Deleted

    - none
    === gate-decisions.md
    # Gate decisions: r1

    ## build-approval
    - Decision: approve
    - Timestamp (UTC): 2026-02-07T11:00:00Z
    - By: ann
    - Rationale: good enough
    === commands.log
    2026-02-07T10:50:00Z $ cargo test
        exit code 0, 12 s, within: docker run app, stage implementation
    === lifecycle-gates.log
    No lifecycle gates were run: no stage is declared, or it requires none.
    ");
}

#[test]
fn oc_02_evidence_lies_in_a_folder_of_its_run() {
    let id = run_id("build", evidence().started);
    assert_eq!(folder(&id), "planning-mds/operations/evidence/build-20260207-103000/");
    assert!(paths::is_own(&folder(&id)));
}

// OC-123
#[test]
fn e_68_evidence_of_another_stage_does_not_count() {
    assert!(counts(Some("planning"), Some("planning")));
    assert!(!counts(Some("planning"), Some("implementation")));
    assert!(!counts(None, Some("implementation")) && !counts(Some("planning"), None));
}

proptest! {
    #[test]
    fn oc_02_no_file_is_ever_empty_and_no_words_break_a_list(words in "\\PC{0,40}\n?\\PC{0,40}") {
        let mut evidence = evidence();
        evidence.decisions[0].rationale = words.clone();
        evidence.inputs[0].1 = words;
        let lines = evidence.files().map(|(_, text)| text.lines().count());
        let empty = Evidence {
            inputs: vec![], roles: vec![], reads: BTreeSet::new(), writes: vec![], decisions: vec![], commands: vec![],
            stage: None, ..evidence.clone()
        };
        prop_assert!(empty.files().iter().all(|(_, text)| !text.trim().is_empty()));
        evidence.decisions[0].rationale = "plain".to_owned();
        evidence.inputs[0].1 = "plain".to_owned();
        prop_assert_eq!(lines, evidence.files().map(|(_, text)| text.lines().count()));
    }
}
