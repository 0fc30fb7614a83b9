//! Changes by command, and edits by hand.

mod rollback;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::finding::Finding;

fn now(minute: u64) -> Utc {
    Utc::parse("2026-01-22T10:00:00Z").unwrap().plus_ms(minute * 60_000)
}

fn fresh() -> StepState {
    StepState::fresh("steps/01-01.json", "demo", "01-01", Schema::usual())
}

fn done(phase: &str) -> Change {
    Change { outcome: Some(Outcome::Pass), ..Change::new(Act::Done, phase) }
}

fn skip_with(phase: &str, reason: &str) -> Change {
    Change { reason: Some(reason.to_owned()), ..Change::new(Act::Skip, phase) }
}

fn fail(phase: &str) -> Change {
    Change { note: Some("no luck".to_owned()), ..Change::new(Act::Fail, phase) }
}

#[track_caller]
fn made(state: &StepState, what: &Change, at: Utc) -> (StepState, Vec<String>) {
    let (state, events) = change(state, Schema::usual(), what, at).unwrap();
    let words = events.iter().map(|event| event.happening.word().to_owned()).collect();
    (state, words)
}

#[track_caller]
fn refused(state: &StepState, what: &Change) -> String {
    change(state, Schema::usual(), what, now(0)).unwrap_err().to_string()
}

/// The step after a number of phases were carried out.
fn after(phases: usize) -> StepState {
    let mut state = fresh();
    for phase in Schema::usual().phases.iter().take(phases) {
        state = made(&state, &Change::new(Act::Start, &phase.name), now(0)).0;
        state = made(&state, &done(&phase.name), now(1)).0;
    }
    state
}

#[test]
fn ds_28_ds_54_the_first_start_sets_the_step_to_work() {
    let (state, events) = made(&fresh(), &Change::new(Act::Start, "PREPARE"), now(0));
    assert_eq!(state.status, StepStatus::InProgress);
    assert_eq!(state.started_at.as_deref(), Some("2026-01-22T10:00:00Z"));
    assert_eq!(state.phases[0].status, PhaseStatus::InProgress);
    assert_eq!(events, ["STATE_TRANSITION", "PHASE_STARTED"]);
}

#[test]
fn ds_55_ds_98_the_end_of_a_phase_puts_every_field_on_record() {
    let state = made(&fresh(), &Change::new(Act::Start, "PREPARE"), now(0)).0;
    let end = Change {
        details: Some("one scenario is active".to_owned()),
        note: Some("took a while".to_owned()),
        tests: Some(TestResults { total: 3, passed: 2, failed: 1 }),
        artifacts: vec!["tests/a.rs".to_owned()],
        ..done("PREPARE")
    };
    let (state, events) = made(&state, &end, now(12));
    assert_eq!(events, ["PHASE_COMPLETED"]);
    let fields: serde_json::Map<String, Json> =
        state.phases[0].fields().into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
    assert_eq!(
        Json::Object(fields),
        json!({
            "started_at": "2026-01-22T10:00:00Z", "ended_at": "2026-01-22T10:12:00Z", "duration_minutes": 12,
            "turn_count": null, "outcome": "PASS", "outcome_details": "one scenario is active",
            "artifacts_created": ["tests/a.rs"], "test_results": {"total": 3, "passed": 2, "failed": 1},
            "notes": "took a while", "blocked_by": null, "history": [],
        })
    );
}

#[test]
fn ds_91_phases_follow_one_another() {
    let start = |phase| Change::new(Act::Start, phase);
    assert_eq!(
        refused(&fresh(), &start("GREEN")),
        "phase GREEN cannot start before PREPARE is over; finish or skip PREPARE first"
    );
    let running = made(&fresh(), &start("PREPARE"), now(0)).0;
    assert_eq!(
        refused(&running, &start("RED_ACCEPTANCE")),
        "phase PREPARE is still in progress; end it with `seriatim phase done`, `skip` or `fail` before RED_ACCEPTANCE starts"
    );
    assert!(refused(&running, &start("PREPARE")).starts_with("phase PREPARE is in progress already"));
    assert_eq!(
        refused(&fresh(), &done("PREPARE")),
        "phase PREPARE is not in progress; start it first with `seriatim phase start`"
    );
    assert_eq!(
        refused(&after(1), &done("PREPARE")),
        "phase PREPARE is over already (COMPLETED); nothing was changed, and only `reopen` would open it again"
    );
    assert_eq!(
        refused(&fresh(), &start("PREPAER")),
        "step 01-01 has no phase `PREPAER`; did you mean `PREPARE`?"
    );
    let state = made(&made(&after(1), &start("RED_ACCEPTANCE"), now(2)).0, &fail("RED_ACCEPTANCE"), now(3)).0;
    assert!(
        refused(&state, &start("RED_UNIT")).contains("before RED_ACCEPTANCE is over"),
        "a failed phase is not over"
    );
}

