//! The model by itself, without a client.

use std::io::Read;
use std::io::Write;
use std::net::TcpStream;

use serde_json::Value;
use serde_json::json;

use super::MAIN;
use super::Model;
use super::script::Reply;
use super::script::Script;
use super::script::call;
use super::script::find;
use super::script::refuse;
use super::script::say;

/// Asks, and gives the status with the events or the one document of the answer.
fn post(model: &Model, path: &str, header: &str, body: &Value) -> (u16, Vec<Value>) {
    let mut stream = TcpStream::connect(model.address).unwrap();
    let body = body.to_string();
    let length = body.len();
    write!(stream, "POST {path} HTTP/1.1\r\n{header}content-length: {length}\r\n\r\n{body}").unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let events: Vec<Value> = body
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    (status, if events.is_empty() { vec![serde_json::from_str(body).unwrap()] } else { events })
}

#[test]
fn agents_hear_their_own_lines_in_order() {
    let model = Model::start(
        Script::main([call("Bash", json!({"command": "true"})), say("Done.")]).sub([say("Seen.")]),
    );
    let ask = |header: &str| {
        let body = json!({"model": "any", "stream": true, "messages": []});
        let (status, events) = post(&model, "/v1/messages?beta=true", header, &body);
        assert_eq!(status, 200);
        events.into_iter().find(|event| event["type"] == "content_block_delta").unwrap()["delta"].clone()
    };
    assert_eq!(ask("")["partial_json"], r#"{"command":"true"}"#);
    assert_eq!(ask("X-Claude-Code-Agent-Id: one\r\n")["text"], "Seen.");
    assert_eq!(ask("")["text"], "Done.");
    assert_eq!(ask("")["text"], "Nothing is left to do.");
    assert_eq!((model.subs(), model.asks().len(), model.asks_of(MAIN).len()), (1, 4, 3));
}

#[test]
fn a_model_of_messages_reads_every_role_and_every_result() {
    let model = Model::start(Script::main([find(|ask| Reply::say(ask.result()))]));
    let body = json!({
        "model": "any",
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "Bash", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "a readme"}]}]},
            {"role": "system", "content": "A hook says no."},
        ],
    });
    let (_, events) = post(&model, "/v1/messages", "", &body);
    assert_eq!(events[2]["delta"]["text"], "a readme");
    assert_eq!(model.asks()[0].texts, ["Be brief.", "Look.", "a readme", "A hook says no."]);
    assert!(model.asks()[0].reads("says no"));
}

#[test]
fn a_model_of_responses_reads_messages_and_outputs() {
    let model = Model::start(Script::main([call("group.tool", json!({"a": 1})), refuse(429, "too much")]));
    let body = json!({
        "instructions": "Be brief.",
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look."}]},
            {"type": "function_call_output", "call_id": "1", "output": "a readme"},
        ],
    });
    let (_, events) = post(&model, "/v1/responses", "thread-id: one\r\n", &body);
    let item = &events.iter().find(|event| event["type"] == "response.output_item.done").unwrap()["item"];
    assert_eq!((&item["namespace"], &item["name"]), (&json!("group"), &json!("tool")));
    assert_eq!(model.asks()[0].texts, ["Be brief.", "Look.", "a readme"]);
    assert_eq!(model.asks()[0].results, ["a readme"]);
    // A list that ends with an error goes on refusing.
    for _ in 0..2 {
        let (status, answer) = post(&model, "/v1/responses", "thread-id: one\r\n", &body);
        assert_eq!((status, &answer[0]["error"]["message"]), (429, &json!("too much")));
    }
}

#[test]
fn what_is_no_question_is_kept_apart() {
    let model = Model::start(Script::default());
    let (status, _) = post(&model, "/v1/models", "", &json!({}));
    assert_eq!((status, model.astray()), (404, vec!["POST /v1/models".to_owned()]));
    assert!(model.asks().is_empty());
}
