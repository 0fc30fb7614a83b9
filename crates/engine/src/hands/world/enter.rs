//! The supervisor's side of a world: it opens the namespaces, starts the first process in them, and ends them.

use std::env;
use std::fs;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Child;
use std::process::Command;
use std::time::Instant;

use rustix::fs::FlockOperation;
use rustix::fs::Mode;
use rustix::fs::OFlags;
use rustix::fs::flock;
use rustix::fs::open;
use rustix::io::Errno;
use rustix::net::RecvFlags;
use rustix::net::recv;
use rustix::process::Pid;
use rustix::process::PidfdFlags;
use rustix::process::getegid;
use rustix::process::geteuid;
use rustix::process::pidfd_open;
use seriatim_kernel as kernel;
use seriatim_kernel::UnshareError;
use seriatim_kernel::UnshareFlags;

use crate::hands::alive::Process;
use crate::hands::process::SpawnError;
use crate::hands::start;
use crate::hands::supervise;
use crate::hands::wait;
use crate::hands::wire;
use crate::hands::wire::Begun;
use crate::hands::wire::Order;
use crate::hands::wire::Source;
use crate::hands::world::AtStep;
use crate::hands::world::WorldFault;
use crate::hands::world::WorldPlan;
use crate::hands::world::WorldStep;
use crate::hands::world::confine;
use crate::hands::world::init;

/// How long a world that is being made may still take when the engine asks for its end.
const START_MS: u64 = 5_000;

/// A world under way.
pub(in crate::hands) struct World {
    init: Child,
    /// Readable when the first process has ended, and with it all the others.
    over: OwnedFd,
    /// The order goes down, the start and the end of the agent come up, and its end is the lifeline of the world.
    line: UnixStream,
    /// The agent's id as the world itself counts.
    agent: u32,
    /// The same layers in two worlds at once would damage both, and the kernel lets it happen.
    _locks: Vec<OwnedFd>,
}

/// What became of the start of an agent in a world.
pub(in crate::hands) enum Opening {
    Begun(World),
    Refused(SpawnError),
    Deadline,
    Stopped,
}

impl World {
    /// Makes the namespaces and sends the order into them. The outer error means that the engine is gone.
    pub(in crate::hands) fn open(
        mut order: Order,
        plan: &WorldPlan,
        engine: &mut UnixStream,
    ) -> io::Result<Result<World, SpawnError>> {
        let (input, bytes) = match &order.stdin {
            Source::Nothing | Source::Terminal => (None, 0),
            Source::Following { bytes } => (Some(start::receive_input(engine, *bytes)?), *bytes),
            Source::File(path) => match start::copy_input(path) {
                Ok((file, bytes)) => (Some(file), bytes),
                Err(error) => return Ok(Err(error)),
            },
        };
        if input.is_some() {
            order.stdin = Source::Following { bytes };
        }
        Ok(enter(order, plan, input).map_err(SpawnError::from))
    }

    /// Waits until the agent has started. The world may hang while it is made, for instance at a dead network drive.
    pub(in crate::hands) fn await_start(mut self, deadline: Option<Instant>, engine: &UnixStream) -> Opening {
        match wait::ready([Some(self.line.as_fd()), Some(engine.as_fd())], deadline) {
            Ok([true, _]) => {}
            // The agent may have started without this process knowing it yet, and then it is asked to end like any other.
            Ok([false, true]) if is_asked_to_stop(engine) && self.begins_by(wait::in_ms(START_MS)) => {}
            Ok([false, true]) | Err(_) => return self.give_up(Opening::Stopped),
            Ok([false, false]) => return self.give_up(Opening::Deadline),
        }
        match wire::receive::<Begun>(&mut self.line) {
            Ok(Ok(agent)) => {
                self.agent = agent;
                Opening::Begun(self)
            }
            Ok(Err(error)) => self.give_up(Opening::Refused(error)),
            Err(error) => {
                let fault = WorldFault::io(WorldStep::Start, error);
                self.give_up(Opening::Refused(fault.into()))
            }
        }
    }

    fn begins_by(&self, moment: Option<Instant>) -> bool {
        matches!(wait::ready([Some(self.line.as_fd())], moment), Ok([true]))
    }

    fn give_up(mut self, opening: Opening) -> Opening {
        // One that hangs in the kernel is left to the engine, which sees that the supervisor is late.
        self.end(wait::in_ms(START_MS));
        opening
    }

    /// Returns the line on which the agent's end comes, and then its own end when nobody but the first process is
    /// left.
    pub(in crate::hands) fn reaped(&self) -> io::Result<File> {
        Ok(File::from(self.line.as_fd().try_clone_to_owned()?))
    }

    pub(in crate::hands) fn is_init(&self, process: &Process) -> bool {
        process.pid == self.init.id()
    }

