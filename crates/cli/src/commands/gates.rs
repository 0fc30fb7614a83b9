//! `seriatim gates`

mod committed;

use std::path::Path;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::json;
use seriatim_core::action::lifecycle::Gate;
use seriatim_core::action::lifecycle::Lifecycle;
use seriatim_core::action::lifecycle::Stage;
use seriatim_core::action::lifecycle_log;
use seriatim_core::action::lifecycle_log::LoggedGate;
use seriatim_core::finding::Severity;
use seriatim_core::gate;
use seriatim_core::gate::Demand;
use seriatim_core::gate::GateEnd;
use seriatim_core::gate::GateRun;
use seriatim_core::gate::OutputReading;
use seriatim_core::time::span_in_words;
use seriatim_engine::hands::disk::Disk;
use seriatim_engine::hands::files::Files;
use seriatim_engine::hands::files::Write;
use seriatim_engine::hands::process::How;
use seriatim_engine::hands::process::Processes;
use seriatim_engine::hands::process::Spawn;
use seriatim_engine::hands::process::Unwatched;
use seriatim_engine::hands::runner::Supervised;

use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::ui::Ui;
use crate::workspace::Workspace;
use crate::workspace::now;

use committed::Committed;

/// More output than this cannot be judged.
const OUTPUT_BYTES_MAX: usize = 32 << 20;

/// Run the gates that the current lifecycle stage requires
///
/// All of them are run, also after a failure, in the folder of the configuration. Exit codes: 0 all passed or none required, 1 one
/// failed,
/// 2 the configuration cannot be used.
#[derive(clap::Args, Debug)]
pub(crate) struct Gates {
    /// The file with stages and gates
    #[arg(long, value_name = "F", default_value = "lifecycle-stage.yaml")]
    config: PathBuf,
    /// Another stage than the current one
    #[arg(long, value_name = "S")]
    stage: Option<String>,
    /// Show stages and gates, and run nothing
    #[arg(long)]
    list: bool,
    /// Write what was run to this file, too, with the stage and the time
    #[arg(long, value_name = "FILE", conflicts_with = "list")]
    evidence: Option<PathBuf>,
}

/// What one gate came to.
#[derive(Debug, Serialize)]
struct Outcome {
    name: String,
    command: Vec<String>,
    passed: bool,
    exit: Option<i32>,
    timed_out: bool,
    duration_ms: u64,
    output: String,
    /// The gate as it is logged: the verdict and what it rests on.
    #[serde(skip)]
    logged: LoggedGate,
}

pub(crate) fn run(context: &Context, command: &Gates) -> Result<Exit> {
    let ui = &context.ui;
    let root = Workspace::find(context.workspace.as_deref())?;
    let seen_from = |path: &PathBuf| match &context.workspace {
        Some(_) => root.join(path),
        None => path.clone(),
    };
    let path = seen_from(&command.config);
    let (lifecycle, text) = match read(&path) {
        Ok(read) => read,
        Err(errors) => return Ok(refuse(ui, &errors)),
    };
    let wanted = command.stage.as_ref().unwrap_or(&lifecycle.current_stage);
    let stage = match lifecycle.stage(wanted) {
        Ok(stage) => stage,
        Err(unknown) => return Ok(refuse(ui, &[unknown.to_string()])),
    };
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let committed = committed::look(&folder, &name, &text, &lifecycle);
    if let Committed::Not(words) = &committed {
        ui.warn(words);
    }
    if command.list {
        list(ui, &lifecycle, stage);
        return Ok(Exit::Good);
    }
    ui.say(format!("Lifecycle stage: {}", stage.name));
    let outcomes: Vec<Outcome> = lifecycle.required(stage).map(|gate| one(ui, gate, &folder)).collect();
    let runs: Vec<LoggedGate> = outcomes.iter().map(|outcome| outcome.logged.clone()).collect();
    let verdict = lifecycle_log::verdict(&stage.name, &runs);
    if let Some(file) = &command.evidence {
        keep(context, &seen_from(file), &stage.name, &runs)?;
    }
    ui.document(&json!({
        "stage": stage.name, "current_stage": lifecycle.current_stage, "committed": committed.answer(),
        "passed": verdict.closes(), "verdict": verdict, "gates": outcomes,
    }));
    ui.say(lifecycle_log::summary(&runs));
    // A stage that requires no gates is a lawful absence: it is told, and nothing failed.
    Ok(if verdict.closes() { Exit::Good } else { Exit::NotGood })
}

