//! `seriatim run`: the ways to begin work, as the dialects declare them.

mod command_line;
mod ground;
mod references;

use std::path::PathBuf;

use seriatim_core::choices::Choices;
use seriatim_engine::drive::ConfigChoice;
use seriatim_flows::entrance::Words;

use crate::answers::Answers;
use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::inside;
use crate::render::run::View;
use crate::session::Begin;
use crate::session::Busy;
use crate::session::Session;
use crate::workers;
use crate::workspace::Workspace;

pub(crate) use command_line::Run;
pub(crate) use command_line::with_entrances;
pub(crate) use ground::OnDisk;

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
    /// Reads the prepared answers, which are a person's.
    pub(crate) fn answers(&self, context: &Context) -> Result<Answers> {
        if self.answers.is_some() {
            context.caller.may_decide("--answers")?;
        }
        self.answers.as_deref().map_or_else(|| Ok(Answers::default()), Answers::read)
    }
}

pub(crate) fn run(context: &Context, command: &Run) -> Result<Exit> {
    let known = context.registry.entrances().find(|(_, entrance)| entrance.word == command.word);
    let Some((dialect, entrance)) = known else {
        return Err(CommandError::usage(format!("there is no way to run `{}`", command.word)));
    };
    let answers = command.asking.answers(context)?;
    let workspace = Workspace::open_for(context, command.asking.config)?;
    references::check(&workspace)?;
    workspace.tell_warnings(context);
    let words = Words(command.words.clone());
    let prepared = (entrance.prepare)(&words, &mut OnDisk { workspace: &workspace })?;
    prepared.before.iter().for_each(|line| context.ui.tell(line));
    let mut session = Session::open_at(context, workspace)?;
    let begin = Begin {
        flow: dialect.name,
        title: prepared.title,
        subject: prepared.subject,
        input: prepared.input,
        calls: prepared.calls,
    };
    let view = carry_out(context, &mut session, begin, answers, &command.asking)?;
    prepared.after.iter().for_each(|line| context.ui.tell(line));
    let exit = view.show(&context.ui, &session.workspace);
    session.close();
    Ok(exit)
}

/// Begins the work and drives it. Work that is unfinished and held by no process is continued, never begun twice.
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
            inside::may_go_on(context, &session.store, &info)?;
            session.acquire(&info)?
        }
        Err(Busy::Other(error)) => return Err(error),
    };
    let outcome = session.drive(lease, &mut face)?;
    let mut view = View::after(context.registry, &session.store, outcome)?;
    view.workers = Some(workers);
    Ok(view)
}
