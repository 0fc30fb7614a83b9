//! What flows ask of the repository and the tree, through the hands.

mod hooks;
mod trees;

use std::path::Path;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::hash::Hash;
use seriatim_core::leaks;
use seriatim_flows::request::CommitBase;
use seriatim_flows::request::Delivered;
use seriatim_flows::request::Delivery;
use seriatim_flows::request::Difference;
use seriatim_flows::request::FileChange;
use seriatim_flows::request::GitCall;
use seriatim_flows::request::How;
use seriatim_flows::request::Shown;
use seriatim_flows::request::Stand;
use seriatim_flows::request::Survey;
use seriatim_flows::request::Surveyed;
use seriatim_flows::request::Text;

use crate::hands::files;
use crate::hands::files::Entry;
use crate::hands::git::Change;
use crate::hands::git::ExactCommit;
use crate::hands::git::GitError;
use crate::hands::git::TreeEdit;
use crate::hands::git::TreeEntry;
use crate::hands::process::Watch;
use crate::hands::repository::Repository;
use crate::job::Job;
use crate::perform::Hands;
use crate::perform::file_failure;
use crate::views;

/// Where our own index and objects lie, in the store.
pub const PRIVATE: &str = "git";
/// By this trailer a delivery is found again after a crash.
const TRAILER: &str = "Seriatim-Delivery";
/// How much of a change is looked through for credentials.
const SEARCHED_BYTES_MAX: usize = 16 << 20;
/// Larger files are not counted line by line.
const COUNTED_BYTES_MAX: u64 = 16 << 20;

pub(crate) fn private(hands: &Hands) -> PathBuf {
    hands.workspace.store().join(PRIVATE)
}

/// How a place in the store is shown to people.
pub(crate) fn shown(hands: &Hands, place: &Path) -> String {
    hands.workspace.relative(place).unwrap_or_else(|| place.display().to_string())
}

pub(crate) fn git(hands: &Hands) -> Box<dyn Repository + '_> {
    hands.repositories.seen_from(&hands.workspace, &[])
}

/// The repository as it is seen from a working tree; an empty name means the workspace.
fn git_at<'h>(
    hands: &'h Hands,
    tree: &str,
    variables: &[(&str, &str)],
) -> Result<Box<dyn Repository + 'h>, Failure> {
    if tree.is_empty() {
        return Ok(hands.repositories.seen_from(&hands.workspace, variables));
    }
    let place = hands.resolve(tree).map_err(|e| file_failure(&e))?;
    Ok(hands.repositories.seen_from(&hands.workspace.inside(place), variables))
}

fn failure(error: GitError) -> Failure {
    let class = match &error {
        GitError::Deadline { .. } => Class::Transport,
        GitError::Hook { .. } => Class::Denied,
        GitError::File(_) => Class::Storage,
        _ => Class::Contract,
    };
    Failure::new(class, error.to_string())
}

/// Performs a call on the repository; the outcome is of the type that the call has.
pub(crate) fn perform(hands: &Hands, job: &Job, call: &GitCall, watch: &dyn Watch) -> Result<Value, Failure> {
    match call {
        GitCall::Stand { tree } => stand(git_at(hands, tree, &[])?.as_ref()).map(value).map_err(failure),
        GitCall::Changes { since, apart, limit_bytes, tree } => {
            changes(git_at(hands, tree, &[])?.as_ref(), since, apart, *limit_bytes)
                .map(value)
                .map_err(failure)
        }
        GitCall::ViewTree { view, base, paths, merged } => {
            let mut edits = views::edits(hands, job, view, paths)?;
            let settled = merged.iter().filter(|path| !paths.contains(path));
            edits.extend(settled.map(|path| edit_as_it_is(hands, path)).collect::<Result<Vec<_>, _>>()?);
            git(hands).tree_with(base, &edits).map(value).map_err(failure)
        }
        GitCall::Compare { from, to, apart, limit_bytes } => {
            compare(git(hands).as_ref(), from, to, apart, *limit_bytes).map(value).map_err(failure)
        }
        GitCall::Deliver(delivery) => deliver(git(hands).as_ref(), job, delivery).map(value),
        GitCall::Show { at, paths, tree } => {
            let git = git_at(hands, tree, &[])?;
            Ok(value(paths.iter().map(|path| text_at(git.as_ref(), at, path)).collect::<Shown>()))
        }
        GitCall::Between { from, to, tree } => {
            let found = git_at(hands, tree, &[])?.changes_between(from.as_deref(), to).map_err(failure)?;
            Ok(value(found.into_iter().map(change).collect::<Vec<_>>()))
        }
        GitCall::Commit(checkpoint) => trees::commit(hands, job, checkpoint).map(value),
        GitCall::Hooks(wanted) => hooks::run(hands, job, wanted, watch).map(value),
        GitCall::OpenTree { tree, branch, base: _, resume: true } => {
            trees::find(hands, tree, branch).map(value)
        }
        GitCall::OpenTree { tree, branch, base, resume: false } => {
            trees::open(hands, tree, branch, base).map(value)
        }
        GitCall::CloseTree { tree, branch, merged } => trees::close(hands, tree, branch, *merged).map(value),
        GitCall::CatchUp { tree, message } => trees::catch_up(hands, tree, message).map(value),
        GitCall::Advance { branch } => git(hands).fast_forward(branch).map(value).map_err(failure),
        GitCall::Push => trees::push(hands).map(value),
    }
}

