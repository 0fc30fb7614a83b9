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
//! An agent with a world is started by the first process of that world, which also adopts and reaps the orphans
//! ([`crate::hands::world`]). The supervisor stays outside, and ends the world with all that is left in it.
//!
//! The report goes over the socket and not into a file, since nobody but this engine may believe it: an attempt
//! whose engine died is a crash, whatever the agent achieved.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::env;
use std::fs::File;
use std::io;
use std::io::ErrorKind;
use std::io::Read;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Instant;

use rustix::io::Errno;
use rustix::process::Pid;
use rustix::process::Signal;
use rustix::process::WaitOptions;
use rustix::process::WaitStatus;
use seriatim_kernel as kernel;

use crate::hands::alive;
use crate::hands::alive::Process;
use crate::hands::alive::Signalled;
use crate::hands::process::How;
use crate::hands::process::Leftover;
use crate::hands::process::SpawnError;
use crate::hands::start;
use crate::hands::wait;
use crate::hands::wire;
use crate::hands::wire::Order;
use crate::hands::wire::Report;
use crate::hands::wire::Source;
use crate::hands::world::Opening;
use crate::hands::world::World;
use crate::hands::world::WorldPlan;
use crate::hands::world::init;

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

/// Descriptors from this one on were inherited by accident, or are the supervisor's own.
pub(super) const FIRST_INHERITED: i32 = 3;

