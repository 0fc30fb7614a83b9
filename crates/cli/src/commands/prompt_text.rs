//! `seriatim prompt`

use std::io::Read;
use std::path::Path;
use std::path::PathBuf;

use clap::Subcommand;
use serde::Serialize;
use serde_json::Value;
use seriatim_core::closest::closest;
use seriatim_core::doc;
use seriatim_core::doc::Limits;
use seriatim_core::finding::Finding;
use seriatim_core::prompt;
use seriatim_core::prompt::Library;
use seriatim_core::prompt::NotPrepared;
use seriatim_core::prompt::PhaseList;
use seriatim_core::prompt::Sender;
use seriatim_core::prompt::Standard;
use seriatim_core::prompt::Values;
use seriatim_core::prompt::origin::Head;
use seriatim_core::prompt::tokens::Cost;
use seriatim_core::roadmap::Schema;
use seriatim_engine::hands::disk::Disk;
use seriatim_engine::hands::files::Expect;
use seriatim_engine::hands::files::FileError;
use seriatim_engine::hands::files::Files;
use seriatim_engine::hands::files::Write;

use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::render;
use crate::templates;
use crate::ui::Tone;
use crate::ui::tone;

/// The largest prompt, file of values, or file that is replaced.
const READ_BYTES_MAX: u64 = 16 << 20;

/// Render a prompt from a template, or check any prompt before it is sent
#[derive(clap::Args, Debug)]
pub(crate) struct Prompt {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    Render(Render),
    Check(Check),
}

/// Render a prompt: the rules come from the template, the task from the values
///
/// All values that are missing are named at once. What comes out has passed the check. Exit codes: 0 rendered, 1 values
/// are missing or wrong, 2 nothing was done.
#[derive(clap::Args, Debug)]
struct Render {
    /// The template, by name (execute-step, develop-orchestrate, baseline-create, roadmap-create, split-steps, or one
    /// of the project)
    #[arg(long, value_name = "NAME")]
    template: String,
    /// One value; it wins over those of a file. Parts are named with points: task_specification.name
    #[arg(long = "set", value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Values from a YAML or JSON file, such as a step file
    #[arg(long, value_name = "FILE")]
    values: Option<PathBuf>,
    /// The list of phases, v1 to v5; by default that of the step file, else the project's own, else v3
    #[arg(long, value_name = "VERSION")]
    schema: Option<String>,
    /// Write the prompt into this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace the file even where it is no prompt
    #[arg(long, requires = "out")]
    force: bool,
    #[command(flatten)]
    templates: templates::Place,
}

/// Check a prompt: where it comes from, its sections, its phases, its limits; all errors at once
///
/// Exit codes: 0 it can be sent, 1 it cannot, 2 it cannot be read.
#[derive(clap::Args, Debug)]
struct Check {
    /// The prompt, or - for standard input
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
    /// The command that sends it (/nw:execute ...); by default the markers at its head decide
    #[arg(long, value_name = "NAME")]
    command: Option<String>,
    /// The list of phases, v1 to v5; by default the project's own, else the one whose title the prompt uses, else v3
    #[arg(long, value_name = "VERSION")]
    schema: Option<String>,
    #[command(flatten)]
    templates: templates::Place,
}

pub(crate) fn run(context: &Context, command: &Prompt) -> Result<Exit> {
    match &command.what {
        What::Render(command) => render_one(context, command),
        What::Check(command) => check_one(context, command),
    }
}

#[derive(Serialize)]
struct Rendered<'a> {
    template: &'a str,
    schema: &'a str,
    prompt: &'a str,
    /// An estimate: the task's own words, and the whole prompt.
    tokens: Cost,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
}

#[derive(Serialize)]
struct Refused<'a> {
    template: &'a str,
    findings: Vec<render::findings::Plain<'a>>,
}

