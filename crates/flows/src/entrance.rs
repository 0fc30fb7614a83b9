//! How work of a dialect begins: the arguments that `run` takes for it, and what becomes of them.
//!
//! An entrance is data and one function over a [`Ground`], the port to the workspace before a run exists. So the
//! command line, its help and its completions follow from the dialect, and no dialect is known to the face by name.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use seriatim_core::config::Config;
use seriatim_core::finding::Finding;
use seriatim_core::time::Utc;

/// One way to begin work: `seriatim run WORD`.
pub struct Entrance {
    pub word: &'static str,
    /// One line of help.
    pub about: &'static str,
    /// More help, in paragraphs; may be empty.
    pub more: &'static str,
    /// The usage after the word, where it is not plain from the arguments; may be empty.
    pub usage: &'static str,
    pub arguments: &'static [Argument],
    /// Checks the arguments against the workspace and says what the run is started with. Fails before anything is
    /// changed.
    pub prepare: fn(&Words, &mut dyn Ground) -> Result<Prepared, NoStart>,
}

/// One argument.
pub struct Argument {
    pub name: &'static str,
    pub help: &'static str,
    pub shape: Shape,
}

/// How an argument is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One word in its place, required.
    Place { value: &'static str },
    /// Words in their places, at least one.
    Places { value: &'static str },
    /// `--name VALUE`
    Text { value: &'static str },
    /// `--name VALUE`, as often as one likes.
    Texts { value: &'static str },
    /// `--name N`, within bounds.
    Number { value: &'static str, least: u32, most: u32, default: &'static str },
    /// `--name`
    Flag,
}

/// The arguments as they were given, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words(pub BTreeMap<String, Vec<String>>);

impl Words {
    /// Returns the only value of an argument.
    pub fn one(&self, name: &str) -> Option<&str> {
        self.all(name).first().map(String::as_str)
    }

    /// Returns every value of an argument.
    pub fn all(&self, name: &str) -> &[String] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns whether a flag was given.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Returns a number that the command line has checked already.
    pub fn number(&self, name: &str) -> Option<u32> {
        self.one(name)?.parse().ok()
    }
}

/// The workspace before a run exists. Paths are relative to its root.
pub trait Ground {
    fn config(&self) -> &Config;
    fn now(&self) -> Utc;
    /// Returns the name of the person who starts the work.
    fn user(&self) -> String;
    /// Returns the name of the workspace's folder.
    fn folder_name(&self) -> String;
    fn repository(&self) -> Repository;
    /// Returns the bytes of a file; nothing where there is no such file.
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, String>;
    /// Returns what lies in a folder, sorted by name; nothing where there is no such folder.
    fn list(&self, folder: &str) -> Vec<Listed>;
    /// Finds a file that a person named from wherever they are.
    fn named(&self, path: &str) -> Result<Named, String>;
    /// Writes a new file. Returns false where there is one already.
    fn create(&mut self, path: &str, text: &str) -> Result<bool, String>;
    /// Returns the folder of the agent client's plugin, where the work is started from one.
    fn plugin_root(&self) -> Option<String>;
    /// Returns the runs of a dialect in this workspace that are not over.
    fn unfinished(&self, flow: &str) -> Result<Vec<Unfinished>, NoStart>;

    fn is_file(&self, path: &str) -> bool {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        self.list(folder).iter().any(|listed| listed.name == name && listed.kind == ListedKind::File)
    }
}

/// Whether the workspace is in a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repository {
    No,
    /// The workspace is its top.
    Here,
    /// Its top is a folder above the workspace.
    Above,
}

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub name: String,
    pub kind: ListedKind,
    pub size_bytes: u64,
}

/// Links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListedKind {
    File,
    Folder,
    Other,
}

/// A file that a person named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    pub bytes: Vec<u8>,
    /// As the workspace sees it; nothing where it lies outside.
    pub inside: Option<String>,
    /// The workspace, for messages.
    pub workspace: String,
}

/// A run that is not over.
#[derive(Clone, Debug, PartialEq)]
pub struct Unfinished {
    pub run: String,
    pub title: String,
    pub subject: String,
    /// The process that drives it, in words; nothing where it only waits.
    pub holder: Option<String>,
    /// What it was started with.
    pub input: Value,
}

/// A run that is about to begin.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    pub title: String,
    /// What the work is about: two runs of one dialect with the same subject are never unfinished at once.
    pub subject: String,
    pub input: Value,
    /// The names by which an agent is looked up for each piece of work, most specific first; nothing where that is only
    /// found out while the run goes on.
    pub calls: Option<Vec<Vec<String>>>,
    /// Said before the work begins.
    pub before: Vec<String>,
    /// Said when the command lets go of the run.
    pub after: Vec<String>,
}

impl Prepared {
    pub fn new(
        title: impl Into<String>,
        subject: impl Into<String>,
        start: &impl Serialize,
    ) -> Result<Prepared, NoStart> {
        let input = serde_json::to_value(start)
            .map_err(|error| NoStart::usage(format!("the start of the run cannot be recorded: {error}")))?;
        Ok(Prepared {
            title: title.into(),
            subject: subject.into(),
            input,
            calls: None,
            before: vec![],
            after: vec![],
        })
    }
}

/// Why work does not begin.
#[derive(Clone, Debug, PartialEq)]
pub struct NoStart {
    pub why: Why,
    pub message: String,
    pub hints: Vec<String>,
    /// The document that kept the work from beginning.
    pub document: Option<Box<BrokenDocument>>,
}

/// What kind of reason it is; decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The words, files or configuration are at fault.
    Usage,
    /// A document has errors, or something that the work needs does not hold.
    NotGood,
    /// The same work is under way already.
    Held,
}

/// A document with its findings.
#[derive(Clone, Debug, PartialEq)]
pub struct BrokenDocument {
    pub path: String,
    pub text: String,
    pub findings: Vec<Finding>,
}

impl NoStart {
    pub fn usage(message: impl Into<String>) -> NoStart {
        NoStart { why: Why::Usage, message: message.into(), hints: vec![], document: None }
    }

    pub fn not_good(message: impl Into<String>) -> NoStart {
        NoStart { why: Why::NotGood, ..NoStart::usage(message) }
    }

    pub fn held(message: impl Into<String>) -> NoStart {
        NoStart { why: Why::Held, ..NoStart::usage(message) }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> NoStart {
        self.hints.push(hint.into());
        self
    }

    /// Adds the document, so that its findings are shown.
    #[must_use]
    pub fn because_of(self, path: &str, text: String, findings: Vec<Finding>) -> NoStart {
        let document = BrokenDocument { path: path.to_owned(), text, findings };
        NoStart { document: Some(Box::new(document)), ..self }
    }
}
