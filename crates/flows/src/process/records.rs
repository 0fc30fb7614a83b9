//! Decisions and observations: each has an id of its own before it is recorded.

use serde_json::Value;
use seriatim_core::process::Capability;
use seriatim_core::process::DecisionType;
use seriatim_core::process::ObservationType;
use seriatim_core::process::definition::Step;
use seriatim_core::process::facts::Decision;
use seriatim_core::process::facts::Fact;
use seriatim_core::process::facts::Observation;
use seriatim_core::process::log::DECISIONS;
use seriatim_core::process::log::OBSERVATIONS;
use seriatim_core::report::Report;

use super::course::Course;
use crate::request::FreshIds;

/// The tag of every record that a run makes.
const TAG: &str = "process-execution";

/// A decision that is about to get its id.
pub(super) struct Decided {
    pub(super) actor: String,
    pub(super) subject: String,
    pub(super) outcome: String,
    pub(super) rationale: String,
}

/// An observation that is about to get its id.
pub(super) struct Observed {
    pub(super) kind: ObservationType,
    pub(super) observer: String,
    pub(super) subject: String,
    pub(super) value: Value,
}

/// The ids that records got.
#[derive(Default, Clone)]
pub(super) struct RecordIds {
    pub(super) decisions: Vec<String>,
    pub(super) observations: Vec<String>,
}

impl RecordIds {
    pub(super) fn add(&mut self, other: RecordIds) {
        self.decisions.extend(other.decisions);
        self.observations.extend(other.observations);
    }
}

impl Course<'_> {
    async fn fresh(&self, prefix: &str, folder: &str, count: usize) -> Vec<String> {
        if count == 0 {
            return vec![];
        }
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let wanted =
            FreshIds { prefix: prefix.into(), folder: folder.into(), extension: "yaml".into(), count };
        self.cx.ids(wanted).await
    }

    /// Records all of them (PX-95 to PX-98). A dry run records nothing and says what it would have (PX-24).
    pub(super) async fn record(&mut self, decided: Vec<Decided>, observed: Vec<Observed>) -> RecordIds {
        if self.test() {
            for d in decided {
                self.test_log(format!("TEST: Would record a decision - {}: {}", d.subject, d.outcome));
            }
            for o in observed {
                let value = o.value.as_str().map_or_else(|| o.value.to_string(), str::to_owned);
                self.test_log(format!("TEST: {}: {value}", o.subject));
            }
            return RecordIds::default();
        }
        let at = self.cx.now().await;
        let decisions = self.fresh("DEC", DECISIONS, decided.len()).await;
        let observations = self.fresh("OBS", OBSERVATIONS, observed.len()).await;
        let context = self.title().to_owned();
        for (id, d) in decisions.iter().zip(decided) {
            self.cx.record(&Fact::Decision(Decision {
                id: id.clone(),
                at,
                kind: DecisionType::Operational,
                actor: d.actor,
                subject: d.subject,
                outcome: d.outcome,
                rationale: d.rationale,
                context: context.clone(),
                reference: String::new(),
                tags: vec![TAG.into()],
            }));
        }
        for (id, o) in observations.iter().zip(observed) {
            self.cx.record(&Fact::Observation(Observation {
                id: id.clone(),
                at,
                kind: o.kind,
                observer: o.observer,
                subject: o.subject,
                value: o.value,
                context: context.clone(),
                tags: vec![TAG.into()],
            }));
        }
        self.recorded.extend(decisions.iter().chain(&observations).cloned());
        RecordIds { decisions, observations }
    }

    /// An observation of the engine's own.
    pub(super) async fn observe(&mut self, kind: ObservationType, subject: &str, value: Value) -> RecordIds {
        let observer = self.start.actor.clone();
        self.record(vec![], vec![Observed { kind, observer, subject: subject.to_owned(), value }]).await
    }

    /// The same where nobody needs the id.
    pub(super) async fn observe_quietly(&mut self, kind: ObservationType, subject: &str, value: Value) {
        // Boxed: an edit observes, and observing may lead to an edit only through this call.
        Box::pin(self.observe(kind, subject, value)).await;
    }
}

/// What an agent's report is worth recording: its own notes, and at least one record of the step itself.
pub(super) fn of_report(step: &Step, actor: &str, report: &Report) -> (Vec<Decided>, Vec<Observed>) {
    let mut decided: Vec<Decided> = report
        .decisions
        .iter()
        .map(|d| Decided {
            actor: actor.to_owned(),
            subject: d.subject.clone(),
            outcome: d.outcome.clone(),
            rationale: d.rationale.clone(),
        })
        .collect();
    let mut observed: Vec<Observed> = report
        .observations
        .iter()
        .map(|o| Observed {
            kind: match o.kind.as_str() {
                "MEASUREMENT" => ObservationType::Measurement,
                "EVENT" => ObservationType::Event,
                _ => ObservationType::State,
            },
            observer: actor.to_owned(),
            subject: o.subject.clone(),
            value: o.value.clone(),
        })
        .collect();
    let summary = if report.summary.is_empty() { "done" } else { &report.summary };
    let (subject, actor) = (step.name.value.clone(), actor.to_owned());
    if step.capability.value == Capability::Decide {
        if decided.is_empty() {
            let (outcome, rationale) = (summary.to_owned(), summary.to_owned());
            decided.push(Decided { actor, subject, outcome, rationale });
        }
    } else if observed.is_empty() {
        let kind = ObservationType::State;
        observed.push(Observed { kind, observer: actor, subject, value: summary.into() });
    }
    (decided, observed)
}
