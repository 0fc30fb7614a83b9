//! Merging files of a view: planned and durable before the first of them moves, and done once however often it is tried.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use seriatim_core::hash::Hash;
use seriatim_core::merge::merge_text;
use seriatim_core::world::Overlap;
use seriatim_core::world::ViewFile;
use seriatim_core::world::ViewMerged;

use super::cover::Ground;
use super::cover::view_file;
use super::foreign;
use super::ignored;
use crate::hands::disk::Disk;
use crate::hands::files::FileError;
use crate::hands::files::Files;
use crate::hands::files::Write;
use crate::hands::layers::HomeStep;
use crate::hands::layers::LayerChange;
use crate::hands::layers::LayerStack;
use crate::hands::layers::Node;
use crate::hands::layers::remove_layers;
use crate::hands::paths::decode_name;
use crate::hands::paths::encode_name;
use crate::hands::views::Ignores;
use crate::hands::views::Knowledge;
use crate::hands::views::ViewError;
use crate::hands::views::folder;
use crate::hands::views::folder::ViewFolder;
use crate::hands::views::folder::make_private;

/// The layer of the change that a check looks at.
pub(super) const DELIVERABLE: &str = "deliverable";
/// Files that the merge displaced.
const KEPT: &str = "kept";
const STEPS: &str = "steps.json";
const STEPS_BYTES_MAX: u64 = 256 << 20;
/// Larger files are not combined by lines.
const COMBINED_BYTES_MAX: u64 = 8 << 20;
/// A view remembers this many merges; an older one can no longer be asked for again.
const REMEMBERED_MAX: usize = 16;

/// Merges some files of a view into the folder that it covers. Versions of a person that give way on their word go to the
/// folder `replaced`, which outlives the view.
pub(super) fn merge(
    ground: &Ground,
    folder: &mut ViewFolder,
    key: &str,
    paths: &[String],
    overlap: Overlap,
    replaced: &Path,
    knowledge: &Knowledge<'_>,
) -> Result<ViewMerged, ViewError> {
    let desk = folder.path.join(format!("merge-{}", Hash::of(key.as_bytes()).short()));
    let steps = match read_steps(&desk.join(STEPS))? {
        // A process that died had planned this already.
        Some(steps) => steps,
        None => {
            let planned = plan(ground, folder, &desk, paths, overlap, knowledge)?;
            match planned {
                Ok(steps) => {
                    write_steps(&desk, &steps)?;
                    steps
                }
                Err(overlaps) => return Ok(ViewMerged { overlaps, ..ViewMerged::default() }),
            }
        }
    };
    let kept = match overlap {
        Overlap::TakeView => replaced.to_owned(),
        Overlap::Refuse | Overlap::Combine | Overlap::KeepWorkspace => desk.join(KEPT),
    };
    let done = folder.stack(&ground.top).home(&steps, &kept)?;
    if !done.conflicts.is_empty() {
        remove_layers(&desk)?;
        let overlaps =
            done.conflicts.iter().filter_map(|path| ground.inside(path)).map(str::to_owned).collect();
        return Ok(ViewMerged { overlaps, ..ViewMerged::default() });
    }
    // A program that still has a file open that was replaced writes into the kept one, so that stays until the view ends.
    let replaced = (overlap == Overlap::TakeView).then(|| kept.display().to_string());
    let merged = ViewMerged { merged: paths.to_vec(), overlaps: vec![], replaced };
    folder.state.merges.insert(0, (key.to_owned(), merged.clone()));
    folder.state.merges.truncate(REMEMBERED_MAX);
    set_rest_aside(ground, folder, paths, knowledge.ignores)?;
    Ok(merged)
}

