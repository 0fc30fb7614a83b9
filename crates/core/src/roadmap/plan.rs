//! The roadmap of a project: its steps, what they need, and in which order they come.
//!
//! Real roadmaps come in several shapes and with several names for one and the same field. All of them read into
//! [`Roadmap`]; what is odd is a warning, what makes work impossible is an error, and all of it is said at once. The
//! `phases` of a roadmap are groups of steps; the phases that each step goes through are its `tdd_phases`.

mod field;
mod graph;
mod parts;
mod reader;
mod review;
mod rules;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::Value as Json;

pub use self::graph::Cycle;
pub use self::review::Critique;
pub use self::review::Review;
pub(crate) use self::rules::is_step_id;
use super::phases::COMMIT;
use super::phases::Phase;
use super::phases::Schema;
use super::skip;
use super::source;
use crate::doc;
use crate::doc::At;
use crate::doc::Node;
use crate::doc::Value;
use crate::finding::Finding;
use crate::finding::Place;
use crate::finding::has_errors;
use crate::prompt::tokens;

/// The agents that a step may name without any configuration (DW-17).
pub const AGENTS: [&str; 6] =
    ["researcher", "software-crafter", "solution-architect", "product-owner", "acceptance-designer", "devop"];

/// How strictly a roadmap is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The official schema 1.0: a header `roadmap` that counts phases and steps. Its rules hold to the letter.
    Official,
    /// Everything else. Rules about the form are warnings; what makes a step impossible is still an error.
    Free,
}

/// A roadmap that could be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Roadmap {
    pub path: String,
    pub project_id: String,
    pub form: Form,
    pub schema_version: Option<String>,
    pub created_at: Option<String>,
    pub methodology: Option<String>,
    /// The phases of each step, where the roadmap lists them (DW-04).
    pub tdd_phases: Vec<TddPhase>,
    pub execution_config: ExecutionConfig,
    pub groups: Vec<Group>,
    /// All steps, in the order of the file.
    pub steps: Vec<Step>,
    /// Reviews of the whole roadmap, the oldest first.
    pub reviews: Vec<Review>,
    /// The status of its validation: `pending`, `approved`, `rejected`.
    pub validation: Option<At<String>>,
    pub source_directories: Vec<String>,
    /// An estimate of what the whole file would cost an agent.
    pub tokens: usize,
    /// For each step the steps that come before it, as positions.
    needs: Vec<Vec<usize>>,
}

/// One of the phases that each step goes through, as the roadmap words it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TddPhase {
    pub name: String,
    pub description: Option<String>,
}

/// What the roadmap says about how its steps are carried out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExecutionConfig {
    pub max_turns_per_phase: Option<u32>,
    pub timeout_thresholds: Vec<u32>,
    pub timeout_budget_minutes: Option<u32>,
    /// The whole of it, as it is written.
    pub given: Option<Json>,
}

/// A phase of the roadmap: a group of steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    pub id: String,
    pub name: String,
    pub default_agent: Option<String>,
    /// Its steps follow one another where they do not say what they need.
    pub sequential: bool,
    /// The groups (or steps) that come before all of its steps.
    pub depends_on: Vec<At<String>>,
    pub place: Place,
}

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub id: String,
    pub name: String,
    pub description: Option<String>,
    pub criteria: Vec<String>,
    /// The agent that is suggested: the step's own, else that of its group.
    pub agent: Option<String>,
    /// What kind of work it is: `atdd`, `research`, `infrastructure` ...
    pub step_type: Option<String>,
    /// The steps that it names itself; [`Roadmap::needs`] has those of its group, too.
    pub dependencies: Vec<At<String>>,
    pub test_file: Option<String>,
    pub scenario_line: Option<u32>,
    pub scenario: Option<String>,
    pub estimated_hours: Option<f64>,
    pub files: Files,
    pub quality_gates: Option<Json>,
    pub notes: Option<String>,
    /// Phases that the roadmap itself says are skipped, with the reason as it is written.
    pub skipped: BTreeMap<String, String>,
    pub reviews: Vec<Review>,
    /// Fields that nobody knows here; they belong to the step, so its agent gets them.
    pub further: serde_json::Map<String, Json>,
    /// The position of its group.
    pub group: Option<usize>,
    /// Where its id stands.
    pub place: Place,
    /// Whether it says itself what it needs, be it nothing.
    says_needs: bool,
}

/// The files that a step names. `None` is not the same as an empty list: it says nothing (K-33).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    pub deliverables: Option<Vec<String>>,
    pub to_modify: Option<Vec<String>>,
    pub to_create: Option<Vec<String>>,
    pub tests: Option<Vec<String>>,
    pub patterns: Option<Vec<String>>,
}

impl Roadmap {
    /// Reads a roadmap and checks it. There is one wherever the text can be understood at all; with an error among
    /// the findings nothing of it may be carried out (E-47).
    pub fn read(path: &str, text: &str) -> (Option<Roadmap>, Vec<Finding>) {
        Roadmap::read_among(path, text, &[])
    }

    /// Reads a roadmap of a project that has agents of its own beside the usual ones (K-101).
    pub fn read_among(path: &str, text: &str, agents: &[String]) -> (Option<Roadmap>, Vec<Finding>) {
        let source = match source::read(path, text) {
            Ok(source) => source,
            Err(findings) => return (None, findings),
        };
        let mut findings = source.findings;
        if !matches!(source.root.value, Value::Map(_)) {
            let message = format!("a roadmap must be a mapping, but this is {}", source.root.in_words());
            findings.push(Finding::error("type", source.root.place, message));
            return (None, findings);
        }
        let (mut roadmap, more) = reader::read(path, &source.root);
        findings.extend(more);
        findings.extend(rules::check(&roadmap, &source.root, agents));
        let (needs, more) = graph::resolve(&roadmap);
        findings.extend(more);
        roadmap.needs = needs;
        findings.extend(graph::cycles(&roadmap));
        roadmap.tokens = tokens::estimate(text);
        doc::sort(&mut findings);
        (Some(roadmap), findings)
    }

