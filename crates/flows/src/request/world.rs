//! What flows ask about the views in which agents work.

use serde::Deserialize;
use serde::Serialize;

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
    },
    /// Merges some files of the view into that place: all of them, or none where one of them overlaps.
    Merge {
        view: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        place: String,
        paths: Vec<String>,
        overlap: Overlap,
    },
    /// Throws away what the view still holds.
    Drop {
        view: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        place: String,
    },
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ViewMerged {
    pub merged: Vec<String>,
    /// Files that overlap. Then nothing was merged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overlaps: Vec<String>,
    /// Where the versions are that were replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced: Option<String>,
}
