//! Device files and `/proc` of a world.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::symlink;
use rustix::mount::MountFlags;
use rustix::mount::mount;
use rustix::mount::mount_bind;

use crate::hands::world::AtStep;
use crate::hands::world::WorldFault;
use crate::hands::world::WorldStep;
use crate::hands::world::mounts::attach;
use crate::hands::world::mounts::clone_tree;
use crate::hands::world::mounts::mount_point;

/// The devices that programs of all kinds need.
const NODES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

const LINKS: [(&str, &str); 5] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// Parts of `/proc` that change the machine. They belong to root, who needs no capability to write them.
const PROC_OF_ROOT: [&str; 6] = ["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi"];

/// Takes hold of the devices before anything is mounted over them.
pub(super) fn take_nodes() -> Vec<(&'static str, OwnedFd)> {
    let take = |name: &'static str| Some((name, clone_tree(&Path::new("/dev").join(name)).ok()?));
    NODES.into_iter().filter_map(take).collect()
}

/// Mounts a `/dev` with little in it. Root without capabilities still owns the devices of the machine, its disks too.
pub(super) fn mount_small(at: &Path, nodes: &[(&'static str, OwnedFd)]) -> Result<(), WorldFault> {
    let step = WorldStep::Devices;
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    mount("tmpfs", at, "tmpfs", flags, c"size=64k,mode=0755").on(step, at)?;
    for (name, tree) in nodes {
        let path = at.join(name);
        attach(tree, &mount_point(&path, false).on(step, &path)?).on(step, &path)?;
    }
    for name in ["shm", "pts"] {
        fs::create_dir(at.join(name)).on(step, &at.join(name))?;
    }
    for (name, target) in LINKS {
        symlink(target, at.join(name)).on(step, &at.join(name))?;
    }
    Ok(())
}

/// Mounts terminals of the world's own: those of the machine belong to the user, and so would be open to an agent.
pub(super) fn mount_terminals(at: &Path) -> Result<(), WorldFault> {
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    mount("devpts", at, "devpts", flags, c"newinstance,ptmxmode=0666,mode=0620").on(WorldStep::Devices, at)
}

/// Mounts the `/proc` of this PID namespace. What [`crate::hands::world::mounts::close_rest`] does not know stays
/// read-only, so parts that must not be written are made mounts of their own.
pub(super) fn mount_proc(is_root: bool) -> Result<(), WorldFault> {
    let step = WorldStep::ProcessFiles;
    let proc = Path::new("/proc");
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", proc, "proc", flags, None).on(step, proc)?;
    if is_root {
        for path in PROC_OF_ROOT.map(|name| proc.join(name)) {
            if path.exists() {
                mount_bind(&path, &path).on(step, &path)?;
            }
        }
        // The memory of the machine is readable by its owner alone, who is root.
        for path in ["kcore", "kmsg", "keys"].map(|name| proc.join(name)) {
            if path.exists() {
                mount_bind("/dev/null", &path).on(step, &path)?;
            }
        }
    }
    Ok(())
}
