//! `seriatim world RUN --diff [VIEW]`

use serde_json::Value;
use serde_json::json;
use seriatim_engine::hands::views::ViewPlace;
use seriatim_engine::perform::Hands;
use seriatim_engine::views;
use seriatim_journal::RunInfo;

use super::compare::Compared;
use super::compare::compare;
use super::compare::shown;
use super::find_view;
use super::list::word;
use super::refused;
use crate::args::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::render::table::counted;
use crate::ui::Tone;
use crate::ui::tone;

/// How many lines are shown unless somebody asks for all of them.
const LINES_MAX: usize = 2_000;

pub(super) fn run(context: &Context, hands: &Hands, info: &RunInfo, view: Option<&str>) -> Result<Exit> {
    let ui = &context.ui;
    let name = &info.name;
    let places: Vec<ViewPlace> = match view {
        Some(view) => vec![find_view(hands, info, view)?],
        None => views::of_run(hands, name).map_err(refused)?.into_iter().map(|view| view.at).collect(),
    };
    let (mut documents, mut left) = (vec![], if ui.verbose { usize::MAX } else { LINES_MAX });
    let (mut more_lines, mut more_files) = (0, 0);
    for at in &places {
        let differences = views::differences(hands, name, at).map_err(refused)?;
        let work = differences.iter().filter(|difference| !difference.file.ignored);
        let compared: Vec<(&str, &str, Compared)> = work
            .map(|difference| {
                (difference.file.path.as_str(), word(difference.file.kind), compare(difference))
            })
            .collect();
        if !compared.is_empty() && left > 0 {
            ui.say(tone(Tone::Strong, format!("view {}", at.view)));
        }
        let mut files: Vec<Value> = vec![];
        for (path, kind, Compared { shape, lines }) in compared {
            let told = lines.len().min(left);
            lines.iter().take(told).for_each(|line| ui.say(coloured(line)));
            more_lines += lines.len() - told;
            more_files += usize::from(told < lines.len());
            left -= told;
            files.push(json!({
                "path": path, "kind": kind, "shape": shape, "diff": lines.get(..told).unwrap_or_default().join("\n"),
                "more_lines": lines.len() - told,
            }));
        }
        documents.push(json!({"view": at.view, "files": files}));
    }
    ui.document(
        &json!({"run": name, "views": documents, "more_lines": more_lines, "more_files": more_files}),
    );
    if more_lines > 0 {
        let (lines, files) = (counted(more_lines, "more line"), counted(more_files, "file"));
        ui.say(format!("... {lines} in {files}; --verbose shows all of them"));
    }
    if left == LINES_MAX || (ui.verbose && left == usize::MAX) {
        ui.say(match view {
            Some(view) => format!("View {view} changes nothing in the workspace."),
            None => format!("The views of run {name} change nothing in the workspace."),
        });
    }
    Ok(Exit::Good)
}

fn coloured(line: &str) -> String {
    let text = shown(line);
    match line.as_bytes().first() {
        Some(b'+') => tone(Tone::Good, text),
        Some(b'-') => tone(Tone::Bad, text),
        Some(b'@') => tone(Tone::Faint, text),
        _ => text,
    }
}
