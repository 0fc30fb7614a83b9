//! Execution logs: one event for each phase of each step, appended and never changed.
//!
//! A log is YAML or JSON, and its events are strings with bars between their fields, or mappings with short keys; real
//! logs mix them. Folded in order, the events of a step give the same [`StepState`] that other state files hold.

mod append;
mod checks;
mod event;
mod fold;
#[cfg(test)]
mod tests;

use serde_json::json;

pub use self::append::AppendError;
pub use self::event::Event;
pub use self::event::FILES_MODIFIED;
pub use self::event::Shape;
use super::document::StepError;
use super::machine;
use super::machine::Listed;
use super::phases::Schema;
use super::result::FilesModified;
use super::source;
use super::source::Syntax;
use super::state::PhaseStatus;
use super::state::StepState;
use super::state::StepStatus;
use crate::closest::closest;
use crate::doc;
use crate::doc::Node;
use crate::finding::Finding;
use crate::time::Utc;

/// A log that could be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Log {
    path: String,
    text: String,
    source: source::Source,
    events: Vec<Event>,
    findings: Vec<Finding>,
    /// Lists of phases that the project brings itself.
    own: Vec<Schema>,
    /// The phases of the step that was finished last.
    finished: Option<Schema>,
}

impl Log {
    /// Reads a log. Only what cannot be read at all is refused; everything else that is odd about it is in
    /// [`Log::findings`].
    pub fn read(path: &str, text: &str) -> Result<Log, Vec<Finding>> {
        Log::read_among(path, text, &[])
    }

    /// The same in a project that brings lists of phases of its own.
    pub fn read_among(path: &str, text: &str, own: &[Schema]) -> Result<Log, Vec<Finding>> {
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        let source = source::read(path, text)?;
        if source.root.as_map().is_none() {
            let message =
                format!("an execution log must be a mapping, but this is {}", source.root.in_words());
            return Err(vec![Finding::error("type", source.root.place, message)]);
        }
        let mut findings = source.findings.clone();
        let (events, more) = event::events(&source.root);
        findings.extend(more);
        findings.extend(checks::header(&source.root, &events));
        findings.extend(checks::events(&events));
        doc::sort(&mut findings);
        let (path, text, own) = (path.to_owned(), text.to_owned(), own.to_vec());
        let log = Log { path, text, source, events, findings, own, finished: None };
        Ok(Log { finished: log.find_finished(), ..log })
    }

    pub fn path(&self) -> &str {
        &self.path
    }

