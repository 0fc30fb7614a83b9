//! The pause after five tries, and the end by a blocker that nothing can be done about (CY-10, CY-76 to CY-78).

use seriatim_core::cycle::alert::Alert;
use seriatim_core::cycle::archive::Suffix;
use seriatim_core::cycle::block::Block;
use seriatim_core::cycle::block::Mark;
use seriatim_core::cycle::block::Role;
use seriatim_core::cycle::choices::PauseChoice;
use seriatim_core::cycle::facts::CycleEnd;
use seriatim_core::cycle::facts::CycleFact;
use seriatim_core::cycle::facts::Decision;

use super::course::Course;
use super::course::one_line;
use super::ended;
use super::outcome;
use super::people;
use crate::registry::End;
use crate::registry::Ended;

pub(super) enum After {
    Continue,
    Over(Ended),
}

impl Course<'_> {
    /// Five in a row: what stood in the way is summed up, the document is kept, and a person decides (K-61).
    pub(super) async fn pause(&mut self) -> After {
        self.alert(Alert::FiveLoopPause).await;
        let list: Vec<String> = self.blockers.iter().map(|b| format!("- {}", one_line(b))).collect();
        let summary = format!("What stood in the way:\n\n{}", list.join("\n"));
        let block = Block {
            role: Role::Judge,
            mark: Mark::Insufficient,
            summary: format!("Paused after {} tries in a row", self.limits.insufficient),
            next: Role::Human,
            extra: vec![],
        };
        self.append("Pause", &summary, block).await;
        let archive = self.archive(Suffix::Incomplete).await;
        self.fact(CycleFact::Paused { cycle: self.number, archive });
        let (choice, answer) = self.ask(people::paused(self.limits.insufficient, &self.blockers)).await;
        self.decided(Decision::Pause(choice), &answer);
        match choice {
            PauseChoice::Guide => {
                let words = answer.text.unwrap_or_default();
                self.append_human("Restart", &words, Role::Planner).await;
                self.guidance.push(words.clone());
                self.diagnostics = Some(format!("A person restarts the cycle: {words}"));
                self.start_over();
                After::Continue
            }
            PauseChoice::NewGoal => {
                self.clear().await;
                self.fact(CycleFact::CycleEnded { cycle: self.number, end: CycleEnd::Incomplete });
                self.begin_anew(answer.text.unwrap_or_default()).await
            }
            PauseChoice::Stop => After::Over(self.stop(&answer.by).await),
        }
    }

    fn start_over(&mut self) {
        self.insufficient = 0;
        self.fails = 0;
        self.blockers.clear();
    }

    /// A new goal is a new cycle with a number of its own, in the same run. What the last one left in the files and
    /// nobody committed is still measured, judged and shown at the approval: it must not slip through.
    async fn begin_anew(&mut self, goal: String) -> After {
        self.start_over();
        self.number += 1;
        self.talk.clear();
        self.diagnostics = None;
        self.plans = 0;
        self.iterations = 0;
        self.packs.clear();
        self.approved_commands.clear();
        self.start.goal = Some(goal);
        self.open_document().await;
        match self.take_goal().await {
            Ok(()) => After::Continue,
            Err(end) => After::Over(end),
        }
    }

    /// Nothing can be done about the blocker (CY-78, CY-94).
    pub(super) async fn give_up(&mut self, blocker: &str) -> Ended {
        let body = format!("The Actor could not go on: {blocker}");
        let block = Block {
            role: Role::Judge,
            mark: Mark::Insufficient,
            summary: one_line(blocker),
            next: Role::Human,
            extra: vec![],
        };
        self.append("Failure", &body, block).await;
        let archive = self.archive(Suffix::Failed).await;
        self.clear().await;
        self.fact(CycleFact::CycleEnded { cycle: self.number, end: CycleEnd::Failed });
        let message = format!(
            "The cycle failed: {} Its document is in {archive}. Remove the cause, then start again with `seriatim run \
                 cycle`.",
            people::sentence(blocker)
        );
        ended(End::Failed, false, &message, outcome("FAIL", self, Some(&archive), None))
    }
}
