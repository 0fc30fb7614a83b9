//! `seriatim process`

use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;

use clap::Subcommand;
use serde::Serialize;
use seriatim_core::check;
use seriatim_core::check::Surroundings;
use seriatim_core::closest::closest;
use seriatim_core::finding::Severity;
use seriatim_core::kind::Kind;
use seriatim_core::process::Definition;
use seriatim_core::process::Instance;
use seriatim_core::process::diagram;
use seriatim_core::process::diagram::Diagram;
use seriatim_core::process::diagram::readable;
use seriatim_core::process::instance::Source;
use seriatim_engine::hands::disk::Disk;
use seriatim_engine::hands::files::Expect;
use seriatim_engine::hands::files::FileError;
use seriatim_engine::hands::files::Files;
use seriatim_engine::hands::files::Write;
use seriatim_engine::hands::paths;
use seriatim_engine::home::Home;
use seriatim_flows::process::library::FoundDefinition;
use seriatim_flows::process::library::find_definitions;

use crate::args::Context;
use crate::commands::run::OnDisk;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::render;
use crate::render::process::Sheet;
use crate::render::table::table;
use crate::ui::Tone;
use crate::ui::tone;
use crate::workspace::Workspace;

/// The largest definition that is read, and the largest picture that is replaced.
const READ_BYTES_MAX: u64 = 16 << 20;
/// How many processes are named where one of them must be chosen.
const NAMED_MAX: usize = 8;

/// List the processes of the workspace, or show one: its steps, criteria and flow
#[derive(clap::Args, Debug)]
pub(crate) struct Process {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    List(List),
    Show(Show),
}

/// List the process definitions of the workspace: process-*.yaml anywhere, and all YAML in folders named processes
#[derive(clap::Args, Debug)]
struct List {}

/// Show a process: what it is for, who does its steps, its criteria, and the flow as a picture
#[derive(clap::Args, Debug)]
struct Show {
    /// A definition or an instance, or the id or the name of a process in the workspace
    #[arg(value_name = "FILE|ID")]
    process: String,
    /// Draw the flow into this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Replace the file even where it was not drawn by seriatim
    #[arg(long, requires = "svg")]
    force: bool,
    /// Print the flow as Mermaid text, and nothing else
    #[arg(long)]
    mermaid: bool,
}

pub(crate) fn run(context: &Context, command: &Process) -> Result<Exit> {
    match &command.what {
        What::List(_) => list(context),
        What::Show(show) => show_one(context, show),
    }
}

#[derive(Serialize)]
struct Document<'a> {
    processes: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    id: &'a str,
    name: &'a str,
    path: &'a str,
    steps: usize,
    phase: Option<u32>,
    #[serde(rename = "type")]
    purpose: &'a str,
}

/// Definitions are found whatever the configuration says, also where it cannot be read.
fn definitions(root: &Path) -> Vec<FoundDefinition> {
    let workspace = Workspace::unconfigured(root.to_owned(), Home::of(root));
    find_definitions(&OnDisk { workspace: &workspace })
}

fn list(context: &Context) -> Result<Exit> {
    let root = Workspace::find(context.workspace.as_deref())?;
    let found = definitions(&root);
    let rows = found.iter().map(|p| Row {
        id: &p.id,
        name: &p.name,
        path: &p.path,
        steps: p.steps,
        phase: p.phase,
        purpose: p.purpose.word(),
    });
    context.ui.document(&Document { processes: rows.collect() });
    if found.is_empty() {
        context.ui.say("There are no process definitions in this workspace.");
        context.ui.tell("They are looked for as process-*.yaml, and in folders named processes.");
        return Ok(Exit::Good);
    }
    let row = |p: &FoundDefinition| {
        let [name, id, path] = [&p.name, &p.id, &p.path].map(|text| readable(text));
        vec![name, id, p.steps.to_string(), path]
    };
    let rows: Vec<Vec<String>> = found.iter().map(row).collect();
    context.ui.say(table(&["name", "id", "steps", "path"], &rows));
    context.ui.tell(format!("\n{}", tone(Tone::Faint, "More with:  seriatim process show ID")));
    Ok(Exit::Good)
}

fn show_one(context: &Context, command: &Show) -> Result<Exit> {
    let root = Workspace::find(context.workspace.as_deref())?;
    let known = definitions(&root);
    let chosen = choose(&root, &known, &command.process)?;
    let names: BTreeMap<String, String> = known.iter().map(|p| (p.id.clone(), p.name.clone())).collect();
    let (definition, errors) = read(context, &root, &chosen, &names)?;
    let drawn = Diagram::of(&definition, &names);
    let picture =
        command.svg.as_deref().map(|file| write_picture(file, &drawn, command.force)).transpose()?;
    let sheet = Sheet { definition: &definition, diagram: &drawn, path: &chosen.shown, errors, picture };
    let ui = &context.ui;
    if errors > 0 {
        let what = format!(
            "{} has {errors} error(s), so it cannot be run; `seriatim check {}` shows them",
            chosen.shown, chosen.shown
        );
        ui.warn(what);
    }
    if ui.json {
        ui.document(&sheet.document());
    } else if command.mermaid {
        ui.say(diagram::mermaid(&drawn).trim_end());
    } else if let Some(picture) = &sheet.picture {
        ui.say(format!("{} {picture}", tone(Tone::Good, "drawn:")));
    } else {
        ui.say(sheet.text(columns()).trim_end());
    }
    Ok(Exit::Good)
}

/// How wide the picture may be: as wide as the terminal, within reason.
fn columns() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok();
    size.filter(|s| s.ws_col > 0).map_or(100, |s| usize::from(s.ws_col)).clamp(80, 130)
}

