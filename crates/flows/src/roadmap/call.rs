//! Calling the agent of a step: a fresh instance each time, with a brief that holds this step and nothing else.

use serde_json::Value;
use serde_json::json;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::finding::has_errors;
use seriatim_core::question::Choice;
use seriatim_core::report::Brief;
use seriatim_core::report::Limits;
use seriatim_core::report::Report;
use seriatim_core::report::Usage;
use seriatim_core::roadmap::brief;
use seriatim_core::roadmap::extract::Context;
use seriatim_core::roadmap::facts::Matter;
use seriatim_core::roadmap::proof;
use seriatim_core::roadmap::proof::Sort;
use seriatim_core::roadmap::result;
use seriatim_core::roadmap::result::RETRIES_MAX;
use seriatim_core::world::ViewFile;

use super::Call;
use super::people;
use super::people::SlowAgentChoice;
use super::work::Stop;
use super::work::Work;
use crate::Cx;
use crate::attempts::Cap;
use crate::attempts::FailedAttempt;
use crate::attempts::attempts;
use crate::request::Assignment;
use crate::request::GitCall;
use crate::request::HANDED_IN;
use crate::request::PersonChoice;
use crate::request::Shown;
use crate::reviewer;
use crate::views;
use crate::views::Rules;

/// What came of calling the agent.
pub(super) enum Called {
    Report(Box<Report>),
    /// A person decided that the phase is skipped.
    Skip(String),
}

