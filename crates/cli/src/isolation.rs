//! How far agents and gates are kept apart here, why not further, and where their layers are.

use std::path::Path;
use std::path::PathBuf;

use serde::Serialize;
use seriatim_core::config::Config;
use seriatim_core::config::Kind;
use seriatim_core::world::Isolation;
use seriatim_core::world::Network;
use seriatim_engine::hands::views::coverable;
use seriatim_engine::hands::views::in_force;
use seriatim_engine::hands::walls::landlock_abi;
use seriatim_engine::hands::world::NoWorld;
use seriatim_engine::home::Home;

use crate::args::Context;
use crate::workspace::CONFIG;
use crate::workspace::Workspace;

/// What `doctor` says about isolation.
#[derive(Debug, Serialize)]
pub(crate) struct IsolationReport {
    pub(crate) ok: bool,
    pub(crate) world: WorldReport,
    /// Absent where the kernel has none.
    pub(crate) landlock_abi: Option<u32>,
    pub(crate) agents: Vec<Apart>,
    pub(crate) gates: Vec<Apart>,
    pub(crate) layers: Layers,
}

/// Whether a world can be made, and what keeps it from being made.
#[derive(Debug, Default, Serialize)]
pub(crate) struct WorldReport {
    pub(crate) works: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) step: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) help: Option<String>,
}

/// How far one agent or gate is kept apart.
#[derive(Debug, Serialize)]
pub(crate) struct Apart {
    pub(crate) name: String,
    /// Absent where it cannot be started as it is configured.
    pub(crate) isolation: Option<Isolation>,
    pub(crate) network: Network,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) weakness: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
}

/// Where the layers are, or will be.
#[derive(Debug, Serialize)]
pub(crate) struct Layers {
    pub(crate) folder: PathBuf,
    /// Whether there are layers now.
    pub(crate) in_use: bool,
    pub(crate) free_bytes: Option<u64>,
}

impl WorldReport {
    fn new(tried: &Result<(), NoWorld>) -> WorldReport {
        match tried {
            Ok(()) => WorldReport { works: true, ..WorldReport::default() },
            Err(NoWorld { step, reason, help }) => WorldReport {
                works: false,
                step: Some(step.to_string()),
                reason: Some(reason.clone()),
                help: Some(help.clone()),
            },
        }
    }

    /// Returns the finding as a clause.
    pub(crate) fn words(&self) -> String {
        match (&self.step, &self.reason) {
            (Some(step), Some(reason)) => format!("none can be made here, could not {step}: {reason}"),
            _ => "agents and gates change a view of the workspace, never the workspace itself".to_owned(),
        }
    }
}

impl Layers {
    /// Returns the words before the name of the folder.
    pub(crate) fn words(&self) -> &'static str {
        if self.in_use { "in" } else { "none yet; they will be in" }
    }
}

/// Makes a world for a moment, and says what each agent and gate of the configuration gets.
pub(crate) fn examine(context: &Context, root: &Path) -> IsolationReport {
    let config = configuration(context, root);
    let workspace = Workspace { config, ..Workspace::unconfigured(root.to_owned(), Home::of(root)) };
    let worlds = workspace.worlds();
    let in_use = worlds.recorded().is_ok_and(|folder| folder.is_some());
    let (folder, tried) = worlds.examine();
    let share: Vec<PathBuf> = workspace.config.worlds.share.iter().map(|folder| root.join(folder)).collect();
    let tried = tried.and_then(|()| coverable(root, &share));
    let apart = |name: &String, wanted: Option<Isolation>, network: Network| {
        let found = in_force(&tried, wanted);
        let (isolation, problem) = match found {
            Ok(isolation) => (Some(isolation), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let weakness = isolation.and_then(Isolation::weakness);
        Apart { name: name.clone(), isolation, network, weakness, problem }
    };
    let programs =
        workspace.config.agents.iter().filter(|(_, agent)| matches!(agent.kind, Kind::Command { .. }));
    let agents = programs.map(|(name, agent)| apart(name, agent.isolation, agent.network)).collect();
    let gates = workspace.config.gates.iter();
    let gates = gates.map(|(name, gate)| apart(name, gate.isolation, gate.network)).collect();
    let free_bytes = rustix::fs::statvfs(&folder).ok().map(|disk| disk.f_bavail * disk.f_frsize);
    IsolationReport {
        ok: tried.is_ok(),
        world: WorldReport::new(&tried),
        landlock_abi: landlock_abi(),
        agents,
        gates,
        layers: Layers { folder, in_use, free_bytes },
    }
}

/// Reads the configuration as far as it can be read: what is wrong with it is the matter of other commands.
fn configuration(context: &Context, root: &Path) -> Config {
    let tables: Vec<&str> = context.registry.sections().collect();
    let text = std::fs::read_to_string(root.join(CONFIG)).unwrap_or_default();
    Config::read_with(&text, &tables).0
}
