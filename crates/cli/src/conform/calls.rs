//! The calls of agents, as the agents themselves wrote them down.

use std::fs;
use std::path::Path;
use std::time::Duration;
use std::time::SystemTime;

use serde_json::Value;

/// More calls than these are not read: nothing that is judged needs them.
const CALLS_MAX: u32 = 1_000;

/// One call of an agent.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) role: String,
    began: SystemTime,
    /// Nothing where it was cut off.
    over: Option<SystemTime>,
    /// What the agent was given on standard input.
    prompt: String,
    brief: Value,
    /// The manifests of snapshots that lay in the workspace when it began.
    pub(super) snapshots: Vec<String>,
}

impl Call {
    fn read(folder: &Path) -> Option<Call> {
        let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
        let time = |name: &str| fs::metadata(folder.join(name)).and_then(|data| data.modified()).ok();
        Some(Call {
            role: text("role"),
            began: time("began")?,
            over: time("over"),
            prompt: text("prompt"),
            brief: serde_json::from_str(&text("brief.json")).unwrap_or_default(),
            snapshots: text("snapshots").lines().map(str::to_owned).collect(),
        })
    }

    /// Whether these words reached the agent, on its input or in its brief.
    pub(super) fn was_told(&self, words: &str) -> bool {
        self.prompt.contains(words) || self.brief["prompt"].as_str().is_some_and(|text| text.contains(words))
    }

    /// What the brief says about earlier attempts.
    pub(super) fn feedback(&self) -> String {
        let entries = self.brief["feedback"].as_array().map(Vec::as_slice).unwrap_or_default();
        entries.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
    }
}

/// The calls of a trial, in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls {
    all: Vec<Call>,
}

impl Calls {
    /// Reads what was written down. Folders have numbers from 1 on.
    pub(super) fn read(folder: &Path) -> Calls {
        let numbered = (1..=CALLS_MAX).map(|number| folder.join(number.to_string()));
        Calls {
            all: numbered.take_while(|folder| folder.is_dir()).filter_map(|it| Call::read(&it)).collect(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn first(&self) -> Option<&Call> {
        self.all.first()
    }

    pub(super) fn of(&self, role: &str) -> Vec<&Call> {
        self.all.iter().filter(|call| call.role == role).collect()
    }

    pub(super) fn count(&self, role: &str) -> usize {
        self.of(role).len()
    }

    /// How long nothing was done between the calls of a role.
    pub(super) fn pauses(&self, role: &str) -> Vec<Duration> {
        let calls = self.of(role);
        let pause = |pair: &[&Call]| match pair {
            [one, next] => next.began.duration_since(one.over.unwrap_or(one.began)).unwrap_or_default(),
            _ => Duration::ZERO,
        };
        calls.windows(2).map(pause).collect()
    }

    /// Who was called and how often, in the order of the first calls.
    pub(super) fn in_words(&self) -> String {
        let mut roles: Vec<&str> = vec![];
        for call in &self.all {
            if !roles.contains(&call.role.as_str()) {
                roles.push(&call.role);
            }
        }
        let counted = roles.iter().map(|role| match self.count(role) {
            1 => format!("{role} was called once"),
            times => format!("{role} was called {times} times"),
        });
        let counted: Vec<String> = counted.collect();
        if counted.is_empty() { "no role was called".to_owned() } else { counted.join(", ") }
    }
}
