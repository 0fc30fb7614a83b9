//! The supervisor: a small process between the engine and an agent that sees to it that nothing of the agent
//! outlives it.
//!
//! It is the engine's own program with [`ARGUMENT`] in front. Its standard input is a socket to the engine: an
//! order comes down, a report goes up, and while both live the socket is the lifeline. When the engine dies,
//! however it dies, the lifeline ends and the supervisor ends the agent. Its standard output and error are the
//! agent's. It adopts every orphan below it (it is a *child subreaper*), so that a descendant cannot escape
//! by a double fork or a session of its own, and when the kernel says that there is no child left, then there
//! is no descendant left.
//!
//! The report goes over the socket and not into a file, since nobody but this engine may believe it: an attempt
//! whose engine died is a crash, whatever the agent achieved.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::fs::File;
use std::io;
use std::io::ErrorKind;
use std::io::PipeReader;
use std::io::PipeWriter;
use std::io::Read;
use std::io::Seek;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;
use std::thread;
use std::time::Instant;

use rustix::fs::MemfdFlags;
use rustix::fs::memfd_create;
use rustix::io::Errno;
use rustix::process::Pid;
use rustix::process::Signal;
use rustix::process::WaitOptions;
use rustix::process::WaitStatus;

use crate::hands::alive;
use crate::hands::alive::Process;
use crate::hands::alive::Signalled;
use crate::hands::process::How;
use crate::hands::process::Leftover;
use crate::hands::process::SpawnError;
use crate::hands::wait;
use crate::hands::wire;
use crate::hands::wire::Order;
use crate::hands::wire::Report;
use crate::hands::wire::Source;

/// The first argument that turns the engine's program into a supervisor.
pub const ARGUMENT: &str = "__supervise";

/// After the agent's own end, its helpers have this long to finish by themselves (`tee` at the end of a pipe).
const SETTLE_MS: u64 = 200;
/// Background processes of an agent that has ended get at most this long after SIGTERM.
const LINGER_MS_MAX: u64 = 2_000;
/// How long SIGKILL is tried before a process is reported as one that survived.
const FORCE_MS: u64 = 5_000;
/// How long to wait after SIGKILL before looking again.
const FORCE_ROUND_MS: u64 = 100;
/// A scan can miss what is forked during it. Who forks on and on is not asked for ever, but frozen and killed.
const ASKING_SCANS_MAX: usize = 3;
const FREEZING_SCANS_MAX: usize = 32;
/// Longer lists of leftovers help nobody.
const LEFTOVERS_MAX: usize = 1_000;

/// Does the work of a supervisor and returns the exit code. Call it before anything else of the program runs.
pub fn main() -> i32 {
    match supervise() {
        Ok(()) => 0,
        // The engine learns from the missing report that something went wrong; there is nobody else to tell.
        Err(_) => 70,
    }
}

fn supervise() -> io::Result<()> {
    let mut engine = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let order: Order = wire::receive(&mut engine)?;
    // In a session of its own Ctrl-C does not reach the agent. It only fails where this process leads a session already.
    let _ = rustix::process::setsid();
    // Orphans of the agent become children of this process, so that they can be ended; without that nothing is started.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let report = match start(&order, &mut engine)? {
        Err(error) => Report::NotStarted(error),
        Ok(agent) => Supervisor::new(agent)?.attend(&order, &mut engine),
    };
    // Without an engine there is nobody to report to.
    let _ = wire::send(&mut engine, &report);
    Ok(())
}

/// Starts the agent. The outer error means that the engine is gone.
fn start(order: &Order, engine: &mut UnixStream) -> io::Result<Result<Pid, SpawnError>> {
    let stdin = match &order.stdin {
        Source::Nothing => Stdio::null(),
        Source::Following { bytes } => Stdio::from(receive_input(engine, *bytes)?),
        Source::File(path) => match File::open(path) {
            Ok(file) => Stdio::from(file),
            Err(error) => {
                return Ok(Err(SpawnError::NoInput { path: path.clone(), reason: error.to_string() }));
            }
        },
    };
    let Some((program, arguments)) = order.argv.split_first() else { return Ok(Err(SpawnError::Empty)) };
    let spawned = Command::new(program)
        .args(arguments)
        .current_dir(&order.cwd)
        .env_clear()
        .envs(order.env.iter().map(|(name, value)| (name, value)))
        .stdin(stdin)
        .process_group(0)
        .spawn();
    Ok(match spawned {
        Ok(child) => Ok(Pid::from_child(&child)),
        Err(error) => Err(explain(order, program, &error)),
    })
}

