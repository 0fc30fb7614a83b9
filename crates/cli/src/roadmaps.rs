//! Projects with a roadmap: where their files are, and what a run of their steps is started with.

use seriatim_engine::guard::Project;
use seriatim_engine::guard::rules::Rules;
use seriatim_engine::hands::disk::Disk;
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use seriatim_core::config::Config;
use seriatim_core::config::DEFAULT_AGENT;
use seriatim_core::finding::Finding;
use seriatim_core::finding::has_errors;
use seriatim_core::roadmap::Roadmap;
use seriatim_core::roadmap::command::Availability;
use seriatim_core::roadmap::command::Message;
use seriatim_core::roadmap::command::Registry;
use seriatim_core::roadmap::command::roadmap_paths;
use seriatim_core::roadmap::command::state_paths;
use seriatim_core::roadmap::phases::Schema;
use seriatim_engine::guard::templates;
use seriatim_flows::roadmap::Call;
use seriatim_flows::roadmap::Gate;
use seriatim_flows::roadmap::PinnedFile;
use seriatim_flows::roadmap::Start;
use seriatim_journal::Filter;
use seriatim_journal::RunInfo;
use seriatim_journal::Store;

use crate::error::CommandError;
use crate::error::Result;
use crate::render;
use crate::workspace::Workspace;

/// The gates that phases know.
const GATES: [&str; 5] = ["acceptance", "tests", "lint", "coverage", "security"];

/// The files of a project.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) roadmap: String,
    /// With `{step}` in it where each step has a file of its own.
    pub(crate) state: String,
}

