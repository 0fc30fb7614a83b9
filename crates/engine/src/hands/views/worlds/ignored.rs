//! What is no work: folders of a layer that git ignores by the rules of the place itself, and caches.
//!
//! They can hold many and large files, so that they are neither read nor compared: they stay in the layer as they are.

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use crate::hands::files::FileError;
use crate::hands::layers::LayerChange;
use crate::hands::paths::encode_name;
use crate::hands::views::Ignores;
use crate::hands::views::ViewError;

use super::cover::Ground;

/// Caches of programs: what they hold is made again, whether the project ignores them or not. They go by size and time of
/// a file, some by whole seconds, so that one of them can take a file for the version of before.
const CACHES: [&str; 4] = ["__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"];

/// Returns the ignored folders of a layer, relative to it, those that are not inside of another one.
pub(super) fn folders(
    ground: &Ground,
    upper: &Path,
    ignores: Ignores<'_>,
) -> Result<Vec<PathBuf>, ViewError> {
    let mut ignored = vec![];
    let mut level = vec![PathBuf::new()];
    while !level.is_empty() {
        let mut below = vec![];
        for folder in &level {
            for name in folders_in(&upper.join(folder))? {
                if !(folder.as_os_str().is_empty() && name == ".git") {
                    below.push(folder.join(name));
                }
            }
        }
        let asked: Vec<String> = below.iter().filter_map(|folder| question(ground, folder)).collect();
        let known = if asked.is_empty() { vec![] } else { ignores(&asked) };
        let is_ignored = |folder: &PathBuf| {
            is_cache(folder) || question(ground, folder).is_some_and(|asked| known.contains(&asked))
        };
        let (out, on): (Vec<PathBuf>, Vec<PathBuf>) = below.into_iter().partition(is_ignored);
        ignored.extend(out);
        level = on;
    }
    Ok(ignored)
}

pub(super) fn is_cache(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| CACHES.iter().any(|cache| name == *cache))
}

/// A folder as git is asked about it.
fn question(ground: &Ground, folder: &Path) -> Option<String> {
    let path = encode_name(folder.as_os_str());
    ground.inside(&path).filter(|inside| !inside.is_empty()).map(|inside| format!("{inside}/"))
}

fn folders_in(folder: &Path) -> Result<Vec<std::ffi::OsString>, ViewError> {
    let listed = match fs::read_dir(folder) {
        Ok(listed) => listed,
        // A folder that its owner closed is read with the change, which opens and closes it again.
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => return Ok(vec![]),
        Err(error) => return Err(FileError::of(folder, &error).into()),
    };
    let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    Ok(listed.filter_map(Result::ok).filter(is_folder).map(|entry| entry.file_name()).collect())
}

/// Returns those of the changed files that are ignored one by one.
pub(super) fn files(ground: &Ground, changes: &[LayerChange], ignores: Ignores<'_>) -> Vec<String> {
    let asked: Vec<String> =
        changes.iter().filter_map(|change| ground.inside(&change.path)).map(str::to_owned).collect();
    if asked.is_empty() { vec![] } else { ignores(&asked) }
}