/// A file of the workspace as an edit of a tree.
fn edit_as_it_is(hands: &Hands, path: &str) -> Result<TreeEdit, Failure> {
    let place = hands.workspace.resolve_without_links(hands.files.as_ref(), Path::new(path));
    let place = place.map_err(|e| file_failure(&e))?;
    let to = match hands.files.look(&place).map_err(|e| file_failure(&e))? {
        Some(Entry { kind: files::Kind::File, mode, .. }) => {
            TreeEntry::File { source: place, executable: mode & 0o100 != 0 }
        }
        Some(Entry { kind: files::Kind::Symlink(target), .. }) => TreeEntry::Link { target },
        Some(_) | None => TreeEntry::Nothing,
    };
    Ok(TreeEdit { path: path.to_owned(), to })
}

fn value(outcome: impl Serialize) -> Value {
    serde_json::to_value(outcome).unwrap_or_default()
}

fn stand(git: &dyn Repository) -> Result<Stand, GitError> {
    Ok(Stand { head: git.head()?, branch: git.branch()?, tree: git.tree()?, remote: git.remote()? })
}

fn changes(
    git: &dyn Repository,
    since: &str,
    apart: &[String],
    limit_bytes: u64,
) -> Result<Difference, GitError> {
    let tree = git.tree()?;
    compare(git, since, &tree, apart, limit_bytes)
}

fn compare(
    git: &dyn Repository,
    since: &str,
    tree: &str,
    apart: &[String],
    limit_bytes: u64,
) -> Result<Difference, GitError> {
    let all = git.changes_between(Some(since), tree)?;
    let counted: Vec<&Change> = all.iter().filter(|change| !is_apart(&change.path, apart)).collect();
    if counted.is_empty() {
        return Ok(Difference::default());
    }
    // No path at all means every path, which also spares a long command line.
    let paths: Vec<String> = if counted.len() == all.len() {
        vec![]
    } else {
        counted.iter().flat_map(|c| std::iter::once(&c.path).chain(&c.old_path)).cloned().collect()
    };
    // More is looked through than is told, or a credential could hide behind a long change.
    let whole = git.diff_between(Some(since), tree, &paths, SEARCHED_BYTES_MAX)?;
    let mut leaks: Vec<String> = leaks::find(&whole.text, &[]).iter().map(ToString::to_string).collect();
    if whole.cut {
        leaks.push("the change is too long to be looked through for secrets".to_owned());
    }
    let limit = usize::try_from(limit_bytes).unwrap_or(usize::MAX).min(whole.text.len());
    let cut = whole.cut || limit < whole.text.len();
    let end = if cut {
        whole.text[..whole.text.floor_char_boundary(limit)].rfind('\n').map_or(0, |at| at + 1)
    } else {
        limit
    };
    let files = counted.into_iter().cloned().map(change).collect();
    let waived = leaks::waived(&whole.text).iter().map(ToString::to_string).collect();
    Ok(Difference { files, diff: whole.text[..end].to_owned(), cut, leaks, waived })
}

fn text_at(git: &dyn Repository, at: &str, path: &str) -> Option<Text> {
    let text = git.text_at(at, path)?;
    Some(Text { hash: Hash::of(text.as_bytes()), text })
}

/// Whether a path is one of those apart, or below one that ends in `/`.
fn is_apart(path: &str, apart: &[String]) -> bool {
    apart.iter().any(|entry| path == entry || (entry.ends_with('/') && path.starts_with(entry.as_str())))
}

fn change(change: Change) -> FileChange {
    FileChange {
        kind: format!("{:?}", change.kind).to_lowercase(),
        path: change.path,
        old_path: change.old_path,
        added: change.added,
        deleted: change.deleted,
        binary: change.binary,
    }
}