impl From<Message> for CommandError {
    fn from(message: Message) -> CommandError {
        let error = match message.is_blocked() {
            true => CommandError::not_good(message.to_string()),
            false => CommandError::usage(message.to_string()),
        };
        match message.hint() {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}

/// The agents that a step can be given to: the usual ones and those of the configuration (K-101).
pub(crate) fn registry(config: &Config) -> Registry {
    let registry = Registry::new(config.agents.keys().map(String::as_str));
    if config.roadmap.step_files { registry.with_step_files() } else { registry }
}

/// Which agents can be called at the moment (DW-21): those that are configured and not at their limit.
pub(crate) fn availability(config: &Config, store: &Store) -> Result<Availability> {
    let mut busy = BTreeSet::new();
    if let Some(limit) = config.roadmap.concurrency {
        let mut at_work: BTreeMap<String, u32> = BTreeMap::new();
        for run in unfinished(store)? {
            if let Some(agent) = run.title.strip_prefix('@').and_then(|title| title.split(' ').next()) {
                *at_work.entry(agent.to_owned()).or_default() += 1;
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

/// Nothing about the state of a project is changed behind the back of work that is not over.
pub(crate) fn refuse_unfinished(store: &Store, project: &str) -> Result<()> {
    let whole = subject(project, None);
    let steps = format!("{whole}#");
    let is_of = |run: &RunInfo| run.subject == whole || run.subject.starts_with(&steps);
    match unfinished(store)?.into_iter().find(is_of) {
        Some(run) => Err(under_way(&run)),
        None => Ok(()),
    }
}

/// Somebody has begun the same work and not ended it.
pub(crate) fn under_way(run: &RunInfo) -> CommandError {
    let name = &run.name;
    match &run.holder {
        Some(holder) => {
            CommandError::held(format!("this work is under way already, as run {name}, held by {holder}"))
                .hint("wait for it, or stop it there")
        }
        None => CommandError::held(format!("this work is unfinished in run {name} ({})", run.title)).hint(
            format!("continue it with `seriatim resume {name}`, or end it with `seriatim cancel {name}`"),
        ),
    }
}

/// The runs of roadmaps that are not over.
fn unfinished(store: &Store) -> Result<Vec<RunInfo>> {
    let listing = store.runs(&Filter { flow: Some("roadmap".to_owned()), ..Filter::default() })?;
    Ok(listing.runs.into_iter().filter(|run| !run.status.is_finished()).collect())
}

/// An unfinished run whose work and this one would be the same: a step of a roadmap that is carried out as a whole, or
/// the whole while one of its steps is carried out.
pub(crate) fn same_work(store: &Store, project: &str, step: Option<&str>) -> Result<Option<RunInfo>> {
    let whole = subject(project, None);
    let others = unfinished(store)?.into_iter().find(|run| match step {
        Some(_) => run.subject == whole,
        None => run.subject.starts_with(&format!("{whole}#")),
    });
    Ok(others)
}

/// What a run is about: two of the same are never unfinished at once.
pub(crate) fn subject(project: &str, step: Option<&str>) -> String {
    match step {
        Some(step) => format!("docs/feature/{project}#{step}"),
        None => format!("docs/feature/{project}"),
    }
}

/// The roadmap of a project, or the sentence that says where it should be (DW-30).
pub(crate) fn find_roadmap(root: &Path, project: &str) -> std::result::Result<String, Message> {
    let there = roadmap_paths(project).into_iter().find(|path| root.join(path).is_file());
    there.ok_or_else(|| Message::RoadmapNotFound { project: project.to_owned() })
}

/// Every file that holds the state of a project's steps, that of the current generation first (K-103).
pub(crate) fn state_files(root: &Path, project: &str) -> Vec<String> {
    let mut found: Vec<String> =
        state_paths(project).into_iter().filter(|path| root.join(path).is_file()).collect();
    let steps = steps_folder(project);
    let entries = std::fs::read_dir(root.join(&steps)).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter(|entry| entry.path().extension().is_some_and(|ending| ending == "json"))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    found.extend(names.into_iter().map(|name| format!("{steps}/{name}")));
    found
}

fn steps_folder(project: &str) -> String {
    format!("docs/feature/{project}/steps")
}

/// Finds the files of a project, or says which one is missing (DW-30, DW-31, K-103).
pub(crate) fn find(root: &Path, project: &str) -> std::result::Result<Place, Message> {
    let roadmap = find_roadmap(root, project)?;
    let steps = format!("{}/", steps_folder(project));
    match state_files(root, project).into_iter().next() {
        Some(path) if path.starts_with(&steps) => {
            Ok(Place { roadmap, state: format!("{steps}{{step}}.json") })
        }
        Some(state) => Ok(Place { roadmap, state }),
        None => Err(Message::StatusNotFound { project: project.to_owned() }),
    }
}

/// The phases that a project brings itself; a list that cannot be read is an error of the configuration.
pub(crate) fn own_phases(workspace: &Workspace) -> Result<Vec<Schema>> {
    let project = Project::new(&workspace.root, Arc::new(Disk));
    let rules = Rules::of(&project, workspace.config.clone());
    Ok(rules.map_err(|error| CommandError::usage(error.to_string()))?.own().to_vec())
}

/// Reads and checks the roadmap; what is wrong with it is shown, and nothing is begun (E-47).
pub(crate) fn read(workspace: &Workspace, path: &str) -> Result<Roadmap> {
    let (roadmap, _) = read_with_findings(workspace, path)?;
    Ok(roadmap)
}

/// The same, with what is odd about it.
pub(crate) fn read_with_findings(workspace: &Workspace, path: &str) -> Result<(Roadmap, Vec<Finding>)> {
    let text = std::fs::read_to_string(workspace.root.join(path))
        .map_err(|error| CommandError::usage(format!("{path} cannot be read: {error}")))?;
    let agents: Vec<String> = workspace.config.agents.keys().cloned().collect();
    let (roadmap, findings) = Roadmap::read_among(path, &text, &agents);
    match roadmap {
        Some(roadmap) if !has_errors(&findings) => Ok((roadmap, findings)),
        _ => {
            render::findings::to_stderr(path, &text, &findings);
            Err(CommandError::not_good(summary(path, &findings)).hint("nothing was begun"))
        }
    }
}

fn summary(path: &str, findings: &[Finding]) -> String {
    let first = findings.iter().find(|f| f.severity == seriatim_core::finding::Severity::Error);
    let first = first.map(|f| format!(" (line {}: {})", f.place.line, f.message)).unwrap_or_default();
    format!("{path} has errors{first}")
}

/// What a run is started with: everything that must not change under its feet is pinned here.
pub(crate) fn start(workspace: &Workspace, project: &str, place: Place) -> Start {
    let config = &workspace.config;
    let gates = config.gates.iter().filter(|(name, _)| GATES.contains(&name.as_str()));
    let gates = gates.map(|(name, gate)| {
        let gate = Gate {
            argv: gate.command.clone(),
            within: gate.within.clone(),
            timeout_ms: gate.timeout_ms,
            env: gate.env.clone(),
            expect: gate.expect.clone(),
            value: gate.value.clone(),
            threshold: gate.threshold.map(|threshold| threshold.to_string()),
            comparator: gate.comparator,
        };
        (name.clone(), gate)
    });
    Start {
        project: project.to_owned(),
        roadmap: place.roadmap,
        state: place.state,
        agents: config.agents.keys().filter(|name| *name != DEFAULT_AGENT).cloned().collect(),
        parallel: 1,
        gates: gates.collect(),
        call: if config.roadmap.whole_steps { Call::Step } else { Call::Phase },
        push: config.roadmap.push,
        entry_point: config.roadmap.entry_point.clone(),
        mutation: config.roadmap.mutation.clone(),
        phases: config.guard.phases.as_deref().map(|path| pin(workspace, path)),
        finalize: config.roadmap.finalize,
        ..Start::default()
    }
}

/// Pins a file that the configuration names. One that cannot be read is pinned empty, and the run tells what is wrong.
fn pin(workspace: &Workspace, path: &str) -> PinnedFile {
    let file = templates::inside(&Disk, &workspace.root, path);
    let text = file.and_then(|file| templates::read_text(&Disk, &file)).unwrap_or_default();
    PinnedFile { path: path.to_owned(), text }
}

/// Work of this dialect is measured and committed by git.
pub(crate) fn needs_git(workspace: &Workspace) -> Result<()> {
    if workspace.root.ancestors().any(|folder| folder.join(".git").exists()) {
        return Ok(());
    }
    Err(CommandError::usage(format!("{} is not in a git repository", workspace.root.display()))
        .hint("steps are measured and committed by git: run `git init` first"))
}
