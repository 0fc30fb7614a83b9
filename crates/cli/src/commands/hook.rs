//! `seriatim hook`

use seriatim_engine::ports::Ports;
use std::ffi::OsString;
use std::io::Read;
use std::io::Write;
use std::process::ExitCode;

use seriatim_core::guard::client::Client;
use seriatim_core::guard::event::PAYLOAD_BYTES_MAX;
use seriatim_core::guard::reply::Answer;
use seriatim_engine::guard;

use crate::args::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::guard::parse_client;
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
pub(crate) fn run(_context: &Context, command: &Hook) -> Result<Exit> {
    let code = answer(command.client);
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
    Some(ExitCode::from(answer(client)))
}

fn answer(client: Option<Client>) -> u8 {
    let mut payload = Vec::new();
    let read = std::io::stdin().lock().take(PAYLOAD_BYTES_MAX as u64 + 1).read_to_end(&mut payload);
    let answer = match (read, std::env::current_dir()) {
        (Ok(_), Ok(folder)) => guard::hook(client, &payload, &folder, &Ports::real(), &make_redactor),
        (Err(error), _) => Answer::failed_closed(&format!("the event could not be read: {error}")),
        (_, Err(error)) => Answer::failed_closed(&format!("the folder could not be read: {error}")),
    };
    // Whoever closed the pipes does not want to know.
    let _ = std::io::stdout().write_all(answer.stdout.as_bytes());
    let _ = std::io::stderr().write_all(answer.stderr.as_bytes());
    answer.exit
}
