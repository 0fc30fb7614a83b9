//! Verdicts, sentence by sentence.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::roadmap::audit;
use crate::roadmap::audit::Happening;
use crate::roadmap::document;
use crate::roadmap::machine::Beside;
use crate::roadmap::machine::FailureMode;
use crate::roadmap::machine::STALE_MINUTES;
use crate::roadmap::machine::commit;
use crate::roadmap::machine::crash;
use crate::roadmap::machine::governed;
use crate::roadmap::machine::intervene;
use crate::roadmap::machine::partial;
use crate::roadmap::machine::silent;
use crate::roadmap::machine::stale;
use crate::roadmap::machine::stop;
use crate::time::Utc;

fn now() -> Utc {
    Utc::parse("2026-01-22T12:00:00Z").unwrap()
}

fn passed(schema: &Schema) -> StepState {
    let mut state = StepState::fresh("steps/01-01.json", "demo", "01-01", schema);
    state.status = StepStatus::Done;
    for phase in &mut state.phases {
        phase.status = PhaseStatus::Done;
        phase.outcome = Some(Outcome::Pass);
    }
    state
}

fn first() -> &'static Schema {
    Schema::of_version("1").unwrap()
}

/// The errors and warnings at a stop of a step of fourteen phases that was passed and then altered.
fn at_stop(alter: impl FnOnce(&mut StepState)) -> (Vec<String>, Vec<String>) {
    let mut state = passed(first());
    alter(&mut state);
    let verdict = stop(&state, first(), now());
    (sentences(&verdict.errors), verdict.warnings)
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn ds_40_a_phase_left_in_progress_is_an_error() {
    let (errors, _) = at_stop(|s| s.phases[3].status = PhaseStatus::InProgress);
    assert_eq!(errors, ["Phase GREEN_UNIT left IN_PROGRESS (abandoned)"]);
}

#[test]
fn ds_41_a_finished_task_with_an_open_phase_is_an_error() {
    let (errors, warnings) = at_stop(|s| s.phases[13] = PhaseRecord::new("COMMIT", 13));
    assert_eq!(errors, ["Task marked DONE but phase COMMIT NOT_EXECUTED"]);
    assert_eq!(warnings, texts(&[]));
}

#[test]
fn ds_42_k_03_an_end_without_outcome_is_an_error_in_the_words_of_the_generation() {
    let (errors, _) = at_stop(|s| s.phases[0].outcome = None);
    assert_eq!(errors, ["Phase PREPARE EXECUTED without outcome"]);
    let mut seven = passed(Schema::usual());
    seven.phases[0].outcome = None;
    assert_eq!(
        sentences(&stop(&seven, Schema::usual(), now()).errors),
        ["Phase PREPARE COMPLETED without outcome"]
    );
}

#[test]
fn ds_43_ds_44_k_08_k_09_skips_are_judged_by_their_reason() {
    let skipped = |reason: Option<&str>| {
        let reason = reason.map(str::to_owned);
        at_stop(|s| {
            s.phases[6].status = PhaseStatus::Skipped;
            s.phases[6].outcome = None;
            s.phases[6].blocked_by = reason;
        })
    };
    assert_eq!(skipped(None).0, ["Phase REVIEW SKIPPED without blocked_by"]);
    let deferred = skipped(Some("DEFERRED: later"));
    assert_eq!(deferred, (vec![], texts(&["Phase REVIEW has DEFERRED - blocks commit"])));
    assert_eq!(skipped(Some("APPROVED_SKIP: yes")), (vec![], vec![]));
    assert_eq!(skipped(Some("FOO: x")).0, ["Phase REVIEW SKIPPED with an unknown prefix in blocked_by"]);
    assert_eq!(
        skipped(Some("NOT_APPLICABLE")).0,
        ["Phase REVIEW SKIPPED with a prefix but without a reason"]
    );
}

#[test]
fn ds_45_k_96_unfinished_work_is_an_error_and_a_task_in_progress_a_warning() {
    let (errors, warnings) = at_stop(|s| {
        s.status = StepStatus::InProgress;
        s.phases[12] = PhaseRecord::new("FINAL_VALIDATE", 12);
        s.phases[13] = PhaseRecord::new("COMMIT", 13);
    });
    assert_eq!(
        errors,
        [
            "Phase FINAL_VALIDATE NOT_EXECUTED and task is IN_PROGRESS",
            "Phase COMMIT NOT_EXECUTED and task is IN_PROGRESS"
        ]
    );
    assert_eq!(warnings, ["Task still IN_PROGRESS after agent stop"]);
    let (errors, warnings) = at_stop(|s| s.status = StepStatus::InProgress);
    assert_eq!((errors, warnings), (vec![], texts(&["Task still IN_PROGRESS after agent stop"])));
}

#[test]
fn k_17_k_96_e_81_partial_with_suggestions_and_notes_is_a_warning_else_an_error() {
    let partial = |suggestions: &[&str], notes: Option<&str>| {
        let (suggestions, notes) = (texts(suggestions), notes.map(str::to_owned));
        at_stop(|s| {
            s.status = StepStatus::Partial;
            s.recovery_suggestions = suggestions;
            s.phases[12] = PhaseRecord {
                status: PhaseStatus::InProgress,
                notes,
                ..PhaseRecord::new("FINAL_VALIDATE", 12)
            };
            s.phases[13] = PhaseRecord::new("COMMIT", 13);
        })
    };
    let (errors, warnings) = partial(&["run the last tests"], Some("half way"));
    assert_eq!(errors, texts(&[]));
    assert_eq!(
        warnings,
        ["Phase FINAL_VALIDATE left IN_PROGRESS (can be resumed)", "Task is PARTIAL; still to do: COMMIT"]
    );
    assert_eq!(partial(&["run"], None).0, ["Phase FINAL_VALIDATE left IN_PROGRESS (abandoned)"]);
    assert_eq!(
        partial(&[], Some("half way")).0,
        [
            "Phase FINAL_VALIDATE left IN_PROGRESS (abandoned)",
            "Phase COMMIT NOT_EXECUTED and task is PARTIAL",
            "Task is PARTIAL without recovery_suggestions"
        ]
    );
}

#[test]
fn a_task_that_failed_and_says_why_may_stop() {
    let failed = |reason: Option<&str>| {
        let reason = reason.map(str::to_owned);
        at_stop(|s| {
            s.status = StepStatus::Failed;
            s.failure_reason = reason;
            s.phases[13] = PhaseRecord::new("COMMIT", 13);
        })
    };
    assert_eq!(failed(Some("no database")), (vec![], texts(&["Task is FAILED; still to do: COMMIT"])));
    assert_eq!(failed(None).0, ["Phase COMMIT NOT_EXECUTED and task is FAILED"]);
}

#[test]
fn e_83_unknown_words_are_errors() {
    let (errors, _) = at_stop(|s| {
        s.phases[1].status = PhaseStatus::Unknown("WIP".to_owned());
        s.status = StepStatus::Unknown("HALF".to_owned());
    });
    assert_eq!(
        errors,
        ["Phase RED_ACCEPTANCE has the unknown status `WIP`", "Task has the unknown status `HALF`"]
    );
}

#[test]
fn ds_46_ds_47_ds_48_the_result_has_five_fields_and_an_event() {
    let verdict = stop(&passed(first()), first(), now());
    assert_eq!(
        json!(verdict),
        json!({
            "status": "success", "step_file": "steps/01-01.json", "errors": [], "warnings": [],
            "timestamp": "2026-01-22T12:00:00.000Z",
        })
    );
    assert!(!verdict.is_error());
    let mut bad = passed(first());
    bad.phases[0].outcome = None;
    let verdict = stop(&bad, first(), now());
    assert!(verdict.is_error());
    assert_eq!(
        verdict.event("01-01", now()).line(),
        r#"{"timestamp":"2026-01-22T12:00:00.000Z","event":"SUBAGENT_STOP_VALIDATION","step_file":"steps/01-01.json","step_id":"01-01","status":"error","errors":["Phase PREPARE EXECUTED without outcome"],"warnings":[],"objections":[{"kind":"phase","phase":"PREPARE","fault":{"what":"without_outcome","status":"EXECUTED"}}]}"#
    );
}

#[test]
fn ds_37_ds_38_stops_without_a_state_file() {
    assert_eq!(skipped(NO_STEP_FILE).to_string(), r#"{"status":"skipped","reason":"no_step_file"}"#);
    let verdict = StopVerdict::of_findings("a.json", &[document::not_found("a.json")], now());
    assert_eq!(sentences(&verdict.errors), ["Step file not found: a.json"]);
    assert_eq!(verdict.status, Standing::Error);
}

fn at_commit(level: Level, alter: impl FnOnce(&mut StepState)) -> Vec<String> {
    let mut state = passed(Schema::usual());
    alter(&mut state);
    commit(&state, Schema::usual(), level).sentences()
}

#[test]
fn ds_30_the_gate_blocks_on_its_four_conditions_and_names_the_phase() {
    let on = |status: PhaseStatus| at_commit(Level::Final, |s| s.phases[2].status = status);
    assert_eq!(on(PhaseStatus::InProgress), ["Phase RED_UNIT left in progress"]);
    assert_eq!(on(PhaseStatus::NotExecuted), ["Phase RED_UNIT not executed"]);
    assert_eq!(on(PhaseStatus::Failed), ["Phase RED_UNIT FAILED"]);
    let deferred = |s: &mut StepState| {
        s.phases[2].status = PhaseStatus::Skipped;
        s.phases[2].blocked_by = Some("DEFERRED: later".to_owned());
    };
    assert_eq!(at_commit(Level::Final, deferred), ["Phase RED_UNIT: DEFERRED phases block commit"]);
    assert_eq!(at_commit(Level::Checkpoint, deferred), ["Phase RED_UNIT: DEFERRED phases block commit"]);
    assert_eq!(at_commit(Level::Final, |_| {}), texts(&[]));
}

#[test]
fn k_04_e_53_only_a_pass_is_a_pass() {
    let outcome = |outcome: Option<Outcome>| at_commit(Level::Final, |s| s.phases[3].outcome = outcome);
    assert_eq!(outcome(Some(Outcome::Fail)), ["Phase GREEN has outcome FAIL, not PASS"]);
    assert_eq!(
        outcome(Some(Outcome::Other("UNEXPECTED_GREEN".to_owned()))),
        ["Phase GREEN has outcome UNEXPECTED_GREEN, not PASS"]
    );
    assert_eq!(outcome(None), ["Phase GREEN COMPLETED without outcome"]);
}

#[test]
fn the_phase_of_the_commit_may_be_open() {
    for status in [PhaseStatus::NotExecuted, PhaseStatus::InProgress, PhaseStatus::Pending] {
        assert_eq!(at_commit(Level::Final, |s| s.phases[6].status = status), texts(&[]));
    }
    assert_eq!(at_commit(Level::Final, |s| drop(s.phases.remove(1))), ["Phase RED_ACCEPTANCE not executed"]);
}

#[test]
fn k_06_e_50_a_checkpoint_admits_what_is_pending_and_the_end_does_not() {
    let pending = |s: &mut StepState| {
        for phase in &mut s.phases[4..6] {
            phase.status = PhaseStatus::Pending;
        }
    };
    assert_eq!(at_commit(Level::Checkpoint, pending), texts(&[]));
    assert_eq!(
        at_commit(Level::Final, pending),
        ["Phase REVIEW still CHECKPOINT_PENDING", "Phase REFACTOR_CONTINUOUS still CHECKPOINT_PENDING"]
    );
}

#[test]
fn ds_59_ds_60_the_gate_leaves_its_event() {
    let good = commit(&passed(Schema::usual()), Schema::usual(), Level::Checkpoint);
    assert_eq!(good.event(now()).happening, Happening::CommitValidationPassed);
    let mut state = passed(Schema::usual());
    state.phases[0].outcome = None;
    let bad = commit(&state, Schema::usual(), Level::Final);
    assert!(bad.event(now()).line().ends_with(
        r#""event":"COMMIT_VALIDATION_FAILED","step_file":"steps/01-01.json","step_id":"01-01","level":"final","errors":["Phase PREPARE COMPLETED without outcome"],"objections":[{"kind":"phase","phase":"PREPARE","fault":{"what":"without_outcome","status":"COMPLETED"}}]}"#
    ));
}

/// The commit gate over a step whose record is whole, after the last stop that an audit trail names.
fn after_trail(text: &str) -> Vec<String> {
    let trail = audit::read(text);
    let last = audit::last_stop(&trail.entries, "steps/01-01.json", "01-01");
    let last = last.map(|(entry, _)| LastStop::of_entry(entry));
    let (state, schema) = (passed(Schema::usual()), Schema::usual());
    let beside = Beside { last_stop: last.as_ref(), ..Beside::default() };
    governed((&state, schema), (&state, schema), &beside).sentences()
}

fn red() -> Evidence {
    Evidence { result: Shown::Red, ..Evidence::broken("lint", "2 warnings") }
}

#[test]
fn ds_49_k_18_e_75_the_last_stop_counts_until_it_is_settled() {
    let line = |alter: &dyn Fn(&mut StopVerdict)| {
        let mut verdict = stop(&passed(Schema::usual()), Schema::usual(), now());
        alter(&mut verdict);
        verdict.event("01-01", now()).line()
    };
    let gate = line(&|verdict| verdict.add_evidence(vec![red()]));
    assert_eq!(after_trail(&gate), ["Gate `lint` is red: 2 warnings"]);
    let unseen = line(&|verdict| verdict.add_errors([Objection::Unseen { agent: "a9".to_owned() }]));
    assert_eq!(after_trail(&unseen).len(), 1);
    // The phases as they stand speak for themselves.
    let open = Objection::phase("GREEN", PhaseFault::Abandoned);
    assert_eq!(after_trail(&line(&|verdict| verdict.add_errors([open.clone()]))), texts(&[]));
    let clean = line(&|_| {});
    assert_eq!(after_trail(&format!("{gate}\n{clean}\n")), texts(&[]), "repaired and clean");
    assert_eq!(after_trail(&format!("{clean}\n{gate}\n")).len(), 1, "only the last one counts");
    assert_eq!(after_trail(""), texts(&[]));
}

#[test]
fn k_18_every_text_of_an_older_trail_holds_until_the_next_stop() {
    let line = |status: &str, errors: &[&str]| {
        json!({"timestamp": "2026-01-22T11:00:00Z", "event": "SUBAGENT_STOP_VALIDATION",
               "step_file": "steps/01-01.json", "status": status, "errors": errors})
        .to_string()
    };
    let told =
        ["Phase GREEN left IN_PROGRESS (abandoned)", "Unexpected modification: a.rs", "nobody knows this"];
    assert_eq!(after_trail(&line("error", &told)), told);
    assert_eq!(after_trail(&format!("{}\n{}\n", line("error", &told), line("success", &[]))), texts(&[]));
}

#[test]
fn a_last_stop_is_kept_with_texts_for_others_and_read_by_its_typed_form() {
    let mut verdict = stop(&passed(Schema::usual()), Schema::usual(), now());
    verdict.add_evidence(vec![red()]);
    let kept = serde_json::to_value(LastStop::of(&verdict, now())).unwrap();
    assert_eq!(kept["status"], json!("error"));
    assert_eq!(kept["errors"], json!(["Gate `lint` is red: 2 warnings"]));
    let read: LastStop = serde_json::from_value(kept).unwrap();
    assert_eq!((read.passed(), read.objections), (false, verdict.errors));
    let older: LastStop =
        serde_json::from_value(json!({"at": 0, "status": "error", "errors": ["Gate `lint` is red"]}))
            .unwrap();
    assert_eq!(older.objections, [Objection::Other { text: "Gate `lint` is red".to_owned() }]);
    let odd: LastStop = serde_json::from_value(json!({"at": 0, "status": "fine"})).unwrap();
    assert!(!odd.passed(), "a word that is not known is never taken for a good one");
}

fn running() -> StepState {
    let mut state = StepState::fresh("steps/01-01.json", "demo", "01-01", Schema::usual());
    state.status = StepStatus::InProgress;
    state
}

#[test]
fn ds_62_ds_67_an_agent_that_did_nothing_fails_the_step() {
    let recovered = silent(&running(), now()).unwrap();
    assert_eq!(recovered.state.status, StepStatus::Failed);
    assert_eq!(recovered.state.failure_reason.as_deref(), Some("Agent completed without updating step file"));
    assert_eq!(
        recovered.state.recovery_suggestions,
        [
            "Check agent transcript for errors",
            "Verify prompt contained all required instructions",
            "Retry with more explicit phase update requirements"
        ]
    );
    assert_eq!(recovered.events[0].happening, Happening::SilentCompletionDetected);
    assert_eq!(recovered.events[0].data["recovery_action"], json!("marked_as_failed"));
    let mut preset = running();
    preset.phases[1].status = PhaseStatus::Skipped;
    assert!(silent(&preset, now()).is_some(), "a pre-set skip is nobody's work");
    let mut busy = running();
    busy.phases[0].status = PhaseStatus::InProgress;
    assert_eq!(silent(&busy, now()), None);
    assert_eq!(silent(&StepState { status: StepStatus::Todo, ..running() }, now()), None);
}

#[test]
fn ds_64_k_90_e_79_a_crash_goes_into_the_history_and_can_be_retried() {
    let mut state = running();
    for phase in &mut state.phases[..2] {
        phase.status = PhaseStatus::InProgress;
        phase.started_at = Some("2026-01-22T11:00:00Z".to_owned());
    }
    let recovered = crash(&state, now());
    let phase = &recovered.state.phases[0];
    assert_eq!(phase.status, PhaseStatus::NotExecuted);
    assert_eq!(
        phase.history,
        [json!({"status": "CRASHED", "ended_at": "2026-01-22T12:00:00Z",
                "notes": "Agent crashed during execution", "started_at": "2026-01-22T11:00:00Z"})]
    );
    assert_eq!(recovered.state.status, StepStatus::Failed);
    assert_eq!(recovered.state.failure_reason.as_deref(), Some("Agent crashed"));
    assert_eq!(recovered.state.can_retry, Some(true));
    assert_eq!(recovered.findings.len(), 1, "two at once is impossible by the rules");
    let words: Vec<&str> = recovered.events.iter().map(|event| event.happening.word()).collect();
    assert_eq!(words, ["PHASE_FAILED", "PHASE_FAILED", "STATE_TRANSITION"]);
}

#[test]
fn ds_65_k_16_a_stuck_agent_leaves_partial_work_that_can_be_resumed() {
    let mut state = passed(Schema::usual());
    state.status = StepStatus::InProgress;
    state.phases[5] =
        PhaseRecord { status: PhaseStatus::InProgress, ..PhaseRecord::new("REFACTOR_CONTINUOUS", 5) };
    state.phases[6] = PhaseRecord::new("COMMIT", 6);
    let recovered = partial(&state, &[], now()).state;
    assert!(recovered.partial_completion && recovered.is_resumable());
    assert_eq!(
        recovered.recovery_suggestions,
        ["Continue with phase REFACTOR_CONTINUOUS", "Continue with phase COMMIT"]
    );
    assert_eq!(stop(&recovered, Schema::usual(), now()).status, Standing::Warning);
    assert!(!commit(&recovered, Schema::usual(), Level::Final).passed());
    assert_eq!(partial(&state, &texts(&["mine"]), now()).state.recovery_suggestions, ["mine"]);
}

#[test]
fn ds_25_ds_61_stale_work_is_found_and_ended() {
    let aged = |started: Option<&str>| {
        let mut state = running();
        state.phases[0].status = PhaseStatus::InProgress;
        state.phases[0].started_at = started.map(str::to_owned);
        state
    };
    let minutes = |started| {
        let found = stale(&[aged(started)], now(), STALE_MINUTES);
        found.first().map(|stale| stale.minutes)
    };
    assert_eq!(minutes(Some("2026-01-22T11:29:59Z")), Some(Some(30)));
    assert_eq!(minutes(Some("2026-01-22T11:30:00Z")), None, "exactly thirty minutes is not beyond");
    assert_eq!(minutes(Some("2026-01-22 09:00:00")), Some(Some(180)));
    assert_eq!(minutes(Some("2026-01-22T13:00:00Z")), None, "a clock that was set back");
    assert_eq!(minutes(None), Some(None), "nothing shows that it is alive");
    assert_eq!(stale(&[passed(Schema::usual())], now(), 0), []);
    let state = aged(Some("2026-01-22T09:00:00Z"));
    let found = stale(std::slice::from_ref(&state), now(), 30);
    let recovered = intervene(&state, &found[0], now());
    assert_eq!(recovered.events[0].happening, Happening::WatchdogIntervention);
    assert_eq!(recovered.events[0].data["minutes"], json!(180));
    assert_eq!(recovered.state.status, StepStatus::Failed);
}

#[test]
fn ds_81_every_failure_mode_has_suggestions() {
    for mode in FailureMode::ALL {
        assert!(mode.suggestions().iter().all(|words| words.len() > 20), "{mode:?}");
    }
}

fn any_state() -> impl Strategy<Value = StepState> {
    let statuses = vec![
        PhaseStatus::NotExecuted,
        PhaseStatus::Pending,
        PhaseStatus::InProgress,
        PhaseStatus::Done,
        PhaseStatus::Skipped,
        PhaseStatus::Failed,
        PhaseStatus::Unknown("WIP".to_owned()),
    ];
    let outcomes = vec![None, Some(Outcome::Pass), Some(Outcome::Fail)];
    let reasons = vec![None, Some("NOT_APPLICABLE: x".to_owned()), Some("DEFERRED: x".to_owned())];
    let phase =
        (prop::sample::select(statuses), prop::sample::select(outcomes), prop::sample::select(reasons));
    prop::collection::vec(phase, 7).prop_map(|phases| {
        let mut state = running();
        for (record, (status, outcome, blocked_by)) in state.phases.iter_mut().zip(phases) {
            *record = PhaseRecord { status, outcome, blocked_by, ..record.clone() };
        }
        state
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// DS-30, K-04, K-08: the final gate passes exactly when each phase before the commit passed or was validly skipped.
    #[test]
    fn the_final_gate_passes_only_what_is_closed(state in any_state()) {
        let good = |record: &PhaseRecord| match record.status {
            PhaseStatus::Done => record.outcome == Some(Outcome::Pass),
            PhaseStatus::Skipped => record.is_closed(),
            _ => false,
        };
        let closed = state.phases[..6].iter().all(good);
        let verdict = commit(&state, Schema::usual(), Level::Final);
        prop_assert!(!verdict.passed() || closed, "{:?}", verdict);
        let own_fault = record_fault(&state.phases[6], Schema::usual()).is_some();
        prop_assert_eq!(verdict.passed(), closed && !own_fault);
        if verdict.passed() {
            prop_assert!(commit(&state, Schema::usual(), Level::Checkpoint).passed());
        }
    }

    /// DS-64: after a crash nothing is in progress, and no try is lost.
    #[test]
    fn a_crash_leaves_nothing_in_progress(state in any_state()) {
        let recovered = crash(&state, now()).state;
        for (old, new) in state.phases.iter().zip(&recovered.phases) {
            prop_assert!(new.status != PhaseStatus::InProgress);
            let crashed = usize::from(old.status == PhaseStatus::InProgress);
            prop_assert_eq!(new.history.len(), old.history.len() + crashed);
        }
    }
}