#[test]
fn ds_29_ds_42_an_end_needs_its_outcome_and_a_failure_its_note() {
    let state = made(&fresh(), &Change::new(Act::Start, "PREPARE"), now(0)).0;
    assert_eq!(
        refused(&state, &Change::new(Act::Done, "PREPARE")),
        "phase PREPARE needs an outcome; say `--outcome PASS` or `--outcome FAIL`"
    );
    let odd = Change { outcome: Some(Outcome::Other("MAYBE".to_owned())), ..done("PREPARE") };
    assert_eq!(
        refused(&state, &odd),
        "`MAYBE` is not an outcome of phase PREPARE; say PASS or FAIL, and the rest as a note"
    );
    let blank = Change { note: Some("  ".to_owned()), ..Change::new(Act::Fail, "PREPARE") };
    assert_eq!(refused(&state, &blank), "phase PREPARE needs a note that says why it failed");
    let tests = Change { tests: Some(TestResults { total: 1, passed: 1, failed: 1 }), ..done("PREPARE") };
    assert_eq!(refused(&state, &tests), "1 tests cannot be 1 passed and 1 failed; correct the counts");
}

#[test]
fn ds_43_ds_99_k_06_k_07_k_08_e_49_a_skip_needs_a_reason_of_the_list() {
    let listed =
        "write one of `BLOCKED_BY_DEPENDENCY:`, `NOT_APPLICABLE:`, `APPROVED_SKIP:` and say why after it";
    for (reason, words) in [
        ("", format!("phase PREPARE cannot be skipped without a reason; {listed}")),
        ("NOT_APPLICABLE:", format!("phase PREPARE cannot be skipped with `NOT_APPLICABLE:`; {listed}")),
        ("not_applicable: x", format!("phase PREPARE cannot be skipped with `not_applicable: x`; {listed}")),
        ("FOO: x", format!("phase PREPARE cannot be skipped with `FOO: x`; {listed}")),
    ] {
        assert_eq!(refused(&fresh(), &skip_with("PREPARE", reason)), words);
    }
    assert!(
        refused(&fresh(), &skip_with("PREPARE", " DEFERRED: x"))
            .starts_with("phase PREPARE cannot be deferred")
    );
    assert!(
        refused(&fresh(), &skip_with("PREPARE", "CHECKPOINT_PENDING"))
            .starts_with("only the engine marks a phase")
    );
}

#[test]
fn ds_56_a_skip_closes_the_phase_whether_or_not_it_was_started() {
    let (skipped, events) =
        made(&fresh(), &skip_with("PREPARE", "NOT_APPLICABLE: nothing to prepare"), now(0));
    assert_eq!(events, ["STATE_TRANSITION", "PHASE_SKIPPED"]);
    assert_eq!(skipped.phases[0].status, PhaseStatus::Skipped);
    assert_eq!(skipped.phases[0].blocked_by.as_deref(), Some("NOT_APPLICABLE: nothing to prepare"));
    let running = made(&fresh(), &Change::new(Act::Start, "PREPARE"), now(0)).0;
    let (stopped, events) = made(&running, &skip_with("PREPARE", "APPROVED_SKIP: by Ann"), now(4));
    assert_eq!(events, ["PHASE_SKIPPED"]);
    assert_eq!(stopped.phases[0].duration_minutes, Some(4.0));
    assert!(
        made(&stopped, &Change::new(Act::Start, "RED_ACCEPTANCE"), now(5)).0.phases[1].started_at.is_some()
    );
    assert!(refused(&fresh(), &skip_with("GREEN", "NOT_APPLICABLE: x")).contains("before PREPARE"));
}

