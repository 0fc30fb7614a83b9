//! What is odd about a log. A log is history: only what cannot be understood is an error.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::event::Event;
use super::fold;
use super::project_id;
use crate::closest::closest;
use crate::doc::Node;
use crate::finding::Finding;
use crate::roadmap::phases::Schema;
use crate::roadmap::skip;
use crate::roadmap::skip::Reason;
use crate::roadmap::source;
use crate::roadmap::state::Outcome;
use crate::roadmap::state::PhaseStatus;
use crate::roadmap::state::instant;
use crate::time::Utc;

/// The words that the format has for the status of a phase.
const WORDS: [&str; 2] = ["EXECUTED", "SKIPPED"];
/// The sorts of files that are listed.
const SORTS: [&str; 3] = ["implementation", "tests", "documentation"];

pub(super) fn header(root: &Node, events: &[Event]) -> Vec<Finding> {
    let mut findings = vec![];
    if project_id(root).is_none() {
        let message = "an execution log needs the field `project_id`";
        findings.push(Finding::error("missing-field", root.place, message).help("add `project_id:` here"));
    }
    let known =
        ["project_id", "feature_id", "created_at", "updated_at", "total_steps", "schema_version", "events"];
    for (key, _) in root.as_map().unwrap_or_default() {
        if !known.contains(&key.text.as_str()) {
            let message = format!("unknown field `{}` in an execution log", key.text);
            let finding = Finding::warning("unknown-field", key.place, message);
            findings.push(match closest(&key.text, known) {
                Some(meant) => finding.help(format!("did you mean `{meant}`?")),
                None => finding,
            });
        }
    }
    let steps: BTreeSet<&str> = events.iter().map(|event| event.step.as_str()).collect();
    if let Some(total) = source::first(root, &["total_steps"])
        && let Some(said) = total.as_int()
        && usize::try_from(said).is_ok_and(|said| steps.len() > said)
    {
        let message = format!("`total_steps` is {said}, but the events name {} steps", steps.len());
        findings.push(Finding::warning("total-steps", total.place, message));
    }
    findings
}

pub(super) fn events(events: &[Event]) -> Vec<Finding> {
    let mut findings = vec![];
    let mut last: BTreeMap<&str, Utc> = BTreeMap::new();
    for (at, event) in events.iter().enumerate() {
        match instant(&event.at) {
            None => {
                let message = format!("`{}` is not a time", event.at);
                let finding = Finding::warning("timestamp", event.place, message);
                findings.push(finding.help("write it as 2026-02-05T22:03:00Z"));
            }
            Some(time) => {
                let before = last.insert(&event.step, time).filter(|before| time < *before);
                if before.is_some() {
                    let message = format!("step {} goes back in time here", event.step);
                    findings.push(Finding::warning("timestamp", event.place, message));
                }
            }
        }
        if !event.is_phase() {
            findings.extend(file_sort(event));
            continue;
        }
        findings.extend(phase(event));
        let later = events.iter().skip(at + 1);
        let went_on = later.filter(|later| later.step == event.step).any(|later| later.phase != event.phase);
        findings.extend(status(event, went_on));
    }
    findings
}

fn file_sort(event: &Event) -> Option<Finding> {
    let message = format!("`{}` is not a sort of files", event.status);
    let help = format!("known are {}", SORTS.join(", "));
    (!SORTS.contains(&event.status.as_str()))
        .then(|| Finding::warning("unknown-value", event.place, message).help(help))
}

fn phase(event: &Event) -> Option<Finding> {
    if Schema::built_in().iter().any(|schema| schema.phase(&event.phase).is_some()) {
        return None;
    }
    let names = Schema::built_in().iter().flat_map(Schema::names);
    let finding =
        Finding::warning("unknown-phase", event.place, format!("`{}` is not a known phase", event.phase));
    Some(match closest(&event.phase, names) {
        Some(meant) => finding.help(format!("did you mean `{meant}`?")),
        None => finding,
    })
}

fn status(event: &Event, went_on: bool) -> Vec<Finding> {
    let warning = |rule: &str, message: String| Finding::warning(rule, event.place, message);
    let read = PhaseStatus::read(Some(&event.status), None, Some(&event.data));
    let mut findings = vec![];
    if let PhaseStatus::Unknown(word) = &read {
        return vec![
            warning("unknown-value", format!("`{word}` is not a status")).help("write EXECUTED or SKIPPED"),
        ];
    }
    if !WORDS.contains(&event.status.as_str()) && read != PhaseStatus::InProgress {
        let word = read.word();
        let finding = warning("unknown-value", format!("`{}` is read as `{word}`", event.status));
        findings.push(finding.help(format!("write `{word}`")));
    }
    match read {
        PhaseStatus::Skipped => match skip::reason(Some(&event.data)) {
            Reason::Valid => {}
            _ => {
                let message =
                    format!("phase {} was skipped without a valid reason: `{}`", event.phase, event.data);
                let help = format!("a reason begins with one of {} and has words after it", skip::in_words());
                findings.push(warning("phase", message).help(help));
            }
        },
        PhaseStatus::Done => match fold::said(&event.data).outcome {
            None => {
                let message = format!("phase {} was carried out without an outcome", event.phase);
                findings
                    .push(warning("phase", message).help("write PASS or FAIL, and the rest after a colon"));
            }
            Some(Outcome::Fail) if fold::is_red(&event.phase) && went_on => {
                let message =
                    format!("FAIL of {} is read as a test that is red as it should be", event.phase);
                findings.push(
                    warning("drift", message).help("PASS says that the test is red for a valid reason"),
                );
            }
            Some(_) => {}
        },
        _ => {}
    }
    findings
}
