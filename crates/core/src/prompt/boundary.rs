//! The boundary of a step, as the agent reads it: its one task, what is allowed, what is not, and when it is over.

use std::fmt::Write;

use super::phases::PhaseList;

/// What the rules are written for.
#[derive(Clone, Copy, Debug)]
pub struct Boundary<'a> {
    pub task_id: &'a str,
    pub step_file: &'a str,
    /// The patterns of files that the step may change; none were declared where this is `None`.
    pub patterns: Option<&'a [String]>,
}

/// The text of the rules (DS-26, K-29).
pub fn rules(boundary: &Boundary<'_>, phases: &PhaseList) -> String {
    let Boundary { task_id, step_file, patterns } = *boundary;
    let mut text = format!(
        "YOUR ONLY TASK: Execute the {}-phase TDD cycle for step {task_id}\n\nALLOWED:\n\n",
        phases.phases.len()
    );
    for allowed in [
        format!("Read the step file {step_file}, and write to it what belongs to this step"),
        "Create and modify source files as the task specification asks".to_owned(),
        "Run tests".to_owned(),
        "Record the phases of this step in its `phase_execution_log`".to_owned(),
    ] {
        let _ = writeln!(text, "- {allowed}");
    }
    text.push_str("\nFORBIDDEN:\n\n");
    for forbidden in [
        "Execute other /nw:* commands".to_owned(),
        format!("Start work on any step but {task_id}"),
        "Modify files outside the allowed patterns".to_owned(),
        "Continue the workflow after this step is complete".to_owned(),
        "Make architectural decisions outside the scope of this task".to_owned(),
        "Skip phases without valid blocked_by reason".to_owned(),
    ] {
        let _ = writeln!(text, "- {forbidden}");
    }
    let _ = write!(text, "\n{}\n\nON COMPLETION:\n\n", allowed_files(patterns));
    let _ = write!(
        text,
        "After {} return control at once, with a summary of what was done. Nothing comes after it.",
        phases.last()
    );
    text
}

/// The files that may be changed, in words. State, audit and log files are always among them (K-33).
pub fn allowed_files(patterns: Option<&[String]>) -> String {
    let Some(patterns) = patterns.filter(|patterns| !patterns.is_empty()) else {
        return "No file patterns are declared for this step: change only files that the task specification names."
            .to_owned();
    };
    let mut text = String::from("Files that you may create or modify, besides the step file:\n");
    for pattern in patterns {
        // A pattern is shown as code; one with a backtick in it would end the code early.
        let _ = write!(text, "\n- `{}`", super::render::one_line(pattern).replace('`', "'"));
    }
    text
}
