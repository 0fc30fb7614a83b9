//! What the steps of a roadmap take from the configuration.

use std::collections::BTreeMap;

use seriatim_core::config;
use seriatim_core::config::Config;
use seriatim_core::config::DEFAULT_AGENT;
use seriatim_core::gate::Gate;

use super::Call;
use super::Start;
use super::project::Project;
use super::work::Work;
use crate::Cx;

/// The gates that phases know.
const GATES: [&str; 5] = ["acceptance", "tests", "lint", "coverage", "security"];

/// Returns the part of the configuration that a step depends on.
pub(crate) fn pins(config: &Config) -> Config {
    let gates = config.gates.iter().filter(|(name, _)| GATES.contains(&name.as_str()));
    Config {
        agents: config.agents.clone(),
        gates: gates.map(|(name, gate)| (name.clone(), gate.clone())).collect(),
        roadmap: config.roadmap.clone(),
        guard: config::Guard { phases: config.guard.phases.clone(), ..config::Guard::default() },
        ..Config::default()
    }
}

impl Start {
    /// Takes over what the configuration says about agents, gates and the course of steps.
    pub fn adopt(&mut self, config: &Config) {
        let config = pins(config);
        self.agents = config.agents.keys().filter(|name| *name != DEFAULT_AGENT).cloned().collect();
        self.gates = config.gates;
        self.call = if config.roadmap.whole_steps { Call::Step } else { Call::Phase };
        self.push = config.roadmap.push;
        self.entry_point = config.roadmap.entry_point;
        self.mutation = config.roadmap.mutation;
        self.finalize = config.roadmap.finalize;
    }
}

impl Project {
    /// Returns what the project was started with, under the configuration that holds at this point.
    pub(super) fn start_at(&self, cx: &Cx) -> Start {
        let mut start = self.start.clone();
        if let Some(switched) = cx.configuration() {
            start.adopt(&switched.config);
        }
        start
    }

    /// Returns the gates that hold at this point.
    pub(super) fn gates(&self, cx: &Cx) -> BTreeMap<String, Gate> {
        self.start_at(cx).gates
    }
}

impl Work<'_> {
    /// Takes over a configuration that a person put in place of the recorded one: the files that gates name are those
    /// of the new gates.
    pub(super) async fn adopt(&mut self, cx: &Cx) {
        let Some(switched) = cx.configuration().filter(|switched| switched.number != self.configuration)
        else {
            return;
        };
        self.configuration = switched.number;
        self.gates = self.project.gates(cx);
        self.memory.gate_files.clear();
        self.pin_gates(cx).await;
    }
}
