//! The state file of a step: read, compared with what was last known, and written through the book.

use seriatim_core::finding::Finding;
use seriatim_core::hash::Hash;
use seriatim_core::roadmap::audit::Event;
use seriatim_core::roadmap::audit::Happening;
use seriatim_core::roadmap::change;
use seriatim_core::roadmap::document;
use seriatim_core::roadmap::document::Document;
use seriatim_core::roadmap::phases::Schema;
use seriatim_core::roadmap::state::StepState;
use seriatim_core::roadmap::verdict::Recovered;
use seriatim_core::time::Utc;

use super::Guard;
use super::GuardError;
use super::book::Desk;
use super::project::Project;
use super::rules::Rules;
use super::step::OpenStep;

/// A step as its state file has it.
pub(super) struct Loaded {
    pub(super) document: Document,
    pub(super) state: StepState,
    pub(super) schema: Schema,
    pub(super) text: String,
}

impl Loaded {
    pub(super) fn hash(&self) -> Hash {
        Hash::of(self.text.as_bytes())
    }
}

/// Reads a step. What is wrong with the file comes back as findings, all at once.
pub(super) fn load(
    project: &Project,
    rules: &Rules,
    step_file: &str,
    id: Option<&str>,
) -> Result<Result<Loaded, Vec<Finding>>, GuardError> {
    match project.read(step_file)? {
        Some(text) => Ok(parse(rules, step_file, text, id)),
        None => Ok(Err(vec![document::not_found(step_file)])),
    }
}

pub(super) fn parse(
    rules: &Rules,
    step_file: &str,
    text: String,
    id: Option<&str>,
) -> Result<Loaded, Vec<Finding>> {
    let document = Document::read_among(step_file, &text, rules.own())?;
    let state = match document.step(id) {
        Ok(state) => state,
        // A file for many steps gets its entry when the first phase begins.
        Err(_) if id.is_some() && document.shape() == document::Shape::Status => {
            document.step_or_fresh(id.unwrap_or_default(), rules.usual())
        }
        Err(error) => {
            return Err(vec![Finding::error("step", seriatim_core::finding::Place::TOP, error.to_string())]);
        }
    };
    let schema = rules.schema_of(&state);
    Ok(Loaded { document, state, schema, text })
}

/// Compares a file before and after an edit by hand: the step in question, and all others that the file holds, so
/// that nothing gets in on the back of a lawful edit.
fn imported(rules: &Rules, before: &Loaded, after: &Loaded, now: Utc) -> change::Imported {
    let mut all = change::import(&before.state, &after.state, &after.schema, now);
    for state in after.document.states() {
        if state.task_id == after.state.task_id {
            continue;
        }
        let schema = rules.schema_of(&state);
        let known = before.document.step_or_fresh(&state.task_id, &schema);
        let other = change::import(&known, &state, &schema, now);
        all.findings.extend(other.findings);
        all.events.extend(other.events);
    }
    all
}

/// What came of looking at a state file again.
pub(super) struct Synced {
    pub(super) loaded: Loaded,
    /// What an edit by hand broke; the file is then as it was before.
    pub(super) refused: Vec<String>,
}

impl Guard<'_> {
    /// Looks at the state files of all open steps again, before anything is made of what stands in them.
    pub(super) fn look_again(&mut self, rules: &Rules) -> Result<(), GuardError> {
        let mut edited = vec![];
        for step in self.book()?.steps()? {
            let found = self.project.read(&step.step_file)?.map(|text| Hash::of(text.as_bytes()));
            if found != step.state {
                edited.push(step);
            }
        }
        // Most of the time nobody has edited anything, and then nothing is written.
        if edited.is_empty() {
            return Ok(());
        }
        self.transact(|desk| {
            for step in edited {
                let Some(mut step) = desk.step(&step.step_file, &step.task_id)? else { continue };
                if let Ok(Synced { loaded, .. }) = desk.sync(rules, &mut step)? {
                    step.state = Some(loaded.hash());
                    desk.keep(&step)?;
                }
            }
            Ok(())
        })
    }
}

