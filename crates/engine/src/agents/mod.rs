//! Agents: judgement from outside, through one protocol.

pub(crate) mod command;
pub mod pin;
mod rehearsal;
pub(crate) mod scripted;

use std::path::Path;
use std::path::PathBuf;

use seriatim_core::config::Agent;
use seriatim_core::config::Kind;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::failure::claim::claimed;
use seriatim_core::question::Answer;
use seriatim_core::question::Choice;
use seriatim_core::question::Question;
use seriatim_core::report::Demand;
use seriatim_core::report::Judged;
use seriatim_core::report::Report;
use seriatim_core::report::ReportedError;
use seriatim_core::report::Status;
use seriatim_flows::request::Assignment;

use crate::hands::files::FileError;
use crate::hands::files::Files;
use crate::hands::paths::Workspace;
use crate::hands::process::Watch;
use crate::job::Job;
use crate::perform::Hands;
use crate::perform::Stuck;

/// The choice by which a live session hands a report in.
pub const REPORT: &str = "report";

/// The choice by which a person says that the work could not be done.
const FAILED: &str = "failed";

/// Copies the workspace for somebody who works apart.
pub(crate) fn copy_workspace(files: &dyn Files, from: &Workspace, to: &Path) -> Result<(), FileError> {
    rehearsal::copy(files, from.root(), to, from.store())
}

/// A report larger than this is not read.
pub const REPORT_BYTES_MAX: usize = 4 << 20;

/// One attempt by whichever agent is configured for it. A disk that refuses what the engine itself has to write for
/// it is not the flow's to handle.
pub(crate) fn attempt(
    hands: &Hands,
    job: &Job,
    assignment: &Assignment,
    watch: &dyn Watch,
) -> Result<Result<Report, Failure>, Stuck> {
    let Some((name, agent)) = job.config.config.agent(&assignment.agents) else {
        return Ok(Err(nobody(assignment)));
    };
    match &agent.kind {
        Kind::Command { argv } => command::attempt(hands, job, assignment, agent, argv, watch),
        Kind::Scripted { script } => {
            scripted::attempt(hands, job, assignment, &scripted::Script::of(&job.config, name, script))
        }
        Kind::Human => Ok(Err(Failure::new(Class::Contract, "a person's work is waited for, not performed"))),
    }
}

/// The files of the workspace that the engine itself writes in the agent's place.
pub(crate) fn writes(hands: &Hands, job: &Job, assignment: &Assignment) -> Vec<PathBuf> {
    let Some((name, agent)) = job.config.config.agent(&assignment.agents) else { return vec![] };
    match &agent.kind {
        Kind::Scripted { script } => {
            scripted::writes(hands, job, assignment, &scripted::Script::of(&job.config, name, script))
        }
        Kind::Command { .. } | Kind::Human => vec![],
    }
}

fn nobody(assignment: &Assignment) -> Failure {
    let names = assignment.agents.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    let looked = if names.is_empty() { "`default`".to_owned() } else { format!("{names} or `default`") };
    Failure::new(
        Class::Contract,
        format!(
            "no agent is configured for this work: looked for {looked} among the agents in seriatim.toml"
        ),
    )
}

/// Whether this work waits for a person instead of being started.
pub fn is_human(agent: Option<(&str, &Agent)>) -> bool {
    agent.is_some_and(|(_, a)| a.kind == Kind::Human)
}

/// What a live session sees that takes an assignment: the whole brief, and how to hand the report in.
pub fn to_be_taken(assignment: &Assignment) -> Question {
    let phase =
        if assignment.phase.is_empty() { String::new() } else { format!(", phase {}", assignment.phase) };
    Question {
        header: assignment.title.clone(),
        question: format!("Step {}{phase} is open. Who takes it?", assignment.brief.step),
        why: "This run was started with --attach: a live session does the work and hands its report in."
            .into(),
        tried: assignment.brief.feedback.clone(),
        details: assignment.brief.prompt.clone(),
        options: vec![
            Choice::new(REPORT, "Hand the report in", "seriatim report STEP FILE; the same checks follow.")
                .with_text(),
            Choice::new(FAILED, "It could not be done", "Your words are kept as the reason.").with_text(),
        ],
        free_text: true,
        about: vec![],
    }
}

/// What a report that was handed in means; sentences about what is wrong with it where it cannot be used.
pub fn from_report(assignment: &Assignment, text: &str) -> Result<Result<Report, Failure>, Vec<String>> {
    let report = seriatim_core::report::read(text.as_bytes(), &demand(assignment))?;
    Ok(judge(report, ""))
}

