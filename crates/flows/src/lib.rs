//! The score: flows as straight-line async code over [`Cx`], and the requests they make as plain data.
//!
//! A run is a coroutine with a mailbox. [`Run::turn`] polls the flow once with a waker that does nothing; all
//! progress comes from outcomes that whoever drives puts in. There is no runtime, no backend trait and no I/O here.
//!
//! Architecture invariant: a flow sees outcomes that are in the journal, and nothing else. Parks, fencing, disk
//! errors and non-determinism never reach flow code.

pub mod action;
pub mod attempts;
mod cx;
pub mod cycle;
pub mod entrance;
pub mod gate;
pub mod guard;
mod par;
pub mod process;
pub mod registry;
pub mod rehearsal;
pub mod request;
mod reviewer;
pub mod roadmap;
mod run;
pub mod views;

pub use cx::Cx;
pub use request::Request;
pub use run::Call;
pub use run::Halt;
pub use run::Known;
pub use run::Past;
pub use run::Run;
pub use run::Switch;
pub use run::Switched;
pub use run::Turn;
