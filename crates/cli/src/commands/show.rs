//! `seriatim show`

use serde_json::Value;
use serde_json::json;
use seriatim_core::time::span_in_words;
use seriatim_engine::drive;
use seriatim_engine::drive::History;
use seriatim_engine::guard::book;
use seriatim_journal::RunInfo;
use seriatim_journal::Store;
use seriatim_journal::Tip;

use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::render;
use crate::render::run::View;
use crate::render::table::cut;
use crate::render::table::table;
use crate::ui::Tone;
use crate::ui::tone;
use crate::workers;
use crate::workspace::Workspace;

/// The flow whose steps have phases with evidence.
const ROADMAP: &str = "roadmap";

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
    if info.flow == book::FLOW {
        return super::summary::run(context, &workspace);
    }
    let history = History::read(&store, &info)?;
    let tip = store.tip(info.id)?;
    let view = View::of(&store, info.clone())?;
    if context.ui.json {
        let mut document = document(&view, &tip, &history);
        document["configuration"] = render::configuration::document(&history);
        document["attempts"] = render::attempts::document(&drive::attempts(&store, &info)?);
        context.ui.document(&document);
        return Ok(Exit::Good);
    }
    tell(context, &info, &tip, &history);
    if context.ui.verbose {
        let recorded = history.config.as_ref().map(|pinned| &pinned.config);
        let workers = recorded.map(|config| workers::find(config, None, &workspace.root, store.door()));
        render::configuration::tell_recorded(&context.ui, &history, &workers.unwrap_or_default());
        render::attempts::tell(&context.ui, &drive::attempts(&store, &info)?);
    }
    context.ui.say("");
    view.show(&context.ui, &workspace);
    Ok(Exit::Good)
}

/// The facts of one name.
fn of<'h>(history: &'h History, name: &str) -> Vec<&'h Value> {
    history.facts.iter().map(|f| &f.data).filter(|d| d["fact"] == name).collect()
}

fn document(view: &View, tip: &Tip, history: &History) -> Value {
    let mut document = view.document();
    if let Some(map) = document.as_object_mut() {
        map.insert("started".into(), json!(view.info.started.to_string()));
        map.insert("updated".into(), json!(view.info.updated.to_string()));
        map.insert("entries".into(), json!(tip.entries));
        map.insert("head".into(), json!(tip.head));
        for (name, fact) in [
            ("steps", "step_ended"),
            ("failed_attempts", "attempt_failed"),
            ("decisions", "decision"),
            ("observations", "observation"),
            ("flow_changes", "flow_changed"),
            ("errors", "error"),
        ] {
            map.insert(name.into(), json!(of(history, fact)));
        }
        if view.info.flow == ROADMAP {
            map.extend(render::roadmap::fields(&history.facts));
        }
    }
    document
}

fn tell(context: &Context, info: &RunInfo, tip: &Tip, history: &History) {
    let ui = &context.ui;
    ui.say(tone(Tone::Strong, &info.title));
    let state = if info.interrupted { "interrupted" } else { info.status.as_str() };
    let (flow, version, begun) = (&info.flow, info.flow_version, info.started.seconds());
    ui.say(format!("run {}  ·  {flow} v{version}  ·  {state}  ·  begun {begun}", info.name));
    ui.say(format!("{} entries, head {}\n", tip.entries, tip.head.short()));
    let steps: Vec<Vec<String>> = of(history, "step_ended").into_iter().map(step_row).collect();
    if !steps.is_empty() {
        ui.say(table(&["step", "name", "status", "time", "attempt", "what came of it"], &steps));
    }
    if info.flow == ROADMAP {
        render::roadmap::tell(ui, &history.facts);
    }
    section(context, "Attempts that failed", &of(history, "attempt_failed"), |f| {
        let (class, message) = (text(&f["failure"], "class"), text(&f["failure"], "message"));
        let lines: String =
            render::attempts::last_lines(&f["failure"]).map(|line| format!("\n    {line}")).collect();
        format!("{} attempt {}: {class} - {message}{lines}", text(f, "step"), text(f, "attempt"))
    });
    section(context, "Decisions", &of(history, "decision"), |d| {
        let (outcome, rationale) = (text(d, "outcome"), text(d, "rationale"));
        format!("{}  {}: {outcome} - {rationale} ({})", text(d, "id"), text(d, "subject"), text(d, "actor"))
    });
    let changed = |c: &Value| format!("{} {}", text(c, "type"), text(c, "reason"));
    section(context, "Changes of course", &of(history, "flow_changed"), changed);
    section(context, "Errors", &of(history, "error"), |e| text(e, "text"));
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
