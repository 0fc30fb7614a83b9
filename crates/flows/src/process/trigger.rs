//! Triggers: conditions laid down beforehand, and what follows when one holds.

use serde_json::Map;
use serde_json::Value;
use serde_json::json;
use seriatim_core::process::Action;
use seriatim_core::process::Definition;
use seriatim_core::process::ExecutionStatus;
use seriatim_core::process::FlowEvent;
use seriatim_core::process::ObservationType;
use seriatim_core::process::Severity;
use seriatim_core::process::definition::Trigger;
use seriatim_core::process::facts::Escalation;
use seriatim_core::process::facts::Fact;
use seriatim_core::process::facts::FlowChange;
use seriatim_core::process::instance::Source;
use seriatim_core::question::Answer;

use super::after::stopped;
use super::course::Course;
use super::people;
use super::people::Escalated;
use super::step::Next;
use super::step::Product;
use super::step::Work;
use super::step::response;
use crate::request::Computed;

/// What the triggers of a step led to.
pub(super) enum Reaction {
    Nothing,
    /// A person knows and goes on.
    Accepted,
    Redo,
    Skip(String),
    Leave(Next),
}

impl Course<'_> {
    /// Acts on every trigger that holds: BLOCK, then DEFER, RETURN, ESCALATE, then as they stand in the document.
    pub(super) async fn react(&mut self, work: &mut Work, product: &Product) -> Reaction {
        let fired = self.fired_triggers(work, product).await;
        if let Some(why) = self.grown(product) {
            self.offer_full(&why).await;
        }
        let mut reaction = Reaction::Nothing;
        for trigger in fired {
            self.fired += 1;
            if self.test() {
                self.test_log(format!("TEST: Would escalate - {}", trigger.condition.value));
                continue;
            }
            let severity = trigger.severity.as_ref().map(|s| s.value);
            let condition = trigger.condition.value.clone();
            match trigger.action.value {
                Action::Block => {
                    work.escalation = Some(escalation(&trigger, "system", ""));
                    return Reaction::Leave(Next::Block { reason: condition, severity });
                }
                Action::Defer => {
                    work.escalation = Some(escalation(&trigger, "human", ""));
                    self.defer(work, &condition, severity, &product.outputs).await;
                    return Reaction::Leave(Next::Goto(work.index));
                }
                Action::Return => return self.give_back(work, product, &trigger).await,
                Action::Escalate => match self.escalate(work, product, &trigger).await {
                    Reaction::Accepted => reaction = Reaction::Accepted,
                    other => return other,
                },
            }
        }
        reaction
    }

    /// Triggers that were said to hold, and those that are computed to.
    async fn fired_triggers(&mut self, work: &Work, product: &Product) -> Vec<Trigger> {
        let triggers = &work.step.triggers;
        let computed: Vec<&Trigger> = triggers.iter().filter(|t| t.when.is_some()).collect();
        let mut held = vec![];
        if !computed.is_empty() {
            let conditions =
                computed.iter().filter_map(|t| t.when.as_ref().map(|w| w.value.clone())).collect();
            let mut about = self.about(Some(&product.outputs));
            about.insert("confidence".into(), json!(product.confidence));
            held = self.cx.compute(conditions, about).await;
        }
        for (trigger, outcome) in computed.iter().zip(&held) {
            if let Computed::Unknown(why) = outcome {
                let what =
                    format!("{}: ConditionError - '{}': {why}", work.step.id.value, trigger.condition.value);
                self.error(&what);
            }
        }
        let mut held = held.into_iter();
        let mut fired: Vec<(u8, Trigger)> = Vec::new();
        for trigger in triggers {
            let holds = match &trigger.when {
                Some(_) => held.next() == Some(Computed::Holds(true)),
                None => product.triggers.iter().any(|t| t.trim() == trigger.condition.value.trim()),
            };
            if holds {
                fired.push((rank(trigger.action.value), trigger.clone()));
            }
        }
        fired.sort_by_key(|(rank, _)| *rank);
        fired.into_iter().map(|(_, trigger)| trigger).collect()
    }

    /// Something was reported that makes the work larger than it seemed.
    fn grown(&self, product: &Product) -> Option<String> {
        let signs = self.upgrade_triggers();
        product.triggers.iter().find(|t| signs.iter().any(|s| s.trim() == t.trim())).cloned()
    }

    /// Puts a trigger to a person, as often as details are wanted (PX-64 to PX-69).
    async fn escalate(&mut self, work: &mut Work, product: &Product, trigger: &Trigger) -> Reaction {
        let mut details = None;
        loop {
            let question = people::escalate(self.title(), &work.step, trigger, details.clone());
            let Some((choice, answer)) = self.choose(question).await else { return Reaction::Accepted };
            if choice == Escalated::Details {
                details = Some(found(work, product));
                continue;
            }
            work.escalation = Some(escalation(trigger, "human", &response(&answer)));
            self.note(work, "Escalation in", &answer).await;
            return match choice {
                Escalated::Approve | Escalated::Details => {
                    if let Some(words) = answer.text.filter(|t| !t.trim().is_empty()) {
                        self.guidance.push(words);
                    }
                    Reaction::Accepted
                }
                Escalated::Guide => {
                    work.guidance.extend(answer.text);
                    Reaction::Redo
                }
                Escalated::Skip => {
                    Reaction::Skip(format!("Skipped by {}: {}", answer.by, trigger.condition.value))
                }
                Escalated::Defer => {
                    let reason = format!("Flagged for security team: {}", trigger.condition.value);
                    let severity = trigger.severity.as_ref().map(|s| s.value);
                    self.defer(work, &reason, severity, &product.outputs).await;
                    Reaction::Leave(Next::Goto(work.index))
                }
                Escalated::Cancel => Reaction::Leave(stopped(&answer)),
            };
        }
    }

    /// Puts the run off until somebody continues it (PX-88 to PX-92).
    pub(super) async fn defer(
        &mut self,
        work: &mut Work,
        reason: &str,
        severity: Option<Severity>,
        outputs: &Map<String, Value>,
    ) {
        let (id, name) = (work.step.id.value.clone(), work.step.name.value.clone());
        let iteration = self.returns.get(&id).copied().unwrap_or(0) + 1;
        let change = |at, kind, to_step| FlowChange {
            at,
            kind,
            from_step: Some(id.clone()),
            to_step,
            reason: reason.to_owned(),
            severity,
            iteration,
            fix_step_used: false,
        };
        let put_off = self.cx.now().await;
        self.cx.record(&Fact::FlowChanged(change(put_off, FlowEvent::Defer, None)));
        let value = json!(format!("{reason} - awaiting async review"));
        let ids = self.observe(ObservationType::Event, &format!("Process deferred at {name}"), value).await;
        work.ids.add(ids);
        self.cx.record(&Fact::Standing { status: ExecutionStatus::Suspended });
        let steps: Map<String, Value> =
            self.results.iter().map(|(id, _, map)| (id.clone(), Value::Object(map.clone()))).collect();
        let state = json!({
            "step_id": id,
            "reason": reason,
            "iterations": self.returns,
            "outputs": steps,
            "step_outputs": outputs,
            "parameters": self.instance.parameters,
            "deferred_at": put_off.seconds(),
        });
        self.move_instance("SUSPENDED", "defer", vec![("continuation", state)]).await;
        let signal = self.cx.wait("resume").await;
        let back = self.cx.now().await;
        self.suspended_ms += back.since_ms(put_off);
        self.cx.record(&Fact::FlowChanged(change(back, FlowEvent::Resume, Some(id.clone()))));
        self.cx.record(&Fact::Standing { status: ExecutionStatus::InProgress });
        self.move_instance("IN_PROGRESS", "resume", vec![("continuation", Value::Null)]).await;
        let value = json!(format!("Continued by {}", signal.by));
        let ids = self.observe(ObservationType::Event, &format!("Process resumed at {name}"), value).await;
        work.ids.add(ids);
        self.tell_changed_definition(work).await;
    }

    /// The run goes on with the definition that it began with; that the file is another by now is told (E-16).
    async fn tell_changed_definition(&mut self, work: &mut Work) {
        let Some(Source::WellKnown { path, .. }) = self.instance.source.clone() else { return };
        let digest = match self.cx.read(&path.value).await {
            Ok(text) => Definition::parse(text.text.as_bytes()).0.map(|d| d.digest()),
            Err(_) => None,
        };
        if digest != Some(self.definition.digest()) {
            let what = "The definition was changed while the work was put off; it goes on with the one it began with";
            let ids = self.observe(ObservationType::Event, "Definition changed", json!(what)).await;
            work.ids.add(ids);
            self.remarks.push(format!("{what}."));
        }
    }
}