    /// A step by its exact id (DW-06).
    pub fn step(&self, id: &str) -> Option<&Step> {
        self.steps.iter().find(|step| step.id == id)
    }

    /// The ids of all steps, in the order of the file.
    pub fn ids(&self) -> Vec<&str> {
        self.steps.iter().map(|step| step.id.as_str()).collect()
    }

    /// The group of a step.
    pub fn group(&self, step: &Step) -> Option<&Group> {
        self.groups.get(step.group?)
    }

    /// The phases of each step: a built-in generation where the roadmap lists exactly its phases, else its own list;
    /// none where it lists nothing.
    pub fn schema(&self) -> Option<Schema> {
        if self.tdd_phases.is_empty() {
            return None;
        }
        let names: Vec<&str> = self.tdd_phases.iter().map(|phase| phase.name.as_str()).collect();
        let same = |schema: &&Schema| schema.names().eq(names.iter().copied());
        if let Some(known) = Schema::built_in().iter().find(same) {
            return Some(known.clone());
        }
        let own = |(index, name): (usize, &&str)| {
            let known = Schema::built_in().iter().rev().find_map(|schema| schema.phase(name));
            Phase { index, name: (*name).to_owned(), ..known.cloned().unwrap_or_default() }
        };
        let phases = names.iter().enumerate().map(own);
        Some(Schema {
            version: self.schema_version.clone().unwrap_or_else(|| "own".to_owned()),
            phases: phases.collect(),
            ..Schema::usual().clone()
        })
    }

    /// The review that keeps a step from being carried out: the latest one of the step or of the roadmap, where it
    /// says that it is not ready (DW-51).
    pub fn not_ready<'r>(&'r self, step: &'r Step) -> Option<&'r Review> {
        [&step.reviews, &self.reviews]
            .into_iter()
            .filter_map(|reviews| reviews.last())
            .find(|review| review.ready == Some(false))
    }

    /// The critiques of severity HIGH that no later approval settled (DW-52).
    pub fn unresolved<'r>(&'r self, step: &'r Step) -> Vec<&'r Critique> {
        review::unresolved(&self.reviews).chain(review::unresolved(&step.reviews)).collect()
    }

    /// What reviewers recommend for the work, for the context of the step (DW-55).
    pub fn recommendations(&self, step: &Step) -> Vec<String> {
        let latest = [self.reviews.last(), step.reviews.last()];
        latest.into_iter().flatten().flat_map(|review| review.recommendations.clone()).collect()
    }
}

impl Step {
    /// The files that the step may change: all that it names, each once. `None` where it names none at all.
    pub fn allowed_files(&self) -> Option<Vec<String>> {
        let lists = [
            &self.files.patterns,
            &self.files.deliverables,
            &self.files.to_modify,
            &self.files.to_create,
            &self.files.tests,
        ];
        let test_file = self.test_file.clone().map(|file| vec![file]);
        let mut all: Option<Vec<String>> = None;
        for list in lists.into_iter().flatten().chain(&test_file) {
            let all = all.get_or_insert_with(Vec::new);
            for file in list {
                if !all.contains(file) {
                    all.push(file.clone());
                }
            }
        }
        all
    }

    /// Whether the step is one without an acceptance test by its kind: research, infrastructure (DW-68).
    pub fn is_without_tests(&self) -> bool {
        let kind = self.step_type.as_deref().unwrap_or_default().to_lowercase();
        ["research", "infrastructure", "documentation", "investigation", "analysis"].contains(&kind.as_str())
    }

    /// The phases that are skipped before anybody begins, with their reasons: those that the roadmap names, and for
    /// steps without acceptance tests those of the schema that are for such tests alone (DW-68, K-07, K-10).
    pub fn presets(&self, schema: &Schema) -> Vec<(String, String)> {
        let kind = self.step_type.as_deref().unwrap_or("this step");
        let mut presets = vec![];
        for phase in schema.phases.iter().filter(|phase| phase.name != COMMIT) {
            let by_kind = self.is_without_tests() && phase.atdd_only && !phase.skip_if_stated;
            let reason = match self.skipped.get(&phase.name) {
                Some(stated) => skip::preset(stated, kind),
                None if by_kind => skip::preset("NOT_APPLICABLE", kind),
                None => continue,
            };
            presets.push((phase.name.clone(), reason));
        }
        presets
    }
}

/// What a check has to say about a roadmap.
pub fn check(path: &str, text: &str) -> Vec<Finding> {
    Roadmap::read(path, text).1
}

/// Whether a document is a roadmap by its steps: they have criteria, and no state of phases.
pub fn is_roadmap(root: &Node) -> bool {
    let steps = reader::step_nodes(root);
    let has = |keys: &[&str]| steps.iter().any(|step| source::first(step, keys).is_some());
    let tracked = steps.iter().any(|step| step.get("tdd_phases").is_some_and(|node| node.as_seq().is_some()));
    has(&field::CRITERIA) && !tracked
}

/// Whether work may begin: there is a roadmap, and nothing about it is an error.
pub fn is_sound(read: &(Option<Roadmap>, Vec<Finding>)) -> bool {
    read.0.is_some() && !has_errors(&read.1)
}
