//! What a step changed: the files when its agent began, and what is different now (DS-27, DS-66).

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::Path;

use seriatim_core::guard::scope;
use seriatim_core::guard::scope::Allowed;
use seriatim_core::guard::scope::Changed;
use seriatim_core::guard::scope::Status;
use seriatim_core::guard::scope::Verdict;
use seriatim_core::guard::scope::Violation;
use seriatim_core::guard::scope::Why;
use seriatim_core::hash::Hash;
use seriatim_core::roadmap::state::StepState;

use super::GuardError;
use super::project::Project;
use super::rules::Rules;
use super::state;
use super::step::Base;
use super::step::OpenStep;
use super::step::worktree;
use crate::hands::files::Files;
use crate::hands::files::Kind;
use crate::hands::files::Links;
use crate::hands::git;
use crate::hands::git::Change;
use crate::hands::git::ChangeKind;
use crate::hands::git::Git;
use crate::hands::git::GitError;
use crate::hands::git::Place;
use crate::hands::paths::Workspace;
use crate::hands::paths::decode_name;
use crate::hands::process::Processes;
use crate::home::Home;
use crate::home::PLAIN;

/// Folders in which the search for hidden files does not go down: they are large, and nothing in them guards anything.
/// The last one is written by the client.
const SKIPPED: [&str; 5] = [".git", "node_modules", "target", ".venv", ".claude/worktrees"];
/// Hidden files are near the top; further down the search ends.
const DEPTH_MAX: usize = 4;

/// A project, and how git is asked about it.
#[derive(Clone, Copy)]
pub(super) struct Repository<'g> {
    pub(super) project: &'g Project,
    pub(super) processes: &'g dyn Processes,
}

