//! How a process run ends: completed, failed, or blocked.

use serde_json::Map;
use serde_json::Value;
use serde_json::json;
use seriatim_core::failure::Class;
use seriatim_core::finding::Severity as Weight;
use seriatim_core::process::ExecutionStatus;
use seriatim_core::process::FlowEvent;
use seriatim_core::process::ObservationType;
use seriatim_core::process::Severity;
use seriatim_core::process::StepStatus;
use seriatim_core::process::facts::Fact;
use seriatim_core::process::facts::Finished;
use seriatim_core::process::facts::FlowChange;
use seriatim_core::process::log;
use seriatim_core::process::result;
use seriatim_core::process::result::Grade;
use seriatim_core::process::rules;
use seriatim_core::process::sla;
use seriatim_core::verdict::Verdict;

use super::course::Course;
use super::matters::Weighing;
use super::people::sentence;
use super::people::trimmed;
use crate::registry::End;
use crate::registry::Ended;
use crate::registry::FileFindings;

struct Conclusion {
    status: ExecutionStatus,
    instance: &'static str,
    trigger: &'static str,
    outcome: Value,
}

impl Course<'_> {
    /// All steps are behind us.
    pub(super) async fn complete(&mut self) -> Ended {
        let exit = self.exit().await;
        if self.test() {
            return self.complete_test().await;
        }
        let mut outputs = self.outputs();
        let lacking = self.lacking(&outputs);
        for output in &lacking {
            self.error(&format!("outcome: {} - Output '{output}' was not produced", Class::Invalid));
        }
        let complete = lacking.is_empty();
        let mut weighing = self.weigh(exit);
        if !complete {
            weighing.add_lacking(&lacking);
        }
        for fact in weighing.facts() {
            self.cx.record(&fact);
        }
        let word = result::word(result::purpose(&self.definition), weighing.grade);
        let (accepted, not_run) = (self.waivers(&weighing), self.not_run());
        let summary = self.plain(&self.summary(word, &weighing, &accepted, &not_run));
        if complete {
            self.add_metrics(&mut outputs).await;
        } else if let Value::Object(kept) = self.partial_outputs(None).await {
            outputs.extend(kept);
        }
        let outcome = json!({
            "execution_success": complete,
            "process_result": word,
            "summary": summary,
            "outputs": outputs,
            "verdict": weighing.to_json(&accepted, &not_run),
        });
        let (status, instance, trigger) = match complete {
            true => (ExecutionStatus::Completed, "COMPLETED", "finish"),
            false => (ExecutionStatus::Failed, "FAILED", "fail"),
        };
        let outcome = self.conclude(Conclusion { status, instance, trigger, outcome }).await;
        let good = weighing.grade == Grade::Good;
        let again = if good { String::new() } else { self.way_on() };
        let message = self.told(&format!("{summary}{again}"));
        let status = if complete { End::Completed } else { End::Failed };
        Ended { status, good, outcome, message, findings: vec![] }
    }

    /// How to go on after a result that is not good. The file of an instance has an id for a name, which is not for
    /// people.
    fn way_on(&self) -> String {
        match self.definition_path == self.start.instance {
            true => {
                " To go on: settle what is named and start it again with seriatim run process.".to_owned()
            }
            false => format!(
                " To go on: settle what is named, then: seriatim run process {}",
                self.definition_path
            ),
        }
    }

    /// Outputs that the interface declares and nobody spoke of (PX-129, K-111). "None" with a word is spoken of.
    fn lacking(&self, outputs: &Map<String, Value>) -> Vec<String> {
        let declared = self.definition.outputs.iter().map(|o| o.kind.value.clone());
        declared.filter(|name| outputs.get(name).is_none_or(Value::is_null)).collect()
    }

    fn summary(&self, word: &str, weighing: &Weighing, accepted: &[String], not_run: &[String]) -> String {
        let on = if weighing.is_on_the_agents_word() { ", on the agent's word" } else { "" };
        let mut summary = format!("'{}' is done; the result is {word}{on}.", self.title());
        let mut tell = |lead: &str, lines: &[String]| {
            if !lines.is_empty() {
                let lines: Vec<&str> = lines.iter().map(|line| trimmed(line)).collect();
                summary.push_str(&format!(" {lead}: {}.", lines.join("; ")));
            }
        };
        tell("Not good", &weighing.reasons(true));
        tell("Not known", &weighing.reasons(false));
        if let Verdict::NotApplicable(absence) = &weighing.verdict {
            tell("Not good", std::slice::from_ref(&absence.reason));
        }
        tell("Not run", not_run);
        tell("With a person's word", accepted);
        if let Some(last) = self.steps.iter().rev().find(|s| s.status == StepStatus::Completed) {
            summary.push(' ');
            summary.push_str(&sentence(&last.outcome_summary));
        }
        summary
    }

    /// Outputs of the steps under the names that the interface declares (PX-128); without an interface, all.
    fn outputs(&self) -> Map<String, Value> {
        let mut all = Map::new();
        for (_, _, outputs) in &self.results {
            all.extend(outputs.iter().map(|(k, v)| (k.clone(), v.clone())));
        }
        let declared: Vec<&str> = self.definition.outputs.iter().map(|o| o.kind.value.as_str()).collect();
        if !declared.is_empty() {
            all.retain(|key, _| declared.contains(&key.as_str()));
        }
        all
    }

    /// How the run stood against its time (PX-47, PX-48).
    async fn add_metrics(&mut self, outputs: &mut Map<String, Value>) {
        if let Some(sla) = self.definition.quality.sla.clone() {
            let now = self.cx.now().await;
            let elapsed = self.elapsed_ms(now);
            outputs.insert("sla_metrics".into(), sla::metrics(&sla, elapsed, self.suspended_ms));
            self.note = sla::overrun(&sla, elapsed);
        }
    }

    /// A dry run is over (PX-26).
    async fn complete_test(&mut self) -> Ended {
        let steps = u32::try_from(self.steps.len()).unwrap_or(u32::MAX);
        let summary =
            format!("Test run completed. {steps} steps validated, {} escalations would trigger.", self.fired);
        let outputs = self.outputs();
        for output in self.lacking(&outputs) {
            self.test_log(format!("TEST: Output '{output}' was not produced"));
        }
        self.cx.record(&Fact::TestSummary { steps, escalations: self.fired });
        let at = self.cx.now().await;
        self.cx.record(&Fact::Finished(Finished { at, status: ExecutionStatus::Completed, note: None }));
        let outcome = json!({
            "execution_success": true,
            "process_result": "TEST",
            "summary": summary,
            "outputs": outputs,
        });
        Ended { status: End::Completed, good: true, outcome, message: summary, findings: vec![] }
    }

    /// The run cannot go on; what was done is kept and named (PX-139 to PX-145).
    pub(super) async fn fail(&mut self, index: usize, why: &str) -> Ended {
        let step = self.definition.steps[index].clone();
        let (id, name) = (step.id.value.clone(), step.name.value.clone());
        self.error(&format!("{id}: FATAL - {why}"));
        self.flow_change(Some(id.clone()), why, None).await;
        let value = json!(format!("{name}: {why}"));
        self.observe(ObservationType::Event, "Unrecoverable error", value).await;
        let progress = self.preserve(&id).await;
        let summary = format!(
            "Process failed during '{name}' step.\nError: {why}\nTotal errors: {}\nSee execution log for details.\n\
             {progress} Partial results preserved. To resume: provide corrected input and re-run.",
            self.errors
        );
        let summary = self.plain(&summary);
        let outcome = json!({
            "execution_success": false,
            "process_result": "FAILED",
            "summary": summary,
            "outputs": self.partial_outputs(Some((&id, why))).await,
        });
        let (status, instance, trigger) = (ExecutionStatus::Failed, "FAILED", "fail");
        let outcome = self.conclude(Conclusion { status, instance, trigger, outcome }).await;
        let message = format!(
            "Process failed at '{name}': {} {progress} Partial results preserved. To resume: provide corrected input \
             and run it again.",
            sentence(why)
        );
        let message = self.told(&message);
        Ended { status: End::Failed, good: false, outcome, message, findings: vec![] }
    }

    /// How far it came, and that it is kept (PX-144, PX-145).
    async fn preserve(&mut self, failed: &str) -> String {
        let mut done: Vec<(usize, &str)> = Vec::new();
        for (i, step) in self.definition.steps.iter().enumerate().filter(|(_, s)| s.id.value != failed) {
            if self.results.iter().any(|(id, _, _)| *id == step.id.value) {
                done.push((i + 1, &step.name.value));
            }
        }
        let keys = done.iter().map(|(_, name)| *name).collect::<Vec<_>>().join(", ");
        let kept = format!("Completed: {} steps, Outputs: {keys}", done.len());
        let numbers: Vec<usize> = done.into_iter().map(|(number, _)| number).collect();
        let progress = completed(&numbers, self.definition.steps.len());
        self.observe(ObservationType::State, "Partial results preserved", json!(kept)).await;
        progress
    }

    /// A rule is broken: a log with no steps, and an instance that says so (K-72).
    pub(super) async fn block_early(&mut self, findings: Vec<FileFindings>) -> Ended {
        let reasons: Vec<String> = findings
            .iter()
            .flat_map(|f| &f.findings)
            .filter(|f| f.severity == Weight::Error)
            .map(|f| f.message.clone())
            .collect();
        let told: Vec<String> =
            findings.iter().flat_map(|f| &f.findings).filter_map(rules::in_plain_words).collect();
        let told = self.plain(&told.join("; "));
        let mut ended = self.stop(None, None, &reasons.join("; "), &told).await;
        ended.findings = findings;
        ended
    }

    /// Nothing more is done, and the reason is told (PX-84 to PX-87).
    pub(super) async fn block(
        &mut self,
        at: Option<usize>,
        severity: Option<Severity>,
        reason: &str,
    ) -> Ended {
        let told = self.plain(reason);
        self.stop(at, severity, reason, &told).await
    }

    /// `reason` is for the records, `told` for people.
    async fn stop(
        &mut self,
        at: Option<usize>,
        severity: Option<Severity>,
        reason: &str,
        told: &str,
    ) -> Ended {
        self.open_log().await;
        let step = at.map(|i| self.definition.steps[i].clone());
        let from = step.as_ref().map(|s| s.id.value.clone());
        if let Some(id) = &from {
            self.error(&format!("{id}: FATAL - {reason}"));
        }
        self.flow_change(from.clone(), reason, severity).await;
        let place = step.as_ref().map_or("the beginning", |s| &s.name.value).to_owned();
        self.observe(ObservationType::Event, &format!("Process blocked at {place}"), json!(reason)).await;
        let mut summary = format!("Process blocked: {told}");
        if let Some(id) = &from {
            let progress = self.preserve(id).await;
            summary = format!(
                "{} {progress} Partial results preserved. To resume: provide corrected input and re-run.",
                sentence(&summary)
            );
        }
        let outcome = json!({
            "execution_success": false,
            "process_result": "BLOCKED",
            "summary": summary,
            "outputs": self.partial_outputs(from.as_deref().map(|id| (id, reason))).await,
        });
        let (status, instance, trigger) = (ExecutionStatus::Blocked, "FAILED", "block");
        let outcome = self.conclude(Conclusion { status, instance, trigger, outcome }).await;
        let message = format!(
            "The process could not continue because {}. Manual intervention required.",
            trimmed(told)
        );
        let message = self.told(&message);
        Ended { status: End::Blocked, good: false, outcome, message, findings: vec![] }
    }

    async fn flow_change(&mut self, from_step: Option<String>, reason: &str, severity: Option<Severity>) {
        let at = self.cx.now().await;
        let iteration = from_step.as_ref().and_then(|id| self.returns.get(id)).copied().unwrap_or(1).max(1);
        self.cx.record(&Fact::FlowChanged(FlowChange {
            at,
            kind: FlowEvent::Block,
            from_step,
            to_step: None,
            reason: reason.to_owned(),
            severity,
            iteration,
            fix_step_used: false,
        }));
    }

    /// The six keys that stand in every outcome without success (K-71).
    async fn partial_outputs(&mut self, failed: Option<(&str, &str)>) -> Value {
        let mut parts = Map::new();
        let mut completed = Vec::new();
        let at = failed.map(|(id, _)| id);
        for (id, _, output) in self.results.iter().filter(|(id, _, _)| at != Some(id.as_str())) {
            completed.push(json!(id));
            parts.insert(id.clone(), json!({"status": "COMPLETED", "output": output}));
        }
        if let Some((id, why)) = failed {
            let partial = self.partial.take().filter(|(of, _)| of == id).map(|(_, outputs)| outputs);
            let partial = partial.unwrap_or_default();
            parts.insert(id.to_owned(), json!({"status": "FAILED", "partial_output": partial, "error": why}));
        }
        let mut outputs = Map::new();
        outputs.insert("completed_steps".into(), json!(completed));
        outputs.insert("partial_outputs".into(), json!(parts));
        outputs.insert("failed_at".into(), json!(at));
        outputs.insert("partial_results".into(), json!(parts));
        outputs.insert("error_step".into(), json!(at));
        outputs.insert("error_count".into(), json!(self.errors));
        self.add_metrics(&mut outputs).await;
        Value::Object(outputs)
    }

    /// Log, audit and instance, in this order (PX-120 to PX-132).
    async fn conclude(&mut self, end: Conclusion) -> Value {
        let Conclusion { status, instance, trigger, outcome } = end;
        self.check_audit().await;
        let text = |key: &str| match outcome.get(key) {
            Some(Value::String(s)) => s.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        };
        let value = format!(
            "Status: {}, Execution: {}, Result: {}",
            status.word(),
            text("execution_success"),
            text("process_result")
        );
        self.observe(ObservationType::Event, "Process execution completed", json!(value)).await;
        if outcome.get("execution_success") == Some(&Value::Bool(false)) {
            self.observe(ObservationType::Event, "Process execution failed", json!(text("summary"))).await;
        }
        let at = self.cx.now().await;
        self.cx.record(&Fact::Finished(Finished { at, status, note: self.note.clone() }));
        let set = vec![
            ("execution_log_id", json!(self.execution)),
            ("completed", json!(at.seconds())),
            ("run_count", json!(self.instance.run_count + 1)),
            ("outcome", outcome.clone()),
        ];
        self.move_instance(instance, trigger, set).await;
        outcome
    }

    /// The audit summary checks itself (PX-124, E-25): ids that stand twice, and records that are not there.
    async fn check_audit(&mut self) {
        let mut faults = log::audit_faults(&self.steps, &self.recorded);
        let ids: Vec<String> =
            self.steps.iter().flat_map(|s| s.decisions.iter().chain(&s.observations)).cloned().collect();
        let paths: Vec<String> = ids.iter().map(|id| log::record_path(id)).collect();
        if !paths.is_empty() {
            let there = self.cx.look(paths).await;
            let gone = ids.iter().zip(there).filter(|(_, there)| !there);
            faults.extend(gone.map(|(id, _)| format!("{id} is named but its file is not there")));
        }
        for fault in faults {
            self.observe(ObservationType::Event, "Warning: audit summary", json!(fault)).await;
        }
    }

    /// A message for people, with what was remarked on the way.
    fn told(&self, message: &str) -> String {
        let all = std::iter::once(message.to_owned()).chain(self.remarks.iter().cloned());
        self.plain(&all.collect::<Vec<_>>().join(" "))
    }
}

/// How far it came, in words (PX-144).
fn completed(numbers: &[usize], total: usize) -> String {
    let straight = numbers.iter().enumerate().all(|(i, number)| i + 1 == *number);
    match numbers {
        [] => format!("None of the {total} steps was completed."),
        [number] => format!("Process completed step {number} of {total}."),
        [.., last] if straight => format!("Process completed steps 1-{last} of {total}."),
        numbers => {
            let listed = numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
            format!("Process completed steps {listed} of {total}.")
        }
    }
}
