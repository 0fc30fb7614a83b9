//! The scene of the work: how the workspace was and is, and copies of it in which several work at the same time.
//!
//! How it was is a snapshot of our own. A copy is compared with the snapshot that was taken when it was made.

use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_flows::request::SceneCall;
use seriatim_flows::request::SceneChange;
use seriatim_flows::request::SceneKind;
use seriatim_flows::request::SealOf;
use seriatim_flows::request::Taken;
use seriatim_flows::request::TreePlace;

use crate::agents;
use crate::copies;
use crate::hands::files::FileError;
use crate::hands::files::Kind;
use crate::hands::files::Write;
use crate::hands::paths::TREES_PREFIX;
use crate::hands::pattern::Pattern;
use crate::hands::snapshot::Listing;
use crate::hands::snapshot::SnapshotError;
use crate::hands::snapshot::Snapshots;
use crate::hands::snapshot::State;
use crate::hands::snapshot::Step;
use crate::hands::snapshot::Take;
use crate::job::Job;
use crate::perform::Hands;
use crate::perform::file_failure;
use crate::perform::remove_all;
use crate::repository;

/// No work is about these.
const APART: [&str; 9] = [
    ".git",
    ".seriatim",
    ".snapshots",
    ".artifacts-failed",
    "target",
    "node_modules",
    ".venv",
    "__pycache__",
    ".pytest_cache",
];
/// How snapshots are named that are only for comparing.
const SCENE: &str = "scene-";

/// Performs a call; the outcome is of the type that the call has.
pub(crate) fn perform(hands: &Hands, job: &Job, call: &SceneCall) -> Result<Value, Failure> {
    match call {
        SceneCall::Files { copy } => value(files(hands, &root(hands, job, copy))?),
        SceneCall::Mark { name } => value(mark(hands, job, name, hands.workspace.root())?),
        SceneCall::Copy { copy } => value(make_copy(hands, job, copy)?),
        SceneCall::Changes { name, copy } => value(changes(hands, job, name, copy)?),
        SceneCall::Take { copy, paths } => value(take(hands, job, copy, paths)?),
        SceneCall::PutBack { name, copy, paths } => value(put_back(hands, job, name, copy, paths)?),
        SceneCall::Keep { copy, paths } => value(keep(hands, job, copy, paths)?),
        SceneCall::Drop { copy } => {
            // An empty name is that of no copy.
            if !copy.is_empty() {
                remove_all(hands.files.as_ref(), &top(hands, job, copy)).map_err(|e| file_failure(&e))?;
            }
            value(())
        }
        SceneCall::Forget => value(forget(hands, job)?),
        SceneCall::Seals { paths } => {
            value(paths.iter().map(|path| seal(hands, path)).collect::<Result<Vec<_>, _>>()?)
        }
    }
}

/// The files that a call may write, seen from the workspace.
pub(crate) fn writes(hands: &Hands, job: &Job, call: &SceneCall) -> Vec<PathBuf> {
    let in_copy = |copy: &str, path: &String| {
        let place = root(hands, job, copy).join(path);
        hands.workspace.relative(&place).map(PathBuf::from)
    };
    match call {
        SceneCall::Take { paths, .. } => paths.iter().map(PathBuf::from).collect(),
        SceneCall::PutBack { copy, paths, .. } => {
            paths.iter().filter_map(|path| in_copy(copy, path)).collect()
        }
        SceneCall::Keep { paths, .. } => paths.iter().map(|(_, to)| PathBuf::from(to)).collect(),
        SceneCall::Files { .. }
        | SceneCall::Mark { .. }
        | SceneCall::Copy { .. }
        | SceneCall::Changes { .. }
        | SceneCall::Drop { .. }
        | SceneCall::Forget
        | SceneCall::Seals { .. } => vec![],
    }
}

fn value(outcome: impl Serialize) -> Result<Value, Failure> {
    Ok(serde_json::to_value(outcome).unwrap_or_default())
}

fn failure(error: SnapshotError) -> Failure {
    match error {
        SnapshotError::File(error) => file_failure(&error),
        other => Failure::new(Class::Storage, other.to_string()),
    }
}

/// The name of the folder of a copy.
fn name_of(run: &str, copy: &str) -> String {
    format!("{run}-{copy}")
}

fn root(hands: &Hands, job: &Job, copy: &str) -> PathBuf {
    if copy.is_empty() {
        return hands.workspace.root().to_owned();
    }
    hands.workspace.tree_place(name_of(&job.run_name, copy))
}

