//! `seriatim inbox`

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde_json::json;
use seriatim_core::question::Question;
use seriatim_core::time::span_in_words;
use seriatim_engine::drive::Story;
use seriatim_journal::Open;
use seriatim_journal::OpenFilter;
use seriatim_journal::OpenKind;
use seriatim_journal::RunRef;
use seriatim_journal::Store;

use crate::args::Context;
use crate::assignments;
use crate::error::Result;
use crate::exit::Exit;
use crate::render;
use crate::render::isolation::WeakerIsolation;
use crate::render::run::open_questions;
use crate::ui::Tone;
use crate::ui::tone;
use crate::workspace::Workspace;

/// List open questions and open assignments, the longest waiting first
#[derive(clap::Args, Debug)]
pub(crate) struct Inbox {
    /// Those of the repository's other working trees, too
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(context: &Context, command: &Inbox) -> Result<Exit> {
    let workspace = Workspace::open_to_look(context)?;
    let ui = &context.ui;
    let mut here = String::new();
    let mut weaker = BTreeMap::new();
    let (open, assigned) = match workspace.store_to_read()? {
        Some(store) => {
            let wanted = if command.all { OpenFilter::default() } else { workspace.open_calls() };
            here = store.workspace_or_origin(store.workspace())?;
            let open = open_questions(&store, &wanted)?;
            weaker = weaknesses(&store, &open)?;
            (open, assignments::open(&store, wanted)?)
        }
        None => (vec![], vec![]),
    };
    let weakness =
        |row: &Open| weaker.get(&row.run_name).map(String::as_str).filter(|_| row.kind == OpenKind::Question);
    let items: Vec<_> = open
        .iter()
        .map(|(row, question)| {
            let mut item =
                serde_json::to_value(render::question::Plain::of(&row.id, question, weakness(row)))
                    .unwrap_or_default();
            if let Some(map) = item.as_object_mut() {
                map.insert("kind".into(), json!(kind(row.kind)));
                map.insert("run".into(), json!(row.run_name));
                map.insert("title".into(), json!(row.title));
                map.insert("since".into(), json!(row.since.to_string()));
                map.insert("answered_by".into(), json!(row.answered.as_ref().map(|a| &a.by)));
                if row.workspace != here {
                    map.insert("workspace".into(), json!(workspace.home.folder_of(&row.workspace)));
                }
                let assignment = assigned.iter().find(|(known, _)| known.id == row.id);
                let fields =
                    assignment.map(|(row, assignment)| assignments::fields(row, assignment, &workspace));
                map.extend(fields.into_iter().flatten().map(|(key, value)| (key.to_owned(), value)));
            }
            item
        })
        .collect();
    ui.document(&json!({ "questions": items }));
    if open.is_empty() {
        ui.say("Nothing waits for you here.");
    }
    let now = crate::workspace::now();
    for (row, question) in &open {
        let since = span_in_words(now.since_ms(row.since));
        ui.say(format!(
            "{}  {}",
            tone(Tone::Strong, &row.id),
            tone(Tone::Faint, format!("{} · waiting for {since}", row.title))
        ));
        if row.workspace != here {
            let folder = workspace.home.folder_of(&row.workspace);
            ui.say(tone(Tone::Faint, format!("in {}", folder.display())));
        }
        let body = render::question::body(question, weakness(row));
        ui.say(format!("{body}\n\n{}\n", render::question::by_word(question)));
        match &row.answered {
            Some(answer) => ui.say(format!(
                "Answered by {}; continue with:  seriatim resume {}\n",
                answer.by, row.run_name
            )),
            None => ui.say(format!("{}\n", render::question::way_to_answer(&row.id, question))),
        }
    }
    Ok(Exit::Good)
}

/// Where agents of the runs that ask were kept apart less than by a world, in words, by run.
fn weaknesses(store: &Store, open: &[(Open, Question)]) -> Result<BTreeMap<String, String>> {
    let runs: BTreeSet<RunRef> = open.iter().map(|(row, _)| row.run).collect();
    let mut found = BTreeMap::new();
    for run in runs {
        let info = store.run(run)?;
        // A damaged record keeps nobody from answering what can still be asked.
        let words =
            Story::read(store, &info).ok().and_then(|story| WeakerIsolation::of_story(&story).words());
        found.extend(words.map(|words| (info.name, words)));
    }
    Ok(found)
}

fn kind(kind: OpenKind) -> &'static str {
    match kind {
        OpenKind::Question => "question",
        OpenKind::Assignment => "assignment",
        OpenKind::Signal => "signal",
    }
}
