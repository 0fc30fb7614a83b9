//! Views as requests: what a view changes, and merging it, through the hands.

use std::path::Path;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;
use seriatim_core::config::Worlds;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::world::Isolation;
use seriatim_core::world::Network;
use seriatim_core::world::ViewChange;
use seriatim_flows::request::WorldCall;

use crate::hands::process::Spawn;
use crate::hands::process::environment;
use crate::hands::repository::Repository;
use crate::hands::views::Guest;
use crate::hands::views::Knowledge;
use crate::hands::views::ViewDifference;
use crate::hands::views::ViewError;
use crate::hands::views::ViewOf;
use crate::hands::views::ViewPlace;
use crate::hands::views::ViewSize;
use crate::job::Job;
use crate::perform::Hands;
use crate::perform::file_failure;

/// Folders that no work is about where no repository says what is ignored.
const NO_WORK: [&str; 3] = ["target", "node_modules", ".venv"];
/// The view in which the checks of a run work.
const CHECKS: &str = "@checks";

/// What a person finds of the own environment in a view.
const LOOKING_ENVIRONMENT: [&str; 10] =
    ["PATH", "HOME", "LANG", "LC_ALL", "TERM", "COLORTERM", "SHELL", "USER", "LOGNAME", "TMPDIR"];

/// How a process is to be kept apart.
pub(crate) struct Apart<'a> {
    pub(crate) isolation: Option<Isolation>,
    pub(crate) network: Network,
    pub(crate) worlds: &'a Worlds,
    /// Folders that it needs besides.
    pub(crate) share: Vec<PathBuf>,
}

/// Performs a call; the outcome is of the type that the call has.
pub(crate) fn perform(hands: &Hands, job: &Job, call: &WorldCall) -> Result<Value, Failure> {
    match call {
        WorldCall::Change { view, place } => {
            let place = at(hands, place)?;
            let of = ViewOf { run: &job.run_name, view, place: &place };
            let seen = hands.views.change(of, &|paths| ignored(hands, &place, paths)).map_err(failure)?;
            value(ViewChange { isolation: seen.isolation, files: seen.files, effects: seen.effects })
        }
        WorldCall::Merge { view, place, paths, overlap } => {
            let folder = at(hands, place)?;
            let of = ViewOf { run: &job.run_name, view, place: &folder };
            let git = hands.repositories.seen_from(&hands.workspace.inside(folder.clone()), &[]);
            let knowledge = Knowledge {
                ancestor: &|path| ancestor(git.as_ref(), path),
                ignores: &|paths| ignored(hands, &folder, paths),
            };
            value(hands.views.merge(of, &job.marker(), paths, *overlap, &knowledge).map_err(failure)?)
        }
        WorldCall::Drop { view, place } => {
            let place = at(hands, place)?;
            hands.views.drop_view(ViewOf { run: &job.run_name, view, place: &place }).map_err(failure)?;
            value(())
        }
    }
}

/// A view of a run, and what it changes.
#[derive(Clone, Debug)]
pub struct RunView {
    pub at: ViewPlace,
    pub change: ViewChange,
}

/// Measures the layers of a view of a run.
pub fn size(hands: &Hands, run: &str, at: &ViewPlace) -> Result<ViewSize, ViewError> {
    let of = ViewOf { run, view: &at.view, place: &at.place };
    hands.views.size(of, &|paths| ignored(hands, &at.place, paths))
}

/// Lists the views in which the checks of a run work; they hold caches, and nothing of them is merged.
pub fn of_checks(hands: &Hands, run: &str) -> Result<Vec<ViewPlace>, ViewError> {
    Ok(hands.views.list(run)?.into_iter().filter(|at| at.view.starts_with(CHECKS)).collect())
}

/// Lists the views of a run with what they change; the views of checks are none of them.
pub fn of_run(hands: &Hands, run: &str) -> Result<Vec<RunView>, ViewError> {
    let mut views = vec![];
    for at in hands.views.list(run)?.into_iter().filter(|at| !at.view.starts_with(CHECKS)) {
        let of = ViewOf { run, view: &at.view, place: &at.place };
        let seen = hands.views.change(of, &|paths| ignored(hands, &at.place, paths))?;
        let change = ViewChange { isolation: seen.isolation, files: seen.files, effects: seen.effects };
        views.push(RunView { at, change });
    }
    Ok(views)
}

/// Returns the files in which a view of a run differs from the place that it covers, each with both of its sides.
pub fn differences(hands: &Hands, run: &str, at: &ViewPlace) -> Result<Vec<ViewDifference>, ViewError> {
    let of = ViewOf { run, view: &at.view, place: &at.place };
    hands.views.differences(of, &|paths| ignored(hands, &at.place, paths))
}

