//! The lines of a rollout of Codex: a time, a type and a payload.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Scan;
use crate::guard::lenient;
use crate::guard::lenient::maybe;
use crate::guard::usage::CodexUsage;
use crate::guard::usage::Usage;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Payload<'a> {
    #[serde(rename = "type", deserialize_with = "maybe")]
    what: Option<String>,
    #[serde(deserialize_with = "maybe")]
    role: Option<String>,
    #[serde(deserialize_with = "maybe")]
    message: Option<String>,
    #[serde(deserialize_with = "maybe")]
    content: Option<Vec<Part>>,
    #[serde(deserialize_with = "maybe")]
    model: Option<String>,
    #[serde(deserialize_with = "maybe")]
    info: Option<Info>,
    #[serde(deserialize_with = "maybe")]
    name: Option<String>,
    #[serde(deserialize_with = "maybe")]
    call_id: Option<String>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    source: Option<&'a RawValue>,
    #[serde(deserialize_with = "maybe")]
    id: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Part {
    #[serde(deserialize_with = "maybe")]
    text: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Info {
    #[serde(deserialize_with = "maybe")]
    total_token_usage: Option<CodexUsage>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Spawned {
    #[serde(deserialize_with = "maybe")]
    agent_id: Option<String>,
}

/// What the client itself puts in front of the user's words.
const PREAMBLES: [&str; 4] = [
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "# AGENTS.md instructions",
];

pub(super) fn take(scan: &mut Scan, what: &str, payload: &str) {
    let Some(payload) = lenient::object::<Payload<'_>>(payload) else { return };
    match (what, payload.what.as_deref()) {
        ("session_meta", _) => {
            let called = payload.source.is_some_and(|source| source.get().contains("subagent"));
            scan.agent_id = payload.id.filter(|_| called);
        }
        ("turn_context", _) => scan.model = payload.model.or(scan.model.take()),
        ("event_msg", Some("user_message")) => scan.take_prompt(|| payload.message),
        ("event_msg", Some("token_count")) => {
            let total = payload.info.and_then(|info| info.total_token_usage).map(Usage::from);
            if let Some(total) = total.filter(|total| *total != scan.counted) {
                // The client counts up; a smaller total means that it began anew.
                let grown =
                    if total.total() >= scan.counted.total() { scan.counted } else { Usage::default() };
                scan.usage = scan.usage.plus(total.minus(grown));
                scan.turns += 1;
                scan.counted = total;
            }
        }
        ("response_item", Some("message")) if payload.role.as_deref() == Some("user") => {
            let parts = payload.content.unwrap_or_default();
            let text: Vec<String> = parts.into_iter().filter_map(|part| part.text).collect();
            let text = text.join("\n");
            let is_own = PREAMBLES.iter().any(|preamble| text.trim_start().starts_with(preamble));
            scan.take_prompt(|| (!is_own).then_some(text));
        }
        ("response_item", Some("function_call")) => {
            let spawns = payload.name.filter(|name| name.ends_with("spawn_agent"));
            if let (Some(name), Some(call)) = (spawns, payload.call_id) {
                scan.call(call, name);
            }
        }
        ("response_item", Some("function_call_output")) => answered(scan, payload),
        _ => {}
    }
}

fn answered(scan: &mut Scan, payload: Payload<'_>) {
    let Some(call) = payload.call_id.filter(|call| scan.calls.contains_key(call)) else { return };
    let output: Option<String> = payload.output.and_then(|raw| serde_json::from_str(raw.get()).ok());
    let spawned = output.and_then(|text| lenient::object::<Spawned>(&text)?.agent_id);
    match spawned {
        Some(id) => scan.name_agent(id, |named| named.tool_use_id = Some(call)),
        None => {
            scan.calls.remove(&call);
        }
    }
}
