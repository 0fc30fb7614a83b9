//! The state file of a step: read, compared with what was last known, and written through the book.

use std::rc::Rc;

mod live;
mod planned;

use serde_json::json;
use seriatim_core::finding::Finding;
use seriatim_core::hash::Hash;
use seriatim_core::roadmap::audit::Event;
use seriatim_core::roadmap::audit::Happening;
use seriatim_core::roadmap::change;
use seriatim_core::roadmap::document;
use seriatim_core::roadmap::document::Document;
use seriatim_core::roadmap::machine::Recovered;
use seriatim_core::roadmap::phases::Schema;
use seriatim_core::roadmap::state::StepState;
use seriatim_core::roadmap::verdict::Objection;
use seriatim_core::roadmap::verdict::sentences;
use seriatim_core::time::Utc;

use super::Guard;
use super::GuardError;
use super::book::Desk;
use super::project::Project;
use super::rules::Rules;
use super::step::OpenStep;

pub(super) use live::follow;

/// A step as its state file has it.
pub(super) struct Loaded {
    pub(super) document: Rc<Document>,
    pub(super) state: StepState,
    pub(super) schema: Schema,
    pub(super) text: String,
}

impl Loaded {
    pub(super) fn hash(&self) -> Hash {
        Hash::of(self.text.as_bytes())
    }

    /// The patterns that stand in another file than the state of the step.
    pub(super) fn planned_patterns(&self) -> Option<Vec<String>> {
        let is_elsewhere = self.document.shape() == document::Shape::Status;
        self.state.allowed_patterns.clone().filter(|_| is_elsewhere)
    }
}

/// Whether any state file was edited since the book last looked. It costs a look at each.
pub(super) fn is_any_edited(project: &Project) -> bool {
    !live::edited(project).is_empty()
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

/// Reads a step that somebody wants to begin with, and holds it against the roadmap beside its state file.
pub(super) fn load_planned(
    project: &Project,
    rules: &Rules,
    step_file: &str,
    id: Option<&str>,
) -> Result<Result<Loaded, Vec<Finding>>, GuardError> {
    let mut loaded = match load(project, rules, step_file, id)? {
        Ok(loaded) if loaded.document.shape() == document::Shape::Status => loaded,
        other => return Ok(other),
    };
    Ok(match planned::beside(project, step_file)? {
        Ok(None) => Ok(loaded),
        Ok(Some(roadmap)) => match planned::apply(&roadmap, &mut loaded.state) {
            Ok(()) => Ok(loaded),
            Err(finding) => Err(vec![finding]),
        },
        Err(findings) => Err(findings),
    })
}

/// Reads an open step, bound by what was planned when it was opened: a roadmap that is changed since frees nobody.
pub(super) fn load_open(
    project: &Project,
    rules: &Rules,
    step: &OpenStep,
) -> Result<Result<Loaded, Vec<Finding>>, GuardError> {
    let loaded = load(project, rules, &step.step_file, Some(&step.task_id))?;
    Ok(loaded.map(|loaded| bound(loaded, step)))
}

fn bound(mut loaded: Loaded, step: &OpenStep) -> Loaded {
    if let Some(patterns) = &step.patterns {
        loaded.state.allowed_patterns = Some(patterns.clone());
    }
    loaded
}

pub(super) fn parse(
    rules: &Rules,
    step_file: &str,
    text: String,
    id: Option<&str>,
) -> Result<Loaded, Vec<Finding>> {
    let document = rules.document(step_file, &text)?;
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
        all.found.extend(other.found);
        all.events.extend(other.events);
    }
    all
}

/// What came of looking at a state file again.
pub(super) struct Synced {
    pub(super) loaded: Loaded,
    /// What an edit by hand broke; the file is then as it was before.
    pub(super) refused: Vec<Objection>,
}