/// Keeps what was run as evidence, without secrets.
fn keep(context: &Context, file: &Path, stage: &str, runs: &[LoggedGate]) -> Result<()> {
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let redactor = Workspace::open(context)?.redactor()?;
    let log = lifecycle_log::stamped(stage, now(), runs);
    Disk.write(&file, redactor.clean(&log).as_bytes(), Write::DURABLE)
        .map(|_| ())
        .map_err(|error| CommandError::usage(format!("the evidence cannot be written: {error}")))
}

/// The file and its text, or why it cannot be used.
fn read(path: &Path) -> std::result::Result<(Lifecycle, Vec<u8>), Vec<String>> {
    let bytes = std::fs::read(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => vec![format!("Lifecycle config not found: {}", path.display())],
        _ => vec![format!("{} cannot be read: {error}", path.display())],
    })?;
    let told = |findings: Vec<seriatim_core::finding::Finding>| {
        let errors = findings.iter().filter(|f| f.severity == Severity::Error);
        errors.map(|f| format!("{}:{}: {}", path.display(), f.place.line, f.message)).collect()
    };
    Lifecycle::read(&bytes).map_err(told).map(|(lifecycle, _)| (lifecycle, bytes))
}

/// A configuration that cannot be used: nothing is run.
fn refuse(ui: &Ui, errors: &[String]) -> Exit {
    for error in errors {
        ui.note(format!("[ERROR] {error}"));
    }
    ui.document(&json!({"error": {"message": errors.join("; "), "exit": 2}, "errors": errors}));
    Exit::Usage
}

fn list(ui: &Ui, lifecycle: &Lifecycle, stage: &Stage) {
    ui.document(&json!({"lifecycle": lifecycle, "stage": stage.name}));
    ui.say(format!("Current stage: {}", lifecycle.current_stage));
    for one in &lifecycle.stages {
        let mark = if one.name == stage.name { "*" } else { " " };
        let gates =
            if one.required_gates.is_empty() { "(none)".to_owned() } else { one.required_gates.join(", ") };
        ui.say(format!("{mark} {}: {gates}", one.name));
    }
    for gate in &lifecycle.gates {
        ui.say(format!("  {} = {}", gate.name, gate.command.join(" ")));
    }
}

fn one(ui: &Ui, gate: &Gate, folder: &Path) -> Outcome {
    let declared = gate.declared_in(&folder.to_string_lossy());
    let command = declared.command.clone();
    ui.say(format!("[GATE] {}", gate.name));
    ui.say(format!("  command: {}", command.join(" ")));
    let mut spawn = Spawn::new(command.clone(), folder, format!("gate-{}-{}", gate.name, std::process::id()));
    // The same in CI and by hand (OC-121): a gate has the environment of whoever calls it.
    spawn.env = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    spawn.deadline_ms = declared.timeout_ms;
    // The whole output is judged, so that all of it is kept.
    spawn.keep_bytes = OUTPUT_BYTES_MAX;
    let (end, output, duration_ms, cut) = match Supervised::by_this_program().run(&spawn, &Unwatched) {
        Ok(ended) => {
            let output: String = format!("{}{}", ended.stdout, ended.stderr);
            if !output.trim().is_empty() {
                ui.say(output.trim_end());
            }
            let end = match ended.how {
                How::Exited(code) => GateEnd::Exit(code),
                How::Signaled(_) => GateEnd::Signal,
                How::Deadline => {
                    let limit = span_in_words(declared.timeout_ms.unwrap_or_default());
                    GateEnd::Deadline(format!("not finished within {limit}"))
                }
                How::Stopped => GateEnd::NotRun("stopped".to_owned()),
            };
            (end, output, ended.duration_ms, ended.cut())
        }
        Err(error) => (GateEnd::NotRun(error.to_string()), error.to_string(), 0, false),
    };
    let query = gate::query(&gate.name, &declared);
    let reading = OutputReading { cut, ..gate::read(&query, &output, end.exit(), &[]) };
    let run = GateRun {
        gate: gate.name.clone(),
        argv: command.clone(),
        end: end.clone(),
        good: declared.good_exits(),
        reading,
        tail: gate::tail(&output),
        output: None,
    };
    let logged = LoggedGate { evidence: gate::judge(run, &Demand::default()), output: output.clone() };
    ui.say(logged.result_line());
    Outcome {
        name: gate.name.clone(),
        command,
        passed: logged.passed(),
        exit: end.exit(),
        timed_out: matches!(end, GateEnd::Deadline(_)),
        duration_ms,
        output,
        logged,
    }
}