impl Desk<'_, '_> {
    /// Reads the state of an open step. What another hand wrote since goes through the same checks as a command: a
    /// lawful edit is taken over, one that breaks the rules is undone (and kept in the book).
    pub(super) fn sync(
        &mut self,
        rules: &Rules,
        step: &mut OpenStep,
    ) -> Result<Result<Synced, Vec<Finding>>, GuardError> {
        let id = Some(step.task_id.as_str());
        let found = self.project.read(&step.step_file)?;
        let known = self.last_state(&step.step_file)?;
        let (found, known) = match (found, known) {
            (None, Some(known)) => {
                // Whoever removed it did not remove what it said.
                self.incident(step, "the state file was removed; it was written again")?;
                self.write_state(&step.step_file, known.clone())?;
                (known.clone(), known)
            }
            (None, None) => return Ok(Err(vec![document::not_found(&step.step_file)])),
            (Some(found), known) => {
                let known = known.unwrap_or_else(|| found.clone());
                (found, known)
            }
        };
        if found == known {
            let loaded = parse(rules, &step.step_file, found, id);
            return Ok(loaded.map(|loaded| Synced { loaded, refused: vec![] }));
        }
        self.import(rules, step, known, found)
    }

    fn import(
        &mut self,
        rules: &Rules,
        step: &mut OpenStep,
        known: String,
        found: String,
    ) -> Result<Result<Synced, Vec<Finding>>, GuardError> {
        let id = Some(step.task_id.as_str());
        let before = match parse(rules, &step.step_file, known.clone(), id) {
            Ok(before) => before,
            Err(findings) => return Ok(Err(findings)),
        };
        let after = parse(rules, &step.step_file, found.clone(), id);
        let (imported, after) = match after {
            Ok(after) => (imported(rules, &before, &after, self.now), Some(after)),
            Err(findings) => (change::Imported { findings, events: vec![] }, None),
        };
        match after.filter(|_| imported.is_lawful()) {
            Some(after) => {
                let taken = self
                    .event(Happening::StateImported, &step.step_file)
                    .with("step_id", step.task_id.as_str());
                if !imported.events.is_empty() {
                    self.happened(&taken)?;
                }
                for event in &imported.events {
                    self.happened(event)?;
                }
                self.saw_state(&step.step_file, &found)?;
                step.state = Some(after.hash());
                Ok(Ok(Synced { loaded: after, refused: vec![] }))
            }
            None => {
                let refused: Vec<String> = imported.findings.iter().map(|f| f.message.clone()).collect();
                let event = self
                    .event(Happening::StateImported, &step.step_file)
                    .with("step_id", step.task_id.as_str())
                    .with("refused", refused.clone())
                    .with("recovery_action", "restored");
                self.happened(&event)?;
                self.refused_state(&step.step_file, &found)?;
                self.write_state(&step.step_file, known)?;
                Ok(Ok(Synced { loaded: before, refused }))
            }
        }
    }

    /// Writes a step as it shall stand, with its events.
    pub(super) fn store(
        &mut self,
        step: &mut OpenStep,
        loaded: &Loaded,
        after: &StepState,
        events: &[Event],
    ) -> Result<(), GuardError> {
        let text = loaded
            .document
            .apply(after, self.now)
            .map_err(|error| GuardError::Refused(format!("{} cannot be changed: {error}", step.step_file)))?;
        for event in events {
            self.happened(event)?;
        }
        if text != loaded.text {
            step.state = Some(self.write_state(&step.step_file, text)?);
        }
        Ok(())
    }

    /// Writes what a recovery made of a step.
    pub(super) fn recover(
        &mut self,
        step: &mut OpenStep,
        loaded: &Loaded,
        recovered: &Recovered,
    ) -> Result<(), GuardError> {
        self.store(step, loaded, &recovered.state, &recovered.events)?;
        for finding in &recovered.findings {
            self.incident(step, &finding.message)?;
        }
        Ok(())
    }

    pub(super) fn incident(&mut self, step: &OpenStep, what: &str) -> Result<(), GuardError> {
        let event = self
            .event(Happening::IntegrityIncident, &step.step_file)
            .with("step_id", step.task_id.as_str())
            .with("what", what);
        self.happened(&event)
    }
}
