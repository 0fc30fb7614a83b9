//! `seriatim log`

use std::time::Duration;

use serde_json::Value;
use serde_json::json;
use seriatim_core::time::Utc;
use seriatim_engine::drive::Story;
use seriatim_engine::drive::StoryEvent;
use seriatim_flows::registry::Dialect;
use seriatim_journal::Kind;
use seriatim_journal::RunInfo;
use seriatim_journal::Store;

use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::render;
use crate::render::run::is_work;
use crate::ui::Tone;
use crate::ui::tone;
use crate::workspace::Workspace;

/// Tell what happened in a run, in plain words; the newest run when none is named
#[derive(clap::Args, Debug)]
pub(crate) struct Log {
    /// The run, or the beginning of its id
    run: Option<String>,
    /// Go on telling until the run is over
    #[arg(short, long)]
    follow: bool,
}

pub(crate) fn run(context: &Context, command: &Log) -> Result<Exit> {
    let workspace = Workspace::open_to_look(context)?;
    let nothing = || CommandError::usage("nothing has run in this workspace yet");
    let store = workspace.store_to_read()?.ok_or_else(nothing)?;
    let info = match &command.run {
        Some(run) => store.find(run)?,
        None => {
            let newest = store.runs(&workspace.runs())?.runs;
            newest.into_iter().find(|run| is_work(context.registry, run)).ok_or_else(nothing)?
        }
    };
    if !is_work(context.registry, &info) {
        return follow_book(context, &store, &info, command.follow);
    }
    let dialect = context.registry.dialect(&info.flow);
    if context.ui.json {
        let at = info.started.to_string();
        context.ui.line(
            &json!({"run": info.name, "at": at, "event": "began", "flow": info.flow, "title": info.title}),
        );
    } else {
        context.ui.say(format!("{}  Run {} began: {}", clock(info.started), info.name, info.title));
    }
    let mut told = 0;
    loop {
        let info = store.run(info.id)?;
        let story = Story::read(&store, &info)?;
        for event in &story.events[told..] {
            tell(context, dialect, &info.name, event);
        }
        told = story.events.len();
        if let Some((at, ended)) = &story.ended {
            if context.ui.json {
                context
                    .ui
                    .line(&json!({"run": info.name, "at": at.to_string(), "event": "end", "end": ended}));
            } else {
                context.ui.say(format!("{}  {}", clock(*at), ended.message));
            }
            warn_unreadable(context, &story);
            return Ok(Exit::Good);
        }
        if !command.follow {
            if !info.waiting_for.is_empty() {
                context.ui.say(format!("{}  Waiting for: {}", clock(info.updated), info.waiting_for));
            }
            warn_unreadable(context, &story);
            return Ok(Exit::Good);
        }
        while !store.changed()? {
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

fn warn_unreadable(context: &Context, story: &Story) {
    if story.unreadable > 0 {
        context.ui.warn(format!(
            "{} entries of this run cannot be read; `seriatim verify` names them",
            story.unreadable
        ));
    }
}

/// A book has no end; it is followed until a person stops it.
fn follow_book(context: &Context, store: &Store, info: &RunInfo, follow: bool) -> Result<Exit> {
    let mut told = tell_book(context, store, info, 0)?;
    if !follow {
        return Ok(Exit::Good);
    }
    loop {
        while !store.changed()? {
            std::thread::sleep(Duration::from_millis(200));
        }
        told = tell_book(context, store, info, told)?;
    }
}

/// Tells the events of a book from the entry `from` on. Returns how many entries there are.
fn tell_book(context: &Context, store: &Store, info: &RunInfo, from: u64) -> Result<u64> {
    let dialect = context.registry.dialect(&info.flow);
    let tip = store.load(info.id, |entry| {
        if entry.seq < from || entry.kind != Kind::Fact {
            return;
        }
        let line = entry.body.and_then(|body| serde_json::from_slice::<Value>(body).ok());
        let Some(line) = line else { return };
        let Some(sentence) = dialect.and_then(|dialect| (dialect.tell)(&line)) else { return };
        if context.ui.json {
            context.ui.line(&json!({"run": info.name, "at": entry.at.to_string(), "fact": line}));
        } else {
            context.ui.say(render::story::line(entry.at, &sentence));
        }
    })?;
    Ok(tip.entries)
}

fn clock(at: Utc) -> String {
    tone(Tone::Faint, at.seconds())
}

fn tell(context: &Context, dialect: Option<&Dialect>, run: &str, event: &StoryEvent) {
    if context.ui.json {
        return context.ui.line(&render::story::document(run, event));
    }
    if let Some(sentence) = render::story::sentence(dialect, event, context.ui.verbose) {
        context.ui.say(render::story::line(event.at, &sentence));
        for line in sentence.below.iter().chain(&render::story::below(event)) {
            context.ui.say(format!("    {}", tone(Tone::Faint, render::story::visible(line))));
        }
    }
}
