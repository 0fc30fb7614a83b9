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
use seriatim_flows::request::Check;
use seriatim_flows::request::Unmerged;
use seriatim_flows::request::WorldCall;

use crate::hands::git::TreeEdit;
use crate::hands::process::Spawn;
use crate::hands::repository::Repository;
use crate::hands::views::Guest;
use crate::hands::views::Knowledge;
use crate::hands::views::ViewError;
use crate::hands::views::ViewOf;
use crate::hands::views::ViewPlace;
use crate::job::Job;
use crate::perform::Hands;
use crate::perform::file_failure;

/// Folders that no work is about where no repository says what is ignored.
const NO_WORK: [&str; 3] = ["target", "node_modules", ".venv"];
/// The view in which the checks of a run work.
const CHECKS: &str = "@checks";
/// A larger report of a check is not read.
const REPORT_BYTES_MAX: u64 = 64 << 20;

/// How a process is to be kept apart.
pub(crate) struct Apart<'a> {
    pub(crate) isolation: Option<Isolation>,
    pub(crate) network: Network,
    pub(crate) worlds: &'a Worlds,
    /// Folders that it needs besides.
    pub(crate) share: Vec<PathBuf>,
    /// Unmerged work that it sees.
    pub(crate) on: Option<Unmerged>,
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
        WorldCall::Save { view } => {
            let place = hands.workspace.root().to_owned();
            let of = ViewOf { run: &job.run_name, view, place: &place };
            hands.views.save(of, &|paths| ignored(hands, &place, paths)).map_err(failure)?;
            value(())
        }
        WorldCall::Reset { view } => {
            let place = hands.workspace.root().to_owned();
            let of = ViewOf { run: &job.run_name, view, place: &place };
            hands.views.reset(of, &|paths| ignored(hands, &place, paths)).map_err(failure)?;
            value(())
        }
        WorldCall::Drop { view, place } => {
            let place = at(hands, place)?;
            hands.views.drop_view(ViewOf { run: &job.run_name, view, place: &place }).map_err(failure)?;
            value(())
        }
    }
}

/// Returns some files of a view of the workspace as edits of a tree.
pub(crate) fn edits(
    hands: &Hands,
    job: &Job,
    view: &str,
    paths: &[String],
) -> Result<Vec<TreeEdit>, Failure> {
    let place = hands.workspace.root().to_owned();
    let of = ViewOf { run: &job.run_name, view, place: &place };
    hands.views.edits(of, paths, &|paths| ignored(hands, &place, paths)).map_err(failure)
}

/// A view of a run, and what it changes.
#[derive(Clone, Debug)]
pub struct RunView {
    pub at: ViewPlace,
    pub change: ViewChange,
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
    place: &Path,
    apart: Apart<'_>,
    spawn: &mut Spawn,
) -> Result<Isolation, Failure> {
    let isolation = hands.views.isolation(apart.isolation).map_err(failure)?;
    if isolation == Isolation::None {
        return Ok(isolation);
    }
    let on = apart.on.clone();
    let guest = Guest { on, ..guest(place, apart, isolation, false) };
    let of = ViewOf { run: &job.run_name, view, place };
    hands.views.enter(of, &guest, spawn, &|paths| ignored(hands, place, paths)).map_err(failure)?;
    Ok(isolation)
}

/// The view of a check: its caches are kept under its name.
fn view_of_check(check: &Check) -> String {
    format!("{CHECKS}/{}", check.name)
}

/// Puts a check into a view of its own, in which it finds the place as it is, unmerged work that it looks at, and its own
/// caches. What a set-up before it wrote is there too, so that the view is not fresh then.
pub(crate) fn enter_check(
    hands: &Hands,
    job: &Job,
    check: &Check,
    place: &Path,
    fresh: bool,
    spawn: &mut Spawn,
) -> Result<Isolation, Failure> {
    let isolation = hands.views.isolation(check.isolation).map_err(failure)?;
    if isolation == Isolation::None {
        return Ok(isolation);
    }
    let worlds = &job.config.config.worlds;
    let apart = Apart { isolation: check.isolation, network: check.network, worlds, share: vec![], on: None };
    let guest = Guest { on: check.on.clone(), ..guest(place, apart, isolation, fresh) };
    let view = view_of_check(check);
    let of = ViewOf { run: &job.run_name, view: &view, place };
    hands.views.enter(of, &guest, spawn, &|paths| ignored(hands, place, paths)).map_err(failure)?;
    Ok(isolation)
}

/// Reads the reports that a check wrote itself.
pub(crate) fn reports_of_check(
    hands: &Hands,
    job: &Job,
    check: &Check,
    place: &Path,
) -> Result<Vec<Option<String>>, Failure> {
    let view = view_of_check(check);
    let of = ViewOf { run: &job.run_name, view: &view, place };
    let mut texts = vec![];
    for path in &check.reports {
        // A pattern for the output is given in the same place as the name of a report, and is no path.
        let written = hands.views.written(of, path).unwrap_or_default();
        let found = written.and_then(|file| hands.files.read(&file, REPORT_BYTES_MAX).ok());
        texts.push(found.and_then(|found| String::from_utf8(found.bytes).ok()));
    }
    Ok(texts)
}

fn guest(place: &Path, apart: Apart<'_>, isolation: Isolation, fresh: bool) -> Guest {
    let configured = apart.worlds.share.iter().map(|shared| place.join(shared));
    let share = configured.chain(apart.share).collect();
    Guest { isolation, share, network: apart.network, fresh, on: None }
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
    let git = hands.repositories.seen_from(&hands.workspace.inside(place.to_path_buf()), &[]);
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
