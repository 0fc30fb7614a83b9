//! Goals, steps and changes as text: for briefs, and for the document that people read.

use seriatim_core::cycle::document;
use seriatim_core::cycle::goal::Goal;
use seriatim_core::cycle::plan::PlanStep;

/// A goal as a person wrote it. Lines that begin with a known word fill the form (CY-27); the rest is the goal.
pub(super) fn goal(text: &str) -> Goal {
    let mut goal = Goal::default();
    let mut rest = Vec::new();
    for line in text.lines() {
        let (word, value) = line.split_once(':').map_or(("", line), |(w, v)| (w.trim(), v.trim()));
        let list = || value.split([',', ';']).map(|v| v.trim().to_owned()).filter(|v| !v.is_empty());
        match word.to_lowercase().as_str() {
            "success criteria" | "criteria" | "criterion" | "done when" => {
                goal.criteria.push(value.to_owned());
            }
            "current state" | "state" => value.clone_into(&mut goal.state),
            "context" | "context docs" | "docs" => goal.docs.extend(list()),
            "archives reviewed" => goal.archives_reviewed = Some(value.eq_ignore_ascii_case("yes")),
            _ => rest.push(line),
        }
    }
    goal.text = rest.join("\n").trim().to_owned();
    goal
}

pub(super) fn goal_text(goal: &Goal) -> String {
    let mut text = goal.text.clone();
    if !goal.criteria.is_empty() {
        text.push_str(&format!("\n\nDone when:\n{}", document::bullets(&goal.criteria)));
    }
    if !goal.state.is_empty() {
        text.push_str(&format!("\n\nWhat there is now: {}", goal.state));
    }
    if !goal.docs.is_empty() {
        text.push_str(&format!("\n\nDocuments: {}", goal.docs.join(", ")));
    }
    if let Some(reviewed) = goal.archives_reviewed {
        text.push_str(&format!("\n\nEarlier cycles were looked at: {}", if reviewed { "yes" } else { "no" }));
    }
    text
}

/// A step as the document has it.
pub(super) fn step_text(step: &PlanStep) -> String {
    let mut text = format!("**{}** (risk: {})\n\n{}", step.title, step.risk.word(), step.instructions);
    for (name, items) in [
        ("Files", &step.files),
        ("New files", &step.creates),
        ("Commands", &step.commands),
        ("Done when", &step.success_criteria),
    ] {
        if !items.is_empty() {
            text.push_str(&format!("\n\n{name}:\n{}", document::bullets(items)));
        }
    }
    text
}

/// What the Actor is given: the step, and nothing else (CY-14).
pub(super) fn step_brief(step: &PlanStep) -> String {
    format!(
        "# Carry out one step\n\n{}\n\n## How to report\noutputs: {{\"result\": \"SUCCESS\"}} or {{\"result\": \"FAIL\", \
         \"blocker\": {{\"class\": \"adjustable|approval|unrecoverable\", \"explanation\": \"\"}}}} or {{\"kind\": \"context_request\", \
         \"need\": \"\"}}\n",
        step_text(step)
    )
}

/// Words and the change they are about (CY-44).
pub(super) fn with_diff(words: &str, diff: &str) -> String {
    if diff.trim().is_empty() {
        return format!("{words}\n\nNo file was changed.");
    }
    format!("{words}\n\n{}", document::fenced("diff", diff))
}
