//! How the steps of a roadmap begin: one of them, or all that are open.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use seriatim_core::config::Config;
use seriatim_core::config::DEFAULT_AGENT;
use seriatim_core::roadmap::Roadmap;
use seriatim_core::roadmap::command;
use seriatim_core::roadmap::command::Availability;
use seriatim_core::roadmap::command::Message;
use seriatim_core::roadmap::command::Registry;
use seriatim_core::roadmap::command::Target;

use super::PinnedFile;
use super::Start;
use super::USUAL_AGENT;
use super::place;
use super::place::ProjectFiles;
use crate::entrance::Argument;
use crate::entrance::Entrance;
use crate::entrance::Ground;
use crate::entrance::NoStart;
use crate::entrance::Prepared;
use crate::entrance::Shape;
use crate::entrance::Words;

/// How many steps may be carried out at a time.
const PARALLEL_MAX: u32 = 64;

const ATTACH: Argument = Argument {
    name: "attach",
    help: "Start no agent: a live session takes the assignments (`inbox`) and hands its reports in (`report`)",
    shape: Shape::Flag,
};

pub(crate) const ENTRANCES: &[Entrance] = &[
    Entrance {
        word: "step",
        about: "Carry out one step of a roadmap through its phases",
        more: "The agent is called once for each phase; the engine runs the tests itself, keeps the state file, and \
               commits at checkpoints. A step that was begun before continues at its first open phase.",
        usage: "[OPTIONS] @AGENT PROJECT STEP",
        arguments: &[
            Argument {
                name: "parameters",
                help: "@AGENT, PROJECT and STEP, like: @software-crafter auth-upgrade 01-01",
                shape: Shape::Places { value: "PARAMETER" },
            },
            ATTACH,
        ],
        prepare: prepare_step,
    },
    Entrance {
        word: "roadmap",
        about: "Carry out all open steps of a roadmap, each after everything that it needs",
        more: "One step after the other; with --parallel N up to N independent steps at a time, each in a working tree \
               of its own, merged in the order of the roadmap. One step's failure keeps the others' work.",
        usage: "",
        arguments: &[
            Argument {
                name: "project",
                help: "The project, whose files are in docs/feature/PROJECT",
                shape: Shape::Place { value: "PROJECT" },
            },
            Argument {
                name: "agent",
                help: "The agent for all steps, instead of those that the steps suggest",
                shape: Shape::Text { value: "NAME" },
            },
            Argument {
                name: "parallel",
                help: "How many steps may be carried out at a time",
                shape: Shape::Number { value: "N", least: 1, most: PARALLEL_MAX, default: "1" },
            },
            ATTACH,
        ],
        prepare: prepare_roadmap,
    },
];

fn prepare_step(words: &Words, ground: &mut dyn Ground) -> Result<Prepared, NoStart> {
    let registry = agent_registry(ground.config());
    let invocation = command::parse(words.all("parameters"), &registry)?;
    let (project, step) = match invocation.target {
        Target::Step { project, step } => (project, step),
        Target::File { path } => step_of_file(&path)?,
    };
    let files = place::find_project(ground, &project)?;
    let (roadmap, _) = place::read_roadmap(ground, &files.roadmap)?;
    let phases = read_set_up(ground, &files, &roadmap)?;
    let Some(planned) = roadmap.step(&step) else {
        let available = roadmap.ids().into_iter().map(str::to_owned).collect();
        return Err(Message::StepNotFound { step, available }.into());
    };
    place::needs_git(ground)?;
    let attach = words.has("attach");
    if !attach {
        availability(ground)?.check(&invocation.agent, &registry)?;
    }
    place::refuse_same_work(ground, &project, Some(&step))?;
    let start = Start {
        only: Some(step.clone()),
        agent: Some(invocation.agent.clone()),
        attach,
        phases,
        ..configured(ground, &project, files)
    };
    let title = format!("@{} {project} {step}: {}", invocation.agent, planned.name);
    let before = vec![format!("Step {step} of {project} goes to @{}.", invocation.agent)];
    let calls = Some(vec![vec![invocation.agent.clone()]]);
    Ok(Prepared { before, calls, ..Prepared::new(title, place::subject_of(&project, Some(&step)), &start)? })
}

