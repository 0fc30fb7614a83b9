//! The failure report: a box for operators, and JSON for `logs/errors/` (OC-71, OC-72, OC-88, OC-96).

use std::collections::BTreeSet;

use serde_json::Value;
use serde_json::json;

use super::Cause;
use super::Trouble;
use super::escalation::AfterFailure;
use super::escalation::offers;
use super::options;
use crate::action::paths;
use crate::redact::Redactor;
use crate::time::Utc;

/// How wide the box is at least and at most, in characters between its borders.
const WIDTH_MIN: usize = 45;
const WIDTH_MAX: usize = 100;
/// How much of what an agent was given and gave goes into the JSON, each.
pub const IO_BYTES_MAX: usize = 64 << 10;

impl Trouble {
    /// What a person can do about it, the best first. There is always something (OC-96).
    pub fn remediation(&self) -> Vec<String> {
        let first = match self.cause() {
            Cause::RateLimit { .. } => "Wait until the limit is lifted, then retry (recommended)",
            Cause::Network | Cause::Unavailable => {
                "Check the connection and the service, then retry (recommended)"
            }
            Cause::Crash | Cause::Interrupted => {
                "Read the end of its output in the error log, then retry (recommended)"
            }
            Cause::Invalid | Cause::Silent => "Retry with error feedback (recommended)",
            Cause::MissingArtifact => {
                "Check that the guide of the role names these files, then retry (recommended)"
            }
            Cause::Timeout => "Extend the timeout, or split the task (recommended)",
            Cause::Scope => "Check what the role may write, in its entry of the agent map (recommended)",
            Cause::NoProgram => {
                "Install the program of the agent, or correct its `argv` in seriatim.toml (recommended)"
            }
            Cause::Unauthorised => "Give the agent the permission or the credentials it lacks (recommended)",
            Cause::Contract => {
                "Correct the action file, the agent map or the guide of the role (recommended)"
            }
            Cause::Denied => "Find out who refused it, and why (recommended)",
            Cause::Cancelled => "Start the action again when you are ready (recommended)",
            Cause::Storage => "Make room on the disk, or make the file readable and writable (recommended)",
        };
        let mut steps = vec!["Review error details above".to_owned(), first.to_owned()];
        if !self.artifacts.is_empty() && offers(&options(self), AfterFailure::Fix) {
            steps.push("Edit the files above by hand, and choose Manual Fix".to_owned());
        }
        steps
    }

    /// The report as operators see it.
    pub fn boxed(&self) -> String {
        let step = format!("{} ({})", self.stage, self.title);
        let failed_at = self.failed_at.seconds().replace('T', " ").replace('Z', " UTC");
        let duration = duration_in_words(self.duration_ms);
        let field = |name: &str, value: &str| format!("{:<14}{value}", format!("{name}:"));
        let artifacts = self.artifacts.iter().flat_map(|artifact| {
            let note = Some(format!("  ({})", artifact.note)).filter(|_| !artifact.note.is_empty());
            std::iter::once(format!("- {}", artifact.path)).chain(note)
        });
        let artifacts: Vec<String> = artifacts.collect();
        let artifacts = if artifacts.is_empty() { vec!["- none known".to_owned()] } else { artifacts };
        let remedies = (1..).zip(self.remediation()).map(|(number, step)| format!("{number}. {step}"));
        let labels: Vec<String> = options(self).iter().map(|option| format!("[{}]", option.label)).collect();
        let titled = |title: &str, lines: Vec<String>| {
            std::iter::once(title.to_owned()).chain(lines).collect::<Vec<String>>()
        };
        draw(&[
            vec!["EXECUTION FAILURE".to_owned()],
            vec![
                field("Action", &self.action),
                field("Step", &step),
                field("Agent", &self.role),
                field("Failed at", &failed_at),
                field("Duration", &duration),
            ],
            vec![field("Error Type", self.cause().name()), field("Message", &self.failure.message)],
            titled("Impacted Artifacts:", artifacts),
            titled("Suggested Remediation:", remedies.collect()),
            titled("Options:", vec![labels.join(" ")]),
        ])
    }

