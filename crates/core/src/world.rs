//! Views of the workspace in which processes work, as plain data: how far a process is kept apart, what its view
//! changes, and what it tried to change besides.

use serde::Deserialize;
use serde::Serialize;

/// How far a process is kept apart from the workspace and from this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// A copy-on-write view at the workspace's own path, in namespaces of its own.
    World,
    /// A copy of the workspace elsewhere, with the rest of the disk closed by Landlock.
    Copy,
    /// The workspace itself.
    None,
}

impl Isolation {
    pub const ALL: [Isolation; 3] = [Isolation::World, Isolation::Copy, Isolation::None];

    /// Returns the word that the configuration uses.
    pub fn word(self) -> &'static str {
        match self {
            Isolation::World => "world",
            Isolation::Copy => "copy",
            Isolation::None => "none",
        }
    }

    /// Returns what people are told where the process was not in a world; nothing where it was.
    pub fn weakness(self) -> Option<&'static str> {
        match self {
            Isolation::World => None,
            Isolation::Copy => Some("worked in a copy: weaker isolation than a world"),
            Isolation::None => Some("worked in the workspace itself, without isolation"),
        }
    }
}

/// Which network a process has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    #[default]
    Host,
    /// Only the loopback of its own.
    None,
}

impl Network {
    pub const ALL: [Network; 2] = [Network::Host, Network::None];

    /// Returns the word that the configuration uses.
    pub fn word(self) -> &'static str {
        match self {
            Network::Host => "host",
            Network::None => "none",
        }
    }

    pub fn is_host(&self) -> bool {
        *self == Network::Host
    }
}

/// How a file of a view differs from the workspace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ViewKind {
    Added,
    #[default]
    Modified,
    Deleted,
    /// Only its mode.
    Mode,
    /// A pipe, a socket or a device, which is never merged.
    Special,
}

/// One file in which a view differs from the workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewFile {
    /// Relative to the workspace.
    pub path: String,
    pub kind: ViewKind,
    /// Where it leads, if it is a symbolic link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Git ignores it by the rules of the workspace, not by those of the view.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ignored: bool,
    /// Another process changed the file in the workspace since the view was opened.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub meanwhile: bool,
    /// The engine takes orders or the state of work from it, as this kind of document; it is one in the workspace, or would
    /// be one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steers: Option<String>,
}

/// Returns whether a path holds what the engine itself is told or keeps: no dialect merges it from a view.
pub fn is_engine_file(path: &str) -> bool {
    const FILES: [&str; 1] = ["seriatim.toml"];
    const FOLDERS: [&str; 3] = [".git", ".seriatim", ".snapshots"];
    FILES.contains(&path) || path.split('/').next().is_some_and(|first| FOLDERS.contains(&first))
}

/// Something that a process changed in its view and that never leaves the view.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum Effect {
    /// Hooks of the repository.
    Hooks { names: Vec<String> },
    /// The configuration of the repository.
    Config,
    /// Files below `info` of the repository, such as attributes and excludes.
    Info { names: Vec<String> },
    /// Branches, tags and other references, or what is checked out.
    References { names: Vec<String> },
    /// Staged files.
    Index,
    /// A stash.
    Stash,
    /// Files beside the workspace, in the same repository.
    Beside { paths: Vec<String> },
    /// Files of the home folder, by number.
    HomeFolder { files: u64 },
}

impl Effect {
    /// Returns the effect in plain words.
    pub fn sentence(&self) -> String {
        match self {
            Effect::Hooks { names } => format!("changed hooks of the repository: {}", names.join(", ")),
            Effect::Config => "changed the configuration of the repository".to_owned(),
            Effect::Info { names } => format!("changed rules of the repository: {}", names.join(", ")),
            Effect::References { names } => {
                format!("committed, or moved branches or tags: {}", names.join(", "))
            }
            Effect::Index => "staged files".to_owned(),
            Effect::Stash => "stashed files".to_owned(),
            Effect::Beside { paths } => format!("changed files beside the workspace: {}", paths.join(", ")),
            Effect::HomeFolder { files: 1 } => "changed 1 file of the home folder".to_owned(),
            Effect::HomeFolder { files } => format!("changed {files} files of the home folder"),
        }
    }
}

/// What a view changes, and how far its processes were kept apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewChange {
    pub isolation: Isolation,
    pub files: Vec<ViewFile>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
}

impl ViewChange {
    /// Returns the change of a process that worked in the workspace itself: nothing waits to be merged.
    pub fn without_view() -> ViewChange {
        ViewChange { isolation: Isolation::None, files: vec![], effects: vec![] }
    }
}

/// What is done about files that another process changed in the workspace since the view was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Overlap {
    /// Nothing is merged, and they are named.
    #[default]
    Refuse,
    /// Both sides are merged by lines; files in which both changed the same lines are named, and nothing is merged.
    Combine,
    /// The version of the workspace stays.
    KeepWorkspace,
    /// The version of the view takes its place; that of the workspace is kept aside.
    TakeView,
}

/// What came of merging a view.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewMerged {
    pub merged: Vec<String>,
    /// Files that overlap. Then nothing was merged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overlaps: Vec<String>,
    /// Where the versions are that were replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced: Option<String>,
}

/// Files of a view that would be merged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unmerged {
    pub view: String,
    pub paths: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_in_a_view_is_told_in_plain_words() {
        let effects = [
            Effect::Hooks { names: vec!["pre-commit".into()] },
            Effect::References { names: vec!["refs/heads/main".into()] },
            Effect::HomeFolder { files: 1 },
        ];
        let told: Vec<String> = effects.iter().map(Effect::sentence).collect();
        assert_eq!(
            told,
            [
                "changed hooks of the repository: pre-commit",
                "committed, or moved branches or tags: refs/heads/main",
                "changed 1 file of the home folder",
            ]
        );
    }

    #[test]
    fn only_a_world_has_no_weakness() {
        assert_eq!(Isolation::World.weakness(), None);
        assert!(Isolation::Copy.weakness().is_some() && Isolation::None.weakness().is_some());
    }
}
