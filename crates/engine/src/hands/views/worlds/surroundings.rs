//! What a process beside the workspace may read: everything but what is ours or the user's alone.

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use super::WorldsAt;
use super::cover::Ground;
use super::homes;

/// Holds disks and memory, which root could read past every file. The few devices that all programs need have rules of
/// their own.
const DEVICES: &str = "/dev";

/// Lists what may be read. Walls only allow, so that everything beside a closed folder is named on the way down to it; a
/// folder on that way cannot be listed inside.
pub(super) fn readable(at: &WorldsAt, root: &Path, ground: &Ground) -> Vec<PathBuf> {
    let mut closed = vec![PathBuf::from(DEVICES), at.store.clone(), root.to_owned()];
    closed.push(ground.top.join(".git"));
    closed.push(at.workspace.join(".git"));
    closed.extend(ground.elsewhere.iter().chain(&ground.git).cloned());
    closed.extend(homes::credentials(at));
    let closed: Vec<PathBuf> = closed.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
    let mut open = vec![];
    let mut ways = vec![PathBuf::from("/")];
    while let Some(folder) = ways.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            // A rule for a link would be one for what it leads to, which has one by its own name if it may.
            if entry.file_type().is_ok_and(|kind| kind.is_symlink()) || closed.contains(&path) {
                continue;
            }
            let leads_to_closed = closed.iter().any(|closed| closed.starts_with(&path));
            if leads_to_closed { ways.push(path) } else { open.push(path) }
        }
    }
    open
}