#[test]
fn k_06_k_07_the_engine_may_preset_skips_and_mark_what_is_to_come() {
    let by_engine = |reason| Change { by: By::Engine, ..skip_with("REVIEW", reason) };
    let research = StepState { task_type: Some("research".to_owned()), ..fresh() };
    let (preset, events) = made(&research, &by_engine("NOT_APPLICABLE"), now(0));
    assert_eq!(
        preset.phase("REVIEW").unwrap().blocked_by.as_deref(),
        Some("NOT_APPLICABLE: preset for research")
    );
    assert_eq!(preset.status, StepStatus::Todo, "nobody has begun");
    assert_eq!(events, ["PHASE_SKIPPED"]);
    let (pending, events) = made(&after(4), &by_engine("CHECKPOINT_PENDING: after GREEN"), now(0));
    assert_eq!(pending.phase("REVIEW").unwrap().status, PhaseStatus::Pending);
    assert_eq!(events, Vec::<String>::new());
    let (started, _) = made(&pending, &Change::new(Act::Start, "REVIEW"), now(1));
    assert_eq!(started.phase("REVIEW").unwrap().blocked_by, None);
    assert_eq!(started.phase("REVIEW").unwrap().history, Vec::<Json>::new());
}

#[test]
fn ds_57_k_04_a_failure_is_kept_when_the_phase_is_tried_again() {
    let start = Change::new(Act::Start, "PREPARE");
    let running = made(&fresh(), &start, now(0)).0;
    let (failed, events) = made(&running, &fail("PREPARE"), now(1));
    assert_eq!(events, ["PHASE_FAILED"]);
    assert_eq!(
        (&failed.phases[0].status, &failed.phases[0].outcome),
        (&PhaseStatus::Failed, &Some(Outcome::Fail))
    );
    assert_eq!(failed.status, StepStatus::InProgress);
    let again = made(&failed, &start, now(2)).0;
    assert_eq!(
        again.phases[0].history,
        [json!({
            "status": "COMPLETED", "started_at": "2026-01-22T10:00:00Z", "ended_at": "2026-01-22T10:01:00Z",
            "duration_minutes": 1, "outcome": "FAIL", "notes": "no luck",
        })]
    );
    assert_eq!(again.phases[0].outcome, None);
    let said_fail = Change { outcome: Some(Outcome::Fail), ..done("PREPARE") };
    assert_eq!(made(&again, &said_fail, now(3)).0.phases[0].status, PhaseStatus::Failed);
}

#[test]
fn k_05_reopening_is_explicit_goes_on_record_and_takes_the_later_phases_with_it() {
    let note = Some("a case was missing".to_owned());
    let reopen = Change { note: note.clone(), ..Change::new(Act::Reopen, "RED_UNIT") };
    let (state, events) = made(&after(5), &reopen, now(9));
    assert_eq!(events, ["PHASE_REOPENED", "PHASE_REOPENED", "PHASE_REOPENED"]);
    let open: Vec<&str> = state.phases.iter().filter(|p| !p.is_closed()).map(|p| p.name.as_str()).collect();
    assert_eq!(open, ["RED_UNIT", "GREEN", "REVIEW", "REFACTOR_CONTINUOUS", "COMMIT"]);
    assert_eq!(state.phase("GREEN").unwrap().history[0]["outcome"], json!("PASS"));
    assert!(refused(&after(5), &Change::new(Act::Reopen, "RED_UNIT")).contains("needs a note"));
    let open = Change { note, ..Change::new(Act::Reopen, "COMMIT") };
    assert!(refused(&after(5), &open).contains("is not in progress"));
}

#[test]
fn the_last_phase_ends_the_step_and_an_ended_step_is_closed() {
    let all = after(7);
    assert_eq!(all.status, StepStatus::Done);
    assert_eq!(all.completed_at.as_deref(), Some("2026-01-22T10:01:00Z"));
    let mut reopened = all.clone();
    reopened.phases[6].status = PhaseStatus::NotExecuted;
    assert_eq!(
        refused(&reopened, &Change::new(Act::Start, "COMMIT")),
        "step 01-01 is DONE, where no phase can be changed; it is finished, and what is still to be done needs a step of its own"
    );
}

