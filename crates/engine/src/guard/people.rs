//! What a person is asked when the guard cannot go on by itself, and what follows from the answer.

use seriatim_core::choices::Choices;
use seriatim_core::hash::Hash;
use seriatim_core::question::Answer;
use seriatim_core::question::Choice;
use seriatim_core::question::Question;
use seriatim_core::roadmap::machine;
use seriatim_core::roadmap::machine::Decided;
use seriatim_core::roadmap::machine::HoldChoice;
use seriatim_core::roadmap::machine::SENT_BACK_MAX;
use seriatim_core::roadmap::verdict::CommitVerdict;
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
use super::step::Accepted;
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

impl Desk<'_, '_> {
    /// Asks a person about gates that hold a commit of a step, and takes the question back where they do so no longer.
    pub(super) fn ask_about_gates(
        &mut self,
        step: &mut OpenStep,
        held: Option<(&CommitVerdict, Vec<String>)>,
    ) -> Result<(), GuardError> {
        let key = format!("{KEY}{}", step.key());
        // A step that is held is asked about already, with all that was found.
        if step.is_held() {
            return Ok(());
        }
        match held {
            Some((verdict, gates)) if !gates.is_empty() => {
                self.ask(&key, &held_at_commit(step, verdict))?;
                step.held_at_commit = gates;
            }
            Some(_) => {}
            None if step.held_at_commit.is_empty() => {}
            None => {
                let withdrawn = Answer {
                    choice: String::new(),
                    text: Some("the gates hold the commit no longer".to_owned()),
                    by: "seriatim".to_owned(),
                    digest: Hash::ZERO,
                };
                self.answered(&key, &withdrawn)?;
                step.held_at_commit.clear();
            }
        }
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
            step.accepted = match choice {
                HoldChoice::Override => Some(accepted(&step, answer)),
                HoldChoice::Retry | HoldChoice::Cancel => None,
            };
            step.held_at_commit.clear();
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

/// What an override covers: the gates that the question named, on the files on which they were run.
fn accepted(step: &OpenStep, answer: &Answer) -> Accepted {
    let mut gates = step.held_at_commit.clone();
    for objection in step.last_stop.iter().flat_map(|stop| &stop.objections) {
        if let Objection::Gate(evidence) = objection
            && !gates.contains(&evidence.gate)
        {
            gates.push(evidence.gate.clone());
        }
    }
    let tree = step.checked.as_ref().map(|checked| checked.tree.clone());
    Accepted { by: answer.by.clone(), why: answer.text.clone().unwrap_or_default(), tree, gates }
}

fn held_at_commit(step: &OpenStep, verdict: &CommitVerdict) -> Question {
    let name = step.step_file.rsplit('/').next().unwrap_or(&step.step_file);
    Question {
        header: "A commit is held".to_owned(),
        question: format!(
            "Gates of this project are not green, so that {} ({name}) cannot be committed. How should it go on?",
            step.task_id
        ),
        why: "A commit passes by itself once they are green; then this question is withdrawn.".to_owned(),
        tried: verdict.sentences(),
        details: String::new(),
        options: options("The gates that are named count no longer for these files. Say why."),
        free_text: true,
        about: vec![],
    }
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
        options: options(
            "Files outside of its patterns may be committed with it, and gates that are named count no longer. Say why.",
        ),
        free_text: true,
        about: vec![],
    }
}

fn options(accepting: &str) -> Vec<Choice> {
    vec![
        Choice::new(
            HoldChoice::Retry.id(),
            "Try it again",
            "Another agent may be called for it; what is done stays done.",
        ),
        Choice::new(HoldChoice::Override.id(), "Accept it as it is", accepting).with_text(),
        Choice::new(
            HoldChoice::Cancel.id(),
            "Leave it",
            "It is marked as not to be tried again; the files stay as they are.",
        ),
    ]
}

/// Whether an open question is one of the guard's.
pub fn is_guards(key: &str) -> bool {
    key.starts_with(KEY) && key.contains(step::PREFIX)
}
