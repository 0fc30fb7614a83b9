//! The real processes: each runs under a supervisor of its own (see [`crate::hands::supervise`]).

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::io::ErrorKind;
use std::io::Read;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::time::Instant;

use rustix::fs::OFlags;
use rustix::process::Pid;
use rustix::process::PidfdFlags;
use rustix::process::Signal;
use rustix::process::pidfd_open;

use crate::hands::alive;
use crate::hands::alive::Process;
use crate::hands::output::Collected;
use crate::hands::output::Collector;
use crate::hands::process::Ended;
use crate::hands::process::How;
use crate::hands::process::Input;
use crate::hands::process::Leftover;
use crate::hands::process::MARKER;
use crate::hands::process::Processes;
use crate::hands::process::Spawn;
use crate::hands::process::SpawnError;
use crate::hands::process::Stop;
use crate::hands::process::Stream;
use crate::hands::process::Watch;
use crate::hands::supervise;
use crate::hands::wait;
use crate::hands::wire;
use crate::hands::wire::Order;
use crate::hands::wire::Report;
use crate::hands::wire::Source;

const MARGIN_MS: u64 = 20_000;
/// How long a sweep waits for the supervisor of a dead engine, which is ending its agent at that moment.
const SUPERVISOR_MS: u64 = 15_000;
/// Processes that fork against the sweep are chased this many times.
const SWEEP_ROUNDS_MAX: usize = 50;
const READ_BYTES: usize = 64 << 10;
/// A pipe holds 64 KiB as a rule and a mebibyte at most; more than that after the end comes from a survivor.
const DRAIN_BYTES_MAX: usize = 1 << 20;

/// Runs processes on this machine.
#[derive(Clone, Debug)]
pub struct Supervised {
    program: PathBuf,
    margin_ms: u64,
}

impl Supervised {
    /// With this very program as the supervisor. It must call [`supervise::main`] when its first argument is
    /// [`supervise::ARGUMENT`].
    pub fn by_this_program() -> Supervised {
        // Unlike the path of the program this holds also when a new version has taken its place meanwhile.
        Supervised::by("/proc/self/exe")
    }

    pub fn by(program: impl Into<PathBuf>) -> Supervised {
        Supervised { program: program.into(), margin_ms: MARGIN_MS }
    }

    /// Sets how much longer than deadline and grace a supervisor may take before it counts as lost itself.
    #[must_use]
    pub fn margin_ms(self, margin_ms: u64) -> Supervised {
        Supervised { margin_ms, ..self }
    }
}

impl Processes for Supervised {
    fn run(&self, spawn: &Spawn, watch: &dyn Watch) -> Result<Ended, SpawnError> {
        let name = spawn.argv.first().ok_or(SpawnError::Empty)?;
        let started = Instant::now();
        let lost =
            |error: io::Error| SpawnError::Supervisor { program: name.clone(), reason: error.to_string() };
        let mut attempt = Attempt::start(&self.program, spawn, watch).map_err(lost)?;
        let verdict = attempt.follow(spawn, self.margin_ms, watch.stop());
        if verdict.is_err() {
            attempt.kill_supervisor();
        }
        let status = attempt.child.wait();
        let verdict = verdict.map_err(lost)?;
        let (how, killed, survived) = match attempt.report() {
            Some(Report::NotStarted(error)) => return Err(error),
            Some(Report::Ended { how, killed, survived }) => (how, killed, survived),
            None => {
                // Nobody saw to the descendants, so it is done from here.
                let killed = sweep(|process| process.carries(&spawn.marker) || attempt.owns(process));
                let signal = status.ok().and_then(|status| status.signal());
                let how = verdict.unwrap_or(How::Signaled(signal.unwrap_or(Signal::KILL.as_raw())));
                (how, killed, Vec::new())
            }
        };
        attempt.drain();
        let Collected { stdout, stderr, tail, stderr_tail, overflow, dropped_bytes } =
            attempt.collector.finish();
        let clean = |leftovers: Vec<Leftover>| {
            let tidy =
                |it: Leftover| Leftover { pid: it.pid, command: watch.clean(&it.command).into_owned() };
            leftovers.into_iter().map(tidy).collect()
        };
        Ok(Ended {
            how,
            stdout,
            stderr,
            tail,
            stderr_tail,
            overflow,
            dropped_bytes,
            killed: clean(killed),
            survived: clean(survived),
            duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        })
    }