fn prepare_roadmap(words: &Words, ground: &mut dyn Ground) -> Result<Prepared, NoStart> {
    let registry = agent_registry(ground.config());
    let project = command::project(words.one("project").unwrap_or_default())?;
    let agent = words.one("agent").map(|agent| agent.trim_start_matches('@').to_owned());
    if let Some(agent) = &agent {
        registry.accept(agent)?;
    }
    let files = place::find_project(ground, &project)?;
    let (roadmap, _) = place::read_roadmap(ground, &files.roadmap)?;
    let phases = read_set_up(ground, &files, &roadmap)?;
    place::needs_git(ground)?;
    let attach = words.has("attach");
    let mut calls = vec![];
    let available = availability(ground)?;
    for step in &roadmap.steps {
        let wanted = agent.as_deref().or(step.agent.as_deref()).unwrap_or(USUAL_AGENT);
        calls.push(vec![wanted.to_owned()]);
        if !attach {
            available.check(wanted, &registry)?;
        }
    }
    if roadmap.steps.is_empty() {
        return Err(NoStart::usage(format!("{} has no steps", files.roadmap)));
    }
    place::refuse_same_work(ground, &project, None)?;
    let parallel = words.number("parallel").unwrap_or(1);
    let start = Start { agent, parallel, attach, phases, ..configured(ground, &project, files) };
    let prepared = Prepared::new(format!("roadmap of {project}"), place::subject_of(&project, None), &start)?;
    Ok(Prepared { calls: Some(calls), ..prepared })
}

/// The agents that a step can be given to: the usual ones and those of the configuration (K-101).
fn agent_registry(config: &Config) -> Registry {
    let registry = Registry::new(config.agents.keys().map(String::as_str));
    if config.roadmap.step_files { registry.with_step_files() } else { registry }
}

/// Which agents can be called at the moment (DW-21): those that are configured and not at their limit.
fn availability(ground: &dyn Ground) -> Result<Availability, NoStart> {
    let config = ground.config();
    let mut busy = BTreeSet::new();
    if let Some(limit) = config.roadmap.concurrency {
        let mut at_work: BTreeMap<String, u32> = BTreeMap::new();
        for run in ground.unfinished(place::NAME)? {
            let start = serde_json::from_value::<Start>(run.input).ok();
            if let Some(agent) = start.and_then(|start| start.agent) {
                *at_work.entry(agent).or_default() += 1;
            }
        }
        busy.extend(at_work.into_iter().filter(|(_, number)| *number >= limit).map(|(agent, _)| agent));
    }
    Ok(Availability {
        configured: config.agents.keys().filter(|name| *name != DEFAULT_AGENT).cloned().collect(),
        has_default: config.agents.contains_key(DEFAULT_AGENT),
        busy,
    })
}

/// Reads what a run rests on beside its roadmap: the project's own phases and the state of its steps. Returns the former,
/// to be recorded.
fn read_set_up(
    ground: &dyn Ground,
    files: &ProjectFiles,
    roadmap: &Roadmap,
) -> Result<Option<PinnedFile>, NoStart> {
    let (pinned, own) = place::read_phases(ground)?.unzip();
    place::check_states(ground, files, roadmap, own.as_slice())?;
    Ok(pinned)
}

/// What a run is started with: everything that must not change under its feet is recorded here.
fn configured(ground: &dyn Ground, project: &str, files: ProjectFiles) -> Start {
    let config = ground.config();
    let mut start = Start {
        project: project.to_owned(),
        roadmap: files.roadmap,
        state: files.state,
        parallel: 1,
        ..Start::default()
    };
    start.adopt(config);
    start
}

/// The step that an old path names (K-13).
fn step_of_file(path: &str) -> Result<(String, String), NoStart> {
    let parts: Vec<&str> = path.split('/').collect();
    let at = parts.iter().position(|part| *part == "steps");
    let project = at.and_then(|at| parts.get(at.checked_sub(1)?)).copied();
    let step = parts.last().and_then(|name| name.strip_suffix(".json"));
    match (project, step) {
        (Some(project), Some(step)) => Ok((project.to_owned(), step.to_owned())),
        _ => Err(NoStart::usage(format!("{path} does not name a step file of a project"))
            .hint("docs/feature/PROJECT/steps/STEP.json")),
    }
}