    /// True for the agent itself, which outside has another id than inside.
    pub(in crate::hands) fn is_agent(&self, process: &Process) -> bool {
        process.parent == self.init.id() && inner_id(process.pid) == Some(self.agent)
    }

    /// Kills all that lives in the world and waits until the kernel says that it is over, at most until `moment`. Returns
    /// whether it is over.
    pub(in crate::hands) fn end(&mut self, moment: Option<Instant>) -> bool {
        // It fails only when the first process has ended already.
        let _ = self.init.kill();
        let is_over = matches!(wait::ready([Some(self.over.as_fd())], moment), Ok([true]));
        is_over && self.init.wait().is_ok()
    }
}

/// Looks at what the engine says and leaves it to be read. Without anything to read the engine is gone.
fn is_asked_to_stop(engine: &UnixStream) -> bool {
    let mut byte = [0u8; 1];
    matches!(recv(engine, &mut byte[..], RecvFlags::PEEK), Ok((1, _)))
}

/// The id of a process in its innermost namespace.
fn inner_id(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let ids = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    ids.split_whitespace().next_back()?.parse().ok()
}

fn enter(mut order: Order, plan: &WorldPlan, input: Option<File>) -> Result<World, WorldFault> {
    let step = WorldStep::Start;
    // The working folder means the one outside, and is entered by its name when all is mounted.
    order.cwd = std::path::absolute(&order.cwd).on(step, &order.cwd)?;
    let locks = lock_layers(plan)?;
    kernel::close_on_exec_from(supervise::FIRST_INHERITED).at(WorldStep::Descriptors)?;
    enter_namespaces()?;
    let (mut line, theirs) = UnixStream::pair().at(step)?;
    let marker = env::args_os().nth(2).unwrap_or_default();
    let mut init = Command::new("/proc/self/exe")
        .arg0("seriatim")
        .arg(supervise::ARGUMENT)
        .arg(marker)
        .arg(init::ARGUMENT)
        .env_clear()
        .current_dir("/")
        .stdin(OwnedFd::from(theirs))
        .spawn()
        .at(step)?;
    let sent = send(&mut line, &order, input);
    let over = pidfd_open(Pid::from_child(&init), PidfdFlags::empty());
    let over = match sent.and(over.map_err(io::Error::from)) {
        Ok(over) => over,
        Err(error) => {
            let _ = init.kill();
            let _ = init.wait();
            return Err(WorldFault::io(step, error));
        }
    };
    Ok(World { init, over, line, agent: 0, _locks: locks })
}

fn send(line: &mut UnixStream, order: &Order, input: Option<File>) -> io::Result<()> {
    wire::send(line, order)?;
    if let Some(mut input) = input {
        io::copy(&mut input, line)?;
    }
    Ok(())
}

/// Enters a PID namespace with the next child, and as an ordinary user a user namespace at once. The supervisor keeps
/// its mounts: it goes on to see the processes of the machine, and those of the world among them.
fn enter_namespaces() -> Result<(), WorldFault> {
    let fault =
        |step, error: UnshareError| WorldFault { step, errno: error.errno(), reason: error.to_string() };
    if geteuid().is_root() {
        match kernel::unshare(UnshareFlags::NEWPID) {
            Ok(()) => return Ok(()),
            // Root of a container may have no right to it, and can have a user namespace like anybody else.
            Err(error) if error.errno() == Some(Errno::PERM.raw_os_error()) => {}
            Err(error) => return Err(fault(WorldStep::ProcessNamespace, error)),
        }
    }
    let (uid, gid) = (geteuid().as_raw(), getegid().as_raw());
    let flags = UnshareFlags::NEWUSER | UnshareFlags::NEWPID;
    kernel::unshare(flags).map_err(|error| fault(WorldStep::UserNamespace, error))?;
    // The user is mapped to itself: programs that are told to be root behave in other ways.
    let write = |path: &str, text: &str| fs::write(path, text).on(WorldStep::UserNamespace, path.as_ref());
    write("/proc/self/setgroups", "deny")?;
    write("/proc/self/uid_map", &format!("{uid} {uid} 1"))?;
    write("/proc/self/gid_map", &format!("{gid} {gid} 1"))?;
    confine::pass_on()
}

fn lock_layers(plan: &WorldPlan) -> Result<Vec<OwnedFd>, WorldFault> {
    let step = WorldStep::Layers;
    let mut locks = Vec::new();
    for cover in &plan.covers {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let held = open(&cover.upper, flags, Mode::empty()).on(step, &cover.upper)?;
        match flock(&held, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => {
                let reason = format!("{} is the upper layer of another world", cover.upper.display());
                return Err(WorldFault::new(step, reason));
            }
            locked => locked.on(step, &cover.upper)?,
        }
        locks.push(held);
    }
    Ok(locks)
}
