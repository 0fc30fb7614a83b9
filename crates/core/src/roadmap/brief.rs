//! What the agent of a step is told: the whole prompt of one call, made from the step's context (DW-07).
//!
//! A prompt holds everything that its agent needs and nothing that it would have to look up: the context is taken out
//! of the roadmap before, and what ran earlier leaves no trace but the feedback that is named as such. The same
//! assignment gives the same text (DW-46).

mod check;
mod demand;
mod protocol;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

pub use self::check::check;
use super::extract::CONFIGURATION_TITLE;
use super::extract::Context;
use super::extract::PHASES_TITLE;
use super::phases::Schema;
use super::proof::POST_REFACTOR_LIST;
use super::proof::REVIEW_LIST;
use super::proof::Sort;

/// How many phases one call of an agent is for (K-104).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// One phase.
    Phase,
    /// The whole step; the agent reports each phase itself.
    Step,
}

/// One call of an agent.
#[derive(Clone, Copy, Debug)]
pub struct Assignment<'a> {
    pub context: &'a Context,
    /// Without the at-sign.
    pub agent: &'a str,
    pub schema: &'a Schema,
    pub call: Call,
    /// The phase of the call; for a whole step the one to begin with.
    pub phase: Option<&'a str>,
    /// The state file, as the workspace names it.
    pub status_path: &'a str,
    /// Why earlier tries were refused.
    pub feedback: &'a [String],
    /// GREEN added so little that a quick look is enough of a refactoring (E-55).
    pub quick: bool,
    /// The names of the gates that the project has.
    pub gates: &'a [String],
    /// The context of a step file of the first generation (DW-56).
    pub legacy: Option<&'a str>,
}

/// What the agent does under this command, to the letter (DW-08).
const ROLE: &str = "Execute atomic tasks with complete state tracking via execution-status.yaml";

/// Titles that the check of a prompt looks for, too.
const STATE_TITLE: &str = "## STATE TRACKING VIA execution-status.yaml";
const SKELETON_TITLE: &str = "## CM-D: Walking Skeleton Principle";
const REVIEW_TITLE: &str = "## INLINE REVIEW CRITERIA";
const STRUCTURE_TITLE: &str = "## EXECUTION-STATUS.YAML STRUCTURE";
const DEMAND_TITLE: &str = "## WHAT THIS CALL HAS TO SHOW";
const REPORT_TITLE: &str = "## HOW TO REPORT";
const FEEDBACK_TITLE: &str = "## WHY EARLIER TRIES WERE REFUSED";

/// The whole prompt of a call.
pub fn render(assignment: &Assignment<'_>) -> String {
    let Assignment { context, agent, .. } = *assignment;
    let mut text = format!(
        "You are the {agent} agent.\n\nYour specific role for this command: {ROLE}\n\nTask type: execute\n\n\
         PROJECT: {}\nSTEP: {}\n",
        context.project_id, context.step.id
    );
    if let (Call::Phase, Some(phase)) = (assignment.call, assignment.phase) {
        let _ = writeln!(text, "PHASE: {phase}");
    }
    let _ = write!(text, "\n{}", extracted(assignment));
    for part in [
        protocol::state(assignment),
        skeleton(assignment.schema),
        review(assignment.schema),
        protocol::structure(assignment),
        demand::section(assignment),
        protocol::report(assignment),
    ] {
        let _ = write!(text, "\n{part}");
    }
    if !assignment.feedback.is_empty() {
        let _ = write!(text, "\n{}", feedback(assignment.feedback));
    }
    text
}

/// The part that comes from the roadmap. The context has its own words for its phases; in a call for one of them they
/// must not sound like an order to go through all (K-104).
fn extracted(assignment: &Assignment<'_>) -> String {
    let context = assignment.context;
    let count = context.phases.len();
    let order = format!("Execute these {count} phases in order:\n");
    let mut text = context.text();
    let parted = text.split_once(&format!("\n{PHASES_TITLE}\n\n{order}"));
    let parted = parted.and_then(|(fields, rest)| {
        let (phases, configuration) = rest.rsplit_once(&format!("\n{CONFIGURATION_TITLE}\n"))?;
        Some((fields, phases, configuration))
    });
    if let Some((fields, phases, configuration)) = parted {
        let order = match (assignment.call, assignment.phase) {
            (Call::Phase, Some(phase)) => format!(
                "The step goes through these {count} phases in order. This call is for {phase} alone:\n"
            ),
            _ => order,
        };
        text = format!(
            "{fields}\n{PHASES_TITLE}\n\n{order}{}\n\n{CONFIGURATION_TITLE}\n{configuration}",
            quoted(phases.trim_end(), "")
        );
    }
    if let Some(legacy) = assignment.legacy {
        let _ = write!(text, "\n{LEGACY_TITLE}\n\n{}\n", quoted(legacy.trim_end(), ""));
    }
    text
}

/// What a step file of the first generation says stands among the extracted context.
const LEGACY_TITLE: &str = "### From the step file";

fn skeleton(schema: &Schema) -> String {
    let prepare = schema.names().find(|name| Sort::of(name) == Sort::Prepare);
    let when = prepare.map_or_else(|| "Before anything else".to_owned(), |phase| format!("In {phase}"));
    format!(
        "{SKELETON_TITLE}\n\n\
         An acceptance test goes through the entry point of the system, as its users do. {when} see that the entry \
         point exists, that the acceptance test calls it and no inner component, and that the component of this step \
         is wired into the system. Where a test imports a component directly, stop and report the wiring gap.\n"
    )
}

/// The criteria of the review, under the number that the phase has in this list (K-01).
fn review(schema: &Schema) -> String {
    let own = schema.phases.iter().find(|phase| Sort::of(&phase.name) == Sort::Review);
    let mut text = match own {
        Some(phase) => format!("{REVIEW_TITLE} (Phase {}: {})\n\n", phase.index, phase.name),
        None => format!(
            "{REVIEW_TITLE}\n\nThese phases have no review of their own, but the work is held to it:\n"
        ),
    };
    for item in REVIEW_LIST {
        let _ = writeln!(text, "- {item}");
    }
    text.push_str("\nAfter refactoring, also:\n");
    for item in POST_REFACTOR_LIST {
        let _ = writeln!(text, "- {item}");
    }
    text.push_str(
        "\nReport what you find under `outputs.review.findings`, each with severity (critical, high, medium or low), \
         title, file, line and remedy. Findings that are critical or high keep the phase open until they are mended; \
         mark one that you mended with `\"resolved\": true`.\n",
    );
    text
}

fn feedback(refused: &[String]) -> String {
    let mut text = format!(
        "{FEEDBACK_TITLE}\n\n\
         The engine looked at what an earlier call of this phase left, and did not accept it. Mend this first:\n"
    );
    for (number, reason) in (1..).zip(refused) {
        let _ = write!(text, "\n{number}. {}\n", quoted(reason.trim(), "    ").trim_start());
    }
    text
}

/// A text from outside, each line behind `margin`, and so that no line of it can pass for a title.
fn quoted(text: &str, margin: &str) -> String {
    let line = |line: &str| match line.trim_start().starts_with('#') {
        true => format!("{margin}> {line}"),
        false => format!("{margin}{line}"),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}
