//! Failures: each on record with its report, and put to a person where the engine is at its end.

use std::collections::BTreeSet;

use seriatim_core::action::evidence::GateDecision;
use seriatim_core::action::facts::ActionFact;
use seriatim_core::action::facts::ErrorAt;
use seriatim_core::action::paths;
use seriatim_core::action::trouble;
use seriatim_core::action::trouble::AfterCancel;
use seriatim_core::action::trouble::AfterFailure;
use seriatim_core::action::trouble::Impacted;
use seriatim_core::action::trouble::Scene;
use seriatim_core::action::trouble::Trouble;
use seriatim_core::choices::Choices;
use seriatim_core::failure::Failure;
use seriatim_core::sentence::SharedFact;
use seriatim_core::verdict::Verdict;

use super::course::Course;
use super::course::Leave;
use super::course::decided;
use super::duty::Gone;
use super::duty::Shift;
use super::duty::Stopped;
use crate::Cx;
use crate::request::Expect;
use crate::request::WriteFile;

/// How often a free name is looked for when others write reports in the same second.
const NAMES_TRIED: u32 = 20;

/// What it leads to when somebody does not cancel after all: at the work of a role, and at a gate.
const AGAIN: &str = "The role starts again; what others finished stays as it is.";
const ASKED_AGAIN: &str = "The question that was open before is asked again.";

/// What was decided about a failure.
pub(super) enum Decided {
    Again,
    /// A person mended the files: they are looked at again, and nobody is called.
    LookAgain,
    Skip,
    /// The output counts though it is invalid.
    TakeAsItIs,
}

/// The files that a failure concerns: those with something wrong in them, else all that the role owes.
fn impacted(shift: &Shift<'_>) -> Vec<Impacted> {
    if !shift.artifacts.is_empty() {
        return shift.artifacts.clone();
    }
    let owed = |path: &String| Impacted { path: path.clone(), note: "not finished".to_owned() };
    shift.duty.writes.iter().map(owed).collect()
}

impl Course {
    fn trouble(&self, shift: &Shift<'_>, failure: Failure, failed_at: seriatim_core::time::Utc) -> Trouble {
        Trouble {
            action: self.action.name.clone(),
            stage: shift.stage,
            role: shift.duty.role.clone(),
            title: shift.duty.title(),
            scene: shift.scene,
            duration_ms: failed_at.since_ms(shift.began),
            failed_at,
            failure,
            artifacts: impacted(shift),
            tried: shift.tried.clone(),
            optional: shift.duty.optional,
            different_agent: self.start.fallbacks.get(&shift.duty.role).cloned(),
            can_roll_back: self.snapshot.is_some(),
            timeout_ms: shift.turn.timeout_ms,
        }
    }

    /// Puts a failure on record: a fact, and the full report under `logs/errors/` (OC-72, OC-90).
    pub(super) async fn note_failure(&self, cx: &Cx, shift: &mut Shift<'_>, failure: &Failure) {
        let now = cx.now().await;
        cx.record(&SharedFact::AttemptFailed {
            step: shift.duty.role.clone(),
            attempt: shift.turn.attempt,
            failure: failure.clone(),
        });
        let trouble = self.trouble(shift, failure.clone(), now);
        shift.tried.push(format!("Attempt {}: {}", shift.turn.attempt, failure.message));
        shift.did.failures.push(failure.message.clone());
        // A reviewer that owes no file fails at its report, which is named in its place.
        let named = !trouble.artifacts.is_empty() || shift.duty.writes.is_empty();
        shift.did.unexplained += usize::from(!named || trouble.remediation().is_empty());
        let Some(redactor) = &self.redactor else { return };
        let report = trouble.json(&shift.given, &shift.gave, redactor);
        // `{:#}` of a JSON value cannot fail.
        let text = format!("{report:#}");
        let mut refused = String::new();
        for _ in 0..NAMES_TRIED {
            let folder = paths::ERROR_LOGS.trim_end_matches('/').to_owned();
            let names = cx.survey(vec![folder], vec![]).await.folders.pop().unwrap_or_default();
            let taken: BTreeSet<String> =
                names.into_iter().map(|name| format!("{}{name}", paths::ERROR_LOGS)).collect();
            let (place, side_by_side) = self.place_in_stage(shift);
            let path = trouble::file_name(now, place, side_by_side, &taken);
            let file =
                WriteFile { path, text: text.clone(), expect: Expect::Absent, append: false, durable: true };
            match cx.write(file).await {
                Ok(_) => return,
                Err(failure) => refused = failure.message,
            }
        }
        cx.record(&ActionFact::Error { at: ErrorAt::ErrorLog, text: refused });
    }

    /// Returns which of the roles of its stage this one is, and how many work side by side; one alone is the first of one.
    fn place_in_stage(&self, shift: &Shift<'_>) -> (usize, usize) {
        let stage = self.action.stages.iter().find(|stage| stage.number == shift.stage);
        let Some(stage) = stage.filter(|_| shift.scene == Scene::Parallel) else { return (0, 1) };
        let place = stage.duties.iter().position(|duty| duty.role == shift.duty.role);
        (place.unwrap_or(0), stage.duties.len())
    }

