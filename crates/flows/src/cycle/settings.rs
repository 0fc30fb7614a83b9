//! What a cycle takes from the configuration.

use seriatim_core::config;
use seriatim_core::config::Config;

use super::Gate;
use super::Start;
use super::course::Course;
use crate::request::Check;

/// The checks that the battery knows.
const BATTERY: [&str; 3] = ["tests", "lint", "security"];

/// Returns the part of the configuration that a cycle depends on.
pub(crate) fn pins(config: &Config) -> Config {
    let gates = config.gates.iter().filter(|(name, _)| BATTERY.contains(&name.as_str()));
    Config {
        agents: config.agents.clone(),
        gates: gates.map(|(name, gate)| (name.clone(), gate.clone())).collect(),
        cycle: config.cycle.clone(),
        ..Config::default()
    }
}

impl From<&config::Gate> for Gate {
    fn from(gate: &config::Gate) -> Gate {
        Gate {
            argv: gate.command.clone(),
            within: gate.within.clone(),
            subset: gate.subset.clone(),
            timeout_ms: gate.timeout_ms,
            env: gate.env.clone(),
            check: Check::of("", gate),
        }
    }
}

impl Start {
    /// Takes over gates and alert of the configuration.
    pub fn adopt(&mut self, config: &Config) {
        let config = pins(config);
        self.gates = config.gates.iter().map(|(name, gate)| (name.clone(), Gate::from(gate))).collect();
        self.alert = config.cycle.alert;
    }
}

impl Course<'_> {
    /// Takes over a configuration that a person put in place of the recorded one.
    pub(super) fn adopt(&mut self) {
        if let Some(switched) = self.cx.configuration() {
            self.start.adopt(&switched.config);
        }
    }
}