/// The folder of a copy, which holds more than that where the workspace is a part of its repository.
fn top(hands: &Hands, job: &Job, copy: &str) -> PathBuf {
    hands.workspace.tree_top(name_of(&job.run_name, copy))
}

/// The snapshots as they are compared with a root: that of the workspace, or that of a copy.
fn snapshots<'h>(hands: &'h Hands, root: &Path) -> Snapshots<'h> {
    let store = hands.workspace.store().join(copies::FOLDER);
    Snapshots::new(hands.files.as_ref(), hands.workspace.inside(root), store)
}

fn label(name: &str) -> String {
    format!("{SCENE}{name}")
}

/// The snapshot that was taken under a name, if there is one: the newest of this run.
fn known(hands: &Hands, job: &Job, name: &str) -> Result<Option<String>, Failure> {
    let listing = snapshots(hands, hands.workspace.root()).list().map_err(failure)?;
    let found = listing.snapshots.into_iter().find(|s| s.run == job.run_name && s.action == label(name));
    Ok(found.map(|found| found.id))
}

fn needed(hands: &Hands, job: &Job, name: &str) -> Result<String, Failure> {
    known(hands, job, name)?
        .ok_or_else(|| Failure::new(Class::MissingArtifact, format!("nothing is remembered as `{name}`")))
}

/// Remembers how the files below a root are. A later mark of the same name takes the place of the earlier one.
fn mark(hands: &Hands, job: &Job, name: &str, root: &Path) -> Result<(), Failure> {
    let take = Take {
        action: label(name),
        run: job.run_name.clone(),
        created: job.at,
        scope: vec![],
        excludes: APART.iter().map(|apart| Pattern::new(*apart)).collect(),
    };
    snapshots(hands, root).create(&take).map(|_| ()).map_err(failure)
}

/// Takes away what was only kept for comparing.
fn forget(hands: &Hands, job: &Job) -> Result<(), Failure> {
    let of_run = |listing: &Listing| {
        let ours = listing.snapshots.iter().filter(|s| s.run == job.run_name && s.action.starts_with(SCENE));
        ours.map(|s| s.id.clone()).collect()
    };
    snapshots(hands, hands.workspace.root()).prune(of_run).map(|_| ()).map_err(failure)
}

/// Makes a copy and says how it is named and where it is. What is remembered is the copy itself: others may work in
/// the workspace while it is made.
fn make_copy(hands: &Hands, job: &Job, copy: &str) -> Result<TreePlace, Failure> {
    let place = root(hands, job, copy);
    remove_all(hands.files.as_ref(), &top(hands, job, copy)).map_err(|e| file_failure(&e))?;
    agents::copy_workspace(hands.files.as_ref(), &hands.workspace, &place).map_err(|e| file_failure(&e))?;
    mark(hands, job, copy, &place)?;
    Ok(TreePlace {
        name: format!("{TREES_PREFIX}/{}", name_of(&job.run_name, copy)),
        path: repository::shown(hands, &place),
        resumed: false,
    })
}

/// Lists the files below a root, without those that no work is about.
pub(crate) fn files(hands: &Hands, root: &Path) -> Result<Vec<String>, Failure> {
    let mut found = vec![];
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let listed = match hands.files.list(&root.join(&folder)) {
            Ok(listed) => listed,
            Err(FileError::NotFound { .. } | FileError::NotDirectory { .. }) => continue,
            Err(error) => return Err(file_failure(&error)),
        };
        for (name, entry) in listed {
            if APART.contains(&name.as_str()) {
                continue;
            }
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            match entry.kind {
                Kind::Directory => folders.push(path),
                Kind::File | Kind::Symlink(_) => found.push(path),
                Kind::Special => {}
            }
        }
    }
    found.sort();
    Ok(found)
}

fn steps(hands: &Hands, job: &Job, name: &str, copy: &str) -> Result<Vec<Step>, Failure> {
    let id = needed(hands, job, name)?;
    let plan = snapshots(hands, &root(hands, job, copy)).compare(&id, None).map_err(failure)?;
    let is_folder = |state: &Option<State>| matches!(state, Some(State::Directory { .. }));
    let of_files = plan.steps.into_iter().filter(|step| {
        let both = [&step.now, &step.then];
        !both.iter().any(|state| is_folder(state))
            || both.iter().all(|state| state.is_some() && !is_folder(state))
    });
    Ok(of_files.collect())
}

