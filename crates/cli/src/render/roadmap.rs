//! A run over a roadmap: for each phase what the agent said beside what the engine saw itself.

use std::collections::BTreeSet;

use serde_json::Map;
use serde_json::Value;
use serde_json::json;
use seriatim_core::projection::Fact;

use crate::render::table::cut;
use crate::render::table::table;
use crate::ui::Tone;
use crate::ui::Ui;
use crate::ui::tone;

/// How much of a claim and of a sight fits beside the other.
const COLUMN: usize = 46;
/// How many lines of a gate's output are shown where nobody asked for more.
const TAIL: usize = 4;

/// The facts of one name.
fn of<'f>(facts: &'f [Fact], name: &'f str) -> impl Iterator<Item = &'f Value> {
    facts.iter().map(|fact| &fact.data).filter(move |data| data["fact"] == name)
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

fn list<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    value[key].as_array().into_iter().flatten()
}

/// What machines read: everything, under names of its own.
pub(crate) fn fields(facts: &[Fact]) -> Map<String, Value> {
    let plain = |value: &Value| {
        let mut value = value.clone();
        value.as_object_mut().and_then(|map| map.shift_remove("fact"));
        value
    };
    let all = |name: &str| of(facts, name).map(plain).collect::<Vec<_>>();
    let mut evidence = vec![];
    for fact in of(facts, "phase_ended").chain(of(facts, "coverage_base")) {
        for seen in list(fact, "evidence") {
            let mut entry = json!({"step": fact["step"], "phase": fact["phase"], "attempt": fact["attempt"]});
            if let (Some(entry), Some(seen)) = (entry.as_object_mut(), seen.as_object()) {
                entry.extend(seen.clone());
            }
            evidence.push(entry);
        }
    }
    let commits = of(facts, "committed").map(|fact| {
        let mut commit = fact["commit"].clone();
        if let Some(commit) = commit.as_object_mut() {
            commit.insert("step".to_owned(), fact["step"].clone());
        }
        commit
    });
    let queue = of(facts, "queue").last().map(|fact| fact["execution_queue"].clone()).unwrap_or_default();
    let finalized = of(facts, "finalized").last().map(|fact| fact["closing"].clone()).unwrap_or_default();
    let parts = [
        ("phases", json!(all("phase_ended"))),
        ("evidence", json!(evidence)),
        ("commits", json!(commits.collect::<Vec<_>>())),
        ("context", json!(all("context"))),
        ("queue", queue),
        ("coverage", json!(all("coverage_base"))),
        ("conflicts", json!(all("conflict"))),
        ("finalized", finalized),
    ];
    parts.map(|(key, value)| (key.to_owned(), value)).into_iter().collect()
}

/// The same for people, step by step.
pub(crate) fn tell(ui: &Ui, facts: &[Fact]) {
    let mut told = BTreeSet::new();
    let steps = facts.iter().filter_map(|fact| fact.data["step"].as_str()).filter(|step| told.insert(*step));
    for step in steps.collect::<Vec<_>>() {
        ui.say(format!("\n{}", tone(Tone::Strong, format!("Step {step}"))));
        let mine: Vec<Fact> = facts.iter().filter(|fact| fact.data["step"] == step).cloned().collect();
        tell_step(ui, &mine);
    }
    for closing in of(facts, "finalized") {
        ui.say(format!("\n{}\n  {}", tone(Tone::Strong, "Closing pass"), text(&closing["closing"], "words")));
    }
}

fn tell_step(ui: &Ui, facts: &[Fact]) {
    for context in of(facts, "context") {
        ui.say(format!("  {} {}", tone(Tone::Faint, "context:"), text(context, "words")));
        list(context, "unresolved_critiques")
            .filter_map(Value::as_str)
            .for_each(|critique| ui.say(format!("  {} {critique}", tone(Tone::Attention, "unresolved:"))));
    }
    for base in of(facts, "coverage_base") {
        let value = base["value"].as_str().unwrap_or("not measured");
        ui.say(format!("  {} {value}", tone(Tone::Faint, "coverage before:")));
    }
    let rows: Vec<Vec<String>> = of(facts, "phase_ended").map(phase_row).collect();
    if !rows.is_empty() {
        let heading = ["phase", "try", "outcome", "the agent said", "the engine saw"];
        let shown = table(&heading, &rows);
        shown.lines().for_each(|line| ui.say(format!("  {line}")));
    }
    of(facts, "phase_ended").for_each(|phase| tell_evidence(ui, phase));
    for conflict in of(facts, "conflict") {
        let files: Vec<&str> = list(conflict, "files").filter_map(Value::as_str).collect();
        ui.say(format!("  {} {}", tone(Tone::Bad, "in conflict:"), files.join(", ")));
    }
    for commit in of(facts, "committed").map(|fact| &fact["commit"]) {
        let id = text(commit, "commit");
        let files = list(commit, "files").count();
        let word = if files == 1 { "file" } else { "files" };
        let (label, id) = (tone(Tone::Good, "committed:"), id.get(..10).unwrap_or(id));
        ui.say(format!(
            "  {label} {}  {}",
            text(commit, "subject"),
            tone(Tone::Faint, format!("{id}, {files} {word}"))
        ));
    }
}

