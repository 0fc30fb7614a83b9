//! How a process begins: from an instance, or from a definition, for which an instance is created.

use serde_json::Map;
use serde_json::Value;
use serde_json::json;
use seriatim_core::check;
use seriatim_core::finding::Severity;
use seriatim_core::finding::has_errors;
use seriatim_core::kind::Kind;
use seriatim_core::process::Definition;
use seriatim_core::process::Instance;
use seriatim_core::process::documents::conditions;
use seriatim_core::process::log::INSTANCES;
use seriatim_core::process::log::framed;
use seriatim_core::reading::BrokenFile;
use seriatim_core::reading::Flaw;
use seriatim_core::time::Utc;

use super::Start;
use super::library;
use crate::entrance::Argument;
use crate::entrance::Entrance;
use crate::entrance::Ground;
use crate::entrance::Named;
use crate::entrance::NoStart;
use crate::entrance::Prepared;
use crate::entrance::Shape;
use crate::entrance::Why;
use crate::entrance::Words;

pub(crate) const ENTRANCES: &[Entrance] = &[Entrance {
    word: "process",
    about: "Run a process: from an instance, or from a definition (then an instance is created)",
    more: "Exit codes: 0 done and good, 1 done and not good, 2 nothing was changed, 3 waiting for a person, 4 held by \
           another process.",
    usage: "",
    arguments: &[
        Argument {
            name: "file",
            help: "A process instance or a process definition",
            shape: Shape::Place { value: "FILE" },
        },
        Argument {
            name: "input",
            help: "An input, for a run from a definition",
            shape: Shape::Texts { value: "NAME=VALUE" },
        },
    ],
    prepare,
}];

/// What to do about a file that cannot be read.
const READABLE: &str = "name a file that is there and that you may read";

fn prepare(words: &Words, ground: &mut dyn Ground) -> Result<Prepared, NoStart> {
    let shown = words.one("file").unwrap_or_default();
    let given = Given::read(shown, ground)?;
    let inputs = words.all("input");
    // Everything is read before an instance is created.
    let principles = library::find_principles(ground)?;
    let prepared = match given.kind {
        Kind::ProcessDefinition => create_instance(ground, &given, inputs)?,
        _ if !inputs.is_empty() => {
            return Err(NoStart::usage("--input goes with a definition; an instance has its inputs inside"));
        }
        _ => existing_instance(ground, &given)?,
    };
    let definitions = library::find_definitions(ground);
    let mut start = Start {
        instance: prepared.path.clone(),
        ask_for_inputs: prepared.created,
        known_processes: definitions.into_iter().map(|d| (d.id, d.name)).collect(),
        principles,
        ..Start::default()
    };
    start.adopt(ground.config());
    let again = format!("Run it again with:  seriatim run process {}", prepared.path);
    let after = if prepared.created { vec![again] } else { vec![] };
    Ok(Prepared { after, calls: prepared.calls, ..Prepared::new(prepared.title, prepared.path, &start)? })
}

/// The file that was named.
struct Given<'a> {
    shown: &'a str,
    file: Named,
    kind: Kind,
}

