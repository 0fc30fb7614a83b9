//! The stages of an action: roles one after the other or side by side, and the join that waits for all of them.

use seriatim_core::action::Duty;
use seriatim_core::action::Stage;
use seriatim_core::action::brief;
use seriatim_core::action::brief::RoleNeeded;
use seriatim_core::action::facts::ActionFact;
use seriatim_core::action::facts::CourseChange;
use seriatim_core::action::facts::RoleEnd;
use seriatim_core::action::facts::RoleResult;
use seriatim_core::action::facts::RoleStop;
use seriatim_core::action::facts::Skipped;
use seriatim_core::action::output;
use seriatim_core::action::quality;
use seriatim_core::action::quality::AfterCommand;
use seriatim_core::action::trouble::Scene;
use seriatim_core::verdict::Verdict;

use super::course::Course;
use super::course::Did;
use super::course::Leave;
use super::course::first_line;
use super::duty::Gone;
use super::duty::Stopped;
use crate::Cx;
use crate::request::SceneCall;
use crate::request::TreePlace;

/// How many roles work at the same time.
const SIDE_BY_SIDE: usize = 8;

/// What happens after a stage.
pub(super) enum After {
    Next,
    /// Files were brought back from outside: what was done is void.
    Anew,
}

impl Course {
    /// All stages with their gates, in their order. What a person restored meanwhile voids what came after it.
    pub(super) async fn stages(&mut self, cx: &Cx) -> Result<(), Leave> {
        loop {
            match self.once(cx).await? {
                After::Next => break,
                After::Anew => {
                    cx.record(&ActionFact::FlowChanged {
                        change: CourseChange::Void,
                        reason: "files were brought back from a snapshot".to_owned(),
                    });
                    // Findings stay: what they are about may be back.
                    self.written.clear();
                    self.verdicts.clear();
                    self.work.clear();
                }
            }
        }
        self.check_outputs(cx).await?;
        self.lifecycle_gates(cx).await?;
        // A fix for the last gates may have been reviewed: what that found is decided upon, and the gates run again.
        while self.is_unsettled() {
            let last = self.action.stages.last().map_or(1, |stage| stage.number);
            self.unbound(cx, last).await?;
            self.lifecycle_gates(cx).await?;
        }
        Ok(())
    }

    async fn once(&mut self, cx: &Cx) -> Result<After, Leave> {
        let stages: Vec<Stage> = self.action.stages.clone();
        for stage in &stages {
            cx.record(&ActionFact::StageBegan {
                stage: stage.number,
                roles: stage.duties.iter().map(|duty| duty.role.clone()).collect(),
                gates: stage.gates.iter().map(|gate| gate.name.clone()).collect(),
            });
            let duties = self.needed(cx, stage).await?;
            let scene = if stage.number == 1 { Scene::First } else { Scene::Sequence };
            self.work_on(cx, stage.number, &duties, scene, &[]).await?;
            self.write_evidence(cx).await;
            for gate in &stage.gates {
                if let After::Anew = self.gate(cx, stage, gate).await? {
                    return Ok(After::Anew);
                }
                self.write_evidence(cx).await;
            }
        }
        // Findings that no gate was left for are not passed by.
        let last = stages.last().map_or(1, |stage| stage.number);
        self.unbound(cx, last).await
    }

    /// The roles of a stage that are needed; whether a condition in words holds is for a person to say.
    async fn needed(&mut self, cx: &Cx, stage: &Stage) -> Result<Vec<Duty>, Leave> {
        let mut needed = vec![];
        for duty in &stage.duties {
            if duty.condition.trim().is_empty() {
                needed.push(duty.clone());
                continue;
            }
            let question = brief::condition_question(&self.action.name, duty);
            let (choice, answer) = self.choose(cx, &format!("{} needed", duty.title()), question).await;
            match choice {
                RoleNeeded::Yes => needed.push(duty.clone()),
                RoleNeeded::No => {
                    let (role, stage) = (duty.role.clone(), stage.number);
                    cx.record(&ActionFact::RoleSkipped { role, stage, reason: Skipped::NotNeeded });
                    self.note_work(duty.title(), "not needed".to_owned());
                    let matter = if duty.review { "review by" } else { "work of" };
                    let reason = format!("not needed, says {}", answer.by);
                    self.settle(
                        cx,
                        &format!("{matter} {}", duty.title()),
                        Verdict::absent(reason, &answer.by),
                    );
                }
                RoleNeeded::Cancel => {
                    self.cancel(cx, &answer.by).await?;
                    // They stay with it after all: the role works, which loses nothing.
                    needed.push(duty.clone());
                }
            }
        }
        Ok(needed)
    }

