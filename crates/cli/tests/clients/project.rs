//! A project with one step and the guard installed, and the calls by which a scripted model gives work away.

use serde_json::Value;
use serde_json::json;

use crate::model::Ask;
use crate::model::script::Line;
use crate::model::script::Reply;
use crate::model::script::call;
use crate::phases::FOURTEEN;
use crate::stage::Stage;

pub(crate) const STEP: &str = "docs/feature/greeting/steps/01-01.json";

/// Hooks run although nobody has looked at them and said that they may.
pub(crate) const TRUSTED: [&str; 1] = ["--dangerously-bypass-hook-trust"];

/// The sections that [`incomplete`] leaves out.
pub(crate) const LEFT_OUT: [&str; 6] = [
    "TASK_CONTEXT",
    "TDD_14_PHASES",
    "QUALITY_GATES",
    "OUTCOME_RECORDING",
    "BOUNDARY_RULES",
    "TIMEOUT_INSTRUCTION",
];

impl Stage {
    /// A project with one step, under the guard of one client.
    pub(crate) fn guarded(client: &str) -> Stage {
        Stage::new().guard(client)
    }

    /// Adds a step, and installs the guard over whatever is there.
    pub(crate) fn guard(self, client: &str) -> Stage {
        self.file(STEP, &format!("{:#}\n", step()));
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "A step"]);
        self.seriatim(&["guard", "install", "--client", client, "--yes"]);
        self
    }

    /// The whole prompt for the step.
    pub(crate) fn prompt(&self) -> String {
        let file = format!("step_file_path={STEP}");
        let set =
            ["--set", &file, "--set", "agent_name=software-crafter", "--set", "agent_specialty=small steps"];
        let args = ["prompt", "render", "--template", "execute-step", "--values", STEP];
        self.seriatim(&[&args[..], &set[..]].concat()).stdout
    }

    /// The step file as it is now.
    pub(crate) fn step(&self) -> Value {
        serde_json::from_str(&self.read(STEP)).unwrap()
    }

    /// How each phase of the step stands.
    pub(crate) fn phases(&self) -> Vec<String> {
        let step = self.step();
        let phases = step["tdd_cycle"]["phase_execution_log"].as_array().unwrap();
        phases.iter().map(|phase| phase["status"].as_str().unwrap().to_owned()).collect()
    }

    /// What the audit trail beside the step says of this kind, in order.
    pub(crate) fn audited(&self, event: &str) -> Vec<Value> {
        let folder = self.project().join(STEP);
        let mut files: Vec<_> = std::fs::read_dir(folder.parent().unwrap())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|e| e == "log"))
            .collect();
        files.sort();
        let lines: String = files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
        let lines = lines.lines().map(|line| serde_json::from_str(line).unwrap());
        lines.filter(|line: &Value| line["event"] == event).collect()
    }
}

fn step() -> Value {
    let phase = |(i, name): (usize, &&str)| json!({"phase_name": name, "phase_index": i, "status": "NOT_EXECUTED", "outcome": null, "notes": null});
    json!({
        "task_id": "01-01",
        "project_id": "greeting",
        "self_contained_context": {"background": "A program that greets whoever calls it."},
        "task_specification": {
            "name": "Greet politely",
            "description": "The greeting names the person.",
            "acceptance_criteria": ["Ada is greeted by her name"],
            "allowed_file_patterns": ["src/**", "tests/**"],
        },
        "state": {"status": "TODO", "assigned_to": null, "started_at": null, "completed_at": null},
        "tdd_cycle": {"phase_execution_log": FOURTEEN.iter().enumerate().map(phase).collect::<Vec<_>>()},
    })
}

/// A prompt that says it is a command's, and lacks most of what such a prompt must have.
pub(crate) fn incomplete() -> String {
    format!(
        "<!-- DES-ORIGIN: command:/nw:execute -->\n<!-- DES-STEP-FILE: {STEP} -->\n\
         <!-- DES-VALIDATION: required -->\n<!-- DES-VERSION: 1.0 -->\n\n\
         # AGENT_IDENTITY\n\nYou are the software-crafter. Carry out step 01-01 of greeting.\n"
    )
}

/// The commands by which an agent records every phase of the step.
pub(crate) fn record_all() -> String {
    format!(
        "set -e; for phase in {}; do seriatim phase start 01-01 $phase; \
         seriatim phase done 01-01 $phase --outcome PASS --note seen; done",
        FOURTEEN.join(" ")
    )
}

/// Claude calls a sub-agent and waits for it.
pub(crate) fn foreground(prompt: &str) -> Line {
    let input = json!({
        "description": "A piece of work", "prompt": prompt, "subagent_type": "general-purpose",
        "run_in_background": false,
    });
    call("Agent", input)
}

/// Claude calls a sub-agent as it does by default.
pub(crate) fn background(prompt: &str) -> Line {
    let input =
        json!({"description": "A piece of work", "prompt": prompt, "subagent_type": "general-purpose"});
    call("Agent", input)
}

/// The id of the sub-agent that Claude called.
pub(crate) fn agent_id(result: &str) -> String {
    let (_, rest) = result.split_once("agentId: ").unwrap_or_else(|| panic!("no agent in {result}"));
    rest.split_whitespace().next().unwrap().to_owned()
}

/// Codex calls a sub-agent, which is always in the background.
pub(crate) fn spawn(prompt: &str) -> Line {
    call("multi_agent_v1.spawn_agent", json!({"message": prompt}))
}

/// Codex waits for the sub-agent that it called first.
pub(crate) fn wait(ask: &Ask) -> Reply {
    Reply::call("multi_agent_v1.wait_agent", json!({"targets": [spawned(ask)], "timeout_ms": 60_000}))
}

/// Codex gives more work to the sub-agent that it called first.
pub(crate) fn send_input(ask: &Ask, message: &str) -> Reply {
    Reply::call("multi_agent_v1.send_input", json!({"target": spawned(ask), "message": message}))
}

fn spawned(ask: &Ask) -> Value {
    let result = &ask.results[0];
    let result: Value = serde_json::from_str(result).unwrap_or_else(|e| panic!("no agent: {e}: {result}"));
    result["agent_id"].clone()
}
