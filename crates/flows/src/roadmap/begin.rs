//! The beginning of a step: whether it may begin, from where, and whose changes are in the way.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde_json::Map;
use seriatim_core::evidence::scenarios;
use seriatim_core::guard::scope::Allowed;
use seriatim_core::reading::BrokenFile;
use seriatim_core::roadmap::audit::Happening;
use seriatim_core::roadmap::change;
use seriatim_core::roadmap::change::Act;
use seriatim_core::roadmap::change::By;
use seriatim_core::roadmap::change::Change;
use seriatim_core::roadmap::command::Message;
use seriatim_core::roadmap::extract::Context;
use seriatim_core::roadmap::facts::Matter;
use seriatim_core::roadmap::facts::OwnTree;
use seriatim_core::roadmap::facts::PresetSkip;
use seriatim_core::roadmap::facts::ReopenCause;
use seriatim_core::roadmap::facts::RoadmapFact;
use seriatim_core::roadmap::facts::StepResult;
use seriatim_core::roadmap::machine;
use seriatim_core::roadmap::phases::Schema;
use seriatim_core::roadmap::plan::Step;
use seriatim_core::roadmap::result;
use seriatim_core::roadmap::state::PhaseRecord;
use seriatim_core::roadmap::state::PhaseStatus;
use seriatim_core::roadmap::state::StepStatus;
use seriatim_core::roadmap::store::memory_key;
use seriatim_core::time::Utc;

use super::base::workspace_stand;
use super::home::CommitKind;
use super::people;
use super::people::OverlapChoice;
use super::project::Project;
use super::work::Memory;
use super::work::Place;
use super::work::StepEnd;
use super::work::Stop;
use super::work::Told;
use super::work::Work;
use crate::Cx;
use crate::request::CaughtUp;
use crate::request::CommitBase;
use crate::request::Difference;
use crate::request::Done;
use crate::request::FileChange;
use crate::request::GitCall;
use crate::request::Stand;

/// The file in which gates are configured.
const CONFIGURATION: &str = "seriatim.toml";
/// The tree of no files at all: what a repository without commits begins from (E-52).
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// Opens a step: everything that keeps it from being begun is looked at before anything is done.
pub(super) async fn open<'p>(
    cx: &Cx,
    project: &'p Project,
    step: &'p Step,
    place: Place,
) -> Result<Work<'p>, StepEnd> {
    let path = project.start.state_of(&step.id);
    let file = project.state(cx, &step.id).await.map_err(|broken| unreadable(step, &broken))?;
    let schema = project.schema(&step.id, &file);
    let state = file.step(&path, &project.start.project, &step.id, &schema);
    if state.status == StepStatus::Done {
        let message = format!("Step {} is done already; there is nothing to do.", step.id);
        let files = file.files_modified(&step.id).unwrap_or_default();
        return Err(StepEnd::Already(Told {
            files,
            ..Told::new(&step.id, StepResult::AlreadyDone, message)
        }));
    }
    let done = project.done(cx).await.map_err(|broken| unreadable(step, &broken))?;
    if let Some(message) = keeps_from(project, step, &schema, &done) {
        return Err(blocked(step, &message));
    }
    let declared = step.allowed_files();
    let own = own_files(&project.start.project);
    let allowed = Allowed::new(declared.as_deref(), true, Some(&path), &own)
        .map_err(|problems| bad_scope(step, problems.iter().map(ToString::to_string).collect()))?;
    let began = cx.now().await;
    let memory = cx.recall(memory_key(&path, &step.id)).await;
    let memory = Memory::read(memory).map_err(|error| unreadable_memory(step, &error))?;
    let gates = project.gates(cx);
    let configuration = cx.configuration().map_or(0, |switched| switched.number);
    Ok(Work {
        project,
        gates,
        configuration,
        step,
        agent: project.agent(step),
        schema,
        place,
        path,
        saved: state.clone(),
        state,
        allowed,
        sharing: sharing(project, step, &done),
        may_take: BTreeSet::new(),
        coverage_base: None,
        usage: memory.usage.clone(),
        memory,
        attempts: 0,
        judged: vec![],
        artifacts: vec![],
        notes: None,
        findings: vec![],
        on_claim: vec![],
        review: None,
        words: vec![],
        errors: 0,
        trail: String::new(),
        began,
        unsaid: vec![],
        kept: vec![],
        onto: None,
        home: None,
        seen: String::new(),
        message: None,
        ours: vec![],
        record: Map::new(),
        history: vec![],
    })
}

