//! The commit gate: git's own hooks ask here, so that open work is not committed and not pushed (DS-30, DS-49).

mod governing;

use seriatim_core::roadmap::audit::Event;
use seriatim_core::roadmap::phases::COMMIT;
use seriatim_core::roadmap::skip::CHECKPOINT_PENDING;
use seriatim_core::roadmap::state::PhaseRecord;
use seriatim_core::roadmap::state::PhaseStatus;
use seriatim_core::roadmap::state::StepState;
use seriatim_core::roadmap::state::StepStatus;
use seriatim_core::roadmap::verdict;
use seriatim_core::roadmap::verdict::CommitVerdict;
use seriatim_core::roadmap::verdict::Evidence;
use seriatim_core::roadmap::verdict::Level;

use self::governing::Governing;
use super::Guard;
use super::GuardError;
use super::advice;
use super::reconcile;
use super::rules::Rules;
use super::scope;
use super::state;
use super::step::LastStop;
use super::step::OpenStep;

/// What the gate says.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    pub passed: Vec<CommitVerdict>,
    pub failed: Vec<CommitVerdict>,
}

impl Gate {
    pub fn lets_pass(&self) -> bool {
        self.failed.is_empty()
    }

    /// One line for each reason.
    pub fn reasons(&self) -> Vec<String> {
        self.failed
            .iter()
            .flat_map(|verdict| {
                let CommitVerdict { task_id, step_file, errors, .. } = verdict;
                errors.iter().map(move |error| format!("step {task_id} ({step_file}): {error}"))
            })
            .collect()
    }

    /// What to do about them, each once.
    pub fn advice(&self) -> Vec<String> {
        let mut told = vec![];
        for verdict in &self.failed {
            for advice in advice::on(&verdict.task_id, &verdict.errors) {
                if !told.contains(&advice) {
                    told.push(advice);
                }
            }
        }
        told
    }
}

impl Guard<'_> {
    /// Judges the commit that is about to be made.
    pub fn commit_gate(&mut self) -> Result<Gate, GuardError> {
        let rules = self.rules()?;
        let governing = self.governing_commit(&rules)?;
        let gate = self.judge_commit(&rules, &governing)?;
        self.transact(|desk| {
            for verdict in gate.passed.iter().chain(&gate.failed) {
                let event: Event = verdict.event(desk.now);
                desk.happened(&event)?;
            }
            if !gate.lets_pass() {
                return Ok(());
            }
            let whole = governing.iter().filter(|one| is_whole(one.committed()));
            for Governing { open, .. } in whole {
                let Some(open) = open else { continue };
                let Some(mut open) = desk.step(&open.step_file, &open.task_id)? else { continue };
                if open.ended {
                    desk.close(&open)?;
                } else {
                    // Its agent has still to stop, and is judged then.
                    open.gated = true;
                    desk.keep(&open)?;
                }
            }
            Ok(())
        })?;
        Ok(gate)
    }

    /// What would keep a commit from being made now, and what to do about it, without putting it on record.
    pub(super) fn commit_faults(&mut self) -> Result<Vec<String>, GuardError> {
        let rules = self.rules()?;
        let governing = self.governing_commit(&rules)?;
        let gate = self.judge_commit(&rules, &governing)?;
        Ok(gate.reasons().into_iter().chain(gate.advice()).collect())
    }

    /// Judges what is about to be pushed: commits that were made past the hooks are looked at here.
    pub fn push_gate(&mut self, tips: &[(String, Option<String>)]) -> Result<Gate, GuardError> {
        let rules = self.rules()?;
        let governing = self.governing_push(&rules, tips)?;
        let gate = self.judge_commit(&rules, &governing)?;
        self.transact(|desk| {
            for verdict in &gate.failed {
                desk.happened(&verdict.event(desk.now).with("at", "push"))?;
            }
            Ok(())
        })?;
        Ok(gate)
    }

    fn judge_commit(&mut self, rules: &Rules, governing: &[Governing]) -> Result<Gate, GuardError> {
        let mut gate = Gate::default();
        for one in governing {
            let mut verdict = judged(rules, one.committed());
            if let Some(open) = &one.open {
                // The state that is known counts beside the one that somebody put into the commit.
                add(&mut verdict, judged(rules, &one.state).errors);
                add(&mut verdict, one.refused.clone());
                add(&mut verdict, stop_errors(open));
                add(&mut verdict, reconcile::sentences(self.project, open)?);
                add(&mut verdict, open.holds.clone());
                add(&mut verdict, self.scope_errors(rules, open, &one.state)?);
            }
            if verdict.passed() { gate.passed.push(verdict) } else { gate.failed.push(verdict) }
        }
        Ok(gate)
    }

    /// What is not accounted for in an open step: sub-agents that no hook saw, and files outside of its patterns.
    pub fn unaccounted(&mut self, open: &OpenStep) -> Result<Vec<String>, GuardError> {
        let rules = self.rules()?;
        let mut found = reconcile::sentences(self.project, open)?;
        if let Ok(loaded) = state::load(self.project, &rules, &open.step_file, Some(&open.task_id))? {
            found.extend(self.scope_errors(&rules, open, &loaded.state)?);
        }
        Ok(found)
    }

    /// What lies outside of the step's patterns. Once its agent has ended, only what was its doing counts: a person's
    /// own edits hold nothing.
    fn scope_errors(
        &mut self,
        rules: &Rules,
        open: &OpenStep,
        state: &StepState,
    ) -> Result<Vec<String>, GuardError> {
        let before = open.last_stop.as_ref().map(|stop| stop.errors.as_slice()).unwrap_or_default();
        if open.ended && !before.iter().any(|error| is_scope(error)) {
            return Ok(vec![]);
        }
        let others = self.beside(open)?;
        let permitted = scope::of_others(self.project, rules, open, &others)?;
        let judged = scope::judge(self.repository(), open, state, &permitted)?;
        let errors = judged.verdict.violations.iter().map(ToString::to_string);
        Ok(errors.filter(|error| !open.ended || before.contains(error)).collect())
    }

    /// The steps that were at work while this one was.
    pub(super) fn beside(&mut self, step: &OpenStep) -> Result<Vec<OpenStep>, GuardError> {
        let mut found = self.book()?.steps()?;
        let later = |stop: &LastStop| stop.at >= step.opened;
        found.extend(
            self.book()?.finished()?.into_iter().filter(|one| one.last_stop.as_ref().is_some_and(later)),
        );
        Ok(found)
    }
}

