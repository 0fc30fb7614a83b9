//! Views as requests: what a view changes, and merging it, through the hands.

mod places;
mod steering;

use std::path::Component;
use std::path::Path;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;
use seriatim_core::config::Worlds;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::world::Isolation;
use seriatim_core::world::Network;
use seriatim_core::world::Overlap;
use seriatim_core::world::ViewChange;
use seriatim_core::world::ViewKind;
use seriatim_flows::request::Check;
use seriatim_flows::request::HookRun;
use seriatim_flows::request::Unmerged;
use seriatim_flows::request::WorldCall;

use crate::hands::files::Kind;
use crate::hands::git::ChangeKind;
use crate::hands::git::GitError;
use crate::hands::git::TreeEdit;
use crate::hands::process::Spawn;
use crate::hands::process::environment;
use crate::hands::repository::Repository;
use crate::hands::views::Covered;
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
use places::ShownPlace;

/// Folders that no work is about where no repository says what is ignored.
const NO_WORK: [&str; 3] = ["target", "node_modules", ".venv"];
/// The view in which the checks of a run work.
const CHECKS: &str = "@checks";
/// A larger report of a check is not read.
const REPORT_BYTES_MAX: u64 = 64 << 20;

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
    /// Unmerged work that it sees.
    pub(crate) on: Option<Unmerged>,
}

