//! Reports that contradict themselves: a word about the whole that what they list does not bear out.

use serde_json::Map;
use serde_json::Value;

use super::Concern;
use super::Severity;

/// Outputs in which reports sum up the whole.
const SUMS: [&str; 7] = ["verdict", "result", "status", "decision", "approved", "passed", "pass"];
const GOOD: [&str; 11] =
    ["approve", "approved", "pass", "passed", "ok", "clean", "good", "success", "done", "accepted", "true"];
const BAD: [&str; 11] = [
    "reject",
    "rejected",
    "fail",
    "failed",
    "blocked",
    "block",
    "changes_requested",
    "insufficient",
    "error",
    "bad",
    "false",
];

/// Returns how a report contradicts itself: a reviewer that approves in spite of a critical finding or rejects without
/// any, or work that is done by its report and failed by its outputs. Nothing where it agrees with itself.
pub fn contradiction(outputs: &Map<String, Value>, found: Option<&[Concern]>) -> Option<String> {
    let word = |name: &str| match outputs.get(name)? {
        Value::Bool(yes) => Some(yes.to_string()),
        Value::String(text) => Some(text.trim().to_lowercase().replace([' ', '-'], "_")),
        Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    };
    for name in SUMS {
        let Some(word) = word(name) else { continue };
        let (good, bad) = (GOOD.contains(&word.as_str()), BAD.contains(&word.as_str()));
        match found {
            Some(found) if good && found.iter().any(|one| one.severity == Severity::Critical) => {
                return Some(format!("`outputs.{name}` says {word}, and a finding is critical"));
            }
            Some([]) if bad => {
                return Some(format!("`outputs.{name}` says {word}, and no finding says why"));
            }
            None if bad => return Some(format!("the report says done, and `outputs.{name}` says {word}")),
            Some(_) | None => {}
        }
    }
    None
}
