//! From what is written about an action to the plan that is carried out.

use super::Action;
use super::Duty;
use super::Origin;
use super::Stage;
use crate::action::document::ActionFile;
use crate::action::gate::Gate;
use crate::action::gate::GateKind;
use crate::action::gate::Limit;
use crate::action::inputs::Input;
use crate::action::map;
use crate::action::map::AgentMap;
use crate::action::map::Part;
use crate::action::map::RoleEntry;
use crate::action::map::Step;
use crate::action::map::Wiring;
use crate::action::matrix;
use crate::action::matrix::BuiltIn;
use crate::action::matrix::Contract;
use crate::action::placeholders;
use crate::action::roles;
use crate::action::words::kebab;

/// Why there is no plan for an action. All of these are permanent (OC-21, K-42).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    #[error(
        "nothing says how the action `{action}` is carried out: it is not in the agent map, has no front matter with \
         `steps`, and is none of {}", .known.join(", ")
    )]
    NotWired { action: String, known: Vec<String> },
    #[error("the action `{action}` has no step in which a role works")]
    NoWork { action: String },
    #[error("the action `{action}` needs the role `{role}`, which is declared nowhere")]
    UnknownRole { action: String, role: String },
}

/// The plan of the action `name`. Front matter wins over the map, and both over the plan that is built in; the drawing
/// of an action that has none of these is read as a last resort.
pub fn resolve(name: &str, file: Option<&ActionFile>, map: Option<&AgentMap>) -> Result<Action, Unresolved> {
    let declared = map.map(|map| map.roles.as_slice()).unwrap_or_default();
    if let Some(wiring) = file.and_then(|file| file.wiring.as_ref()) {
        return wired(name, wiring, declared, Origin::FrontMatter, file);
    }
    if let Some(wiring) = map.and_then(|map| map.action(name)) {
        return wired(name, wiring, declared, Origin::Map, file);
    }
    if let Some(contract) = matrix::contract(name) {
        return Ok(built_in(contract, declared, file));
    }
    match file.and_then(ActionFile::drawn) {
        Some(wiring) => wired(name, &wiring, declared, Origin::AgentFlow, file),
        None => Err(Unresolved::NotWired {
            action: name.to_owned(),
            known: matrix::CONTRACTS.iter().map(|contract| contract.name.to_owned()).collect(),
        }),
    }
}

fn wired(
    name: &str,
    wiring: &Wiring,
    declared: &[RoleEntry],
    origin: Origin,
    file: Option<&ActionFile>,
) -> Result<Action, Unresolved> {
    let mut stages = Stages::default();
    for step in &wiring.steps {
        match step {
            Step::Work { parts, .. } => {
                let duties: Result<Vec<Duty>, Unresolved> =
                    parts.iter().map(|part| duty(name, part, &wiring.roles, declared)).collect();
                stages.work(duties?);
            }
            Step::Gate { gate, .. } => stages.gate(gate_of(gate, file)),
        }
    }
    let stages = stages.done();
    if stages.iter().all(|stage| stage.duties.is_empty()) {
        return Err(Unresolved::NoWork { action: name.to_owned() });
    }
    let intent = || file.map(|file| file.intent.clone()).unwrap_or_default();
    let description = Some(wiring.description.clone()).filter(|text| !text.is_empty()).unwrap_or_else(intent);
    Ok(Action {
        name: name.to_owned(),
        doc: wiring.doc.clone().map_or_else(|| doc_path(name), |path| in_workspace(&path)),
        description,
        origin,
        prerequisites: wiring.prerequisites.iter().map(|words| Input::read(words)).collect(),
        stages,
        outputs: outputs(wiring.outputs.iter().map(String::as_str), file),
    })
}

fn built_in(contract: &Contract, declared: &[RoleEntry], file: Option<&ActionFile>) -> Action {
    let mut stages = Stages::default();
    for step in contract.steps {
        match step {
            BuiltIn::Work(parts) => stages.work(
                parts
                    .iter()
                    .map(|(role, purpose)| merged(role, purpose, None, map::find(declared, role)))
                    .collect(),
            ),
            BuiltIn::Gate(kind, name) => stages.gate(Gate {
                kind: *kind,
                name: (*name).to_owned(),
                command: vec![],
                limits: limits_of(*kind, &[]),
                checklist: checklist(*kind, file),
            }),
        }
    }
    let owned = |entries: &[&str]| entries.iter().map(|entry| (*entry).to_owned()).collect();
    Action {
        name: contract.name.to_owned(),
        doc: doc_path(contract.name),
        description: contract.purpose.to_owned(),
        origin: Origin::BuiltIn,
        prerequisites: contract
            .inputs
            .iter()
            .map(|need| Input { words: need.words.to_owned(), any_of: owned(need.any_of) })
            .collect(),
        stages: stages.done(),
        outputs: outputs(contract.outputs.iter().flat_map(|out| out.must_exist.iter().copied()), file),
    }
}

/// Collects stages: a gate belongs to the stage before it.
#[derive(Default)]
struct Stages(Vec<Stage>);

impl Stages {
    fn work(&mut self, duties: Vec<Duty>) {
        self.0.push(Stage { duties, ..Stage::default() });
    }

