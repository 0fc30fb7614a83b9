//! Files are about to be written.

use std::path::Path;

use seriatim_core::guard::beyond;
use seriatim_core::guard::beyond::Asked;
use seriatim_core::guard::event::Event;
use seriatim_core::guard::path;
use seriatim_core::guard::reply::Reply;
use seriatim_core::guard::scope as core_scope;
use seriatim_core::roadmap::state::StepStatus;

use super::working;
use crate::guard::Guard;
use crate::guard::GuardError;
use crate::guard::project::Project;
use crate::guard::scope;
use crate::guard::state;
use crate::guard::step::OpenStep;
use crate::guard::step::worktree;

impl Guard<'_> {
    /// Files are about to be written by an agent of a step.
    pub(in crate::guard) fn edit(&mut self, event: &Event, paths: &[String]) -> Result<Reply, GuardError> {
        let root = self.project.root_text();
        let cwd = event.cwd.as_deref().filter(|_| event.agent_id.is_some());
        let tree = cwd.and_then(|cwd| worktree::of(self.project, Path::new(cwd)));
        let tree = tree.as_deref().and_then(Path::to_str);
        let within = |named: &String| {
            tree.and_then(|tree| path::within(tree, named)).or_else(|| path::within(root, named))
        };
        let store = self.project.state_dir();
        let in_store = |named: &str| Path::new(named).strip_prefix(&store).ok()?.to_str().map(str::to_owned);
        let is_shared =
            |named: &String| in_store(named).is_some_and(|n| core_scope::is_shared_with_agents(&n));
        // The folder of an attempt is the agent's own: its report is written there.
        let paths: Vec<String> = paths
            .iter()
            .filter(|named| !is_shared(named) || tree.is_some_and(|tree| path::within(tree, named).is_some()))
            .cloned()
            .collect();
        let inside: Vec<String> = paths.iter().filter_map(within).collect();
        let elsewhere = paths.iter().filter(|named| within(named).is_none() && in_store(named).is_some());
        if let Some(own) = inside.iter().filter(|path| is_guards_own(path)).chain(elsewhere).next() {
            return Ok(Reply::Deny {
                reason: format!(
                    "{own} belongs to the guard of this project and is not to be written by an agent."
                ),
            });
        }
        if event.agent_id.is_none() {
            return Ok(Reply::Pass);
        }
        let steps = self.book()?.steps()?;
        let Some(open) = working(self.project, &steps, event) else { return Ok(Reply::Pass) };
        let is_outside = |named: &&String| {
            within(named).is_none()
                && !Path::new(named.as_str()).starts_with(&self.ports.environment.temporary)
        };
        if let Some(outside) = paths.iter().find(is_outside) {
            return Ok(Reply::Deny {
                reason: format!(
                    "Unexpected modification: {outside}; {} may change nothing outside of the project",
                    open.in_words()
                ),
            });
        }
        let is_copy = |named: &&String| {
            let copy = tree.and_then(|tree| path::within(tree, named));
            copy.as_deref() == Some(&open.step_file)
        };
        if paths.iter().any(|named| is_copy(&named)) {
            return Ok(Reply::Deny { reason: copied(self.project, open) });
        }
        let rules = self.rules()?;
        let Ok(loaded) = state::load_open(self.project, &rules, open)? else { return Ok(Reply::Pass) };
        let Ok(allowed) = scope::allowed(&loaded.state) else { return Ok(Reply::Pass) };
        let writes: Vec<&str> = inside.iter().map(String::as_str).collect();
        let working = beyond::OpenStep {
            origin: &open.origin,
            step_file: &open.step_file,
            step_id: Some(&open.task_id),
            // Whoever was sent back has something to mend, though every phase is recorded.
            complete: loaded.state.status == StepStatus::Done && open.sent_back == 0,
            allowed: Some(&allowed),
        };
        let refusal = beyond::beyond(&working, &Asked { writes: &writes, ..Asked::default() });
        Ok(refusal.map_or(Reply::Pass, |refusal| Reply::Deny { reason: refusal.to_string() }))
    }
}

/// What an agent in a worktree is told that would write the copy of the record there.
fn copied(project: &Project, open: &OpenStep) -> String {
    format!(
        "The record of {} is {}; the file of that name in this worktree is a copy that nobody reads. Record each \
         phase with `seriatim phase start {id} PHASE` and `seriatim phase done {id} PHASE --outcome PASS`.",
        open.in_words(),
        project.root.join(&open.step_file).display(),
        id = open.task_id
    )
}

/// Files that hold the guard itself.
fn is_guards_own(path: &str) -> bool {
    core_scope::is_of_the_store(path) || path.starts_with(".git/hooks")
}
