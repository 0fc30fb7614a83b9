//! The Planner's answer: an atomic step, questions, or a request for context, and what is wrong with it.

mod cite;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;
use serde::Serialize;
use serde_json::Map;
use serde_json::Value;

use super::Limits;
use super::limits::counted;

pub use cite::Cite;
pub use cite::cites;

/// How much can go wrong with a step (CY-35).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Risk {
    Low,
    Medium,
    High,
}

impl Risk {
    pub const ALL: [Risk; 3] = [Risk::Low, Risk::Medium, Risk::High];

    /// The word as documents carry it.
    pub fn word(self) -> &'static str {
        match self {
            Risk::Low => "low",
            Risk::Medium => "medium",
            Risk::High => "high",
        }
    }

    pub fn of(word: &str) -> Option<Risk> {
        Risk::ALL.into_iter().find(|risk| risk.word().eq_ignore_ascii_case(word.trim()))
    }
}

impl fmt::Display for Risk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What the Planner came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Planned {
    Step(PlanStep),
    /// For the person, because the goal is not clear yet.
    Questions(Vec<String>),
    /// What the Planner would have to know instead of guessing (CY-22).
    ContextRequest(String),
}

/// One atomic step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanStep {
    pub title: String,
    pub instructions: String,
    /// Files that are changed.
    pub files: Vec<String>,
    /// Files that are made.
    pub creates: Vec<String>,
    /// How many lines the Planner expects to change.
    pub loc: u32,
    pub risk: Risk,
    pub success_criteria: Vec<String>,
    /// Commands that the Actor is to run.
    pub commands: Vec<String>,
}

/// Reads the Planner's outputs. All problems are said at once, as sentences that the Planner can act on.
pub fn read(outputs: &Map<String, Value>) -> Result<Planned, Vec<String>> {
    let mut problems = vec![];
    let has = |name: &str| outputs.get(name).is_some_and(|value| !is_nothing(value));
    if has("step") && (has("questions") || has("need")) {
        problems.push("The report has a step and asks for something as well: give one of them.".to_owned());
    }
    let planned = match kind(outputs) {
        Some("step") => match outputs.get("step") {
            Some(Value::Object(fields)) => Some(Planned::Step(step(fields, &mut problems))),
            _ => {
                problems.push("`step` must be an object that describes the step.".to_owned());
                None
            }
        },
        Some("questions") => {
            let questions = texts(outputs, "questions", "", &mut problems);
            if questions.is_empty() && problems.is_empty() {
                problems.push("`questions` must hold at least one question.".to_owned());
            }
            Some(Planned::Questions(questions))
        }
        Some("context_request") => {
            Some(Planned::ContextRequest(required(outputs, "need", "", "what is needed", &mut problems)))
        }
        _ => {
            problems.push("`kind` must be `step`, `questions` or `context_request`.".to_owned());
            None
        }
    };
    planned.filter(|_| problems.is_empty()).ok_or(problems)
}

