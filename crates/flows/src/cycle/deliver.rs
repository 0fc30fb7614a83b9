//! The person's approval, bound to the tree that was judged, and what follows from it (CY-07, CY-75, CY-80, CY-92).

use seriatim_core::cycle::archive::Suffix;
use seriatim_core::cycle::block::Block;
use seriatim_core::cycle::block::Mark;
use seriatim_core::cycle::block::Role;
use seriatim_core::cycle::choices::ApprovalChoice;
use seriatim_core::cycle::choices::UndeliveredChoice;
use seriatim_core::cycle::facts::CycleEnd;
use seriatim_core::cycle::facts::CycleFact;
use seriatim_core::cycle::facts::Decision;
use seriatim_core::cycle::facts::DeliveredHow;
use seriatim_core::cycle::facts::FailedEffect;
use seriatim_core::cycle::plan::PlanStep;
use seriatim_core::failure::Class;
use seriatim_core::hash::Hash;

use super::act::Done;
use super::course::Course;
use super::course::one_line;
use super::ended;
use super::judge::Judged;
use super::outcome;
use super::people;
use super::theirs::Standing;
use crate::registry::End;
use crate::registry::Ended;
use crate::request::Delivered;
use crate::request::Delivery;
use crate::request::How;

/// What came of the evaluation.
pub(super) enum Approved {
    Delivered(Ended),
    Stopped(Ended),
    Again,
    Pause,
}

