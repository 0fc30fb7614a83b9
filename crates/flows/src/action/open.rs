//! The beginning of an action: which one is meant, what it needs, and how things are before it.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde_json::Value;
use seriatim_core::action::ActionFile;
use seriatim_core::action::AgentMap;
use seriatim_core::action::Catalogue;
use seriatim_core::action::evidence;
use seriatim_core::action::evidence::Evidence;
use seriatim_core::action::evidence::Mode;
use seriatim_core::action::facts::ActionFact;
use seriatim_core::action::inputs;
use seriatim_core::action::inputs::MissingInput;
use seriatim_core::action::pii;
use seriatim_core::action::plan;
use seriatim_core::action::routing;
use seriatim_core::action::routing::Routed;
use seriatim_core::finding::Finding;
use seriatim_core::finding::has_errors;
use seriatim_core::redact::Redactor;

use super::ACTIONS;
use super::MAP;
use super::Start;
use super::course::Course;
use super::ended;
use crate::Cx;
use crate::registry::End;
use crate::registry::Ended;
use crate::registry::FileFindings;
use crate::request::SceneCall;

/// The documents of a workspace.
struct Documents {
    catalogue: Option<Catalogue>,
    map: Option<AgentMap>,
    files: Vec<(ActionFile, String, Vec<Finding>)>,
    findings: Vec<FileFindings>,
}

impl Documents {
    async fn read(cx: &Cx) -> Documents {
        let mut documents = Documents { catalogue: None, map: None, files: vec![], findings: vec![] };
        let names = cx.survey(vec![ACTIONS.to_owned()], vec![]).await.folders.pop().unwrap_or_default();
        for name in names.iter().filter(|name| name.ends_with(".md")) {
            let path = format!("{ACTIONS}/{name}");
            let Ok(text) = cx.read(&path).await else { continue };
            if name == "README.md" {
                documents.catalogue = Some(Catalogue::read(&text.text).0);
                continue;
            }
            let (file, findings) = ActionFile::read(&path, &text.text);
            documents.files.push((file, text.text, findings));
        }
        if let Ok(text) = cx.read(MAP).await {
            let (map, findings) = AgentMap::read(&text.text);
            if has_errors(&findings) {
                documents.findings.push(FileFindings { path: MAP.to_owned(), findings });
            }
            documents.map = Some(map);
        }
        documents
    }

    /// What keeps an action from being started: what is wrong with its own file, and with the map.
    fn faults(&self, name: &str) -> Vec<FileFindings> {
        let mut faults = self.findings.clone();
        let own = self.files.iter().find(|(file, _, findings)| file.name == name && has_errors(findings));
        faults.extend(own.map(|(file, _, findings)| FileFindings {
            path: format!("{ACTIONS}/{}.md", file.name),
            findings: findings.clone(),
        }));
        faults
    }
}

impl Course {
    /// Opens an action. Whatever is unclear or missing is asked before anything is done.
    pub(super) async fn open(cx: &Cx, start: Start) -> Result<Course, Ended> {
        let documents = Documents::read(cx).await;
        let name = meant(cx, &start, &documents).await?;
        let faults = documents.faults(&name);
        if !faults.is_empty() {
            let message = format!("The action {name} cannot be started: its documents have errors.");
            return Err(Ended { findings: faults, ..ended(End::Failed, false, &message, Value::Null) });
        }
        let file = documents.files.iter().find(|(file, _, _)| file.name == name);
        let action = plan::resolve(&name, file.map(|(file, _, _)| file), documents.map.as_ref())
            .map_err(|error| ended(End::Failed, false, &format!("{error}."), Value::Null))?;
        let now = cx.now().await;
        let run = evidence::run_id(&action.name, now);
        let mode = if start.manual { Mode::Manual } else { Mode::Automated };
        let mut course = Course {
            contract: file.map(|(_, text, _)| text.clone()).unwrap_or_default(),
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
            },
            id: run,
            written: BTreeMap::new(),
            concerns: vec![],
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
        course.read_stage(cx).await;
        course.gather_inputs(cx).await?;
        course.look_for_damage(cx).await?;
        course.take_snapshot(cx).await?;
        cx.record(&ActionFact::ActionBegan {
            action: course.action.name.clone(),
            run: course.id.clone(),
            snapshot: course.snapshot.clone(),
            mode,
            operator: course.start.operator.clone(),
            stage: course.proof.stage.clone(),
        });
        course.write_evidence_and_tell(cx).await;
        Ok(course)
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
    let files: Vec<ActionFile> = documents.files.iter().map(|(file, _, _)| file.clone()).collect();
    let candidates = routing::candidates(documents.catalogue.as_ref(), documents.map.as_ref(), &files);
    match routing::route(&start.intent, &candidates) {
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

/// All files of the workspace.
pub(super) async fn files(cx: &Cx) -> BTreeSet<String> {
    let found: Result<Vec<String>, _> = cx.scene(SceneCall::Files { copy: String::new() }).await;
    found.unwrap_or_default().into_iter().collect()
}
