//! The hooks that the guard needs, for each client.

use serde_json::Map;
use serde_json::Value as Json;

use crate::guard::client::Client;

/// One hook of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hook {
    pub client: Client,
    pub event: &'static str,
    /// The tools at which the client asks; absent where the event has none, or all of them count.
    pub matcher: Option<&'static str>,
    pub timeout_s: u32,
    /// The client is told to stay shut when the hook fails.
    pub fails_closed: bool,
}

/// The time for a door, where somebody waits, and for a stop, where work is verified (DS-32).
const DOOR_S: u32 = 10;
const STOP_S: u32 = 30;

const CLAUDE_DOORS: &str = "Agent|Task|SendMessage|Workflow|Bash|Write|Edit|MultiEdit|NotebookEdit";
const CLAUDE_CALLS: &str = "Agent|Task|SendMessage|Workflow";
const CODEX_CALLS: &str = ".*spawn_agent|.*send_input";
const GEMINI_DOORS: &str = "invoke_agent|complete_task|run_shell_command|write_file|replace";

const fn hook(client: Client, event: &'static str, matcher: Option<&'static str>, timeout_s: u32) -> Hook {
    Hook { client, event, matcher, timeout_s, fails_closed: false }
}

const CLAUDE: [Hook; 10] = [
    Hook { fails_closed: true, ..hook(Client::Claude, "PreToolUse", Some(CLAUDE_DOORS), DOOR_S) },
    hook(Client::Claude, "PostToolUse", Some(CLAUDE_CALLS), STOP_S),
    hook(Client::Claude, "PostToolUseFailure", Some(CLAUDE_CALLS), STOP_S),
    hook(Client::Claude, "SubagentStart", None, DOOR_S),
    hook(Client::Claude, "SubagentStop", Some("*"), STOP_S),
    hook(Client::Claude, "Stop", None, STOP_S),
    hook(Client::Claude, "StopFailure", None, STOP_S),
    hook(Client::Claude, "SessionStart", None, DOOR_S),
    hook(Client::Claude, "SessionEnd", None, DOOR_S),
    Hook { fails_closed: true, ..hook(Client::Claude, "ConfigChange", None, DOOR_S) },
];

/// Codex has few tools, and puts changing prefixes before the names of some, so that it asks at all of them.
const CODEX: [Hook; 7] = [
    hook(Client::Codex, "PreToolUse", None, DOOR_S),
    hook(Client::Codex, "PostToolUse", Some(CODEX_CALLS), STOP_S),
    hook(Client::Codex, "SubagentStart", None, DOOR_S),
    hook(Client::Codex, "SubagentStop", None, STOP_S),
    hook(Client::Codex, "Stop", None, STOP_S),
    hook(Client::Codex, "SessionStart", None, DOOR_S),
    hook(Client::Codex, "SessionEnd", None, DOOR_S),
];

const GEMINI: [Hook; 5] = [
    hook(Client::Gemini, "BeforeTool", Some(GEMINI_DOORS), DOOR_S),
    hook(Client::Gemini, "AfterTool", Some("invoke_agent"), STOP_S),
    hook(Client::Gemini, "AfterAgent", None, STOP_S),
    hook(Client::Gemini, "SessionStart", None, DOOR_S),
    hook(Client::Gemini, "SessionEnd", None, DOOR_S),
];

/// The hooks of a client, in the order in which they are written.
pub fn hooks(client: Client) -> &'static [Hook] {
    match client {
        Client::Claude => &CLAUDE,
        Client::Codex => &CODEX,
        Client::Gemini => &GEMINI,
    }
}

/// The command of all hooks of a client. It is one line for a shell: a client that is too old to know a list of
/// arguments would run the bare program, and find nothing wrong with that.
pub fn command(client: Client) -> String {
    format!("seriatim hook --client {client}")
}

/// Whether a command is one of ours, of this version or another one.
pub(super) fn is_command(command: &str) -> bool {
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or_default().trim_matches(['"', '\'']);
    program.rsplit('/').next() == Some("seriatim") && words.next() == Some("hook")
}

impl Hook {
    /// The group as it stands in the settings.
    pub(super) fn group(&self) -> Json {
        let mut handler = Map::new();
        if self.client == Client::Gemini {
            // Gemini lists hooks, and lets users switch them off, by name.
            handler.insert("name".to_owned(), "seriatim".into());
        }
        handler.insert("type".to_owned(), "command".into());
        handler.insert("command".to_owned(), command(self.client).into());
        // Gemini counts in thousandths of a second.
        let timeout = if self.client == Client::Gemini { self.timeout_s * 1000 } else { self.timeout_s };
        handler.insert("timeout".to_owned(), timeout.into());
        if self.fails_closed {
            handler.insert("onFailure".to_owned(), "block".into());
        }
        let mut group = Map::new();
        if let Some(matcher) = self.matcher {
            group.insert("matcher".to_owned(), matcher.into());
        }
        group.insert("hooks".to_owned(), Json::Array(vec![Json::Object(handler)]));
        Json::Object(group)
    }
}
