//! `seriatim run`: what the dialects have in common when they begin.

mod action;
mod cycle;
mod process;
mod roadmap;
mod step;

use std::path::PathBuf;

use clap::Subcommand;

use crate::answers::Answers;
use crate::args::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::render::run::View;
use crate::session::Begin;
use crate::session::Busy;
use crate::session::Session;

/// Start work and carry it as far as it goes
#[derive(clap::Args, Debug)]
pub(crate) struct Run {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    Process(process::Process),
    Cycle(cycle::Cycle),
    Step(step::Step),
    Roadmap(roadmap::Roadmap),
    Action(action::Action),
}

/// How questions are dealt with.
#[derive(clap::Args, Debug, Clone, Default)]
pub(crate) struct Asking {
    /// Never ask on the terminal: park the run and exit with 3
    #[arg(long)]
    pub(crate) no_input: bool,
    /// Answer from a YAML list, first match wins
    #[arg(long, value_name = "FILE")]
    pub(crate) answers: Option<PathBuf>,
}

impl Asking {
    pub(crate) fn answers(&self) -> Result<Answers> {
        self.answers.as_deref().map_or_else(|| Ok(Answers::default()), Answers::read)
    }
}

pub(crate) fn run(context: &Context, command: &Run) -> Result<Exit> {
    match &command.what {
        What::Process(process) => process::run(context, process),
        What::Cycle(cycle) => cycle::run(context, cycle),
        What::Step(step) => step::run(context, step),
        What::Roadmap(roadmap) => roadmap::run(context, roadmap),
        What::Action(action) => action::run(context, action),
    }
}

/// Begins the work and drives it. What is unfinished and held by nobody is continued, never begun twice.
fn carry_out(
    context: &Context,
    session: &mut Session,
    begin: Begin,
    answers: Answers,
    no_input: bool,
) -> Result<View> {
    let mut face = session.face(&context.ui, answers, no_input);
    let lease = match session.begin(begin) {
        Ok(lease) => lease,
        Err(Busy::Unheld(run)) => {
            context.ui.tell(format!("Continuing the work that was begun before ({run})."));
            let info = session.store.find(&run)?;
            session.acquire(&info)?
        }
        Err(Busy::Other(error)) => return Err(error),
    };
    let outcome = session.drive(lease, &mut face)?;
    View::after(&session.store, outcome)
}
