//! Prompts from their markers to the verdict, and what the tests share.

mod notations;
mod origins;
mod rendering;
mod templates;
mod verdicts;

use serde_json::Value;
use serde_json::json;

use super::Library;
use super::PhaseList;
use super::Sender;
use super::Standard;
use super::Validation;
use super::Values;
use super::render;
use super::validate;

/// The list of fourteen phases.
fn fourteen() -> PhaseList {
    PhaseList::of_version("v1").unwrap()
}

/// Everything that a step prompt needs.
fn values() -> Values {
    let Value::Object(fields) = json!({
        "agent_name": "software-crafter",
        "agent_specialty": "test-driven development",
        "task_id": "01-02",
        "project_id": "bakery",
        "step_file_path": "docs/feature/bakery/steps/01-02.json",
        "self_contained_context": {"background": "Bread is baked at night.", "technical_context": "Rust."},
        "task_specification": {
            "name": "Knead",
            "description": "Knead the dough.",
            "motivation": "Bread needs dough.",
            "acceptance_criteria": ["The dough is smooth", "It rests for an hour"],
            "allowed_file_patterns": ["src/dough/**", "tests/dough.rs"],
        },
    }) else {
        panic!("not an object");
    };
    fields.into_iter().collect()
}

fn rendered(template: &str, phases: &PhaseList) -> String {
    render(Library::standard(), template, &values(), phases).unwrap()
}

/// A complete step prompt with the fourteen phases.
fn step_prompt() -> String {
    rendered("execute-step", &fourteen())
}

fn judged(prompt: &str, phases: &PhaseList) -> Validation {
    validate(prompt, Sender::Foreign, &Standard { library: Library::standard(), phases })
}

/// The messages of all errors of a prompt with the fourteen phases.
fn errors(prompt: &str) -> Vec<String> {
    judged(prompt, &fourteen()).errors.into_iter().map(|error| error.message).collect()
}

/// The prompt without the lines from this title up to the next rule.
fn without_section(prompt: &str, title: &str) -> String {
    let heading = format!("# {title}\n");
    let start = prompt.find(&heading).unwrap_or_else(|| panic!("no {title}"));
    let end = prompt[start..].find("\n---\n").map_or(prompt.len(), |at| start + at + 5);
    format!("{}{}", &prompt[..start], &prompt[end..])
}