fn render_one(context: &Context, command: &Render) -> Result<Exit> {
    let templates::Rules { library, phases } = templates::load(context, &command.templates)?;
    let name = known_template(&library, &command.template)?;
    let given = values(command)?;
    let phases = match schema(command.schema.as_deref())? {
        Some(phases) => phases,
        None => phases_of(&given, phases.as_ref()).or(phases).unwrap_or_else(PhaseList::usual),
    };
    let standard = Standard { library: &library, phases: &phases };
    let prompt = match prompt::prepare(name, &given, &standard) {
        Ok(prompt) => prompt,
        Err(refused) => return Ok(not_rendered(context, name, &refused)),
    };
    let file = command.out.as_deref().map(|file| write(file, &prompt, command.force)).transpose()?;
    let words: String = given.values().map(Value::to_string).collect();
    let tokens = Cost::of(&words, &prompt);
    let ui = &context.ui;
    ui.document(&Rendered {
        template: name,
        schema: &phases.version,
        prompt: &prompt,
        tokens,
        file: file.clone(),
    });
    match file {
        Some(file) => {
            ui.say(format!("{} {file} (about {} tokens)", tone(Tone::Good, "written:"), tokens.after));
        }
        None => ui.say(prompt.trim_end()),
    }
    Ok(Exit::Good)
}

/// Says why there is no prompt.
fn not_rendered(context: &Context, template: &str, refused: &NotPrepared) -> Exit {
    let findings: Vec<Finding> = match refused {
        NotPrepared::Unrendered { findings, .. } => findings.clone(),
        NotPrepared::Invalid(invalid) => invalid.findings(),
    };
    let ui = &context.ui;
    let plain = findings.iter().map(|finding| render::findings::Plain::of(finding, None)).collect();
    ui.document(&Refused { template, findings: plain });
    for finding in &findings {
        ui.say(format!("{} {}", tone(Tone::Bad, "error:"), finding.message));
        if let Some(help) = &finding.help {
            ui.say(format!("  {} {help}", tone(Tone::Faint, "help:")));
        }
    }
    ui.tell(format!("\n{} error(s); no prompt was made", findings.len()));
    Exit::NotGood
}

fn check_one(context: &Context, command: &Check) -> Result<Exit> {
    let templates::Rules { library, phases } = templates::load(context, &command.templates)?;
    let shown = command.file.display().to_string();
    let text = read_prompt(&command.file)?;
    let phases = match schema(command.schema.as_deref())? {
        Some(phases) => phases,
        None => phases.unwrap_or_else(|| PhaseList::of_prompt(&text)),
    };
    let sender = match command.command.as_deref() {
        Some(name) => Sender::Command(known_command(&library, name)?),
        None => Sender::Foreign,
    };
    let verdict = prompt::validate(&text, sender, &Standard { library: &library, phases: &phases });
    let ui = &context.ui;
    ui.document(&verdict);
    if !ui.json {
        let findings = verdict.findings();
        if !findings.is_empty() {
            ui.say(render::findings::picture(&shown, &text, &findings).trim_end());
        }
        let origin = &verdict.metadata.origin;
        if verdict.valid {
            ui.tell(format!("{shown}: {origin}, can be sent"));
        } else {
            ui.tell(format!("\n{} error(s): it cannot be sent", verdict.errors.len()));
        }
    }
    Ok(if verdict.valid { Exit::Good } else { Exit::NotGood })
}

fn known_template<'l>(library: &'l Library, wanted: &str) -> Result<&'l str> {
    if let Some(template) = library.template(wanted) {
        return Ok(&template.name);
    }
    let error = CommandError::usage(format!("there is no template `{wanted}`"));
    Err(match closest(wanted, library.names()) {
        Some(name) => error.hint(format!("did you mean `{name}`?")),
        None => error.hint(format!("there are {}", library.names().collect::<Vec<_>>().join(", "))),
    })
}

fn known_command<'l>(library: &'l Library, wanted: &str) -> Result<&'l str> {
    if let Some(command) = library.registry.get(wanted) {
        return Ok(&command.name);
    }
    let error = CommandError::usage(format!("the command `{wanted}` is not registered"));
    let names: Vec<&str> = library.registry.iter().map(|command| command.name.as_str()).collect();
    Err(match library.registry.closest(wanted) {
        Some(near) => error.hint(format!("did you mean `{}`?", near.name)),
        None => error.hint(format!("registered are {}", names.join(", "))),
    })
}

fn schema(version: Option<&str>) -> Result<Option<PhaseList>> {
    let Some(version) = version else { return Ok(None) };
    let unknown = || {
        let known: Vec<String> =
            PhaseList::built_in().iter().map(|list| format!("v{}", list.version)).collect();
        CommandError::usage(format!("there is no list of phases `{version}`"))
            .hint(format!("there are {}", known.join(", ")))
    };
    PhaseList::of_version(version).map(Some).ok_or_else(unknown)
}

