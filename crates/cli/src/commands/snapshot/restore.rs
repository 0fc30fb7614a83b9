//! `seriatim snapshot restore`

use serde_json::json;
use seriatim_engine::hands::snapshot::Plan;
use seriatim_journal::RunInfo;
use seriatim_journal::Status;

use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::prompt;
use crate::ui::Tone;
use crate::ui::tone;
use crate::workspace::Workspace;
use crate::workspace::now;

/// Go back to a snapshot: its files become what they were, and new ones go
///
/// Shows what would change, and asks. What is replaced becomes a snapshot first, so that it can be undone. Evidence,
/// logs, snapshots and git's own files are never touched. It works while a run waits; the run then does again what came
/// after the snapshot. Exit codes: 0 done, 1 you said no, or it could not be done, 2 there is no such snapshot, or nobody
/// could be asked, 4 the run is at work.
#[derive(clap::Args, Debug)]
pub(super) struct Restore {
    /// The snapshot, as `snapshot list` names it
    id: String,
    /// Do not ask: agree to the whole difference
    #[arg(short, long)]
    yes: bool,
    /// Who wants it
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

pub(super) fn run(context: &Context, command: &Restore) -> Result<Exit> {
    let workspace = Workspace::open(context)?;
    let ui = &context.ui;
    let labelled = super::labelled(&workspace)?;
    let refused = |error| super::refused(&labelled, error);
    let manifest = labelled.manifest(&command.id).map_err(refused)?;
    let run = run_of(&workspace, &manifest.run)?;
    if let Some(RunInfo { status: Status::Running, holder: Some(holder), .. }) = &run {
        return Err(CommandError::held(format!("run {} is at work, held by {holder}", manifest.run))
            .hint("files must not change under its hands: wait until it rests, or cancel it"));
    }
    let difference = labelled.difference(&command.id).map_err(refused)?;
    let plan = &difference.plan;
    super::tell(ui, &difference);
    let document = |undo: Option<&str>| {
        json!({
            "snapshot": plan.id, "restored": undo.is_some(), "undo": undo, "run": manifest.run,
            "words": plan.in_words(), "changes": super::changes(plan), "conflicts": plan.conflicts().collect::<Vec<_>>(),
        })
    };
    if plan.steps.is_empty() {
        ui.document(&document(None));
        return Ok(Exit::Good);
    }
    if !command.yes && !prompt::agreed(ui, &question(plan))? {
        ui.document(&document(None));
        ui.say("Nothing was changed.");
        return Ok(Exit::NotGood);
    }
    let by = command.by.clone().unwrap_or_else(crate::session::whoami);
    let undo = labelled.restore(plan, &by, now()).map_err(refused)?.undo;
    ui.document(&document(Some(&undo)));
    ui.say(format!("{} the files are as they were before: {}", tone(Tone::Good, "restored:"), plan.id));
    ui.say(format!("Undo with:  seriatim snapshot restore {undo}"));
    if run.is_some_and(|run| !run.status.is_finished()) {
        ui.tell(format!("Run {0} is not over. Go on with:  seriatim resume {0}", manifest.run));
    }
    Ok(Exit::Good)
}

/// The run before which a snapshot was taken, if the journal knows it.
fn run_of(workspace: &Workspace, name: &str) -> Result<Option<RunInfo>> {
    let Some(store) = workspace.store_to_read()? else { return Ok(None) };
    Ok(store.find(name).ok().filter(|run| run.name == name))
}

/// What is agreed to, with what would be lost of somebody's (E-65).
fn question(plan: &Plan) -> String {
    let theirs: Vec<&str> = plan.conflicts().collect();
    match theirs.is_empty() {
        true => "Go back to it?".to_owned(),
        false => format!("Go back to it, and undo what somebody changed in {}, too?", theirs.join(", ")),
    }
}