/// Performs a call; the outcome is of the type that the call has.
pub(crate) fn perform(hands: &Hands, job: &Job, call: &WorldCall) -> Result<Value, Failure> {
    match call {
        WorldCall::Change { view, place, named } => {
            let place = at(hands, place)?;
            let of = ViewOf { run: &job.run_name, view, place: &place };
            let named = as_paths(&place, named);
            let ignores = |paths: &[String]| ignored_but(hands, &place, &named, paths);
            value(steering::change(hands, of, &ignores).map_err(failure)?)
        }
        WorldCall::Merge { view, place, paths, overlap } => {
            let folder = at(hands, place)?;
            let of = ViewOf { run: &job.run_name, view, place: &folder };
            let git = hands.repositories.seen_from(&hands.workspace.inside(folder.clone()), &[]);
            let knowledge = Knowledge {
                ancestor: &|path| ancestor(git.as_ref(), path),
                // What is merged is work, whatever git says about it.
                ignores: &|asked| ignored_but(hands, &folder, paths, asked),
            };
            value(hands.views.merge(of, &job.marker(), paths, *overlap, &knowledge).map_err(failure)?)
        }
        WorldCall::Keep { view, place, paths } => {
            let place = at(hands, place)?;
            let of = ViewOf { run: &job.run_name, view, place: &place };
            hands.views.keep(of, paths, &|paths| ignored(hands, &place, paths)).map_err(failure)?;
            value(())
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
    let is_there = |place: &Path| {
        hands.files.look(place).is_ok_and(|found| found.is_some_and(|entry| entry.kind == Kind::Directory))
    };
    // The working tree of a step that was merged is gone, and with it what its views could be compared with.
    let listed = hands.views.list(run)?.into_iter().filter(|at| !at.view.starts_with(CHECKS));
    for at in listed.filter(|at| is_there(&at.place)) {
        let of = ViewOf { run, view: &at.view, place: &at.place };
        let ignores = |paths: &[String]| ignored(hands, &at.place, paths);
        let change = steering::change(hands, of, &ignores)?;
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
    let share = shared(&at.place, &hands.config.worlds);
    hands.views.isolation(Some(Isolation::World), &at.place, &share)?;
    let mut spawn = Spawn::new(argv, &at.place, marker);
    spawn.env = environment(&LOOKING_ENVIRONMENT);
    spawn.env.push(("SERIATIM_RUN".to_owned(), run.to_owned()));
    spawn.env.push(("SERIATIM_VIEW".to_owned(), at.view.clone()));
    let worlds = &hands.config.worlds;
    let apart = Apart { isolation: None, network: Network::Host, worlds, share: vec![], on: None };
    let of = ViewOf { run, view: &at.view, place: &at.place };
    let shown = places::show(hands, of, Isolation::World, &spawn.argv);
    let shown = shown.map_err(|failure| ViewError::NoPlace { reason: failure.message })?;
    let guest = Guest { looks: true, ..guest(&at.place, shown, apart, Isolation::World, false) };
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
    place: &Path,
    apart: Apart<'_>,
    spawn: &mut Spawn,
) -> Result<Isolation, Failure> {
    let isolation =
        hands.views.isolation(apart.isolation, place, &shared(place, apart.worlds)).map_err(failure)?;
    if isolation == Isolation::None {
        return Ok(isolation);
    }
    let on = apart.on.clone();
    let of = ViewOf { run: &job.run_name, view, place };
    let shown = places::show(hands, of, isolation, &spawn.argv)?;
    let guest = Guest { on, ..guest(place, shown, apart, isolation, false) };
    hands.views.enter(of, &guest, spawn, &|paths| ignored(hands, place, paths)).map_err(failure)?;
    Ok(isolation)
}

/// Returns what an agent would have changed, as paths with what would have happened to them, and drops its view.
pub(crate) fn rehearsed(hands: &Hands, job: &Job, view: &str) -> Result<Vec<String>, Failure> {
    let place = hands.workspace.root().to_owned();
    let of = ViewOf { run: &job.run_name, view, place: &place };
    let seen = hands.views.change(of, &|paths| ignored(hands, &place, paths)).map_err(failure)?;
    hands.views.drop_view(of).map_err(failure)?;
    let word = |kind: ViewKind| match kind {
        ViewKind::Added => "new",
        ViewKind::Modified | ViewKind::Mode | ViewKind::Special => "changed",
        ViewKind::Deleted => "removed",
    };
    let work = seen.files.iter().filter(|file| !file.ignored);
    Ok(work.map(|file| format!("{} ({})", file.path, word(file.kind))).collect())
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
    let worlds = &job.config.config.worlds;
    let isolation = hands.views.isolation(check.isolation, place, &shared(place, worlds)).map_err(failure)?;
    if isolation == Isolation::None {
        return Ok(isolation);
    }
    let apart = Apart { isolation: check.isolation, network: check.network, worlds, share: vec![], on: None };
    let view = view_of_check(check);
    let of = ViewOf { run: &job.run_name, view: &view, place };
    let mut shown = places::show(hands, of, isolation, &spawn.argv)?;
    if shown.at.is_none() {
        shown.covered = cover(hands, of, check, spawn)?;
    }
    let guest = Guest { on: check.on.clone(), ..guest(place, shown, apart, isolation, fresh) };
    hands.views.enter(of, &guest, spawn, &|paths| ignored(hands, place, paths)).map_err(failure)?;
    Ok(isolation)
}

/// Where a commit follows, a check sees the last commit and the work, and nothing else that the user has in the files but
/// has not committed. Files that its own command names are shown to it all the same.
fn cover(hands: &Hands, of: ViewOf<'_>, check: &Check, spawn: &Spawn) -> Result<Covered, Failure> {
    let Some(ours) = &check.ours else { return Ok(Covered::default()) };
    let git = hands.repositories.seen_from(&hands.workspace.inside(of.place.to_owned()), &[]);
    let trouble = |error: GitError| Failure::new(Class::Contract, error.to_string());
    let Some(head) = git.head().map_err(trouble)? else { return Ok(Covered::default()) };
    let is_shown = |path: &String| ours.contains(path) || spawn.argv.iter().any(|word| word == path);
    let mut covered = Covered::default();
    for change in git.changes_since(Some(&head)).map_err(trouble)? {
        // A renaming is a removal and an addition.
        let old = change.old_path.clone().map(|path| (path, true));
        let is_new = change.kind == ChangeKind::Added || change.old_path.is_some();
        for (path, was_there) in old.into_iter().chain([(change.path, !is_new)]) {
            match (is_shown(&path), was_there) {
                (true, _) => {}
                (false, true) => covered.present.push(path),
                (false, false) => covered.absent.push(path),
            }
        }
    }
    if !covered.present.is_empty() || !covered.absent.is_empty() {
        let Some(folder) = hands.views.covering(of).map_err(failure)? else { return Ok(Covered::default()) };
        git.check_out(&head, &covered.present, &folder).map_err(trouble)?;
    }
    Ok(covered)
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

/// Lists the files that a check changed in its view, without those that git ignores.
pub(crate) fn written_by_check(
    hands: &Hands,
    job: &Job,
    check: &Check,
    place: &Path,
) -> Result<Vec<String>, Failure> {
    let view = view_of_check(check);
    let of = ViewOf { run: &job.run_name, view: &view, place };
    let seen = hands.views.change(of, &|paths| ignored(hands, place, paths)).map_err(failure)?;
    Ok(seen.files.into_iter().filter(|file| !file.ignored).map(|file| file.path).collect())
}

/// Takes files that hooks changed out of their view: into the view of the work, or into the place itself. Returns a
/// sentence where another process changed one of them meanwhile.
pub(crate) fn take_from_check(
    hands: &Hands,
    job: &Job,
    hooks: &HookRun,
    place: &Path,
    paths: &[String],
) -> Result<Result<(), String>, Failure> {
    let view = view_of_check(&hooks.check);
    let from = ViewOf { run: &job.run_name, view: &view, place };
    let ignores = |paths: &[String]| ignored(hands, place, paths);
    if let Some(into) = &hooks.into {
        let of = ViewOf { run: &job.run_name, view: into, place };
        return hands.views.adopt(of, from, paths, &ignores).map(Ok).map_err(failure);
    }
    let git = hands.repositories.seen_from(&hands.workspace.inside(place.to_owned()), &[]);
    let knowledge = Knowledge { ancestor: &|path| ancestor(git.as_ref(), path), ignores: &ignores };
    let merged = hands.views.merge(from, &job.marker(), paths, Overlap::Refuse, &knowledge);
    let overlaps = merged.map_err(failure)?.overlaps;
    Ok(match overlaps.is_empty() {
        true => Ok(()),
        false => Err(format!("it changes files that changed meanwhile: {}", overlaps.join(", "))),
    })
}

/// The folders that the configuration shares with every process that works in a place.
fn shared(place: &Path, worlds: &Worlds) -> Vec<PathBuf> {
    worlds.share.iter().map(|folder| place.join(folder)).collect()
}

fn guest(place: &Path, shown: ShownPlace, apart: Apart<'_>, isolation: Isolation, fresh: bool) -> Guest {
    let ShownPlace { at: shown_at, covered } = shown;
    let around = shared(shown_at.as_deref().unwrap_or(place), apart.worlds);
    let share = around.into_iter().chain(apart.share).collect();
    Guest { isolation, share, network: apart.network, fresh, on: None, covered, shown_at, looks: false }
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
    let git = hands.repositories.seen_from(&hands.workspace.inside(place), &[]);
    if git.is_repository().unwrap_or(false) {
        return git.ignored(paths).unwrap_or_default();
    }
    let is_no_work = |path: &&String| path.split('/').any(|part| NO_WORK.contains(&part));
    paths.iter().filter(is_no_work).cloned().collect()
}

/// The paths that are no work, without files that are named as work and the folders in which those are.
fn ignored_but(hands: &Hands, place: &Path, named: &[String], paths: &[String]) -> Vec<String> {
    let is_named = |path: &String| {
        named.iter().any(|name| name == path || (path.ends_with('/') && name.starts_with(path.as_str())))
    };
    let mut found = ignored(hands, place, paths);
    found.retain(|path| !is_named(path));
    found
}

/// Files as an agent names them, as paths from the place.
fn as_paths(place: &Path, named: &[String]) -> Vec<String> {
    let path = |name: &String| {
        let inside = Path::new(name).strip_prefix(place).unwrap_or(Path::new(name));
        let plain: PathBuf = inside.components().filter(|part| *part != Component::CurDir).collect();
        plain.to_str().map(str::to_owned)
    };
    named.iter().filter_map(path).collect()
}

/// The version of a file that both sides began from, as far as it was ever committed.
fn ancestor(git: &dyn Repository, path: &str) -> Option<Vec<u8>> {
    git.text_at("HEAD", path).map(String::into_bytes)
}

fn value(outcome: impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(outcome).map_err(|error| Failure::new(Class::Contract, error.to_string()))
}

pub(crate) fn failure(error: ViewError) -> Failure {
    let class = match &error {
        ViewError::NoIsolation { .. }
        | ViewError::NoWorld(_)
        | ViewError::NoCopy { .. }
        | ViewError::NoPlace { .. } => Class::Contract,
        ViewError::BadFolder { .. } | ViewError::Layers(_) | ViewError::File(_) => Class::Storage,
    };
    Failure::new(class, error.to_string())
}
