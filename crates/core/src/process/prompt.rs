//! The brief of a step as text: everything an agent needs, and nothing it has to remember.

use std::fmt::Write;

use serde_json::Map;
use serde_json::Value;

use super::definition::Step;
use super::principles::Principle;

/// What a step's brief is made of.
pub struct Material<'a> {
    /// The plain name of the whole work.
    pub work: &'a str,
    pub step: &'a Step,
    pub role: &'a str,
    pub inputs: &'a Map<String, Value>,
    pub parameters: &'a Map<String, Value>,
    /// Id, name and outputs of the steps before.
    pub results: &'a [(String, String, Map<String, Value>)],
    /// Id, name, and what a person said.
    pub answers: &'a [(String, String, Map<String, Value>)],
    pub principles: &'a [Principle],
    /// QUICK or FULL.
    pub mode: &'a str,
    /// Conditions to watch for.
    pub triggers: &'a [String],
    pub guidance: &'a [String],
    pub feedback: &'a [String],
    /// Outputs that the whole work owes, with their descriptions.
    pub owed: &'a [(String, String)],
    /// What the step judges, where it owes a verdict.
    pub verdict: Judges,
    /// A dry run.
    pub rehearsal: bool,
}

/// Whether a step owes a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judges {
    No,
    /// It may approve or refuse.
    Perhaps,
    /// It owes the word.
    Owes,
}

/// Renders the prompt.
pub fn render(material: &Material<'_>) -> String {
    let mut text = String::new();
    let step = material.step;
    let _ = writeln!(text, "# {}\n", step.name.value);
    if let Some(description) = &step.description {
        let _ = writeln!(text, "{}\n", description.value.trim());
    }
    let _ = writeln!(text, "The work as a whole: {}", material.work);
    let _ = writeln!(text, "Your part: {}", material.role);
    list(&mut text, "What must be true at the end", step.completion_criteria.iter().map(|c| c.text.as_str()));
    list(&mut text, "How it is checked", step.validation.iter().map(|c| c.text.as_str()));
    let conditions = material.triggers.iter().map(String::as_str);
    list(&mut text, "Say so if one of these holds, word for word", conditions);
    emphasis(&mut text, material);
    fields(&mut text, "Inputs", material.inputs);
    fields(&mut text, "Parameters", material.parameters);
    sections(&mut text, "Results so far", material.results);
    sections(&mut text, "Answers so far", material.answers);
    list(&mut text, "What people said about this step", material.guidance.iter().map(String::as_str));
    list(&mut text, "What was wrong with the last attempt", material.feedback.iter().map(String::as_str));
    owed(&mut text, material.owed);
    text.push_str(match material.verdict {
        Judges::No => "",
        Judges::Perhaps => {
            "\n## Your verdict\nIf this decision approves or refuses something, say so in the report: \"verdict\": \
             \"APPROVED\" | \"REJECTED\" | \"CHANGES_REQUESTED\", with the reason in \"summary\".\n"
        }
        Judges::Owes => {
            "\n## Your verdict\nThis step judges. Say in the report whether it passes: \"verdict\": \"PASS\" | \
             \"FAIL\" | \"PARTIAL\", with the reason in \"summary\". Outputs that say the opposite make it a \
             FAIL.\n"
        }
    });
    text.push_str(
        "\n## How to report\n\
         Write one JSON object to the file that SERIATIM_REPORT names: {\"status\": \"done\" | \"partial\" | \
         \"failed\", \"summary\": \"plain words\", \"outputs\": {}, \"confidence\": 0-100, \"criteria\": \
         [{\"criterion\": \"...\", \"met\": true, \"confidence\": 90, \"reason\": \"...\"}], \"triggers\": []}\n",
    );
    text
}

/// Outputs that the work owes: a step gives those that it produces.
fn owed(text: &mut String, outputs: &[(String, String)]) {
    if outputs.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "\n## What has to come of the whole work\nGive what this step produces under its name in \"outputs\"; where \
         there is none, say \"none\" and why."
    );
    for (name, description) in outputs {
        let about = if description.is_empty() { String::new() } else { format!(": {description}") };
        let _ = writeln!(text, "- {name}{about}");
    }
}

/// What bends the step: focus, rigour, mode, principles (PX-17, PX-18, PX-29, PX-30).
fn emphasis(text: &mut String, material: &Material<'_>) {
    if let Some(Value::Array(areas)) = material.parameters.get("focus_areas") {
        let words = areas.iter().map(|a| a.as_str().map_or_else(|| a.to_string(), str::to_owned));
        let _ = writeln!(text, "\n## Look at these first\n{}", words.collect::<Vec<_>>().join(", "));
    }
    if material.parameters.get("strict_mode") == Some(&Value::Bool(true)) {
        let _ = writeln!(
            text,
            "\n## Be strict\nEvery criterion needs its own answer, and a doubt counts against it."
        );
    }
    if !material.principles.is_empty() {
        let _ = writeln!(text, "\n## Principles\nMode: {}", material.mode);
        for principle in material.principles {
            let _ = writeln!(
                text,
                "- {} {}: {}",
                principle.id,
                principle.title,
                principle.body.replace('\n', " ")
            );
        }
    }
    if material.rehearsal {
        let _ = writeln!(
            text,
            "\n## This is a rehearsal\nYou work in a copy. Call no service outside this machine."
        );
    }
}

fn list<'a>(text: &mut String, title: &str, items: impl Iterator<Item = &'a str>) {
    let mut items = items.peekable();
    if items.peek().is_some() {
        let _ = writeln!(text, "\n## {title}");
        for item in items {
            let _ = writeln!(text, "- {item}");
        }
    }
}

fn fields(text: &mut String, title: &str, map: &Map<String, Value>) {
    if !map.is_empty() {
        let _ = writeln!(text, "\n## {title}");
        lines(text, map);
    }
}

fn sections(text: &mut String, title: &str, parts: &[(String, String, Map<String, Value>)]) {
    if !parts.is_empty() {
        let _ = writeln!(text, "\n## {title}");
        for (id, name, map) in parts {
            let _ = writeln!(text, "### {id} {name}");
            lines(text, map);
        }
    }
}

/// `- key: value`; what has several lines is indented below its key.
fn lines(text: &mut String, map: &Map<String, Value>) {
    for (key, value) in map {
        let value = match value {
            Value::String(s) => s.clone(),
            other => other.to_string(),
        };
        if value.contains('\n') {
            let _ = writeln!(text, "- {key}: |");
            for line in value.trim_end().lines() {
                let _ = writeln!(text, "    {line}");
            }
        } else {
            let _ = writeln!(text, "- {key}: {value}");
        }
    }
}
