//! Which step an agent works on, as far as calls, prompts and transcripts tell.

use seriatim_core::guard::client::Client;
use seriatim_core::guard::event::Event;
use seriatim_core::prompt::origin::Head;
use seriatim_core::prompt::origin::Marker;

use crate::guard::Guard;
use crate::guard::GuardError;
use crate::guard::Project;
use crate::guard::doors::owner;
use crate::guard::scope;
use crate::guard::state;
use crate::guard::step;
use crate::guard::step::OpenStep;
use crate::guard::transcript;

/// Which step an agent works on.
pub(super) enum Whose {
    Step(Box<OpenStep>),
    /// It is under no step.
    Nobodys,
    Unknown,
}

impl Guard<'_> {
    /// The step that the first prompt of a transcript names (DS-36, DS-68). A start that nobody saw is a warning.
    pub(super) fn by_transcript(
        &mut self,
        steps: &[OpenStep],
        event: &Event,
        path: Option<&str>,
    ) -> Result<Whose, GuardError> {
        let prompt = path.and_then(|path| transcript::first_prompt(self.project, path));
        let Some(prompt) = prompt else { return Ok(Whose::Unknown) };
        let head = Head::of(&prompt);
        let Some(file) = head.value(Marker::StepFile).and_then(|named| step::inside(self.project, named))
        else {
            // Other clients put words of their own in front of the prompt.
            let certain = event.client == Client::Claude && !head.is_tagged();
            return Ok(if certain { Whose::Nobodys } else { Whose::Unknown });
        };
        let id = head.value(Marker::StepId);
        let is_named = |step: &OpenStep| step.step_file == file && id.is_none_or(|id| id == step.task_id);
        if let Some(step) = steps.iter().find(|step| is_named(step)) {
            let agent_id = event.agent_id.clone().or_else(|| step.agent_id.clone());
            return Ok(Whose::Step(Box::new(OpenStep { agent_id, ..step.clone() })));
        }
        let mine = |step: &OpenStep| is_named(step) && step.agent_id == event.agent_id;
        if self.book()?.finished()?.iter().any(mine) {
            return Ok(Whose::Nobodys);
        }
        let rules = self.rules()?;
        let (task_id, patterns) = match state::load_planned(self.project, &rules, &file, id)? {
            Ok(loaded) => (loaded.state.task_id.clone(), loaded.planned_patterns()),
            Err(_) => (id.unwrap_or_default().to_owned(), None),
        };
        Ok(Whose::Step(Box::new(OpenStep {
            step_file: file,
            task_id,
            origin: head.metadata().origin,
            opened: self.now,
            session: event.session_id.clone(),
            agent_id: event.agent_id.clone(),
            base: scope::last_commit(self.repository())?,
            patterns,
            ..OpenStep::default()
        })))
    }
}

/// The step that a call was for.
pub(super) fn called<'s>(
    steps: &'s [OpenStep],
    call: Option<&str>,
    agent: Option<&str>,
) -> Option<&'s OpenStep> {
    let by_call = |step: &&OpenStep| call.is_some() && step.tool_use_id.as_deref() == call;
    let by_agent = |step: &&OpenStep| agent.is_some() && step.agent_id.as_deref() == agent;
    steps.iter().find(by_call).or_else(|| steps.iter().find(by_agent))
}

/// The step that the prompt of a call names, for clients whose calls have no ids.
pub(super) fn prompted<'s>(
    project: &Project,
    steps: &'s [OpenStep],
    event: &Event,
    prompt: Option<&str>,
) -> Option<&'s OpenStep> {
    let head = Head::of(prompt?);
    let file = head.value(Marker::StepFile).and_then(|named| step::inside(project, named))?;
    let id = head.value(Marker::StepId);
    let is_named = |step: &&OpenStep| step.step_file == file && id.is_none_or(|id| id == step.task_id);
    steps.iter().filter(|step| step.session == event.session_id).find(is_named)
}

/// The step of an agent that has just begun, as far as the client's own files tell.
pub(super) fn called_by(project: &Project, steps: &[OpenStep], event: &Event) -> Whose {
    if let Some(step) = owner(steps, event) {
        return Whose::Step(Box::new(step.clone()));
    }
    let Some(call) = transcript::call_of(project, event) else { return Whose::Unknown };
    match called(steps, Some(&call), None) {
        Some(step) => Whose::Step(Box::new(step.clone())),
        None => Whose::Nobodys,
    }
}
