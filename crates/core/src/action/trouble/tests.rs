//! Tests of failures: their sorts, what is tried, what is asked, and how it is reported.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::failure::Class;
use crate::failure::FailureCause;
use crate::redact::Redactor;

fn trouble(class: Class, message: &str) -> Trouble {
    Trouble {
        action: "build".to_owned(),
        stage: 3,
        role: "frontend-developer".to_owned(),
        title: "Frontend Developer".to_owned(),
        scene: Scene::Parallel,
        failure: Failure::new(class, message),
        failed_at: Utc::parse("2026-02-07T10:45:23Z").unwrap(),
        duration_ms: 754_000,
        artifacts: vec![Impacted {
            path: "experience/src/components/CustomerList.tsx".to_owned(),
            note: "syntax error at line 45".to_owned(),
        }],
        tried: vec!["called 3 times".to_owned()],
        optional: false,
        different_agent: None,
        can_roll_back: false,
        timeout_ms: 1_800_000,
    }
}

fn labels(trouble: &Trouble) -> Vec<String> {
    options(trouble).iter().map(|option| option.label.clone()).collect()
}

fn because(class: Class, cause: FailureCause) -> Cause {
    Cause::of(&Failure::new(class, "it failed").because(Some(cause)))
}

// OC-20, OC-21, OC-61: a network error and a rate limit are told apart.
#[test]
fn oc_20_failures_are_told_apart_by_class_and_cause() {
    let limit = FailureCause::RateLimit { retry_after_ms: Some(7_000) };
    assert_eq!(because(Class::Transport, limit), Cause::RateLimit { retry_after_ms: Some(7_000) });
    assert_eq!(because(Class::Crash, limit), Cause::RateLimit { retry_after_ms: Some(7_000) });
    assert_eq!(because(Class::Transport, FailureCause::Unavailable), Cause::Unavailable);
    assert_eq!(because(Class::Contract, FailureCause::Unauthorised), Cause::Unauthorised);
    assert_eq!(Cause::of(&Failure::interrupted()), Cause::Interrupted);
    for (class, cause) in [
        (Class::Transport, Cause::Network),
        (Class::Crash, Cause::Crash),
        (Class::Contract, Cause::Contract),
        (Class::AgentDeadline, Cause::Timeout),
        (Class::Silent, Cause::Silent),
        (Class::Invalid, Cause::Invalid),
        (Class::MissingArtifact, Cause::MissingArtifact),
        (Class::Scope, Cause::Scope),
        (Class::Denied, Cause::Denied),
        (Class::Cancelled, Cause::Cancelled),
        (Class::Storage, Cause::Storage),
    ] {
        // No sentence decides: these words would have meant something else.
        let failure = Failure::new(class, "429, 401, 503, there is no program named `x` (exit code 127)");
        assert_eq!(Cause::of(&failure), cause, "{class}");
    }
}

#[test]
fn k_105_a_program_that_cannot_be_started_is_permanent() {
    for class in [Class::Crash, Class::Contract] {
        let cause = because(class, FailureCause::NoProgram);
        assert_eq!(cause, Cause::NoProgram, "{class}");
        assert_eq!(next(cause, Spent { calls: 1, ..Spent::default() }), Next::Ask);
    }
}

// OC-19, OC-22
#[test]
fn oc_19_each_failure_is_transient_permanent_or_partial() {
    assert_eq!(Cause::Network.nature(Scene::First), Nature::Transient);
    assert_eq!(Cause::Network.nature(Scene::Parallel), Nature::Partial);
    assert_eq!(Cause::Crash.nature(Scene::Sequence), Nature::Partial);
    assert_eq!(Cause::Invalid.nature(Scene::Gate), Nature::Partial);
    for cause in [Cause::Contract, Cause::Unauthorised, Cause::Cancelled, Cause::NoProgram] {
        assert_eq!(cause.nature(Scene::Parallel), Nature::Permanent);
    }
}

