//! `seriatim phase`: an agent or a person records a phase, checked at the moment of writing.

use seriatim_core::roadmap::change;
use seriatim_core::roadmap::change::Change;
use seriatim_core::roadmap::state::StepState;

use super::Guard;
use super::GuardError;
use super::rules::Rules;
use super::state;
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
        let rules = Rules::read(self.project)?;
        let task_id = match state::load(self.project, &rules, step_file, step_id)? {
            Ok(loaded) => loaded.state.task_id,
            Err(findings) => {
                let first = findings.first().map(|f| f.message.clone()).unwrap_or_default();
                return Err(GuardError::Refused(first));
            }
        };
        self.transact(|desk| {
            let known = desk.step(step_file, &task_id)?;
            let is_known = known.is_some();
            let mut step = known.unwrap_or_else(|| OpenStep {
                step_file: step_file.to_owned(),
                task_id: task_id.clone(),
                opened: desk.now,
                ..OpenStep::default()
            });
            let synced = match is_known {
                true => desk.sync(&rules, &mut step)?,
                // Without the guard's own start there is nothing to compare with.
                false => state::load(desk.project, &rules, step_file, Some(&task_id))?
                    .map(|loaded| Synced { loaded, refused: vec![] }),
            };
            let Synced { loaded, refused } = synced.map_err(|findings| {
                let first = findings.first().map(|f| f.message.clone()).unwrap_or_default();
                GuardError::Refused(first)
            })?;
            let (after, events) = change::change(&loaded.state, &loaded.schema, change, desk.now)
                .map_err(|refusal| GuardError::Refused(refusal.to_string()))?;
            if !refused.is_empty() {
                return Err(GuardError::Refused(format!(
                    "the state file was edited by hand against the rules: {}",
                    refused.join("; ")
                )));
            }
            desk.store(&mut step, &loaded, &after, &events)?;
            if is_known {
                step.sent_back = 0;
                desk.keep(&step)?;
            }
            Ok(after)
        })
    }
}
