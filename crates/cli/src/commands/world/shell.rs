//! `seriatim world RUN --shell VIEW`

use std::io::IsTerminal;
use std::io::Write;

use serde_json::json;
use seriatim_engine::hands::process::How;
use seriatim_engine::hands::process::Spawn;
use seriatim_engine::hands::process::SpawnError;
use seriatim_engine::hands::process::Stream;
use seriatim_engine::hands::process::Watch;
use seriatim_engine::hands::terminal::run_on_terminal;
use seriatim_engine::views;
use seriatim_journal::RunInfo;

use super::find_view;
use super::refused;
use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::session::Session;
use crate::ui::Ui;

const SHELL: &str = "/bin/sh";

pub(super) fn run(context: &Context, info: &RunInfo, view: &str, command: &[String]) -> Result<Exit> {
    let ui = &context.ui;
    if command.is_empty() && !(ui.interactive() && std::io::stdout().is_terminal()) {
        return Err(CommandError::usage("a shell needs a terminal, and there is none here").hint(format!(
            "run a command in the view:  seriatim world {} --shell {view} -- COMMAND",
            info.name
        )));
    }
    if let Some(holder) = &info.holder {
        return Err(CommandError::held(format!("run {} is at work, held by {holder}", info.name))
            .hint("a view belongs to one process at a time: wait until the run rests, or cancel it"));
    }
    let mut session = Session::open(context)?;
    // Whoever wants to continue the run meanwhile is told who works in its views.
    let lease = if info.status.is_finished() { None } else { Some(session.acquire(info)?) };
    let entered = enter(&session, ui, info, view, command);
    drop(lease);
    session.close();
    entered
}

fn enter(session: &Session, ui: &Ui, info: &RunInfo, view: &str, command: &[String]) -> Result<Exit> {
    let hands = &session.hands;
    let at = find_view(hands, info, view)?;
    if !at.place.is_dir() {
        return Err(CommandError::usage(format!(
            "the folder {} that this view covers is gone",
            at.place.display()
        )));
    }
    let shell = std::env::var("SHELL").ok().filter(|shell| !shell.trim().is_empty());
    let argv =
        if command.is_empty() { vec![shell.unwrap_or_else(|| SHELL.to_owned())] } else { command.to_vec() };
    let marker = format!("{}/look-{}", info.name, std::process::id());
    let spawn = views::look_into(hands, &info.name, &at, argv, marker).map_err(refused)?;
    if command.is_empty() {
        ui.note(format!(
            "You are in view {} of run {}. Your changes stay in it; leave it with `exit`.",
            at.view, info.name
        ));
        let how = run_on_terminal(&spawn).map_err(|error| not_started(&error))?;
        // A shell ends with the code of its last command, which says nothing about this command.
        return Ok(if matches!(how, How::Exited(_)) { Exit::Good } else { Exit::NotGood });
    }
    let how = run_command(session, ui, &spawn)?;
    let code = match how {
        How::Exited(code) => Some(code),
        _ => None,
    };
    ui.document(&json!({"run": info.name, "view": at.view, "command": command, "exit": code}));
    if let Some(words) = how.in_words() {
        ui.note(format!("The command {words}."));
        return Ok(Exit::NotGood);
    }
    Ok(Exit::Good)
}

fn run_command(session: &Session, ui: &Ui, spawn: &Spawn) -> Result<How> {
    let watch = PassOn { json: ui.json };
    let ended = session.hands.processes.run(spawn, &watch).map_err(|error| not_started(&error))?;
    Ok(ended.how)
}

fn not_started(error: &SpawnError) -> CommandError {
    CommandError::not_good(format!("the view cannot be entered: {error}"))
}

/// Passes the output of a command on, line by line. In JSON mode all of it is talk.
struct PassOn {
    json: bool,
}

impl Watch for PassOn {
    fn line(&self, stream: Stream, line: &str) {
        // A reader that has gone away (`| head`) is no error of ours.
        let _ = match stream {
            Stream::Stdout if !self.json => writeln!(std::io::stdout(), "{line}"),
            _ => writeln!(std::io::stderr(), "{line}"),
        };
    }
}
