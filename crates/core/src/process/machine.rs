//! Where an instance may go from where it stands (K-73).

use crate::machine::Edge;
use crate::machine::Machine;

const fn edge(from: &'static str, to: &'static str, trigger: &'static str) -> Edge {
    Edge { from, to, trigger, needs: &[] }
}

/// The machine of a process instance. An instance whose run is over may be run again; one that another program left
/// in the middle is taken up anew.
pub const INSTANCE: Machine = Machine {
    name: "process instance",
    states: &["PLANNED", "IN_PROGRESS", "SUSPENDED", "COMPLETED", "FAILED", "CANCELLED"],
    edges: &[
        edge("PLANNED", "IN_PROGRESS", "start"),
        edge("PLANNED", "FAILED", "block"),
        edge("PLANNED", "CANCELLED", "cancel"),
        edge("IN_PROGRESS", "SUSPENDED", "defer"),
        edge("IN_PROGRESS", "COMPLETED", "finish"),
        edge("IN_PROGRESS", "FAILED", "fail"),
        edge("IN_PROGRESS", "FAILED", "block"),
        edge("IN_PROGRESS", "IN_PROGRESS", "start"),
        edge("IN_PROGRESS", "CANCELLED", "cancel"),
        edge("SUSPENDED", "IN_PROGRESS", "resume"),
        edge("SUSPENDED", "IN_PROGRESS", "start"),
        edge("SUSPENDED", "FAILED", "block"),
        edge("SUSPENDED", "CANCELLED", "cancel"),
        edge("COMPLETED", "IN_PROGRESS", "start"),
        edge("COMPLETED", "FAILED", "block"),
        edge("FAILED", "IN_PROGRESS", "start"),
        edge("FAILED", "FAILED", "block"),
        edge("CANCELLED", "IN_PROGRESS", "start"),
        edge("CANCELLED", "FAILED", "block"),
    ],
};
