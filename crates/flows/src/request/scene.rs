//! What flows ask about the files of the workspace as a whole, and about copies of it.

use serde::Deserialize;
use serde::Serialize;
use seriatim_core::hash::Hash;

/// A look at the scene of the work. A copy is a folder of its own in which one of several works at the same time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "scene", rename_all = "snake_case")]
pub enum SceneCall {
    /// The paths of all files, without those that no work is about.
    Files {
        /// A copy; empty means the workspace.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        copy: String,
    },
    /// Remembers how the workspace is now, under a name.
    Mark { name: String },
    /// Makes a copy of the workspace, remembers how it was, and says how the copy is named and where it is.
    Copy { copy: String },
    /// What is different from when it was remembered.
    Changes {
        name: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        copy: String,
    },
    /// Brings files of a copy into the workspace, unless somebody else changed them there meanwhile.
    Take { copy: String, paths: Vec<String> },
    /// Puts files of the workspace or of a copy back as they were when it was remembered.
    PutBack {
        name: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        copy: String,
        paths: Vec<String>,
    },
    /// Keeps copies of files elsewhere in the workspace.
    Keep {
        #[serde(default, skip_serializing_if = "String::is_empty")]
        copy: String,
        /// From where, and to where.
        paths: Vec<(String, String)>,
    },
    /// Takes a copy away.
    Drop { copy: String },
    /// Forgets how the workspace was for this run: nothing will be compared with it any more.
    Forget,
    /// Checksums and modes of files; nothing for one that is not there.
    Seals { paths: Vec<String> },
}

/// How a file is different.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SceneKind {
    Added,
    #[default]
    Modified,
    Deleted,
    /// Only its mode.
    Mode,
}

/// A file that is different.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SceneChange {
    pub path: String,
    pub kind: SceneKind,
    /// Where it leads, if it is a symbolic link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Git ignores it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ignored: bool,
}

/// What came of bringing files home.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Taken {
    /// Files that somebody else changed meanwhile. Then nothing was brought.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<String>,
}

/// The checksum and the mode of a file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SealOf {
    pub hash: Hash,
    pub mode: u32,
}

/// What bringing a snapshot back would change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// "This will revert 5 files, delete 3 new files", with the files.
    pub words: String,
    pub paths: Vec<String>,
    /// Files that a person changed since (E-65).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<String>,
    /// Stands for exactly this difference.
    pub digest: Hash,
}