    fn sweep(&self, marker: &str) -> Vec<u32> {
        let killed = sweep(|process| process.carries(marker));
        await_supervisors(marker);
        killed.into_iter().map(|leftover| leftover.pid).collect()
    }
}

/// One process under way, seen from the engine.
struct Attempt<'w> {
    child: Child,
    /// Readable when the supervisor has ended.
    over: OwnedFd,
    lifeline: UnixStream,
    stdout: Option<File>,
    stderr: Option<File>,
    report: Vec<u8>,
    collector: Collector<'w>,
}

impl<'w> Attempt<'w> {
    fn start(program: &PathBuf, spawn: &Spawn, watch: &'w dyn Watch) -> io::Result<Attempt<'w>> {
        let (mut lifeline, theirs) = UnixStream::pair()?;
        let mut child = Command::new(program)
            .arg0("seriatim")
            // The marker is an argument so that a sweep can find the supervisor, and not in its environment, so
            // that a sweep does not kill it before it has ended its agent.
            .args([supervise::ARGUMENT, &spawn.marker])
            .env_clear()
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let over = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
        let stdout = child.stdout.take().map(OwnedFd::from).map(File::from);
        let stderr = child.stderr.take().map(OwnedFd::from).map(File::from);
        for output in stdout.iter().chain(&stderr) {
            rustix::fs::fcntl_setfl(output, OFlags::NONBLOCK)?;
        }
        let told = give_order(&mut lifeline, spawn);
        // A supervisor that ended early closes the line; what it had to say may still be read.
        if let Err(error) = told
            && error.kind() != ErrorKind::BrokenPipe
        {
            return Err(error);
        }
        lifeline.set_nonblocking(true)?;
        let collector = Collector::new(spawn, watch);
        Ok(Attempt { child, over, lifeline, stdout, stderr, report: Vec::new(), collector })
    }

    /// Takes output in until the supervisor has ended. If it had to be given up, says what it was to do.
    fn follow(&mut self, spawn: &Spawn, margin_ms: u64, mut stop: Option<&Stop>) -> io::Result<Option<How>> {
        let patience = spawn.grace_ms.saturating_add(margin_ms);
        let mut due = How::Deadline;
        let mut limit = spawn.deadline_ms.and_then(|ms| wait::in_ms(ms.saturating_add(patience)));
        let mut listening = true;
        loop {
            let [stdout, stderr, report, over, stopped] = wait::ready(
                [
                    self.stdout.as_ref().map(AsFd::as_fd),
                    self.stderr.as_ref().map(AsFd::as_fd),
                    listening.then_some(self.lifeline.as_fd()),
                    Some(self.over.as_fd()),
                    stop.map(AsFd::as_fd),
                ],
                limit,
            )?;
            if stdout {
                self.read_output(Stream::Stdout);
            }
            if stderr {
                self.read_output(Stream::Stderr);
            }
            if report {
                listening = self.read_report();
            }
            if over {
                return Ok(None);
            }
            if stopped {
                stop = None;
                due = How::Stopped;
                limit = wait::in_ms(patience);
                // If the supervisor is gone already there is nobody to ask.
                let _ = self.lifeline.write_all(&[wire::STOP]);
            }
            if limit.is_some_and(|moment| moment <= Instant::now()) {
                self.kill_supervisor();
                return Ok(Some(due));
            }
        }
    }

    /// Reads once. The number of bytes is zero when there is nothing now, or nothing any more.
    fn read_output(&mut self, stream: Stream) -> usize {
        let source = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        let Some(file) = source else { return 0 };
        let mut buffer = [0u8; READ_BYTES];
        match file.read(&mut buffer) {
            Ok(0) => {
                *source = None;
                0
            }
            Ok(count) => {
                self.collector.push(stream, &buffer[..count]);
                count
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => 0,
            Err(_) => {
                *source = None;
                0
            }
        }
    }

    /// Reads what is there of the report, and says whether more may come.
    fn read_report(&mut self) -> bool {
        let mut buffer = [0u8; READ_BYTES];
        match self.lifeline.read(&mut buffer) {
            Ok(0) => false,
            Ok(count) => {
                self.report.extend_from_slice(&buffer[..count]);
                true
            }
            Err(error) => matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
        }
    }

    fn report(&mut self) -> Option<Report> {
        let mut before = usize::MAX;
        while before != self.report.len() {
            before = self.report.len();
            self.read_report();
        }
        wire::receive(&mut self.report.as_slice()).ok()
    }

    /// Takes in what still lies in the pipes. Their end is not waited for: a survivor may hold them open.
    fn drain(&mut self) {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let mut drained = 0;
            while drained < DRAIN_BYTES_MAX {
                match self.read_output(stream) {
                    0 => break,
                    count => drained += count,
                }
            }
        }
    }

    fn kill_supervisor(&mut self) {
        // It fails only when the supervisor has ended already.
        let _ = self.child.kill();
    }

    /// True for processes of the supervisor's session, also when they have emptied their environment. The first process
    /// of a world is one of them, and when it has ended, all that lived in the world has.
    fn owns(&self, process: &Process) -> bool {
        process.session == self.child.id()
    }
}

fn give_order(lifeline: &mut UnixStream, spawn: &Spawn) -> io::Result<()> {
    let (stdin, bytes): (Source, &[u8]) = match &spawn.stdin {
        Input::Nothing => (Source::Nothing, &[]),
        Input::File(path) => (Source::File(path.clone()), &[]),
        Input::Bytes(bytes) => (Source::Following { bytes: bytes.len() as u64 }, bytes),
    };
    wire::send(lifeline, &order_of(spawn, stdin))?;
    lifeline.write_all(bytes)
}

/// Returns the order to start a process that reads from `stdin`.
pub(super) fn order_of(spawn: &Spawn, stdin: Source) -> Order {
    let mut env = spawn.env.clone();
    env.retain(|(name, _)| name != MARKER);
    env.push((MARKER.to_owned(), spawn.marker.clone()));
    Order {
        argv: spawn.argv.clone(),
        cwd: spawn.cwd.clone(),
        env,
        stdin,
        deadline_ms: spawn.deadline_ms,
        grace_ms: spawn.grace_ms,
        world: spawn.world.clone(),
        walls: spawn.walls.clone(),
    }
}

/// Kills what matches, again and again until nothing is left that can be killed.
fn sweep(matches: impl Fn(&Process) -> bool) -> Vec<Leftover> {
    let spared = alive::ancestors(std::process::id());
    let mut killed: BTreeMap<(u32, u64), Leftover> = BTreeMap::new();
    for _ in 0..SWEEP_ROUNDS_MAX {
        let mut found = alive::all();
        found.retain(|process| process.alive && !spared.contains(&process.pid) && matches(process));
        let mut handles = Vec::new();
        for process in &found {
            let leftover = process.leftover();
            if let Some(handle) = process.kill() {
                handles.push(handle);
                killed.entry((process.pid, process.started)).or_insert(leftover);
            }
        }
        if handles.is_empty() {
            break;
        }
        let limit = wait::in_ms(1_000);
        for handle in handles {
            // One that hangs in the kernel is met again in the next round.
            let _ = wait::ready([Some(handle.as_fd())], limit);
        }
    }
    killed.into_values().collect()
}

/// Waits for supervisors of an attempt whose engine is dead: they are about to end what a sweep cannot
/// recognise. One that does not finish is killed.
fn await_supervisors(marker: &str) {
    let is_supervisor = |process: &Process| {
        let words = process.arguments();
        process.alive
            && words.get(1).is_some_and(|word| word == supervise::ARGUMENT)
            && words.get(2).is_some_and(|word| word == marker)
    };
    let limit = wait::in_ms(SUPERVISOR_MS);
    for process in alive::all().into_iter().filter(is_supervisor) {
        let Some(handle) = process.handle() else { continue };
        if !matches!(wait::ready([Some(handle.as_fd())], limit), Ok([true])) {
            process.signal(Signal::KILL);
        }
    }
}