    /// Everything that is wrong or odd with the file, in one pass.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The events, in the order of the file.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    pub fn project_id(&self) -> String {
        project_id(&self.source.root).unwrap_or_default()
    }

    /// The ids of the steps, in the order in which they first occur.
    pub fn steps(&self) -> Vec<String> {
        let mut ids: Vec<String> = vec![];
        for event in &self.events {
            if !ids.contains(&event.step) {
                ids.push(event.step.clone());
            }
        }
        ids
    }

    /// The phases of a step.
    pub fn schema<'s>(&'s self, id: &'s str) -> &'s Schema {
        machine::phases_of(Listed::Log { log: self, step: id }, &self.own, None)
    }

    /// The phases of the step that was finished last, where one was (K-123).
    pub fn latest_finished(&self) -> Option<&Schema> {
        self.finished.as_ref()
    }

    /// The names of all phases that the log has, of whatever step.
    pub(super) fn phase_names(&self) -> impl Iterator<Item = &str> {
        self.events.iter().filter(|event| event.is_phase()).map(|event| event.phase.as_str())
    }

    /// The version that the header names.
    pub(super) fn schema_version(&self) -> Option<String> {
        source::first_text(&self.source.root, &["schema_version"])
    }

    /// A step as the log has it.
    pub fn step(&self, id: &str) -> Result<StepState, StepError> {
        let known = self.steps();
        if !known.iter().any(|known| known == id) {
            let meant = closest(id, known.iter().map(String::as_str)).map(str::to_owned);
            return Err(StepError::NotThere { path: self.path.clone(), step: id.to_owned(), meant, known });
        }
        Ok(self.folded(id, self.schema(id)))
    }

    fn folded(&self, id: &str, schema: &Schema) -> StepState {
        let fresh = StepState::fresh(&self.path, &self.project_id(), id, schema);
        fold::fold(fresh, self.events.iter().filter(|event| event.step == id), schema)
    }

    /// Finds the phases of the step that was finished last: the list that fits what it went through.
    fn find_finished(&self) -> Option<Schema> {
        let mut ids: Vec<&str> = vec![];
        for event in self.events.iter().rev().filter(|event| event.is_phase()) {
            if !ids.contains(&event.step.as_str()) {
                ids.push(&event.step);
            }
        }
        ids.into_iter().find_map(|id| {
            let of_step = self.events.iter().filter(|event| event.step == id && event.is_phase());
            let schema = Schema::detect_among(&self.own, of_step.map(|event| event.phase.as_str()))?;
            (self.folded(id, schema).status == StepStatus::Done).then(|| schema.clone())
        })
    }

    /// All steps as the log has them.
    pub fn states(&self) -> Vec<StepState> {
        self.steps().iter().filter_map(|id| self.step(id).ok()).collect()
    }

    /// The files that the log says a step changed.
    pub fn files_modified(&self, id: &str) -> FilesModified {
        fold::files(self.events.iter().filter(|event| event.step == id))
    }

    /// The turns and tokens that the events of a step name.
    pub fn usage(&self, id: &str) -> (u64, u64) {
        let of_step = self.events.iter().filter(|event| event.step == id);
        of_step.fold((0, 0), |(turns, tokens), event| {
            let more = (event.turns.unwrap_or(0), event.tokens.unwrap_or(0));
            (u64::saturating_add(turns, more.0), u64::saturating_add(tokens, more.1))
        })
    }

    /// The text with events added at its end, in the form that the file uses. What was there stays as it was.
    pub fn append(&self, events: &[Event]) -> Result<String, AppendError> {
        append::append(self, events)
    }

    /// The text with the events that lead from the step as it stands to the step as it shall stand.
    pub fn apply(&self, after: &StepState, now: Utc) -> Result<String, AppendError> {
        self.append(&self.events_to(after, now))
    }

    /// One event for each phase that began, ended or was opened again since.
    pub fn events_to(&self, after: &StepState, now: Utc) -> Vec<Event> {
        let before = self.step(&after.task_id).ok();
        let mut events = vec![];
        for phase in &after.phases {
            let old = before.as_ref().and_then(|before| before.phase(&phase.name));
            let fresh = matches!(phase.status, PhaseStatus::NotExecuted | PhaseStatus::Pending);
            let same = old.is_some_and(|old| {
                (&old.status, &old.outcome, &old.ended_at) == (&phase.status, &phase.outcome, &phase.ended_at)
            });
            // What was opened again has to be said, or the log would go on saying that it is over.
            let opened =
                old.is_some_and(|old| !matches!(old.status, PhaseStatus::NotExecuted | PhaseStatus::Pending));
            let is_news = if fresh { opened } else { !same };
            if is_news {
                events.push(Event::of_phase(&after.task_id, phase, now));
            }
        }
        events
    }

    /// The steps that are done.
    pub fn done(&self) -> Vec<String> {
        let done = self.states().into_iter().filter(|state| state.status == StepStatus::Done);
        done.map(|state| state.task_id).collect()
    }
}

/// The project that a log belongs to, under either name.
fn project_id(root: &Node) -> Option<String> {
    source::first_text(root, &["project_id", "feature_id"])
}

/// What a check has to say about a log.
pub fn check(path: &str, text: &str) -> Vec<Finding> {
    match Log::read(path, text) {
        Ok(log) => log.findings,
        Err(findings) => findings,
    }
}

/// A new log without events, in the syntax that its name says.
pub fn new_log(path: &str, project_id: &str, now: Utc) -> String {
    let log = json!({
        "schema_version": "3.0", "project_id": project_id, "created_at": now.seconds(), "events": [],
    });
    let is_json = path.to_ascii_lowercase().ends_with(".json");
    match serde_json::to_string_pretty(&log) {
        Ok(text) if is_json => text + "\n",
        _ => doc::write(&log),
    }
}

/// The syntax of a log, for those who write into it.
fn is_json(log: &Log) -> bool {
    log.source.syntax == Syntax::Json
}
