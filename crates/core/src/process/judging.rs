//! What a report of a judging step says of the matter: its word, its criteria, and outputs that say the opposite.

#[cfg(test)]
mod tests;

use serde_json::Map;
use serde_json::Value;

use super::definition::Step;
use super::result::Grade;
use super::result::grade_of;
use crate::report::Report;
use crate::verdict::PersonWord;
use crate::verdict::Verdict;

/// Keys under which `false` says that it did not pass.
const PASSING: [&str; 18] = [
    "pass",
    "passed",
    "passes",
    "passing",
    "all_passed",
    "valid",
    "is_valid",
    "ok",
    "success",
    "successful",
    "succeeded",
    "approved",
    "accepted",
    "compliant",
    "is_compliant",
    "green",
    "met",
    "complete",
];

/// Keys under which `true` says that it did not pass.
const FAILING: [&str; 9] =
    ["fail", "failed", "failure", "invalid", "rejected", "has_errors", "has_failures", "blocked", "broken"];

/// Keys whose text is a word about the whole.
const WORDS: [&str; 14] = [
    "verdict",
    "result",
    "process_result",
    "validation_result",
    "status",
    "validation_status",
    "outcome",
    "decision",
    "conclusion",
    "assessment",
    "overall",
    "overall_result",
    "overall_status",
    "recommendation",
];

/// Words that are no pass.
const NO_PASS: [&str; 24] = [
    "FAIL",
    "FAILED",
    "FAILURE",
    "FAILING",
    "FAILS",
    "REJECT",
    "REJECTED",
    "INVALID",
    "NOT_VALID",
    "NO_GO",
    "NOGO",
    "RED",
    "BAD",
    "ERROR",
    "BLOCKED",
    "BLOCK",
    "INCOMPLETE",
    "INSUFFICIENT",
    "PARTIAL",
    "CHANGES_REQUESTED",
    "NOT_PASSED",
    "NOT_OK",
    "UNKNOWN",
    "NOT_APPROVED",
];

/// Keys whose list or number says what is wrong.
const LISTS: [&str; 12] = [
    "errors",
    "failures",
    "blocking_issues",
    "blockers",
    "failed_checks",
    "failed_tests",
    "violations",
    "critical_issues",
    "critical_findings",
    "validation_errors",
    "error_count",
    "failure_count",
];

/// Returns what outputs say against a pass, one line each. Objects are looked into; lists of single results are not, since
/// a part may fail where the whole passes.
pub fn objections(outputs: &Map<String, Value>) -> Vec<String> {
    let mut found = vec![];
    look(outputs, "", &mut found);
    found
}

fn look(outputs: &Map<String, Value>, path: &str, found: &mut Vec<String>) {
    for (key, value) in outputs {
        let name = key.trim().to_lowercase().replace(['-', ' ', '.'], "_");
        let shown = format!("{path}{}", name.replace('_', " "));
        if says_no(&name, value) {
            found.push(format!("its outputs say \"{shown}: {}\"", short(value)));
        }
        if let Value::Object(inner) = value {
            look(inner, &format!("{shown}, "), found);
        }
    }
}

fn says_no(name: &str, value: &Value) -> bool {
    let passing =
        PASSING.contains(&name) || ["_passed", "_valid", "_pass"].iter().any(|end| name.ends_with(end));
    let failing = FAILING.contains(&name);
    match value {
        Value::Bool(said) => (passing && !said) || (failing && *said),
        Value::String(text) => {
            let word = text.trim().to_uppercase().replace(['-', ' '], "_");
            let no = matches!(word.as_str(), "FALSE" | "NO");
            let yes = matches!(word.as_str(), "TRUE" | "YES");
            let failed = NO_PASS.contains(&word.as_str());
            (passing && (no || failed)) || (failing && yes) || (WORDS.contains(&name) && (no || failed))
        }
        Value::Array(list) => LISTS.contains(&name) && !list.is_empty(),
        Value::Number(number) => {
            (failing || LISTS.contains(&name)) && number.as_f64().is_some_and(|count| count > 0.0)
        }
        Value::Object(map) => LISTS.contains(&name) && !map.is_empty(),
        Value::Null => false,
    }
}

fn short(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match text.chars().count() > 80 {
        true => format!("{}...", text.chars().take(77).collect::<String>()),
        false => text,
    }
}

/// Returns what the report of a judging step says: one bad sign makes it bad, whatever its word is. None where it says
/// neither a word nor an answer to any criterion.
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
    let against = objections(&report.outputs).into_iter();
    said.extend(against.map(|objection| Verdict::bad(format!("'{name}' does not pass: {objection}"))));
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
