//! The guard of live sessions: what clients say at their hooks, what they are answered, and how their settings are
//! edited so that they ask.
//!
//! Architecture invariant: nothing here reads a file or decides about a step. Bytes come in, and a model of the
//! event, an answer or an edited text goes out. Whatever is said at a door either becomes an [`event::Event`] or a
//! [`event::Broken`] that knows whether the door has to stay shut.

pub mod beyond;
pub mod capabilities;
pub mod client;
pub mod event;
pub mod git_hook;
mod lenient;
pub mod path;
pub mod reply;
pub mod scope;
pub mod settings;
pub mod shell;
pub mod telling;
pub mod transcript;
pub mod usage;
