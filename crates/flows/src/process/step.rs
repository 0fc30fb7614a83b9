//! One step: who does it, what came of it, and what is recorded.

use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::process::Capability;
use seriatim_core::process::Pattern;
use seriatim_core::process::StepStatus;
use seriatim_core::process::definition::Step;
use seriatim_core::process::facts::Escalation;
use seriatim_core::process::facts::Fact;
use seriatim_core::process::facts::StepError;
use seriatim_core::process::facts::StepRecord;
use seriatim_core::process::prompt;
use seriatim_core::question::Answer;
use seriatim_core::report::Brief;
use seriatim_core::report::Report;
use seriatim_core::report::Status;
use seriatim_core::time::Utc;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use super::course::Course;
use super::people;
use super::records;
use super::records::Decided;
use super::records::Observed;
use super::records::RecordIds;
use crate::attempts::Cap;
use crate::attempts::attempts;
use crate::request::Assignment;
use seriatim_core::process::ObservationType;

/// Where the run goes after a step.
pub(super) enum Next {
    Forward,
    Stop(FailedAt),
}

/// Where and why a run had to end before its time.
pub(super) struct FailedAt {
    pub(super) step: usize,
    pub(super) why: String,
}

/// How a step was left.
struct Done {
    status: StepStatus,
    summary: String,
    outputs: Map<String, Value>,
    ids: RecordIds,
    escalation: Option<Escalation>,
    error: Option<StepError>,
    iteration: u32,
}

