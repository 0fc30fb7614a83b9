//! `seriatim phase`: an agent or a person records a phase, checked at the moment of writing.

use seriatim_core::roadmap::audit::Event;
use seriatim_core::roadmap::change;
use seriatim_core::roadmap::change::Change;
use seriatim_core::roadmap::machine;
use seriatim_core::roadmap::state::StepState;
use seriatim_core::roadmap::state::StepStatus;
use seriatim_core::roadmap::verdict::sentences;
use seriatim_core::time::Utc;

use super::Guard;
use super::GuardError;
use super::rules::Rules;
use super::state;
use super::state::Loaded;
use super::state::Synced;
use super::step::OpenStep;

impl Guard<'_> {
    /// Makes one change of one phase: one transaction, whatever others do at the same time.
    pub fn phase(
        &mut self,
        step_file: &str,
        step_id: Option<&str>,
        change: &Change,
    ) -> Result<StepState, GuardError> {
        let rules = self.rules()?;
        let task_id = self.task_id(&rules, step_file, step_id)?;
        self.on_step(&rules, step_file, &task_id, |loaded, now| {
            change::change(&loaded.state, &loaded.schema, change, now).map_err(|refusal| refusal.to_string())
        })
    }

    /// A step stops before its end, and says what is left (DS-65).
    pub fn partial(
        &mut self,
        step_file: &str,
        step_id: Option<&str>,
        suggestions: &[String],
    ) -> Result<StepState, GuardError> {
        let rules = self.rules()?;
        let task_id = self.task_id(&rules, step_file, step_id)?;
        self.on_step(&rules, step_file, &task_id, |loaded, now| {
            if loaded.state.status != StepStatus::InProgress {
                return Err(format!(
                    "step {} is {}, and only one that is in progress can stop in the middle",
                    loaded.state.task_id,
                    loaded.state.status.word()
                ));
            }
            let partial = machine::partial(&loaded.state, suggestions, now);
            Ok((partial.state, partial.events))
        })
    }

    fn task_id(&self, rules: &Rules, step_file: &str, id: Option<&str>) -> Result<String, GuardError> {
        match state::load(self.project, rules, step_file, id)? {
            Ok(loaded) => Ok(loaded.state.task_id),
            Err(findings) => {
                let first = findings.first().map(|f| f.message.clone()).unwrap_or_default();
                Err(GuardError::Refused(first))
            }
        }
    }

    /// Changes a step in one transaction, by what `work` makes of it.
    fn on_step(
        &mut self,
        rules: &Rules,
        step_file: &str,
        task_id: &str,
        work: impl FnOnce(&Loaded, Utc) -> Result<(StepState, Vec<Event>), String>,
    ) -> Result<StepState, GuardError> {
        self.transact(|desk| {
            let known = desk.step(step_file, task_id)?;
            let is_known = known.is_some();
            let mut step = known.unwrap_or_else(|| OpenStep {
                step_file: step_file.to_owned(),
                task_id: task_id.to_owned(),
                opened: desk.now,
                ..OpenStep::default()
            });
            let synced = match is_known {
                true => desk.sync(rules, &mut step)?,
                // Without the guard's own start there is nothing to compare with.
                false => state::load(desk.project, rules, step_file, Some(task_id))?
                    .map(|loaded| Synced { loaded, refused: vec![] }),
            };
            let Synced { loaded, refused } = synced.map_err(|findings| {
                let first = findings.first().map(|f| f.message.clone()).unwrap_or_default();
                GuardError::Refused(first)
            })?;
            if !refused.is_empty() {
                // The file is put back all the same.
                return Ok(Err(format!(
                    "the state file was edited by hand against the rules and is as it was before: {}",
                    sentences(&refused).join("; ")
                )));
            }
            let (after, events) = work(&loaded, desk.now).map_err(GuardError::Refused)?;
            desk.store(&mut step, &loaded, &after, &events)?;
            if is_known {
                step.sent_back = 0;
                desk.keep(&step)?;
            }
            Ok(Ok(after))
        })?
        .map_err(GuardError::Refused)
    }
}
