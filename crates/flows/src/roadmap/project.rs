//! The project whose steps are carried out: its roadmap, read once, and what every step shares.

use std::collections::BTreeSet;

use serde_json::Value;
use seriatim_core::finding::Finding;
use seriatim_core::finding::has_errors;
use seriatim_core::roadmap::Roadmap;
use seriatim_core::roadmap::document;
use seriatim_core::roadmap::facts::RoadmapFact;
use seriatim_core::roadmap::phases::Schema;
use seriatim_core::roadmap::plan::Step;
use seriatim_core::roadmap::store::StateFile;

use super::Start;
use super::USUAL_AGENT;
use super::ended;
use crate::Cx;
use crate::registry::End;
use crate::registry::Ended;
use crate::registry::FileFindings;
use crate::request::Done;
use crate::request::Expect;
use crate::request::Text;
use crate::request::WriteFile;

pub(super) struct Project {
    pub(super) start: Start,
    /// Read once, and never handed to an agent (DW-01).
    pub(super) roadmap: Roadmap,
    /// Lists of phases that the project brings itself.
    pub(super) own: Vec<Schema>,
}

impl Project {
    pub(super) async fn open(cx: &Cx, start: Start) -> Result<Project, Ended> {
        let text = match cx.read(&start.roadmap).await {
            Ok(text) => text.text,
            Err(failure) => {
                let message = format!("Roadmap not found at {}: {}", start.roadmap, failure.message);
                return Err(ended(End::Failed, false, &message, Value::Null));
            }
        };
        let (roadmap, findings) = Roadmap::read_among(&start.roadmap, &text, &start.agents);
        let roadmap = match roadmap {
            Some(roadmap) if !has_errors(&findings) => roadmap,
            _ => return Err(broken(&start.roadmap, findings)),
        };
        let own = start.own_schemas().map_err(|findings| {
            let path = start.phases.as_ref().map_or("", |pinned| pinned.path.as_str());
            broken(path, findings)
        })?;
        Ok(Project { start, roadmap, own })
    }

    /// The state file of a step as it is now; a new one is made where there is none yet.
    pub(super) async fn state(&self, cx: &Cx, step: &str) -> Result<StateFile, Vec<Finding>> {
        let path = self.start.state_of(step);
        let text = match cx.read(&path).await {
            Ok(text) => text.text,
            Err(_) => self.new_state(cx, &path, step).await,
        };
        StateFile::read(&path, &text, &self.own)
    }

    async fn new_state(&self, cx: &Cx, path: &str, step: &str) -> String {
        let now = cx.now().await;
        let text = document::new_for(path, &self.start.project, step, now);
        let file = WriteFile {
            path: path.to_owned(),
            text: text.clone(),
            expect: Expect::Absent,
            append: false,
            durable: true,
        };
        match cx.write(file).await {
            Ok(_) => text,
            Err(_) => cx.read(path).await.map(|t| t.text).unwrap_or(text),
        }
    }

    /// The phases of a step (K-123).
    pub(super) fn schema(&self, step: &str, file: &StateFile) -> Schema {
        file.phases_of(step, &self.own, self.roadmap.schema().as_ref())
    }

    /// The steps that are done, by the state files.
    pub(super) async fn done(&self, cx: &Cx) -> Result<BTreeSet<String>, Vec<Finding>> {
        if !self.start.state.contains("{step}") {
            return Ok(self.state(cx, "").await?.done());
        }
        let mut done = BTreeSet::new();
        for step in &self.roadmap.steps {
            let path = self.start.state_of(&step.id);
            let text: Done<Text> = cx.read(&path).await;
            let Ok(text) = text else { continue };
            done.extend(StateFile::read(&path, &text.text, &self.own)?.done());
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
