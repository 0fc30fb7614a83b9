//! RETURN: back to an earlier step, with a fix on the way where the definition has one (PX-70 to PX-83, K-65 to K-69).

use serde_json::Value;
use serde_json::json;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::hash::Hash;
use seriatim_core::process::Action;
use seriatim_core::process::Capability;
use seriatim_core::process::FlowEvent;
use seriatim_core::process::Invocation;
use seriatim_core::process::ObservationType;
use seriatim_core::process::Severity;
use seriatim_core::process::definition::FixStep;
use seriatim_core::process::definition::Step;
use seriatim_core::process::definition::Trigger;
use seriatim_core::process::facts::Escalation;
use seriatim_core::process::facts::Fact;
use seriatim_core::process::facts::FlowChange;

use super::after::Settled;
use super::after::stopped;
use super::course::Course;
use super::people;
use super::people::AfterFailure;
use super::people::Correction;
use super::people::Persistent;
use super::step::Next;
use super::step::Product;
use super::step::Work;
use super::step::response;
use super::trigger::Reaction;
use super::trigger::words;

/// A run that goes back this often in all is going round in circles (E-13).
const RETURNS_MAX: u32 = 50;

/// One failure that sends the run back.
struct Return {
    condition: String,
    severity: Severity,
    target: Option<String>,
    iteration: u32,
    max: u32,
}

/// What is to be done about the fix step.
enum Fix {
    None,
    Run(Box<Step>),
    Stop(Next),
}