impl Course<'_> {
    /// Asks for approval of exactly the tree that was judged. `None`: it changed meanwhile and must be judged again.
    pub(super) async fn approve(
        &mut self,
        step: &PlanStep,
        work: &Done,
        judged: &Judged,
    ) -> Option<Approved> {
        let shown = &judged.tree;
        let asked = self.cx.now().await;
        let mut question = people::approval(step, work, judged, &self.standing_matters());
        question.about = vec![Hash::of(shown.as_bytes()), Hash::of(work.diff.as_bytes())];
        let (choice, answer) = self.ask(question).await;
        let answered = self.cx.now().await;
        self.fact(CycleFact::Approval {
            cycle: self.number,
            choice,
            by: answer.by.clone(),
            tree: shown.clone(),
            latency_ms: answered.since_ms(asked),
            words: answer.text.clone().unwrap_or_default(),
        });
        let how = match choice {
            ApprovalChoice::Commit => How::Commit,
            ApprovalChoice::Merge => How::Merge,
            ApprovalChoice::Squash => How::Squash,
            ApprovalChoice::Changes => {
                let words = answer.text.unwrap_or_default();
                self.append_human("Changes asked for", &words, Role::Planner).await;
                self.guidance.push(words.clone());
                self.diagnostics = Some(format!("A person asks for changes: {words}"));
                return Some(Approved::Again);
            }
            ApprovalChoice::Stop => return Some(Approved::Stopped(self.stop(&answer.by).await)),
        };
        match self.mind_branch().await {
            Ok(Standing::Same) => {}
            Ok(Standing::Rebased) => return None,
            Ok(Standing::Over(end)) => return Some(Approved::Stopped(end)),
            Err(failure) => {
                let text = format!("delivery: {} - {}", failure.class, failure.message);
                self.fact(CycleFact::Error { effect: Some(FailedEffect::Delivery), text });
                return None;
            }
        }
        let changed = self.changed_since(shown).await;
        if !changed.is_empty() {
            let what = format!(
                "Files changed between the verdict and the approval, so that the approval is void: {}.",
                changed.join(", ")
            );
            self.fact(CycleFact::ApprovalVoid { cycle: self.number, shown: shown.clone(), changed });
            self.append_human("Approval void", &what, Role::Judge).await;
            return None;
        }
        let words = answer.text.clone().unwrap_or_default();
        self.append_human("Approval", &format!("{} by {}. {words}", answer.choice, answer.by), Role::Judge)
            .await;
        match self.merge_work().await {
            Ok(true) => Some(self.deliver_approved(how, step, work, judged).await),
            Ok(false) => {
                let what = "Files were changed on both sides, so that the merged work is judged again.";
                self.fact(CycleFact::ApprovalVoid {
                    cycle: self.number,
                    shown: shown.clone(),
                    changed: self.merged.iter().cloned().collect(),
                });
                self.append_human("Approval void", what, Role::Judge).await;
                None
            }
            Err(failure) => Some(Approved::Stopped(self.give_up(&failure.message).await)),
        }
    }

    /// Commits what was approved, as often as it takes; the approval holds for this tree (E-42).
    async fn deliver_approved(
        &mut self,
        how: How,
        step: &PlanStep,
        work: &Done,
        judged: &Judged,
    ) -> Approved {
        loop {
            let delivery = Delivery {
                how,
                message: self.message.clone(),
                trailers: vec![("Seriatim-Cycle".into(), format!("{:03}", self.number))],
                paths: work.paths.clone(),
                tree: judged.tree.clone(),
                apart: self.state_files(),
                branch: format!("cycle-{:03}", self.number),
                push: true,
                onto: self.onto.clone(),
            };
            let failure = match self.cx.deliver(delivery).await {
                Ok(delivered) => {
                    self.merged.clear();
                    self.record_delivery(how, work, &delivered);
                    return Approved::Delivered(self.finish(step, judged, &delivered).await);
                }
                Err(failure) => failure,
            };
            let text = format!("delivery: {} - {}", failure.class, failure.message);
            self.fact(CycleFact::Error { effect: Some(FailedEffect::Delivery), text });
            let (choice, answer) = self.ask(people::not_delivered(&failure)).await;
            self.decided(Decision::Undelivered(choice), &answer);
            match (choice, failure.class == Class::Denied) {
                (UndeliveredChoice::Retry, false) => {}
                (UndeliveredChoice::Retry, true) | (UndeliveredChoice::Changes, _) => {
                    let words = answer.text.unwrap_or_default();
                    self.diagnostics = Some(format!("The commit was refused: {} {words}", failure.message));
                    return Approved::Again;
                }
                (UndeliveredChoice::Stop, _) => return Approved::Stopped(self.stop(&answer.by).await),
            }
        }
    }

    fn record_delivery(&self, how: How, work: &Done, delivered: &Delivered) {
        self.fact(CycleFact::Delivered {
            cycle: self.number,
            how: match how {
                How::Commit => DeliveredHow::Commit,
                How::Merge => DeliveredHow::Merge,
                How::Squash => DeliveredHow::Squash,
            },
            commit: delivered.commit.clone(),
            branch: self.branch.clone(),
            pushed: delivered.pushed,
            files: work.paths.clone(),
        });
    }

    async fn finish(&mut self, step: &PlanStep, judged: &Judged, delivered: &Delivered) -> Ended {
        let pushed = if delivered.pushed { " and pushed" } else { "" };
        let words = format!("Committed{pushed} as {}.", delivered.commit);
        let block = Block {
            role: Role::Judge,
            mark: Mark::Pass,
            summary: one_line(&words),
            next: Role::Human,
            extra: vec![],
        };
        self.append("Done", &format!("{words} {}", judged.footing()), block).await;
        let archive = self.archive(Suffix::None).await;
        self.clear().await;
        self.fact(CycleFact::CycleEnded { cycle: self.number, end: CycleEnd::Completed });
        let message = format!(
            "The cycle is done: {}. {words} {} Its document is in {archive}.",
            step.title.trim_end_matches('.'),
            judged.footing()
        );
        self.end_judged(judged, &message, &archive, &delivered.commit)
    }

    /// A person halts the cycle (CY-95).
    pub(super) async fn stop(&mut self, by: &str) -> Ended {
        let archive = self.keep_incomplete(&format!("{by} stopped the cycle.")).await;
        let message =
            format!("{by} stopped the cycle. Its document is in {archive}; the files are as they are.");
        ended(End::Cancelled, false, &message, outcome("STOPPED", self, Some(&archive), None))
    }
}
