//! `seriatim metrics`

use std::path::PathBuf;

use seriatim_core::view::MetricsView;
use seriatim_engine::drive::History;
use seriatim_flows::registry::Dialect;
use seriatim_flows::registry::FoldRuns;
use seriatim_journal::Filter;

use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::render::table::table;
use crate::ui::Tone;
use crate::ui::Ui;
use crate::ui::tone;
use crate::workspace::Workspace;

/// Show figures over all runs: of cycles five with their goals, and the alerts
#[derive(clap::Args, Debug)]
pub(crate) struct Metrics {
    /// Write the figures as a small chart, too
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// The dialect whose figures are wanted; all that have any when left out
    #[arg(long, value_name = "NAME")]
    dialect: Option<String>,
}

pub(crate) fn run(context: &Context, command: &Metrics) -> Result<Exit> {
    let workspace = Workspace::open_to_look(context)?;
    let store = workspace.store_to_read()?;
    let measured: Vec<(&'static Dialect, FoldRuns)> = context
        .registry
        .dialects()
        .filter_map(|dialect| Some((dialect, dialect.metrics?)))
        .filter(|(dialect, _)| command.dialect.as_deref().is_none_or(|wanted| wanted == dialect.name))
        .collect();
    let mut charts = String::new();
    for (number, (dialect, fold)) in measured.iter().enumerate() {
        let mut runs = vec![];
        if let Some(store) = &store {
            let filter = Filter { flow: Some(dialect.name.to_owned()), ..workspace.runs() };
            for info in store.runs(&filter)?.runs {
                let facts = History::read(store, &info)?.facts;
                runs.push((info.name, facts));
            }
        }
        let figures = fold(&runs);
        // One document in all: the figures of the first dialect, as long as there is one that has any.
        if number == 0 {
            context.ui.document(&figures.document);
        }
        charts.push_str(&figures.chart);
        say(&context.ui, &figures);
    }
    if let Some(path) = &command.svg {
        std::fs::write(path, charts)
            .map_err(|e| CommandError::usage(format!("{} cannot be written: {e}", path.display())))?;
    }
    Ok(Exit::Good)
}

fn say(ui: &Ui, figures: &MetricsView) {
    let heading: Vec<&str> = figures.heading.iter().map(String::as_str).collect();
    ui.say(table(&heading, &figures.rows));
    for alert in &figures.alerts {
        ui.say(format!("{} {alert}", tone(Tone::Attention, "alert:")));
    }
}
