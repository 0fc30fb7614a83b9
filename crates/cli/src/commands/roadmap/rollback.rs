//! `seriatim roadmap rollback`

use serde_json::Value;
use serde_json::json;
use seriatim_core::roadmap::command;
use seriatim_engine::hands::paths;
use seriatim_engine::ports::Ports;
use seriatim_engine::rollback;
use seriatim_engine::rollback::How;
use seriatim_engine::rollback::Plan;
use seriatim_engine::rollback::RollbackError;
use seriatim_engine::rollback::Wanted;

use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::prompt;
use crate::roadmaps;
use crate::ui::Tone;
use crate::ui::Ui;
use crate::ui::tone;
use crate::workspace::Workspace;

/// Undo the last checkpoint of a step: the commit goes, its files stay, and its phases are open again
///
/// Only the newest commit of the branch is undone, and only while it is on no remote; afterwards `run step` goes on from
/// there. One that others may have is undone by a further commit, with --revert. Shows what would be done, and asks.
/// Exit codes: 0 done, 1 you said no, or the commit cannot be undone, 2 there is no checkpoint, and nothing was changed.
#[derive(clap::Args, Debug)]
pub(crate) struct Rollback {
    /// The project, whose files are in docs/feature/PROJECT
    project: String,
    /// The step; by default that of the newest checkpoint
    step: Option<String>,
    /// Do the work again from this earlier phase on, like RED_UNIT
    #[arg(long, value_name = "PHASE")]
    from: Option<String>,
    /// Make a commit that undoes the checkpoint, where it is on a remote already
    #[arg(long)]
    revert: bool,
    /// Show what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

pub(super) fn run(context: &Context, given: &Rollback) -> Result<Exit> {
    let workspace = Workspace::open(context)?;
    let project = command::project(&given.project)?;
    let place = roadmaps::find(&workspace, &project)?;
    roadmaps::needs_git(&workspace)?;
    roadmaps::refuse_unfinished(&workspace, &project)?;
    let store = workspace.store()?;
    let root = paths::Workspace::new(&workspace.root).map_err(|e| CommandError::usage(e.to_string()))?;
    let ports = Ports::real();
    let rollback = rollback::Rollback::new(root, &ports, workspace.config.clone(), store)
        .map_err(|error| CommandError::usage(error.to_string()))?;
    let wanted = Wanted {
        project: &project,
        state: &place.state,
        step: given.step.as_deref(),
        from: given.from.as_deref(),
        revert: given.revert,
    };
    let plan = rollback.plan(&wanted).map_err(|error| refused(&project, error))?;
    let ui = &context.ui;
    show(ui, &plan);
    if given.dry_run {
        ui.document(&document(&project, &plan, false, None));
        ui.say("Nothing was changed.");
        return Ok(Exit::Good);
    }
    if !given.yes && !prompt::agreed(ui, "Take it back?")? {
        ui.document(&document(&project, &plan, false, None));
        ui.say("Nothing was changed.");
        return Ok(Exit::NotGood);
    }
    let undoing =
        rollback.carry_out(&plan, &crate::session::whoami()).map_err(|error| refused(&project, error))?;
    ui.document(&document(&project, &plan, true, undoing.as_deref()));
    ui.say(format!("{} `{}` is taken back.", tone(Tone::Good, "done:"), plan.commit.subject));
    ui.tell(format!("Go on with:  seriatim run step @AGENT {project} {}", plan.step));
    Ok(Exit::Good)
}

fn show(ui: &Ui, plan: &Plan) {
    ui.say(format!("step {}: {}", plan.step, tone(Tone::Strong, &plan.commit)));
    match plan.how {
        How::Reset => ui.say("  the branch goes back by this commit; the files stay as they are"),
        How::Revert => {
            ui.say(
                "  a further commit undoes it, since others may have it; these files become what they were:",
            );
            plan.files.iter().for_each(|file| ui.say(format!("    {file}")));
        }
    }
    match plan.phases.is_empty() {
        true => ui.say("  no phase has to be opened again"),
        false => ui.say(format!("  open again: {} (in {})", plan.phases.join(", "), plan.path)),
    }
}

fn document(project: &str, plan: &Plan, done: bool, undoing: Option<&str>) -> Value {
    json!({
        "project": project, "step": plan.step, "commit": plan.commit.id, "subject": plan.commit.subject,
        "how": match plan.how { How::Reset => "reset", How::Revert => "revert" },
        "phases": plan.phases, "files": plan.files, "state": plan.path, "done": done, "revert_commit": undoing,
    })
}

fn refused(project: &str, error: RollbackError) -> CommandError {
    let message = error.to_string();
    match error {
        RollbackError::NoCheckpoint { .. } => CommandError::usage(message)
            .hint(format!("`seriatim roadmap show {project}` shows how far its steps are")),
        RollbackError::Buried { above, .. } => {
            let error = CommandError::not_good(message);
            match above.iter().find_map(|seen| seen.step.clone()) {
                Some(step) => error.hint(format!("step {step} was built on it; take that back first")),
                None => error.hint("those are not the step's; --revert undoes the checkpoint by a further commit"),
            }
        }
        RollbackError::Pushed { .. } => CommandError::not_good(message).hint(
            "what others may have is not taken back silently; --revert makes a commit that undoes it, for all to see",
        ),
        RollbackError::UnknownPhase { .. } | RollbackError::TooLate { .. } => CommandError::usage(message),
        RollbackError::Moved => CommandError::not_good(message).hint("look at it again"),
        RollbackError::HalfWay { .. } => {
            CommandError::not_good(message).hint("mend that, then run the same command again")
        }
        RollbackError::Git(_) | RollbackError::Book(_) => {
            CommandError::not_good(message).hint("nothing was taken back")
        }
    }
}
