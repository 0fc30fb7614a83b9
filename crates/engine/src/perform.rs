//! Performing a request: from plain data to an effect, and back to plain data.

use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use seriatim_core::config::Config;
use seriatim_core::doc::edit;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::hash::Hash;
use seriatim_core::redact::Redactor;
use seriatim_flows::Request;
use seriatim_flows::registry::Registry;
use seriatim_flows::request::BookCall;
use seriatim_flows::request::EditFile;
use seriatim_flows::request::Edited;
use seriatim_flows::request::Expect;
use seriatim_flows::request::Text;
use seriatim_flows::request::WriteFile;

use crate::agents;
use crate::condition;
use crate::copies;
use crate::exec;
use crate::hands::clock::Clock;
use crate::hands::files;
use crate::hands::files::FileError;
use crate::hands::files::Files;
use crate::hands::files::Write;
use crate::hands::paths::Workspace;
use crate::hands::paths::decode_name;
use crate::hands::process::Processes;
use crate::hands::process::Watch;
use crate::hands::repository::Repositories;
use crate::hands::views::Views;
use crate::ids;
use crate::job::Job;
use crate::reading::READ_BYTES_MAX;
use crate::repository;
use crate::scene;
use crate::views;

/// Everything outside, behind ports.
#[derive(Clone)]
pub struct Hands {
    pub clock: Arc<dyn Clock>,
    pub files: Arc<dyn Files>,
    pub processes: Arc<dyn Processes>,
    pub repositories: Arc<dyn Repositories>,
    pub views: Arc<dyn Views>,
    pub workspace: Workspace,
    pub config: Arc<Config>,
    /// The dialects, which know the documents that steer runs.
    pub registry: &'static Registry,
    pub redactor: Redactor,
    /// Where agents get their brief and leave their report: a private folder in the store, cleared when the attempt is
    /// over, so that nothing an agent writes stays there without having passed the journal's door.
    pub scratch: PathBuf,
    /// Where long output of an attempt is kept.
    pub outputs: PathBuf,
}

impl Hands {
    /// Returns the place that a path of a document means, as the files of these hands have it.
    pub(crate) fn resolve(&self, path: impl AsRef<Path>) -> Result<PathBuf, FileError> {
        self.workspace.resolve_in(self.files.as_ref(), path.as_ref())
    }
}

/// The outside refuses to work at all: the run stops here and can be continued once there is room.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Stuck(pub String);

/// Performs one job. Blocking; called on a thread of its own, or by the simulation.
pub fn perform(hands: &Hands, job: &Job, watch: &dyn Watch) -> Result<Vec<u8>, Stuck> {
    match &job.request {
        Request::Agent(assignment) => outcome(agents::attempt(hands, job, assignment, watch)?),
        Request::Exec(command) => outcome(exec::exec(hands, job, command, watch)),
        Request::Read(file) => outcome(read(hands, &file.path)),
        Request::Write(file) => outcome(lift(write(hands, file))?),
        Request::Edit(edit) => outcome(lift(edit_file(hands, edit))?),
        Request::Ids(wanted) => {
            Ok(json(&ids::reserve(hands, job, wanted).map_err(|e| Stuck(e.to_string()))?))
        }
        Request::Look { paths } => Ok(json(&paths.iter().map(|p| is_there(hands, p)).collect::<Vec<_>>())),
        Request::Survey(wanted) => Ok(json(&repository::survey(hands, wanted))),
        Request::Git(call) => outcome(repository::perform(hands, job, call, watch)),
        Request::Compute(wanted) => Ok(json(&condition::compute(wanted))),
        Request::Now => Ok(json(&hands.clock.now())),
        Request::Snapshot { scope, label } => outcome(copies::take(hands, job, scope, label)),
        Request::Restore { id, labelled } => outcome(copies::restore(hands, job, id, *labelled)),
        Request::Compare { id } => outcome(copies::compare(hands, id)),
        Request::Scene(call) => outcome(scene::perform(hands, job, call)),
        Request::World(call) => outcome(views::perform(hands, job, call)),
        other => {
            let what = format!("`{}` is not performed by the hands", other.name());
            outcome::<()>(Err(Failure::new(Class::Contract, what)))
        }
    }
}

fn json(value: &impl Serialize) -> Vec<u8> {
    // Outcomes are plain owned data with string keys: serialising them cannot fail.
    serde_json::to_vec(value).unwrap_or_default()
}

fn outcome<T: Serialize>(result: Result<T, Failure>) -> Result<Vec<u8>, Stuck> {
    Ok(json(&result))
}

/// A full or read-only disk is not the flow's to handle.
pub(crate) fn lift<T>(result: Result<T, FileError>) -> Result<Result<T, Failure>, Stuck> {
    match result {
        Err(e) if is_storage(&e) => Err(Stuck(e.to_string())),
        other => Ok(other.map_err(|e| file_failure(&e))),
    }
}

fn is_storage(error: &FileError) -> bool {
    matches!(
        error,
        FileError::NoSpace { .. }
            | FileError::ReadOnly { .. }
            | FileError::Permission { .. }
            | FileError::Io { .. }
    )
}

