//! Files of other owners, which an overlay of an ordinary user cannot copy up (`EOVERFLOW`): they are found and copied
//! before the view is opened.

use std::fs;
use std::fs::DirBuilder;
use std::fs::File;
use std::fs::FileTimes;
use std::fs::Metadata;
use std::fs::Permissions;
use std::io;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::path::PathBuf;

use super::LayerError;
use super::LayerStack;
use super::access::Access;
use super::look::Seen;
use super::look::metadata;
use crate::hands::files::TEMPORARY_PREFIX;
use crate::hands::paths::encode_name;

const PERMISSION_BITS: u32 = 0o7777;

/// Returns at most `limit` paths below `root`, relative to it, whose owner or group is another one, parents first. What
/// the user cannot list is not looked into: a view cannot either.
pub fn foreign(root: &Path, uid: u32, gid: u32, limit: usize) -> Result<Vec<PathBuf>, LayerError> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let place = root.join(&folder);
        let of = |error: io::Error| LayerError::of(&place, &error);
        let entries = match fs::read_dir(&place) {
            Err(error) if !folder.as_os_str().is_empty() && is_passing(&error) => continue,
            entries => entries.map_err(of)?,
        };
        for entry in entries {
            let entry = entry.map_err(of)?;
            let meta = match entry.metadata() {
                Err(error) if is_passing(&error) => continue,
                meta => meta.map_err(of)?,
            };
            let path = folder.join(entry.file_name());
            if meta.uid() != uid || meta.gid() != gid {
                if found.len() >= limit {
                    return Ok(found);
                }
                found.push(path.clone());
            }
            if meta.is_dir() {
                folders.push(path);
            }
        }
    }
    Ok(found)
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied | ErrorKind::NotADirectory)
}

impl LayerStack {
    /// Copies the entry of the view at `path` into the folder `upper`, with the mode and times that it has, and makes
    /// the folders above it. Of a folder only itself is copied. An entry that `upper` has already stays.
    pub fn copy_up(&self, upper: &Path, path: &Path) -> Result<(), LayerError> {
        let access = Access::default();
        let mut parts = PathBuf::new();
        for part in path.components() {
            parts.push(part);
            if metadata(&upper.join(&parts))?.is_some() {
                continue;
            }
            let place = match self.look(&access, &parts)? {
                Seen::Folder(folder) => folder.place(),
                Seen::Entry { place, .. } => Some(place),
                Seen::Nothing => None,
            };
            let missing = || crate::hands::files::FileError::NotFound { path: self.lower.join(path) };
            let place = place.ok_or_else(missing)?;
            let found = metadata(&place)?.ok_or_else(missing)?;
            copy_entry(upper, &parts, &place, &found)?;
        }
        Ok(())
    }
}

fn copy_entry(upper: &Path, path: &Path, place: &Path, found: &Metadata) -> Result<(), LayerError> {
    let to = upper.join(path);
    let of = |error: io::Error| LayerError::of(place, &error);
    let permissions = Permissions::from_mode(found.permissions().mode() & PERMISSION_BITS);
    if found.is_dir() {
        DirBuilder::new().mode(0o700).create(&to).map_err(of)?;
        return fs::set_permissions(&to, permissions).map_err(of);
    }
    if found.is_symlink() {
        return symlink(fs::read_link(place).map_err(of)?, &to).map_err(of);
    }
    if !found.is_file() {
        return Err(LayerError::Special { path: encode_name(path.as_os_str()) });
    }
    // Beside the layer, not in it: a copy that a crash cut off must not be part of the view.
    let part = upper.with_file_name(format!("{TEMPORARY_PREFIX}copy-up"));
    copy_file(place, &part, found).map_err(of)?;
    fs::set_permissions(&part, permissions).and_then(|()| fs::rename(&part, &to)).map_err(of)
}

/// Copies content and times, so that builds find the file as fresh as before.
pub(super) fn copy_file(from: &Path, to: &Path, found: &Metadata) -> io::Result<()> {
    let mut options = File::options();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(to)?;
    io::copy(&mut File::open(from)?, &mut file)?;
    file.set_times(FileTimes::new().set_modified(found.modified()?))
}
