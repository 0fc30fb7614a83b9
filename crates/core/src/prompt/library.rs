//! The library: templates, section definitions and the registry, built in or a project's own.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::sync::OnceLock;

use super::phases::PhaseList;
use super::registry::Command;
use super::registry::Registry;
use super::sections::SectionSet;
use super::sections::Sections;
use super::standard;
use super::template::SUFFIX;
use super::template::Template;
use super::template::stem;
use crate::closest::closest;
use crate::doc;
use crate::doc::At;
use crate::doc::Limits;
use crate::doc::Node;
use crate::doc::Sink;
use crate::finding::Finding;
use crate::finding::Place;

/// Where a project keeps its own (DS-10).
pub const FOLDER: &str = "nWave/templates/prompt-templates";
/// The file with the registry of commands.
pub const SCHEMA_FILE: &str = "_validation-schema.json";
/// The file with the mandatory and optional sections.
pub const SECTIONS_FILE: &str = "_section-definitions.yaml";

/// The files that are built in, by name.
pub const BUILT_IN: [(&str, &str); 8] = [
    (SECTIONS_FILE, include_str!("templates/_section-definitions.yaml")),
    (SCHEMA_FILE, include_str!("templates/_validation-schema.json")),
    ("base-task.template.md", include_str!("templates/base-task.template.md")),
    ("execute-step.template.md", include_str!("templates/execute-step.template.md")),
    ("develop-orchestrate.template.md", include_str!("templates/develop-orchestrate.template.md")),
    ("baseline-create.template.md", include_str!("templates/baseline-create.template.md")),
    ("roadmap-create.template.md", include_str!("templates/roadmap-create.template.md")),
    ("split-steps.template.md", include_str!("templates/split-steps.template.md")),
];

static STANDARD: LazyLock<Library> = LazyLock::new(|| Library {
    sections: standard::sections(),
    registry: standard::registry(),
    templates: OnceLock::new(),
});

/// Everything that prompts are made from and held against.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Library {
    pub sections: Sections,
    pub registry: Registry,
    /// Read when they are first asked for: a hook that validates a prompt needs none of them.
    templates: OnceLock<BTreeMap<String, Template>>,
}

/// A finding about one of the files of a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InFile {
    pub file: String,
    pub finding: Finding,
}

