//! The commits of a step: checkpoints, the final commit, and the push at the end.

use std::collections::BTreeSet;

use seriatim_core::failure::Failure;
use seriatim_core::roadmap::change;
use seriatim_core::roadmap::change::Act;
use seriatim_core::roadmap::change::By;
use seriatim_core::roadmap::change::Change;
use seriatim_core::roadmap::facts::ErrorArea;
use seriatim_core::roadmap::facts::Matter;
use seriatim_core::roadmap::facts::PushResult;
use seriatim_core::roadmap::facts::ReopenCause;
use seriatim_core::roadmap::facts::RoadmapFact;
use seriatim_core::roadmap::facts::StepCommit;
use seriatim_core::roadmap::machine;
use seriatim_core::roadmap::phases::COMMIT;
use seriatim_core::roadmap::proof::Sort;
use seriatim_core::roadmap::result;
use seriatim_core::roadmap::result::ChangedFile;
use seriatim_core::roadmap::result::FilesModified;
use seriatim_core::roadmap::skip::CHECKPOINT_PENDING;
use seriatim_core::roadmap::state::PhaseStatus;
use seriatim_core::roadmap::state::StepState;

use super::base::workspace_stand;
use super::people;
use super::people::ObstacleChoice;
use super::people::PushChoice;
use super::people::ReviewChoice;
use super::project::Project;
use super::prove::Proof;
use super::work::Place;
use super::work::Stop;
use super::work::Work;
use crate::Cx;
use crate::request::Checkpoint;
use crate::request::CommitBase;
use crate::request::Committed;
use crate::request::Difference;
use crate::request::FileChange;
use crate::request::GitCall;
use crate::request::Stand;

/// How much of a change a person is shown for a review.
const DIFF_BYTES_MAX: u64 = 60_000;
/// How much of a hook's or a gate's refusal goes into the reason.
const REASON_CHARS_MAX: usize = 1500;

/// What a commit of a step is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommitKind {
    Checkpoint(result::Checkpoint),
    /// The changes after the last checkpoint, on the branch of a step that is carried out beside others.
    Refactoring,
    /// The steps that were merged before, in the branch of a step that is carried out beside others.
    Merge,
}

impl CommitKind {
    /// Returns the first line of the message.
    pub(super) fn subject(self, step: &str) -> String {
        match self {
            CommitKind::Checkpoint(point) => point.subject(step),
            CommitKind::Refactoring => format!("refactor({step})"),
            CommitKind::Merge => format!("merge({step}): merge the steps that finished before"),
        }
    }