/// The input lies in memory as a file, complete before the agent starts. So an agent that never reads it, or
/// only a part of it, blocks nobody.
fn receive_input(engine: &mut UnixStream, bytes: u64) -> io::Result<File> {
    let mut file = File::from(memfd_create("stdin", MemfdFlags::CLOEXEC)?);
    let copied = io::copy(&mut engine.take(bytes), &mut file)?;
    if copied < bytes {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    file.rewind()?;
    Ok(file)
}

/// Says in the terms of the caller why a program did not start; the error of the system alone can mean several
/// things.
fn explain(order: &Order, program: &str, error: &io::Error) -> SpawnError {
    let reason = error.to_string();
    if let Err(error) = fs::read_dir(&order.cwd) {
        return SpawnError::NoDirectory { path: order.cwd.clone(), reason: error.to_string() };
    }
    let exists = candidates(order, program).iter().any(|path| path.exists());
    let program = program.to_owned();
    match error.kind() {
        ErrorKind::NotFound if exists => {
            SpawnError::NotExecutable { program, reason: "its interpreter was not found".to_owned() }
        }
        ErrorKind::NotFound | ErrorKind::NotADirectory => SpawnError::NotFound { program },
        // A directory of the `PATH` that may not be entered gives this error for a program that is nowhere.
        ErrorKind::PermissionDenied if !exists && !program.contains('/') => SpawnError::NotFound { program },
        ErrorKind::PermissionDenied => SpawnError::NotExecutable { program, reason },
        _ if error.raw_os_error() == Some(Errno::NOEXEC.raw_os_error()) => {
            SpawnError::NotExecutable { program, reason }
        }
        _ => SpawnError::Os { program, reason },
    }
}

/// Where the program may be.
fn candidates(order: &Order, program: &str) -> Vec<PathBuf> {
    if program.contains('/') {
        return vec![order.cwd.join(program)];
    }
    let path = order.env.iter().find(|(name, _)| name == "PATH").map_or("", |(_, value)| value);
    env::split_paths(path).map(|directory| order.cwd.join(directory).join(program)).collect()
}

/// Why a supervisor stopped waiting for its agent.
enum End {
    Agent(How),
    Deadline,
    Stop,
    EngineGone,
}

struct Supervisor {
    agent: Pid,
    /// Gives the agent's end as one message, and ends itself when there is no descendant left.
    reaped: PipeReader,
    killed: BTreeMap<(u32, u64), Leftover>,
    survived: Vec<Leftover>,
}

impl Supervisor {
    fn new(agent: Pid) -> io::Result<Supervisor> {
        let (reaped, tell) = io::pipe()?;
        thread::spawn(move || reap(agent, tell));
        Ok(Supervisor { agent, reaped, killed: BTreeMap::new(), survived: Vec::new() })
    }

    fn attend(mut self, order: &Order, engine: &mut UnixStream) -> Report {
        let how = match self.wait_for_end(order, engine) {
            End::Agent(how) => {
                if !self.all_gone_by(wait::in_ms(SETTLE_MS)) {
                    self.end_everyone(order.grace_ms.min(LINGER_MS_MAX));
                }
                how
            }
            End::Deadline => {
                self.end_everyone(order.grace_ms);
                How::Deadline
            }
            End::Stop | End::EngineGone => {
                self.end_everyone(order.grace_ms);
                How::Stopped
            }
        };
        let killed = self.killed.into_values().take(LEFTOVERS_MAX).collect();
        Report::Ended { how, killed, survived: self.survived }
    }

    fn wait_for_end(&mut self, order: &Order, engine: &mut UnixStream) -> End {
        let deadline = order.deadline_ms.and_then(wait::in_ms);
        loop {
            // If even the wait fails, the agent can no longer be controlled, and it is ended.
            let Ok([reaped, order]) =
                wait::ready([Some(self.reaped.as_fd()), Some(engine.as_fd())], deadline)
            else {
                return End::EngineGone;
            };
            if reaped && let Some(how) = self.read_end() {
                return End::Agent(how);
            }
            if order {
                let mut byte = [0u8; 1];
                match engine.read(&mut byte) {
                    Ok(1) if byte[0] == wire::STOP => return End::Stop,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Ok(_) | Err(_) => return End::EngineGone,
                }
            }
            if deadline.is_some_and(|moment| moment <= Instant::now()) {
                return End::Deadline;
            }
        }
    }

    fn read_end(&mut self) -> Option<How> {
        let mut message = [0u8; 5];
        self.reaped.read_exact(&mut message).ok()?;
        let [kind, code @ ..] = message;
        let code = i32::from_ne_bytes(code);
        Some(if kind == b'e' { How::Exited(code) } else { How::Signaled(code) })
    }

    /// Waits until the last descendant is gone, at most until the moment given.
    fn all_gone_by(&mut self, moment: Option<Instant>) -> bool {
        loop {
            match wait::ready([Some(self.reaped.as_fd())], moment) {
                // What can still come here is the end of the agent, which no longer matters, and then the end.
                Ok([true]) => match self.reaped.read(&mut [0u8; 5]) {
                    Ok(0) => return true,
                    Ok(_) => {}
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => return false,
                },
                Ok([false]) | Err(_) => return false,
            }
        }
    }

    /// Ends all descendants: first by request, and after the grace by force.
    fn end_everyone(&mut self, grace_ms: u64) {
        self.signal_each_once(ASKING_SCANS_MAX, |process| {
            let sent = process.signal(Signal::TERM);
            // A stopped process does not notice the request before it goes on.
            process.signal(Signal::CONT);
            sent
        });
        if self.all_gone_by(wait::in_ms(grace_ms)) {
            return;
        }
        let limit = wait::in_ms(FORCE_MS);
        loop {
            // Frozen first, so that none can fork between the scan and the kill.
            self.signal_each_once(FREEZING_SCANS_MAX, |process| process.signal(Signal::STOP));
            let refused = self.signal_each_once(FREEZING_SCANS_MAX, |process| process.signal(Signal::KILL));
            if self.all_gone_by(wait::in_ms(FORCE_ROUND_MS)) {
                return;
            }
            let left = self.scan();
            let hopeless = !left.is_empty() && left.iter().all(|process| refused.contains(&process.pid));
            if hopeless || limit.is_none_or(|limit| limit <= Instant::now()) {
                self.give_up_on(left);
                return;
            }
        }
    }

    /// Sends to every descendant, and scans again until no new one is seen. Returns who could not be reached.
    fn signal_each_once(&mut self, scans_max: usize, send: impl Fn(&Process) -> Signalled) -> Vec<u32> {
        let mut seen: BTreeSet<(u32, u64)> = BTreeSet::new();
        let mut refused = Vec::new();
        for _ in 0..scans_max {
            let mut found = self.scan();
            found.retain(|process| !seen.contains(&(process.pid, process.started)));
            if found.is_empty() {
                break;
            }
            for process in found {
                seen.insert((process.pid, process.started));
                self.note(&process);
                if send(&process) == Signalled::Refused {
                    refused.push(process.pid);
                }
            }
        }
        refused
    }

    fn scan(&self) -> Vec<Process> {
        alive::descendants(std::process::id())
    }

    /// Remembers a descendant by its command line, which is gone once it has ended.
    fn note(&mut self, process: &Process) {
        let is_agent = i32::try_from(process.pid).is_ok_and(|pid| pid == self.agent.as_raw_pid());
        if !is_agent {
            self.killed.entry((process.pid, process.started)).or_insert_with(|| process.leftover());
        }
    }

    fn give_up_on(&mut self, left: Vec<Process>) {
        for process in left.into_iter().take(LEFTOVERS_MAX) {
            let known = self.killed.remove(&(process.pid, process.started));
            self.survived.push(known.unwrap_or_else(|| process.leftover()));
        }
    }
}

/// Reaps every child, also the orphans that were adopted on the way. Dropping `tell` at the end is the message
/// that nobody is left.
fn reap(agent: Pid, mut tell: PipeWriter) {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == agent => {
                // Nobody listens only when the supervisor itself is about to end.
                let _ = tell.write_all(&encode(status));
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

fn encode(status: WaitStatus) -> [u8; 5] {
    let (kind, code) = match status.exit_status() {
        Some(code) => (b'e', code),
        None => (b's', status.terminating_signal().unwrap_or(0)),
    };
    let [a, b, c, d] = code.to_ne_bytes();
    [kind, a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forbidden_directory_in_the_path_does_not_hide_that_a_program_is_missing() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("there"), "not executable").unwrap();
        let order = Order {
            argv: Vec::new(),
            cwd: directory.path().to_owned(),
            env: vec![("PATH".to_owned(), directory.path().display().to_string())],
            stdin: Source::Nothing,
            deadline_ms: None,
            grace_ms: 0,
        };
        let code = |program: &str| explain(&order, program, &ErrorKind::PermissionDenied.into()).exit_code();
        assert_eq!(code("missing"), Some(127));
        assert_eq!(code("there"), Some(126));
        assert_eq!(code("./missing"), Some(126));
    }

    #[test]
    fn an_end_is_told_over_the_pipe_as_it_was() {
        let (reader, mut writer) = io::pipe().unwrap();
        let mut supervisor = Supervisor {
            agent: rustix::process::getpid(),
            reaped: reader,
            killed: BTreeMap::new(),
            survived: Vec::new(),
        };
        writer.write_all(&[b'e', 7, 0, 0, 0]).unwrap();
        writer.write_all(&[b's', 9, 0, 0, 0]).unwrap();
        drop(writer);
        assert_eq!(supervisor.read_end(), Some(How::Exited(i32::from_ne_bytes([7, 0, 0, 0]))));
        assert_eq!(supervisor.read_end(), Some(How::Signaled(i32::from_ne_bytes([9, 0, 0, 0]))));
        assert!(supervisor.all_gone_by(None));
    }
}
