//! Checkpoints of a step, and the working trees of steps that are carried out side by side.

use std::path::Path;

use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_flows::request::CaughtUp;
use seriatim_flows::request::Checkpoint;
use seriatim_flows::request::CommitBase;
use seriatim_flows::request::Committed;
use seriatim_flows::request::TreePlace;

use super::TRAILER;
use super::base_of;
use super::failure;
use super::git;
use super::git_at;
use super::private;
use super::shown;
use super::tell_hook;
use crate::hands::files::Lock;
use crate::hands::git::ExactCommit;
use crate::hands::git::GitError;
use crate::hands::git::Merged;
use crate::hands::git::Worktree;
use crate::hands::repository::Repository;
use crate::job::Job;
use crate::perform::Hands;
use crate::perform::file_failure;
use crate::perform::remove_all;

/// Tells the hooks of a commit that the engine makes it and has its record already.
pub(super) const CHECKPOINT: &str = "SERIATIM_CHECKPOINT";
/// The trailer with the run that made a commit.
const RUN: &str = "Run";
/// The trailer with the head of the run's journal, by which the record of a commit can be checked.
const CHAIN_HEAD: &str = "Chain-Head";

/// Commits the files of a checkpoint. One that was made before the engine died is found again by its trailer.
pub(super) fn commit(hands: &Hands, job: &Job, wanted: &Checkpoint) -> Result<Committed, Failure> {
    let git = git_at(hands, &wanted.tree, &[(CHECKPOINT, &job.run_name)])?;
    let git = git.as_ref();
    let marker = job.marker();
    if let Some(commit) = git.commit_with_trailer(TRAILER, &marker).map_err(failure)? {
        git.settle_index(&commit).map_err(failure)?;
        let parent = format!("{commit}^");
        let from = git.changes_between(Some(&parent), &commit);
        let made = from.or_else(|_| git.changes_between(None, &commit)).map_err(failure)?;
        return Ok(Committed { commit, paths: made.into_iter().map(|change| change.path).collect() });
    }
    let CommitBase { head, branch } = base_of(git, wanted.onto.as_ref()).map_err(failure)?;
    let tree = tree_of(git, head.as_deref(), wanted).map_err(failure)?;
    let is_empty = git.changes_between(head.as_deref(), &tree).map_err(failure)?.is_empty();
    if is_empty && !wanted.may_be_empty {
        return Ok(Committed::default());
    }
    let mut trailers = wanted.trailers.clone();
    trailers.push((RUN.to_owned(), job.run_name.clone()));
    // As it was when this was asked for: the commit can be laid beside the record.
    trailers.extend(job.told.head.map(|head| (CHAIN_HEAD.to_owned(), head.to_string())));
    trailers.push((TRAILER.to_owned(), marker));
    let message = wanted.message.clone();
    let made = ExactCommit { head, branch, tree, message, trailers, beside: None };
    let committed = git.commit_exactly(&made).map_err(failure)?;
    tell_hook(git, &committed.id)?;
    Ok(Committed { commit: committed.id, paths: committed.paths })
}

/// What the commit holds: the files as they were seen, and the engine's own as they are.
fn tree_of(git: &dyn Repository, head: Option<&str>, wanted: &Checkpoint) -> Result<String, GitError> {
    let now = git.tree()?;
    let (own, work): (Vec<String>, Vec<String>) =
        wanted.paths.iter().cloned().partition(|path| wanted.own.contains(path));
    let seen = if wanted.seen.is_empty() { &now } else { &wanted.seen };
    let tree = git.tree_taking(head, seen, &work)?;
    git.tree_taking(Some(&tree), &now, &own)
}

/// Held while working trees come and go: git reads the papers of all of them, and finds half of one otherwise.
fn turn(hands: &Hands) -> Result<Lock, Failure> {
    let place = private(hands);
    hands.files.make_directory(&place).map_err(|e| file_failure(&e))?;
    hands.files.lock(&place.join("trees.lock")).map_err(|e| file_failure(&e))
}

/// Looks for the working tree that an earlier run left, and says where it is. One whose making was cut off before all of
/// its files were there is none: git keeps such a tree locked.
pub(super) fn find(hands: &Hands, tree: &str, branch: &str) -> Result<TreePlace, Failure> {
    let place = hands.workspace.top_of(tree).map_err(|e| file_failure(&e))?;
    let _turn = turn(hands)?;
    let git = git(hands);
    git.prune_worktrees().map_err(failure)?;
    let is_whole = |known: &Worktree| {
        known.path == place && known.branch.as_deref() == Some(branch) && !known.locked && !known.prunable
    };
    let resumed = git.worktrees().map_err(failure)?.iter().any(is_whole);
    Ok(TreePlace { name: tree.to_owned(), path: shown(hands, &place), resumed })
}

/// Makes a working tree and says where it is. One that is there counts no more: a try that was cut off left it.
pub(super) fn open(hands: &Hands, tree: &str, branch: &str, base: &str) -> Result<TreePlace, Failure> {
    let place = hands.workspace.top_of(tree).map_err(|e| file_failure(&e))?;
    let _turn = turn(hands)?;
    let git = git(hands);
    git.prune_worktrees().map_err(failure)?;
    remove(hands, git.as_ref(), &place)?;
    git.put_aside(branch).map_err(failure)?;
    git.add_worktree(&place, Some(branch), base).map_err(failure)?;
    Ok(TreePlace { name: tree.to_owned(), path: shown(hands, &place), resumed: false })
}

/// Removes a working tree, also one of which a part is gone already, so that git does not take it for one any more.
fn remove(hands: &Hands, git: &dyn Repository, place: &Path) -> Result<(), Failure> {
    let Err(error) = git.remove_worktree(place) else {
        return remove_all(hands.files.as_ref(), place).map_err(|e| file_failure(&e));
    };
    remove_all(hands.files.as_ref(), place).map_err(|e| file_failure(&e))?;
    git.prune_worktrees().map_err(|_| failure(error))
}

pub(super) fn close(hands: &Hands, tree: &str, branch: &str, merged: bool) -> Result<(), Failure> {
    let place = hands.workspace.top_of(tree).map_err(|e| file_failure(&e))?;
    let _turn = turn(hands)?;
    let git = git(hands);
    remove(hands, git.as_ref(), &place)?;
    if merged {
        git.delete_branch(branch).map_err(failure)?;
    }
    Ok(())
}

/// Brings what the workspace's branch has by now into a working tree, where conflicts are in nobody's way.
pub(super) fn catch_up(hands: &Hands, tree: &str, message: &str) -> Result<CaughtUp, Failure> {
    let Some(head) = git(hands).head().map_err(failure)? else { return Ok(CaughtUp::default()) };
    let merged = git_at(hands, tree, &[])?.merge(&head, message).map_err(failure)?;
    Ok(match merged {
        Merged::Nothing => CaughtUp::default(),
        Merged::Done => CaughtUp { moved: true, conflicts: vec![] },
        Merged::Conflicts(conflicts) => CaughtUp { moved: false, conflicts },
    })
}

pub(super) fn push(hands: &Hands) -> Result<bool, Failure> {
    let git = git(hands);
    let Some(remote) = git.remote().map_err(failure)? else { return Ok(false) };
    git.push(&remote).map_err(|e| Failure::new(Class::Transport, e.to_string()))?;
    Ok(true)
}
