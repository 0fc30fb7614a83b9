//! What a commit needs, at a checkpoint and at the end of a step (DS-30, K-04, K-06, K-08, K-18).

use crate::roadmap::phases::COMMIT;
use crate::roadmap::phases::Schema;
use crate::roadmap::skip;
use crate::roadmap::skip::Reason;
use crate::roadmap::state::PhaseRecord;
use crate::roadmap::state::PhaseStatus;
use crate::roadmap::state::StepState;
use crate::roadmap::state::StepStatus;
use crate::roadmap::verdict::CommitVerdict;
use crate::roadmap::verdict::Evidence;
use crate::roadmap::verdict::LastStop;
use crate::roadmap::verdict::Level;
use crate::roadmap::verdict::Objection;
use crate::roadmap::verdict::PhaseFault;
use crate::roadmap::verdict::not_passed;
use crate::roadmap::verdict::record_fault;

/// Judges the phases alone. The phase of the commit itself may be open.
pub fn commit(state: &StepState, schema: &Schema, level: Level) -> CommitVerdict {
    let before = state.phases.iter().filter(|record| record.name != COMMIT);
    let mut errors: Vec<Objection> = before
        .filter_map(|record| fault(record, schema, level).map(|fault| Objection::phase(&record.name, fault)))
        .collect();
    let own = state.phases.iter().filter(|record| record.name == COMMIT);
    errors.extend(own.filter_map(|record| {
        record_fault(record, schema).map(|(_, fault)| Objection::phase(&record.name, fault))
    }));
    for name in schema.names().filter(|name| *name != COMMIT && state.phase(name).is_none()) {
        errors.push(Objection::phase(name, PhaseFault::NotExecuted));
    }
    CommitVerdict { step_file: state.step_file.clone(), task_id: state.task_id.clone(), level, errors }
}

/// What keeps one phase from being committed.
fn fault(record: &PhaseRecord, schema: &Schema, level: Level) -> Option<PhaseFault> {
    let reason = skip::reason(record.blocked_by.as_deref());
    match &record.status {
        PhaseStatus::NotExecuted => Some(PhaseFault::NotExecuted),
        PhaseStatus::InProgress => Some(PhaseFault::LeftInProgress),
        PhaseStatus::Pending if level == Level::Final => Some(PhaseFault::StillPending),
        PhaseStatus::Pending => None,
        PhaseStatus::Failed => Some(PhaseFault::Failed),
        // A commit is refused in other words than those with which an agent is warned when it stops (DW-82, DS-43).
        PhaseStatus::Skipped if reason == Reason::Missing => Some(PhaseFault::CommittedWithoutReason),
        PhaseStatus::Skipped if reason == Reason::Deferred => Some(PhaseFault::DeferredAtCommit),
        PhaseStatus::Done | PhaseStatus::Skipped | PhaseStatus::Unknown(_) => {
            let not_passed =
                || not_passed(record).map(|word| PhaseFault::NotPassed { outcome: word.to_owned() });
            record_fault(record, schema).map(|(_, fault)| fault).or_else(not_passed)
        }
    }
}

/// Returns what kind of commit a step is at: in the middle when later phases are marked as pending and the step is not
/// said to be done.
pub fn level(state: &StepState) -> Level {
    let is_pending = |phase: &&PhaseRecord| phase.status == PhaseStatus::Pending;
    let green = state.phases.iter().rposition(|phase| is_green(&phase.name)).map_or(0, |at| at + 1);
    let (until_green, later) = state.phases.split_at(green);
    let committed = later.iter().any(|phase| phase.name == COMMIT && phase.is_closed());
    let in_the_middle =
        later.iter().any(|phase| is_pending(&phase)) && !until_green.iter().any(|p| is_pending(&p));
    if in_the_middle && !committed && state.status != StepStatus::Done {
        Level::Checkpoint
    } else {
        Level::Final
    }
}

/// Whether a phase is one that makes tests pass.
pub(in crate::roadmap) fn is_green(phase: &str) -> bool {
    phase.starts_with("GREEN")
}

/// Judges the phases at the level that the step is at. One that says DONE owes the phase of the commit, too.
pub fn commit_now(state: &StepState, schema: &Schema) -> CommitVerdict {
    let mut verdict = commit(state, schema, level(state));
    let pending = |phase: &PhaseRecord| phase.name == COMMIT && phase.status == PhaseStatus::Pending;
    if state.status == StepStatus::Done && state.phases.iter().any(pending) {
        verdict.add([Objection::phase(COMMIT, PhaseFault::StillPending)]);
    }
    verdict
}

/// What counts at a commit beside the record of a step that is open under the guard.
#[derive(Clone, Debug, Default)]
pub struct Beside<'a> {
    /// What an edit by hand broke, or why the state is not known.
    pub refused: Vec<Objection>,
    pub last_stop: Option<&'a LastStop>,
    /// Sub-agents that no hook saw.
    pub unseen: Vec<Objection>,
    pub holds: &'a [Objection],
    /// Files outside of the step's patterns, as far as they count (see [`counts_outside`]).
    pub outside: Vec<Objection>,
    /// What gates showed that were run for this commit, or before it on the same files.
    pub gates: &'a [Evidence],
}

/// Judges a step that is open under the guard: the record that is committed, the record that is known, and what stands
/// beside them (K-18).
pub fn governed(
    committed: (&StepState, &Schema),
    known: (&StepState, &Schema),
    beside: &Beside<'_>,
) -> CommitVerdict {
    let mut verdict = commit_now(committed.0, committed.1);
    verdict.add(commit_now(known.0, known.1).errors);
    verdict.add(beside.refused.iter().cloned());
    let lasting = beside.last_stop.into_iter().flat_map(LastStop::lasting);
    verdict.add(lasting.filter(|objection| !is_judged_anew(objection, beside.gates)).cloned());
    verdict.add(beside.gates.iter().filter_map(Evidence::objection));
    verdict.add(beside.unseen.iter().cloned());
    verdict.add(beside.holds.iter().cloned());
    verdict.add(beside.outside.iter().cloned());
    verdict
}

/// Returns whether an objection is about a gate that was run again for this commit.
fn is_judged_anew(objection: &Objection, gates: &[Evidence]) -> bool {
    matches!(objection, Objection::Gate(old) if gates.iter().any(|new| new.gate == old.gate))
}

/// Returns whether a file outside of the step's patterns counts at a commit. Once its agent has ended, only what was
/// its doing does: a person's own edits hold nothing.
pub fn counts_outside(ended: bool, last_stop: Option<&LastStop>, objection: &Objection) -> bool {
    !ended || last_stop.is_some_and(|last| last.objections.contains(objection))
}

/// Returns whether nothing is left to do for the step but to commit it.
pub fn is_whole(state: &StepState) -> bool {
    let mut before = state.phases.iter().filter(|phase| phase.name != COMMIT);
    before.all(PhaseRecord::is_closed) && level(state) == Level::Final
}

/// Returns whether no work was begun for a step.
pub fn is_untouched(state: &StepState) -> bool {
    let untouched = |status: &PhaseStatus| {
        matches!(status, PhaseStatus::NotExecuted | PhaseStatus::Pending | PhaseStatus::Skipped)
    };
    state.status == StepStatus::Todo && state.phases.iter().all(|phase| untouched(&phase.status))
}
