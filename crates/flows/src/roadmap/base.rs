//! What a commit of a step is made on, and of: the commit and branch where the step stands, and the files that its checks
//! saw.

use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::roadmap::facts::Matter;
use seriatim_core::roadmap::phases::COMMIT;
use seriatim_core::roadmap::proof::Sort;
use seriatim_core::roadmap::result::Checkpoint;

use super::home::CommitKind;
use super::home::not_committed;
use super::people;
use super::people::MovedChoice;
use super::people::ObstacleChoice;
use super::prove::Proof;
use super::work::Stop;
use super::work::Work;
use crate::Cx;
use crate::request::Check;
use crate::request::CommitBase;
use crate::request::GitCall;
use crate::request::HookRun;
use crate::request::Hooked;
use crate::request::Stand;

/// So often the last checks run anew because files of the step changed meanwhile.
const VALIDATIONS_MAX: u32 = 3;

/// Where the workspace itself stands.
pub(super) async fn workspace_stand(cx: &Cx) -> Result<Stand, Stop> {
    let call = GitCall::Stand { tree: String::new() };
    cx.git(call).await.map_err(|failure| Stop::failed(failure.message))
}

impl Work<'_> {
    /// Nothing is committed on another commit or branch than the one where the step stands, unless a person says so.
    /// Notes the files as they are, for the commit that follows.
    pub(super) async fn mind_base(&mut self, cx: &Cx) -> Result<(), Stop> {
        loop {
            let stand = self.stand(cx).await?;
            let found = CommitBase::of(&stand);
            self.seen.clone_from(&stand.tree);
            let Some(expected) = self.onto.clone().filter(|expected| *expected != found) else {
                return Ok(());
            };
            let step = &self.step.id;
            let question = people::moved(step, &expected, &found);
            let (choice, answer) = people::decide(cx, Matter::Moved, step, question).await;
            match choice {
                MovedChoice::Approve => {
                    self.onto = Some(found);
                    self.leave_apart(cx).await;
                }
                MovedChoice::Retry => {}
                MovedChoice::Cancel => return Err(Stop::Cancelled { by: answer.by }),
            }
        }
    }

    /// The state files of the step: its state and its trail.
    pub(super) fn state_files(&self) -> Vec<String> {
        [&self.path, &self.trail].into_iter().filter(|path| !path.is_empty()).cloned().collect()
    }

    /// What changed meanwhile and is not the step's to change is somebody else's work.
    async fn leave_apart(&mut self, cx: &Cx) {
        let since = self.memory.base_tree.clone();
        if let Ok(found) = self.changes(cx, &since, 0).await {
            let others = found.files.iter().filter(|file| !self.permits(file)).map(|f| f.path.clone());
            let others: Vec<String> = others.collect();
            self.memory.apart.extend(others);
        }
    }

    /// Has the user's hooks look at the next commit. Returns whether they changed files, which are then the step's.
    pub(super) async fn run_hooks(
        &mut self,
        cx: &Cx,
        kind: CommitKind,
        paths: &[String],
    ) -> Result<bool, Stop> {
        let message = self.message_of(kind);
        let run = HookRun {
            message: message.clone(),
            paths: paths.to_vec(),
            check: Check { ours: Some(paths.to_vec()), ..Check::named("hooks") },
            into: None,
            apart: paths.iter().filter(|path| self.allowed.is_own(path)).cloned().collect(),
            bounded: true,
            tree: self.place.tree.clone(),
        };
        let hooked: Hooked = cx
            .git(GitCall::Hooks(run))
            .await
            .map_err(|failure| not_committed(&kind.subject(&self.step.id), &failure))?;
        self.message = Some(Some(hooked.message).filter(|text| !text.is_empty()).unwrap_or(message));
        self.follow_hooks(cx, &hooked.changed).await;
        Ok(!hooked.changed.is_empty())
    }

    /// Proves a checkpoint again whose files the user's hooks changed: what is committed is what the checks saw.
    pub(super) async fn prove_hooked(&mut self, cx: &Cx, point: Checkpoint) -> Result<(), Stop> {
        let sort = match point {
            Checkpoint::Green => Sort::Green,
            Checkpoint::Review => Sort::Review,
            Checkpoint::Final => Sort::Final,
        };
        let proof = self.prove(cx, &point.subject(&self.step.id), sort, None).await?;
        if proof.objections.is_empty() {
            return Ok(());
        }
        let reasons: Vec<&str> = proof.objections.iter().map(|o| o.message.as_str()).collect();
        Err(Stop::failed(format!("hooks of the repository changed its files, and {}", reasons.join(" "))))
    }

    /// Proves exactly the files that are committed next: where they change while the checks run, these run again.
    pub(super) async fn prove_committed(&mut self, cx: &Cx) -> Result<Proof, Stop> {
        for _ in 0..VALIDATIONS_MAX {
            if !self.place.is_beside() {
                let paths = self.files_to_commit(cx).await?;
                self.run_hooks(cx, CommitKind::Checkpoint(Checkpoint::Final), &paths).await?;
            }
            self.mind_base(cx).await?;
            let seen = self.seen.clone();
            let proof = self.prove(cx, COMMIT, Sort::Commit, None).await?;
            let moved = self.changes(cx, &seen, 0).await?;
            if !moved.files.iter().any(|file| self.ours.contains(&file.path)) {
                return Ok(proof);
            }
        }
        Err(Stop::failed("its files change while its checks run; save them, and run the step again"))
    }

    /// The branch of the workspace is the one that was checked out when the step began: no other one gets its work.
    pub(super) async fn mind_home(&self, cx: &Cx) -> Result<(), Stop> {
        loop {
            let found = CommitBase::of(&workspace_stand(cx).await?);
            let Some(home) = self.home.as_ref().filter(|home| home.branch != found.branch) else {
                return Ok(());
            };
            let words = format!(
                "The step began on {}, and now {} is checked out. Go back with:  {}",
                home.in_words(),
                found.in_words(),
                home.way_back()
            );
            let failure = Failure::new(Class::Contract, words);
            let question = people::in_the_way(&self.step.id, &failure);
            let (choice, _) = people::decide(cx, Matter::Moved, &self.step.id, question).await;
            match choice {
                ObstacleChoice::Retry => {}
                ObstacleChoice::Cancel => {
                    let branch = &self.place.branch;
                    return Err(Stop::failed(format!(
                        "its work is on the branch {branch} and could not be merged"
                    )));
                }
            }
        }
    }
}
