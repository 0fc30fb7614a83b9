//! `seriatim world`: the layers of a run, what they change, and the way into them.

mod compare;
mod diff;
mod list;
mod prune;
mod shell;

use std::sync::Arc;

use clap::Subcommand;
use seriatim_core::closest::closest;
use seriatim_engine::hands::views::ViewError;
use seriatim_engine::hands::views::ViewPlace;
use seriatim_engine::perform::Hands;
use seriatim_journal::RunInfo;
use seriatim_journal::Store;

use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::session::make_hands;
use crate::workspace::Workspace;

/// Layers of a run: list what agents changed, show it, enter a view, remove old layers
///
/// An agent works in a view of the workspace. Its changes stay in layers until the run merges them. Without RUN this lists
/// all runs that have layers. Exit codes: 0 done, 1 the command in the view failed, or the layers are still needed,
/// 2 there is no such run or view, 4 another process works in the run.
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub(crate) struct World {
    #[command(subcommand)]
    what: Option<What>,
    /// The run, or the beginning of its id
    run: Option<String>,
    /// Show what one view, or every view, changes in the workspace
    #[arg(long, value_name = "VIEW", num_args = 0..=1, requires = "run", conflicts_with = "shell")]
    diff: Option<Option<String>>,
    /// Start your shell, or the command after `--`, in this view; its changes stay in the view
    #[arg(long, value_name = "VIEW", requires = "run")]
    shell: Option<String>,
    /// The command to run in the view, in place of a shell
    #[arg(last = true, value_name = "COMMAND", requires = "shell")]
    command: Vec<String>,
}

const EXAMPLES: &str = "Examples:
  seriatim world                                    runs that have layers
  seriatim world 20260101-120000-abcd               the views of a run
  seriatim world 20260101 --diff                    what all of them change
  seriatim world 20260101 --diff 5.1.2              what one of them changes
  seriatim world 20260101 --shell 5.1.2             look around in a view
  seriatim world 20260101 --shell 5.1.2 -- make test
  seriatim world prune                              remove layers of runs that have ended";

#[derive(Subcommand, Debug)]
enum What {
    Prune(prune::Prune),
}

pub(crate) fn run(context: &Context, command: &World) -> Result<Exit> {
    if let Some(What::Prune(command)) = &command.what {
        return prune::run(context, command);
    }
    let workspace = Workspace::open_to_look(context)?;
    let Some(store) = workspace.store_to_read()? else {
        return Err(CommandError::usage("nothing has run in this workspace yet"));
    };
    let hands = make_hands(&workspace, Arc::new(workspace.config.clone()), context.registry)?;
    let done = act(context, command, &store, &hands);
    // Empty, unless an agent is at work; then it stays.
    let _ = std::fs::remove_dir(&hands.scratch);
    done
}

fn act(context: &Context, command: &World, store: &Store, hands: &Hands) -> Result<Exit> {
    let Some(run) = &command.run else { return list::all(context, store, hands) };
    let info = store.find(run)?;
    match (&command.diff, &command.shell) {
        (Some(view), _) => diff::run(context, hands, &info, view.as_deref()),
        (None, Some(view)) => shell::run(context, &info, view, &command.command),
        (None, None) => list::run(context, hands, &info),
    }
}

/// Finds a view of a run by its name or by the beginning of its name.
fn find_view(hands: &Hands, info: &RunInfo, wanted: &str) -> Result<ViewPlace> {
    let views = hands.views.list(&info.name).map_err(refused)?;
    if let Some(at) = views.iter().find(|at| at.view == wanted) {
        return Ok(at.clone());
    }
    let begin: Vec<&ViewPlace> = views.iter().filter(|at| at.view.starts_with(wanted)).collect();
    if let [one] = begin.as_slice() {
        return Ok((*one).clone());
    }
    let names: Vec<&str> = views.iter().map(|at| at.view.as_str()).collect();
    let message = match begin.len() {
        0 => format!("run {} has no view `{wanted}`", info.name),
        _ => format!("several views of run {} begin with `{wanted}`", info.name),
    };
    Err(CommandError::usage(message).hint(match (closest(wanted, names.iter().copied()), names.is_empty()) {
        (_, true) => "its work is merged, or no agent of it worked in a world".to_owned(),
        (Some(known), _) if begin.is_empty() => format!("did you mean `{known}`?"),
        _ => format!("its views are: {}", names.join(", ")),
    }))
}

/// Why something with a view was not done, and what helps.
fn refused(error: ViewError) -> CommandError {
    let message = error.to_string();
    match error {
        ViewError::NoIsolation { world, .. } | ViewError::NoWorld(world) => {
            CommandError::usage(message).hint(world.help)
        }
        ViewError::NoCopy { .. } => CommandError::usage(message).hint("`seriatim doctor` tells what works"),
        ViewError::BadFolder { .. } => CommandError::usage(message)
            .hint("make it a private folder of yours again, or name another one as `dir` in [worlds]"),
        ViewError::NoPlace { .. } | ViewError::Layers(_) | ViewError::File(_) => {
            CommandError::not_good(message)
        }
    }
}
