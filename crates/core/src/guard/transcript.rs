//! Transcripts: the first prompt, what the work cost, and which sub-agents it names (DS-36, DS-37, DS-68, E-74).
//!
//! A transcript is read line by line and never twice: a [`Scan`] remembers how far it came and takes the next
//! piece. The formats are the clients' own and not promised by them, so a line that says nothing known is passed
//! over, and one that cannot be read is counted.

mod claude;
mod codex;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::collections::VecDeque;

use serde::Deserialize;
use serde::Serialize;

use super::lenient;
use super::lenient::maybe;
use super::usage::Usage;

/// A line that is longer is passed over: pictures and whole files are in such lines, no prompts.
pub const LINE_BYTES_MAX: usize = 16 << 20;

/// How many calls are remembered to notice lines that speak of the same one again.
const CALLS_REMEMBERED_MAX: usize = 64;

/// How many sub-agents are kept. A session that has more is not reconciled by name.
const AGENTS_MAX: usize = 10_000;

/// A reading of one transcript, as far as it came.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Scan {
    /// Where the next piece begins: behind the last whole line.
    pub offset: u64,
    /// Lines that were read, and those among them that are no JSON objects or too long.
    pub lines: u64,
    pub unreadable: u64,
    /// The first prompt: of the user, or of whoever called the sub-agent.
    pub prompt: Option<String>,
    /// The sub-agent whose transcript this is.
    pub agent_id: Option<String>,
    pub usage: Usage,
    /// Answers of the model.
    pub turns: u64,
    pub model: Option<String>,
    /// Sub-agents that the transcript names, by id.
    pub agents: BTreeMap<String, Named>,
    /// Calls of sub-agents that were not answered yet: the tool of each by the id of the call.
    pub calls: BTreeMap<String, String>,
    /// True while the rest of a line that is too long is passed over.
    skipping: bool,
    recent: VecDeque<(String, Usage)>,
    /// The last total of a client that counts up.
    counted: Usage,
}

/// What a transcript says of a sub-agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Named {
    pub tool_use_id: Option<String>,
    pub status: Option<String>,
    pub tokens: Option<u64>,
}

/// Why a transcript gives no prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPrompt {
    #[error("the transcript is empty")]
    Empty,
    #[error("no line of the transcript is of type user")]
    NoUserLine,
    #[error("the transcript cannot be read ({unreadable} of {lines} lines)")]
    Unreadable { unreadable: u64, lines: u64 },
}

impl Scan {
    /// Takes in what stands at [`Scan::offset`], and says how many bytes of it are done with. The rest is a line
    /// without an end: it is to be given again, with more behind it. Unless the file ends there, a piece should
    /// be longer than [`LINE_BYTES_MAX`].
    pub fn feed(&mut self, piece: &[u8]) -> usize {
        let mut done = 0;
        while let Some(rest) = piece.get(done..)
            && let Some(length) = rest.iter().position(|byte| *byte == b'\n')
        {
            let line = rest.get(..length).unwrap_or_default();
            if !std::mem::take(&mut self.skipping) {
                self.line(line);
            }
            done += length + 1;
        }
        if self.skipping || piece.len() - done > LINE_BYTES_MAX {
            if !std::mem::replace(&mut self.skipping, true) {
                self.lines += 1;
                self.unreadable += 1;
            }
            done = piece.len();
        }
        self.offset += done as u64;
        done
    }

    /// The same reading with a last line that has no end, for a file that will not grow any more. What is left of
    /// a torn line counts as unreadable.
    #[must_use]
    pub fn ended(&self, rest: &[u8]) -> Scan {
        let mut scan = self.clone();
        if !rest.trim_ascii().is_empty() && !scan.skipping {
            scan.line(rest);
        }
        scan
    }

    /// The first prompt, or why there is none.
    pub fn first_prompt(&self) -> Result<&str, NoPrompt> {
        let Scan { lines, unreadable, .. } = *self;
        match &self.prompt {
            Some(prompt) => Ok(prompt),
            None if lines == 0 => Err(NoPrompt::Empty),
            None if unreadable > 0 => Err(NoPrompt::Unreadable { unreadable, lines }),
            None => Err(NoPrompt::NoUserLine),
        }
    }

    fn line(&mut self, bytes: &[u8]) {
        if bytes.trim_ascii().is_empty() {
            return;
        }
        self.lines += 1;
        let text = if bytes.len() > LINE_BYTES_MAX { "".into() } else { lenient::text(bytes) };
        let Some(line) = lenient::object::<claude::Line<'_>>(&text) else {
            self.unreadable += 1;
            return;
        };
        match &line.payload {
            Some(payload) => codex::take(self, line.what.as_deref().unwrap_or_default(), payload.get()),
            None => claude::take(self, &line),
        }
    }

    fn take_prompt(&mut self, text: impl FnOnce() -> Option<String>) {
        if self.prompt.is_none() {
            self.prompt = text();
        }
    }

    /// Counts the answer of a call. Several lines speak of the same call, with what was known when they were
    /// written.
    fn count(&mut self, id: Option<String>, usage: Usage) {
        let known = id.as_ref().and_then(|id| self.recent.iter_mut().find(|(known, _)| known == id));
        if let Some((_, before)) = known {
            let now = before.max(usage);
            self.usage = self.usage.plus(now.minus(*before));
            *before = now;
            return;
        }
        self.turns += 1;
        self.usage = self.usage.plus(usage);
        if let Some(id) = id {
            if self.recent.len() == CALLS_REMEMBERED_MAX {
                self.recent.pop_front();
            }
            self.recent.push_back((id, usage));
        }
    }

    fn name_agent(&mut self, id: String, tell: impl FnOnce(&mut Named)) {
        if self.agents.len() >= AGENTS_MAX && !self.agents.contains_key(&id) {
            return;
        }
        let named = self.agents.entry(id).or_default();
        tell(named);
        if let Some(call) = &named.tool_use_id {
            self.calls.remove(call);
        }
    }

    fn call(&mut self, id: String, tool: String) {
        if self.calls.len() < AGENTS_MAX {
            self.calls.insert(id, tool);
        }
    }
}

/// The file that Claude keeps beside the transcript of a sub-agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Meta {
    #[serde(deserialize_with = "maybe")]
    pub agent_type: Option<String>,
    #[serde(deserialize_with = "maybe")]
    pub description: Option<String>,
    #[serde(deserialize_with = "maybe")]
    pub tool_use_id: Option<String>,
    #[serde(deserialize_with = "maybe")]
    pub spawn_depth: Option<u32>,
    #[serde(deserialize_with = "maybe")]
    pub finished: Option<bool>,
}

impl Meta {
    pub fn parse(bytes: &[u8]) -> Option<Meta> {
        lenient::object(&lenient::text(bytes))
    }

    /// The sub-agent to which such a file belongs, by the file's name.
    pub fn agent_of(file_name: &str) -> Option<&str> {
        let name = file_name.strip_suffix(".meta.json").or_else(|| file_name.strip_suffix(".jsonl"))?;
        name.strip_prefix("agent-").filter(|id| !id.is_empty())
    }
}
