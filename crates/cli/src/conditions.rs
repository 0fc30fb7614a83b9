//! Conditions of a document: their syntax, and what they speak of, before anything runs.

use seriatim_core::doc::At;
use seriatim_core::documents::Conditions;
use seriatim_core::finding::Finding;
use seriatim_engine::condition;

/// Returns what is wrong with the conditions of a document.
pub(crate) fn findings(conditions: &Conditions) -> Vec<Finding> {
    conditions.texts.iter().flat_map(|when| check(when, conditions.variables)).collect()
}

fn check(when: &At<String>, variables: &[&str]) -> Vec<Finding> {
    let named = match condition::check(&when.value) {
        Ok(named) => named,
        Err(error) => {
            let help = format!("character {} of the condition; it is written in CEL", error.column);
            return vec![Finding::error("condition", when.place, error.message).help(help)];
        }
    };
    let bound = bound_inside(&when.value);
    let unknown = named.iter().filter(|n| !variables.contains(&n.as_str()) && !bound.contains(n));
    unknown
        .map(|name| {
            let what = format!("the condition speaks of `{name}`, which it cannot know; it will never hold");
            Finding::warning("condition", when.place, what)
                .help(format!("it can use {}", variables.join(", ")))
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
