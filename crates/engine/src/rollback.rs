//! Taking a checkpoint of a step back: the commit goes, its files stay, and its phases are open again (DW-74).
//!
//! A commit that others may have cannot be taken back; a further commit undoes it (K-37). Either way the record is
//! changed first: when the machine dies in between, the same command finds the commit again and brings it to its end.

mod log;

use std::cell::RefCell;
use std::sync::Arc;

use serde_json::json;
use seriatim_core::config::Config;
use seriatim_core::roadmap::audit;
use seriatim_core::roadmap::change;
use seriatim_core::roadmap::document::Record;
use seriatim_core::roadmap::phases::Schema;
use seriatim_core::roadmap::result;
use seriatim_core::roadmap::result::Actor;
use seriatim_core::roadmap::result::Checkpoint;
use seriatim_core::roadmap::result::Transition;
use seriatim_core::roadmap::state::PhaseStatus;
use seriatim_core::roadmap::state::StepState;
use seriatim_core::roadmap::state::StepStatus;
use seriatim_core::roadmap::store::StateFile;
use seriatim_core::roadmap::store::memory_key;
use seriatim_core::time::Utc;
use seriatim_journal::Store;

use self::log::Searched;
pub use self::log::Seen;
use crate::guard::GuardError;
use crate::guard::Project;
use crate::guard::book::Book;
use crate::guard::book::Desk;
use crate::guard::rules::Rules;
use crate::hands::git::Commit;
use crate::hands::git::Git;
use crate::hands::git::GitError;
use crate::hands::paths::Workspace;
use crate::ports::Ports;
use crate::records::Memory;
use crate::repository::PRIVATE;

/// What is to be taken back.
#[derive(Clone, Debug)]
pub struct Wanted<'w> {
    pub project: &'w str,
    /// The state file; `{step}` in it stands for the step where each has a file of its own.
    pub state: &'w str,
    /// The step, else that of the newest checkpoint.
    pub step: Option<&'w str>,
    /// An earlier phase from which on the work is to be done again.
    pub from: Option<&'w str>,
    /// Whether a further commit may undo the checkpoint.
    pub revert: bool,
}

/// How a checkpoint is taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The branch goes back by one commit, and the files stay as they are.
    Reset,
    /// A further commit undoes it.
    Revert,
}

/// What would be done.
#[derive(Clone, Debug)]
pub struct Plan {
    pub step: String,
    pub commit: Seen,
    pub how: How,
    /// The state file.
    pub path: String,
    /// Phases that are over and would be open again.
    pub phases: Vec<String>,
    /// The files of the commit that are the step's work.
    pub files: Vec<String>,
    project: String,
    first: String,
}

/// Why nothing is taken back.
#[derive(Debug, thiserror::Error)]
pub enum RollbackError {
    #[error("{} has no checkpoint among the last commits of this branch", .step.as_ref().map_or_else(|| "this project".to_owned(), |step| format!("step {step}")))]
    NoCheckpoint { step: Option<String> },
    #[error("`{}` is not the newest commit: {} came after it", .commit.subject, .above.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    Buried { commit: Seen, above: Vec<Seen> },
    #[error("`{}` ({}) is on a remote already, so that others may have it", .commit.subject, .commit.short())]
    Pushed { commit: Seen },
    #[error("step {step} has no phase `{phase}`; it has {}", .known.join(", "))]
    UnknownPhase { step: String, phase: String, known: Vec<String> },
    #[error("`{}` comes before {phase}: taking it back opens {first} and what follows", .commit.subject)]
    TooLate { commit: Seen, phase: String, first: String },
    #[error("the branch moved meanwhile; nothing was changed")]
    Moved,
    #[error("the record of step {step} was set back, but `{subject}` was not undone: {error}")]
    HalfWay { step: String, subject: String, error: Box<GitError> },
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Book(#[from] GuardError),
}

/// A project whose checkpoints can be taken back.
pub struct Rollback<'p> {
    git: Git<'p>,
    project: Project,
    rules: Rules,
    book: RefCell<Book>,
    now: Utc,
}

