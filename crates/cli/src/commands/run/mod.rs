//! `seriatim run`: what the dialects have in common when they begin.

mod action;
mod cycle;
mod process;
mod roadmap;
mod step;

use std::path::PathBuf;

use clap::Subcommand;
use seriatim_core::choices::Choices;
use seriatim_engine::drive::ConfigChoice;

use crate::answers::Answers;
use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::render::run::View;
use crate::session::Begin;
use crate::session::Busy;
use crate::session::Session;
use crate::workers;

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
    /// Continue with the recorded configuration (old) or with that of the file (new), where they differ
    #[arg(long, value_name = "old|new", value_parser = config_choice)]
    pub(crate) config: Option<ConfigChoice>,
}

/// Reads the value of `--config`.
pub(crate) fn config_choice(word: &str) -> std::result::Result<ConfigChoice, String> {
    ConfigChoice::of(word).ok_or_else(|| "write `old` or `new`".to_owned())
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
    asking: &Asking,
) -> Result<View> {
    let mut face = session.face(&context.ui, answers, asking.no_input).compares(asking.config);
    let workers = workers::find(
        &session.workspace.config,
        begin.calls.as_deref(),
        &session.workspace.root,
        session.store.door(),
    );
    let lease = match session.begin(begin) {
        Ok(lease) => {
            workers::tell(&context.ui, &workers);
            lease
        }
        Err(Busy::Unheld(run)) => {
            context.ui.tell(format!("Continuing the work that was begun before ({run})."));
            let info = session.store.find(&run)?;
            session.acquire(&info)?
        }
        Err(Busy::Other(error)) => return Err(error),
    };
    let outcome = session.drive(lease, &mut face)?;
    let mut view = View::after(&session.store, outcome)?;
    view.workers = Some(workers);
    Ok(view)
}

/// What a flow is started with, as it is recorded.
fn input(start: &impl serde::Serialize) -> Result<serde_json::Value> {
    serde_json::to_value(start)
        .map_err(|error| CommandError::not_good(format!("the run cannot be recorded: {error}")))
}
