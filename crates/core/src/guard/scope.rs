//! Which changed files a step may have changed (DS-27, DS-66, K-33, K-97, E-82).

pub mod glob;
#[cfg(test)]
mod tests;

use std::fmt;

use glob::BadPattern;
use glob::Pattern;
use serde::Deserialize;
use serde::Serialize;

use super::path;

/// What git says of a changed path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Added,
    Modified,
    Deleted,
    Renamed,
    TypeChange,
    Mode,
}

/// A path that is not as it was when the step began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Relative to the root of the project.
    pub path: String,
    /// Where it was before it was renamed.
    pub from: Option<String>,
    pub status: Status,
    /// Where it leads, if it is a symbolic link.
    pub symlink_target: Option<String>,
    pub binary: bool,
    pub untracked: bool,
    pub ignored: bool,
}

impl Changed {
    pub fn new(path: impl Into<String>, status: Status) -> Changed {
        Changed {
            path: path.into(),
            from: None,
            status,
            symlink_target: None,
            binary: false,
            untracked: false,
            ignored: false,
        }
    }
}

/// What may be changed: what the step declares, and what belongs to its bookkeeping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// Absent when the step declares nothing: then everything may be changed, with a warning.
    patterns: Option<Vec<Pattern>>,
    own: Vec<Pattern>,
}

/// What is wrong with the declaration itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undeclared {
    #[error("the task writes files, but its list of allowed file patterns is empty")]
    Empty,
    #[error("`{pattern}` is no file pattern: {why}")]
    Bad { pattern: String, why: BadPattern },
}

impl Allowed {
    /// Reads the declaration. `own` are the files that are written by keeping the books: the state file, and
    /// patterns for logs. The audit logs beside the state file are always among them.
    pub fn new(
        declared: Option<&[String]>,
        writing: bool,
        state_file: Option<&str>,
        own: &[String],
    ) -> Result<Allowed, Vec<Undeclared>> {
        let mut problems = vec![];
        if writing && declared.is_some_and(<[String]>::is_empty) {
            problems.push(Undeclared::Empty);
        }
        let mut read = |texts: &[String]| -> Vec<Pattern> {
            let mut patterns = vec![];
            for text in texts {
                match Pattern::parse(text) {
                    Ok(pattern) => patterns.push(pattern),
                    Err(why) => problems.push(Undeclared::Bad { pattern: text.clone(), why }),
                }
            }
            patterns
        };
        let patterns = declared.map(&mut read);
        let mut own = read(own);
        if let Some(state) = state_file.and_then(path::relative) {
            let folder = state.rsplit_once('/').map_or("", |(folder, _)| folder);
            own.push(Pattern::literal(&state));
            own.push(Pattern::audit_logs(folder));
        }
        if problems.is_empty() { Ok(Allowed { patterns, own }) } else { Err(problems) }
    }

    /// True when the step declares no patterns at all.
    pub fn is_undeclared(&self) -> bool {
        self.patterns.is_none()
    }

    /// Whether a path belongs to the books of the step.
    pub fn is_own(&self, path: &str) -> bool {
        self.own.iter().any(|pattern| pattern.matches(path))
    }

    /// Whether a path may be changed. Without a declaration all may but those that guard the step itself.
    pub fn permits(&self, path: &str) -> bool {
        let Some(path) = path::relative(path) else { return false };
        if self.is_own(&path) {
            return true;
        }
        match &self.patterns {
            Some(patterns) => patterns.iter().any(|pattern| pattern.matches(&path)),
            None => !is_sensitive(&path),
        }
    }
}

/// Why a change is not allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// No pattern allows the path.
    Unlisted,
    /// It was moved away from where nothing may be touched.
    RenamedFrom { from: String },
    /// It is a symbolic link out of the project.
    LinksOutside { target: String },
    /// Only its mode was changed, which counts all the same.
    Mode,
    /// A binary file that nobody put under version control.
    UntrackedBinary,
    /// The path itself leads out of the project.
    Outside,
    /// It is ignored by git, but guards secrets or the guard itself.
    Sensitive,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    pub path: String,
    pub why: Why,
}

impl Violation {
    /// The text that is recorded, as it is laid down.
    pub fn message(&self) -> String {
        format!("Unexpected modification: {}", self.path)
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())?;
        match &self.why {
            Why::Unlisted => Ok(()),
            Why::RenamedFrom { from } => write!(f, " (moved from {from}, which may not be touched)"),
            Why::LinksOutside { target } => {
                write!(f, " (a link to {target}, which is outside of what is allowed)")
            }
            Why::Mode => f.write_str(" (only its mode changed)"),
            Why::UntrackedBinary => f.write_str(" (a binary file that git does not know)"),
            Why::Outside => f.write_str(" (outside of the project)"),
            Why::Sensitive => f.write_str(" (ignored by git, but protected)"),
        }
    }
}

