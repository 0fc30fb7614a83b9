//! The roadmap dialect as one value.

use seriatim_core::document_kind;
use seriatim_core::documents::DocumentKind;
use seriatim_core::kind::Kind;
use seriatim_core::roadmap::facts::RoadmapFact;
use seriatim_core::roadmap::view;
use seriatim_core::sentence::SharedFact;
use seriatim_core::sentence::told;

use super::cancelled;
use super::entrance::ENTRANCES;
use super::projector;
use super::roadmap;
use crate::registry::Dialect;
use crate::registry::Flow;

const DOCUMENTS: &[DocumentKind] = &[
    document_kind!(Kind::Roadmap),
    document_kind!(Kind::ExecutionStatus),
    document_kind!(Kind::ExecutionLogTdd),
    document_kind!(Kind::Step),
    document_kind!(Kind::AuditLog),
];

pub static DIALECT: Dialect = Dialect {
    name: "roadmap",
    flow: Some(Flow {
        name: "roadmap",
        version: 3,
        start: |cx, input| Box::pin(roadmap(cx, input)),
        cancelled: |cx, input| Box::pin(cancelled(cx, input)),
        projector,
        pins: super::settings::pins,
        apply: super::apply,
    }),
    entrances: ENTRANCES,
    documents: DOCUMENTS,
    sections: &["roadmap"],
    tell: |fact| told::<RoadmapFact>(fact).or_else(|| told::<SharedFact>(fact)),
    view: view::view,
    raises_alerts: false,
    metrics: None,
    guide: "docs/guide/roadmaps.md",
};
