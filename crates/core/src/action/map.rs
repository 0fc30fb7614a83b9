//! `agents/agent-map.yaml`: which roles there are, what each reads and writes, and how actions are wired from them.
//! The front matter of an action file carries the same for one action.

mod reader;
#[cfg(test)]
mod tests;

use super::gate::GateKind;
use super::gate::Limit;
use super::placeholders;
use crate::doc;
use crate::doc::At;
use crate::doc::Node;
use crate::doc::Sink;
use crate::finding::Finding;
use crate::finding::Place;

/// Where the map lies.
pub const PATH: &str = "agents/agent-map.yaml";

/// The whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentMap {
    pub roles: Vec<RoleEntry>,
    pub actions: Vec<Wiring>,
    /// The rules about `agents/` and `planning-mds/` in the map's own words.
    pub boundary: Vec<String>,
    /// Where the lifecycle file lies, if the map says so.
    pub lifecycle: Option<String>,
}

/// One entry of `agents`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleEntry {
    pub name: At<String>,
    /// Where its guide lies, if not at the usual place.
    pub skill: Option<String>,
    pub terms: Terms,
}

/// What holds for a role, or for one of its parts in an action. What is absent is decided elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    pub reads: Option<Vec<String>>,
    pub writes: Option<Vec<At<String>>>,
    /// Sections that its Markdown must have; under the empty path they hold for all of it.
    pub sections: Vec<(String, Vec<String>)>,
    /// When it is needed at all, in words.
    pub condition: Option<String>,
    pub optional: Option<bool>,
    pub review: Option<bool>,
    pub timeout_ms: Option<u64>,
}

/// How one action is wired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wiring {
    pub name: At<String>,
    /// The action's own file, if not at the usual place.
    pub doc: Option<String>,
    pub description: String,
    pub prerequisites: Vec<At<String>>,
    /// What must exist when it is done, beside what its roles owe.
    pub outputs: Vec<String>,
    pub steps: Vec<Step>,
    /// Roles that hold for this action alone; only front matter has them.
    pub roles: Vec<RoleEntry>,
}

/// One step of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Roles that work at the same time; a single one is the ordinary case.
    Work {
        parts: Vec<Part>,
        place: Place,
    },
    Gate {
        gate: GateEntry,
        place: Place,
    },
}

/// One role in a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub role: At<String>,
    /// What it does here: a phase, a purpose or a mode.
    pub purpose: String,
    pub terms: Terms,
}

/// A gate as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateEntry {
    pub kind: GateKind,
    /// The word that stands in the file.
    pub word: String,
    pub name: Option<String>,
    pub command: Vec<String>,
    pub limits: Vec<Limit>,
    pub checklist: Vec<String>,
}

impl AgentMap {
    /// Reads a map as far as it can be read, and says everything that is wrong with it.
    pub fn read(text: &str) -> (AgentMap, Vec<Finding>) {
        let (root, mut findings) = placeholders::parse(text);
        let sink = Sink::default();
        let map = root.as_ref().map(|root| AgentMap::of(root, &sink)).unwrap_or_default();
        findings.extend(sink.into_findings());
        doc::sort(&mut findings);
        (map, findings)
    }

    /// Reads a tree.
    pub fn of(root: &Node, sink: &Sink) -> AgentMap {
        reader::map(root, sink)
    }

    /// The entry of a role; another way to write its name, or an alias, will do.
    pub fn role(&self, name: &str) -> Option<&RoleEntry> {
        find(&self.roles, name)
    }

    /// How an action is wired.
    pub fn action(&self, name: &str) -> Option<&Wiring> {
        self.actions.iter().find(|wiring| wiring.name.value == name)
    }
}

impl Wiring {
    /// The wiring in the front matter of an action file; `None` where it does not wire anything.
    pub(super) fn of_front_matter(root: &Node, name: &str, sink: &Sink) -> Option<Wiring> {
        reader::front_matter(root, name, sink)
    }
}

/// An entry by its very name, else by a name that means the same role.
pub(super) fn find<'e>(entries: &'e [RoleEntry], name: &str) -> Option<&'e RoleEntry> {
    let same = |entry: &&RoleEntry| super::roles::canonical(&entry.name) == super::roles::canonical(name);
    entries.iter().find(|entry| entry.name.value == name).or_else(|| entries.iter().find(same))
}
