//! The port of processes: what to start, what to watch while it runs, and how it ended.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::os::fd::AsFd;
use std::os::fd::BorrowedFd;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;

use rustix::event::EventfdFlags;
use rustix::event::eventfd;
use rustix::process::Signal;
use serde::Deserialize;
use serde::Serialize;
use seriatim_core::failure::FailureCause;
use seriatim_core::time::Utc;

use crate::hands::named;
use crate::hands::walls::Walls;
use crate::hands::world::WorldFault;
use crate::hands::world::WorldPlan;

/// The variable by which every process of an attempt can be recognised, also after the engine died.
pub const MARKER: &str = "SERIATIM_ATTEMPT_ID";

/// What is passed on to a process when nothing else is configured.
pub const DEFAULT_ENVIRONMENT: [&str; 4] = ["PATH", "HOME", "LANG", "TMPDIR"];

/// Starts processes and sees them off.
pub trait Processes: Send + Sync {
    /// Runs one process to its end. When this returns, nothing that it started is alive any more, except what
    /// [`Ended::survived`] names.
    fn run(&self, spawn: &Spawn, watch: &dyn Watch) -> Result<Ended, SpawnError>;

    /// Ends what an interrupted attempt left behind and returns the ids of the processes that were killed.
    /// Never touches the caller or its ancestors.
    fn sweep(&self, marker: &str) -> Vec<u32>;
}

/// What to start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spawn {
    /// The program, looked up in the `PATH` of `env`, and its arguments.
    pub argv: Vec<String>,
    #[serde(with = "named::path")]
    pub cwd: PathBuf,
    /// The whole environment: nothing is inherited.
    pub env: Vec<(String, String)>,
    pub stdin: Input,
    /// How long it may take; `None` means for ever.
    pub deadline_ms: Option<u64>,
    /// How long it has between the request to end and the end.
    pub grace_ms: u64,
    /// How much of stdout and stderr together is returned.
    pub keep_bytes: usize,
    /// Where the rest of the output goes; without it the rest is dropped.
    pub overflow: Option<PathBuf>,
    /// How much of the rest is written there.
    pub overflow_bytes: u64,
    /// Unique for this attempt; the process and its descendants carry it in [`MARKER`].
    pub marker: String,
    /// The view of the machine that it gets; without one it has the machine as it is.
    #[serde(default)]
    pub world: Option<WorldPlan>,
    /// What it may reach, for machines on which there can be no world.
    #[serde(default)]
    pub walls: Option<Walls>,
}

impl Spawn {
    pub const GRACE_MS: u64 = 5_000;
    pub const KEEP_BYTES: usize = 1 << 20;
    pub const OVERFLOW_BYTES: u64 = 8 << 20;

    /// A process with the limits of the house, no environment, no input and no deadline.
    pub fn new(argv: Vec<String>, cwd: impl Into<PathBuf>, marker: impl Into<String>) -> Spawn {
        Spawn {
            argv,
            cwd: cwd.into(),
            env: Vec::new(),
            stdin: Input::Nothing,
            deadline_ms: None,
            grace_ms: Spawn::GRACE_MS,
            keep_bytes: Spawn::KEEP_BYTES,
            overflow: None,
            overflow_bytes: Spawn::OVERFLOW_BYTES,
            marker: marker.into(),
            world: None,
            walls: None,
        }
    }
}

/// What a process reads on its standard input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    Nothing,
    Bytes(Vec<u8>),
    File(PathBuf),
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    Exited(i32),
    Signaled(i32),
    /// It was ended because its time was up.
    Deadline,
    /// It was ended because somebody asked for it.
    Stopped,
}

impl How {
    /// Returns what happened in plain words, as the end of a sentence that begins with "it"; nothing for a good end.
    pub fn in_words(self) -> Option<String> {
        Some(match self {
            How::Exited(0) => return None,
            How::Exited(126) => "ended with exit code 126 (a program could not be executed)".to_owned(),
            How::Exited(127) => "ended with exit code 127 (a program was not found)".to_owned(),
            How::Exited(code) => format!("ended with exit code {code}"),
            How::Signaled(signal) => signal_in_words(signal),
            How::Deadline => "did not finish in time and was stopped".to_owned(),
            How::Stopped => "was stopped from outside".to_owned(),
        })
    }
}

