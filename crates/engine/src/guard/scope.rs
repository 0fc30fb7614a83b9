//! What a step changed: the files when its agent began, and what is different now (DS-27, DS-66).

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::Path;

use seriatim_core::guard::scope;
use seriatim_core::guard::scope::Allowed;
use seriatim_core::guard::scope::Changed;
use seriatim_core::guard::scope::Status;
use seriatim_core::guard::scope::Verdict;
use seriatim_core::hash::Hash;
use seriatim_core::roadmap::state::StepState;

use super::GuardError;
use super::project::Project;
use super::step::Base;
use super::step::OpenStep;
use crate::hands::disk::Disk;
use crate::hands::git::Change;
use crate::hands::git::ChangeKind;
use crate::hands::git::Git;
use crate::hands::git::GitError;
use crate::hands::git::Place;
use crate::hands::paths::Workspace;
use crate::hands::runner::Supervised;

/// Folders in which the search for hidden files does not go down: they are large, and nothing in them guards anything.
const SKIPPED: [&str; 4] = [".git", "node_modules", "target", ".venv"];
/// Hidden files are near the top; further down the search ends.
const DEPTH_MAX: usize = 4;
/// Own writings below `.seriatim/`, which are no secret.
const OWN: &str = ".seriatim";

pub(super) fn with_git<T>(
    project: &Project,
    work: impl FnOnce(&Git<'_>) -> Result<T, GitError>,
) -> Result<T, GuardError> {
    let runner = Supervised::by_this_program();
    let workspace = Workspace::new(&project.root)
        .map_err(|error| GuardError::Refused(format!("{} cannot be used: {error}", project.root.display())))?;
    let git = Git::new(&runner, &Disk, workspace, ".seriatim/git");
    Ok(work(&git)?)
}

/// The files as they are now. A project without git has none that could be compared.
pub(super) fn base(project: &Project) -> Result<Option<Base>, GuardError> {
    let taken = with_git(project, |git| {
        if !git.is_repository()? {
            return Ok(None);
        }
        Ok(Some((git.tree()?, git.head()?)))
    })?;
    Ok(taken.map(|(tree, head)| Base { tree, head, sensitive: sensitive(&project.root) }))
}

/// What is different since a step began.
pub(super) fn changed(project: &Project, base: &Base) -> Result<Vec<Changed>, GuardError> {
    let (changes, untracked) = with_git(project, |git| {
        let changes = git.changes_since(Some(&base.tree))?;
        let status = git.status()?;
        let untracked: BTreeSet<String> = status
            .entries
            .into_iter()
            .filter(|entry| entry.place == Place::Untracked)
            .map(|entry| entry.path)
            .collect();
        Ok((changes, untracked))
    })?;
    let mut found: Vec<Changed> = changes.into_iter().map(|change| as_changed(change, &untracked)).collect();
    let now = sensitive(&project.root);
    let paths: BTreeSet<&String> = base.sensitive.keys().chain(now.keys()).collect();
    for path in paths {
        let (before, after) = (base.sensitive.get(path), now.get(path));
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
    Ok(found)
}

fn as_changed(change: Change, untracked: &BTreeSet<String>) -> Changed {
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

/// Judges everything that changed since the step began. Files of other open steps are theirs to answer for.
pub(super) fn judge(
    project: &Project,
    step: &OpenStep,
    state: &StepState,
    others: &[Allowed],
) -> Result<Verdict, GuardError> {
    let Some(base) = &step.base else { return Ok(Verdict::default()) };
    let allowed = match allowed(state) {
        Ok(allowed) => allowed,
        Err(problems) => return Err(GuardError::Refused(problems.join("; "))),
    };
    let mut found = changed(project, base)?;
    found.retain(|changed| {
        allowed.permits(&changed.path) || !others.iter().any(|other| !other.is_undeclared() && other.permits(&changed.path))
    });
    Ok(scope::judge(&allowed, &found))
}

/// Files that guard something and that git may not see, by their hashes.
fn sensitive(root: &Path) -> BTreeMap<String, Hash> {
    let mut found = BTreeMap::new();
    look(root, root, 0, &mut found);
    look(root, &root.join(".git/hooks"), 0, &mut found);
    found
}

fn look(root: &Path, folder: &Path, depth: usize, found: &mut BTreeMap<String, Hash>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let (Ok(kind), Some(relative)) = (entry.file_type(), relative(root, &path)) else { continue };
        let name = entry.file_name();
        if kind.is_dir() {
            let skipped = SKIPPED.iter().any(|skipped| name == **skipped) || relative == OWN;
            if !skipped && depth < DEPTH_MAX {
                look(root, &path, depth + 1, found);
            }
        } else if scope::is_sensitive(&relative) {
            let bytes = std::fs::read(&path).unwrap_or_default();
            found.insert(relative, Hash::of(&bytes));
        }
    }
}

fn relative(root: &Path, path: &Path) -> Option<String> {
    path.strip_prefix(root).ok()?.to_str().map(str::to_owned)
}
