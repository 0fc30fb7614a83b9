//! A step that was started under the guard, as the guard remembers it between two hooks.

pub(super) mod worktree;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;
use seriatim_core::guard::path;
use seriatim_core::guard::usage::Usage;
use seriatim_core::hash::Hash;
use seriatim_core::roadmap::verdict::LastStop;
use seriatim_core::roadmap::verdict::Objection;
use seriatim_core::roadmap::verdict::read_objections;
use seriatim_core::time::Utc;

use super::project::Project;

/// A step that no passed gate has closed yet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OpenStep {
    /// Relative to the root of the project.
    pub step_file: String,
    pub task_id: String,
    /// The command that started it.
    pub origin: String,
    pub opened: Utc,
    pub session: Option<String>,
    /// The transcript of that session, in which sub-agents are looked for that no hook saw.
    pub transcript: Option<String>,
    pub tool_use_id: Option<String>,
    /// Once it is known.
    pub agent_id: Option<String>,
    /// Agents that worked for the step before; its bounds are still theirs.
    pub agents: Vec<String>,
    pub background: bool,
    /// The agent has come to an end, one way or another.
    pub ended: bool,
    /// The files when the agent began.
    pub base: Option<Base>,
    /// The files that it may change, where a roadmap said so and not its state file.
    pub patterns: Option<Vec<String>>,
    /// Linked worktrees in which its agents work, with the files there when they began.
    pub worktrees: BTreeMap<String, Base>,
    /// The state file as it was last seen or written.
    pub state: Option<Hash>,
    /// How often in a row its agent was sent back.
    pub sent_back: u32,
    /// The last stop validation.
    pub last_stop: Option<LastStop>,
    /// What keeps the step from being closed although its record is whole.
    #[serde(deserialize_with = "read_objections")]
    pub holds: Vec<Objection>,
    /// A commit of it passed the gate while its agent was still at work.
    pub gated: bool,
    /// Calls of further sub-agents that its agent made: those belong to the step as well.
    pub calls: Vec<String>,
    pub usage: Usage,
    /// How much of it came from the transcript of each agent.
    pub counted: BTreeMap<String, Counted>,
    pub turns: u64,
    pub invocations: u32,
    /// Gates that were green at the last stop, and the files on which they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked: Option<Checked>,
    /// Gates that a person accepted as they are, and the files for which that was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Accepted>,
    /// Gates that held a commit, and about which a person is asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub held_at_commit: Vec<String>,
}

/// Gates that were green.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Checked {
    /// All that git saw before the first of them began.
    pub tree: String,
    /// Their names, with a hash over how each was declared.
    pub green: BTreeMap<String, Hash>,
}

/// Gates that a person accepted as they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Accepted {
    pub by: String,
    pub why: String,
    pub tree: Option<String>,
    pub gates: Vec<String>,
}

/// The files when a step began.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Base {
    /// All that git sees, untracked files included.
    pub tree: String,
    pub head: Option<String>,
    /// Files that git does not see, but that matter all the same, by their hashes.
    pub sensitive: BTreeMap<String, Hash>,
    /// Repositories inside of this one in which something was changed, by the tree of their files.
    pub nested: BTreeMap<String, String>,
    /// What git ignores, with the time of its last change: worth a note when it is another one later.
    pub ignored: BTreeMap<String, u64>,
}

impl Accepted {
    /// How it is told wherever the work goes on.
    pub fn in_words(&self) -> String {
        let why = if self.why.is_empty() { "no reason was given" } else { self.why.as_str() };
        format!("accepted by {} although not green: {} ({why})", self.by, self.gates.join(", "))
    }
}

impl OpenStep {
    /// The key of its memo.
    pub fn key(&self) -> String {
        key(&self.step_file, &self.task_id)
    }

    /// Whether an agent was seen at work on it. A call that passed the door may still have been refused elsewhere.
    pub fn has_begun(&self) -> bool {
        self.agent_id.is_some() || self.base.is_some()
    }

    /// Whether its agent has come to an end without an objection.
    pub fn has_passed(&self) -> bool {
        self.ended && self.last_stop.as_ref().is_some_and(LastStop::passed)
    }

    /// Whether a person has to decide about it before anything goes on.
    pub fn is_held(&self) -> bool {
        !self.holds.is_empty()
    }

    /// What a step has from an earlier call for it. What an earlier try changed is still the step's to answer for, and
    /// whoever worked for it before is still bound by it.
    pub(super) fn after(before: Option<&OpenStep>, same_agent: bool) -> OpenStep {
        let Some(before) = before else { return OpenStep { invocations: 1, ..OpenStep::default() } };
        let is_new = |call: &String| !same_agent && !before.calls.contains(call);
        let earlier = before.tool_use_id.clone().filter(is_new);
        let calls = before.calls.iter().cloned().chain(earlier);
        let agents = before.agents.iter().cloned().chain(before.agent_id.clone());
        OpenStep {
            calls: calls.take(CALLS_MAX).collect(),
            agents: agents.take(CALLS_MAX).collect(),
            base: before.base.clone(),
            patterns: before.patterns.clone(),
            worktrees: before.worktrees.clone(),
            usage: before.usage,
            counted: before.counted.clone(),
            turns: before.turns,
            invocations: before.invocations + 1,
            ..OpenStep::default()
        }
    }

    /// How people call it.
    pub fn in_words(&self) -> String {
        format!("step {} ({})", self.task_id, self.step_file)
    }
}

/// What was counted in one transcript. It is remembered with the step, so that nothing is counted twice or not at all
/// when a process dies in between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counted {
    pub usage: Usage,
    pub turns: u64,
}

/// How many calls and agents are remembered for a step.
pub(super) const CALLS_MAX: usize = 1_000;

pub(super) const PREFIX: &str = "step:";

pub(super) fn key(step_file: &str, task_id: &str) -> String {
    format!("{PREFIX}{step_file}#{task_id}")
}

/// A state file that a prompt or a person named, as seen from the root of the project. Links may not lead out of it.
pub(super) fn inside(project: &Project, named: &str) -> Option<String> {
    let path = path::within(project.root_text(), named.trim()).filter(|path| !path.is_empty())?;
    let real = project.files.resolve(&project.root.join(&path));
    real.map_or(true, |real| real.starts_with(&project.root)).then_some(path)
}