// OC-61, OC-82, E-60, K-40
#[test]
fn k_40_transient_errors_are_tried_three_times_with_growing_pauses() {
    let after = |calls| next(Cause::Network, Spent { calls, ..Spent::default() });
    assert_eq!([1, 2, 3].map(after), [Next::Wait { ms: 1000 }, Next::Wait { ms: 2000 }, Next::Ask]);
    assert_eq!(wait_line("connection reset.", 1000), "Transient error: connection reset. Retrying in 1s...");
    let limited =
        |ms| next(Cause::RateLimit { retry_after_ms: Some(ms) }, Spent { calls: 1, ..Spent::default() });
    assert_eq!(limited(30_000), Next::Wait { ms: 30_000 });
    assert_eq!(limited(10), Next::Wait { ms: 1000 });
    assert_eq!(limited(WAIT_MS_MAX + 1), Next::Ask);
}

// OC-48, OC-50: two retries, then the person decides; what others did is not touched by any of it.
#[test]
fn oc_48_a_role_that_keeps_failing_has_two_retries() {
    for cause in [Cause::Crash, Cause::Unavailable, Cause::Silent, Cause::Scope] {
        let mut spent = Spent::default();
        let mut retries = 0;
        loop {
            spent.calls += 1;
            match next(cause, spent) {
                Next::Wait { .. } => {}
                Next::Correct => spent.corrections += 1,
                other => {
                    assert_eq!(other, Next::Ask, "{cause:?}");
                    break;
                }
            }
            retries += 1;
        }
        assert_eq!(retries, 2, "{cause:?}");
    }
}

// OC-38, OC-62, OC-83
#[test]
fn oc_62_what_can_be_corrected_is_corrected_twice_at_once() {
    let after = |calls| next(Cause::Invalid, Spent { calls, corrections: calls - 1, ..Spent::default() });
    assert_eq!([1, 2, 3].map(after), [Next::Correct, Next::Correct, Next::Ask]);
}

// OC-63, OC-74
#[test]
fn oc_63_permanent_errors_are_not_tried_again() {
    let spent = Spent { calls: 1, ..Spent::default() };
    for cause in [Cause::Contract, Cause::Unauthorised, Cause::NoProgram, Cause::Denied] {
        assert_eq!(next(cause, spent), Next::Ask);
    }
    assert_eq!(next(Cause::Cancelled, spent), Next::Stop);
}

// OC-41, K-43, K-44
#[test]
fn k_43_missing_artifacts_and_timeouts_go_straight_to_a_person() {
    let spent = Spent { calls: 1, ..Spent::default() };
    assert_eq!(next(Cause::MissingArtifact, spent), Next::Ask);
    assert_eq!(next(Cause::Timeout, spent), Next::Ask);
    assert_eq!(next(Cause::Interrupted, Spent { calls: 0, interruptions: 1, ..spent }), Next::Again);
}

#[test]
fn oc_34_a_timeout_has_its_four_options() {
    let timeout = trouble(Class::AgentDeadline, "it did not finish");
    assert_eq!(labels(&timeout), ["Retry", "Extend timeout", "Cancel"]);
    let optional = Trouble { optional: true, can_roll_back: true, ..timeout };
    assert_eq!(labels(&optional), ["Retry", "Extend timeout", "Skip", "Cancel", "Rollback"]);
    assert_eq!(extended_ms(600_000, None), 1_200_000);
    assert_eq!(extended_ms(600_000, Some("1h")), 3_600_000);
    assert_eq!(extended_ms(600_000, Some(" 45 ")), 2_700_000);
    assert_eq!(extended_ms(600_000, Some("much longer")), 1_200_000);
}

#[test]
fn oc_40_invalid_output_has_its_three_options_and_the_usual_two() {
    let invalid =
        Trouble { different_agent: Some("expert".to_owned()), ..trouble(Class::Invalid, "not JSON") };
    assert_eq!(
        labels(&invalid),
        ["Manual Fix", "Retry with different agent", "Skip validation", "Retry", "Cancel"]
    );
    // Without a configured one, its name is asked for.
    let unnamed = question(&trouble(Class::Invalid, "not JSON"));
    assert!(unnamed.choose("different_agent", None).is_err());
    assert!(unnamed.choose("different_agent", Some("expert")).is_ok());
    let question = question(&invalid);
    // K-107: to take it as it is needs a reason.
    assert!(question.choose("override", None).is_err());
    assert!(question.choose("override", Some("a known false alarm")).is_ok());
}

#[test]
fn oc_43_missing_artifacts_have_two_options() {
    assert_eq!(labels(&trouble(Class::MissingArtifact, "x")), ["Retry agent", "Cancel"]);
}

