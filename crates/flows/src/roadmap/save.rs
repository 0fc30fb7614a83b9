//! Saving a step: before each phase and after it, with what happened and what goes on record (DW-40, DW-49).

use serde::Deserialize;
use serde::Serialize;
use serde_json::Map;
use serde_json::Value;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::finding::Finding;
use seriatim_core::roadmap::audit;
use seriatim_core::roadmap::audit::Event;
use seriatim_core::roadmap::audit::Happening;
use seriatim_core::roadmap::change::Changed;
use seriatim_core::roadmap::change::Refusal;
use seriatim_core::roadmap::document;
use seriatim_core::roadmap::document::Record;
use seriatim_core::roadmap::facts::ErrorArea;
use seriatim_core::roadmap::facts::RoadmapFact;
use seriatim_core::roadmap::result::Actor;
use seriatim_core::roadmap::result::FilesModified;
use seriatim_core::roadmap::result::Transition;
use seriatim_core::roadmap::state::StepState;
use seriatim_core::roadmap::store::StateFile;
use seriatim_core::roadmap::store::memory_key;
use seriatim_core::time::Utc;

use super::Start;
use super::work::Stop;
use super::work::Work;
use crate::Cx;
use crate::registry::Applied;
use crate::registry::AuditLine;
use crate::registry::Posting;
use crate::request::Post;

impl Work<'_> {
    /// Takes a change over that the machines allowed; it is saved with the next [`Work::save`].
    pub(super) fn take(&mut self, changed: Result<Changed, Refusal>, now: Utc) -> Result<(), Stop> {
        let (state, events) = changed.map_err(|refusal| Stop::failed(refusal.to_string()))?;
        for event in &events {
            if event.happening != Happening::StateTransition {
                continue;
            }
            let to = event.data.get("to").and_then(Value::as_str);
            let trigger = event.data.get("trigger").and_then(Value::as_str).unwrap_or_default();
            // Work is begun and brought back by whoever does it; the rest is the engine's doing.
            let by_agent = matches!(trigger, "agent_starts" | "resume");
            let entry = Transition {
                status: seriatim_core::roadmap::state::StepStatus::read(to),
                at: now,
                actor: if by_agent { Actor::Agent(self.agent.clone()) } else { Actor::System },
                reason: Some(trigger.to_owned()).filter(|trigger| !trigger.is_empty()),
                note: state.failure_reason.clone().filter(|_| to == Some("FAILED")),
            };
            self.history.push(entry.to_json());
        }
        self.unsaid.extend(events);
        self.state = state;
        Ok(())
    }

    /// An event of this step.
    pub(super) fn event(&self, happening: Happening, now: Utc) -> Event {
        Event::new(now, happening, &self.path).with("step_id", self.step.id.as_str())
    }

    /// Writes the step as it stands. A file that cannot be written is a reason to stop: nothing goes on unrecorded.
    pub(super) async fn save(&mut self, cx: &Cx) -> Result<(), Stop> {
        self.save_with(cx, None).await
    }

    pub(super) async fn save_with(&mut self, cx: &Cx, files: Option<FilesModified>) -> Result<(), Stop> {
        self.memory.usage.clone_from(&self.usage);
        let change = StepChange {
            before: self.saved.clone(),
            after: self.state.clone(),
            events: std::mem::take(&mut self.unsaid),
            record: std::mem::take(&mut self.record),
            history: std::mem::take(&mut self.history),
            files,
        };
        let plain = |error: serde_json::Error| Stop::failed(format!("the step cannot be recorded: {error}"));
        let change = serde_json::to_value(&change).map_err(plain)?;
        let memory = serde_json::to_value(&self.memory).map_err(plain)?;
        let (path, at) = (self.path.clone(), cx.now().await);
        let post = Post { key: memory_key(&path, &self.step.id), path, change, memory, at };
        match cx.post(post).await {
            Ok(posted) => {
                if posted.foreign {
                    let what = "another writer changed this step in the state file while it was carried out; \
                                what the engine recorded was written again";
                    cx.record(&RoadmapFact::Error {
                        text: format!("{}: {what}", self.path),
                        about: Some(ErrorArea::StateFile),
                    });
                }
                self.trail = audit::trail_of(&self.path, at);
                self.saved.clone_from(&self.state);
                Ok(())
            }
            Err(failure) => {
                Err(Stop::failed(format!("{} cannot be written: {}", self.path, failure.message)))
            }
        }
    }
}

/// A change of one step in its state file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct StepChange {
    /// The step as the flow believes it to be in the file; another content is replaced all the same, and told.
    before: StepState,
    after: StepState,
    /// Events for the audit trail.
    events: Vec<Event>,
    /// Fields that go on record beside the phases.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    record: Map<String, Value>,
    /// Entries for the history of the step's states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    history: Vec<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    files: Option<FilesModified>,
}

/// Makes the new text of a state file and the audit lines of a change.
pub(crate) fn apply(posting: &Posting<'_>) -> Result<Applied, Failure> {
    let refused = |what: String| Failure::new(Class::Contract, what);
    let broken = |error: serde_json::Error| refused(format!("the change cannot be read: {error}"));
    let StepChange { before, after, events, record, history, files } =
        StepChange::deserialize(posting.change).map_err(broken)?;
    let start = Start::deserialize(posting.input).map_err(broken)?;
    let own = start.own_schemas().map_err(|findings| refused(first_message(&findings)))?;
    let fresh = || document::new_for(posting.path, &after.project_id, &after.task_id, posting.at);
    let text = posting.text.map_or_else(fresh, str::to_owned);
    let file = StateFile::read(posting.path, &text, &own).map_err(|findings| {
        refused(format!("{} cannot be read any more: {}", posting.path, first_message(&findings)))
    })?;
    let found = find_step(&file, posting.path, &before, &after.task_id);
    let record = Record { fields: record, history, files };
    let text = file.write(&after, &record, posting.at).map_err(|error| refused(error.to_string()))?;
    let audit = events
        .iter()
        .map(|event| AuditLine { file: audit::trail_of(&event.step_file, event.at), line: event.line() })
        .collect();
    Ok(Applied { text, foreign: found.is_some_and(|found| differs(&found, &before)), audit })
}

fn first_message(findings: &[Finding]) -> String {
    findings.first().map(|finding| finding.message.clone()).unwrap_or_default()
}

/// Returns the step as the file has it, if it has it.
fn find_step(file: &StateFile, path: &str, before: &StepState, id: &str) -> Option<StepState> {
    let known = file.steps().iter().any(|known| known == id);
    known.then(|| file.step(path, &before.project_id, id, before.schema()))
}

/// Returns whether another writer changed the status of a step or of its phases.
fn differs(found: &StepState, believed: &StepState) -> bool {
    let phases = |state: &StepState| {
        let of = state
            .phases
            .iter()
            .map(|phase| (phase.name.clone(), phase.status.clone(), phase.outcome.clone()));
        of.collect::<Vec<_>>()
    };
    found.status != believed.status || phases(found) != phases(believed)
}
