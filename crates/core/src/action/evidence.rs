//! The evidence of a run: five documented files, by which anybody can follow what was done (OC-02, OC-97, OC-99).

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::Deserialize;
use serde::Serialize;

use super::paths;
use crate::time::Utc;
use crate::time::span_in_words;

/// The files, in the order in which they are usually read.
pub const FILES: [&str; 5] =
    ["action-context.md", "artifact-trace.md", "gate-decisions.md", "commands.log", "lifecycle-gates.log"];

/// Who carried it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    Automated,
    /// A person did the steps; gates and evidence are the same (OC-01).
    Manual,
}

/// Everything that the files say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    pub action: String,
    pub run: String,
    pub mode: Mode,
    pub operator: String,
    pub started: Utc,
    pub ended: Option<Utc>,
    /// How it ended, or how it stands, in a sentence.
    pub summary: String,
    /// The lifecycle stage that was declared.
    pub stage: Option<String>,
    /// What the action needs, and where it came from or what was answered.
    pub inputs: Vec<(String, String)>,
    /// The roles with the guides that were read.
    pub roles: Vec<(String, String)>,
    pub reads: BTreeSet<String>,
    pub writes: Vec<Written>,
    pub decisions: Vec<GateDecision>,
    pub commands: Vec<CommandRun>,
    /// What the lifecycle gates printed.
    pub lifecycle: String,
    /// Findings, with what became of each.
    #[serde(default)]
    pub findings: Vec<String>,
    /// What no check of this action looks at.
    #[serde(default)]
    pub not_checked: Vec<String>,
    /// What people accepted unchecked or overrode.
    #[serde(default)]
    pub waived: Vec<String>,
}

/// A file that the action changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    pub path: String,
    pub change: Change,
    pub role: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    Created,
    Updated,
    Deleted,
}

/// A decision at a gate, or about a failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateDecision {
    pub gate: String,
    /// The chosen option, or what the gate itself found: `approve`, `passed`, `blocked` ...
    pub decision: String,
    pub at: Utc,
    pub by: String,
    pub rationale: String,
}

/// A command whose result counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandRun {
    pub at: Utc,
    pub argv: Vec<String>,
    /// What it ran in: the command around it, such as that of a container. Empty on the host (OC-98).
    pub within: Vec<String>,
    /// Nothing where a signal ended it.
    pub exit: Option<i32>,
    pub duration_ms: u64,
    /// The stage for which it was run (OC-123).
    pub stage: Option<String>,
}

/// The name of a run's evidence: `build-20260207-103000`.
pub fn run_id(action: &str, started: Utc) -> String {
    format!("{action}-{}", started.compact())
}

/// The folder of a run's evidence.
pub fn folder(run_id: &str) -> String {
    format!("{}{run_id}/", paths::EVIDENCE)
}

/// Whether evidence of one stage counts in another: only where it is the same one (OC-123, E-68).
pub fn counts(made_for: Option<&str>, current: Option<&str>) -> bool {
    made_for == current
}

