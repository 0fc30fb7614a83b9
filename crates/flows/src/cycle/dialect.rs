//! The cycle dialect as one value.

use seriatim_core::document_kind;
use seriatim_core::documents::DocumentKind;
use seriatim_core::kind::Kind;
use seriatim_core::sentence::SharedFact;
use seriatim_core::sentence::told;
use seriatim_core::view::RunView;

use super::cancelled;
use super::cycle;
use super::entrance::ENTRANCES;
use super::projector;
use crate::registry::Dialect;
use crate::registry::Flow;

const DOCUMENTS: &[DocumentKind] = &[document_kind!(Kind::Cycle), document_kind!(Kind::Automation)];

pub static DIALECT: Dialect = Dialect {
    name: "cycle",
    flow: Some(Flow {
        name: "cycle",
        version: 2,
        start: |cx, input| Box::pin(cycle(cx, input)),
        cancelled: |cx, input| Box::pin(cancelled(cx, input)),
        projector,
    }),
    entrances: ENTRANCES,
    documents: DOCUMENTS,
    sections: &["cycle"],
    tell: told::<SharedFact>,
    view: |_| RunView::default(),
    raises_alerts: true,
    metrics: None,
    guide: "docs/guide/cycles.md",
};
