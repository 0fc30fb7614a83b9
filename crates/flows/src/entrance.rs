//! How work of a dialect begins: the arguments that `run` takes for it, and what becomes of them.
//!
//! An entrance is data and one function over a [`Ground`], the port to the workspace before a run exists. So the
//! command line, its help and its completions follow from the dialect, and no dialect is known to the face by name.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use seriatim_core::config::Config;
use seriatim_core::documents::Conditions;
use seriatim_core::finding::Finding;
use seriatim_core::reading::BrokenFile;
use seriatim_core::reading::Reading;
use seriatim_core::reading::text_of;
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
    /// Reads a file of configuration or state. Links are followed inside the workspace.
    fn read(&self, path: &str) -> Reading<Vec<u8>>;
    /// Returns whether anything is at a path: also a folder, and a link that leads nowhere.
    fn exists(&self, path: &str) -> bool;
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

    /// Returns what is wrong with the conditions of a document: they are compiled before anything runs.
    fn check_conditions(&self, conditions: &Conditions) -> Vec<Finding>;

    /// Reads a file as text.
    fn text(&self, path: &str) -> Reading<String> {
        self.read(path).and_then(|bytes| text_of(path, bytes))
    }

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
    /// The documents that kept the work from beginning.
    pub documents: Vec<BrokenFile>,
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

impl NoStart {
    pub fn usage(message: impl Into<String>) -> NoStart {
        NoStart { why: Why::Usage, message: message.into(), hints: vec![], documents: vec![] }
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
    pub fn because_of(mut self, path: &str, text: String, findings: Vec<Finding>) -> NoStart {
        self.documents.push(BrokenFile::of(path, text, findings));
        self
    }

    /// Refuses because of files of configuration or state that cannot be used. Nothing was changed.
    pub fn broken(documents: Vec<BrokenFile>) -> NoStart {
        let headlines: Vec<String> = documents.iter().map(BrokenFile::headline).collect();
        let mut hints: Vec<String> = vec![];
        for remedy in documents.iter().map(BrokenFile::remedy) {
            if !hints.contains(&remedy) {
                hints.push(remedy);
            }
        }
        hints.push("nothing was started".to_owned());
        NoStart { hints, documents, ..NoStart::usage(headlines.join("; ")) }
    }
}

impl From<BrokenFile> for NoStart {
    fn from(broken: BrokenFile) -> NoStart {
        NoStart::broken(vec![broken])
    }
}
