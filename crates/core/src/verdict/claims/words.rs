//! The words by which reports say that something is good or bad, by key and by value.

use serde_json::Map;
use serde_json::Value;

use crate::action::severity::Severity;
use crate::ledger::is_blank;

/// Keys under which `true` says that the whole is good, and `false` that it is not.
const APPROVING: [&str; 9] =
    ["pass", "passed", "passes", "all_passed", "approve", "approved", "lgtm", "sufficient", "ready_to_merge"];

/// Keys under which `false` says that it did not pass; `true` may be about less than the whole.
const PASSING: [&str; 20] = [
    "passing",
    "valid",
    "ok",
    "success",
    "successful",
    "succeeded",
    "accepted",
    "acceptable",
    "compliant",
    "green",
    "met",
    "all_met",
    "complete",
    "ready",
    "mergeable",
    "can_merge",
    "safe",
    "healthy",
    "correct",
    "go",
];

/// Keys under which `true`, a number or a list says that it did not pass.
const FAILING: [&str; 13] = [
    "fail",
    "failed",
    "failure",
    "failing",
    "invalid",
    "rejected",
    "has_errors",
    "has_failures",
    "has_blockers",
    "blocked",
    "broken",
    "unsafe",
    "vulnerable",
];

/// Keys whose text is a word about the whole.
const WORDS: [&str; 17] = [
    "verdict",
    "result",
    "process_result",
    "validation_result",
    "review_result",
    "status",
    "validation_status",
    "review_status",
    "outcome",
    "decision",
    "conclusion",
    "assessment",
    "judgement",
    "overall",
    "overall_result",
    "overall_status",
    "recommendation",
];

/// Words that call the whole good. Words that may be about the work alone (done, complete, ok) are not among them.
const GOOD: [&str; 14] = [
    "PASS",
    "PASSED",
    "PASSES",
    "PASSING",
    "APPROVE",
    "APPROVED",
    "ACCEPT",
    "ACCEPTED",
    "SUCCESS",
    "SUCCESSFUL",
    "VALID",
    "LGTM",
    "GREEN",
    "SUFFICIENT",
];

/// Words that are no pass.
const NO_PASS: [&str; 31] = [
    "FAIL",
    "FAILED",
    "FAILURE",
    "FAILING",
    "FAILS",
    "REJECT",
    "REJECTED",
    "DENIED",
    "DECLINED",
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
    "REQUEST_CHANGES",
    "NEEDS_WORK",
    "NOT_PASSED",
    "NOT_OK",
    "NOT_READY",
    "NOT_APPROVED",
    "UNKNOWN",
    "UNMET",
    "NOT_MET",
];

/// Keys whose list, text or number says what is wrong.
const LISTS: [&str; 18] = [
    "error",
    "errors",
    "failures",
    "failed_checks",
    "failed_tests",
    "failing_tests",
    "blocking_issues",
    "blockers",
    "violations",
    "critical_issues",
    "critical_findings",
    "critical_count",
    "blocker_count",
    "validation_errors",
    "error_count",
    "failure_count",
    "failed_count",
    "unmet_criteria",
];

/// Keys whose list holds findings, which count by their severity.
const FINDINGS: [&str; 9] = [
    "findings",
    "issues",
    "problems",
    "concerns",
    "defects",
    "bugs",
    "vulnerabilities",
    "review",
    "open_findings",
];

/// Words by which people write that there is nothing.
const NONE: [&str; 14] = [
    "none",
    "no",
    "nil",
    "null",
    "n/a",
    "na",
    "nothing",
    "not applicable",
    "false",
    "no errors",
    "no error",
    "no failures",
    "no issues",
    "none found",
];

/// Returns a key as it is compared: `isValid`, `is-valid` and `Valid` are one.
pub(super) fn plain(key: &str) -> String {
    let mut name = String::with_capacity(key.len() + 4);
    let mut after_small = false;
    for c in key.trim().chars() {
        if c.is_uppercase() && after_small {
            name.push('_');
        }
        after_small = c.is_lowercase() || c.is_ascii_digit();
        name.extend(c.to_lowercase());
    }
    let name = name.replace(['-', ' ', '.'], "_");
    name.strip_prefix("is_").map_or(name.clone(), str::to_owned)
}

/// Returns whether a text says that there is nothing.
pub(super) fn says_none(text: &str) -> bool {
    let text = text.trim().trim_end_matches('.').to_lowercase();
    is_blank(&text) || NONE.contains(&text.as_str()) || text.parse::<f64>().is_ok_and(|number| number == 0.0)
}

