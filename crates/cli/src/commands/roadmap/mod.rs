//! `seriatim roadmap`: the files of a project that is carried out step by step.

mod init;
mod migrate;
mod rollback;
mod show;

use clap::Subcommand;

use crate::args::Context;
use crate::error::Result;
use crate::exit::Exit;

/// Files of a roadmap: create its state, show how far it is, bring an older one forward, undo checkpoints
#[derive(clap::Args, Debug)]
pub(crate) struct Roadmap {
    #[command(subcommand)]
    what: What,
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
