//! The command under test: started in a workspace, given its time, and never trusted to end.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::ExitStatus;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use rustix::process::Pid;
use rustix::process::Signal;

use super::place::Place;
use super::reply::End;
use super::reply::Reply;

/// How long it has after it was told to end, before it is ended.
const GRACE: Duration = Duration::from_secs(5);
/// How often it is looked whether it has ended.
const LOOK: Duration = Duration::from_millis(10);
/// How much of its output is read: a document for machines is far smaller.
const OUTPUT_BYTES_MAX: u64 = 16 << 20;

/// Why the command cannot be run at all.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unusable {
    #[error("no command was named")]
    Nothing,
    #[error("there is no program named `{name}`")]
    NoProgram { name: String },
    #[error("`{name}` is not a program")]
    NotExecutable { name: String },
    #[error("this program does not know where it lies: {source}")]
    Itself { source: std::io::Error },
}

/// An orchestrator, as it is called.
#[derive(Debug)]
pub(crate) struct Orchestrator {
    pub(crate) argv: Vec<OsString>,
    pub(crate) timeout: Duration,
}

impl Orchestrator {
    /// This very program.
    pub(crate) fn itself(timeout: Duration) -> Result<Orchestrator, Unusable> {
        let program = std::env::current_exe().map_err(|source| Unusable::Itself { source })?;
        Ok(Orchestrator { argv: vec![program.into()], timeout })
    }

    /// A command as it was typed. It is started elsewhere, so that words which name a file here become absolute.
    pub(crate) fn typed(words: &[OsString], timeout: Duration) -> Result<Orchestrator, Unusable> {
        let [program, rest @ ..] = words else { return Err(Unusable::Nothing) };
        let program = locate(program)?;
        let absolute = |word: &OsString| match Path::new(word).is_file() {
            true => std::path::absolute(word).map_or_else(|_| word.clone(), PathBuf::into_os_string),
            false => word.clone(),
        };
        let argv = std::iter::once(program.into_os_string()).chain(rest.iter().map(absolute)).collect();
        Ok(Orchestrator { argv, timeout })
    }

    /// Calls it in a workspace with these words, and waits for its end as long as its time allows. What it says lies in
    /// files named `said`.
    pub(super) fn call(&self, place: &Place, workspace: &Path, words: &[&str], said: &Path) -> Reply {
        let [out, err] = ["out", "err"].map(|ending| said.with_extension(ending));
        let end = match self.start(workspace, words, &out, &err) {
            Ok(child) => self.wait(place, child),
            Err(error) => End::NotStarted(error.to_string()),
        };
        Reply::read(words, end, &head(&out), &head(&err))
    }

    fn start(&self, workspace: &Path, words: &[&str], out: &Path, err: &Path) -> std::io::Result<Child> {
        let [program, rest @ ..] = self.argv.as_slice() else {
            return Err(std::io::Error::from(std::io::ErrorKind::NotFound));
        };
        let mut command = Command::new(program);
        command.args(rest).args(words).current_dir(workspace).stdin(Stdio::null());
        // Files rather than pipes: whatever it leaves running cannot hold the suite up.
        command.stdout(File::create(out)?).stderr(File::create(err)?);
        // A group of its own, so that all of it can be ended.
        command.process_group(0);
        command.spawn()
    }

    fn wait(&self, place: &Place, mut child: Child) -> End {
        let since = Instant::now();
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return ended(status),
                Ok(None) if since.elapsed() < self.timeout && !place.is_interrupted() => {
                    std::thread::sleep(LOOK);
                }
                Ok(None) => {
                    stop(&mut child);
                    return End::TimedOut(self.timeout);
                }
                Err(error) => return End::NotStarted(error.to_string()),
            }
        }
    }
}

fn ended(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Code(code),
        (None, signal) => End::Signal(signal.unwrap_or_default()),
    }
}

/// Ends the command and everything in its group: politely first, so that it can end what it started elsewhere.
fn stop(child: &mut Child) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let tell = |signal| {
        if let Some(group) = group {
            // It may be gone by now, which is what is wanted.
            let _ = rustix::process::kill_process_group(group, signal);
        }
    };
    tell(Signal::TERM);
    let since = Instant::now();
    while since.elapsed() < GRACE && matches!(child.try_wait(), Ok(None)) {
        std::thread::sleep(LOOK);
    }
    tell(Signal::KILL);
    let _ = child.kill();
    let _ = child.wait();
}

/// The program that a word means, as an absolute path.
fn locate(word: &OsString) -> Result<PathBuf, Unusable> {
    let name = word.to_string_lossy().into_owned();
    let is_program = |path: &Path| {
        path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    };
    if word.as_bytes().contains(&b'/') {
        let path = std::path::absolute(word).unwrap_or_else(|_| PathBuf::from(word));
        return match (path.exists(), is_program(&path)) {
            (false, _) => Err(Unusable::NoProgram { name }),
            (true, false) => Err(Unusable::NotExecutable { name }),
            (true, true) => Ok(path),
        };
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|folder| folder.join(word)).find(|path| is_program(path));
    let found = found.ok_or(Unusable::NoProgram { name })?;
    Ok(std::path::absolute(&found).unwrap_or(found))
}

/// The beginning of a file, as text.
fn head(path: &Path) -> String {
    let mut bytes = vec![];
    if let Ok(file) = File::open(path) {
        // What cannot be read was not said.
        let _ = file.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
