//! `seriatim show`

use serde_json::Map;
use serde_json::Value;
use serde_json::json;
use seriatim_engine::drive;
use seriatim_engine::drive::History;
use seriatim_engine::drive::Story;
use seriatim_journal::RunInfo;
use seriatim_journal::Store;
use seriatim_journal::Tip;

use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::render;
use crate::render::run::View;
use crate::render::run::dialect_view;
use crate::render::run::is_work;
use crate::render::table::cut;
use crate::ui::Tone;
use crate::ui::tone;
use crate::workers;
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
    let workspace = Workspace::open_to_look(context)?;
    let Some(store) = workspace.store_to_read()? else {
        return Err(CommandError::usage("nothing has run in this workspace yet"));
    };
    let info = store.find(&command.run)?;
    if command.events {
        return events(context, &store, &info);
    }
    if !is_work(context.registry, &info) {
        return super::summary::run(context, &workspace);
    }
    let story = Story::read(&store, &info)?;
    let history = History::read(&store, &info)?;
    let shown = dialect_view(context.registry, &info, &story);
    let work = render::work::sections(&story);
    let fields = render::work::fields(&story);
    let tip = store.tip(info.id)?;
    let view = View::from_parts(&store, info.clone(), story, &shown)?;
    if context.ui.json {
        let mut document = document(&view, &tip, [fields, shown.fields]);
        document["configuration"] = render::configuration::document(&history);
        document["attempts"] = render::attempts::document(&drive::attempts(&store, &info)?);
        context.ui.document(&document);
        return Ok(Exit::Good);
    }
    heading(context, &info, &tip);
    shown.sections.iter().chain(&work).for_each(|section| render::view::say(&context.ui, section));
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

fn document(view: &View, tip: &Tip, fields: [Map<String, Value>; 2]) -> Value {
    let mut document = view.document();
    if let Some(map) = document.as_object_mut() {
        map.insert("started".into(), json!(view.info.started.to_string()));
        map.insert("updated".into(), json!(view.info.updated.to_string()));
        map.insert("entries".into(), json!(tip.entries));
        map.insert("head".into(), json!(tip.head));
        map.extend(fields.into_iter().flatten());
    }
    document
}

fn heading(context: &Context, info: &RunInfo, tip: &Tip) {
    let ui = &context.ui;
    ui.say(tone(Tone::Strong, &info.title));
    let state = if info.interrupted { "interrupted" } else { info.status.as_str() };
    let (flow, version, began) = (&info.flow, info.flow_version, info.started.seconds());
    ui.say(format!("run {}  ·  {flow} v{version}  ·  {state}  ·  began {began}", info.name));
    ui.say(format!("{} entries, head {}", tip.entries, tip.head.short()));
}

fn text(value: &Value, key: &str) -> String {
    match &value[key] {
        Value::String(s) => s.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
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
