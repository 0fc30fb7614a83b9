//! The context of one step: what its agent gets, and nothing of the rest of the roadmap (DW-01, DW-02).
//!
//! A roadmap is large and a step is small. The context is taken out once, on this side, so that no agent ever has to
//! load the whole.

#[cfg(test)]
mod tests;

use std::fmt;
use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value as Json;
use serde_json::json;

use super::phases::Schema;
use super::plan::Roadmap;
use super::plan::Step;
use super::plan::TddPhase;
use super::source;
use super::source::in_words;
use crate::closest::closest;
use crate::doc::Node;
use crate::prompt::Values;
use crate::prompt::tokens;

/// The title under which a prompt carries the context (DW-07).
pub const CONTEXT_TITLE: &str = "## TASK CONTEXT (EXTRACTED FROM ROADMAP - DO NOT LOAD ROADMAP)";
/// The title of the list of phases.
pub const PHASES_TITLE: &str = "## MANDATORY TDD PHASES (from roadmap)";
/// The title of the execution configuration.
pub const CONFIGURATION_TITLE: &str = "## EXECUTION CONFIGURATION";

/// What stands where a roadmap says nothing.
const NONE: &str = "none";

/// A step that is not in the roadmap.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Step {step} not found in roadmap. Available steps: {}", .known.join(", "))]
pub struct NotFound {
    pub step: String,
    pub known: Vec<String>,
    pub meant: Option<String>,
}

/// Everything that the agent of a step is told about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Context {
    pub project_id: String,
    pub step: Step,
    /// The steps that come before it, those of its group included.
    pub dependencies: Vec<String>,
    /// The phases, in order, in the roadmap's own words where it has some.
    pub phases: Vec<TddPhase>,
    pub execution_config: Option<Json>,
    /// What reviewers recommend (DW-55).
    pub recommendations: Vec<String>,
    /// What the whole roadmap would cost.
    roadmap_tokens: usize,
}

/// What the context costs against what the roadmap would cost (DW-05, K-88).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Size {
    pub roadmap_tokens: usize,
    pub context_tokens: usize,
}

impl Size {
    pub fn saved(self) -> usize {
        self.roadmap_tokens.saturating_sub(self.context_tokens)
    }

    /// The part that is saved, in whole percent.
    pub fn saved_percent(self) -> usize {
        self.saved() * 100 / self.roadmap_tokens.max(1)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (context, whole) = (thousands(self.context_tokens), thousands(self.roadmap_tokens));
        let (saved, percent) = (thousands(self.saved()), self.saved_percent());
        write!(f, "{context} of {whole} tokens; {saved} saved ({percent}%)")
    }
}

/// Large counts as people say them.
fn thousands(count: usize) -> String {
    if count < 10_000 { count.to_string() } else { format!("{}k", (count + 500) / 1000) }
}

impl Context {
    /// Takes the context of a step out of its roadmap, by the step's exact id (DW-06). `schema` is the list of phases
    /// that the step goes through.
    pub fn of(roadmap: &Roadmap, id: &str, schema: &Schema) -> Result<Context, NotFound> {
        let Some(step) = roadmap.step(id) else {
            let known = roadmap.ids();
            return Err(NotFound {
                step: id.to_owned(),
                meant: closest(id, known.iter().copied()).map(str::to_owned),
                known: known.into_iter().map(str::to_owned).collect(),
            });
        };
        let words = |name: &str| roadmap.tdd_phases.iter().find(|phase| phase.name == name);
        let phase = |name: &str| TddPhase {
            name: name.to_owned(),
            description: words(name).and_then(|phase| phase.description.clone()),
        };
        Ok(Context {
            project_id: roadmap.project_id.clone(),
            step: step.clone(),
            dependencies: roadmap.needs(id).into_iter().map(str::to_owned).collect(),
            phases: schema.names().map(phase).collect(),
            execution_config: roadmap.execution_config.given.clone(),
            recommendations: roadmap.recommendations(step),
            roadmap_tokens: roadmap.tokens,
        })
    }

