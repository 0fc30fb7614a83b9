//! What is to be done in a world: small processes, made from the seed.

use serde_json::Value;
use serde_json::json;

use seriatim_core::config::Kind as AgentKind;
use seriatim_engine::sim::Rng;
use seriatim_flows::process;
use seriatim_flows::rehearsal;

/// One run.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    pub(crate) name: String,
    pub(crate) flow: &'static str,
    pub(crate) title: String,
    /// The instance; empty for a flow that has none.
    pub(crate) subject: String,
    pub(crate) input: Value,
    /// Agents of its own.
    pub(crate) agents: Vec<(String, AgentKind)>,
    /// Files that have to be there before it starts, relative to the workspace.
    pub(crate) files: Vec<(String, String)>,
}

/// Where scripts lie: no work is about them.
pub(crate) const SCRIPTS: &str = ".git/scripts";

/// The names are what people see, so they have neither digits nor field names in them.
const STEPS: [(&str, &str); 6] = [
    ("Gather the facts", "Elicit"),
    ("Look at them closely", "Analyse"),
    ("Put them together", "Synthesise"),
    ("Try them out", "Validate"),
    ("Say what follows", "Decide"),
    ("Write it down", "Generate"),
];

/// A process with an instance of its own.
pub(crate) fn process(rng: &mut Rng, number: usize) -> Planned {
    let script = format!("{SCRIPTS}/{number}.yaml");
    let subject = format!(".dialogue/processes/PINST-20260101-00000{number}.yaml");
    let path = format!("processes/process-{number}.yaml");
    let title = format!("Work of the {} kind", ["first", "second", "third", "fourth", "fifth"][number % 5]);
    let start = process::Start {
        instance: subject.clone(),
        actor: "ai:player".to_owned(),
        ..process::Start::default()
    };
    Planned {
        name: format!("20260101-00000{number}-sim"),
        flow: "process",
        input: serde_json::to_value(start).unwrap(),
        agents: vec![(format!("reciter-{number}"), AgentKind::Scripted { script: script.clone() })],
        files: vec![
            (subject.clone(), instance(number, &title, &path)),
            (script, lines(rng, number)),
            (path, definition(rng, number)),
        ],
        title,
        subject,
    }
}

/// A process with two steps of which nothing goes wrong.
pub(crate) fn small_process(rng: &mut Rng) -> Planned {
    let mut planned = process(rng, 0);
    let steps = [step(rng, 0, 1, STEPS[0].0, STEPS[0].1), step(rng, 0, 2, STEPS[1].0, STEPS[1].1)];
    let path = planned.files[2].0.clone();
    planned.files[2] = (path, defined(0, &steps));
    planned
}

/// A run of commands that do nothing.
pub(crate) fn rehearsal(rng: &mut Rng, number: usize) -> Planned {
    let plan = rehearsal::Plan { steps: 1 + rng.below(4), ask: rng.chance(50) };
    Planned {
        name: format!("20260101-00000{number}-reh"),
        flow: "rehearsal",
        title: "A rehearsal".to_owned(),
        subject: String::new(),
        input: serde_json::to_value(plan).unwrap(),
        agents: vec![],
        files: vec![],
    }
}

fn instance(number: usize, title: &str, definition: &str) -> String {
    format!(
        "---\n# Comments and order stay as they are.\ninstance:\n  id: \"PINST-20260101-00000{number}\"\n  \
         created: \"2026-01-01T00:00:00Z\"\n  created_by: human:ada\n  plain_english_description: {title}\n  \
         definition_source:\n    type: WELL_KNOWN\n    definition_path: {definition}\n  context:\n    \
         trigger: asked for\n    inputs: {{}}\n    parameters: {{}}\n  status: PLANNED\n  \
         execution_log_id: null\n  run_count: 0\n  started: null\n  completed: null\n  outcome: null\n---\n"
    )
}

fn definition(rng: &mut Rng, number: usize) -> String {
    let count = 3 + rng.index(4);
    let from = rng.index(STEPS.len() - count + 1);
    let steps: Vec<Value> = STEPS[from..from + count]
        .iter()
        .zip(1..)
        .map(|((name, capability), at)| step(rng, number, at, name, capability))
        .collect();
    defined(number, &steps)
}

fn defined(number: usize, steps: &[Value]) -> String {
    let definition = json!({
        "definition": {
            "id": format!("PROC-{}.1", number + 1),
            "name": "A process of the simulation",
            "version": "1.0",
            "phase": 1,
            "information_composition": {"formal": 80, "tacit": 15, "emergent": 5},
        },
        "interfaces": {"inputs": [], "outputs": []},
        "steps": steps,
        "flow": "```mermaid\nflowchart LR\n  begin --> work --> done\n```\n",
    });
    seriatim_core::process::log::framed(&definition)
}

/// What the scripted agent says: for each step a few lines that are used up, and one that is not.
fn lines(rng: &mut Rng, number: usize) -> String {
    let mut lines = Vec::new();
    for at in 1..=STEPS.len() {
        let id = format!("{}.1.{at}", number + 1);
        let mishaps = [
            json!({"status": "failed", "error": {"class": "transient", "message": "not just now"}}),
            json!({"status": "partial", "summary": "half of it"}),
        ];
        for mishap in mishaps.into_iter().filter(|_| rng.chance(20)) {
            lines.push(json!({"step": id, "report": mishap}));
        }
        let path = format!("recited/{id}.txt");
        let done =
            json!({"status": "done", "summary": "It is as the script says.", "outputs": {"line": "once"}});
        lines.push(json!({"step": id, "report": done, "write": {path: "as the script says"}}));
        let again = json!({"status": "done", "summary": "The same once more."});
        lines.push(json!({"step": id, "report": again, "repeat": true}));
    }
    seriatim_core::doc::write(&Value::Array(lines))
}

/// New patterns of the dialect get their place here.
fn step(rng: &mut Rng, number: usize, at: u32, name: &str, capability: &str) -> Value {
    let reciter = format!("Reciter {number}");
    let (pattern, human, ai) = match rng.below(10) {
        0..3 => ("Human-Only", "Owner", "None"),
        3..5 => ("AI-Only", "None", reciter.as_str()),
        _ => ("AI-Only", "None", "Player"),
    };
    let mut step = json!({
        "id": format!("{}.1.{at}", number + 1),
        "name": name,
        "capability": capability,
        "pattern": pattern,
        "human_role": human,
        "ai_role": ai,
        "escalation_triggers": [],
    });
    if rng.chance(50) {
        step["completion_criteria"] = json!(["It can be looked at"]);
    }
    step
}
