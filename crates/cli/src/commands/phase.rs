//! `seriatim phase`

use seriatim_engine::ports::Ports;
use std::path::Path;

use serde_json::json;
use seriatim_core::roadmap::change::Act;
use seriatim_core::roadmap::change::Change;
use seriatim_core::roadmap::state::Outcome;
use seriatim_core::roadmap::state::StepState;
use seriatim_core::roadmap::state::TestResults;
use seriatim_engine::guard::Guard;
use seriatim_engine::guard::GuardError;
use seriatim_engine::guard::Project;

use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::inside;
use crate::steps;
use crate::workspace::Workspace;
use crate::workspace::make_redactor;

/// Record a phase of a step: started, done, skipped or failed
///
/// Each change is checked as it is made: phases follow one another, each is started before it is over, and what a phase
/// came to is said. A change that is refused changes nothing. Exit codes: 0 recorded, 1 refused, 2 no such step.
#[derive(clap::Args, Debug)]
pub(crate) struct Phase {
    #[command(subcommand)]
    act: What,
}

#[derive(clap::Subcommand, Debug)]
enum What {
    /// The phase begins now
    Start(Which),
    /// The phase is over
    Done(Done),
    /// The phase is not carried out, for a reason
    Skip(Skip),
    /// The phase failed
    Fail(Fail),
    /// The step stops before its end: what is left is said, and it can be resumed
    Partial(Partial),
    /// Open a phase again that was over; what was on record goes into its history
    Reopen(Fail),
}

#[derive(clap::Args, Debug)]
struct Which {
    /// The project, where several have a step of this name
    #[arg(long, value_name = "P")]
    project: Option<String>,
    /// The step's id, or the path of its state file
    step: String,
    /// The phase's name, like RED_UNIT
    phase: String,
}

#[derive(clap::Args, Debug)]
struct Done {
    #[command(flatten)]
    which: Which,
    /// PASS or FAIL
    #[arg(long)]
    outcome: Option<String>,
    /// What there is to say about it
    #[arg(long, value_name = "T")]
    note: Option<String>,
    /// Tests that ran: total, passed, failed
    #[arg(long, value_name = "TOTAL,PASSED,FAILED", value_parser = tests)]
    tests: Option<TestResults>,
    /// A file that came of it; may be given several times
    #[arg(long, value_name = "PATH")]
    artifact: Vec<String>,
}

#[derive(clap::Args, Debug)]
struct Skip {
    #[command(flatten)]
    which: Which,
    /// NOT_APPLICABLE, BLOCKED_BY_DEPENDENCY or APPROVED_SKIP, a colon, and why
    #[arg(long, value_name = "PREFIX: why")]
    reason: Option<String>,
}

#[derive(clap::Args, Debug)]
struct Fail {
    #[command(flatten)]
    which: Which,
    /// Why
    #[arg(long, value_name = "T")]
    note: Option<String>,
}

#[derive(clap::Args, Debug)]
struct Partial {
    /// The project, where several have a step of this name
    #[arg(long, value_name = "P")]
    project: Option<String>,
    /// The step's id, or the path of its state file
    step: String,
    /// What has to be done next; may be given several times
    #[arg(long, value_name = "T", required = true)]
    suggest: Vec<String>,
}

fn tests(text: &str) -> std::result::Result<TestResults, String> {
    let numbers: Vec<u64> = text.split(',').filter_map(|part| part.trim().parse().ok()).collect();
    match numbers.as_slice() {
        [total, passed, failed] if text.split(',').count() == 3 => {
            Ok(TestResults { total: *total, passed: *passed, failed: *failed })
        }
        _ => Err("write three numbers: total,passed,failed".to_owned()),
    }
}

impl What {
    fn change(&self) -> Option<(&Which, Change)> {
        Some(match self {
            What::Partial(_) => return None,
            What::Start(which) => (which, Change::new(Act::Start, &which.phase)),
            What::Done(Done { which, outcome, note, tests, artifact }) => {
                let change = Change {
                    outcome: outcome.as_deref().and_then(Outcome::read),
                    note: note.clone(),
                    tests: *tests,
                    artifacts: artifact.clone(),
                    ..Change::new(Act::Done, &which.phase)
                };
                (which, change)
            }
            What::Skip(Skip { which, reason }) => {
                (which, Change { reason: reason.clone(), ..Change::new(Act::Skip, &which.phase) })
            }
            What::Fail(Fail { which, note }) => {
                (which, Change { note: note.clone(), ..Change::new(Act::Fail, &which.phase) })
            }
            What::Reopen(Fail { which, note }) => {
                (which, Change { note: note.clone(), ..Change::new(Act::Reopen, &which.phase) })
            }
        })
    }
}

