//! The execution log and the records, projected from facts.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use super::ExecutionStatus;
use super::facts::Began;
use super::facts::Decision;
use super::facts::Fact;
use super::facts::Finished;
use super::facts::FlowChange;
use super::facts::Observation;
use super::facts::StepRecord;
use crate::doc;
use crate::projection;
use crate::projection::Image;
use crate::projection::Projector;
use crate::time::Utc;

/// Where execution logs are.
pub const EXECUTIONS: &str = ".dialogue/logs/executions";
/// Where decisions are.
pub const DECISIONS: &str = ".dialogue/logs/decisions";
/// Where observations are.
pub const OBSERVATIONS: &str = ".dialogue/logs/observations";
/// Where instances are.
pub const INSTANCES: &str = ".dialogue/processes";

/// Folds the facts of a process run into its files.
#[derive(Debug, Default)]
pub struct Log {
    began: Option<Began>,
    status: Option<ExecutionStatus>,
    finished: Option<Finished>,
    steps: Vec<StepRecord>,
    events: Vec<FlowChange>,
    errors: Vec<String>,
    test_log: Vec<String>,
    test_summary: Option<Value>,
    /// Finished record files that were not handed out yet.
    records: BTreeMap<String, String>,
    dirty: bool,
}

/// A mapping in a fixed order.
fn object(fields: Vec<(&str, Value)>) -> Value {
    Value::Object(fields.into_iter().map(|(k, v)| (k.to_owned(), v)).collect::<Map<_, _>>())
}

fn time(at: Utc) -> Value {
    Value::String(at.seconds())
}

/// A file of the dialect begins and ends with `---`, as those in the wild do.
pub fn framed(value: &Value) -> String {
    format!("---\n{}---\n", doc::write(value))
}

impl Log {
    fn execution(&self, began: &Began) -> Value {
        let status = match (&self.finished, self.status) {
            (Some(finished), _) => finished.status,
            (None, Some(status)) => status,
            (None, None) => ExecutionStatus::InProgress,
        };
        let mut fields = vec![
            ("id", json!(began.execution_id)),
            ("instance_id", json!(began.instance_id)),
            ("started", time(began.at)),
            ("completed", self.finished.as_ref().map_or(Value::Null, |f| time(f.at))),
            ("status", json!(status.word())),
            ("executor", json!({"agent": "process-executor"})),
        ];
        if began.test_mode {
            fields.push(("test_mode", json!(true)));
            fields.push(("test_log", json!(self.test_log)));
        }
        object(fields)
    }

    /// The records of all steps, one after the other (PX-123).
    fn audit(&self) -> Value {
        let decisions: Vec<&String> = self.steps.iter().flat_map(|s| &s.decisions).collect();
        let observations: Vec<&String> = self.steps.iter().flat_map(|s| &s.observations).collect();
        let mut fields = vec![
            ("total_decisions", json!(decisions.len())),
            ("total_observations", json!(observations.len())),
            ("decision_ids", json!(decisions)),
            ("observation_ids", json!(observations)),
        ];
        if let Some(note) = self.finished.as_ref().and_then(|f| f.note.as_ref()) {
            fields.push(("note", json!(note)));
        }
        object(fields)
    }

    fn image(&self, began: &Began) -> Image {
        let mut fields = vec![
            ("execution", self.execution(began)),
            ("step_executions", self.steps.iter().map(step).collect()),
            ("audit_summary", self.audit()),
            ("control_flow_events", self.events.iter().map(event).collect()),
            ("errors", json!(self.errors)),
        ];
        if let Some(summary) = &self.test_summary {
            fields.push(("test_summary", summary.clone()));
        }
        let value = object(fields);
        Image { path: format!("{EXECUTIONS}/{}.yaml", began.execution_id), text: framed(&value) }
    }

    fn take(&mut self, fact: Fact) {
        match fact {
            Fact::Began(began) => self.began = Some(began),
            Fact::StepEnded(step) => self.steps.push(step),
            Fact::Decision(decision) => {
                let path = format!("{DECISIONS}/{}.yaml", decision.id);
                self.records.insert(path, framed(&decision_file(&decision)));
            }
            Fact::Observation(observation) => {
                let path = format!("{OBSERVATIONS}/{}.yaml", observation.id);
                self.records.insert(path, framed(&observation_file(&observation)));
            }
            Fact::FlowChanged(change) => self.events.push(change),
            Fact::FixStepUsed => {
                if let Some(last) = self.events.last_mut() {
                    last.fix_step_used = true;
                }
            }
            Fact::TestLogged { text } => self.test_log.push(text),
            Fact::TestSummary { steps, escalations } => {
                self.test_summary = Some(json!({"steps_validated": steps, "escalations": escalations}));
            }
            Fact::Error { text } => self.errors.push(text),
            Fact::Standing { status } => self.status = Some(status),
            // The log has a fixed form; the outcome of the instance carries what the result rests on.
            Fact::Weighed(_) => {}
            Fact::Finished(finished) => self.finished = Some(finished),
        }
        self.dirty = true;
    }
}

