//! The dialects as values. What `run`, `log`, `show`, `status`, `check` and `metrics` have to know of a dialect stands
//! in one [`Dialect`]; a new one is a room in `core`, a room in `flows` and a line in a [`Registry`].

use std::future::Future;
use std::pin::Pin;

use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;
use seriatim_core::config::Config;
use seriatim_core::documents::CONFIGURATION;
use seriatim_core::documents::DocumentKind;
use seriatim_core::documents::Look;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::finding::Finding;
use seriatim_core::projection::Fact;
use seriatim_core::projection::NoFiles;
use seriatim_core::projection::Projector;
use seriatim_core::reading::BrokenFile;
use seriatim_core::sentence::Sentence;
use seriatim_core::time::Utc;
use seriatim_core::view::MetricsView;
use seriatim_core::view::RunView;

use crate::Cx;
use crate::action;
use crate::cycle;
use crate::entrance::Entrance;
use crate::guard;
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

impl From<&BrokenFile> for FileFindings {
    fn from(broken: &BrokenFile) -> FileFindings {
        FileFindings { path: broken.path.clone(), findings: broken.findings.clone() }
    }
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
    /// The part of the configuration that a run depends on: recorded at its start, compared when it is continued.
    pub pins: fn(&Config) -> Config,
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

/// Makes figures of runs, each with its name and its facts.
pub type FoldRuns = fn(&[(String, Vec<Fact>)]) -> MetricsView;

/// A way of working, whole.
pub struct Dialect {
    pub name: &'static str,
    /// Its program; nothing where live sessions do the work and only a book is kept.
    pub flow: Option<Flow>,
    /// The ways to begin work.
    pub entrances: &'static [Entrance],
    /// The documents that it reads.
    pub documents: &'static [DocumentKind],
    /// The tables of `seriatim.toml` that it reads.
    pub sections: &'static [&'static str],
    /// Returns a journalled fact as a sentence; nothing where it is none of the dialect's facts.
    pub tell: fn(&Value) -> Option<Sentence>,
    /// Returns what `show` presents of a run.
    pub view: fn(&[Fact]) -> RunView,
    /// Whether runs that are not over may raise alerts, for which `status` looks.
    pub raises_alerts: bool,
    /// Returns figures over all runs of the dialect, each with its name and its facts.
    pub metrics: Option<FoldRuns>,
    /// The page of the guide.
    pub guide: &'static str,
}

/// All dialects of a program.
pub struct Registry {
    dialects: &'static [&'static Dialect],
}

impl Registry {
    pub const fn new(dialects: &'static [&'static Dialect]) -> Registry {
        Registry { dialects }
    }

    pub fn dialects(&self) -> impl Iterator<Item = &'static Dialect> {
        self.dialects.iter().copied()
    }

    /// Returns the dialect of a run.
    pub fn dialect(&self, name: &str) -> Option<&'static Dialect> {
        self.dialects().find(|dialect| dialect.name == name)
    }

    /// Returns the program of a dialect in a version.
    pub fn flow(&self, name: &str, version: u32) -> Option<&'static Flow> {
        self.dialect(name)?.flow.as_ref().filter(|flow| flow.version == version)
    }

    /// Returns the ways to begin work, each with its dialect.
    pub fn entrances(&self) -> impl Iterator<Item = (&'static Dialect, &'static Entrance)> {
        self.dialects().flat_map(|dialect| dialect.entrances.iter().map(move |entrance| (dialect, entrance)))
    }

    /// Returns the tables of the configuration that dialects read.
    pub fn sections(&self) -> impl Iterator<Item = &'static str> {
        self.dialects().flat_map(|dialect| dialect.sections).copied()
    }

    /// Returns every kind of document.
    pub fn documents(&self) -> impl Iterator<Item = &'static DocumentKind> {
        self.dialects().flat_map(|dialect| dialect.documents).chain([&CONFIGURATION])
    }

    /// Returns the kind of a document, by its content first and then by its name.
    pub fn recognise(&self, look: &Look<'_>) -> Option<&'static DocumentKind> {
        self.documents().find(|kind| (kind.recognises)(look))
    }

    /// Returns the kind of a document from which the engine of any dialect takes orders or the state of work.
    pub fn steering(&self, look: &Look<'_>) -> Option<&'static DocumentKind> {
        self.documents().find(|kind| (kind.steers)(look))
    }
}

/// For dialects without files of their own.
pub fn no_files(_input: &Value) -> Box<dyn Projector> {
    Box::new(NoFiles)
}

/// For dialects that keep no state files which others write as well.
pub fn no_state_file(posting: &Posting<'_>) -> Result<Applied, Failure> {
    let what = format!("{} cannot be changed: this dialect keeps no state files", posting.path);
    Err(Failure::new(Class::Contract, what))
}

/// For dialects that have nothing left to do when a run is cancelled.
pub fn nothing_left(_cx: Cx, _input: Value) -> Body {
    Box::pin(async { Ended::cancelled("The work was cancelled.") })
}

/// The dialects of seriatim.
pub static STANDARD: Registry = Registry::new(&[
    &process::DIALECT,
    &cycle::DIALECT,
    &roadmap::DIALECT,
    &action::DIALECT,
    &guard::DIALECT,
    &rehearsal::DIALECT,
]);

/// Returns the program of a dialect of seriatim.
pub fn newest(name: &str) -> Option<&'static Flow> {
    STANDARD.dialect(name)?.flow.as_ref()
}
