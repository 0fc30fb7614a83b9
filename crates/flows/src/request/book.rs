//! What flows ask of the book: the audit trail and the state files that many runs, hooks and people share.

use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;
use seriatim_core::time::Utc;

/// Asks something of the book. The engine performs each call in one transaction of its own store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "book", rename_all = "snake_case")]
pub enum BookCall {
    /// Returns the memory that an earlier post left under a key; null where there is none.
    Recall { key: String },
    /// Changes a state file, with its audit lines. Performing it again changes nothing.
    Post(Box<Post>),
}

/// One change of a state file, as its dialect understands it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Post {
    /// The name under which the memory is kept.
    pub key: String,
    /// The state file, relative to the workspace.
    pub path: String,
    /// Data for [`crate::registry::Flow::apply`]; nothing else reads it.
    pub change: Value,
    /// Facts for a later run that the file has no place for.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub memory: Value,
    pub at: Utc,
}

/// The outcome of a post.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Posted {
    /// Another writer had changed the same part of the file since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub foreign: bool,
}