impl Guard<'_> {
    /// Takes over what other hands wrote into state files since the book last looked, so that each save is held against
    /// the one before it. An edit that breaks a rule may be half done: it is left as it is until somebody has to
    /// decide, at a stop, at a commit or by a command.
    pub(super) fn take_over_edits(&mut self) -> Result<(), GuardError> {
        let edited = live::edited(self.project);
        if edited.is_empty() {
            return Ok(());
        }
        let steps = self.book()?.steps()?;
        let mut changed = vec![];
        for file in &edited {
            let mut of_file = steps.iter().filter(|step| step.step_file == file.step_file).peekable();
            if of_file.peek().is_none() {
                live::leave(self.project, file);
                continue;
            }
            let found = self.project.read(&file.step_file)?.map(|text| Hash::of(text.as_bytes()));
            // One step of a file is enough: all others that it holds are compared with it.
            changed.extend(of_file.find(|step| step.state != found));
        }
        if !changed.is_empty() {
            let rules = self.rules()?;
            self.transact(|desk| changed.iter().try_for_each(|step| desk.take_over(&rules, step)))?;
        }
        for file in edited.iter().filter(|file| steps.iter().any(|step| step.step_file == file.step_file)) {
            live::seen(self.project, file, self.now);
        }
        Ok(())
    }

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
            return Ok(loaded.map(|loaded| Synced { loaded: bound(loaded, step), refused: vec![] }));
        }
        self.import(rules, step, known, found)
    }

    /// Takes a lawful edit of a step's file over, and leaves any other alone.
    fn take_over(&mut self, rules: &Rules, step: &OpenStep) -> Result<(), GuardError> {
        let Some(mut step) = self.step(&step.step_file, &step.task_id)? else { return Ok(()) };
        let (found, known) = (self.project.read(&step.step_file)?, self.last_state(&step.step_file)?);
        let (Some(found), Some(known)) = (found, known) else { return Ok(()) };
        if found == known {
            step.state = Some(Hash::of(found.as_bytes()));
            return self.keep(&step);
        }
        let read = |text: String| parse(rules, &step.step_file, text, Some(&step.task_id));
        let (Ok(before), Ok(after)) = (read(known), read(found)) else { return Ok(()) };
        let imported = imported(rules, &before, &after, self.now);
        if !imported.is_lawful() {
            return Ok(());
        }
        self.took_over(&mut step, &imported, &after)?;
        if !imported.events.is_empty() {
            // Who gets on is not counted out.
            step.sent_back = 0;
        }
        self.keep(&step)
    }

    /// Puts a lawful edit on record.
    fn took_over(
        &mut self,
        step: &mut OpenStep,
        imported: &change::Imported,
        after: &Loaded,
    ) -> Result<(), GuardError> {
        let taken =
            self.event(Happening::StateImported, &step.step_file).with("step_id", step.task_id.as_str());
        if !imported.events.is_empty() {
            self.happened(&taken)?;
        }
        for event in &imported.events {
            self.happened(event)?;
        }
        self.saw_state(&step.step_file, &after.text)?;
        step.state = Some(after.hash());
        Ok(())
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
        let refused: Vec<Objection> = match parse(rules, &step.step_file, found.clone(), id) {
            Ok(after) => {
                let imported = imported(rules, &before, &after, self.now);
                if imported.is_lawful() {
                    self.took_over(step, &imported, &after)?;
                    return Ok(Ok(Synced { loaded: bound(after, step), refused: vec![] }));
                }
                imported.objections()
            }
            Err(findings) => findings.iter().map(Objection::state_file).collect(),
        };
        let event = self
            .event(Happening::StateImported, &step.step_file)
            .with("step_id", step.task_id.as_str())
            .with("refused", sentences(&refused))
            .with("objections", json!(refused))
            .with("recovery_action", "restored");
        self.happened(&event)?;
        self.refused_state(&step.step_file, &found)?;
        self.write_state(&step.step_file, known)?;
        Ok(Ok(Synced { loaded: bound(before, step), refused }))
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
