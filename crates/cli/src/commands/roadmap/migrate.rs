//! `seriatim roadmap migrate`

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use seriatim_core::doc::edit;
use seriatim_core::roadmap::audit::Happening;
use seriatim_core::roadmap::command;
use seriatim_core::roadmap::document::Document;
use seriatim_core::roadmap::migrate;
use seriatim_core::roadmap::migrate::MigrateError;
use seriatim_core::roadmap::migrate::Migration;
use seriatim_core::roadmap::migrate::Source;
use seriatim_engine::guard::GuardError;
use seriatim_engine::guard::Project;
use seriatim_engine::guard::book::Book;
use seriatim_engine::hands::disk::Disk;
use seriatim_engine::hands::files::Expect;
use seriatim_engine::hands::files::Files;
use seriatim_engine::hands::files::Write;

use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::render;
use crate::render::table::table;
use crate::roadmaps;
use crate::ui::Tone;
use crate::ui::tone;
use crate::workspace::Workspace;
use crate::workspace::now;

/// What is added to the name of a file that was brought forward.
const KEPT: &str = "before-migration";
/// So many older copies may lie beside a file.
const COPIES_MAX: u32 = 1000;

/// Bring an older state file forward into execution-status.yaml, and lose nothing
///
/// Reads step files, execution logs and odd status files. What has no place of its own in the new file is kept in it
/// under `migrated_from`, and the old files stay beside it as NAME.before-migration. Doing it twice is as doing it once.
/// Exit codes: 0 done, or nothing to do; 1 a file is broken or they contradict each other; 2 nothing to bring forward.
#[derive(clap::Args, Debug)]
pub(crate) struct Migrate {
    /// The project, whose files are in docs/feature/PROJECT
    project: String,
    /// Show what would be carried where, and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// An old file and where its copy goes.
struct Old {
    path: String,
    text: String,
    kept: String,
}

pub(super) fn run(context: &Context, given: &Migrate) -> Result<Exit> {
    let workspace = Workspace::open(context)?;
    let project = command::project(&given.project)?;
    roadmaps::refuse_unfinished(&workspace, &project)?;
    let target = command::status_path(&project);
    let (olds, carried_before) = sources(&workspace, &project, &target)?;
    let sources: Vec<Source<'_>> =
        olds.iter().map(|old| Source { path: &old.path, text: &old.text }).collect();
    let mut migration =
        migrate::migrate(&sources, now()).map_err(|error| refused(&project, &olds, &error))?;
    own_name(context, &project, &target, &mut migration)?;
    // A file of the usual form under another of its names is brought to the usual one.
    let stays = !migration.changed && olds.iter().all(|old| old.path == target);
    if !given.dry_run {
        if !stays {
            carry(&workspace, &target, &olds, &migration.text)?;
        }
        for path in &carried_before {
            remove(&workspace, path)?;
        }
    }
    let moved: &[Old] = if stays { &[] } else { &olds };
    tell(context, given.dry_run, &project, &target, &migration, moved);
    Ok(Exit::Good)
}

/// The files to bring forward, and those that an earlier migration had carried over when it was cut off.
fn sources(workspace: &Workspace, project: &str, target: &str) -> Result<(Vec<Old>, Vec<String>)> {
    let (mut olds, mut carried) = (vec![], vec![]);
    let files = roadmaps::state_files(workspace, project);
    let is_there = files.iter().any(|path| path == target);
    for path in files {
        let text = std::fs::read_to_string(workspace.root.join(&path))
            .map_err(|error| CommandError::usage(format!("{path} cannot be read: {error}")))?;
        let (kept, is_kept) = copy_of(&workspace.root, &path, &text)?;
        match is_there && is_kept && path != target {
            true => carried.push(path),
            false => olds.push(Old { path, text, kept }),
        }
    }
    Ok((olds, carried))
}

/// The name under which a file is kept, and whether a copy of just this text is there already.
fn copy_of(root: &Path, path: &str, text: &str) -> Result<(String, bool)> {
    let first = format!("{path}.{KEPT}");
    let more = (2..COPIES_MAX).map(|number| format!("{path}.{KEPT}-{number}"));
    for name in std::iter::once(first).chain(more) {
        match std::fs::read(root.join(&name)) {
            Ok(known) if known == text.as_bytes() => return Ok((name, true)),
            Ok(_) => {}
            Err(_) => return Ok((name, false)),
        }
    }
    Err(CommandError::usage(format!("too many copies of {path} lie beside it")))
}

/// A file that never said whose it is belongs to the project in whose folder it lies.
fn own_name(context: &Context, project: &str, target: &str, migration: &mut Migration) -> Result<()> {
    let said =
        Document::read(target, &migration.text).map(|document| document.project_id()).unwrap_or_default();
    if said == project {
        return Ok(());
    }
    if !said.is_empty() {
        context.ui.warn(format!(
            "the state says that it belongs to project `{said}`; it lies in that of {project}"
        ));
        return Ok(());
    }
    migration.text = edit::set(&migration.text, &["execution_status", "project_id"], &json!(project))
        .map_err(|error| CommandError::not_good(format!("{target} cannot be given its project: {error}")))?;
    migration.changed = true;
    Ok(())
}

/// Copies first, then the new file through the book, and the old ones go last: whenever it is cut off, nothing is lost
/// and the same command ends it.
fn carry(workspace: &Workspace, target: &str, olds: &[Old], text: &str) -> Result<()> {
    for old in olds {
        let place = workspace.root.join(&old.kept);
        let known = std::fs::read(&place).is_ok_and(|known| known == old.text.as_bytes());
        if !known {
            Disk.write(&place, old.text.as_bytes(), Write::DURABLE.expecting(Expect::Absent))
                .map_err(|error| CommandError::not_good(format!("{} cannot be kept: {error}", old.path)))?;
        }
    }
    let project = Project::new(&workspace.root, Arc::new(Disk));
    let unwritten =
        |error: GuardError| CommandError::not_good(format!("{target} cannot be written: {error}"));
    let mut book = Book::over(workspace.store()?);
    let names: Vec<&str> = olds.iter().map(|old| old.path.as_str()).collect();
    book.write(&project, now(), |desk| {
        let event = desk.event(Happening::StateImported, target).with("migrated_from", names);
        desk.happened(&event)?;
        desk.write_state(target, text.to_owned()).map(|_| ())
    })
    .map_err(unwritten)?;
    olds.iter().filter(|old| old.path != target).try_for_each(|old| remove(workspace, &old.path))
}

fn remove(workspace: &Workspace, path: &str) -> Result<()> {
    match std::fs::remove_file(workspace.root.join(path)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(CommandError::not_good(format!("{path} was carried over, but cannot be taken away: {error}"))
                .hint("take it away, or run the same command again"))
        }
        _ => Ok(()),
    }
}

