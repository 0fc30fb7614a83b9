//! The gates behind a stage. None is ever passed by (OC-18).

use seriatim_core::action::Stage;
use seriatim_core::action::approval;
use seriatim_core::action::approval::Decision;
use seriatim_core::action::approval::Iteration;
use seriatim_core::action::approval::Summary;
use seriatim_core::action::brief;
use seriatim_core::action::brief::Clarified;
use seriatim_core::action::evidence as proof;
use seriatim_core::action::facts::ActionFact;
use seriatim_core::action::facts::ErrorAt;
use seriatim_core::action::facts::GateResult;
use seriatim_core::action::facts::Voided;
use seriatim_core::action::gate::Does;
use seriatim_core::action::gate::Gate;
use seriatim_core::action::severity::Severity;
use seriatim_core::action::trouble::Scene;
use seriatim_core::hash::Hash;
use seriatim_core::ledger::LedgerEntry;
use seriatim_core::ledger::is_blank;
use seriatim_core::verdict::PersonWord;
use seriatim_core::verdict::Verdict;

use super::course::Course;
use super::course::Leave;
use super::course::lines;
use super::stage::After;
use crate::Cx;
use crate::request::SceneCall;
use crate::request::SealOf;

impl Course {
    pub(super) async fn gate(&mut self, cx: &Cx, stage: &Stage, gate: &Gate) -> Result<After, Leave> {
        // What is critical goes back before anybody is asked to approve anything.
        self.mend(cx, stage.number).await?;
        match gate.kind.does() {
            Does::Decide => self.approve(cx, stage, gate).await,
            Does::Clarify => self.clarify(cx, stage, gate).await,
            Does::CallAgain => {
                self.again_with_checklist(cx, stage, gate).await?;
                Ok(After::Next)
            }
            Does::Measure => self.quality(cx, stage, gate).await,
            Does::Run => self.command_gate(cx, stage, gate).await,
        }
    }

    /// A person decides, as often as it takes (OC-52 to OC-56). The answer holds for what was shown and nothing else.
    pub(super) async fn approve(&mut self, cx: &Cx, stage: &Stage, gate: &Gate) -> Result<After, Leave> {
        loop {
            let round = self.rounds.entry(gate.name.clone()).or_default();
            *round += 1;
            let iteration = *round;
            let about = self.digest(cx).await;
            let summary = Summary {
                action: self.action.name.clone(),
                gate: gate.name.clone(),
                iteration,
                work: lines(&self.work),
                artifacts: self.written.keys().cloned().collect(),
                findings: self.findings.entries().to_vec(),
                unknown: self.unknown(),
                not_checked: self.not_checked(),
                waived: self.waived.clone(),
                notes: self.notes.clone(),
                evidence: lines(&self.shown),
                about: vec![about.unwrap_or(Hash::ZERO), self.matters_digest()],
                can_roll_back: self.snapshot.is_some(),
            };
            let (decision, answer) =
                self.choose::<Decision>(cx, &gate.name, approval::question(&summary)).await;
            let words = answer.text.clone().unwrap_or_default();
            self.note_round(cx, gate, iteration, decision, &words, &answer.by).await;
            if self.restored_meanwhile(cx).await {
                return Ok(After::Anew);
            }
            match decision {
                Decision::Approve => {
                    if self.still_holds(cx, stage, about).await?
                        && self.take_words(cx, gate, &answer.by, &words)
                    {
                        self.work.clear();
                        self.shown.clear();
                        self.notes.clear();
                        self.remember_lifecycle(cx).await;
                        self.end_gate(cx, stage.number, gate, GateResult::Approved);
                        return Ok(After::Next);
                    }
                }
                Decision::Cancel => self.cancel(cx, &answer.by).await?,
                Decision::Rollback => {
                    if let Some(leave) = self.roll_back(cx, &answer.by).await {
                        return Err(leave);
                    }
                }
                Decision::Fix => {
                    self.mend_once(cx, stage.number).await?;
                    self.checks_again(cx, stage, gate).await?;
                }
                Decision::Changes | Decision::Reject => {
                    self.rework(cx, stage.number, &[approval::feedback(&words)]).await?;
                    self.checks_again(cx, stage, gate).await?;
                    self.mend(cx, stage.number).await?;
                }
            }
        }
    }

