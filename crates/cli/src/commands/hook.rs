//! `seriatim hook`

use seriatim_engine::ports::Ports;
use std::ffi::OsString;
use std::io::Read;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use seriatim_core::guard::client::Client;
use seriatim_core::guard::event::Event;
use seriatim_core::guard::event::PAYLOAD_BYTES_MAX;
use seriatim_core::guard::reply::Answer;
use seriatim_engine::guard;

use crate::args::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::guard::parse_client;
use crate::inside;
use crate::workspace::make_redactor;

/// Answer an event of an agent's client: JSON on stdin, the decision on stdout
///
/// Called by the hooks that `seriatim guard install` puts into the client's settings. Exit codes: 0, or 2 for a refusal.
#[derive(clap::Args, Debug)]
pub(crate) struct Hook {
    /// The client that calls: claude, codex or gemini; told from the event when left out
    #[arg(long, value_name = "NAME", value_parser = parse_client)]
    client: Option<Client>,
}

/// Answers a hook whose arguments [`fast`] leaves to the parser, such as `seriatim -q hook`.
pub(crate) fn run(context: &Context, command: &Hook) -> Result<Exit> {
    let payload = inside::input(context, PAYLOAD_BYTES_MAX as u64 + 1);
    let code = answer(command.client, payload, context.caller.spoken().is_some());
    Ok(if code == 0 { Exit::Good } else { Exit::Usage })
}

/// The way past everything else: no parser of arguments, no configuration, no colours.
pub(crate) fn fast(arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let mut client = None;
    let mut arguments = arguments.map(|argument| argument.into_string().unwrap_or_default());
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--client" => client = Some(arguments.next()?),
            other => client = Some(other.strip_prefix("--client=")?.to_owned()),
        }
    }
    // A name that nobody knows is left to the parser, which says so.
    let client = match client {
        Some(name) => Some(Client::from_name(&name)?),
        None => None,
    };
    let mut payload = Vec::new();
    let read = std::io::stdin().lock().take(PAYLOAD_BYTES_MAX as u64 + 1).read_to_end(&mut payload);
    Some(ExitCode::from(answer(client, read.map(|_| payload), false)))
}

/// Answers an event. One that comes from an attempt is about the folder in which that works, or about nothing.
fn answer(client: Option<Client>, payload: std::io::Result<Vec<u8>>, is_bound: bool) -> u8 {
    let answer = match (payload, std::env::current_dir()) {
        (Ok(payload), Ok(folder)) if is_bound && is_foreign(client, &payload, &folder) => {
            Answer::failed_closed("this event is about another folder than that of the attempt it comes from")
        }
        (Ok(payload), Ok(folder)) => guard::hook(client, &payload, &folder, &Ports::real(), &make_redactor),
        (Err(error), _) => Answer::failed_closed(&format!("the event could not be read: {error}")),
        (_, Err(error)) => Answer::failed_closed(&format!("the folder could not be read: {error}")),
    };
    // Whoever closed the pipes does not want to know.
    let _ = std::io::stdout().write_all(answer.stdout.as_bytes());
    let _ = std::io::stderr().write_all(answer.stderr.as_bytes());
    answer.exit
}

/// Whether an event names a folder that is not below this one. An event that cannot be read names none.
fn is_foreign(client: Option<Client>, payload: &[u8], folder: &Path) -> bool {
    let Ok(event) = Event::parse(client, payload) else { return false };
    let Some(cwd) = event.cwd else { return false };
    // A folder that is there inside only cannot be resolved; its name then has to say enough.
    let named = Path::new(&cwd);
    let steps_out = named.components().any(|part| part == std::path::Component::ParentDir);
    let real = named.canonicalize().unwrap_or_else(|_| named.to_owned());
    steps_out || !real.starts_with(folder)
}