/// Plans the merge, or names the files that overlap.
fn plan(
    ground: &Ground,
    folder: &ViewFolder,
    desk: &Path,
    paths: &[String],
    overlap: Overlap,
    knowledge: &Knowledge<'_>,
) -> Result<Result<Vec<HomeStep>, Vec<String>>, ViewError> {
    let wanted: BTreeSet<String> = paths.iter().map(|path| ground.outside(path)).collect();
    let changes = changes(ground, folder, knowledge.ignores)?;
    let mut steps = vec![];
    let mut overlaps = vec![];
    for change in &changes {
        let is_file = ground.inside(&change.path).is_some_and(|path| view_file(path, change).is_some());
        if is_file && !wanted.contains(&change.path) || !is_file && !holds_wanted(change, &wanted) {
            continue;
        }
        if !is_file || !(change.meanwhile || is_removed_meanwhile(ground, folder, change, knowledge)) {
            steps.push(HomeStep::from(change));
            continue;
        }
        match overlap {
            Overlap::TakeView => steps.push(HomeStep::from(change)),
            Overlap::KeepWorkspace => {}
            Overlap::Refuse => overlaps.push(change.path.clone()),
            Overlap::Combine => match combine(ground, change, desk, knowledge)? {
                Some(step) => steps.push(step),
                None => overlaps.push(change.path.clone()),
            },
        }
    }
    if overlaps.is_empty() {
        return Ok(Ok(steps));
    }
    Ok(Err(overlaps.iter().filter_map(|path| ground.inside(path)).map(str::to_owned).collect()))
}

/// Whether a file that looks like a new one was there when the view was opened, as far as the repository knows it. An
/// agent that replaces a file by another one of that name leaves no trace of the first in its layer.
fn is_removed_meanwhile(
    ground: &Ground,
    folder: &ViewFolder,
    change: &LayerChange,
    knowledge: &Knowledge<'_>,
) -> bool {
    if change.before.is_some() || change.after.is_none() {
        return false;
    }
    let Some(place) = decode_name(&change.path).map(|path| ground.top.join(path)) else { return false };
    let nearest = place.ancestors().skip(1).find_map(|above| fs::symlink_metadata(above).ok());
    let began = folder.began_at();
    // A name cannot go without a trace in the folder that it was in. This is cheap, and asking git is not.
    let is_late =
        nearest.zip(began).is_some_and(|(found, began)| (found.ctime(), found.ctime_nsec()) >= began);
    is_late && ground.inside(&change.path).is_some_and(|path| (knowledge.ancestor)(path).is_some())
}

/// Whether a folder that comes or goes does so because of a file that is merged.
fn holds_wanted(change: &LayerChange, wanted: &BTreeSet<String>) -> bool {
    let prefix = format!("{}/", change.path);
    let below: Vec<&String> =
        wanted.range(prefix.clone()..).take_while(|path| path.starts_with(&prefix)).collect();
    !below.is_empty()
}

