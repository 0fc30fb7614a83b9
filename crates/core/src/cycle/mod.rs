//! The cycle dialect: Human, Planner, Actor and Judge, their document, and the rules that hold for them.

pub mod archive;
pub mod block;
pub mod document;
pub mod goal;
pub mod limits;
pub mod plan;

pub use block::Block;
pub use block::Mark;
pub use block::Role;
pub use goal::Goal;
pub use limits::Limits;
pub use plan::Risk;