    /// Lets roles work, with words that they have to hear. Good work is kept; only what failed is done again.
    pub(super) async fn work_on(
        &mut self,
        cx: &Cx,
        stage: u32,
        duties: &[Duty],
        scene: Scene,
        words: &[String],
    ) -> Result<(), Leave> {
        let mut open: Vec<Duty> = duties.to_vec();
        while !open.is_empty() {
            self.adopt(cx);
            let done = match open.as_slice() {
                [only] => vec![self.alone(cx, stage, only, scene, words).await],
                several if self.start.manual => self.in_turn(cx, stage, several, words).await,
                several => self.side_by_side(cx, stage, several, words).await,
            };
            if done.len() > 1 {
                self.tell_results(cx, &done);
            }
            let mut again = vec![];
            for (duty, one) in done {
                match one {
                    Ok(did) => self.absorb(cx, did).await,
                    Err(stopped) => {
                        let reason = match &stopped.gone {
                            Gone::Cancel { .. } => RoleStop::Cancelled,
                            Gone::Rollback { .. } => RoleStop::RolledBack,
                            Gone::Broken { .. } => RoleStop::Broken,
                        };
                        cx.record(&ActionFact::RoleStopped { role: duty.role.clone(), stage, reason });
                        self.gone(cx, *stopped).await?;
                        again.push(duty);
                    }
                }
            }
            open = again;
        }
        Ok(())
    }

    async fn alone(
        &self,
        cx: &Cx,
        stage: u32,
        duty: &Duty,
        scene: Scene,
        words: &[String],
    ) -> (Duty, Result<Did, Box<Stopped>>) {
        (duty.clone(), self.duty(cx, stage, duty, scene, words, None).await)
    }

    /// One role after the other: a person has one pair of hands, and works in the workspace itself.
    async fn in_turn(
        &self,
        cx: &Cx,
        stage: u32,
        duties: &[Duty],
        words: &[String],
    ) -> Vec<(Duty, Result<Did, Box<Stopped>>)> {
        let mut done = vec![];
        for duty in duties {
            done.push(self.alone(cx, stage, duty, Scene::Parallel, words).await);
        }
        done
    }

    /// Each role in a copy of its own; its files reach the workspace when it passes, not at the join.
    async fn side_by_side(
        &self,
        cx: &Cx,
        stage: u32,
        duties: &[Duty],
        words: &[String],
    ) -> Vec<(Duty, Result<Did, Box<Stopped>>)> {
        let items: Vec<(String, Duty)> = duties
            .iter()
            .enumerate()
            .map(|(index, duty)| {
                (format!("{}-{}", duty.role.replace(['/', ':'], "-"), index + 1), duty.clone())
            })
            .collect();
        cx.par(SIDE_BY_SIDE, items, |cx, duty| async move {
            let copy = format!("{stage}-{}", duty.role.replace('/', "-"));
            let made: Result<TreePlace, _> = cx.scene(SceneCall::Copy { copy: copy.clone() }).await;
            let result = match made {
                Ok(place) => {
                    self.duty(&cx, stage, &duty, Scene::Parallel, words, Some((copy.clone(), place))).await
                }
                Err(failure) => {
                    let gone = Gone::Broken { why: failure.message };
                    Err(Box::new(Stopped { gone, did: Did::default() }))
                }
            };
            let _: Result<(), _> = cx.scene(SceneCall::Drop { copy }).await;
            (duty, result)
        })
        .await
    }

    /// The documented status of a parallel stage (OC-47).
    fn tell_results(&self, cx: &Cx, done: &[(Duty, Result<Did, Box<Stopped>>)]) {
        let ended: Vec<output::Ended> = done
            .iter()
            .map(|(duty, one)| output::Ended {
                role: duty.role.clone(),
                failed: match one {
                    Ok(did) if did.skipped => Some("skipped".to_owned()),
                    Ok(_) => None,
                    Err(_) => Some("stopped by a person".to_owned()),
                },
                retrying: false,
            })
            .collect();
        let roles = done.iter().map(|(duty, one)| RoleResult {
            role: duty.role.clone(),
            result: match one {
                Ok(did) if did.skipped => RoleEnd::Skipped,
                Ok(_) => RoleEnd::Done,
                Err(_) => RoleEnd::Stopped,
            },
        });
        let text = output::parallel_text(&ended);
        cx.record(&ActionFact::ParallelResults { text, roles: roles.collect() });
    }

    /// The same for one role that failed beside others and is tried again.
    pub(super) fn tell_retry(&self, cx: &Cx, role: &str, reason: &str) {
        let ended = output::Ended { role: role.to_owned(), failed: Some(first_line(reason)), retrying: true };
        cx.record(&ActionFact::ParallelResults {
            text: output::parallel_text(&[ended]),
            roles: vec![RoleResult { role: role.to_owned(), result: RoleEnd::Retrying }],
        });
    }

    /// What the action owes beside what its roles owe (OC-100).
    async fn check_outputs(&mut self, cx: &Cx) -> Result<(), Leave> {
        loop {
            let existing = super::open::files(cx).await;
            let missing = seriatim_core::action::paths::missing(&self.action.outputs, &existing);
            if missing.is_empty() {
                return Ok(());
            }
            let text = output::missing_text(&self.action.name, &missing);
            let question = quality::command_question(
                "required artifacts",
                &["look for the outputs of the action".to_owned()],
                &text,
                None,
            );
            let (choice, answer) = self.choose(cx, "required artifacts", question).await;
            match choice {
                AfterCommand::Retry | AfterCommand::FewerTests => {}
                AfterCommand::Fix => {
                    let last = self.action.stages.last().map_or(1, |stage| stage.number);
                    self.rework(cx, last, &[text]).await?;
                }
                AfterCommand::Cancel => self.cancel(cx, &answer.by).await?,
            }
        }
    }
}