impl Course<'_> {
    /// A trigger of action RETURN holds.
    pub(super) async fn give_back(
        &mut self,
        work: &mut Work,
        product: &Product,
        trigger: &Trigger,
    ) -> Reaction {
        let back = Return {
            condition: trigger.condition.value.clone(),
            severity: trigger.severity.as_ref().map_or(Severity::Medium, |s| s.value),
            target: self.definition.return_target(trigger).map(|t| t.value.clone()),
            iteration: 0,
            max: self.definition.max_iterations(trigger),
        };
        work.escalation = Some(super::trigger::escalation(trigger, back.target.as_deref().unwrap_or(""), ""));
        self.step_error(work, Class::Invalid, &back.condition).await;
        self.go_back(work, product, back).await
    }

    /// The definition's own policy for a validation that fails without a trigger.
    pub(super) async fn return_by_policy(
        &mut self,
        work: &mut Work,
        product: &Product,
        fault: &Failure,
    ) -> Option<Settled> {
        let retry = &self.definition.control_flow.retry;
        let target = retry.return_to.as_ref()?.value.clone();
        let spoke = product.report.is_some() || product.word.is_some();
        let validates = work.step.capability.value == Capability::Validate && spoke;
        let place = self.definition.steps.iter().position(|s| s.id.value == target);
        // A target that comes later does not apply to this step (K-109).
        if !validates || self.test() || place.is_some_and(|place| place > work.index) {
            return None;
        }
        let max = retry.max_iterations.as_ref().map_or(3, |m| m.value);
        work.escalation = Some(Escalation {
            trigger: fault.message.clone(),
            action: Action::Return.word().to_owned(),
            severity: Some(Severity::Medium),
            target: target.clone(),
            context: String::new(),
            human_response: String::new(),
        });
        let (condition, severity) = (fault.message.clone(), Severity::Medium);
        let back = Return { condition, severity, target: Some(target), iteration: 0, max };
        Some(match self.go_back(work, product, back).await {
            Reaction::Redo => Settled::Redo,
            Reaction::Skip(words) => Settled::Skip(words),
            Reaction::Leave(next) => Settled::Leave(next),
            Reaction::Nothing | Reaction::Accepted => Settled::Pass,
        })
    }

    async fn go_back(&mut self, work: &mut Work, product: &Product, mut back: Return) -> Reaction {
        let id = work.step.id.value.clone();
        let count = self.returns.entry(id.clone()).or_insert(0);
        *count += 1;
        back.iteration = *count;
        let at = self.cx.now().await;
        self.cx.record(&Fact::FlowChanged(FlowChange {
            at,
            kind: FlowEvent::Return,
            from_step: Some(id.clone()),
            to_step: back.target.clone(),
            reason: back.condition.clone(),
            severity: Some(back.severity),
            iteration: back.iteration,
            fix_step_used: false,
        }));
        if self.is_persistent(work, product, &back) {
            return self.ask_persistent(work, &back).await;
        }
        let Some(target) = self.target_index(&back) else {
            return self.hand_over(work, product, &back).await;
        };
        let total: u32 = self.returns.values().sum();
        if back.iteration > back.max || total > RETURNS_MAX {
            return Reaction::Leave(block(&back));
        }
        let fix = self.definition.fix_step(&id).cloned();
        match self.decide_fix(work, &back, fix.as_ref()).await {
            Fix::Stop(next) => Reaction::Leave(next),
            Fix::None => Reaction::Leave(Next::Goto(target)),
            Fix::Run(fix) => {
                self.cx.record(&Fact::FixStepUsed);
                Reaction::Leave(Next::Return { target, fix })
            }
        }
    }

    fn target_index(&self, back: &Return) -> Option<usize> {
        let target = back.target.as_deref()?;
        self.definition.steps.iter().position(|s| s.id.value == target)
    }

    /// The same input, the same trigger and the same outputs as the last time: trying again cannot help (PX-71).
    fn is_persistent(&mut self, work: &Work, product: &Product, back: &Return) -> bool {
        if work.step.capability.value != Capability::Validate {
            return false;
        }
        let outputs = Value::Object(product.outputs.clone()).to_string();
        let parts =
            [self.brief_inputs().to_string(), work.guidance.join("\n"), back.condition.clone(), outputs];
        let now = Hash::of(parts.join("\u{0}").as_bytes());
        self.failures.insert(work.step.id.value.clone(), now) == Some(now)
    }

    async fn ask_persistent(&mut self, work: &mut Work, back: &Return) -> Reaction {
        let question = people::persistent(&work.step, &back.condition);
        let Some((choice, answer)) = self.choose(question).await else { return Reaction::Accepted };
        self.respond(work, &response(&answer));
        self.note(work, "Escalation in", &answer).await;
        match choice {
            Persistent::Provide => {
                self.returns.insert(work.step.id.value.clone(), 0);
                self.failures.remove(&work.step.id.value);
                self.provided.extend(words(&answer));
                match self.target_index(back) {
                    Some(target) => Reaction::Leave(Next::Goto(target)),
                    None => Reaction::Leave(Next::Goto(work.index)),
                }
            }
            Persistent::Skip => Reaction::Skip(format!("Skipped by {}: {}", answer.by, back.condition)),
            Persistent::Cancel => Reaction::Leave(stopped(&answer)),
        }
    }

    /// Severity decides whether a person is asked, the mode whether the fix runs; one question at most.
    async fn decide_fix(&mut self, work: &mut Work, back: &Return, fix: Option<&FixStep>) -> Fix {
        let (k, serious) = (back.iteration, back.severity == Severity::High);
        let stated = self.definition.control_flow.retry.high_max_iterations.as_ref().map(|m| m.value);
        if serious && k > stated.unwrap_or(1) {
            let value = json!(format!("A serious issue occurred again: {}", back.condition));
            let ids = self
                .observe(ObservationType::Event, &format!("Told about {}", work.step.name.value), value)
                .await;
            work.ids.add(ids);
            return Fix::Stop(block(back));
        }
        let (mode, raised) = (fix.map(|f| f.invocation), stated.is_some_and(|most| most > 1));
        let question = match (mode, fix) {
            (Some(Invocation::Ask), Some(fix)) => {
                people::choose_fix(&work.step, &back.condition, &fix.step, serious, raised)
            }
            (_, fix) if serious => people::serious(&work.step, &back.condition, raised, fix.map(|f| &f.step)),
            (Some(Invocation::Always | Invocation::OnRetry), Some(fix))
                if back.severity == Severity::Medium && k > 1 =>
            {
                people::confirm_fix(&work.step, &back.condition, &fix.step)
            }
            (Some(Invocation::Always), Some(fix)) => return Fix::Run(Box::new(fix.step.clone())),
            (Some(Invocation::OnRetry), Some(fix)) if k > 1 => return Fix::Run(Box::new(fix.step.clone())),
            _ => return Fix::None,
        };
        let Some((choice, answer)) = self.choose(question).await else { return Fix::None };
        self.respond(work, &response(&answer));
        self.note(work, "Escalation in", &answer).await;
        self.guidance.extend(words(&answer));
        match (choice, fix) {
            (Correction::Cancel, _) => Fix::Stop(stopped(&answer)),
            (Correction::Retry, _) | (Correction::Approve | Correction::Fix, None) => Fix::None,
            (Correction::Approve | Correction::Fix, Some(fix)) => Fix::Run(Box::new(fix.step.clone())),
        }
    }

    /// The work belongs to another process: known ones are named and waited for, unknown ones are asked about.
    async fn hand_over(&mut self, work: &mut Work, product: &Product, back: &Return) -> Reaction {
        if back.iteration > back.max {
            return Reaction::Leave(block(back));
        }
        let target = back.target.clone().unwrap_or_default();
        let known = self.start.known_processes.iter().find(|(id, _)| *id == target).cloned();
        if let Some((_, name)) = known {
            let reason =
                format!("{} - first '{name}' has to be done again", people::trimmed(&back.condition));
            self.remarks.push(format!("It was put off until '{name}' had been done again."));
            self.defer(work, &reason, Some(back.severity), &product.outputs).await;
            return Reaction::Leave(Next::Goto(work.index));
        }
        let asked = people::hand_over(&work.step, &back.condition);
        let Some((choice, answer)) = self.choose(asked).await else {
            return Reaction::Accepted;
        };
        self.respond(work, &response(&answer));
        self.note(work, "Escalation in", &answer).await;
        match choice {
            AfterFailure::Retry => Reaction::Leave(Next::Goto(work.index)),
            AfterFailure::Skip => Reaction::Skip(format!("Skipped by {}: {}", answer.by, back.condition)),
            AfterFailure::Cancel => Reaction::Leave(stopped(&answer)),
        }
    }

    fn respond(&self, work: &mut Work, words: &str) {
        if let Some(escalation) = &mut work.escalation {
            escalation.human_response = words.to_owned();
        }
    }
}

fn block(back: &Return) -> Next {
    Next::Block { reason: back.condition.clone(), severity: Some(back.severity) }
}
