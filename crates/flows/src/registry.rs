//! Which flows there are, by name and version.
//!
//! A run is pinned to the version it was started with; a version stays here as long as a run may need it.

use std::future::Future;
use std::pin::Pin;

use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::finding::Finding;
use seriatim_core::projection::NoFiles;
use seriatim_core::projection::Projector;
use seriatim_core::time::Utc;

use crate::Cx;
use crate::action;
use crate::cycle;
use crate::process;
use crate::rehearsal;
use crate::roadmap;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    Completed,
    Blocked,
    Failed,
    Cancelled,
}

/// What a flow gives back: journalled as the last entry of its run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    pub status: End,
    /// Whether the outcome is what one hopes for: decides the exit code.
    pub good: bool,
    /// As the dialect defines it.
    pub outcome: Value,
    /// The sentence for people: what happened and what they can do.
    pub message: String,
    /// What kept the run from starting, where a document did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<FileFindings>,
}

/// Findings about one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileFindings {
    pub path: String,
    pub findings: Vec<Finding>,
}

pub type Body = Pin<Box<dyn Future<Output = Ended> + Send>>;

/// One version of one dialect's program.
pub struct Flow {
    pub name: &'static str,
    pub version: u32,
    /// The program.
    pub start: fn(Cx, Value) -> Body,
    /// What is left to do when a run is cancelled: a program of its own, in a scope of its own.
    pub cancelled: fn(Cx, Value) -> Body,
    /// Its files.
    pub projector: fn(&Value) -> Box<dyn Projector>,
    /// Makes the new text of a state file from a [`crate::request::Post`]. Pure: the engine reads and writes.
    pub apply: fn(&Posting<'_>) -> Result<Applied, Failure>,
}

/// A post, with what the engine found.
#[derive(Clone, Copy, Debug)]
pub struct Posting<'p> {
    /// The input that the run was started with: what the configuration said is pinned there.
    pub input: &'p Value,
    /// The state file, relative to the workspace.
    pub path: &'p str,
    /// Its text; absent where neither the file nor the book has one.
    pub text: Option<&'p str>,
    pub change: &'p Value,
    pub at: Utc,
}

/// A state file as a post leaves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    pub text: String,
    /// Another writer had changed the same part of the file since.
    pub foreign: bool,
    pub audit: Vec<AuditLine>,
}

/// One line of an audit trail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditLine {
    /// The audit file, relative to the workspace.
    pub file: String,
    /// Without its line break.
    pub line: String,
}

fn no_files(_input: &Value) -> Box<dyn Projector> {
    Box::new(NoFiles)
}

fn no_state_file(posting: &Posting<'_>) -> Result<Applied, Failure> {
    let what = format!("{} cannot be changed: this dialect keeps no state files", posting.path);
    Err(Failure::new(Class::Contract, what))
}

fn nothing_left(_cx: Cx, _input: Value) -> Body {
    Box::pin(async { Ended::cancelled("The work was cancelled.") })
}

impl Ended {
    pub fn cancelled(message: &str) -> Ended {
        Ended {
            status: End::Cancelled,
            good: false,
            outcome: Value::Null,
            message: message.to_owned(),
            findings: vec![],
        }
    }
}

/// Every flow, newest version of each name last.
static FLOWS: &[Flow] = &[
    Flow {
        name: "process",
        version: 1,
        start: |cx, input| Box::pin(process::process(cx, input)),
        cancelled: |cx, input| Box::pin(process::cancelled(cx, input)),
        projector: process::projector,
        apply: no_state_file,
    },
    Flow {
        name: "cycle",
        version: 1,
        start: |cx, input| Box::pin(cycle::cycle(cx, input)),
        cancelled: |cx, input| Box::pin(cycle::cancelled(cx, input)),
        projector: cycle::projector,
        apply: no_state_file,
    },
    Flow {
        name: "roadmap",
        version: 1,
        start: |cx, input| Box::pin(roadmap::roadmap(cx, input)),
        cancelled: |cx, input| Box::pin(roadmap::cancelled(cx, input)),
        projector: roadmap::projector,
        apply: roadmap::apply,
    },
    Flow {
        name: "action",
        version: 1,
        start: |cx, input| Box::pin(action::action(cx, input)),
        cancelled: |cx, input| Box::pin(action::cancelled(cx, input)),
        projector: action::projector,
        apply: no_state_file,
    },
    Flow {
        name: "rehearsal",
        version: 1,
        start: |cx, input| Box::pin(rehearsal::rehearsal(cx, input)),
        cancelled: nothing_left,
        projector: no_files,
        apply: no_state_file,
    },
];

/// The flow of that name in that version.
pub fn find(name: &str, version: u32) -> Option<&'static Flow> {
    FLOWS.iter().find(|f| f.name == name && f.version == version)
}

/// The newest version of a flow.
pub fn newest(name: &str) -> Option<&'static Flow> {
    FLOWS.iter().rfind(|f| f.name == name)
}