fn blocked(step: &Step, message: &Message) -> StepEnd {
    let outcome = message.blocked().unwrap_or_default();
    let mut told = Told::new(&step.id, StepResult::Blocked, format!("{message}."));
    told.outcome.extend(outcome.as_object().cloned().unwrap_or_default());
    StepEnd::Blocked(told)
}

/// What keeps a step from being begun now: open dependencies, a review that says so, or too little to go by (DW-51,
/// DW-54, DW-88).
fn keeps_from(project: &Project, step: &Step, schema: &Schema, done: &BTreeSet<String>) -> Option<Message> {
    let roadmap = &project.roadmap;
    let blocking: Vec<String> = roadmap.open_needs(&step.id, done).into_iter().map(str::to_owned).collect();
    if !blocking.is_empty() {
        return Some(Message::DependencyNotMet { step: step.id.clone(), blocking });
    }
    if let Some(review) = roadmap.not_ready(step) {
        return Some(Message::NotReady { step: step.id.clone(), reviewer: review.reviewer.clone() });
    }
    let context = Context::of(roadmap, &step.id, schema).ok()?;
    let missing: Vec<String> = context.missing().into_iter().map(str::to_owned).collect();
    (!missing.is_empty()).then(|| Message::InsufficientContext { step: step.id.clone(), missing })
}

/// How many steps that are done have their scenarios in the test file of this one.
fn sharing(project: &Project, step: &Step, done: &BTreeSet<String>) -> usize {
    let same = |other: &&Step| other.test_file.is_some() && other.test_file == step.test_file;
    project.roadmap.steps.iter().filter(same).filter(|other| done.contains(&other.id)).count()
}

/// Files that the bookkeeping of a project writes itself.
fn own_files(project: &str) -> Vec<String> {
    vec![format!("docs/feature/{project}/logs/**"), format!("docs/feature/{project}/audit-*.log")]
}

fn unreadable(step: &Step, broken: &BrokenFile) -> StepEnd {
    let message = format!(
        "{}. Nothing was begun. To fix it: {}; then start again with `seriatim run step`.",
        broken.headline(),
        broken.remedy()
    );
    StepEnd::Blocked(Told::new(&step.id, StepResult::Blocked, message))
}

fn unreadable_memory(step: &Step, error: &str) -> StepEnd {
    let message = format!(
        "The record of an earlier run of step {} cannot be read: {error}. Nothing was begun.",
        step.id
    );
    StepEnd::Blocked(Told::new(&step.id, StepResult::Blocked, message))
}

fn bad_scope(step: &Step, problems: Vec<String>) -> StepEnd {
    let message = format!("Step {} cannot be begun: {}.", step.id, problems.join("; "));
    StepEnd::Blocked(Told::new(&step.id, StepResult::Blocked, message))
}

