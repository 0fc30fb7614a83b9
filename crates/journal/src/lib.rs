//! The memory: an append-only, hash-chained journal in SQLite, shared by all processes of a workspace.
//!
//! Everything here is synchronous. One [`Store`] is one connection; any number of processes may have one.
//! Writers take turns by a file lock, every write is one durable transaction, and a run is written by the
//! holder of its lease alone.
//!
//! Architecture invariant: no byte of a body gets in except through the [`Door`], which takes secrets out.
//! Entries accept [`Clean`] bodies only, and nothing but a door makes those.
//!
//! Architecture invariant: what is damaged in one run never keeps another from being read.

mod append;
mod book;
mod calls;
mod door;
mod entry;
mod erase;
mod error;
mod flaw;
mod holder;
mod lease;
mod ledger;
mod lock;
pub mod private;
pub mod probe;
mod read;
mod relocate;
mod row;
mod run;
mod schema;
mod seal;
mod session;
mod signals;
mod store;
mod verify;

pub use append::Append;
pub use append::Committed;
pub use append::Done;
pub use book::Page;
pub use calls::Answered;
pub use calls::Call;
pub use calls::Closed;
pub use calls::Open;
pub use calls::OpenCall;
pub use calls::OpenFilter;
pub use calls::OpenKind;
pub use door::Clean;
pub use door::Door;
pub use entry::EntryRef;
pub use entry::Kind;
pub use entry::NewEntry;
pub use erase::Erased;
pub use error::Error;
pub use flaw::Flaw;
pub use flaw::Problem;
pub use holder::Holder;
pub use holder::HolderInfo;
pub use lease::Held;
pub use lease::Lease;
pub use read::Filter;
pub use read::Listing;
pub use relocate::Relocated;
pub use relocate::finish_relocation;
pub use relocate::relocate;
pub use row::Tip;
pub use run::NewRun;
pub use run::RunInfo;
pub use run::RunRef;
pub use run::Status;
pub use signals::NewSignal;
pub use signals::Signal;
pub use signals::SignalKind;
pub use signals::Signalled;
pub use signals::Target;
pub use store::Moment;
pub use store::Observer;
pub use store::Store;
pub use verify::Report;
