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
use seriatim_core::action::lifecycle_log::GateEnd;
use seriatim_core::action::lifecycle_log::GateRun;
use seriatim_core::finding::Severity;
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

/// How long a gate may take when nothing says otherwise.
const TIMEOUT_MS: u64 = 20 * 60_000;

/// Run the gates that the current lifecycle stage requires
///
/// All of them are run, also after a failure, in the folder of the configuration. Exit codes: 0 all passed, 1 one failed,
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
    /// Why there is no exit code; empty where there is one.
    #[serde(skip)]
    without_exit: String,
}

impl Outcome {
    fn of(gate: &Gate, command: Vec<String>) -> Outcome {
        Outcome {
            name: gate.name.clone(),
            command,
            passed: false,
            exit: None,
            timed_out: false,
            duration_ms: 0,
            output: String::new(),
            without_exit: String::new(),
        }
    }

    /// As the log has it.
    fn record(&self) -> GateRun {
        GateRun {
            name: self.name.clone(),
            command: self.command.clone(),
            end: self.exit.map_or_else(|| GateEnd::Without(self.without_exit.clone()), GateEnd::Exit),
            output: self.output.clone(),
        }
    }
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
    let failed: Vec<&str> = outcomes.iter().filter(|o| !o.passed).map(|o| o.name.as_str()).collect();
    if let Some(file) = &command.evidence {
        let runs: Vec<GateRun> = outcomes.iter().map(Outcome::record).collect();
        keep(context, &seen_from(file), &stage.name, &runs)?;
    }
    ui.document(&json!({
        "stage": stage.name, "current_stage": lifecycle.current_stage, "committed": committed.answer(),
        "passed": failed.is_empty(), "gates": outcomes,
    }));
    if failed.is_empty() {
        ui.say(format!("[SUMMARY] PASSED ({} gate(s))", outcomes.len()));
        return Ok(Exit::Good);
    }
    ui.say(format!("[SUMMARY] FAILED ({} gate(s)): {}", failed.len(), failed.join(", ")));
    Ok(Exit::NotGood)
}

/// Keeps what was run as evidence, without secrets.
fn keep(context: &Context, file: &Path, stage: &str, runs: &[GateRun]) -> Result<()> {
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
    let command = gate.command_in(&folder.to_string_lossy());
    ui.say(format!("[GATE] {}", gate.name));
    ui.say(format!("  command: {}", command.join(" ")));
    let mut spawn = Spawn::new(command.clone(), folder, format!("gate-{}-{}", gate.name, std::process::id()));
    // The same in CI and by hand (OC-121): a gate has the environment of whoever calls it.
    spawn.env = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let limit_ms = gate.timeout_ms.unwrap_or(TIMEOUT_MS);
    spawn.deadline_ms = Some(limit_ms);
    let mut outcome = Outcome::of(gate, command);
    let why = match Supervised::by_this_program().run(&spawn, &Unwatched) {
        Ok(ended) => {
            outcome.duration_ms = ended.duration_ms;
            outcome.output = format!("{}{}", ended.stdout, ended.stderr);
            let why = match ended.how {
                How::Exited(code) => {
                    outcome.exit = Some(code);
                    outcome.passed = code == 0;
                    format!("exit code {code}")
                }
                How::Signaled(signal) => format!("ended by signal {signal}"),
                How::Deadline => {
                    outcome.timed_out = true;
                    format!("not finished within {}", span_in_words(limit_ms))
                }
                How::Stopped => "stopped".to_owned(),
            };
            if !outcome.output.trim().is_empty() {
                ui.say(outcome.output.trim_end());
            }
            why
        }
        Err(error) => {
            outcome.output = error.to_string();
            error.to_string()
        }
    };
    ui.say(if outcome.passed {
        format!("[PASS] {}", gate.name)
    } else {
        format!("[FAIL] {} ({why})", gate.name)
    });
    if outcome.exit.is_none() {
        outcome.without_exit = why;
    }
    outcome
}
