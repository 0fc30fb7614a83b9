//! The cycle dialect: Human, Planner, Actor and Judge, their document, and the rules that hold for them.

pub mod alert;
pub mod archive;
pub mod automation;
pub mod block;
pub mod bypass;
pub mod choices;
pub mod docs;
pub mod document;
pub mod facts;
pub mod goal;
pub mod limits;
pub mod metrics;
pub mod plan;
pub mod view;

pub use alert::Alert;
pub use automation::Automation;
pub use block::Block;
pub use block::Mark;
pub use block::Role;
pub use facts::CycleFact;
pub use goal::Goal;
pub use limits::Limits;
pub use plan::Risk;
