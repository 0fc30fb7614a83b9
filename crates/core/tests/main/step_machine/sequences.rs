//! Whatever happens to a step in whatever order, it is ready for its commit only when every phase is over for good.

use proptest::prelude::*;
use seriatim_core::machine::Machine;
use seriatim_core::roadmap::change;
use seriatim_core::roadmap::change::Act;
use seriatim_core::roadmap::change::By;
use seriatim_core::roadmap::change::Change;
use seriatim_core::roadmap::machine;
use seriatim_core::roadmap::phases::COMMIT;
use seriatim_core::roadmap::phases::Schema;
use seriatim_core::roadmap::skip;
use seriatim_core::roadmap::skip::Reason;
use seriatim_core::roadmap::state::Outcome;
use seriatim_core::roadmap::state::PhaseRecord;
use seriatim_core::roadmap::state::PhaseStatus;
use seriatim_core::roadmap::state::StepState;
use seriatim_core::roadmap::state::StepStatus;
use seriatim_core::roadmap::verdict::Level;

use super::world::NOW;

/// One thing that is done to a step.
#[derive(Clone, Debug)]
enum Deed {
    Change {
        act: Act,
        phase: usize,
        by: By,
        outcome: Option<Outcome>,
        reason: Option<&'static str>,
    },
    Begin,
    Crash,
    Silent,
    Partial,
    Runaway,
    Fail,
    Review,
    Rework(usize),
    RollBack(usize),
    /// An edit by hand that sets the status of a phase and of the step.
    Edit {
        phase: usize,
        status: PhaseStatus,
        outcome: Option<Outcome>,
        step: Option<StepStatus>,
    },
}

fn deed() -> impl Strategy<Value = Deed> {
    let phase = 0usize..7;
    let outcome = || prop::sample::select(vec![None, Some(Outcome::Pass), Some(Outcome::Fail)]);
    let act = prop::sample::select(vec![
        Act::Start,
        Act::Start,
        Act::Done,
        Act::Done,
        Act::Skip,
        Act::Fail,
        Act::Reopen,
    ]);
    let by = prop::sample::select(vec![By::Hand, By::Engine]);
    let reason = prop::sample::select(vec![
        None,
        Some("NOT_APPLICABLE: nothing to do"),
        Some("NOT_APPLICABLE"),
        Some("DEFERRED: later"),
        Some("CHECKPOINT_PENDING: after GREEN"),
    ]);
    let status = prop::sample::select(vec![
        PhaseStatus::NotExecuted,
        PhaseStatus::Pending,
        PhaseStatus::InProgress,
        PhaseStatus::Done,
        PhaseStatus::Skipped,
        PhaseStatus::Failed,
    ]);
    let step = prop::sample::select(vec![None, Some(StepStatus::Done), Some(StepStatus::InProgress)]);
    let others = prop::sample::select(vec![
        Deed::Begin,
        Deed::Crash,
        Deed::Silent,
        Deed::Partial,
        Deed::Runaway,
        Deed::Fail,
        Deed::Review,
    ]);
    prop_oneof![
        12 => (act, phase.clone(), by, outcome(), reason)
            .prop_map(|(act, phase, by, outcome, reason)| Deed::Change { act, phase, by, outcome, reason }),
        3 => others,
        1 => phase.clone().prop_map(Deed::Rework),
        1 => phase.clone().prop_map(Deed::RollBack),
        3 => (phase, status, outcome(), step)
            .prop_map(|(phase, status, outcome, step)| Deed::Edit { phase, status, outcome, step }),
    ]
}

/// The step after a deed; as it was where the deed is refused.
fn after(state: &StepState, deed: &Deed) -> StepState {
    let schema = Schema::usual();
    let name = |phase: usize| state.phases[phase].name.clone();
    let changed = |changed: Result<change::Changed, change::Refusal>| {
        changed.map_or_else(|_| state.clone(), |(state, _)| state)
    };
    match deed {
        Deed::Change { act, phase, by, outcome, reason } => {
            let change = Change {
                by: *by,
                outcome: outcome.clone(),
                note: Some("noted".to_owned()),
                reason: reason.map(str::to_owned),
                ..Change::new(*act, &name(*phase))
            };
            changed(change::change(state, schema, &change, NOW))
        }
        Deed::Begin => machine::begin(state, NOW).map_or_else(|| state.clone(), |begun| begun.state),
        Deed::Crash => machine::crash(state, NOW).state,
        Deed::Silent => machine::silent(state, NOW).map_or_else(|| state.clone(), |silent| silent.state),
        Deed::Partial => machine::partial(state, &[], NOW).state,
        Deed::Runaway => machine::runaway(state, NOW).state,
        Deed::Fail => changed(change::fail(state, schema, "no way", &[], true, NOW)),
        Deed::Review => changed(change::seek_review(state, schema, NOW)),
        Deed::Rework(phase) => changed(change::rework(state, schema, &name(*phase), "again", NOW)),
        Deed::RollBack(phase) => changed(change::roll_back(state, schema, &name(*phase), "back", NOW)),
        Deed::Edit { phase, status, outcome, step } => {
            let mut edited = state.clone();
            edited.phases[*phase].status = status.clone();
            edited.phases[*phase].outcome.clone_from(outcome);
            edited.status = step.clone().unwrap_or(edited.status);
            let lawful = change::import(state, &edited, schema, NOW).is_lawful();
            if lawful { edited } else { state.clone() }
        }
    }
}

fn is_over(record: &PhaseRecord) -> bool {
    match record.status {
        PhaseStatus::Done => record.outcome == Some(Outcome::Pass),
        PhaseStatus::Skipped => skip::reason(record.blocked_by.as_deref()) == Reason::Valid,
        _ => false,
    }
}

fn leads(machines: &[&Machine], from: &str, to: &str) -> bool {
    from == to || machines.iter().flat_map(|m| m.edges).any(|edge| edge.from == from && edge.to == to)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// DS-30, DS-91, K-08: no sequence leads to a commit with a phase that is neither carried out nor lawfully skipped.
    #[test]
    fn only_a_step_whose_phases_are_all_over_is_ready_for_its_commit(deeds in prop::collection::vec(deed(), 1..60)) {
        let mut state = StepState::fresh("steps/01.json", "p", "01", Schema::usual());
        for deed in &deeds {
            let next = after(&state, deed);
            let told = format!("{deed:?}: {} -> {}", state.status.word(), next.status.word());
            // A retry of a failed step is two edges at once, and so is a failure that is noted while nothing runs.
            let direct = leads(&[&machine::STEP, &machine::STEP_V1, &machine::STEP_ENGINE], state.status.word(), next.status.word());
            prop_assert!(direct || matches!(deed, Deed::Change { .. } | Deed::Fail | Deed::Rework(_)), "{}", told);
            state = next;
            let before = || state.phases.iter().filter(|phase| phase.name != COMMIT);
            if machine::commit(&state, Schema::usual(), Level::Final).passed() {
                prop_assert!(before().all(is_over), "{}", told);
                prop_assert!(machine::commit_now(&state, Schema::usual()).passed() || state.status == StepStatus::Done);
            }
            if machine::is_whole(&state) && machine::commit_now(&state, Schema::usual()).passed() {
                prop_assert!(before().all(is_over), "{}", told);
            }
            if state.status == StepStatus::Done {
                prop_assert!(state.all_phases_valid(), "{}", told);
            }
            prop_assert_eq!(machine::unfinished(&state).is_empty(), before().all(PhaseRecord::is_closed));
        }
    }
}
