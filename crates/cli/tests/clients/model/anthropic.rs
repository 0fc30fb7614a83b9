//! The Messages API, as Claude Code speaks it.

use serde_json::Value;
use serde_json::json;

use super::http::Request;
use super::http::Response;
use super::script::Reply;

pub(crate) const PATH: &str = "/v1/messages";

/// Which agent of a session asks: sub-agents are named in a header, the main agent is not.
pub(crate) fn conversation(request: &Request) -> String {
    request.header("x-claude-code-agent-id").unwrap_or_default().to_owned()
}

/// Everything that stands in the conversation, in order. Hooks speak in messages of the role `system`, which may
/// stand anywhere.
pub(crate) fn texts(body: &Value) -> Vec<String> {
    let mut texts = vec![];
    collect(&body["system"], &mut texts);
    for message in body["messages"].as_array().into_iter().flatten() {
        collect(&message["content"], &mut texts);
    }
    texts
}

/// What tools answered, in order.
pub(crate) fn results(body: &Value) -> Vec<String> {
    let mut results = vec![];
    for message in body["messages"].as_array().into_iter().flatten() {
        for block in message["content"].as_array().into_iter().flatten() {
            if block["type"] == "tool_result" {
                let mut texts = vec![];
                collect(&block["content"], &mut texts);
                results.push(texts.join("\n"));
            }
        }
    }
    results
}

fn collect(content: &Value, texts: &mut Vec<String>) {
    match content {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(blocks) => {
            for block in blocks {
                collect(block.get("text").unwrap_or(&block["content"]), texts);
            }
        }
        _ => {}
    }
}

pub(crate) fn response(reply: &Reply, id: &str, body: &Value) -> Response {
    let (start, delta, end) = match reply {
        Reply::Say(words) => {
            (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": words}), "end_turn")
        }
        Reply::Call { tool, input } => (
            json!({"type": "tool_use", "id": format!("toolu_{id}"), "name": tool.name, "input": {}}),
            json!({"type": "input_json_delta", "partial_json": input.to_string()}),
            "tool_use",
        ),
        Reply::Refuse { status, message } => {
            let error = json!({"type": "invalid_request_error", "message": message});
            return Response::json(*status, &json!({"type": "error", "error": error}));
        }
    };
    let usage = json!({"input_tokens": 10, "output_tokens": 5});
    let message = json!({
        "id": format!("msg_{id}"), "type": "message", "role": "assistant", "model": body["model"],
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage,
    });
    Response::events(&[
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": start}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({
            "type": "message_delta", "usage": usage, "delta": {"stop_reason": end, "stop_sequence": null},
        }),
        json!({"type": "message_stop"}),
    ])
}
