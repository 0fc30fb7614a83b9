//! Which events are which, and what the tools of each client are called.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Kind;
use super::Message;
use super::Notification;
use super::Spawn;
use super::SpawnDone;
use super::SpawnStatus;
use super::Stopping;
use super::Why;
use super::script;
use super::wire;
use super::wire::Payload;
use crate::guard::client::Client;
use crate::guard::lenient;

/// What a tool is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Spawn,
    Workflow,
    Message,
    Shell,
    Edit,
    Patch,
    CompleteTask,
    Other,
}

/// Codex puts the name of the tool family in front of a tool's own (`multi_agent_v1send_input`).
const CODEX_SPAWN: &str = "spawn_agent";
const CODEX_MESSAGE: [&str; 4] = ["send_input", "send_message", "assign_task", "followup_task"];

fn purpose(tool: &str) -> Purpose {
    match tool {
        "Agent" | "Task" | "invoke_agent" => Purpose::Spawn,
        "Workflow" => Purpose::Workflow,
        "SendMessage" => Purpose::Message,
        "Bash" | "PowerShell" | "run_shell_command" | "shell" | "local_shell" | "exec_command" => {
            Purpose::Shell
        }
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" | "write_file" | "replace" => Purpose::Edit,
        "apply_patch" => Purpose::Patch,
        "complete_task" => Purpose::CompleteTask,
        // The tools of a server of the user's are called as that server likes.
        tool if tool.starts_with("mcp__") => Purpose::Other,
        tool if tool.ends_with(CODEX_SPAWN) => Purpose::Spawn,
        tool if CODEX_MESSAGE.iter().any(|name| tool.ends_with(name)) => Purpose::Message,
        _ => Purpose::Other,
    }
}

pub(super) fn kind(client: Client, name: &str, payload: &Payload<'_>) -> Result<Kind, Why> {
    Ok(match name {
        "PreToolUse" | "BeforeTool" => return before(client, payload),
        "PostToolUse" | "AfterTool" => after(client, payload),
        "PostToolUseFailure" => failed(payload),
        "SubagentStart" => Kind::SubStart,
        "SubagentStop" => Kind::SubStop(stopping(payload)),
        "Stop" | "AfterAgent" => Kind::Stop(stopping(payload)),
        "StopFailure" => Kind::StopFailure {
            error: payload.error.clone(),
            last_message: payload.last_assistant_message.clone(),
        },
        "ConfigChange" => {
            Kind::ConfigChange { source: payload.source.clone(), file_path: payload.file_path.clone() }
        }
        "SessionStart" => Kind::SessionStart { source: payload.source.clone() },
        "SessionEnd" => Kind::SessionEnd { reason: payload.reason.clone() },
        "UserPromptSubmit" | "BeforeAgent" => {
            let text = payload.prompt.clone().unwrap_or_default();
            Kind::Prompt { notification: Notification::find(&text), text }
        }
        _ => Kind::Other,
    })
}

fn before(client: Client, payload: &Payload<'_>) -> Result<Kind, Why> {
    let tool = payload.tool_name.clone().filter(|tool| !tool.is_empty()).ok_or(Why::ToolNameless)?;
    match purpose(&tool) {
        Purpose::Spawn => spawn(client, tool, payload),
        Purpose::Workflow => workflow(tool, payload),
        Purpose::Message => message(tool, payload),
        Purpose::Shell => {
            let given: wire::ShellInput = input(&tool, payload)?;
            let command = given.command.or(given.cmd).map(|line| line.0);
            Ok(Kind::Shell { command: command.ok_or(Why::Input { tool })? })
        }
        Purpose::Edit => {
            let given: wire::EditInput = input(&tool, payload)?;
            let paths: Vec<String> =
                [given.file_path, given.notebook_path, given.path].into_iter().flatten().collect();
            if paths.is_empty() {
                return Err(Why::Input { tool });
            }
            Ok(Kind::Edit { tool, paths })
        }
        Purpose::Patch => {
            let given: wire::PatchInput = input(&tool, payload)?;
            let patch = given.command.map(|line| line.0).or(given.input).or(given.patch);
            let paths = patched(&patch.ok_or_else(|| Why::Input { tool: tool.clone() })?);
            Ok(Kind::Edit { tool, paths })
        }
        Purpose::CompleteTask => Ok(Kind::CompleteTask),
        Purpose::Other => Ok(Kind::OtherTool { tool }),
    }
}

fn input<'a, T: Deserialize<'a>>(tool: &str, payload: &Payload<'a>) -> Result<T, Why> {
    let unreadable = || Why::Input { tool: tool.to_owned() };
    payload.tool_input.and_then(|raw| lenient::object(raw.get())).ok_or_else(unreadable)
}

fn spawn(client: Client, tool: String, payload: &Payload<'_>) -> Result<Kind, Why> {
    let given: wire::SpawnInput<'_> = input(&tool, payload)?;
    let prompts: Vec<String> =
        [given.prompt, given.message, given.items.map(plain)].into_iter().flatten().collect();
    if prompts.is_empty() {
        return Err(Why::Input { tool });
    }
    let background = match client {
        Client::Claude => given.run_in_background.unwrap_or(true),
        Client::Codex => true,
        Client::Gemini => false,
    };
    Ok(Kind::Spawn(Spawn {
        tool,
        tool_use_id: payload.tool_use_id.clone(),
        prompts,
        opaque: false,
        background,
        description: given.description,
        agent_type: given.subagent_type.or(given.agent_type).or(given.agent_name),
    }))
}

