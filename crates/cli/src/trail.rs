//! The book of the guard as people and machines read it.

use serde_json::Value;
use serde_json::json;
use seriatim_core::time::Utc;
use seriatim_journal::RunInfo;
use seriatim_journal::Store;

use crate::args::Context;
use crate::error::Result;
use crate::ui::Tone;
use crate::ui::tone;

/// What every line has, or what is told in words.
const TOLD: [&str; 5] = ["timestamp", "event", "step_file", "step_id", "session_id"];

/// Tells the events of the book from the entry `from` on, and how many entries there are.
pub(crate) fn tell(context: &Context, store: &Store, info: &RunInfo, from: u64) -> Result<u64> {
    let tip = store.load(info.id, |entry| {
        if entry.seq < from || !entry.key.starts_with("audit:") {
            return;
        }
        let line = entry.body.and_then(|body| serde_json::from_slice::<Value>(body).ok());
        if let Some(line) = line {
            one(context, &info.name, entry.at, &line);
        }
    })?;
    Ok(tip.entries)
}

fn one(context: &Context, run: &str, at: Utc, line: &Value) {
    if context.ui.json {
        return context.ui.line(&json!({"run": run, "at": at.to_string(), "fact": line}));
    }
    let event = line["event"].as_str().unwrap_or_default().to_lowercase().replace('_', " ");
    let step = line["step_id"].as_str().map(|id| format!(" of step {id}")).unwrap_or_default();
    let details = line.as_object().into_iter().flatten().filter(|(key, _)| !TOLD.contains(&key.as_str()));
    let details: Vec<String> = details.filter_map(|(key, value)| detail(key, value)).collect();
    let details = if details.is_empty() { String::new() } else { format!(": {}", details.join(", ")) };
    context.ui.say(format!("{}  {event}{step}{details}", tone(Tone::Faint, at.seconds())));
}

/// A key and its value in words; long lists by their length.
fn detail(key: &str, value: &Value) -> Option<String> {
    let key = key.replace('_', " ");
    match value {
        Value::Null => None,
        Value::String(text) if text.is_empty() => None,
        Value::String(text) => Some(format!("{key} {text}")),
        Value::Array(list) if list.is_empty() => None,
        Value::Array(list) if list.len() > 2 => Some(format!("{} {key}", list.len())),
        Value::Array(list) => {
            let texts: Vec<String> =
                list.iter().map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned)).collect();
            Some(texts.join("; "))
        }
        other => Some(format!("{key} {other}")),
    }
}
