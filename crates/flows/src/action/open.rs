//! The beginning of an action: which one is meant, what it needs, and how things are before it.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde_json::Value;
use seriatim_core::action::evidence;
use seriatim_core::action::evidence::Evidence;
use seriatim_core::action::evidence::Mode;
use seriatim_core::action::facts::ActionFact;
use seriatim_core::action::inputs;
use seriatim_core::action::inputs::MissingInput;
use seriatim_core::action::pii;
use seriatim_core::action::routing;
use seriatim_core::action::routing::Routed;
use seriatim_core::ledger::FindingLedger;
use seriatim_core::reading::BrokenFile;
use seriatim_core::redact::Redactor;

use super::Start;
use super::course::Course;
use super::documents::Documents;
use super::documents::Unplanned;
use super::ended;
use crate::Cx;
use crate::registry::End;
use crate::registry::Ended;
use crate::registry::FileFindings;
use crate::request::SceneCall;

impl Course {
    /// Opens an action. Whatever is unclear or missing is asked before anything is done.
    pub(super) async fn open(cx: &Cx, start: Start) -> Result<Course, Ended> {
        let documents = Documents::read(cx, &start.documents).await;
        documents.unreadable().map_err(|broken| not_started(&start.intent, &broken))?;
        let name = meant(cx, &start, &documents).await?;
        let action = documents.resolve(&name).map_err(|unplanned| match unplanned {
            Unplanned::Broken(broken) => not_started(&name, &broken),
            Unplanned::Unresolved(error) => ended(End::Failed, false, &format!("{error}."), Value::Null),
        })?;
        let now = cx.now().await;
        let run = evidence::run_id(&action.name, now);
        let mode = if start.manual { Mode::Manual } else { Mode::Automated };
        let mut course = Course {
            contract: documents.text_of(&name),
            inputs: vec![],
            snapshot: None,
            proof: Evidence {
                action: action.name.clone(),
                run: run.clone(),
                mode,
                operator: start.operator.clone(),
                started: now,
                ended: None,
                summary: "It is under way.".to_owned(),
                stage: None,
                inputs: vec![],
                roles: vec![],
                reads: BTreeSet::new(),
                writes: vec![],
                decisions: vec![],
                commands: vec![],
                lifecycle: String::new(),
                findings: vec![],
                not_checked: vec![],
                waived: vec![],
            },
            id: run,
            written: BTreeMap::new(),
            findings: FindingLedger::default(),
            verdicts: BTreeMap::new(),
            waived: vec![],
            floor: None,
            notes: vec![],
            work: vec![],
            shown: vec![],
            raised: vec![],
            rounds: BTreeMap::new(),
            calls: BTreeMap::new(),
            decisions: vec![],
            lowered: BTreeMap::new(),
            looked_at: now,
            unexplained: 0,
            guides: BTreeMap::new(),
            redactor: Redactor::new(&pii::patterns(&start.pii_off), &[]).ok(),
            action,
            start,
        };
        course.prepare(cx, mode).await?;
        Ok(course)
    }

    /// Gathers everything that has to be there before the first role, and tells what begins.
    async fn prepare(&mut self, cx: &Cx, mode: Mode) -> Result<(), Ended> {
        let name = self.action.name.clone();
        self.read_stage(cx).await.map_err(|broken| not_started(&name, &[broken]))?;
        self.gather_inputs(cx).await?;
        self.look_for_damage(cx).await?;
        self.take_snapshot(cx).await?;
        cx.record(&ActionFact::ActionBegan {
            action: self.action.name.clone(),
            run: self.id.clone(),
            snapshot: self.snapshot.clone(),
            mode,
            operator: self.start.operator.clone(),
            stage: self.proof.stage.clone(),
        });
        self.tell_unchecked(cx).await;
        self.write_evidence_and_tell(cx).await;
        self.measure_base(cx).await;
        Ok(())
    }

    /// Asks for what is missing, never guesses it (OC-15).
    async fn gather_inputs(&mut self, cx: &Cx) -> Result<(), Ended> {
        let mut given: BTreeSet<String> = BTreeSet::new();
        for (name, value) in self.start.inputs.clone() {
            let meant = self.action.prerequisites.iter().find(|input| {
                input.words == name || input.words.to_lowercase().contains(&name.to_lowercase())
            });
            given.extend(meant.map(|input| input.words.clone()));
            self.inputs.push((name, value));
        }
        if self.action.name != self.start.intent.trim() {
            self.inputs.push(("What was asked for".to_owned(), self.start.intent.clone()));
        }
        loop {
            let existing = files(cx).await;
            let missing = inputs::missing(&self.action.prerequisites, &existing, &given);
            let Some(input) = missing.first().map(|input| (*input).clone()) else { break };
            let question = input.question(&self.action.name);
            let (choice, answer) = self.choose(cx, "Missing input", question).await;
            match choice {
                MissingInput::Provide => {
                    given.insert(input.words.clone());
                    self.inputs.push((input.words.clone(), answer.text.unwrap_or_default()));
                }
                MissingInput::LookAgain => {}
                MissingInput::Cancel => {
                    let message = format!(
                        "The action {} was not started: {} is missing.",
                        self.action.name, input.words
                    );
                    return Err(ended(End::Cancelled, false, &message, Value::Null));
                }
            }
        }
        for input in &self.action.prerequisites {
            let answered =
                self.inputs.iter().find(|(name, _)| *name == input.words).map(|(_, text)| text.clone());
            let found = answered.unwrap_or_else(|| input.any_of.join(", "));
            self.proof.inputs.push((input.words.clone(), found));
        }
        Ok(())
    }

    async fn take_snapshot(&mut self, cx: &Cx) -> Result<(), Ended> {
        let scope = self.action.snapshot_scope();
        match cx.labelled_snapshot(scope.clone(), &self.action.name).await {
            Ok(id) => {
                cx.record(&ActionFact::SnapshotTaken { snapshot: id.clone(), scope });
                self.snapshot = Some(id);
                Ok(())
            }
            Err(failure) => {
                let message = format!(
                    "The action {} was not started, since no snapshot could be taken: {}",
                    self.action.name, failure.message
                );
                Err(ended(End::Failed, false, &message, Value::Null))
            }
        }
    }
}

/// The action that is meant by what was asked for (OC-09, OC-10).
async fn meant(cx: &Cx, start: &Start, documents: &Documents) -> Result<String, Ended> {
    match documents.route(&start.intent) {
        Routed::One(name) => Ok(name),
        Routed::Unclear(likely) => {
            let answer = cx.ask(routing::question(&start.intent, &likely)).await;
            if answer.choice == routing::CANCEL {
                return Err(ended(End::Cancelled, false, "No action was started.", Value::Null));
            }
            Ok(answer.choice)
        }
    }
}

/// An action that does not start, since files that it rests on cannot be used.
pub(super) fn not_started(name: &str, broken: &[BrokenFile]) -> Ended {
    let listed: Vec<String> = broken.iter().map(BrokenFile::headline).collect();
    let remedy = broken.first().map(|file| format!(" To fix it: {}.", file.remedy())).unwrap_or_default();
    let message = format!("The action {name} cannot be started: {}.{remedy}", listed.join("; "));
    let findings = broken.iter().map(FileFindings::from).collect();
    Ended { findings, ..ended(End::Failed, false, &message, Value::Null) }
}

/// All files of the workspace.
pub(super) async fn files(cx: &Cx) -> BTreeSet<String> {
    let found: Result<Vec<String>, _> = cx.scene(SceneCall::Files { copy: String::new() }).await;
    found.unwrap_or_default().into_iter().collect()
}
