//! `seriatim cancel`

use std::time::Duration;
use std::time::Instant;

use seriatim_core::hash::Hash;
use seriatim_engine::drive;
use seriatim_journal::NewSignal;
use seriatim_journal::RunInfo;
use seriatim_journal::SignalKind;
use seriatim_journal::Signalled;
use seriatim_journal::Target;

use crate::answers::Answers;
use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::render::run::View;
use crate::session::Session;

/// How long the process that holds a run has to take notice.
const NOTICE: Duration = Duration::from_secs(30);

/// Cancel a run; what was done until then is kept
#[derive(clap::Args, Debug)]
pub(crate) struct Cancel {
    /// The run, or the beginning of its id
    run: String,
    /// Who cancels it
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

pub(crate) fn run(context: &Context, command: &Cancel) -> Result<Exit> {
    let mut session = Session::open(context)?;
    let info = session.store.find(&command.run)?;
    let by = command.by.clone().unwrap_or_else(crate::session::whoami);
    if let Some(why) = without_program(context, &session, &info)? {
        return end_on_record(context, session, &info, &by, &why);
    }
    if info.status.is_finished() {
        let (name, status) = (&info.name, info.status);
        return Err(CommandError::usage(format!("run {name} is over already: it is {status}")));
    }
    session.workspace.refuse_elsewhere(&session.store, &info, "cancel")?;
    let signal = NewSignal {
        to: Target::Run(info.id),
        kind: SignalKind::Cancel,
        body: session.store.clean(b"{}".to_vec()),
        by,
        at: session.now(),
        digest: Hash::ZERO,
    };
    if let Signalled::Over { status } = session.store.signal(&signal)? {
        return Err(CommandError::usage(format!("run {} is over already: it is {status}", info.name)));
    }
    let view = match info.holder {
        // Whoever holds it stops what is under way and ends it.
        Some(holder) => {
            context.ui.tell(format!("Asked {holder} to stop."));
            let since = Instant::now();
            while !session.store.run(info.id)?.status.is_finished() {
                if since.elapsed() > NOTICE {
                    return Err(CommandError::held(format!("{holder} has not stopped yet"))
                        .hint("the wish is recorded and takes effect when it looks"));
                }
                std::thread::sleep(Duration::from_millis(50));
            }
            View::of(context.registry, &session.store, session.store.run(info.id)?)?
        }
        None => {
            let lease = session.acquire(&info)?;
            let mut face = session.face(&context.ui, Answers::default(), true);
            let outcome = session.drive(lease, &mut face)?;
            View::after(context.registry, &session.store, outcome)?
        }
    };
    view.show(&context.ui, &session.workspace);
    session.close();
    Ok(Exit::Good)
}

/// Returns why a run can only be ended on record: nobody can carry out what its dialect does when it is cancelled.
fn without_program(context: &Context, session: &Session, info: &RunInfo) -> Result<Option<String>> {
    if info.holder.is_some() || info.status.is_finished() {
        return Ok(None);
    }
    if context.registry.flow(&info.flow, info.flow_version).is_none() {
        return Ok(Some("It was recorded by another version of the program.".to_owned()));
    }
    let folder = session.workspace.elsewhere(&session.store, info)?.filter(|folder| !folder.is_dir());
    Ok(folder.map(|folder| format!("Its folder {} is gone.", folder.display())))
}

fn end_on_record(
    context: &Context,
    mut session: Session,
    info: &RunInfo,
    by: &str,
    why: &str,
) -> Result<Exit> {
    let lease = session.acquire(info)?;
    let message = format!("The work was cancelled. {why} No file was changed.");
    let at = session.now();
    drive::end_on_record(&mut session.store, &lease, by, at, &message)?;
    let view = View::of(context.registry, &session.store, session.store.run(info.id)?)?;
    view.show(&context.ui, &session.workspace);
    session.close();
    Ok(Exit::Good)
}