impl Work<'_> {
    /// Calls the agent for a phase, or for the whole step, until it reports or its failure is final.
    pub(super) async fn call(
        &mut self,
        cx: &Cx,
        phase: Option<&str>,
        feedback: &[String],
    ) -> Result<Called, Stop> {
        let context = Context::of(&self.project.roadmap, &self.step.id, &self.schema)
            .map_err(|error| Stop::failed(error.to_string()))?;
        self.check_prompt(&self.prompt(&context, phase, feedback))?;
        let mut feedback = feedback.to_vec();
        loop {
            let assign = |attempt: u32, given: &[String]| {
                let prompt = self.prompt(&context, phase, given);
                let made = self.assignment(phase, prompt);
                Assignment { brief: Brief { attempt, feedback: given.to_vec(), ..made.brief }, ..made }
            };
            let attempted = attempts(cx, Cap::default(), self.attempts, feedback.clone(), assign).await;
            self.attempts = attempted.attempt;
            self.note_failed(phase, &attempted.failed);
            let failure = match attempted.result {
                Ok(report) => {
                    self.merge_work(cx).await?;
                    self.count(report.usage.as_ref());
                    self.set_report_apart(cx, &report).await;
                    return Ok(Called::Report(Box::new(report)));
                }
                Err(failure) => failure,
            };
            match self.after_failure(cx, phase.unwrap_or("the step"), failure).await? {
                Again::Now => {}
                Again::With(words) => feedback.push(words),
                Again::Skip(reason) => return Ok(Called::Skip(reason)),
            }
        }
    }

    /// Merges what the agent changed within the step's scope. The rest stays in its view, and is held against the phase.
    async fn merge_work(&mut self, cx: &Cx) -> Result<(), Stop> {
        let allowed = |path: &str| self.allowed.permits(path) && !self.allowed.is_own(path);
        let never = [&self.path, &self.trail, &self.project.start.roadmap];
        let takes = |file: &ViewFile| !never.iter().any(|path| **path == file.path) && allowed(&file.path);
        let (step, place) = (self.step.id.as_str(), self.place.tree.as_str());
        let rules = Rules { takes: &takes, names: &|path| self.is_named(path) };
        let left = views::merge(cx, step, step, place, &rules).await;
        let left = left
            .map_err(|failure| Stop::failed(format!("its files could not be merged: {}", failure.message)))?;
        self.kept = left.kept.into_iter().map(|file| file.path).collect();
        Ok(())
    }

    /// A report that a live session wrote among the files of the project is no part of its work. Only a new file of the
    /// kind that reports are is left out, so that nothing else passes for one.
    async fn set_report_apart(&mut self, cx: &Cx, report: &Report) {
        let path = report.unknown.get(HANDED_IN).and_then(Value::as_str).unwrap_or_default();
        if !self.project.start.attach || !path.ends_with(".json") || self.is_named(path) {
            return;
        }
        let (at, tree) = (self.memory.base_tree.clone(), self.place.tree.clone());
        let call = GitCall::Show { at, paths: vec![path.to_owned()], tree };
        let base: Shown = cx.git(call).await.unwrap_or_default();
        if base.into_iter().flatten().next().is_none() {
            self.memory.apart.insert(path.to_owned());
        }
    }

    /// What the agent is told. The same step in the same state is told the same, whatever ran before (DW-46).
    fn prompt(&self, context: &Context, phase: Option<&str>, feedback: &[String]) -> String {
        let start = &self.project.start;
        let gates: Vec<String> = self.gates.keys().cloned().collect();
        brief::render(&brief::Assignment {
            context,
            agent: &self.agent,
            schema: &self.schema,
            call: match start.call {
                Call::Phase => brief::Call::Phase,
                Call::Step => brief::Call::Step,
            },
            phase,
            status_path: &self.path,
            feedback,
            quick: proof::is_quick(self.memory.green_lines),
            gates: &gates,
            legacy: None,
        })
    }

    /// A prompt without its context, or with something unresolved in it, never reaches an agent (DW-10 to DW-13).
    fn check_prompt(&self, prompt: &str) -> Result<(), Stop> {
        let findings = brief::check(prompt);
        if !has_errors(&findings) {
            return Ok(());
        }
        let first = findings.first().map(|f| f.message.clone()).unwrap_or_default();
        Err(Stop::failed(format!("the prompt of step {} is refused: {first}", self.step.id)))
    }

    fn assignment(&self, phase: Option<&str>, prompt: String) -> Assignment {
        let project = self.project;
        let title = match phase {
            Some(phase) => format!("{} {}: {phase}", self.step.id, self.step.name),
            None => format!("{} {}", self.step.id, self.step.name),
        };
        Assignment {
            agents: vec![self.agent.clone()],
            title,
            brief: Brief {
                step: self.step.id.clone(),
                role: self.agent.clone(),
                prompt,
                inputs: json!({"step": self.step.id, "project": project.start.project}),
                parameters: json!({"phase": phase, "project": project.start.project, "agent": self.agent}),
                outputs_expected: self.step.allowed_files().unwrap_or_default(),
                criteria: self.step.criteria.clone(),
                limits: Limits {
                    turns: project.roadmap.execution_config.max_turns_per_phase,
                    ..Limits::default()
                },
                scope: json!({"write": self.step.allowed_files(), "never": [self.path, project.start.roadmap]}),
                ..Brief::default()
            },
            cwd: self.place.tree.clone(),
            phase: phase.unwrap_or_default().to_owned(),
            attach: project.start.attach,
            view: self.step.id.clone(),
            by_person: self.offers(phase),
            ..Assignment::default()
        }
    }

    /// What a person is offered who has a phase: a review ends with findings or with none, anything else with its work.
    fn offers(&self, phase: Option<&str>) -> Vec<PersonChoice> {
        match phase.map(Sort::of) {
            Some(Sort::Review) => reviewer::offers(),
            Some(_) | None => {
                let shown = "The engine looks at the files and runs the checks of the project.";
                vec![PersonChoice::new(Choice::new("done", "It is done", shown))]
            }
        }
    }

    pub(super) fn count(&mut self, usage: Option<&Usage>) {
        if let Some(usage) = usage {
            self.usage.input_tokens = self.usage.input_tokens.saturating_add(usage.input_tokens);
            self.usage.output_tokens = self.usage.output_tokens.saturating_add(usage.output_tokens);
            self.usage.cost_usd += usage.cost_usd.max(0.0);
            self.usage.turns = self.usage.turns.saturating_add(usage.turns);
        }
    }

    /// Tries that came to nothing are in the history of their phase, and never taken as done (E-48).
    fn note_failed(&mut self, phase: Option<&str>, failed: &[FailedAttempt]) {
        let Some(record) = self.state.phases.iter_mut().find(|record| Some(record.name.as_str()) == phase)
        else {
            return;
        };
        for attempt in failed {
            let crashed = attempt.failure.interrupted || attempt.failure.class == Class::Crash;
            let entry = json!({
                "status": if crashed { "CRASHED" } else { "FAILED" },
                "outcome": "FAIL",
                "notes": format!("attempt {}: {}", attempt.attempt, attempt.failure.message),
            });
            record.history.push(entry);
        }
    }

    /// What is done about an agent that failed (DW-89, K-44).
    async fn after_failure(&mut self, cx: &Cx, phase: &str, failure: Failure) -> Result<Again, Stop> {
        self.errors += 1;
        let error = result::agent_error(&failure.message, &failure.output, self.errors);
        if let Some(fields) = error.as_object() {
            self.record.extend(fields.clone());
        }
        if failure.class == Class::AgentDeadline {
            let question = people::too_slow(&self.step.id, phase, &failure);
            let (choice, answer) = people::decide(cx, Matter::SlowAgent, &self.step.id, question).await;
            let words = answer.text.unwrap_or_default();
            return match choice {
                SlowAgentChoice::Retry if words.trim().is_empty() => Ok(Again::Now),
                SlowAgentChoice::Retry => Ok(Again::With(words)),
                SlowAgentChoice::Skip => Ok(Again::Skip(format!("APPROVED_SKIP: {words} ({})", answer.by))),
                SlowAgentChoice::Cancel => Err(Stop::Cancelled { by: answer.by }),
            };
        }
        let cancelled = failure.class == Class::Cancelled;
        if failure.class == Class::Crash && self.errors < RETRIES_MAX {
            return Ok(Again::Now);
        }
        let reason = format!("The agent @{} failed in {phase}: {}", self.agent, failure.message);
        let mut suggestions = vec![
            "Read the output of the agent that is kept with the attempt".to_owned(),
            format!("Run the step again; it goes on with {phase}"),
        ];
        let said = Some(failure.reason()).filter(|reason| !reason.is_empty());
        suggestions.extend(said);
        suggestions.extend(failure.kept);
        Err(Stop::Failed { reason, suggestions, can_retry: !cancelled })
    }
}

enum Again {
    Now,
    With(String),
    Skip(String),
}