    fn gate(&mut self, mut gate: Gate) {
        let taken = |name: &str| self.0.iter().flat_map(|stage| &stage.gates).any(|gate| gate.name == name);
        if taken(&gate.name) {
            let numbered = (2..).map(|number| format!("{}-{number}", gate.name));
            gate.name = numbered.into_iter().find(|name| !taken(name)).unwrap_or_default();
        }
        match self.0.last_mut() {
            Some(stage) => stage.gates.push(gate),
            None => self.0.push(Stage { gates: vec![gate], ..Stage::default() }),
        }
    }

    fn done(mut self) -> Vec<Stage> {
        for (number, stage) in (1..).zip(&mut self.0) {
            stage.number = number;
        }
        self.0
    }
}

fn duty(action: &str, part: &Part, own: &[RoleEntry], declared: &[RoleEntry]) -> Result<Duty, Unresolved> {
    let entry = map::find(own, &part.role).or_else(|| map::find(declared, &part.role));
    if entry.is_none() && part.terms.writes.is_none() && roles::known(&part.role).is_none() {
        return Err(Unresolved::UnknownRole { action: action.to_owned(), role: part.role.value.clone() });
    }
    Ok(merged(&part.role, &part.purpose, Some(part), entry))
}

/// What holds for a role here: the step's word first, then the role's entry, then what is known of the role.
fn merged(name: &str, purpose: &str, part: Option<&Part>, entry: Option<&RoleEntry>) -> Duty {
    let known = roles::known(name);
    let own = part.map(|part| &part.terms);
    let of_role = entry.map(|entry| &entry.terms);
    let terms = || own.into_iter().chain(of_role);
    let role = entry.map_or_else(|| kebab(name), |entry| entry.name.value.clone());
    let listed = |known: Option<&[&str]>| -> Vec<String> {
        // An entry in the map that lists nothing means nothing; only without an entry the table speaks.
        let known = known.filter(|_| entry.is_none());
        known.unwrap_or_default().iter().map(|path| (*path).to_owned()).collect()
    };
    let reads = terms().find_map(|terms| terms.reads.as_ref());
    let reads = reads.map(|reads| reads.iter().map(|path| in_workspace(path)).collect());
    let writes = terms().find_map(|terms| terms.writes.as_ref());
    let writes = writes.map(|writes| writes.iter().map(|path| in_workspace(path)).collect());
    let condition = terms().find_map(|terms| terms.condition.clone());
    let condition = condition.or_else(|| {
        known.filter(|_| entry.is_none() && part.is_none()).map(|known| known.condition.to_owned())
    });
    Duty {
        purpose: purpose.to_owned(),
        guide: entry
            .and_then(|entry| entry.skill.as_deref())
            .map_or_else(|| roles::guide_path(&role), in_workspace),
        condition: condition.unwrap_or_default(),
        reads: reads.unwrap_or_else(|| listed(known.map(|known| known.reads))),
        writes: writes.unwrap_or_else(|| listed(known.map(|known| known.writes))),
        sections: terms()
            .map(|terms| &terms.sections)
            .find(|sections| !sections.is_empty())
            .map(|sections| {
                sections.iter().map(|(path, names)| (in_workspace(path), names.clone())).collect()
            })
            .unwrap_or_default(),
        optional: terms().find_map(|terms| terms.optional).unwrap_or(false),
        review: terms()
            .find_map(|terms| terms.review)
            .unwrap_or_else(|| known.is_some_and(|known| known.review)),
        timeout_ms: terms()
            .find_map(|terms| terms.timeout_ms)
            .unwrap_or_else(|| roles::default_timeout_ms(name)),
        role,
    }
}

fn gate_of(entry: &map::GateEntry, file: Option<&ActionFile>) -> Gate {
    let own = Some(entry.checklist.clone()).filter(|points| !points.is_empty());
    Gate {
        kind: entry.kind,
        name: entry.name.clone().unwrap_or_else(|| entry.word.clone()),
        command: entry.command.iter().map(|word| placeholders::in_command(word)).collect(),
        limits: limits_of(entry.kind, &entry.limits),
        checklist: own.unwrap_or_else(|| checklist(entry.kind, file)),
    }
}

fn limits_of(kind: GateKind, given: &[Limit]) -> Vec<Limit> {
    match kind {
        GateKind::Quality if given.is_empty() => vec![Limit::coverage()],
        _ => given.to_vec(),
    }
}

/// What must exist in the end: what the plan says, and what the output contract of the action file names (OC-41).
fn outputs<'o>(said: impl Iterator<Item = &'o str>, file: Option<&'o ActionFile>) -> Vec<String> {
    let contract = file.map(|file| file.outputs.as_slice()).unwrap_or_default();
    let mut outputs: Vec<String> = vec![];
    for path in said.chain(contract.iter().map(String::as_str)).map(in_workspace) {
        if !outputs.contains(&path) {
            outputs.push(path);
        }
    }
    outputs
}

/// What an action file lists for validation is what a role goes through again.
fn checklist(kind: GateKind, file: Option<&ActionFile>) -> Vec<String> {
    match kind {
        GateKind::SelfReview | GateKind::Editorial => {
            file.map(|file| file.validation.clone()).unwrap_or_default()
        }
        _ => vec![],
    }
}

fn in_workspace(path: &str) -> String {
    placeholders::expand(path, |_| None)
}

/// Where the definition of an action lies (OC-06).
pub(super) fn doc_path(name: &str) -> String {
    format!("agents/actions/{name}.md")
}
