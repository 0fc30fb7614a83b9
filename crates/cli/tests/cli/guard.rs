//! A guarded repository with one step, and the events that a client sends about it.

use std::fs;
use std::io::Seek;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use serde_json::json;

use crate::phases::FOURTEEN;
use crate::support::Env;
use crate::support::Output;

/// The step that most tests are about.
pub(crate) const STEP: &str = "steps/01-01.json";
pub(crate) const SESSION: &str = "s1";
/// The agent that works on the step, and the call it came from.
pub(crate) const AGENT: &str = "a1";
pub(crate) const CALL: &str = "toolu_1";

/// The three phases of the newest, for tests in which the number does not matter.
pub(crate) const THREE: [&str; 3] = ["RED", "GREEN", "COMMIT"];

/// A prompt that says it is a command's, and has nothing else.
pub(crate) const BARE: &str = "<!-- DES-ORIGIN: command:/nw:execute -->\n<!-- DES-STEP-FILE: steps/01-01.json -->\n\
    <!-- DES-VALIDATION: required -->\n<!-- DES-VERSION: 1.0 -->\n\n# AGENT_IDENTITY\n\nYou are the crafter.\n";

pub(crate) struct Guarded {
    pub(crate) env: Env,
}

impl Guarded {
    /// With a step of three phases, which may change what is below `src`.
    pub(crate) fn new() -> Guarded {
        Guarded::of(&step("01-01", &THREE))
    }

    /// With a step of fourteen phases.
    pub(crate) fn fourteen() -> Guarded {
        Guarded::of(&step("01-01", &FOURTEEN))
    }

    pub(crate) fn of(step: &Value) -> Guarded {
        let guarded = Guarded { env: Env::new() };
        guarded.env.git(&["init", "--quiet", "--initial-branch=main"]);
        guarded.env.git(&["config", "user.name", "Ada"]);
        guarded.env.git(&["config", "user.email", "ada@example.org"]);
        guarded.env.file("src/greet.sh", "echo hello\n").file("README.md", "Greets.\n");
        guarded.env.file(".gitignore", ".env\n/target/\n*.o\n");
        guarded.state(STEP, step).committed("Begin");
        guarded.env.store_file("guard.json", "{}\n");
        guarded
    }

    /// A state file as it shall be.
    pub(crate) fn state(&self, path: &str, state: &Value) -> &Guarded {
        self.env.file(path, format!("{state:#}\n"));
        self
    }

    /// Everything is committed, before any hook of git is there.
    pub(crate) fn committed(&self, message: &str) -> &Guarded {
        self.env.git(&["add", "--all"]);
        self.env.git(&["commit", "--quiet", "--no-verify", "--allow-empty", "--message", message]);
        self
    }

    /// The whole prompt for a step, as the template makes it.
    #[track_caller]
    pub(crate) fn prompt_for(&self, step: &str) -> String {
        let file = format!("step_file_path={step}");
        let given = ["--set", &file, "--set", "agent_name=crafter", "--set", "agent_specialty=small steps"];
        let args = ["prompt", "render", "--template", "execute-step", "--values", step];
        self.env.run(&[&args[..], &given[..]].concat()).exits(0).stdout
    }

    #[track_caller]
    pub(crate) fn prompt(&self) -> String {
        self.prompt_for(STEP)
    }

    /// The transcript of the session.
    pub(crate) fn transcript(&self) -> PathBuf {
        self.env.root.with_file_name("home").join("s1.jsonl")
    }

    /// The transcript of a sub-agent: its prompt, and one answer that cost something.
    pub(crate) fn agent_transcript(&self, agent: &str, prompt: &str) -> PathBuf {
        let folder = self.transcript().with_extension("").join("subagents");
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join(format!("agent-{agent}.jsonl"));
        let lines = [
            json!({"type": "user", "agentId": agent, "message": {"role": "user", "content": prompt}}),
            answer("msg_1", 10, 5),
        ];
        fs::write(&path, lines.map(|line| format!("{line}\n")).concat()).unwrap();
        path
    }

    /// An event with the fields that all events have, and `more`.
    pub(crate) fn event(&self, name: &str, more: Value) -> Value {
        let mut event = json!({
            "session_id": SESSION,
            "transcript_path": self.transcript(),
            "cwd": self.env.root,
            "prompt_id": "p1",
            "permission_mode": "default",
            "hook_event_name": name,
        });
        for (key, value) in more.as_object().unwrap() {
            event[key] = value.clone();
        }
        event
    }

    /// Sends an event and gives back what the client is answered.
    #[track_caller]
    pub(crate) fn send(&self, name: &str, more: Value) -> Answer {
        self.send_bytes(self.event(name, more).to_string().as_bytes())
    }