fn signal_in_words(signal: i32) -> String {
    let known = Signal::from_named_raw(signal);
    let words = match known {
        Some(Signal::KILL) => "was killed from outside, perhaps because memory ran out",
        Some(Signal::TERM) => "was asked to end from outside",
        Some(Signal::INT) => "was interrupted from outside",
        Some(Signal::HUP) => "ended because its terminal went away",
        Some(Signal::SEGV | Signal::BUS) => "crashed: it used memory that is not its own",
        Some(Signal::ABORT) => "gave up by itself (abort)",
        Some(Signal::ILL) => "crashed: it met an instruction that this machine does not know",
        Some(Signal::FPE) => "crashed: it calculated something impossible",
        Some(Signal::PIPE) => "ended because nobody read its output any more",
        Some(Signal::XCPU) => "was ended because it used too much computing time",
        Some(Signal::XFSZ) => "was ended because it wrote too large a file",
        _ => return format!("was ended by signal {signal}"),
    };
    words.to_owned()
}

/// A process that was still there when the one that was asked for had ended or had to end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leftover {
    pub pid: u32,
    pub command: String,
}

/// What is known when a process and all of its descendants are gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    pub how: How,
    pub stdout: String,
    pub stderr: String,
    /// The last lines of both, also where the middle was cut.
    pub tail: String,
    /// The last lines of stderr alone.
    pub stderr_tail: String,
    /// The file with what did not fit, if there was any.
    pub overflow: Option<PathBuf>,
    /// Output that is neither here nor in the file.
    pub dropped_bytes: u64,
    /// Descendants that were still alive and were ended.
    pub killed: Vec<Leftover>,
    /// Descendants that could not be ended: they belong to another user, or hang in the kernel.
    pub survived: Vec<Leftover>,
    pub duration_ms: u64,
}

impl Ended {
    /// True when some of the output was dropped.
    pub fn cut(&self) -> bool {
        self.dropped_bytes > 0
    }

    /// Returns the lines that say most likely why it failed: the last of stderr, or of stdout where stderr is empty.
    pub fn last_words(&self) -> &str {
        if self.stderr_tail.trim().is_empty() { &self.tail } else { &self.stderr_tail }
    }

    /// True when it ended by itself with exit code 0.
    pub fn success(&self) -> bool {
        self.how == How::Exited(0)
    }
}

/// What a process printed, as it is kept with its attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Printed {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stdout: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// The file with what did not fit, as people name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Output that is neither here nor in the file.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped_bytes: u64,
    /// What it asked the engine for while it ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<AskedInside>,
    /// Requests beyond those.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_requests: u64,
}

/// A request of a process to the engine, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedInside {
    pub at: Utc,
    /// What was typed, after the name of the program.
    pub argv: Vec<String>,
    pub exit: u8,
    /// Why it was refused, or went wrong.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Printed {
    pub fn is_empty(&self) -> bool {
        *self == Printed::default()
    }
}

/// Why a process could not be run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum SpawnError {
    #[error("there is no program named `{program}` (exit code 127 in a shell)")]
    NotFound { program: String },
    #[error("`{program}` cannot be executed: {reason} (exit code 126 in a shell)")]
    NotExecutable { program: String, reason: String },
    #[error("the directory {} cannot be entered: {reason}", path.display())]
    NoDirectory { path: PathBuf, reason: String },
    #[error("the input file {} cannot be read: {reason}", path.display())]
    NoInput { path: PathBuf, reason: String },
    #[error("no program was named")]
    Empty,
    #[error("`{program}` could not be started: {reason}")]
    Os { program: String, reason: String },
    #[error("the supervisor of `{program}` could not be started: {reason}")]
    Supervisor { program: String, reason: String },
    #[error("the world for it could not be made: {0}")]
    World(WorldFault),
    #[error("the walls around it could not be put up: {reason}")]
    Walls { reason: String },
}

