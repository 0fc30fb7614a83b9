//! The agents that a step can be given to.

use std::collections::BTreeSet;

use super::Message;
use crate::finding::Finding;
use crate::finding::Place;
use crate::roadmap::plan::AGENTS;

/// What each of the usual agents is good at (DW-24).
const CAPABILITIES: [(&str, &str); 6] = [
    ("researcher", "Information gathering, analysis, documentation"),
    ("software-crafter", "Implementation, testing, refactoring, code quality"),
    ("solution-architect", "System design, architecture decisions, planning"),
    ("product-owner", "Requirements, business analysis, stakeholder alignment"),
    ("acceptance-designer", "Test definition, acceptance criteria, BDD"),
    ("devop", "Deployment, operations, infrastructure, lifecycle management"),
];

/// The names that are accepted: the usual six, and those of the configuration after them (DW-17, K-101).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registry {
    configured: Vec<String>,
    /// Whether the project opted in to steps in files of their own (K-13).
    pub(super) step_files: bool,
}

impl Registry {
    /// The usual agents and those of the configuration, each once. `default` stands for any and is not a name.
    pub fn new<'a>(configured: impl IntoIterator<Item = &'a str>) -> Registry {
        let mut own: Vec<String> = vec![];
        for name in configured {
            let known = AGENTS.contains(&name) || own.iter().any(|known| known == name);
            if name != "default" && !known {
                own.push(name.to_owned());
            }
        }
        Registry { configured: own, step_files: false }
    }

    /// The same for a project that still has steps in files of their own.
    #[must_use]
    pub fn with_step_files(self) -> Registry {
        Registry { step_files: true, ..self }
    }

    /// All names, in the order in which messages list them.
    pub fn names(&self) -> Vec<String> {
        AGENTS.into_iter().map(str::to_owned).chain(self.configured.iter().cloned()).collect()
    }

    /// What an agent is good at, where that is known.
    pub fn capability(name: &str) -> Option<&'static str> {
        CAPABILITIES.iter().find(|(known, _)| *known == name).map(|(_, capability)| *capability)
    }

    /// Whether there is an agent of that name (DW-20).
    pub fn accept(&self, name: &str) -> Result<(), Message> {
        self.check(name)
    }

    pub(super) fn check(&self, name: &str) -> Result<(), Message> {
        let known = self.names();
        if known.iter().any(|known| known == name) {
            return Ok(());
        }
        Err(Message::InvalidAgent { name: name.to_owned(), known })
    }

    /// What an agent directory and the registry have different (DW-24): names that only one of them knows.
    pub fn drift<'a>(&self, directory: impl IntoIterator<Item = &'a str>) -> Vec<Finding> {
        let there: BTreeSet<&str> = directory.into_iter().collect();
        let names = self.names();
        let known: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        let gone =
            known.difference(&there).map(|name| format!("the agent `{name}` is not in the agent directory"));
        let new = there.difference(&known).map(|name| format!("the agent `{name}` is not registered"));
        gone.chain(new).map(|message| Finding::warning("agent-registry", Place::TOP, message)).collect()
    }
}

/// Which agents can be called at the moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Availability {
    /// The names of `[agents.NAME]`.
    pub configured: BTreeSet<String>,
    /// Whether there is an `[agents.default]`, which serves for every name.
    pub has_default: bool,
    /// Those that are at their limit of concurrent work.
    pub busy: BTreeSet<String>,
}

impl Availability {
    /// Whether an agent can be called now, else the message with those that can (DW-21, DW-22).
    pub fn check(&self, name: &str, registry: &Registry) -> Result<(), Message> {
        if self.has(name) {
            return Ok(());
        }
        let available = registry.names().into_iter().filter(|name| self.has(name)).collect();
        Err(Message::AgentUnavailable { name: name.to_owned(), available })
    }

    fn has(&self, name: &str) -> bool {
        (self.has_default || self.configured.contains(name)) && !self.busy.contains(name)
    }
}
