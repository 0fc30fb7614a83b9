//! The Responses API, as Codex speaks it.

use serde_json::Value;
use serde_json::json;

use super::http::Request;
use super::http::Response;
use super::script::Reply;

pub(crate) const PATH: &str = "/v1/responses";
/// Where a test lets the client renew its log-in.
pub(crate) const REFRESH: &str = "/oauth/token";
/// The token that the client gets there.
pub(crate) const RENEWED: &str = "renewed";

/// A renewed log-in. The token with which it was asked for is used up.
pub(crate) fn refreshed() -> Response {
    Response::json(200, &json!({"access_token": RENEWED, "refresh_token": "next"}))
}

/// Which agent of a session asks: every agent has a thread of its own.
pub(crate) fn conversation(request: &Request) -> String {
    let thread = request.header("thread-id").or_else(|| request.header("session_id"));
    thread.unwrap_or_default().to_owned()
}

/// Everything that stands in the conversation, in order.
pub(crate) fn texts(body: &Value) -> Vec<String> {
    let mut texts: Vec<String> = body["instructions"].as_str().map(str::to_owned).into_iter().collect();
    for item in body["input"].as_array().into_iter().flatten() {
        collect(&item["content"], &mut texts);
        collect(&item["output"], &mut texts);
    }
    texts
}

/// What tools answered, in order.
pub(crate) fn results(body: &Value) -> Vec<String> {
    let mut results = vec![];
    for item in body["input"].as_array().into_iter().flatten() {
        if item["type"] == "function_call_output" {
            let mut texts = vec![];
            collect(&item["output"], &mut texts);
            results.push(texts.join("\n"));
        }
    }
    results
}

fn collect(content: &Value, texts: &mut Vec<String>) {
    match content {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(parts) => {
            texts.extend(parts.iter().filter_map(|part| part["text"].as_str()).map(str::to_owned));
        }
        _ => {}
    }
}

pub(crate) fn response(reply: &Reply, id: &str) -> Response {
    let item = match reply {
        Reply::Say(words) => json!({
            "type": "message", "id": format!("msg_{id}"), "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": words, "annotations": []}],
        }),
        Reply::Call { tool, input } => json!({
            "type": "function_call", "id": format!("fc_{id}"), "call_id": format!("call_{id}"),
            "name": tool.name, "namespace": tool.group, "arguments": input.to_string(), "status": "completed",
        }),
        Reply::Refuse { status, message } => {
            let error = json!({"type": "invalid_request_error", "message": message});
            return Response::json(*status, &json!({"error": error}));
        }
    };
    let id = format!("resp_{id}");
    let usage = json!({
        "input_tokens": 10, "input_tokens_details": null,
        "output_tokens": 5, "output_tokens_details": null, "total_tokens": 15,
    });
    Response::events(&[
        json!({"type": "response.created", "response": {"id": id}}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": {"id": id, "usage": usage}}),
    ])
}
