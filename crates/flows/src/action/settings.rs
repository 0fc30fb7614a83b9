//! What an action takes from the configuration.

use seriatim_core::config::Config;
use seriatim_core::config::DEFAULT_AGENT;
use seriatim_core::config::Kind;

use super::Start;
use super::course::Course;
use crate::Cx;

/// Returns the part of the configuration that an action depends on.
pub(crate) fn pins(config: &Config) -> Config {
    Config {
        agents: config.agents.clone(),
        gates: config.gates.clone(),
        actions: config.actions.clone(),
        ..Config::default()
    }
}

impl Start {
    /// Takes over what the configuration says about agents, gates and checks of files.
    pub fn adopt(&mut self, config: &Config) {
        let agents = &config.agents;
        self.gates.clone_from(&config.gates);
        self.fallbacks =
            agents.iter().filter_map(|(name, agent)| Some((name.clone(), agent.fallback.clone()?))).collect();
        let kinds = agents.iter().map(|(name, agent)| (name.clone(), agent.kind == Kind::Human));
        self.people = kinds.collect();
        if !self.people.values().any(|person| *person) {
            self.people.clear();
        }
        let timed = agents.iter().filter(|(_, agent)| agent.has_timeout);
        self.timeouts = timed.map(|(name, agent)| (name.clone(), agent.timeout_ms)).collect();
        self.syntax.clone_from(&config.actions.syntax);
        self.solution.clone_from(&config.actions.solution);
        self.pii_off.clone_from(&config.actions.pii_off);
    }
}

impl Start {
    /// Returns whether a person does the work of a role: in manual mode, or where its agent is one.
    pub(super) fn is_by_person(&self, agent: &str) -> bool {
        let configured = self.people.get(agent).or_else(|| self.people.get(DEFAULT_AGENT));
        self.manual || configured.copied().unwrap_or(false)
    }
}

impl Course {
    /// Takes over a configuration that a person put in place of the recorded one.
    pub(super) fn adopt(&mut self, cx: &Cx) {
        if let Some(switched) = cx.configuration() {
            self.start.adopt(&switched.config);
        }
    }
}
