//! One step: who does it, what came of it, and what is recorded.

use serde_json::Map;
use serde_json::Value;
use serde_json::json;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::process::ObservationType;
use seriatim_core::process::Pattern;
use seriatim_core::process::Severity;
use seriatim_core::process::StepStatus;
use seriatim_core::process::definition::Step;
use seriatim_core::process::facts::Escalation;
use seriatim_core::process::facts::Fact;
use seriatim_core::process::facts::StepError;
use seriatim_core::process::facts::StepRecord;
use seriatim_core::process::log::DECISIONS;
use seriatim_core::process::log::EXECUTIONS;
use seriatim_core::process::log::OBSERVATIONS;
use seriatim_core::question::Answer;
use seriatim_core::report::Report;
use seriatim_core::time::Utc;
use seriatim_core::verdict::Verdict;
use seriatim_core::world::ViewFile;

use super::after::Settled;
use super::completion::unmet;
use super::course::Course;
use super::course::Part;
use super::people;
use super::people::AfterFailure;
use super::records;
use super::records::RecordIds;
use super::trigger::Reaction;
use crate::attempts::Cap;
use crate::attempts::FailedAttempt;
use crate::attempts::attempts;
use crate::request::Computed;
use crate::views;
use crate::views::Rules;

/// Where the run goes after a step.
#[derive(Clone, Debug)]
pub(super) enum Next {
    Forward,
    Goto(usize),
    /// Back to an earlier step, with a correction on the way.
    Return {
        target: usize,
        fix: Box<Step>,
    },
    Block {
        reason: String,
        severity: Option<Severity>,
    },
    Fail {
        why: String,
    },
}

/// A step under way.
pub(super) struct Work {
    pub(super) step: Step,
    /// Its place in the definition; a fix step has that of its origin.
    pub(super) index: usize,
    /// By which it is really carried out.
    pub(super) pattern: Pattern,
    started: Utc,
    pass: u32,
    attempts: u32,
    pub(super) guidance: Vec<String>,
    pub(super) ids: RecordIds,
    pub(super) escalation: Option<Escalation>,
    /// What a person who was asked about the result made of it.
    pub(super) word: Option<Verdict>,
}

/// What came of carrying it out once.
pub(super) struct Product {
    pub(super) summary: String,
    pub(super) outputs: Map<String, Value>,
    pub(super) confidence: Option<f64>,
    /// Conditions that were said to hold.
    pub(super) triggers: Vec<String>,
    pub(super) report: Option<Report>,
    pub(super) failed: Vec<FailedAttempt>,
    /// Why it does not count as done, if it does not.
    pub(super) fault: Option<Failure>,
    /// The person who did it has spoken the last word on it.
    pub(super) by_person: Option<Said>,
    /// What that person's choice says of the step.
    pub(super) word: Option<Verdict>,
    /// That person asks for changes.
    pub(super) changes: bool,
    /// What the criteria that are computed say.
    pub(super) computed: Vec<Verdict>,
}

/// What a person who does a step decided about the step itself.
pub(super) enum Said {
    Done,
    Skip(String),
    Stop(String),
}