    /// Returns whether it is made even where no file differs: a review is there even where it changed nothing. In the
    /// workspace a review always changes the state file, so that only a working tree of its own needs it.
    fn may_be_empty(self, place: &Place) -> bool {
        match self {
            CommitKind::Checkpoint(result::Checkpoint::Review) => place.is_beside(),
            CommitKind::Checkpoint(result::Checkpoint::Green | result::Checkpoint::Final)
            | CommitKind::Refactoring
            | CommitKind::Merge => false,
        }
    }
}

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
        self.mind_base(cx).await?;
        self.message = None;
        let committed = self.commit(cx, point, vec![]).await?;
        self.note_commit(cx, CommitKind::Checkpoint(point), committed);
        Ok(())
    }

    /// The commit gate: the phases as they stand allow a commit of this level.
    fn pass_gate(&mut self, now: seriatim_core::time::Utc, point: result::Checkpoint) -> Result<(), Stop> {
        let verdict = machine::commit(&self.state, &self.schema, point.level());
        self.unsaid.push(verdict.event(now));
        if verdict.passed() {
            return Ok(());
        }
        Err(Stop::failed(format!("the commit gate refuses: {}", verdict.sentences().join("; "))))
    }

    fn note_commit(&mut self, cx: &Cx, kind: CommitKind, committed: Committed) {
        if committed.commit.is_empty() {
            return;
        }
        let step = self.step.id.clone();
        let commit =
            StepCommit { subject: kind.subject(&step), commit: committed.commit, files: committed.paths };
        cx.record(&RoadmapFact::Committed { step, commit: commit.clone() });
        if let Some(onto) = &mut self.onto {
            onto.head = Some(commit.commit.clone());
        }
        self.memory.commits.push(commit);
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
        let mut paths = self.files_to_commit(cx).await?;
        let kind = match (point, self.place.is_beside()) {
            (result::Checkpoint::Final, true) => CommitKind::Refactoring,
            (point, _) => {
                paths.extend(more);
                CommitKind::Checkpoint(point)
            }
        };
        if self.message.is_none() && self.run_hooks(cx, kind, &paths).await? {
            self.prove_hooked(cx, point).await?;
            self.seen = self.stand(cx).await?.tree;
        }
        let place = self.place.clone();
        self.commit_paths(cx, kind, paths, &place).await
    }

    /// The files of the next commit: the step's own, and in the workspace its state files.
    pub(super) async fn files_to_commit(&self, cx: &Cx) -> Result<Vec<String>, Stop> {
        let own = self.own_changes(cx).await?;
        let mut paths: BTreeSet<String> =
            own.into_iter().flat_map(|file| [Some(file.path), file.old_path]).flatten().collect();
        paths.extend(self.may_take.iter().cloned());
        // A file that an earlier checkpoint committed and that was moved, removed or put back since no longer differs from
        // the base, but from the commit.
        let committed = self.memory.commits.iter().flat_map(|commit| commit.files.iter());
        paths.extend(committed.filter(|path| self.allowed.permits(path)).cloned());
        // A log of an earlier try, whose commit was taken back, comes along.
        let log = format!("-{}.log", self.step.id);
        paths.retain(|path| !self.allowed.is_own(path) || path.ends_with(&log));
        if !self.place.is_beside() {
            paths.extend(self.state_files());
        }
        Ok(paths.into_iter().collect())
    }

    pub(super) async fn commit_paths(
        &mut self,
        cx: &Cx,
        kind: CommitKind,
        paths: Vec<String>,
        place: &Place,
    ) -> Result<Committed, Stop> {
        let own_paths = paths.iter().filter(|path| self.allowed.is_own(path)).cloned().collect();
        let subject = kind.subject(&self.step.id);
        let checkpoint = Checkpoint {
            message: self.message.take().unwrap_or_else(|| self.message_of(kind)),
            trailers: vec![("Step".to_owned(), self.step.id.clone())],
            paths,
            may_be_empty: kind.may_be_empty(place),
            tree: place.tree.clone(),
            seen: self.seen.clone(),
            own: own_paths,
            onto: self.onto.clone(),
        };
        cx.git(GitCall::Commit(checkpoint)).await.map_err(|failure| not_committed(&subject, &failure))
    }

    pub(super) fn message_of(&self, kind: CommitKind) -> String {
        let name = self.step.name.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("{}\n\n{name}", kind.subject(&self.step.id))
    }

    /// What is left after the last checkpoint, on the branch of a step that is carried out beside others.
    pub(super) async fn commit_rest(&mut self, cx: &Cx) -> Result<(), Stop> {
        self.mind_base(cx).await?;
        self.message = None;
        let committed = self.commit(cx, result::Checkpoint::Final, vec![]).await?;
        self.note_commit(cx, CommitKind::Refactoring, committed);
        Ok(())
    }

    /// The phase of the commit: validated once more, looked at where that was asked for, and committed by the engine
    /// (DW-66, DW-83).
    pub(super) async fn bring_home(&mut self, cx: &Cx) -> Result<FilesModified, Stop> {
        loop {
            if self.state.phase(COMMIT).is_some_and(|phase| phase.status != PhaseStatus::InProgress) {
                self.start_phase(cx, COMMIT).await?;
            }
            let proof = self.prove_committed(cx).await?;
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
        let (step, from_whom, why) = (self.step.id.clone(), from.to_owned(), reason.to_owned());
        cx.record(&RoadmapFact::ReviewAsked { step, from: from_whom, reason: why });
        self.save(cx).await?;
        let diff = self.shown_diff(cx).await?;
        let question = people::review(&self.step.id, from, reason, &diff);
        let (choice, answer) = people::decide(cx, Matter::Review, &self.step.id, question).await;
        let words = answer.text.unwrap_or_default();
        match choice {
            ReviewChoice::Approve => Ok(true),
            ReviewChoice::Rework => {
                let now = cx.now().await;
                let is_green = |name: &&str| matches!(Sort::of(name), Sort::Green | Sort::GreenUnit);
                let first = self.schema.names().find(is_green).map(str::to_owned);
                let first =
                    first.or_else(|| self.schema.names().next().map(str::to_owned)).unwrap_or_default();
                self.take(change::rework(&self.state, &self.schema, &first, &words, now), now)?;
                self.record_reopened(cx, &first, ReopenCause::Rework, &words);
                self.words.push(format!("A person looked at the work and wants it done over: {words}"));
                self.save(cx).await?;
                Ok(false)
            }
            ReviewChoice::Cancel => Err(Stop::Cancelled { by: answer.by }),
        }
    }

    /// What a person is shown of the work: without the state files of the project.
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
        let is_beside = self.place.is_beside();
        if is_beside {
            self.advance(cx).await?;
            self.onto = Some(CommitBase::of(&workspace_stand(cx).await?));
        }
        let files = FilesModified::of(&changed(&self.own_changes(cx).await?));
        if is_beside {
            self.come_here(cx).await?;
        }
        let now = cx.now().await;
        self.pass_gate(now, result::Checkpoint::Final)?;
        cx.record(&proof.fact(&self.step.id, COMMIT, self.attempt(COMMIT), None));
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
        let committed = match is_beside {
            false => self.commit(cx, point, log.into_iter().collect()).await,
            true => {
                let mut files = self.state_files();
                files.extend(log);
                let kind = CommitKind::Checkpoint(point);
                match self.run_hooks(cx, kind, &files).await {
                    Ok(_) => self.commit_paths(cx, kind, files, &Place::default()).await,
                    Err(stop) => Err(stop),
                }
            }
        };
        let committed = match committed {
            Ok(committed) => committed,
            Err(stop) => return Err(self.take_back(cx, before, stop).await),
        };
        let commit = committed.commit.clone();
        self.note_commit(cx, CommitKind::Checkpoint(point), committed);
        self.verify_commit(cx, &commit, &files).await?;
        Ok(files)
    }

    /// Moves the workspace's branch to that of the step's working tree, which holds all of it.
    async fn advance(&self, cx: &Cx) -> Result<(), Stop> {
        loop {
            let call = GitCall::Advance { branch: self.place.branch.clone() };
            let failure = match cx.git::<()>(call).await {
                Ok(()) => {
                    let (step, branch) = (self.step.id.clone(), self.place.branch.clone());
                    cx.record(&RoadmapFact::Merged { step, branch });
                    return Ok(());
                }
                Err(failure) => failure,
            };
            let question = people::in_the_way(&self.step.id, &failure);
            let (choice, _) = people::decide(cx, Matter::Obstacle, &self.step.id, question).await;
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

    /// From now on the work is in the workspace. What the user has not committed there is not the step's.
    async fn come_here(&mut self, cx: &Cx) -> Result<(), Stop> {
        self.place = Place::default();
        self.memory.beside = false;
        let Some(head) = self.stand(cx).await?.head else { return Ok(()) };
        let dirty = self.changes(cx, &head, 0).await?;
        let theirs = dirty.files.iter().filter(|file| !self.allowed.is_own(&file.path));
        let theirs: Vec<String> =
            theirs.flat_map(|file| std::iter::once(&file.path).chain(&file.old_path)).cloned().collect();
        self.memory.apart.extend(theirs);
        Ok(())
    }

    /// After the steps before it were merged in, the step's own changes are those against the workspace's branch.
    pub(super) async fn rebase(&mut self, cx: &Cx) -> Result<(), Stop> {
        let stand: Stand = cx
            .git(GitCall::Stand { tree: String::new() })
            .await
            .map_err(|failure| Stop::failed(failure.message))?;
        if let Some(head) = stand.head {
            self.memory.base_tree.clone_from(&head);
            self.memory.base_commit = Some(head);
        }
        self.onto = Some(CommitBase::of(&self.stand(cx).await?));
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
        let call =
            GitCall::Between { from: Some(self.seen.clone()), to: commit.to_owned(), tree: String::new() };
        let other: Vec<FileChange> = cx.git(call).await.map_err(|failure| Stop::failed(failure.message))?;
        let is_work = |file: &&FileChange| self.ours.contains(&file.path) && !self.allowed.is_own(&file.path);
        if let Some(other) = other.iter().find(is_work) {
            let path = &other.path;
            return Err(Stop::failed(format!(
                "the commit holds {path} in another version than its checks saw"
            )));
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

/// Why a step stops when one of its commits does not come about.
pub(super) fn not_committed(subject: &str, failure: &Failure) -> Stop {
    Stop::Failed {
        reason: format!("`{subject}` could not be committed: {}", shortened(&failure.message)),
        suggestions: vec![
            "Fix what the message names; the files are as the step left them".to_owned(),
            "Run the step again; what is closed is not done again".to_owned(),
        ],
        can_retry: true,
    }
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
    let told = |result: PushResult, branch: &str, reason: &str| {
        let (branch, reason) = (branch.to_owned(), reason.to_owned());
        cx.record(&RoadmapFact::Push { result, branch, reason });
        result == PushResult::Pushed
    };
    let stand: Stand = match cx.git(GitCall::Stand { tree: String::new() }).await {
        Ok(stand) => stand,
        Err(failure) => return told(PushResult::Failed, "", &failure.message),
    };
    if stand.remote.is_none() {
        return told(PushResult::NoRemote, "", "");
    }
    let branch = stand.branch.unwrap_or_else(|| "this commit".to_owned());
    let question = people::push(&project.start.project, &branch);
    let (choice, answer) = people::decide(cx, Matter::Push, "push", question).await;
    match choice {
        PushChoice::Approve => {}
        PushChoice::Cancel => {
            return told(PushResult::Declined, &branch, &format!("{} declined it", answer.by));
        }
    }
    match cx.git::<bool>(GitCall::Push).await {
        Ok(true) => told(PushResult::Pushed, &branch, ""),
        Ok(false) => told(PushResult::Failed, &branch, "git pushed nothing"),
        Err(failure) => {
            let text = format!("push: {}", failure.message);
            cx.record(&RoadmapFact::Error { text, about: Some(ErrorArea::Push) });
            told(PushResult::Failed, &branch, &failure.message)
        }
    }
}