#[test]
fn k_15_a_failed_or_partial_step_goes_back_to_work_by_its_own_way() {
    let start = Change::new(Act::Start, "PREPARE");
    let failed = StepState { status: StepStatus::Failed, failure_reason: Some("x".to_owned()), ..fresh() };
    let (state, events) = made(&failed, &start, now(0));
    assert_eq!((state.status, state.failure_reason), (StepStatus::InProgress, None));
    assert_eq!(events, ["STATE_TRANSITION", "STATE_TRANSITION", "PHASE_STARTED"]);
    let partial = StepState { status: StepStatus::Partial, partial_completion: true, ..fresh() };
    let (state, events) = made(&partial, &start, now(0));
    assert_eq!((state.status, state.partial_completion), (StepStatus::InProgress, false));
    assert_eq!(events, ["STATE_TRANSITION", "PHASE_STARTED"]);
    let lost = StepState { can_retry: Some(false), ..failed };
    assert!(refused(&lost, &start).ends_with("a person has to decide"));
    let odd = StepState { status: StepStatus::Unknown("WIP".to_owned()), ..fresh() };
    assert!(refused(&odd, &start).contains("step 01-01 is WIP"));
}

#[test]
fn e_88_a_clock_that_was_set_back_gives_no_negative_duration() {
    let state = made(&fresh(), &Change::new(Act::Start, "PREPARE"), now(60)).0;
    assert_eq!(made(&state, &done("PREPARE"), now(0)).0.phases[0].duration_minutes, Some(0.0));
}

/// What an edit by hand is told: rules of findings, and events.
fn told(before: &StepState, edit: impl FnOnce(&mut StepState)) -> (Vec<String>, Vec<String>) {
    let mut edited = before.clone();
    edit(&mut edited);
    let imported = import(before, &edited, Schema::usual(), now(0));
    let line = |f: &Finding| format!("{}: {}", f.rule, f.message);
    let Imported { events, .. } = &imported;
    (
        imported.findings().iter().map(line).collect(),
        events.iter().map(|e| e.happening.word().to_owned()).collect(),
    )
}

fn none() -> Vec<String> {
    vec![]
}

#[test]
fn k_86_an_edit_by_hand_that_keeps_the_rules_yields_its_events() {
    let running = |state: &mut StepState| {
        state.status = StepStatus::InProgress;
        state.phases[0].status = PhaseStatus::InProgress;
    };
    let both = vec!["PHASE_STARTED".to_owned(), "STATE_TRANSITION".to_owned()];
    assert_eq!(told(&fresh(), running), (none(), both));
    let mut started = fresh();
    running(&mut started);
    let handed_over = told(&started, |state| {
        state.phases[0].status = PhaseStatus::Done;
        state.phases[0].outcome = Some(Outcome::Pass);
        state.phases[1].status = PhaseStatus::InProgress;
    });
    assert_eq!(handed_over, (none(), vec!["PHASE_COMPLETED".to_owned(), "PHASE_STARTED".to_owned()]));
    let noted = told(&started, |state| state.phases[0].notes = Some("half way".to_owned()));
    assert_eq!(noted, (none(), none()));
}

#[test]
fn several_phases_in_one_save_are_batching() {
    let mut started = fresh();
    started.status = StepStatus::InProgress;
    started.phases[0].status = PhaseStatus::InProgress;
    let (findings, events) = told(&started, |state| {
        for phase in &mut state.phases[..3] {
            phase.status = PhaseStatus::Done;
            phase.outcome = Some(Outcome::Pass);
        }
    });
    assert_eq!(
        findings,
        [
            "batching: batching: 3 phases were changed in one save: PREPARE, RED_ACCEPTANCE, RED_UNIT",
            "transition: phase RED_ACCEPTANCE went from NOT_EXECUTED to EXECUTED, which is not a lawful way",
            "transition: phase RED_UNIT went from NOT_EXECUTED to EXECUTED, which is not a lawful way",
        ]
    );
    assert_eq!(events, ["PHASE_COMPLETED", "PHASE_COMPLETED", "PHASE_COMPLETED"]);
}

