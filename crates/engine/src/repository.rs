//! What flows ask of the repository and the tree, through the hands.

mod trees;

use std::path::Path;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::hash::Hash;
use seriatim_core::leaks;
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
use crate::hands::git::Commit;
use crate::hands::git::GitError;
use crate::hands::git::TreeEdit;
use crate::hands::git::TreeEntry;
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
pub(crate) fn perform(hands: &Hands, job: &Job, call: &GitCall) -> Result<Value, Failure> {
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
        GitCall::OpenTree { tree, branch, base } => trees::open(hands, tree, branch, base).map(value),
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
    let mut trailers = delivery.trailers.clone();
    trailers.push((TRAILER.to_owned(), marker.clone()));
    let commit = Commit { paths: delivery.paths.clone(), message: delivery.message.clone(), trailers };
    let known = match delivery.how {
        How::Commit | How::Squash => git.commit_with_trailer(TRAILER, &marker),
        How::Merge => git.resume_merge(&commit, &delivery.branch, (TRAILER, &marker)),
    };
    let commit = match known.map_err(failure)? {
        Some(id) => id,
        None => {
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
            let committed = match delivery.how {
                How::Commit | How::Squash => git.commit(&commit),
                How::Merge => git.commit_and_merge(&commit, &delivery.branch),
            };
            committed.map_err(failure)?.id
        }
    };
    // A hook of the user can change files between the check and the commit: the commit itself is read back.
    let kept = git.changes_between(Some(&delivery.tree), &commit).map_err(failure)?;
    if let Some(other) = kept.iter().find(|change| delivery.paths.contains(&change.path)) {
        let what = format!(
            "commit {commit} holds {} in another version than the approved one; a hook of the repository may have changed it. \
             Nothing was pushed. Undo it with `git reset --soft HEAD^`",
            other.path
        );
        return Err(Failure::new(Class::Denied, what));
    }
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