/// What a person sees who is the agent for a piece of work.
pub fn as_question(assignment: &Assignment) -> Question {
    if assignment.attach {
        return to_be_taken(assignment);
    }
    let mut options: Vec<Choice> = assignment.by_person.iter().map(|option| option.choice.clone()).collect();
    if options.is_empty() {
        options.push(Choice::new("done", "It is done", "Your words become the result and the work goes on."));
    }
    options
        .push(Choice::new(FAILED, "It could not be done", "Your words are kept as the reason.").with_text());
    Question {
        header: assignment.title.clone(),
        question: format!("Please do this and say how it went: {}", assignment.title),
        why: "This work is assigned to a person.".into(),
        tried: assignment.brief.feedback.clone(),
        details: assignment.brief.prompt.clone(),
        options,
        free_text: true,
        about: vec![],
    }
}

/// What a person's answer to [`as_question`] means.
pub fn from_answer(assignment: &Assignment, answer: &Answer) -> Result<Report, Failure> {
    let text = answer.text.clone().unwrap_or_default();
    if assignment.attach && answer.choice == REPORT {
        return from_report(assignment, &text).unwrap_or_else(|problems| {
            let message = format!("its report cannot be used: {}", problems.join("; "));
            Err(Failure { feedback: problems, ..Failure::new(Class::Invalid, message) })
        });
    }
    if answer.choice == FAILED {
        let cause = claimed(Class::Contract, false, &text, "");
        return Err(Failure::new(Class::Contract, text).because(cause));
    }
    let chosen = assignment.by_person.iter().find(|option| option.choice.id == answer.choice);
    let mut outputs = chosen.map(|option| option.outputs.clone()).unwrap_or_default();
    if let Some(name) = chosen.map(|option| &option.words_as).filter(|name| !name.is_empty()) {
        outputs.insert(name.clone(), text.clone().into());
    }
    outputs.insert("answer".into(), text.clone().into());
    outputs.insert("by".into(), answer.by.clone().into());
    let judged = |met: bool| {
        let criterion = |text: &String| Judged {
            criterion: text.clone(),
            met,
            confidence: Some(100.0),
            reason: format!("said by {}", answer.by),
        };
        assignment.brief.criteria.iter().map(criterion).collect()
    };
    Ok(Report {
        status: Status::Done,
        summary: if text.is_empty() {
            format!("{} by {}.", label(assignment, answer), answer.by)
        } else {
            text
        },
        outputs,
        confidence: None,
        triggers: vec![],
        criteria: chosen.and_then(|option| option.criteria_met).map_or(vec![], judged),
        verdict: chosen.map(|option| option.verdict.clone()).unwrap_or_default(),
        decisions: vec![],
        observations: vec![],
        questions: vec![],
        artifacts: vec![],
        usage: None,
        error: None,
        person: Some(answer.by.clone()),
        unknown: Default::default(),
    })
}

/// The words for what a person chose.
fn label(assignment: &Assignment, answer: &Answer) -> String {
    let chosen = assignment.by_person.iter().find(|option| option.choice.id == answer.choice);
    chosen.map_or_else(|| "Done".to_owned(), |option| option.choice.label.clone())
}

/// What a report must be to be taken.
fn demand(assignment: &Assignment) -> Demand {
    Demand {
        required_outputs: assignment.required.clone(),
        criteria: assignment.brief.criteria.clone(),
        judge_all: assignment.judge_all,
        triggers: assignment.brief.triggers.clone(),
        verdict: assignment.verdict.clone(),
        max_bytes: REPORT_BYTES_MAX,
    }
}

/// A report that says `failed` is a failure whose class the agent names; its words and the end of its output are its
/// claim about the cause.
fn judge(report: Report, printed: &str) -> Result<Report, Failure> {
    if report.status != Status::Failed {
        return Ok(report);
    }
    let said_class = report.error.as_ref().and_then(ReportedError::failure_class);
    let class = said_class.unwrap_or(Class::Contract);
    let said = report.error.map(|e| e.message).unwrap_or_default();
    let message = [said, report.summary, "it gave no reason".to_owned()]
        .into_iter()
        .find(|m| !m.trim().is_empty())
        .unwrap_or_default();
    let unclassed = said_class.is_none();
    let cause = claimed(class, unclassed, &message, printed);
    Err(Failure { unclassed, cause, ..Failure::new(class, message) })
}
