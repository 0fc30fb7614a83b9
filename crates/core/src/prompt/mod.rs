//! Prompts: where they come from, what they are made from, and what they must say before they are sent.
//!
//! A prompt names its origin in markers at its head ([`origin`]). The registry says how strictly the prompts of a
//! command are checked ([`registry`]). Prompts are rendered from templates ([`render`]), and whatever is about to be
//! sent, rendered here or not, is validated as a whole ([`validate`]). All of it is data and text; nothing is read.

pub mod boundary;
mod budget;
pub mod library;
mod lint;
pub mod origin;
pub mod outline;
pub mod phases;
mod placeholder;
pub mod registry;
mod render;
mod rules;
pub mod sections;
mod standard;
mod standing;
pub mod template;
#[cfg(test)]
mod tests;
pub mod tokens;
pub mod validate;

pub use library::Library;
pub use lint::START;
pub use lint::lint;
pub use origin::Metadata;
pub use phases::PhaseList;
pub use render::Values;
pub use render::lookup;
pub use render::render;
pub use validate::PreInvocationValidationError;
pub use validate::Sender;
pub use validate::Standard;
pub use validate::Validation;
pub use validate::validate;

use crate::finding::Finding;
use crate::finding::Severity;

/// Why there is no prompt to be sent (DS-31).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotPrepared {
    #[error("the template `{template}` cannot be rendered: {}", .findings.iter().map(|f| f.message.as_str()).collect::<Vec<_>>().join("; "))]
    Unrendered { template: String, findings: Vec<Finding> },
    #[error(transparent)]
    Invalid(#[from] PreInvocationValidationError),
}

/// Makes a prompt that can be sent: rendered from a template, then validated as what its command demands (DS-31).
pub fn prepare(template: &str, values: &Values, standard: &Standard<'_>) -> Result<String, NotPrepared> {
    let Standard { library, phases } = *standard;
    let prompt = render(library, template, values, phases)
        .map_err(|findings| NotPrepared::Unrendered { template: template.to_owned(), findings })?;
    let command = library.template(template).and_then(|template| library.command_of(template));
    let sender = command.map_or(Sender::Foreign, |command| Sender::Command(&command.name));
    validate(&prompt, sender, standard).into_result()?;
    Ok(prompt)
}

/// Everything that is wrong with a prompt in a file, held against what is built in.
pub fn check_prompt(text: &str) -> Vec<Finding> {
    let phases = PhaseList::of_prompt(text);
    validate(text, Sender::Foreign, &Standard { library: Library::standard(), phases: &phases }).findings()
}

/// Everything that is wrong with a template in a file. Its parent may be another file of the project, which is not
/// known here, so that a parent which is not built in is only a warning.
pub fn check_template(name: &str, text: &str) -> Vec<Finding> {
    let mut findings = lint(name, text, Library::standard(), &PhaseList::of_prompt(text));
    for finding in &mut findings {
        if finding.rule == library::EXTENDS {
            finding.severity = Severity::Warning;
        }
    }
    findings
}

/// Whether a text with markers is a template: it has a head of its own, or placeholders where a prompt has none.
pub fn is_template(text: &str) -> bool {
    let in_head = |found: &origin::Found| placeholder::placeholders(&found.value).next().is_some();
    crate::doc::front_matter(text).is_some()
        || origin::Head::of(text).found.iter().any(in_head)
        || outline::lines(text)
            .any(|line| !line.fenced && outline::title(line.text).is_some_and(|title| title.open))
}
