//! Opening: both documents are read and checked before anything else happens.

use seriatim_core::doc::At;
use seriatim_core::finding::Finding;
use seriatim_core::finding::Place;
use seriatim_core::finding::has_errors;
use seriatim_core::process::Definition;
use seriatim_core::process::Instance;
use seriatim_core::process::Pattern;
use seriatim_core::process::definition::Step;
use seriatim_core::process::instance::Given;
use seriatim_core::process::instance::Source;
use seriatim_core::process::rules;
use seriatim_core::question::Choice;
use seriatim_core::question::Question;
use serde_json::Value;
use serde_json::json;

use super::Start;
use super::course::Course;
use crate::Cx;
use crate::registry::End;
use crate::registry::Ended;
use crate::registry::FileFindings;
use crate::request::SetField;

pub(super) enum Opening<'c> {
    Ready(Course<'c>),
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
        return Opening::Over(broken("The file that describes this run has errors.", vec![(&start.instance, findings)]));
    };
    let (definition, path, mut found) = match definition(cx, start, &instance).await {
        Ok(found) => found,
        Err(ended) => return Opening::Over(ended),
    };
    if start.ask_for_inputs {
        ask_for_inputs(cx, start, &definition, &mut instance).await;
    }
    let known = start.known_processes.iter().cloned().collect();
    found.extend(rules::check(&definition, &known));
    found.extend(not_built(&definition, &instance));
    let inputs = rules::inputs(&definition, &instance);
    let blocked = has_errors(&found) || has_errors(&inputs);
    let began = cx.now().await;
    let mut course = Course::new(cx, start.clone(), definition, instance, began);
    if !blocked {
        return Opening::Ready(course);
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
async fn ask_for_inputs(cx: &Cx, start: &Start, definition: &Definition, instance: &mut Instance) {
    for input in definition.inputs.iter().filter(|i| i.required) {
        let given = instance.inputs.iter().any(|g| g.name.value == input.kind.value && !g.value.is_null());
        if given {
            continue;
        }
        let described = input.description.as_ref().map(|d| d.value.clone());
        let what = described.unwrap_or_else(|| input.kind.value.replace(['_', '-'], " "));
        let answer = cx
            .ask(Question {
                header: "Input needed".into(),
                question: format!(
                    "Before '{}' can start, one thing is missing: {what} What should it be?",
                    instance.description.value
                ),
                why: "The work cannot begin without it.".into(),
                tried: vec![],
                details: String::new(),
                options: vec![
                    Choice::new("provide_input", "I'll provide it", "Your words are used as this input.")
                        .with_text(),
                    Choice::new("cancel", "Do not start", "The work is not begun."),
                ],
                free_text: true,
                about: vec![],
            })
            .await;
        if answer.choice != "provide_input" {
            return;
        }
        let value = Value::String(answer.text.unwrap_or_default());
        let way = ["instance", "context", "inputs", &input.kind.value].map(str::to_owned).to_vec();
        // If it cannot be written the rules will say that it is missing.
        if cx.edit(&start.instance, vec![SetField { path: way, value: value.clone() }], None).await.is_ok() {
            let name = At::new(input.kind.value.clone(), instance.inputs_place);
            instance.inputs.push(Given { name, value });
        }
    }
}

/// What this version cannot carry out is refused before anything starts, never half done.
fn not_built(definition: &Definition, instance: &Instance) -> Vec<Finding> {
    let refuse = |place: Place, what: &str| {
        Finding::error("not-built", place, format!("{what} is not built in yet"))
            .help("this version carries out AI-Only and Human-Only steps in a straight line")
    };
    let mut found = Vec::new();
    for step in &definition.steps {
        if !matches!(step.pattern.value, Pattern::AiOnly | Pattern::HumanOnly) {
            found.push(refuse(step.pattern.place, &format!("The pattern {}", step.pattern.value)));
        }
        if let Some(trigger) = step.triggers.first() {
            found.push(refuse(trigger.place, "Acting on escalation triggers"));
        }
        if let Some(when) = &step.when {
            found.push(refuse(when.place, "Computing a condition"));
        }
    }
    let quality = &definition.quality;
    if let Some(criterion) = quality.entry_criteria.iter().chain(&quality.exit_criteria).next() {
        found.push(refuse(criterion.place, "Judging entry and exit criteria"));
    }
    if let Some(sla) = &quality.sla {
        found.push(refuse(sla.place, "Watching the time of a process"));
    }
    if let Some(composition) = &definition.composition
        && composition.non_formal() >= seriatim_core::process::Decimal::whole(40)
    {
        found.push(refuse(composition.place, "Medium and high engagement of people"));
    }
    if instance.test_mode {
        found.push(refuse(instance.place, "Test mode"));
    }
    found
}

/// The step's words for people: its description, or its name.
pub(super) fn about(step: &Step) -> String {
    step.description.as_ref().map_or_else(|| step.name.value.clone(), |d| d.value.trim().to_owned())
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