impl From<WorldFault> for SpawnError {
    fn from(fault: WorldFault) -> SpawnError {
        SpawnError::World(fault)
    }
}

impl SpawnError {
    /// The exit code that a shell gives for this, where it has one.
    pub fn exit_code(&self) -> Option<i32> {
        match self {
            SpawnError::NotFound { .. } => Some(127),
            SpawnError::NotExecutable { .. } => Some(126),
            SpawnError::NoDirectory { .. }
            | SpawnError::NoInput { .. }
            | SpawnError::Empty
            | SpawnError::Os { .. }
            | SpawnError::Supervisor { .. }
            | SpawnError::World(_)
            | SpawnError::Walls { .. } => None,
        }
    }

    /// Why, as failures carry it.
    pub fn cause(&self) -> Option<FailureCause> {
        self.exit_code().and_then(FailureCause::of_exit_code)
    }
}

/// Which of the two outputs a line came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    Stdout,
    Stderr,
}

/// What the caller sees and decides while a process runs. Every method has a quiet default.
pub trait Watch: Sync {
    /// One line of output, cleaned, without its end. Very long lines come in pieces.
    fn line(&self, stream: Stream, line: &str) {
        let _ = (stream, line);
    }

    /// Takes secrets out of output before it is kept, written to a file or shown.
    fn clean<'t>(&self, text: &'t str) -> Cow<'t, str> {
        Cow::Borrowed(text)
    }

    /// What the process printed, once it has ended.
    fn printed(&self, printed: &Printed) {
        let _ = printed;
    }

    /// The switch that ends the process before its time.
    fn stop(&self) -> Option<&Stop> {
        None
    }
}

/// A watch that neither looks nor cleans nor stops.
#[derive(Debug, Clone, Copy)]
pub struct Unwatched;

impl Watch for Unwatched {}

/// A switch that ends processes from another thread. Once thrown it stays so; one switch may serve many.
#[derive(Clone)]
pub struct Stop {
    inner: Arc<Switch>,
}

struct Switch {
    thrown: AtomicBool,
    /// Readable as soon as the switch is thrown, so that a wait can include it.
    event: OwnedFd,
}

impl Stop {
    pub fn new() -> io::Result<Stop> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Stop { inner: Arc::new(Switch { thrown: AtomicBool::new(false), event }) })
    }

    pub fn stop(&self) {
        self.inner.thrown.store(true, Ordering::SeqCst);
        // The counter of an eventfd that nobody reads can only refuse when it is full, and then it is readable.
        let _ = rustix::io::write(&self.inner.event, &1u64.to_ne_bytes());
    }

    pub fn is_stopped(&self) -> bool {
        self.inner.thrown.load(Ordering::SeqCst)
    }
}

impl AsFd for Stop {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inner.event.as_fd()
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stop").field("stopped", &self.is_stopped()).finish()
    }
}

/// Returns the whole environment of this process but for some variables, for a process that is this program again. What
/// is not UTF-8 is left out.
pub fn environment_without(names: &[&str]) -> Vec<(String, String)> {
    let all = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    all.filter(|(name, _)| !names.contains(&name.as_str())).collect()
}

/// The values of the named variables of this process. What is not set, or not UTF-8, is left out.
pub fn environment<S: AsRef<str>>(names: &[S]) -> Vec<(String, String)> {
    let mut passed: Vec<(String, String)> = Vec::new();
    for name in names.iter().map(AsRef::as_ref) {
        let known = passed.iter().any(|(seen, _)| seen == name);
        // A name with `=` or NUL cannot be a variable and would make `std::env` panic.
        let possible = !name.is_empty() && !name.contains(['=', '\0']);
        if possible
            && !known
            && let Ok(value) = std::env::var(name)
        {
            passed.push((name.to_owned(), value));
        }
    }
    passed
}
