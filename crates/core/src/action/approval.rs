//! Approval gates: what is shown, what can be chosen, and what is said to those who work again (OC-17, OC-52 to OC-56).

#[cfg(test)]
mod tests;

use serde::Deserialize;
use serde::Serialize;

use super::severity;
use super::severity::Concern;
use super::severity::Severity;
use super::severity::Verdict;
use crate::choices;
use crate::choices::Choices;
use crate::hash::Hash;
use crate::ledger::LedgerEntry;
use crate::ledger::is_blank;
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
    /// What reviewers found, with what became of it.
    pub findings: Vec<LedgerEntry>,
    /// Matters about which nothing is known, such as a review that did not take place. Approving accepts them.
    pub unknown: Vec<String>,
    /// What no check of this action looks at.
    pub not_checked: Vec<String>,
    /// What people accepted unchecked or overrode earlier in this run.
    pub waived: Vec<String>,
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
    let verdict = severity::judge(&summary.open());
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
        Verdict::Clear if !summary.unknown.is_empty() => options.push(
            Choice::new(
                Decision::Approve.id(),
                "Accept unchecked",
                "The action goes on although the matters under \"Unknown\" were not checked; they stay marked as accepted \
                 unchecked, with your words.",
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
            Verdict::NeedsJustification { high } => justification(high.len(), summary),
            Verdict::Clear if !summary.unknown.is_empty() => {
                format!("Nothing is known about: {}.", summary.unknown.join("; ").trim_end_matches('.'))
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

impl Summary {
    fn open(&self) -> Vec<Concern> {
        self.findings.iter().filter(|entry| entry.is_open()).map(|entry| entry.concern.clone()).collect()
    }
}

fn justification(high: usize, summary: &Summary) -> String {
    let mut words = format!("{} of high severity: approving it takes a justification", counted(high));
    if high > 1 {
        words.push_str(" that names each of them by its id");
    }
    if !summary.unknown.is_empty() {
        words.push_str(", which also accepts what is unknown");
    }
    format!("{words}.")
}

/// The findings of high severity that a justification speaks about: those that it names. The only one needs no name.
pub fn justified(findings: &[LedgerEntry], words: &str) -> Result<Vec<String>, Vec<String>> {
    let high = findings.iter().filter(|entry| entry.is_open() && entry.concern.severity == Severity::High);
    let ids: Vec<String> = high.map(|entry| entry.id.clone()).collect();
    if ids.is_empty() {
        return Ok(vec![]);
    }
    if is_blank(words) {
        return Err(ids);
    }
    if ids.len() == 1 {
        return Ok(ids);
    }
    let named: Vec<&str> = words.split(|letter: char| !letter.is_alphanumeric()).collect();
    let is_named = |id: &&String| named.iter().any(|word| word.eq_ignore_ascii_case(id));
    let missing: Vec<String> = ids.iter().filter(|id| !is_named(id)).cloned().collect();
    if missing.is_empty() { Ok(ids) } else { Err(missing) }
}

fn counted(findings: usize) -> String {
    if findings == 1 { "There is 1 finding".to_owned() } else { format!("There are {findings} findings") }
}

fn details(summary: &Summary) -> String {
    let mut lines = vec![];
    if summary.iteration > 1 {
        lines.push(format!("This is round {} at this gate.", summary.iteration));
    }
    let told = |open: bool| -> Vec<String> {
        let of = summary.findings.iter().filter(|entry| entry.is_open() == open);
        of.map(|entry| if open { entry.line() } else { entry.told() }).collect()
    };
    let (open, settled) = (told(true), told(false));
    let parts = [
        ("Work", &summary.work),
        ("Files", &summary.artifacts),
        ("Evidence", &summary.evidence),
        ("Let pass or loosened", &summary.notes),
        ("Accepted unchecked or overridden", &summary.waived),
        ("Not checked", &summary.not_checked),
        ("Closed or accepted findings", &settled),
        ("Findings", &open),
        ("Unknown", &summary.unknown),
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
