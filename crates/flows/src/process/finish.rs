//! How a process run ends: completed, failed, or blocked before it began.

use seriatim_core::finding::Severity;
use seriatim_core::process::Capability;
use seriatim_core::process::ExecutionStatus;
use seriatim_core::process::FlowEvent;
use seriatim_core::process::ObservationType;
use seriatim_core::process::StepStatus;
use seriatim_core::process::facts::Fact;
use seriatim_core::process::facts::Finished;
use seriatim_core::process::facts::FlowChange;
use seriatim_core::process::log;
use seriatim_core::process::result;
use seriatim_core::process::result::Verdict;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use super::course::Course;
use super::people::sentence;
use super::step::FailedAt;
use crate::registry::End;
use crate::registry::Ended;
use crate::registry::FileFindings;

impl Course<'_> {
    /// All steps are behind us.
    pub(super) async fn complete(&mut self) -> Ended {
        let verdict = self.verdict();
        let word = result::word(result::purpose(&self.definition), verdict);
        let skipped = self.steps.iter().filter(|s| s.status == StepStatus::Skipped).count();
        let last = self.steps.last().map(|s| s.outcome_summary.clone()).unwrap_or_default();
        let mut summary = format!("{} is done; the result is {word}.", quoted(self.title()));
        if skipped > 0 {
            summary.push_str(&format!(" {skipped} step(s) were left out."));
        }
        if !last.is_empty() {
            summary.push(' ');
            summary.push_str(&sentence(&last));
        }
        let outcome = json!({
            "execution_success": true,
            "process_result": word,
            "summary": summary,
            "outputs": self.outputs(),
        });
        let end = Conclusion { status: ExecutionStatus::Completed, instance: "COMPLETED", trigger: "finish", outcome };
        let outcome = self.conclude(end).await;
        Ended {
            status: End::Completed,
            good: verdict == Verdict::Good,
            outcome,
            message: self.plain(&summary),
            findings: vec![],
        }
    }

    /// What people decided, or what the last step says of itself, is the result of the work.
    fn verdict(&self) -> Verdict {
        let stated = self.results.last().and_then(|(_, _, outputs)| outputs.get("process_result"));
        if let Some(verdict) = stated.and_then(Value::as_str).and_then(result::verdict) {
            return verdict;
        }
        let decided = self.steps.iter().rev().find(|s| s.capability == Capability::Decide);
        let choice = decided.and_then(|step| {
            let (_, _, said) = self.answers.iter().rfind(|(id, _, _)| *id == step.step_id)?;
            said.get("choice").and_then(Value::as_str)
        });
        match choice {
            Some("reject") => Verdict::Bad,
            Some("changes") => Verdict::Mixed,
            _ => Verdict::Good,
        }
    }

    /// Outputs of the steps under the names that the interface declares (PX-128); without an interface, all.
    fn outputs(&self) -> Value {
        let mut all = Map::new();
        for (_, _, outputs) in &self.results {
            all.extend(outputs.iter().map(|(k, v)| (k.clone(), v.clone())));
        }
        let declared: Vec<&str> = self.definition.outputs.iter().map(|o| o.kind.value.as_str()).collect();
        if !declared.is_empty() {
            all.retain(|key, _| declared.contains(&key.as_str()));
        }
        Value::Object(all)
    }

    /// The run cannot go on; what was done is kept and named (PX-139 to PX-145).
    pub(super) async fn fail(&mut self, failed: FailedAt) -> Ended {
        let step = self.definition.steps[failed.step].clone();
        let (id, name) = (step.id.value.clone(), step.name.value.clone());
        self.error(&format!("{id}: FATAL - {}", failed.why));
        let at = self.cx.now().await;
        self.cx.record(&Fact::FlowChanged(FlowChange {
            at,
            kind: FlowEvent::Block,
            from_step: Some(id.clone()),
            to_step: None,
            reason: failed.why.clone(),
            severity: None,
            iteration: self.steps.last().map_or(1, |s| s.iteration),
            fix_step_used: false,
        }));
        let done = self.steps.iter().filter(|s| s.status == StepStatus::Completed).count();
        let total = self.definition.steps.len();
        let progress = match done {
            0 => format!("None of the {total} steps was completed."),
            1 => format!("Process completed step 1 of {total}."),
            n => format!("Process completed steps 1-{n} of {total}."),
        };
        let summary = format!(
            "Process failed during '{name}' step.\nError: {}\nTotal errors: {}\nSee execution log for details.\n\
             {progress} Partial results preserved. To resume: provide corrected input and re-run.",
            failed.why, self.errors
        );
        self.observe(ObservationType::Event, "Unrecoverable error", json!(format!("{name}: {}", failed.why))).await;
        let keys = self.results.iter().map(|(_, n, _)| n.as_str()).collect::<Vec<_>>().join(", ");
        let kept = format!("Completed: {done} steps, Outputs: {keys}");
        self.observe(ObservationType::State, "Partial results preserved", json!(kept)).await;
        let outcome = json!({
            "execution_success": false,
            "process_result": "FAILED",
            "summary": summary,
            "outputs": self.partial(Some((&id, &failed.why))),
        });
        let end = Conclusion { status: ExecutionStatus::Failed, instance: "FAILED", trigger: "fail", outcome };
        let outcome = self.conclude(end).await;
        let message = format!(
            "{} ended before its time, in the step '{name}': {} {progress} What was done is kept.",
            quoted(self.title()),
            sentence(&failed.why)
        );
        Ended { status: End::Failed, good: false, outcome, message: self.plain(&message), findings: vec![] }
    }

    /// A rule is broken: a log with no steps, and an instance that says so (K-72).
    pub(super) async fn block_early(&mut self, findings: Vec<FileFindings>) -> Ended {
        let reasons: Vec<String> = findings
            .iter()
            .flat_map(|f| &f.findings)
            .filter(|f| f.severity == Severity::Error)
            .map(|f| f.message.clone())
            .collect();
        let reason = reasons.join("; ");
        self.open_log().await;
        self.cx.record(&Fact::FlowChanged(FlowChange {
            at: self.began,
            kind: FlowEvent::Block,
            from_step: None,
            to_step: None,
            reason: reason.clone(),
            severity: None,
            iteration: 1,
            fix_step_used: false,
        }));
        self.observe(ObservationType::Event, "Process blocked before its first step", json!(reason)).await;
        let outcome = json!({
            "execution_success": false,
            "process_result": "BLOCKED",
            "summary": format!("Process blocked: {}", self.plain(&reason)),
            "outputs": self.partial(None),
        });
        let end = Conclusion { status: ExecutionStatus::Blocked, instance: "FAILED", trigger: "block", outcome };
        let outcome = self.conclude(end).await;
        let message = format!(
            "The process could not continue because {}. Manual intervention required.",
            self.plain(&reason).trim_end_matches('.')
        );
        Ended { status: End::Blocked, good: false, outcome, message, findings }
    }

    /// The six keys that stand in every outcome without success (K-71).
    fn partial(&self, failed: Option<(&str, &str)>) -> Value {
        let mut outputs = Map::new();
        let mut completed = Vec::new();
        for (id, _, output) in &self.results {
            completed.push(json!(id));
            outputs.insert(id.clone(), json!({"status": "COMPLETED", "output": output}));
        }
        if let Some((id, why)) = failed {
            outputs.insert(id.to_owned(), json!({"status": "FAILED", "partial_output": null, "error": why}));
        }
        let at = failed.map(|(id, _)| id);
        json!({
            "completed_steps": completed,
            "partial_outputs": outputs,
            "failed_at": at,
            "partial_results": outputs,
            "error_step": at,
            "error_count": self.errors,
        })
    }

    /// Log, audit and instance, in this order (PX-123 to PX-132).
    async fn conclude(&mut self, end: Conclusion) -> Value {
        let Conclusion { status, instance, trigger, outcome } = end;
        let word = |key: &str| outcome.get(key).map(ToString::to_string).unwrap_or_default().replace('"', "");
        for fault in log::audit_faults(&self.steps, &self.recorded) {
            self.observe(ObservationType::Event, "Audit summary", json!(fault)).await;
        }
        let value = format!(
            "Status: {}, Execution: {}, Result: {}",
            status.word(),
            word("execution_success"),
            word("process_result")
        );
        self.observe(ObservationType::Event, "Process execution completed", json!(value)).await;
        if outcome.get("execution_success") == Some(&Value::Bool(false)) {
            let why = outcome.get("summary").cloned().unwrap_or_default();
            self.observe(ObservationType::Event, "Process execution failed", why).await;
        }
        let at = self.cx.now().await;
        self.cx.record(&Fact::Finished(Finished { at, status, note: None }));
        let set = vec![
            ("execution_log_id", json!(self.execution)),
            ("completed", json!(at.seconds())),
            ("run_count", json!(self.instance.run_count + 1)),
            ("outcome", outcome.clone()),
        ];
        self.move_instance(instance, trigger, set).await;
        outcome
    }
}

struct Conclusion {
    status: ExecutionStatus,
    instance: &'static str,
    trigger: &'static str,
    outcome: Value,
}

fn quoted(title: &str) -> String {
    format!("'{title}'")
}