pub(crate) fn run(context: &Context, command: &Phase) -> Result<Exit> {
    let ports = Ports::real();
    let root = Project::home(ports.files.as_ref(), &Workspace::find(context.workspace.as_deref())?);
    let workspace = Workspace::open_at(context, root)?;
    let project = workspace.project(&ports);
    let mut guard = Guard::new(&project, &ports, &make_redactor).with_config(workspace.config.clone());
    let Some((which, change)) = command.act.change() else {
        let What::Partial(partial) = &command.act else { return Ok(Exit::Usage) };
        let project = inside::own_phase(&context.caller, &partial.step, partial.project.as_deref(), None)?;
        let (file, id) = find(context, &workspace.root, &mut guard, &partial.step, project.as_deref())?;
        let recorded = guard.partial(&file, id.as_deref(), &partial.suggest);
        return tell(context, &partial.step, None, &file, recorded);
    };
    let (step, phase) = (&which.step, Some(which.phase.as_str()));
    let project = inside::own_phase(&context.caller, step, which.project.as_deref(), phase)?;
    let (file, id) = find(context, &workspace.root, &mut guard, step, project.as_deref())?;
    let recorded = guard.phase(&file, id.as_deref(), &change);
    tell(context, &which.step, Some(&which.phase), &file, recorded)
}

/// What came of it, for people and for machines.
fn tell(
    context: &Context,
    step: &str,
    phase: Option<&str>,
    file: &str,
    recorded: std::result::Result<StepState, GuardError>,
) -> Result<Exit> {
    let state = match recorded {
        Ok(state) => state,
        Err(GuardError::Refused(why)) => {
            context.ui.document(&json!({"recorded": false, "step": step, "phase": phase, "reason": why}));
            context.ui.note(format!("not recorded: {why}"));
            return Ok(Exit::NotGood);
        }
        Err(error) => return Err(CommandError::usage(error.to_string())),
    };
    let status = phase.and_then(|name| state.phase(name)).map(|phase| phase.status.word().to_owned());
    context.ui.document(&json!({
        "recorded": true, "step": state.task_id, "step_status": state.status.word(), "phase": phase, "status": status,
        "file": file,
    }));
    context.ui.say(match (phase, status) {
        (Some(phase), Some(status)) => format!("{phase} of step {}: {status}", state.task_id),
        _ => format!("step {}: {}", state.task_id, state.status.word()),
    });
    Ok(Exit::Good)
}

/// The state file that is meant: a path, an open step of the guard, or the one file of the workspace that has the step.
fn find(
    context: &Context,
    root: &Path,
    guard: &mut Guard<'_>,
    wanted: &str,
    project: Option<&str>,
) -> Result<(String, Option<String>)> {
    // An attempt names its step; a file of that name would be its own work.
    if context.caller.spoken().is_none() && root.join(wanted).is_file() {
        return Ok((wanted.trim_start_matches("./").to_owned(), None));
    }
    let open = guard.steps().map_err(|error| CommandError::usage(error.to_string()))?;
    let mut open = open.iter().filter(|step| step.task_id == wanted);
    if let (Some(step), None, None) = (open.next(), open.next(), project) {
        return Ok((step.step_file.clone(), Some(step.task_id.clone())));
    }
    let found = steps::having(root, wanted, project);
    match found.as_slice() {
        [file] => Ok((file.clone(), Some(wanted.to_owned()))),
        [] => Err(CommandError::usage(format!("no state file of this workspace has a step `{wanted}`"))
            .hint("name the path of the step file instead, or the project with --project")),
        several => Err(CommandError::usage(format!(
            "step `{wanted}` is in several state files: {}",
            several.join(", ")
        ))
        .hint("say which project is meant with --project, or name the path of the step file")),
    }
}
