//! The process dialect as one value.

use seriatim_core::process::documents::DOCUMENTS;
use seriatim_core::process::telling;

use super::cancelled;
use super::entrance::ENTRANCES;
use super::process;
use super::projector;
use crate::registry::Dialect;
use crate::registry::Flow;
use crate::registry::no_state_file;

pub static DIALECT: Dialect = Dialect {
    name: "process",
    flow: Some(Flow {
        name: "process",
        version: 3,
        start: |cx, input| Box::pin(process(cx, input)),
        cancelled: |cx, input| Box::pin(cancelled(cx, input)),
        projector,
        pins: super::settings::pins,
        apply: no_state_file,
    }),
    entrances: ENTRANCES,
    documents: DOCUMENTS,
    sections: &["process"],
    tell: telling::tell,
    view: telling::view,
    raises_alerts: false,
    metrics: None,
    guide: "docs/guide/processes.md",
};