/// Returns whether a word or a yes or no calls the whole good or bad; nothing where it does neither.
pub(super) fn grade(name: &str, value: &Value) -> Option<bool> {
    let approving = APPROVING.contains(&name);
    let ends = ["_passed", "_valid", "_pass", "_approved", "_ok"];
    let passing = approving || PASSING.contains(&name) || ends.iter().any(|end| name.ends_with(end));
    let failing = FAILING.contains(&name);
    let said = match value {
        Value::Bool(said) => Some(*said),
        Value::String(text) => match word(text).as_str() {
            "TRUE" | "YES" => Some(true),
            "FALSE" | "NO" => Some(false),
            word if (passing || WORDS.contains(&name)) && NO_PASS.contains(&word) => return Some(false),
            word if (approving || WORDS.contains(&name)) && GOOD.contains(&word) => return Some(true),
            _ => None,
        },
        Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    }?;
    match said {
        true if failing => Some(false),
        true if approving => Some(true),
        false if passing || WORDS.contains(&name) => Some(false),
        true | false => None,
    }
}

/// `changes requested` and `Changes-Requested` are one word; a mark after it is none of it.
fn word(text: &str) -> String {
    text.trim().trim_end_matches(['.', '!']).to_uppercase().replace(['-', ' '], "_")
}

/// Returns whether a list, a number or a text says that something is wrong.
pub(super) fn wrong(name: &str, value: &Value) -> bool {
    let (failing, listed) = (FAILING.contains(&name), LISTS.contains(&name));
    match value {
        Value::Array(list) => (failing || listed) && !list.iter().all(is_nothing),
        Value::Object(map) => listed && !map.values().all(is_nothing),
        // A measured error is a number too; nobody counts errors under that name.
        Value::Number(number) => {
            (failing || listed && name != "error") && number.as_f64().is_some_and(|count| count > 0.0)
        }
        Value::String(text) => match text.trim().parse::<f64>() {
            Ok(count) => (failing || listed && name != "error") && count > 0.0,
            Err(_) => listed && !says_none(text),
        },
        Value::Bool(said) => listed && *said,
        Value::Null => false,
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::String(text) => says_none(text),
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Array(list) => list.iter().all(is_nothing),
        Value::Object(map) => map.values().all(is_nothing),
    }
}

/// Returns the first open finding that is as grave as that, under a key whose list holds findings.
pub(super) fn grave_finding(name: &str, value: &Value, grave: Severity) -> Option<String> {
    let holds = FINDINGS.contains(&name) || FINDINGS.iter().any(|key| name.ends_with(&format!("_{key}")));
    if !holds {
        return None;
    }
    match value {
        Value::Array(list) => list.iter().find_map(|entry| grave_entry(entry, grave)),
        // Sorted or counted by severity.
        Value::Object(sorted) => sorted.iter().find_map(|(key, found)| {
            let severity = Severity::of_word(key).filter(|severity| *severity >= grave)?;
            (!is_nothing(found) && !found.is_boolean()).then(|| format!("{} {found}", severity.word()))
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn grave_entry(entry: &Value, grave: Severity) -> Option<String> {
    let is_grave = |word: &str| Severity::of_word(word).is_some_and(|severity| severity >= grave);
    match entry {
        Value::String(line) => {
            let line = line.trim();
            let begin = line.trim_start_matches(['[', '(', '*']);
            let end = begin.find([':', ']', ')', '*'])?;
            is_grave(begin.get(..end)?).then(|| line.to_owned())
        }
        Value::Object(finding) => {
            let word = ["severity", "level", "priority"].iter().find_map(|key| finding.get(*key)?.as_str());
            let open = word.is_some_and(is_grave) && !is_resolved(finding);
            let title = ["title", "message", "description", "summary"];
            let title = title.iter().find_map(|key| finding.get(*key)?.as_str()).unwrap_or("no title");
            open.then(|| format!("{} ({title})", word.unwrap_or_default().trim().to_lowercase()))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
}

/// Returns whether a finding is reported as mended.
pub(super) fn is_resolved(finding: &Map<String, Value>) -> bool {
    const OVER: [&str; 6] = ["resolved", "fixed", "closed", "mended", "mitigated", "done"];
    OVER.iter().any(|key| finding.get(*key).and_then(Value::as_bool) == Some(true))
        || ["status", "state"].iter().any(|key| {
            let word = finding.get(*key).and_then(Value::as_str).unwrap_or_default();
            OVER.contains(&word.trim().to_lowercase().as_str())
        })
}
