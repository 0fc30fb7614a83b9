//! Bringing the work of a step home: checkpoints, the final commit, and the push at the end.

use std::collections::BTreeSet;

use serde_json::json;
use seriatim_core::roadmap::change;
use seriatim_core::roadmap::change::Act;
use seriatim_core::roadmap::change::By;
use seriatim_core::roadmap::change::Change;
use seriatim_core::roadmap::phases::COMMIT;
use seriatim_core::roadmap::proof::Sort;
use seriatim_core::roadmap::result;
use seriatim_core::roadmap::result::ChangedFile;
use seriatim_core::roadmap::result::FilesModified;
use seriatim_core::roadmap::skip::CHECKPOINT_PENDING;
use seriatim_core::roadmap::state::PhaseStatus;
use seriatim_core::roadmap::state::StepState;
use seriatim_core::roadmap::verdict;

use super::people;
use super::project::Project;
use super::prove::Proof;
use super::work::Stop;
use super::work::Work;
use crate::Cx;
use crate::request::Checkpoint;
use crate::request::Committed;
use crate::request::Difference;
use crate::request::FileChange;
use crate::request::GitCall;
use crate::request::Stand;

/// How much of a change a person is shown for a review.
const DIFF_BYTES_MAX: u64 = 60_000;
/// How much of a hook's or a gate's refusal goes into the reason.
const REASON_CHARS_MAX: usize = 1500;

