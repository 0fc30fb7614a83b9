//! Tries once whether a world can be made on this machine, by making one.

use std::env;
use std::fmt;
use std::fs;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::path::PathBuf;

use rustix::io::Errno;

use crate::hands::process::Ended;
use crate::hands::process::How;
use crate::hands::process::Processes;
use crate::hands::process::Spawn;
use crate::hands::process::SpawnError;
use crate::hands::process::Unwatched;
use crate::hands::runner::Supervised;
use crate::hands::supervise;
use crate::hands::world::AtStep;
use crate::hands::world::Cover;
use crate::hands::world::Network;
use crate::hands::world::WorldFault;
use crate::hands::world::WorldPlan;
use crate::hands::world::WorldStep;

/// Far more than a world takes; it only keeps a broken machine from hanging the caller.
const DEADLINE_MS: u64 = 30_000;

const APPARMOR: &str = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";

/// Why there can be no world on this machine, and what would help.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no world can be made here: could not {step}: {reason}")]
pub struct NoWorld {
    pub step: WorldStep,
    pub reason: String,
    pub help: String,
}

/// Makes a world with everything that a world can have, in a folder of its own below `dir`, and runs this program in it.
/// A part of the sequence that works says nothing about the rest: namespaces without mounts are common.
///
/// The program must call [`supervise::main`] when its first argument is [`supervise::ARGUMENT`].
pub fn probe(dir: &Path) -> Result<(), NoWorld> {
    probe_by(&Supervised::by_this_program(), &own_program(), dir)
}

/// Does what [`probe`] does with the supervisor and the program that are given. That program must end with a code of
/// its own choice when its only argument is [`supervise::ARGUMENT`] and nobody gives it an order.
pub fn probe_by(processes: &dyn Processes, program: &Path, dir: &Path) -> Result<(), NoWorld> {
    let dir = dir.canonicalize().on(WorldStep::Layers, dir).map_err(|fault| explain(&fault))?;
    let scratch = dir.join(format!("probe-{}", std::process::id()));
    let tried = try_once(processes, program, &scratch);
    // The kernel leaves a folder without any rights below `work`.
    let _ = rustix::fs::chmod(scratch.join("work/work"), rustix::fs::Mode::RWXU);
    let removed = fs::remove_dir_all(&scratch);
    tried.map_err(|fault| explain(&fault))?;
    removed.map_err(|error| explain(&WorldFault::io(WorldStep::Layers, error)))
}

fn own_program() -> PathBuf {
    env::current_exe().unwrap_or_else(|_| PathBuf::from("/proc/self/exe"))
}

fn try_once(processes: &dyn Processes, program: &Path, scratch: &Path) -> Result<(), WorldFault> {
    let mut plan = prepare(scratch).map_err(|error| WorldFault::io(WorldStep::Layers, error))?;
    // It may lie below a folder that is private in a world.
    plan.show.push(program.to_owned());
    let at = scratch.join("covered");
    // A supervisor without an order on its input ends at once, with an error of its own.
    let argv = vec![program.display().to_string(), supervise::ARGUMENT.to_owned()];
    let marker = format!("probe-{}", std::process::id());
    let spawn = Spawn {
        world: Some(plan),
        deadline_ms: Some(DEADLINE_MS),
        grace_ms: 0,
        ..Spawn::new(argv, at, marker)
    };
    match processes.run(&spawn, &Unwatched) {
        Ok(Ended { how: How::Exited(_), .. }) => Ok(()),
        Ok(ended) => {
            let words = ended.how.in_words().unwrap_or_default();
            Err(WorldFault::new(WorldStep::Start, format!("the program inside {words}")))
        }
        Err(SpawnError::World(fault)) => Err(fault),
        Err(error) => Err(WorldFault::new(WorldStep::Start, error.to_string())),
    }
}

fn prepare(scratch: &Path) -> io::Result<WorldPlan> {
    let folder = |name: &str| -> io::Result<PathBuf> {
        let path = scratch.join(name);
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(path)
    };
    DirBuilder::new().mode(0o700).create(scratch)?;
    let at = folder("covered")?;
    fs::write(at.join("file"), "")?;
    let layer = folder("layer")?;
    let cover = Cover { at, lowers: vec![layer], upper: folder("upper")?, work: folder("work")? };
    let network = Network::None;
    let mut plan = WorldPlan { covers: vec![cover], network, ..WorldPlan::new(folder("own")?) };
    plan.share.push(folder("shared")?);
    plan.show.push(folder("shown")?);
    plan.hide.push(folder("hidden")?);
    Ok(plan)
}

