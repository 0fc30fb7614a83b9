//! Checkpoints among the commits of a branch: each names its step at its end.

use std::collections::BTreeSet;
use std::fmt;

use seriatim_core::roadmap::store::memory_key;

use super::Rollback;
use super::RollbackError;
use super::Wanted;
use crate::records::Memory;

/// The trailer with the step of a commit.
pub(super) const STEP: &str = "Step";
/// The trailer with the commit that another one undoes.
pub(super) const REVERTS: &str = "Reverts";
/// How many commits back a checkpoint is looked for.
const LOOK_BACK: u32 = 200;
/// How much of an id people are shown.
const SHORT: usize = 10;

/// A commit as people see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub id: String,
    pub subject: String,
    /// The step whose checkpoint it is, if it is one.
    pub step: Option<String>,
}

impl Seen {
    pub fn short(&self) -> &str {
        self.id.get(..SHORT).unwrap_or(&self.id)
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ({})", self.subject, self.short())
    }
}

/// What the search came to.
pub(super) struct Searched {
    pub(super) step: String,
    pub(super) commit: Seen,
    /// Commits that came after it, the newest first.
    pub(super) above: Vec<Seen>,
}

/// Where the papers of a project lie: its state, its trail, its logs.
pub(super) fn papers(project: &str) -> String {
    format!("docs/feature/{project}/")
}

impl Rollback<'_> {
    /// The newest checkpoint that no later commit undid.
    pub(super) fn search(&self, wanted: &Wanted<'_>) -> Result<Searched, RollbackError> {
        let recent = self.git.recent(LOOK_BACK)?;
        let undone: BTreeSet<&str> =
            recent.iter().filter_map(|(_, message)| trailer(message, REVERTS)).collect();
        let mut above = vec![];
        for (id, message) in &recent {
            let step = trailer(message, STEP);
            if undone.contains(id.as_str()) || trailer(message, REVERTS).is_some() {
                continue;
            }
            let subject = message.lines().next().unwrap_or_default().to_owned();
            let seen = Seen { id: id.clone(), subject, step: step.map(str::to_owned) };
            match step.filter(|step| wanted.step.is_none_or(|wanted| wanted == *step)) {
                Some(step) if self.is_of_project(wanted, step, id)? => {
                    return Ok(Searched { step: step.to_owned(), commit: seen, above });
                }
                _ => above.push(seen),
            }
        }
        Err(RollbackError::NoCheckpoint { step: wanted.step.map(str::to_owned) })
    }

    /// Steps of several projects can have the same id. The record knows whose commit it is, and so do its papers.
    fn is_of_project(&self, wanted: &Wanted<'_>, step: &str, commit: &str) -> Result<bool, RollbackError> {
        let path = wanted.state.replace("{step}", step);
        let known: Option<Memory> = self.book.borrow().memo(&memory_key(&path, step))?;
        let commits = known.map(|memory| memory.value["commits"].clone()).unwrap_or_default();
        if commits.as_array().into_iter().flatten().any(|known| known["commit"] == commit) {
            return Ok(true);
        }
        let papers = papers(wanted.project);
        Ok(self.files_of(commit)?.iter().any(|file| file.starts_with(&papers)))
    }
}

/// The value of a trailer: a line of the last paragraph of a message.
fn trailer<'m>(message: &'m str, key: &str) -> Option<&'m str> {
    let last = message.trim_end().rsplit("\n\n").next()?;
    let value = |line: &'m str| line.strip_prefix(key)?.strip_prefix(": ").map(str::trim);
    last.lines().find_map(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dw_74_a_step_is_named_by_the_last_paragraph_alone() {
        let message = "feat(01-01): GREEN\n\nStep: 09-09 is meant\n\nStep: 01-01\nRun: r\n";
        assert_eq!(trailer(message, STEP), Some("01-01"));
        assert_eq!(trailer(message, REVERTS), None);
        assert_eq!(trailer("Step by step\n\nno trailers here", STEP), None);
    }
}
