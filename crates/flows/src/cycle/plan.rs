//! The Planner: questions until the scope is clear, then one small step (CY-28 to CY-38).

use std::collections::BTreeMap;

use serde_json::json;
use seriatim_core::cycle::alert::Alert;
use seriatim_core::cycle::block::Block;
use seriatim_core::cycle::block::Mark;
use seriatim_core::cycle::block::Role;
use seriatim_core::cycle::choices::ClarifyChoice;
use seriatim_core::cycle::choices::ContextChoice;
use seriatim_core::cycle::choices::PlanlessChoice;
use seriatim_core::cycle::choices::RiskChoice;
use seriatim_core::cycle::document;
use seriatim_core::cycle::facts::CycleFact;
use seriatim_core::cycle::facts::Decision;
use seriatim_core::cycle::plan;
use seriatim_core::cycle::plan::PlanStep;
use seriatim_core::cycle::plan::Planned;
use seriatim_core::cycle::plan::Risk;
use seriatim_core::failure::Failure;
use seriatim_core::forbidden;
use seriatim_core::question::Question;
use seriatim_core::report::Brief;
use seriatim_core::report::Limits;
use seriatim_core::report::Report;
use seriatim_core::report::Status;

use super::course::Course;
use super::course::one_line;
use super::offers;
use super::people;
use super::words;
use crate::attempts::Cap;
use crate::attempts::attempts;
use crate::registry::Ended;
use crate::request::Assignment;
use crate::views;

/// How often a plan is corrected before a person is asked.
pub(super) const CORRECTIONS: u32 = 2;

/// What planning led to.
pub(super) enum Planning {
    Step(PlanStep),
    Again,
    Over(Ended),
}

/// What came of calling a role that may say what it lacks.
pub(super) enum Called {
    Report(Box<Report>),
    Failed(Failure),
    /// A person stopped the cycle.
    Over(Ended),
}

