//! What people are asked, in plain words: what, why, and what they can do.

use seriatim_core::failure::Failure;
use seriatim_core::process::Capability;
use seriatim_core::process::definition::Step;
use seriatim_core::question::Choice;
use seriatim_core::question::Question;
use serde_json::Map;
use serde_json::Value;

use super::open::about;
use crate::attempts::FailedAttempt;

/// A step that is a person's alone (PX-54).
pub(super) fn drive(work: &str, step: &Step, so_far: &[(String, String, Map<String, Value>)]) -> Question {
    let role = step.human_role.as_ref().map(|r| r.value.clone()).unwrap_or_default();
    let options = if step.capability.value == Capability::Decide {
        vec![
            Choice::new("approve", "Yes, go ahead", "The decision is recorded and the work goes on."),
            Choice::new("changes", "Changes first", "Say what has to change; it is recorded and the work goes on.")
                .with_text(),
            Choice::new("reject", "No", "The refusal is recorded and the work goes on to its end."),
            Choice::new("cancel", "Stop here", "Nothing more is done; what there is so far is kept."),
        ]
    } else {
        vec![
            Choice::new("done", "It is done", "Your words are kept as the result and the work goes on."),
            Choice::new("skip", "Leave it out", "The work goes on without it, and the record says so."),
            Choice::new("cancel", "Stop here", "Nothing more is done; what there is so far is kept."),
        ]
    };
    Question {
        header: step.name.value.clone(),
        question: about(step),
        why: [role, format!("This is part of: {work}")]
            .iter()
            .filter(|s| !s.is_empty())
            .map(|s| sentence(s))
            .collect::<Vec<_>>()
            .join(" "),
        tried: vec![],
        details: so_far.iter().map(|(_, name, outputs)| result(name, outputs)).collect::<Vec<_>>().join("\n\n"),
        options,
        free_text: true,
        about: vec![],
    }
}

/// An error that nothing in the definition deals with (PX-135).
pub(super) fn unexpected(step: &Step, failure: &Failure, failed: &[FailedAttempt]) -> Question {
    let mut details: Vec<String> = failure.kept.iter().map(|k| sentence(k)).collect();
    if !failure.output.trim().is_empty() {
        details.push(format!("The last words of its output:\n{}", failure.output.trim_end()));
    }
    Question {
        header: step.name.value.clone(),
        question: format!(
            "An unexpected error occurred: {}. How should I proceed?",
            failure.message.trim_end_matches('.')
        ),
        why: format!("The step '{}' is not done, and the steps after it build on it.", step.name.value),
        tried: failed
            .iter()
            .map(|f| format!("Attempt {}: {}", f.attempt, sentence(&f.failure.message)))
            .collect(),
        details: details.join("\n"),
        options: vec![
            Choice::new("retry", "Retry", "The step is tried again; what you write is passed on."),
            Choice::new("skip", "Skip step", "The work goes on without it, and the record says so."),
            Choice::new("cancel", "Abort process", "The work ends here; what there is so far is kept."),
        ],
        free_text: true,
        about: vec![],
    }
}

/// What came of a step, as a few lines.
fn result(name: &str, outputs: &Map<String, Value>) -> String {
    let mut lines = vec![name.to_owned()];
    for (key, value) in outputs {
        let value = match value {
            Value::String(s) => s.trim_end().to_owned(),
            other => other.to_string(),
        };
        let key = key.replace(['_', '-'], " ");
        if value.contains('\n') {
            lines.push(format!("  {key}:"));
            lines.extend(value.lines().map(|l| format!("    {l}")));
        } else {
            lines.push(format!("  {key}: {value}"));
        }
    }
    lines.join("\n")
}

/// A text with a full stop at its end.
pub(super) fn sentence(text: &str) -> String {
    let text = text.trim();
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let stop = if text.ends_with(['.', '!', '?', ':']) { "" } else { "." };
    format!("{first}{}{stop}", chars.as_str())
}