    /// What is missing for an agent to work from this context alone (DW-88).
    pub fn missing(&self) -> Vec<&'static str> {
        let step = &self.step;
        let gone = [
            ("name", step.name.is_empty()),
            ("description", step.description.is_none()),
            ("acceptance_criteria", step.criteria.is_empty()),
        ];
        gone.into_iter().filter(|(_, gone)| *gone).map(|(name, _)| name).collect()
    }

    /// The values of a prompt's placeholders: every field of the context under its own name, and under the names that
    /// the template of a step uses.
    pub fn values(&self, agent: &str) -> Values {
        let step = &self.step;
        let text = |text: &Option<String>| text.as_deref().map_or(Json::Null, Json::from);
        let mut values = Values::new();
        for (name, value) in [
            ("step_id", json!(step.id)),
            ("task_id", json!(step.id)),
            ("project_id", json!(self.project_id)),
            ("agent_name", json!(agent)),
            ("name", json!(step.name)),
            ("description", text(&step.description)),
            ("acceptance_criteria", json!(step.criteria)),
            ("test_file", text(&step.test_file)),
            ("scenario_line", step.scenario_line.map_or(Json::Null, Json::from)),
            ("acceptance_test_scenario", text(&step.scenario)),
            ("quality_gates", step.quality_gates.clone().unwrap_or(Json::Null)),
            ("deliverables", json!(step.allowed_files().unwrap_or_default())),
            ("implementation_notes", text(&step.notes)),
            ("dependencies", json!(self.dependencies)),
            ("estimated_hours", step.estimated_hours.map_or(Json::Null, Json::from)),
            ("suggested_agent", text(&step.agent)),
            ("tdd_phases", json!(self.phase_lines())),
            ("execution_config", self.execution_config.clone().unwrap_or(Json::Null)),
            ("recommendations", json!(self.recommendations)),
            ("allowed_file_patterns", step.allowed_files().map_or(Json::Null, |files| json!(files))),
        ] {
            values.insert(name.to_owned(), value);
        }
        values.insert("task_specification".to_owned(), self.specification());
        let background = format!("This is step {} of project {}.", step.id, self.project_id);
        values.insert(
            "self_contained_context".to_owned(),
            json!({"background": background, "technical_context": text(&step.notes)}),
        );
        values
    }

    fn specification(&self) -> Json {
        let step = &self.step;
        json!({
            "name": step.name,
            "description": step.description.clone().unwrap_or_else(|| step.name.clone()),
            "motivation": step.further.get("motivation").cloned().unwrap_or(Json::Null),
            "acceptance_criteria": step.criteria,
        })
    }

    fn phase_lines(&self) -> Vec<String> {
        let line = |(index, phase): (usize, &TddPhase)| match &phase.description {
            Some(words) => format!("{index}. {} - {words}", phase.name),
            None => format!("{index}. {}", phase.name),
        };
        self.phases.iter().enumerate().map(line).collect()
    }

    /// The context as text: the part of a prompt that comes from the roadmap, in the order of DW-07. The same step
    /// gives the same text, whatever ran before (DW-46).
    pub fn text(&self) -> String {
        let mut text = format!("{CONTEXT_TITLE}\n\n{}", self.fields());
        let _ = write!(
            text,
            "\n{PHASES_TITLE}\n\nExecute these {} phases in order:\n{}\n",
            self.phases.len(),
            self.phase_lines().join("\n")
        );
        let config = self.execution_config.as_ref().map_or_else(|| NONE.to_owned(), in_words);
        let _ = write!(text, "\n{CONFIGURATION_TITLE}\n\n{}\n", harmless(&config));
        text
    }

    fn fields(&self) -> String {
        let step = &self.step;
        let or_none = |text: &Option<String>| text.as_deref().map_or_else(|| NONE.to_owned(), harmless);
        let bullets = |items: &[String]| match items {
            [] => NONE.to_owned(),
            items => in_words(&json!(items.iter().map(|item| harmless(item)).collect::<Vec<_>>())),
        };
        let line = step.scenario_line.map_or_else(|| NONE.to_owned(), |line| line.to_string());
        let gates = step.quality_gates.as_ref().map_or_else(|| NONE.to_owned(), in_words);
        let hours = step.estimated_hours.map_or_else(|| NONE.to_owned(), |hours| hours.to_string());
        let mut text = format!(
            "**Step ID**: {}\n**Name**: {}\n**Description**: {}\n\n",
            step.id,
            harmless(&step.name),
            or_none(&step.description)
        );
        let _ = write!(text, "**Acceptance Criteria**:\n{}\n\n", bullets(&step.criteria));
        let _ = write!(
            text,
            "**Test File**: {}\n**Scenario Line**: {line}\n**Acceptance Test Scenario**: {}\n\n",
            or_none(&step.test_file),
            or_none(&step.scenario)
        );
        let _ = write!(text, "**Quality Gates**:\n{}\n\n", harmless(&gates));
        let _ = write!(text, "**Deliverables**:\n{}\n\n", bullets(&step.allowed_files().unwrap_or_default()));
        let _ = write!(text, "**Implementation Notes**:\n{}\n\n", or_none(&step.notes));
        let _ = write!(
            text,
            "**Dependencies** (must be complete before execution):\n{}\n\n",
            bullets(&self.dependencies)
        );
        let _ = write!(text, "**Estimated Hours**: {hours}\n**Suggested Agent**: {}\n", or_none(&step.agent));
        if !self.recommendations.is_empty() {
            let _ = write!(text, "\n**Review Recommendations**:\n{}\n", bullets(&self.recommendations));
        }
        if !step.further.is_empty() {
            let further = in_words(&Json::Object(step.further.clone()));
            let _ = write!(text, "\n**Further Fields**:\n{}\n", harmless(&further));
        }
        text
    }

    /// What the text costs against the whole roadmap.
    pub fn size(&self) -> Size {
        Size { roadmap_tokens: self.roadmap_tokens, context_tokens: tokens::estimate(&self.text()) }
    }
}

