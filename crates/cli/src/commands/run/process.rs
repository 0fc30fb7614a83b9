//! `seriatim run process`

use std::path::Path;
use std::path::PathBuf;

use serde_json::json;
use seriatim_core::check;
use seriatim_core::finding::has_errors;
use seriatim_core::kind::Kind;
use seriatim_core::process::Definition;
use seriatim_core::process::Instance;
use seriatim_core::process::log::INSTANCES;
use seriatim_core::process::log::framed;
use seriatim_core::time::Utc;
use seriatim_engine::hands::files::Expect;
use seriatim_engine::hands::files::FileError;
use seriatim_engine::hands::files::Write;
use seriatim_flows::process::Start;

use super::Asking;
use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::processes;
use crate::render;
use crate::session::Begin;
use crate::session::Session;

/// Run a process: from an instance, or from a definition (then an instance is created)
///
/// Exit codes: 0 done and good, 1 done and not good, 2 nothing was changed, 3 waiting for a person, 4 held by
/// another process.
#[derive(clap::Args, Debug)]
pub(crate) struct Process {
    /// A process instance or a process definition
    file: PathBuf,
    /// An input, for a run from a definition
    #[arg(long, value_name = "NAME=VALUE")]
    input: Vec<String>,
    #[command(flatten)]
    asking: Asking,
}

pub(super) fn run(context: &Context, command: &Process) -> Result<Exit> {
    let answers = command.asking.answers()?;
    let given = Given::read(context, &command.file)?;
    let mut session = Session::open_with(context, command.asking.config)?;
    let prepared = match given.kind {
        Kind::ProcessDefinition => create_instance(context, &session, &given, &command.input)?,
        _ if !command.input.is_empty() => {
            return Err(CommandError::usage(
                "--input goes with a definition; an instance has its inputs inside",
            ));
        }
        _ => existing_instance(context, &session, &given)?,
    };
    let process = session.workspace.config.process.clone();
    let definitions = processes::find(&session.workspace.root);
    let start = Start {
        instance: prepared.path.clone(),
        ask_for_inputs: prepared.created,
        actor: process.actor,
        known_processes: definitions.into_iter().map(|d| (d.id, d.name)).collect(),
        principles: processes::principles(&session.workspace.root, process.principles.as_deref()),
        progress_every: process.progress_every,
    };
    let begin = Begin {
        flow: "process",
        title: prepared.title,
        subject: prepared.path.clone(),
        input: super::input(&start)?,
        calls: prepared.calls,
    };
    let view = super::carry_out(context, &mut session, begin, answers, &command.asking)?;
    if prepared.created {
        context.ui.tell(format!("Run it again with:  seriatim run process {}", prepared.path));
    }
    let exit = view.show(&context.ui, &session.workspace);
    session.close();
    Ok(exit)
}

/// The file that was named.
struct Given {
    path: PathBuf,
    shown: String,
    bytes: Vec<u8>,
    kind: Kind,
}

impl Given {
    fn read(context: &Context, file: &Path) -> Result<Given> {
        let shown = file.display().to_string();
        let bytes =
            std::fs::read(file).map_err(|e| CommandError::usage(format!("{shown} cannot be read: {e}")))?;
        let checked = check::file(&shown, &bytes, None);
        let kind = match checked.kind {
            Some(kind @ (Kind::ProcessDefinition | Kind::ProcessInstance)) => kind,
            _ if has_errors(&checked.findings) => {
                return Err(broken(context, &shown, &checked));
            }
            Some(other) => {
                return Err(CommandError::usage(format!("{shown} is of kind {other}, not a process"))
                    .hint("`seriatim run process` takes a process instance or a process definition"));
            }
            None => {
                return Err(CommandError::usage(format!(
                    "{shown} is neither a process instance nor a definition"
                ))
                .hint("an instance begins with `instance:`, a definition with `definition:`"));
            }
        };
        let path =
            file.canonicalize().map_err(|e| CommandError::usage(format!("{shown} cannot be found: {e}")))?;
        Ok(Given { path, shown, bytes, kind })
    }

    /// The path as the workspace sees it.
    fn inside(&self, session: &Session) -> Result<String> {
        let root = &session.workspace.root;
        match self.path.strip_prefix(root) {
            Ok(path) => Ok(path.to_string_lossy().into_owned()),
            Err(_) => Err(CommandError::usage(format!(
                "{} is outside the workspace {}",
                self.shown,
                root.display()
            ))
            .hint("copy it into the workspace, or name another one with --workspace")),
        }
    }
}

/// A readable file that is broken: its findings, and nothing was changed.
fn broken(context: &Context, shown: &str, checked: &check::Checked) -> CommandError {
    let errors =
        checked.findings.iter().filter(|f| f.severity == seriatim_core::finding::Severity::Error).count();
    if !context.ui.json {
        render::findings::to_stderr(shown, &checked.text, &checked.findings);
    }
    CommandError::not_good(format!("{shown} has {errors} error(s); nothing was started"))
}

/// An instance that is ready to be run.
struct Prepared {
    path: String,
    title: String,
    created: bool,
    /// The roles that agents have in its steps.
    calls: Option<Vec<Vec<String>>>,
}

fn existing_instance(context: &Context, session: &Session, given: &Given) -> Result<Prepared> {
    let path = given.inside(session)?;
    let (instance, findings) = Instance::parse(&given.bytes);
    match instance {
        Some(instance) if !has_errors(&findings) => {
            let calls = processes::roles(&session.workspace.root, &instance);
            Ok(Prepared { path, title: instance.description.value, created: false, calls })
        }
        _ => Err(broken(context, &given.shown, &check::file(&given.shown, &given.bytes, Some(given.kind)))),
    }
}

/// Creates an instance beside those that are there.
fn create_instance(
    context: &Context,
    session: &Session,
    given: &Given,
    inputs: &[String],
) -> Result<Prepared> {
    let definition_path = given.inside(session)?;
    let (definition, _) = Definition::parse(&given.bytes);
    let Some(definition) = definition else {
        return Err(broken(
            context,
            &given.shown,
            &check::file(&given.shown, &given.bytes, Some(given.kind)),
        ));
    };
    let mut values = serde_json::Map::new();
    for pair in inputs {
        let Some((name, value)) = pair.split_once('=') else {
            return Err(CommandError::usage(format!("`--input {pair}` is not NAME=VALUE")));
        };
        values.insert(name.to_owned(), json!(value));
    }
    let title = definition.description.as_ref().map_or(&definition.name.value, |d| &d.value).clone();
    let mut at = session.now();
    loop {
        let id = format!("PINST-{}", at.compact());
        let path = format!("{INSTANCES}/{id}.yaml");
        let text = instance_text(&id, at, &title, &definition, &definition_path, &values);
        let how = Write::DURABLE.expecting(Expect::Absent);
        match session.files().write(&session.workspace.root.join(&path), text.as_bytes(), how) {
            Ok(_) => {
                let calls = Some(processes::roles_of(&definition));
                return Ok(Prepared { path, title, created: true, calls });
            }
            Err(FileError::Changed { .. }) => at = at.plus_ms(1000),
            Err(e) => return Err(CommandError::usage(format!("the instance cannot be written: {e}"))),
        }
    }
}

fn instance_text(
    id: &str,
    at: Utc,
    title: &str,
    definition: &Definition,
    path: &str,
    inputs: &serde_json::Map<String, serde_json::Value>,
) -> String {
    framed(&json!({
        "instance": {
            "id": id,
            "created": at.seconds(),
            "created_by": format!("human:{}", crate::session::whoami()),
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
