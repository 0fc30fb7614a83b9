//! `seriatim world [RUN]`

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::json;
use seriatim_core::world::ViewFile;
use seriatim_core::world::ViewKind;
use seriatim_engine::hands::layers;
use seriatim_engine::hands::views::ViewSize;
use seriatim_engine::perform::Hands;
use seriatim_engine::views;
use seriatim_engine::views::RunView;
use seriatim_journal::Filter;
use seriatim_journal::RunInfo;
use seriatim_journal::Store;

use super::refused;
use crate::args::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::render::table::counted;
use crate::render::table::size_in_words;
use crate::render::table::table;
use crate::ui::Tone;
use crate::ui::Ui;
use crate::ui::tone;

/// How many files of a view people are shown unless they ask for all of them.
const SHOWN: usize = 20;

/// Lists the runs that have layers.
pub(super) fn all(context: &Context, store: &Store, hands: &Hands) -> Result<Exit> {
    let ui = &context.ui;
    let known: BTreeMap<String, RunInfo> =
        store.runs(&Filter::default())?.runs.into_iter().map(|run| (run.name.clone(), run)).collect();
    let (mut rows, mut documents) = (vec![], vec![]);
    for at in hands.views.runs().map_err(refused)? {
        let (files, bytes) = layers::size(&at.folder).map_err(|error| refused(error.into()))?;
        let run = known.get(&at.run);
        let status = run.map_or("belongs to no run", |run| run.status.as_str());
        let title = run.map_or("", |run| run.title.as_str());
        documents.push(json!({
            "run": at.run, "status": run.map(|run| run.status.as_str()), "folder": at.folder, "files": files,
            "size_bytes": bytes,
        }));
        rows.push(vec![at.run, status.to_owned(), files.to_string(), size_in_words(bytes), title.to_owned()]);
    }
    ui.document(&json!({"runs": documents}));
    match rows.is_empty() {
        true => ui.say("No run has layers here."),
        false => ui.say(table(&["run", "status", "files", "size", "title"], &rows)),
    }
    Ok(Exit::Good)
}

/// Lists the views of a run.
pub(super) fn run(context: &Context, hands: &Hands, info: &RunInfo) -> Result<Exit> {
    let ui = &context.ui;
    let name = &info.name;
    let mut measured = vec![];
    for view in views::of_run(hands, name).map_err(refused)? {
        let size = views::size(hands, name, &view.at).map_err(refused)?;
        measured.push((view, size));
    }
    let mut checks = ViewSize::default();
    for at in views::of_checks(hands, name).map_err(refused)? {
        let size = views::size(hands, name, &at).map_err(refused)?;
        (checks.files, checks.bytes) = (checks.files + size.files, checks.bytes + size.bytes);
    }
    ui.document(&json!({
        "run": name, "status": info.status.as_str(),
        "views": measured.iter().map(|(view, size)| document(view, size)).collect::<Vec<_>>(),
        "checks": {"files": checks.files, "size_bytes": checks.bytes},
    }));
    if measured.is_empty() && checks.files == 0 {
        ui.say(format!("Run {name} has no layers: its work is merged, or no agent of it worked in a world."));
        return Ok(Exit::Good);
    }
    for (view, size) in &measured {
        tell(ui, view, size);
    }
    if checks.files > 0 {
        let files = counted(usize::try_from(checks.files).unwrap_or(usize::MAX), "file");
        ui.say(format!("Caches of the checks: {files}, {}.", size_in_words(checks.bytes)));
    }
    if measured.iter().any(|(view, _)| !view.change.files.is_empty()) {
        ui.tell(tone(Tone::Faint, format!("Show the changes with:  seriatim world {name} --diff")));
    }
    Ok(Exit::Good)
}

fn document(view: &RunView, size: &ViewSize) -> Value {
    let effects = view.change.effects.iter().map(|effect| {
        let mut value = json!(effect);
        value["words"] = effect.sentence().into();
        value
    });
    let ignored = view.change.files.iter().filter(|file| file.ignored).count() as u64 + size.ignored_files;
    json!({
        "view": view.at.view, "place": view.at.place, "folder": view.at.folder,
        "isolation": view.change.isolation, "files": size.files, "size_bytes": size.bytes,
        "changes": work(view).collect::<Vec<_>>(), "ignored": ignored,
        "effects": effects.collect::<Vec<_>>(),
    })
}

/// The files of a view that are work.
fn work(view: &RunView) -> impl Iterator<Item = &ViewFile> {
    view.change.files.iter().filter(|file| !file.ignored)
}

fn tell(ui: &Ui, view: &RunView, size: &ViewSize) {
    let files: Vec<&ViewFile> = work(view).collect();
    let room = counted(usize::try_from(size.files).unwrap_or(usize::MAX), "file");
    ui.say(format!(
        "{}  {}",
        tone(Tone::Strong, &view.at.view),
        tone(Tone::Faint, format!("{room} in its layers, {}", size_in_words(size.bytes)))
    ));
    ui.say(format!("  {}", summary(&files)));
    let all = if ui.verbose { files.len() } else { SHOWN };
    for file in files.iter().take(all) {
        let target = file.target.as_ref().map(|target| format!(" -> {target}")).unwrap_or_default();
        let meanwhile = if file.meanwhile { "  (also changed in the workspace since)" } else { "" };
        ui.say(format!(
            "  {:<8}  {}{target}{}",
            word(file.kind),
            file.path,
            tone(Tone::Attention, meanwhile)
        ));
    }
    if files.len() > all {
        ui.say(format!("  ... and {} more (--verbose)", files.len() - all));
    }
    let ignored = view.change.files.len() - files.len();
    let ignored = ignored + usize::try_from(size.ignored_files).unwrap_or(usize::MAX);
    if ignored > 0 {
        ui.say(format!("  {} that git ignores; never merged", counted(ignored, "file")));
    }
    for effect in &view.change.effects {
        ui.say(format!("  {} {}", tone(Tone::Attention, "stays in the view:"), effect.sentence()));
    }
}

fn summary(files: &[&ViewFile]) -> String {
    let kinds = [
        (ViewKind::Added, "added"),
        (ViewKind::Modified, "modified"),
        (ViewKind::Deleted, "deleted"),
        (ViewKind::Mode, "with another mode"),
        (ViewKind::Special, "special"),
    ];
    let number = |kind: ViewKind| files.iter().filter(|file| file.kind == kind).count();
    let parts: Vec<String> = kinds
        .into_iter()
        .filter(|(kind, _)| number(*kind) > 0)
        .map(|(kind, words)| format!("{} {words}", number(kind)))
        .collect();
    match parts.is_empty() {
        true => "changes nothing in the workspace".to_owned(),
        false => format!("changes {}: {}", counted(files.len(), "file"), parts.join(", ")),
    }
}

/// How a file differs, as lists name it.
pub(super) fn word(kind: ViewKind) -> &'static str {
    match kind {
        ViewKind::Added => "added",
        ViewKind::Modified => "modified",
        ViewKind::Deleted => "deleted",
        ViewKind::Mode => "mode",
        ViewKind::Special => "special",
    }
}