fn phase_row(phase: &Value) -> Vec<String> {
    let claim = &phase["claim"];
    let said = match (text(claim, "status"), text(claim, "summary")) {
        ("", _) => "-".to_owned(),
        (status, "") => status.to_owned(),
        (status, summary) => format!("{status}: {summary}"),
    };
    let seen: Vec<String> = list(phase, "evidence")
        .map(|seen| format!("{}: {}", text(seen, "gate"), text(seen, "words")))
        .collect();
    let seen = match (seen.is_empty(), text(phase, "words")) {
        (false, _) => seen.join("; "),
        (true, "") => "-".to_owned(),
        (true, words) => words.to_owned(),
    };
    vec![
        text(phase, "phase").to_owned(),
        phase["attempt"].as_u64().map_or_else(|| "-".to_owned(), |attempt| attempt.to_string()),
        text(phase, "outcome").to_owned(),
        cut(&said, COLUMN),
        cut(&seen, COLUMN),
    ]
}

/// What was held against a phase, and the output of its gates: a few lines of those that did not show what they should,
/// and everything that was kept where more was asked for.
fn tell_evidence(ui: &Ui, phase: &Value) {
    let refused = text(phase, "outcome") == "FAIL";
    if !refused && !ui.verbose {
        return;
    }
    let attempt = phase["attempt"].as_u64().unwrap_or(1);
    ui.say(format!("\n  {}", tone(Tone::Strong, format!("{}, try {attempt}", text(phase, "phase")))));
    for objection in list(phase, "objections") {
        let rule = tone(Tone::Bad, format!("refused ({}):", text(objection, "rule")));
        ui.say(format!("    {rule} {}", text(objection, "message")));
    }
    list(phase, "notes").filter_map(Value::as_str).for_each(|note| ui.say(format!("    note: {note}")));
    for seen in list(phase, "evidence") {
        let exit =
            seen["exit"].as_i64().map_or_else(|| "no exit code".to_owned(), |code| format!("exit {code}"));
        ui.say(format!("    $ {}  {}", text(seen, "command"), tone(Tone::Faint, exit)));
        let lines: Vec<&str> = text(seen, "output").trim_end().lines().collect();
        let from = if ui.verbose { 0 } else { lines.len().saturating_sub(TAIL) };
        if from > 0 {
            ui.say(format!(
                "      {}",
                tone(Tone::Faint, format!("... {from} lines before (-v shows them)"))
            ));
        }
        lines.iter().skip(from).for_each(|line| ui.say(format!("      {line}")));
    }
}

/// A fact as a sentence.
pub(crate) fn words(fact: &Value) -> Option<String> {
    let step = text(fact, "step");
    let files = || list(fact, "files").filter_map(Value::as_str).collect::<Vec<_>>().join(", ");
    Some(match fact["fact"].as_str()? {
        "context" => format!("Step {step} is looked at. {}", tone(Tone::Faint, text(fact, "words"))),
        "queue" => {
            let ids: Vec<&str> =
                list(fact, "execution_queue").map(|queued| text(queued, "step_id")).collect();
            format!("In the queue: {}", ids.join(", "))
        }
        "coverage_base" => {
            format!("Coverage before step {step}: {}", fact["value"].as_str().unwrap_or("not measured"))
        }
        "phase_ended" => phase_words(fact, step),
        "committed" => {
            let id = text(&fact["commit"], "commit");
            let id = id.get(..10).unwrap_or(id);
            format!("Committed: {} {}", text(&fact["commit"], "subject"), tone(Tone::Faint, id))
        }
        "conflict" => format!("Step {step} is in conflict with work that came home before: {}", files()),
        "overlap_approved" => {
            format!("{} said that step {step} may take changes in {} along", text(fact, "by"), files())
        }
        "finalized" => format!("The closing pass: {}", text(&fact["closing"], "words")),
        _ => return None,
    })
}

fn phase_words(fact: &Value, step: &str) -> String {
    let phase = text(fact, "phase");
    match text(fact, "outcome") {
        "FAIL" => {
            let why: Vec<&str> =
                list(fact, "objections").map(|objection| text(objection, "message")).collect();
            format!("Step {step}, {phase}: refused. {}", why.join(" "))
        }
        "SKIPPED" => format!("Step {step}, {phase}: skipped {}", tone(Tone::Faint, text(fact, "words"))),
        _ => format!("Step {step}, {phase}: passed {}", tone(Tone::Faint, text(fact, "words"))),
    }
}
