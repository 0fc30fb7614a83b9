//! The cycle dialect as one value.

use seriatim_core::cycle::facts::CycleFact;
use seriatim_core::cycle::metrics;
use seriatim_core::cycle::view;
use seriatim_core::document_kind;
use seriatim_core::documents::DocumentKind;
use seriatim_core::kind::Kind;
use seriatim_core::projection::Fact;
use seriatim_core::sentence::SharedFact;
use seriatim_core::sentence::told;
use seriatim_core::view::MetricsView;

use super::cancelled;
use super::cycle;
use super::entrance::ENTRANCES;
use super::projector;
use crate::registry::Dialect;
use crate::registry::Flow;
use crate::registry::no_state_file;

const DOCUMENTS: &[DocumentKind] = &[document_kind!(Kind::Cycle), document_kind!(Kind::Automation)];

pub static DIALECT: Dialect = Dialect {
    name: "cycle",
    flow: Some(Flow {
        name: "cycle",
        version: 4,
        start: |cx, input| Box::pin(cycle(cx, input)),
        cancelled: |cx, input| Box::pin(cancelled(cx, input)),
        projector,
        pins: super::settings::pins,
        apply: no_state_file,
    }),
    entrances: ENTRANCES,
    documents: DOCUMENTS,
    sections: &["cycle"],
    tell: |fact| told::<CycleFact>(fact).or_else(|| told::<SharedFact>(fact)),
    view: view::view,
    raises_alerts: true,
    metrics: Some(figures),
    guide: "docs/guide/cycles.md",
};

/// The five figures over all cycles (CY-87).
fn figures(runs: &[(String, Vec<Fact>)]) -> MetricsView {
    let (mut cycles, mut alerts) = (vec![], vec![]);
    for (_, facts) in runs {
        let run = metrics::fold_run(facts);
        cycles.extend(run.cycles);
        alerts.extend(run.alerts);
    }
    let figures = metrics::metrics(&cycles);
    MetricsView {
        document: figures.json(),
        heading: ["figure", "value", "goal", "met"].map(str::to_owned).to_vec(),
        rows: figures.table().into_iter().map(|row| row.to_vec()).collect(),
        chart: figures.chart(),
        alerts,
    }
}