    /// Each round at a gate is on record with its time and words (OC-55).
    async fn note_round(
        &mut self,
        cx: &Cx,
        gate: &Gate,
        iteration: u32,
        decision: Decision,
        words: &str,
        by: &str,
    ) {
        let round = Iteration {
            gate: gate.name.clone(),
            iteration,
            decision,
            reason: words.to_owned(),
            by: by.to_owned(),
            at: cx.now().await,
            stage: self.proof.stage.clone().unwrap_or_default(),
        };
        cx.record(&ActionFact::GateRound { round });
    }

    /// Whether what was approved is still what there is, and was made for the stage that holds now (OC-123, E-68).
    async fn still_holds(&mut self, cx: &Cx, stage: &Stage, shown: Option<Hash>) -> Result<bool, Leave> {
        let now = self.digest(cx).await;
        if now.is_none() || now != shown {
            cx.record(&ActionFact::ApprovalVoid { why: Voided::FilesChanged });
            self.notes.push(match now.and(shown) {
                None => {
                    "The files could not be compared, so that the approval before does not count.".to_owned()
                }
                Some(_) => {
                    "Files changed after they were shown, so that the approval before was void.".to_owned()
                }
            });
            return Ok(false);
        }
        let made_for = self.proof.stage.clone();
        if let Err(broken) = self.read_stage(cx).await {
            let why = format!("{}. To fix it: {}.", broken.headline(), broken.remedy());
            cx.record(&ActionFact::Error { at: ErrorAt::Records, text: why.clone() });
            self.notes.push(format!("The approval does not count yet: {why}"));
            return Ok(false);
        }
        if proof::counts(made_for.as_deref(), self.proof.stage.as_deref()) {
            return Ok(true);
        }
        cx.record(&ActionFact::ApprovalVoid { why: Voided::StageChanged });
        let now = self.proof.stage.clone().unwrap_or_else(|| "none".to_owned());
        self.notes
            .push(format!("The lifecycle stage is {now} by now; checks of another stage do not count."));
        let stages: Vec<Stage> =
            self.action.stages.iter().filter(|one| one.number <= stage.number).cloned().collect();
        for one in &stages {
            for gate in one.gates.iter().filter(|gate| matches!(gate.kind.does(), Does::Measure | Does::Run))
            {
                self.run_check(cx, one, gate).await?;
            }
        }
        Ok(false)
    }

    /// What an approval lets stand: high findings by name, and what is unknown. False where the words do not cover it.
    fn take_words(&mut self, cx: &Cx, gate: &Gate, by: &str, words: &str) -> bool {
        let ids = match approval::justified(self.findings.entries(), words) {
            Ok(ids) => ids,
            Err(missing) => {
                self.notes.push(format!("The approval gave no justification of {}.", missing.join(", ")));
                return false;
            }
        };
        if !self.findings.open_from(Severity::Critical).is_empty() {
            return false;
        }
        if !self.unknown().is_empty() && is_blank(words) {
            self.notes.push("The approval gave no words about what is unknown.".to_owned());
            return false;
        }
        for id in &ids {
            if let Err(refused) = self.findings.accept(id, by, words, false) {
                self.notes.push(format!("The approval does not count for {id}: {refused}."));
                return false;
            }
        }
        if !ids.is_empty() {
            self.tell_findings(cx);
        }
        self.accept_unknown(cx, by, words);
        let verdict = Verdict::decided(by, PersonWord::Confirmed, words);
        self.settle(cx, &format!("gate {}", gate.name), verdict);
        true
    }

    /// What else a decision is about: findings, and what is known about each matter.
    fn matters_digest(&self) -> Hash {
        let findings: Vec<String> = self.findings.entries().iter().map(LedgerEntry::told).collect();
        let lines = [findings, self.unknown(), self.not_checked(), self.waived.clone()].concat();
        Hash::of(lines.join("\n").as_bytes())
    }

