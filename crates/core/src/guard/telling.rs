//! Lines of the audit trail in plain words: one sentence for each kind of event.

use serde_json::Value;

use crate::roadmap::audit::Happening;
use crate::sentence::Sentence;

/// Fields that every line has, or that the sentence itself says.
const SAID: [&str; 10] = [
    "timestamp",
    "event",
    "step_file",
    "step_id",
    "session_id",
    "phase",
    "from",
    "to",
    "status",
    "objections",
];
/// Longer lists are told by their length.
const LISTED_MAX: usize = 2;

/// Returns a line of the trail as a sentence; nothing where it is none.
pub fn tell(line: &Value) -> Option<Sentence> {
    let event = line["event"].as_str()?;
    let text = |key: &str| line[key].as_str().unwrap_or_default();
    let step = match text("step_id") {
        "" => "The project".to_owned(),
        id => format!("Step {id}"),
    };
    let sentence = match Happening::ALL.into_iter().find(|happening| happening.word() == event) {
        Some(happening) => sentence(happening, &step, &text),
        // An event of another version of the program.
        None => Sentence::new(format!("{step}: {}.", words(event))),
    };
    let fields = line.as_object().into_iter().flatten().filter(|(key, _)| !SAID.contains(&key.as_str()));
    let details: Vec<String> = fields.filter_map(|(key, value)| detail(key, value)).collect();
    Some(sentence.detail(details.join(", ")))
}

fn sentence<'l>(happening: Happening, step: &str, text: &impl Fn(&str) -> &'l str) -> Sentence {
    let phase = text("phase");
    match happening {
        Happening::TaskInvocationStarted => Sentence::new(format!("{step}: a sub-agent was asked for.")),
        Happening::TaskInvocationValidated => Sentence::new(format!("{step}: the prompt passed its checks.")),
        Happening::TaskInvocationRejected => Sentence::bad(format!("{step}: the prompt was refused.")),
        Happening::PhaseStarted => Sentence::new(format!("{step}, {phase}: began.")),
        Happening::PhaseCompleted => Sentence::good(format!("{step}, {phase}: completed.")),
        Happening::PhaseSkipped => Sentence::attention(format!("{step}, {phase}: skipped.")),
        Happening::PhaseFailed => Sentence::bad(format!("{step}, {phase}: failed.")),
        Happening::SubagentStopValidation => stop_sentence(step, text("status")),
        Happening::CommitValidationPassed => Sentence::good(format!("{step}: the commit passed its checks.")),
        Happening::CommitValidationFailed => Sentence::bad(format!("{step}: the commit was refused.")),
        Happening::WatchdogIntervention => {
            Sentence::attention(format!("{step}: the watchdog recovered work without news."))
        }
        Happening::SilentCompletionDetected => {
            Sentence::bad(format!("{step}: the agent ended without a word about its phases."))
        }
        Happening::ScopeViolation => Sentence::bad(format!("{step}: files outside of its patterns changed.")),
        Happening::StateTransition => {
            Sentence::new(format!("{step} went from {} to {}.", words(text("from")), words(text("to"))))
        }
        Happening::PhaseReopened => Sentence::attention(format!("{step}, {phase}: opened again.")),
        Happening::StateImported => {
            Sentence::attention(format!("{step}: an edit of its state file by another writer was checked."))
        }
        Happening::IntegrityIncident => {
            Sentence::bad(format!("{step}: a record was not as the guard left it."))
        }
    }
}

fn stop_sentence(step: &str, status: &str) -> Sentence {
    match status {
        "error" => Sentence::bad(format!("{step}: the sub-agent's stop was refused.")),
        "warning" => Sentence::attention(format!("{step}: the sub-agent stopped, with warnings.")),
        _ => Sentence::good(format!("{step}: the sub-agent stopped, and its step is in order.")),
    }
}

fn words(word: &str) -> String {
    word.to_lowercase().replace('_', " ")
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
