//! Requests and their outcomes: owned, serialisable, plain.
//!
//! Formats are promises: the hash of a request is taken over its JSON, so a field that is added later must be
//! left out of the JSON when it has its default, or runs that wait today could not be continued tomorrow.

mod book;
mod git;
mod scene;
mod world;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;
use seriatim_core::config::Gate;
use seriatim_core::failure::Failure;
use seriatim_core::gate::OutputQuery;
use seriatim_core::gate::OutputReading;
use seriatim_core::hash::Hash;
use seriatim_core::question::Choice;
use seriatim_core::question::Question;
use seriatim_core::report::Brief;
use seriatim_core::report::OwedVerdict;
use seriatim_core::time::Utc;
use seriatim_core::world::Isolation;
use seriatim_core::world::Network;

pub use book::*;
pub use git::*;
pub use scene::*;
pub use seriatim_core::world::Unmerged;
pub use world::*;

/// What a flow asks of the world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Request {
    /// One attempt of an agent. An intent without outcome is a crash, never taken as done.
    Agent(Box<Assignment>),
    /// A question to a person. Waits for ever.
    Ask(Question),
    /// A command whose result is evidence.
    Exec(Command),
    /// The text of a file of the workspace.
    Read(ReadFile),
    /// A whole file written, or lines appended.
    Write(WriteFile),
    /// Single fields of a YAML file set, every other byte kept.
    Edit(EditFile),
    /// Which of these files exist.
    Look { paths: Vec<String> },
    /// What is in a folder, and how many lines files have.
    Survey(Survey),
    /// Something of the repository.
    Git(GitCall),
    /// Something of the book: memory of earlier runs, state files and their audit trail.
    Book(BookCall),
    /// Conditions in CEL over some facts.
    Compute(Conditions),
    /// The time.
    Now,
    /// A pause that survives restarts: it ends `ms` after the request was journalled.
    Sleep { ms: u64 },
    /// Fresh ids in the form of the seeds, `count` of them.
    Ids(FreshIds),
    /// A fact, for projections and the audit.
    Record { fact: Value },
    /// A transition that a machine allowed.
    Go(Transition),
    /// The shape of a fork.
    Par { names: Vec<String>, limit: u32 },
    /// Waits for a signal from outside.
    Wait { signal: String },
    /// A restorable copy of a part of the workspace. One with a label is kept for people, under that name.
    Snapshot {
        scope: Vec<String>,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        label: String,
    },
    /// Brings a snapshot back.
    Restore {
        id: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        labelled: bool,
    },
    /// What bringing a snapshot with a label back would change.
    Compare { id: String },
    /// Files and copies of the workspace.
    Scene(SceneCall),
    /// The views in which agents work.
    World(WorldCall),
}

impl Request {
    /// Facts need no outcome: they ride on the commit of their turn.
    pub fn is_fact(&self) -> bool {
        matches!(self, Request::Record { .. } | Request::Go(_) | Request::Par { .. })
    }

    /// Waits for a person or another process: nothing needs to live meanwhile.
    pub fn parks(&self) -> bool {
        matches!(self, Request::Ask(_) | Request::Wait { .. })
    }

    /// One word for logs.
    pub fn name(&self) -> &'static str {
        match self {
            Request::Agent(_) => "agent",
            Request::Ask(_) => "ask",
            Request::Exec(_) => "exec",
            Request::Read(_) => "read",
            Request::Write(_) => "write",
            Request::Edit(_) => "edit",
            Request::Look { .. } => "look",
            Request::Survey(_) => "survey",
            Request::Git(_) => "git",
            Request::Book(_) => "book",
            Request::Compute(_) => "compute",
            Request::Now => "now",
            Request::Sleep { .. } => "sleep",
            Request::Ids(_) => "ids",
            Request::Record { .. } => "record",
            Request::Go(_) => "go",
            Request::Par { .. } => "par",
            Request::Wait { .. } => "wait",
            Request::Snapshot { .. } => "snapshot",
            Request::Restore { .. } => "restore",
            Request::Compare { .. } => "compare",
            Request::Scene(_) => "scene",
            Request::World(_) => "world",
        }
    }
}

/// One attempt handed to an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// Names under which the agent may be configured, most specific first; `default` is always the last resort.
    pub agents: Vec<String>,
    /// What people call this work while it goes on.
    pub title: String,
    /// The instruction. Its `run` is filled in by the engine.
    pub brief: Brief,
    /// Outputs that the report must carry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required: Vec<String>,
    /// Every criterion of the brief needs its answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub judge_all: bool,
    /// The verdict that the report owes, where the work is to judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<OwedVerdict>,
    /// What a person who does this work in an agent's place can choose; empty means done, or not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_person: Vec<PersonChoice>,
    /// A dry run: the agent works in a disposable copy, and what it would have written is only told.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rehearsal: bool,
    /// Forbidden commands, as regular expressions: what the agent's output shows of them is told beside its report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forbidden: Vec<String>,
    /// Where the agent works, relative to the workspace; empty means its root.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cwd: String,
    /// The phase of the step that this is about.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub phase: String,
    /// Nobody is started: a live session takes the assignment and hands its report in.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub attach: bool,
    /// The time in the brief holds as it is, also where it is more than the agent has otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_time: bool,
    /// A person does it, whoever else is configured.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_hand: bool,
    /// The view in which the agent works: what it writes stays there until the flow merges it. Empty means a view that
    /// is thrown away at the end of the attempt.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub view: String,
    /// Unmerged work of another view that the agent sees as if it were merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<Unmerged>,
}