fn workflow(tool: String, payload: &Payload<'_>) -> Result<Kind, Why> {
    let given: wire::SpawnInput<'_> = input(&tool, payload)?;
    let seen = given.script.as_deref().map(script::prompts);
    let (prompts, opaque) = seen.map_or((vec![], true), |seen| (seen.prompts, seen.opaque));
    Ok(Kind::Spawn(Spawn {
        tool,
        tool_use_id: payload.tool_use_id.clone(),
        prompts,
        opaque,
        background: true,
        description: given.description,
        agent_type: None,
    }))
}

fn message(tool: String, payload: &Payload<'_>) -> Result<Kind, Why> {
    let given: wire::MessageInput<'_> = input(&tool, payload)?;
    let text = [given.message, given.content, given.items].into_iter().flatten().map(plain).next();
    Ok(Kind::Message(Message {
        tool_use_id: payload.tool_use_id.clone(),
        to: given.to.or(given.recipient).or(given.target).or(given.id),
        text: text.ok_or_else(|| Why::Input { tool: tool.clone() })?,
        tool,
    }))
}

/// A text; the texts of a list of parts, each on a line; or else the JSON as it stands.
fn plain(raw: &RawValue) -> String {
    if let Ok(text) = serde_json::from_str::<String>(raw.get()) {
        return text;
    }
    let texts = serde_json::from_str::<Vec<wire::Item>>(raw.get())
        .map(|items| items.into_iter().filter_map(|item| item.text).collect::<Vec<_>>());
    match texts {
        Ok(texts) if !texts.is_empty() => texts.join("\n"),
        _ => raw.get().to_owned(),
    }
}

/// The files that a patch of Codex names.
fn patched(patch: &str) -> Vec<String> {
    let heads = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
    let mut paths: Vec<String> = vec![];
    for line in patch.lines().map(str::trim) {
        let path = heads.iter().find_map(|head| line.strip_prefix(head)).unwrap_or_default().trim();
        if !path.is_empty() && !paths.iter().any(|known| known == path) {
            paths.push(path.to_owned());
        }
    }
    paths
}

fn after(client: Client, payload: &Payload<'_>) -> Kind {
    let Some(tool) = payload.tool_name.clone() else { return Kind::Other };
    if !matches!(purpose(&tool), Purpose::Spawn | Purpose::Workflow | Purpose::Message) {
        return Kind::Other;
    }
    // Codex gives the answer of a tool as a text, which for this one is JSON again.
    let unquoted: Option<String> = payload.tool_response.and_then(|raw| serde_json::from_str(raw.get()).ok());
    let text = unquoted.as_deref().or(payload.tool_response.map(RawValue::get)).unwrap_or_default();
    let response: wire::SpawnResponse<'_> = lenient::object(text).unwrap_or_default();
    let error = response.error.filter(|error| error.get() != "null").map(plain);
    if error.is_some() {
        return Kind::SpawnFailed {
            tool,
            tool_use_id: payload.tool_use_id.clone(),
            error,
            interrupted: false,
        };
    }
    // The other clients name the call.
    let given = payload.tool_input.filter(|_| payload.tool_use_id.is_none());
    let prompt = given.and_then(|raw| lenient::object::<wire::SpawnInput<'_>>(raw.get()));
    let launches = client == Client::Codex;
    let status = match response.status.as_deref() {
        Some("completed") => SpawnStatus::Completed,
        Some("async_launched") => SpawnStatus::Launched,
        Some(other) => SpawnStatus::Other(other.to_owned()),
        None if launches => SpawnStatus::Launched,
        None => SpawnStatus::Completed,
    };
    Kind::SpawnDone(SpawnDone {
        tool,
        tool_use_id: payload.tool_use_id.clone(),
        agent_id: response.claude_agent_id.or(response.codex_agent_id),
        status,
        prompt: prompt.and_then(|given| given.prompt.or(given.message)),
        tokens: response.tokens,
        usage: response.usage.map(Into::into),
    })
}

fn failed(payload: &Payload<'_>) -> Kind {
    let Some(tool) = payload.tool_name.clone() else { return Kind::Other };
    if !matches!(purpose(&tool), Purpose::Spawn | Purpose::Workflow | Purpose::Message) {
        return Kind::Other;
    }
    Kind::SpawnFailed {
        tool,
        tool_use_id: payload.tool_use_id.clone(),
        error: payload.error.clone(),
        interrupted: payload.is_interrupt.unwrap_or(false),
    }
}

fn stopping(payload: &Payload<'_>) -> Stopping {
    Stopping {
        stop_hook_active: payload.stop_hook_active.unwrap_or(false),
        agent_transcript_path: payload.agent_transcript_path.clone(),
        last_message: payload.last_assistant_message.clone().or_else(|| payload.prompt_response.clone()),
        background_tasks: payload.background_tasks.clone(),
    }
}