/// What a failing file means for a flow.
pub(crate) fn file_failure(error: &FileError) -> Failure {
    let class = match error {
        FileError::NotFound { .. } => Class::MissingArtifact,
        FileError::Outside { .. } | FileError::Changed { .. } | FileError::BadName { .. } => Class::Contract,
        FileError::NotUtf8 { .. } | FileError::TooLarge { .. } => Class::Invalid,
        _ => Class::Storage,
    };
    Failure::new(class, error.to_string())
}

fn read(hands: &Hands, path: &str) -> Result<Text, Failure> {
    let found = hands.workspace.read(hands.files.as_ref(), path.as_ref(), READ_BYTES_MAX);
    let found = found.map_err(|e| file_failure(&e))?;
    let hash = found.hash;
    let text = found.into_text(path.as_ref()).map_err(|e| file_failure(&e))?;
    Ok(Text { text, hash })
}

/// Writes or appends. Doing it twice is doing it once.
fn write(hands: &Hands, file: &WriteFile) -> Result<Hash, FileError> {
    let path = hands.resolve(&file.path)?;
    let before = current(hands, &path)?;
    let wanted = match (&before, file.append) {
        (Some(bytes), true) if bytes.ends_with(file.text.as_bytes()) => bytes.clone(),
        (Some(bytes), true) => [bytes.as_slice(), file.text.as_bytes()].concat(),
        _ => file.text.clone().into_bytes(),
    };
    if before.as_deref() == Some(&wanted) {
        return Ok(Hash::of(&wanted));
    }
    let expect = match file.expect {
        Expect::Any => files::Expect::Any,
        Expect::Absent => files::Expect::Absent,
        Expect::Hash(hash) => files::Expect::Hash(hash),
    };
    hands.files.write(&path, &wanted, Write { expect, durable: file.durable, mode: None })
}

fn is_there(hands: &Hands, path: &str) -> bool {
    hands.resolve(path).is_ok_and(|path| hands.files.look(&path).is_ok_and(|found| found.is_some()))
}

fn current(hands: &Hands, path: &Path) -> Result<Option<Vec<u8>>, FileError> {
    match hands.files.read(path, READ_BYTES_MAX) {
        Ok(found) => Ok(Some(found.bytes)),
        Err(FileError::NotFound { .. }) => Ok(None),
        Err(e) => Err(e),
    }
}

/// Sets fields and keeps every other byte. The text that is edited is the one on disk, which never went through
/// redaction: a secret of the user's own stays where the user put it.
fn edit_file(hands: &Hands, wanted: &EditFile) -> Result<Edited, FileError> {
    let path = hands.resolve(&wanted.path)?;
    let found = hands.files.read(&path, READ_BYTES_MAX)?;
    let hash = found.hash;
    let mut text = found.into_text(&path)?;
    for set in &wanted.set {
        let way: Vec<&str> = set.path.iter().map(String::as_str).collect();
        text = edit::set(&text, &way, &set.value)
            .map_err(|e| FileError::Io { path: path.clone(), reason: e.to_string() })?;
    }
    let foreign = wanted.believed.is_some_and(|believed| believed != hash);
    if Hash::of(text.as_bytes()) == hash {
        return Ok(Edited { hash, foreign: false });
    }
    let how = Write::DURABLE.expecting(files::Expect::Hash(hash));
    Ok(Edited { hash: hands.files.write(&path, text.as_bytes(), how)?, foreign })
}

/// Clears what an interrupted attempt at a job left behind: processes, its desk, and files that were being written.
pub(crate) fn clear(hands: &Hands, job: &Job) {
    hands.processes.sweep(&job.marker());
    // All of this does no harm where it stays; the attempt itself is what matters.
    let _ = remove_all(hands.files.as_ref(), &hands.scratch.join(job.file_name()));
    let written: Vec<PathBuf> = match &job.request {
        Request::Write(file) => vec![PathBuf::from(&file.path)],
        Request::Edit(file) => vec![PathBuf::from(&file.path)],
        Request::Book(BookCall::Post(post)) => vec![PathBuf::from(&post.path)],
        Request::Ids(wanted) => vec![Path::new(&wanted.folder).join("any")],
        Request::Agent(assignment) => agents::writes(hands, job, assignment),
        Request::Restore { id, labelled } => copies::writes(hands, id, *labelled),
        Request::Scene(call) => scene::writes(hands, job, call),
        _ => vec![],
    };
    let folders: BTreeSet<&Path> = written.iter().filter_map(|path| path.parent()).collect();
    for folder in folders {
        if let Ok(folder) = hands.resolve(folder_or_root(folder)) {
            let _ = hands.files.clear_temporary(&folder);
        }
    }
}

/// The folder that the parent of a path means: none stands for the root. Nothing is put in front of it, since a path in a
/// working tree is known by its first part.
pub(crate) fn folder_or_root(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

/// Removes a folder and all that is in it.
pub(crate) fn remove_all(files: &dyn Files, path: &Path) -> Result<(), FileError> {
    if files.look(path)?.is_some_and(|entry| entry.kind == files::Kind::Directory) {
        for (name, _) in files.list(path)? {
            if let Some(name) = decode_name(&name) {
                remove_all(files, &path.join(name))?;
            }
        }
    }
    files.remove(path)
}
