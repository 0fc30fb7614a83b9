//! `seriatim.toml`: who does the work, which checks are run, and what must never be written down.
//!
//! Reading never stops at the first mistake: it gives what could be read together with every finding. A
//! configuration with errors must not be used, since an agent that could not be read is left out and its role
//! would quietly go to the default agent.

mod entries;
mod pinned;
mod reader;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;
use toml::de::DeTable;

use crate::evidence::coverage::Threshold;
use crate::finding::Finding;
use crate::finding::Place;
use crate::world::Isolation;
use crate::world::Network;

pub use pinned::Difference;
pub use pinned::PinnedConfig;
pub use pinned::PinnedScript;
use reader::Reader;

/// How long an agent may work when the configuration does not say.
pub const AGENT_TIMEOUT_MS: u64 = 30 * 60_000;
/// How long an agent has to end by itself once it is told to.
pub const AGENT_GRACE_MS: u64 = 5_000;
/// The agent that stands in for every role without one of its own.
pub const DEFAULT_AGENT: &str = "default";

/// What an agent is, and what that kind of agent needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A program that reads its brief and writes a report.
    Command { argv: Vec<String> },
    /// Answers from a file: for tests, demos and rehearsals.
    Scripted { script: String },
    /// A person does the work.
    Human,
}

/// What one attempt may consume.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    pub usd: Option<f64>,
    pub tokens: Option<u64>,
    pub turns: Option<u32>,
}

/// One table of `[agents]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    pub kind: Kind,
    pub timeout_ms: u64,
    /// Whether the configuration says how long it may work.
    #[serde(default)]
    pub has_timeout: bool,
    pub grace_ms: u64,
    /// The names of the environment variables that are passed on; everything else is withheld.
    #[serde(default)]
    pub env: Vec<String>,
    #[serde(default)]
    pub model: Option<String>,
    /// The agent that is meant by "a different agent".
    #[serde(default)]
    pub fallback: Option<String>,
    #[serde(default)]
    pub budget: Budget,
    /// How far it is kept apart; absent means the best that works on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Isolation>,
    #[serde(default, skip_serializing_if = "Network::is_host")]
    pub network: Network,
}

impl Agent {
    /// An agent of `kind` with the defaults of the house.
    pub fn new(kind: Kind) -> Agent {
        Agent {
            kind,
            timeout_ms: AGENT_TIMEOUT_MS,
            has_timeout: false,
            grace_ms: AGENT_GRACE_MS,
            env: vec![],
            model: None,
            fallback: None,
            budget: Budget::default(),
            isolation: None,
            network: Network::Host,
        }
    }
}

/// How a measured value is compared with its threshold (K-51).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Comparator {
    #[serde(rename = ">=")]
    AtLeast,
    #[serde(rename = ">")]
    MoreThan,
    #[serde(rename = "<=")]
    AtMost,
    #[serde(rename = "<")]
    LessThan,
}

impl Comparator {
    /// Returns the sign that the configuration uses.
    pub fn sign(self) -> &'static str {
        match self {
            Comparator::AtLeast => ">=",
            Comparator::MoreThan => ">",
            Comparator::AtMost => "<=",
            Comparator::LessThan => "<",
        }
    }
}

/// One table of `[gates]`: a check that the engine runs itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Gate {
    pub command: Vec<String>,
    /// A smaller run, for when the whole one crashed instead of failing; `{files}` stands for the changed files.
    pub subset: Vec<String>,
    pub timeout_ms: Option<u64>,
    /// Exit codes that are good; empty means 0 alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ok_exit: Vec<i32>,
    /// A regular expression on the output that says why it failed.
    pub expect: Option<String>,
    /// The command around it, such as that of a container (OC-98): it is put before `command` and `subset`. Empty on
    /// the host.
    pub within: Vec<String>,
    /// The names of the environment variables that are passed on beside the usual ones.
    pub env: Vec<String>,
    /// Where the measured value stands: a regular expression on the output, or a report file.
    pub value: Option<String>,
    pub threshold: Option<f64>,
    pub comparator: Option<Comparator>,
    /// How far it is kept apart; absent means the best that works on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Isolation>,
    #[serde(skip_serializing_if = "Network::is_host")]
    pub network: Network,
    /// A command that is run in the gate's view first, such as one that installs dependencies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<String>,
}

impl Gate {
    /// Returns everything that is run, word by word.
    pub fn words(&self) -> impl Iterator<Item = &String> {
        self.within.iter().chain(&self.command)
    }

    /// Returns the exit codes that are good.
    pub fn good_exits(&self) -> Vec<i32> {
        if self.ok_exit.is_empty() { vec![0] } else { self.ok_exit.clone() }
    }

    /// Returns the threshold of its measured value as it was written; `usual` where no comparator is.
    pub fn limit(&self, usual: Comparator) -> Option<Threshold> {
        // The shortest text of a number has the digits that were written.
        let percent = self.threshold?.to_string().parse().ok()?;
        Some(Threshold { comparator: self.comparator.unwrap_or(usual), percent })
    }
}

/// `[worlds]`: what views of the workspace share with the machine, and where their layers are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Worlds {
    /// Folders that are passed through, read-write: of the workspace, or absolute ones.
    pub share: Vec<String>,
    /// The folder of the layers, where the usual place does not do.
    pub dir: Option<String>,
}

impl Worlds {
    pub fn is_default(&self) -> bool {
        *self == Worlds::default()
    }
}

/// `[process]`: what process runs need beyond their documents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Process {
    /// The file with the project's principles.
    pub principles: Option<String>,
    /// A word about the progress is due after this many steps.
    pub progress_every: u32,
    /// Who stands in records as the one that carried the process out.
    pub actor: String,
}

