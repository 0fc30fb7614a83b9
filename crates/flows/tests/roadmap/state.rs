//! The state files of the roadmap, kept as the engine keeps them: the one place that knows the form of these requests.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use seriatim_core::failure::Failure;
use seriatim_core::roadmap::result::FilesModified;
use seriatim_core::roadmap::state::StepState;
use seriatim_flows::Request;
use seriatim_flows::registry;
use seriatim_flows::registry::Posting;
use seriatim_flows::request::BookCall;
use seriatim_flows::request::Done;
use seriatim_flows::request::Post;
use seriatim_flows::request::Posted;

use crate::repository::Files;
use crate::stage::Reply;

/// The kind of these requests.
pub(crate) const KIND: &str = "book";

/// What is remembered between runs, and every save as one line.
#[derive(Default)]
pub(crate) struct Book {
    pub(crate) memory: BTreeMap<String, Value>,
    pub(crate) saves: Vec<String>,
    /// What the run was started with.
    pub(crate) input: Value,
    /// The next savings that fail.
    pub(crate) troubles: Vec<Failure>,
}

/// A change as the dialect posts it.
#[derive(Deserialize)]
struct Save {
    before: StepState,
    after: StepState,
    #[serde(default)]
    files: Option<FilesModified>,
}

impl Book {
    pub(crate) fn answer(&mut self, files: &mut Files, request: &Request) -> Reply {
        let Request::Book(call) = request else { panic!("no request to the book") };
        match call {
            BookCall::Recall { key } => Reply::of(self.memory.get(key).unwrap_or(&Value::Null)),
            BookCall::Post(post) => Reply::of(&self.post(files, post)),
        }
    }

    fn post(&mut self, files: &mut Files, post: &Post) -> Done<Posted> {
        if let Some(failure) = self.troubles.pop() {
            return Err(failure);
        }
        let apply = registry::newest("roadmap").unwrap().apply;
        let text = files.get(&post.path).cloned();
        let posting = Posting {
            input: &self.input,
            path: &post.path,
            text: text.as_deref(),
            change: &post.change,
            at: post.at,
        };
        let applied = apply(&posting)?;
        files.insert(post.path.clone(), applied.text);
        for audit in applied.audit {
            let trail = files.entry(audit.file).or_default();
            trail.push_str(audit.line.trim_end());
            trail.push('\n');
        }
        self.memory.insert(post.key.clone(), post.memory.clone());
        self.saves.push(in_words(&Save::deserialize(&post.change).unwrap()));
        Ok(Posted { foreign: applied.foreign })
    }
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
