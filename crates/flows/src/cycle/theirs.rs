//! What the user has in the repository and the cycle must not take: uncommitted changes, and a branch that moved.

use seriatim_core::cycle::choices::MovedChoice;
use seriatim_core::cycle::choices::OwnChangesChoice;
use seriatim_core::cycle::facts::Decision;
use seriatim_core::failure::Failure;

use super::act::paths;
use super::course::Course;
use super::people;
use crate::registry::Ended;
use crate::request::CommitBase;
use crate::request::Stand;

/// The tree of no files at all: what a repository without commits begins from (E-52).
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// What a person says about uncommitted changes in files of the work.
pub(super) enum Theirs {
    /// There are none, or they may be taken.
    Fine,
    /// The work has to do without these files.
    Without(String),
    Over(Ended),
}

/// Whether the repository is where the work began.
pub(super) enum Standing {
    Same,
    /// A person takes what is checked out now, so that everything is judged again.
    Rebased,
    Over(Ended),
}

impl Course<'_> {
    /// Notes where the work begins: the files as they are, the commit below them, and what the user has not committed.
    pub(super) async fn note_beginning(&mut self, stand: &Stand) -> Result<(), Failure> {
        self.branch.clone_from(&stand.branch);
        if self.base.is_some() {
            return Ok(());
        }
        let dirty = match &stand.head {
            Some(head) => self.cx.changes(head, self.state_files(), 0).await?,
            // Every file of a repository without a commit is the user's; one that cannot tell has none.
            None => self.cx.changes(EMPTY_TREE, self.state_files(), 0).await.unwrap_or_default(),
        };
        self.theirs = paths(&dirty).into_iter().collect();
        self.base = Some(stand.tree.clone());
        self.onto = Some(CommitBase::of(stand));
        Ok(())
    }

    /// Asks about uncommitted changes of the user in files of the work, once for each file.
    pub(super) async fn mind_theirs(&mut self, files: &[String]) -> Theirs {
        let overlap: Vec<String> = files.iter().filter(|path| self.theirs.contains(*path)).cloned().collect();
        if overlap.is_empty() {
            return Theirs::Fine;
        }
        let (choice, answer) = self.ask(people::own_changes(&overlap)).await;
        self.decided(Decision::OwnChanges(choice), &answer);
        match choice {
            OwnChangesChoice::Approve => {
                self.theirs.retain(|path| !overlap.contains(path));
                Theirs::Fine
            }
            OwnChangesChoice::Changes => {
                let words = answer.text.unwrap_or_default();
                Theirs::Without(format!(
                    "These files hold changes of the user that are not committed, and must not be touched: {}. {words}",
                    overlap.join(", ")
                ))
            }
            OwnChangesChoice::Stop => Theirs::Over(self.stop(&answer.by).await),
        }
    }

    /// Nothing is committed on another commit or branch than the one where the work began, unless a person says so.
    pub(super) async fn mind_branch(&mut self) -> Result<Standing, Failure> {
        loop {
            let found = CommitBase::of(&self.cx.stand().await?);
            let Some(expected) = self.onto.clone().filter(|expected| *expected != found) else {
                return Ok(Standing::Same);
            };
            let (choice, answer) = self.ask(people::moved(&expected, &found)).await;
            self.decided(Decision::Moved(choice), &answer);
            match choice {
                MovedChoice::Approve => {
                    self.branch.clone_from(&found.branch);
                    self.onto = Some(found);
                    // Another base has other tests.
                    self.floors.clear();
                    return Ok(Standing::Rebased);
                }
                MovedChoice::Retry => {}
                MovedChoice::Stop => return Ok(Standing::Over(self.stop(&answer.by).await)),
            }
        }
    }
}
