//! What each client can and cannot do for a guard (DS-34, DS-120, K-21, K-22).
//!
//! The table is data. What a runtime lacks is said in the prompt and enforced from outside; nothing is assumed
//! that was not seen with the client itself.

#[cfg(test)]
mod tests;

use std::fmt;

use serde::Serialize;

use super::client::Client;

/// A version of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
    pub patch: u32,
}

impl Version {
    pub const fn new(major: u32, minor: u32, patch: u32) -> Version {
        Version { major, minor, patch }
    }

    /// The first version in a text: clients print their names around it.
    pub fn find(text: &str) -> Option<Version> {
        let is_part = |c: char| c.is_ascii_digit() || c == '.';
        text.split(|c| !is_part(c)).find_map(|word| {
            let mut parts = word.trim_matches('.').split('.').map(str::parse::<u32>);
            let mut next = || parts.next()?.ok();
            Some(Version { major: next()?, minor: next()?, patch: next()? })
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// Something that a guard would like to rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// An event when a sub-agent stops, at which it can be sent back.
    StopHook,
    /// A limit of turns on the call of a sub-agent.
    TurnLimit,
    /// A limit of time on the call of a sub-agent.
    TimeLimit,
    /// A message that reaches an agent while it works.
    Inject,
    /// A way to end an agent from a hook.
    Interrupt,
    /// The transcript of a sub-agent as a file.
    Transcript,
    /// Events of agents in the background.
    BackgroundMonitoring,
    /// A door that stays shut when the hook fails.
    OnFailure,
    /// A say in whether changed settings take effect.
    ConfigChange,
    /// Hooks that run without the user having to trust them first.
    RunsUntrusted,
    /// An id that ties a call to its answer.
    CallId,
}

impl Capability {
    pub const ALL: [Capability; 11] = [
        Capability::StopHook,
        Capability::TurnLimit,
        Capability::TimeLimit,
        Capability::Inject,
        Capability::Interrupt,
        Capability::Transcript,
        Capability::BackgroundMonitoring,
        Capability::OnFailure,
        Capability::ConfigChange,
        Capability::RunsUntrusted,
        Capability::CallId,
    ];

    /// Limits that stand in the prompt when the runtime does not have them.
    pub fn belongs_in_prompt(self) -> bool {
        matches!(self, Capability::TurnLimit | Capability::TimeLimit | Capability::Inject)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Support {
    Yes,
    Limited,
    No,
}

/// One line of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    client: Client,
    capability: Capability,
    support: Support,
    /// The version that brought it, where it is known.
    since: Option<Version>,
    /// What is particular about it.
    note: &'static str,
}

const fn row(client: Client, capability: Capability, support: Support, note: &'static str) -> Row {
    Row { client, capability, support, since: None, note }
}

const ON_FAILURE_SINCE: Version = Version::new(2, 1, 295);

const TABLE: [Row; 33] = [
    row(
        Client::Claude,
        Capability::StopHook,
        Support::Yes,
        "not at the turn limit, nor on an error of the service",
    ),
    row(
        Client::Claude,
        Capability::TurnLimit,
        Support::No,
        "`maxTurns` counts in an agent's definition, not on the call",
    ),
    row(Client::Claude, Capability::TimeLimit, Support::No, ""),
    row(Client::Claude, Capability::Inject, Support::No, "`SendMessage` reaches an agent that has finished"),
    row(Client::Claude, Capability::Interrupt, Support::No, ""),
    row(
        Client::Claude,
        Capability::Transcript,
        Support::Yes,
        "one file for each sub-agent; no stable format",
    ),
    row(
        Client::Claude,
        Capability::BackgroundMonitoring,
        Support::Limited,
        "a list of running tasks at each stop",
    ),
    Row {
        since: Some(ON_FAILURE_SINCE),
        ..row(
            Client::Claude,
            Capability::OnFailure,
            Support::Yes,
            "not at stops, and not for text that is no JSON",
        )
    },
    row(Client::Claude, Capability::ConfigChange, Support::Yes, ""),
    row(Client::Claude, Capability::RunsUntrusted, Support::Yes, ""),
    row(Client::Claude, Capability::CallId, Support::Yes, "the start and stop of a sub-agent lack it"),
    row(Client::Codex, Capability::StopHook, Support::Yes, ""),
    row(Client::Codex, Capability::TurnLimit, Support::No, ""),
    row(Client::Codex, Capability::TimeLimit, Support::No, ""),
    row(Client::Codex, Capability::Inject, Support::No, ""),
    row(Client::Codex, Capability::Interrupt, Support::No, ""),
    row(Client::Codex, Capability::Transcript, Support::Yes, "one file for each sub-agent; no stable format"),
    row(
        Client::Codex,
        Capability::BackgroundMonitoring,
        Support::Limited,
        "every sub-agent works in the background",
    ),
    row(Client::Codex, Capability::OnFailure, Support::No, "a hook that fails lets everything pass"),
    row(Client::Codex, Capability::ConfigChange, Support::No, ""),
    row(Client::Codex, Capability::RunsUntrusted, Support::No, "untrusted hooks are skipped without a word"),
    row(Client::Codex, Capability::CallId, Support::Yes, ""),
    row(
        Client::Gemini,
        Capability::StopHook,
        Support::Limited,
        "a sub-agent ends by the tool `complete_task`",
    ),
    row(Client::Gemini, Capability::TurnLimit, Support::No, ""),
    row(Client::Gemini, Capability::TimeLimit, Support::No, ""),
    row(Client::Gemini, Capability::Inject, Support::No, ""),
    row(Client::Gemini, Capability::Interrupt, Support::No, ""),
    row(Client::Gemini, Capability::Transcript, Support::Limited, "of the session, not of each sub-agent"),
    row(Client::Gemini, Capability::BackgroundMonitoring, Support::No, ""),
    row(Client::Gemini, Capability::OnFailure, Support::No, "a hook that fails lets everything pass"),
    row(Client::Gemini, Capability::ConfigChange, Support::No, ""),
    row(Client::Gemini, Capability::RunsUntrusted, Support::Limited, "the folder has to be trusted"),
    row(
        Client::Gemini,
        Capability::CallId,
        Support::No,
        "tools of sub-agents are not told apart from others",
    ),
];

/// What is known of one capability in one version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    pub capability: Capability,
    pub support: Support,
    pub since: Option<Version>,
    pub note: &'static str,
}

/// What a client of some version can do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    pub client: Client,
    /// Absent when it could not be found out; then what came with some version is taken as lacking.
    pub version: Option<Version>,
    pub facts: Vec<Fact>,
    /// The tools by which work reaches a sub-agent. `*` stands for a prefix that changes.
    pub spawn_doors: &'static [&'static str],
    /// The events at which the work of a sub-agent can be verified; no single one always comes.
    pub stop_doors: &'static [&'static str],
    /// How many times in a row a stop can be refused before the client overrules it.
    pub stop_blocks_max: Option<u32>,
    /// The newest version that all this was seen with.
    pub seen_with: Version,
}