fn explain(fault: &WorldFault) -> NoWorld {
    let apparmor = fs::read_to_string(APPARMOR).is_ok_and(|text| text.trim() == "1");
    NoWorld { step: fault.step, reason: fault.reason.clone(), help: help(fault, apparmor).to_string() }
}

/// What would help.
#[derive(Debug, PartialEq, Eq)]
enum Help {
    Limit,
    AppArmor,
    Forbidden,
    Processes,
    MaskedProc,
    Layers,
    OldKernel,
    Look,
}

fn help(fault: &WorldFault, apparmor: bool) -> Help {
    let errno = fault.errno.map(Errno::from_raw_os_error);
    match (fault.step, errno) {
        (_, Some(Errno::NOSPC | Errno::USERS))
            if matches!(
                fault.step,
                WorldStep::UserNamespace | WorldStep::ProcessNamespace | WorldStep::MountNamespace
            ) =>
        {
            Help::Limit
        }
        (_, Some(Errno::AGAIN)) => Help::Processes,
        (_, Some(Errno::NOSYS)) => Help::OldKernel,
        (WorldStep::ProcessFiles, Some(Errno::PERM | Errno::ACCESS)) => Help::MaskedProc,
        // AppArmor lets the namespace be made and takes the rights in it away.
        (_, Some(Errno::PERM | Errno::ACCESS)) if apparmor => Help::AppArmor,
        (_, Some(Errno::PERM | Errno::ACCESS)) => Help::Forbidden,
        (WorldStep::Layers, _) | (WorldStep::Overlay, Some(Errno::INVAL)) => Help::Layers,
        (WorldStep::Overlay, Some(Errno::NODEV)) => Help::OldKernel,
        _ => Help::Look,
    }
}

impl fmt::Display for Help {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Help::Limit => f.write_str(
                "namespaces are used up or switched off: raise the limits with \
                 `sysctl user.max_user_namespaces=15000` (likewise max_pid_namespaces, max_mnt_namespaces, \
                 max_ipc_namespaces, max_net_namespaces)",
            ),
            Help::AppArmor => {
                let program = own_program();
                write!(
                    f,
                    "AppArmor keeps this program from using namespaces. Write this profile to \
                     /etc/apparmor.d/seriatim and load it with `apparmor_parser -r /etc/apparmor.d/seriatim`:\n\
                     abi <abi/4.0>,\ninclude <tunables/global>\n\
                     profile seriatim \"{}\" flags=(unconfined) {{\n  userns,\n}}",
                    program.display()
                )
            }
            Help::Forbidden => f.write_str(
                "the system forbids it: in a container, allow namespaces and mounts (for Docker \
                 `--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt \
                 systempaths=unconfined`); on Debian, `sysctl kernel.unprivileged_userns_clone=1`",
            ),
            Help::Processes => f.write_str("the limit of processes is reached: see `ulimit -u`"),
            Help::MaskedProc => f.write_str(
                "parts of /proc are masked, as in a container: start it with `--security-opt \
                 systempaths=unconfined` (Docker) or `--security-opt unmask=ALL` (Podman)",
            ),
            Help::Layers => f.write_str(
                "layers need a file system that an overlay can write to, which another overlay is not: \
                 choose a folder on a disk or a tmpfs",
            ),
            Help::OldKernel => {
                f.write_str("the kernel is too old or lacks overlayfs: Linux 5.11 or later is needed")
            }
            Help::Look => f.write_str("the reason says what the system refused"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_refusal_has_its_own_remedy() {
        let fault = |step, errno: Errno| WorldFault {
            step,
            reason: String::new(),
            errno: Some(errno.raw_os_error()),
        };
        let cases = [
            (WorldStep::UserNamespace, Errno::NOSPC, false, Help::Limit),
            (WorldStep::MountNamespace, Errno::NOSPC, false, Help::Limit),
            (WorldStep::UserNamespace, Errno::PERM, true, Help::AppArmor),
            (WorldStep::MountNamespace, Errno::PERM, false, Help::Forbidden),
            (WorldStep::ProcessFiles, Errno::PERM, false, Help::MaskedProc),
            (WorldStep::Overlay, Errno::INVAL, false, Help::Layers),
            (WorldStep::Overlay, Errno::NODEV, false, Help::OldKernel),
            (WorldStep::Start, Errno::AGAIN, false, Help::Processes),
            (WorldStep::Loopback, Errno::IO, false, Help::Look),
        ];
        for (step, errno, apparmor, expected) in cases {
            assert_eq!(help(&fault(step, errno), apparmor), expected, "{step}");
        }
        let layers = WorldFault::new(WorldStep::Layers, "it lies on an overlay");
        assert_eq!(help(&layers, true), Help::Layers);
        assert!(Help::AppArmor.to_string().contains("userns,"));
    }
}
