//! `seriatim roadmap show`

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;
use seriatim_core::roadmap::Roadmap;
use seriatim_core::roadmap::command;
use seriatim_core::roadmap::machine;
use seriatim_core::roadmap::machine::Listed;
use seriatim_core::roadmap::phases::Schema;
use seriatim_core::roadmap::plan::Step;
use seriatim_core::roadmap::queue;
use seriatim_core::roadmap::queue::Queued;
use seriatim_core::roadmap::result::Metrics;
use seriatim_core::roadmap::state::PhaseStatus;
use seriatim_core::roadmap::state::StepState;
use seriatim_core::roadmap::state::StepStatus;
use seriatim_core::roadmap::store::StateFile;
use seriatim_flows::roadmap::USUAL_AGENT;

use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::render;
use crate::render::table::cut;
use crate::render::table::table;
use crate::roadmaps;
use crate::ui::Tone;
use crate::ui::Ui;
use crate::ui::tone;
use crate::workspace::Workspace;
use crate::workspace::now;

/// The width of the bar.
const BAR: usize = 30;

/// Show how far a project is: each step with its phase, its agent, what it waits for, and when it probably begins
#[derive(clap::Args, Debug)]
pub(crate) struct Show {
    /// The project, whose files are in docs/feature/PROJECT
    project: String,
    /// How many steps are carried out at a time, for the estimates
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    parallel: u32,
}

/// One step.
#[derive(Debug, Serialize)]
struct Row {
    step: String,
    name: String,
    status: String,
    /// The phase that is open next, once the step has begun.
    phase: Option<String>,
    phases_closed: usize,
    phases: Vec<PhaseRow>,
    agent: String,
    needs: Vec<String>,
    /// Steps that it needs and that are not done.
    waits_for: Vec<String>,
    execution_queue: Value,
    attempts: u32,
    failure_reason: Option<String>,
}

#[derive(Debug, Serialize)]
struct PhaseRow {
    phase: String,
    status: String,
    outcome: Option<String>,
    attempts: usize,
}

#[derive(Debug, Default, Serialize)]
struct Counts {
    done: usize,
    at_work: usize,
    failed: usize,
    open: usize,
}

#[derive(Debug, Serialize)]
struct Document {
    project: String,
    roadmap: String,
    /// Nothing where there is no state file yet.
    state: Option<String>,
    total: usize,
    counts: Counts,
    steps: Vec<Row>,
    /// Steps that the state file knows and the roadmap does not.
    unknown: Vec<String>,
}

/// The states of a project's steps, whatever files they are in.
struct States {
    place: Option<String>,
    files: BTreeMap<String, StateFile>,
    own: Vec<Schema>,
}

pub(super) fn run(context: &Context, given: &Show) -> Result<Exit> {
    let workspace = Workspace::open(context)?;
    let project = command::project(&given.project)?;
    let path = roadmaps::find_roadmap(&workspace, &project)?;
    let roadmap = roadmaps::read(&workspace, &path)?;
    let states = States::read(&workspace, &project, &roadmap)?;
    let parallel = usize::try_from(given.parallel).unwrap_or(1);
    let document = document(&project, &path, &roadmap, &states, parallel);
    context.ui.document(&document);
    tell(&context.ui, &document);
    Ok(Exit::Good)
}

impl States {
    fn read(workspace: &Workspace, project: &str, roadmap: &Roadmap) -> Result<States> {
        let own = roadmaps::own_phases(workspace)?;
        let place = roadmaps::find(workspace, project).ok().map(|place| place.state);
        let mut files = BTreeMap::new();
        let each = place
            .iter()
            .flat_map(|place| roadmap.ids().into_iter().map(move |id| place.replace("{step}", id)));
        for path in each.collect::<BTreeSet<String>>() {
            let Ok(text) = std::fs::read_to_string(workspace.root.join(&path)) else { continue };
            let file = StateFile::read(&path, &text, &own).map_err(|findings| {
                render::findings::to_stderr(&path, &text, &findings);
                CommandError::not_good(format!("{path} cannot be read"))
            })?;
            files.insert(path, file);
        }
        Ok(States { place, files, own })
    }

    fn step(&self, project: &str, id: &str, roadmap: &Roadmap) -> (StepState, Schema) {
        let path = self.place.as_deref().unwrap_or_default().replace("{step}", id);
        let file = self.files.get(&path);
        let planned = roadmap.schema();
        let schema = match file {
            Some(file) => file.phases_of(id, &self.own, planned.as_ref()),
            None => machine::phases_of(Listed::Nothing, &self.own, planned.as_ref()).clone(),
        };
        let state = match file {
            Some(file) => file.step(&path, project, id, &schema),
            None => StepState::fresh(&path, project, id, &schema),
        };
        (state, schema)
    }

    fn unknown(&self, roadmap: &Roadmap) -> Vec<String> {
        let known = self.files.values().flat_map(StateFile::steps);
        known.filter(|id| roadmap.step(id).is_none()).collect()
    }
}

