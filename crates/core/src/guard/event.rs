//! What a client says at a hook, as one model for all clients (DS-33, DS-35, DS-122).
//!
//! A payload is read in one pass over its bytes; only the few fields that matter are kept, and what a tool takes
//! or gave back is read only where it is of interest. What cannot be read is [`Broken`].

mod broken;
mod script;
mod tool;
mod wire;

#[cfg(test)]
mod tests;

pub use broken::Broken;
pub use broken::Door;
pub use broken::Untrusted;
pub use broken::Why;

use super::client::Client;
use super::lenient;
use super::path;
use super::usage::Usage;

/// The largest payload that is read. Callers need not take more than one byte above it from the pipe: the rest
/// would be refused all the same, as [`Why::TooLarge`], and a door stays shut.
pub const PAYLOAD_BYTES_MAX: usize = 128 << 20;

/// One event of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub client: Client,
    /// The event's name as the client says it.
    pub name: String,
    pub session_id: Option<String>,
    pub transcript_path: Option<String>,
    pub cwd: Option<String>,
    /// The sub-agent in which the event happened; absent in the main conversation.
    pub agent_id: Option<String>,
    pub agent_type: Option<String>,
    pub permission_mode: Option<String>,
    pub kind: Kind,
}

/// What happened, or is about to.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A sub-agent is about to be called.
    Spawn(Spawn),
    /// More work is about to be given to a sub-agent that exists.
    Message(Message),
    /// A command line is about to run.
    Shell {
        command: String,
    },
    /// Files are about to be written.
    Edit {
        tool: String,
        paths: Vec<String>,
    },
    /// A sub-agent of Gemini is about to report, which is how it ends.
    CompleteTask,
    /// Another tool is about to run.
    OtherTool {
        tool: String,
    },
    /// The call of a sub-agent came back: with its report, or at once while it works on.
    SpawnDone(SpawnDone),
    SpawnFailed {
        tool: String,
        tool_use_id: Option<String>,
        error: Option<String>,
        interrupted: bool,
    },
    SubStart,
    SubStop(Stopping),
    /// The main conversation is about to end its turn.
    Stop(Stopping),
    /// A turn was ended by an error of the model's service.
    StopFailure {
        error: Option<String>,
        last_message: Option<String>,
    },
    ConfigChange {
        source: Option<String>,
        file_path: Option<String>,
    },
    SessionStart {
        source: Option<String>,
    },
    SessionEnd {
        reason: Option<String>,
    },
    /// A prompt of the user, or the news that a background task ended, which comes the same way.
    Prompt {
        text: String,
        notification: Option<Notification>,
    },
    /// Nothing that is of interest here.
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spawn {
    pub tool: String,
    pub tool_use_id: Option<String>,
    /// The instructions: one for each sub-agent whose prompt can be seen.
    pub prompts: Vec<String>,
    /// True when there may be prompts that cannot be seen: a workflow that computes them or lies in a file.
    pub opaque: bool,
    pub background: bool,
    pub description: Option<String>,
    pub agent_type: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub tool: String,
    pub tool_use_id: Option<String>,
    pub to: Option<String>,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SpawnDone {
    pub tool: String,
    pub tool_use_id: Option<String>,
    pub agent_id: Option<String>,
    pub status: SpawnStatus,
    /// The instructions that were given, for clients that do not say which call it was.
    pub prompt: Option<String>,
    pub tokens: Option<u64>,
    pub usage: Option<Usage>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpawnStatus {
    Completed,
    /// It works on in the background.
    Launched,
    Other(String),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stopping {
    /// True when an earlier stop of the same turn was refused.
    pub stop_hook_active: bool,
    pub agent_transcript_path: Option<String>,
    pub last_message: Option<String>,
    /// Absent when the client does not say.
    pub background_tasks: Option<Vec<BackgroundTask>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(default)]
pub struct BackgroundTask {
    #[serde(deserialize_with = "lenient::maybe")]
    pub id: Option<String>,
    /// `subagent` for sub-agents.
    #[serde(rename = "type", deserialize_with = "lenient::maybe")]
    pub what: Option<String>,
    #[serde(deserialize_with = "lenient::maybe")]
    pub status: Option<String>,
    #[serde(deserialize_with = "lenient::maybe")]
    pub agent_type: Option<String>,
}

impl BackgroundTask {
    pub fn is_running_agent(&self) -> bool {
        self.what.as_deref() == Some("subagent") && self.status.as_deref() == Some("running")
    }
}

/// The news that a background task ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    pub task_id: String,
    pub tool_use_id: Option<String>,
    pub status: Option<String>,
}

impl Event {
    /// Reads a payload. Without a client it is told from the payload itself.
    pub fn parse(client: Option<Client>, bytes: &[u8]) -> Result<Event, Broken> {
        read(client, bytes).map_err(|why| Broken { why, door: Door::scan(bytes) })
    }

    /// Whether the client waits here for leave to go on.
    pub fn door(&self) -> Door {
        Door::of(&self.name)
    }

    /// Whether anything may depend on the event. The others cost no more than the reading.
    pub fn matters(&self) -> bool {
        !matches!(self.kind, Kind::OtherTool { .. } | Kind::Other)
    }

    /// Says whether the event may be believed: it has the name it was expected under (where one was), and it
    /// happened inside of the project. Symbolic links are for the caller to resolve beforehand.
    pub fn verify(&self, expected: Option<&str>, root: &str) -> Result<(), Untrusted> {
        if let Some(expected) = expected.filter(|expected| *expected != self.name) {
            return Err(Untrusted::Name { said: self.name.clone(), expected: expected.to_owned() });
        }
        let cwd = self.cwd.as_deref().ok_or(Untrusted::NoFolder)?;
        let elsewhere = || Untrusted::Elsewhere { cwd: cwd.to_owned(), root: root.to_owned() };
        if !cwd.starts_with('/') || path::within(root, cwd).is_none() {
            return Err(elsewhere());
        }
        Ok(())
    }
}

impl Notification {
    /// Finds the news in a text. The client writes it as tags; the first such block counts.
    pub fn find(text: &str) -> Option<Notification> {
        let (_, block) = text.split_once("<task-notification>")?;
        let block = block.split_once("</task-notification>").map_or(block, |(block, _)| block);
        let tag = |name: &str| {
            let (_, rest) = block.split_once(&format!("<{name}>"))?;
            let (value, _) = rest.split_once(&format!("</{name}>"))?;
            let value = value.trim();
            (!value.is_empty()).then(|| value.to_owned())
        };
        Some(Notification {
            task_id: tag("task-id")?,
            tool_use_id: tag("tool-use-id"),
            status: tag("status"),
        })
    }
}

fn read(client: Option<Client>, bytes: &[u8]) -> Result<Event, Why> {
    if bytes.len() > PAYLOAD_BYTES_MAX {
        return Err(Why::TooLarge { bytes: bytes.len(), bytes_max: PAYLOAD_BYTES_MAX });
    }
    let text = lenient::text(bytes);
    let payload: wire::Payload<'_> = wire::object(&text)?;
    let name = payload.hook_event_name.clone().filter(|name| !name.is_empty()).ok_or(Why::Nameless)?;
    let client = client.unwrap_or_else(|| payload.client(&name));
    let kind = tool::kind(client, &name, &payload)?;
    let mut event = Event {
        client,
        name,
        session_id: payload.session_id,
        transcript_path: payload.transcript_path,
        cwd: payload.cwd,
        agent_id: payload.agent_id,
        agent_type: payload.agent_type,
        permission_mode: payload.permission_mode,
        kind,
    };
    for field in [&mut event.session_id, &mut event.transcript_path, &mut event.cwd, &mut event.agent_id] {
        // An empty id or path says as little as none.
        field.take_if(|value| value.is_empty());
    }
    Ok(event)
}
