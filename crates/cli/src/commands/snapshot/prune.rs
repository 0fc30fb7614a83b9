//! `seriatim snapshot prune`

use std::collections::BTreeSet;

use serde_json::json;
use seriatim_engine::hands::snapshot::Listing;
use seriatim_engine::hands::snapshot::Retention;
use seriatim_engine::hands::snapshot::SnapshotError;
use seriatim_engine::labelled::Labelled;
use seriatim_engine::labelled::Needed;

use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::render::table::size_in_words;
use crate::workspace::Workspace;
use crate::workspace::now;

/// Remove old snapshots, or those that are named
///
/// Without names: of each action the newest ten stay, unless they are older than thirty days; the newest one always does.
/// What an unfinished run needs is never removed. The same is done by itself whenever a snapshot is taken.
#[derive(clap::Args, Debug)]
pub(super) struct Prune {
    /// Remove these, whatever their age
    #[arg(value_name = "ID", conflicts_with_all = ["keep", "older_than"])]
    ids: Vec<String>,
    /// How many of each action stay [default: 10]
    #[arg(long, value_name = "N")]
    keep: Option<usize>,
    /// The age in days from which on they go [default: 30]
    #[arg(long, value_name = "DAYS")]
    older_than: Option<u64>,
    /// Name what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(context: &Context, command: &Prune) -> Result<Exit> {
    let workspace = Workspace::open(context)?;
    let ui = &context.ui;
    let labelled = super::labelled(&workspace)?;
    let refused = |error| super::refused(&labelled, error);
    let needed = needed(&workspace)?;
    let listing = labelled.list().map_err(refused)?;
    if needed == Needed::Unknown {
        ui.warn("the journal cannot be read to its end, so that any snapshot may still be needed");
    }
    if command.ids.is_empty() {
        super::warn_of(ui, &listing.damaged);
    } else {
        check_named(&labelled, &listing, &needed, &command.ids)?;
    }
    let default = Retention::default();
    let rule = Retention {
        per_action_max: command.keep.unwrap_or(default.per_action_max),
        age_days_max: command.older_than.unwrap_or(default.age_days_max),
    };
    let at = now();
    let choose = |listing: &Listing| {
        let kept = needed.ids(listing);
        match command.ids.is_empty() {
            true => rule.outlived(&listing.snapshots, &kept, at),
            false => command.ids.iter().filter(|id| !kept.contains(*id)).cloned().collect(),
        }
    };
    if command.dry_run {
        let chosen = choose(&listing);
        ui.document(&json!({"removed": [], "would_remove": chosen}));
        chosen.iter().for_each(|id| ui.say(format!("would remove {id}")));
        ui.say("Nothing was removed.");
        return Ok(Exit::Good);
    }
    let pruned = labelled.all().prune(choose).map_err(refused)?;
    ui.document(&json!({"removed": pruned.snapshots, "size_bytes": pruned.size_bytes}));
    pruned.snapshots.iter().for_each(|id| ui.say(format!("removed {id}")));
    match pruned.snapshots.len() {
        0 => ui.say("Nothing was removed: all of them are to be kept."),
        _ => ui.tell(format!("{} are free again.", size_in_words(pruned.size_bytes))),
    }
    Ok(Exit::Good)
}

/// Where there is no journal no run is unfinished.
fn needed(workspace: &Workspace) -> Result<Needed> {
    match workspace.store_to_read()? {
        Some(store) => Ok(Needed::read(&store)?),
        None => Ok(Needed::By(BTreeSet::new())),
    }
}

/// Whether all that are named can go; else none goes.
fn check_named(labelled: &Labelled<'_>, listing: &Listing, needed: &Needed, ids: &[String]) -> Result<()> {
    let kept = needed.ids(listing);
    for id in ids {
        let known = listing.snapshots.iter().find(|one| one.id == *id);
        if known.is_none() && !listing.damaged.contains(id) {
            return Err(super::refused(labelled, SnapshotError::Unknown { id: id.clone() }));
        }
        if let Some(one) = known.filter(|one| kept.contains(&one.id)) {
            let message = format!("run {} is not over and may need the snapshot {id}", one.run);
            return Err(CommandError::not_good(message)
                .hint("nothing was removed; finish the run, or cancel it, and try again"));
        }
    }
    Ok(())
}
