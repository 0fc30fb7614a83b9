//! A sub-agent stops that cannot be told: its client names none, or one that no hook has seen, and no transcript is
//! left to read its prompt from.

use seriatim_core::guard::event::Event;
use seriatim_core::guard::reply::Reply;

use super::Stopped;
use crate::guard::Guard;
use crate::guard::GuardError;
use crate::guard::project::Project;
use crate::guard::reconcile;
use crate::guard::sightings::Sightings;
use crate::guard::step::OpenStep;

impl Guard<'_> {
    /// Where only one step can be meant, it is judged. Where several can, or calls without a step have still to come
    /// back, nobody is guessed at: that a stop was not judged is on record.
    pub(super) fn unknown_stop(&mut self, steps: &[OpenStep], event: &Event) -> Result<Reply, GuardError> {
        let agent = event.agent_id.as_ref();
        if let Some(step) = steps.iter().find(|step| is_agent_of(step, agent)) {
            return self.judge(step.clone(), &Stopped::wants());
        }
        let at_work = |step: &&OpenStep| step.session == event.session_id && !step.ended;
        let possible: Vec<&OpenStep> = steps.iter().filter(at_work).collect();
        let seen = Sightings::read(self.project, event.session_id.as_deref())?;
        let began_unbound = possible.iter().any(|step| step.base.is_some() && step.agent_id.is_none());
        if agent.is_some_and(|agent| seen.has(agent)) && !began_unbound {
            // It was seen when it began, and was the agent of no step then.
            return Ok(Reply::Pass);
        }
        let named = match agent {
            Some(agent) => format!("a sub-agent that no hook saw begin ({agent}) stopped"),
            None => "a sub-agent stopped without a name".to_owned(),
        };
        match possible.as_slice() {
            [] => Ok(Reply::Pass),
            [only] if !seen.any_waits() => self.judge_only((*only).clone(), agent, &named),
            several => {
                let why =
                    if several.len() > 1 { "several steps are at work" } else { "other calls are open" };
                let what = format!("{named}; {why}, so that it was not judged");
                self.transact(|desk| several.iter().try_for_each(|step| desk.incident(step, &what)))?;
                Ok(Reply::Pass)
            }
        }
    }

    /// Takes an agent for that of the only step at work.
    fn judge_only(
        &mut self,
        step: OpenStep,
        agent: Option<&String>,
        named: &str,
    ) -> Result<Reply, GuardError> {
        let what = format!("{named}; it is taken for the agent of this step, the only one at work");
        let step = if step.has_begun() { step } else { self.begin_unseen(step, None)? };
        let step = self.transact(|desk| {
            let mut step = desk.step(&step.step_file, &step.task_id)?.unwrap_or(step);
            match (&step.agent_id, agent) {
                (None, Some(agent)) => step.agent_id = Some(agent.clone()),
                // The agent that is known stays so: it may be at work still.
                (Some(_), Some(agent)) => step.agents.push(agent.clone()),
                (_, None) => {}
            }
            desk.incident(&step, &what)?;
            desk.keep(&step)?;
            Ok(step)
        })?;
        self.judge(step, &Stopped::wants())
    }
}

fn is_agent_of(step: &OpenStep, agent: Option<&String>) -> bool {
    !step.ended && agent.is_some_and(|agent| step.agents.contains(agent))
}

/// Whether a call that passed the door came to nothing: it failed, or somebody else refused it.
pub(super) fn never_began(project: &Project, step: &OpenStep, event: &Event) -> bool {
    let call = step.tool_use_id.as_deref();
    step.ended || reconcile::was_refused(project, event.transcript_path.as_deref(), call)
}
