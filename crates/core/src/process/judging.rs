//! What a report of a judging step says of the matter: its word, its criteria, and outputs that say the opposite.

#[cfg(test)]
mod tests;

use serde_json::Map;
use serde_json::Value;

use super::definition::Step;
use super::result::Grade;
use super::result::grade_of;
use crate::action::severity::Severity;
use crate::report::Report;
use crate::verdict::PersonWord;
use crate::verdict::Verdict;
use crate::verdict::claims::Claim;
use crate::verdict::claims::Claims;

/// From this severity on an open finding speaks against a pass.
pub const GRAVE: Severity = Severity::High;

/// Returns what outputs say against a pass, one line each.
pub fn objections(outputs: &Map<String, Value>) -> Vec<String> {
    Claims::of_outputs(outputs, GRAVE).against().map(objection).collect()
}

fn objection(claim: &Claim) -> String {
    let place = claim.place.strip_prefix("outputs.").unwrap_or(&claim.place);
    let shown = place.to_lowercase().replace('.', ", ").replace(['_', '-'], " ");
    format!("its outputs say \"{shown}: {}\"", claim.says)
}

/// Returns all that the report of a judging step claims. Criteria that are all met are a good word.
pub fn claims(report: &Report) -> Claims {
    let claims = Claims::of_report(report, GRAVE);
    match !report.criteria.is_empty() && report.criteria.iter().all(|judged| judged.met) {
        true => claims.with("criteria", "that all are met", true),
        false => claims,
    }
}

/// Returns what the report of a judging step says: a bad word is bad, and a good one with something against it is unknown.
/// None where it says neither a word nor an answer to any criterion.
pub fn claim(step: &Step, report: &Report) -> Option<Verdict> {
    let name = &step.name.value;
    let good = || match &report.person {
        Some(person) => Verdict::decided(person, PersonWord::Confirmed, format!("'{name}' passes")),
        None => Verdict::judged(who(step), format!("'{name}' passes")),
    };
    let mut said: Vec<Verdict> = vec![];
    match grade_of(&report.verdict) {
        Some(Grade::Good) => said.push(good()),
        Some(Grade::Mixed) => {
            said.push(Verdict::unknown(format!("'{name}' passes only in part{}", why(report))));
        }
        Some(Grade::Bad) => said.push(Verdict::bad(format!("'{name}' does not pass{}", why(report)))),
        None => {}
    }
    for judged in &report.criteria {
        said.push(match judged.met {
            true => good(),
            false => Verdict::bad(format!("'{name}' does not meet \"{}\"", judged.criterion)),
        });
    }
    let claims = claims(report);
    match claims.contradiction() {
        Some(two) => said.push(Verdict::unknown(format!("'{name}': {}, and {}", two.good, two.bad))),
        None => {
            let against = claims.against().filter(|claim| claim.place != "verdict").map(objection);
            said.extend(against.map(|why| Verdict::bad(format!("'{name}' does not pass: {why}"))));
        }
    }
    (!said.is_empty()).then(|| Verdict::join(said))
}

/// Returns the name of the role that judges.
pub fn who(step: &Step) -> String {
    step.ai_role.as_ref().map_or_else(|| "the agent".to_owned(), |role| role.value.clone())
}

fn why(report: &Report) -> String {
    match report.summary.trim() {
        "" => String::new(),
        summary => format!(": {}", summary.trim_end_matches('.')),
    }
}
