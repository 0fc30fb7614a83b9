//! The stage of the product: which one is declared, what it requires, and whether a bar was lowered.

use seriatim_core::action::evidence::CommandRun;
use seriatim_core::action::facts::ActionFact;
use seriatim_core::action::facts::LifecycleResult;
use seriatim_core::action::lifecycle::Lifecycle;
use seriatim_core::action::lifecycle_log;
use seriatim_core::action::lifecycle_log::GateEnd;
use seriatim_core::action::lifecycle_log::GateRun;
use seriatim_core::action::loosening;
use seriatim_core::action::quality;
use seriatim_core::action::quality::AfterCommand;

use super::LIFECYCLE;
use super::course::Course;
use super::course::Leave;
use crate::Cx;
use crate::request::Check;
use crate::request::Command;
use crate::request::Expect;
use crate::request::WriteFile;

/// The lifecycle as it was when somebody last approved something.
const APPROVED: &str = ".snapshots/lifecycle-approved.yaml";
/// How long a gate may take when nothing says otherwise.
const TIMEOUT_MS: u64 = 20 * 60_000;

impl Course {
    async fn lifecycle(cx: &Cx) -> Option<(Lifecycle, String)> {
        let text = cx.read(LIFECYCLE).await.ok()?.text;
        let (lifecycle, _) = Lifecycle::read(text.as_bytes()).ok()?;
        Some((lifecycle, text))
    }

    /// Reads the declared stage; what was loosened since the last approval is shown at the next one (OC-122).
    pub(super) async fn read_stage(&mut self, cx: &Cx) {
        let Some((lifecycle, _)) = Course::lifecycle(cx).await else { return };
        self.proof.stage = Some(lifecycle.current_stage.clone());
        let Ok(text) = cx.read(APPROVED).await else { return };
        let Ok((before, _)) = Lifecycle::read(text.text.as_bytes()) else { return };
        for loosened in loosening::loosened(&before, &lifecycle) {
            let note = format!("In {LIFECYCLE}, {loosened}.");
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }

    /// From now on this is what was approved.
    pub(super) async fn remember_lifecycle(&self, cx: &Cx) {
        let Some((_, text)) = Course::lifecycle(cx).await else { return };
        let file =
            WriteFile { path: APPROVED.to_owned(), text, expect: Expect::Any, append: false, durable: true };
        self.keep(cx, file).await;
    }

    /// The gates that the stage requires, all of them, before the action counts as done (OC-116 to OC-121).
    pub(super) async fn lifecycle_gates(&mut self, cx: &Cx) -> Result<(), Leave> {
        loop {
            let Some((lifecycle, _)) = Course::lifecycle(cx).await else {
                self.proof.lifecycle = format!("There is no {LIFECYCLE}: no lifecycle gates are declared.");
                return Ok(());
            };
            let Ok(stage) = lifecycle.stage(&lifecycle.current_stage) else { return Ok(()) };
            self.proof.stage = Some(stage.name.clone());
            let mut runs = vec![];
            for gate in lifecycle.required(stage) {
                runs.push(self.lifecycle_gate(cx, gate).await);
            }
            self.proof.lifecycle = lifecycle_log::text(&stage.name, &runs);
            let gates =
                runs.iter().map(|run| LifecycleResult { gate: run.name.clone(), end: run.end.clone() });
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
                AfterCommand::Retry => {}
                AfterCommand::Cancel => self.cancel(cx, &answer.by).await?,
            }
        }
    }

    async fn lifecycle_gate(&mut self, cx: &Cx, gate: &seriatim_core::action::lifecycle::Gate) -> GateRun {
        let argv = gate.command_in(".");
        let at = cx.now().await;
        let command = Command {
            argv: argv.clone(),
            timeout_ms: Some(gate.timeout_ms.unwrap_or(TIMEOUT_MS)),
            check: Some(Check::named(&gate.name)),
            ..Command::default()
        };
        let (end, output, exit, duration_ms) = match cx.exec(command).await {
            Ok(ran) => {
                let output = format!("{}{}", ran.stdout, ran.stderr);
                let end = match ran.code {
                    Some(code) => GateEnd::Exit(code),
                    None => GateEnd::Without("ended by a signal".to_owned()),
                };
                (end, output, ran.code, ran.duration_ms)
            }
            Err(failure) => (GateEnd::Without(failure.message), failure.output, None, 0),
        };
        let stage = self.proof.stage.clone();
        self.proof.commands.push(CommandRun {
            at,
            argv: argv.clone(),
            within: vec![],
            exit,
            duration_ms,
            stage,
        });
        GateRun { name: gate.name.clone(), command: argv, end, output }
    }
}
