//! Words of all generations read as one.

use super::*;

#[test]
fn k_03_k_34_statuses_of_all_generations_read_as_one() {
    let pass = Some(Outcome::Pass);
    for word in ["EXECUTED", "COMPLETED", "COMPLETE", "DONE", "completed", "Executed"] {
        assert_eq!(PhaseStatus::read(Some(word), pass.as_ref(), None), PhaseStatus::Done, "{word}");
        assert_eq!(StepStatus::read(Some(word)), StepStatus::Done, "{word}");
    }
    for (word, status) in [
        ("in-progress", StepStatus::InProgress),
        ("in review", StepStatus::InReview),
        ("PARTIAL_COMPLETION", StepStatus::Partial),
        ("pending", StepStatus::Todo),
        ("WIP", StepStatus::Unknown("WIP".to_owned())),
    ] {
        assert_eq!(StepStatus::read(Some(word)), status);
    }
    assert_eq!(StepStatus::read(None), StepStatus::Todo);
}

#[test]
fn ds_39_e_83_no_status_is_not_executed_and_an_unknown_one_stays_unknown() {
    assert_eq!(PhaseStatus::read(None, None, None), PhaseStatus::NotExecuted);
    assert_eq!(PhaseStatus::read(Some("WIP"), None, None), PhaseStatus::Unknown("WIP".to_owned()));
}

#[test]
fn k_04_a_finished_phase_that_failed_is_failed() {
    assert_eq!(PhaseStatus::read(Some("COMPLETED"), Some(&Outcome::Fail), None), PhaseStatus::Failed);
    let four = PhaseStatus::Failed;
    assert_eq!(four.word_in(Schema::usual()), "COMPLETED");
    assert_eq!(four.word_in(Schema::of_version("1").unwrap()), "FAILED");
}

#[test]
fn k_06_a_phase_after_a_checkpoint_is_still_to_come() {
    let read = |reason| PhaseStatus::read(Some("SKIPPED"), None, Some(reason));
    assert_eq!(read("CHECKPOINT_PENDING: after GREEN"), PhaseStatus::Pending);
    assert_eq!(read("NOT_APPLICABLE: x"), PhaseStatus::Skipped);
    assert_eq!(PhaseStatus::Pending.word(), "NOT_EXECUTED");
    assert_eq!(PhaseStatus::Pending.word_in(Schema::usual()), "SKIPPED");
}

#[test]
fn outcomes_are_pass_fail_or_something_else() {
    assert_eq!(Outcome::read(" pass "), Some(Outcome::Pass));
    assert_eq!(Outcome::read("FAILED"), Some(Outcome::Fail));
    assert_eq!(Outcome::read("UNEXPECTED_GREEN"), Some(Outcome::Other("UNEXPECTED_GREEN".to_owned())));
    assert_eq!(Outcome::read("  "), None);
}

#[test]
fn k_84_times_of_all_forms_are_read_as_utc() {
    let noon = Utc::parse("2026-01-29T12:00:00Z");
    for text in
        ["2026-01-29T12:00:00Z", "2026-01-29 12:00:00", "2026-01-29T12:00:00", "2026-01-29T13:00:00+01:00"]
    {
        assert_eq!(instant(text), noon, "{text}");
    }
    assert_eq!(instant("2026-01-29 12:00:00+00:00"), noon);
    assert_eq!(instant("2026-01-29"), Utc::parse("2026-01-29T00:00:00Z"));
    assert_eq!(instant("soon"), None);
}

#[test]
fn minutes_are_written_whole_where_they_are() {
    assert_eq!(number(10.0).to_string(), "10");
    assert_eq!(number(0.5).to_string(), "0.5");
    assert_eq!(number(f64::NAN), Json::Null);
}
