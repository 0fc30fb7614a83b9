//! The documents of the process dialect.

use crate::check;
use crate::check::Surroundings;
use crate::doc;
use crate::doc::At;
use crate::document_kind;
use crate::documents::Conditions;
use crate::documents::DocumentKind;
use crate::finding::Finding;
use crate::kind::Kind;
use crate::process::Definition;
use crate::process::definition::Step;

/// What a condition can speak of.
const VARIABLES: [&str; 5] = ["inputs", "parameters", "outputs", "steps", "confidence"];

pub const DOCUMENTS: &[DocumentKind] = &[
    DocumentKind { conditions, ..document_kind!(Kind::ProcessDefinition) },
    DocumentKind { beside, check: check_instance, ..document_kind!(Kind::ProcessInstance) },
    document_kind!(Kind::ExecutionLog),
    document_kind!(Kind::Decision),
    document_kind!(Kind::Observation),
];

/// An instance is checked together with the definition that it names.
fn beside(bytes: &[u8]) -> Vec<String> {
    check::definition_path(bytes).into_iter().collect()
}

fn check_instance(name: &str, bytes: &[u8], around: &Surroundings) -> Vec<Finding> {
    let mut findings = check::file_in(name, bytes, Some(Kind::ProcessInstance), around).findings;
    let definition = check::definition_path(bytes).and_then(|path| around.files.get(&path));
    if let Some((Some(definition), _)) = definition.map(|bytes| Definition::parse(bytes)) {
        findings.extend(check::instance_with_definition(bytes, &definition));
        doc::sort(&mut findings);
    }
    findings
}

pub fn conditions(bytes: &[u8]) -> Conditions {
    let (Some(definition), _) = Definition::parse(bytes) else { return Conditions::default() };
    let steps = definition.steps.iter().chain(definition.control_flow.fix_steps.iter().map(|f| &f.step));
    let quality = definition.quality.entry_criteria.iter().chain(&definition.quality.exit_criteria);
    let criteria = quality.filter_map(|c| c.when.as_ref());
    let texts = steps.flat_map(of_step).chain(criteria).cloned().collect();
    Conditions { variables: &VARIABLES, texts }
}

fn of_step(step: &Step) -> Vec<&At<String>> {
    let triggers = step.triggers.iter().filter_map(|t| t.when.as_ref());
    let criteria = step.completion_criteria.iter().chain(&step.validation).filter_map(|c| c.when.as_ref());
    step.when.iter().chain(triggers).chain(criteria).collect()
}
