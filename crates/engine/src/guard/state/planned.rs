//! What the roadmap beside a state file of many steps says about one of them: whether there is such a step, and which
//! files it may change. Such a state file has no place for either.

use seriatim_core::closest::closest;
use seriatim_core::finding::Finding;
use seriatim_core::finding::Place;
use seriatim_core::finding::Severity;
use seriatim_core::roadmap::plan::Roadmap;
use seriatim_core::roadmap::state::StepState;

use crate::guard::GuardError;
use crate::guard::project::Project;

/// What a roadmap is called, the usual name first.
const NAMES: [&str; 3] = ["roadmap.yaml", "roadmap.yml", "roadmap.json"];
/// How many steps are named to somebody who named one that is none.
const NAMED_MAX: usize = 30;

/// The roadmap in the folder of a state file; nothing where there is none. One that cannot be understood is a finding.
pub(super) fn beside(
    project: &Project,
    step_file: &str,
) -> Result<Result<Option<Roadmap>, Vec<Finding>>, GuardError> {
    let folder = step_file.rsplit_once('/').map(|(folder, _)| format!("{folder}/")).unwrap_or_default();
    for name in NAMES {
        let path = format!("{folder}{name}");
        let Some(text) = project.read(&path)? else { continue };
        return Ok(match Roadmap::read(&path, &text) {
            (Some(roadmap), _) => Ok(Some(roadmap)),
            (None, findings) => Err(unreadable(&path, &findings)),
        });
    }
    Ok(Ok(None))
}

/// Gives a step the patterns that the roadmap has for it, or says that there is no such step.
pub(super) fn apply(roadmap: &Roadmap, state: &mut StepState) -> Result<(), Finding> {
    // A roadmap in which no step can be recognised says nothing about any of them.
    if roadmap.steps.is_empty() {
        return Ok(());
    }
    let Some(step) = roadmap.step(&state.task_id) else { return Err(unknown(roadmap, &state.task_id)) };
    if state.allowed_patterns.is_none() {
        state.allowed_patterns = step.allowed_files().and_then(patterns);
    }
    Ok(())
}

/// Deliverables are told in sentences in some roadmaps. Those say nothing about files, and where nothing else is said,
/// no files are declared.
fn patterns(named: Vec<String>) -> Option<Vec<String>> {
    let says_something = !named.is_empty();
    let patterns: Vec<String> =
        named.into_iter().filter(|text| !text.trim().contains(char::is_whitespace)).collect();
    (!patterns.is_empty() || !says_something).then_some(patterns)
}

fn unknown(roadmap: &Roadmap, id: &str) -> Finding {
    let ids = roadmap.ids();
    let mut known = ids.iter().take(NAMED_MAX).copied().collect::<Vec<_>>().join(", ");
    if ids.len() > NAMED_MAX {
        known.push_str(", ...");
    }
    let help = match closest(id, ids.iter().copied()) {
        Some(meant) => format!("did you mean {meant}? It has {known}"),
        None => format!("it has {known}"),
    };
    let message = format!("Step {id} is not in the roadmap {}", roadmap.path);
    Finding::error("step", Place::TOP, message).help(help)
}

fn unreadable(path: &str, findings: &[Finding]) -> Vec<Finding> {
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
    errors
        .map(|error| {
            let message = format!("the roadmap {path} cannot be read: {}", error.message);
            Finding::error("roadmap", error.place, message).help(format!("see `seriatim check {path}`"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(named: &[&str]) -> Option<Vec<String>> {
        patterns(named.iter().map(|&text| text.to_owned()).collect())
    }

    #[test]
    fn k_33_sentences_declare_nothing_and_an_empty_list_declares_that_nothing_may_be_changed() {
        assert_eq!(said(&["src/**", "A greeting by name"]), Some(vec!["src/**".to_owned()]));
        assert_eq!(said(&["A greeting by name"]), None);
        assert_eq!(said(&[]), Some(vec![]));
    }
}
