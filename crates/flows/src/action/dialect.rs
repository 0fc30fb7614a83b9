//! The action dialect as one value.

use seriatim_core::action::facts::ActionFact;
use seriatim_core::action::view;
use seriatim_core::document_kind;
use seriatim_core::documents::DocumentKind;
use seriatim_core::kind::Kind;
use seriatim_core::sentence::SharedFact;
use seriatim_core::sentence::told;

use super::action;
use super::cancelled;
use super::entrance::ENTRANCES;
use super::projector;
use crate::registry::Dialect;
use crate::registry::Flow;
use crate::registry::no_state_file;

const DOCUMENTS: &[DocumentKind] = &[
    document_kind!(Kind::Action),
    document_kind!(Kind::AgentMap),
    document_kind!(Kind::Role),
    document_kind!(Kind::Lifecycle),
];

pub static DIALECT: Dialect = Dialect {
    name: "action",
    flow: Some(Flow {
        name: "action",
        version: 4,
        start: |cx, input| Box::pin(action(cx, input)),
        cancelled: |cx, input| Box::pin(cancelled(cx, input)),
        projector,
        pins: super::settings::pins,
        apply: no_state_file,
    }),
    entrances: ENTRANCES,
    documents: DOCUMENTS,
    sections: &["actions"],
    tell: |fact| told::<ActionFact>(fact).or_else(|| told::<SharedFact>(fact)),
    view: view::view,
    raises_alerts: false,
    metrics: None,
    guide: "docs/guide/actions.md",
};