impl<'p> Rollback<'p> {
    pub fn new(
        workspace: Workspace,
        ports: &'p Ports,
        config: Config,
        store: Store,
    ) -> Result<Rollback<'p>, GuardError> {
        let project = Project::new(workspace.root(), Arc::clone(&ports.files));
        let rules = Rules::of(&project, config)?;
        let private = workspace.store().join(PRIVATE);
        let git = Git::new(ports.processes.as_ref(), ports.files.as_ref(), workspace, private);
        let book = RefCell::new(Book::over(store));
        Ok(Rollback { git, project, rules, book, now: ports.clock.now() })
    }

    /// Finds the checkpoint and says what would be done. Nothing is changed.
    pub fn plan(&self, wanted: &Wanted<'_>) -> Result<Plan, RollbackError> {
        let searched = self.search(wanted)?;
        let Searched { step, commit, above } = searched;
        let how = self.how(wanted, &commit, above)?;
        let path = wanted.state.replace("{step}", &step);
        let (state, schema) = self.state(&path, wanted.project, &step)?;
        let first = first_phase(&commit, how, &step, &schema, wanted.from)?;
        let from = state.phases.iter().position(|phase| phase.name == first).unwrap_or(0);
        let over = |phase: &PhaseStatus| !matches!(phase, PhaseStatus::NotExecuted | PhaseStatus::Pending);
        let phases = state.phases.iter().skip(from).filter(|phase| over(&phase.status));
        let phases = phases.map(|phase| phase.name.clone()).collect();
        let files = self.files_of(&commit.id)?;
        let papers = log::papers(wanted.project);
        let files = files.into_iter().filter(|file| !file.starts_with(&papers)).collect();
        let project = wanted.project.to_owned();
        Ok(Plan { step, commit, how, path, phases, files, project, first })
    }

    /// Takes the checkpoint back. The commit that undoes it is returned where there is one.
    pub fn carry_out(&self, plan: &Plan, by: &str) -> Result<Option<String>, RollbackError> {
        if plan.how == How::Reset && self.git.head()?.as_deref() != Some(plan.commit.id.as_str()) {
            return Err(RollbackError::Moved);
        }
        if plan.how == How::Revert {
            self.git.undo(&plan.commit.id, &plan.files)?;
        }
        let note = format!("{by} took `{}` ({}) back", plan.commit.subject, plan.commit.short());
        self.set_back(plan, &note)?;
        let undone = match plan.how {
            How::Reset => self.git.uncommit(&plan.commit.id).map(|()| None),
            How::Revert => self.commit_undoing(plan, &note).map(Some),
        };
        undone.map_err(|error| {
            let (step, subject) = (plan.step.clone(), plan.commit.subject.clone());
            RollbackError::HalfWay { step, subject, error: Box::new(error) }
        })
    }

    fn how(&self, wanted: &Wanted<'_>, commit: &Seen, above: Vec<Seen>) -> Result<How, RollbackError> {
        let pushed = self.git.is_pushed(&commit.id)?;
        let is_head = self.git.head()?.as_deref() == Some(commit.id.as_str());
        if Checkpoint::can_reset(pushed) && is_head {
            return Ok(How::Reset);
        }
        // A further commit can undo one below others, unless those are steps that were built on it.
        let built_on = above.iter().any(|seen| seen.step.is_some());
        if !above.is_empty() && (!wanted.revert || built_on) {
            return Err(RollbackError::Buried { commit: commit.clone(), above });
        }
        match wanted.revert {
            true => Ok(How::Revert),
            false => Err(RollbackError::Pushed { commit: commit.clone() }),
        }
    }

    fn state(&self, path: &str, project: &str, step: &str) -> Result<(StepState, Schema), GuardError> {
        let rules = &self.rules;
        let text = self.project.read(path)?.ok_or_else(|| gone(path))?;
        let file = read_state(rules, path, &text)?;
        let schema = file.phases_of(step, rules.own(), None);
        Ok((file.step(path, project, step, &schema), schema))
    }

    /// The files that a commit changed, as the workspace names them.
    fn files_of(&self, commit: &str) -> Result<Vec<String>, GitError> {
        let parent = format!("{commit}^");
        let made = self.git.changes_between(Some(&parent), commit);
        let made = made.or_else(|_| self.git.changes_between(None, commit))?;
        Ok(made.into_iter().flat_map(|change| [Some(change.path), change.old_path]).flatten().collect())
    }

    /// Opens the phases again: one transaction, with the file, the trail and what is remembered about the step.
    fn set_back(&self, plan: &Plan, note: &str) -> Result<(), GuardError> {
        let rules = &self.rules;
        self.book.borrow_mut().write(&self.project, self.now, |desk| {
            let text = match self.project.read(&plan.path)? {
                Some(text) => text,
                None => desk.last_state(&plan.path)?.ok_or_else(|| gone(&plan.path))?,
            };
            let file = read_state(rules, &plan.path, &text)?;
            let schema = file.phases_of(&plan.step, rules.own(), None);
            let state = file.step(&plan.path, &plan.project, &plan.step, &schema);
            let (after, events) = change::roll_back(&state, &schema, &plan.first, note, self.now)
                .map_err(|refusal| GuardError::Refused(refusal.to_string()))?;
            let record = self.record(&state, &after, note);
            let new = file
                .write(&after, &record, self.now)
                .map_err(|error| GuardError::Refused(error.to_string()))?;
            for event in &events {
                desk.happened(event)?;
            }
            if !events.is_empty() && new != text {
                write_state(desk, plan, new)?;
            }
            forget(desk, plan)
        })
    }

    /// What goes on record beside the phases: a step that is open again has no good result any more.
    fn record(&self, before: &StepState, after: &StepState, note: &str) -> Record {
        let mut record = Record::default();
        if before.status == after.status {
            return record;
        }
        let entry = Transition {
            status: after.status.clone(),
            at: self.now,
            actor: Actor::System,
            reason: Some("rollback".to_owned()),
            note: Some(note.to_owned()),
        };
        record.history.push(entry.to_json());
        if before.status == StepStatus::Done {
            let agent = after.assigned_to.as_deref().unwrap_or_default();
            record.fields.insert("state".to_owned(), result::begun(agent, self.now));
            let undone = json!({"success": false, "agent_notes": note, "can_retry": true});
            record.fields.insert("execution_result".to_owned(), undone);
        }
        record
    }

    /// The commit that undoes another one, with the record of it.
    fn commit_undoing(&self, plan: &Plan, note: &str) -> Result<String, GitError> {
        let mut paths = plan.files.clone();
        paths.push(plan.path.clone());
        paths.push(audit::trail_of(&plan.path, self.now));
        let made = Commit {
            paths,
            message: format!("revert({}): {}\n\n{note}", plan.step, plan.commit.subject),
            trailers: vec![
                (log::STEP.to_owned(), plan.step.clone()),
                (log::REVERTS.to_owned(), plan.commit.id.clone()),
            ],
        };
        self.git.commit(&made).map(|committed| committed.id)
    }
}

