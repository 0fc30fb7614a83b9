//! The commit gate: git's own hooks ask here, so that open work is not committed and not pushed (DS-30, DS-49).

use std::collections::BTreeSet;

use seriatim_core::roadmap::audit::Event;
use seriatim_core::roadmap::document::Document;
use seriatim_core::roadmap::state::PhaseStatus;
use seriatim_core::roadmap::state::StepState;
use seriatim_core::roadmap::state::StepStatus;
use seriatim_core::roadmap::verdict;
use seriatim_core::roadmap::verdict::CommitVerdict;
use seriatim_core::roadmap::verdict::Level;

use super::Guard;
use super::GuardError;
use super::rules::Rules;
use super::scope;
use super::state;
use super::step::OpenStep;

/// A step that a commit is about.
struct Governing {
    state: StepState,
    open: Option<OpenStep>,
}

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
                verdict.errors.iter().map(|error| format!("step {} ({}): {error}", verdict.task_id, verdict.step_file))
            })
            .collect()
    }
}

impl Guard<'_> {
    /// Judges the commit that is about to be made.
    pub fn commit_gate(&mut self) -> Result<Gate, GuardError> {
        let rules = Rules::read(self.project)?;
        let staged = scope::with_git(self.project, |git| git.staged())?;
        let governing = self.governing(&rules, &staged)?;
        let gate = self.judge_commit(&rules, &governing)?;
        self.transact(|desk| {
            for verdict in gate.passed.iter().chain(&gate.failed) {
                let event: Event = verdict.event(desk.now);
                desk.happened(&event)?;
            }
            if gate.lets_pass() {
                for step in governing.iter().filter(|step| is_whole(&step.state)) {
                    if let Some(open) = &step.open {
                        desk.close(open)?;
                    }
                }
            }
            Ok(())
        })?;
        Ok(gate)
    }

    /// What would keep a commit from being made now, without putting it on record.
    pub(super) fn commit_faults(&mut self) -> Result<Vec<String>, GuardError> {
        let rules = Rules::read(self.project)?;
        let staged = scope::with_git(self.project, |git| git.staged()).unwrap_or_default();
        let governing = self.governing(&rules, &staged)?;
        Ok(self.judge_commit(&rules, &governing)?.reasons())
    }

    /// Judges what is about to be pushed: commits that were made past the hooks are looked at here.
    pub fn push_gate(&mut self, tips: &[(String, Option<String>)]) -> Result<Gate, GuardError> {
        let rules = Rules::read(self.project)?;
        let mut governing = vec![];
        let open = self.book()?.steps()?;
        for (tip, known) in tips {
            let changed = scope::with_git(self.project, |git| git.changed_files(known.as_deref(), tip))?;
            for (file, text) in changed {
                governing.extend(states_in(&file, &text).into_iter().map(|state| {
                    let open = open.iter().find(|open| open.step_file == file && open.task_id == state.task_id);
                    Governing { open: open.cloned(), state }
                }));
            }
        }
        // Work that is open holds everything that was committed since it began.
        if !tips.is_empty() {
            for open in &open {
                let known = |step: &Governing| {
                    step.state.step_file == open.step_file && step.state.task_id == open.task_id
                };
                if !governing.iter().any(known)
                    && let Ok(loaded) = state::load(self.project, &rules, &open.step_file, Some(&open.task_id))?
                {
                    governing.push(Governing { state: loaded.state, open: Some(open.clone()) });
                }
            }
        }
        let gate = self.judge_commit(&rules, &governing)?;
        self.transact(|desk| {
            for verdict in &gate.failed {
                desk.happened(&verdict.event(desk.now).with("at", "push"))?;
            }
            Ok(())
        })?;
        Ok(gate)
    }

    /// A step governs a commit when its state file is staged, or when the guard started it and no passed gate has
    /// closed it yet. Finished steps from before the guard block nothing.
    fn governing(&mut self, rules: &Rules, staged: &[(String, String)]) -> Result<Vec<Governing>, GuardError> {
        let open = self.book()?.steps()?;
        let mut found = vec![];
        let mut seen = BTreeSet::new();
        for (file, text) in staged {
            for state in states_in(file, text) {
                let mine = open.iter().find(|open| open.step_file == *file && open.task_id == state.task_id);
                // A file for many steps is also staged for those that are not concerned.
                let untouched = state.status == StepStatus::Todo && mine.is_none() && Document::read(file, text).is_ok_and(|d| d.steps().len() > 1);
                if !untouched {
                    seen.insert((file.clone(), state.task_id.clone()));
                    found.push(Governing { open: mine.cloned(), state });
                }
            }
        }
        for open in open {
            if seen.contains(&(open.step_file.clone(), open.task_id.clone())) {
                continue;
            }
            if let Ok(loaded) = state::load(self.project, rules, &open.step_file, Some(&open.task_id))? {
                found.push(Governing { state: loaded.state, open: Some(open) });
            }
        }
        Ok(found)
    }

    fn judge_commit(&mut self, rules: &Rules, governing: &[Governing]) -> Result<Gate, GuardError> {
        let mut gate = Gate::default();
        for Governing { state, open } in governing {
            let schema = rules.schema_of(state);
            let mut verdict = verdict::commit(state, &schema, level(state));
            if let Some(open) = open {
                add_stop_errors(&mut verdict, open, state);
                verdict.errors.extend(open.holds.iter().cloned());
                let scope = scope::judge(self.project, open, state, &[])?;
                for violation in scope.violations {
                    let error = violation.to_string();
                    if !verdict.errors.contains(&error) {
                        verdict.errors.push(error);
                    }
                }
            }
            if verdict.passed() { gate.passed.push(verdict) } else { gate.failed.push(verdict) }
        }
        Ok(gate)
    }
}

/// What the last stop found and is still so: what is about phases is judged anew (K-18).
fn add_stop_errors(verdict: &mut CommitVerdict, open: &OpenStep, state: &StepState) {
    let Some(last) = open.last_stop.as_ref().filter(|last| last.status == "error") else { return };
    for error in &last.errors {
        let about_phase = error.starts_with("Phase ") || error.starts_with("Task ");
        let about_scope = error.starts_with("Unexpected modification:");
        let settled = about_phase || about_scope || is_whole(state) && error.starts_with("batching");
        if !settled && !verdict.errors.contains(error) {
            verdict.errors.push(error.clone());
        }
    }
}

/// In the middle of a step, when later phases are marked as pending and the step is not said to be done.
fn level(state: &StepState) -> Level {
    let pending = state.phases.iter().any(|phase| phase.status == PhaseStatus::Pending);
    if pending && state.status != StepStatus::Done { Level::Checkpoint } else { Level::Final }
}

/// Nothing is left to do for the step.
fn is_whole(state: &StepState) -> bool {
    state.phases.iter().filter(|phase| phase.name != "COMMIT").all(|phase| phase.is_closed())
        && level(state) == Level::Final
}

/// The steps of a file, if it is a state file.
fn states_in(file: &str, text: &str) -> Vec<StepState> {
    let name = file.rsplit('/').next().unwrap_or(file);
    let may_be = name.ends_with(".json") && text.contains("tdd_cycle") || name.starts_with("execution-status.");
    if !may_be {
        return vec![];
    }
    Document::read(file, text).map(|document| document.states()).unwrap_or_default()
}
