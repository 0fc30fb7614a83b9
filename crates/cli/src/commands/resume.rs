//! `seriatim resume`

use seriatim_journal::NewSignal;
use seriatim_journal::SignalKind;
use seriatim_journal::Status;
use seriatim_journal::Target;

use crate::args::Context;
use crate::commands::run::Asking;
use crate::error::Result;
use crate::exit::Exit;
use crate::render::run::View;
use crate::session::Session;

/// Continue a run that waits or was interrupted
///
/// Finished steps are not done again. A run that is over is shown, and its files are brought up to date.
#[derive(clap::Args, Debug)]
pub(crate) struct Resume {
    /// The run, or the beginning of its id
    run: String,
    #[command(flatten)]
    asking: Asking,
}

pub(crate) fn run(context: &Context, command: &Resume) -> Result<Exit> {
    let answers = command.asking.answers()?;
    let mut session = Session::open(context)?;
    let info = session.store.find(&command.run)?;
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
    let mut face = session.face(&context.ui, answers, command.asking.no_input);
    let outcome = session.drive(lease, &mut face)?;
    let exit = View::after(&session.store, outcome)?.show(&context.ui, &session.workspace);
    session.close();
    Ok(exit)
}
