//! Approval gates: what is shown, what can be chosen, and what is said to those who work again (OC-17, OC-52 to OC-56).

#[cfg(test)]
mod tests;

use serde::Deserialize;
use serde::Serialize;

use super::severity;
use super::severity::Concern;
use super::severity::Verdict;
use crate::choices;
use crate::choices::Choices;
use crate::hash::Hash;
use crate::question::Choice;
use crate::question::Question;
use crate::time::Utc;

/// What a person sees at a gate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub action: String,
    pub gate: String,
    /// From 1; counts how often the gate was shown.
    pub iteration: u32,
    /// What the roles did, one line each.
    pub work: Vec<String>,
    /// Files that were written.
    pub artifacts: Vec<String>,
    /// What reviewers found.
    pub concerns: Vec<Concern>,
    /// What people let pass earlier, and what was loosened: overrides, skipped validation, lifecycle gates (K-107).
    pub notes: Vec<String>,
    /// What the gates measured.
    pub evidence: Vec<String>,
    /// Digests of what is decided upon: an answer does not hold for anything else.
    pub about: Vec<Hash>,
    /// There is a snapshot to go back to.
    pub can_roll_back: bool,
}

/// What the dialect asks whoever rejects (OC-53).
pub const WHY: &str = "Why are you rejecting this artifact?";

choices! {
    /// What a person decides at a gate.
    pub enum Decision {
        Approve = "approve",
        /// Both send the work back with the person's words.
        Changes = "changes",
        Reject = "reject",
        Cancel = "cancel",
        Rollback = "rollback",
        /// Those whose work was blocked try again.
        Fix = "fix",
    }
}

impl Decision {
    /// Those who made something hear of it and work again.
    pub fn sends_back(self) -> bool {
        matches!(self, Decision::Changes | Decision::Reject | Decision::Fix)
    }
}

/// The question at a gate. A critical finding leaves no option that lets it pass; a high one takes words (K-48, K-50).
pub fn question(summary: &Summary) -> Question {
    let verdict = severity::judge(&summary.concerns);
    let mut options = vec![];
    match &verdict {
        Verdict::Blocked { .. } => options.push(Choice::new(
            Decision::Fix.id(),
            "Fix",
            "Those who made it mend what is critical, the reviews are run again, and the gate is shown again.",
        )),
        Verdict::NeedsJustification { .. } => options.push(
            Choice::new(
                Decision::Approve.id(),
                "Approve",
                "The action goes on although there are findings of high severity; your justification is on record.",
            )
            .with_text(),
        ),
        Verdict::Clear => {
            options.push(Choice::new(Decision::Approve.id(), "Approve", "The action goes on, and the decision is on record."));
        }
    }
    options.push(
        Choice::new(Decision::Changes.id(), "Changes", "Your words go to those who made it; they revise it, every check is run again, and you see it again.")
            .with_text(),
    );
    let reject = format!("{WHY} Your words go to those who made it; they begin again, and you see it again.");
    options.push(Choice::new(Decision::Reject.id(), "Reject", &reject).with_text());
    options.push(Choice::new(
        Decision::Cancel.id(),
        "Cancel",
        "The action ends here; you are asked whether its work is kept.",
    ));
    if summary.can_roll_back {
        options.push(Choice::new(
            Decision::Rollback.id(),
            "Rollback",
            "You are shown what would change; once you confirm, all files are as they were before the action.",
        ));
    }
    Question {
        header: format!("Gate {}", summary.gate),
        question: match verdict {
            Verdict::Blocked { .. } => format!("The gate {} is blocked. How shall it go on?", summary.gate),
            Verdict::NeedsJustification { .. } | Verdict::Clear => {
                format!("Do you approve what the action \"{}\" has made so far?", summary.action)
            }
        },
        why: match &verdict {
            Verdict::Blocked { critical } => severity::block_text(critical, &[]),
            Verdict::NeedsJustification { high } => {
                format!("{} of high severity: approving it takes a justification.", counted(high.len()))
            }
            Verdict::Clear => "Nothing goes on past this gate without a decision.".to_owned(),
        },
        tried: vec![],
        details: details(summary),
        options,
        free_text: true,
        about: summary.about.clone(),
    }
}

fn counted(findings: usize) -> String {
    if findings == 1 { "There is 1 finding".to_owned() } else { format!("There are {findings} findings") }
}

fn details(summary: &Summary) -> String {
    let mut lines = vec![];
    if summary.iteration > 1 {
        lines.push(format!("This is round {} at this gate.", summary.iteration));
    }
    let concerns: Vec<String> = summary
        .concerns
        .iter()
        .map(|concern| format!("{}: {concern} ({})", concern.severity, concern.by))
        .collect();
    let parts = [
        ("Work", &summary.work),
        ("Files", &summary.artifacts),
        ("Findings", &concerns),
        ("Evidence", &summary.evidence),
        ("Let pass or loosened", &summary.notes),
    ];
    for (title, entries) in parts {
        if !entries.is_empty() {
            lines.push(format!("{title}:"));
            lines.extend(entries.iter().map(|entry| format!("- {entry}")));
        }
    }
    lines.join("\n")
}

/// What those hear whose work was sent back, in the documented form (OC-54).
pub fn feedback(words: &str) -> String {
    format!(
        "User rejected your output with feedback:\n\"{}\"\n\nPlease revise the artifact addressing this feedback.",
        words.trim()
    )
}

/// One turn of the revision loop, as it is put on record (OC-55, OC-80).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Iteration {
    pub gate: String,
    pub iteration: u32,
    pub decision: Decision,
    /// The person's words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    pub by: String,
    pub at: Utc,
    /// The lifecycle stage for which the evidence was made (OC-123).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stage: String,
}
