//! Conditions of a process definition: their syntax, and what they speak of, before anything runs.

use seriatim_core::doc::At;
use seriatim_core::finding::Finding;
use seriatim_core::process::Definition;
use seriatim_core::process::definition::Step;
use seriatim_engine::condition;

/// What a condition can speak of.
const VARIABLES: [&str; 5] = ["inputs", "parameters", "outputs", "steps", "confidence"];

/// What is wrong with the conditions of a definition.
pub(crate) fn findings(definition: &Definition) -> Vec<Finding> {
    let steps = definition.steps.iter().chain(definition.control_flow.fix_steps.iter().map(|f| &f.step));
    let quality = definition.quality.entry_criteria.iter().chain(&definition.quality.exit_criteria);
    let criteria = quality.filter_map(|c| c.when.as_ref());
    steps.flat_map(of_step).chain(criteria).flat_map(check).collect()
}

fn of_step(step: &Step) -> Vec<&At<String>> {
    let triggers = step.triggers.iter().filter_map(|t| t.when.as_ref());
    let criteria = step.completion_criteria.iter().chain(&step.validation).filter_map(|c| c.when.as_ref());
    step.when.iter().chain(triggers).chain(criteria).collect()
}

fn check(when: &At<String>) -> Vec<Finding> {
    let named = match condition::check(&when.value) {
        Ok(named) => named,
        Err(error) => {
            let help = format!("character {} of the condition; it is written in CEL", error.column);
            return vec![Finding::error("condition", when.place, error.message).help(help)];
        }
    };
    let bound = bound_inside(&when.value);
    let unknown = named.iter().filter(|n| !VARIABLES.contains(&n.as_str()) && !bound.contains(n));
    unknown
        .map(|name| {
            let what = format!("the condition speaks of `{name}`, which it cannot know; it will never hold");
            Finding::warning("condition", when.place, what)
                .help(format!("it can use {}", VARIABLES.join(", ")))
        })
        .collect()
}

/// Names that the condition binds itself: `f` in `outputs.found.exists(f, f.severity == "high")`.
fn bound_inside(text: &str) -> Vec<String> {
    let calls = [".exists(", ".all(", ".filter(", ".map(", ".exists_one("];
    calls
        .iter()
        .flat_map(|call| text.match_indices(call).map(|(at, found)| at + found.len()))
        .filter_map(|from| text[from..].split(',').next())
        .map(|name| name.trim().to_owned())
        .collect()
}
