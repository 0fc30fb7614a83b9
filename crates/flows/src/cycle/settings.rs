//! What a cycle takes from the configuration.

use seriatim_core::config::Config;

use super::Start;
use super::battery::Battery;
use super::course::Course;

/// Returns the part of the configuration that a cycle depends on.
pub(crate) fn pins(config: &Config) -> Config {
    let gates =
        config.gates.iter().filter(|(name, _)| Battery::ALL.iter().any(|check| check.key() == name.as_str()));
    Config {
        agents: config.agents.clone(),
        gates: gates.map(|(name, gate)| (name.clone(), gate.clone())).collect(),
        cycle: config.cycle.clone(),
        ..Config::default()
    }
}

impl Start {
    /// Takes over gates and alert of the configuration.
    pub fn adopt(&mut self, config: &Config) {
        let config = pins(config);
        self.gates = config.gates;
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