impl Course<'_> {
    pub(super) async fn step(&mut self, index: usize) -> Next {
        let step = self.definition.steps[index].clone();
        let started = self.cx.now().await;
        let done = match step.pattern.value {
            Pattern::HumanOnly => self.by_person(&step).await,
            _ => self.by_agent(&step).await,
        };
        let completed = self.cx.now().await;
        self.close_step(&step, started, completed, &done);
        match done.status {
            StepStatus::Failed => {
                let why = done.error.map_or(done.summary, |e| e.message);
                Next::Stop(FailedAt { step: index, why })
            }
            StepStatus::Skipped => Next::Forward,
            StepStatus::Completed | StepStatus::Escalated => {
                self.results.push((step.id.value.clone(), step.name.value.clone(), done.outputs));
                Next::Forward
            }
        }
    }

    /// The step's record is in the log as soon as the step is over (PX-42).
    fn close_step(&mut self, step: &Step, started: Utc, completed: Utc, done: &Done) {
        let record = StepRecord {
            step_id: step.id.value.clone(),
            step_name: step.name.value.clone(),
            capability: step.capability.value,
            pattern: step.pattern.value,
            started,
            completed,
            status: done.status,
            outcome_summary: done.summary.clone(),
            decisions: done.ids.decisions.clone(),
            observations: done.ids.observations.clone(),
            iteration: done.iteration,
            escalation: done.escalation.clone(),
            error: done.error.clone(),
        };
        self.cx.record(&Fact::StepEnded(record.clone()));
        self.steps.push(record);
    }

    /// A person does the whole step; no agent is called (PX-54).
    async fn by_person(&mut self, step: &Step) -> Done {
        let question = people::drive(self.title(), step, &self.results);
        let answer = self.ask(question).await;
        let said = said(&answer);
        self.answers.push((step.id.value.clone(), step.name.value.clone(), said.clone()));
        let words = answer.text.clone().filter(|t| !t.trim().is_empty());
        let label = match answer.choice.as_str() {
            "approve" => "Approved",
            "changes" => "Changes asked for",
            "reject" => "Refused",
            "skip" => "Left out",
            "cancel" => "Stopped",
            _ => "Done",
        };
        let summary = match &words {
            Some(words) => format!("{label} by {}: {words}", answer.by),
            None => format!("{label} by {}.", answer.by),
        };
        let actor = format!("human:{}", answer.by);
        let ids = if step.capability.value == Capability::Decide {
            let rationale = words.unwrap_or_else(|| "No reason was given.".to_owned());
            let subject = step.name.value.clone();
            let outcome = label.to_owned();
            self.record(vec![Decided { actor, subject, outcome, rationale }], vec![]).await
        } else {
            let subject = step.name.value.clone();
            let observed =
                Observed { kind: ObservationType::Event, observer: actor, subject, value: json!(summary) };
            self.record(vec![], vec![observed]).await
        };
        let status = match answer.choice.as_str() {
            "cancel" => StepStatus::Failed,
            "skip" => StepStatus::Skipped,
            _ => StepStatus::Completed,
        };
        let stopped = format!("{} stopped the work here", answer.by);
        let error = (status == StepStatus::Failed).then_some(StepError { message: stopped, recoverable: false });
        Done { status, summary, outputs: said, ids, escalation: None, error, iteration: 1 }
    }

    /// An agent does the step, tried again as the class of its failure wants, and then a person decides.
    async fn by_agent(&mut self, step: &Step) -> Done {
        let (mut before, mut guidance, mut escalation) = (0, Vec::<String>::new(), None);
        loop {
            let course = &*self;
            let assign = |attempt: u32, feedback: &[String]| course.assignment(step, attempt, &guidance, feedback);
            let tried = attempts(self.cx, Cap::default(), before, vec![], assign).await;
            before = tried.attempt;
            for failed in &tried.failed {
                let failure = &failed.failure;
                self.error(&format!("{}: {} - {}", step.id.value, failure.class, failure.message));
            }
            let failure = match tried.result.and_then(|report| holds(report)) {
                Ok(report) => return self.done(step, report, before, escalation).await,
                Err(failure) => failure,
            };
            let answer = self.ask(people::unexpected(step, &failure, &tried.failed)).await;
            escalation = Some(Escalation {
                trigger: failure.message.clone(),
                action: "ESCALATE".into(),
                severity: None,
                target: "human".into(),
                context: failure.class.to_string(),
                human_response: response(&answer),
            });
            let ids = self.note_escalation(step, &failure, &answer).await;
            match answer.choice.as_str() {
                "retry" => guidance.extend(answer.text.filter(|t| !t.trim().is_empty())),
                "skip" => {
                    let summary = format!("Skipped by {}: {}", answer.by, failure.message);
                    let (status, outputs) = (StepStatus::Skipped, Map::new());
                    return Done { status, summary, outputs, ids, escalation, error: None, iteration: before };
                }
                _ => {
                    let message = failure.message.clone();
                    let error = Some(StepError { message: message.clone(), recoverable: false });
                    let (status, outputs) = (StepStatus::Failed, Map::new());
                    return Done { status, summary: message, outputs, ids, escalation, error, iteration: before };
                }
            }
        }
    }

    async fn done(&mut self, step: &Step, report: Report, attempt: u32, escalation: Option<Escalation>) -> Done {
        let (decided, observed) = records::of_report(step, &self.start.actor, &report);
        let ids = self.record(decided, observed).await;
        let summary = if report.summary.is_empty() { "Done.".to_owned() } else { report.summary };
        let status = StepStatus::Completed;
        Done { status, summary, outputs: report.outputs, ids, escalation, error: None, iteration: attempt }
    }

    async fn note_escalation(&mut self, step: &Step, failure: &Failure, answer: &Answer) -> RecordIds {
        let event = |subject: String, value: String| Observed {
            kind: ObservationType::Event,
            observer: self.start.actor.clone(),
            subject,
            value: json!(value),
        };
        let observed = vec![
            event(format!("Error in {}", step.name.value), failure.message.clone()),
            event(format!("Escalation in {}", step.name.value), response(answer)),
        ];
        self.record(vec![], observed).await
    }

    fn assignment(&self, step: &Step, attempt: u32, guidance: &[String], feedback: &[String]) -> Assignment {
        let role = step.ai_role.as_ref().map(|r| r.value.clone()).unwrap_or_default();
        let inputs = self.instance.inputs_json();
        let prompt = prompt::render(&prompt::Material {
            work: self.title(),
            step,
            role: &role,
            inputs: &inputs,
            parameters: &self.instance.parameters,
            results: &self.results,
            answers: &self.answers,
            guidance,
            feedback,
        });
        let by_id = |parts: &[(String, String, Map<String, Value>)]| -> Map<String, Value> {
            parts.iter().map(|(id, _, map)| (id.clone(), Value::Object(map.clone()))).collect()
        };
        let criteria = step.completion_criteria.iter().chain(&step.validation).map(|c| c.text.clone()).collect();
        Assignment {
            agents: vec![role.clone()],
            title: step.name.value.clone(),
            brief: Brief {
                step: step.id.value.clone(),
                role,
                attempt,
                prompt,
                inputs: json!({"inputs": inputs, "steps": by_id(&self.results), "answers": by_id(&self.answers)}),
                parameters: Value::Object(self.instance.parameters.clone()),
                outputs_expected: self.definition.outputs.iter().map(|o| o.kind.value.clone()).collect(),
                criteria,
                triggers: step.triggers.iter().map(|t| t.condition.value.clone()).collect(),
                feedback: feedback.to_vec(),
                ..Brief::default()
            },
            required: vec![],
            judge_all: false,
            rehearsal: false,
        }
    }
}

/// A step that its own agent calls partial, or whose criteria it says are not met, is not done (PX-62).
fn holds(report: Report) -> Result<Report, Failure> {
    if report.status == Status::Partial {
        let what = format!("The step is only partly done: {}", report.summary);
        return Err(Failure::new(Class::Contract, what));
    }
    let unmet: Vec<String> = report
        .criteria
        .iter()
        .filter(|c| !c.met)
        .map(|c| match c.reason.as_str() {
            "" => c.criterion.clone(),
            reason => format!("{} ({reason})", c.criterion),
        })
        .collect();
    if unmet.is_empty() {
        return Ok(report);
    }
    let what = format!("What had to be true at the end is not: {}", unmet.join("; "));
    Err(Failure::new(Class::Contract, what))
}

fn said(answer: &Answer) -> Map<String, Value> {
    let mut said = Map::new();
    said.insert("choice".into(), json!(answer.choice));
    said.insert("text".into(), json!(answer.text.clone().unwrap_or_default()));
    said.insert("by".into(), json!(answer.by));
    said
}

fn response(answer: &Answer) -> String {
    match answer.text.as_deref().filter(|t| !t.trim().is_empty()) {
        Some(text) => format!("{}: {text}", answer.choice),
        None => answer.choice.clone(),
    }
}
