//! `seriatim watchdog`

use serde_json::json;
use seriatim_engine::guard::Guard;
use seriatim_engine::ports::Ports;

use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::steps;
use crate::workspace::Workspace;
use crate::workspace::make_redactor;

/// Find work that has been in progress for too long, and recover it
///
/// The interrupted phase goes into its history, the step becomes FAILED and can be tried again. Exit codes: 0 nothing is
/// stale, 1 something was and is recovered now.
#[derive(clap::Args, Debug)]
pub(crate) struct Watchdog {
    /// After how many minutes work counts as stale; 30 unless [guard] stale says otherwise
    #[arg(long, value_name = "MINUTES", value_parser = clap::value_parser!(u64).range(1..))]
    minutes: Option<u64>,
}

pub(crate) fn run(context: &Context, command: &Watchdog) -> Result<Exit> {
    let workspace = Workspace::open(context)?;
    let ports = Ports::real();
    let project = workspace.project(&ports);
    let files: Vec<String> = steps::state_files(&workspace.root).into_iter().map(|(file, _)| file).collect();
    // Where nothing was ever recorded and there is no state file, nothing is stale, and nothing is created.
    if files.is_empty() && !workspace.state().join("journal.db").exists() {
        context.ui.document(&json!({"recovered": []}));
        context.ui.say("Nothing is stale.");
        return Ok(Exit::Good);
    }
    let mut guard = Guard::new(&project, &ports, &make_redactor).with_config(workspace.config.clone());
    let done =
        guard.watchdog(&files, command.minutes).map_err(|error| CommandError::usage(error.to_string()))?;
    let found: Vec<_> = done
        .iter()
        .map(|one| {
            json!({
                "step_file": one.stale.step_file, "step": one.stale.task_id, "phase": one.stale.phase,
                "minutes": one.stale.minutes, "suggestions": one.suggestions,
            })
        })
        .collect();
    context.ui.document(&json!({"recovered": found}));
    for one in &done {
        let age = one.stale.minutes.map_or("nobody knows how long".to_owned(), |m| format!("{m} minutes"));
        context.ui.say(format!(
            "{} of step {} ({}) was in progress for {age}. It can be tried again:",
            one.stale.phase, one.stale.task_id, one.stale.step_file
        ));
        for suggestion in &one.suggestions {
            context.ui.say(format!("  - {suggestion}"));
        }
    }
    if done.is_empty() {
        context.ui.say("Nothing is stale.");
    }
    Ok(if done.is_empty() { Exit::Good } else { Exit::NotGood })
}
