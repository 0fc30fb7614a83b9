//! The documents that wire actions: the catalogue, the map and the actions' own files. They are read in the same way
//! before a run exists and at its beginning.

use std::collections::BTreeSet;

use serde_json::Value;
use seriatim_core::action::ActionFile;
use seriatim_core::action::AgentMap;
use seriatim_core::action::Catalogue;
use seriatim_core::action::guide::RoleGuide;
use seriatim_core::action::lifecycle::Lifecycle;
use seriatim_core::action::map::Step;
use seriatim_core::action::plan;
use seriatim_core::action::plan::Action;
use seriatim_core::action::plan::Unresolved;
use seriatim_core::action::routing;
use seriatim_core::action::routing::Routed;
use seriatim_core::finding::Finding;
use seriatim_core::finding::Place;
use seriatim_core::finding::has_errors;
use seriatim_core::reading::BrokenFile;
use seriatim_core::reading::Reading;
use seriatim_core::seal::Sealed;
use seriatim_core::time::Utc;

use super::ACTIONS;
use super::LIFECYCLE;
use super::MAP;
use super::lifecycle::APPROVED;
use super::rollback::RESTORES;
use super::rollback::SEALED;
use crate::Cx;
use crate::entrance::Ground;

const CATALOGUE: &str = "README.md";

/// The documents of a workspace.
#[derive(Default)]
pub(super) struct Documents {
    catalogue: Option<Catalogue>,
    map: Option<AgentMap>,
    files: Vec<WrittenAction>,
    /// What keeps every action from being started: which one is meant depends on all of the files.
    broken: Vec<BrokenFile>,
}

/// An action's own file.
struct WrittenAction {
    file: ActionFile,
    path: String,
    text: String,
    findings: Vec<Finding>,
}

impl WrittenAction {
    /// The file as a broken one: its front matter wires what nobody can carry out.
    fn unresolved(&self, error: &Unresolved) -> BrokenFile {
        let steps = self.file.wiring.iter().flat_map(|wiring| &wiring.steps);
        let place = steps.into_iter().find_map(|step| match (step, error) {
            (Step::Work { parts, .. }, Unresolved::UnknownRole { role, .. }) => {
                parts.iter().find(|part| part.role.value == *role).map(|part| part.role.place)
            }
            (Step::Work { .. } | Step::Gate { .. }, _) => None,
        });
        let finding = Finding::error("action", place.unwrap_or(Place::TOP), error.to_string())
            .help("declare the role under `agents`, or name one that is known");
        BrokenFile::of(&self.path, self.text.clone(), vec![finding])
    }
}

/// Why there is no plan for an action.
pub(super) enum Unplanned {
    Broken(Vec<BrokenFile>),
    Unresolved(Unresolved),
}

impl Documents {
    /// Reads them at the beginning of a run. Links are not listed there, so that their names come from its start.
    pub(super) async fn read(cx: &Cx, linked: &[String]) -> Documents {
        let mut documents = Documents::default();
        let listed = cx.survey(vec![ACTIONS.to_owned()], vec![]).await.folders.pop().unwrap_or_default();
        let names: BTreeSet<&String> = listed.iter().chain(linked).collect();
        for name in names.into_iter().filter(|name| name.ends_with(".md")) {
            let path = format!("{ACTIONS}/{name}");
            let text = cx.reading(&path).await.map(|text| text.text);
            documents.take_file(name, &path, text);
        }
        documents.take_map(cx.reading(MAP).await.map(|text| text.text));
        documents
    }

    /// Reads them before a run exists.
    pub(super) fn find(ground: &dyn Ground) -> Documents {
        let mut documents = Documents::default();
        for name in names_in(ground) {
            let path = format!("{ACTIONS}/{name}");
            documents.take_file(&name, &path, ground.text(&path));
        }
        documents.take_map(ground.text(MAP));
        documents
    }

    fn take_file(&mut self, name: &str, path: &str, text: Reading<String>) {
        match text {
            Reading::Absent => {}
            Reading::Broken(broken) => self.broken.push(broken),
            Reading::Read(text) if name == CATALOGUE => self.catalogue = Some(Catalogue::read(&text).0),
            Reading::Read(text) => {
                let (file, findings) = ActionFile::read(path, &text);
                self.files.push(WrittenAction { file, path: path.to_owned(), text, findings });
            }
        }
    }

    fn take_map(&mut self, text: Reading<String>) {
        let reading = text.parse(MAP, |text| {
            let (map, findings) = AgentMap::read(text);
            (Some(map), findings)
        });
        match reading.optional() {
            Ok(map) => self.map = map.map(|(map, _)| map),
            Err(broken) => self.broken.push(broken),
        }
    }

    /// Returns an error where a file cannot be used on which every action depends.
    pub(super) fn unreadable(&self) -> Result<(), Vec<BrokenFile>> {
        if self.broken.is_empty() { Ok(()) } else { Err(self.broken.clone()) }
    }

