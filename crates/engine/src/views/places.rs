//! Places beside the workspace: a working tree or a copy, which a process in a world finds at the workspace's own path.

use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;

use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::world::Isolation;

use super::failure;
use crate::hands::files::FileError;
use crate::hands::files::Kind;
use crate::hands::files::Write;
use crate::hands::git::GitError;
use crate::hands::views::Covered;
use crate::hands::views::ViewOf;
use crate::perform::Hands;
use crate::perform::file_failure;
use crate::scene;

/// Where a process finds the place of its work, and which files it sees there in another version.
#[derive(Debug, Default)]
pub(super) struct ShownPlace {
    /// Absent where that is the place itself.
    pub(super) at: Option<PathBuf>,
    pub(super) covered: Covered,
}

/// Plans how a place beside the workspace is shown at the workspace's path: what differs between the two is covered, and
/// what git ignores is there as the workspace has it. Files that the command names are shown all the same.
pub(super) fn show(
    hands: &Hands,
    of: ViewOf<'_>,
    isolation: Isolation,
    argv: &[String],
) -> Result<ShownPlace, Failure> {
    let Some(at) = hands.views.shown_at(of.place, isolation) else { return Ok(ShownPlace::default()) };
    let Some(layer) = hands.views.covering(of).map_err(failure)? else { return Ok(ShownPlace::default()) };
    let mut covered = Covered::default();
    for path in differing(hands, &at, of.place)? {
        let shown = layer.join(hands.workspace.part()).join(&path);
        let is_there = put(hands, &of.place.join(&path), &shown).map_err(|e| file_failure(&e))?;
        let is_named = || argv.iter().any(|word| *word == path || Path::new(word) == at.join(&path));
        match is_there {
            true => covered.present.push(path),
            false if is_named() => {}
            false => covered.absent.push(path),
        }
    }
    // A file hides the folder in whose place it is, with all that is in there.
    let present = &covered.present;
    let is_hidden = |path: &String| present.iter().any(|file| Path::new(path).starts_with(file));
    covered.absent.retain(|path| !is_hidden(path));
    Ok(ShownPlace { at: Some(at), covered })
}

/// Puts a file of a place into a layer. Returns false where the place has none.
fn put(hands: &Hands, from: &Path, to: &Path) -> Result<bool, FileError> {
    let Some(entry) = hands.files.look(from)? else { return Ok(false) };
    match entry.kind {
        Kind::File => hands.files.copy(from, to, Write::REBUILDABLE.mode(entry.mode)).map(|_| true),
        Kind::Symlink(target) => hands.files.link(to, Path::new(&target)).map(|()| true),
        Kind::Directory | Kind::Special => Ok(false),
    }
}

/// The files in which a place differs from the workspace, without ignored ones.
fn differing(hands: &Hands, workspace: &Path, place: &Path) -> Result<BTreeSet<String>, Failure> {
    let trouble = |error: GitError| Failure::new(Class::Contract, error.to_string());
    let seen_from = |folder: &Path| hands.repositories.seen_from(&hands.workspace.inside(folder), &[]);
    let git = seen_from(workspace);
    if !git.is_repository().map_err(trouble)? || is_copied_part(hands, place) {
        return differing_files(hands, workspace, place);
    }
    let here = git.tree().map_err(trouble)?;
    let there = seen_from(place).tree().map_err(trouble)?;
    let changes = git.changes_between(Some(&here), &there).map_err(trouble)?;
    Ok(changes.into_iter().flat_map(|change| [Some(change.path), change.old_path]).flatten().collect())
}

/// Whether a place is a copy of a part of a repository, which has none of its own.
fn is_copied_part(hands: &Hands, place: &Path) -> bool {
    let depth = hands.workspace.part().components().count();
    let git = place.ancestors().nth(depth).map(|top| top.join(".git"));
    depth > 0 && !git.is_some_and(|git| hands.files.look(&git).is_ok_and(|found| found.is_some()))
}

/// The same where there is no repository: file by file.
fn differing_files(hands: &Hands, workspace: &Path, place: &Path) -> Result<BTreeSet<String>, Failure> {
    let mut differing = BTreeSet::new();
    let here: BTreeSet<String> = scene::files(hands, workspace)?.into_iter().collect();
    let there: BTreeSet<String> = scene::files(hands, place)?.into_iter().collect();
    for path in here.union(&there) {
        let (one, other) = (workspace.join(path), place.join(path));
        let look = |at: &Path| hands.files.look(at).map_err(|e| file_failure(&e));
        let hash = |at: &Path| hands.files.hash(at).map_err(|e| file_failure(&e));
        let is_same = match (look(&one)?, look(&other)?) {
            (Some(was), Some(is)) if was.kind == Kind::File && is.kind == Kind::File => {
                was.mode == is.mode && hash(&one)? == hash(&other)?
            }
            (was, is) => was.map(|entry| entry.kind) == is.map(|entry| entry.kind),
        };
        if !is_same {
            differing.insert(path.clone());
        }
    }
    Ok(differing)
}
