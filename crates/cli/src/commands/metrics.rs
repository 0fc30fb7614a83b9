//! `seriatim metrics`

use std::collections::BTreeMap;
use std::path::PathBuf;

use seriatim_core::cycle::metrics;
use seriatim_core::cycle::metrics::CycleSummary;
use seriatim_core::cycle::metrics::End;
use seriatim_core::projection::Fact;
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
    let mut cycles = BTreeMap::new();
    let mut alerts = Vec::new();
    if let Some(store) = workspace.store_to_read()? {
        let filter = Filter { flow: Some("cycle".to_owned()), ..workspace.runs() };
        for info in store.runs(&filter)?.runs {
            let history = History::read(&store, &info)?;
            read(&info.name, &history.facts, &mut cycles, &mut alerts);
        }
    }
    let cycles: Vec<CycleSummary> = cycles.into_values().collect();
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

/// Folds the facts of one run, which may hold several cycles.
fn read(
    run: &str,
    facts: &[Fact],
    cycles: &mut BTreeMap<(String, u64), CycleSummary>,
    alerts: &mut Vec<String>,
) {
    for fact in facts.iter().map(|f| &f.data) {
        let number = fact["cycle"].as_u64().unwrap_or(0);
        let entry = cycles.entry((run.to_owned(), number));
        match fact["fact"].as_str().unwrap_or_default() {
            "cycle_began" => {
                entry.or_insert(CycleSummary {
                    number: u32::try_from(number).unwrap_or(u32::MAX),
                    iterations: 0,
                    passes: 0,
                    insufficients: 0,
                    paused: false,
                    end: End::Open,
                    approval_latency_ms: None,
                });
            }
            "judged" => {
                entry.and_modify(|c| {
                    c.iterations += 1;
                    if fact["pass"] == true { c.passes += 1 } else { c.insufficients += 1 }
                });
            }
            "approval" => {
                entry.and_modify(|c| c.approval_latency_ms = fact["latency_ms"].as_u64());
            }
            "paused" => {
                entry.and_modify(|c| c.paused = true);
            }
            "cycle_ended" => {
                entry.and_modify(|c| {
                    c.end = match fact["end"].as_str() {
                        Some("completed") => End::Completed,
                        Some("failed") => End::Failed,
                        _ => End::Incomplete,
                    };
                });
            }
            "alert" => {
                let text = |key: &str| fact[key].as_str().unwrap_or_default().to_owned();
                alerts.push(format!("{}: {}", text("alert"), text("why")));
            }
            _ => {}
        }
    }
}