impl Course<'_> {
    pub(super) async fn plan(&mut self) -> Planning {
        self.watch_time().await;
        let mut feedback: Vec<String> = vec![];
        for _ in 0..=CORRECTIONS {
            let report = match self.call(Role::Planner, self.planner_prompt(), feedback.clone()).await {
                Ok(report) => report,
                Err(failure) => {
                    return self.planner_trouble(&failure.message, failure.reason()).await;
                }
            };
            let planned = match report.status {
                Status::Done => self.read_plan(&report),
                Status::Partial | Status::Failed => Err(vec![
                    "The report does not say `done`: part of a plan is none. Give the whole plan.".to_owned(),
                ]),
            };
            match planned {
                Err(problems) => feedback = self.reject_plan(problems),
                Ok(Planned::Questions(questions)) => return self.clarify(&questions).await,
                Ok(Planned::ContextRequest(need)) => {
                    let stopped = self.give_context(Role::Planner, &need).await;
                    return stopped.map_or(Planning::Again, Planning::Over);
                }
                Ok(Planned::Step(step)) => {
                    let faults = self.faults(&step).await;
                    if faults.is_empty() {
                        return self.permit(step).await;
                    }
                    feedback = self.reject_plan(faults);
                }
            }
        }
        self.planner_trouble(&feedback.join("; "), String::new()).await
    }

    /// Reads a plan: of an agent in its fields, of a person in words.
    fn read_plan(&self, report: &Report) -> Result<Planned, Vec<String>> {
        match &report.person {
            Some(_) => plan::read_words(&report.summary),
            None => plan::read(&report.outputs),
        }
    }

    /// Puts on record why a plan cannot be used, and gives the reasons back as feedback.
    fn reject_plan(&self, why: Vec<String>) -> Vec<String> {
        self.fact(CycleFact::PlanRejected { cycle: self.number, why: why.clone() });
        why
    }

    /// What is wrong with a step: too large, without criteria or risk, or citing what is not there.
    async fn faults(&mut self, step: &PlanStep) -> Vec<String> {
        let wanted: Vec<String> = step.paths().into_iter().collect();
        let lines = self.cx.survey(vec![], wanted.clone()).await.files;
        let known: BTreeMap<String, Option<u64>> = wanted.into_iter().zip(lines).collect();
        plan::faults(step, &self.limits, &known)
    }

    /// A plan that cannot be used after its corrections is for a person.
    async fn planner_trouble(&mut self, why: &str, details: String) -> Planning {
        let question = Question { details, ..people::trouble("The plan", why) };
        let (choice, answer) = self.ask(question).await;
        self.decided(Decision::Planless(choice), &answer);
        match choice {
            PlanlessChoice::Retry => {
                self.add_words(answer.text);
                Planning::Again
            }
            PlanlessChoice::Stop => Planning::Over(self.stop(&answer.by).await),
        }
    }

    /// The Planner wants to know more before it plans (CY-03, CY-31).
    async fn clarify(&mut self, questions: &[String]) -> Planning {
        let list: Vec<String> = questions.iter().map(|q| format!("- {q}")).collect();
        self.fact(CycleFact::PlannerAsked { cycle: self.number, questions: questions.to_vec() });
        let block = self.planner_block("Questions about the goal", Role::Human, None);
        self.append("Questions of the Planner", &list.join("\n"), block).await;
        let (choice, answer) = self.ask(people::clarify(questions)).await;
        self.decided(Decision::Clarify(choice), &answer);
        let words = match choice {
            ClarifyChoice::ProvideInput | ClarifyChoice::Approve => {
                answer.text.unwrap_or_else(|| "No further word; use your judgement.".to_owned())
            }
            ClarifyChoice::Stop => return Planning::Over(self.stop(&answer.by).await),
        };
        self.talk.push((questions.join(" "), words.clone()));
        self.append_human("Answers", &words, Role::Planner).await;
        Planning::Again
    }

    /// A role says what it lacks; what the person gives is for that role's next brief alone (CY-22).
    /// The end of the cycle, when the person stops it instead.
    async fn give_context(&mut self, role: Role, need: &str) -> Option<Ended> {
        let (choice, answer) = self.ask(people::context(role, need)).await;
        self.decided(Decision::Context(choice), &answer);
        let given = match choice {
            ContextChoice::ProvideInput | ContextChoice::Approve => {
                answer.text.unwrap_or_else(|| "There is none; go on without it.".to_owned())
            }
            ContextChoice::Stop => return Some(self.stop(&answer.by).await),
        };
        self.append_human("Context Pack", &format!("Wanted: {need}\n\nGiven: {given}"), role).await;
        self.packs.entry(role).or_default().push(format!("{need}\n{given}"));
        self.fact(CycleFact::ContextPack { role, need: need.to_owned() });
        None
    }

    /// Calls the Actor or the Judge, as often as a person gives what it says it lacks.
    pub(super) async fn consult(&mut self, role: Role, prompt: String, feedback: Vec<String>) -> Called {
        loop {
            let report = match self.call(role, prompt.clone(), feedback.clone()).await {
                Ok(report) => report,
                Err(failure) => return Called::Failed(failure),
            };
            let Ok(Planned::ContextRequest(need)) = plan::read(&report.outputs) else {
                return Called::Report(Box::new(report));
            };
            if let Some(end) = self.give_context(role, &need).await {
                return Called::Over(end);
            }
        }
    }

    /// Forbidden commands and high risk need a person's word before the Actor begins (CY-41, CY-71, CY-84).
    async fn permit(&mut self, step: PlanStep) -> Planning {
        self.record_plan(&step);
        let block = self.planner_block(&step.title, Role::Actor, Some(&step));
        self.append("Plan", &words::step_text(&step), block).await;
        self.plans += 1;
        let mut texts = step.commands.clone();
        texts.push(step.instructions.clone());
        let hits: Vec<_> = forbidden::find(&texts, &self.limits.forbidden)
            .into_iter()
            .filter(|hit| !self.approved_commands.contains(&hit.text))
            .collect();
        if step.risk == Risk::High {
            self.alert(Alert::HighRisk).await;
        }
        if hits.is_empty() && !self.rules.approval_before(step.risk) {
            return Planning::Step(step);
        }
        let commands: Vec<String> = hits.iter().map(|h| h.text.clone()).collect();
        let (choice, answer) = self.ask(people::risky(&step, &commands)).await;
        self.fact(CycleFact::RiskDecided {
            cycle: self.number,
            choice,
            by: answer.by.clone(),
            step: step.title.clone(),
            words: answer.text.clone().unwrap_or_default(),
        });
        match choice {
            RiskChoice::Approve => {
                self.approved_commands.extend(commands);
                self.append_human("Approval of a risk", &format!("Approved by {}.", answer.by), Role::Actor)
                    .await;
                Planning::Step(step)
            }
            RiskChoice::Changes => {
                let words = answer.text.unwrap_or_default();
                self.append_human("A risk was refused", &words, Role::Planner).await;
                self.diagnostics = Some(format!("A person refused this step: {words}"));
                Planning::Again
            }
            RiskChoice::Stop => Planning::Over(self.stop(&answer.by).await),
        }
    }

    fn record_plan(&self, step: &PlanStep) {
        self.fact(CycleFact::PlanMade {
            cycle: self.number,
            title: step.title.clone(),
            risk: step.risk,
            files: step.files.clone(),
            creates: step.creates.clone(),
            lines: step.loc,
            success_criteria: step.success_criteria.clone(),
        });
    }

    fn planner_block(&self, summary: &str, next: Role, step: Option<&PlanStep>) -> Block {
        let mark =
            if self.plans == 0 && self.talk.is_empty() { Mark::PlanCreated } else { Mark::PlanUpdated };
        let extra = step.map(|s| vec![("Risk".to_owned(), s.risk.word().to_owned())]).unwrap_or_default();
        Block { role: Role::Planner, mark, summary: one_line(summary), next, extra }
    }

    fn planner_prompt(&self) -> String {
        let mut text = format!(
            "# Plan the next small step\n\n## Goal\n{}\n\n## Limits\nAt most {} changed lines or {} files in one step.\n",
            words::goal_text(&self.goal),
            self.limits.loc,
            self.limits.files
        );
        for (question, answer) in &self.talk {
            text.push_str(&format!("\n## You asked\n{question}\n## The answer\n{answer}\n"));
        }
        if let Some(diagnostics) = &self.diagnostics {
            text.push_str(&format!("\n## What the last try was sent back for\n{diagnostics}\n"));
        }
        text.push_str(
            "\n## How to report\noutputs: {\"kind\": \"step\", \"step\": {\"title\", \"instructions\", \"files\": [], \
             \"creates\": [], \"loc\": 40, \"risk\": \"low|medium|high\", \"success_criteria\": [], \"commands\": []}} or \
             {\"kind\": \"questions\", \"questions\": []} or {\"kind\": \"context_request\", \"need\": \"\"}. Cite code as \
             path:line, and only what exists. Where tests go, or files that the checks stand on change, name each of them \
             in the step.\n",
        );
        let open = self.ledger.brief();
        if !open.is_empty() {
            text.push_str(&format!("\n## Open findings\n{}\n", document::bullets(&open)));
        }
        text
    }

    pub(super) fn add_words(&mut self, words: Option<String>) {
        if let Some(words) = words.filter(|w| !w.trim().is_empty()) {
            self.talk.push(("What should be different?".to_owned(), words));
        }
    }

    /// Calls a role once, tried again as the class of its failure wants.
    pub(super) async fn call(
        &mut self,
        role: Role,
        prompt: String,
        feedback: Vec<String>,
    ) -> Result<Report, Failure> {
        let prompt = self.with_documents(role, prompt).await;
        let packs = self.packs.remove(&role).unwrap_or_default();
        let name = role.word().to_lowercase();
        let prompt = packs
            .iter()
            .fold(prompt, |text, pack| format!("{text}\n## Context that you asked for\n{pack}\n"));
        // The Actor has the step and nothing else (CY-14).
        let inputs = match role {
            Role::Actor => json!({"cycle": self.number}),
            Role::Human | Role::Planner | Role::Judge => {
                json!({"goal": self.goal.text, "cycle": self.number})
            }
        };
        let minutes = self.rules.minutes(role).map(|minutes| u64::from(minutes) * 60_000);
        let patterns = self.limits.forbidden.clone();
        let first = feedback.clone();
        let on = self.seen_work();
        let assign = |attempt: u32, again: &[String]| {
            let feedback = if again.is_empty() { &first } else { again };
            let mut prompt = prompt.clone();
            for line in feedback {
                prompt.push_str(&format!("\nThe last attempt could not be used: {line}\n"));
            }
            Assignment {
                agents: vec![name.clone()],
                title: format!("{} at work", role.word()),
                brief: Brief {
                    step: name.clone(),
                    role: name.clone(),
                    attempt,
                    prompt,
                    inputs: inputs.clone(),
                    feedback: feedback.to_vec(),
                    limits: Limits { timeout_ms: minutes, ..Limits::default() },
                    ..Brief::default()
                },
                forbidden: if role == Role::Actor { patterns.clone() } else { vec![] },
                by_person: offers::of(role),
                view: name.clone(),
                on: if role == Role::Actor { None } else { on.clone() },
                ..Assignment::default()
            }
        };
        let report = attempts(self.cx, Cap::default(), 0, vec![], assign).await.result?;
        // Who plans or judges only looks. What such a role wrote all the same is on record, and dropped. The Actor's work
        // stays in its view until it is approved.
        if role != Role::Actor {
            views::discard(self.cx, &name, &name, "").await?;
        }
        Ok(report)
    }
}
