//! The action dialect: documents, the plan that follows from them, and the rules that hold while it is carried out.
//!
//! A flow finds the action that is meant ([`routing`]), reads its documents ([`document`], [`map`], [`guide`],
//! [`catalogue`]), and resolves them to an [`Action`]: stages of duties with gates behind them. A role is told what to do
//! by [`brief`]; what it hands in is judged by [`output`] and [`boundary`], what goes wrong by [`trouble`], what a gate
//! needs by [`approval`], [`quality`] and [`severity`]. [`snapshot`], [`evidence`] and [`conformance`] are about what
//! stays. [`facts`] are the events that a run records, and [`view`] is what `show` presents of them.

pub mod approval;
pub mod boundary;
pub mod brief;
pub mod catalogue;
pub mod conformance;
pub mod document;
pub mod evidence;
pub mod facts;
pub mod gate;
pub mod guide;
pub mod inputs;
pub mod lifecycle;
pub mod lifecycle_log;
pub mod loosening;
pub mod map;
mod markdown;
pub mod matrix;
pub mod output;
pub mod paths;
pub mod pii;
pub mod placeholders;
pub mod plan;
pub mod quality;
pub mod roles;
pub mod routing;
pub mod severity;
pub mod snapshot;
#[cfg(test)]
mod tests;
pub mod trouble;
pub mod view;
mod words;

use crate::finding::Finding;

pub use catalogue::Catalogue;
pub use document::ActionFile;
pub use guide::RoleGuide;
pub use map::AgentMap;
pub use plan::Action;
pub use plan::Duty;
pub use plan::Stage;
pub use plan::resolve;

/// What is wrong with an action file, or with the catalogue where the file is that.
pub fn check_action(path: &str, text: &str) -> Vec<Finding> {
    let file = path.rsplit('/').next().unwrap_or(path);
    match file {
        "README.md" => Catalogue::read(text).1,
        _ => ActionFile::read(path, text).1,
    }
}

/// What is wrong with an agent map.
pub fn check_map(_path: &str, text: &str) -> Vec<Finding> {
    AgentMap::read(text).1
}