/// Does the work of a supervisor, or of the first process of a world, and returns the exit code. Call it before
/// anything else of the program runs: the process must have one thread.
pub fn main() -> i32 {
    let is_init = env::args_os().nth(3).is_some_and(|word| word == init::ARGUMENT);
    match if is_init { init::main() } else { supervise() } {
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
    if order.stdin == Source::Terminal {
        // From here on the terminal is that of this session, so that its keys reach whoever works in it.
        rustix::process::ioctl_tiocsctty(io::stdout())?;
    }
    let deadline = order.deadline_ms.and_then(wait::in_ms);
    let report = match order.world.clone() {
        Some(plan) => attend_in_world(order, &plan, deadline, &mut engine)?,
        None => match start(&order, &mut engine)? {
            Err(error) => Report::NotStarted(error),
            Ok(agent) => Supervisor::new(agent)?.attend(order.grace_ms, deadline, &mut engine),
        },
    };
    // Without an engine there is nobody to report to.
    let _ = wire::send(&mut engine, &report);
    Ok(())
}

/// Starts the agent. The outer error means that the engine is gone.
fn start(order: &Order, engine: &mut UnixStream) -> io::Result<Result<Pid, SpawnError>> {
    let stdin = match &order.stdin {
        Source::Nothing => None,
        Source::Following { bytes } => Some(start::receive_input(engine, *bytes)?),
        Source::Terminal => Some(start::terminal()?),
        Source::File(path) => match start::open_input(path) {
            Ok(file) => Some(file),
            Err(error) => return Ok(Err(error)),
        },
    };
    if order.walls.is_some() {
        kernel::close_on_exec_from(FIRST_INHERITED)?;
    }
    Ok(start::launch(order, stdin).map(|child| Pid::from_child(&child)))
}

/// Starts the agent in a world of its own, sees to it, and ends the world.
fn attend_in_world(
    order: Order,
    plan: &WorldPlan,
    deadline: Option<Instant>,
    engine: &mut UnixStream,
) -> io::Result<Report> {
    let grace_ms = order.grace_ms;
    let opened = match World::open(order, plan, engine)? {
        Ok(world) => world.await_start(deadline, engine),
        Err(error) => return Ok(Report::NotStarted(error)),
    };
    let ended = |how| Report::Ended { how, killed: Vec::new(), survived: Vec::new() };
    Ok(match opened {
        Opening::Begun(world) => {
            let supervisor = Supervisor::of_world(world)?;
            supervisor.attend(grace_ms, deadline, engine)
        }
        Opening::Refused(error) => Report::NotStarted(error),
        Opening::Deadline => ended(How::Deadline),
        Opening::Stopped => ended(How::Stopped),
    })
}

/// Why a supervisor stopped waiting for its agent.
enum End {
    Agent(How),
    Deadline,
    Stop,
    EngineGone,
}

/// Whom a supervisor sees to.
enum Charge {
    /// A process of the machine, with all that it starts.
    Agent(Pid),
    World(World),
}

struct Supervisor {
    charge: Charge,
    /// Gives the agent's end as one message, and ends itself when there is no descendant left.
    reaped: File,
    killed: BTreeMap<(u32, u64), Leftover>,
    survived: Vec<Leftover>,
}

impl Supervisor {
    fn new(agent: Pid) -> io::Result<Supervisor> {
        let (reaped, mut tell) = io::pipe()?;
        thread::spawn(move || reap(agent, &mut tell));
        Ok(Supervisor::with(Charge::Agent(agent), File::from(OwnedFd::from(reaped))))
    }

    /// In a world its first process reaps and tells. After it has entered a PID namespace for its children, this
    /// process could not even start a thread.
    fn of_world(world: World) -> io::Result<Supervisor> {
        let reaped = world.reaped()?;
        Ok(Supervisor::with(Charge::World(world), reaped))
    }

    fn with(charge: Charge, reaped: File) -> Supervisor {
        Supervisor { charge, reaped, killed: BTreeMap::new(), survived: Vec::new() }
    }

    fn attend(mut self, grace_ms: u64, deadline: Option<Instant>, engine: &mut UnixStream) -> Report {
        let how = match self.wait_for_end(deadline, engine) {
            End::Agent(how) => {
                if !self.all_gone_by(wait::in_ms(SETTLE_MS)) {
                    self.end_everyone(grace_ms.min(LINGER_MS_MAX));
                }
                how
            }
            End::Deadline => {
                self.end_everyone(grace_ms);
                How::Deadline
            }
            End::Stop | End::EngineGone => {
                self.end_everyone(grace_ms);
                How::Stopped
            }
        };
        self.end_world();
        let killed = self.killed.into_values().take(LEFTOVERS_MAX).collect();
        Report::Ended { how, killed, survived: self.survived }
    }

    fn wait_for_end(&mut self, deadline: Option<Instant>, engine: &mut UnixStream) -> End {
        loop {
            // If even the wait fails, the agent can no longer be controlled, and it is ended.
            let Ok([reaped, order]) =
                wait::ready([Some(self.reaped.as_fd()), Some(engine.as_fd())], deadline)
            else {
                return End::EngineGone;
            };
            if reaped {
                // Who reaps can only be silent when it was killed, and then the agent was killed with it.
                return End::Agent(self.read_end().unwrap_or(How::Signaled(Signal::KILL.as_raw())));
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
        if let Charge::World(_) = self.charge {
            // The end of the world ends them all at once. They are only looked at, to be named.
            self.signal_each_once(1, |_| Signalled::Sent);
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
            // A crowd that forks against its end grows while it is looked at. In a world that need not be won.
            if matches!(self.charge, Charge::World(_)) && self.killed.len() >= LEFTOVERS_MAX {
                break;
            }
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
        let mut found = alive::descendants(std::process::id());
        if let Charge::World(world) = &self.charge {
            found.retain(|process| !world.is_init(process));
        }
        found
    }

    /// Ends the world of the agent, if it has one. Whoever is left in it hangs in the kernel.
    fn end_world(&mut self) {
        let Charge::World(world) = &mut self.charge else { return };
        if !world.end(wait::in_ms(FORCE_MS)) {
            let left = self.scan();
            self.give_up_on(left);
        }
    }

    /// Remembers a descendant by its command line, which is gone once it has ended.
    fn note(&mut self, process: &Process) {
        let is_agent = match &self.charge {
            Charge::Agent(agent) => i32::try_from(process.pid).is_ok_and(|pid| pid == agent.as_raw_pid()),
            Charge::World(world) => world.is_agent(process),
        };
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

/// Reaps every child, also the orphans that were adopted on the way. Closing `tell` after it is the message that
/// nobody is left.
pub(super) fn reap(agent: Pid, tell: &mut impl Write) {
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
    fn an_end_is_told_over_the_pipe_as_it_was() {
        let (reader, mut writer) = io::pipe().unwrap();
        let agent = Charge::Agent(rustix::process::getpid());
        let mut supervisor = Supervisor::with(agent, File::from(OwnedFd::from(reader)));
        writer.write_all(&[b'e', 7, 0, 0, 0]).unwrap();
        writer.write_all(&[b's', 9, 0, 0, 0]).unwrap();
        drop(writer);
        assert_eq!(supervisor.read_end(), Some(How::Exited(i32::from_ne_bytes([7, 0, 0, 0]))));
        assert_eq!(supervisor.read_end(), Some(How::Signaled(i32::from_ne_bytes([9, 0, 0, 0]))));
        assert!(supervisor.all_gone_by(None));
    }
}
