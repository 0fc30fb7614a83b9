//! What a client is answered, to the letter that it understands.
//!
//! A pass is silence: an explicit "allow" would switch off the user's own permission prompts. A refusal is JSON
//! where the client shows its reason to the agent alone, and exit code 2 where only that is heeded (K-91).

#[cfg(test)]
mod tests;

use serde_json::Value as Json;
use serde_json::json;

use super::client::Client;
use super::event::Broken;

/// The longest reason that is given. An agent that gets more reads less of it.
pub const REASON_BYTES_MAX: usize = 8 << 10;

/// The exit code that all clients take for "no".
const REFUSED: u8 = 2;

/// What is to be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Nothing against it.
    Pass,
    /// What is about to happen must not happen.
    Deny { reason: String },
    /// What is about to end must go on, or what happened is not accepted.
    Block { reason: String },
    /// Go on, and know this.
    Context { text: String },
}

/// What a hook prints, and the code it ends with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub stdout: String,
    pub stderr: String,
    pub exit: u8,
}

impl Reply {
    /// The answer to one event. Where the client offers no way to refuse, the reason becomes context, and where
    /// it does not take that either, a line for people.
    pub fn answer(&self, client: Client, event_name: &str) -> Answer {
        match self {
            Reply::Pass => Answer::default(),
            Reply::Deny { reason } | Reply::Block { reason } => refusal(client, event_name, &bounded(reason)),
            Reply::Context { text } => context(client, event_name, &bounded(text)),
        }
    }
}

impl Answer {
    /// The answer to a payload that could not be read: closed at doors, open elsewhere.
    pub fn to_broken(broken: &Broken) -> Answer {
        let exit = if broken.blocks() { REFUSED } else { 0 };
        Answer { stdout: String::new(), stderr: bounded(&format!("seriatim: {broken}")), exit }
    }

    /// The answer when the guard itself failed at a door: never a pass.
    pub fn failed_closed(reason: &str) -> Answer {
        Answer { stdout: String::new(), stderr: bounded(&format!("seriatim: {reason}")), exit: REFUSED }
    }

    fn json(value: &Json) -> Answer {
        Answer { stdout: value.to_string(), ..Answer::default() }
    }

    fn for_people(text: &str) -> Answer {
        Answer { stderr: text.to_owned(), ..Answer::default() }
    }
}

fn refusal(client: Client, event_name: &str, reason: &str) -> Answer {
    match (client, event_name) {
        (Client::Claude | Client::Codex, "PreToolUse") => Answer::json(&json!({
            "hookSpecificOutput": {
                "hookEventName": event_name,
                "permissionDecision": "deny",
                "permissionDecisionReason": reason,
            }
        })),
        (Client::Claude | Client::Codex, "SubagentStop" | "Stop" | "PostToolUse" | "UserPromptSubmit") => {
            Answer::json(&json!({ "decision": "block", "reason": reason }))
        }
        (Client::Claude | Client::Codex, "ConfigChange") => {
            Answer { stdout: String::new(), stderr: reason.to_owned(), exit: REFUSED }
        }
        (Client::Gemini, "BeforeTool" | "AfterTool" | "BeforeAgent" | "AfterAgent") => {
            Answer::json(&json!({ "decision": "deny", "reason": reason }))
        }
        _ => context(client, event_name, reason),
    }
}

/// At `SubagentStop` context would make the agent go on, so that it is no way to say something and pass.
fn context(client: Client, event_name: &str, text: &str) -> Answer {
    let taken = match client {
        Client::Claude => matches!(
            event_name,
            "PreToolUse"
                | "PostToolUse"
                | "PostToolUseFailure"
                | "SessionStart"
                | "UserPromptSubmit"
                | "SubagentStart"
        ),
        Client::Codex => matches!(event_name, "PostToolUse" | "SessionStart" | "UserPromptSubmit"),
        Client::Gemini => matches!(event_name, "SessionStart" | "BeforeAgent" | "AfterTool"),
    };
    if !taken {
        return Answer::for_people(text);
    }
    Answer::json(&json!({
        "hookSpecificOutput": { "hookEventName": event_name, "additionalContext": text }
    }))
}

/// A text that is not too long, cut between characters and with a note where it was cut.
fn bounded(text: &str) -> String {
    if text.len() <= REASON_BYTES_MAX {
        return text.to_owned();
    }
    let note = |left_out: usize| format!("\n... ({left_out} more bytes are left out)");
    let mut end = REASON_BYTES_MAX.saturating_sub(note(text.len()).len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{}", &text[..end], note(text.len() - end))
}