    #[track_caller]
    pub(crate) fn send_bytes(&self, bytes: &[u8]) -> Answer {
        let mut input = tempfile::tempfile().unwrap();
        input.write_all(bytes).unwrap();
        input.rewind().unwrap();
        let mut command = self.env.command(&["hook"]);
        command.stdin(input);
        Answer(self.env.start_command(command).output())
    }

    /// The main conversation is about to call a sub-agent and to wait for it.
    #[track_caller]
    pub(crate) fn spawn(&self, prompt: &str) -> Answer {
        self.spawn_as(CALL, json!({"prompt": prompt, "run_in_background": false}), json!({}))
    }

    #[track_caller]
    pub(crate) fn spawn_as(&self, call: &str, input: Value, more: Value) -> Answer {
        let mut input = input;
        input["description"] = json!("A piece of work");
        input["subagent_type"] = json!("general-purpose");
        let mut event = json!({"tool_name": "Agent", "tool_use_id": call, "tool_input": input});
        for (key, value) in more.as_object().unwrap() {
            event[key] = value.clone();
        }
        self.send("PreToolUse", event)
    }

    /// The agent has begun.
    #[track_caller]
    pub(crate) fn sub_start(&self, agent: &str) -> Answer {
        self.send("SubagentStart", json!({"agent_id": agent, "agent_type": "general-purpose"}))
    }

    /// The agent wants to stop.
    #[track_caller]
    pub(crate) fn sub_stop(&self, agent: &str) -> Answer {
        self.send("SubagentStop", json!({"agent_id": agent, "stop_hook_active": false}))
    }

    /// The call of the agent came back.
    #[track_caller]
    pub(crate) fn spawn_done(&self, call: &str, response: Value) -> Answer {
        let event =
            json!({"tool_name": "Agent", "tool_use_id": call, "tool_input": {}, "tool_response": response});
        self.send("PostToolUse", event)
    }

    /// The main conversation wants to end its turn.
    #[track_caller]
    pub(crate) fn stop(&self, more: Value) -> Answer {
        self.send("Stop", more)
    }

    /// An agent works on the step: its prompt was good, and it has begun.
    #[track_caller]
    pub(crate) fn at_work(self) -> Guarded {
        self.spawn(&self.prompt()).passes();
        self.sub_start(AGENT).passes();
        self
    }

    /// Runs `seriatim phase`.
    pub(crate) fn phase(&self, args: &[&str]) -> Output {
        self.env.run(&[&["phase"], args].concat())
    }

    /// Records a phase of the step as done.
    #[track_caller]
    pub(crate) fn done(&self, phase: &str) {
        self.done_of("01-01", phase);
    }

    #[track_caller]
    pub(crate) fn done_of(&self, step: &str, phase: &str) {
        self.phase(&["start", step, phase]).exits(0);
        self.phase(&["done", step, phase, "--outcome", "PASS", "--note", "seen"]).exits(0);
    }

    /// Records all phases of the step as done.
    #[track_caller]
    pub(crate) fn all_done(&self) {
        for phase in self.phases() {
            self.done(&phase.0);
        }
    }

    /// The state file as it is now.
    #[track_caller]
    pub(crate) fn step(&self) -> Value {
        serde_json::from_str(&self.env.read(STEP)).unwrap()
    }

    /// Where the step stands.
    #[track_caller]
    pub(crate) fn status(&self) -> String {
        self.step()["state"]["status"].as_str().unwrap().to_owned()
    }

    /// The phases of the step, with where they stand.
    #[track_caller]
    pub(crate) fn phases(&self) -> Vec<(String, String)> {
        let step = self.step();
        let log = step["tdd_cycle"]["phase_execution_log"].as_array().unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        log.iter().map(|phase| (text(&phase["phase_name"]), text(&phase["status"]))).collect()
    }

    /// Edits the state file by hand, past all commands.
    pub(crate) fn edit(&self, change: impl FnOnce(&mut Value)) {
        let mut step = self.step();
        change(&mut step);
        self.state(STEP, &step);
    }

    /// The audit trail beside the step.
    pub(crate) fn trail(&self) -> Vec<Value> {
        self.trail_in("steps")
    }

    pub(crate) fn trail_in(&self, folder: &str) -> Vec<Value> {
        trail(&self.env.files_below(folder))
    }

