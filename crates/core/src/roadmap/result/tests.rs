//! What a step leaves behind, in the form that others read.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::report::Usage;
use crate::roadmap::Schema;
use crate::roadmap::state::PhaseRecord;
use crate::roadmap::state::StepState;
use crate::roadmap::verdict::Level;

fn at(text: &str) -> Utc {
    Utc::parse(text).unwrap()
}

fn changed(paths: &[&str]) -> Vec<ChangedFile> {
    paths.iter().map(|path| ChangedFile { path: (*path).to_owned(), deleted: false }).collect()
}

/// DW-84: success, with every criterion and its evidence; one that nobody judged says so.
#[test]
fn dw_84_a_success_has_its_criteria_with_evidence() {
    let criteria = ["Comparison matrix includes 5 providers".to_owned(), "Costs are known".to_owned()];
    let said = Judged {
        criterion: criteria[0].clone(),
        met: true,
        confidence: None,
        reason: "Matrix has 6 providers".to_owned(),
    };
    let metrics = Metrics {
        input_tokens: 12_000,
        output_tokens: 33_000,
        minutes_by_phase: vec![("GREEN".to_owned(), 90.0)],
        ..Metrics::default()
    };
    let ending = Ending::Success {
        outputs: vec!["docs/provider-selection.md".to_owned()],
        criteria: judged(&criteria, &[said]),
        metrics,
        notes: Some("Added a sixth.".to_owned()),
    };
    let record = ending.record("researcher", at("2024-01-15T10:00:00Z"), at("2024-01-15T11:30:00Z"));
    assert_eq!(
        record,
        json!({
            "state": {
                "status": "DONE",
                "assigned_to": "researcher",
                "started_at": "2024-01-15T10:00:00Z",
                "completed_at": "2024-01-15T11:30:00Z",
                "updated": "2024-01-15T11:30:00Z",
            },
            "execution_result": {
                "success": true,
                "outputs": ["docs/provider-selection.md"],
                "acceptance_criteria_met": [
                    {"criterion": "Comparison matrix includes 5 providers", "met": true, "evidence": "Matrix has 6 providers"},
                    {"criterion": "Costs are known", "met": null, "evidence": null},
                ],
                "metrics": {"execution_time_hours": 1.5, "tokens_used": 45000},
                "agent_notes": "Added a sixth.",
            },
        })
    );
}

/// DW-85: a failure says what was reached, what was not, and what can be done.
#[test]
fn dw_85_a_failure_says_what_was_reached() {
    let criterion = |text: &str, met| Criterion { criterion: text.to_owned(), met, evidence: None };
    let ending = Ending::Failure {
        reason: "No prices".to_owned(),
        partial: true,
        criteria: vec![
            criterion("Matrix", Some(true)),
            criterion("Costs", Some(false)),
            criterion("Plan", None),
        ],
        suggestions: vec!["Ask the vendor".to_owned()],
        can_retry: true,
    };
    let record = ending.record("researcher", at("2024-01-15T10:00:00Z"), at("2024-01-15T10:45:00Z"));
    assert_eq!(record["state"]["failed_at"], "2024-01-15T10:45:00Z");
    assert_eq!(
        record["execution_result"],
        json!({
            "success": false, "failure_reason": "No prices", "partial_completion": true,
            "completed_criteria": ["Matrix"], "blocked_criteria": ["Costs", "Plan"],
            "recovery_suggestions": ["Ask the vendor"], "can_retry": true,
        })
    );
}

/// DW-86, DW-50: a review is asked for, and a step that begins says who has it.
#[test]
fn dw_50_dw_86_a_review_is_asked_for_by_name() {
    let ending = Ending::Review { reason: "A decision".to_owned(), from: "solution-architect".to_owned() };
    let record = ending.record("researcher", at("2024-01-15T10:00:00Z"), at("2024-01-15T11:00:00Z"));
    assert_eq!(
        record,
        json!({
            "state": {
                "status": "IN_REVIEW", "assigned_to": "researcher", "started_at": "2024-01-15T10:00:00Z",
                "review_requested_at": "2024-01-15T11:00:00Z", "updated": "2024-01-15T11:00:00Z",
            },
            "execution_result": {
                "success": true, "outputs_require_review": true, "review_reason": "A decision",
                "review_requested_from": "@solution-architect",
            },
        })
    );
    let begun = begun("researcher", at("2024-01-15T10:00:00Z"));
    let stamp = "2024-01-15T10:00:00Z";
    let expected =
        json!({"status": "IN_PROGRESS", "assigned_to": "researcher", "started_at": stamp, "updated": stamp});
    assert_eq!(begun, expected);
}

/// DW-49, DW-89: entries of the history, and the record of an agent that broke down.
#[test]
fn dw_49_dw_89_changes_and_errors_have_their_records() {
    let entry = Transition {
        status: StepStatus::InReview,
        at: at("2024-01-15T11:00:00Z"),
        actor: Actor::Agent("researcher".to_owned()),
        reason: Some("Needs approval".to_owned()),
        note: None,
    };
    let expected = json!({
        "status": "IN_REVIEW", "timestamp": "2024-01-15T11:00:00Z", "actor": "@researcher", "reason": "Needs approval",
    });
    assert_eq!(entry.to_json(), expected);
    let first = Transition { status: StepStatus::Todo, actor: Actor::System, reason: None, ..entry };
    assert_eq!(first.to_json()["actor"], "system");
    assert_eq!(
        agent_error("It broke", "...", 1),
        json!({"execution_error": {
            "type": "agent_error", "error_message": "It broke", "stack_trace": "...", "retry_attempts": 1,
            "max_retries": 3,
        }})
    );
}