impl Library {
    /// What is built in.
    pub fn standard() -> &'static Library {
        &STANDARD
    }

    /// What is built in, with the files of a project over it: name of the file to its text.
    pub fn with(files: &BTreeMap<String, String>) -> (Library, Vec<InFile>) {
        let mut library = Library::standard().clone();
        let findings = library.take(files);
        (library, findings)
    }

    fn take(&mut self, files: &BTreeMap<String, String>) -> Vec<InFile> {
        // What is built in is read by the sections that are built in.
        let mut templates = self.all().clone();
        let mut findings = self.take_rules(files);
        let known = self.section_names();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        for (file, text) in files.iter().filter(|(file, _)| file.ends_with(SUFFIX)) {
            let (template, found) = Template::parse(stem(file), text, &known);
            findings.extend(found.into_iter().map(|finding| InFile { file: file.to_owned(), finding }));
            templates.insert(template.name.clone(), template);
        }
        self.templates = OnceLock::from(templates);
        findings
    }

    fn section_names(&self) -> Vec<String> {
        self.sections.names().into_iter().map(str::to_owned).collect()
    }

    /// All templates; at first those that are built in.
    fn all(&self) -> &BTreeMap<String, Template> {
        self.templates.get_or_init(|| {
            let known = self.section_names();
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let files = BUILT_IN.iter().filter(|(file, _)| file.ends_with(SUFFIX));
            files
                .map(|(file, text)| {
                    let (template, _) = Template::parse(stem(file), text, &known);
                    (template.name.clone(), template)
                })
                .collect()
        })
    }

    fn take_rules(&mut self, files: &BTreeMap<String, String>) -> Vec<InFile> {
        let mut findings = vec![];
        let mut say = |file: &str, found: Vec<Finding>| {
            findings.extend(found.into_iter().map(|finding| InFile { file: file.to_owned(), finding }));
        };
        // Sections first: they say which titles of a template begin a section.
        if let Some(text) = files.get(SECTIONS_FILE) {
            say(SECTIONS_FILE, read(text, |root, sink| self.sections.read(root, sink)));
        }
        if let Some(text) = files.get(SCHEMA_FILE) {
            say(SCHEMA_FILE, read(text, |root, sink| self.registry.read(root, sink)));
        }
        findings
    }

    /// Adds a template, or replaces the one of its name.
    pub fn insert(&mut self, template: Template) {
        let mut templates = self.all().clone();
        templates.insert(template.name.clone(), template);
        self.templates = OnceLock::from(templates);
    }

    /// A template as it was written, by its name or the name of its file.
    pub fn template(&self, name: &str) -> Option<&Template> {
        self.all().get(stem(name))
    }

    pub(super) fn templates(&self) -> impl Iterator<Item = &Template> {
        self.all().values()
    }

    /// The names of the templates from which prompts can be made.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.all().values().filter(|template| !template.is_abstract).map(|template| template.name.as_str())
    }

    /// The command that a template serves: the one it names, else the one that names it.
    pub fn command_of(&self, template: &Template) -> Option<&Command> {
        let named = template.command.as_deref().and_then(|command| self.registry.get(command));
        named.or_else(|| self.registry.of_template(&template.name))
    }

    /// The sections of a command. One that names none of its own has those of a step, the strictest.
    pub fn sections_of(&self, command: Option<&Command>) -> Option<&SectionSet> {
        let named =
            command.and_then(|command| command.sections.as_deref()).and_then(|name| self.sections.get(name));
        named.or_else(|| self.sections.get("execute_step"))
    }

    /// All titles that begin a section, with those of the list of phases.
    pub fn titles<'a>(&'a self, phases: &'a PhaseList) -> Vec<&'a str> {
        let mut titles = self.sections.names();
        titles.extend(phases.titles.iter().map(String::as_str));
        titles
    }

    /// A template with everything that it takes over from others (DS-84).
    pub fn resolve(&self, name: &str) -> Result<Template, Vec<Finding>> {
        let Some(first) = self.template(name) else {
            return Err(vec![unknown(self, stem(name), Place::TOP, "there is no template")]);
        };
        self.resolve_template(first)
    }

    /// The same for a template that is not in the library.
    pub(super) fn resolve_template(&self, first: &Template) -> Result<Template, Vec<Finding>> {
        let mut chain = vec![first];
        let mut last = first;
        while let Some(parent) = &last.extends {
            let first_place = first.extends.as_ref().map_or(Place::TOP, |extends| extends.place);
            if chain.iter().any(|template| template.name == parent.value) {
                return Err(vec![cycle(&chain, parent, first_place)]);
            }
            let Some(next) = self.template(parent) else {
                let what = format!("`{}` extends a template that is not there:", last.name);
                return Err(vec![unknown(self, parent, first_place, &what)]);
            };
            chain.push(next);
            last = next;
        }
        let mut chain = chain.into_iter().rev();
        let Some(root) = chain.next() else { return Ok(first.clone()) };
        Ok(chain.fold(root.clone(), |whole, template| template.over(&whole)))
    }
}

fn read(text: &str, take: impl FnOnce(&Node, &Sink)) -> Vec<Finding> {
    let (root, mut findings) = doc::parse(text.as_bytes(), &Limits::default());
    let sink = Sink::default();
    if let Some(root) = root {
        take(&root, &sink);
    }
    findings.extend(sink.into_findings());
    findings
}

/// The rule about the template that another one extends: it has to be there.
pub(super) const EXTENDS: &str = "template-extends";

fn unknown(library: &Library, name: &str, place: Place, what: &str) -> Finding {
    let known: Vec<&str> = library.all().keys().map(String::as_str).collect();
    let help = match closest(name, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("known are {}", known.join(", ")),
    };
    Finding::error(EXTENDS, place, format!("{what} `{name}`")).help(help)
}

fn cycle(chain: &[&Template], parent: &At<String>, place: Place) -> Finding {
    let mut names: Vec<&str> = chain.iter().map(|template| template.name.as_str()).collect();
    names.push(parent);
    let message = format!("templates extend each other in a circle: {}", names.join(" -> "));
    Finding::error("template-circle", place, message)
        .help("take one `extends` out, so that there is a first one")
}
