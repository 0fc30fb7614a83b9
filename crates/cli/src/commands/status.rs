//! `seriatim status`

use std::collections::BTreeMap;

use serde::Serialize;
use seriatim_core::time::span_in_words;
use seriatim_engine::drive::History;
use seriatim_flows::registry::Registry;
use seriatim_journal::Filter;
use seriatim_journal::RunInfo;
use seriatim_journal::Store;

use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::render::run::View;
use crate::render::run::is_work;
use crate::render::table::cut;
use crate::render::table::table;
use crate::ui::Tone;
use crate::ui::tone;
use crate::workspace::Workspace;
use crate::workspace::now;

/// How many finished runs people are shown.
const SHOWN: usize = 30;

/// Show what runs, what waits for whom, and since when
#[derive(clap::Args, Debug)]
pub(crate) struct Status {
    /// One run, or the beginning of its id
    run: Option<String>,
    /// Show the steps of all projects instead: their phases, the last validation, holds, and what they cost
    #[arg(long, conflicts_with_all = ["run", "all"])]
    summary: bool,
    /// Show all runs, not only the newest, and those of the repository's other working trees
    #[arg(long)]
    all: bool,
}

#[derive(Serialize)]
struct Row<'a> {
    run: &'a str,
    flow: &'a str,
    status: &'a str,
    title: &'a str,
    started: String,
    waiting_for: &'a str,
    interrupted: bool,
    /// The folder that it belongs to, where that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    alerts: Vec<String>,
}

#[derive(Serialize)]
struct Document<'a> {
    runs: Vec<Row<'a>>,
}

pub(crate) fn run(context: &Context, command: &Status) -> Result<Exit> {
    let workspace = Workspace::open_to_look(context)?;
    if command.summary {
        return super::summary::run(context, &workspace);
    }
    let ui = &context.ui;
    let store = workspace.store_to_read()?;
    if let Some(run) = &command.run {
        let Some(store) = store else {
            return Err(CommandError::usage(format!(
                "there is no run `{run}`: nothing has run in this workspace yet"
            )));
        };
        let info = store.find(run)?;
        let view = View::of(context.registry, &store, info)?;
        view.show(ui, &workspace);
        return Ok(Exit::Good);
    }
    let mut listing = match &store {
        Some(store) if command.all => store.runs(&Filter::default())?,
        Some(store) => store.runs(&workspace.runs())?,
        None => Default::default(),
    };
    // A book is no work that a person waits for.
    listing.runs.retain(|run| is_work(context.registry, run));
    for problem in &listing.unreadable {
        ui.warn(format!("a run cannot be read: {problem}"));
    }
    let alerts = match &store {
        Some(store) => alerts(context.registry, store, &listing.runs)?,
        None => BTreeMap::new(),
    };
    let folders = folders(&workspace, store.as_ref(), &listing.runs)?;
    if ui.json {
        let rows = listing.runs.iter().map(|r| Row {
            run: &r.name,
            flow: &r.flow,
            status: r.status.as_str(),
            title: &r.title,
            started: r.started.to_string(),
            waiting_for: &r.waiting_for,
            interrupted: r.interrupted,
            workspace: folders.get(&r.name).cloned(),
            alerts: alerts.get(&r.name).cloned().unwrap_or_default(),
        });
        ui.document(&Document { runs: rows.collect() });
        return Ok(Exit::Good);
    }
    if listing.runs.is_empty() {
        ui.say("Nothing has run in this workspace yet.");
        return Ok(Exit::Good);
    }
    let shown = if command.all { listing.runs.len() } else { SHOWN };
    let newest = &listing.runs[..shown.min(listing.runs.len())];
    ui.say(lines(newest, &folders));
    if listing.runs.len() > shown {
        ui.say(format!("... and {} more (--all)", listing.runs.len() - shown));
    }
    for (run, alerts) in &alerts {
        for alert in alerts {
            ui.say(format!("{} {run}: {alert}", tone(Tone::Attention, "alert:")));
        }
    }
    Ok(Exit::Good)
}

/// The runs as a table, with the folder of each where one belongs elsewhere.
fn lines(runs: &[RunInfo], folders: &BTreeMap<String, String>) -> String {
    let now = now();
    let line = |r: &RunInfo| {
        let age = span_in_words(now.since_ms(r.updated) / 1000 * 1000);
        let mut line = vec![r.name.clone(), state(r), age, cut(&r.title, 50), cut(&r.waiting_for, 40)];
        line.extend((!folders.is_empty()).then(|| folders.get(&r.name).cloned().unwrap_or_default()));
        line
    };
    let mut heads = vec!["run", "status", "since", "what", "waits for"];
    heads.extend((!folders.is_empty()).then_some("workspace"));
    table(&heads, &runs.iter().map(line).collect::<Vec<_>>())
}

/// Returns the matters that a person should hear of in runs that are not over, by run.
fn alerts(registry: &Registry, store: &Store, runs: &[RunInfo]) -> Result<BTreeMap<String, Vec<String>>> {
    let mut found = BTreeMap::new();
    for info in runs.iter().filter(|run| !run.status.is_finished()) {
        let Some(dialect) = registry.dialect(&info.flow).filter(|dialect| dialect.raises_alerts) else {
            continue;
        };
        let alerts = (dialect.view)(&History::read(store, info)?.facts).alerts;
        if !alerts.is_empty() {
            found.insert(info.name.clone(), alerts);
        }
    }
    Ok(found)
}

/// The folders of the runs that belong to others than this workspace.
fn folders(
    workspace: &Workspace,
    store: Option<&Store>,
    runs: &[RunInfo],
) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    let Some(store) = store else { return Ok(found) };
    for run in runs {
        if let Some(folder) = workspace.elsewhere(store, run)? {
            found.insert(run.name.clone(), folder.display().to_string());
        }
    }
    Ok(found)
}

fn state(run: &RunInfo) -> String {
    if run.interrupted { "interrupted".to_owned() } else { run.status.to_string() }
}
