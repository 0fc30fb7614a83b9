//! Opening: both documents are read and checked before anything else happens.

use serde_json::Value;
use serde_json::json;
use seriatim_core::doc::At;
use seriatim_core::finding::Finding;
use seriatim_core::finding::has_errors;
use seriatim_core::process::Definition;
use seriatim_core::process::Instance;
use seriatim_core::process::instance::Given;
use seriatim_core::process::instance::Source;
use seriatim_core::process::rules;
use seriatim_core::question::Choice;
use seriatim_core::question::Question;

use super::Start;
use super::course::Course;
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
        Err(failure) => return Opening::Over(broken(&failure.message, vec![])),
    };
    let (instance, findings) = Instance::parse(text.text.as_bytes());
    let Some(mut instance) = instance.filter(|_| !has_errors(&findings)) else {
        let what = "The file that describes this run has errors.";
        return Opening::Over(broken(what, vec![(&start.instance, findings)]));
    };
    let (definition, path, mut found) = match definition(cx, start, &instance).await {
        Ok(found) => found,
        Err(ended) => return Opening::Over(ended),
    };
    let mut file = text.hash;
    if start.ask_for_inputs
        && let Some(hash) = ask_for_inputs(cx, start, &definition, &mut instance).await
    {
        file = hash;
    }
    let known = start.known_processes.iter().map(|(id, _)| id.clone()).collect();
    found.extend(rules::check(&definition, &known));
    let inputs = rules::inputs(&definition, &instance);
    let blocked = has_errors(&found) || has_errors(&inputs);
    let began = cx.now().await;
    let mut course = Course::new(cx, start.clone(), definition, instance, file, began);
    if !blocked {
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
    let text = cx.read(&path).await.map_err(|failure| {
        let what = format!("The definition of the process cannot be read: {}", failure.message);
        broken(&what, vec![])
    })?;
    let (definition, findings) = Definition::parse(text.text.as_bytes());
    match definition {
        Some(definition) => Ok((definition, path, findings)),
        None => Err(broken("The definition of the process has errors.", vec![(&path, findings)])),
    }
}

/// Inputs that a definition wants and nobody has given yet (PX-150).
async fn ask_for_inputs(
    cx: &Cx,
    start: &Start,
    definition: &Definition,
    instance: &mut Instance,
) -> Option<seriatim_core::hash::Hash> {
    let mut file = None;
    for input in definition.inputs.iter().filter(|i| i.required) {
        let given = instance.inputs.iter().any(|g| g.name.value == input.kind.value && !g.value.is_null());
        if given {
            continue;
        }
        let described = input.description.as_ref().map(|d| d.value.trim().trim_end_matches('.').to_owned());
        let what = described.unwrap_or_else(|| input.kind.value.replace(['_', '-'], " "));
        let answer = cx.ask(missing_input(&instance.description.value, &what)).await;
        if answer.choice != "provide_input" {
            return file;
        }
        let value = Value::String(answer.text.unwrap_or_default());
        let way = ["instance", "context", "inputs", &input.kind.value].map(str::to_owned).to_vec();
        let set = vec![SetField { path: way, value: value.clone() }];
        // If it cannot be written the rules will say that it is missing.
        if let Ok(edited) = cx.edit(&start.instance, set, None).await {
            file = Some(edited.hash);
            let name = At::new(input.kind.value.clone(), instance.inputs_place);
            instance.inputs.push(Given { name, value });
        }
    }
    file
}

fn missing_input(work: &str, what: &str) -> Question {
    Question {
        header: "Input needed".into(),
        question: format!("Before '{work}' can start, one thing is missing: {what}. What should it be?"),
        why: "The work cannot begin without it.".into(),
        tried: vec![],
        details: String::new(),
        options: vec![
            Choice::new("provide_input", "I'll provide it", "Your words are used as this input.").with_text(),
            Choice::new(
                "skip",
                "Skip this",
                "Nothing is given; the work says what it lacks and does not begin.",
            ),
        ],
        free_text: true,
        about: vec![],
    }
}

impl Course<'_> {
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

fn broken(message: &str, findings: Vec<(&str, Vec<Finding>)>) -> Ended {
    Ended {
        status: End::Failed,
        good: false,
        outcome: json!(null),
        message: message.to_owned(),
        findings: file_findings(findings),
    }
}