impl Evidence {
    /// The five files, by name. None of them is ever empty.
    pub fn files(&self) -> [(&'static str, String); 5] {
        let [context, trace, decisions, commands, lifecycle] = FILES;
        [
            (context, self.context()),
            (trace, self.trace()),
            (decisions, self.decisions()),
            (commands, self.commands()),
            (lifecycle, self.lifecycle_log()),
        ]
    }

    fn context(&self) -> String {
        let mode = match self.mode {
            Mode::Automated => "automated",
            Mode::Manual => "manual",
        };
        let mut text = format!("# Action context: {}\n\n", self.action);
        let ended = self.ended.map_or_else(|| "not yet".to_owned(), Utc::seconds);
        let stage = self.stage.as_deref().unwrap_or("none declared");
        for (name, value) in [
            ("Action", self.action.as_str()),
            ("Run", &self.run),
            ("Mode", mode),
            ("Operator", &self.operator),
            ("Started (UTC)", &self.started.seconds()),
            ("Ended (UTC)", &ended),
            ("Lifecycle stage", stage),
        ] {
            line(&mut text, &format!("- {name}: {value}"));
        }
        let pairs = |pairs: &[(String, String)]| -> Vec<String> {
            pairs.iter().map(|(name, value)| format!("{name}: {}", on_one_line(value))).collect()
        };
        section(&mut text, "Inputs", &pairs(&self.inputs));
        section(&mut text, "Roles", &pairs(&self.roles));
        let summary = if self.summary.trim().is_empty() { "It is under way." } else { self.summary.trim() };
        line(&mut text, &format!("\n## Summary\n\n{summary}"));
        text
    }

    fn trace(&self) -> String {
        let mut text = format!("# Artifact trace: {}\n", self.run);
        let of = |change: Change| -> Vec<String> {
            let of_change = self.writes.iter().filter(|written| written.change == change);
            of_change.map(|written| format!("{} ({})", written.path, written.role)).collect()
        };
        section(&mut text, "Read", &self.reads.iter().cloned().collect::<Vec<_>>());
        section(&mut text, "Created", &of(Change::Created));
        section(&mut text, "Updated", &of(Change::Updated));
        section(&mut text, "Deleted", &of(Change::Deleted));
        text
    }

    fn decisions(&self) -> String {
        let mut text = format!("# Gate decisions: {}\n", self.run);
        if self.decisions.is_empty() {
            line(&mut text, "\nNo gate was reached.");
        }
        for decision in &self.decisions {
            let rationale = match decision.rationale.trim() {
                "" => "none given",
                words => words,
            };
            line(&mut text, &format!("\n## {}", decision.gate));
            line(&mut text, &format!("- Decision: {}", decision.decision));
            line(&mut text, &format!("- Timestamp (UTC): {}", decision.at.seconds()));
            line(&mut text, &format!("- By: {}", decision.by));
            line(&mut text, &format!("- Rationale: {}", on_one_line(rationale)));
        }
        for (title, entries) in [
            ("Not checked", &self.not_checked),
            ("Accepted unchecked or overridden", &self.waived),
            ("Findings", &self.findings),
        ] {
            if !entries.is_empty() {
                let entries: Vec<String> = entries.iter().map(|entry| on_one_line(entry)).collect();
                section(&mut text, title, &entries);
            }
        }
        text
    }

    fn commands(&self) -> String {
        let mut text = String::new();
        if self.commands.is_empty() {
            line(&mut text, "No command was run.");
        }
        for command in &self.commands {
            let exit = command
                .exit
                .map_or_else(|| "ended by a signal".to_owned(), |code| format!("exit code {code}"));
            let place = if command.within.is_empty() {
                "on the host".to_owned()
            } else {
                format!("within: {}", command.within.join(" "))
            };
            let stage = command.stage.as_ref().map(|stage| format!(", stage {stage}")).unwrap_or_default();
            let took = span_in_words(command.duration_ms);
            let words = on_one_line(&command.argv.join(" "));
            line(&mut text, &format!("{} $ {words}", command.at.seconds()));
            line(&mut text, &format!("    {exit}, {took}, {place}{stage}"));
        }
        text
    }

    fn lifecycle_log(&self) -> String {
        match self.lifecycle.trim_end() {
            "" => "No lifecycle gates were run: no stage is declared, or it requires none.\n".to_owned(),
            printed => format!("{printed}\n"),
        }
    }
}

fn line(text: &mut String, words: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{words}");
}

fn section(text: &mut String, title: &str, entries: &[String]) {
    line(text, &format!("\n## {title}\n"));
    if entries.is_empty() {
        line(text, "- none");
    }
    for entry in entries {
        line(text, &format!("- {entry}"));
    }
}

/// An entry of a list stays one line, whatever a person wrote.
fn on_one_line(words: &str) -> String {
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}