#[test]
fn edits_by_hand_that_break_the_rules_are_named() {
    let rules = |edit: fn(&mut StepState)| -> Vec<String> {
        let mut state = after(2);
        state.phases[0].history.push(json!({"status": "CRASHED"}));
        told(&state, edit).0
    };
    assert_eq!(
        rules(|s| s.phases[0].status = PhaseStatus::NotExecuted),
        ["transition: phase PREPARE went from EXECUTED to NOT_EXECUTED, which is not a lawful way"]
    );
    assert_eq!(
        rules(|s| s.phases[0].history.clear()),
        ["history: the history of phase PREPARE was rewritten"]
    );
    assert_eq!(
        rules(|s| s.phases[0].outcome = Some(Outcome::Other("GREAT".to_owned()))),
        ["rewritten: phase PREPARE was over, and how it ended was rewritten"]
    );
    assert_eq!(
        rules(|s| s.phases[4].status = PhaseStatus::InProgress),
        ["order: phase REVIEW began before RED_UNIT was over"]
    );
    assert_eq!(
        rules(|s| s.phases[2].status = PhaseStatus::Unknown("WIP".to_owned())),
        ["phase: Phase RED_UNIT has the unknown status `WIP`"]
    );
    assert_eq!(
        rules(|s| s.phases[2].status = PhaseStatus::Pending),
        ["transition: phase RED_UNIT was marked CHECKPOINT_PENDING by hand"]
    );
    assert_eq!(
        rules(|s| s.phases[2].status = PhaseStatus::Skipped),
        ["phase: Phase RED_UNIT SKIPPED without blocked_by"]
    );
    assert_eq!(
        rules(|s| {
            s.phases.pop();
            s.phases.push(PhaseRecord::new("PARTY", 6));
        }),
        [
            "phase-list: phase PARTY was not there before",
            "phase-list: phase COMMIT was removed from the state file"
        ]
    );
    assert_eq!(
        rules(|s| s.status = StepStatus::Done),
        ["transition: the step was marked DONE while phase RED_UNIT is not over"]
    );
    assert_eq!(
        rules(|s| s.status = StepStatus::Todo),
        ["transition: the step went from IN_PROGRESS to TODO, which is not a lawful way"]
    );
}

fn any_change() -> impl Strategy<Value = Change> {
    let names: Vec<String> = Schema::usual().names().map(str::to_owned).collect();
    let acts = [Act::Start, Act::Done, Act::Skip, Act::Fail, Act::Reopen];
    let outcomes = [None, Some(Outcome::Pass), Some(Outcome::Fail)];
    let reasons = [None, Some("NOT_APPLICABLE: x".to_owned()), Some("DEFERRED: x".to_owned())];
    (
        prop::sample::select(names),
        prop::sample::select(acts.to_vec()),
        prop::sample::select(outcomes.to_vec()),
        prop::sample::select(reasons.to_vec()),
        any::<bool>(),
    )
        .prop_map(|(phase, act, outcome, reason, noted)| Change {
            outcome,
            reason,
            note: noted.then(|| "because".to_owned()),
            ..Change::new(act, &phase)
        })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// DS-28, DS-29, DS-91: whatever is asked for, in whatever order, the state stays lawful, and what is made by
    /// command is lawful for the import too.
    #[test]
    fn no_sequence_of_changes_leaves_the_law(changes in prop::collection::vec(any_change(), 0..60)) {
        let schema = Schema::usual();
        let mut state = fresh();
        for (minute, what) in changes.iter().enumerate() {
            let at = now(u64::try_from(minute).unwrap());
            let Ok((next, events)) = change(&state, schema, what, at) else { continue };
            prop_assert!(!events.is_empty());
            let running = next.phases.iter().filter(|p| p.status == PhaseStatus::InProgress).count();
            prop_assert!(running <= 1);
            let open = next.phases.iter().skip_while(|p| p.is_closed()).skip(1);
            for later in open {
                prop_assert!(!later.is_closed() && later.status != PhaseStatus::InProgress, "{}", later.name);
            }
            prop_assert_eq!(next.status == StepStatus::Done, next.all_phases_valid());
            if what.act != Act::Reopen && state.status != StepStatus::Failed {
                let imported = import(&state, &next, schema, at);
                prop_assert!(imported.is_lawful(), "{:?}", imported.findings());
            }
            for (old, new) in state.phases.iter().zip(&next.phases) {
                prop_assert!(new.history.starts_with(&old.history));
            }
            state = next;
        }
    }
}
