//! An action as a flow carries it out: stages in their order, who works in each, and the gates behind it.

mod resolve;
mod rework;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::Serialize;

use super::gate::Gate;
use super::inputs::Input;
use super::paths::Promise;
use super::paths::PromiseKind;

pub use resolve::Unresolved;
pub use resolve::resolve;
pub use rework::Rework;

/// The resolved plan of an action. It is plain data, so that a run can pin it at its start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    pub name: String,
    /// Where its definition lies: `agents/actions/build.md`.
    pub doc: String,
    pub description: String,
    pub origin: Origin,
    /// All inputs that it needs (OC-15).
    pub prerequisites: Vec<Input>,
    pub stages: Vec<Stage>,
    /// What must exist when it is done, beside what its roles owe.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<String>,
}

/// Where the plan comes from. Front matter wins over the map, and both over what is built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    FrontMatter,
    Map,
    BuiltIn,
    /// Read from the drawing under `## Agent Flow`, because nothing else says it.
    AgentFlow,
}

/// Roles that work at the same time, and the gates that come after them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    /// From 1, as people count.
    pub number: u32,
    /// May be empty: then only gates stand here.
    pub duties: Vec<Duty>,
    /// In their order.
    pub gates: Vec<Gate>,
}

/// What one role has to do in a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Duty {
    pub role: String,
    /// What it does here: a phase, a purpose or a mode.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub purpose: String,
    /// Where its guide lies.
    pub guide: String,
    /// When it is needed at all, in words; empty means always.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub condition: String,
    pub reads: Vec<String>,
    /// Its output contract: files, folders and patterns of the workspace.
    pub writes: Vec<String>,
    /// Sections that its Markdown must have; under the empty path they hold for all of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<(String, Vec<String>)>,
    /// The action can go on without it.
    pub optional: bool,
    /// It judges the work of others and owes findings.
    pub review: bool,
    pub timeout_ms: u64,
}

impl Action {
    /// Every folder, file and pattern that a role may write: with `planning-mds/` the scope of a snapshot (K-52).
    pub fn snapshot_scope(&self) -> Vec<String> {
        let writes = self.duties().flat_map(|duty| duty.writes.iter().cloned());
        let mut scope: Vec<String> =
            std::iter::once(super::paths::PLANNING.to_owned()).chain(writes).collect();
        scope.sort();
        scope.dedup();
        scope
    }

    /// All duties, in the order of the stages.
    pub fn duties(&self) -> impl Iterator<Item = &Duty> {
        self.stages.iter().flat_map(|stage| &stage.duties)
    }

    /// The names of all roles, each once, in the order in which they begin.
    pub fn roles(&self) -> Vec<&str> {
        let mut roles: Vec<&str> = vec![];
        for duty in self.duties() {
            if !roles.contains(&duty.role.as_str()) {
                roles.push(&duty.role);
            }
        }
        roles
    }
}

impl Stage {
    pub fn is_parallel(&self) -> bool {
        self.duties.len() > 1
    }
}

impl Duty {
    /// `Product Manager (phase A)`
    pub fn title(&self) -> String {
        let title = super::roles::title(&self.role);
        if self.purpose.is_empty() { title } else { format!("{title} ({})", self.purpose) }
    }

    /// What it owes and has not written, by the files that exist (OC-41). A role that judges owes its findings, so for it
    /// a pattern only says where it may write.
    pub fn missing(&self, existing: &BTreeSet<String>) -> Vec<String> {
        let is_pattern =
            |entry: &String| Promise::parse(entry).is_ok_and(|promise| promise.kind == PromiseKind::Pattern);
        let owed: Vec<String> =
            self.writes.iter().filter(|entry| !(self.review && is_pattern(entry))).cloned().collect();
        super::paths::missing(&owed, existing)
    }

    /// Whether its contract names this very file.
    pub fn names(&self, path: &str) -> bool {
        self.writes.iter().any(|entry| {
            Promise::parse(entry)
                .is_ok_and(|promise| promise.kind == PromiseKind::File && promise.text == path)
        })
    }

    /// Whether it may write a path.
    pub fn may_write(&self, path: &str) -> bool {
        super::paths::covered(&self.writes, path)
    }
}
