//! What an action takes from the configuration.

use seriatim_core::config;
use seriatim_core::config::Config;

use super::Gate;
use super::Start;
use super::course::Course;
use crate::Cx;
use crate::request::Check;

/// Returns the part of the configuration that an action depends on.
pub(crate) fn pins(config: &Config) -> Config {
    Config {
        agents: config.agents.clone(),
        gates: config.gates.clone(),
        actions: config.actions.clone(),
        ..Config::default()
    }
}

impl From<&config::Gate> for Gate {
    fn from(gate: &config::Gate) -> Gate {
        Gate {
            argv: gate.command.clone(),
            within: gate.within.clone(),
            timeout_ms: gate.timeout_ms,
            env: gate.env.clone(),
            check: Check::of("", gate),
            expect: gate.expect.clone(),
            value: gate.value.clone(),
            threshold: gate.threshold.map(|threshold| threshold.to_string()),
            comparator: gate.comparator,
        }
    }
}

impl Start {
    /// Takes over what the configuration says about agents, gates and checks of files.
    pub fn adopt(&mut self, config: &Config) {
        let agents = &config.agents;
        self.gates = config.gates.iter().map(|(name, gate)| (name.clone(), Gate::from(gate))).collect();
        self.fallbacks =
            agents.iter().filter_map(|(name, agent)| Some((name.clone(), agent.fallback.clone()?))).collect();
        let timed = agents.iter().filter(|(_, agent)| agent.has_timeout);
        self.timeouts = timed.map(|(name, agent)| (name.clone(), agent.timeout_ms)).collect();
        self.syntax.clone_from(&config.actions.syntax);
        self.solution.clone_from(&config.actions.solution);
        self.pii_off.clone_from(&config.actions.pii_off);
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
