//! What a view holds, as edits of a tree, and as a copy to which it can be put back.

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use super::cover::Ground;
use super::merging::changes;
use super::merging::move_ignored;
use crate::hands::disk::Disk;
use crate::hands::files::Files;
use crate::hands::files::Write;
use crate::hands::git::TreeEdit;
use crate::hands::git::TreeEntry;
use crate::hands::layers::HomeStep;
use crate::hands::layers::LayerChange;
use crate::hands::layers::Node;
use crate::hands::layers::remove_layers;
use crate::hands::paths::decode_name;
use crate::hands::views::Ignores;
use crate::hands::views::ViewError;
use crate::hands::views::folder::ViewFolder;
use crate::hands::views::folder::make_private;

/// The folder of what is remembered of a view.
const SAVED: &str = "saved";

/// Returns some files of a view as edits of a tree.
pub(super) fn edits(
    ground: &Ground,
    folder: &ViewFolder,
    paths: &[String],
    ignores: Ignores<'_>,
) -> Result<Vec<TreeEdit>, ViewError> {
    let mut edits = vec![];
    for change in changes(ground, folder, ignores)? {
        let Some(path) = ground.inside(&change.path).filter(|path| paths.iter().any(|p| p == path)) else {
            continue;
        };
        edits.extend(entry(&change).map(|to| TreeEdit { path: path.to_owned(), to }));
    }
    Ok(edits)
}

/// What a tree has where the view changed something; nothing for folders, which no tree has by themselves.
fn entry(change: &LayerChange) -> Option<TreeEntry> {
    match (&change.after, &change.source) {
        (None, _) => Some(TreeEntry::Nothing),
        (Some(Node::File { mode, .. }), Some(source)) => {
            Some(TreeEntry::File { source: source.clone(), executable: mode & 0o100 != 0 })
        }
        (Some(Node::Link { target }), _) => Some(TreeEntry::Link { target: target.clone() }),
        (Some(Node::File { .. } | Node::Folder { .. } | Node::Special), _) => None,
    }
}

fn saved(folder: &ViewFolder) -> PathBuf {
    folder.path.join(SAVED)
}

/// Copies what a view holds. Its files are copied and not linked, since the next process writes into them.
pub(super) fn save(ground: &Ground, folder: &ViewFolder, ignores: Ignores<'_>) -> Result<(), ViewError> {
    let to = saved(folder);
    remove_layers(&to)?;
    let changes = changes(ground, folder, ignores)?;
    make_private(&to)?;
    write_layer(ground, folder, &changes, &to.join("upper"))
}

/// Takes some files of another view into a view: its layer gives way to one that holds them too.
pub(super) fn adopt(
    ground: &Ground,
    folder: &mut ViewFolder,
    from: &ViewFolder,
    paths: &[String],
    ignores: Ignores<'_>,
) -> Result<(), ViewError> {
    let Some(old) = folder.counted() else { return Ok(()) };
    let wanted: Vec<String> = paths.iter().map(|path| ground.outside(path)).collect();
    let mut all = changes(ground, folder, ignores)?;
    all.retain(|change| !wanted.contains(&change.path));
    all.extend(changes(ground, from, ignores)?.into_iter().filter(|change| wanted.contains(&change.path)));
    let number = folder.prepare_layer()?;
    let new = folder.upper(number);
    write_layer(ground, folder, &all, &new)?;
    move_ignored(ground, &old, &new, ignores)?;
    folder.seal_layer(number)
}

/// Writes a layer that holds some changes and nothing else.
fn write_layer(
    ground: &Ground,
    folder: &ViewFolder,
    changes: &[LayerChange],
    out: &Path,
) -> Result<(), ViewError> {
    let is_file = |change: &&LayerChange| matches!(change.after, Some(Node::File { .. }));
    let (files, others): (Vec<&LayerChange>, Vec<&LayerChange>) = changes.iter().partition(is_file);
    let others: Vec<HomeStep> = others.into_iter().map(HomeStep::from).collect();
    folder.stack(&ground.top).gate_layer(&others, out)?;
    for change in files {
        let (Some(path), Some(source), Some(Node::File { mode, .. })) =
            (decode_name(&change.path), &change.source, &change.after)
        else {
            continue;
        };
        let target: PathBuf = out.join(Path::new(&path));
        Disk.copy(source, &target, Write::REBUILDABLE.mode(*mode))?;
    }
    Ok(())
}

/// Puts a view back to what was saved of it; without that it holds nothing any more. Ignored folders stay.
pub(super) fn reset(ground: &Ground, folder: &mut ViewFolder, ignores: Ignores<'_>) -> Result<(), ViewError> {
    let Some(old) = folder.counted() else { return Ok(()) };
    let number = folder.prepare_layer()?;
    let (from, new) = (saved(folder).join("upper"), folder.upper(number));
    match fs::rename(&from, &new) {
        Ok(()) => {}
        Err(_) => make_private(&new)?,
    }
    move_ignored(ground, &old, &new, ignores)?;
    folder.replace_layer(Some(number))
}
