//! The commit gate: git's own hooks ask here, so that open work is not committed and not pushed (DS-30, DS-49).

mod gates;
mod governing;

use seriatim_core::roadmap::audit::Event;
use seriatim_core::roadmap::machine;
use seriatim_core::roadmap::machine::Beside;
use seriatim_core::roadmap::machine::is_whole;
use seriatim_core::roadmap::state::StepState;
use seriatim_core::roadmap::verdict::CommitVerdict;
use seriatim_core::roadmap::verdict::Evidence;
use seriatim_core::roadmap::verdict::LastStop;
use seriatim_core::roadmap::verdict::Objection;

use self::gates::AtCommit;
use self::governing::Governing;
use super::Guard;
use super::GuardError;
use super::advice;
use super::reconcile;
use super::rules::Rules;
use super::scope;
use super::state;
use super::step::Accepted;
use super::step::OpenStep;

/// Where a gate of the project holds a commit.
const WAYS_OUT: &str = "Each commit runs the gates again that were not green: mend it and commit again. A person can accept a \
     gate of a step that is open as it is, for these files (`seriatim inbox`, then `seriatim answer`).";

/// What the gate says.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    pub passed: Vec<CommitVerdict>,
    pub failed: Vec<CommitVerdict>,
    /// What is told where it may be made all the same.
    pub notes: Vec<String>,
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
                errors.iter().map(move |error| format!("step {task_id} ({step_file}): {}", error.sentence()))
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
        if self.failed.iter().any(|verdict| !gates::holding(verdict).is_empty()) {
            told.push(WAYS_OUT.to_owned());
        }
        told
    }
}

impl Guard<'_> {
    /// Judges the commit that is about to be made.
    pub fn commit_gate(&mut self) -> Result<Gate, GuardError> {
        let rules = self.rules()?;
        let governing = self.governing_commit(&rules)?;
        let (gate, shown) = self.judge_with_gates(&rules, &governing)?;
        self.transact(|desk| {
            for verdict in gate.passed.iter().chain(&gate.failed) {
                let event: Event = verdict.event(desk.now);
                desk.happened(&shown.told_in(event))?;
            }
            for Governing { open, .. } in &governing {
                let Some(open) = open else { continue };
                let Some(mut open) = desk.step(&open.step_file, &open.task_id)? else { continue };
                shown.keep_in(&mut open);
                let verdict = gate.failed.iter().find(|verdict| is_about(verdict, &open));
                desk.ask_about_gates(&mut open, verdict.map(|verdict| (verdict, gates::holding(verdict))))?;
                desk.keep(&open)?;
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

    /// Judges the records first: gates are run where nothing else holds the commit.
    fn judge_with_gates(
        &mut self,
        rules: &Rules,
        governing: &[Governing],
    ) -> Result<(Gate, AtCommit), GuardError> {
        let before = self.judge_commit(rules, governing, &AtCommit::default())?;
        let is_gate = |objection: &Objection| matches!(objection, Objection::Gate(_));
        if before.failed.iter().any(|verdict| !verdict.errors.iter().all(is_gate)) {
            return Ok((before, AtCommit::default()));
        }
        let shown = self.run_due_gates(rules, governing)?;
        let mut gate = self.judge_commit(rules, governing, &shown)?;
        gate.notes.extend(shown.notes());
        for one in governing {
            gate.notes.extend(self.accepted(one)?.map(Accepted::in_words));
        }
        Ok((gate, shown))
    }

    /// What would keep a commit from being made now, and what to do about it, without putting it on record.
    pub(super) fn commit_faults(&mut self) -> Result<Vec<String>, GuardError> {
        let rules = self.rules()?;
        let governing = self.governing_commit(&rules)?;
        let gate = self.judge_commit(&rules, &governing, &AtCommit::default())?;
        Ok(gate.reasons().into_iter().chain(gate.advice()).collect())
    }

    /// Judges what is about to be pushed: commits that were made past the hooks are looked at here.
    pub fn push_gate(&mut self, tips: &[(String, Option<String>)]) -> Result<Gate, GuardError> {
        let rules = self.rules()?;
        let governing = self.governing_push(&rules, tips)?;
        let gate = self.judge_commit(&rules, &governing, &AtCommit::default())?;
        self.transact(|desk| {
            for verdict in &gate.failed {
                desk.happened(&verdict.event(desk.now).with("at", "push"))?;
            }
            Ok(())
        })?;
        Ok(gate)
    }

    fn judge_commit(
        &mut self,
        rules: &Rules,
        governing: &[Governing],
        shown: &AtCommit,
    ) -> Result<Gate, GuardError> {
        let mut gate = Gate::default();
        for one in governing {
            let committed = (one.committed(), rules.schema_of(one.committed()));
            let gates = match is_whole(one.committed()) {
                true => shown.for_step(self.accepted(one)?),
                false => vec![],
            };
            let verdict = match &one.open {
                None => {
                    let mut verdict = machine::commit_now(committed.0, &committed.1);
                    verdict.add(gates.iter().filter_map(Evidence::objection));
                    verdict
                }
                Some(open) => {
                    let beside = Beside {
                        refused: one.refused.clone(),
                        last_stop: open.last_stop.as_ref(),
                        unseen: reconcile::unseen_beside(self.project, open)?,
                        holds: &open.holds,
                        outside: self.outside(rules, open, &one.state)?,
                        gates: &gates,
                    };
                    // The state that is known counts beside the one that somebody put into the commit.
                    let known = rules.schema_of(&one.state);
                    machine::governed((committed.0, &committed.1), (&one.state, &known), &beside)
                }
            };
            if verdict.passed() { gate.passed.push(verdict) } else { gate.failed.push(verdict) }
        }
        Ok(gate)
    }

    /// What is not accounted for in an open step: sub-agents that no hook saw, and files outside of its patterns.
    pub fn unaccounted(&mut self, open: &OpenStep) -> Result<Vec<Objection>, GuardError> {
        let rules = self.rules()?;
        let mut found = reconcile::unseen_beside(self.project, open)?;
        if let Ok(loaded) = state::load(self.project, &rules, &open.step_file, Some(&open.task_id))? {
            found.extend(self.outside(&rules, open, &loaded.state)?);
        }
        Ok(found)
    }

    /// What lies outside of the step's patterns and counts.
    fn outside(
        &mut self,
        rules: &Rules,
        open: &OpenStep,
        state: &StepState,
    ) -> Result<Vec<Objection>, GuardError> {
        let last = open.last_stop.as_ref();
        let was_outside =
            || last.is_some_and(|last| last.objections.iter().any(|one| matches!(one, Objection::Scope(_))));
        // Looking at all files is dear, and nothing that it finds would count.
        if open.ended && !was_outside() {
            return Ok(vec![]);
        }
        let others = self.beside(open)?;
        let permitted = scope::of_others(self.project, rules, open, &others)?;
        let judged = scope::judge(self.repository(), open, state, &permitted)?;
        let found = judged.verdict.violations.into_iter().map(Objection::Scope);
        Ok(found.filter(|objection| machine::counts_outside(open.ended, last, objection)).collect())
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

fn is_about(verdict: &CommitVerdict, open: &OpenStep) -> bool {
    verdict.step_file == open.step_file && verdict.task_id == open.task_id
}