impl Default for Process {
    fn default() -> Process {
        Process { principles: None, progress_every: 3, actor: "ai:claude".to_owned() }
    }
}

/// The configuration of a workspace. The default is that of a workspace without a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Config {
    pub agents: BTreeMap<String, Agent>,
    pub gates: BTreeMap<String, Gate>,
    /// Regular expressions for secrets that only this workspace knows.
    pub redact: Vec<String>,
    pub process: Process,
    pub cycle: Cycle,
    pub guard: Guard,
    pub roadmap: Roadmap,
    pub actions: Actions,
    #[serde(skip_serializing_if = "Worlds::is_default")]
    pub worlds: Worlds,
    /// Tables of dialects that read them themselves.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub others: BTreeMap<String, serde_json::Value>,
}

impl Config {
    /// Whether the configuration names this file, or a folder that it is in, as something that steers runs: a document, or
    /// the program or script of an agent.
    pub fn names(&self, path: &str) -> bool {
        let documents = [&self.process.principles, &self.guard.phases, &self.guard.templates];
        let of_agents = self.agents.values().flat_map(|agent| match &agent.kind {
            Kind::Command { argv } => argv.as_slice(),
            Kind::Scripted { script } => std::slice::from_ref(script),
            Kind::Human => &[],
        });
        let is_it = |named: &String| {
            let named = named.strip_prefix("./").unwrap_or(named).trim_end_matches('/');
            path.strip_prefix(named).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        documents.into_iter().flatten().chain(of_agents).filter(|named| !named.is_empty()).any(is_it)
    }
}

/// `[guard]`: what the guard of live sessions needs beyond its documents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Guard {
    /// The file with the project's own list of phases.
    pub phases: Option<String>,
    /// The folder with the project's own templates.
    pub templates: Option<String>,
    /// After this time without news work counts as stale.
    pub stale_ms: Option<u64>,
}

/// `[roadmap]`: what the steps of roadmaps need beyond their documents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Roadmap {
    /// Whether an agent is called once for the whole step instead of once for each phase.
    pub whole_steps: bool,
    /// Whether finished work is pushed, once a person has approved it.
    pub push: bool,
    /// The program through which acceptance tests have to go.
    pub entry_point: Option<String>,
    /// The command that checks the tests by changing the code; `{files}` stands for its scope.
    pub mutation: Vec<String>,
    /// Whether a closing pass follows the last step.
    pub finalize: bool,
    /// Whether steps may still be named by the path of their files.
    pub step_files: bool,
    /// How many steps one agent may carry out at the same time.
    pub concurrency: Option<u32>,
}

impl Default for Roadmap {
    fn default() -> Roadmap {
        Roadmap {
            whole_steps: false,
            push: false,
            entry_point: None,
            mutation: vec![],
            finalize: true,
            step_files: false,
            concurrency: None,
        }
    }
}

/// `[actions]`: what actions need beyond their documents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Actions {
    /// By the ending of a file, the command that checks its syntax; `{file}` stands for it.
    pub syntax: BTreeMap<String, Vec<String>>,
    /// Words by which the solution is known, which do not belong into the framework.
    pub solution: Vec<String>,
    /// Shapes of personal data that are left in logs.
    pub pii_off: Vec<String>,
}

/// `[cycle]`: what cycles need beyond their documents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cycle {
    /// The command that is run for every alert; the alert's name and a sentence are its last two arguments.
    pub alert: Vec<String>,
}

impl Config {
    /// Reads `text`, and says everything that is wrong with it, in the order of the file.
    pub fn read(text: &str) -> (Config, Vec<Finding>) {
        Config::read_with(text, &[])
    }

    /// The same, where dialects know further tables.
    pub fn read_with(text: &str, tables: &[&str]) -> (Config, Vec<Finding>) {
        let mut reader = Reader::new(text);
        let (table, errors) = DeTable::parse_recoverable(text);
        let config = if errors.is_empty() {
            entries::config(&mut reader, table.get_ref(), tables)
        } else {
            // What stands around a broken line is guesswork, and findings about a guess would mislead.
            reader.syntax(&errors);
            Config::default()
        };
        (config, reader.into_findings())
    }

    /// The agent for whoever goes by `names` (a role, a step ...): the first name that has one, else the
    /// default. Case does not matter, nor does what separates the words: `Code Reviewer` is `code-reviewer`.
    pub fn agent(&self, names: &[String]) -> Option<(&str, &Agent)> {
        let default = DEFAULT_AGENT.to_owned();
        names.iter().chain([&default]).find_map(|wanted| {
            let wanted = kebab(wanted);
            self.agents
                .iter()
                .find(|(name, _)| !wanted.is_empty() && kebab(name) == wanted)
                .map(|(name, agent)| (name.as_str(), agent))
        })
    }
}

/// Returns the place of a value in a configuration, by the names of its tables and its own; the top where it is not there.
pub fn place_of(text: &str, way: &[&str]) -> Place {
    let (table, _) = DeTable::parse_recoverable(text);
    reader::place_of(text, table.get_ref(), way)
}

/// Everything that is wrong with `text` as a configuration.
pub fn check(text: &str) -> Vec<Finding> {
    check_with(text, &[])
}

/// The same, where dialects know further tables.
pub fn check_with(text: &str, tables: &[&str]) -> Vec<Finding> {
    Config::read_with(text, tables).1
}

/// The form in which names are compared: words in lower case with hyphens between them. A change from small to
/// capital letters inside a word does not separate, so that `DevOps` is `devops`.
fn kebab(name: &str) -> String {
    name.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect::<Vec<_>>()
        .join("-")
}