    /// The full report for `logs/errors/`. Nothing secret and nothing personal is in it, and what the agent was given and
    /// gave only as far as it is not too large.
    pub fn json(&self, given: &str, gave: &str, redactor: &Redactor) -> Value {
        let clean = |text: &str| redactor.clean(text).into_owned();
        let artifacts: Vec<Value> = self
            .artifacts
            .iter()
            .map(|artifact| json!({"path": clean(&artifact.path), "note": clean(&artifact.note)}))
            .collect();
        let options: Vec<Value> = options(self)
            .iter()
            .map(|option| json!({"id": option.id, "label": option.label, "description": clean(&option.description)}))
            .collect();
        let all = |texts: &[String]| texts.iter().map(|text| clean(text)).collect::<Vec<String>>();
        json!({
            "action": self.action,
            "step": {"stage": self.stage, "title": self.title},
            "agent": self.role,
            "failed_at": self.failed_at.seconds(),
            "duration_ms": self.duration_ms,
            "error_type": self.cause().name(),
            "nature": self.nature(),
            "message": clean(&self.failure.message),
            "errors": all(&self.failure.feedback),
            "impacted_artifacts": artifacts,
            "tried": all(&self.tried),
            "suggested_remediation": self.remediation(),
            "options": options,
            "stack_trace": clean(&self.failure.output),
            "kept": all(&self.failure.kept),
            "agent_input": bounded(&clean(given)),
            "agent_output": bounded(&clean(gave)),
        })
    }
}

/// What is too large is left out, and said to be.
fn bounded(text: &str) -> Value {
    if text.len() <= IO_BYTES_MAX {
        return json!({"text": text});
    }
    json!({"left_out": format!("{} bytes are too many for this file", text.len())})
}

/// `logs/errors/2026-02-07-10-45-23.json`; a second failure in the same second gets a number. Of `side_by_side` roles each
/// has numbers of its own (`place`, from 0 on), so that none takes the name of another.
pub fn file_name(at: Utc, place: usize, side_by_side: usize, taken: &BTreeSet<String>) -> String {
    let stamp = crate::action::snapshot::stamp(at);
    let name = |number: usize| match number {
        1 => format!("{}{stamp}.json", paths::ERROR_LOGS),
        number => format!("{}{stamp}-{number}.json", paths::ERROR_LOGS),
    };
    let mut own = (0..).map(|round: usize| name(place + 1 + round * side_by_side.max(1)));
    own.find(|name| !taken.contains(name)).unwrap_or_else(|| name(place + 1))
}

/// `12 minutes 34 seconds`, as the documented report has it.
fn duration_in_words(ms: u64) -> String {
    let unit = |count: u64, name: &str| match count {
        0 => None,
        1 => Some(format!("1 {name}")),
        count => Some(format!("{count} {name}s")),
    };
    let seconds = ms / 1000;
    let parts =
        [unit(seconds / 3600, "hour"), unit(seconds % 3600 / 60, "minute"), unit(seconds % 60, "second")];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "less than a second".to_owned() } else { parts.join(" ") }
}

/// Draws parts with a line between them. Long lines are broken at blanks.
fn draw(parts: &[Vec<String>]) -> String {
    let broken: Vec<Vec<String>> =
        parts.iter().map(|part| part.iter().flat_map(|line| wrap(line, WIDTH_MAX - 2)).collect()).collect();
    let widest = broken.iter().flatten().map(|line| line.chars().count() + 2).max().unwrap_or(0);
    let width = widest.max(WIDTH_MIN);
    let border = |left: char, right: char| format!("{left}{}{right}", "─".repeat(width));
    let mut lines = vec![border('┌', '┐')];
    for (index, part) in broken.iter().enumerate() {
        if index > 0 {
            lines.push(border('├', '┤'));
        }
        for line in part {
            let blanks = width.saturating_sub(line.chars().count() + 1);
            lines.push(format!("│ {line}{}│", " ".repeat(blanks)));
        }
    }
    lines.push(border('└', '┘'));
    lines.join("\n")
}

/// Breaks a line at blanks, and a word that is too long anywhere.
fn wrap(line: &str, width: usize) -> Vec<String> {
    let mut lines = vec![];
    for line in line.lines() {
        let mut current = String::new();
        for word in line.split_inclusive(' ') {
            let mut rest: Vec<char> = word.chars().collect();
            if current.chars().count() + word.trim_end().chars().count() > width && !current.trim().is_empty()
            {
                lines.push(std::mem::take(&mut current).trim_end().to_owned());
            }
            while current.chars().count() + rest.len() > width + 1 {
                let room = width.saturating_sub(current.chars().count()).max(1).min(rest.len());
                current.extend(rest.drain(..room));
                lines.push(std::mem::take(&mut current));
            }
            current.extend(rest);
        }
        lines.push(current.trim_end().to_owned());
    }
    if lines.is_empty() { vec![String::new()] } else { lines }
}
