//! Opening: both documents are read and checked before anything else happens.

use serde_json::Value;
use serde_json::json;
use seriatim_core::doc::At;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::finding::Finding;
use seriatim_core::finding::Place;
use seriatim_core::finding::has_errors;
use seriatim_core::process::Definition;
use seriatim_core::process::Instance;
use seriatim_core::process::definition::Input;
use seriatim_core::process::instance::Given;
use seriatim_core::process::instance::Source;
use seriatim_core::process::rules;
use seriatim_core::question::Choice;
use seriatim_core::question::Question;

use super::Start;
use super::course::Course;
use super::people::MissingInput;
use crate::Cx;
use crate::registry::End;
use crate::registry::Ended;
use crate::registry::FileFindings;
use crate::request::SetField;

pub(super) enum Opening<'c> {
    Ready(Box<Course<'c>>),
    Over(Ended),
}

/// The documents of a run, or what is wrong with them.
pub(super) async fn open<'c>(cx: &'c Cx, start: &Start) -> Opening<'c> {
    let text = match cx.read(&start.instance).await {
        Ok(text) => text,
        Err(failure) => {
            return Opening::Over(unreadable("that describes this run", &start.instance, &failure));
        }
    };
    let (instance, findings) = Instance::parse(text.text.as_bytes());
    let Some(instance) = instance.filter(|_| !has_errors(&findings)) else {
        let what = "The file that describes this run has errors.";
        return Opening::Over(broken(what, vec![(&start.instance, findings)]));
    };
    let (definition, path, mut found) = match definition(cx, start, &instance).await {
        Ok(found) => found,
        Err(ended) => return Opening::Over(ended),
    };
    let known = start.known_processes.iter().map(|(id, _)| id.clone()).collect();
    found.extend(rules::check(&definition, &known));
    let mut course = Course::new(cx, start.clone(), definition, instance, text.hash);
    course.definition_path.clone_from(&path);
    if start.ask_for_inputs && !has_errors(&found) {
        course.ask_for_inputs().await;
    }
    let inputs = rules::inputs(&course.definition, &course.instance);
    if !has_errors(&found) && !has_errors(&inputs) {
        course.warn_about(&inputs).await;
        return Opening::Ready(Box::new(course));
    }
    let all = vec![(path.as_str(), found), (start.instance.as_str(), inputs)];
    Opening::Over(course.block_early(file_findings(all)).await)
}

async fn definition(
    cx: &Cx,
    start: &Start,
    instance: &Instance,
) -> Result<(Definition, String, Vec<Finding>), Ended> {
    let path = match &instance.source {
        Some(Source::Dynamic { definition }) => {
            return Ok((definition.as_ref().clone(), start.instance.clone(), vec![]));
        }
        Some(Source::WellKnown { path, .. }) => path.value.clone(),
        None => return Err(broken("The file does not say which process to run.", vec![])),
    };
    let text = cx
        .read(&path)
        .await
        .map_err(|failure| unreadable("with the definition of the process", &path, &failure))?;
    let (definition, findings) = Definition::parse(text.text.as_bytes());
    match definition {
        Some(definition) => Ok((definition, path, findings)),
        None => Err(broken("The definition of the process has errors.", vec![(&path, findings)])),
    }
}

fn missing_input(work: &str, input: &Input) -> Question {
    let described = input.description.as_ref().map(|d| d.value.trim().trim_end_matches('.').to_owned());
    let what = described.unwrap_or_else(|| input.kind.value.replace(['_', '-'], " "));
    let words = format!("{} {what}", input.kind.value).to_lowercase();
    let place = ["path", "file", "artifact"].iter().any(|word| words.contains(word));
    let provide = if place { "I'll provide the path" } else { "I'll provide it" };
    Question {
        header: "Input needed".into(),
        question: format!("Before '{work}' can start, one thing is missing: {what}. What should it be?"),
        why: "The work cannot begin without it.".into(),
        tried: vec![],
        details: String::new(),
        options: vec![
            Choice::new("provide_input", provide, "Your words are used as this input.").with_text(),
            Choice::new(
                "skip",
                "Skip this check",
                "Nothing is given; the work says what it lacks and does not begin.",
            ),
        ],
        free_text: true,
        about: vec![],
    }
}

impl Course<'_> {
    /// Inputs that the definition wants and nobody has given yet (PX-150).
    async fn ask_for_inputs(&mut self) {
        for input in self.definition.inputs.clone().into_iter().filter(|i| i.required) {
            let kind = &input.kind.value;
            if self.instance.inputs.iter().any(|g| g.name.value == *kind && !g.value.is_null()) {
                continue;
            }
            let asked = missing_input(self.title(), &input);
            let answer = match self.choose(asked).await {
                Some((MissingInput::Provide, answer)) => answer,
                Some((MissingInput::Skip, _)) | None => return,
            };
            let value = Value::String(answer.text.unwrap_or_default());
            let way = ["instance", "context", "inputs", kind].map(str::to_owned).to_vec();
            self.edit_fields(vec![SetField { path: way, value: value.clone() }]).await;
            let name = At::new(kind.clone(), self.instance.inputs_place);
            self.instance.inputs.retain(|g| g.name.value != *kind);
            self.instance.inputs.push(Given { name, value });
        }
    }

    /// Inputs that the interface does not know are worth a word (PX-112).
    async fn warn_about(&mut self, findings: &[Finding]) {
        for finding in findings {
            let kind = seriatim_core::process::ObservationType::Event;
            self.observe(kind, "Input outside the interface", json!(finding.message)).await;
        }
    }
}

fn file_findings(all: Vec<(&str, Vec<Finding>)>) -> Vec<FileFindings> {
    all.into_iter()
        .filter(|(_, findings)| !findings.is_empty())
        .map(|(path, findings)| FileFindings { path: path.to_owned(), findings })
        .collect()
}

/// The sentence is for people; where the file lies and what is wrong with it stands in the finding.
fn unreadable(which: &str, path: &str, failure: &Failure) -> Ended {
    let finding = Finding::error("unreadable", Place::TOP, failure.message.clone());
    let why = match failure.class {
        Class::MissingArtifact => "is not there",
        Class::Invalid => "is not a text that can be read",
        _ => "cannot be read",
    };
    broken(&format!("The file {which} {why}."), vec![(path, vec![finding])])
}

fn broken(message: &str, findings: Vec<(&str, Vec<Finding>)>) -> Ended {
    Ended {
        status: End::Failed,
        good: false,
        outcome: json!(null),
        message: message.to_owned(),
        findings: file_findings(findings),
    }
}