fn judged(rules: &Rules, state: &StepState) -> CommitVerdict {
    let mut verdict = verdict::commit(state, &rules.schema_of(state), level(state));
    let pending = |phase: &PhaseRecord| phase.name == COMMIT && phase.status == PhaseStatus::Pending;
    if state.status == StepStatus::Done && state.phases.iter().any(pending) {
        verdict.errors.push(format!("Phase {COMMIT} still {CHECKPOINT_PENDING}"));
    }
    verdict
}

fn add(verdict: &mut CommitVerdict, errors: Vec<String>) {
    for error in errors {
        if !verdict.errors.contains(&error) {
            verdict.errors.push(error);
        }
    }
}

/// What the last stop found and the state of the step cannot tell: phases and files are judged anew, and an edit that
/// was refused was undone (K-18).
fn stop_errors(open: &OpenStep) -> Vec<String> {
    let last = open.last_stop.as_ref().filter(|last| last.status == "error");
    let lasting = |error: &&String| reconcile::is_sentence(error) || Evidence::held_by(error).is_some();
    last.map(|last| last.errors.iter().filter(lasting).cloned().collect()).unwrap_or_default()
}

pub(super) fn is_scope(error: &str) -> bool {
    error.starts_with("Unexpected modification:")
}

/// In the middle of a step, when later phases are marked as pending and the step is not said to be done.
fn level(state: &StepState) -> Level {
    let is_pending = |phase: &&PhaseRecord| phase.status == PhaseStatus::Pending;
    let green = state.phases.iter().rposition(|phase| phase.name.starts_with("GREEN")).map_or(0, |at| at + 1);
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

/// Nothing is left to do for the step but to commit it.
fn is_whole(state: &StepState) -> bool {
    let mut before = state.phases.iter().filter(|phase| phase.name != COMMIT);
    before.all(|phase| phase.is_closed()) && level(state) == Level::Final
}
