//! `seriatim show`

use serde_json::Value;
use serde_json::json;
use seriatim_core::time::span_in_words;
use seriatim_engine::drive::History;
use seriatim_journal::RunInfo;
use seriatim_journal::Store;

use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::render::run::View;
use crate::render::table::cut;
use crate::render::table::table;
use crate::ui::Tone;
use crate::ui::tone;
use crate::workspace::Workspace;

/// Show a run: its steps, attempts, evidence and decisions
#[derive(clap::Args, Debug)]
pub(crate) struct Show {
    /// The run, or the beginning of its id
    run: String,
    /// Show the journal itself, entry by entry
    #[arg(long)]
    events: bool,
}

pub(crate) fn run(context: &Context, command: &Show) -> Result<Exit> {
    let workspace = Workspace::open(&context.ui, context.workspace.as_deref())?;
    let Some(store) = workspace.store_to_read()? else {
        return Err(CommandError::usage("nothing has run in this workspace yet"));
    };
    let info = store.find(&command.run)?;
    if command.events {
        return events(context, &store, &info);
    }
    let history = History::read(&store, &info)?;
    let tip = store.tip(info.id)?;
    let view = View::of(&store, info.clone())?;
    let of = |name: &str| -> Vec<&Value> {
        history.facts.iter().map(|f| &f.data).filter(|d| d["fact"] == name).collect()
    };
    let (steps, failed) = (of("step_ended"), of("attempt_failed"));
    let (decisions, observations) = (of("decision"), of("observation"));
    let (changes, errors) = (of("flow_changed"), of("error"));
    if context.ui.json {
        let mut document = view.document();
        if let Some(map) = document.as_object_mut() {
            map.insert("started".into(), json!(info.started.to_string()));
            map.insert("updated".into(), json!(info.updated.to_string()));
            map.insert("entries".into(), json!(tip.entries));
            map.insert("head".into(), json!(tip.head));
            for (name, items) in [
                ("steps", &steps),
                ("failed_attempts", &failed),
                ("decisions", &decisions),
                ("observations", &observations),
                ("flow_changes", &changes),
                ("errors", &errors),
            ] {
                map.insert(name.into(), json!(items));
            }
        }
        context.ui.document(&document);
        return Ok(Exit::Good);
    }
    let ui = &context.ui;
    ui.say(tone(Tone::Strong, &info.title));
    let state = if info.interrupted { "interrupted" } else { info.status.as_str() };
    ui.say(format!(
        "run {}  ·  {} v{}  ·  {state}  ·  begun {}",
        info.name,
        info.flow,
        info.flow_version,
        info.started.seconds()
    ));
    ui.say(format!("{} entries, head {}\n", tip.entries, tip.head.short()));
    if !steps.is_empty() {
        ui.say(table(
            &["step", "name", "status", "time", "attempt", "what came of it"],
            &steps.iter().map(|s| step_row(s)).collect::<Vec<_>>(),
        ));
    }
    section(context, "Attempts that failed", &failed, |f| {
        format!(
            "{} attempt {}: {} - {}",
            text(f, "step"),
            text(f, "attempt"),
            text(&f["failure"], "class"),
            text(&f["failure"], "message")
        )
    });
    section(context, "Decisions", &decisions, |d| {
        format!(
            "{}  {}: {} - {} ({})",
            text(d, "id"),
            text(d, "subject"),
            text(d, "outcome"),
            text(d, "rationale"),
            text(d, "actor")
        )
    });
    section(context, "Changes of course", &changes, |c| format!("{} {}", text(c, "type"), text(c, "reason")));
    section(context, "Errors", &errors, |e| text(e, "text"));
    ui.say("");
    view.show(ui, &workspace);
    Ok(Exit::Good)
}

fn section(context: &Context, title: &str, items: &[&Value], line: impl Fn(&Value) -> String) {
    if !items.is_empty() {
        context.ui.say(format!("\n{}", tone(Tone::Strong, title)));
        for item in items {
            context.ui.say(format!("  {}", line(item)));
        }
    }
}

fn text(value: &Value, key: &str) -> String {
    match &value[key] {
        Value::String(s) => s.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn step_row(step: &Value) -> Vec<String> {
    let span = step["completed"].as_i64().unwrap_or(0).saturating_sub(step["started"].as_i64().unwrap_or(0));
    vec![
        text(step, "step_id"),
        text(step, "step_name"),
        text(step, "status"),
        span_in_words(u64::try_from(span).unwrap_or(0)),
        text(step, "iteration"),
        cut(&text(step, "outcome_summary"), 70),
    ]
}

/// The journal, one line per entry.
fn events(context: &Context, store: &Store, info: &RunInfo) -> Result<Exit> {
    let mut lines = Vec::new();
    store.load(info.id, |e| {
        let body = e.body.map(|b| {
            serde_json::from_slice::<Value>(b).unwrap_or_else(|_| json!(String::from_utf8_lossy(b)))
        });
        lines.push(json!({
            "seq": e.seq, "kind": e.kind.as_str(), "key": e.key, "at": e.at.to_string(),
            "hash": e.hash, "body_hash": e.body_hash, "body": body,
        }));
    })?;
    context.ui.document(&json!({"run": info.name, "events": lines}));
    for line in &lines {
        let body = if line["body"].is_null() { "(erased)".to_owned() } else { line["body"].to_string() };
        context.ui.say(format!(
            "{:>5}  {}  {:<7}  {:<12}  {}  {}",
            text(line, "seq"),
            text(line, "at"),
            text(line, "kind"),
            text(line, "key"),
            tone(Tone::Faint, &text(line, "hash")[..12]),
            cut(&body, 110)
        ));
    }
    Ok(Exit::Good)
}
