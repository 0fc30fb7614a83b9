//! `seriatim roadmap`: the files of a project that is carried out step by step.

mod init;
mod migrate;
mod rollback;
mod show;

use clap::Subcommand;

use crate::args::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::inside::Standing;

/// Files of a roadmap: create its state, show how far it is, bring an older one forward, undo checkpoints
#[derive(clap::Args, Debug)]
pub(crate) struct Roadmap {
    #[command(subcommand)]
    what: What,
}

impl Roadmap {
    /// Returns what it is to a process of an attempt.
    pub(crate) fn standing(&self) -> Standing {
        match self.what {
            What::Rollback(_) => Standing::Decision,
            What::Init(_) | What::Show(_) | What::Migrate(_) => Standing::Other,
        }
    }
}

#[derive(Subcommand, Debug)]
enum What {
    Init(init::Init),
    Show(show::Show),
    Migrate(migrate::Migrate),
    Rollback(rollback::Rollback),
}

pub(crate) fn run(context: &Context, command: &Roadmap) -> Result<Exit> {
    match &command.what {
        What::Init(command) => init::run(context, command),
        What::Show(command) => show::run(context, command),
        What::Migrate(command) => migrate::run(context, command),
        What::Rollback(command) => rollback::run(context, command),
    }
}
