//! The state files of the roadmap, kept as the engine keeps them: the one place that knows the form of these requests.

use std::collections::BTreeMap;

use serde_json::Value;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::roadmap::Schema;
use seriatim_core::roadmap::audit;
use seriatim_core::roadmap::document;
use seriatim_core::roadmap::document::Record;
use seriatim_core::roadmap::state::StepState;
use seriatim_core::roadmap::store::StateFile;
use seriatim_flows::Request;
use seriatim_flows::request::Done;
use seriatim_flows::request::Save;
use seriatim_flows::request::Saved;
use seriatim_flows::request::StateCall;

use crate::repository::Files;
use crate::stage::Reply;

/// The kind of these requests.
pub(crate) const KIND: &str = "state";

/// What is remembered between runs, and every save as one line.
#[derive(Default)]
pub(crate) struct Book {
    pub(crate) memory: BTreeMap<String, Value>,
    pub(crate) saves: Vec<String>,
    pub(crate) own: Vec<Schema>,
    /// The next savings that fail.
    pub(crate) troubles: Vec<Failure>,
}

impl Book {
    pub(crate) fn answer(&mut self, files: &mut Files, request: &Request) -> Reply {
        let Request::State(call) = request else { panic!("no request to the state files") };
        match call {
            StateCall::Recall { path, step } => {
                Reply::of(self.memory.get(&format!("{path}#{step}")).unwrap_or(&Value::Null))
            }
            StateCall::Save(save) => Reply::of(&self.save(files, save)),
        }
    }

    fn save(&mut self, files: &mut Files, save: &Save) -> Done<Saved> {
        if let Some(failure) = self.troubles.pop() {
            return Err(failure);
        }
        let step = &save.after.task_id;
        let text = files.get(&save.path).cloned();
        let text =
            text.unwrap_or_else(|| document::new_for(&save.path, &save.after.project_id, step, save.at));
        let file = StateFile::read(&save.path, &text, &self.own)
            .map_err(|findings| Failure::new(Class::Contract, findings[0].message.clone()))?;
        let known = file.steps().contains(step);
        let found = file.step(&save.path, &save.after.project_id, step, save.before.schema_among(&self.own));
        let record =
            Record { fields: save.record.clone(), history: save.history.clone(), files: save.files.clone() };
        let new = file.write(&save.after, &record, save.at).unwrap();
        files.insert(save.path.clone(), new);
        let folder = save.path.rsplit_once('/').map(|(folder, _)| folder).unwrap_or_default();
        let trail = format!("{folder}/{}", audit::file_name(save.at));
        let lines: String =
            save.events.iter().map(|event| format!("{}\n", event.line().trim_end())).collect();
        files.entry(trail.clone()).or_default().push_str(&lines);
        self.memory.insert(format!("{}#{step}", save.path), save.memory.clone());
        self.saves.push(in_words(save));
        Ok(Saved { foreign: known && differs(&found, &save.before), trail })
    }
}

fn differs(found: &StepState, believed: &StepState) -> bool {
    let phases = |state: &StepState| -> Vec<_> {
        state
            .phases
            .iter()
            .map(|phase| (phase.name.clone(), phase.status.clone(), phase.outcome.clone()))
            .collect()
    };
    found.status != believed.status || phases(found) != phases(believed)
}

/// A save as one line: the state of the step, and the phases that changed.
fn in_words(save: &Save) -> String {
    let changed = save.after.phases.iter().filter_map(|phase| {
        let before = save.before.phase(&phase.name).map(|before| (&before.status, &before.outcome));
        let outcome =
            phase.outcome.as_ref().map(|outcome| format!(" {}", outcome.word())).unwrap_or_default();
        let schema = save.after.schema();
        let reason = phase.blocked_by.as_deref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        (before != Some((&phase.status, &phase.outcome)))
            .then(|| format!("{} {}{outcome}{reason}", phase.name, phase.status.word_in(schema)))
    });
    let files = save.files.as_ref().map(|files| {
        format!(
            "files {}",
            files.implementation.iter().chain(&files.tests).cloned().collect::<Vec<_>>().join(" ")
        )
    });
    let mut parts: Vec<String> = changed.collect();
    parts.extend(files);
    format!("{} {}: {}", save.after.task_id, save.after.status.word(), parts.join(", "))
}