impl<'a> Given<'a> {
    fn read(shown: &'a str, ground: &dyn Ground) -> Result<Given<'a>, NoStart> {
        let file = ground
            .named(shown)
            .map_err(|error| NoStart::usage(format!("{shown} cannot be read: {error}")).hint(READABLE))?;
        let checked = check::file(shown, &file.bytes, None);
        let kind = match checked.kind {
            Some(kind @ (Kind::ProcessDefinition | Kind::ProcessInstance)) => kind,
            _ if has_errors(&checked.findings) => return Err(broken(shown, checked)),
            Some(other) => {
                return Err(NoStart::usage(format!("{shown} is of kind {other}, not a process"))
                    .hint("`seriatim run process` takes a process instance or a process definition"));
            }
            None => {
                return Err(NoStart::usage(format!(
                    "{shown} is neither a process instance nor a definition"
                ))
                .hint("an instance begins with `instance:`, a definition with `definition:`"));
            }
        };
        Ok(Given { shown, file, kind })
    }

    /// The path as the workspace sees it.
    fn inside(&self) -> Result<String, NoStart> {
        let outside = || {
            NoStart::usage(format!("{} is outside the workspace {}", self.shown, self.file.workspace))
                .hint("copy it into the workspace, or name another one with --workspace")
        };
        self.file.inside.clone().ok_or_else(outside)
    }

    fn broken(&self) -> NoStart {
        broken(self.shown, check::file(self.shown, &self.file.bytes, Some(self.kind)))
    }
}

/// A readable file that is broken: its findings, and nothing was changed.
fn broken(shown: &str, checked: check::Checked) -> NoStart {
    let errors = checked.findings.iter().filter(|f| f.severity == Severity::Error).count();
    NoStart::not_good(format!("{shown} has {errors} error(s); nothing was started")).because_of(
        shown,
        checked.text,
        checked.findings,
    )
}

/// A definition that cannot be had is a missing file; one that is wrong is a document with errors.
fn unusable(definition: BrokenFile) -> NoStart {
    let why = match definition.flaw {
        Flaw::Unreadable => Why::Usage,
        Flaw::Content => Why::NotGood,
    };
    NoStart { why, ..definition.into() }
}

/// An instance that is ready to be run.
struct Ready {
    path: String,
    title: String,
    created: bool,
    /// The names by which agents are looked up for its steps.
    calls: Option<Vec<Vec<String>>>,
}

fn existing_instance(ground: &dyn Ground, given: &Given<'_>) -> Result<Ready, NoStart> {
    let path = given.inside()?;
    let (instance, findings) = Instance::parse(&given.file.bytes);
    match instance {
        Some(instance) if !has_errors(&findings) => {
            let calls = library::find_roles(ground, &instance).map_err(unusable)?;
            Ok(Ready { path, title: instance.description.value, created: false, calls })
        }
        _ => Err(given.broken()),
    }
}

/// Creates an instance beside those that are there.
fn create_instance(ground: &mut dyn Ground, given: &Given<'_>, inputs: &[String]) -> Result<Ready, NoStart> {
    let definition_path = given.inside()?;
    let (definition, _) = Definition::parse(&given.file.bytes);
    let Some(definition) = definition else { return Err(given.broken()) };
    // A rule that cannot be understood must not be taken for one that does not hold.
    let bad = ground.check_conditions(&conditions(&given.file.bytes));
    if has_errors(&bad) {
        let checked = check::file(given.shown, &given.file.bytes, Some(given.kind));
        return Err(broken(given.shown, check::Checked { findings: bad, ..checked }));
    }
    let mut values = Map::new();
    for pair in inputs {
        let Some((name, value)) = pair.split_once('=') else {
            return Err(NoStart::usage(format!("`--input {pair}` is not NAME=VALUE")));
        };
        values.insert(name.to_owned(), json!(value));
    }
    let title = definition.description.as_ref().map_or(&definition.name.value, |d| &d.value).clone();
    let by = ground.user();
    let mut at = ground.now();
    loop {
        let id = format!("PINST-{}", at.compact());
        let path = format!("{INSTANCES}/{id}.yaml");
        let text = instance_text(&id, at, &by, &title, &definition, &definition_path, &values);
        match ground.create(&path, &text) {
            Ok(true) => {
                let calls = Some(library::roles_of(&definition));
                return Ok(Ready { path, title, created: true, calls });
            }
            Ok(false) => at = at.plus_ms(1000),
            Err(error) => return Err(NoStart::usage(format!("the instance cannot be written: {error}"))),
        }
    }
}

fn instance_text(
    id: &str,
    at: Utc,
    by: &str,
    title: &str,
    definition: &Definition,
    path: &str,
    inputs: &Map<String, Value>,
) -> String {
    framed(&json!({
        "instance": {
            "id": id,
            "created": at.seconds(),
            "created_by": format!("human:{by}"),
            "plain_english_description": title,
            "definition_source": {
                "type": "WELL_KNOWN",
                "definition_id": definition.id.value,
                "definition_path": path,
            },
            "context": {"trigger": "started from its definition", "inputs": inputs, "parameters": {}},
            "status": "PLANNED",
            "execution_log_id": null,
            "run_count": 0,
            "started": null,
            "completed": null,
            "outcome": null,
        }
    }))
}