/// The values of the file, and over them those of the command line.
fn values(command: &Render) -> Result<Values> {
    let mut given = match &command.values {
        Some(file) => read_values(file)?,
        None => Values::new(),
    };
    for pair in &command.set {
        let Some((name, value)) = pair.split_once('=').filter(|(name, _)| !name.trim().is_empty()) else {
            return Err(CommandError::usage(format!("`{pair}` is not of the form NAME=VALUE")));
        };
        given.insert(name.trim().to_owned(), Value::from(value));
    }
    Ok(given)
}

fn read_values(file: &Path) -> Result<Values> {
    let shown = file.display().to_string();
    let bytes = read_file(file)?;
    let document = doc::read(&bytes, &Limits::default()).map_err(|findings| {
        render::findings::to_stderr(&shown, &String::from_utf8_lossy(&bytes), &findings);
        CommandError::usage(format!("{shown} cannot be read"))
    })?;
    let Value::Object(fields) = document.root.to_json() else {
        return Err(CommandError::usage(format!("{shown} is not a mapping"))
            .hint("write values as lines of the form `name: value`"));
    };
    let mut given: Values = fields.into_iter().collect();
    // A step file says everything about its step but where it is.
    if given.contains_key("tdd_cycle") && !given.contains_key("step_file_path") {
        given.insert("step_file_path".to_owned(), Value::from(shown));
    }
    Ok(given)
}

/// The list of phases that a step file keeps its record by: the project's own where it is that one.
fn phases_of(given: &Values, own: Option<&PhaseList>) -> Option<PhaseList> {
    let log = given.get("tdd_cycle")?.get("phase_execution_log")?.as_array()?;
    let names: Vec<&str> = log.iter().filter_map(|entry| entry.get("phase_name")?.as_str()).collect();
    let is_own = own.filter(|own| own.names().eq(names.iter().copied()));
    is_own.cloned().or_else(|| Schema::detect(names).map(PhaseList::from))
}

fn read_prompt(file: &Path) -> Result<String> {
    let shown = file.display();
    let bytes = if file == Path::new("-") {
        let mut bytes = vec![];
        std::io::stdin()
            .take(READ_BYTES_MAX + 1)
            .read_to_end(&mut bytes)
            .map_err(|e| CommandError::usage(format!("standard input cannot be read: {e}")))?;
        bytes
    } else {
        read_file(file)?
    };
    if bytes.len() as u64 > READ_BYTES_MAX {
        return Err(CommandError::usage(format!("{shown} has more than {} MiB", READ_BYTES_MAX >> 20)));
    }
    String::from_utf8(bytes)
        .map_err(|_| CommandError::usage(format!("{shown} is not UTF-8")).hint("save it as UTF-8"))
}

fn read_file(file: &Path) -> Result<Vec<u8>> {
    let found = Disk.read(file, READ_BYTES_MAX);
    let found = found.map_err(|e| CommandError::usage(format!("{} cannot be read: {e}", file.display())))?;
    Ok(found.bytes)
}

/// Writes the prompt. A file that is no prompt is not replaced unasked.
fn write(file: &Path, prompt: &str, force: bool) -> Result<String> {
    let shown = file.display().to_string();
    let cannot = |e: &dyn std::fmt::Display| CommandError::usage(format!("{shown} cannot be written: {e}"));
    let file = std::path::absolute(file).map_err(|e| cannot(&e))?;
    let is_prompt = |bytes: &[u8]| Head::of(&String::from_utf8_lossy(bytes)).is_tagged();
    let expect = match Disk.read(&file, READ_BYTES_MAX) {
        Ok(found) if force || found.bytes.is_empty() || is_prompt(&found.bytes) => Expect::Hash(found.hash),
        Err(FileError::NotFound { .. }) => Expect::Absent,
        Ok(_) => {
            return Err(CommandError::usage(format!(
                "{shown} exists and is no prompt; it was left as it is"
            ))
            .hint("name another file, or replace it with --force"));
        }
        Err(e) => return Err(cannot(&e)),
    };
    match Disk.write(&file, prompt.as_bytes(), Write::DURABLE.expecting(expect)) {
        Ok(_) => Ok(shown),
        Err(e @ FileError::NoSpace { .. }) => {
            Err(CommandError::not_good(format!("{shown} cannot be written: {e}")))
        }
        Err(e) => Err(cannot(&e)),
    }
}