    /// Returns the action that is meant by words (OC-09, OC-10).
    pub(super) fn route(&self, intent: &str) -> Routed {
        let files: Vec<ActionFile> = self.files.iter().map(|written| written.file.clone()).collect();
        let candidates = routing::candidates(self.catalogue.as_ref(), self.map.as_ref(), &files);
        routing::route(intent, &candidates)
    }

    /// Returns the plan of an action, or everything that is wrong with its own file.
    pub(super) fn resolve(&self, name: &str) -> Result<Action, Unplanned> {
        let own = self.own(name);
        if let Some(own) = own.filter(|own| has_errors(&own.findings)) {
            let broken = BrokenFile::of(&own.path, own.text.clone(), own.findings.clone());
            return Err(Unplanned::Broken(vec![broken]));
        }
        let planned = plan::resolve(name, own.map(|own| &own.file), self.map.as_ref());
        planned.map_err(|error| match own.filter(|own| own.file.wiring.is_some()) {
            Some(own) => Unplanned::Broken(vec![own.unresolved(&error)]),
            None => Unplanned::Unresolved(error),
        })
    }

    /// Returns the text of an action's own file; nothing where it has none.
    pub(super) fn text_of(&self, name: &str) -> String {
        self.own(name).map(|own| own.text.clone()).unwrap_or_default()
    }

    fn own(&self, name: &str) -> Option<&WrittenAction> {
        self.files.iter().find(|written| written.file.name == name)
    }
}

/// Returns the names of the files in which actions are written, links included.
pub(super) fn names_in(ground: &dyn Ground) -> Vec<String> {
    let names = ground.list(ACTIONS).into_iter().map(|listed| listed.name);
    names.filter(|name| name.ends_with(".md")).collect()
}

/// Understands a lifecycle file.
pub(super) fn understand_lifecycle(path: &str, text: Reading<String>) -> Reading<Lifecycle> {
    text.parse_whole(path, |text| Lifecycle::read(text.as_bytes()).map(|(lifecycle, _)| lifecycle))
}

/// Understands the guide of a role.
pub(super) fn understand_guide(path: &str, text: Reading<String>) -> Reading<RoleGuide> {
    text.parse(path, RoleGuide::read_for_work).map(|(guide, _)| guide)
}

/// Understands the lifecycle of the last approval. It is the engine's own copy: one that is damaged is put away by a
/// person, since without it nobody would be told of a lowered bar.
pub(super) fn understand_approved(text: Reading<String>) -> Reading<Lifecycle> {
    with_help(understand_lifecycle(APPROVED, text), "restore it, or remove it to compare with nothing")
}

/// Understands the record of how the last action left its files.
pub(super) fn understand_sealed(text: Reading<String>) -> Reading<Sealed> {
    let reading = text.parse_whole(SEALED, |text| {
        serde_json::from_str::<Sealed>(text).map_err(|error| {
            let line = u32::try_from(error.line()).unwrap_or(u32::MAX);
            vec![Finding::error("syntax", Place { line, ..Place::TOP }, error.to_string())]
        })
    });
    with_help(reading, "restore it, or remove it to go on without the comparison")
}

/// Understands the list of restored snapshots: when each was restored.
pub(super) fn understand_restores(text: Reading<String>) -> Reading<Vec<Utc>> {
    let time_of = |(number, line): (usize, &str)| {
        let value = serde_json::from_str::<Value>(line).ok();
        let at = value.and_then(|value| Utc::parse(value["at"].as_str()?));
        at.ok_or_else(|| {
            let line = u32::try_from(number + 1).unwrap_or(u32::MAX);
            let message = "this line does not say when a snapshot was restored";
            vec![Finding::error("syntax", Place { line, ..Place::TOP }, message)]
        })
    };
    let reading = text.parse_whole(RESTORES, |text| {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines.map(time_of).collect::<Result<Vec<Utc>, Vec<Finding>>>()
    });
    with_help(reading, "restore the file, or remove the line")
}

fn with_help<T>(reading: Reading<T>, help: &str) -> Reading<T> {
    match reading {
        Reading::Broken(mut broken) => {
            broken.findings.iter_mut().for_each(|finding| finding.help = Some(help.to_owned()));
            Reading::Broken(broken)
        }
        Reading::Absent | Reading::Read(_) => reading,
    }
}

/// Returns the files beside the wiring that are there and cannot be used.
pub(super) fn broken_state(ground: &dyn Ground) -> Vec<BrokenFile> {
    let readings = [
        understand_lifecycle(LIFECYCLE, ground.text(LIFECYCLE)).map(|_| ()),
        understand_approved(ground.text(APPROVED)).map(|_| ()),
        understand_sealed(ground.text(SEALED)).map(|_| ()),
        understand_restores(ground.text(RESTORES)).map(|_| ()),
    ];
    readings.into_iter().filter_map(|reading| reading.optional().err()).collect()
}
