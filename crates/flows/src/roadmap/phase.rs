//! One phase: begun on record, done by the agent, proven by the engine, ended on record.

use seriatim_core::report::Report;
use seriatim_core::roadmap::audit::Happening;
use seriatim_core::roadmap::change;
use seriatim_core::roadmap::change::Act;
use seriatim_core::roadmap::change::By;
use seriatim_core::roadmap::change::Change;
use seriatim_core::roadmap::facts::Matter;
use seriatim_core::roadmap::facts::PhaseEnd;
use seriatim_core::roadmap::facts::PhaseOutcome;
use seriatim_core::roadmap::facts::ReopenCause;
use seriatim_core::roadmap::facts::RoadmapFact;
use seriatim_core::roadmap::machine;
use seriatim_core::roadmap::phases::COMMIT;
use seriatim_core::roadmap::proof;
use seriatim_core::roadmap::proof::Objection;
use seriatim_core::roadmap::proof::Rule;
use seriatim_core::roadmap::proof::Sort;
use seriatim_core::roadmap::result::Checkpoint;
use seriatim_core::roadmap::state::Outcome;
use seriatim_core::roadmap::state::PhaseStatus;
use seriatim_core::roadmap::state::StepStatus;

use super::Call;
use super::call::Called;
use super::people;
use super::people::GreenAtRedChoice;
use super::prove::Proof;
use super::work::Stop;
use super::work::Work;
use crate::Cx;

/// How often a phase that evidence refused is called again.
const AGAIN: u32 = 2;

