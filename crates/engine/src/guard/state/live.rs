//! Which state files were edited since the book last looked at them, told by a look at the files alone.
//!
//! A note for each state file of an open step says how the file looked. Most events happen while nobody has edited
//! anything, and those need not open the book.

use std::path::Path;
use std::path::PathBuf;

use seriatim_core::hash::Hash;
use seriatim_core::time::Utc;

use crate::guard::project::Project;
use crate::hands::files::Links;
use crate::hands::files::Stamp;
use crate::hands::files::TEMPORARY_PREFIX;
use crate::hands::files::exists;
use crate::hands::files::read_text;

/// Clocks of file systems tick in steps: two saves within one step look the same. What is younger is looked at again.
const TICK_MS: i64 = 50;

/// A state file that is followed, and how it looks now.
pub(super) struct Followed {
    pub(super) step_file: String,
    look: String,
    changed_ms: i64,
}

/// Follows a state file from now on. Where that cannot be noted, its edits are found at the next stop.
pub(in crate::guard) fn follow(project: &Project, step_file: &str) {
    let place = place(project, step_file);
    if !exists(project.files.as_ref(), &place) {
        project.leave_hint(&place, format!("\n{step_file}").as_bytes());
    }
}

/// The files that do not look as they did when the book saw them.
pub(super) fn edited(project: &Project) -> Vec<Followed> {
    let (files, folder) = (project.files.as_ref(), folder(project));
    let Ok(notes) = files.list(&folder) else { return vec![] };
    let edited = |note: &Path| {
        let text = read_text(files, note).ok()?;
        let (known, step_file) = text.split_once('\n')?;
        let found = files.stamp(&project.root.join(step_file), Links::Follow).ok().flatten();
        let look = found.as_ref().map_or_else(|| "gone".to_owned(), look_of);
        let changed_ms = found.map_or(0, |found| found.changed_ns / 1_000_000);
        (look != known).then(|| Followed { step_file: step_file.to_owned(), look, changed_ms })
    };
    let is_note = |name: &String| !name.starts_with(TEMPORARY_PREFIX);
    let names = notes.into_iter().map(|(name, _)| name).filter(is_note);
    names.filter_map(|name| edited(&folder.join(name))).collect()
}

/// The book has seen the file as it looked when it was found to be edited.
pub(super) fn seen(project: &Project, file: &Followed, now: Utc) {
    let is_settled = now.0 > file.changed_ms.saturating_add(TICK_MS);
    let look = if is_settled { file.look.as_str() } else { "" };
    project.leave_hint(&place(project, &file.step_file), format!("{look}\n{}", file.step_file).as_bytes());
}

/// No open step has this state file any more.
pub(super) fn leave(project: &Project, file: &Followed) {
    let _ = project.files.remove(&place(project, &file.step_file));
}

/// The time of a change of the node cannot be set back, unlike that of the contents.
fn look_of(found: &Stamp) -> String {
    format!("{} {} {}", found.changed_ns, found.size_bytes, found.inode)
}

fn folder(project: &Project) -> PathBuf {
    // A name that no session can have: its neighbours are called after sessions.
    project.guard_dir().join("seen").join(".live")
}

fn place(project: &Project, step_file: &str) -> PathBuf {
    folder(project).join(Hash::of(step_file.as_bytes()).short())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use super::*;
    use crate::hands::disk::Disk;

    const STEP: &str = "steps/01-01.json";

    fn project(folder: &Path) -> Project {
        fs::create_dir_all(folder.join("steps")).unwrap();
        fs::write(folder.join(STEP), "a").unwrap();
        Project::new(folder, Arc::new(Disk))
    }

    /// The book looks at all that is edited, at a time that is long after.
    fn look(project: &Project) -> Vec<String> {
        let edited = edited(project);
        for file in &edited {
            seen(project, file, Utc(i64::MAX));
        }
        edited.into_iter().map(|file| file.step_file).collect()
    }

    #[test]
    fn a_file_is_found_once_for_each_time_it_was_edited() {
        let folder = tempfile::tempdir().unwrap();
        let project = project(folder.path());
        assert_eq!(look(&project), [""; 0]);
        follow(&project, STEP);
        assert_eq!(look(&project), [STEP]);
        assert_eq!(look(&project), [""; 0]);
        // To be followed twice changes nothing.
        follow(&project, STEP);
        assert_eq!(look(&project), [""; 0]);
        fs::write(folder.path().join(STEP), "ab").unwrap();
        assert_eq!(look(&project), [STEP]);
        fs::remove_file(folder.path().join(STEP)).unwrap();
        assert_eq!(look(&project), [STEP]);
        assert_eq!(look(&project), [""; 0]);
    }

    #[test]
    fn a_file_that_is_too_young_is_looked_at_again() {
        let folder = tempfile::tempdir().unwrap();
        let project = project(folder.path());
        follow(&project, STEP);
        for _ in 0..2 {
            let edited = edited(&project);
            seen(&project, &edited[0], Utc(edited[0].changed_ms + TICK_MS));
        }
        assert_eq!(look(&project), [STEP]);
        assert_eq!(look(&project), [""; 0]);
    }

    #[test]
    fn a_file_that_belongs_to_no_step_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let project = project(folder.path());
        follow(&project, STEP);
        leave(&project, &edited(&project)[0]);
        fs::write(folder.path().join(STEP), "ab").unwrap();
        assert_eq!(look(&project), [""; 0]);
    }
}
