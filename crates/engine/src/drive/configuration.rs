//! The configuration of a run: recorded at its start, compared when it is taken up, and changed by a person alone.

use std::sync::Arc;

use serde::Deserialize;
use serde::Serialize;
use seriatim_core::choices;
use seriatim_core::config::Difference;
use seriatim_core::config::PinnedConfig;
use seriatim_core::hash::Hash;
use seriatim_core::time::Utc;
use seriatim_flows::registry::Flow;
use seriatim_journal::Append;
use seriatim_journal::Lease;
use seriatim_journal::RunInfo;

use super::Driver;
use super::Error;
use super::load::History;
use super::note;
use crate::agents::pin;
use crate::listen::ConfigAnswer;

/// The key of the note about a decision on the configuration.
pub(super) const CONFIGURED: &str = "!config";

choices! {
    /// Which of two configurations a run goes on with.
    pub enum ConfigChoice {
        /// The recorded one.
        Old = "old",
        /// That of the moment.
        New = "new",
    }
}

/// What a person decided about a configuration that differs from the recorded one; journalled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConfigDecision {
    pub choice: ConfigChoice,
    pub by: String,
    pub at: Utc,
    pub differences: Vec<Difference>,
    /// The hash of the configuration of the moment, so that the same matter is decided once.
    pub seen: Hash,
    /// The configuration that holds from here on; absent where the recorded one was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<PinnedConfig>,
}

/// What the comparison led to.
pub(super) enum Compared {
    Holds(Arc<PinnedConfig>),
    /// Nobody has decided: the run stays as it is.
    Undecided(Undecided),
}

/// A difference that waits for a person, and what keeps one of the two choices from being taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undecided {
    pub differences: Vec<Difference>,
    /// Why the recorded configuration cannot be kept, where it cannot.
    pub only_new: Option<String>,
    /// Whether the configuration of the moment can be used.
    pub only_old: bool,
}

impl Driver<'_> {
    /// Finds the configuration that a run goes on with. A difference between the recorded one and that of the moment is
    /// decided by a person, and the decision is journalled before anything else is done.
    pub(super) fn compare(
        &mut self,
        lease: &Lease,
        info: &RunInfo,
        flow: &'static Flow,
        history: &mut History,
    ) -> Result<Compared, Error> {
        let Some(recorded) = history.config.clone() else {
            // Nothing is recorded: the run is of a version that did not, or of a world without a file.
            let config = PinnedConfig::new(self.config.as_ref().clone());
            return Ok(Compared::Holds(Arc::new(config)));
        };
        let files = self.disk.files.as_ref();
        let current = pin::pin(flow, &self.config, files, &self.disk.workspace, &self.door)?;
        let kept = |recorded: PinnedConfig| {
            let full = pin::with_secrets(recorded, &self.config, &current);
            Compared::Holds(Arc::new(full))
        };
        let seen = hash(&current, self.unreadable.as_deref())?;
        let matter = Undecided {
            differences: match &self.unreadable {
                Some(why) => vec![unreadable(why)],
                None => recorded.differences(&current),
            },
            only_new: cannot_keep(&recorded, &current),
            only_old: self.unreadable.is_some(),
        };
        let settled = history.decisions.last();
        let settled = settled.is_some_and(|last| last.choice == ConfigChoice::Old && last.seen == seen);
        if matter.differences.is_empty() || settled || history.ended.is_some() || history.cancelled {
            return Ok(kept(recorded));
        }
        let (choice, by) = match self.listener.decide(&info.name, &matter) {
            ConfigAnswer::Ignored => return Ok(kept(recorded)),
            ConfigAnswer::Later => return Ok(Compared::Undecided(matter)),
            ConfigAnswer::Decided { choice, by } => (choice, by),
        };
        let at = self.schedule.now();
        let config = (choice == ConfigChoice::New).then(|| current.clone());
        let decision = ConfigDecision { choice, by, at, differences: matter.differences, seen, config };
        let entries = vec![note(&self.door, CONFIGURED, at, &decision)?];
        let held = match choice {
            ConfigChoice::Old => kept(recorded),
            ConfigChoice::New => kept(current.clone()),
        };
        self.store.commit(&[Append { entries, ..Append::to(lease) }])?;
        history.decide(decision);
        Ok(held)
    }
}

fn unreadable(why: &str) -> Difference {
    Difference {
        about: "seriatim.toml".to_owned(),
        setting: String::new(),
        old: Some("usable".to_owned()),
        new: Some(format!("not: {why}")),
    }
}

fn hash(current: &PinnedConfig, unreadable: Option<&str>) -> Result<Hash, serde_json::Error> {
    Ok(Hash::of_parts(&[&serde_json::to_vec(current)?, unreadable.unwrap_or_default().as_bytes()]))
}

/// What of the record is not whole enough to be used, where the configuration of the moment cannot fill it in.
fn cannot_keep(recorded: &PinnedConfig, current: &PinnedConfig) -> Option<String> {
    let (old, new) = (&recorded.config.agents, &current.config.agents);
    if let Some(name) = recorded.withheld.iter().find(|name| old.get(*name) != new.get(*name)) {
        return Some(format!(
            "the recorded command of the agent {name} held a secret, which was not recorded"
        ));
    }
    let gone = |(name, script): &(&String, &seriatim_core::config::PinnedScript)| {
        let now = current.scripts.get(*name);
        script.text.is_none()
            && script.hash.is_some()
            && now.is_none_or(|now| now.path != script.path || now.hash != script.hash)
    };
    let (name, script) = recorded.scripts.iter().find(gone)?;
    Some(format!("the script {} of the agent {name} changed, and only its hash was recorded", script.path))
}