/// Reads a plan that a person wrote in words: a title, instructions, and lines that begin with a known word.
pub fn read_words(text: &str) -> Result<Planned, Vec<String>> {
    let mut fields = Map::new();
    let mut rest: Vec<&str> = vec![];
    for line in text.lines() {
        let (word, value) =
            line.split_once(':').map_or(("", line), |(word, value)| (word.trim(), value.trim()));
        let list = || value.split([',', ';']).map(|item| Value::from(item.trim())).collect::<Vec<_>>();
        let (name, items) = match word.to_lowercase().as_str() {
            "files" => ("files", list()),
            "creates" | "new files" => ("creates", list()),
            "commands" => ("commands", vec![value.into()]),
            "done when" | "success criteria" | "criteria" => ("success_criteria", vec![value.into()]),
            "lines" | "loc" => {
                fields.insert("loc".to_owned(), value.into());
                continue;
            }
            "risk" => {
                fields.insert("risk".to_owned(), value.into());
                continue;
            }
            _ => {
                rest.push(line);
                continue;
            }
        };
        let known = fields.entry(name).or_insert_with(|| Value::Array(vec![]));
        if let Value::Array(known) = known {
            known.extend(items);
        }
    }
    let whole = rest.join("\n");
    let (title, instructions) = whole.trim().split_once('\n').unwrap_or((whole.trim(), whole.trim()));
    fields.insert("title".to_owned(), title.trim().into());
    fields.insert("instructions".to_owned(), instructions.trim().into());
    let mut problems = vec![];
    let step = step(&fields, &mut problems);
    if problems.is_empty() { Ok(Planned::Step(step)) } else { Err(problems) }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

/// The kind as it is said, or as the only field that fits shows it.
fn kind(outputs: &Map<String, Value>) -> Option<&str> {
    if let Some(said) = outputs.get("kind") {
        return said.as_str().map(str::trim);
    }
    let shown = [("step", "step"), ("questions", "questions"), ("need", "context_request")];
    let mut found = shown.iter().filter(|(field, _)| outputs.contains_key(*field));
    match (found.next(), found.next()) {
        (Some((_, kind)), None) => Some(kind),
        _ => None,
    }
}

fn step(fields: &Map<String, Value>, problems: &mut Vec<String>) -> PlanStep {
    PlanStep {
        title: required(fields, "title", "step.", "a title of the step", problems),
        instructions: required(fields, "instructions", "step.", "instructions for the Actor", problems),
        files: texts(fields, "files", "step.", problems),
        creates: texts(fields, "creates", "step.", problems),
        loc: loc(fields, problems),
        risk: risk(fields, problems),
        success_criteria: texts(fields, "success_criteria", "step.", problems),
        commands: texts(fields, "commands", "step.", problems),
    }
}

fn required(
    fields: &Map<String, Value>,
    name: &str,
    within: &str,
    what: &str,
    problems: &mut Vec<String>,
) -> String {
    let text = fields.get(name).and_then(Value::as_str).map(str::trim).unwrap_or_default();
    if text.is_empty() {
        problems.push(format!("`{within}{name}` must be a text: {what}."));
    }
    text.to_owned()
}

/// A list of texts; absent is empty, and a single text is a list of one.
fn texts(fields: &Map<String, Value>, name: &str, within: &str, problems: &mut Vec<String>) -> Vec<String> {
    let items = match fields.get(name) {
        None | Some(Value::Null) => return vec![],
        Some(Value::Array(items)) => items.as_slice(),
        Some(one) => std::slice::from_ref(one),
    };
    let read: Vec<&str> = items.iter().filter_map(Value::as_str).map(str::trim).collect();
    if read.len() != items.len() {
        problems.push(format!("`{within}{name}` must be a list of texts."));
    }
    read.into_iter().filter(|text| !text.is_empty()).map(str::to_owned).collect()
}

fn loc(fields: &Map<String, Value>, problems: &mut Vec<String>) -> u32 {
    let said = fields.get("loc");
    let number = said
        .and_then(Value::as_u64)
        .or_else(|| said?.as_str()?.trim().parse().ok())
        .and_then(|n| u32::try_from(n).ok());
    number.unwrap_or_else(|| {
        problems.push("`step.loc` must be the number of lines that the step will change.".to_owned());
        0
    })
}

fn risk(fields: &Map<String, Value>, problems: &mut Vec<String>) -> Risk {
    fields.get("risk").and_then(Value::as_str).and_then(Risk::of).unwrap_or_else(|| {
        problems.push("`step.risk` must say how risky the step is: `low`, `medium` or `high`.".to_owned());
        Risk::High
    })
}

impl PlanStep {
    /// Every text of the step in which something could be cited.
    fn prose(&self) -> impl Iterator<Item = &str> {
        [&self.title, &self.instructions].into_iter().chain(&self.success_criteria).map(String::as_str)
    }

    /// All files that the step changes or creates, each once.
    pub fn targets(&self) -> BTreeSet<String> {
        self.files.iter().chain(&self.creates).map(|path| tidy(path).to_owned()).collect()
    }

    /// Every path that [`faults`] asks about.
    pub fn paths(&self) -> BTreeSet<String> {
        let cited = self.prose().flat_map(cites).map(|cite| cite.path);
        self.targets().into_iter().chain(cited).filter(|path| is_inside(path)).collect()
    }
}

/// What is wrong with a step, as sentences for the Planner. `files` says for each path of [`PlanStep::paths`] how
/// many lines it has, or that it does not exist.
pub fn faults(step: &PlanStep, limits: &Limits, files: &BTreeMap<String, Option<u64>>) -> Vec<String> {
    let mut faults = vec![];
    let targets = step.targets();
    if limits.exceeded(u64::from(step.loc), targets.len() as u64) {
        faults.push(format!(
            "The step is too large: {} in {} are planned, and a step may have {}. Split it and give the first part.",
            counted(u64::from(step.loc), "line"),
            counted(targets.len() as u64, "file"),
            limits.in_words()
        ));
    }
    let described = step.instructions.lines().count() as u64;
    if let Some(most) = limits.plan_loc.filter(|most| described > u64::from(*most)) {
        faults.push(format!("The instructions have {described} lines, and a plan may have {most}."));
    }
    if step.success_criteria.is_empty() {
        faults.push("The step has no success criteria: say what the Judge should look at.".to_owned());
    }
    for path in targets.iter().filter(|path| !is_inside(path)) {
        faults.push(format!("`{path}` is outside of the project: name paths below its folder."));
    }
    let planned: BTreeSet<&str> = step.creates.iter().map(|path| tidy(path)).collect();
    let exists = |path: &str| files.get(path).copied().flatten();
    for path in step.files.iter().map(|path| tidy(path)).collect::<BTreeSet<_>>() {
        if is_inside(path) && exists(path).is_none() && !planned.contains(path) {
            faults.push(format!("`{path}` does not exist: if the step makes it, name it in `creates`."));
        }
    }
    faults.extend(cite_faults(step, &targets, files));
    faults
}

/// Citations of files or lines that are not there (CY-20, CY-21, E-40).
fn cite_faults(
    step: &PlanStep,
    targets: &BTreeSet<String>,
    files: &BTreeMap<String, Option<u64>>,
) -> Vec<String> {
    let mut faults = vec![];
    for Cite { path, line } in step.prose().flat_map(cites).collect::<BTreeSet<_>>() {
        let lines = files.get(&path).copied().flatten();
        match (lines, line) {
            // What the step names as its own was judged with the targets.
            (None, _) if targets.contains(&path) => {}
            (_, _) if !is_inside(&path) => {
                faults.push(format!("`{path}` is cited and is outside of the project."));
            }
            (None, _) => faults.push(format!(
                "`{path}` is cited and does not exist: cite what is there, or name it in `creates`."
            )),
            (Some(lines), Some(line)) if line == 0 || u64::from(line) > lines => {
                let length = counted(lines, "line");
                faults.push(format!("`{path}:{line}` is cited, but the file has {length}."));
            }
            (Some(_), _) => {}
        }
    }
    faults
}

/// A path without the ways of writing that mean nothing.
fn tidy(path: &str) -> &str {
    let mut path = path.trim().trim_matches('`');
    while let Some(rest) = path.strip_prefix("./") {
        path = rest;
    }
    path
}

/// Whether a path stays below the project's folder. Where links lead is for the engine to find out.
fn is_inside(path: &str) -> bool {
    let drive = path.as_bytes().get(1) == Some(&b':');
    !path.is_empty()
        && !path.starts_with(['/', '~', '\\'])
        && !drive
        && path.split(['/', '\\']).all(|part| part != "..")
}
