//! `seriatim guard`

use seriatim_engine::hands::disk::Disk;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use seriatim_core::guard::client::Client;
use seriatim_engine::guard::Project;

use crate::args::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::guard;
use crate::guard::Plan;
use crate::guard::status::Status;
use crate::inside::Standing;
use crate::ui::Tone;
use crate::ui::tone;
use crate::workspace::Workspace;

/// Guard the live sessions of this project: hooks of the clients, and of git
#[derive(clap::Args, Debug)]
pub(crate) struct Guard {
    #[command(subcommand)]
    act: Act,
}

impl Guard {
    /// Returns what it is to a process of an attempt.
    pub(crate) fn standing(&self) -> Standing {
        match self.act {
            Act::Install(_) | Act::Uninstall(_) => Standing::Decision,
            Act::Status(_) => Standing::Other,
        }
    }
}

#[derive(clap::Subcommand, Debug)]
enum Act {
    Install(Install),
    Uninstall(Uninstall),
    Status(Show),
}

/// Put the hooks in; what is there already is kept, and put back by `uninstall`
///
/// Shows what would be changed, and asks. Exit codes: 0 guarded, 1 you said no, 2 nothing was changed.
#[derive(clap::Args, Debug)]
struct Install {
    /// A client: claude, codex or gemini; may be given several times. By default those that are found
    #[arg(long, value_name = "NAME", value_parser = guard::parse_client)]
    client: Vec<Client>,
    /// Put claude's hooks into .claude/settings.local.json, which is yours alone
    #[arg(long)]
    local: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

/// Take the hooks out; files become what they were, to the byte
///
/// Where somebody changed a file meanwhile, the guard's entries alone are cut out. With the last client the hooks of git
/// go too. The record of what happened stays. Exit codes: 0 done, 1 you said no, 2 nothing was changed.
#[derive(clap::Args, Debug)]
struct Uninstall {
    /// A client: claude, codex or gemini; may be given several times. By default all of them
    #[arg(long, value_name = "NAME", value_parser = guard::parse_client)]
    client: Vec<Client>,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

/// Show whether the project is guarded, which hooks are in place, and which steps are open
///
/// Exit codes: 0 guarded, and every hook is where it belongs; 1 not guarded, or there are gaps.
#[derive(clap::Args, Debug)]
struct Show {}

pub(crate) fn run(context: &Context, command: &Guard) -> Result<Exit> {
    let root = Workspace::find(context.workspace.as_deref())?;
    match &command.act {
        Act::Install(install) => put_in(context, &root, install),
        Act::Uninstall(uninstall) => take_out(context, &root, uninstall),
        Act::Status(Show {}) => {
            let status = Status::read(&root);
            context.ui.document(&status.document());
            status.show(&context.ui);
            Ok(if status.is_whole() { Exit::Good } else { Exit::NotGood })
        }
    }
}

fn put_in(context: &Context, root: &Path, command: &Install) -> Result<Exit> {
    let (clients, plan) = guard::install::plan(root, &command.client, command.local)?;
    let store = Project::new(root, Arc::new(Disk)).state_dir();
    if store.symlink_metadata().is_ok() {
        // A store that is not ours is refused before anything is changed.
        seriatim_journal::private::make_folder(&store)?;
    }
    let done = carry_out(context, &plan, command.yes)?;
    if done && !plan.is_empty() {
        seriatim_journal::private::make_folder(&store)?;
    }
    let clients: Vec<&str> = clients.iter().map(|client| client.name()).collect();
    let mut document = plan.document();
    if let Some(map) = document.as_object_mut() {
        map.insert("workspace".to_owned(), json!(root));
        map.insert("clients".to_owned(), json!(clients));
        map.insert("guarded".to_owned(), json!(done));
    }
    context.ui.document(&document);
    if !done {
        return Ok(Exit::NotGood);
    }
    if plan.is_empty() {
        context.ui.say("Everything is in place already; nothing was changed.");
    } else {
        context.ui.say(format!("{} This project is guarded.", tone(Tone::Good, "done:")));
        if clients.contains(&"codex") {
            context.ui.tell("Codex skips hooks that are not trusted, without a word: open it here, type /hooks, and trust them.");
        }
        context.ui.tell(
            "Next: `seriatim doctor` tries it out. Sessions that are open now may have to be started again.",
        );
    }
    Ok(Exit::Good)
}

fn take_out(context: &Context, root: &Path, command: &Uninstall) -> Result<Exit> {
    let plan = guard::uninstall::plan(root, &command.client)?;
    let done = carry_out(context, &plan, command.yes)?;
    let guarded = Project::is_guarded(&Disk, root);
    let mut document = plan.document();
    if let Some(map) = document.as_object_mut() {
        map.insert("workspace".to_owned(), json!(root));
        map.insert("guarded".to_owned(), json!(guarded));
    }
    context.ui.document(&document);
    if !done {
        return Ok(Exit::NotGood);
    }
    if plan.is_empty() {
        context.ui.say("There is nothing to take out; nothing was changed.");
    } else if guarded {
        context.ui.say(format!("{} The other clients stay guarded.", tone(Tone::Good, "done:")));
    } else {
        context.ui.say(format!("{} This project is guarded no longer.", tone(Tone::Good, "done:")));
    }
    Ok(Exit::Good)
}

/// Shows, asks, does. False when the answer was no.
fn carry_out(context: &Context, plan: &Plan, yes: bool) -> Result<bool> {
    plan.show(&context.ui);
    if !plan.agreed(&context.ui, yes)? {
        context.ui.say("Nothing was changed.");
        return Ok(false);
    }
    plan.carry_out()?;
    Ok(true)
}
