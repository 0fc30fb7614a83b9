//! `seriatim log`

use std::time::Duration;

use serde_json::Value;
use serde_json::json;
use seriatim_core::projection::Fact;
use seriatim_core::time::Utc;
use seriatim_engine::drive::History;
use seriatim_engine::guard::book;
use seriatim_journal::RunInfo;
use seriatim_journal::Store;

use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::render;
use crate::trail;
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
    let workspace = Workspace::open(&context.ui, context.workspace.as_deref())?;
    let nothing = || CommandError::usage("nothing has run in this workspace yet");
    let store = workspace.store_to_read()?.ok_or_else(nothing)?;
    let info = match &command.run {
        Some(run) => store.find(run)?,
        None => {
            let newest = store.runs(&workspace.runs())?.runs;
            newest.into_iter().find(|run| run.flow != book::FLOW).ok_or_else(nothing)?
        }
    };
    if info.flow == book::FLOW {
        return follow_book(context, &store, &info, command.follow);
    }
    let mut told = 0;
    loop {
        let info = store.run(info.id)?;
        let history = History::read(&store, &info)?;
        for fact in &history.facts[told..] {
            tell(context, &info.name, fact);
        }
        told = history.facts.len();
        if let Some(ended) = &history.ended {
            if context.ui.json {
                context.ui.line(&json!({"run": info.name, "at": info.updated.to_string(), "end": ended}));
            } else {
                context.ui.say(format!("{}  {}", clock(info.updated), ended.message));
            }
            return Ok(Exit::Good);
        }
        if !command.follow {
            if !info.waiting_for.is_empty() {
                context.ui.say(format!("{}  Waiting for: {}", clock(info.updated), info.waiting_for));
            }
            return Ok(Exit::Good);
        }
        while !store.changed()? {
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

/// The book of the guard has no end; it is followed until somebody stops it.
fn follow_book(context: &Context, store: &Store, info: &RunInfo, follow: bool) -> Result<Exit> {
    let mut told = trail::tell(context, store, info, 0)?;
    if !follow {
        return Ok(Exit::Good);
    }
    loop {
        while !store.changed()? {
            std::thread::sleep(Duration::from_millis(200));
        }
        told = trail::tell(context, store, info, told)?;
    }
}

fn clock(at: Utc) -> String {
    tone(Tone::Faint, at.seconds())
}

fn tell(context: &Context, run: &str, fact: &Fact) {
    if context.ui.json {
        context.ui.line(&json!({"run": run, "at": fact.at.to_string(), "fact": fact.data}));
        return;
    }
    if let Some(words) = words(&fact.data) {
        context.ui.say(format!("{}  {words}", clock(fact.at)));
    }
}

/// A fact as a sentence. What has no meaning for people is left out.
fn words(fact: &Value) -> Option<String> {
    let text = |key: &str| fact[key].as_str().unwrap_or_default().to_owned();
    Some(match fact["fact"].as_str()? {
        "began" => "The work began.".to_owned(),
        "step_ended" => format!(
            "{}: {} {}",
            text("step_name"),
            text("status").to_lowercase(),
            tone(Tone::Faint, text("outcome_summary"))
        ),
        "attempt_failed" => {
            format!("An attempt failed: {}", fact["failure"]["message"].as_str().unwrap_or_default())
        }
        "decision" => format!("Decided: {} - {} ({})", text("subject"), text("outcome"), text("actor")),
        "observation" => {
            let value = match &fact["value"] {
                Value::String(s) => s.clone(),
                other => other.to_string(),
            };
            format!("Observed: {} - {value}", text("subject"))
        }
        "flow_changed" => format!("The course changed ({}): {}", text("type").to_lowercase(), text("reason")),
        "error" => format!("Error: {}", text("text")),
        "finished" => format!("The work ended: {}.", text("status").to_lowercase()),
        _ => return render::roadmap::words(fact),
    })
}
