//! One hook: bytes in, an answer out. Nothing in here panics, and nothing that fails at a door passes.

use std::path::Path;
use std::path::PathBuf;

use seriatim_core::guard::client::Client;
use seriatim_core::guard::event::Door;
use seriatim_core::guard::event::Event;
use seriatim_core::guard::event::Kind;
use seriatim_core::guard::reply::Answer;
use seriatim_core::guard::reply::Reply;
use seriatim_core::roadmap::audit::Happening;

use super::Guard;
use super::GuardError;
use super::MakeRedactor;
use super::evidence::Patience;
use super::project::Project;
use super::state;
use super::step::worktree;
use crate::ports::Ports;

/// Answers one event, in a process that does nothing else. `folder` is where the hook was started, for payloads that
/// do not say where they come from.
pub fn hook(
    client: Option<Client>,
    payload: &[u8],
    folder: &Path,
    ports: &Ports,
    redactor: &MakeRedactor,
) -> Answer {
    let event = match Event::parse(client, payload) {
        Ok(event) => event,
        Err(broken) => {
            // Where nothing is guarded, nothing is refused.
            let Some(project) = Project::find(&ports.files, folder) else { return Answer::default() };
            let mut guard = Guard::new(&project, ports, redactor);
            // Whether it can be put on record does not change the answer.
            let _ = guard.note_broken(&broken.to_string());
            return Answer::to_broken(&broken);
        }
    };
    let from = event.cwd.as_deref().map_or_else(|| folder.to_owned(), PathBuf::from);
    // An agent may have gone elsewhere; the session still belongs to the project that its client names.
    let session = || Project::find(&ports.files, ports.environment.project_dir.as_deref()?);
    let Some(project) = Project::find(&ports.files, &from).or_else(session) else {
        return Answer::default();
    };
    worktree::note(&project, &event);
    let concerns = event.matters() && needs_the_book(&event);
    if !concerns && !state::is_any_edited(&project) {
        return Answer::default();
    }
    let mut guard = Guard::new(&project, ports, redactor);
    guard.patience = Patience::with(&event, ports.clock.as_ref());
    // What an agent wrote into a state file is held against the save before it, so it is seen at whatever comes next.
    let edits = guard.take_over_edits();
    let reply = edits.and_then(|()| if concerns { guard.answer(&event) } else { Ok(Reply::Pass) });
    let answer = match reply {
        Ok(reply) => reply.answer(event.client, &event.name),
        Err(error) if event.door() != Door::Elsewhere => Reply::Deny {
            reason: format!(
                "the guard of this project could not decide: {error}. Until it can, the answer is no."
            ),
        }
        .answer(event.client, &event.name),
        Err(error) => {
            let _ = guard.note_broken(&error.to_string());
            Answer { stderr: format!("seriatim: {error}"), ..Answer::default() }
        }
    };
    if let Some(book) = guard.book {
        book.leave(ports.stores.as_ref());
    }
    answer
}

/// The commonest events are told apart before anything is opened.
fn needs_the_book(event: &Event) -> bool {
    match &event.kind {
        Kind::Shell { command } => {
            let seen = seriatim_core::guard::shell::look(command);
            !seen.git.is_empty() || !seen.disarm.is_empty()
        }
        Kind::Prompt { notification, .. } => notification.is_some(),
        _ => true,
    }
}

impl Guard<'_> {
    fn answer(&mut self, event: &Event) -> Result<Reply, GuardError> {
        match &event.kind {
            Kind::Spawn(spawn) => self.spawn(event, spawn),
            Kind::Message(message) => self.message(event, message),
            Kind::Shell { command } => self.shell(command),
            Kind::Edit { paths, .. } => self.edit(event, paths),
            Kind::SubStart => self.sub_start(event),
            Kind::SubStop(stopping) => self.sub_stop(event, stopping),
            Kind::SpawnDone(done) => self.spawn_done(event, done),
            Kind::SpawnFailed { tool_use_id, error, .. } => {
                self.spawn_failed(event, tool_use_id.as_deref(), error.as_deref())
            }
            Kind::StopFailure { error, .. } => self.stop_failure(event, error.as_deref()),
            Kind::Stop(stopping) => self.stop(event, stopping),
            Kind::CompleteTask => self.complete_task(event),
            Kind::ConfigChange { file_path, .. } => self.config_change(event, file_path.as_deref()),
            Kind::SessionEnd { .. } => self.session_end(event),
            Kind::SessionStart { .. } | Kind::Prompt { .. } | Kind::OtherTool { .. } | Kind::Other => {
                Ok(Reply::Pass)
            }
        }
    }

    /// A session is over: nobody is in a hurry now, so what hooks left in the log is tidied up.
    fn session_end(&mut self, event: &Event) -> Result<Reply, GuardError> {
        self.stop_failure(event, Some("the session ended while the agent was at work"))?;
        if let Some(book) = self.book.take() {
            book.tidy()?;
        }
        Ok(Reply::Pass)
    }

    /// An event that could not be read, or not be dealt with, is on record (never with its content).
    fn note_broken(&mut self, what: &str) -> Result<(), GuardError> {
        let what = format!("an event of a client could not be dealt with: {what}");
        self.transact(|desk| {
            let event = desk.event(Happening::IntegrityIncident, "").with("what", what);
            desk.happened(&event)
        })
    }
}