#[test]
fn oc_51_a_step_that_keeps_failing_has_three_options() {
    let step = Trouble { scene: Scene::Sequence, optional: true, ..trouble(Class::Crash, "it ended") };
    assert_eq!(labels(&step), ["Retry again", "Manual Fix", "Skip step", "Cancel action"]);
    let needed = Trouble { optional: false, ..step };
    assert!(!labels(&needed).contains(&"Skip step".to_owned()));
}

// OC-76
#[test]
fn oc_76_a_question_says_what_failed_why_and_what_was_tried() {
    let question = question(&trouble(Class::Crash, "it was ended by signal 9"));
    assert_eq!(
        question.question,
        "Frontend Developer failed in stage 3 of the action \"build\". How shall it go on?"
    );
    assert_eq!(question.why, "it was ended by signal 9");
    assert_eq!(question.tried, ["called 3 times"]);
    assert!(question.details.contains("EXECUTION FAILURE"));
}

// OC-88
#[test]
fn oc_88_a_report_names_every_file_that_is_concerned() {
    let problem = |path: &str, message: &str| Problem {
        path: path.to_owned(),
        line: None,
        message: message.to_owned(),
    };
    let of_problems =
        Impacted::of_problems(&[problem("a.md", "one"), problem("b.md", "two"), problem("a.md", "three")]);
    let notes: Vec<(&str, &str)> =
        of_problems.iter().map(|one| (one.path.as_str(), one.note.as_str())).collect();
    assert_eq!(notes, [("a.md", "one; three"), ("b.md", "two")]);
    let missing = Impacted::of_missing(&["c.md".to_owned()]);
    let text = Trouble { artifacts: missing, ..trouble(Class::MissingArtifact, "x") }.boxed();
    assert!(text.contains("- c.md") && text.contains("(missing)"), "{text}");
}

// OC-64, K-47
#[test]
fn k_47_cancelling_asks_what_becomes_of_the_work() {
    let question = cancel_question("build", "3 files changed", true, "The role starts again.");
    let ids: Vec<&str> = question.options.iter().map(|option| option.id.as_str()).collect();
    assert_eq!(ids, ["keep", "rollback", "back"]);
}

