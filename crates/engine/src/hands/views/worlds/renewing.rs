//! Times of files that a check saw changed, and sees as they were now.
//!
//! What its build made of them is younger than they are, so that a build that goes by times would take it for theirs.

use std::collections::BTreeSet;
use std::fs;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::path::PathBuf;

use super::cover::Ground;
use crate::hands::files::FileError;
use crate::hands::layers::remove_layers;
use crate::hands::paths::decode_name;
use crate::hands::views::Guest;
use crate::hands::views::ViewError;
use crate::hands::views::folder::ViewFolder;
use crate::hands::views::folder::make_private;

/// The layer that shows files of the place with the time of now.
const RENEWED: &str = "renewed";

/// Remembers which files a check sees changed, and makes the layer of those that it sees as they were, if there are any.
/// A process that enters the view of a check after its set-up finds the layer of that one.
pub(super) fn renewed(
    ground: &Ground,
    check: &mut ViewFolder,
    guest: &Guest,
) -> Result<Option<PathBuf>, ViewError> {
    let layer = check.path.join(RENEWED);
    if !guest.fresh {
        return Ok(layer.exists().then_some(layer));
    }
    remove_layers(&layer)?;
    let unmerged = guest.on.iter().flat_map(|unmerged| &unmerged.paths);
    let covered = guest.covered.present.iter().chain(&guest.covered.absent);
    let changed: BTreeSet<String> = unmerged.chain(covered).map(|path| ground.outside(path)).collect();
    let back = check.state.seen_changed.difference(&changed);
    let back: Vec<PathBuf> = back.filter_map(|path| decode_name(path)).map(PathBuf::from).collect();
    if check.state.seen_changed != changed {
        check.state.seen_changed = changed;
        check.save()?;
    }
    let mut is_made = false;
    for path in back {
        let place = ground.top.join(&path);
        // Links have no content of their own, and what is gone was never built again.
        if !fs::symlink_metadata(&place).is_ok_and(|found| found.is_file()) {
            continue;
        }
        if !is_made {
            make_private(&layer)?;
            let mode = fs::metadata(&ground.top).map(|found| found.permissions());
            mode.and_then(|mode| fs::set_permissions(&layer, mode))
                .map_err(|error| FileError::of(&layer, &error))?;
            is_made = true;
        }
        copy(&ground.top, &path, &layer).map_err(|error| FileError::of(&place, &error))?;
    }
    Ok(is_made.then_some(layer))
}

/// Copies a file with its mode, below folders with the modes of those above it.
fn copy(top: &Path, path: &Path, layer: &Path) -> io::Result<()> {
    let mut above: Vec<&Path> =
        path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()).collect();
    above.reverse();
    for folder in above {
        let to = layer.join(folder);
        if !to.exists() {
            fs::create_dir(&to)?;
            fs::set_permissions(&to, fs::metadata(top.join(folder))?.permissions())?;
        }
    }
    let mut from = File::open(top.join(path))?;
    let mode = from.metadata()?.mode();
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(layer.join(path))?;
    io::copy(&mut from, &mut file)?;
    file.set_permissions(fs::Permissions::from_mode(mode & 0o777))
}
