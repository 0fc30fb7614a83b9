//! What a process run takes from the configuration.

use seriatim_core::config::Config;

use super::Start;
use super::course::Course;

/// Returns the part of the configuration that a process run depends on.
pub(crate) fn pins(config: &Config) -> Config {
    Config { agents: config.agents.clone(), process: config.process.clone(), ..Config::default() }
}

impl Start {
    /// Takes over what the configuration says about the course of a run.
    pub fn adopt(&mut self, config: &Config) {
        self.actor.clone_from(&config.process.actor);
        self.progress_every = config.process.progress_every;
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
