//! The first process of a world: it makes the view, drops every privilege, starts the agent, and reaps.

use std::fs::File;
use std::io;
use std::io::ErrorKind;
use std::io::Read;
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::thread;

use rustix::fs::FileType;
use rustix::fs::fstat;
use rustix::process::Pid;
use rustix::process::Signal;
use rustix::process::geteuid;
use rustix::process::set_parent_process_death_signal;
use seriatim_kernel as kernel;
use seriatim_kernel::UnshareFlags;

use crate::hands::process::SpawnError;
use crate::hands::start;
use crate::hands::supervise;
use crate::hands::walls;
use crate::hands::wire;
use crate::hands::wire::Begun;
use crate::hands::wire::Order;
use crate::hands::wire::Source;
use crate::hands::world::AtStep;
use crate::hands::world::Network;
use crate::hands::world::WorldFault;
use crate::hands::world::WorldPlan;
use crate::hands::world::WorldStep;
use crate::hands::world::confine;
use crate::hands::world::loopback;
use crate::hands::world::view;

/// The third argument that turns the supervisor's program into the first process of a world.
pub(in crate::hands) const ARGUMENT: &str = "world";

/// Lives as long as the supervisor keeps the line open, and the world with it.
pub(in crate::hands) fn main() -> io::Result<()> {
    // It comes too late if the supervisor has ended already; then the line has ended too.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let mut line = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let order: Order = wire::receive(&mut line)?;
    let input = match order.stdin {
        Source::Following { bytes } => Some(start::receive_input(&mut line, bytes)?),
        Source::Nothing => None,
        Source::Terminal => Some(start::terminal()?),
        Source::File(_) => return Err(ErrorKind::InvalidInput.into()),
    };
    let begun = begin(&order, input);
    let told: Begun = begun.as_ref().map(Child::id).map_err(Clone::clone);
    wire::send(&mut line, &told)?;
    let Ok(agent) = begun else { return Ok(()) };
    let agent = Pid::from_child(&agent);
    if order.stdin == Source::Terminal {
        give_terminal(agent)?;
    }
    let mut tell = line.try_clone()?;
    thread::Builder::new().spawn(move || {
        supervise::reap(agent, &mut tell);
        // Nobody is left. This process itself stays until the supervisor has read that.
        let _ = tell.shutdown(Shutdown::Write);
    })?;
    // Nothing comes down the line any more but its end.
    while let Err(error) = line.read(&mut [0u8; 1]) {
        if error.kind() != ErrorKind::Interrupted {
            break;
        }
    }
    Ok(())
}

/// Lets the agent have the keys of the terminal. A shell that was faster has stopped itself meanwhile.
fn give_terminal(agent: Pid) -> io::Result<()> {
    rustix::termios::tcsetpgrp(io::stdout(), agent)?;
    // It fails where the agent has ended already.
    let _ = rustix::process::kill_process_group(agent, Signal::CONT);
    Ok(())
}

fn begin(order: &Order, input: Option<File>) -> Result<Child, SpawnError> {
    let Some(plan) = &order.world else {
        return Err(WorldFault::new(WorldStep::Start, "there is no plan").into());
    };
    make(plan)?;
    start::launch(order, input)
}

fn make(plan: &WorldPlan) -> Result<(), WorldFault> {
    check_outputs()?;
    kernel::close_on_exec_from(supervise::FIRST_INHERITED).at(WorldStep::Descriptors)?;
    let mut flags = UnshareFlags::NEWNS | UnshareFlags::NEWIPC;
    if plan.network == Network::None {
        flags |= UnshareFlags::NEWNET;
    }
    kernel::unshare(flags).map_err(|error| WorldFault {
        step: WorldStep::MountNamespace,
        errno: error.errno(),
        reason: error.to_string(),
    })?;
    view::make(plan, geteuid().is_root())?;
    match plan.network {
        Network::None => loopback::start().at(WorldStep::Loopback)?,
        // In a network namespace of its own there is no such socket of anybody else.
        Network::Host => walls::scope_sockets().at(WorldStep::Privileges)?,
    }
    confine::drop_privileges()
}

/// A folder as a descriptor leads out of the world, and a file can be opened again and truncated.
fn check_outputs() -> Result<(), WorldFault> {
    let step = WorldStep::Descriptors;
    for (number, status) in [(1, fstat(io::stdout())), (2, fstat(io::stderr()))] {
        let kind = FileType::from_raw_mode(status.at(step)?.st_mode);
        if !matches!(kind, FileType::Fifo | FileType::Socket | FileType::CharacterDevice) {
            let reason = format!("descriptor {number} is neither a pipe, a socket nor a device");
            return Err(WorldFault::new(step, reason));
        }
    }
    Ok(())
}
