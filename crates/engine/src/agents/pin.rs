//! Recording the configuration of a run, and using it as it was recorded.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use seriatim_core::config::Agent;
use seriatim_core::config::Config;
use seriatim_core::config::Kind;
use seriatim_core::config::PinnedConfig;
use seriatim_core::config::PinnedScript;
use seriatim_flows::registry::Flow;
use seriatim_journal::Door;

use super::scripted::SCRIPT_BYTES_MAX;
use crate::hands::files::Files;
use crate::hands::paths::Workspace;

/// A script that is longer than this is recorded by its hash alone.
const SCRIPT_TEXT_BYTES_MAX: usize = 64 << 10;

/// A configuration that cannot be recorded.
#[derive(Debug, thiserror::Error)]
#[error("the configuration cannot be recorded: {0}")]
pub struct Unrecordable(#[from] serde_json::Error);

/// Records the part of `config` that a run of `flow` depends on, without its secrets.
pub fn pin(
    flow: &Flow,
    config: &Config,
    files: &dyn Files,
    workspace: &Workspace,
    door: &Door,
) -> Result<PinnedConfig, Unrecordable> {
    // Where agents work matters to every dialect.
    let mut raw = PinnedConfig::new(Config { worlds: config.worlds.clone(), ..(flow.pins)(config) });
    raw.scripts = scripts(&raw.config.agents, files, workspace, door);
    let cleaned = door.clean(serde_json::to_vec(&raw)?);
    let mut pinned: PinnedConfig = serde_json::from_slice(cleaned.as_bytes())?;
    let differs = |(name, agent): &(&String, &Agent)| pinned.config.agents.get(*name) != Some(*agent);
    let withheld: BTreeSet<String> =
        raw.config.agents.iter().filter(differs).map(|(name, _)| name.clone()).collect();
    pinned.withheld = withheld;
    Ok(pinned)
}

fn scripts(
    agents: &BTreeMap<String, Agent>,
    files: &dyn Files,
    workspace: &Workspace,
    door: &Door,
) -> BTreeMap<String, PinnedScript> {
    let mut scripts = BTreeMap::new();
    for (name, agent) in agents {
        let Kind::Scripted { script } = &agent.kind else { continue };
        let found = workspace.resolve(script).and_then(|path| files.read(&path, SCRIPT_BYTES_MAX)).ok();
        let hash = found.as_ref().map(|found| found.hash);
        let text = found
            .filter(|found| found.bytes.len() <= SCRIPT_TEXT_BYTES_MAX)
            .and_then(|found| String::from_utf8(found.bytes).ok())
            .filter(|text| door.clean_text(text) == *text);
        scripts.insert(name.clone(), PinnedScript { path: script.clone(), hash, text });
    }
    scripts
}

/// Returns the recorded configuration with the secrets that the record lacks, as far as the configuration of the moment
/// is the same otherwise.
pub(crate) fn with_secrets(
    mut recorded: PinnedConfig,
    moment: &Config,
    current: &PinnedConfig,
) -> PinnedConfig {
    for name in &recorded.withheld {
        let same = recorded.config.agents.get(name) == current.config.agents.get(name);
        if let Some(agent) = moment.agents.get(name).filter(|_| same) {
            recorded.config.agents.insert(name.clone(), agent.clone());
        }
    }
    recorded
}
