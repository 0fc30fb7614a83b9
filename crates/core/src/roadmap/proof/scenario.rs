//! G1: exactly one scenario is enabled when the work on it begins (DW-59, DS-92).

use std::collections::BTreeSet;

use super::Objection;
use super::Rule;
use crate::evidence::scenarios;
use crate::evidence::scenarios::Scenario;

/// So many scenarios are named; the rest is a number.
const NAMED_MAX: usize = 5;

/// Whether exactly one scenario of an acceptance test file is enabled: the only one there is enabled, or exactly one is
/// enabled that was not at the step's base. Where `wanted` names one that exists, it must be that one. A note where the
/// language of the file cannot be read, so that nothing is known.
pub fn one_scenario(
    path: &str,
    base: Option<&str>,
    now: &str,
    wanted: Option<&str>,
) -> Result<Option<String>, Objection> {
    if !scenarios::is_readable(path) {
        return Ok(Some(format!(
            "which scenarios of {path} are enabled is not known: its language is not read"
        )));
    }
    let refusal = |message: String| Objection::new(Rule::OneScenario, message);
    let all = scenarios::list(now, path);
    let meant: Vec<&Scenario> = match wanted {
        Some(wanted) => all.iter().filter(|scenario| is_meant(&scenario.name, wanted)).collect(),
        None => vec![],
    };
    let before = scenarios::list(base.unwrap_or_default(), path);
    let chosen = at_work(path, &before, &all, meant.first().copied()).map_err(refusal)?;
    let Some(first) = meant.first().filter(|_| !meant.iter().any(|one| one.name == chosen.name)) else {
        return Ok(None);
    };
    let (own, other) = (in_words(first), in_words(chosen));
    Err(refusal(match meant.iter().any(|one| one.enabled) {
        true => format!(
            "The scenario of this step is {own} in {path}, but {other} was enabled. Put that one off again."
        ),
        false => format!(
            "The scenario of this step, {own} in {path}, is still put off; {other} is enabled instead. Take the skip \
             marker off the one of this step and put the other off."
        ),
    }))
}

/// The one scenario that is at work, or why there is not exactly one.
fn at_work<'s>(
    path: &str,
    before: &[Scenario],
    all: &'s [Scenario],
    meant: Option<&Scenario>,
) -> Result<&'s Scenario, String> {
    let before: BTreeSet<&str> =
        before.iter().filter(|scenario| scenario.enabled).map(|scenario| scenario.name.as_str()).collect();
    let enabled: Vec<&Scenario> = all.iter().filter(|scenario| scenario.enabled).collect();
    let new: Vec<&Scenario> =
        enabled.iter().copied().filter(|scenario| !before.contains(scenario.name.as_str())).collect();
    match (enabled.as_slice(), new.as_slice()) {
        ([only], _) | (_, [only]) => Ok(only),
        ([], _) if all.is_empty() => {
            Err(format!("{path} holds no scenario. Write the acceptance scenario of this step in it."))
        }
        ([], _) => {
            let which = meant.map_or_else(|| "the one of this step".to_owned(), in_words);
            Err(format!("Every scenario of {path} is put off. Take the skip marker off {which}."))
        }
        (several, []) => Err(format!(
            "{} scenarios of {path} are enabled, and all of them were when the step began: {}. Exactly one may be at \
             work: put off all but the one of this step.",
            several.len(),
            list_of(several)
        )),
        (_, several) => Err(format!(
            "{} scenarios of {path} were enabled since the step began: {}. Enable exactly one and put off the others \
             again.",
            several.len(),
            list_of(several)
        )),
    }
}

fn in_words(scenario: &Scenario) -> String {
    format!("`{}` (line {})", scenario.name, scenario.line)
}

fn list_of(scenarios: &[&Scenario]) -> String {
    let names: Vec<String> = scenarios.iter().take(NAMED_MAX).map(|scenario| in_words(scenario)).collect();
    match scenarios.len().saturating_sub(NAMED_MAX) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// Whether a roadmap means this scenario: one of the two names is the other, or the end of it, so that classes and
/// suites around it, a path before it and the word `Scenario:` make no difference.
fn is_meant(name: &str, wanted: &str) -> bool {
    let (name, wanted) = (segments(name), segments(wanted));
    !wanted.is_empty() && (name.ends_with(&wanted) || wanted.ends_with(&name))
}

fn segments(text: &str) -> Vec<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let text = text.strip_prefix("scenario: ").unwrap_or(&text).replace(" > ", "::");
    let mut segments = vec![];
    for part in text.split("::") {
        // A point parts classes from tests in an identifier, and ends a sentence in a title.
        match part.contains(' ') {
            true => segments.push(part.to_owned()),
            false => segments.extend(part.trim_end_matches("()").split('.').map(str::to_owned)),
        }
    }
    segments.retain(|segment| !segment.is_empty());
    segments
}