impl Work<'_> {
    /// A checkpoint: what is still to come is marked as pending, the gate looks, and the work is committed (DW-72 to
    /// DW-74, K-06).
    pub(super) async fn checkpoint(&mut self, cx: &Cx, point: result::Checkpoint) -> Result<(), Stop> {
        let now = cx.now().await;
        let pending: Vec<String> = self
            .state
            .phases
            .iter()
            .filter(|phase| matches!(phase.status, PhaseStatus::NotExecuted | PhaseStatus::Pending))
            .map(|phase| phase.name.clone())
            .collect();
        for name in pending {
            let reason = Some(format!("{CHECKPOINT_PENDING}: after {}", point.subject(&self.step.id)));
            let skip = Change { by: By::Engine, reason, ..Change::new(Act::Skip, &name) };
            self.take(change::change(&self.state, &self.schema, &skip, now), now)?;
        }
        self.pass_gate(now, point)?;
        self.save(cx).await?;
        let committed = self.commit(cx, point, vec![]).await?;
        self.note_commit(cx, point, &committed);
        Ok(())
    }

    /// The commit gate: the phases as they stand allow a commit of this level.
    fn pass_gate(&mut self, now: seriatim_core::time::Utc, point: result::Checkpoint) -> Result<(), Stop> {
        let verdict = verdict::commit(&self.state, &self.schema, point.level());
        self.unsaid.push(verdict.event(now));
        if verdict.passed() {
            return Ok(());
        }
        Err(Stop::failed(format!("the commit gate refuses: {}", verdict.errors.join("; "))))
    }

    fn note_commit(&mut self, cx: &Cx, point: result::Checkpoint, committed: &Committed) {
        if committed.commit.is_empty() {
            return;
        }
        let entry = json!({
            "subject": point.subject(&self.step.id), "commit": committed.commit, "files": committed.paths,
        });
        cx.record(&json!({"fact": "committed", "step": self.step.id, "commit": entry}));
        self.memory.commits.push(entry);
    }

    /// The step's own changes since its base: those that it may make and nobody else made.
    pub(super) async fn own_changes(&self, cx: &Cx) -> Result<Vec<FileChange>, Stop> {
        let since = self.memory.base_tree.clone();
        let found = self.changes(cx, &since, 0).await?;
        Ok(found.files.into_iter().filter(|file| self.permits(file)).collect())
    }

    /// Commits the step's own files and nothing else. Beside other steps the state file stays out (interfaces).
    async fn commit(
        &mut self,
        cx: &Cx,
        point: result::Checkpoint,
        more: Vec<String>,
    ) -> Result<Committed, Stop> {
        let own = self.own_changes(cx).await?;
        let mut paths: BTreeSet<String> =
            own.into_iter().flat_map(|file| [Some(file.path), file.old_path]).flatten().collect();
        paths.extend(self.may_take.iter().cloned());
        // A log of an earlier try, whose commit was taken back, comes along.
        let log = format!("-{}.log", self.step.id);
        paths.retain(|path| !self.allowed.is_own(path) || path.ends_with(&log));
        if !self.place.is_beside() {
            paths.extend(self.papers());
            paths.extend(more);
        }
        let subject = if self.place.is_beside() && point == result::Checkpoint::Final {
            format!("refactor({})", self.step.id)
        } else {
            point.subject(&self.step.id)
        };
        self.commit_paths(cx, subject, paths.into_iter().collect(), self.place.tree.clone()).await
    }

    /// The papers of the step: its state and its trail.
    pub(super) fn papers(&self) -> Vec<String> {
        [&self.path, &self.trail].into_iter().filter(|path| !path.is_empty()).cloned().collect()
    }

    pub(super) async fn commit_paths(
        &self,
        cx: &Cx,
        subject: String,
        paths: Vec<String>,
        tree: String,
    ) -> Result<Committed, Stop> {
        let name = self.step.name.split_whitespace().collect::<Vec<_>>().join(" ");
        let checkpoint = Checkpoint {
            message: format!("{subject}\n\n{name}"),
            trailers: vec![("Step".to_owned(), self.step.id.clone())],
            paths,
            // A checkpoint is there even where its phase changed nothing.
            may_be_empty: !tree.is_empty() && subject.starts_with("review("),
            tree,
        };
        let failed = |failure: seriatim_core::failure::Failure| Stop::Failed {
            reason: format!("`{subject}` could not be committed: {}", shortened(&failure.message)),
            suggestions: vec![
                "Mend what the message names; the files are as the step left them".to_owned(),
                "Run the step again; what is closed is not done again".to_owned(),
            ],
            can_retry: true,
        };
        cx.git(GitCall::Commit(checkpoint)).await.map_err(failed)
    }

    /// What is left after the last checkpoint, on the branch of a step that is carried out beside others.
    pub(super) async fn commit_rest(&mut self, cx: &Cx) -> Result<(), Stop> {
        let committed = self.commit(cx, result::Checkpoint::Final, vec![]).await?;
        if !committed.commit.is_empty() {
            self.memory.commits.push(json!({
                "subject": format!("refactor({})", self.step.id), "commit": committed.commit,
                "files": committed.paths,
            }));
        }
        Ok(())
    }

    /// The phase of the commit: validated once more, looked at where that was asked for, and committed by the engine
    /// (DW-66, DW-83).
    pub(super) async fn bring_home(&mut self, cx: &Cx) -> Result<FilesModified, Stop> {
        loop {
            if self.state.phase(COMMIT).is_some_and(|phase| phase.status != PhaseStatus::InProgress) {
                self.start_phase(cx, COMMIT).await?;
            }
            let proof = self.prove(cx, COMMIT, Sort::Commit, None).await?;
            if !proof.objections.is_empty() {
                self.end_phase(cx, COMMIT, &proof, None).await?;
                let reasons: Vec<&str> = proof.objections.iter().map(|o| o.message.as_str()).collect();
                return Err(Stop::failed(format!("the final validation refuses: {}", reasons.join(" "))));
            }
            match self.review.take() {
                None => return self.finish(cx, &proof).await,
                Some((from, reason)) => {
                    if self.reviewed(cx, &from, &reason).await? {
                        return self.finish(cx, &proof).await;
                    }
                    self.phases(cx).await?;
                }
            }
        }
    }

    /// Somebody looks at the work before it is committed (DW-86). False when it has to be done over.
    async fn reviewed(&mut self, cx: &Cx, from: &str, reason: &str) -> Result<bool, Stop> {
        let now = cx.now().await;
        self.take(change::seek_review(&self.state, &self.schema, now), now)?;
        let ending = result::Ending::Review { reason: reason.to_owned(), from: from.to_owned() };
        self.put_on_record(&ending, now);
        self.save(cx).await?;
        let diff = self.shown_diff(cx).await?;
        let answer = cx.ask(people::review(&self.step.id, from, reason, &diff)).await;
        let words = answer.text.clone().unwrap_or_default();
        cx.record(&json!({
            "fact": "decision", "subject": format!("review of step {}", self.step.id), "outcome": answer.choice,
            "rationale": words, "actor": answer.by, "id": self.step.id,
        }));
        match answer.choice.as_str() {
            "approve" => Ok(true),
            "rework" => {
                let now = cx.now().await;
                let first = self.schema.names().find(|name| name.starts_with("GREEN")).map(str::to_owned);
                let first =
                    first.or_else(|| self.schema.names().next().map(str::to_owned)).unwrap_or_default();
                self.take(change::rework(&self.state, &self.schema, &first, &words, now), now)?;
                self.words.push(format!("A person looked at the work and wants it done over: {words}"));
                self.save(cx).await?;
                Ok(false)
            }
            _ => Err(Stop::Cancelled { by: answer.by }),
        }
    }

    /// What a person is shown of the work: without the papers of the project.
    async fn shown_diff(&self, cx: &Cx) -> Result<String, Stop> {
        let mut apart: Vec<String> = self.memory.apart.iter().cloned().collect();
        apart.extend([".seriatim/".to_owned(), format!("docs/feature/{}/", self.project.start.project)]);
        let call = GitCall::Changes {
            since: self.memory.base_tree.clone(),
            apart,
            limit_bytes: DIFF_BYTES_MAX,
            tree: self.place.tree.clone(),
        };
        let found: Difference = cx.git(call).await.map_err(|failure| Stop::failed(failure.message))?;
        Ok(found.diff)
    }

    /// The step is done: on record before the commit, in the commit, and verified after it (K-36).
    async fn finish(&mut self, cx: &Cx, proof: &Proof) -> Result<FilesModified, Stop> {
        let before: StepState = self.state.clone();
        if self.place.is_beside() {
            self.advance(cx).await?;
        }
        let files = FilesModified::of(&changed(&self.own_changes(cx).await?));
        let now = cx.now().await;
        self.pass_gate(now, result::Checkpoint::Final)?;
        cx.record(&proof.record(&self.step.id, COMMIT, 1, None));
        let change = Change {
            by: By::Engine,
            outcome: Some(seriatim_core::roadmap::state::Outcome::Pass),
            details: Some(proof.words.clone()),
            tests: proof.tests,
            ..Change::new(Act::Done, COMMIT)
        };
        self.take(change::change(&self.state, &self.schema, &change, now), now)?;
        self.put_success_on_record(now);
        let log = self.write_log(cx, now).await;
        self.save_with(cx, Some(files.clone())).await?;
        let point = result::Checkpoint::Final;
        let committed = match self.place.is_beside() {
            false => self.commit(cx, point, log.into_iter().collect()).await,
            true => {
                let mut papers = self.papers();
                papers.extend(log);
                self.commit_paths(cx, point.subject(&self.step.id), papers, String::new()).await
            }
        };
        let committed = match committed {
            Ok(committed) => committed,
            Err(stop) => return Err(self.take_back(cx, before, stop).await),
        };
        self.note_commit(cx, point, &committed);
        self.verify_commit(cx, &committed.commit, &files).await?;
        Ok(files)
    }

    /// Moves the workspace's branch to that of the step's working tree, which holds all of it.
    async fn advance(&self, cx: &Cx) -> Result<(), Stop> {
        loop {
            let call = GitCall::Advance { branch: self.place.branch.clone() };
            let failure = match cx.git::<()>(call).await {
                Ok(()) => return Ok(()),
                Err(failure) => failure,
            };
            let answer = cx.ask(people::in_the_way(&self.step.id, &failure)).await;
            if answer.choice != "retry" {
                let branch = &self.place.branch;
                return Err(Stop::failed(format!(
                    "its work is on the branch {branch} and could not be brought home"
                )));
            }
        }
    }

    /// After what came home before was merged in, the step's own changes are those against the workspace's branch.
    pub(super) async fn rebase(&mut self, cx: &Cx) -> Result<(), Stop> {
        let stand: Stand = cx
            .git(GitCall::Stand { tree: String::new() })
            .await
            .map_err(|failure| Stop::failed(failure.message))?;
        if let Some(head) = stand.head {
            self.memory.base_tree.clone_from(&head);
            self.memory.base_commit = Some(head);
        }
        Ok(())
    }

    /// The commit did not come about: the step is not done, and its record says so.
    async fn take_back(&mut self, cx: &Cx, before: StepState, stop: Stop) -> Stop {
        let now = cx.now().await;
        self.saved = std::mem::replace(&mut self.state, before);
        let why = match &stop {
            Stop::Failed { reason, .. } => reason.clone(),
            Stop::Cancelled { by } => format!("{by} stopped it"),
        };
        let fail = Change { by: By::Engine, note: Some(why), ..Change::new(Act::Fail, COMMIT) };
        let changed = change::change(&self.state, &self.schema, &fail, now);
        match self.take(changed, now) {
            Ok(()) => stop,
            Err(worse) => worse,
        }
    }

    /// What is in the commits since the base is what was computed before (K-36).
    async fn verify_commit(&self, cx: &Cx, commit: &str, files: &FilesModified) -> Result<(), Stop> {
        if commit.is_empty() {
            return Ok(());
        }
        let call = GitCall::Between {
            from: self.memory.base_commit.clone(),
            to: commit.to_owned(),
            tree: String::new(),
        };
        let found: Vec<FileChange> = cx.git(call).await.map_err(|failure| Stop::failed(failure.message))?;
        let there = FilesModified::of(&changed(&found));
        let lacks = |of: &[String], all: &[String]| -> Vec<String> {
            of.iter().filter(|path| !all.contains(path)).cloned().collect()
        };
        let mut missing = lacks(&files.implementation, &there.implementation);
        missing.extend(lacks(&files.tests, &there.tests));
        if missing.is_empty() {
            return Ok(());
        }
        Err(Stop::failed(format!("the commit lacks files that the step changed: {}", missing.join(", "))))
    }
}