/// One thing that a person who does an agent's work can choose, and the report that it makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PersonChoice {
    pub choice: Choice,
    /// The verdict of the report; empty where the choice gives none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub verdict: String,
    /// What the choice says of every criterion of the brief.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criteria_met: Option<bool>,
    /// Outputs that the choice stands for.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub outputs: serde_json::Map<String, Value>,
    /// The name of the output that the person's words become, besides `answer`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub words_as: String,
}

impl PersonChoice {
    /// Returns a choice that a role tells from the others by its id, in the output `choice`.
    pub fn told_by_id(choice: Choice) -> PersonChoice {
        let mut made = PersonChoice::new(choice);
        made.outputs.insert("choice".to_owned(), made.choice.id.clone().into());
        made
    }

    pub fn new(choice: Choice) -> PersonChoice {
        PersonChoice {
            choice,
            verdict: String::new(),
            criteria_met: None,
            outputs: serde_json::Map::new(),
            words_as: String::new(),
        }
    }
}

/// Where a report carries the forbidden commands that the agent's output shows.
pub const FORBIDDEN: &str = "forbidden_commands";

/// Where a report that a live session handed in tells its own file, where that lies in the workspace.
pub const HANDED_IN: &str = "handed_in_from";

/// Where a report of a dry run tells what would have been written.
pub const WOULD_WRITE: &str = "would_write";

/// A command that the engine runs itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Command {
    pub argv: Vec<String>,
    /// Relative to the workspace; empty means its root.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cwd: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stdin: String,
    /// Names of variables that are passed on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// It is a check: what it writes is thrown away. Absent for a command that is run for its effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
}

/// How a check is kept apart, and what it looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Its caches are kept under this name for the next time.
    pub name: String,
    /// Absent means the best that works on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Isolation>,
    #[serde(default, skip_serializing_if = "Network::is_host")]
    pub network: Network,
    /// A command that is run in the same view first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<String>,
    /// Unmerged work that it looks at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<Unmerged>,
    /// A commit follows: of all files that differ from the last commit it sees only these as they are, and the others
    /// as that commit has them. Absent where no commit follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ours: Option<Vec<String>>,
    /// Files that are told with the result where the check itself wrote them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<String>,
    /// What is looked for in its output, all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<OutputQuery>,
}

impl Check {
    /// Returns a check with the best isolation that works.
    pub fn named(name: &str) -> Check {
        Check { name: name.to_owned(), ..Check::default() }
    }

    /// Returns the same check under another name.
    #[must_use]
    pub fn under(&self, name: &str) -> Check {
        Check { name: name.to_owned(), ..self.clone() }
    }

    /// Returns a check of the configuration under its name.
    pub fn of(name: &str, gate: &Gate) -> Check {
        Check {
            name: name.to_owned(),
            isolation: gate.isolation,
            network: gate.network,
            setup: gate.setup.clone(),
            ..Check::default()
        }
    }
}

/// What a command did: evidence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ran {
    /// Absent when a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    /// Over both outputs, as they were kept.
    pub output: Option<Hash>,
    pub duration_ms: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// The file with the output that did not fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// For each report of a check its text, where the check wrote it in this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reports: Option<Vec<Option<String>>>,
    /// What the whole output of a check showed, that part included which was not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<OutputReading>,
}

impl Ran {
    pub fn ok(&self) -> bool {
        self.code == Some(0)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReadFile {
    pub path: String,
}

/// A file's text as it was when it was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Text {
    pub text: String,
    /// Of the bytes on disk, before anything was redacted.
    pub hash: Hash,
}

/// What must be true of a file before it is replaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expect {
    #[default]
    Any,
    Absent,
    Hash(Hash),
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WriteFile {
    pub path: String,
    pub text: String,
    #[serde(default)]
    pub expect: Expect,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub append: bool,
    /// Other tools rely on it: it is on the disk before the flow goes on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub durable: bool,
}

/// One field to set: the way to it, and its new value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SetField {
    pub path: Vec<String>,
    pub value: Value,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EditFile {
    pub path: String,
    pub set: Vec<SetField>,
    /// What the file is believed to hold; another content is edited all the same, and told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub believed: Option<Hash>,
}

/// What came of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edited {
    pub hash: Hash,
    /// Somebody else had changed the file since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub foreign: bool,
}

/// A look at the workspace without the content of its files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Survey {
    /// Folders whose entries are wanted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<String>,
    /// Files whose number of lines is wanted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

/// What a look found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Surveyed {
    /// Names in each folder that was asked for, sorted; none where there is no such folder.
    pub folders: Vec<Vec<String>>,
    /// Lines of each file that was asked for; nothing where it is not there or not text.
    pub files: Vec<Option<u64>>,
}

/// Conditions to compute, and what they are about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    pub conditions: Vec<String>,
    /// The variables by name.
    pub about: serde_json::Map<String, Value>,
}

/// A condition that was computed. What cannot be computed never holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Computed {
    Holds(bool),
    Unknown(String),
}

/// Ids such as `EXEC-20260118-143052`: the second of now, or the next free one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FreshIds {
    pub prefix: String,
    /// Where files of that id would lie; a file that is there already makes its id taken.
    pub folder: String,
    pub extension: String,
    pub count: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Transition {
    pub machine: String,
    pub entity: String,
    pub from: String,
    pub to: String,
    pub trigger: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Value>,
}

/// A signal that ended a wait.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Signal {
    pub by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    pub at: Utc,
}

/// The outcome of most effects: what was found, or a classified failure.
pub type Done<T> = Result<T, Failure>;