/// Plans a process of a person who looks at a view: what it writes stays in the view. The marker is unique for it.
pub fn look_into(
    hands: &Hands,
    run: &str,
    at: &ViewPlace,
    argv: Vec<String>,
    marker: String,
) -> Result<Spawn, ViewError> {
    hands.views.isolation(Some(Isolation::World))?;
    let mut spawn = Spawn::new(argv, &at.place, marker);
    spawn.env = environment(&LOOKING_ENVIRONMENT);
    spawn.env.push(("SERIATIM_RUN".to_owned(), run.to_owned()));
    spawn.env.push(("SERIATIM_VIEW".to_owned(), at.view.clone()));
    let worlds = &hands.config.worlds;
    let apart = Apart { isolation: None, network: Network::Host, worlds, share: vec![] };
    let guest = Guest { looks: true, ..guest(&at.place, apart, false) };
    let of = ViewOf { run, view: &at.view, place: &at.place };
    hands.views.enter(of, &guest, &mut spawn, &|paths| ignored(hands, &at.place, paths))?;
    Ok(spawn)
}

/// Throws the views of a run away that is over. After a bad end those that hold unmerged work are kept, and returned.
pub fn end_run(hands: &Hands, run: &str, good: bool) -> Result<Vec<RunView>, ViewError> {
    let holds_work = |view: &RunView| view.change.files.iter().any(|file| !file.ignored);
    let views = if good { vec![] } else { of_run(hands, run)? };
    if !views.iter().any(holds_work) {
        hands.views.drop_run(run)?;
        return Ok(vec![]);
    }
    let (kept, empty): (Vec<RunView>, Vec<RunView>) = views.into_iter().partition(holds_work);
    for RunView { at, .. } in &empty {
        hands.views.drop_view(ViewOf { run, view: &at.view, place: &at.place })?;
    }
    Ok(kept)
}

/// Puts the process of an attempt into its view, and returns how far it is kept apart.
pub(crate) fn enter(
    hands: &Hands,
    job: &Job,
    view: &str,
    place: &PathBuf,
    apart: Apart<'_>,
    spawn: &mut Spawn,
) -> Result<Isolation, Failure> {
    let isolation = hands.views.isolation(apart.isolation).map_err(failure)?;
    if isolation == Isolation::None {
        return Ok(isolation);
    }
    let guest = guest(place, apart, false);
    let of = ViewOf { run: &job.run_name, view, place };
    hands.views.enter(of, &guest, spawn, &|paths| ignored(hands, place, paths)).map_err(failure)?;
    Ok(isolation)
}

/// Puts a check into a view of its own, in which it finds the place as it is and its own caches.
pub(crate) fn enter_check(
    hands: &Hands,
    job: &Job,
    place: &PathBuf,
    apart: Apart<'_>,
    spawn: &mut Spawn,
) -> Result<Isolation, Failure> {
    let isolation = hands.views.isolation(apart.isolation).map_err(failure)?;
    if isolation == Isolation::None {
        return Ok(isolation);
    }
    let guest = guest(place, apart, true);
    // Checks that run side by side have a view each: a layer belongs to one process at a time.
    let scope = job.address.key.rsplit_once('/').map_or("", |(scope, _)| scope);
    let view = format!("{CHECKS}{scope}");
    let of = ViewOf { run: &job.run_name, view: &view, place };
    hands.views.enter(of, &guest, spawn, &|paths| ignored(hands, place, paths)).map_err(failure)?;
    Ok(isolation)
}

fn guest(place: &Path, apart: Apart<'_>, fresh: bool) -> Guest {
    let configured = apart.worlds.share.iter().map(|shared| place.join(shared));
    let share = configured.chain(apart.share).collect();
    Guest { share, network: apart.network, fresh, looks: false }
}

/// Where the attempts of a view work.
fn at(hands: &Hands, place: &str) -> Result<PathBuf, Failure> {
    match place {
        "" => Ok(hands.workspace.root().to_owned()),
        place => hands.resolve(place).map_err(|e| file_failure(&e)),
    }
}

/// The paths that are no work; by their names where no repository can say it.
fn ignored(hands: &Hands, place: &Path, paths: &[String]) -> Vec<String> {
    let git = hands.repositories.seen_from(&hands.workspace.inside(place.to_owned()), &[]);
    if git.is_repository().unwrap_or(false) {
        return git.ignored(paths).unwrap_or_default();
    }
    let is_no_work = |path: &&String| path.split('/').any(|part| NO_WORK.contains(&part));
    paths.iter().filter(is_no_work).cloned().collect()
}

/// The version of a file that both sides began from, as far as it was ever committed.
fn ancestor(git: &dyn Repository, path: &str) -> Option<Vec<u8>> {
    git.text_at("HEAD", path).map(String::into_bytes)
}

fn value(outcome: impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(outcome).map_err(|error| Failure::new(Class::Contract, error.to_string()))
}

fn failure(error: ViewError) -> Failure {
    let class = match &error {
        ViewError::NoIsolation { .. } | ViewError::NoWorld(_) | ViewError::NoCopy { .. } => Class::Contract,
        ViewError::BadFolder { .. } | ViewError::Layers(_) | ViewError::File(_) => Class::Storage,
    };
    Failure::new(class, error.to_string())
}
