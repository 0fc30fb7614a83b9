//! The guard of live sessions as a dialect: it has no program, because sessions of agent clients do the work. Its facts
//! are the lines of the audit trail, which the hooks add to its book.

use seriatim_core::document_kind;
use seriatim_core::documents::DocumentKind;
use seriatim_core::guard::telling;
use seriatim_core::kind::Kind;
use seriatim_core::view::RunView;

use crate::registry::Dialect;

const DOCUMENTS: &[DocumentKind] = &[document_kind!(Kind::Prompt), document_kind!(Kind::Template)];

pub static DIALECT: Dialect = Dialect {
    name: "guard",
    flow: None,
    entrances: &[],
    documents: DOCUMENTS,
    sections: &["guard"],
    tell: telling::tell,
    view: |_| RunView::default(),
    raises_alerts: false,
    metrics: None,
    guide: "docs/guide/guard.md",
};