/// The phase from which on the work is done again.
fn first_phase(
    commit: &Seen,
    how: How,
    step: &str,
    schema: &Schema,
    from: Option<&str>,
) -> Result<String, RollbackError> {
    let point = Checkpoint::ALL.into_iter().find(|point| point.subject(step) == commit.subject);
    let first = match (point, how) {
        // With the files go the tests that were red.
        (Some(Checkpoint::Green), How::Revert) => schema.names().next(),
        (point, _) => point.unwrap_or(Checkpoint::Final).opens(schema),
    };
    let first = first.unwrap_or_default().to_owned();
    let Some(from) = from else { return Ok(first) };
    let place = |name: &str| schema.names().position(|known| known == name);
    let Some(asked) = place(from) else {
        let known = schema.names().map(str::to_owned).collect();
        return Err(RollbackError::UnknownPhase { step: step.to_owned(), phase: from.to_owned(), known });
    };
    if place(&first).is_some_and(|first| asked > first) {
        return Err(RollbackError::TooLate { commit: commit.clone(), phase: from.to_owned(), first });
    }
    Ok(from.to_owned())
}

fn gone(path: &str) -> GuardError {
    GuardError::Refused(format!("{path} is not there"))
}

fn read_state(rules: &Rules, path: &str, text: &str) -> Result<StateFile, GuardError> {
    StateFile::read(path, text, rules.own()).map_err(|findings| {
        let first = findings.first().map(|f| f.message.clone()).unwrap_or_default();
        GuardError::Refused(format!("{path} cannot be read: {first}"))
    })
}

/// The guard, where it watches the step, knows the new text for its own.
fn write_state(desk: &mut Desk<'_, '_>, plan: &Plan, text: String) -> Result<(), GuardError> {
    let hash = desk.write_state(&plan.path, text)?;
    if let Some(mut open) = desk.step(&plan.path, &plan.step)? {
        open.state = Some(hash);
        desk.keep(&open)?;
    }
    Ok(())
}

/// What the step remembers of its commit, and of red tests where those are to be shown anew, is forgotten.
fn forget(desk: &mut Desk<'_, '_>, plan: &Plan) -> Result<(), GuardError> {
    let place = memory_key(&plan.path, &plan.step);
    let Some(mut memory) = desk.memo::<Memory>(&place)? else { return Ok(()) };
    let Some(known) = memory.value.as_object_mut() else { return Ok(()) };
    if let Some(commits) = known.get_mut("commits").and_then(serde_json::Value::as_array_mut) {
        commits.retain(|commit| commit["commit"] != plan.commit.id.as_str());
    }
    if plan.phases.iter().any(|phase| phase.starts_with("RED")) {
        known.remove("red_tests");
        known.remove("red_counts");
    }
    desk.remember(&place, &memory)
}
