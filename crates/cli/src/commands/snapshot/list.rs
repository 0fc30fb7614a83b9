//! `seriatim snapshot list`

use serde::Serialize;

use crate::args::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::render::table::size_in_words;
use crate::render::table::table;
use crate::workspace::Workspace;

/// List the snapshots, the newest first
#[derive(clap::Args, Debug)]
pub(super) struct List {}

#[derive(Serialize)]
struct Row<'a> {
    id: &'a str,
    action: &'a str,
    run: &'a str,
    created: String,
}

#[derive(Serialize)]
struct Document<'a> {
    snapshots: Vec<Row<'a>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    damaged: &'a [String],
}

pub(super) fn run(context: &Context, _: &List) -> Result<Exit> {
    let workspace = Workspace::open(context)?;
    let ui = &context.ui;
    let labelled = super::labelled(&workspace)?;
    let listing = labelled.list().map_err(|error| super::refused(&labelled, error))?;
    super::warn_of(ui, &listing.damaged);
    let rows = listing.snapshots.iter().map(|one| Row {
        id: &one.id,
        action: &one.action,
        run: &one.run,
        created: one.created.to_string(),
    });
    ui.document(&Document { snapshots: rows.collect(), damaged: &listing.damaged });
    if listing.snapshots.is_empty() {
        ui.say("There are no snapshots: one is taken before each action.");
        return Ok(Exit::Good);
    }
    let lines: Vec<Vec<String>> = listing
        .snapshots
        .iter()
        .map(|one| {
            let size = size_in_words(one.size_bytes);
            vec![one.id.clone(), one.created.seconds(), one.files.to_string(), size, one.run.clone()]
        })
        .collect();
    ui.say(table(&["snapshot", "created", "files", "size", "run"], &lines));
    Ok(Exit::Good)
}