/// Combines both versions of a file by lines; nothing where they change the same ones, or are no text.
fn combine(
    ground: &Ground,
    change: &LayerChange,
    desk: &Path,
    knowledge: &Knowledge<'_>,
) -> Result<Option<HomeStep>, ViewError> {
    let (Some(Node::File { .. }), Some(Node::File { mode, .. }), Some(source)) =
        (&change.before, &change.after, &change.source)
    else {
        return Ok(None);
    };
    let Some(path) = decode_name(&change.path) else { return Ok(None) };
    let Some(base) = ground.inside(&change.path).and_then(knowledge.ancestor) else { return Ok(None) };
    let read = |path: &Path| match Disk.read(path, COMBINED_BYTES_MAX) {
        Ok(found) => Ok(Some(found.bytes)),
        Err(FileError::TooLarge { .. } | FileError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    };
    let (Some(ours), Some(theirs)) = (read(source)?, read(&ground.top.join(path))?) else { return Ok(None) };
    let Some(both) = merge_text(&base, &ours, &theirs) else { return Ok(None) };
    make_private(desk)?;
    let at = desk.join(format!("both-{}", Hash::of(change.path.as_bytes()).short()));
    let hash = Disk.write(&at, &both, Write::DURABLE.mode(0o600))?;
    let after = Node::File { mode: *mode, size: both.len() as u64, hash };
    Ok(Some(HomeStep::new(&change.path, change.before.clone(), Some(after), Some(&at))))
}

/// Takes what was not merged out of the view: the next attempt begins with what counts, which is the folder itself and
/// the ignored files. It is kept aside until the view is thrown away.
fn set_rest_aside(
    ground: &Ground,
    folder: &mut ViewFolder,
    paths: &[String],
    ignores: Ignores<'_>,
) -> Result<(), ViewError> {
    let merged: BTreeSet<String> = paths.iter().map(|path| ground.outside(path)).collect();
    let mut changes = changes(ground, folder, ignores)?;
    changes.retain(|change| !merged.contains(&change.path));
    keep_of(ground, folder, &changes, &BTreeSet::new(), ignores)
}

/// Keeps some files of a view as its work and sets the rest aside. Done again, it changes nothing.
pub(super) fn keep(
    ground: &Ground,
    folder: &mut ViewFolder,
    paths: &[String],
    ignores: Ignores<'_>,
) -> Result<(), ViewError> {
    let wanted: BTreeSet<String> = paths.iter().map(|path| ground.outside(path)).collect();
    let changes = changes(ground, folder, ignores)?;
    keep_of(ground, folder, &changes, &wanted, ignores)
}

/// Gives a view a layer with those of some changes that are wanted or ignored; the others are set aside with the old one.
fn keep_of(
    ground: &Ground,
    folder: &mut ViewFolder,
    changes: &[LayerChange],
    wanted: &BTreeSet<String>,
    ignores: Ignores<'_>,
) -> Result<(), ViewError> {
    let ignored = ignored::files(ground, changes, ignores);
    let is_ignored = |change: &LayerChange| {
        ground.inside(&change.path).is_some_and(|path| ignored.iter().any(|known| known == path))
    };
    let (stays, rest): (Vec<&LayerChange>, Vec<&LayerChange>) =
        changes.iter().partition(|change| wanted.contains(&change.path) || is_ignored(change));
    let stays: Vec<HomeStep> = stays.into_iter().map(HomeStep::from).collect();
    let rest = if rest.is_empty() { Old::Remove } else { Old::SetAside };
    renew(ground, folder, &stays, ignores, rest)
}

/// What becomes of a layer that counts no more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Old {
    Remove,
    SetAside,
}

/// Puts a layer with these paths and all ignored folders in the place of the one that counts.
fn renew(
    ground: &Ground,
    folder: &mut ViewFolder,
    stays: &[HomeStep],
    ignores: Ignores<'_>,
    old_layer: Old,
) -> Result<(), ViewError> {
    let replace = |folder: &mut ViewFolder, by| match old_layer {
        Old::Remove => folder.replace_layer(by),
        Old::SetAside => folder.set_layer_aside(by),
    };
    let Some(old) = folder.counted() else { return folder.save() };
    let ignored = ignored::folders(ground, &old, ignores)?;
    if stays.is_empty() && ignored.is_empty() {
        return replace(folder, None);
    }
    let number = folder.prepare_layer()?;
    let new = folder.upper(number);
    folder.stack(&ground.top).gate_layer(stays, &new)?;
    move_ignored(ground, &old, &new, ignores)?;
    replace(folder, Some(number))
}

/// Moves ignored folders from one layer to another one as they are.
pub(super) fn move_ignored(
    ground: &Ground,
    old: &Path,
    new: &Path,
    ignores: Ignores<'_>,
) -> Result<(), ViewError> {
    for path in ignored::folders(ground, old, ignores)? {
        let (from, to) = (old.join(&path), new.join(&path));
        let moved = to.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::rename(&from, &to));
        moved.map_err(|error| FileError::of(&from, &error))?;
    }
    Ok(())
}

