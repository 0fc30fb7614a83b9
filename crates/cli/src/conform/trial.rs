//! One trial: a workspace of its own, the calls of the orchestrator in it, and what there is to be looked at afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::path::PathBuf;

use serde_json::Value;
use seriatim_core::action::paths;

use super::calls::Calls;
use super::layout;
use super::layout::Layout;
use super::orchestrator::Orchestrator;
use super::place::Place;
use super::reply::Reply;
use super::reply::plain;

/// The mode bits that can be set.
const MODE_BITS: u32 = 0o7777;

/// Who answers the questions of a trial.
const PERSON: &str = "conform";

/// The content and the mode of every file that belongs to people and roles.
pub(super) type Files = BTreeMap<String, (Vec<u8>, u32)>;

/// A trial under way.
#[derive(Debug)]
pub(super) struct Trial<'s> {
    place: &'s Place,
    orchestrator: &'s Orchestrator,
    folder: PathBuf,
    replies: Vec<Reply>,
}

/// An error report under `logs/errors/`.
#[derive(Clone, Debug)]
pub(super) struct Log {
    pub(super) name: String,
    /// Nothing where it is no JSON.
    pub(super) document: Option<Value>,
    /// Everything in it, on one line.
    pub(super) text: String,
}

impl Log {
    /// The things to do that it names.
    pub(super) fn remedies(&self) -> Vec<String> {
        let listed = self.document.as_ref().and_then(|document| document["suggested_remediation"].as_array());
        let listed = listed.map(Vec::as_slice).unwrap_or_default();
        listed.iter().filter_map(Value::as_str).map(plain).filter(|words| !words.is_empty()).collect()
    }

    /// The files concerned that it names.
    pub(super) fn artifacts(&self) -> Vec<String> {
        let listed = self.document.as_ref().and_then(|document| document["impacted_artifacts"].as_array());
        let listed = listed.map(Vec::as_slice).unwrap_or_default();
        let path = |entry: &Value| entry["path"].as_str().or_else(|| entry.as_str()).map(str::to_owned);
        listed.iter().filter_map(path).collect()
    }
}

impl<'s> Trial<'s> {
    pub(super) fn begin(
        place: &'s Place,
        orchestrator: &'s Orchestrator,
        folder: PathBuf,
        layout: &Layout,
    ) -> io::Result<Trial<'s>> {
        layout.write(&folder)?;
        Ok(Trial { place, orchestrator, folder, replies: vec![] })
    }

    pub(super) fn workspace(&self) -> PathBuf {
        self.folder.join("work")
    }

    /// Starts an action by its name or by words.
    pub(super) fn run(&mut self, intent: &str) -> Reply {
        self.call(&["run", "action", intent, "--no-input", "--json"])
    }

    /// Answers the question of a reply, and lets the run go on. The second reply is the one of that.
    pub(super) fn decide(&mut self, reply: &Reply, choice: &str, words: &str) -> Reply {
        let answered = self.answer(reply, choice, words);
        if answered.is_good() { self.resume(reply) } else { answered }
    }

    /// Answers the question of a reply.
    pub(super) fn answer(&mut self, reply: &Reply, choice: &str, words: &str) -> Reply {
        let Some(question) = reply.question() else { return Reply::none("there was no question to answer") };
        let mut call = vec!["answer", question.id.as_str(), choice, "--by", PERSON, "--json"];
        if !words.is_empty() {
            call.extend(["--text", words]);
        }
        self.call(&call)
    }

    /// Lets the run of a reply go on.
    pub(super) fn resume(&mut self, reply: &Reply) -> Reply {
        if reply.run.is_empty() {
            return Reply::none("the document named no run that could go on");
        }
        self.call(&["resume", &reply.run, "--no-input", "--json"])
    }

    fn call(&mut self, words: &[&str]) -> Reply {
        let said = self.folder.join("said").join(format!("{}", self.replies.len() + 1));
        let reply = self.orchestrator.call(self.place, &self.workspace(), words, &said);
        self.replies.push(reply.clone());
        reply
    }

    /// Whether the very first call showed that nothing is there that could be tried.
    pub(super) fn no_program(&self) -> Option<String> {
        self.replies.first().filter(|reply| reply.is_no_program()).map(Reply::in_words)
    }

    /// Calls that hung, died or did not say in JSON how things stand: whatever else was seen, that is not compliant.
    pub(super) fn unusable(&self) -> Vec<String> {
        self.replies.iter().filter(|reply| !reply.is_usable()).map(Reply::in_words).collect()
    }

    pub(super) fn calls(&self) -> Calls {
        Calls::read(&self.folder.join("calls"))
    }

    /// A file of the workspace as text; nothing where there is none.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        fs::read(self.workspace().join(path)).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    pub(super) fn put(&self, path: &str, text: &str) -> io::Result<()> {
        layout::put(&self.workspace(), path, text)
    }

    pub(super) fn remove(&self, path: &str) -> io::Result<()> {
        fs::remove_file(self.workspace().join(path))
    }

    pub(super) fn set_mode(&self, path: &str, mode: u32) -> io::Result<()> {
        fs::set_permissions(self.workspace().join(path), fs::Permissions::from_mode(mode))
    }

    /// Every file but those that are the orchestrator's own.
    pub(super) fn files(&self) -> Files {
        let mut files = Files::new();
        let workspace = self.workspace();
        for path in files_below(&workspace) {
            let Ok(name) = path.strip_prefix(&workspace) else { continue };
            let name = name.to_string_lossy().into_owned();
            if paths::is_own(&name) || name.starts_with(".git/") {
                continue;
            }
            let (Ok(bytes), Ok(data)) = (fs::read(&path), fs::symlink_metadata(&path)) else { continue };
            files.insert(name, (bytes, data.permissions().mode() & MODE_BITS));
        }
        files
    }

    /// The error reports, in the order of their names.
    pub(super) fn logs(&self) -> Vec<Log> {
        let read = |path: PathBuf| {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let document = serde_json::from_str(&text).ok();
            Log { name, document, text: plain(&text) }
        };
        files_below(&self.workspace().join(paths::ERROR_LOGS)).into_iter().map(read).collect()
    }

    /// The files of this name in the folders of evidence.
    pub(super) fn evidence(&self, name: &str) -> Vec<String> {
        let all = files_below(&self.workspace().join(paths::EVIDENCE));
        let named = all.into_iter().filter(|path| path.file_name().is_some_and(|it| it == name));
        named.filter_map(|path| fs::read_to_string(path).ok()).collect()
    }
}

/// All files below a folder, in order; links are not followed.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![];
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                Ok(_) => found.push(entry.path()),
                Err(_) => {}
            }
        }
    }
    found.sort();
    found
}