/// The file that was meant.
struct Chosen {
    path: PathBuf,
    /// As people are told of it.
    shown: String,
}

/// A file that exists wins; else the process with this id, else the one with this name.
fn choose(root: &Path, known: &[FoundDefinition], wanted: &str) -> Result<Chosen> {
    let file = Path::new(wanted);
    if file.is_file() {
        return Ok(Chosen { path: file.to_owned(), shown: wanted.to_owned() });
    }
    let by_id: Vec<&FoundDefinition> = known.iter().filter(|p| p.id == wanted).collect();
    let by_name = || known.iter().filter(|p| p.name.eq_ignore_ascii_case(wanted)).collect();
    let matching = if by_id.is_empty() { by_name() } else { by_id };
    match matching.as_slice() {
        [one] => Ok(Chosen { path: root.join(&one.path), shown: one.path.clone() }),
        [] => {
            let error = CommandError::usage(format!("there is no process `{wanted}`, and no such file"));
            let names = known.iter().flat_map(|p| [p.id.as_str(), p.name.as_str()]);
            Err(match closest(wanted, names) {
                Some(name) => {
                    error.hint(format!("did you mean `{name}`? `seriatim process list` lists them"))
                }
                None => error.hint("`seriatim process list` lists the processes of this workspace"),
            })
        }
        several => {
            let paths: Vec<&str> = several.iter().take(NAMED_MAX).map(|p| p.path.as_str()).collect();
            Err(CommandError::usage(format!("several processes are called `{wanted}`"))
                .hint(format!("name the file: {}", paths.join(", "))))
        }
    }
}

/// The definition of a file, an instance's included, and how many errors it has.
fn read(
    context: &Context,
    root: &Path,
    chosen: &Chosen,
    names: &BTreeMap<String, String>,
) -> Result<(Definition, usize)> {
    let unreadable = |e: FileError| CommandError::usage(format!("{} cannot be read: {e}", chosen.shown));
    let bytes = Disk.read(&chosen.path, READ_BYTES_MAX).map_err(unreadable)?.bytes;
    let around = Surroundings { processes: names.keys().cloned().collect(), ..Surroundings::default() };
    let mut checked = check::file_in(&chosen.shown, &bytes, None, &around);
    let definition = match checked.kind {
        Some(Kind::ProcessInstance) => match Instance::parse(&bytes).0.and_then(|instance| instance.source) {
            Some(Source::Dynamic { definition }) => Some(*definition),
            Some(Source::WellKnown { path, .. }) => {
                let place = paths::Workspace::new(root).and_then(|root| root.resolve(&path.value));
                let bytes = place.and_then(|place| Disk.read(&place, READ_BYTES_MAX));
                let bytes = bytes.map_err(|e| {
                    CommandError::usage(format!(
                        "the definition that {} names cannot be read: {e}",
                        chosen.shown
                    ))
                })?;
                checked = check::file_in(&path.value, &bytes.bytes, Some(Kind::ProcessDefinition), &around);
                Definition::parse(&bytes.bytes).0
            }
            None => None,
        },
        Some(Kind::ProcessDefinition) => Definition::parse(&bytes).0,
        Some(other) => {
            return Err(CommandError::usage(format!("{} is of kind {other}, not a process", chosen.shown)));
        }
        None => None,
    };
    let errors = checked.findings.iter().filter(|f| f.severity == Severity::Error).count();
    match definition {
        Some(definition) => Ok((definition, errors)),
        None if errors > 0 => {
            if !context.ui.json {
                render::findings::to_stderr(&chosen.shown, &checked.text, &checked.findings);
            }
            Err(CommandError::not_good(format!("{} has {errors} error(s) and cannot be shown", chosen.shown)))
        }
        None => Err(CommandError::usage(format!("{} is not a process", chosen.shown))
            .hint("a definition begins with `definition:`, an instance with `instance:`")),
    }
}

/// Draws into a file. One that somebody else made is not replaced unasked.
fn write_picture(file: &Path, drawn: &Diagram, force: bool) -> Result<String> {
    let shown = file.display().to_string();
    let file = &std::path::absolute(file)
        .map_err(|e| CommandError::usage(format!("{shown} cannot be the name of a file: {e}")))?;
    let expect = match Disk.read(file, READ_BYTES_MAX) {
        Ok(found) if force || is_ours(&found.bytes) => Expect::Hash(found.hash),
        Err(FileError::NotFound { .. }) => Expect::Absent,
        Err(FileError::TooLarge { .. }) if force => Expect::Any,
        Ok(_) | Err(FileError::TooLarge { .. }) => {
            return Err(CommandError::usage(format!(
                "{shown} exists and was not drawn by seriatim; it was left as it is"
            ))
            .hint("name another file, or replace it with --force"));
        }
        Err(e) => return Err(unwritten(&shown, &e)),
    };
    let text = diagram::svg(drawn);
    Disk.write(file, text.as_bytes(), Write::DURABLE.expecting(expect)).map_err(|e| unwritten(&shown, &e))?;
    Ok(shown)
}

fn is_ours(bytes: &[u8]) -> bool {
    let mark = diagram::MADE_BY.as_bytes();
    bytes.windows(mark.len()).take(4096).any(|window| window == mark)
}

fn unwritten(shown: &str, error: &FileError) -> CommandError {
    match error {
        FileError::NoSpace { .. } => CommandError::not_good(format!("{shown} cannot be written: {error}")),
        _ => CommandError::usage(format!("{shown} cannot be written: {error}")),
    }
}
