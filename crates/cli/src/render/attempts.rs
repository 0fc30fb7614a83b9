//! What attempts printed: of agents, and of the commands that the engine ran.

use serde_json::Value;
use serde_json::json;
use seriatim_engine::drive::KeptAttempt;
use seriatim_engine::drive::Worker;
use seriatim_engine::hands::process::Printed;

use crate::ui::Tone;
use crate::ui::Ui;
use crate::ui::tone;

/// Every attempt for machines.
pub(crate) fn document(attempts: &[KeptAttempt]) -> Value {
    json!(attempts)
}

/// Every attempt for people, with all that is kept of its output.
pub(crate) fn tell(ui: &Ui, attempts: &[KeptAttempt]) {
    if attempts.is_empty() {
        return;
    }
    ui.say(format!("\n{}", tone(Tone::Strong, "Attempts and their output")));
    for attempt in attempts {
        ui.say(format!("  {}", headline(attempt)));
        let parts = [("stdout", &attempt.printed.stdout), ("stderr", &attempt.printed.stderr)];
        for (name, text) in parts.into_iter().filter(|(_, text)| !text.trim().is_empty()) {
            ui.say(format!("    {}", tone(Tone::Faint, format!("{name}:"))));
            text.trim_end().lines().for_each(|line| ui.say(format!("      {line}")));
        }
        tell_requests(ui, attempt);
        if let Some(file) = &attempt.printed.file {
            ui.say(format!("    {} {file}", tone(Tone::Faint, "more in:")));
        }
        if attempt.printed.dropped_bytes > 0 {
            ui.say(format!("    {} more bytes were not kept", attempt.printed.dropped_bytes));
        }
    }
}

/// What the attempt asked the engine for, and what was refused.
fn tell_requests(ui: &Ui, attempt: &KeptAttempt) {
    let Printed { requests, more_requests, .. } = &attempt.printed;
    if requests.is_empty() {
        return;
    }
    ui.say(format!("    {}", tone(Tone::Faint, "asked from inside:")));
    for request in requests {
        let words = request.argv.join(" ");
        let reason = request.reason.lines().next().unwrap_or_default();
        let end = if request.exit == 0 {
            String::new()
        } else {
            format!(" - exit code {}: {reason}", request.exit)
        };
        ui.say(format!("      seriatim {words}{end}"));
    }
    if *more_requests > 0 {
        ui.say(format!("      and {more_requests} more"));
    }
}

fn headline(attempt: &KeptAttempt) -> String {
    let what = match &attempt.worker {
        Worker::Agent { step, phase, attempt: number, .. } => {
            let phase = if phase.is_empty() { String::new() } else { format!(" {phase}") };
            format!("{step}{phase} attempt {number}: {}", attempt.title)
        }
        Worker::Command { .. } => format!("`{}`", attempt.title),
    };
    let end = match (&attempt.failure, attempt.exit, attempt.ended) {
        (Some(failure), _, _) => failure.message.clone(),
        (None, Some(code), _) => format!("exit code {code}"),
        (None, None, Some(_)) => "ended".to_owned(),
        (None, None, None) => "under way".to_owned(),
    };
    format!("{what} - {end}")
}