fn document(project: &str, path: &str, roadmap: &Roadmap, states: &States, parallel: usize) -> Document {
    let found: Vec<(&Step, StepState, Schema)> = roadmap
        .steps
        .iter()
        .map(|step| {
            let (state, schema) = states.step(project, &step.id, roadmap);
            (step, state, schema)
        })
        .collect();
    let with = |status: StepStatus| found.iter().filter(move |(_, state, _)| state.status == status);
    let done: BTreeSet<String> = with(StepStatus::Done).map(|(step, ..)| step.id.clone()).collect();
    let running: Vec<String> = with(StepStatus::InProgress).map(|(step, ..)| step.id.clone()).collect();
    let queue = queue::queue(roadmap, &done, &running, now(), parallel);
    let mut counts = Counts::default();
    let mut rows = vec![];
    for (step, state, schema) in &found {
        match state.status {
            StepStatus::Done => counts.done += 1,
            StepStatus::Failed | StepStatus::Partial => counts.failed += 1,
            StepStatus::Todo => counts.open += 1,
            _ => counts.at_work += 1,
        }
        let queued = queue.iter().find(|queued| queued.step == step.id);
        rows.push(row(step, state, schema, roadmap, &done, queued));
    }
    Document {
        project: project.to_owned(),
        roadmap: path.to_owned(),
        state: states.place.clone(),
        total: rows.len(),
        counts,
        steps: rows,
        unknown: states.unknown(roadmap),
    }
}

fn row(
    step: &Step,
    state: &StepState,
    schema: &Schema,
    roadmap: &Roadmap,
    done: &BTreeSet<String>,
    queued: Option<&Queued>,
) -> Row {
    let owned = |ids: Vec<&str>| ids.into_iter().map(str::to_owned).collect::<Vec<_>>();
    let begun = !matches!(state.status, StepStatus::Todo | StepStatus::Done);
    let open = state.phases.iter().find(|phase| !phase.is_closed() && phase.status != PhaseStatus::Skipped);
    let phases = state.phases.iter().map(|phase| PhaseRow {
        phase: phase.name.clone(),
        status: phase.status.word_in(schema).to_owned(),
        outcome: phase.outcome.as_ref().map(|outcome| outcome.word().to_owned()),
        attempts: phase.history.len() + usize::from(phase.started_at.is_some()),
    });
    let is_fresh =
        state.status == StepStatus::Todo && state.phases.iter().all(|phase| phase.history.is_empty());
    Row {
        step: step.id.clone(),
        name: step.name.clone(),
        status: state.status.word().to_owned(),
        phase: open.filter(|_| begun).map(|phase| phase.name.clone()),
        phases_closed: state.phases.iter().filter(|phase| phase.is_closed()).count(),
        phases: phases.collect(),
        agent: state
            .assigned_to
            .clone()
            .or_else(|| step.agent.clone())
            .unwrap_or_else(|| USUAL_AGENT.to_owned()),
        needs: owned(roadmap.needs(&step.id)),
        waits_for: owned(roadmap.open_needs(&step.id, done)),
        execution_queue: queued.map(|queued| queued.to_json()["execution_queue"].clone()).unwrap_or_default(),
        attempts: if is_fresh { 0 } else { Metrics::of_step(state).attempts },
        failure_reason: state.failure_reason.clone(),
    }
}

fn tell(ui: &Ui, document: &Document) {
    let Counts { done, at_work, failed, open } = document.counts;
    let filled = (BAR * done).checked_div(document.total).unwrap_or(0);
    let bar = format!("{}{}", "#".repeat(filled), "-".repeat(BAR - filled));
    let mut parts = vec![format!("{done} of {} steps done", document.total)];
    let others = [(at_work, "at work"), (failed, "failed"), (open, "open")];
    parts.extend(
        others.into_iter().filter(|(number, _)| *number > 0).map(|(number, word)| format!("{number} {word}")),
    );
    ui.say(format!("{}  [{bar}] {}\n", tone(Tone::Strong, &document.project), parts.join(", ")));
    let rows: Vec<Vec<String>> = document.steps.iter().map(line).collect();
    ui.say(table(
        &["step", "status", "phases", "at", "tries", "agent", "waits for", "place", "begins", "name"],
        &rows,
    ));
    for row in &document.steps {
        if let Some(reason) = &row.failure_reason {
            ui.say(format!("\n{} {}: {reason}", tone(Tone::Bad, &row.status), row.step));
        }
    }
    for id in &document.unknown {
        ui.warn(format!("the state knows a step {id} that the roadmap does not have"));
    }
    if document.state.is_none() {
        ui.tell(format!(
            "\nThere is no state file yet; create it with:  seriatim roadmap init {}",
            document.project
        ));
    }
}

fn line(row: &Row) -> Vec<String> {
    let queue = &row.execution_queue;
    let place = queue["position"].as_u64().map(|position| position.to_string());
    let dash = |text: Option<String>| text.filter(|text| !text.is_empty()).unwrap_or_else(|| "-".to_owned());
    let is_queued = place.is_some();
    let begins = match queue["estimated_start"].as_str() {
        Some(time) => Some(time.to_owned()),
        None => is_queued.then(|| "unknown".to_owned()),
    };
    vec![
        row.step.clone(),
        row.status.clone(),
        format!("{}/{}", row.phases_closed, row.phases.len()),
        dash(row.phase.clone()),
        if row.attempts == 0 { "-".to_owned() } else { row.attempts.to_string() },
        format!("@{}", row.agent.trim_start_matches('@')),
        dash(Some(row.waits_for.join(", "))),
        dash(place),
        dash(begins),
        cut(&row.name, 40),
    ]
}
