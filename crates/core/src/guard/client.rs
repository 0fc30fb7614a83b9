//! The clients whose sessions can be guarded.

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

/// A program in which agents live, and which asks at its hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Client {
    Claude,
    Codex,
    Gemini,
}

impl Client {
    pub const ALL: [Client; 3] = [Client::Claude, Client::Codex, Client::Gemini];

    /// The name on the command line and in records.
    pub fn name(self) -> &'static str {
        match self {
            Client::Claude => "claude",
            Client::Codex => "codex",
            Client::Gemini => "gemini",
        }
    }

    pub fn from_name(name: &str) -> Option<Client> {
        Client::ALL.into_iter().find(|client| client.name() == name)
    }

    /// The settings file of a project, relative to its root.
    pub fn settings_path(self) -> &'static str {
        match self {
            Client::Claude => ".claude/settings.json",
            Client::Codex => ".codex/hooks.json",
            Client::Gemini => ".gemini/settings.json",
        }
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
