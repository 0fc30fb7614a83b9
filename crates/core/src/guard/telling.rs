//! Lines of the audit trail in words.

use serde_json::Value;

use crate::sentence::Sentence;

/// Fields that every line has, or that the sentence itself says.
const SAID: [&str; 5] = ["timestamp", "event", "step_file", "step_id", "session_id"];
/// Longer lists are told by their length.
const LISTED_MAX: usize = 2;

/// Returns a line of the trail as a sentence; nothing where it is none.
pub fn tell(line: &Value) -> Option<Sentence> {
    let event = line["event"].as_str()?.to_lowercase().replace('_', " ");
    let step = line["step_id"].as_str().map(|id| format!(" of step {id}")).unwrap_or_default();
    let fields = line.as_object().into_iter().flatten().filter(|(key, _)| !SAID.contains(&key.as_str()));
    let details: Vec<String> = fields.filter_map(|(key, value)| detail(key, value)).collect();
    let details = if details.is_empty() { String::new() } else { format!(": {}", details.join(", ")) };
    Some(Sentence::new(format!("{event}{step}{details}")))
}

/// A field and its value in words.
fn detail(key: &str, value: &Value) -> Option<String> {
    let key = key.replace('_', " ");
    match value {
        Value::Null => None,
        Value::String(text) if text.is_empty() => None,
        Value::String(text) => Some(format!("{key} {text}")),
        Value::Array(list) if list.is_empty() => None,
        Value::Array(list) if list.len() > LISTED_MAX => Some(format!("{} {key}", list.len())),
        Value::Array(list) => {
            let texts: Vec<String> =
                list.iter().map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned)).collect();
            Some(texts.join("; "))
        }
        other => Some(format!("{key} {other}")),
    }
}