fn rank(action: Action) -> u8 {
    match action {
        Action::Block => 0,
        Action::Defer => 1,
        Action::Return => 2,
        Action::Escalate => 3,
    }
}

/// How a trigger stands in the step's record (PX-66).
pub(super) fn escalation(trigger: &Trigger, target: &str, answer: &str) -> Escalation {
    Escalation {
        trigger: trigger.condition.value.clone(),
        action: trigger.action.value.word().to_owned(),
        severity: trigger.severity.as_ref().map(|s| s.value),
        target: target.to_owned(),
        context: trigger.context.as_ref().map(|c| c.value.clone()).unwrap_or_default(),
        human_response: answer.to_owned(),
    }
}

/// What was found, for somebody who wants the details.
fn found(work: &Work, product: &Product) -> String {
    let mut lines =
        vec![people::sentence(&product.summary), people::result(&work.step.name.value, &product.outputs)];
    if let Some(report) = &product.report {
        for o in &report.observations {
            let value = o.value.as_str().map_or_else(|| o.value.to_string(), str::to_owned);
            lines.push(format!("- {}: {value}", o.subject));
        }
        for c in report.criteria.iter().filter(|c| !c.reason.is_empty()) {
            lines.push(format!("- {}: {}", c.criterion, c.reason));
        }
    }
    lines.join("\n")
}

/// An answer's words, for those who go on with them.
pub(super) fn words(answer: &Answer) -> Option<String> {
    answer.text.clone().filter(|t| !t.trim().is_empty())
}
