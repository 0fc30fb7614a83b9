//! Where the files of a project with a roadmap are, and which work on it is not over.

use seriatim_core::finding::Finding;
use seriatim_core::finding::Severity;
use seriatim_core::finding::has_errors;
use seriatim_core::roadmap::Roadmap;
use seriatim_core::roadmap::command::Message;
use seriatim_core::roadmap::command::roadmap_paths;
use seriatim_core::roadmap::command::state_paths;

use crate::entrance::Ground;
use crate::entrance::ListedKind;
use crate::entrance::NoStart;
use crate::entrance::Repository;
use crate::entrance::Unfinished;

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
    let there = roadmap_paths(project).into_iter().find(|path| ground.is_file(path));
    there.ok_or_else(|| Message::RoadmapNotFound { project: project.to_owned() })
}

/// Returns every file that holds the state of a project's steps, that of the current generation first (K-103).
pub fn find_state_files(ground: &dyn Ground, project: &str) -> Vec<String> {
    let mut found: Vec<String> =
        state_paths(project).into_iter().filter(|path| ground.is_file(path)).collect();
    let steps = steps_folder(project);
    let listed = ground.list(&steps).into_iter();
    let files = listed.filter(|entry| entry.kind == ListedKind::File && entry.name.ends_with(".json"));
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
    let unreadable = |why: &str| NoStart::usage(format!("{path} cannot be read: {why}"));
    let bytes = ground.read(path).map_err(|error| unreadable(&error))?;
    let bytes = bytes.ok_or_else(|| unreadable("there is no such file"))?;
    let text = String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8"))?;
    let agents: Vec<String> = ground.config().agents.keys().cloned().collect();
    let (roadmap, findings) = Roadmap::read_among(path, &text, &agents);
    match roadmap {
        Some(roadmap) if !has_errors(&findings) => Ok((roadmap, findings)),
        _ => Err(NoStart::not_good(summary(path, &findings))
            .hint("nothing was begun")
            .because_of(path, text, findings)),
    }
}

fn summary(path: &str, findings: &[Finding]) -> String {
    let first = findings.iter().find(|f| f.severity == Severity::Error);
    let first = first.map(|f| format!(" (line {}: {})", f.place.line, f.message)).unwrap_or_default();
    format!("{path} has errors{first}")
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
