//! `seriatim world prune`

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use serde_json::json;
use seriatim_engine::hands::layers;
use seriatim_engine::hands::views::RunLayers;
use seriatim_engine::hands::views::Views;
use seriatim_journal::Filter;
use seriatim_journal::RunInfo;
use seriatim_journal::Store;

use super::refused;
use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::render::table::size_in_words;
use crate::workspace::Workspace;

/// Remove the layers of runs that have ended, and layers that belong to no run
///
/// The layers of an unfinished run hold work that is not merged yet. They are removed only with --force, and never while a
/// process works in the run.
#[derive(clap::Args, Debug)]
pub(super) struct Prune {
    /// Remove the layers of this run alone
    run: Option<String>,
    /// Remove layers of unfinished runs, too: the work in them is lost
    #[arg(long)]
    force: bool,
}

/// Why layers are removed or kept.
enum Verdict {
    Remove(&'static str),
    Keep(String),
}

pub(super) fn run(context: &Context, command: &Prune) -> Result<Exit> {
    let workspace = Workspace::open_to_look(context)?;
    let ui = &context.ui;
    let views: Arc<dyn Views> = Arc::new(workspace.worlds());
    // Before the journal is read: a run is on record before it has layers, so that none is taken for one without a run.
    let mut layers = views.runs().map_err(refused)?;
    let store = workspace.store_to_read()?;
    let named = command.run.as_ref().map(|run| find(store.as_ref(), run)).transpose()?;
    if let Some(info) = &named {
        check(info, command.force)?;
        layers.retain(|at| at.run == info.name);
    }
    let (known, is_complete) = known(store.as_ref())?;
    if !is_complete {
        ui.warn("the journal cannot be read to its end, so that layers without a known run are kept");
    }
    let (mut removed, mut kept, mut bytes_freed) = (vec![], vec![], 0);
    for at in layers {
        match judge(&at, known.get(&at.run), is_complete, command.force) {
            Verdict::Keep(why) => {
                ui.say(format!("kept     {}  {why}", at.run));
                kept.push(json!({"run": at.run, "why": why}));
            }
            Verdict::Remove(why) => {
                let (files, bytes) = remove(views.as_ref(), &at)?;
                bytes_freed += bytes;
                ui.say(format!("removed  {}  {} ({why})", at.run, size_in_words(bytes)));
                removed.push(json!({"run": at.run, "files": files, "size_bytes": bytes, "why": why}));
            }
        }
    }
    finish(context, &removed, &kept, bytes_freed);
    Ok(Exit::Good)
}

fn finish(context: &Context, removed: &[Value], kept: &[Value], bytes: u64) {
    let ui = &context.ui;
    ui.document(&json!({"removed": removed, "kept": kept, "size_bytes": bytes}));
    match (removed.is_empty(), kept.is_empty()) {
        (true, true) => ui.say("There are no layers to remove."),
        (true, false) => ui.say("Nothing was removed."),
        (false, _) => ui.tell(format!("{} are free again.", size_in_words(bytes))),
    }
}

fn find(store: Option<&Store>, run: &str) -> Result<RunInfo> {
    match store {
        Some(store) => Ok(store.find(run)?),
        None => Err(CommandError::usage("nothing has run in this workspace yet")),
    }
}

/// Refuses to remove layers of a run that needs them.
fn check(info: &RunInfo, force: bool) -> Result<()> {
    let name = &info.name;
    if let Some(holder) = &info.holder {
        return Err(CommandError::held(format!("run {name} is at work, held by {holder}"))
            .hint("wait until it rests, or cancel it"));
    }
    if !info.status.is_finished() && !force {
        return Err(CommandError::not_good(format!("run {name} is not over and needs its layers"))
            .hint(format!("look at them first:  seriatim world {name}"))
            .hint("finish the run, or cancel it; --force removes them and the work in them"));
    }
    Ok(())
}

/// All runs by name, and whether none is missing.
fn known(store: Option<&Store>) -> Result<(BTreeMap<String, RunInfo>, bool)> {
    let Some(store) = store else { return Ok((BTreeMap::new(), true)) };
    let listing = store.runs(&Filter::default())?;
    let runs = listing.runs.into_iter().map(|run| (run.name.clone(), run)).collect();
    Ok((runs, listing.unreadable.is_empty()))
}

fn judge(at: &RunLayers, run: Option<&RunInfo>, is_complete: bool, force: bool) -> Verdict {
    match run {
        Some(run) if run.holder.is_some() => Verdict::Keep("a process works in this run".to_owned()),
        Some(run) if run.status.is_finished() => Verdict::Remove("its run has ended"),
        Some(_) if force => Verdict::Remove("its run is not over"),
        Some(run) => Verdict::Keep(format!("its run is not over ({})", run.status.as_str())),
        None if is_probe_at_work(&at.run) => Verdict::Keep("a process tries out worlds there".to_owned()),
        None if is_complete => Verdict::Remove("it belongs to no run"),
        None => Verdict::Keep("its run may be one that cannot be read".to_owned()),
    }
}

/// Whether a folder is that of a living process that finds out whether worlds work.
fn is_probe_at_work(name: &str) -> bool {
    let process = name.strip_prefix("probe-").and_then(|id| id.parse::<u32>().ok());
    process.is_some_and(|id| std::path::Path::new(&format!("/proc/{id}")).exists())
}

fn remove(views: &dyn Views, at: &RunLayers) -> Result<(u64, u64)> {
    let measured = layers::size(&at.folder).map_err(|error| refused(error.into()))?;
    views.drop_run(&at.run).map_err(refused)?;
    Ok(measured)
}
