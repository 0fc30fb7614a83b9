//! The registry: which commands are validated, how strictly, and what they need.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::closest::closest;
use crate::doc::Fields;
use crate::doc::Node;
use crate::doc::Sink;
use crate::doc::Vocabulary;

/// How strictly the prompts of a command are checked (DS-07, K-31).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Markers, all sections, the list of phases, the state file.
    Full,
    /// Markers and the sections of the command's template; no state file, no list of phases.
    Partial,
    /// Not at all.
    None,
}

impl Vocabulary for Level {
    const WHAT: &'static str = "a level of validation";
    const WORDS: &'static [(&'static str, Level)] =
        &[("full", Level::Full), ("partial", Level::Partial), ("none", Level::None)];
}

/// One command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// As it is typed: `/nw:execute`.
    pub name: String,
    pub level: Level,
    /// Its prompts name a state file.
    pub step_file: bool,
    /// The template of its prompts.
    pub template: Option<String>,
    /// Its entry of the section definitions.
    pub sections: Option<String>,
}

/// The commands that are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registry {
    commands: BTreeMap<String, Command>,
}

impl Registry {
    pub fn get(&self, name: &str) -> Option<&Command> {
        self.commands.get(name)
    }

    /// Adds a command, or replaces the one of its name.
    pub fn insert(&mut self, command: Command) {
        self.commands.insert(command.name.clone(), command);
    }

    pub fn iter(&self) -> impl Iterator<Item = &Command> {
        self.commands.values()
    }

    /// The command that was probably meant.
    pub fn closest(&self, name: &str) -> Option<&Command> {
        closest(name, self.commands.keys().map(String::as_str)).and_then(|known| self.get(known))
    }

    /// The command that this template serves.
    pub fn of_template(&self, template: &str) -> Option<&Command> {
        self.iter().find(|command| command.template.as_deref() == Some(template))
    }

    /// Takes in what `_validation-schema.json` says; what it does not name stays as it is.
    pub(super) fn read(&mut self, root: &Node, sink: &Sink) {
        let Some(mut fields) = Fields::of(root, "the validation schema", sink) else { return };
        fields.ignore(&["$comment", "version"]);
        let commands = fields.required("commands");
        fields.finish();
        for (key, node) in commands.and_then(Node::as_map).unwrap_or_default() {
            let Some(mut fields) = Fields::of(node, "a command", sink) else { continue };
            let level = fields.required_word("level", Level::Full).value;
            let step_file = fields.flag("step_file").is_some_and(|flag| flag.value);
            let template = fields.text("template").map(|text| text.value);
            let sections = fields.text("sections").map(|text| text.value);
            fields.finish();
            self.insert(Command { name: key.text.clone(), level, step_file, template, sections });
        }
    }
}
