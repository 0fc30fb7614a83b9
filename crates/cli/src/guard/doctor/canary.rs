//! The canary: the very command of the settings is called with what it must refuse, and with what it must let pass.
//!
//! What is refused has no step file, so that nothing of the project changes; the refusal itself is on record.

use std::path::Path;

use serde_json::Value;
use serde_json::json;
use seriatim_core::guard::client::Client;
use seriatim_core::guard::settings;
use seriatim_core::prompt::origin::Marker;
use seriatim_engine::hands::process::Ended;
use seriatim_engine::hands::process::How;

use super::Health;
use crate::guard::program;

/// The session by which the record tells these calls from others.
const SESSION: &str = "seriatim-doctor";
const EXIT_REFUSED: i32 = 2;

/// Calls the hook twice.
pub(super) fn sing(health: &mut Health, root: &Path, client: Client) {
    let name = format!("canary of {client}");
    let call = |prompt: &str| {
        let payload = payload(root, client, prompt).to_string().into_bytes();
        program::run(root, &["sh", "-c", &settings::command(client)], Some(payload))
    };
    let help = "the hook must be found and must answer; see whether `seriatim` on PATH is this program";
    match call(&tagged()) {
        Err(error) => return health.bad(name, format!("the hook could not be called: {error}"), help),
        Ok(ended) if !refuses(&ended) => {
            let detail = format!("a prompt without its sections was not refused ({})", in_short(&ended));
            return health.bad(name, detail, help);
        }
        Ok(_) => {}
    }
    match call("Say hello.") {
        Ok(ended) if ended.success() && ended.stdout.is_empty() => {
            health.good(
                name,
                "an incomplete prompt was refused, and an ordinary one passed; the refusal is on record",
            );
        }
        Ok(ended) => {
            health.bad(
                name,
                format!("an ordinary prompt did not pass in silence ({})", in_short(&ended)),
                help,
            );
        }
        Err(error) => health.bad(name, format!("the hook could not be called: {error}"), help),
    }
}

/// A prompt that says where it comes from, and lacks everything else.
fn tagged() -> String {
    let lines = [Marker::Origin, Marker::Validation, Marker::Version].map(Marker::example);
    format!("{}\n\nA canary of `seriatim doctor`: this prompt has none of its sections.\n", lines.join("\n"))
}

fn payload(root: &Path, client: Client, prompt: &str) -> Value {
    let (event, tool, input) = match client {
        Client::Claude => {
            let input =
                json!({"description": "canary", "prompt": prompt, "subagent_type": "general-purpose"});
            ("PreToolUse", "Agent", input)
        }
        Client::Codex => ("PreToolUse", "spawn_agent", json!({"message": prompt})),
        Client::Gemini => {
            ("BeforeTool", "invoke_agent", json!({"agent_name": "generalist", "prompt": prompt}))
        }
    };
    json!({
        "session_id": SESSION, "transcript_path": "", "cwd": root, "hook_event_name": event,
        "tool_name": tool, "tool_input": input, "tool_use_id": SESSION,
    })
}

/// Whether the client would take this as a no.
fn refuses(ended: &Ended) -> bool {
    let answer: Value = serde_json::from_str(&ended.stdout).unwrap_or(Value::Null);
    let says = |value: &Value| value.as_str() == Some("deny");
    let by_words = says(&answer["hookSpecificOutput"]["permissionDecision"]) || says(&answer["decision"]);
    ended.how == How::Exited(EXIT_REFUSED) || (ended.success() && by_words)
}

fn in_short(ended: &Ended) -> String {
    let how = match ended.how {
        How::Exited(code) => format!("exit {code}"),
        How::Signaled(signal) => format!("signal {signal}"),
        How::Deadline | How::Stopped => "it took too long".to_owned(),
    };
    let said = ended.tail.trim();
    if said.is_empty() { how } else { format!("{how}: {said}") }
}
