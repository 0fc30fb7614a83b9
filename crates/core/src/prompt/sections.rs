//! Which sections a prompt must have and may have, as data.

use std::collections::BTreeMap;

use crate::doc::Fields;
use crate::doc::Node;
use crate::doc::Sink;

/// The section that stands for the list of phases, whatever title the schema gives it.
pub const PHASES: &str = "TDD_14_PHASES";
/// The section that the marker block stands for (K-24).
pub const METADATA: &str = "DES_METADATA";
/// The section with the budget of turns and minutes.
pub const TIMEOUT: &str = "TIMEOUT_INSTRUCTION";
/// The section with the words of the task, which may hold any text.
pub const CONTEXT: &str = "TASK_CONTEXT";

/// The sections of one kind of prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SectionSet {
    pub mandatory: Vec<String>,
    pub optional: Vec<String>,
}

/// All section definitions, by name (`execute_step`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sections {
    sets: BTreeMap<String, SectionSet>,
}

impl Sections {
    pub fn get(&self, name: &str) -> Option<&SectionSet> {
        self.sets.get(name)
    }

    /// Adds a definition, or replaces the one of its name.
    pub fn insert(&mut self, name: &str, set: SectionSet) {
        self.sets.insert(name.to_owned(), set);
    }

    /// The names of all sections, each once.
    pub fn names(&self) -> Vec<&str> {
        let all = self.sets.values().flat_map(|set| set.mandatory.iter().chain(&set.optional));
        let mut names: Vec<&str> = all.map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Takes in what `_section-definitions.yaml` says; what it does not name stays as it is.
    pub(super) fn read(&mut self, root: &Node, sink: &Sink) {
        if Fields::of(root, "the section definitions", sink).is_none() {
            return;
        }
        for (key, node) in root.as_map().unwrap_or_default() {
            let Some(mut fields) = Fields::of(node, "a section definition", sink) else { continue };
            let texts =
                |lines: Vec<crate::doc::At<String>>| lines.into_iter().map(|line| line.value).collect();
            fields.required("mandatory_sections");
            let mandatory = texts(fields.lines("mandatory_sections"));
            let optional = texts(fields.lines("optional_sections"));
            fields.finish();
            self.insert(&key.text, SectionSet { mandatory, optional });
        }
    }
}
