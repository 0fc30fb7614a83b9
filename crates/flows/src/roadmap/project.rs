//! The project whose steps are carried out: its roadmap, read once, and what every step shares.

use std::collections::BTreeSet;

use serde_json::Value;
use seriatim_core::finding::Finding;
use seriatim_core::reading::BrokenFile;
use seriatim_core::reading::Reading;
use seriatim_core::roadmap::Roadmap;
use seriatim_core::roadmap::document;
use seriatim_core::roadmap::facts::RoadmapFact;
use seriatim_core::roadmap::phases::Schema;
use seriatim_core::roadmap::plan::Step;
use seriatim_core::roadmap::store::StateFile;

use super::Start;
use super::USUAL_AGENT;
use super::ended;
use super::unchecked::Unchecked;
use crate::Cx;
use crate::registry::End;
use crate::registry::Ended;
use crate::registry::FileFindings;
use crate::request::Expect;
use crate::request::WriteFile;

pub(super) struct Project {
    pub(super) start: Start,
    /// Read once, and never handed to an agent (DW-01).
    pub(super) roadmap: Roadmap,
    /// Lists of phases that the project brings itself.
    pub(super) own: Vec<Schema>,
    /// What a person let close without a gate.
    pub(super) unchecked: Option<Unchecked>,
}

impl Project {
    pub(super) async fn open(cx: &Cx, start: Start) -> Result<Project, Ended> {
        let path = &start.roadmap;
        let text = cx.reading(path).await.map(|text| text.text);
        let reading = text.parse(path, |text| Roadmap::read_among(path, text, &start.agents));
        let roadmap = match reading {
            Reading::Read((roadmap, _)) => roadmap,
            Reading::Absent => {
                let message = format!("Roadmap not found at {path}.");
                return Err(ended(End::Failed, false, &message, Value::Null));
            }
            Reading::Broken(file) => return Err(broken(path, file.findings)),
        };
        let own = start.own_schemas().map_err(|findings| {
            let path = start.phases.as_ref().map_or("", |pinned| pinned.path.as_str());
            broken(path, findings)
        })?;
        Ok(Project { start, roadmap, own, unchecked: None })
    }

    /// The state file of a step as it is now; a new one is made where there is none yet.
    pub(super) async fn state(&self, cx: &Cx, step: &str) -> Result<StateFile, BrokenFile> {
        let path = self.start.state_of(step);
        let text = match cx.reading(&path).await {
            Reading::Read(text) => text.text,
            Reading::Absent => self.new_state(cx, &path, step).await?,
            Reading::Broken(file) => return Err(file),
        };
        StateFile::read(&path, &text, &self.own).map_err(|findings| BrokenFile::of(&path, text, findings))
    }

    async fn new_state(&self, cx: &Cx, path: &str, step: &str) -> Result<String, BrokenFile> {
        let now = cx.now().await;
        let text = document::new_for(path, &self.start.project, step, now);
        let file = WriteFile {
            path: path.to_owned(),
            text: text.clone(),
            expect: Expect::Absent,
            append: false,
            durable: true,
        };
        let Err(failure) = cx.write(file).await else { return Ok(text) };
        // Another process may have written it in between.
        let reading = cx.reading(path).await.map(|text| text.text);
        let unwritable = || {
            let why = format!("it cannot be written: {}", failure.message);
            BrokenFile::unreadable(path, &why, "make its folder writable")
        };
        reading.optional()?.ok_or_else(unwritable)
    }

    /// The phases of a step (K-123).
    pub(super) fn schema(&self, step: &str, file: &StateFile) -> Schema {
        file.phases_of(step, &self.own, self.roadmap.schema().as_ref())
    }

    /// The steps that are done, by the state files.
    pub(super) async fn done(&self, cx: &Cx) -> Result<BTreeSet<String>, BrokenFile> {
        if !self.start.state.contains("{step}") {
            return Ok(self.state(cx, "").await?.done());
        }
        let mut done = BTreeSet::new();
        for step in &self.roadmap.steps {
            let path = self.start.state_of(&step.id);
            let text = cx.reading(&path).await.map(|text| text.text);
            let reading = text.parse_whole(&path, |text| StateFile::read(&path, text, &self.own));
            done.extend(reading.optional()?.map(|file| file.done()).unwrap_or_default());
        }
        Ok(done)
    }

    /// Who carries a step out: whoever was named, else whom the step suggests (DW-23).
    pub(super) fn agent(&self, step: &Step) -> String {
        let named = self.start.agent.clone().or_else(|| step.agent.clone());
        named.unwrap_or_else(|| USUAL_AGENT.to_owned())
    }

    /// What a run says about itself when it begins (DW-05, DW-52).
    pub(super) fn announce(&self, cx: &Cx, step: &Step, schema: &Schema) {
        let Ok(context) = seriatim_core::roadmap::extract::Context::of(&self.roadmap, &step.id, schema)
        else {
            return;
        };
        let size = context.size();
        let critiques: Vec<String> =
            self.roadmap.unresolved(step).into_iter().map(|critique| critique.text.clone()).collect();
        cx.record(&RoadmapFact::Context {
            step: step.id.clone(),
            roadmap_tokens: size.roadmap_tokens,
            context_tokens: size.context_tokens,
            saved_percent: size.saved_percent(),
            words: size.to_string(),
            unresolved_critiques: critiques,
        });
    }
}

fn broken(path: &str, findings: Vec<Finding>) -> Ended {
    let errors = findings.iter().filter(|f| f.severity == seriatim_core::finding::Severity::Error).count();
    let message = format!("{path} has {errors} error(s); nothing was begun.");
    Ended {
        findings: vec![FileFindings { path: path.to_owned(), findings }],
        ..ended(End::Failed, false, &message, Value::Null)
    }
}