/// A text whose lines cannot pass for titles of the prompt around it.
fn harmless(text: &str) -> String {
    let line =
        |line: &str| if line.trim_start().starts_with('#') { format!("> {line}") } else { line.to_owned() };
    text.trim_end().lines().map(line).collect::<Vec<_>>().join("\n")
}

/// The context of a step file of the first generation, in the order in which its agents know it (DW-56).
pub fn legacy(root: &Node) -> Option<String> {
    let context = root.get("self_contained_context");
    let task = root.get("task_specification").or(context)?;
    let words = |holder: Option<&Node>, key: &str| {
        let value = holder.and_then(|node| node.get(key)).filter(|node| !node.is_null());
        value.map_or_else(|| NONE.to_owned(), |node| harmless(&in_words(&node.to_json())))
    };
    let list = |holder: Option<&Node>, key: &str| {
        let items = source::texts(holder.and_then(|node| node.get(key)));
        if items.is_empty() { words(holder, key) } else { items.join(", ") }
    };
    let task = Some(task);
    Some(format!(
        "Background: {}\nTechnical Context: {}\nPrerequisites Completed: {}\nRelevant Files: {}\n\n\
         TASK: {}\nDescription: {}\nMotivation: {}\n\nINSTRUCTIONS:\n{}\n\nACCEPTANCE CRITERIA:\n{}\n\n\
         Execute this task and provide outputs as specified.\n",
        words(context, "background"),
        words(context, "technical_context"),
        list(context, "prerequisites_completed"),
        list(context, "relevant_files"),
        words(task, "name"),
        words(task, "description"),
        words(task, "motivation"),
        words(task, "detailed_instructions"),
        words(task, "acceptance_criteria"),
    ))
}