fn changed(files: &[FileChange]) -> Vec<ChangedFile> {
    let of = |file: &FileChange| ChangedFile { path: file.path.clone(), deleted: file.kind == "deleted" };
    files.iter().map(of).collect()
}

fn shortened(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(REASON_CHARS_MAX) {
        Some((at, _)) => format!("{} ...", &text[..at]),
        None => text.to_owned(),
    }
}

/// Pushes once everything is done, where that is configured and a person says so (K-100).
pub(super) async fn push(cx: &Cx, project: &Project) -> bool {
    if !project.start_at(cx).push {
        return false;
    }
    let stand: Stand = match cx.git(GitCall::Stand { tree: String::new() }).await {
        Ok(stand) => stand,
        Err(_) => return false,
    };
    if stand.remote.is_none() {
        return false;
    }
    let branch = stand.branch.unwrap_or_else(|| "this commit".to_owned());
    let answer = cx.ask(people::push(&project.start.project, &branch)).await;
    cx.record(&json!({
        "fact": "decision", "subject": "push", "outcome": answer.choice, "actor": answer.by,
        "rationale": answer.text.clone().unwrap_or_default(), "id": "push",
    }));
    if answer.choice != "approve" {
        return false;
    }
    match cx.git::<bool>(GitCall::Push).await {
        Ok(pushed) => pushed,
        Err(failure) => {
            cx.record(&json!({"fact": "error", "text": format!("push: {}", failure.message)}));
            false
        }
    }
}
