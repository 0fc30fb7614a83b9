//! What a process leaves behind: execution logs, decisions and observations. They are written by this tool
//! and by others, so reading them is a check of what must hold and no more.

use std::collections::BTreeSet;

use super::Capability;
use super::DecisionType;
use super::ExecutionStatus;
use super::FlowEvent;
use super::ObservationType;
use super::Pattern;
use super::StepStatus;
use super::instance::is_stamped;
use super::instance::timestamp;
use crate::doc::At;
use crate::doc::Fields;
use crate::doc::Node;
use crate::doc::Sink;
use crate::finding::Finding;
use crate::finding::Severity;

/// Checks an execution log.
pub fn execution_log(root: &Node, sink: &Sink) {
    let Some(mut top) = Fields::of(root, "an execution log", sink) else { return };
    if top.required("execution").is_some()
        && let Some(fields) = top.map("execution", "`execution`")
    {
        execution(fields);
    }
    let mut listed = Listed::default();
    for node in top.list("step_executions") {
        step_execution(node, &mut listed, sink);
    }
    audit_summary(&mut top, &listed);
    for node in top.list("control_flow_events") {
        flow_event(node, sink);
    }
    top.ignore(&["errors", "test_summary", "test_log"]);
    top.finish();
}

/// The ids that the steps of a log name.
#[derive(Default)]
struct Listed {
    decisions: BTreeSet<String>,
    observations: BTreeSet<String>,
}

fn execution(mut fields: Fields<'_>) {
    let id = fields.required_text("id");
    stamped(&id, "EXEC", fields.sink());
    fields.required_text("instance_id");
    fields.required("started");
    timestamp(&mut fields, "started");
    let completed = timestamp(&mut fields, "completed");
    fields.required("status");
    let status = fields.word::<ExecutionStatus>("status", Severity::Warning);
    let over = status.filter(|s| matches!(s.value, ExecutionStatus::Completed | ExecutionStatus::Failed));
    if let (Some(status), None) = (over, completed) {
        let message = format!("the execution is {status} but has no time of completion");
        fields.sink().push(Finding::warning("completed", status.place, message).help("add `completed:`"));
    }
    fields.required("executor");
    // Older writers put these here, newer ones beside `execution`.
    fields.ignore(&["test_mode", "test_log", "errors", "control_flow_events"]);
    fields.finish();
}

fn step_execution(node: &Node, listed: &mut Listed, sink: &Sink) {
    let Some(mut fields) = Fields::of(node, "a step execution", sink) else { return };
    fields.required_text("step_id");
    fields.text("step_name");
    fields.word::<Capability>("capability", Severity::Warning);
    fields.word::<Pattern>("pattern", Severity::Warning);
    timestamp(&mut fields, "started");
    timestamp(&mut fields, "completed");
    fields.count("duration_ms");
    fields.required("status");
    fields.word::<StepStatus>("status", Severity::Warning);
    fields.text("outcome_summary");
    listed.decisions.extend(fields.lines("decisions").into_iter().map(|id| id.value));
    listed.observations.extend(fields.lines("observations").into_iter().map(|id| id.value));
    fields.count("iteration");
    fields.ignore(&["escalation", "error", "test_log"]);
    fields.finish();
}

fn flow_event(node: &Node, sink: &Sink) {
    let Some(mut fields) = Fields::of(node, "a flow event", sink) else { return };
    timestamp(&mut fields, "timestamp");
    fields.required("type");
    fields.word::<FlowEvent>("type", Severity::Warning);
    fields.text("from_step");
    fields.text("to_step");
    fields.text("reason");
    fields.count("iteration");
    fields.word::<super::Severity>("severity", Severity::Warning);
    fields.flag("fix_step_used");
    fields.finish();
}

/// The counts of the summary must be those of the ids it lists, and it lists what the steps name.
fn audit_summary(top: &mut Fields<'_>, listed: &Listed) {
    let Some(mut summary) = top.map("audit_summary", "`audit_summary`") else { return };
    for (total, ids, named) in [
        ("total_decisions", "decision_ids", &listed.decisions),
        ("total_observations", "observation_ids", &listed.observations),
    ] {
        let count = summary.count(total);
        let given = summary.node(ids).is_some();
        let ids_listed = summary.lines(ids);
        if let Some(count) = count.filter(|count| given && count.value as usize != ids_listed.len()) {
            let message = format!("`{total}` is {count}, but `{ids}` lists {}", ids_listed.len());
            let finding = Finding::error("audit-count", count.place, message);
            summary.sink().push(finding.help(format!("write {}", ids_listed.len())));
        }
        let known: BTreeSet<&str> = ids_listed.iter().map(|id| id.as_str()).collect();
        if let Some(id) = named.iter().find(|id| given && !known.contains(id.as_str())) {
            let message = format!("a step names `{id}`, but `{ids}` does not list it");
            summary.sink().push(Finding::warning("audit-ids", summary.place(), message));
        }
    }
    summary.ignore(&["note"]);
    summary.finish();
}

/// Checks a decision. A DESIGN or ADR decision is worth nothing without its reasons.
pub fn decision(root: &Node, sink: &Sink) {
    let Some(mut fields) = Fields::of(root, "a decision", sink) else { return };
    let id = fields.required_text("id");
    stamped(&id, "DEC", sink);
    fields.required("timestamp");
    timestamp(&mut fields, "timestamp");
    fields.required("type");
    let kind = fields.word::<DecisionType>("type", Severity::Error);
    fields.required_text("actor");
    // One richer form has a title and a decision in the place of subject and outcome.
    if fields.node("title").is_none() {
        fields.required_text("subject");
    }
    if fields.node("decision").is_none() {
        fields.required_text("outcome");
    }
    if kind.is_some_and(|kind| matches!(kind.value, DecisionType::Design | DecisionType::Adr)) {
        fields.required_text("rationale");
        fields.required("context");
    }
    fields.ignore(&[
        "subject",
        "outcome",
        "rationale",
        "context",
        "ref",
        "tags",
        "implications",
        "affected_artifacts",
    ]);
    fields.finish();
}

/// Checks an observation.
pub fn observation(root: &Node, sink: &Sink) {
    let Some(mut fields) = Fields::of(root, "an observation", sink) else { return };
    let id = fields.required_text("id");
    stamped(&id, "OBS", sink);
    fields.required("timestamp");
    timestamp(&mut fields, "timestamp");
    fields.required("type");
    fields.word::<ObservationType>("type", Severity::Error);
    fields.required_text("observer");
    fields.required_text("subject");
    fields.required("value");
    fields.ignore(&["context", "tags", "ref"]);
    fields.finish();
}

fn stamped(id: &At<String>, prefix: &str, sink: &Sink) {
    if !id.is_empty() && !is_stamped(id, prefix) {
        let message = format!("`{id}` does not have the form of its kind");
        sink.push(
            Finding::warning("id", id.place, message)
                .help(format!("ids have the form `{prefix}-20260118-143052`")),
        );
    }
}
