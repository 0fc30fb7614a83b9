//! What people are asked around a step: before it, after it, between steps, and when time is short.

use serde_json::json;
use seriatim_core::process::Capability;
use seriatim_core::process::ObservationType;
use seriatim_core::process::Pattern;
use seriatim_core::process::engagement::Level;
use seriatim_core::process::sla;
use seriatim_core::process::sla::Pace;
use seriatim_core::question::Answer;
use seriatim_core::report::Report;
use seriatim_core::verdict::PersonWord;
use seriatim_core::verdict::Verdict;

use super::course::Course;
use super::people;
use super::people::AfterStep;
use super::people::Before;
use super::people::BeforeStep;
use super::people::Direction;
use super::people::GoOn;
use super::step::Next;
use super::step::Product;
use super::step::Work;
use super::step::response;

/// What a question around a step led to.
pub(super) enum Settled {
    Pass,
    /// The step is done again, with what was said.
    Redo,
    Skip(String),
    Leave(Next),
}

impl Course<'_> {
    /// What is asked before a step: at most one thing (PX-35, PX-37, PX-52, PX-57, K-78).
    fn asked_before(&self, work: &Work) -> Option<Before> {
        let weighty = matches!(work.step.capability.value, Capability::Decide | Capability::Synthesise);
        match (work.pattern, self.level) {
            (Pattern::HumanOnly | Pattern::HumanLed, _) => None,
            (Pattern::Partnership, _) => Some(Before::Plan),
            (_, Level::High) => Some(Before::Intent),
            (_, Level::Medium) if weighty => Some(Before::Weighty),
            (_, Level::Medium | Level::Low) => None,
        }
    }

    pub(super) async fn before(&mut self, work: &mut Work) -> Settled {
        let Some(kind) = self.asked_before(work) else { return Settled::Pass };
        let question = people::before(&kind, self.title(), &work.step);
        let Some((choice, answer)) = self.choose(question).await else { return Settled::Pass };
        self.note(work, "Confirmation before", &answer).await;
        match choice {
            BeforeStep::Skip => Settled::Skip(format!("Left out by {}.", answer.by)),
            BeforeStep::Cancel => Settled::Leave(stopped(&answer)),
            BeforeStep::Approve | BeforeStep::Guide => {
                work.guidance.extend(answer.text.filter(|t| !t.trim().is_empty()));
                Settled::Pass
            }
        }
    }

    /// What is asked after a step: at most one thing, low confidence included (PX-36, PX-56, PX-58, PX-60).
    pub(super) async fn confirm(&mut self, work: &mut Work, product: &Product) -> Settled {
        let unsure = self.level.uncertain(product.confidence);
        let question = match self.level {
            Level::High => {
                let doubt = unsure.then(|| people::doubt(&work.step, product.confidence));
                people::after(&work.step, &product.summary, &product.outputs, doubt)
            }
            Level::Medium if unsure => {
                people::uncertain(&work.step, &product.summary, &product.outputs, product.confidence)
            }
            Level::Medium | Level::Low => return Settled::Pass,
        };
        let Some((choice, answer)) = self.choose(question).await else { return Settled::Pass };
        let subject = if unsure { "Uncertainty in" } else { "Confirmation after" };
        self.note(work, subject, &answer).await;
        match choice {
            AfterStep::Guide => {
                work.guidance.extend(answer.text);
                Settled::Redo
            }
            AfterStep::Cancel => Settled::Leave(stopped(&answer)),
            AfterStep::Approve => {
                let name = &work.step.name.value;
                work.word = Some(match unsure {
                    true => {
                        let sure =
                            product.confidence.map_or_else(|| "none".to_owned(), |c| format!("{c} of 100"));
                        let words = format!("'{name}', of which the agent was not sure (confidence: {sure})");
                        Verdict::decided(&answer.by, PersonWord::AcceptedUnchecked, words)
                    }
                    false => {
                        let words = format!("'{name}' looks right");
                        Verdict::decided(&answer.by, PersonWord::Confirmed, words)
                    }
                });
                Settled::Pass
            }
        }
    }

    /// Questions that the agent would like to see answered. Where the pattern wants no contact they are only noted.
    pub(super) async fn ask_for_agent(&mut self, work: &mut Work, report: &Report) -> bool {
        let mut answered = false;
        for proposed in report.questions.iter().filter(|q| !q.question.trim().is_empty()) {
            if work.pattern == Pattern::AiOnly {
                let value = json!(proposed.question);
                let ids = self.observe(ObservationType::Event, "Question left open", value).await;
                work.ids.add(ids);
                continue;
            }
            let question = people::of_agent(self.title(), &work.step, proposed);
            let labels: Vec<(String, String)> =
                question.options.iter().map(|o| (o.id.clone(), o.label.clone())).collect();
            let Some(answer) = self.ask(question).await else { continue };
            self.note(work, "Escalation in", &answer).await;
            let label = labels.into_iter().find(|(id, _)| *id == answer.choice).map(|(_, label)| label);
            let words = answer.text.filter(|t| !t.trim().is_empty()).or(label).unwrap_or_default();
            work.guidance.push(format!("Asked \"{}\", a person said: {words}", proposed.question.trim()));
            answered = true;
        }
        answered
    }

    /// Every confirmation is on record.
    pub(super) async fn note(&mut self, work: &mut Work, subject: &str, answer: &Answer) {
        let subject = format!("{subject} {}", work.step.name.value);
        let ids = self.observe(ObservationType::Event, &subject, json!(response(answer))).await;
        work.ids.add(ids);
    }

    /// Before each step: is there time left (PX-44 to PX-46)?
    pub(super) async fn check_time(&mut self, index: usize) -> Option<String> {
        let sla = self.definition.quality.sla.clone()?;
        let now = self.cx.now().await;
        let elapsed = self.elapsed_ms(now);
        let step = self.definition.steps[index].clone();
        match sla::pace(&sla, elapsed) {
            Pace::Fine => None,
            Pace::Over => {
                let timeout = sla.timeout_minutes.as_ref().map(|t| t.value.to_string()).unwrap_or_default();
                let reason = format!("Process exceeded timeout ({timeout} minutes)");
                self.observe(ObservationType::Measurement, "Time of the process", json!(reason)).await;
                if self.test() {
                    self.test_log(format!("TEST: {reason}"));
                    return None;
                }
                Some(reason)
            }
            Pace::Warning { percent } => {
                if std::mem::replace(&mut self.warned, true) {
                    return None;
                }
                let words = format!("Process at {percent}% of timeout");
                self.observe(ObservationType::Measurement, "Time of the process", json!(words)).await;
                let contact =
                    matches!(step.pattern.value, Pattern::AiLed | Pattern::Partnership | Pattern::HumanLed);
                if !contact {
                    return None;
                }
                match self.choose(people::slow(&step, percent)).await? {
                    (GoOn::Approve, _) => None,
                    (GoOn::Cancel, answer) => Some(format!("{} stopped the work: {words}", answer.by)),
                }
            }
        }
    }

    /// After every few steps: is the direction still right (PX-38)?
    pub(super) async fn check_progress(&mut self, next: usize) -> Result<(), String> {
        let total = self.definition.steps.len();
        let due = self.level == Level::Medium && self.since_progress >= self.start.progress_every.max(1);
        if !due || next >= total {
            return Ok(());
        }
        self.since_progress = 0;
        let lines: Vec<String> =
            self.steps.iter().map(|s| format!("{}: {}", s.step_name, s.outcome_summary)).collect();
        let asked = people::progress(self.title(), next, total, &lines);
        let Some((choice, answer)) = self.choose(asked).await else {
            return Ok(());
        };
        self.observe(ObservationType::Event, "Progress confirmed", json!(response(&answer))).await;
        match choice {
            Direction::Cancel => Err(format!("{} stopped the work here", answer.by)),
            Direction::Approve | Direction::Guide => {
                self.guidance.extend(answer.text.filter(|t| !t.trim().is_empty()));
                Ok(())
            }
        }
    }
}

/// Somebody wants no more of it.
pub(super) fn stopped(answer: &Answer) -> Next {
    let words = answer.text.as_deref().filter(|t| !t.trim().is_empty());
    let reason = match words {
        Some(words) => format!("{} stopped the work here: {words}", answer.by),
        None => format!("{} stopped the work here", answer.by),
    };
    Next::Block { reason, severity: None }
}
