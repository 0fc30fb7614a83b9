//! Walls: what a process may reach where there can be no world. They are made by Landlock, which every user may use.
//!
//! They are weaker than a world. Inside of them a process still can change modes, times and attributes of real files
//! that are its own, look at files by `stat`, use sockets that have a path, send UDP, and see other processes. And what
//! it starts can outlive it like anything else that the supervisor has to find.

use std::io;
use std::path::Path;
use std::path::PathBuf;

use landlock::ABI;
use landlock::Access;
use landlock::AccessFs;
use landlock::AccessNet;
use landlock::CompatLevel;
use landlock::Compatible;
use landlock::Ruleset;
use landlock::RulesetAttr;
use landlock::RulesetCreatedAttr;
use landlock::RulesetError;
use landlock::Scope;
use landlock::path_beneath_rules;
use serde::Deserialize;
use serde::Serialize;

use crate::hands::named;
use crate::hands::process::SpawnError;
use crate::hands::world::Network;

/// The first version of Landlock that can keep a file from being truncated.
pub const ABI_MIN: u32 = 3;
/// The first version of Landlock that knows TCP.
const ABI_NETWORK: u32 = 4;
/// The first version of Landlock that knows scopes: signals and abstract sockets.
const ABI_SCOPES: u32 = 6;

/// Devices that programs of all kinds need. They hold nothing.
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// What a process may reach: these paths with all that is below them, and a few devices. A path that does not exist is
/// skipped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Walls {
    #[serde(with = "named::paths")]
    pub read_write: Vec<PathBuf>,
    /// What may be read and executed.
    #[serde(with = "named::paths")]
    pub read_only: Vec<PathBuf>,
    /// Without network there is no TCP; Landlock cannot deny UDP.
    pub network: Network,
}

/// Returns the version of Landlock on this machine, as far as walls make use of it (1 to 6), or `None` without it.
pub fn landlock_abi() -> Option<u32> {
    let has = |ruleset: Result<Ruleset, RulesetError>| ruleset.and_then(Ruleset::create).is_ok();
    let strict = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let files = |abi| has(strict().handle_access(AccessFs::from_all(abi)));
    let levels = [
        files(ABI::V1),
        files(ABI::V2),
        files(ABI::V3),
        has(strict().handle_access(AccessNet::BindTcp)),
        files(ABI::V5),
        has(strict().scope(Scope::AbstractUnixSocket)),
    ];
    // A version brings all that the earlier ones have.
    let known = levels.into_iter().take_while(|level| *level).count();
    u32::try_from(known).ok().filter(|abi| *abi > 0)
}

/// Puts the walls up around this thread and all that it starts from now on.
pub(super) fn put_up(walls: &Walls) -> Result<(), SpawnError> {
    let abi = landlock_abi();
    let needed = if walls.network == Network::None { ABI_NETWORK } else { ABI_MIN };
    if abi.is_none_or(|abi| abi < needed) {
        let reason = match abi {
            None => "this kernel has no Landlock, or it is switched off".to_owned(),
            Some(abi) => format!("this kernel has version {abi} of Landlock, and version {needed} is needed"),
        };
        return Err(SpawnError::Walls { reason });
    }
    restrict(walls).map_err(|error| SpawnError::Walls { reason: error.to_string() })
}

/// Keeps this thread and all that it starts from sockets without a path that belong to processes outside. An old
/// kernel cannot. It denies nothing else, so that programs inside can still make sandboxes of their own.
pub(super) fn scope_sockets() -> Result<(), io::Error> {
    if landlock_abi().is_none_or(|abi| abi < ABI_SCOPES) {
        return Ok(());
    }
    let scope = || Ruleset::default().scope(Scope::AbstractUnixSocket)?.create()?.restrict_self();
    scope().map(|_| ()).map_err(io::Error::other)
}

fn restrict(walls: &Walls) -> Result<(), RulesetError> {
    // What is newer than that is handled where the kernel knows it: the right to use devices, and scopes.
    let newest = ABI::V6;
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V3))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(newest))?
        .scope(Scope::from_all(newest))?;
    if walls.network == Network::None {
        rules = rules
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessNet::from_all(ABI::V4))?
            .set_compatibility(CompatLevel::BestEffort);
    }
    let written = walls.read_write.iter().map(PathBuf::as_path).chain(DEVICES.iter().map(Path::new));
    // A device that root makes would lead to disks and memory past every wall.
    let made = AccessFs::from_all(newest) & !(AccessFs::MakeBlock | AccessFs::MakeChar);
    rules
        .create()?
        .add_rules(path_beneath_rules(written, made))?
        .add_rules(path_beneath_rules(&walls.read_only, AccessFs::from_read(newest)))?
        .restrict_self()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_one_that_walls_know() {
        assert!(landlock_abi().is_none_or(|abi| (1..=ABI_SCOPES).contains(&abi)));
    }
}