impl Work<'_> {
    /// Carries the step out up to its commit. What was closed before stays closed (DW-39, DW-92).
    pub(super) async fn phases(&mut self, cx: &Cx) -> Result<(), Stop> {
        self.measure_base(cx).await;
        if self.project.start.call == Call::Step {
            return self.whole(cx).await;
        }
        for name in machine::to_do(&self.state, &self.schema) {
            self.phase(cx, &name).await?;
            if let Some(checkpoint) = Checkpoint::due_after(&name, &self.schema) {
                self.checkpoint(cx, checkpoint).await?;
            }
        }
        Ok(())
    }

    async fn phase(&mut self, cx: &Cx, name: &str) -> Result<(), Stop> {
        let sort = Sort::of(name);
        self.attempts = 0;
        let mut feedback: Vec<String> = std::mem::take(&mut self.words);
        feedback.extend(self.memory.findings.brief().into_iter().map(|line| format!("Open finding {line}")));
        let mut refused = 0;
        loop {
            self.start_phase(cx, name).await?;
            let report = match self.call(cx, Some(name), &feedback).await {
                Ok(Called::Report(report)) => report,
                Ok(Called::Skip(reason)) => return self.skip(cx, name, &reason).await,
                Err(stop) => return Err(self.broke_off(cx, name, stop).await),
            };
            let proof = self.prove(cx, name, sort, Some(&report)).await?;
            self.end_phase(cx, name, &proof, Some(&report)).await?;
            if proof.objections.is_empty() {
                return Ok(());
            }
            refused += 1;
            feedback = proof::feedback(&proof.objections);
            if refused <= AGAIN {
                continue;
            }
            match self.give_up(cx, name, sort, &proof).await? {
                GivenUp::Skipped => return Ok(()),
                GivenUp::Fix(words) => {
                    feedback.extend(words);
                    refused = 0;
                }
            }
        }
    }

    /// Saved before anybody does anything (DW-40).
    pub(super) async fn start_phase(&mut self, cx: &Cx, name: &str) -> Result<(), Stop> {
        let now = cx.now().await;
        let start = Change { by: By::Engine, ..Change::new(Act::Start, name) };
        self.take(change::change(&self.state, &self.schema, &start, now), now)?;
        let (step, phase, attempt) = (self.step.id.clone(), name.to_owned(), self.attempt(name));
        cx.record(&RoadmapFact::PhaseBegan { step, phase, attempt });
        self.save(cx).await
    }

    /// Returns which attempt at a phase this is, from 1 on.
    pub(super) fn attempt(&self, name: &str) -> usize {
        self.state.phase(name).map_or(1, |phase| phase.history.len() + 1)
    }

    /// Saved at once, with the claim and the evidence apart.
    pub(super) async fn end_phase(
        &mut self,
        cx: &Cx,
        name: &str,
        proof: &Proof,
        report: Option<&Report>,
    ) -> Result<(), Stop> {
        cx.record(&proof.fact(&self.step.id, name, self.attempt(name), report));
        let now = cx.now().await;
        let passed = proof.objections.is_empty();
        let said: Vec<&str> = proof.objections.iter().map(|o| o.message.as_str()).collect();
        let summary = report.map(|report| report.summary.trim().to_owned()).filter(|text| !text.is_empty());
        let change = Change {
            by: By::Engine,
            outcome: Some(if passed { Outcome::Pass } else { Outcome::Fail }),
            details: Some(if passed { proof.words.clone() } else { said.join(" ") }),
            note: summary,
            tests: proof
                .tests
                .filter(|_| passed || proof.tests.is_some_and(|t| t.passed + t.failed <= t.total)),
            artifacts: report.map(|report| report.artifacts.clone()).unwrap_or_default(),
            ..Change::new(Act::Done, name)
        };
        self.take(change::change(&self.state, &self.schema, &change, now), now)?;
        let turns = report.and_then(|report| report.usage.as_ref()).map(|usage| u64::from(usage.turns));
        if let Some(record) = self.state.phases.iter_mut().find(|record| record.name == name) {
            record.turn_count = turns.filter(|turns| *turns > 0).or(record.turn_count);
        }
        for objection in proof.objections.iter().filter(|objection| objection.rule == Rule::Scope) {
            let event = self.event(Happening::ScopeViolation, now).with("phase", name);
            self.unsaid.push(event.with("what", objection.message.as_str()));
        }
        self.save(cx).await
    }

    /// A phase whose agent failed for good ends as failed, so that nothing is left in progress.
    async fn broke_off(&mut self, cx: &Cx, name: &str, stop: Stop) -> Stop {
        let objection = Objection { rule: Rule::Agent, message: stop.reason(), output: String::new() };
        let proof = Proof { objections: vec![objection], ..Proof::default() };
        match self.end_phase(cx, name, &proof, None).await {
            Ok(()) => stop,
            Err(worse) => worse,
        }
    }

    pub(super) async fn skip(&mut self, cx: &Cx, name: &str, reason: &str) -> Result<(), Stop> {
        let now = cx.now().await;
        let skip = Change { reason: Some(reason.to_owned()), ..Change::new(Act::Skip, name) };
        self.take(change::change(&self.state, &self.schema, &skip, now), now)?;
        cx.record(&RoadmapFact::PhaseEnded(Box::new(PhaseEnd {
            step: self.step.id.clone(),
            phase: name.to_owned(),
            attempt: None,
            outcome: PhaseOutcome::Skipped,
            claim: None,
            evidence: vec![],
            objections: vec![],
            notes: vec![],
            words: reason.to_owned(),
        })));
        self.save(cx).await
    }

    /// Evidence refused a phase three times over.
    async fn give_up(&mut self, cx: &Cx, name: &str, sort: Sort, proof: &Proof) -> Result<GivenUp, Stop> {
        let all_green = proof.objections.iter().all(|objection| objection.rule == Rule::RedIsGreen);
        let message = proof.objections.first().map(|o| o.message.clone()).unwrap_or_default();
        if sort.is_red() && all_green {
            let output = proof.objections.first().map(|o| o.output.clone()).unwrap_or_default();
            let question = people::stays_green(&self.step.id, name, &message, &output);
            let (choice, answer) = people::decide(cx, Matter::GreenAtRed, &self.step.id, question).await;
            let words = answer.text.clone().filter(|text| !text.trim().is_empty());
            return match choice {
                GreenAtRedChoice::Fix => Ok(GivenUp::Fix(words)),
                GreenAtRedChoice::Skip => {
                    let reason = format!("APPROVED_SKIP: {} ({})", words.unwrap_or_default(), answer.by);
                    self.skip(cx, name, &reason).await?;
                    Ok(GivenUp::Skipped)
                }
                GreenAtRedChoice::Cancel => Err(Stop::Cancelled { by: answer.by }),
            };
        }
        if proof.objections.iter().all(|objection| objection.rule == Rule::ReviewFinding)
            && self.memory.findings.open().next().is_some()
        {
            return match self.ask_about_findings(cx).await? {
                Some(words) => Ok(GivenUp::Fix(Some(words).filter(|words| !words.trim().is_empty()))),
                None => Ok(GivenUp::Fix(None)),
            };
        }
        self.void_red(cx, proof).await?;
        let reasons: Vec<&str> = proof.objections.iter().map(|o| o.message.as_str()).collect();
        Err(Stop::Failed {
            reason: format!("{name} was refused {} times: {}", AGAIN + 1, reasons.join(" ")),
            suggestions: vec![
                format!("Read the evidence with `seriatim show`, and what the agent claimed beside it"),
                format!("Fix what is named, then run the step again; it goes on with {name}"),
            ],
            can_retry: true,
        })
    }

    /// Tests that were rewritten to become green prove nothing any more: RED has to be shown again.
    async fn void_red(&mut self, cx: &Cx, proof: &Proof) -> Result<(), Stop> {
        let cheated = proof.objections.iter().find(|objection| objection.rule.voids_red());
        let Some(objection) = cheated else { return Ok(()) };
        let red: Vec<String> =
            self.schema.names().filter(|name| Sort::of(name).is_red()).map(str::to_owned).collect();
        let Some(last) = red
            .iter()
            .rev()
            .find(|name| self.state.phase(name).is_some_and(|phase| phase.status == PhaseStatus::Done))
        else {
            return Ok(());
        };
        let now = cx.now().await;
        let change = Change {
            by: By::Engine,
            note: Some(format!("RED is void: {}", objection.message)),
            ..Change::new(Act::Reopen, last)
        };
        self.take(change::change(&self.state, &self.schema, &change, now), now)?;
        self.record_reopened(cx, last, ReopenCause::RedIsVoid, &objection.message);
        self.memory.red_tests.clear();
        self.memory.red_loaders.clear();
        self.memory.red_counts.clear();
        self.save(cx).await
    }

    /// One call for the whole step: the agent reports each phase itself, and the engine looks at the end (K-104).
    async fn whole(&mut self, cx: &Cx) -> Result<(), Stop> {
        let mut feedback: Vec<String> = vec![];
        for refused in 0..=AGAIN {
            let report = match self.call(cx, None, &feedback).await? {
                Called::Report(report) => report,
                Called::Skip(reason) => return Err(Stop::failed(reason)),
            };
            self.reload(cx).await?;
            let mut proof = self.prove(cx, COMMIT, Sort::Green, Some(&report)).await?;
            let unclosed = |name: &String| Objection {
                rule: Rule::Phases,
                message: format!("Phase {name} is not over. Report it with `seriatim phase`."),
                output: String::new(),
            };
            proof.objections.extend(machine::unfinished(&self.state).iter().map(unclosed));
            cx.record(&proof.fact(&self.step.id, "all phases", refused as usize + 1, Some(&report)));
            if proof.objections.is_empty() {
                return Ok(());
            }
            feedback = proof::feedback(&proof.objections);
        }
        let reason = format!("The step was refused {} times: {}", AGAIN + 1, feedback.join(" "));
        Err(Stop::failed(reason))
    }

    /// Takes over what the agent reported in the state file through `seriatim phase`.
    async fn reload(&mut self, cx: &Cx) -> Result<(), Stop> {
        let file = self.project.state(cx, &self.step.id).await;
        let file = file.map_err(|broken| Stop::failed(broken.headline()))?;
        self.state = file.step(&self.path, &self.project.start.project, &self.step.id, &self.schema);
        self.saved.clone_from(&self.state);
        if self.state.status == StepStatus::Todo {
            return Err(Stop::failed("The agent reported no phase at all"));
        }
        Ok(())
    }
}

enum GivenUp {
    Skipped,
    Fix(Option<String>),
}
