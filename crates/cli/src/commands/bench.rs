//! `seriatim bench`

use std::path::PathBuf;

use crate::args::Context;
use crate::bench;
use crate::bench::Part;
use crate::bench::Place;
use crate::bench::Sizes;
use crate::bench::Work;
use crate::error::Result;
use crate::exit::Exit;
use crate::workspace::Workspace;

/// Measure what this machine can do: durable steps, recovery, parked runs, worlds
///
/// Exit codes: 0 measured (goals that are not met are named, they are no failure), 1 interrupted or out of space,
/// 2 the folder cannot be used.
#[derive(clap::Args, Debug)]
pub(crate) struct Bench {
    /// What to measure; may be repeated. Left out: all but `w5` and `size`, which take minutes
    #[arg(long, value_enum, value_name = "WORK")]
    work: Vec<Work>,
    /// Where the temporary stores are made: on the disk that is to be measured [default: the folder `bench` of the store]
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Steps of each run (limit: commits)
    #[arg(short, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    n: Option<u64>,
    /// Runs at once
    #[arg(short, value_name = "M", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    m: Option<u64>,
    /// What a process does that this command starts to kill or to time it
    #[arg(long, value_enum, hide = true, requires = "store")]
    part: Option<Part>,
    /// How many steps the run has behind it when that process begins
    #[arg(long, hide = true, default_value_t = 0)]
    behind: u64,
}

pub(crate) fn run(context: &Context, command: &Bench) -> Result<Exit> {
    let workspace = Workspace::open(context)?;
    let redactor = workspace.redactor()?;
    let sizes = Sizes { n: command.n, m: command.m };
    if let (Some(part), Some(store)) = (command.part, &command.store) {
        bench::play(part, store, redactor, sizes, command.behind)?;
        return Ok(Exit::Good);
    }
    let place = Place::make(&command.store.clone().unwrap_or_else(|| workspace.state().join("bench")))?;
    let works = if command.work.is_empty() { Work::USUAL.to_vec() } else { command.work.clone() };
    let figures = bench::measure(&context.ui, &place, &redactor, &works, sizes)?;
    context.ui.document(&figures);
    context.ui.say(figures.in_words());
    Ok(Exit::Good)
}