/// The approval is for one tree. A delivery that was made before the engine died is not made again.
fn deliver(git: &dyn Repository, job: &Job, delivery: &Delivery) -> Result<Delivered, Failure> {
    // The same change of the same run is the same delivery, also when a person has it tried again.
    let marker = format!("{}-{}", job.run_name, delivery.tree);
    let commit = match git.commit_with_trailer(TRAILER, &marker).map_err(failure)? {
        Some(made) => {
            let merged = git.merge_of(&made).map_err(failure)?.filter(|_| delivery.how == How::Merge);
            let id = merged.unwrap_or(made);
            git.settle_index(&id).map_err(failure)?;
            id
        }
        None => commit_approved(git, delivery, marker)?,
    };
    read_back(git, delivery, &commit)?;
    let mut pushed = false;
    if delivery.push
        && let Some(remote) = git.remote().map_err(failure)?
    {
        git.push(&remote)
            .map_err(|e| Failure::new(Class::Transport, format!("it was committed, but not pushed: {e}")))?;
        pushed = true;
    }
    Ok(Delivered { commit, pushed })
}

/// Commits the approved files as the approved tree has them, whatever else is staged or changed.
fn commit_approved(git: &dyn Repository, delivery: &Delivery, marker: String) -> Result<String, Failure> {
    let since = git.changes_since(Some(&delivery.tree)).map_err(failure)?;
    let is_delivered = |path: &String| delivery.paths.contains(path);
    let matters = |change: &&Change| {
        let both = std::iter::once(&change.path).chain(&change.old_path);
        !is_apart(&change.path, &delivery.apart) && both.into_iter().any(is_delivered)
    };
    if let Some(other) = since.iter().find(matters) {
        let what = format!("{} has changed since it was approved", other.path);
        return Err(Failure::new(Class::Denied, what));
    }
    let CommitBase { head, branch } = base_of(git, delivery.onto.as_ref()).map_err(failure)?;
    let tree = git.tree_taking(head.as_deref(), &delivery.tree, &delivery.paths).map_err(failure)?;
    if git.changes_between(head.as_deref(), &tree).map_err(failure)?.is_empty() {
        return Err(failure(GitError::NothingToCommit));
    }
    let mut trailers = delivery.trailers.clone();
    trailers.push((TRAILER.to_owned(), marker));
    let message = delivery.message.clone();
    let beside = (delivery.how == How::Merge).then(|| delivery.branch.clone());
    let wanted = ExactCommit { head, branch, tree, message, trailers, beside };
    let id = git.commit_exactly(&wanted).map_err(failure)?.id;
    tell_hook(git, &id)?;
    Ok(id)
}

/// The commit holds the approved files as they were approved, and nothing else.
fn read_back(git: &dyn Repository, delivery: &Delivery, commit: &str) -> Result<(), Failure> {
    let parent = Some(format!("{commit}^")).filter(|name| git.changes_between(Some(name), commit).is_ok());
    let expected = git.tree_taking(parent.as_deref(), &delivery.tree, &delivery.paths).map_err(failure)?;
    let other = git.changes_between(Some(&expected), commit).map_err(failure)?;
    let Some(other) = other.first() else { return Ok(()) };
    let what = format!(
        "commit {commit} holds {} in another version than the approved one. Nothing was pushed. \
         Undo it with `git reset --soft HEAD^`",
        other.path
    );
    Err(Failure::new(Class::Denied, what))
}

/// Where a commit is made: where the work began, or for older requests where the repository stands.
fn base_of(git: &dyn Repository, onto: Option<&CommitBase>) -> Result<CommitBase, GitError> {
    match onto {
        Some(onto) => Ok(onto.clone()),
        None => Ok(CommitBase { head: git.head()?, branch: git.branch()? }),
    }
}

/// Runs the hook that hears of commits. One that moves the branch has changed what was committed.
fn tell_hook(git: &dyn Repository, commit: &str) -> Result<(), Failure> {
    git.after_commit().map_err(failure)?;
    let head = git.head().map_err(failure)?.unwrap_or_default();
    if head == commit {
        return Ok(());
    }
    let what = format!(
        "commit {commit} was made, and then the branch moved to {head}: the post-commit hook of the repository may have \
         done that. Nothing was pushed. Look at both with `git log -2`, and go back with `git reset --soft {commit}`"
    );
    Err(Failure::new(Class::Denied, what))
}

/// Names in folders and numbers of lines.
pub(crate) fn survey(hands: &Hands, wanted: &Survey) -> Surveyed {
    let names = |folder: &String| {
        let place = hands.resolve(folder).ok()?;
        let listed = hands.files.list(&place).ok()?;
        Some(listed.into_iter().filter(|(_, e)| e.kind == files::Kind::File).map(|(name, _)| name).collect())
    };
    let lines = |file: &String| {
        let place = hands.resolve(file).ok()?;
        let found = hands.files.read(&place, COUNTED_BYTES_MAX).ok()?;
        let text = String::from_utf8(found.bytes).ok()?;
        Some(text.lines().count() as u64)
    };
    Surveyed {
        folders: wanted.folders.iter().map(|f| names(f).unwrap_or_default()).collect(),
        files: wanted.files.iter().map(lines).collect(),
    }
}
