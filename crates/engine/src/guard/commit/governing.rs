//! Which steps a commit or a push is about.
//!
//! A step governs a commit when its state file is staged, or when it was started under the guard and no passed gate
//! has closed it yet. Steps that nobody has begun, and those that were finished before, hold nothing.

use seriatim_core::guard::scope::Allowed;
use seriatim_core::roadmap::document::Document;
use seriatim_core::roadmap::machine::is_untouched;
use seriatim_core::roadmap::machine::is_whole;
use seriatim_core::roadmap::state::StepState;
use seriatim_core::roadmap::state::StepStatus;
use seriatim_core::roadmap::verdict::Objection;

use super::Guard;
use super::GuardError;
use super::OpenStep;
use super::Rules;
use super::scope;
use crate::guard::scope::Repository;
use crate::guard::state::Synced;
use crate::hands::git::Git;
use crate::hands::git::GitError;

/// A step that a commit is about.
pub(super) struct Governing {
    /// The step as it is known.
    pub(super) state: StepState,
    /// The step as the commit has it.
    pub(super) staged: Option<StepState>,
    pub(super) open: Option<OpenStep>,
    /// What an edit by hand broke, or why the state is not known.
    pub(super) refused: Vec<Objection>,
}

impl Governing {
    /// The step as it will stand in the history.
    pub(super) fn committed(&self) -> &StepState {
        self.staged.as_ref().unwrap_or(&self.state)
    }

    fn is(&self, state: &StepState) -> bool {
        self.state.step_file == state.step_file && self.state.task_id == state.task_id
    }

    fn allowed(&self) -> Option<Allowed> {
        scope::allowed(self.committed()).ok().filter(|allowed| !allowed.is_undeclared())
    }
}

impl Guard<'_> {
    pub(super) fn governing_commit(&mut self, rules: &Rules) -> Result<Vec<Governing>, GuardError> {
        let mut found = self.open_work(rules)?;
        // Git tells its hooks which index is committed; it is not always the usual one.
        let index = self.ports.environment.index_file.as_ref().and_then(|index| index.to_str());
        let (staged, paths) =
            scope::with_index(self.repository(), index, |git| match git.is_repository()? {
                true => Ok((git.staged()?, git.staged_paths()?)),
                false => Ok((vec![], vec![])),
            })?;
        let at = self.repository();
        for (file, text) in &staged {
            take(&mut found, file, text, || text_at(at, "HEAD", file));
        }
        Ok(without_bystanders(found, &paths))
    }

    /// Commits that no remote has yet are looked at, and work that is open holds what was committed since it began.
    pub(super) fn governing_push(
        &mut self,
        rules: &Rules,
        tips: &[(String, Option<String>)],
    ) -> Result<Vec<Governing>, GuardError> {
        let mut found = self.open_work(rules)?;
        let head = |one: &Governing| one.open.as_ref()?.base.as_ref()?.head.clone();
        let begun: Vec<Option<String>> = found.iter().map(head).collect();
        let (published, older) = scope::with_git(self.repository(), |git| {
            let older: Result<Vec<bool>, GitError> =
                begun.iter().map(|head| are_older(git, tips, head.as_deref())).collect();
            Ok((git.has_remote_branches()?, older?))
        })?;
        let mut older = older.into_iter();
        found.retain(|_| !older.next().unwrap_or(false));
        for (tip, known) in tips {
            // Of what is published for the first time as a whole, only that counts which is younger than the guard.
            let since = (known.is_none() && !published).then(|| self.project.guarded_since()).flatten();
            let files =
                scope::with_git(self.repository(), |git| git.unpublished(known.as_deref(), tip, since))?;
            for (file, text) in &files {
                take(&mut found, file, text, || text_at(self.repository(), known.as_ref()?, file));
            }
        }
        Ok(found)
    }

    /// The steps that are open and were begun, each as the book knows it: edits by hand go through the rules first.
    fn open_work(&mut self, rules: &Rules) -> Result<Vec<Governing>, GuardError> {
        if self.book()?.steps()?.is_empty() {
            return Ok(vec![]);
        }
        self.transact(|desk| {
            let mut found = vec![];
            for mut open in desk.steps()? {
                let (state, refused) = match desk.sync(rules, &mut open)? {
                    Ok(Synced { loaded, refused }) => (loaded.state, refused),
                    Err(findings) => {
                        let state = StepState::fresh(&open.step_file, "", &open.task_id, rules.usual());
                        (state, findings.iter().map(Objection::state_file).collect())
                    }
                };
                desk.keep(&open)?;
                if open.has_begun() || !is_untouched(&state) {
                    found.push(Governing { state, staged: None, open: Some(open), refused });
                }
            }
            Ok(found)
        })
    }
}

/// Whether all that is pushed was there before a step began.
fn are_older(git: &Git<'_>, tips: &[(String, Option<String>)], head: Option<&str>) -> Result<bool, GitError> {
    let Some(head) = head else { return Ok(tips.is_empty()) };
    for (tip, _) in tips {
        if !git.is_ancestor(tip, head)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn text_at(at: Repository<'_>, commit: &str, file: &str) -> Option<String> {
    scope::with_git(at, |git| Ok(git.text_at(commit, file))).ok().flatten()
}

/// Takes the steps of a file in that is about to be committed.
fn take(found: &mut Vec<Governing>, file: &str, text: &str, before: impl Fn() -> Option<String>) {
    for state in states_in(file, text) {
        if let Some(known) = found.iter_mut().find(|one| one.is(&state)) {
            known.staged = Some(state);
            continue;
        }
        let was_done = || {
            let earlier = before().map(|text| states_in(file, &text)).unwrap_or_default();
            earlier.iter().any(|one| one.task_id == state.task_id && one.status == StepStatus::Done)
        };
        let finished = state.status == StepStatus::Done && was_done();
        if !is_untouched(&state) && !finished {
            found.push(Governing { state, staged: None, open: None, refused: vec![] });
        }
    }
}

/// Leaves out those whose work is not in the commit: all of it belongs to other steps, which are whole (E-76).
fn without_bystanders(mut found: Vec<Governing>, paths: &[String]) -> Vec<Governing> {
    let whole: Vec<Allowed> =
        found.iter().filter(|one| is_whole(one.committed())).filter_map(Governing::allowed).collect();
    let others = |path: &String| whole.iter().any(|allowed| allowed.permits(path));
    if paths.is_empty() || !paths.iter().all(others) {
        return found;
    }
    found.retain(|one| {
        let touched = one.allowed().is_none_or(|allowed| {
            let is_own_audit = |path: &String| path.ends_with(".log");
            paths.iter().any(|path| allowed.permits(path) && !is_own_audit(path))
        });
        is_whole(one.committed()) || one.staged.is_some() || touched
    });
    found
}

/// The steps of a file, if it is a state file.
fn states_in(file: &str, text: &str) -> Vec<StepState> {
    let name = file.rsplit('/').next().unwrap_or(file);
    let may_be =
        name.ends_with(".json") && text.contains("tdd_cycle") || name.starts_with("execution-status.");
    if !may_be {
        return vec![];
    }
    Document::read(file, text).map(|document| document.states()).unwrap_or_default()
}
