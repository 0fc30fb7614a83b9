//! Which sub-agents were seen at a hook, so that those that nobody saw can be told.
//!
//! Calls without markers are none of the guard's business and must cost nothing, so they are not in the journal: one
//! short line in a file for each is enough to know later that a hook was there.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use super::GuardError;
use super::project::Project;

/// Notes ids of calls and of sub-agents. What cannot be noted is only found missing later.
pub(super) fn note(project: &Project, session: Option<&str>, ids: &[&str]) {
    if ids.is_empty() {
        return;
    }
    let path = path(project, session);
    let text: String = ids.iter().map(|id| format!("{id}\n")).collect();
    let append = || OpenOptions::new().append(true).create(true).open(&path);
    let file = append().or_else(|_| {
        let _ = std::fs::create_dir_all(project.guard_dir().join("seen"));
        append()
    });
    if let Ok(mut file) = file {
        let _ = file.write_all(text.as_bytes());
    }
}

/// The ids that were noted in a session.
pub(super) fn read(project: &Project, session: Option<&str>) -> Result<BTreeSet<String>, GuardError> {
    let path = path(project, session);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeSet::new()),
        Err(source) => Err(GuardError::File { path, source }),
    }
}

fn path(project: &Project, session: Option<&str>) -> PathBuf {
    let name: String = session
        .unwrap_or("none")
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' })
        .take(100)
        .collect();
    project.guard_dir().join("seen").join(name)
}