#[test]
fn oc_71_the_report_is_a_box_with_all_fields() {
    insta::assert_snapshot!(trouble(Class::Invalid, "Generated code has syntax errors").boxed(), @r"
    ┌──────────────────────────────────────────────────────────────────────────────┐
    │ EXECUTION FAILURE                                                            │
    ├──────────────────────────────────────────────────────────────────────────────┤
    │ Action:       build                                                          │
    │ Step:         3 (Frontend Developer)                                         │
    │ Agent:        frontend-developer                                             │
    │ Failed at:    2026-02-07 10:45:23 UTC                                        │
    │ Duration:     12 minutes 34 seconds                                          │
    ├──────────────────────────────────────────────────────────────────────────────┤
    │ Error Type:   ValidationError                                                │
    │ Message:      Generated code has syntax errors                               │
    ├──────────────────────────────────────────────────────────────────────────────┤
    │ Impacted Artifacts:                                                          │
    │ - experience/src/components/CustomerList.tsx                                 │
    │   (syntax error at line 45)                                                  │
    ├──────────────────────────────────────────────────────────────────────────────┤
    │ Suggested Remediation:                                                       │
    │ 1. Review error details above                                                │
    │ 2. Retry with error feedback (recommended)                                   │
    │ 3. Edit the files above by hand, and choose Manual Fix                       │
    ├──────────────────────────────────────────────────────────────────────────────┤
    │ Options:                                                                     │
    │ [Manual Fix] [Retry with different agent] [Skip validation] [Retry] [Cancel] │
    └──────────────────────────────────────────────────────────────────────────────┘
    ");
}

#[test]
fn oc_71_long_words_stay_inside_of_the_box() {
    let message = format!("{} {}", "word ".repeat(40), "x".repeat(300));
    let text = trouble(Class::Crash, &message).boxed();
    let widths: BTreeSet<usize> = text.lines().map(|line| line.chars().count()).collect();
    assert_eq!(widths.len(), 1, "{text}");
    assert!(widths.iter().all(|width| *width <= 102));
}

// OC-72, OC-73
#[test]
fn oc_72_the_full_report_has_everything_but_secrets() {
    let mut trouble = trouble(Class::Crash, "the key sk-ant-abcdefghijklmnopqrstuvwx was refused");
    trouble.failure.output = "trace of ann@example.org".to_owned();
    let redactor = Redactor::new(&crate::action::pii::patterns(&[]), &["hunter2hunter2".to_owned()]).unwrap();
    let report = trouble.json("use hunter2hunter2", &"x".repeat(IO_BYTES_MAX + 1), &redactor);
    let text = report.to_string();
    for secret in ["sk-ant-abc", "ann@example.org", "hunter2"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    for field in [
        "action",
        "step",
        "agent",
        "failed_at",
        "duration_ms",
        "error_type",
        "message",
        "impacted_artifacts",
        "suggested_remediation",
        "options",
        "tried",
        "stack_trace",
        "agent_input",
        "agent_output",
    ] {
        assert!(report.get(field).is_some(), "{field}");
    }
    assert!(report["agent_output"].get("text").is_none());
    let first = file_name(trouble.failed_at, 0, 1, &BTreeSet::new());
    assert_eq!(first, "logs/errors/2026-02-07-10-45-23.json");
    assert_eq!(
        file_name(trouble.failed_at, 0, 1, &BTreeSet::from([first.clone()])),
        "logs/errors/2026-02-07-10-45-23-2.json"
    );
    // Of three roles side by side the first one has the numbers 1, 4, 7, and the second one 2, 5, 8.
    let taken = BTreeSet::from([first]);
    assert_eq!(file_name(trouble.failed_at, 0, 3, &taken), "logs/errors/2026-02-07-10-45-23-4.json");
    assert_eq!(file_name(trouble.failed_at, 1, 3, &taken), "logs/errors/2026-02-07-10-45-23-2.json");
}

const CLASSES: [Class; 11] = [
    Class::Transport,
    Class::AgentDeadline,
    Class::Crash,
    Class::Silent,
    Class::Invalid,
    Class::MissingArtifact,
    Class::Scope,
    Class::Contract,
    Class::Denied,
    Class::Cancelled,
    Class::Storage,
];

// OC-77, OC-78, OC-96
#[test]
fn oc_77_every_failure_offers_retry_and_cancel_and_says_what_follows() {
    for class in CLASSES {
        for scene in [Scene::Parallel, Scene::Sequence, Scene::First, Scene::Gate] {
            let trouble = Trouble { scene, ..trouble(class, "why") };
            let ids: Vec<String> = options(&trouble).iter().map(|option| option.id.clone()).collect();
            assert!(
                ids.contains(&"retry".to_owned()) && ids.contains(&"cancel".to_owned()),
                "{class} {ids:?}"
            );
            assert!(!ids.contains(&"skip".to_owned()), "{class}");
            let unique: BTreeSet<&String> = ids.iter().collect();
            assert_eq!(unique.len(), ids.len(), "{ids:?}");
            assert!(options(&trouble).iter().all(|option| option.description.len() > 20));
            assert!(trouble.remediation().len() >= 2);
        }
    }
}

proptest! {
    // OC-92, K-41: whatever fails, and in whatever order, the calls are bounded.
    #[test]
    fn e_61_budgets_never_multiply(classes in proptest::collection::vec(0_usize..11, 40)) {
        let mut spent = Spent::default();
        let mut made = 0;
        for class in classes {
            spent.calls += 1;
            made += 1;
            let cause = Cause::of(&Failure::new(CLASSES[class], "why"));
            match next(cause, spent) {
                Next::Wait { ms } => prop_assert!(ms <= WAIT_MS_MAX),
                Next::Correct => spent.corrections += 1,
                Next::Again => prop_assert!(false, "nothing was interrupted"),
                Next::Ask | Next::Stop => break,
            }
        }
        prop_assert!(made <= CALLS_MAX);
    }

    #[test]
    fn oc_71_any_words_fit_into_a_box(message in "\\PC{0,300}") {
        let text = trouble(Class::Crash, &message).boxed();
        let widths: BTreeSet<usize> = text.lines().map(|line| line.chars().count()).collect();
        prop_assert_eq!(widths.len(), 1);
    }
}