/// The judgement over all changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    pub violations: Vec<Violation>,
    /// Ignored files that were written: said, but held against nobody.
    pub ignored: Vec<String>,
    /// True when nothing was declared, so that little could be judged.
    pub undeclared: bool,
}

pub fn judge(allowed: &Allowed, changed: &[Changed]) -> Verdict {
    let mut verdict = Verdict { undeclared: allowed.is_undeclared(), ..Verdict::default() };
    for change in changed {
        let shown = path::relative(&change.path).unwrap_or_else(|| change.path.clone());
        match broken(allowed, change, &shown) {
            Some(why) if change.ignored && !is_sensitive(&shown) && why != Why::Outside => {
                verdict.ignored.push(shown);
            }
            Some(why) => verdict.violations.push(Violation { path: shown, why }),
            None => {}
        }
    }
    verdict
}

/// The rule that a change breaks, if it breaks one.
fn broken(allowed: &Allowed, change: &Changed, shown: &str) -> Option<Why> {
    if path::relative(&change.path).is_none() {
        return Some(Why::Outside);
    }
    if !allowed.permits(shown) {
        return Some(match change {
            Changed { ignored: true, .. } if is_sensitive(shown) => Why::Sensitive,
            Changed { status: Status::Mode, .. } => Why::Mode,
            Changed { untracked: true, binary: true, .. } => Why::UntrackedBinary,
            _ => Why::Unlisted,
        });
    }
    if let Some(from) = change.from.as_ref().filter(|from| !allowed.permits(from)) {
        return Some(Why::RenamedFrom { from: from.clone() });
    }
    let target = change.symlink_target.as_ref()?;
    let leads_inside = path::link_target(shown, target).is_some_and(|path| {
        // A link to a folder is as good as what is in it.
        allowed.permits(&path) || allowed.permits(&format!("{path}/x"))
    });
    (!leads_inside).then(|| Why::LinksOutside { target: target.clone() })
}

/// Files that keep secrets, or the guard itself: they are looked at even where git ignores them.
pub fn is_sensitive(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let name = parts.last().copied().unwrap_or_default();
    name.starts_with(".env")
        || parts.iter().any(|part| matches!(*part, ".claude" | ".seriatim"))
        || parts.windows(2).any(|pair| pair == [".git", "hooks"] || pair == [".git", "seriatim"])
}

/// Folders of the store in which only this program writes, and agents whose folder of an attempt or tree it is.
const OUR_FOLDERS: [&str; 8] =
    ["attempts", "bench", "foreign", "git", "holders", "outputs", "snapshots", "trees"];
/// Where the store is, seen from the root of the project: below the git common dir, and without git.
const STORES: [&str; 2] = [".git/seriatim/", ".seriatim/"];
/// Folders of the store in which agents write, too.
const SHARED_FOLDERS: [&str; 2] = ["attempts", "trees"];
/// Files there that only this program writes. The mark of the guard is none of them: nobody writes it in mid-step.
const OUR_FILES: [&str; 7] = [
    ".gitignore",
    "journal.db",
    "journal.db-journal",
    "journal.db-shm",
    "journal.db-wal",
    "journal.lock",
    "journal.next",
];
/// Whether a path, relative to the root of the project, lies in the store where no agent may write.
pub fn is_of_the_store(path: &str) -> bool {
    STORES.iter().any(|store| {
        let inside = path.strip_prefix(store);
        path == store.trim_end_matches('/') || inside.is_some_and(|inside| !is_shared_with_agents(inside))
    })
}

/// Whether a path in the store is in the folder of an attempt or in a working tree.
pub fn is_shared_with_agents(inside: &str) -> bool {
    inside.split_once('/').is_some_and(|(folder, _)| SHARED_FOLDERS.contains(&folder))
}

/// What files are called until they are whole.
const UNFINISHED: &str = ".seriatim-tmp-";

/// Whether a path, relative to the root of the project, is one that this program writes for itself. What else lies
/// in the store was put there by another hand.
pub fn is_written_by_us(path: &str) -> bool {
    let Some(inside) = STORES.iter().find_map(|store| path.strip_prefix(store)) else { return false };
    match inside.split_once('/').unwrap_or((inside, "")) {
        (folder, _) if OUR_FOLDERS.contains(&folder) => true,
        ("guard", rest) => {
            let name = rest.split('/').next().unwrap_or_default();
            matches!(name, "seen" | "scans") || (name.starts_with("audit-") && name.ends_with(".log"))
        }
        (file, "") => OUR_FILES.contains(&file) || file.starts_with(UNFINISHED),
        _ => false,
    }
}
