//! `seriatim resume`

use seriatim_engine::drive::ConfigChoice;
use seriatim_journal::NewSignal;
use seriatim_journal::RunInfo;
use seriatim_journal::SignalKind;
use seriatim_journal::Status;
use seriatim_journal::Target;

use crate::answers::Answers;
use crate::args::Context;
use crate::commands::run::Asking;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::inside;
use crate::render::run::View;
use crate::session::Session;
use crate::workspace::Workspace;

/// Continue a run that waits or was interrupted
///
/// Finished steps are not done again. A run that is over is not continued; only its files are brought up to date.
#[derive(clap::Args, Debug)]
pub(crate) struct Resume {
    /// The run, or the beginning of its id
    run: String,
    #[command(flatten)]
    asking: Asking,
}

impl Resume {
    /// Continues a run without prepared answers.
    pub(crate) fn of(run: &str, config: Option<ConfigChoice>) -> Resume {
        Resume { run: run.to_owned(), asking: Asking { config, ..Asking::default() } }
    }
}

pub(crate) fn run(context: &Context, command: &Resume) -> Result<Exit> {
    let answers = command.asking.answers(context)?;
    let workspace = Workspace::open_for(context, command.asking.config).map_err(|error| {
        error.hint(format!(
            "`seriatim resume {} --config old` goes on with the recorded configuration",
            command.run
        ))
    })?;
    let mut session = Session::open_at(context, workspace)?;
    let info = session.store.find(&command.run)?;
    session.workspace.refuse_elsewhere(&session.store, &info, "resume")?;
    inside::may_go_on(context, &session.store, &info)?;
    if info.status.is_finished() {
        return over(context, session, &info);
    }
    let lease = session.acquire(&info)?;
    if info.status == Status::Suspended {
        let signal = NewSignal {
            to: Target::Run(info.id),
            kind: SignalKind::Resume,
            body: session.store.clean(b"{}".to_vec()),
            by: crate::session::whoami(),
            at: session.now(),
            digest: seriatim_core::hash::Hash::ZERO,
        };
        session.store.signal(&signal)?;
    }
    let face = session.face(&context.ui, answers, command.asking.no_input);
    let mut face = face.compares(command.asking.config);
    let outcome = session.drive(lease, &mut face)?;
    let exit = View::after(context.registry, &session.store, outcome)?.show(&context.ui, &session.workspace);
    session.close();
    Ok(exit)
}

/// A run that is over has nothing to continue; files that fell behind when the engine died are mended.
fn over(context: &Context, mut session: Session, info: &RunInfo) -> Result<Exit> {
    let lease = session.acquire(info)?;
    let mut face = session.face(&context.ui, Answers::default(), true);
    session.drive(lease, &mut face)?;
    session.close();
    Err(CommandError::usage(format!("run {} is over already: it is {}", info.name, info.status))
        .hint(format!("`seriatim show {}` tells how it ended", info.name)))
}
