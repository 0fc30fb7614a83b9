//! `seriatim metrics`

use std::path::PathBuf;

use seriatim_core::cycle::metrics;
use seriatim_core::cycle::metrics::CycleSummary;
use seriatim_engine::drive::History;
use seriatim_journal::Filter;

use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::render::table::table;
use crate::ui::Tone;
use crate::ui::tone;
use crate::workspace::Workspace;

/// Show how the cycles went: five figures with their goals, and what gave alarm
#[derive(clap::Args, Debug)]
pub(crate) struct Metrics {
    /// Write the figures as a small chart, too
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

pub(crate) fn run(context: &Context, command: &Metrics) -> Result<Exit> {
    let workspace = Workspace::open(&context.ui, context.workspace.as_deref())?;
    let mut cycles: Vec<CycleSummary> = vec![];
    let mut alerts: Vec<String> = vec![];
    if let Some(store) = workspace.store_to_read()? {
        let filter = Filter { flow: Some("cycle".to_owned()), ..Filter::default() };
        for info in store.runs(&filter)?.runs {
            let history = History::read(&store, &info)?;
            let run = metrics::fold_run(&history.facts);
            cycles.extend(run.cycles);
            alerts.extend(run.alerts);
        }
    }
    let figures = metrics::metrics(&cycles);
    if let Some(path) = &command.svg {
        std::fs::write(path, figures.chart())
            .map_err(|e| CommandError::usage(format!("{} cannot be written: {e}", path.display())))?;
    }
    let ui = &context.ui;
    ui.document(&figures.json());
    let rows: Vec<Vec<String>> = figures.table().into_iter().map(|row| row.to_vec()).collect();
    ui.say(table(&["figure", "value", "goal", "met"], &rows));
    for alert in &alerts {
        ui.say(format!("{} {alert}", tone(Tone::Attention, "alert:")));
    }
    Ok(Exit::Good)
}
