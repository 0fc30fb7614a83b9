//! A checkpoint that is taken back: phases are pending again, and what was on record is history.

use super::*;
use crate::roadmap::document::Document;
use crate::roadmap::document::Record;
use crate::roadmap::log::Log;
use crate::roadmap::result::Checkpoint;
use crate::roadmap::store::StateFile;

const NOTE: &str = "ada took it back";

#[track_caller]
fn taken_back(state: &StepState, first: &str) -> (StepState, Vec<String>) {
    let (state, events) = roll_back(state, Schema::usual(), first, NOTE, now(9)).unwrap();
    (state, events.iter().map(|event| event.happening.word().to_owned()).collect())
}

// DW-48: DONE is left by an explicit word alone.
#[test]
fn dw_74_phases_are_pending_again_and_a_step_that_was_done_is_not() {
    let done = after(7);
    assert_eq!(done.status, StepStatus::Done);
    let (state, events) = taken_back(&done, "REFACTOR_CONTINUOUS");
    assert_eq!((&state.status, &state.completed_at), (&StepStatus::InProgress, &None));
    assert_eq!(events, ["PHASE_REOPENED", "PHASE_REOPENED", "STATE_TRANSITION"]);
    assert_eq!(state.phases[..5], done.phases[..5]);
    for phase in &state.phases[5..] {
        assert_eq!(phase.status, PhaseStatus::Pending);
        assert_eq!(phase.blocked_by.as_deref(), Some("CHECKPOINT_PENDING: ada took it back"));
        assert_eq!((phase.history.len(), &phase.history[0]["outcome"]), (1, &json!("PASS")));
    }
    let (again, events) = taken_back(&state, "REFACTOR_CONTINUOUS");
    assert_eq!((again, events.len()), (state.clone(), 0), "twice is as once");
    // The work goes on from there.
    let (state, _) = made(&state, &Change::new(Act::Start, "REFACTOR_CONTINUOUS"), now(10));
    assert_eq!(state.phases[5].status, PhaseStatus::InProgress);
    let unknown = roll_back(&state, Schema::usual(), "LUNCH", NOTE, now(9)).unwrap_err();
    assert!(unknown.to_string().contains("LUNCH"), "{unknown}");
}

#[test]
fn dw_74_what_does_not_apply_stays_so() {
    let state = made(&fresh(), &skip_with("PREPARE", "NOT_APPLICABLE: documents only"), now(0)).0;
    let state = made(&state, &Change::new(Act::Start, "RED_ACCEPTANCE"), now(1)).0;
    let (state, _) = taken_back(&made(&state, &fail("RED_ACCEPTANCE"), now(2)).0, "PREPARE");
    assert_eq!(state.phases[0].status, PhaseStatus::Skipped);
    assert_eq!((&state.phases[1].status, state.phases[1].history.len()), (&PhaseStatus::Pending, 1));
}

#[test]
fn dw_74_each_checkpoint_opens_what_came_after_the_one_before() {
    let opens = |schema: &Schema| {
        Checkpoint::ALL.map(|point| point.opens(schema).map(str::to_owned).unwrap_or_default())
    };
    assert_eq!(opens(Schema::usual()), ["GREEN", "REVIEW", "REFACTOR_CONTINUOUS"]);
    let shortest = Schema::of_version("5").unwrap();
    let [green, _, last] = opens(shortest);
    assert_eq!((green.as_str(), last.as_str()), ("GREEN", "COMMIT"));
}

#[test]
fn dw_74_a_status_file_no_longer_lists_the_step_as_complete_and_keeps_the_rest() {
    let others = "    - step_id: \"00-01\" # mine\n      commit_sha: abc\n";
    let text = format!(
        "execution_status:\n  project_id: demo\n  completed_steps:\n{others}  step_checkpoint: null\n"
    );
    let path = "docs/feature/demo/execution-status.yaml";
    let file = Document::read(path, &text).unwrap();
    let mut state = after(7);
    path.clone_into(&mut state.step_file);
    let text = file.apply(&state, now(2)).unwrap();
    let file = Document::read(path, &text).unwrap();
    let state = file.step(Some("01-01")).unwrap();
    assert_eq!(state.status, StepStatus::Done);
    let (back, _) = taken_back(&state, "REVIEW");
    let text = file.apply(&back, now(9)).unwrap();
    assert!(text.contains(others), "{text}");
    let file = Document::read(path, &text).unwrap();
    assert_eq!(file.files_modified("01-01"), None, "{text}");
    assert_eq!(file.step(Some("00-01")).unwrap().status, StepStatus::Done);
    let again = file.step(Some("01-01")).unwrap();
    assert_eq!((again.status, &again.phases[4].status), (StepStatus::InProgress, &PhaseStatus::Pending));
}

#[test]
fn dw_74_a_log_says_that_phases_were_opened_again() {
    let path = "docs/feature/demo/execution-log.yaml";
    let text = crate::roadmap::log::new_log(path, "demo", now(0));
    let text = Log::read(path, &text).unwrap().apply(&after(7), now(1)).unwrap();
    let file = StateFile::read(path, &text, &[]).unwrap();
    assert!(file.done().contains("01-01"));
    let state = file.step(path, "demo", "01-01", Schema::usual());
    let (back, _) = taken_back(&state, "REFACTOR_CONTINUOUS");
    let text = file.write(&back, &Record::default(), now(9)).unwrap();
    let file = StateFile::read(path, &text, &[]).unwrap();
    assert!(!file.done().contains("01-01"), "{text}");
    let again = file.step(path, "demo", "01-01", Schema::usual());
    assert_eq!(again.status, StepStatus::InProgress);
    assert_eq!(
        (&again.phases[4].status, &again.phases[5].status),
        (&PhaseStatus::Done, &PhaseStatus::Pending)
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn dw_77_whatever_is_taken_back_stays_in_the_history(carried_out in 0_usize..=7, first in 0_usize..7) {
        let before = after(carried_out);
        let name = &Schema::usual().phases[first].name;
        let (state, _) = roll_back(&before, Schema::usual(), name, NOTE, now(9)).unwrap();
        for (index, (old, new)) in before.phases.iter().zip(&state.phases).enumerate() {
            let opened = index >= first && old.status == PhaseStatus::Done;
            prop_assert_eq!(new.history.len(), old.history.len() + usize::from(opened));
            prop_assert_eq!(new.is_closed(), old.is_closed() && !opened);
        }
        let again = roll_back(&state, Schema::usual(), name, NOTE, now(9)).unwrap();
        prop_assert_eq!(again, (state, vec![]));
    }
}
