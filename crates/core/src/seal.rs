//! What a run left behind: checksums and modes of its files, by which later changes from outside are found.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde::Deserialize;
use serde::Serialize;

use crate::hash::Hash;
use crate::time::Utc;

/// The checksum and the mode of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seal {
    pub hash: Hash,
    pub mode: u32,
}

/// What a run left behind when it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sealed {
    pub action: String,
    pub run: String,
    pub at: Utc,
    /// The snapshot that was taken before the action.
    pub snapshot: String,
    pub files: BTreeMap<String, Seal>,
    /// Files that the action removed.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub deleted: BTreeSet<String>,
}