impl Projector for Log {
    fn apply(&mut self, fact: &projection::Fact) {
        if let Ok(fact) = serde_json::from_value::<Fact>(fact.data.clone()) {
            self.take(fact);
        }
    }

    fn changed(&mut self) -> Vec<Image> {
        let mut images: Vec<Image> =
            std::mem::take(&mut self.records).into_iter().map(|(path, text)| Image { path, text }).collect();
        if std::mem::take(&mut self.dirty)
            && let Some(began) = &self.began
        {
            images.push(self.image(began));
        }
        images
    }
}

fn step(record: &StepRecord) -> Value {
    let mut fields = vec![
        ("step_id", json!(record.step_id)),
        ("step_name", json!(record.step_name)),
        ("capability", json!(record.capability.word())),
        ("pattern", json!(record.pattern.word())),
        ("started", time(record.started)),
        ("completed", time(record.completed)),
        ("duration_ms", json!(record.completed.since_ms(record.started))),
        ("status", json!(record.status.word())),
        ("outcome_summary", json!(record.outcome_summary)),
        ("decisions", json!(record.decisions)),
        ("observations", json!(record.observations)),
    ];
    if let Some(escalation) = &record.escalation {
        fields.push(("escalation", serde_json::to_value(escalation).unwrap_or_default()));
    }
    fields.push(("iteration", json!(record.iteration)));
    if let Some(error) = &record.error {
        fields.push(("error", json!({"message": error.message, "recoverable": error.recoverable})));
    }
    object(fields)
}

/// All eight fields, always (PX-93).
fn event(change: &FlowChange) -> Value {
    object(vec![
        ("timestamp", time(change.at)),
        ("type", json!(change.kind.word())),
        ("from_step", json!(change.from_step)),
        ("to_step", json!(change.to_step)),
        ("reason", json!(change.reason)),
        ("severity", json!(change.severity.map(super::Severity::word))),
        ("iteration", json!(change.iteration)),
        ("fix_step_used", json!(change.fix_step_used)),
    ])
}

/// Adds the fields that are left out where they are empty.
fn with_context(
    mut fields: Vec<(&'static str, Value)>,
    context: &str,
    reference: &str,
    tags: &[String],
) -> Value {
    if !context.is_empty() {
        fields.push(("context", json!(context)));
    }
    if !reference.is_empty() {
        fields.push(("ref", json!(reference)));
    }
    if !tags.is_empty() {
        fields.push(("tags", json!(tags)));
    }
    object(fields)
}

/// A decision's file.
pub fn decision_file(decision: &Decision) -> Value {
    let fields = vec![
        ("id", json!(decision.id)),
        ("timestamp", time(decision.at)),
        ("type", json!(decision.kind.word())),
        ("actor", json!(decision.actor)),
        ("subject", json!(decision.subject)),
        ("outcome", json!(decision.outcome)),
        ("rationale", json!(decision.rationale)),
    ];
    with_context(fields, &decision.context, &decision.reference, &decision.tags)
}

/// An observation's file.
pub fn observation_file(observation: &Observation) -> Value {
    let fields = vec![
        ("id", json!(observation.id)),
        ("timestamp", time(observation.at)),
        ("type", json!(observation.kind.word())),
        ("observer", json!(observation.observer)),
        ("subject", json!(observation.subject)),
        ("value", observation.value.clone()),
    ];
    with_context(fields, &observation.context, "", &observation.tags)
}

/// Where the file of a record is.
pub fn record_path(id: &str) -> String {
    let folder = if id.starts_with("DEC-") { DECISIONS } else { OBSERVATIONS };
    format!("{folder}/{id}.yaml")
}

/// What is wrong with the records that steps name (PX-124): ids that stand twice, and ids that no record has.
pub fn audit_faults(steps: &[StepRecord], recorded: &BTreeSet<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut faults = Vec::new();
    for id in steps.iter().flat_map(|s| s.decisions.iter().chain(&s.observations)) {
        if !seen.insert(id) {
            faults.push(format!("{id} is named twice"));
        }
        if !recorded.contains(id) {
            faults.push(format!("{id} is named but was never recorded"));
        }
    }
    faults
}

#[cfg(test)]
mod tests;
