//! `seriatim status --summary`: the validation of all steps and projects at a glance (DS-123).

use seriatim_engine::ports::Ports;
use std::collections::BTreeMap;

use serde::Serialize;
use seriatim_core::guard::usage::Usage;
use seriatim_core::roadmap::state::StepState;
use seriatim_core::roadmap::verdict::sentences;
use seriatim_engine::guard::Guard;
use seriatim_engine::guard::OpenStep;

use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::render::table::cut;
use crate::render::table::table;
use crate::steps;
use crate::workspace::Workspace;
use crate::workspace::make_redactor;

/// One step.
#[derive(Debug, Serialize)]
struct Row {
    project: String,
    step: String,
    file: String,
    status: String,
    phases_closed: usize,
    phases: usize,
    /// How the last stop of its agent was judged; absent where none was seen.
    last_stop: Option<String>,
    holds: Vec<String>,
    /// Still open under the guard.
    guarded: bool,
    invocations: u32,
    turns: u64,
    tokens: Tokens,
}

/// What the agents of a step or project used, by their transcripts (DS-86).
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Tokens {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_creation: u64,
    total: u64,
}

impl From<Usage> for Tokens {
    fn from(usage: Usage) -> Tokens {
        Tokens {
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_creation: usage.cache_creation,
            total: usage.total(),
        }
    }
}

#[derive(Debug, Default, Serialize)]
struct Total {
    steps: usize,
    done: usize,
    open: usize,
    held: usize,
    invocations: u32,
    turns: u64,
    tokens: u64,
}

#[derive(Debug, Serialize)]
struct Document {
    steps: Vec<Row>,
    projects: BTreeMap<String, Total>,
}

pub(crate) fn run(context: &Context, workspace: &Workspace) -> Result<Exit> {
    let ports = Ports::real();
    let project = workspace.project(&ports);
    let mut guard = Guard::new(&project, &ports, &make_redactor).with_config(workspace.config.clone());
    let (open, finished) = match workspace.state().join("journal.db").exists() {
        true => (open_steps(&mut guard)?, known(guard.finished())?),
        false => (vec![], vec![]),
    };
    let mut rows = vec![];
    for (file, document) in steps::state_files(&workspace.root) {
        for state in document.states() {
            let is = |step: &&OpenStep| step.step_file == file && step.task_id == state.task_id;
            let now = open.iter().find(is);
            rows.push(row(&file, &state, now.or_else(|| finished.iter().find(is)), now.is_some()));
        }
    }
    let mut projects: BTreeMap<String, Total> = BTreeMap::new();
    for row in &rows {
        let total = projects.entry(row.project.clone()).or_default();
        total.steps += 1;
        total.done += usize::from(row.status == "DONE");
        total.open += usize::from(row.guarded);
        total.held += usize::from(!row.holds.is_empty());
        total.invocations += row.invocations;
        total.turns += row.turns;
        total.tokens += row.tokens.total;
    }
    let document = Document { steps: rows, projects };
    context.ui.document(&document);
    tell(context, &document);
    Ok(Exit::Good)
}

/// The open steps, each with all that holds it: sub-agents that no hook saw are found here as at a stop.
fn open_steps(guard: &mut Guard<'_>) -> Result<Vec<OpenStep>> {
    let mut steps = known(guard.steps())?;
    for step in &mut steps {
        step.holds = guard.held_by(step).map_err(|error| CommandError::usage(error.to_string()))?;
    }
    Ok(steps)
}

fn known(
    steps: std::result::Result<Vec<OpenStep>, seriatim_engine::guard::GuardError>,
) -> Result<Vec<OpenStep>> {
    steps.map_err(|error| CommandError::usage(error.to_string()))
}

fn row(file: &str, state: &StepState, step: Option<&OpenStep>, guarded: bool) -> Row {
    Row {
        project: state.project_id.clone(),
        step: state.task_id.clone(),
        file: file.to_owned(),
        status: state.status.word().to_owned(),
        phases_closed: state.phases.iter().filter(|phase| phase.is_closed()).count(),
        phases: state.phases.len(),
        last_stop: step.and_then(|step| step.last_stop.as_ref()).map(|last| last.standing.word().to_owned()),
        holds: step.map(|step| sentences(&step.holds)).unwrap_or_default(),
        guarded,
        invocations: step.map_or(0, |step| step.invocations),
        turns: step.map_or(0, |step| step.turns),
        tokens: step.map(|step| step.usage.into()).unwrap_or_default(),
    }
}

fn tell(context: &Context, document: &Document) {
    let ui = &context.ui;
    if document.steps.is_empty() {
        return ui.say("There are no state files in this workspace.");
    }
    let rows: Vec<Vec<String>> = document
        .steps
        .iter()
        .map(|row| {
            vec![
                cut(&row.project, 24),
                row.step.clone(),
                row.status.clone(),
                format!("{}/{}", row.phases_closed, row.phases),
                row.last_stop.clone().unwrap_or_else(|| "-".to_owned()),
                row.turns.to_string(),
                row.tokens.total.to_string(),
                cut(&row.holds.join("; "), 40),
            ]
        })
        .collect();
    ui.say(table(&["project", "step", "status", "phases", "last stop", "turns", "tokens", "held by"], &rows));
    for (project, total) in &document.projects {
        ui.say(format!(
            "{project}: {} of {} steps done, {} open under the guard, {} held; {} calls, {} turns, {} tokens",
            total.done, total.steps, total.open, total.held, total.invocations, total.turns, total.tokens
        ));
    }
}
