//! Gates of the configuration, run when an agent says that its step is done: evidence beside its claim.

use std::collections::BTreeMap;

use seriatim_core::config::Gate;
use seriatim_core::roadmap::state::StepStatus;

use super::GuardError;
use super::project::Project;
use super::rules::Rules;
use super::state;
use super::step::OpenStep;
use crate::hands::process::DEFAULT_ENVIRONMENT;
use crate::hands::process::How;
use crate::hands::process::Processes;
use crate::hands::process::Spawn;
use crate::hands::process::Unwatched;
use crate::hands::process::environment;
use crate::hands::runner::Supervised;

/// The gates that are run at a stop, and what they stand for.
const AT_STOP: [(&str, &str); 2] = [("tests", "G6"), ("lint", "lint")];
/// A client gives a stop hook thirty seconds; what takes longer is left to the commit.
const STOP_MS_MAX: u64 = 20_000;

/// What the gates said.
#[derive(Default)]
pub(super) struct Ran {
    pub(super) errors: Vec<String>,
    pub(super) notes: Vec<String>,
}

/// Whether a sentence says that a gate was red.
pub(super) fn is_red(error: &str) -> bool {
    AT_STOP.iter().any(|(_, id)| error.strip_prefix(id).is_some_and(|rest| rest.starts_with(": `")))
}

/// Runs the gates of a step that is said to be done. Others have nothing to show yet.
pub(super) fn run(project: &Project, rules: &Rules, step: &OpenStep) -> Result<Ran, GuardError> {
    let mut ran = Ran::default();
    let wanted: BTreeMap<&str, (&str, &Gate)> = AT_STOP
        .iter()
        .filter_map(|(name, id)| Some((*name, (*id, rules.config.gates.get(*name)?))))
        .collect();
    if wanted.is_empty() {
        return Ok(ran);
    }
    let Ok(loaded) = state::load(project, rules, &step.step_file, Some(&step.task_id))? else {
        return Ok(ran);
    };
    if loaded.state.status != StepStatus::Done {
        return Ok(ran);
    }
    for (name, (id, gate)) in wanted {
        one(project, name, id, gate, &mut ran);
    }
    Ok(ran)
}

fn one(project: &Project, name: &str, id: &str, gate: &Gate, ran: &mut Ran) {
    let marker = format!("guard-gate-{name}-{}", std::process::id());
    let mut spawn = Spawn::new(gate.command.clone(), &project.root, marker);
    spawn.env = environment(&DEFAULT_ENVIRONMENT);
    spawn.env.extend(environment(&gate.env));
    let limit_ms = gate.timeout_ms.unwrap_or(STOP_MS_MAX).min(STOP_MS_MAX);
    spawn.deadline_ms = Some(limit_ms);
    match Supervised::by_this_program().run(&spawn, &Unwatched) {
        Ok(ended) => match ended.how {
            How::Exited(0) => ran.notes.push(format!("{id}: `{name}` is green")),
            How::Deadline => ran.notes.push(format!(
                "{id}: `{name}` did not end within {} s and says nothing at this stop",
                limit_ms / 1000
            )),
            _ => {
                let tail: Vec<&str> = ended.tail.lines().rev().take(5).collect();
                let tail: Vec<&str> = tail.into_iter().rev().collect();
                ran.errors.push(format!("{id}: `{name}` is red: {}", tail.join(" / ")));
            }
        },
        Err(error) => ran.errors.push(format!("{id}: `{name}` could not be run: {error}")),
    }
}
