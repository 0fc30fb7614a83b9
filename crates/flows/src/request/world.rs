//! What flows ask about the views in which agents work.

use serde::Deserialize;
use serde::Serialize;
use seriatim_core::world::Overlap;

/// A view is named by the flow, and keeps what its attempts changed until it is merged or dropped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "world", rename_all = "snake_case")]
pub enum WorldCall {
    /// What the view changes, compared with the place in which its attempts work.
    Change {
        view: String,
        /// Where its attempts work, as requests call it; empty means the workspace.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        place: String,
        /// Files that are work even where git ignores them: those that the agent names as its results.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        named: Vec<String>,
    },
    /// Merges some files of the view into that place: all of them, or none where one of them overlaps.
    Merge {
        view: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        place: String,
        paths: Vec<String>,
        overlap: Overlap,
    },
    /// Keeps these files in the view, unmerged; the rest of its work counts no more.
    Keep {
        view: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        place: String,
        paths: Vec<String>,
    },
    /// Remembers what the view holds, in place of what was remembered before.
    Save { view: String },
    /// Puts the view back to what was remembered of it.
    Reset { view: String },
    /// Throws away what the view still holds.
    Drop {
        view: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        place: String,
    },
}
