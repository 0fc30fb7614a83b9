//! State files of the workspace, and which steps they hold.

use std::path::Path;

use seriatim_core::roadmap::document::Document;

/// Folders that hold no state files.
const SKIPPED: [&str; 6] = [".git", ".seriatim", "node_modules", "target", ".venv", "__pycache__"];
/// State files are not deeper than this.
const DEPTH_MAX: usize = 8;
/// Larger files are none.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// All state files below `root`, sorted, relative to it.
pub(crate) fn state_files(root: &Path) -> Vec<(String, Document)> {
    let mut found = vec![];
    walk(root, root, 0, &mut found);
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

/// The state files that have this step.
pub(crate) fn having(root: &Path, step: &str, project: Option<&str>) -> Vec<String> {
    let fits = |(file, document): &(String, Document)| {
        let of_project =
            |project: &str| document.project_id() == project || file.split('/').any(|part| part == project);
        document.steps().iter().any(|id| id == step) && project.is_none_or(of_project)
    };
    state_files(root).into_iter().filter(fits).map(|(file, _)| file).collect()
}

fn walk(root: &Path, folder: &Path, depth: usize, found: &mut Vec<(String, Document)>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else { continue };
        let path = entry.path();
        if kind.is_dir() {
            if depth < DEPTH_MAX && !SKIPPED.contains(&name.as_str()) {
                walk(root, &path, depth + 1, found);
            }
        } else if kind.is_file() && may_be(&name) {
            found.extend(read(root, &path));
        }
    }
}

fn may_be(name: &str) -> bool {
    name.ends_with(".json") || name.starts_with("execution-status.")
}

fn read(root: &Path, path: &Path) -> Option<(String, Document)> {
    if path.metadata().ok()?.len() > FILE_BYTES_MAX {
        return None;
    }
    let text = std::fs::read_to_string(path).ok()?;
    let is_state =
        text.contains("tdd_cycle") || text.contains("execution_status") || text.contains("step_checkpoint");
    if !is_state {
        return None;
    }
    let relative = path.strip_prefix(root).ok()?.to_str()?.to_owned();
    Document::read(&relative, &text).ok().map(|document| (relative, document))
}
