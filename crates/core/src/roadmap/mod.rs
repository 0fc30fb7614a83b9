//! The state of a roadmap's steps, as law: phases, machines, records, changes, verdicts and the audit trail.
//!
//! The guard of live sessions and the roadmap dialect both stand on it. Nothing here reads a file or a clock: texts
//! and times come in, new texts, events and findings go out.

pub mod audit;
pub mod brief;
pub mod change;
pub mod checklist;
pub mod command;
pub mod document;
pub mod extract;
pub mod facts;
pub mod log;
pub mod machine;
pub mod migrate;
pub mod phases;
pub mod plan;
pub mod proof;
pub mod queue;
pub mod result;
pub mod skip;
mod source;
pub mod state;
pub mod store;
pub mod verdict;
pub mod view;

pub use document::Document;
pub use phases::Schema;
pub use plan::Roadmap;
pub use state::Outcome;
pub use state::PhaseRecord;
pub use state::PhaseStatus;
pub use state::StepState;
pub use state::StepStatus;
