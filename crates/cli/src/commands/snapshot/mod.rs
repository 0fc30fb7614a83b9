//! `seriatim snapshot`: the states before actions, and the way back to them.

mod list;
mod prune;
mod restore;
mod show;

use clap::Subcommand;
use serde_json::Value;
use serde_json::json;
use seriatim_core::closest::closest;
use seriatim_engine::hands::disk::Disk;
use seriatim_engine::hands::paths;
use seriatim_engine::hands::snapshot::Plan;
use seriatim_engine::hands::snapshot::SnapshotError;
use seriatim_engine::hands::snapshot::State;
use seriatim_engine::hands::snapshot::Step;
use seriatim_engine::labelled::Difference;
use seriatim_engine::labelled::Labelled;

use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::inside::Standing;
use crate::ui::Tone;
use crate::ui::Ui;
use crate::ui::tone;
use crate::workspace::Workspace;

/// How many paths people are shown unless they ask for all of them.
const SHOWN: usize = 40;

/// States before actions: list them, show what has changed since, go back to one, remove old ones
#[derive(clap::Args, Debug)]
pub(crate) struct Snapshot {
    #[command(subcommand)]
    what: What,
}

impl Snapshot {
    /// Returns what it is to a process of an attempt.
    pub(crate) fn standing(&self) -> Standing {
        match self.what {
            What::Restore(_) | What::Prune(_) => Standing::Decision,
            What::List(_) | What::Show(_) => Standing::Other,
        }
    }
}

#[derive(Subcommand, Debug)]
enum What {
    List(list::List),
    Show(show::Show),
    Restore(restore::Restore),
    Prune(prune::Prune),
}

pub(crate) fn run(context: &Context, command: &Snapshot) -> Result<Exit> {
    match &command.what {
        What::List(command) => list::run(context, command),
        What::Show(command) => show::run(context, command),
        What::Restore(command) => restore::run(context, command),
        What::Prune(command) => prune::run(context, command),
    }
}

/// The snapshots of a workspace.
fn labelled(workspace: &Workspace) -> Result<Labelled<'static>> {
    let root = paths::Workspace::new(&workspace.root).map_err(|e| CommandError::usage(e.to_string()))?;
    Ok(Labelled::new(&Disk, root))
}

/// Names those that cannot be read.
fn warn_of(ui: &Ui, damaged: &[String]) {
    for id in damaged {
        ui.warn(format!(
            "the snapshot {id} cannot be read; `seriatim snapshot prune {id}` removes what is left of it"
        ));
    }
}

/// Why something with a snapshot was not done, and what helps.
fn refused(labelled: &Labelled<'_>, error: SnapshotError) -> CommandError {
    let message = error.to_string();
    match error {
        SnapshotError::Unknown { id } => {
            let listing = labelled.list().unwrap_or_default();
            let known = listing.snapshots.iter().map(|one| one.id.as_str());
            CommandError::usage(message).hint(match closest(&id, known) {
                Some(known) => format!("did you mean `{known}`? `seriatim snapshot list` names them all"),
                None => "`seriatim snapshot list` names those that there are".to_owned(),
            })
        }
        SnapshotError::BadManifest { id, .. } => CommandError::not_good(message)
            .hint(format!("`seriatim snapshot prune {id}` removes what is left of it")),
        SnapshotError::Damaged { damage, .. } => {
            let paths: Vec<&str> = damage.iter().map(|one| one.path.as_str()).collect();
            CommandError::not_good(message)
                .hint(format!("nothing was restored; what is damaged: {}", paths.join(", ")))
        }
        SnapshotError::Moved { .. } => CommandError::not_good(message).hint("look at it again"),
        SnapshotError::Halted { undo, .. } => CommandError::not_good(message).hint(format!(
            "mend that, then restore again, or go back with `seriatim snapshot restore {undo}`"
        )),
        SnapshotError::Unstable { .. } => CommandError::not_good(message).hint("try again in a moment"),
        SnapshotError::File(_) => CommandError::usage(message),
    }
}

/// What becomes of a path.
fn verb(step: &Step) -> &'static str {
    match (&step.now, &step.then) {
        (None, _) => "bring back",
        (_, None) => "delete",
        (Some(State::File { hash: now, .. }), Some(State::File { hash: then, .. })) if now == then => "mode",
        (Some(State::Directory { .. }), Some(State::Directory { .. })) => "mode",
        _ => "revert",
    }
}

/// The difference for people.
fn tell(ui: &Ui, difference: &Difference) {
    let plan = &difference.plan;
    ui.say(plan.in_words());
    let all = if ui.verbose { plan.steps.len() } else { SHOWN };
    // What somebody changed is never among those that are left out.
    let (theirs, others): (Vec<&Step>, Vec<&Step>) = plan.steps.iter().partition(|step| step.conflict);
    for step in &theirs {
        let mark = tone(Tone::Attention, "changed by somebody since");
        ui.say(format!("  {:<10}  {}  ({mark})", verb(step), step.path));
    }
    for step in others.iter().take(all) {
        ui.say(format!("  {:<10}  {}", verb(step), step.path));
    }
    if others.len() > all {
        ui.say(format!("  ... and {} more (--verbose)", others.len() - all));
    }
    if !difference.told_apart && !plan.steps.is_empty() {
        ui.tell("Whose changes these are is not on record: look at each of them.");
    }
}

/// The difference for machines.
fn changes(plan: &Plan) -> Value {
    let change = |step: &Step| json!({"path": step.path, "change": verb(step), "conflict": step.conflict});
    plan.steps.iter().map(change).collect()
}
