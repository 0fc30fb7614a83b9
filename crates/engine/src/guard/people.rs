//! What a person is asked when the guard cannot go on by itself, and what follows from the answer.

use seriatim_core::choices::Choices;
use seriatim_core::question::Answer;
use seriatim_core::question::Choice;
use seriatim_core::question::Question;
use seriatim_core::roadmap::machine;
use seriatim_core::roadmap::machine::Decided;
use seriatim_core::roadmap::machine::HoldChoice;
use seriatim_core::roadmap::machine::SENT_BACK_MAX;
use seriatim_core::roadmap::verdict::Objection;
use seriatim_core::roadmap::verdict::StopVerdict;
use seriatim_core::roadmap::verdict::sentences;

use super::Guard;
use super::GuardError;
use super::book::Desk;
use super::project::Project;
use super::reconcile;
use super::sightings;
use super::state::Synced;
use super::step;
use super::step::OpenStep;

const KEY: &str = "hold:";

impl Desk<'_, '_> {
    /// Holds a step until a person has looked at it.
    pub(super) fn hold(&mut self, step: &mut OpenStep, verdict: &StopVerdict) -> Result<(), GuardError> {
        step.holds = vec![Objection::Held { step: step.in_words(), errors: verdict.errors.clone() }];
        let question = held(step, verdict);
        self.ask(&format!("{KEY}{}", step.key()), &question)?;
        Ok(())
    }
}

impl Guard<'_> {
    /// What keeps an open step from being closed: a question that is open about it, and sub-agents in its session that
    /// nobody accounts for.
    pub fn held_by(&self, step: &OpenStep) -> Result<Vec<Objection>, GuardError> {
        let mut held = step.holds.clone();
        for unseen in reconcile::unseen_beside(self.project, step)? {
            if !held.iter().any(|hold| hold.includes(&unseen)) {
                held.push(unseen);
            }
        }
        Ok(held)
    }

    /// A person has answered about a step that is held.
    pub fn decide(&mut self, key: &str, answer: &Answer) -> Result<(), GuardError> {
        let rules = self.rules()?;
        let choice = HoldChoice::of(&answer.choice).ok_or_else(|| {
            GuardError::Refused(format!("`{}` is not an option of this question", answer.choice))
        })?;
        let wanted = key.strip_prefix(KEY).unwrap_or_default().to_owned();
        self.transact(|desk| {
            desk.answered(key, answer)?;
            let Some(mut step) = desk.steps()?.into_iter().find(|step| step.key() == wanted) else {
                return Ok(());
            };
            step.holds.clear();
            step.sent_back = 0;
            accept(desk.project, &step);
            let Decided { last_stop, closes } = machine::decided(choice, step.last_stop.take());
            step.last_stop = last_stop;
            if !closes {
                return desk.keep(&step);
            }
            if let Ok(Synced { loaded, .. }) = desk.sync(&rules, &mut step)? {
                let mut after = loaded.state.clone();
                after.can_retry = Some(false);
                desk.store(&mut step, &loaded, &after, &[])?;
            }
            // What is left alone holds nobody up.
            desk.close(&step)
        })
    }
}

/// Sub-agents that no hook saw are accounted for by whoever looked at them.
fn accept(project: &Project, step: &OpenStep) {
    let mut ids: Vec<&str> = vec![];
    for objection in step.last_stop.iter().flat_map(|stop| &stop.objections) {
        if let Objection::Unseen { agent } = objection {
            ids.push(agent);
        }
    }
    sightings::note(project, step.session.as_deref(), &ids);
}

fn held(step: &OpenStep, verdict: &StopVerdict) -> Question {
    let name = step.step_file.rsplit('/').next().unwrap_or(&step.step_file);
    Question {
        header: "A step is held".to_owned(),
        question: format!(
            "The agent of {} ({name}) was sent back {SENT_BACK_MAX} times, and what was found is still wrong. How should it go on?",
            step.task_id
        ),
        why: "Nothing of this work can be committed before somebody has looked at it.".to_owned(),
        tried: sentences(&verdict.errors),
        details: String::new(),
        options: vec![
            Choice::new(
                HoldChoice::Retry.id(),
                "Try it again",
                "Another agent may be called for it; what is done stays done.",
            ),
            Choice::new(
                HoldChoice::Override.id(),
                "Accept it as it is",
                "Files outside of its patterns may be committed with it. Say why.",
            )
            .with_text(),
            Choice::new(
                HoldChoice::Cancel.id(),
                "Leave it",
                "It is marked as not to be tried again; the files stay as they are.",
            ),
        ],
        free_text: true,
        about: vec![],
    }
}

/// Whether an open question is one of the guard's.
pub fn is_guards(key: &str) -> bool {
    key.starts_with(KEY) && key.contains(step::PREFIX)
}
