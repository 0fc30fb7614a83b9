//! What a role is told: its guide as it is written, what it may read and must write, and what went wrong before (OC-07,
//! OC-08). Everything is in it, because an agent remembers nothing.

#[cfg(test)]
mod tests;

use super::gate::Gate;
use super::plan::Action;
use super::plan::Duty;
use crate::choices;
use crate::choices::Choices;
use crate::question::Choice;
use crate::question::Question;

/// What a brief is made of.
#[derive(Clone, Copy, Debug)]
pub struct Material<'m> {
    pub action: &'m Action,
    pub duty: &'m Duty,
    /// The body of the role's guide.
    pub guide: &'m str,
    /// The text of the action file.
    pub contract: &'m str,
    /// What the person wants, and what was answered about missing inputs.
    pub inputs: &'m [(String, String)],
    /// What was wrong with earlier attempts, or what a person said of them, one entry each.
    pub feedback: &'m [String],
    /// Findings that are open, one line each, with their ids.
    pub open: &'m [String],
}

/// The prompt of one attempt.
pub fn prompt(material: &Material<'_>) -> String {
    let Material { action, duty, .. } = material;
    let mut parts = vec![format!(
        "# {}: action \"{}\"\n\nYou are the {}. {}",
        duty.title(),
        action.name,
        duty.title(),
        action.description.trim()
    )];
    if !material.feedback.is_empty() {
        parts.push(format!("## What has to be different this time\n\n{}", material.feedback.join("\n\n")));
    }
    let inputs: Vec<String> =
        material.inputs.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    parts.push(listed("Inputs", &inputs, "Nothing beyond the files below."));
    parts.push(listed("What you may read", &duty.reads, "Whatever lies in the workspace."));
    parts.push(listed(
        "What you must write",
        &duty.writes,
        "Nothing: you write no file, and report what you have to say.",
    ));
    parts.push(
        "Nothing else may change. `agents/` is generic: whatever is about this solution belongs in `planning-mds/` or in \
         the folders of the product."
            .to_owned(),
    );
    for (path, names) in &duty.sections {
        let of = if path.is_empty() { "every Markdown file" } else { path.as_str() };
        parts.push(listed(&format!("Required sections of {of}"), names, ""));
    }
    if duty.review {
        parts.push(
            "## Findings\n\nReport `outputs.findings` as a list; it may be empty. Each one has `severity` (critical, high, \
             medium or low), `title`, `file`, `line` and `remedy`."
                .to_owned(),
        );
    }
    if !material.open.is_empty() {
        parts.push(open_findings(duty.review, material.open));
    }
    parts.push(format!("## Your guide\n\n{}", material.guide.trim()));
    if !material.contract.trim().is_empty() {
        parts.push(format!("## The action\n\n{}", material.contract.trim()));
    }
    parts.join("\n\n")
}

/// The open findings, and how they end: by name, and by nothing else.
fn open_findings(review: bool, open: &[String]) -> String {
    let how = if review {
        "Look at each of them again. Report those that are fixed in `outputs.closed`, as a list of `{\"id\", \
         \"reason\"}` where the reason says how it was fixed. One that you do not name stays open."
    } else {
        "They stay open until their reviewer closes them by name: fix what is yours."
    };
    format!("{}\n\n{how}", listed("Open findings", open, ""))
}

fn listed(title: &str, entries: &[String], none: &str) -> String {
    if entries.is_empty() {
        return format!("## {title}\n\n{none}");
    }
    let entries: Vec<String> = entries.iter().map(|entry| format!("- {entry}")).collect();
    format!("## {title}\n\n{}", entries.join("\n"))
}

/// What a role is told at a gate where it looks at its own work again.
pub fn self_review(gate: &Gate) -> String {
    let head = "Look at your own work again, and mend what does not hold. Report what you checked.";
    match gate.checklist.as_slice() {
        [] => head.to_owned(),
        points => {
            let points: Vec<String> = points.iter().map(|point| format!("- {point}")).collect();
            format!("{head} Check each of these points:\n{}", points.join("\n"))
        }
    }
}

choices! {
    /// Whether a condition in words holds.
    pub enum RoleNeeded {
        Yes = "yes",
        No = "no",
        Cancel = "cancel",
    }
}

choices! {
    /// What a person says at a clarification gate.
    pub enum Clarified {
        /// Their words go to the roles before the gate.
        Answer = "guide",
        NothingOpen = "approve",
        Cancel = "cancel",
    }
}

/// Asks whether a role is needed that works only under a condition. Whether words hold is not computed.
pub fn condition_question(action: &str, duty: &Duty) -> Question {
    let title = duty.title();
    Question {
        header: format!("{title} needed"),
        question: format!(
            "In the action \"{action}\", the {title} works only if {}. Is that so?",
            duty.condition
        ),
        why: "Only you know what this work is about.".to_owned(),
        tried: vec![],
        details: String::new(),
        options: vec![
            Choice::new(RoleNeeded::Yes.id(), "Yes", &format!("The {title} works with the others.")),
            Choice::new(
                RoleNeeded::No.id(),
                "No",
                &format!("The action goes on without the {title}; that is on record."),
            ),
            Choice::new(
                RoleNeeded::Cancel.id(),
                "Cancel",
                "The action ends here; you are asked whether its work is kept.",
            ),
        ],
        free_text: true,
        about: vec![],
    }
}

/// Asks what is not clear yet, with the questions that the roles before the gate have raised.
pub fn clarification_question(action: &str, gate: &str, raised: &[String]) -> Question {
    let details: Vec<String> = raised.iter().map(|question| format!("- {question}")).collect();
    let answer = Choice::new(
        Clarified::Answer.id(),
        "Answer",
        "What you write goes to the roles before this gate; they revise their work, and then you see it again.",
    );
    let nothing = Choice::new(Clarified::NothingOpen.id(), "Nothing is open", "The action goes on as it is.");
    let options =
        if raised.is_empty() { vec![nothing, answer.with_text()] } else { vec![answer.with_text(), nothing] };
    let cancel = Choice::new(
        Clarified::Cancel.id(),
        "Cancel",
        "The action ends here; you are asked whether its work is kept.",
    );
    Question {
        header: format!("Clarification {gate}"),
        question: format!("Is anything about the action \"{action}\" still to be clarified?"),
        why: "What is not clear now would be guessed later.".to_owned(),
        tried: vec![],
        details: details.join("\n"),
        options: options.into_iter().chain([cancel]).collect(),
        free_text: true,
        about: vec![],
    }
}