fn changes(hands: &Hands, job: &Job, name: &str, copy: &str) -> Result<Vec<SceneChange>, Failure> {
    let steps = steps(hands, job, name, copy)?;
    let ignored = ignored(hands, &steps);
    let change = |step: Step| {
        let kind = match (&step.then, &step.now) {
            (None, _) => SceneKind::Added,
            (_, None) => SceneKind::Deleted,
            (Some(State::File { hash: was, .. }), Some(State::File { hash: is, .. })) if was == is => {
                SceneKind::Mode
            }
            _ => SceneKind::Modified,
        };
        let target = match &step.now {
            Some(State::Symlink { target }) => Some(target.clone()),
            _ => None,
        };
        SceneChange { ignored: ignored.contains(&step.path), path: step.path, kind, target }
    };
    Ok(steps.into_iter().map(change).collect())
}

/// The paths that git ignores; none where there is no repository.
fn ignored(hands: &Hands, steps: &[Step]) -> BTreeSet<String> {
    let paths: Vec<String> = steps.iter().map(|step| step.path.clone()).collect();
    let git = repository::git(hands);
    if paths.is_empty() || !git.is_repository().unwrap_or(false) {
        return BTreeSet::new();
    }
    git.ignored(&paths).unwrap_or_default().into_iter().collect()
}

/// Brings files of a copy into the workspace. Whatever somebody else changed there meanwhile is left alone, and then
/// nothing is brought.
fn take(hands: &Hands, job: &Job, copy: &str, paths: &[String]) -> Result<Taken, Failure> {
    let from = root(hands, job, copy);
    let meanwhile = steps(hands, job, copy, "")?;
    let same = |path: &String| {
        let hash = |root: &Path| hands.files.hash(&root.join(path)).ok();
        hash(&from).is_some() && hash(&from) == hash(hands.workspace.root())
    };
    let conflicts: Vec<String> = paths
        .iter()
        .filter(|path| meanwhile.iter().any(|step| step.path == **path) && !same(path))
        .cloned()
        .collect();
    if !conflicts.is_empty() {
        return Ok(Taken { conflicts });
    }
    for path in paths {
        bring(hands, &from.join(path), path).map_err(|e| file_failure(&e))?;
    }
    Ok(Taken::default())
}

/// Puts one file of elsewhere in its place in the workspace; one that is not there is removed here, too.
fn bring(hands: &Hands, from: &Path, path: &str) -> Result<(), FileError> {
    let to = hands.workspace.resolve_without_links(hands.files.as_ref(), Path::new(path))?;
    match hands.files.look(from)? {
        None => hands.files.remove(&to),
        Some(entry) => match entry.kind {
            Kind::Symlink(target) => hands.files.link(&to, Path::new(&target)),
            Kind::File => hands.files.copy(from, &to, Write::DURABLE.mode(entry.mode)).map(|_| ()),
            Kind::Directory | Kind::Special => Ok(()),
        },
    }
}

fn put_back(hands: &Hands, job: &Job, name: &str, copy: &str, paths: &[String]) -> Result<(), Failure> {
    let id = needed(hands, job, name)?;
    snapshots(hands, &root(hands, job, copy)).put_back(&id, paths).map_err(failure)
}

/// Keeps files elsewhere in the workspace, as far as they are there.
fn keep(hands: &Hands, job: &Job, copy: &str, paths: &[(String, String)]) -> Result<(), Failure> {
    let from = root(hands, job, copy);
    for (source, target) in paths {
        let source = from.join(source);
        let is_file =
            hands.files.look(&source).is_ok_and(|found| found.is_some_and(|e| e.kind == Kind::File));
        if is_file {
            bring(hands, &source, target).map_err(|e| file_failure(&e))?;
        }
    }
    Ok(())
}

fn seal(hands: &Hands, path: &str) -> Result<Option<SealOf>, Failure> {
    let place = hands.resolve(path).map_err(|e| file_failure(&e))?;
    match hands.files.look(&place).map_err(|e| file_failure(&e))? {
        Some(entry) if entry.kind == Kind::File => {
            let hash = hands.files.hash(&place).map_err(|e| file_failure(&e))?;
            Ok(Some(SealOf { hash, mode: entry.mode }))
        }
        _ => Ok(None),
    }
}
