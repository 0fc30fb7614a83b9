//! Worlds: a copy-on-write view of the machine in namespaces of its own, in which one process and its descendants live.
//!
//! Inside, the covered folders are at their own absolute paths and can be changed; outside, they do not move: what was
//! changed lies in the upper layer. Everything else is read-only, hidden or private. When the world ends, nothing that
//! ran in it is alive, whatever it did: the first process of its PID namespace is killed, and the kernel kills the rest.
//!
//! The supervisor ([`crate::hands::supervise`]) enters the PID namespace with its next child and stays outside itself:
//! it keeps its view of files and processes. That child is the same program again ([`init`]); it makes the mounts in a
//! mount namespace of its own, drops every privilege, starts the agent and reaps. Reasons: the design of worlds.

mod confine;
mod devices;
mod enter;
pub(super) mod init;
mod loopback;
mod mounts;
mod probe;
mod resolver;
mod table;
mod view;

use std::fmt;
use std::io;
use std::path::Path;
use std::path::PathBuf;

use rustix::io::Errno;
use serde::Deserialize;
use serde::Serialize;
pub use seriatim_core::world::Network;

use crate::hands::named;
pub(super) use crate::hands::world::enter::Opening;
pub(super) use crate::hands::world::enter::World;
pub use crate::hands::world::probe::NoWorld;
pub use crate::hands::world::probe::probe;
pub use crate::hands::world::probe::probe_by;
pub use crate::hands::world::table::mounts_below;

/// What a world is made of. All paths are absolute; [`Cover::upper`], [`Cover::work`] and `own` are made by the caller,
/// are private to the user, and belong to one world at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorldPlan {
    /// Folders that can be changed inside without being changed outside.
    pub covers: Vec<Cover>,
    /// Files and folders that are the real thing and can be written.
    #[serde(with = "named::paths")]
    pub share: Vec<PathBuf>,
    /// Files and folders that are the real thing and can be read.
    #[serde(with = "named::paths")]
    pub show: Vec<PathBuf>,
    /// Files and folders that are empty and read-only inside. A path that does not exist is skipped. A path that is
    /// replaced outside meanwhile appears inside as what it is then, unless it lies in a covered folder.
    #[serde(with = "named::paths")]
    pub hide: Vec<PathBuf>,
    /// The folder below which the world keeps its private `/tmp`, `/var/tmp` and `/dev/shm`.
    #[serde(with = "named::path")]
    pub own: PathBuf,
    pub network: Network,
}

impl WorldPlan {
    /// Plans a world in which nothing but the private folders below `own` can be written, with the host's network.
    pub fn new(own: impl Into<PathBuf>) -> WorldPlan {
        WorldPlan {
            covers: Vec::new(),
            share: Vec::new(),
            show: Vec::new(),
            hide: Vec::new(),
            own: own.into(),
            network: Network::Host,
        }
    }
}

/// One folder that is covered by an overlay at its own path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cover {
    #[serde(with = "named::path")]
    pub at: PathBuf,
    /// Layers between the real folder and the upper one, the topmost first.
    #[serde(with = "named::paths")]
    pub lowers: Vec<PathBuf>,
    /// Where the changes go. It gets the mode of `at`.
    #[serde(with = "named::path")]
    pub upper: PathBuf,
    /// A folder on the same mount as `upper` that the kernel needs for itself.
    #[serde(with = "named::path")]
    pub work: PathBuf,
}

/// The steps by which a world is made, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorldStep {
    Layers,
    UserNamespace,
    ProcessNamespace,
    Start,
    Descriptors,
    MountNamespace,
    Temporary,
    Overlay,
    Share,
    Show,
    Hide,
    Devices,
    ProcessFiles,
    ReadOnly,
    Loopback,
    Privileges,
}

impl WorldStep {
    fn words(self) -> &'static str {
        match self {
            WorldStep::Layers => "check the layers",
            WorldStep::UserNamespace => "create a user namespace",
            WorldStep::ProcessNamespace => "create a PID namespace",
            WorldStep::Start => "start the first process of the world",
            WorldStep::Descriptors => "check the inherited descriptors",
            WorldStep::MountNamespace => "create the mount, IPC and network namespaces",
            WorldStep::Temporary => "mount the private temporary folders",
            WorldStep::Overlay => "mount the overlay",
            WorldStep::Share => "mount a shared path",
            WorldStep::Show => "mount a read-only path",
            WorldStep::Hide => "hide a path",
            WorldStep::Devices => "mount the devices",
            WorldStep::ProcessFiles => "mount /proc",
            WorldStep::ReadOnly => "make the rest of the machine read-only",
            WorldStep::Loopback => "start the loopback interface",
            WorldStep::Privileges => "drop all privileges",
        }
    }
}

impl fmt::Display for WorldStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// Why a world was not made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("could not {step}: {reason}")]
pub struct WorldFault {
    pub step: WorldStep,
    pub reason: String,
    /// The number of the system's error, where there was one.
    pub errno: Option<i32>,
}

impl WorldFault {
    fn new(step: WorldStep, reason: impl Into<String>) -> WorldFault {
        WorldFault { step, reason: reason.into(), errno: None }
    }

    fn io(step: WorldStep, error: io::Error) -> WorldFault {
        WorldFault { step, reason: error.to_string(), errno: error.raw_os_error() }
    }
}

/// Turns errors of the system into faults that name step and path.
trait AtStep<T> {
    fn at(self, step: WorldStep) -> Result<T, WorldFault>;
    fn on(self, step: WorldStep, path: &Path) -> Result<T, WorldFault>;
}

impl<T, E: Into<io::Error>> AtStep<T> for Result<T, E> {
    fn at(self, step: WorldStep) -> Result<T, WorldFault> {
        self.map_err(|error| WorldFault::io(step, error.into()))
    }

    fn on(self, step: WorldStep, path: &Path) -> Result<T, WorldFault> {
        self.map_err(|error| {
            let error: io::Error = error.into();
            let errno = error.raw_os_error();
            WorldFault { step, reason: format!("{}: {error}", path.display()), errno }
        })
    }
}

/// True for the errors of a path that leads nowhere.
fn leads_nowhere(error: Errno) -> bool {
    matches!(error, Errno::ACCESS | Errno::NOENT | Errno::NOTDIR | Errno::LOOP)
}
