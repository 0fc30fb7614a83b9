//! The state of the working tree and the index, as `git status` sees it.

use serde::Deserialize;
use serde::Serialize;

use crate::hands::git::Git;
use crate::hands::git::GitError;
use crate::hands::git::Invocation;
use crate::hands::git::unreadable;

const COMMAND: &str = "status";

/// What git says about the working tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// `None` before the first commit.
    pub head: Option<String>,
    /// `None` when no branch is checked out.
    pub branch: Option<String>,
    pub entries: Vec<StatusEntry>,
}

/// One path that is not as the last commit has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusEntry {
    /// Relative to the workspace.
    pub path: String,
    /// Where it was before a renaming.
    pub old_path: Option<String>,
    pub place: Place,
    pub submodule: bool,
}

/// Where the difference is. The letters are git's: `M` modified, `A` added, `D` deleted, `R` renamed, `T` type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    Tracked { staged: Option<char>, unstaged: Option<char> },
    Conflict,
    Untracked,
    Ignored,
}

impl Status {
    /// True when nothing but ignored files differs from the last commit.
    pub fn is_clean(&self) -> bool {
        self.entries.iter().all(|entry| entry.place == Place::Ignored)
    }
}

impl Git<'_> {
    /// The state of everything in the workspace. Ignored directories come as one entry each.
    pub fn status(&self) -> Result<Status, GitError> {
        let arguments = [
            COMMAND,
            "--porcelain=v2",
            "-z",
            "--branch",
            "--untracked-files=all",
            "--ignored=matching",
            "--renames",
            "--ignore-submodules=none",
            "--",
            ".",
        ];
        let printed = self.text(Invocation::read(&arguments))?;
        let prefix = self.text(Invocation::read(&["rev-parse", "--show-prefix"]))?;
        let mut status = parse(&printed, prefix.trim_end_matches('\n'))?;
        status.entries.retain(|entry| !self.is_own(&entry.path));
        Ok(status)
    }
}

/// Reads porcelain v2 with `-z`. Its paths start at the top of the repository, which may be above the workspace.
fn parse(printed: &str, prefix: &str) -> Result<Status, GitError> {
    let mut status = Status::default();
    let mut fields = printed.split_terminator('\0');
    while let Some(field) = fields.next() {
        let broken = || unreadable(COMMAND, field);
        let (kind, rest) = field.split_once(' ').ok_or_else(broken)?;
        let inside = |path: &str| path.strip_prefix(prefix).unwrap_or(path).to_owned();
        // How many words stand before the path.
        let words = match kind {
            "#" => {
                status.header(rest);
                continue;
            }
            "1" => 7,
            "2" => 8,
            "u" => 9,
            "?" | "!" => 0,
            _ => return Err(broken()),
        };
        let parts: Vec<&str> = rest.splitn(words + 1, ' ').collect();
        let path = parts.get(words).ok_or_else(broken)?;
        let old_path = if kind == "2" { Some(inside(fields.next().ok_or_else(broken)?)) } else { None };
        let place = match kind {
            "?" => Place::Untracked,
            "!" => Place::Ignored,
            "u" => Place::Conflict,
            _ => tracked(parts[0]).ok_or_else(broken)?,
        };
        let submodule = words > 0 && parts.get(1).is_some_and(|word| word.starts_with('S'));
        status.entries.push(StatusEntry { path: inside(path), old_path, place, submodule });
    }
    Ok(status)
}

impl Status {
    fn header(&mut self, line: &str) {
        let value = |name: &str| line.strip_prefix(name).filter(|value| !value.starts_with('('));
        if let Some(head) = value("branch.oid ") {
            self.head = Some(head.to_owned());
        } else if let Some(branch) = value("branch.head ") {
            self.branch = Some(branch.to_owned());
        }
    }
}

fn tracked(letters: &str) -> Option<Place> {
    let mut letters = letters.chars().map(|letter| (letter != '.').then_some(letter));
    Some(Place::Tracked { staged: letters.next()?, unstaged: letters.next()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_is_read() {
        let printed = "# branch.oid (initial)\0# branch.head main\0# branch.ab +1 -2\0\
                       1 .M N... 100644 100644 100644 a b sub/a b.rs\0\
                       2 R. N... 100644 100644 100644 a b R100 sub/new\0sub/old\0\
                       1 .M S.M. 160000 160000 160000 a b sub/module\0\
                       u UU N... 1 2 3 4 a b c sub/conflict\0? sub/é\n\0! sub/target/\0";
        let status = parse(printed, "sub/").unwrap();
        assert_eq!((status.head.as_deref(), status.branch.as_deref()), (None, Some("main")));
        let changed = Place::Tracked { staged: None, unstaged: Some('M') };
        let expected = [
            ("a b.rs", changed),
            ("new", Place::Tracked { staged: Some('R'), unstaged: None }),
            ("module", changed),
            ("conflict", Place::Conflict),
            ("é\n", Place::Untracked),
            ("target/", Place::Ignored),
        ];
        let seen: Vec<_> = status.entries.iter().map(|entry| (entry.path.as_str(), entry.place)).collect();
        assert_eq!(seen, expected);
        assert_eq!(status.entries[1].old_path.as_deref(), Some("old"));
        assert_eq!(status.entries.iter().filter(|entry| entry.submodule).count(), 1);
        assert!(!status.is_clean());
    }

    #[test]
    fn what_is_not_a_status_is_refused() {
        for text in ["x", "9 a\0", "1 .M N...\0", "2 R. N... 1 2 3 a b R100 new\0", "1 . a b c d e f path\0"]
        {
            assert!(parse(text, "").is_err(), "{text:?}");
        }
    }
}
