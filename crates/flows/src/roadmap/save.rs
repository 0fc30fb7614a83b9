//! Saving a step: before each phase and after it, with what happened and what goes on record (DW-40, DW-49).

use serde_json::Value;
use serde_json::json;
use seriatim_core::roadmap::audit::Event;
use seriatim_core::roadmap::audit::Happening;
use seriatim_core::roadmap::change::Changed;
use seriatim_core::roadmap::change::Refusal;
use seriatim_core::roadmap::result::Actor;
use seriatim_core::roadmap::result::FilesModified;
use seriatim_core::roadmap::result::Transition;
use seriatim_core::time::Utc;

use super::work::Stop;
use super::work::Work;
use crate::Cx;
use crate::request::Save;

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
        let save = Save {
            path: self.path.clone(),
            before: self.saved.clone(),
            after: self.state.clone(),
            events: std::mem::take(&mut self.unsaid),
            record: std::mem::take(&mut self.record),
            history: std::mem::take(&mut self.history),
            files,
            memory: serde_json::to_value(&self.memory).unwrap_or_default(),
            at: cx.now().await,
        };
        match cx.save(save).await {
            Ok(saved) => {
                if saved.foreign {
                    let what = "somebody else changed this step in the state file while it was carried out; \
                                what the engine recorded was written again";
                    cx.record(&json!({"fact": "error", "text": format!("{}: {what}", self.path)}));
                }
                self.trail = saved.trail;
                self.saved.clone_from(&self.state);
                Ok(())
            }
            Err(failure) => {
                Err(Stop::failed(format!("{} cannot be written: {}", self.path, failure.message)))
            }
        }
    }
}
