//! Cycles from the seed: a Planner, an Actor and a Judge that go wrong now and then, and one check.

use serde_json::Value;
use serde_json::json;

use seriatim_core::config::Kind as AgentKind;
use seriatim_engine::sim::REFUSED;
use seriatim_engine::sim::Rng;
use seriatim_flows::cycle;

use crate::plan::Planned;
use crate::plan::SCRIPTS;

/// Eight words and something to check.
pub(crate) const GOAL: &str = "Make greet.sh say good morning so that the tests pass";

/// A cycle in which `mishaps` of a hundred things go wrong.
pub(crate) fn cycle(rng: &mut Rng, number: usize, mishaps: u64) -> Planned {
    let script = format!("{SCRIPTS}/cycle-{number}.yaml");
    let gate = cycle::Gate {
        command: ["check", "greet.sh", "good morning"].map(str::to_owned).to_vec(),
        ..cycle::Gate::default()
    };
    let start = cycle::Start {
        project: "greeting".to_owned(),
        goal: (!rng.chance(mishaps)).then(|| GOAL.to_owned()),
        gates: [("tests".to_owned(), gate)].into(),
        ..cycle::Start::default()
    };
    let agents = ["planner", "actor", "judge"].map(|role| (role.to_owned(), agent(rng, &script)));
    let mut files = vec![
        ("greet.sh".to_owned(), "echo hello\n".to_owned()),
        (script, lines(rng, mishaps)),
        (".gitignore".to_owned(), "build/\n".to_owned()),
    ];
    if rng.chance(mishaps) {
        files.push((cycle::DOCUMENT.to_owned(), "# Cycle 001: left over\n\nSomething.\n".to_owned()));
    }
    Planned {
        name: format!("20260101-00000{number}-cyc"),
        flow: "cycle",
        title: "A cycle".to_owned(),
        subject: String::new(),
        input: serde_json::to_value(start).unwrap(),
        agents: agents.to_vec(),
        files,
    }
}

/// Who plays from a script: a program, or the engine itself.
pub(crate) fn agent(rng: &mut Rng, script: &str) -> AgentKind {
    if rng.chance(60) {
        AgentKind::Command { argv: vec!["reciter".to_owned(), format!("{}/{script}", crate::world::ROOT)] }
    } else {
        AgentKind::Scripted { script: script.to_owned() }
    }
}

/// A report that all is well.
pub(crate) fn done(summary: &str, outputs: Value) -> Value {
    json!({"status": "done", "summary": summary, "outputs": outputs})
}

/// Failures that any agent may have.
pub(crate) fn failures() -> [Value; 4] {
    [
        json!({"report": {"status": "failed", "error": {"class": "transient", "message": "not just now"}}}),
        json!({"report": {"status": "partial", "summary": "half of it", "outputs": {}}}),
        json!({"report": "{\"status\": "}),
        json!({"exit": 3}),
    ]
}

/// A line for a step, as one of those that may come before the good one.
pub(crate) fn some_of(
    rng: &mut Rng,
    mishaps: u64,
    step: &str,
    lines: impl IntoIterator<Item = Value>,
) -> Vec<Value> {
    let chosen = lines.into_iter().filter(|_| rng.chance(mishaps)).take(3);
    let mut said: Vec<Value> = chosen.collect();
    for line in &mut said {
        line["step"] = json!(step);
        if line["report"].is_null() {
            // A script of the engine's own needs a report in every line.
            line["report"] = json!({"status": "failed", "error": {"class": "crash", "message": "gone"}});
        }
    }
    said
}

fn lines(rng: &mut Rng, mishaps: u64) -> String {
    let step = |risk: &str, commands: &[&str], criteria: &[&str]| {
        json!({"report": done("a plan", json!({"kind": "step", "step": {
            "title": "Greet politely", "instructions": "Change greet.sh.", "files": ["greet.sh"], "creates": [],
            "loc": 2, "risk": risk, "success_criteria": criteria, "commands": commands,
        }}))})
    };
    let good = ["greet.sh says good morning"];
    let mut lines = Vec::new();
    let asks = |kind: &str, key: &str, value: Value| json!({"report": done("a question", json!({"kind": kind, key: value}))});
    let planner = failures().into_iter().chain([
        asks("questions", "questions", json!(["Which greeting?"])),
        asks("context_request", "need", json!("the style of greetings")),
        step("low", &[], &[]),
        step("high", &[], &good),
        step("medium", &["git push --force"], &good),
    ]);
    lines.extend(some_of(rng, mishaps, "planner", planner));
    lines.push(with(step("low", &[], &good), "planner"));
    let success = || done("as asked", json!({"result": "SUCCESS"}));
    let blocked = |class: &str| {
        let blocker = json!({"class": class, "explanation": "It does not fit."});
        json!({"report": done("stuck", json!({"result": "FAIL", "blocker": blocker}))})
    };
    let long: String = (0..400).map(|line| format!("echo line {line}\n")).collect();
    let actor = failures().into_iter().chain([
        json!({"report": success()}),
        json!({"report": success(), "write": {"greet.sh": "echo good evening\n"}}),
        json!({"report": success(), "write": {"greet.sh": long}}),
        json!({"report": success(), "write": {cycle::DOCUMENT: "nothing was ever here\n"}}),
        json!({"report": success(), "write": {"greet.sh": format!("echo good morning # {REFUSED}\n")}}),
        blocked("adjustable"),
        blocked("approval"),
        json!({"report": success(), "write": {"build/log": "ignored\n", "extra.txt": "more\n"}}),
    ]);
    lines.extend(some_of(rng, mishaps, "actor", actor));
    lines.push(with(json!({"report": success(), "write": {"greet.sh": "echo good morning\n"}}), "actor"));
    let judge = failures().into_iter().chain([
        json!({"report": done("no", json!({"result": "INSUFFICIENT", "diagnostics": "It could be nicer."}))}),
        json!({"report": done("hm", json!({"kind": "context_request", "need": "what nice means"}))}),
    ]);
    lines.extend(some_of(rng, mishaps, "judge", judge));
    lines.push(with(json!({"report": done("yes", json!({"result": "PASS"}))}), "judge"));
    seriatim_core::doc::write(&Value::Array(lines))
}

/// The line that holds from then on.
pub(crate) fn with(mut line: Value, step: &str) -> Value {
    line["step"] = json!(step);
    line["repeat"] = json!(true);
    line
}