impl Work<'_> {
    /// Puts the step to work: what an earlier run left open is closed, what does not apply is skipped, and it is known
    /// from where it begins.
    pub(super) async fn begin(&mut self, cx: &Cx) -> Result<(), Stop> {
        let now = cx.now().await;
        self.record_beginning(cx);
        let in_progress = |phase: &&PhaseRecord| phase.status == PhaseStatus::InProgress;
        let interrupted: Vec<String> =
            self.state.phases.iter().filter(in_progress).map(|phase| phase.name.clone()).collect();
        if !interrupted.is_empty() {
            // Whoever was at it is gone: the try goes into the history and is not taken as done (E-48).
            let recovered = machine::crash(&self.state, now);
            self.take(Ok((recovered.state, recovered.events)), now)?;
            interrupted
                .iter()
                .for_each(|phase| self.record_reopened(cx, phase, ReopenCause::Interrupted, ""));
        }
        if self.memory.beside && !self.place.resumed {
            self.leave_branch(cx, now)?;
        }
        self.find_base(cx).await?;
        self.memory.beside = self.place.is_beside();
        self.state.assigned_to = Some(self.agent.clone());
        let presets = self.step.presets(&self.schema);
        for (phase, reason) in presets {
            let open = self.state.phase(&phase).is_some_and(|p| p.status == PhaseStatus::NotExecuted);
            if open {
                let skip = Change { by: By::Engine, reason: Some(reason), ..Change::new(Act::Skip, &phase) };
                self.take(change::change(&self.state, &self.schema, &skip, now), now)?;
            }
        }
        let event = self.event(Happening::TaskInvocationStarted, now).with("agent", self.agent.as_str());
        self.unsaid.push(event.with("command", "run step"));
        self.record.insert("state".to_owned(), result::begun(&self.agent, now));
        self.save(cx).await
    }

    /// Records that the step begins, by whom and where.
    fn record_beginning(&self, cx: &Cx) {
        let skipped = self.step.presets(&self.schema).into_iter();
        let place = self
            .place
            .is_beside()
            .then(|| OwnTree { tree: self.place.tree.clone(), branch: self.place.branch.clone() });
        cx.record(&RoadmapFact::StepBegan {
            step: self.step.id.clone(),
            name: self.step.name.clone(),
            agent: self.agent.clone(),
            resumed: self.state.status != StepStatus::Todo,
            skipped: skipped.map(|(phase, reason)| PresetSkip { phase, reason }).collect(),
            place,
        });
    }

    /// Records that a phase has to be carried out again.
    pub(super) fn record_reopened(&self, cx: &Cx, phase: &str, cause: ReopenCause, words: &str) {
        let (step, phase, words) = (self.step.id.clone(), phase.to_owned(), words.to_owned());
        cx.record(&RoadmapFact::PhaseReopened { step, phase, cause, words });
    }

    /// Begins the step anew where the working tree of an earlier run is gone and was not merged; its branch stays.
    fn leave_branch(&mut self, cx: &Cx, now: Utc) -> Result<(), Stop> {
        self.memory = Memory::default();
        let first = self.state.phases.iter().find(|phase| phase.status == PhaseStatus::Done);
        let Some(first) = first.map(|phase| phase.name.clone()) else { return Ok(()) };
        let note = Some("Its work before is on a branch that was not merged".to_owned());
        let reopen = Change { by: By::Engine, note, ..Change::new(Act::Reopen, &first) };
        self.take(change::change(&self.state, &self.schema, &reopen, now), now)?;
        self.record_reopened(cx, &first, ReopenCause::BranchNotMerged, "");
        Ok(())
    }

    /// Begins the step anew in the workspace, as if nothing had been done; what was done is in the history.
    pub(super) async fn start_over(&mut self, cx: &Cx) -> Result<(), Stop> {
        let now = cx.now().await;
        let first = self.state.phases.iter().find(|phase| phase.status == PhaseStatus::Done);
        if let Some(first) = first.map(|phase| phase.name.clone()) {
            let note = Some("It is done again on top of changes that were merged meanwhile".to_owned());
            let reopen = Change { by: By::Engine, note, ..Change::new(Act::Reopen, &first) };
            self.take(change::change(&self.state, &self.schema, &reopen, now), now)?;
            self.record_reopened(cx, &first, ReopenCause::Conflict, "");
        }
        self.place = Place::default();
        self.memory = Memory::default();
        self.begin(cx).await
    }

    pub(super) async fn stand(&self, cx: &Cx) -> Result<Stand, Stop> {
        let call = GitCall::Stand { tree: self.place.tree.clone() };
        cx.git(call).await.map_err(|failure| Stop::failed(failure.message))
    }

    /// What differs from a tree or commit, without what is not the step's.
    pub(super) async fn changes(&self, cx: &Cx, since: &str, limit_bytes: u64) -> Result<Difference, Stop> {
        let mut apart: Vec<String> = self.memory.apart.iter().cloned().collect();
        apart.push(".seriatim/".to_owned());
        let tree = self.place.tree.clone();
        let call = GitCall::Changes { since: since.to_owned(), apart, limit_bytes, tree };
        cx.git(call).await.map_err(|failure| Stop::failed(failure.message))
    }

    /// Where the step begins: where an earlier run of it did, if that is still there; else here.
    async fn find_base(&mut self, cx: &Cx) -> Result<(), Stop> {
        let stand = self.stand(cx).await?;
        self.onto = Some(CommitBase::of(&stand));
        if self.place.is_beside() {
            self.home = Some(CommitBase::of(&workspace_stand(cx).await?));
        }
        if self.place.resumed {
            self.catch_up(cx).await?;
            self.onto = Some(CommitBase::of(&self.stand(cx).await?));
            self.pin_gates(cx).await;
            return Ok(());
        }
        if !self.memory.base_tree.is_empty() && !self.place.is_beside() {
            let since = self.memory.base_tree.clone();
            if let Ok(found) = self.changes(cx, &since, 0).await {
                // What changed meanwhile and is not the step's to change is somebody else's work.
                let others = found.files.iter().filter(|file| !self.permits(file)).map(|f| f.path.clone());
                let others: Vec<String> = others.collect();
                self.memory.apart.extend(others);
                self.pin_gates(cx).await;
                return Ok(());
            }
        }
        let earlier = std::mem::take(&mut self.memory.commits);
        self.memory = Memory {
            base_commit: stand.head.clone(),
            base_tree: stand.tree.clone(),
            commits: earlier,
            ..Memory::default()
        };
        let head = stand.head.unwrap_or_else(|| EMPTY_TREE.to_owned());
        let dirty = self.changes(cx, &head, 0).await?;
        self.mind_the_users(cx, dirty.files).await?;
        self.pin_gates(cx).await;
        Ok(())
    }

    /// Brings what was merged meanwhile into the working tree in which the step goes on. Where that cannot be done yet, the
    /// step goes on without it: it is asked about when the step itself is merged.
    async fn catch_up(&mut self, cx: &Cx) -> Result<(), Stop> {
        let (tree, message) = (self.place.tree.clone(), CommitKind::Merge.subject(&self.step.id));
        let caught: Done<CaughtUp> = cx.git(GitCall::CatchUp { tree, message }).await;
        match caught {
            Ok(CaughtUp { moved: true, .. }) => self.rebase(cx).await,
            Ok(CaughtUp { moved: false, .. }) | Err(_) => Ok(()),
        }
    }

    /// Whether a change lies within what the step may change; a renaming needs both ends.
    pub(super) fn permits(&self, file: &FileChange) -> bool {
        let from = file.old_path.as_deref().is_none_or(|path| self.allowed.permits(path));
        from && self.allowed.permits(&file.path)
    }

    /// Changes that the user has not committed are in no commit of ours, unless the user says so.
    async fn mind_the_users(&mut self, cx: &Cx, dirty: Vec<FileChange>) -> Result<(), Stop> {
        let is_own = |file: &&FileChange| self.allowed.is_own(&file.path);
        let theirs: Vec<&FileChange> = dirty.iter().filter(|file| !is_own(file)).collect();
        let declared = !self.allowed.is_undeclared();
        let overlap: Vec<String> = theirs
            .iter()
            .filter(|file| declared && self.permits(file))
            .map(|file| file.path.clone())
            .collect();
        if !overlap.is_empty() {
            let step = &self.step.id;
            let question = people::overlap(step, &overlap);
            let (choice, answer) = people::decide(cx, Matter::Overlap, step, question).await;
            match choice {
                OverlapChoice::Approve => {
                    let (step, files) = (step.clone(), overlap.clone());
                    cx.record(&RoadmapFact::OverlapApproved { step, files, by: answer.by });
                    self.may_take.extend(overlap.iter().cloned());
                }
                OverlapChoice::Cancel => return Err(Stop::Cancelled { by: answer.by }),
            }
        }
        let apart = theirs.iter().flat_map(|file| std::iter::once(&file.path).chain(&file.old_path));
        let apart: Vec<String> = apart.filter(|path| !overlap.contains(path)).cloned().collect();
        self.memory.apart.extend(apart);
        Ok(())
    }

    /// The files that gates name, as they are now: editing one of them is editing the gate. What an earlier run of the
    /// step pinned and the step itself may change stays as it was pinned.
    pub(super) async fn pin_gates(&mut self, cx: &Cx) {
        let allowed = &self.allowed;
        self.memory.gate_files.retain(|(_, path, _)| !allowed.is_undeclared() && allowed.permits(path));
        let mut named: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (gate, pinned) in &self.gates {
            let words = pinned.words().filter(|word| !word.starts_with(['-', '/']) && !word.contains('{'));
            for word in words {
                named.entry(word.clone()).or_default().push(gate.clone());
            }
        }
        named.entry(CONFIGURATION.to_owned()).or_default().push("all gates".to_owned());
        for (path, gates) in named {
            // A folder is no part of the gate, and tests are minded elsewhere.
            let Ok(text) = cx.read(&self.place.at(&path)).await else { continue };
            if self.is_test(&path) || !scenarios::tests_in(&text.text, &path).is_empty() {
                continue;
            }
            for gate in gates {
                if !self.memory.gate_files.iter().any(|(of, at, _)| *of == gate && *at == path) {
                    self.memory.gate_files.push((gate, path.clone(), text.hash));
                }
            }
        }
    }
}
