//! A roadmap without gates: nobody approves before its commits, so that a person says at the start that phases may close
//! unchecked. The answer covers this run and the phases that it names.

use seriatim_core::choices;
use seriatim_core::choices::Choices;
use seriatim_core::ledger::is_blank;
use seriatim_core::question::Choice;
use seriatim_core::question::Question;
use seriatim_core::roadmap::document;
use seriatim_core::roadmap::facts::DecisionOutcome;
use seriatim_core::roadmap::facts::Matter;
use seriatim_core::roadmap::phases::Schema;
use seriatim_core::roadmap::plan::Step;
use seriatim_core::roadmap::proof::Sort;
use seriatim_core::roadmap::store::StateFile;
use seriatim_core::verdict::PersonWord;

use super::people;
use super::project::Project;
use super::work::Stop;
use crate::Cx;

choices! {
    /// Whether the work begins although nothing checks it.
    pub(super) enum UncheckedChoice {
        Accept = "accept_unchecked",
        Cancel = "cancel",
    }
}

impl From<UncheckedChoice> for DecisionOutcome {
    fn from(choice: UncheckedChoice) -> DecisionOutcome {
        match choice {
            UncheckedChoice::Accept => DecisionOutcome::AcceptUnchecked,
            UncheckedChoice::Cancel => DecisionOutcome::Cancel,
        }
    }
}

/// A person's word that some phases may close on the agent's claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unchecked {
    pub(super) phases: Vec<String>,
    pub(super) by: String,
    pub(super) words: String,
}

impl Unchecked {
    /// Returns the line for results and summaries.
    pub(super) fn line(&self) -> String {
        let how = PersonWord::AcceptedUnchecked.words();
        format!("{} {how} by {}: {}", self.phases.join(", "), self.by, self.words)
    }
}

impl Project {
    /// Asks about phases for which no gate is configured, before any agent is called.
    pub(super) async fn ask_about_gates(&mut self, cx: &Cx) -> Result<(), Stop> {
        let phases = self.unchecked_phases(cx).await;
        if phases.is_empty() {
            return Ok(());
        }
        let mut tried = vec![];
        loop {
            let question = question(&self.start.project, &phases, &tried);
            let (choice, answer) = people::decide(cx, Matter::NoGates, &self.start.project, question).await;
            let words = answer.text.unwrap_or_default().trim().to_owned();
            match choice {
                UncheckedChoice::Cancel => return Err(Stop::Cancelled { by: answer.by }),
                UncheckedChoice::Accept if is_blank(&words) => {
                    tried = vec!["The last answer gave no reason.".to_owned()];
                }
                UncheckedChoice::Accept => {
                    self.unchecked = Some(Unchecked { phases, by: answer.by, words });
                    return Ok(());
                }
            }
        }
    }

    /// The phases of the steps to be carried out that demand a gate and have none.
    async fn unchecked_phases(&self, cx: &Cx) -> Vec<String> {
        let configured: Vec<String> = self.gates(cx).into_keys().collect();
        // What cannot be read is refused where the step begins.
        let done = self.done(cx).await.unwrap_or_default();
        let only = self.start.only.as_deref();
        let wanted = self.roadmap.steps.iter().filter(|step| only.is_none_or(|id| step.id == id));
        let wanted = wanted.filter(|step| !done.contains(&step.id));
        let ready = |step: &&Step| only.is_none() || self.roadmap.open_needs(&step.id, &done).is_empty();
        let steps: Vec<&Step> = wanted.filter(ready).collect();
        let mut found: Vec<String> = vec![];
        for step in steps {
            let Some(schema) = self.schema_ahead(cx, step).await else { continue };
            let skipped = step.presets(&schema);
            for phase in schema.names().filter(|name| !skipped.iter().any(|(skip, _)| skip == name)) {
                let sort = Sort::of(phase);
                let lacks = !sort.gates().is_empty() && sort.gates_among(&configured).is_empty();
                if lacks && !found.iter().any(|known| known == phase) {
                    found.push(phase.to_owned());
                }
            }
            // The steps of one file have one list of phases; one look is enough unless each has a file of its own.
            if !self.start.state.contains("{step}") && !found.is_empty() {
                break;
            }
        }
        found
    }

    /// The phases that a step will have, before anything of it is written.
    async fn schema_ahead(&self, cx: &Cx, step: &Step) -> Option<Schema> {
        let path = self.start.state_of(&step.id);
        let text = match cx.read(&path).await {
            Ok(text) => text.text,
            Err(_) => document::new_for(&path, &self.start.project, &step.id, cx.now().await),
        };
        let file = StateFile::read(&path, &text, &self.own).ok()?;
        Some(self.schema(&step.id, &file))
    }
}

fn question(project: &str, phases: &[String], tried: &[String]) -> Question {
    let named = phases.join(", ");
    Question {
        header: format!("{project}: no checks"),
        question: format!(
            "No check is configured for these phases: {named}. Shall they close on the agent's word alone?"
        ),
        why: "Nothing would be run to see whether the work is good, and each step is committed without another question."
            .to_owned(),
        tried: tried.to_vec(),
        details: "To have the work checked, add for example this to seriatim.toml:\n\n[gates.tests]\ncommand = [\"pytest\", \
                  \"-q\"]"
            .to_owned(),
        options: vec![
            Choice::new(
                UncheckedChoice::Accept.id(),
                "Go on unchecked",
                "Your reason is recorded and shown with every result of this run.",
            )
            .with_text(),
            Choice::new(UncheckedChoice::Cancel.id(), "Stop here", "Nothing is begun. Configure a check and start again."),
        ],
        free_text: true,
        about: vec![],
    }
}