    /// What a decision is about: the files as they are. Nothing where they cannot be looked at.
    pub(super) async fn digest(&self, cx: &Cx) -> Option<Hash> {
        let paths: Vec<String> = self.written.keys().cloned().collect();
        if paths.is_empty() {
            return Some(Hash::of(b""));
        }
        let seals: Vec<Option<SealOf>> = cx.scene(SceneCall::Seals { paths }).await.ok()?;
        let lines: Vec<String> = self
            .written
            .keys()
            .zip(seals)
            .map(|(path, seal)| match seal {
                Some(seal) => format!("{path} {} {:o}", seal.hash, seal.mode),
                None => format!("{path} gone"),
            })
            .collect();
        Some(Hash::of(lines.join("\n").as_bytes()))
    }

    /// Those whose work was sent back work again, with the words; then those who judged it.
    pub(super) async fn rework(&mut self, cx: &Cx, stage: u32, words: &[String]) -> Result<(), Leave> {
        let rework = self.action.rework(stage);
        let makers: Vec<_> = rework.makers.into_iter().cloned().collect();
        let reviewers: Vec<_> = rework.reviewers.into_iter().cloned().collect();
        self.work_on(cx, stage, &makers, Scene::Gate, words).await?;
        self.work_on(cx, stage, &reviewers, Scene::Gate, &[]).await
    }

    /// Every check between the work that was done over and this gate is run again.
    async fn checks_again(&mut self, cx: &Cx, until: &Stage, gate: &Gate) -> Result<(), Leave> {
        let stages: Vec<Stage> =
            self.action.stages.iter().filter(|one| one.number <= until.number).cloned().collect();
        let mut first = 0;
        for (index, one) in stages.iter().enumerate() {
            let decided = one.gates.iter().any(|known| known.kind.does() == Does::Decide);
            if decided && one.number < until.number {
                first = index + 1;
            }
        }
        for one in stages.iter().skip(first) {
            for check in &one.gates {
                if one.number == until.number && check.name == gate.name {
                    break;
                }
                if matches!(check.kind.does(), Does::Measure | Does::Run) {
                    self.run_check(cx, one, check).await?;
                }
            }
        }
        Ok(())
    }

    async fn run_check(&mut self, cx: &Cx, stage: &Stage, gate: &Gate) -> Result<(), Leave> {
        match gate.kind.does() {
            Does::Measure => Box::pin(self.quality(cx, stage, gate)).await.map(|_| ()),
            Does::Run => Box::pin(self.command_gate(cx, stage, gate)).await.map(|_| ()),
            Does::Decide | Does::Clarify | Does::CallAgain => Ok(()),
        }
    }

    /// The roles look at their own work again, with the checklist.
    async fn again_with_checklist(&mut self, cx: &Cx, stage: &Stage, gate: &Gate) -> Result<(), Leave> {
        let words = [brief::self_review(gate)];
        self.work_on(cx, stage.number, &stage.duties.clone(), Scene::Gate, &words).await?;
        let at = cx.now().await;
        self.put_decision(cx, &gate.name, "passed", at, "engine", "the roles went through their work again");
        self.end_gate(cx, stage.number, gate, GateResult::Reviewed);
        Ok(())
    }

    /// A person says what is not clear yet.
    async fn clarify(&mut self, cx: &Cx, stage: &Stage, gate: &Gate) -> Result<After, Leave> {
        loop {
            let raised = std::mem::take(&mut self.raised);
            let question = brief::clarification_question(&self.action.name, &gate.name, &raised);
            let (choice, answer) = self.choose(cx, &gate.name, question).await;
            if self.restored_meanwhile(cx).await {
                return Ok(After::Anew);
            }
            match choice {
                Clarified::NothingOpen => {
                    self.end_gate(cx, stage.number, gate, GateResult::Clarified);
                    return Ok(After::Next);
                }
                Clarified::Answer => {
                    let words = answer.text.unwrap_or_default();
                    self.inputs.push((format!("Clarification at {}", gate.name), words.clone()));
                    self.rework(cx, stage.number, &[words]).await?;
                }
                Clarified::Cancel => {
                    self.raised = raised;
                    self.cancel(cx, &answer.by).await?;
                }
            }
        }
    }
}