/// Returns the files of the deliverable change that a view shows to be gone and that the place never had: beside the place
/// they are no difference.
pub(super) fn removed_of_deliverable(
    ground: &Ground,
    folder: &ViewFolder,
) -> Result<Vec<ViewFile>, ViewError> {
    let layer = folder.path.join(DELIVERABLE);
    let Some(upper) = folder.counted().filter(|_| layer.exists()) else { return Ok(vec![]) };
    let began = folder::began(&folder.path);
    let changes = LayerStack::new(vec![layer.clone()], &ground.top, &began).change(&|_| false)?;
    let view = LayerStack::new(vec![upper, layer], &ground.top, &began);
    let mut removed = vec![];
    for change in changes.iter().filter(|change| change.before.is_none() && change.after.is_some()) {
        let Some(path) = ground.inside(&change.path) else { continue };
        let Some(inside) = decode_name(&change.path) else { continue };
        if view.find(&inside)?.is_none() {
            let file =
                view_file(path, &LayerChange { before: change.after.clone(), after: None, ..change.clone() });
            removed.extend(file);
        }
    }
    Ok(removed)
}

/// Makes a layer with exactly these files of a view.
pub(super) fn deliverable(
    ground: &Ground,
    folder: &ViewFolder,
    paths: &[String],
    layer: &Path,
    ignores: Ignores<'_>,
) -> Result<(), ViewError> {
    let wanted: BTreeSet<String> = paths.iter().map(|path| ground.outside(path)).collect();
    let changes = changes(ground, folder, ignores)?;
    let taken =
        changes.iter().filter(|change| wanted.contains(&change.path) || holds_wanted(change, &wanted));
    let steps: Vec<HomeStep> = taken.map(HomeStep::from).collect();
    Ok(folder.stack(&ground.top).gate_layer(&steps, layer)?)
}

/// Reads what a view changes, without repositories and without ignored folders.
pub(super) fn changes(
    ground: &Ground,
    folder: &ViewFolder,
    ignores: Ignores<'_>,
) -> Result<Vec<LayerChange>, ViewError> {
    Ok(changes_and_repositories(ground, folder, ignores)?.0)
}

/// Reads the same, and names the repositories inside of the work that the view changes. Their hooks and settings are run
/// by whoever uses git there, so they are never merged.
pub(super) fn changes_and_repositories(
    ground: &Ground,
    folder: &ViewFolder,
    ignores: Ignores<'_>,
) -> Result<(Vec<LayerChange>, Vec<String>), ViewError> {
    let Some(upper) = folder.counted() else { return Ok((vec![], vec![])) };
    let ignored = ignored::folders(ground, &upper, ignores)?;
    let nested = RefCell::new(vec![]);
    let apart = |path: &Path| {
        if !path.ends_with(".git") {
            return ignored.iter().any(|folder| folder == path);
        }
        if path != Path::new(".git") {
            nested.borrow_mut().push(encode_name(path.as_os_str()));
        }
        true
    };
    let changes = foreign::without_copies(folder, folder.stack(&ground.top).change(&apart)?)?;
    Ok((changes, nested.into_inner()))
}

fn read_steps(path: &Path) -> Result<Option<Vec<HomeStep>>, ViewError> {
    match Disk.read(path, STEPS_BYTES_MAX) {
        Ok(found) => serde_json::from_slice(&found.bytes)
            .map(Some)
            .map_err(|error| FileError::Io { path: path.to_owned(), reason: error.to_string() }.into()),
        Err(FileError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn write_steps(desk: &Path, steps: &[HomeStep]) -> Result<(), ViewError> {
    make_private(desk)?;
    make_private(&desk.join(KEPT))?;
    let text = serde_json::to_vec(steps)
        .map_err(|error| FileError::Io { path: desk.to_owned(), reason: error.to_string() })?;
    Disk.write(&desk.join(STEPS), &text, Write::DURABLE.mode(0o600))?;
    fs::File::open(desk).and_then(|folder| folder.sync_all()).map_err(|error| FileError::of(desk, &error))?;
    Ok(())
}
