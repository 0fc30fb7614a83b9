//! Where the files of a project with a roadmap are, and which work on it is not over.

use std::collections::BTreeSet;

use seriatim_core::finding::Finding;
use seriatim_core::reading::BrokenFile;
use seriatim_core::reading::Reading;
use seriatim_core::roadmap::Roadmap;
use seriatim_core::roadmap::command::Message;
use seriatim_core::roadmap::command::roadmap_paths;
use seriatim_core::roadmap::command::state_paths;
use seriatim_core::roadmap::phases::Schema;
use seriatim_core::roadmap::store::StateFile;

use super::PinnedFile;
use crate::entrance::Ground;
use crate::entrance::NoStart;
use crate::entrance::Repository;
use crate::entrance::Unfinished;

/// What to do about a file that the configuration names and that is not there.
const NAMED_BY_CONFIGURATION: &str = "write the file, or take `phases` out of [guard] in seriatim.toml";
/// The name of the dialect, under which its runs are found.
pub(crate) const NAME: &str = "roadmap";

/// The files of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectFiles {
    pub roadmap: String,
    /// With `{step}` in it where each step has a file of its own.
    pub state: String,
}

impl From<Message> for NoStart {
    fn from(message: Message) -> NoStart {
        let error = match message.is_blocked() {
            true => NoStart::not_good(message.to_string()),
            false => NoStart::usage(message.to_string()),
        };
        match message.hint() {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}

/// Returns the roadmap of a project, or the sentence that says where it should be (DW-30).
pub fn find_roadmap(ground: &dyn Ground, project: &str) -> Result<String, Message> {
    let there = roadmap_paths(project).into_iter().find(|path| ground.exists(path));
    there.ok_or_else(|| Message::RoadmapNotFound { project: project.to_owned() })
}

/// Returns every file that holds the state of a project's steps, that of the current generation first (K-103).
pub fn find_state_files(ground: &dyn Ground, project: &str) -> Vec<String> {
    let mut found: Vec<String> =
        state_paths(project).into_iter().filter(|path| ground.exists(path)).collect();
    let steps = steps_folder(project);
    let listed = ground.list(&steps).into_iter();
    let files = listed.filter(|entry| entry.name.ends_with(".json"));
    found.extend(files.map(|entry| format!("{steps}/{}", entry.name)));
    found
}

fn steps_folder(project: &str) -> String {
    format!("docs/feature/{project}/steps")
}

/// Returns the files of a project, or says which one is missing (DW-30, DW-31, K-103).
pub fn find_project(ground: &dyn Ground, project: &str) -> Result<ProjectFiles, Message> {
    let roadmap = find_roadmap(ground, project)?;
    let steps = format!("{}/", steps_folder(project));
    match find_state_files(ground, project).into_iter().next() {
        Some(path) if path.starts_with(&steps) => {
            Ok(ProjectFiles { roadmap, state: format!("{steps}{{step}}.json") })
        }
        Some(state) => Ok(ProjectFiles { roadmap, state }),
        None => Err(Message::StatusNotFound { project: project.to_owned() }),
    }
}

/// Reads and checks the roadmap. Returns it with its warnings, or what is wrong with it (E-47).
pub fn read_roadmap(ground: &dyn Ground, path: &str) -> Result<(Roadmap, Vec<Finding>), NoStart> {
    let agents: Vec<String> = ground.config().agents.keys().cloned().collect();
    let reading = ground.text(path).parse(path, |text| Roadmap::read_among(path, text, &agents));
    Ok(reading.required(path, "write the roadmap there")?)
}

/// Reads the list of phases that the configuration names, with its text.
pub(super) fn read_phases(ground: &dyn Ground) -> Result<Option<(PinnedFile, Schema)>, NoStart> {
    let Some(path) = &ground.config().guard.phases else { return Ok(None) };
    let text = ground.text(path).required(path, NAMED_BY_CONFIGURATION)?;
    let schema = Reading::Read(text.clone()).parse_whole(path, Schema::parse);
    let schema = schema.required(path, NAMED_BY_CONFIGURATION)?;
    Ok(Some((PinnedFile { path: path.clone(), text }, schema)))
}

/// Refuses where a file with the state of steps is there and cannot be used: no step counts as new or done by default.
pub(super) fn check_states(
    ground: &dyn Ground,
    files: &ProjectFiles,
    roadmap: &Roadmap,
    own: &[Schema],
) -> Result<(), NoStart> {
    let paths: BTreeSet<String> =
        roadmap.steps.iter().map(|step| files.state.replace("{step}", &step.id)).collect();
    let read = |path: &String| {
        let reading = ground.text(path).parse_whole(path, |text| StateFile::read(path, text, own));
        reading.optional().err()
    };
    let broken: Vec<BrokenFile> = paths.iter().filter_map(read).collect();
    if broken.is_empty() { Ok(()) } else { Err(NoStart::broken(broken)) }
}

/// Returns what a run is about: two of the same are never unfinished at once.
pub(crate) fn subject_of(project: &str, step: Option<&str>) -> String {
    match step {
        Some(step) => format!("docs/feature/{project}#{step}"),
        None => format!("docs/feature/{project}"),
    }
}

/// Refuses where any work on a project is not over: nothing about its state is changed behind the back of a run.
pub fn refuse_unfinished(ground: &dyn Ground, project: &str) -> Result<(), NoStart> {
    let whole = subject_of(project, None);
    let steps = format!("{whole}#");
    let is_of = |run: &Unfinished| run.subject == whole || run.subject.starts_with(&steps);
    match ground.unfinished(NAME)?.iter().find(|run| is_of(run)) {
        Some(run) => Err(under_way(run)),
        None => Ok(()),
    }
}

/// Refuses where an unfinished run does the same work in another form: a step of a roadmap that is carried out as a
/// whole, or the whole while one of its steps is carried out.
pub(crate) fn refuse_same_work(
    ground: &dyn Ground,
    project: &str,
    step: Option<&str>,
) -> Result<(), NoStart> {
    let whole = subject_of(project, None);
    let steps = format!("{whole}#");
    let other = |run: &Unfinished| match step {
        Some(_) => run.subject == whole,
        None => run.subject.starts_with(&steps),
    };
    match ground.unfinished(NAME)?.iter().find(|run| other(run)) {
        Some(run) => Err(under_way(run)),
        None => Ok(()),
    }
}

fn under_way(unfinished: &Unfinished) -> NoStart {
    let Unfinished { run, title, holder, .. } = unfinished;
    match holder {
        Some(holder) => {
            NoStart::held(format!("this work is under way already, as run {run}, held by {holder}"))
                .hint("wait for it, or stop it there")
        }
        None => NoStart::held(format!("this work is unfinished in run {run} ({title})")).hint(format!(
            "continue it with `seriatim resume {run}`, or end it with `seriatim cancel {run}`"
        )),
    }
}

/// Refuses outside of a repository: work of this dialect is measured and committed by git.
pub fn needs_git(ground: &dyn Ground) -> Result<(), NoStart> {
    match ground.repository() {
        Repository::Here | Repository::Above => Ok(()),
        Repository::No => Err(NoStart::usage("the workspace is not in a git repository")
            .hint("steps are measured and committed by git: run `git init` first")),
    }
}
