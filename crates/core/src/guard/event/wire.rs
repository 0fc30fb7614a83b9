//! The fields of payloads as the clients write them.

use std::fmt;

use serde::Deserialize;
use serde::de::SeqAccess;
use serde::de::Visitor;
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::BackgroundTask;
use super::Why;
use crate::guard::client::Client;
use crate::guard::lenient::maybe;
use crate::guard::usage::ClaudeUsage;

/// What may stand in a payload. A field that has an unexpected type is as good as absent, since clients change;
/// what a door cannot do without is asked for where it is used.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Payload<'a> {
    #[serde(deserialize_with = "maybe")]
    pub(super) hook_event_name: Option<String>,
    #[serde(deserialize_with = "maybe")]
    pub(super) session_id: Option<String>,
    #[serde(deserialize_with = "maybe")]
    pub(super) transcript_path: Option<String>,
    #[serde(deserialize_with = "maybe")]
    pub(super) cwd: Option<String>,
    #[serde(deserialize_with = "maybe")]
    pub(super) agent_id: Option<String>,
    #[serde(deserialize_with = "maybe")]
    pub(super) agent_type: Option<String>,
    #[serde(deserialize_with = "maybe")]
    pub(super) permission_mode: Option<String>,
    #[serde(deserialize_with = "maybe")]
    turn_id: Option<String>,
    #[serde(deserialize_with = "maybe")]
    prompt_id: Option<String>,
    #[serde(deserialize_with = "maybe")]
    model: Option<String>,
    #[serde(deserialize_with = "maybe")]
    timestamp: Option<String>,
    #[serde(deserialize_with = "maybe")]
    pub(super) tool_name: Option<String>,
    #[serde(deserialize_with = "maybe")]
    pub(super) tool_use_id: Option<String>,
    #[serde(borrow)]
    pub(super) tool_input: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) tool_response: Option<&'a RawValue>,
    #[serde(deserialize_with = "maybe")]
    pub(super) error: Option<String>,
    #[serde(deserialize_with = "maybe")]
    pub(super) is_interrupt: Option<bool>,
    #[serde(deserialize_with = "maybe")]
    pub(super) stop_hook_active: Option<bool>,
    #[serde(deserialize_with = "maybe")]
    pub(super) agent_transcript_path: Option<String>,
    #[serde(deserialize_with = "maybe")]
    pub(super) last_assistant_message: Option<String>,
    #[serde(deserialize_with = "maybe")]
    pub(super) prompt_response: Option<String>,
    #[serde(deserialize_with = "maybe")]
    pub(super) background_tasks: Option<Vec<BackgroundTask>>,
    #[serde(deserialize_with = "maybe")]
    pub(super) source: Option<String>,
    #[serde(deserialize_with = "maybe")]
    pub(super) file_path: Option<String>,
    #[serde(deserialize_with = "maybe")]
    pub(super) reason: Option<String>,
    #[serde(deserialize_with = "maybe")]
    pub(super) prompt: Option<String>,
}

/// Events that only Gemini has.
const GEMINI_EVENTS: [&str; 8] = [
    "BeforeTool",
    "AfterTool",
    "BeforeAgent",
    "AfterAgent",
    "BeforeModel",
    "AfterModel",
    "BeforeToolSelection",
    "PreCompress",
];

impl Payload<'_> {
    /// The client that writes such payloads. Claude and Codex have the same events; they differ in ids.
    pub(super) fn client(&self, name: &str) -> Client {
        if GEMINI_EVENTS.contains(&name) {
            Client::Gemini
        } else if self.turn_id.is_some() {
            Client::Codex
        } else if self.prompt_id.is_some() {
            Client::Claude
        } else if self.timestamp.is_some() {
            Client::Gemini
        } else if self.model.is_some() {
            Client::Codex
        } else {
            Client::Claude
        }
    }
}

/// Reads one object. A list would be taken for the fields in their order, so it is refused first.
pub(super) fn object<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Why> {
    match text.trim_start().bytes().next() {
        None => return Err(Why::Empty),
        Some(b'{') => {}
        Some(_) => return Err(Why::NotAnObject),
    }
    serde_json::from_str(text).map_err(|error| match error.classify() {
        Category::Eof => Why::Truncated,
        Category::Syntax => Why::Syntax { line: error.line(), column: error.column() },
        Category::Data | Category::Io => Why::Shape,
    })
}

/// What is given to the tools that call sub-agents. These fields must have the type they should have: a prompt
/// that is no text is not passed over.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct SpawnInput<'a> {
    pub(super) prompt: Option<String>,
    pub(super) message: Option<String>,
    #[serde(borrow)]
    pub(super) items: Option<&'a RawValue>,
    pub(super) script: Option<String>,
    #[serde(deserialize_with = "maybe")]
    pub(super) description: Option<String>,
    #[serde(deserialize_with = "maybe")]
    pub(super) subagent_type: Option<String>,
    #[serde(deserialize_with = "maybe")]
    pub(super) agent_type: Option<String>,
    #[serde(deserialize_with = "maybe")]
    pub(super) agent_name: Option<String>,
    #[serde(deserialize_with = "maybe")]
    pub(super) run_in_background: Option<bool>,
}

/// What is given to the tools that write to a sub-agent.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct MessageInput<'a> {
    #[serde(deserialize_with = "maybe")]
    pub(super) to: Option<String>,
    #[serde(deserialize_with = "maybe")]
    pub(super) recipient: Option<String>,
    #[serde(deserialize_with = "maybe")]
    pub(super) target: Option<String>,
    #[serde(deserialize_with = "maybe")]
    pub(super) id: Option<String>,
    #[serde(borrow)]
    pub(super) message: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) items: Option<&'a RawValue>,
}

/// One part of a message of Codex.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Item {
    #[serde(deserialize_with = "maybe")]
    pub(super) text: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ShellInput {
    pub(super) command: Option<CommandLine>,
    pub(super) cmd: Option<CommandLine>,
}

/// A command as one text, or as words.
pub(super) struct CommandLine(pub(super) String);

impl<'de> Deserialize<'de> for CommandLine {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<CommandLine, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = CommandLine;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a command")
            }

            fn visit_str<E>(self, text: &str) -> Result<CommandLine, E> {
                Ok(CommandLine(text.to_owned()))
            }

            fn visit_string<E>(self, text: String) -> Result<CommandLine, E> {
                Ok(CommandLine(text))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<CommandLine, A::Error> {
                let mut line: Vec<String> = vec![];
                while let Some(word) = seq.next_element::<String>()? {
                    line.push(format!("'{}'", word.replace('\'', r"'\''")));
                }
                Ok(CommandLine(line.join(" ")))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct EditInput {
    pub(super) file_path: Option<String>,
    pub(super) notebook_path: Option<String>,
    pub(super) path: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct PatchInput {
    pub(super) command: Option<CommandLine>,
    pub(super) input: Option<String>,
    pub(super) patch: Option<String>,
}

/// What the call of a sub-agent gave back.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct SpawnResponse<'a> {
    #[serde(deserialize_with = "maybe")]
    pub(super) status: Option<String>,
    #[serde(rename = "agentId", deserialize_with = "maybe")]
    pub(super) claude_agent_id: Option<String>,
    #[serde(rename = "agent_id", deserialize_with = "maybe")]
    pub(super) codex_agent_id: Option<String>,
    #[serde(rename = "totalTokens", deserialize_with = "maybe")]
    pub(super) tokens: Option<u64>,
    #[serde(deserialize_with = "maybe")]
    pub(super) usage: Option<ClaudeUsage>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}
