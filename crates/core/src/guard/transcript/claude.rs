//! The lines of a transcript of Claude.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Scan;
use crate::guard::event::Notification;
use crate::guard::lenient;
use crate::guard::lenient::maybe;
use crate::guard::usage::ClaudeUsage;

/// What may stand in a line; `payload` only stands in those of Codex.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Line<'a> {
    #[serde(rename = "type", deserialize_with = "maybe")]
    pub(super) what: Option<String>,
    #[serde(borrow)]
    pub(super) payload: Option<&'a RawValue>,
    #[serde(rename = "agentId", deserialize_with = "maybe")]
    agent_id: Option<String>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow, rename = "toolUseResult")]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(deserialize_with = "maybe")]
    id: Option<String>,
    #[serde(deserialize_with = "maybe")]
    model: Option<String>,
    #[serde(deserialize_with = "maybe")]
    usage: Option<ClaudeUsage>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Block {
    #[serde(rename = "type", deserialize_with = "maybe")]
    what: Option<String>,
    #[serde(deserialize_with = "maybe")]
    text: Option<String>,
    #[serde(deserialize_with = "maybe")]
    id: Option<String>,
    #[serde(deserialize_with = "maybe")]
    name: Option<String>,
    #[serde(deserialize_with = "maybe")]
    tool_use_id: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ToolResult {
    #[serde(deserialize_with = "maybe")]
    agent_id: Option<String>,
    #[serde(deserialize_with = "maybe")]
    status: Option<String>,
    #[serde(deserialize_with = "maybe")]
    total_tokens: Option<u64>,
}

/// The name that stands for answers which no model gave.
const NO_MODEL: &str = "<synthetic>";

pub(super) fn take(scan: &mut Scan, line: &Line<'_>) {
    if let Some(id) = &line.agent_id {
        match &scan.agent_id {
            // Lines of another agent stand in the transcript of the one that called it.
            Some(own) if own != id => scan.name_agent(id.clone(), |_| {}),
            Some(_) => {}
            None if scan.lines == 1 => scan.agent_id = Some(id.clone()),
            None => scan.name_agent(id.clone(), |_| {}),
        }
    }
    let message = || line.message.and_then(|raw| lenient::object::<Message<'_>>(raw.get()));
    match line.what.as_deref() {
        Some("user") => user(scan, line, &message().unwrap_or_default()),
        Some("assistant") => assistant(scan, message().unwrap_or_default()),
        Some("queue-operation") => notice(scan, &text(line.content)),
        _ => {}
    }
}

fn user(scan: &mut Scan, line: &Line<'_>, message: &Message<'_>) {
    let said = text(message.content);
    notice(scan, &said);
    scan.take_prompt(|| Some(said));
    let result = line.result.and_then(|raw| lenient::object::<ToolResult>(raw.get()));
    let answered = blocks(message.content).into_iter().find_map(|block| block.tool_use_id);
    if let Some(ToolResult { agent_id: Some(id), status, total_tokens }) = result {
        scan.name_agent(id, |named| {
            named.tool_use_id = answered.or(named.tool_use_id.take());
            named.status = status.or(named.status.take());
            named.tokens = total_tokens.or(named.tokens);
        });
    } else if let Some(call) = answered {
        // An answer without an agent is a refusal or an error: nobody was called.
        scan.calls.remove(&call);
    }
}

fn assistant(scan: &mut Scan, message: Message<'_>) {
    for block in blocks(message.content) {
        let calls = block.what.as_deref() == Some("tool_use");
        if let (true, Some(id), Some(name)) = (calls, block.id, block.name)
            && matches!(name.as_str(), "Agent" | "Task" | "Workflow")
        {
            scan.call(id, name);
        }
    }
    if message.model.as_deref() == Some(NO_MODEL) {
        return;
    }
    scan.model = message.model.or(scan.model.take());
    if let Some(usage) = message.usage {
        scan.count(message.id, usage.into());
    }
}

/// The news that a background agent ended.
fn notice(scan: &mut Scan, text: &str) {
    let Some(news) = Notification::find(text) else { return };
    scan.name_agent(news.task_id, |named| {
        named.tool_use_id = news.tool_use_id.or(named.tool_use_id.take());
        named.status = news.status.or(named.status.take());
    });
}

/// What was said: a text, or the texts of the blocks, each on a line (E-74).
fn text(content: Option<&RawValue>) -> String {
    let Some(content) = content else { return String::new() };
    if let Ok(text) = serde_json::from_str::<String>(content.get()) {
        return text;
    }
    let texts: Vec<String> = blocks(Some(content)).into_iter().filter_map(|block| block.text).collect();
    texts.join("\n")
}

fn blocks(content: Option<&RawValue>) -> Vec<Block> {
    content.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}
