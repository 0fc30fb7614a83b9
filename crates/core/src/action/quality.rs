//! Quality gates: what was measured against what is demanded (OC-57).

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::gate::Limit;
use crate::choices;
use crate::choices::Choices;
use crate::config::Comparator;
use crate::evidence::Counts;
use crate::evidence::coverage::Coverage;
use crate::gate::CheckEvidence;
use crate::hash::Hash;
use crate::question::Choice;
use crate::question::Question;
use crate::verdict::Verdict;

choices! {
    /// What a person does about a quality gate that failed.
    pub enum AfterShortfall {
        Fix = "fix",
        /// The demand of this run becomes what was measured.
        Lower = "lower_threshold",
        /// The work goes on although the gate failed.
        Override = "override",
        Retry = "retry",
        Cancel = "cancel",
    }
}

choices! {
    /// What a person does about a required command or file that failed. No option passes it by.
    pub enum AfterCommand {
        Fix = "fix",
        Retry = "retry",
        /// Fewer tests than before are meant.
        FewerTests = "fewer_tests",
        Cancel = "cancel",
    }
}

/// A demand that is not met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortfall {
    pub limit: Limit,
    /// Nothing where nothing was measured, which is never good enough.
    pub measured: Option<Coverage>,
}

/// The demands that what was measured does not meet, in their order.
pub fn judge(limits: &[Limit], measured: &BTreeMap<String, Coverage>) -> Vec<Shortfall> {
    let short = |limit: &Limit| {
        let value = measured.get(&limit.measure).copied();
        let holds = value.is_some_and(|value| limit.holds(value));
        (!holds).then(|| Shortfall { limit: limit.clone(), measured: value })
    };
    limits.iter().filter_map(short).collect()
}

impl Shortfall {
    /// `Coverage: 65% (threshold: 80%)`
    pub fn line(&self) -> String {
        let name = name(&self.limit.measure);
        match self.measured {
            Some(measured) => format!("{name}: {measured} (threshold: {})", self.limit),
            None => format!("{name}: not measured (threshold: {})", self.limit),
        }
    }
}

/// What people call a measure: `unit_coverage_pct` is "Unit coverage".
fn name(measure: &str) -> String {
    let plain = measure.trim_end_matches("_pct").trim_end_matches("_percent").replace(['_', '-'], " ");
    let mut letters = plain.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The share of tests that passed among those that ran, to be compared like coverage. Where none ran there is none.
pub fn pass_rate(counts: &Counts) -> Option<Coverage> {
    let total = counts.ran();
    (total > 0).then_some(Coverage::Counted { covered: counts.passed, total })
}

/// The demands of a run once a person has lowered them to what was measured (OC-57). What was not measured cannot be
/// lowered to anything, so that demand stays.
pub fn lowered(limits: &[Limit], shortfalls: &[Shortfall]) -> Vec<Limit> {
    let lower = |limit: &Limit| {
        let short = shortfalls.iter().find(|short| short.limit == *limit);
        match short.and_then(|short| short.measured) {
            Some(measured) => Limit {
                comparator: match limit.comparator {
                    Comparator::AtLeast | Comparator::MoreThan => Comparator::AtLeast,
                    Comparator::AtMost | Comparator::LessThan => Comparator::AtMost,
                },
                percent: measured.percent(),
                ..limit.clone()
            },
            None => limit.clone(),
        }
    };
    limits.iter().map(lower).collect()
}

/// The verdict as it is shown.
pub fn text(shortfalls: &[Shortfall]) -> String {
    let mut lines: Vec<String> = shortfalls.iter().map(Shortfall::line).collect();
    lines.push("❌ FAIL - Below threshold".to_owned());
    lines.join("\n")
}

/// What the developers are told.
pub fn feedback(shortfalls: &[Shortfall]) -> Vec<String> {
    shortfalls.iter().map(|short| format!("{}; raise it to what is demanded", short.line())).collect()
}

/// Asks what shall happen. To let it pass, or to lower the bar, takes words (OC-57).
pub fn question(gate: &str, shortfalls: &[Shortfall], evidence: Option<Hash>) -> Question {
    let options = vec![
        Choice::new(AfterShortfall::Fix.id(), "Fix coverage", "The developers work again with these numbers, and the gate is run again."),
        Choice::new(
            AfterShortfall::Lower.id(),
            "Lower threshold",
            "The demand is lowered to what was measured, for this run; your justification is on record and is shown at the \
             next approval.",
        )
        .with_text(),
        Choice::new(
            AfterShortfall::Override.id(),
            "Override",
            "The work goes on although the gate failed; your reason is on record and is shown at the next approval.",
        )
        .with_text(),
        Choice::new(AfterShortfall::Retry.id(), "Retry", "The gate is run again as it is, without any new work."),
        Choice::new(AfterShortfall::Cancel.id(), "Cancel", "The action ends here; you are asked whether its work is kept."),
    ];
    Question {
        header: format!("Quality gate {gate}"),
        question: format!("The gate {gate} failed. How shall it go on?"),
        why: "The measured values are not what the gate demands.".to_owned(),
        tried: vec![],
        details: text(shortfalls),
        options,
        free_text: true,
        about: evidence.into_iter().collect(),
    }
}

/// Asks what shall happen about a check that is not good. Only a fall of the number of tests can be meant; everything
/// else is fixed or run again (OC-18).
pub fn check_question(gate: &str, evidence: &CheckEvidence, fell: bool) -> Question {
    let details = match evidence.tail.is_empty() {
        true => evidence.words.clone(),
        false => format!("{}\n{}", evidence.tail, evidence.words),
    };
    let mut question = command_question(gate, &evidence.argv, &details, evidence.output);
    if matches!(evidence.verdict, Verdict::Unknown(_)) {
        question.question = format!("Nothing is known about the gate {gate}. How shall it go on?");
    }
    if fell {
        let fewer = Choice::new(
            AfterCommand::FewerTests.id(),
            "Accept fewer tests",
            "The number of tests may be this one from now on; your reason stays marked in the result.",
        );
        question.options.insert(2, fewer.with_text());
    }
    question
}

/// Asks what shall happen after a gate whose command failed. It is required, so no option passes it by (OC-18).
pub fn command_question(gate: &str, command: &[String], output: &str, evidence: Option<Hash>) -> Question {
    let options = vec![
        Choice::new(
            AfterCommand::Fix.id(),
            "Fix",
            "Those who worked before this gate get its output and work again; then it is run again.",
        ),
        Choice::new(
            AfterCommand::Retry.id(),
            "Retry",
            "The command is run again as it is, without any new work.",
        ),
        Choice::new(
            AfterCommand::Cancel.id(),
            "Cancel",
            "The action ends here; you are asked whether its work is kept.",
        ),
    ];
    Question {
        header: format!("Gate {gate}"),
        question: format!("The command of the gate {gate} failed. How shall it go on?"),
        why: format!("It ran `{}`, and the gate is required.", command.join(" ")),
        tried: vec![],
        details: output.to_owned(),
        options,
        free_text: true,
        about: evidence.into_iter().collect(),
    }
}
