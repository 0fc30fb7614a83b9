//! The stage of the product: which one is declared, what it requires, and whether a bar was lowered.

use seriatim_core::action::facts::ActionFact;
use seriatim_core::action::facts::LifecycleResult;
use seriatim_core::action::lifecycle::Lifecycle;
use seriatim_core::action::lifecycle_log;
use seriatim_core::action::lifecycle_log::LoggedGate;
use seriatim_core::action::loosening;
use seriatim_core::action::quality;
use seriatim_core::action::quality::AfterCommand;
use seriatim_core::gate::GateEnd;
use seriatim_core::reading::BrokenFile;
use seriatim_core::reading::Reading;

use super::LIFECYCLE;
use super::course::Course;
use super::course::Leave;
use super::documents::understand_approved;
use super::documents::understand_lifecycle;
use super::matters::LIFECYCLE_MATTER;
use crate::Cx;
use crate::request::Expect;
use crate::request::WriteFile;

/// The lifecycle as it was when somebody last approved something.
pub(super) const APPROVED: &str = ".snapshots/lifecycle-approved.yaml";

impl Course {
    /// Reads the lifecycle. One that was there when the action began and is gone is broken, not absent: with it the gates
    /// would be gone too.
    async fn lifecycle(&self, cx: &Cx) -> Reading<(Lifecycle, String)> {
        let text = cx.reading(LIFECYCLE).await.map(|text| text.text);
        if matches!(text, Reading::Absent) && self.proof.stage.is_some() {
            let why = "it was there when the action began";
            return Reading::Broken(BrokenFile::unreadable(LIFECYCLE, why, "bring it back"));
        }
        text.and_then(|text| {
            understand_lifecycle(LIFECYCLE, Reading::Read(text.clone())).map(|lifecycle| (lifecycle, text))
        })
    }

    /// Reads the declared stage; what was loosened since the last approval is shown at the next one (OC-122).
    pub(super) async fn read_stage(&mut self, cx: &Cx) -> Result<(), BrokenFile> {
        let Some((lifecycle, _)) = self.lifecycle(cx).await.optional()? else { return Ok(()) };
        self.proof.stage = Some(lifecycle.current_stage.clone());
        let approved = understand_approved(cx.reading(APPROVED).await.map(|text| text.text));
        let Some(before) = approved.optional()? else { return Ok(()) };
        for loosened in loosening::loosened(&before, &lifecycle) {
            let note = format!("In {LIFECYCLE}, {loosened}.");
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        Ok(())
    }

    /// From now on this is what was approved. A file that cannot be used is none: the gates at the end ask about it.
    pub(super) async fn remember_lifecycle(&self, cx: &Cx) {
        let Reading::Read((_, text)) = self.lifecycle(cx).await else { return };
        let file =
            WriteFile { path: APPROVED.to_owned(), text, expect: Expect::Any, append: false, durable: true };
        self.keep(cx, file).await;
    }

    /// The gates that the stage requires, all of them, before the action counts as done (OC-116 to OC-121).
    pub(super) async fn lifecycle_gates(&mut self, cx: &Cx) -> Result<(), Leave> {
        loop {
            let lifecycle = match self.lifecycle(cx).await {
                Reading::Read((lifecycle, _)) => lifecycle,
                Reading::Absent => {
                    self.proof.lifecycle =
                        format!("There is no {LIFECYCLE}: no lifecycle gates are declared.");
                    return Ok(());
                }
                Reading::Broken(broken) => {
                    self.ask_about_lifecycle(cx, &broken).await?;
                    continue;
                }
            };
            let Ok(stage) = lifecycle.stage(&lifecycle.current_stage) else { return Ok(()) };
            self.proof.stage = Some(stage.name.clone());
            let mut runs = vec![];
            for gate in lifecycle.required(stage) {
                let declared = gate.declared_in(".");
                let demand = self.demand(&gate.name, &declared);
                let (evidence, output) = self.execute(cx, &gate.name, &declared, demand).await;
                runs.push(LoggedGate { evidence, output });
            }
            self.proof.lifecycle = lifecycle_log::text(&stage.name, &runs);
            self.settle(cx, LIFECYCLE_MATTER, lifecycle_log::verdict(&stage.name, &runs));
            let gates = runs.iter().map(|run| LifecycleResult {
                gate: run.evidence.gate.clone(),
                end: run.evidence.end.clone().unwrap_or(GateEnd::NotRun(run.evidence.words.clone())),
                verdict: Some(run.evidence.verdict.clone()),
            });
            cx.record(&ActionFact::LifecycleGates {
                stage: stage.name.clone(),
                text: self.proof.lifecycle.clone(),
                gates: gates.collect(),
            });
            let failed: Vec<String> = lifecycle_log::failed(&runs).into_iter().map(str::to_owned).collect();
            if failed.is_empty() {
                return Ok(());
            }
            let command = vec!["seriatim".to_owned(), "gates".to_owned()];
            let question = quality::command_question(
                &format!("lifecycle ({})", failed.join(", ")),
                &command,
                &self.proof.lifecycle,
                None,
            );
            let (choice, answer) = self.choose(cx, "lifecycle gates", question).await;
            match choice {
                AfterCommand::Fix => {
                    let last = self.action.stages.last().map_or(1, |stage| stage.number);
                    let words = vec![format!("Lifecycle gates failed:\n{}", self.proof.lifecycle)];
                    self.rework(cx, last, &words).await?;
                }
                AfterCommand::Retry | AfterCommand::FewerTests => {}
                AfterCommand::Cancel => self.cancel(cx, &answer.by).await?,
            }
        }
    }

    /// Asks what to do about a lifecycle that cannot be read: without it nobody knows which gates there are.
    async fn ask_about_lifecycle(&mut self, cx: &Cx, broken: &BrokenFile) -> Result<(), Leave> {
        self.proof.lifecycle =
            format!("{}.\nNo gate was run. To fix it: {}.", broken.headline(), broken.remedy());
        let command = vec!["seriatim".to_owned(), "gates".to_owned()];
        let question =
            quality::command_question("lifecycle (not readable)", &command, &self.proof.lifecycle, None);
        let (choice, answer) = self.choose(cx, "lifecycle gates", question).await;
        match choice {
            AfterCommand::Fix => {
                let last = self.action.stages.last().map_or(1, |stage| stage.number);
                let words = vec![self.proof.lifecycle.clone()];
                self.rework(cx, last, &words).await
            }
            AfterCommand::Retry | AfterCommand::FewerTests => Ok(()),
            AfterCommand::Cancel => self.cancel(cx, &answer.by).await,
        }
    }
}
