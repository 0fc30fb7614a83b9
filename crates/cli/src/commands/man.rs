//! `seriatim man`

use crate::args;
use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;

/// Print the manual page, in roff; read it with: seriatim man | man -l -
#[derive(clap::Args, Debug)]
pub(crate) struct Man {
    /// The command to describe; all of seriatim when left out
    command: Option<String>,
}

pub(crate) fn run(context: &Context, command: &Man) -> Result<Exit> {
    let mut program = args::program(context.registry);
    program.build();
    let page = match &command.command {
        None => clap_mangen::Man::new(program),
        Some(name) => {
            let found = program.find_subcommand(name).cloned();
            let found = found.ok_or_else(|| {
                CommandError::usage(format!("there is no command `{name}`"))
                    .hint("seriatim --help lists them")
            })?;
            clap_mangen::Man::new(found)
        }
    };
    let mut out = Vec::new();
    page.render(&mut out).map_err(|e| CommandError::not_good(e.to_string()))?;
    let _ = std::io::Write::write_all(&mut std::io::stdout(), &out);
    Ok(Exit::Good)
}