impl Capabilities {
    pub fn of(client: Client, version: Option<Version>) -> Capabilities {
        let facts = TABLE.iter().filter(|row| row.client == client).map(|row| fact(row, version)).collect();
        let (spawn_doors, stop_doors, stop_blocks_max, seen_with): (&[_], &[_], _, _) = match client {
            Client::Claude => (
                &["Agent", "Task", "SendMessage", "Workflow"],
                &["SubagentStop", "PostToolUse(Agent)", "PostToolUseFailure(Agent)", "StopFailure", "Stop"],
                Some(8),
                Version::new(2, 1, 325),
            ),
            Client::Codex => {
                (&["*spawn_agent", "*send_input"], &["SubagentStop", "Stop"], None, Version::new(0, 166, 0))
            }
            Client::Gemini => (
                &["invoke_agent"],
                &["BeforeTool(complete_task)", "AfterTool(invoke_agent)", "AfterAgent"],
                None,
                Version::new(0, 61, 0),
            ),
        };
        Capabilities { client, version, facts, spawn_doors, stop_doors, stop_blocks_max, seen_with }
    }

    pub fn get(&self, capability: Capability) -> Support {
        let fact = self.facts.iter().find(|fact| fact.capability == capability);
        fact.map_or(Support::No, |fact| fact.support)
    }

    pub fn has(&self, capability: Capability) -> bool {
        self.get(capability) == Support::Yes
    }

    /// What is not fully there, for `doctor` to say.
    pub fn lacking(&self) -> impl Iterator<Item = &Fact> {
        self.facts.iter().filter(|fact| fact.support != Support::Yes)
    }

    /// The limits that have to stand in a prompt, complete and from the start.
    pub fn for_prompt(&self) -> impl Iterator<Item = Capability> {
        self.lacking().map(|fact| fact.capability).filter(|capability| capability.belongs_in_prompt())
    }

    /// True when the version is newer than any that the table was made from.
    pub fn is_beyond_what_was_seen(&self) -> bool {
        self.version.is_some_and(|version| version > self.seen_with)
    }
}

fn fact(row: &Row, version: Option<Version>) -> Fact {
    let there = row.since.is_none_or(|since| version.is_some_and(|version| version >= since));
    let support = if there { row.support } else { Support::No };
    Fact { capability: row.capability, support, since: row.since, note: row.note }
}