impl Course<'_> {
    pub(super) async fn step(&mut self, index: usize) -> Next {
        self.adopt();
        let step = self.definition.steps[index].clone();
        if self.left_out_by_mode(&step.id.value) {
            self.left_out.insert(index);
            let reason = format!("'{}' is not part of the quick mode", step.name.value);
            self.settle_left_out(&step, Verdict::absent(reason, "the mode"));
            self.skip(&step, "Left out in the quick mode.").await;
            return Next::Forward;
        }
        if let Some(when) = &step.when {
            let held = self.cx.compute(vec![when.value.clone()], self.about(None)).await;
            match held.first() {
                Some(Computed::Holds(true)) => {}
                Some(Computed::Holds(false)) => {
                    let reason = format!("the condition for '{}' does not hold", step.name.value);
                    self.settle_left_out(&step, Verdict::absent(reason, "the definition"));
                    self.skip(&step, "Left out: the condition for it does not hold.").await;
                    return Next::Forward;
                }
                computed => {
                    let why = match computed {
                        Some(Computed::Unknown(why)) => why.as_str(),
                        Some(Computed::Holds(_)) | None => "it gave no answer",
                    };
                    self.error(&format!("{}: ConditionError - {why}", step.id.value));
                    let reason =
                        format!("the condition for '{}' could not be computed: {why}", step.name.value);
                    self.settle_left_out(&step, Verdict::unknown(reason));
                    self.skip(&step, "Left out: the condition for it could not be computed.").await;
                    return Next::Forward;
                }
            }
        }
        self.left_out.remove(&index);
        let next = self.carry_out(step, index).await;
        if !matches!(next, Next::Forward) {
            return next;
        }
        self.since_progress += 1;
        self.make_up(index).await
    }

    /// Steps that the quick mode left out, once the work is done in full.
    async fn make_up(&mut self, before: usize) -> Next {
        while self.full {
            let Some(index) = self.left_out.iter().copied().find(|i| *i < before) else { break };
            self.left_out.remove(&index);
            let step = self.definition.steps[index].clone();
            let next = self.carry_out(step, index).await;
            if !matches!(next, Next::Forward) {
                return next;
            }
        }
        Next::Forward
    }

    /// Carries a step out, as often as people and triggers want it done again.
    pub(super) async fn carry_out(&mut self, step: Step, index: usize) -> Next {
        let pass = self.passes.entry(step.id.value.clone()).or_insert(0);
        *pass += 1;
        let mut work = Work {
            pattern: self.level.elevate(step.pattern.value),
            pass: *pass,
            step,
            index,
            started: self.cx.now().await,
            attempts: 0,
            guidance: self.guidance.clone(),
            ids: RecordIds::default(),
            escalation: None,
            word: None,
        };
        match self.before(&mut work).await {
            // Before it began there is nothing to do again.
            Settled::Pass | Settled::Redo => {}
            Settled::Skip(words) => return self.close_skipped(work, &words).await,
            Settled::Leave(next) => return self.close_left(work, None, next).await,
        }
        loop {
            let product = self.produce(&mut work).await;
            match self.settle_product(&mut work, &product).await {
                Settled::Pass => return self.close_done(work, product).await,
                Settled::Redo => {}
                Settled::Skip(words) => return self.close_skipped(work, &words).await,
                Settled::Leave(next) => return self.close_left(work, Some(product), next).await,
            }
        }
    }

    /// What a product leads to: a person's own word, the triggers, the criteria, and confidence, in this order.
    async fn settle_product(&mut self, work: &mut Work, product: &Product) -> Settled {
        match &product.by_person {
            Some(Said::Skip(by)) => return Settled::Skip(format!("Left out by {by}.")),
            Some(Said::Stop(by)) => {
                return Settled::Leave(Next::Fail { why: format!("{by} stopped the work here") });
            }
            Some(Said::Done) | None => {}
        }
        match self.react(work, product).await {
            Reaction::Nothing => {}
            // What the trigger was about is settled; what the criteria say is a matter of its own.
            Reaction::Accepted if product.fault.is_none() => return Settled::Pass,
            Reaction::Accepted => {}
            Reaction::Redo => return Settled::Redo,
            Reaction::Skip(words) => return Settled::Skip(words),
            Reaction::Leave(next) => return Settled::Leave(next),
        }
        if let Some(fault) = &product.fault {
            return self.on_fault(work, product, fault).await;
        }
        if let Some(settled) = self.on_failed_validation(work, product).await {
            return settled;
        }
        if product.by_person.is_some() {
            return Settled::Pass;
        }
        if let Some(report) = &product.report
            && self.ask_for_agent(work, report).await
        {
            return Settled::Redo;
        }
        self.confirm(work, product).await
    }

    /// An error that nothing in the definition deals with is put to a person (PX-134, PX-135).
    async fn on_fault(&mut self, work: &mut Work, product: &Product, fault: &Failure) -> Settled {
        if let Some(next) = self.return_by_policy(work, product, fault).await {
            return next;
        }
        if self.test() {
            self.test_log(format!("TEST: Would escalate - {}", fault.message));
            return Settled::Pass;
        }
        let question = people::unexpected(&work.step, fault, &product.failed);
        let Some((choice, answer)) = self.choose(question).await else { return Settled::Pass };
        let name = work.step.name.value.clone();
        work.escalation = Some(Escalation {
            trigger: fault.message.clone(),
            action: "ESCALATE".into(),
            severity: None,
            target: "human".into(),
            context: fault.class.to_string(),
            human_response: response(&answer),
        });
        let recovery = match choice {
            AfterFailure::Retry => "Recovery attempt in",
            AfterFailure::Skip | AfterFailure::Cancel => "Escalation in",
        };
        let subject = format!("{recovery} {name}");
        let ids = self.observe(ObservationType::Event, &subject, json!(response(&answer))).await;
        work.ids.add(ids);
        match choice {
            AfterFailure::Retry => {
                work.guidance.extend(answer.text.filter(|t| !t.trim().is_empty()));
                Settled::Redo
            }
            AfterFailure::Skip => Settled::Skip(format!("Skipped by {}: {}", answer.by, fault.message)),
            AfterFailure::Cancel => Settled::Leave(Next::Fail { why: fault.message.clone() }),
        }
    }

    /// An error of a step: in the list of errors, and on record as an event (PX-133).
    pub(super) async fn step_error(&mut self, work: &mut Work, class: Class, what: &str) {
        self.error(&format!("{}: {class} - {what}", work.step.id.value));
        let subject = format!("Error in {}", work.step.name.value);
        let ids = self.observe(ObservationType::Event, &subject, json!(what)).await;
        work.ids.add(ids);
    }

    async fn produce(&mut self, work: &mut Work) -> Product {
        match work.pattern {
            Pattern::HumanOnly | Pattern::HumanLed => self.by_person(work).await,
            Pattern::AiOnly | Pattern::AiLed | Pattern::Partnership => self.by_agent(work).await,
        }
    }

    /// An agent does the step, tried again as the class of its failure wants.
    async fn by_agent(&mut self, work: &mut Work) -> Product {
        let course = &*self;
        let under_way = &*work;
        let assign = |attempt: u32, feedback: &[String]| course.assignment(under_way, attempt, feedback);
        let tried = attempts(self.cx, Cap::default(), work.attempts, vec![], assign).await;
        work.attempts = tried.attempt;
        for failed in &tried.failed {
            self.step_error(work, failed.failure.class, &failed.failure.message).await;
        }
        let mut computed = vec![];
        let (report, fault) = match tried.result {
            Ok(report) => {
                let report = self.with_fields(report);
                computed = self.compute_criteria(&work.step, &report).await;
                let strict = self.strict() && report.person.is_none();
                let fault = unmet(&report, strict.then_some(&work.step), &computed);
                (Some(report), fault)
            }
            Err(failure) => (None, Some(failure)),
        };
        if let Some(fault) = fault.as_ref().filter(|_| report.is_some()) {
            self.step_error(work, fault.class, &fault.message).await;
        }
        let summary = report.as_ref().map(|r| r.summary.clone()).filter(|s| !s.is_empty());
        if self.test() {
            self.tell_writes(report.as_ref());
        }
        Product {
            summary: summary.unwrap_or_else(|| "Done.".to_owned()),
            outputs: report.as_ref().map(|r| r.outputs.clone()).unwrap_or_default(),
            confidence: report.as_ref().and_then(|r| r.confidence),
            triggers: report.as_ref().map(|r| r.triggers.clone()).unwrap_or_default(),
            report,
            failed: tried.failed,
            fault,
            by_person: None,
            word: None,
            changes: false,
            computed,
        }
    }

    async fn close_done(&mut self, mut work: Work, product: Product) -> Next {
        if let Some(report) = product.report.as_ref().filter(|_| !self.test())
            && let Err(failure) = self.merge_work(&work.step, &report.artifacts).await
        {
            let why = format!("its files could not be merged: {}", failure.message);
            self.step_error(&mut work, failure.class, &why).await;
            return self.close_left(work, Some(product), Next::Fail { why }).await;
        }
        self.record_report(&mut work, &product).await;
        self.settle_matter(&work, &product);
        let (id, name) = (work.step.id.value.clone(), work.step.name.value.clone());
        self.close(work, StepStatus::Completed, &product.summary, None).await;
        put(&mut self.results, (id, name, product.outputs));
        Next::Forward
    }

    /// Merges what the agent of a step changed, now that the step counts as done. The files of the run itself are the
    /// engine's.
    async fn merge_work(&self, step: &Step, named: &[String]) -> Result<(), Failure> {
        let takes = |file: &ViewFile| {
            let is_record =
                [EXECUTIONS, DECISIONS, OBSERVATIONS].iter().any(|folder| file.path.starts_with(folder));
            let is_own = file.path == self.start.instance || file.path == self.definition_path;
            !is_record && !is_own
        };
        let rules = Rules { takes: &takes, names: &|path| step.names(path) };
        let id = &step.id.value;
        views::merge_named(self.cx, id, id, "", named, &rules).await.map(|_| ())
    }

    /// At least one record of what the agent did (PX-95).
    async fn record_report(&mut self, work: &mut Work, product: &Product) {
        if let Some(report) = &product.report {
            let (decided, observed) = records::of_report(&work.step, &self.start.actor, report);
            let ids = self.record(decided, observed).await;
            work.ids.add(ids);
        }
    }

    async fn close_skipped(&mut self, work: Work, words: &str) -> Next {
        self.settle_skipped(&work.step, words, "a person");
        self.close(work, StepStatus::Skipped, words, None).await;
        Next::Forward
    }

    /// The step leaves the straight line; what it had so far is kept.
    async fn close_left(&mut self, mut work: Work, product: Option<Product>, next: Next) -> Next {
        if let Some(product) = &product {
            self.record_report(&mut work, product).await;
        }
        let (status, words, error) = match &next {
            Next::Fail { why } => {
                let error = StepError { message: why.clone(), recoverable: false };
                (StepStatus::Failed, why.clone(), Some(error))
            }
            Next::Block { reason, .. } => (StepStatus::Escalated, reason.clone(), None),
            Next::Forward | Next::Goto(_) | Next::Return { .. } => {
                let words = work.escalation.as_ref().map(|e| e.trigger.clone()).unwrap_or_default();
                (StepStatus::Escalated, words, None)
            }
        };
        let index = work.index;
        let outputs = product.map(|p| p.outputs).unwrap_or_default();
        self.partial = Some((work.step.id.value.clone(), outputs));
        self.close(work, status, &words, error).await;
        match next {
            Next::Return { target, fix } => self.correct(*fix, index, target).await,
            next => next,
        }
    }

    /// The correction on the way back. Boxed: a correction is a step, and may have triggers of its own.
    async fn correct(&mut self, fix: Step, index: usize, target: usize) -> Next {
        match Box::pin(self.carry_out(fix, index)).await {
            stopped @ (Next::Block { .. } | Next::Fail { .. }) => stopped,
            Next::Forward | Next::Goto(_) | Next::Return { .. } => Next::Goto(target),
        }
    }

    async fn skip(&mut self, step: &Step, words: &str) {
        let started = self.cx.now().await;
        let pass = self.passes.entry(step.id.value.clone()).or_insert(0);
        *pass += 1;
        let work = Work {
            pattern: step.pattern.value,
            step: step.clone(),
            index: 0,
            started,
            pass: *pass,
            attempts: 0,
            guidance: vec![],
            ids: RecordIds::default(),
            escalation: None,
            word: None,
        };
        self.close(work, StepStatus::Skipped, words, None).await;
    }

    /// The step's record is in the log as soon as the step is over (PX-42).
    async fn close(&mut self, work: Work, status: StepStatus, summary: &str, error: Option<StepError>) {
        let record = StepRecord {
            step_id: work.step.id.value.clone(),
            step_name: work.step.name.value.clone(),
            capability: work.step.capability.value,
            pattern: work.step.pattern.value,
            started: work.started,
            completed: self.cx.now().await,
            status,
            outcome_summary: summary.to_owned(),
            decisions: work.ids.decisions,
            observations: work.ids.observations,
            iteration: work.pass,
            escalation: work.escalation,
            error,
        };
        self.cx.record(&Fact::StepEnded(record.clone()));
        self.steps.push(record);
    }
}

impl Product {
    pub(super) fn of(summary: String, outputs: Map<String, Value>, said: Said) -> Product {
        Product {
            summary,
            outputs,
            confidence: None,
            triggers: vec![],
            report: None,
            failed: vec![],
            fault: None,
            by_person: Some(said),
            word: None,
            changes: false,
            computed: vec![],
        }
    }
}

/// Puts a part in, in place of an earlier one of the same step (E-15).
pub(super) fn put(parts: &mut Vec<Part>, part: Part) {
    match parts.iter_mut().find(|(id, _, _)| *id == part.0) {
        Some(old) => *old = part,
        None => parts.push(part),
    }
}

/// An answer as records carry it.
pub(super) fn response(answer: &Answer) -> String {
    match answer.text.as_deref().filter(|t| !t.trim().is_empty()) {
        Some(text) => format!("{}: {text}", answer.choice),
        None => answer.choice.clone(),
    }
}