/// DW-69, DW-70, DW-71, E-51, E-52: files by what they are; deleted ones are not looked at.
#[test]
fn dw_69_dw_70_dw_71_e_51_e_52_files_are_sorted_by_their_folders() {
    let mut files = changed(&[
        "tests/des/unit/test_rules.py",
        "src/des/templates/rules.py",
        "src/des/__init__.py",
        "lib/ein Würfel.py",
        "docs/x.md",
        "srcs/no.py",
        "tests/lib/helper.py",
        "crates/core/src/lib.rs",
        "README.md",
    ]);
    files.push(ChangedFile { path: "src/gone.py".to_owned(), deleted: true });
    let sorted = FilesModified::of(&files);
    assert_eq!(
        sorted.implementation,
        ["crates/core/src/lib.rs", "lib/ein Würfel.py", "src/des/templates/rules.py"]
    );
    assert_eq!(sorted.tests, ["tests/des/unit/test_rules.py", "tests/lib/helper.py"]);
    let other = FilesModified::of(&changed(&["src/a.py", "src/des/templates/rules.py"]));
    let scope = mutation_scope([&sorted, &other]);
    assert_eq!(
        scope,
        ["crates/core/src/lib.rs", "lib/ein Würfel.py", "src/a.py", "src/des/templates/rules.py"]
    );
}

/// DW-72, K-06, K-100: three commits, to the letter; only the last may be pushed, and only it is final.
#[test]
fn dw_72_k_06_k_100_the_messages_of_checkpoints_are_fixed() {
    let marks = Marks { step: "01-01".into(), run: "r7".into(), chain_head: "abc".into() };
    let lines = Checkpoint::ALL.map(|checkpoint| checkpoint.subject("01-01"));
    assert_eq!(lines, ["feat(01-01): GREEN", "review(01-01)", "feat(01-01): DONE"]);
    assert_eq!(
        Checkpoint::Green.message("Heat the\nwater", &marks),
        "feat(01-01): GREEN\n\nHeat the water\n\nStep: 01-01\nRun: r7\nChain-Head: abc"
    );
    assert_eq!(Checkpoint::ALL.map(Checkpoint::may_push), [false, false, true]);
    assert_eq!(Checkpoint::ALL.map(Checkpoint::level), [Level::Checkpoint, Level::Checkpoint, Level::Final]);
    assert!(Checkpoint::can_reset(false) && !Checkpoint::can_reset(true), "K-37");
}

/// DW-72: after phases 3, 4 and 6 of the seven; other generations have them where their phases are.
#[test]
fn dw_72_checkpoints_come_after_their_phases_in_every_generation() {
    let due = |schema: &Schema| {
        let of = |name: &str| Some((name.to_owned(), Checkpoint::due_after(name, schema)?));
        schema.names().filter_map(of).map(|(name, _)| name).collect::<Vec<_>>()
    };
    assert_eq!(due(Schema::usual()), ["GREEN", "REVIEW", "COMMIT"]);
    assert_eq!(due(Schema::of_version("1").unwrap()), ["GREEN_ACCEPTANCE", "REVIEW", "COMMIT"]);
    assert_eq!(due(Schema::of_version("5").unwrap()), ["GREEN", "COMMIT"]);
}

/// DW-90: the figures of a step; DW-41: turns are not counted twice where the calls tell them, too.
#[test]
fn dw_90_metrics_have_all_figures() {
    let mut state = StepState::fresh("x", "p", "01-01", Schema::usual());
    let again = json!({"status": "COMPLETED", "outcome": "FAIL", "duration_minutes": 30});
    state.phases[3] = PhaseRecord {
        duration_minutes: Some(60.0),
        turn_count: Some(12),
        history: vec![again],
        ..PhaseRecord::new("GREEN", 3)
    };
    let usage = Usage { input_tokens: 12_000, output_tokens: 33_000, cost_usd: 0.45, turns: 12 };
    let metrics = Metrics { complexity_score: Some(7), ..Metrics::of_step(&state).with_usage(&usage) };
    assert_eq!((metrics.turns, metrics.minutes()), (12, 90.0));
    let json = metrics.to_json();
    assert_eq!(json["execution_metrics"]["minutes_by_phase"]["GREEN"], 90);
    let mut rest = json["execution_metrics"].clone();
    rest.as_object_mut().unwrap().remove("minutes_by_phase");
    assert_eq!(
        rest,
        json!({
            "attempts": 2, "turn_count": 12, "total_execution_time": 1.5,
            "tokens": {"input": 12000, "output": 33000, "total": 45000}, "cost_estimate": "$0.45", "complexity_score": 7, "rework_count": 1,
        })
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// DW-70: no file is both, and none that is under neither folder is either.
    #[test]
    fn dw_70_a_file_is_of_one_sort(parts in proptest::collection::vec("src|lib|tests|docs|a|__init__.py", 1..5)) {
        let path = parts.join("/");
        let sorted = FilesModified::of(&changed(&[&path]));
        prop_assert!(sorted.implementation.len() + sorted.tests.len() <= 1);
        let folders = &parts[..parts.len() - 1];
        let named = folders.iter().any(|part| ["src", "lib", "tests"].contains(&part.as_str()));
        if !named {
            prop_assert_eq!(sorted, FilesModified::default());
        }
    }
}
