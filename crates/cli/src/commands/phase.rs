//! `seriatim phase`

use std::path::Path;

use serde_json::json;
use seriatim_core::roadmap::change::Act;
use seriatim_core::roadmap::change::Change;
use seriatim_core::roadmap::state::Outcome;
use seriatim_core::roadmap::state::TestResults;
use seriatim_engine::guard::Guard;
use seriatim_engine::guard::Project;

use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::steps;
use crate::workspace::Workspace;
use crate::workspace::make_redactor;
use crate::workspace::now;

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
    fn change(&self) -> (&Which, Change) {
        match self {
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
        }
    }
}

pub(crate) fn run(context: &Context, command: &Phase) -> Result<Exit> {
    let (which, change) = command.act.change();
    let workspace = Workspace::open(&context.ui, context.workspace.as_deref())?;
    let project = Project { root: workspace.root.clone() };
    let mut guard = Guard::new(&project, now(), &make_redactor);
    let (file, id) = find(&workspace.root, &mut guard, which)?;
    let state = match guard.phase(&file, id.as_deref(), &change) {
        Ok(state) => state,
        Err(seriatim_engine::guard::GuardError::Refused(why)) => {
            context.ui.document(&json!({"recorded": false, "step": which.step, "phase": which.phase, "reason": why}));
            context.ui.note(format!("not recorded: {why}"));
            return Ok(Exit::NotGood);
        }
        Err(error) => return Err(CommandError::usage(error.to_string())),
    };
    let status = state.phase(&which.phase).map_or("", |phase| phase.status.word()).to_owned();
    context.ui.document(&json!({
        "recorded": true, "step": state.task_id, "step_status": state.status.word(), "phase": which.phase,
        "status": status, "file": file,
    }));
    context.ui.say(format!("{} of step {}: {status}", which.phase, state.task_id));
    Ok(Exit::Good)
}

/// The state file that is meant: a path, an open step of the guard, or the one file of the workspace that has the step.
fn find(root: &Path, guard: &mut Guard<'_>, which: &Which) -> Result<(String, Option<String>)> {
    if root.join(&which.step).is_file() {
        return Ok((which.step.trim_start_matches("./").to_owned(), None));
    }
    let open = guard.steps().map_err(|error| CommandError::usage(error.to_string()))?;
    let mut open = open.iter().filter(|step| step.task_id == which.step);
    if let (Some(step), None, None) = (open.next(), open.next(), which.project.as_deref()) {
        return Ok((step.step_file.clone(), Some(step.task_id.clone())));
    }
    let found = steps::having(root, &which.step, which.project.as_deref());
    match found.as_slice() {
        [file] => Ok((file.clone(), Some(which.step.clone()))),
        [] => Err(CommandError::usage(format!("no state file of this workspace has a step `{}`", which.step))
            .hint("name the path of the step file instead, or the project with --project")),
        several => Err(CommandError::usage(format!(
            "step `{}` is in several state files: {}",
            which.step,
            several.join(", ")
        ))
        .hint("say which project is meant with --project, or name the path of the step file")),
    }
}
