//! `seriatim snapshot show`

use serde_json::json;

use crate::args::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::render::table::size_in_words;
use crate::ui::Tone;
use crate::ui::tone;
use crate::workspace::Workspace;

/// Show a snapshot: of what it is, and what going back to it would change now
#[derive(clap::Args, Debug)]
pub(super) struct Show {
    /// The snapshot, as `snapshot list` names it
    id: String,
}

pub(super) fn run(context: &Context, command: &Show) -> Result<Exit> {
    let workspace = Workspace::open(context)?;
    let ui = &context.ui;
    let labelled = super::labelled(&workspace)?;
    let refused = |error| super::refused(&labelled, error);
    let manifest = labelled.manifest(&command.id).map_err(refused)?;
    let difference = labelled.difference(&command.id).map_err(refused)?;
    let damage = labelled.all().verify(&command.id).map_err(refused)?;
    let damaged: Vec<&str> = damage.iter().map(|one| one.path.as_str()).collect();
    let summary = manifest.summary();
    let scope: Vec<&str> = manifest.scope.iter().map(|pattern| pattern.as_str()).collect();
    ui.document(&json!({
        "id": summary.id, "action": summary.action, "run": summary.run, "created": summary.created.to_string(),
        "files": summary.files, "size_bytes": summary.size_bytes, "scope": scope, "damaged": damaged,
        "words": difference.plan.in_words(), "changes": super::changes(&difference.plan),
        "conflicts": difference.plan.conflicts().collect::<Vec<_>>(), "told_apart": difference.told_apart,
    }));
    ui.say(format!(
        "{}: {}, run {}, {}",
        tone(Tone::Strong, &summary.id),
        summary.action,
        summary.run,
        summary.created.seconds()
    ));
    let scope = if scope.is_empty() { "everything".to_owned() } else { scope.join(", ") };
    let size = size_in_words(summary.size_bytes);
    let files = if summary.files == 1 { "1 file".to_owned() } else { format!("{} files", summary.files) };
    ui.say(format!("{files}, {size}, of {scope}"));
    if !damaged.is_empty() {
        ui.warn(format!("the contents of these are damaged: {}", damaged.join(", ")));
    }
    super::tell(ui, &difference);
    if !difference.plan.steps.is_empty() {
        ui.tell(format!("Go back with:  seriatim snapshot restore {}", summary.id));
    }
    Ok(if damaged.is_empty() { Exit::Good } else { Exit::NotGood })
}
