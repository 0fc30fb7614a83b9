//! The watchdog: work that has been in progress for too long is recovered from (DS-25, DS-61).

use seriatim_core::prompt::origin::Head;
use seriatim_core::prompt::origin::Marker;
use seriatim_core::roadmap::machine;
use seriatim_core::roadmap::machine::Stale;

use super::Guard;
use super::GuardError;
use super::rules::Rules;
use super::state;
use super::step;
use super::step::OpenStep;

/// What the watchdog found and did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intervention {
    pub stale: Stale,
    pub suggestions: Vec<String>,
}

impl Guard<'_> {
    /// Before new work starts: stale work that the guard knows of. It costs nothing when nothing is that old.
    pub(super) fn watch(&mut self, rules: &Rules) -> Result<(), GuardError> {
        let minutes = rules.stale_minutes();
        let now = self.now;
        let old = |step: &OpenStep| now.since_ms(step.opened) > minutes.saturating_mul(60_000) && !step.ended;
        let steps: Vec<OpenStep> = self.book()?.steps()?.into_iter().filter(old).collect();
        for step in steps {
            self.intervene(rules, step, minutes)?;
        }
        Ok(())
    }

    /// Looks at every state file that is given, and at all open steps.
    pub fn watchdog(
        &mut self,
        files: &[String],
        minutes: Option<u64>,
    ) -> Result<Vec<Intervention>, GuardError> {
        let rules = self.rules()?;
        let minutes = minutes.unwrap_or_else(|| rules.stale_minutes());
        let mut steps = self.book()?.steps()?;
        for file in files {
            let Ok(loaded) = state::load(self.project, &rules, file, None)? else { continue };
            for state in loaded.document.states() {
                let known = |step: &OpenStep| step.step_file == *file && step.task_id == state.task_id;
                if !steps.iter().any(known) {
                    steps.push(OpenStep {
                        step_file: file.clone(),
                        task_id: state.task_id.clone(),
                        opened: self.now,
                        ..OpenStep::default()
                    });
                }
            }
        }
        let mut done = vec![];
        for step in steps {
            done.extend(self.intervene(&rules, step, minutes)?);
        }
        Ok(done)
    }

    /// The steps that prompts are about to start may have been left in progress by somebody the guard never saw.
    pub(super) fn watch_named(&mut self, rules: &Rules, prompts: &[&String]) -> Result<(), GuardError> {
        for prompt in prompts {
            let head = Head::of(prompt);
            let named = head.value(Marker::StepFile).and_then(|named| step::inside(self.project, named));
            let Some(file) = named else { continue };
            let Ok(loaded) = state::load(self.project, rules, &file, head.value(Marker::StepId))? else {
                continue;
            };
            let minutes = rules.stale_minutes();
            if machine::stale(std::slice::from_ref(&loaded.state), self.now, minutes).is_empty() {
                continue;
            }
            let step = OpenStep {
                step_file: file,
                task_id: loaded.state.task_id.clone(),
                opened: self.now,
                ..OpenStep::default()
            };
            self.intervene(rules, step, minutes)?;
        }
        Ok(())
    }

    fn intervene(
        &mut self,
        rules: &Rules,
        step: OpenStep,
        minutes: u64,
    ) -> Result<Option<Intervention>, GuardError> {
        self.transact(|desk| {
            let known = desk.step(&step.step_file, &step.task_id)?;
            let is_known = known.is_some();
            let mut step = known.unwrap_or(step);
            // Files that the guard does not follow belong to whoever edits them.
            let loaded = match is_known {
                true => desk.sync(rules, &mut step)?.map(|synced| synced.loaded),
                false => state::load(desk.project, rules, &step.step_file, Some(&step.task_id))?,
            };
            let Ok(loaded) = loaded else { return Ok(None) };
            let found = machine::stale(std::slice::from_ref(&loaded.state), desk.now, minutes);
            let Some(stale) = found.into_iter().next() else { return Ok(None) };
            let recovered = machine::intervene(&loaded.state, &stale, desk.now);
            desk.recover(&mut step, &loaded, &recovered)?;
            if is_known {
                step.ended = true;
                desk.keep(&step)?;
            }
            let suggestions = machine::FailureMode::Crash.suggestions().map(str::to_owned).into();
            Ok(Some(Intervention { stale, suggestions }))
        })
    }
}
