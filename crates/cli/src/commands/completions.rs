//! `seriatim completions`

use crate::args;
use crate::args::Context;
use crate::error::Result;
use crate::exit::Exit;

/// Print a completion script for a shell
///
/// For bash: seriatim completions bash > ~/.local/share/bash-completion/completions/seriatim
#[derive(clap::Args, Debug)]
pub(crate) struct Completions {
    /// The shell
    shell: clap_complete::Shell,
}

pub(crate) fn run(context: &Context, command: &Completions) -> Result<Exit> {
    let mut out = Vec::new();
    clap_complete::generate(command.shell, &mut args::program(context.registry), "seriatim", &mut out);
    let _ = std::io::Write::write_all(&mut std::io::stdout(), &out);
    Ok(Exit::Good)
}