    /// What belongs to no step.
    pub(crate) fn project_trail(&self) -> Vec<Value> {
        trail(&self.env.stored_below("guard"))
    }
    /// The names of the events on the trail, in order.
    pub(crate) fn events(&self) -> Vec<String> {
        let name = |line: &Value| line["event"].as_str().unwrap_or_default().to_owned();
        self.trail().iter().map(name).collect()
    }

    /// The last line of the trail that tells of this.
    #[track_caller]
    pub(crate) fn last(&self, event: &str) -> Value {
        let trail = self.trail();
        let found = trail.iter().rev().find(|line| line["event"] == event);
        found.unwrap_or_else(|| panic!("no {event} in {trail:#?}")).clone()
    }

    /// What git says, whether it succeeds or not. `seriatim` is on the path for its hooks.
    pub(crate) fn git(&self, args: &[&str]) -> Output {
        let mut command = Command::new("git");
        command.args(args);
        self.furnish(&mut command);
        self.env.start_command(command).output()
    }

    /// Runs a line of shell.
    pub(crate) fn sh(&self, line: &str) -> Output {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        self.furnish(&mut command);
        self.env.start_command(command).output()
    }

    fn furnish(&self, command: &mut Command) {
        self.env.furnish(command);
        let program = PathBuf::from(env!("CARGO_BIN_EXE_seriatim"));
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", program.parent().unwrap().display()));
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    }

    /// Git asks the guard, as an installed guard lets it.
    pub(crate) fn with_git_hooks(self) -> Guarded {
        for (name, call) in [("pre-commit", "commit-gate"), ("pre-push", "commit-gate --push \"$@\"")] {
            let path = format!(".git/hooks/{name}");
            self.env.file(&path, format!("#!/bin/sh\nexec seriatim {call}\n"));
            let mut command = Command::new("chmod");
            command.args(["+x", &path]);
            self.env.furnish(&mut command);
            assert!(command.status().unwrap().success());
        }
        self
    }
}

/// A step of the project `greeting` that nobody has begun.
pub(crate) fn step(id: &str, phases: &[&str]) -> Value {
    let phase =
        |(i, name): (usize, &&str)| json!({"phase_name": name, "phase_index": i, "status": "NOT_EXECUTED"});
    json!({
        "task_id": id,
        "project_id": "greeting",
        "self_contained_context": {"background": "A program that greets whoever calls it."},
        "task_specification": {
            "name": "Greet politely",
            "description": "The greeting names the person.",
            "acceptance_criteria": ["Ada is greeted by her name"],
            "allowed_file_patterns": ["src/**"],
        },
        "state": {"status": "TODO"},
        "tdd_cycle": {"phase_execution_log": phases.iter().enumerate().map(phase).collect::<Vec<_>>()},
    })
}

/// A line of a transcript: an answer of the model and what it cost.
pub(crate) fn answer(id: &str, input: u64, output: u64) -> Value {
    let usage = json!({"input_tokens": input, "output_tokens": output});
    json!({"type": "assistant", "message": {"id": id, "model": "m", "usage": usage, "content": []}})
}

/// What the client is answered.
pub(crate) struct Answer(pub(crate) Output);

impl Answer {
    /// Silence: nothing is said, and nothing is against it.
    #[track_caller]
    pub(crate) fn passes(self) {
        let said = self.0.exits(0);
        assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("", ""));
    }

    /// Refused by JSON, with its reason. Exit code 2 would show the command line to the agent.
    #[track_caller]
    pub(crate) fn denied(self) -> String {
        let said = self.0.exits(0);
        let decision = said.document()["hookSpecificOutput"].clone();
        assert_eq!(decision["permissionDecision"], "deny", "{}", said.snapshot());
        decision["permissionDecisionReason"].as_str().unwrap().to_owned()
    }

    /// Sent back to work, or told that what came back is not accepted.
    #[track_caller]
    pub(crate) fn blocked(self) -> String {
        let said = self.0.exits(0);
        let answer = said.document();
        assert!(matches!(answer["decision"].as_str(), Some("block" | "deny")), "{}", said.snapshot());
        answer["reason"].as_str().unwrap().to_owned()
    }

    /// Told something, where the client knows no way to refuse.
    #[track_caller]
    pub(crate) fn told(self) -> String {
        let said = self.0.exits(0);
        said.document()["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
    }
}

/// All of these words stand in a text.
#[track_caller]
pub(crate) fn holds(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "`{word}` is not in:\n{text}");
    }
}

/// The lines of the audit files among these.
fn trail(files: &[PathBuf]) -> Vec<Value> {
    let logs = files.iter().filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("audit-") && name.ends_with(".log")
    });
    let text: String = logs.map(|path| fs::read_to_string(path).unwrap()).collect();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or(Value::from(line))).collect()
}