    /// Puts a failure to a person, with all options and what each leads to. Nothing goes on meanwhile (OC-75).
    pub(super) async fn escalate(
        &self,
        cx: &Cx,
        shift: &mut Shift<'_>,
        failure: Failure,
    ) -> Result<Decided, Gone> {
        let now = cx.now().await;
        let trouble = self.trouble(shift, failure, now);
        let mut question = trouble::question(&trouble);
        if !shift.turn.cwd.is_empty() {
            // Whoever mends the files has to know where they are.
            question.details.push_str(&format!("\nIts work so far lies in {}.", shift.turn.path));
        }
        let subject = question.header.clone();
        let (choice, answer) = cx.choose::<AfterFailure>(question).await;
        let at = cx.now().await;
        let words = answer.text.clone().unwrap_or_default();
        let fact = decided(&subject, choice.id(), at, &answer.by, &words);
        cx.record(&fact);
        let decision = GateDecision {
            gate: subject,
            decision: choice.id().to_owned(),
            at,
            by: answer.by.clone(),
            rationale: words.clone(),
        };
        shift.did.decisions.push((fact, decision));
        // From here on it is counted anew: a person has decided.
        shift.spent = trouble::Spent::default();
        let heard = Some(words.clone()).filter(|words| !words.trim().is_empty());
        match choice {
            AfterFailure::Retry => shift.turn.feedback.extend(heard),
            AfterFailure::Extend => {
                shift.turn.timeout_ms = trouble::extended_ms(shift.turn.timeout_ms, heard.as_deref());
            }
            AfterFailure::DifferentAgent => {
                shift.turn.agent = trouble.different_agent.clone().or(heard);
                shift.turn.feedback.clear();
            }
            AfterFailure::Fix => return Ok(Decided::LookAgain),
            AfterFailure::Skip => {
                let title = shift.duty.title();
                shift.did.notes.push(format!("{title} was skipped by {}: {words}", answer.by));
                let why = format!("skipped by {}: {}", answer.by, trouble.failure.message);
                // What a reviewer would have found is not known; the work of an optional role may be absent.
                shift.did.verdict = Some(match shift.duty.review {
                    true => Verdict::unknown(why),
                    false => Verdict::absent(why, &answer.by),
                });
                return Ok(Decided::Skip);
            }
            AfterFailure::Override => {
                let note =
                    format!("{} let invalid output of the {} pass: {words}", answer.by, shift.duty.title());
                shift.did.notes.push(note);
                let why = trouble.failure.message.clone();
                shift.did.verdict = Some(match shift.duty.review {
                    true => Verdict::unknown(format!("its report cannot be used: {why}")),
                    false => Verdict::bad(why).accepted(&answer.by, &words),
                });
                return Ok(Decided::TakeAsItIs);
            }
            AfterFailure::Rollback => return Err(Gone::Rollback { by: answer.by }),
            AfterFailure::Cancel => return Err(Gone::Cancel { by: answer.by }),
        }
        Ok(Decided::Again)
    }

    /// A person stopped a role's work. `Ok` means that they changed their mind, and the role works again.
    pub(super) async fn gone(&mut self, cx: &Cx, stopped: Stopped) -> Result<(), Leave> {
        self.note_calls(&stopped.did.role, stopped.did.calls);
        self.note_decisions(stopped.did.decisions);
        match stopped.gone {
            Gone::Broken { why } => {
                cx.record(&ActionFact::Error { at: ErrorAt::Role, text: why.clone() });
                Err(Leave::Broken { why: format!("The action {} cannot go on: {why}", self.action.name) })
            }
            Gone::Rollback { by } => match self.roll_back(cx, &by).await {
                Some(leave) => Err(leave),
                None => Ok(()),
            },
            Gone::Cancel { by } => match self.cancelled_by(cx, &by, AGAIN).await {
                Some(leave) => Err(leave),
                None => Ok(()),
            },
        }
    }

    /// Asks what becomes of the work when a person cancels (K-47). Nothing where they do not want that after all.
    /// `back` says what changing one's mind leads to.
    async fn cancelled_by(&mut self, cx: &Cx, by: &str, back: &str) -> Option<Leave> {
        loop {
            let changes = self.written.keys().map(|path| format!("- {path}")).collect::<Vec<_>>().join("\n");
            let question =
                trouble::cancel_question(&self.action.name, &changes, self.snapshot.is_some(), back);
            let (choice, answer) = self.choose(cx, "Cancel", question).await;
            match choice {
                AfterCancel::Keep => return Some(Leave::Cancelled { by: by.to_owned() }),
                AfterCancel::Rollback => {
                    if let Some(leave) = self.roll_back(cx, &answer.by).await {
                        return Some(leave);
                    }
                }
                AfterCancel::Back => return None,
            }
        }
    }

    /// The same at a gate, where changing one's mind means to be asked again.
    pub(super) async fn cancel(&mut self, cx: &Cx, by: &str) -> Result<(), Leave> {
        match self.cancelled_by(cx, by, ASKED_AGAIN).await {
            Some(leave) => Err(leave),
            None => Ok(()),
        }
    }
}