pub(super) fn with_git<T>(
    at: Repository<'_>,
    work: impl FnOnce(&Git<'_>) -> Result<T, GitError>,
) -> Result<T, GuardError> {
    with_index(at, None, work)
}

/// The same with another index than the usual one: git tells its hooks which one is committed.
pub(super) fn with_index<T>(
    at: Repository<'_>,
    index: Option<&str>,
    work: impl FnOnce(&Git<'_>) -> Result<T, GitError>,
) -> Result<T, GuardError> {
    in_tree(at, &at.project.root, |git| match index {
        Some(index) => work(&git.with_variable("GIT_INDEX_FILE", index)),
        None => work(&git),
    })
}

/// Asks git in the project or in a worktree of it. What we need for that lies in the project in both cases.
fn in_tree<T>(
    at: Repository<'_>,
    root: &Path,
    work: impl FnOnce(Git<'_>) -> Result<T, GitError>,
) -> Result<T, GuardError> {
    let files = at.project.files.as_ref();
    let workspace = Workspace::new_in(files, root)
        .map_err(|error| GuardError::Refused(format!("{} cannot be used: {error}", root.display())))?;
    let private = at.project.state_dir().join("git");
    Ok(work(Git::new(at.processes, files, workspace, private))?)
}

/// The files as they are now. A project without git has none that could be compared.
pub(super) fn base(at: Repository<'_>) -> Result<Option<Base>, GuardError> {
    base_in(at, &at.project.root)
}

/// The same in a worktree of the project.
pub(super) fn base_in(at: Repository<'_>, root: &Path) -> Result<Option<Base>, GuardError> {
    let taken = in_tree(at, root, |git| {
        if !git.is_repository()? {
            return Ok(None);
        }
        Ok(Some((git.tree()?, git.head()?, git.status()?)))
    })?;
    Ok(taken.map(|(tree, head, status)| Base {
        tree,
        head,
        sensitive: sensitive(at.project.files.as_ref(), root),
        nested: nested(at, root, &status),
        ignored: ignored(at.project.files.as_ref(), root, &status),
    }))
}

/// The files of a worktree as they were when it was made. Ignored files that guard something were then copied from the
/// project, if they are the same there.
fn as_made(at: Repository<'_>, root: &Path, step: &OpenStep) -> Result<Option<Base>, GuardError> {
    let (project, files) = (at.project, at.project.files.as_ref());
    let started = || step.base.as_ref()?.head.clone();
    let Some(commit) = worktree::made_from(project, root).or_else(started) else { return Ok(None) };
    let status = in_tree(at, root, |git| git.status())?;
    let hidden = |path: &str| {
        let mut entries = status.entries.iter().filter(|entry| entry.place == Place::Ignored);
        entries.any(|entry| Path::new(path).starts_with(entry.path.trim_end_matches('/')))
    };
    let theirs = sensitive(files, &project.root);
    let mut copied = sensitive(files, root);
    copied.retain(|path, hash| !hidden(path) || theirs.get(path) == Some(hash));
    let ignored = ignored(files, root, &status);
    Ok(Some(Base { tree: commit.clone(), head: Some(commit), sensitive: copied, ignored, ..Base::default() }))
}

/// The files as the last commit has them: what a step is held against whose beginning nobody saw.
pub(super) fn last_commit(at: Repository<'_>) -> Result<Option<Base>, GuardError> {
    let (root, files) = (&at.project.root, at.project.files.as_ref());
    let taken = with_git(at, |git| match git.is_repository()? {
        true => Ok(Some((git.head()?, git.status()?))),
        false => Ok(None),
    })?;
    Ok(taken.and_then(|(head, status)| {
        let tree = head.clone()?;
        let ignored = ignored(files, root, &status);
        let nested = nested(at, root, &status);
        Some(Base { tree, head, sensitive: sensitive(files, root), nested, ignored })
    }))
}

/// What is different since a step began.
fn changed(at: Repository<'_>, root: &Path, base: &Base) -> Result<Vec<Changed>, GuardError> {
    let (project, files) = (at.project, at.project.files.as_ref());
    let (changes, status) =
        in_tree(at, root, |git| Ok((git.changes_since(Some(&base.tree))?, git.status()?)))?;
    let untracked: BTreeSet<&String> = status
        .entries
        .iter()
        .filter(|entry| entry.place == Place::Untracked)
        .map(|entry| &entry.path)
        .collect();
    let mut found: Vec<Changed> = changes.into_iter().map(|change| as_changed(change, &untracked)).collect();
    compare(&base.sensitive, &sensitive(files, root), &mut found);
    for (path, tree) in nested(at, root, &status) {
        let known = found.iter().any(|changed| changed.path == path);
        if !known && base.nested.get(&path) != Some(&tree) {
            found.push(Changed::new(path, Status::Modified));
        }
    }
    compare(&base.ignored, &ignored(files, root, &status), &mut found);
    // A worktree that lies in the project is judged by itself, where it belongs to a step.
    found.retain(|changed| worktree::of(project, &root.join(&changed.path)).is_none_or(|tree| tree == root));
    Ok(found)
}

/// Adds what git does not see and is another now than it was.
fn compare<T: PartialEq>(
    before: &BTreeMap<String, T>,
    after: &BTreeMap<String, T>,
    found: &mut Vec<Changed>,
) {
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for path in paths {
        let (before, after) = (before.get(path), after.get(path));
        if before == after || found.iter().any(|changed| changed.path == *path) {
            continue;
        }
        let status = match (before, after) {
            (None, _) => Status::Added,
            (_, None) => Status::Deleted,
            _ => Status::Modified,
        };
        found.push(Changed { ignored: true, ..Changed::new(path.clone(), status) });
    }
}

fn as_changed(change: Change, untracked: &BTreeSet<&String>) -> Changed {
    Changed {
        untracked: untracked.contains(&change.path),
        from: change.old_path,
        status: match change.kind {
            ChangeKind::Added => Status::Added,
            ChangeKind::Modified => Status::Modified,
            ChangeKind::Deleted => Status::Deleted,
            ChangeKind::Renamed => Status::Renamed,
            ChangeKind::TypeChanged => Status::TypeChange,
            ChangeKind::ModeChanged => Status::Mode,
        },
        symlink_target: change.target,
        binary: change.binary,
        ignored: false,
        path: change.path,
    }
}

/// What a step may change.
pub(super) fn allowed(state: &StepState) -> Result<Allowed, Vec<String>> {
    Allowed::new(state.allowed_patterns.as_deref(), state.writes, Some(&state.step_file), &[])
        .map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

/// What the scope of a step says.
#[derive(Default)]
pub(super) struct Judged {
    pub(super) verdict: Verdict,
    /// All that is different since the step began, lawful or not.
    pub(super) changed: Vec<String>,
}

/// Judges everything that changed since the step began. What other steps may change is theirs to answer for.
pub(super) fn judge(
    at: Repository<'_>,
    step: &OpenStep,
    state: &StepState,
    others: &[Allowed],
) -> Result<Judged, GuardError> {
    let Some(base) = &step.base else { return Ok(Judged::default()) };
    let allowed = match allowed(state) {
        Ok(allowed) => allowed,
        Err(problems) => return Err(GuardError::Refused(problems.join("; "))),
    };
    let mut found = changed(at, &at.project.root, base)?;
    found.retain(|changed| {
        allowed.permits(&changed.path)
            || !others.iter().any(|other| !other.is_undeclared() && other.permits(&changed.path))
    });
    let theirs = |path: &String| !allowed.is_own(path);
    let changed = found.iter().filter(|change| !change.ignored).map(|change| change.path.clone());
    let mut judged =
        Judged { verdict: scope::judge(&allowed, &found), changed: changed.filter(theirs).collect() };
    for root in worktree::of_step(at.project, step) {
        judge_worktree(at, &root, step, &allowed, &mut judged)?;
    }
    Ok(judged)
}

/// Judges a worktree in which an agent of the step works. Nobody else does, so that all that changed there is its doing.
/// The record of the step is the one in the project: another one beside it would tell another story.
fn judge_worktree(
    at: Repository<'_>,
    root: &Path,
    step: &OpenStep,
    allowed: &Allowed,
    judged: &mut Judged,
) -> Result<(), GuardError> {
    let project = at.project;
    let shown = |path: &str| {
        let path = root.join(path);
        path.strip_prefix(&project.root).unwrap_or(&path).to_string_lossy().into_owned()
    };
    let known = root.to_str().and_then(|root| step.worktrees.get(root).cloned());
    let base = match known {
        Some(base) => Some(base),
        None => as_made(at, root, step)?,
    };
    let Some(base) = base else { return Ok(()) };
    let found = changed(at, root, &base)?;
    let Verdict { mut violations, ignored, .. } = scope::judge(allowed, &found);
    let is_record = |change: &Changed| change.path == step.step_file;
    let differs = || {
        let text = |root: &Path| project.files.read_from(&root.join(&step.step_file), 0, u64::MAX).ok();
        text(root) != text(&project.root)
    };
    if found.iter().any(is_record) && differs() {
        violations.push(Violation { path: step.step_file.clone(), why: Why::Unlisted });
    }
    let violations = violations.into_iter();
    judged
        .verdict
        .violations
        .extend(violations.map(|violation| Violation { path: shown(&violation.path), ..violation }));
    judged.verdict.ignored.extend(ignored.iter().map(|path| shown(path)));
    let work = found.iter().filter(|change| !change.ignored && !allowed.is_own(&change.path));
    judged.changed.extend(work.map(|change| shown(&change.path)));
    Ok(())
}

/// What the steps may change that were at work at the same time as `step`, those among them that are finished now
/// included.
pub(super) fn of_others(
    project: &Project,
    rules: &Rules,
    step: &OpenStep,
    others: &[OpenStep],
) -> Result<Vec<Allowed>, GuardError> {
    let mut permitted = vec![];
    for other in others.iter().filter(|other| other.key() != step.key()) {
        if let Ok(loaded) = state::load_open(project, rules, other)? {
            permitted.extend(allowed(&loaded.state).ok());
        }
    }
    Ok(permitted)
}

/// Files that guard something and that git may not see, by their hashes.
fn sensitive(files: &dyn Files, root: &Path) -> BTreeMap<String, Hash> {
    let mut found = BTreeMap::new();
    look(files, root, root, 0, &mut found);
    look(files, root, &root.join(".git/hooks"), 0, &mut found);
    let home = Home::of(root);
    if home.is_in_git() {
        look_in_store(files, &home, home.store(), &mut found);
    }
    found
}

/// The repositories inside of this one in which something is not as it was committed there. Git's trees hold only the
/// commits of such repositories.
fn nested(at: Repository<'_>, root: &Path, status: &git::Status) -> BTreeMap<String, String> {
    let entries = status.entries.iter().filter(|entry| entry.submodule);
    let tree = |path: &str| {
        let files = at.project.files.as_ref();
        let workspace = Workspace::new_in(files, &root.join(path)).ok()?;
        Git::new(at.processes, files, workspace, at.project.state_dir().join("git/nested")).tree().ok()
    };
    entries.filter_map(|entry| Some((entry.path.clone(), tree(&entry.path)?))).collect()
}

/// What git ignores, by the time of its last change. A folder stands for all that is in it.
fn ignored(files: &dyn Files, root: &Path, status: &git::Status) -> BTreeMap<String, u64> {
    let entries = status.entries.iter().filter(|entry| entry.place == Place::Ignored);
    let changed = |path: &String| {
        let stamp = files.stamp(&root.join(path), Links::Keep).ok()??;
        Some((path.trim_end_matches('/').to_owned(), u64::try_from(stamp.modified_ns).ok()?))
    };
    let plain = entries.filter(|entry| !scope::is_sensitive(entry.path.trim_end_matches('/')));
    plain.filter_map(|entry| changed(&entry.path)).collect()
}

fn look(files: &dyn Files, root: &Path, folder: &Path, depth: usize, found: &mut BTreeMap<String, Hash>) {
    let Ok(entries) = files.list(folder) else { return };
    for (name, entry) in entries {
        let Some(path) = decode_name(&name).map(|name| folder.join(name)) else { continue };
        let Some(relative) = relative(root, &path) else { continue };
        if entry.kind == Kind::Directory {
            let skipped = SKIPPED.iter().any(|skipped| name == *skipped || relative == *skipped)
                // Those further down belong to other projects.
                || (name == PLAIN && relative != PLAIN)
                || scope::is_written_by_us(&relative);
            if !skipped && depth < DEPTH_MAX {
                look(files, root, &path, depth + 1, found);
            }
        } else if scope::is_sensitive(&relative) && !scope::is_written_by_us(&relative) {
            let bytes = files.read_from(&path, 0, u64::MAX).unwrap_or_default();
            found.insert(relative, Hash::of(&bytes));
        }
    }
}

/// Files that another hand put into the store. What this program writes there is none of the work's.
fn look_in_store(files: &dyn Files, home: &Home, folder: &Path, found: &mut BTreeMap<String, Hash>) {
    let Ok(entries) = files.list(folder) else { return };
    for (name, entry) in entries {
        let Some(path) = decode_name(&name).map(|name| folder.join(name)) else { continue };
        let Some(inside) = relative(home.store(), &path) else { continue };
        if scope::is_written_by_us(&format!("{PLAIN}/{inside}")) {
            continue;
        }
        if entry.kind == Kind::Directory {
            look_in_store(files, home, &path, found);
        } else {
            let bytes = files.read_from(&path, 0, u64::MAX).unwrap_or_default();
            found.insert(home.shown(&path), Hash::of(&bytes));
        }
    }
}

fn relative(root: &Path, path: &Path) -> Option<String> {
    path.strip_prefix(root).ok()?.to_str().map(str::to_owned)
}
