//! `seriatim bench`

use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;

/// Measure what this machine can do
#[derive(clap::Args, Debug)]
pub(crate) struct Bench {}

pub(crate) fn run(_context: &Context, _command: &Bench) -> Result<Exit> {
    Err(CommandError::usage("not measured yet"))
}