fn refused(project: &str, olds: &[Old], error: &MigrateError) -> CommandError {
    let message = error.to_string();
    match error {
        MigrateError::Nothing => CommandError::usage(format!("{project} has no state file to bring forward"))
            .hint(format!("create one with `seriatim roadmap init {project}`")),
        MigrateError::Unreadable { path, findings } => {
            let text =
                olds.iter().find(|old| old.path == *path).map(|old| old.text.as_str()).unwrap_or_default();
            render::findings::to_stderr(path, text, findings);
            CommandError::not_good(format!("{path} cannot be read")).hint("mend it; nothing was changed")
        }
        MigrateError::OtherProject { .. } | MigrateError::StepTwice { .. } => CommandError::not_good(message)
            .hint("move the file that does not count out of the way; nothing was changed"),
    }
}

fn tell(context: &Context, dry_run: bool, project: &str, target: &str, migration: &Migration, olds: &[Old]) {
    let ui = &context.ui;
    let changed = !olds.is_empty();
    let carried: Vec<_> = migration
        .carried
        .iter()
        .map(|one| json!({"file": one.file, "from": one.from, "to": one.to}))
        .collect();
    let kept: Vec<_> = olds.iter().map(|old| json!({"file": old.path, "kept": old.kept})).collect();
    ui.document(&json!({
        "project": project, "state": target, "changed": changed && !dry_run, "dry_run": dry_run,
        "steps": migration.steps, "carried": carried, "kept": kept,
    }));
    if !changed {
        return ui.say(format!("{target} has the current form already; nothing was changed."));
    }
    let rows: Vec<Vec<String>> = migration
        .carried
        .iter()
        .map(|one| vec![one.file.clone(), one.from.clone(), one.to.clone()])
        .collect();
    if !rows.is_empty() {
        ui.say(table(&["file", "what", "is now at"], &rows));
    }
    let steps = migration.steps.join(", ");
    if dry_run {
        return ui.say(format!("Would write {target} (steps {steps}). Nothing was changed."));
    }
    ui.say(format!("{} {target} (steps {steps})", tone(Tone::Good, "written:")));
    olds.iter().for_each(|old| ui.say(format!("{} {}", tone(Tone::Faint, "kept:   "), old.kept)));
}
