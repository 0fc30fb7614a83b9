//! The end of a step: what it came to, as its record and its outcome say it.

use serde_json::Value;
use serde_json::json;
use seriatim_core::roadmap::change;
use seriatim_core::roadmap::checklist::AgentFacts;
use seriatim_core::roadmap::checklist::Checklist;
use seriatim_core::roadmap::checklist::CoordinatorFacts;
use seriatim_core::roadmap::command::log_path;
use seriatim_core::roadmap::facts::ErrorArea;
use seriatim_core::roadmap::facts::RoadmapFact;
use seriatim_core::roadmap::facts::StepResult;
use seriatim_core::roadmap::result::Ending;
use seriatim_core::roadmap::result::FilesModified;
use seriatim_core::roadmap::result::Metrics;
use seriatim_core::roadmap::result::judged;
use seriatim_core::time::Utc;

use super::people::sentence;
use super::unchecked::Unchecked;
use super::work::StepEnd;
use super::work::Stop;
use super::work::Told;
use super::work::Work;
use crate::Cx;
use crate::request::Expect;
use crate::request::WriteFile;

impl Work<'_> {
    pub(super) fn put_on_record(&mut self, ending: &Ending, now: Utc) {
        let record = ending.record(&self.agent, self.began, now);
        if let Value::Object(fields) = record {
            self.record.extend(fields);
        }
    }

    fn metrics(&self) -> Metrics {
        Metrics::of_step(&self.state).with_usage(&self.usage)
    }

    /// DW-84, DW-90.
    pub(super) fn put_success_on_record(&mut self, now: Utc) {
        let metrics = self.metrics();
        if let Value::Object(fields) = metrics.to_json() {
            self.record.extend(fields);
        }
        let ending = Ending::Success {
            outputs: self.step.allowed_files().unwrap_or_default(),
            criteria: judged(&self.step.criteria, &self.judged),
            metrics,
            notes: self.notes.clone(),
        };
        self.put_on_record(&ending, now);
        if !self.findings.is_empty() {
            self.record.insert("review_findings".to_owned(), json!(self.findings));
        }
        if !self.on_claim.is_empty() {
            self.record.insert("closed_on_claim".to_owned(), json!(self.on_claim));
        }
    }

    /// The log of this execution, beside the state file (DW-94).
    pub(super) async fn write_log(&self, cx: &Cx, now: Utc) -> Option<String> {
        let path = log_path(&self.project.start.project, &now.compact(), &self.step.id);
        let mut text = format!("step {}: {}\nagent @{}\n", self.step.id, self.step.name, self.agent);
        for phase in &self.state.phases {
            let word = phase.status.word_in(&self.schema);
            let outcome = phase.outcome.as_ref().map(|outcome| outcome.word()).unwrap_or_default();
            let details =
                phase.outcome_details.as_deref().or(phase.blocked_by.as_deref()).unwrap_or_default();
            let ended = phase.ended_at.as_deref().unwrap_or_default();
            let line = format!("{ended} {} {word} {outcome} {details}", phase.name);
            text.push_str(line.split_whitespace().collect::<Vec<_>>().join(" ").as_str());
            text.push('\n');
        }
        let file = WriteFile { path: path.clone(), text, expect: Expect::Any, append: false, durable: true };
        cx.write(file).await.ok().map(|_| path)
    }

    /// The step is done.
    pub(super) fn done(&self, files: FilesModified) -> StepEnd {
        let subjects: Vec<&str> = self.memory.commits.iter().map(|commit| commit.subject.as_str()).collect();
        let mut message = format!(
            "Step {} ({}) is done: {} phases, committed as {}.",
            self.step.id,
            self.step.name,
            self.state.phases.len(),
            subjects.join(", ")
        );
        if !self.on_claim.is_empty() {
            message.push_str(&format!(
                " Without a gate, and so on the agent's word alone: {}.",
                self.on_claim.join(", ")
            ));
        }
        if let Some(unchecked) = &self.project.unchecked {
            message.push_str(&format!(" {}.", unchecked.line()));
        }
        let told = self.told(StepResult::Done, message).with("files_modified", json!(files));
        StepEnd::Done(Told { files, ..told })
    }

    /// The step ends before its time. Its record says why, what is left and whether it can be tried again (DW-85).
    pub(super) async fn stopped(&mut self, cx: &Cx, stop: Stop) -> StepEnd {
        let (reason, suggestions, can_retry, cancelled) = match stop {
            Stop::Failed { reason, suggestions, can_retry } => (reason, suggestions, can_retry, false),
            Stop::Cancelled { by } => (format!("{by} stopped it"), vec![], true, true),
        };
        let now = cx.now().await;
        let changed = change::fail(&self.state, &self.schema, &reason, &suggestions, can_retry, now);
        if self.take(changed, now).is_ok() {
            let ending = Ending::Failure {
                reason: reason.clone(),
                partial: self.state.phases.iter().any(|phase| phase.is_closed()),
                criteria: judged(&self.step.criteria, &self.judged),
                suggestions: suggestions.clone(),
                can_retry,
            };
            self.put_on_record(&ending, now);
            if let Value::Object(fields) = self.metrics().to_json() {
                self.record.extend(fields);
            }
        }
        if let Err(Stop::Failed { reason, .. }) = self.save(cx).await {
            cx.record(&RoadmapFact::Error { text: reason, about: Some(ErrorArea::StateFile) });
        }
        let again =
            format!("seriatim run step @{} {} {}", self.agent, self.project.start.project, self.step.id);
        let (result, message) = match cancelled {
            true => {
                let words = format!("Step {} was stopped: {}", self.step.id, sentence(&reason));
                (StepResult::Cancelled, format!("{words} Go on with:  {again}"))
            }
            false => {
                let words = format!("Step {} is FAILED: {}", self.step.id, sentence(&reason));
                (StepResult::Failed, format!("{words} Go on with:  {again}"))
            }
        };
        let told = self
            .told(result, message)
            .because(&reason)
            .with("failure_reason", json!(reason))
            .with("can_retry", json!(can_retry))
            .with("recovery_suggestions", json!(suggestions));
        if cancelled { StepEnd::Cancelled(told) } else { StepEnd::Failed(told) }
    }

    /// What machines read about the step.
    fn told(&self, result: StepResult, message: String) -> Told {
        let success = match result {
            StepResult::Done | StepResult::AlreadyDone => true,
            StepResult::Failed | StepResult::Blocked | StepResult::Cancelled => false,
        };
        let phases: Vec<Value> = self
            .state
            .phases
            .iter()
            .map(|phase| {
                json!({
                    "phase": phase.name, "status": phase.status.word_in(&self.schema),
                    "outcome": phase.outcome.as_ref().map(|outcome| outcome.word().to_owned()),
                    "details": phase.outcome_details, "blocked_by": phase.blocked_by,
                    "attempts": phase.history.len() + 1,
                })
            })
            .collect();
        let criteria: Vec<Value> = judged(&self.step.criteria, &self.judged)
            .into_iter()
            .map(|c| json!({"criterion": c.criterion, "met": c.met, "evidence": c.evidence}))
            .collect();
        let metrics = self.metrics().to_json();
        Told::new(&self.step.id, result, message)
            .with("agent", json!(self.agent))
            .with("phases", json!(phases))
            .with("acceptance_criteria_met", json!(criteria))
            .with("execution_metrics", metrics["execution_metrics"].clone())
            .with("commits", json!(self.memory.commits))
            .with("closed_on_claim", json!(self.on_claim))
            .with("accepted_unchecked", json!(self.project.unchecked.as_ref().map(Unchecked::line)))
            .with("review_findings", json!(self.findings))
            .with("coordinator_checklist", Checklist::coordinator(&coordinator(success)).to_json())
            .with("agent_checklist", Checklist::agent(&self.agent_facts(success)).to_json())
    }

    fn agent_facts(&self, success: bool) -> AgentFacts {
        AgentFacts {
            state_loaded: true,
            dependencies_complete: true,
            context_full: true,
            transitions_recorded: self.state.status.word() != "TODO",
            results_captured: success || self.state.failure_reason.is_some(),
            state_updated: self.saved == self.state,
            history_kept: true,
            metrics_tracked: true,
        }
    }
}

/// Everything but the result was checked before the first agent was called.
fn coordinator(success: bool) -> CoordinatorFacts {
    CoordinatorFacts {
        agent_extracted: true,
        agent_known: true,
        paths_valid: true,
        path_absolute: true,
        checklist_passed: true,
        invocation_prepared: true,
        invocation_succeeded: success,
        user_told: true,
    }
}
